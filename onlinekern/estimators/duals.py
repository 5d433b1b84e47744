"""The duals of OLLA's machines, solved by sequential minimal optimisation.

A loss C l(y, f) has a dual with the coefficient b of a point as its variable: t b minus the
conjugate of the loss. Where the conjugate is a parabola between two bounds, the dual is the
quadratic problem of `core.models.smo`.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
from joblib import effective_n_jobs
from sklearn.exceptions import ConvergenceWarning

from onlinekern.core.base.pool import run_together
from onlinekern.core.models.active_rows import ActiveRows
from onlinekern.core.models.smo import DualMinimiser
from onlinekern.core.samples.rows import rows_at
from onlinekern.estimators.progress import progress_of
from onlinekern.estimators.types import Floats, Indices
from onlinekern.estimators.warnings import warn

# Steps after which a problem is given up: in all, or per point if that is more (LIBSVM).
MOST_STEPS = 10_000_000
STEPS_OF_POINT = 100
# Points whose scores calibrate probabilities, and parts in which they are left out.
HELD_OUT = 512
FOLDS = 5
# A sum of coefficients that must be 0 may be off by so much, relative to them.
ROUNDING = 1e-9


class Dual(NamedTuple):
    """Terms of the dual that a loss gives for the points of one problem; see `core.models.smo`.

    Attributes
    ----------
    targets, lower, upper, ridge : ndarray of shape (n,)
    insensitivity : float
    """

    targets: Floats
    lower: Floats
    upper: Floats
    ridge: Floats
    insensitivity: float = 0.0


def one_sided(signs: Floats, most: Floats, ridge: Floats) -> Dual:
    """Return coefficients of the sign of the label, of up to `most`."""
    return Dual(signs, np.where(signs > 0, 0, -most), np.where(signs > 0, most, 0), ridge)


# C is an ndarray: C of the estimator times the weight of each point.
DUALS: dict[str, Any] = {
    "hinge": lambda own, y, C: one_sided(y, C, 0 * C),
    "smooth_hinge": lambda own, y, C: one_sided(y, C, own.delta / C),
    "squared_hinge": lambda own, y, C: one_sided(y, np.inf + C, 1 / C),
    "squared": lambda own, y, C: Dual(y, -np.inf - C, np.inf + C, 1 / C),
    "huber": lambda own, y, C: Dual(y, -own.delta * C, own.delta * C, 1 / C),
    "epsilon_insensitive": lambda own, y, C: Dual(y, -C, C, 0 * C, float(own.epsilon)),
}


class Solution(NamedTuple):
    """A solved problem.

    Attributes
    ----------
    coefficients : ndarray of shape (n,)
    offset, objective : float
        The objective is that of the dual which is maximised.
    n_iter : int
    gap : float
        By how much the optimality conditions are violated.
    """

    coefficients: Floats
    offset: float
    objective: float
    n_iter: int
    gap: float


@dataclass(frozen=True)
class Problem:
    """One output of a model, with the points that it is learnt from and their targets."""

    output: int
    points: Indices
    targets: Floats


def problems_of(kind: str, y: Floats, n_classes: int, counted: Indices) -> Iterator[Problem]:
    """Return the problems of a model, whose points are among those that are `counted`."""
    if kind == "regression":
        yield Problem(0, counted, y[counted])
    elif n_classes == 2:
        yield Problem(0, counted, 2 * y[counted] - 1)
    elif kind == "ovo":
        for output, (first, second) in enumerate(combinations(range(n_classes), 2)):
            points = counted[(y[counted] == first) | (y[counted] == second)]
            yield Problem(output, points, np.where(y[points] == first, 1.0, -1.0))
    else:
        for output in range(n_classes):
            yield Problem(output, counted, np.where(y[counted] == output, 1.0, -1.0))


def feasible(start: Floats, dual: Dual, has_offset: bool) -> Floats:
    """Return coefficients within their bounds, of the sum 0 where there is an offset."""
    start = np.clip(start, dual.lower, dual.upper)
    if has_offset:
        more, less = start[start > 0].sum(), -start[start < 0].sum()
        # What rounding leaves does no harm, and coefficients at their bound must stay there.
        if abs(more - less) > ROUNDING * max(more, less):
            larger = start > 0 if more > less else start < 0
            start[larger] *= min(more, less) / max(more, less)
    return start


def offset_of(minimiser: Any, present: Any, insensitivity: float) -> float:
    """Return the offset, by the slopes of the points that are at no bound, else the middle."""
    beta, slopes, lower, upper = present
    kink = insensitivity * np.where(beta > 0, -1.0, 1.0)
    free = (lower < beta) & (beta < upper) & ((insensitivity == 0) | (beta != 0))
    if free.any():
        return float((slopes + kink)[free].mean())
    upwards = slopes + np.where(beta >= 0, -insensitivity, insensitivity)
    downwards = slopes + kink
    most = upwards[beta < upper].max(initial=-np.inf)
    least = downwards[beta > lower].min(initial=np.inf)
    ends = [end for end in (most, least) if np.isfinite(end)]
    return float(np.mean(ends)) if ends else 0.0


class Machine:
    """One problem on its points, as it is solved.

    Parameters
    ----------
    estimator : OLLA
    rows : ActiveRows
        Of the points.
    dual : Dual
    start : ndarray of shape (n,), optional
        Coefficients to begin with.
    """

    def __init__(self, estimator: Any, rows: Any, dual: Dual, start: Floats | None) -> None:
        self.dual, self.has_offset = dual, bool(estimator.fit_intercept)
        if start is not None:
            start = feasible(start, dual, self.has_offset)
        n = len(dual.targets)
        limit = max(MOST_STEPS, STEPS_OF_POINT * n)
        self.most = limit if estimator.max_iter is None else estimator.max_iter
        options = self.has_offset, estimator.tol, estimator.shrinking
        self.minimiser = DualMinimiser(rows, *dual, *options, start)

    def solve(self) -> Solution:
        """Take steps until the problem is solved."""
        minimiser, e = self.minimiser, self.dual.insensitivity
        minimiser.minimise(self.most)
        present = minimiser.present()
        beta, slopes = present[:2]
        objective = (beta * (self.dual.targets + slopes)).sum() / 2 - e * np.abs(beta).sum()
        offset = offset_of(minimiser, present, e) if self.has_offset else 0.0
        return Solution(beta, offset, float(objective), minimiser.n_iter, minimiser.gap)

    def scores_without(self, points: Indices) -> Floats:
        """Return the scores of points by the solution of the problem without them.

        It begins at the solution of all points, so it takes few steps, and comes back.
        """
        minimiser = self.minimiser
        solved = minimiser.present()
        beta = solved[0].copy()
        missing = beta[points].sum()
        beta[points] = 0
        moved = self.taking_over(beta, missing, points) if self.has_offset else points[:0]
        minimiser.change(points, beta[points], True)
        minimiser.change(moved, beta[moved], False)
        minimiser.minimise(minimiser.n_iter + self.most)
        present = minimiser.present()
        offset = offset_of(minimiser, present, self.dual.insensitivity) if self.has_offset else 0.0
        minimiser.resume(solved)
        return self.dual.targets[points] - present[1][points] + offset

    def taking_over(self, beta: Floats, missing: float, besides: Indices) -> Indices:
        """Let other points have coefficients that add up to so much more; return which do."""
        room = (self.dual.upper - beta) if missing > 0 else (beta - self.dual.lower)
        room[besides] = 0
        order = np.argsort(-room, kind="stable")
        before = np.concatenate([[0.0], np.cumsum(room[order])[:-1]])
        parts = np.clip(abs(missing) - before, 0, room[order])
        moved = np.sort(order[parts > 0])
        beta[order] += np.copysign(parts, missing)
        return moved


def earlier_coefficients(estimator: Any, n: int, n_outputs: int) -> Floats | None:
    """Return the points' coefficients by the fit before, in units of C; None if there are none."""
    own = vars(estimator)
    if not estimator.warm_start or "_fitted_C" not in own:
        return None
    support, coefficients = own["support_"], own["_model"].space.support.effective()
    if len(coefficients) != n_outputs:
        return None
    start = np.zeros((n, n_outputs))
    there = support < n
    start[support[there]] = coefficients[:, there].T * (estimator.C / own["_fitted_C"])
    return start


