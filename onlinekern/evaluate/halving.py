"""Successive halving [1]_ [2]_: the best of many settings, for the price of some three.

All candidates learn the first part of the head. The better half of them go on, from where they are,
to twice as many samples, and so on until two are left. These learn the whole head, in a second
order too. Candidates are ranked by their errors over what they have learnt, which is the same
samples for all of them: twelve learn an eighth of the head, six a quarter, three half of it, and
two all of it, which is twice what one of them learns in three orders.

What counts is that the last ones learn all of the head, and that the first rung is not too short:
more orders count less. A first rung costs more than its samples, too: a model is made and grows.
``benchmarks/search.py`` compares it with runs of all candidates over the whole head;
docs/defaults.md has its figures. In the publications the rungs have equal shares of a budget; here
each is twice as long as the one before.

References
----------
.. [1] Z. Karnin, T. Koren, O. Somekh (2013). Almost optimal exploration in multi-armed bandits.
   International Conference on Machine Learning, 1238-1246.
.. [2] K. Jamieson, A. Talwalkar (2016). Non-stochastic best arm identification and hyperparameter
   optimization. International Conference on Artificial Intelligence and Statistics, 240-248.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TypeVar

Value = TypeVar("Value")

FINALISTS = 2
FINAL_ORDERS = 2
LEAST_SAMPLES = 500  # in the first rung; over short heads there are fewer rungs
# What a learner raises when it diverges with a step size of the grid.
FAILURES = (ArithmeticError, ValueError)


@dataclass(frozen=True)
class Rung:
    """A part of successive halving.

    Attributes
    ----------
    n_candidates : int
    stop, orders : int
        Each of them has learnt so many samples at its end, in so many orders.
    """

    n_candidates: int
    stop: int
    orders: int


def plan_rungs(n_candidates: int, n_samples: int, orders: int) -> list[Rung]:
    """Return the rungs over a head; each stop is half of the next one, rounded down.

    `orders` are those of a search that has a single rung.
    """
    sizes = [n_candidates]
    while sizes[-1] > FINALISTS and n_samples >> len(sizes) >= LEAST_SAMPLES:
        sizes.append((sizes[-1] + 1) // 2)
    last = len(sizes) - 1
    final = min(orders, FINAL_ORDERS) if last else orders
    return [
        Rung(size, n_samples >> (last - i), final if i == last else 1)
        for i, size in enumerate(sizes)
    ]


def shares(rungs: Sequence[Rung]) -> list[int]:
    """Return how many samples each candidate learns in each rung."""
    learnt = [0, *(rung.stop * rung.orders for rung in rungs)]
    return [after - before for before, after in pairwise(learnt)]


def cost(rungs: Sequence[Rung]) -> int:
    """Return how many samples are learnt, those of all candidates together."""
    parts = zip(rungs, shares(rungs), strict=True)
    return sum(rung.n_candidates * share for rung, share in parts)


def halve(
    values: Sequence[Value],
    start: Callable[[Value], Callable[[int, int], float]],
    rungs: Sequence[Rung],
    tick: Callable[[int], None],
) -> Value:
    """Return the best of several values.

    Parameters
    ----------
    values : sequence
        In a tie, the one named first wins.
    start : callable
        Value -> function that learns on to a number of samples in a number of orders, and returns
        the error; infinity or one of `FAILURES` if the candidate diverges.
        A candidate that failed is out, and the next one takes its place.
    rungs : sequence of Rung
        The plan for so many values.
    tick : callable
        Called with numbers of samples, which add up to the `cost` of the rungs.

    Raises
    ------
    ArithmeticError or ValueError
        The last failure, if all candidates fail.
    """
    failure: Exception = ValueError("there are no candidates")
    ranking, started = list(range(len(values))), dict[int, Callable[[int, int], float]]()
    for rung, share in zip(rungs, shares(rungs), strict=True):
        chosen = sorted(ranking[: rung.n_candidates])
        # Models of those that are out give their memory back.
        started = {i: started.get(i) or start(values[i]) for i in chosen}
        errors = {}
        for i, error in started.items():
            try:
                errors[i] = error(rung.stop, rung.orders)
            except FAILURES as problem:
                failure = problem
            tick(share)
        tick((rung.n_candidates - len(chosen)) * share)
        others = [i for i in ranking if i not in started]
        ranking = [*sorted(errors, key=lambda i: (errors[i], i)), *others]
    if not ranking:
        raise failure
    return values[ranking[0]]
