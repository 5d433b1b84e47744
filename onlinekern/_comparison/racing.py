"""A race by successive halving: the best of many settings, for the price of at most three.

All candidates learn the first part of the head. The best two in five of them go on, from where they
are, to twice as many samples; the best two in five of these again, and the last rung is half of the
head. Candidates are ranked by their errors over the second half of what they have learnt, which is
the same samples for all of them.

The first rung is the longest at which the race costs at most `MOST_RUNS` runs over the whole head:
half of it for 4 or 5 candidates, a quarter for 6 or 7, an eighth for 8 to 12. Up to three learn all
of it. ``benchmarks/search.py`` measures what that costs and what it chooses. With a first rung of a
sixteenth (312 samples) and half of the candidates going on, the choice made up to a third more
mistakes: on ijcnn1, where one label in ten is positive, so few samples do not tell candidates
apart. Nor did it help that the last two learnt the whole head, at twice the price.

References
----------
Z. Karnin, T. Koren, O. Somekh (2013). Almost optimal exploration in multi-armed bandits. ICML.
K. Jamieson, A. Talwalkar (2016). Non-stochastic best arm identification and hyperparameter
optimization. AISTATS. Deviations: two in five go on instead of every second one, and a rung ends
at a number of samples whatever the number of candidates.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeVar

Value = TypeVar("Value")

# Runs over the whole head that a race may cost. It leaves room below three for the time that it
# takes to begin: a model for each candidate, and blocks that end with a rung.
MOST_RUNS = 2.75
WHOLE = 3  # as many candidates learn the whole head
LEAST_SAMPLES = 500  # in the first rung; races over short heads may cost more
# What a learner raises when it diverges with a step size of the grid.
FAILURES = (ArithmeticError, ValueError)


@dataclass(frozen=True)
class Rung:
    """A part of a race: so many candidates, and how many samples each has learnt at its end."""

    n_candidates: int
    stop: int


def rungs(n_candidates: int, n_samples: int) -> list[Rung]:
    """Return the rungs of a race over a head; each stop is half of the next one, rounded down."""
    if n_candidates <= WHOLE:
        return [Rung(n_candidates, n_samples)]
    course = _course(n_candidates, n_samples, 1)
    shift = 1
    while cost(course) > MOST_RUNS * n_samples and n_samples >> shift + 1 >= LEAST_SAMPLES:
        shift += 1
        course = _course(n_candidates, n_samples, shift)
    if course[0].stop < LEAST_SAMPLES:
        return [Rung(n_candidates, n_samples)]
    return course


def _course(n_candidates: int, n_samples: int, shift: int) -> list[Rung]:
    """Return the rungs from a head's part of 2^-shift to its half."""
    course = [Rung(n_candidates, n_samples >> shift)]
    while shift > 1 and course[-1].n_candidates > 1:
        shift -= 1
        course.append(Rung(-(-2 * course[-1].n_candidates // 5), n_samples >> shift))
    return course


def cost(course: Sequence[Rung]) -> int:
    """Return how many samples are learnt in a race, those of all candidates together."""
    starts = [0, *(rung.stop for rung in course)]
    return sum(
        rung.n_candidates * (rung.stop - start) for rung, start in zip(course, starts, strict=False)
    )


def race(
    values: Sequence[Value],
    enter: Callable[[Value], Callable[[int], float]],
    n_samples: int,
    tick: Callable[[int], None],
) -> Value:
    """Return the value that wins a race.

    Parameters
    ----------
    values : sequence
        In a tie, the one named first wins.
    enter : callable
        Value -> function that learns on to a number of samples, and returns the error over their
        second half; infinity or one of `FAILURES` if the candidate diverges. A candidate that
        failed is out, and the next one takes its place.
    n_samples : int
        Length of the head.
    tick : callable
        Called with numbers of samples, which add up to the `cost` of the rungs.

    Raises
    ------
    ArithmeticError or ValueError
        The last failure, if all candidates fail.
    """
    failure: Exception = ValueError("there are no candidates")
    ranking, entrants, start = list(range(len(values))), dict[int, Callable[[int], float]](), 0
    for rung in rungs(len(values), n_samples):
        runners = sorted(ranking[: rung.n_candidates])
        # Models of those that are out give their memory back.
        entrants = {i: entrants.get(i) or enter(values[i]) for i in runners}
        errors = {}
        for i, error in entrants.items():
            try:
                errors[i] = error(rung.stop)
            except FAILURES as problem:
                failure = problem
            tick(rung.stop - start)
        tick((rung.n_candidates - len(runners)) * (rung.stop - start))
        others = [i for i in ranking if i not in entrants]
        ranking = [*sorted(errors, key=lambda i: (errors[i], i)), *others]
        start = rung.stop
    if not ranking:
        raise failure
    return values[ranking[0]]
