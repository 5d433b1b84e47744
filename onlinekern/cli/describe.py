"""What ``onlinekern info MODEL`` says of a model, and ``onlinekern methods`` of a method."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from typing import Any

from onlinekern._registry import public
from onlinekern.estimators.validation import one_of
from onlinekern.evaluate.methods import METHODS, Method
from onlinekern.preprocessing.tables.encoder import TableEncoder, encoder_of
from onlinekern.reports.text import MOST_LISTED, listed


def lines_about(model: Any) -> Iterator[str]:
    """Yield lines of text: what a model is, what it has learnt, and what it is asked with."""
    yield " ".join(str(model).split())
    learner = model.steps[-1][1] if hasattr(model, "steps") else model
    if not hasattr(model, "n_features_in_"):
        yield "has learnt nothing yet"
        return
    encoder = encoder_of(model)
    if encoder is not None:
        yield from lines_about_columns(encoder)
    names = None if encoder is not None else getattr(model, "feature_names_in_", None)
    n_features = learner.n_features_in_
    yield f"features: {listed(names) if names is not None else f'{n_features:,}'}"
    if hasattr(learner, "classes_"):
        yield f"classes: {listed(learner.classes_)}"
    if hasattr(learner, "n_seen_"):
        yield f"samples learnt: {learner.n_seen_:,}"
    if hasattr(learner, "n_mistakes_"):
        yield f"mistakes before learning: {learner.n_mistakes_:,}"
    if hasattr(learner, "n_support_"):
        yield f"support vectors: {learner.n_support_:,}"
    if hasattr(learner, "report"):
        yield from str(learner.report()).splitlines()


def lines_about_columns(encoder: TableEncoder) -> Iterator[str]:
    """Yield the columns of the tables that a model takes, with the kind of each."""
    kinds = list(encoder.kinds_.items())
    yield f"columns: {len(kinds):,}"
    for name, kind in kinds[:MOST_LISTED]:
        yield f"  {name}: {kind}"
    if len(kinds) > MOST_LISTED:
        yield "  ..."


def summary_of_method(method: Method) -> tuple[str, str]:
    """What a method is, in the words of its class, and who wrote its paper when."""
    text = documentation(method)
    found = re.search(r"\.\. \[1\] (.*?) \((\d{4})\)", text, re.S)
    if found is None:
        return first_paragraph(text).rstrip("."), ""
    authors = " ".join(found[1].split()).split(", ")
    named = authors[0] + " et al." if len(authors) > 2 else ", ".join(authors)
    return first_paragraph(text).rstrip("."), f"{named} ({found[2]})"


def about_method(name: str) -> Iterator[str]:
    """Yield lines of text: what a method is, its parameters with their defaults, its papers."""
    one_of("NAME", name, METHODS)
    method = METHODS[name]
    text = documentation(method)
    yield f"{name} ({method.label}): {first_paragraph(text)}"
    yield ""
    for paragraph in text.partition("Parameters\n---")[0].split("\n\n")[1:]:
        if not paragraph.startswith("    ") and paragraph.strip():
            yield " ".join(paragraph.split())
            yield ""
    for task, cls in (("classification", method.classifier), ("regression", method.regressor)):
        if cls is not None:
            values = method.build(task, {}).get_params(deep=False)
            if "standardize_target" in values:
                values["standardize_target"] = True  # as `train` has it
            known = method.parameter_names(task)
            yield f"{task}: {cls}, --param " + ", ".join(f"{n}={values[n]!r}" for n in known)
    references = text.partition("References\n----------\n")[2].partition("\n\nExamples")[0]
    if references:
        yield ""
        yield from (" ".join(one.split()) for one in re.split(r"\n(?=\.\. \[)", references))


def documentation(method: Method) -> str:
    """The docstring of a method's class."""
    return inspect.getdoc(public(str(method.classifier or method.regressor))) or ""


def first_paragraph(text: str) -> str:
    return " ".join(text.partition("\n\n")[0].replace("`", "").split())
