"""Table D, of the SDROGD paper: test errors."""

from protocols import after_a_pass, divided, divided_unscaled

import onlinekern as ok

from .row import Row

PUBLISHED = {"between": "quadratic", "sketch": "raw", "schedule": "safe"}


def default_form(data, bars, protocol=after_a_pass):
    """Return SDROGD's default form on one set; the bars are for the last and the mean weights."""
    return [
        Row(data, name, ok.SDROGDClassifier, protocol, {"average": average}, None, bar)
        for name, average, bar in zip(
            ("SDROGD, last", "SDROGD, averaged"), (False, True), bars, strict=True
        )
    ]


def published_form(data, published, bar, protocol=divided, **setting):
    """Return SDROGD's published form on one set."""
    return Row(
        data, "SDROGD, published form", ok.SDROGDClassifier, protocol, {**PUBLISHED, **setting},
        published, bar,
    )  # fmt: skip


ROWS = [
    published_form("a9a, divided", 16.51, 16.1, divided_unscaled, sketch_size=0.1,
                   within_weight=0.3, reg=0.0),
    published_form("german, divided", 25.1, 24.0, sketch_size=0.3, within_weight=0.9, reg=0.125),
    published_form("ijcnn1, divided", 9.6, 8.5, sketch_size=0.1, within_weight=0.3, reg=0.0),
    published_form("cod-rna, divided", 6.97, 8.2, sketch_size=0.5, within_weight=0.3, reg=0.0,
                   n_epochs=5),
    published_form("mnist 0/1 standard, split", 0.19, 0.3, after_a_pass, sketch_size=0.1,
                   within_weight=0.9, reg=0.0),
    *default_form("a9a, split", (15.38, 15.28)),
    *default_form("german, divided", (23.6, 23.2), divided),
    *default_form("ijcnn1 standard, split", (7.7, 7.7)),
    *default_form("cod-rna standard, split", (4.46, 4.43)),
    *default_form("mnist 0/1 standard, split", (0.05, None)),
    *default_form("usps standard, split", (9.6, 9.3)),
    *default_form("mnist standard, split", (8.0, 7.8)),
]  # fmt: skip
