"""Choice of the kernel functions whose span best approximates given functions."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.linalg

from onlinekern.estimators.types import Floats

NOT_POSITIVE = (
    "the kernel matrix of the support vectors of all models is not positive definite, so that "
    "their sums cannot be projected: take another kernel, say 'gaussian'"
)
# A remaining squared norm above this (negative) share is negative by rounding alone.
LEAST_LEFT = -1e-3
# Largest number of functions in a projection: its matrix takes 128 MiB and about a second.
MOST_PROJECTED = 4096
# A function whose squared distance from the span is below this share of kappa(x, x) adds nothing.
LEAST_POWER = 1e-6
# The same share, relative to the diagonal of a matrix that is inverted.
RIDGE = 1e-9
# `exchanged` searches among this many functions; with 512 it takes a second or two.
MOST_EXCHANGED = 512
ROUNDS = 2


def pursued(gram: Floats, rest: Floats, most: int) -> Any:
    """Choose functions kappa(x_i, .) whose span approximates given functions; return their places.

    This is orthogonal matching pursuit in the space of the kernel: each step takes the function
    that removes most of the remaining squared norm. Functions in the span of the chosen ones are
    left out. Raises ValueError if the matrix shows that the kernel is not positive definite.
    """
    most = min(most, len(gram))
    power, found = np.diagonal(gram).copy(), []
    least = LEAST_POWER * power.max()
    basis = np.zeros((most, len(gram)))
    for k in range(most):
        gains = np.where(power > least, np.square(rest).sum(axis=1) / np.maximum(power, least), -1)
        place = int(np.argmax(gains))
        if gains[place] < 0:
            break
        found.append(place)
        basis[k] = (gram[place] - basis[:k, place] @ basis[:k]) / np.sqrt(power[place])
        rest = rest - np.outer(basis[k], rest[place] / basis[k, place])
        power -= np.square(basis[k])
        power[place] = 0
        if power.min() < LEAST_LEFT * np.diagonal(gram).max():
            raise ValueError(NOT_POSITIVE)
    return np.sort(np.array(found, dtype=np.intp))


def exchanged(gram: Floats, values: Floats, most: int) -> Any:
    """Choose functions whose span comes nearest to f, more carefully than `pursued`.

    Backward elimination comes first: starting from all functions, each step removes the one whose
    loss increases the error least. Then exchanges: each remaining function is removed once more,
    and the function that reduces the error most takes its place.

    Parameters
    ----------
    gram : ndarray of shape (n, n)
        Inner products of the functions.
    values : ndarray of shape (n, n_outputs)
        Their inner products with f, for each output.
    most : int
    """
    if len(gram) <= most:
        return np.arange(len(gram))
    first = pursued(gram, values, max(most, MOST_EXCHANGED))
    if len(first) <= most:
        return first
    table = Table(gram[np.ix_(first, first)], values[first])
    while len(table.inside()) > most:
        inside = table.inside()
        table.leave(inside[np.argmin(table.gains()[inside])])
    for place in np.tile(table.inside(), ROUNDS):
        if not table.used[place]:
            continue
        table.leave(place)
        outside = np.flatnonzero(~table.used)
        table.enter(outside[np.argmax(table.gains()[outside])])
    return first[table.inside()]


class Table:
    """Normal equations of f, in which variables leave and enter by the sweep operator.

    Let S be the set of variables in use. Then ``table`` holds -M_SS^-1 and, in its last columns,
    the solutions M_SS^-1 r_S. For the other variables it holds the Schur complement of M and the
    residual of r.
    """

    def __init__(self, gram: Floats, values: Floats) -> None:
        self.n = n = len(gram)
        matrix = gram + RIDGE * np.diagonal(gram).mean() * np.eye(n)
        factor = scipy.linalg.cho_factor(matrix, lower=True)
        solved = scipy.linalg.cho_solve(factor, np.column_stack([-np.eye(n), values]))
        self.table = np.zeros(2 * (solved.shape[1],))
        self.table[:n], self.table[n:, :n] = solved, solved[:, n:].T
        self.used = np.ones(n, dtype=bool)
        self.least = LEAST_POWER * RIDGE * np.diagonal(matrix).max()

    def inside(self) -> Any:
        """Return the places of the variables in use."""
        return np.flatnonzero(self.used)

    def gains(self) -> Floats:
        """Return each variable's share of the squared norm of f.

        For a variable in use, this is the loss from removing it; for another, the gain from adding
        it.
        """
        power = np.maximum(abs(np.diagonal(self.table)[: self.n]), self.least)
        return np.square(self.table[: self.n, self.n :]).sum(axis=1) / power

    def leave(self, place: int) -> None:
        self.sweep(place, -1.0)

    def enter(self, place: int) -> None:
        self.sweep(place, 1.0)

    def sweep(self, place: int, sign: float) -> None:
        row, pivot = self.table[place].copy(), self.table[place, place]
        self.table -= np.outer(row / pivot, row)
        self.table[place] = self.table[:, place] = sign * row / pivot
        self.table[place, place] = -1 / pivot
        self.used[place] = sign > 0
