"""``onlinekern info``: describes a model file, or the installation."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from onlinekern.cli import options
from onlinekern.cli.options import argument


@dataclass(frozen=True, kw_only=True)
class Request(options.Request):
    """Without a file, print versions, and how the compiled core was built and runs here."""

    model: str | None = argument(None, "MODEL", "The model file.")

    def carry_out(self) -> None:
        """Print lines about a model, or about the installation."""
        from onlinekern.reports.console import PLAIN, open_console

        console = open_console()
        if self.model is not None:
            from onlinekern.fitted.save import load

            model, metadata = load(self.model, return_metadata=True)
            # Metadata saved beside the model, such as the target column.
            beside = (f"{name}: {value}" for name, value in metadata.items())
            for line in (*lines_about(model), *beside):
                console.print(line, **PLAIN)
            return
        from onlinekern._config import show_config
        from onlinekern.reports.machine import versions

        for name, found in versions():
            console.print(f"{name} {found}", markup=False)
        show_config()


def lines_about(model: Any) -> Iterator[str]:
    """Yield lines of text: the kind of model, what it has learnt, and the samples that it takes."""
    from onlinekern.preprocessing.steps import learner_of
    from onlinekern.preprocessing.tables.encoder import encoder_of
    from onlinekern.reports.text import listed

    yield " ".join(str(model).split())
    learner = learner_of(model)
    if not hasattr(model, "n_features_in_"):
        yield "has learnt nothing yet"
        return
    encoder = encoder_of(model)
    if encoder is not None:
        yield from lines_about_columns(encoder)
    names = None if encoder is not None else getattr(model, "feature_names_in_", None)
    inside = vars(learner).get("encoder_")
    n_features = learner.n_features_in_ if inside is None else inside.n_features_out_
    yield f"features: {listed(names) if names is not None else f'{n_features:,}'}"
    waiting = vars(learner).get("_waiting")
    if waiting is not None:
        _, labels, _ = waiting
        yield f"classes: {labels[0]} alone; {len(labels):,} samples wait for another one"
        return
    if hasattr(learner, "classes_"):
        yield f"classes: {listed(learner.classes_)}"
    if getattr(learner, "n_outputs_", 1) > 1:
        yield f"targets of a row: {learner.n_outputs_}"
    if hasattr(learner, "n_seen_"):
        yield f"samples learnt: {learner.n_seen_:,}"
    if hasattr(learner, "n_mistakes_"):
        yield f"mistakes before learning: {learner.n_mistakes_:,}"
    if hasattr(learner, "n_support_"):
        yield f"support vectors: {learner.n_support_:,}"
    if hasattr(learner, "report"):
        try:
            yield from str(learner.report()).splitlines()
        except ValueError as error:
            yield str(error)


def lines_about_columns(encoder: Any) -> Iterator[str]:
    """Yield the columns of the model's tables, with the kind of each."""
    from onlinekern.reports.text import MOST_LISTED

    kinds = list(encoder.kinds_.items())
    yield f"columns: {len(kinds):,}"
    for name, kind in kinds[:MOST_LISTED]:
        yield f"  {name}: {kind}"
    if len(kinds) > MOST_LISTED:
        yield "  ..."
