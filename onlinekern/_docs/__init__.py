"""Passages that the docstrings of several estimators share, written once.

A class docstring names a passage in braces, alone on a line; `OnlineEstimator.__init_subclass__`
puts the passage there. In the files of an installed library it is there already: the build writes
them with `src/fill_docstrings.py`, for editors, which do not import what they show.
"""

import inspect

from onlinekern._docs import (
    averages,
    common,
    explicit,
    features,
    filters,
    kernel,
    linear,
    olla,
    race,
    second_order,
)

PASSAGES = {
    **averages.PASSAGES,
    **common.PASSAGES,
    **explicit.PASSAGES,
    **features.PASSAGES,
    **filters.PASSAGES,
    **kernel.PASSAGES,
    **linear.PASSAGES,
    **olla.PASSAGES,
    **race.PASSAGES,
    **second_order.PASSAGES,
}


def fill(docstring: str) -> str:
    """The docstring with every passage that it names in place."""
    text = inspect.cleandoc(docstring)
    for name, passage in PASSAGES.items():
        text = text.replace("{" + name + "}", inspect.cleandoc(passage))
    return text