class Training:
    """The problems of a model, which are solved side by side in `n_jobs` threads.

    Parameters
    ----------
    estimator : OLLA
    model : Model
        With a space that has learnt nothing.
    X, y, weight
        Validated samples, encoded labels or targets, and their weights or None.
    """

    def __init__(self, estimator: Any, model: Any, X: Any, y: Any, weight: Any) -> None:
        n, n_outputs = X.shape[0], model.head.n_outputs
        self.estimator, self.model, self.X, self.weight = estimator, model, X, weight
        self.is_regression = model.head.n_labels == 0
        self.y = (y - model.target_mean) / model.target_scale if self.is_regression else y
        self.C = np.full(n, float(estimator.C)) if weight is None else estimator.C * weight
        self.counted = np.flatnonzero(self.C > 0)
        self.start = earlier_coefficients(estimator, n, n_outputs)
        self.coefficients, self.offsets = np.zeros((n, n_outputs)), np.zeros(n_outputs)
        # Some points are scored without being learnt; a score that is still to come is NaN.
        calibrates = not self.is_regression and estimator.probability
        step = max(1, len(self.counted) // HELD_OUT)
        self.held = self.counted[::step][: HELD_OUT if calibrates else 0]
        self.without = np.full((len(self.held), n_outputs), np.nan)
        self.kept, self.n_threads = threading.local(), 1

    def run(self) -> tuple[Floats, int, Indices]:
        """Give the model the solution.

        Returns the objectives of the duals, the number of steps, and the rows that are support
        vectors.
        """
        kind = "regression" if self.is_regression else self.estimator.multi_class
        problems = [*problems_of(kind, self.y, self.model.head.n_labels, self.counted)]
        # The largest comes first: no thread is then left alone with it.
        problems.sort(key=lambda problem: -len(problem.points))
        self.n_threads = min(effective_n_jobs(self.estimator.n_jobs), len(problems))
        with progress_of(self.estimator, len(problems), "machines") as progress:

            def solve(problem: Problem) -> Solution:
                solution = self.solve(problem)
                progress.add(1)
                return solution

            found = run_together(solve, problems, self.n_threads)
        of_output = dict(zip([problem.output for problem in problems], found, strict=True))
        solutions = [of_output[output] for output in range(len(problems))]
        support = self.model.space.take(self.X, self.coefficients, self.offsets)
        self.model.resume_counts(len(self.counted), 0, 0.0)
        if len(self.held):
            self.note_scores()
        n_iter = sum(solution.n_iter for solution in solutions)
        tell_of_limit(self.estimator, n_iter, max(solution.gap for solution in solutions))
        return np.array([solution.objective for solution in solutions]), n_iter, support

    def solve(self, problem: Problem) -> Solution:
        """Solve one problem, and note its coefficients."""
        points, output = problem.points, problem.output
        if len(points) == 0:
            return Solution(np.zeros(0), 0.0, 0.0, 0, 0.0)
        dual = DUALS[self.estimator.loss](self.estimator, problem.targets, self.C[points])
        start = None if self.start is None else self.start[points, output]
        machine = Machine(self.estimator, self.rows_of(points), dual, start)
        solution = machine.solve()
        self.coefficients[points, output] = solution.coefficients
        self.offsets[output] = solution.offset
        if len(self.held):
            self.leave_out(machine, problem)
        return solution

    def leave_out(self, machine: Machine, problem: Problem) -> None:
        """Note the scores of points, each by a solution that has not learnt it."""
        among = np.flatnonzero(np.isin(self.held, problem.points))
        places = np.searchsorted(problem.points, self.held[among])
        for fold in range(min(FOLDS, len(among))):
            scores = machine.scores_without(places[fold::FOLDS].copy())
            self.without[among[fold::FOLDS], problem.output] = scores

    def rows_of(self, points: Indices) -> Any:
        """Return kernel rows of points: those of this thread's last problem, if the points are its.

        The threads share the memory for them in equal parts.
        """
        kept = vars(self.kept)
        if "points" not in kept or not np.array_equal(kept["points"], points):
            own = self.X if len(points) == self.X.shape[0] else rows_at(self.X, points)
            support, n_bytes = self.model.space.support, 1e6 * self.estimator.cache_size
            kept.clear()  # This frees the memory of the rows before.
            kept["rows"] = ActiveRows(support, own, n_bytes / self.n_threads)
            kept["points"] = points
        return kept["rows"]

    def note_scores(self) -> None:
        """Let probabilities be fitted to the scores of points that were left out.

        A problem of classes other than a point's has not learnt it.
        """
        scores = np.empty_like(self.without)
        self.model.scores(rows_at(self.X, self.held), scores)
        scores = np.where(np.isnan(self.without), scores, self.without)
        weight = np.ones(len(self.held)) if self.weight is None else self.weight[self.held]
        self.model.recent.replace(scores, self.y[self.held], weight)


def tell_of_limit(estimator: Any, n_iter: int, gap: float) -> None:
    """Warn of problems that were not solved."""
    if gap > estimator.tol:
        warn(
            f"solver='smo' stopped after {n_iter} steps, where the optimality "
            f"conditions are violated by {gap:.3g}, tol={estimator.tol}: raise max_iter or tol, "
            "scale the features, or take a smaller C",
            ConvergenceWarning,
        )
