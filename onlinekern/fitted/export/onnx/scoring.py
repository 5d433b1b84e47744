"""Whole models as ONNX graphs: steps, a sum or a vote, links, labels and probabilities."""

from __future__ import annotations

from math import inf
from typing import Any, NamedTuple

import numpy as np

from onlinekern.estimators.calibration import SoftmaxCalibration
from onlinekern.estimators.classification import Classifier
from onlinekern.estimators.one_vs_one import PairwiseClassifier
from onlinekern.estimators.types import Array
from onlinekern.fitted.export import scoring as parts
from onlinekern.fitted.export.onnx.forest import in_place, without_nan
from onlinekern.fitted.export.onnx.graph import Graph, Tensor
from onlinekern.fitted.export.onnx.table import coded, nothing
from onlinekern.fitted.export.onnx.terms import features, term_scores
from onlinekern.fitted.export.terms import Trees
from onlinekern.preprocessing.steps import learner_of


class Link(NamedTuple):
    """Link from scores to probabilities.

    Attributes
    ----------
    below, above, offset_below, offset_above : float
        z = above f + offset_above if f > 0, else z = below f + offset_below.
    most : float
        z beyond +-most is compressed by a logarithm.
    softmax : bool
        With more than two classes: True for the softmax of z, False for 1 / (1 + exp(-z)), divided
        by the sum over classes.
    winner : float, default=0.0
        Added to z of the class with the largest score, with more than two classes.
    others : ndarray of shape (n_classes,) or None, default=None
        Added to z of the other classes; then `most` limits the difference from the largest z.
        None: nothing is added.
    floor : float, default=0.0
        If above 0, scores are class shares, and f is their logarithm (`calibration`).
    """

    below: float
    above: float
    offset_below: float
    offset_above: float
    most: float
    softmax: bool
    winner: float = 0.0
    others: Array | None = None
    floor: float = 0.0


def row_scores(graph: Graph, x: Tensor, scoring: parts.Scoring) -> Tensor:
    """Return the scores of rows, (n, n_outputs), in the type of the rows."""
    scores = body_scores(graph, after_all(graph, x, scoring.steps), scoring.body)
    if scoring.missing or not any(
        isinstance(term, Trees) for each in parts.sums_of(scoring.body) for term in each.terms
    ):
        return scores
    # Trees treat NaN as a missing value. This model does not: NaN makes its scores NaN.
    return scores + graph.sum(x * 0.0)


def after_all(graph: Graph, x: Tensor, steps: tuple[parts.Step, ...]) -> Tensor:
    """Return the rows after some steps, in their type before the steps."""
    dtype = x.dtype
    for step in steps:
        x = after(graph, x, step, dtype)
    return graph.cast(x, dtype)


def after(graph: Graph, x: Tensor, step: parts.Step, dtype: np.dtype[Any]) -> Tensor:
    """Return the rows after a step."""
    if isinstance(step, parts.Single):
        single = graph.cast(x, np.float32)
        return graph.cast(single, dtype)
    if isinstance(step, parts.Sentinels):
        return blanked(graph, graph.cast(x, dtype), step)
    if isinstance(step, parts.Features):
        return features(graph, graph.cast(x, dtype), step.map)
    # A mean may be much larger than the deviations from it: subtract in double.
    x = graph.cast(x, np.float64)
    if isinstance(step, parts.Turned):
        return x @ step.root
    if step.mean is not None:
        x = x - step.mean
    if step.scale is not None:
        x = x / step.scale
    if step.missing:
        x = without_nan(graph, x)
    return graph.op("Clip", x, -step.limit, step.limit) if np.isfinite(step.limit) else x


def blanked(graph: Graph, x: Tensor, step: parts.Sentinels) -> Tensor:
    """Return the rows with NaN in place of sentinels."""
    columns = step.columns
    own = graph.columns(x, columns)
    missing = graph.op("Equal", own, step.numbers[columns])
    found = graph.where(missing, nothing(graph, x.dtype), own)
    return in_place(graph, x, found, columns, len(step.numbers))


def body_scores(graph: Graph, x: Tensor, body: parts.Body) -> Tensor:
    """Return the scores of a sum or a vote."""
    if isinstance(body, parts.Sum):
        return sum_scores(graph, x, body)
    if isinstance(body, parts.PairVote):
        return votes_of_pairs(graph, sum_scores(graph, x, body.sum), body)
    votes, scaled = [], after_all(graph, x, body.steps)
    is_coded = body.layout and any(member.raw for member in body.members)
    raw = coded(graph, x, body.layout) if is_coded else x
    for member in body.members:
        rows = raw if member.raw else scaled
        scores = sum_scores(graph, rows, member.sum)
        scores = scores if member.twin is None else of_both(graph, scores, member.twin)
        own = opinion(graph, scores, member, body)
        votes.append(own * member.share)
    total = graph.total(votes) if votes else zeros(graph, x, body.n_outputs)
    return bounded(graph, total, body) if isinstance(body, parts.TargetVote) else total


