"""The rows of the papers' tables: a data set, a learner with its setting, how it is measured."""

from collections.abc import Callable
from dataclasses import dataclass

from protocols import after_a_pass, divided, divided_unscaled, online

import onlinekern as ok


@dataclass(frozen=True)
class Row:
    """One figure of a table.

    Attributes
    ----------
    data : str
        Name of a set of `datasets`.
    learner : str
    build : callable
        Makes the estimator for a stream of so many samples.
    protocol : callable
    published, bar : float or None
        Errors in per cent: the paper's, and an independent implementation's.
    """

    data: str
    learner: str
    build: Callable
    protocol: Callable
    published: float | None = None
    bar: float | None = None


def fixed(cls, **parameters):
    """Return a builder that does not look at the length of the stream."""
    return lambda n: cls(**parameters)


def dual(loss, reg=2):
    """Return the builder of DualSGD as in its table: lambda is `reg` over the length."""
    return lambda n: ok.DualSGDClassifier(
        loss=loss, gamma=1.0, reg=reg / n, budget=100, n_components=200, merge_size=20
    )


BETTER_LOL = {
    "step": "arow", "center": True, "fit_intercept": True, "n_prototypes": 100, "n_assign": 8,
}  # fmt: skip
PUBLISHED = {"between": "quadratic", "sketch": "raw", "schedule": "safe"}


def lol_rows(data, published, bars, better=None):
    """Return the forms of LOL on one set; `published` and `bars` are for LOL and I-LOL."""
    forms = [
        ("LOL", {}, published[0], bars[0]),
        ("I-LOL", {"joint": False}, published[1], bars[1]),
        ("LOL, margin", {"multi_class": "margin"}, None, None),
        ("LOL, averaged", {"average": True}, None, None),
        ("LOL, averaged margin", {"average": True, "multi_class": "margin"}, None, None),
        ("LOL, better form", BETTER_LOL, None, better),
        ("LOL, better form, averaged", {**BETTER_LOL, "average": True}, None, None),
    ]
    return [
        Row(data, name, fixed(ok.LOLClassifier, **setting), after_a_pass, paper, bar)
        for name, setting, paper, bar in forms
    ]


def sdrogd_rows(data, bars, protocol=after_a_pass):
    """Return SDROGD's default form on one set; the bars are for the last and the mean weights."""
    return [
        Row(data, name, fixed(ok.SDROGDClassifier, average=average), protocol, None, bar)
        for name, average, bar in zip(
            ("SDROGD, last", "SDROGD, averaged"), (False, True), bars, strict=True
        )
    ]


def published_sdrogd(data, published, bar, protocol=divided, **setting):
    """Return SDROGD's published form on one set."""
    build = fixed(ok.SDROGDClassifier, **PUBLISHED, **setting)
    return Row(data, "SDROGD, published form", build, protocol, published, bar)


TABLES = {
    "B": [
        Row(data, f"DualSGD {loss}", dual(loss), online, paper, bar)
        for data, figures in {
            "cod-rna all": ((4.92, 4.98), (4.83, 4.63)),
            "ijcnn1 35k": ((8.35, 7.50), (8.82, 7.84)),
            "ijcnn1 50k": ((None, 5.81), (None, 6.26)),
            "ijcnn1 142k": ((None, 4.86), (None, 5.40)),
        }.items()
        for loss, (paper, bar) in zip(("hinge", "logistic"), figures, strict=True)
    ],
    "C": [
        *lol_rows("ijcnn1 standard, split", (3.15, 4.10), (3.76, 3.78), 2.2),
        *lol_rows("ijcnn1 raw, split", (None, None), (5.11, 6.23)),
        *lol_rows("usps unit, split", (7.88, 10.19), (8.76, 9.88), 6.8),
        *lol_rows("mnist unit, split", (3.03, 4.82), (5.57, 5.81), 3.0),
        *lol_rows("satimage standard, split", (None, None), (None, None)),
        *lol_rows("shuttle standard, split", (None, None), (None, None)),
    ],
    "D": [
        published_sdrogd("a9a, divided", 16.51, 16.1, divided_unscaled, sketch_size=0.1,
                         within_weight=0.3, reg=0.0),
        published_sdrogd("german, divided", 25.1, 24.0, sketch_size=0.3, within_weight=0.9,
                         reg=0.125),
        published_sdrogd("ijcnn1, divided", 9.6, 8.5, sketch_size=0.1, within_weight=0.3, reg=0.0),
        published_sdrogd("cod-rna, divided", 6.97, 8.2, sketch_size=0.5, within_weight=0.3,
                         reg=0.0, n_epochs=5),
        published_sdrogd("mnist 0/1 standard, split", 0.19, 0.3, after_a_pass, sketch_size=0.1,
                         within_weight=0.9, reg=0.0),
        *sdrogd_rows("a9a, split", (15.38, 15.28)),
        *sdrogd_rows("german, divided", (23.6, 23.2), divided),
        *sdrogd_rows("ijcnn1 standard, split", (7.7, 7.7)),
        *sdrogd_rows("cod-rna standard, split", (4.46, 4.43)),
        *sdrogd_rows("mnist 0/1 standard, split", (0.05, None)),
        *sdrogd_rows("usps standard, split", (9.6, 9.3)),
        *sdrogd_rows("mnist standard, split", (8.0, 7.8)),
    ],
}  # fmt: skip
