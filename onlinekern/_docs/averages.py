"""Passages on averages of models. See `onlinekern._docs`."""

import textwrap

MEANING = """
True is 'uniform', their mean. 'decay' forgets the first models: model t has a weight of about
``t**3`` (polynomial-decay averaging, Shamir and Zhang 2013, eta = 3). A number a in (0, 1) forgets
exponentially, for streams that change: the model before the last i samples has the weight
``a**i``, so that about the last ``1 / (1 - a)`` models count. The weights are divided by their sum.
"""


def describe(default: bool | str, *sentences: str) -> str:
    """The description of a parameter `average`."""
    words = " ".join([*sentences, MEANING])
    text = textwrap.fill(
        words, 96, initial_indent="    ", subsequent_indent="    ", break_on_hyphens=False
    )
    # `inspect.cleandoc` takes the first line to be indented already.
    return f"\naverage : bool, 'uniform', 'decay' or float in (0, 1), default={default!r}\n{text}"


PREDICT = "Predict with an average of all models so far instead of the last one."

PASSAGES = {
    "average": describe(False, PREDICT, "It needs no further kernel values."),
    "linear_average": describe(
        False,
        PREDICT,
        "It costs a second product per score; features that a sample does not store cost nothing.",
    ),
    "mapped_average": describe(False, PREDICT),
    "second_order_average": describe(
        False, "Predict with an average of all mu so far instead of the last one."
    ),
    "local_average": describe(
        "decay",
        "Predict with an average of all hyperplanes so far; False predicts with the last ones.",
    ),
    "spa_average": describe(
        "decay",
        "Predict with an average of all models so far; 'uniform' is SPA-avg, False is SPA-last.",
    ),
    "decaying_average": describe(
        "decay",
        "Predict with an average of all models so far; False predicts with the last one.",
    ),
    "averaged": describe(
        True, "Predict with an average of all models so far; False predicts with the last one."
    ),
}