def of_both(graph: Graph, both: Tensor, twin: parts.Twin) -> Tensor:
    """Combine the predictions from a target and its twin, (n, 1)."""
    own, z = (graph.columns(both, [k]) for k in range(2))
    z = graph.op("Clip", z, -parts.MOST_TWIN, parts.MOST_TWIN)
    # Not every runtime has sinh in double.
    said = (graph.op("Exp", z) - graph.op("Exp", -z)) * (twin.factor / 2)
    each = [bounded(graph, own, twin) * twin.own, bounded(graph, said, twin) * twin.other]
    return bounded(graph, graph.total(each), twin)


def bounded(graph: Graph, targets: Tensor, body: parts.TargetVote | parts.Twin) -> Tensor:
    """Return targets clipped to the bounds of a vote or a twin."""
    return graph.op("Clip", targets, *parts.bounds_in(body, targets.dtype))


def votes_of_pairs(graph: Graph, scores: Tensor, body: parts.PairVote) -> Tensor:
    """Return the votes for the classes, (n, n_classes), from the scores of their pairs."""
    signs = body.signs()
    above = graph.cast(scores > 0.0, scores.dtype)
    # Each class starts with the votes of all pairs in which it is second, minus those it loses.
    votes = above @ signs + np.maximum(-signs, 0).sum(axis=0)
    totals = scores @ signs
    return votes + totals / ((graph.op("Abs", totals) + 1.0) * 3.0)


def sum_scores(graph: Graph, x: Tensor, body: parts.Sum) -> Tensor:
    """Return shift + scale (sum of the terms)."""
    every = [term_scores(graph, x, term) for term in body.terms]
    found = [part for part in every if part is not None]
    total = graph.total([*found, *rowwise(graph, x, body, found)])
    if np.any(body.scale != 1):
        total = total * body.scale
    return total + body.shift if np.any(body.shift != 0) else total


def rowwise(graph: Graph, x: Tensor, body: parts.Sum, found: list[Tensor]) -> list[Tensor]:
    """Return zeros for every row if all terms are constants, which have a single row; else []."""
    constants = {tensor.name for tensor in graph.constants}
    if all(part.name in constants for part in found):
        return [zeros(graph, x, body.n_outputs)]
    return []


def zeros(graph: Graph, x: Tensor, n_outputs: int) -> Tensor:
    """Return zeros, (n, n_outputs)."""
    n_rows = graph.op("Gather", graph.shape(x), graph.integers([0]))
    shape = graph.op("Concat", n_rows, graph.integers([n_outputs]), axis=0)
    return graph.op("Expand", graph.constant([[0.0]], x.dtype), shape)


def opinion(
    graph: Graph, scores: Tensor, member: parts.Member, body: parts.ClassVote | parts.TargetVote
) -> Tensor:
    """Return the answer of a member of a vote: class shares, or a bounded target."""
    if isinstance(body, parts.TargetVote):
        return bounded(graph, scores, body)
    scaled = scores * member.link if member.link else scores
    if body.n_outputs == 1:
        if member.link == 0:
            return graph.op("Clip", scores, -1.0, 1.0)
        # 2 / (1 + exp(-f)) - 1 as tanh(f / 2), which loses no digits of small scores.
        return graph.op("Tanh", scaled * 0.5)
    if member.link == 0:
        own = graph.op("Max", (scores + 1.0) * 0.5, 0.0)
    elif member.link < 0:
        # Scaled so that the largest is 1, as in the core.
        apart = -scaled
        own = graph.op("Exp", apart - graph.largest(apart))
    else:
        own = graph.op("Sigmoid", scaled)
    own = own + parts.LEAST_SHARE
    return own / graph.sum(own)


def label_table(labels: Array) -> tuple[Array, Any]:
    """Return labels for ONNX and their type: int64 if all are integers, else text."""
    numbers = [label for label in labels.tolist() if isinstance(label, int | float)]
    if len(numbers) == len(labels) and all(is_int64(number) for number in numbers):
        return np.array([int(number) for number in numbers]), np.int64
    return np.array([str(label) for label in labels], dtype=object), object


def is_int64(number: int | float) -> bool:
    """Return whether a number is an integer within int64."""
    return float(number).is_integer() and -(2**63) <= int(number) < 2**63


