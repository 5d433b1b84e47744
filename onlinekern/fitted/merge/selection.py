"""Which functions of many span best what is to be kept."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.linalg

from onlinekern.estimators.types import Floats

NOT_POSITIVE = (
    "the kernel matrix of the support vectors of all models is not positive definite, so that "
    "their sums cannot be projected: take another kernel, say 'gaussian'"
)
# What is left of a squared norm is negative by rounding alone as long as it is above this share.
LEAST_LEFT = -1e-3
# Functions are projected onto at most so many: a matrix takes 128 MiB, and about a second.
MOST_PROJECTED = 4096
# Who is nearer to the span of the others than this share of kappa(x, x) adds nothing to it.
LEAST_POWER = 1e-6
# The same share, of the diagonal of a matrix that is inverted.
RIDGE = 1e-9
# `exchanged` looks at so many functions; with 512 it takes a second or two.
MOST_EXCHANGED = 512
ROUNDS = 2


def pursued(gram: Floats, rest: Floats, most: int) -> Any:
    """Return the places of functions kappa(x_i, .) whose span comes nearest to one of these values.

    Each next one takes most of the squared norm of what is left (orthogonal matching pursuit in the
    space of the kernel). Those that are in the span of the others are left out. Raises ValueError
    where the kernel is seen not to be positive definite.
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
    """Return the places of functions whose span comes nearest to f, more carefully than `pursued`.

    First all are there, and one after the other leaves whom the others miss least. Then each of
    those who stay is taken out once more, and who takes most of what is left takes its place.

    Parameters
    ----------
    gram : ndarray of shape (n, n)
        Products of the functions.
    values : ndarray of shape (n, n_outputs)
        Their products with f, of each output.
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
    """Normal equations of f, of which unknowns leave and enter (the sweep operator).

    With S the unknowns in use, ``table`` holds -M_SS^-1, the solutions M_SS^-1 r_S in the last
    columns, and for all others what is left of M and r.
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
        """Return the places in use."""
        return np.flatnonzero(self.used)

    def gains(self) -> Floats:
        """Return what each in use takes of the squared norm of f, or would take."""
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