def predicted(graph: Graph, scores: Tensor, scoring: parts.Scoring) -> Tensor:
    """Return the labels of rows, (n,); for a detector, (n, 1)."""
    assert scoring.labels is not None
    if scoring.head == "classes":
        number = graph.op("ArgMax", scores, axis=1, keepdims=0, dtype=np.int64)
    elif scoring.head == "binary":
        above = scores > 0.0
        number = graph.op("Squeeze", graph.cast(above, np.int64), graph.integers([1]))
    else:
        number = graph.cast(scores >= 0.0, np.int64)
    table = graph.constant(*label_table(scoring.labels))
    return graph.op("Gather", table, number)


def probabilities(graph: Graph, scores: Tensor, link: Link, n_outputs: int) -> Tensor:
    """Return the probabilities of the classes, (n, n_classes)."""
    z = calibrated(graph, scores, link, n_outputs)
    if n_outputs == 1:
        return graph.op("Sigmoid", graph.beside(-z, z))
    if link.softmax:
        return graph.op("Softmax", apart(graph, scores, z, link), axis=1)
    # The softmax of log(1 / (1 + exp(-z))) is 1 / (1 + exp(-z)) divided by the sum over classes,
    # without loss of digits if all of these are tiny.
    tail = graph.op("Exp", -graph.op("Abs", z))
    logs = graph.op("Min", z, 0.0) - graph.op("Log", tail + 1.0)
    return graph.op("Softmax", logs, axis=1)


def logits(graph: Graph, scores: Tensor, floor: float, n_outputs: int) -> Tensor:
    """Return f: the scores, or the logarithms of class shares (`calibration.logits_of`)."""
    if floor == 0:
        return scores
    if n_outputs > 1:
        shares = graph.op("Max", scores, 0.0) + floor
        return graph.op("Log", shares / (1 / n_outputs + floor))
    f = graph.op("Clip", scores, -1.0, 1.0)
    least = 1 + 2 * floor
    odds = (f + least) / graph.op("Sub", least, f)
    return graph.op("Log", odds)


def calibrated(graph: Graph, scores: Tensor, link: Link, n_outputs: int) -> Tensor:
    """Return z of scores."""
    largest = float(np.finfo(scores.dtype).max)
    below, above = np.clip([link.below, link.above], -largest, largest)
    z = f = logits(graph, scores, link.floor, n_outputs)
    if (below, above) != (1.0, 1.0):
        positive = graph.op("Max", f, 0.0) * above
        z = positive + graph.op("Min", f, 0.0) * below
    if link.offset_below == link.offset_above != 0:
        z = z + link.offset_above
    elif link.offset_below != link.offset_above:
        is_above = scores > 0.0
        offsets = [graph.constant(each, z.dtype) for each in (link.offset_above, link.offset_below)]
        z = z + graph.where(is_above, *offsets)
    if link.others is None:
        z = uncertain(graph, z, link.most)
    # Clip z, so that differences of infinite values do not become NaN.
    return graph.op("Clip", z, -largest / 4, largest / 4)


def apart(graph: Graph, scores: Tensor, z: Tensor, link: Link) -> Tensor:
    """Return z plus `winner` and `others`, minus the largest, compressed beyond `most`."""
    if link.others is None:
        return z
    winner = graph.op("ArgMax", scores, axis=1, keepdims=1, dtype=np.int64)
    wins = graph.op("Equal", winner, np.arange(len(link.others))[None])
    given = [graph.constant(each, z.dtype) for each in (link.winner, link.others)]
    z = z + graph.where(wins, *given)
    return uncertain(graph, z - graph.largest(z), link.most)


def uncertain(graph: Graph, z: Tensor, most: float) -> Tensor:
    """Return z, compressed by a logarithm beyond +-most."""
    if most == np.inf:
        return z
    size = graph.op("Abs", z)
    more = graph.op("Log", graph.op("Max", size - most, 0.0) + 1.0)
    size = graph.op("Min", size, most) + more
    return graph.op("Sign", z) * size


def owner_of(cls: type, name: str) -> type | None:
    """Return the base class (or the class itself) that defines a method, or None."""
    return next((one for one in cls.__mro__ if name in vars(one)), None)


def link_of(estimator: Any) -> Link | None:
    """Return the link of a classifier, or of a pipeline's last step; None if it has none.

    A subclass that overrides its probabilities has none.
    """
    learner = learner_of(estimator)
    owners = {owner_of(type(learner), name) for name in ("predict_proba", "predict_log_proba")}
    if not owners <= {Classifier, PairwiseClassifier} or not hasattr(learner, "predict_proba"):
        return None
    found = learner.calibration_
    if found is None:
        return Link(1.0, 1.0, 0.0, 0.0, inf, learner._has_softmax())
    if isinstance(found, SoftmaxCalibration):
        below, above, winner, others, most, _, floor = found
        return Link(below, above, 0.0, 0.0, most, True, winner, others, floor)
    below, above, offset_below, offset_above, most, _, floor = found
    return Link(below, above, offset_below, offset_above, most, False, floor=floor)
