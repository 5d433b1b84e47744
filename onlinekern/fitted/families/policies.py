"""What policies have learnt beside support vectors: into C that goes on learning, and back."""

from __future__ import annotations

from collections.abc import Callable
from math import isqrt
from typing import Any, NamedTuple

import numpy as np

from onlinekern.fitted.export.taught import Taught
from onlinekern.fitted.state import State

Kept = dict[str, Any]
MATRICES = ("inverse", "covariance", "prior")


def kept_factor(learnt: State) -> Kept:
    """Return a Cholesky factor, and a covariance if there is one."""
    return {name: np.asarray(value) for name, value in vars(learnt).items()}


def taught_factor(learnt: State, found: Taught, n: int) -> State:
    factor = np.zeros((n, n))
    rows, columns = np.tril_indices(n)
    factor[rows, columns] = found.fields["factor"][: len(rows)]
    fields = {"factor": factor}
    if "covariance" in found:
        room = isqrt(len(found.fields["covariance"]))
        fields["covariance"] = np.ascontiguousarray(found.matrix("covariance", room)[:n, :n])
    return learnt.changed(**fields)


def kept_inverse(learnt: State) -> Kept:
    """Return an inverse without its padding, and with its terms, and what stands beside it."""
    size = len(learnt.inverse)
    found = {name: getattr(learnt, name)[:, :size] for name in MATRICES if name in vars(learnt)}
    whole = found["inverse"].copy()
    for term, factor in zip(*(learnt.pending or ((), ())), strict=True):
        whole += np.multiply.outer(factor * term[:size], term[:size])
    found |= {"inverse": whole, "diagonals": learnt.diagonal[0, :size]}
    # A broken inverse is computed afresh as an old one is.
    found["n_updates"] = np.array(np.iinfo(np.int32).max if learnt.broken else learnt.n_updates)
    if "values" in vars(learnt):
        found["goals"] = learnt.values[0, :size]
    if "residuals" in vars(learnt):
        found["residuals"] = learnt.residuals[0]
    return found


def taught_inverse(learnt: State, found: Taught, n: int) -> State:
    size, width = learnt.inverse.shape
    fields: dict[str, Any] = {"pending": None, "broken": False}
    fields["n_updates"] = found.count("n_updates")
    for name in MATRICES:
        if name in found:
            given = found.matrix(name, size)
            fields[name] = np.pad((given + given.T) / 2, ((0, 0), (0, width - size)))
    for name, own in (("diagonal", "diagonals"), ("values", "goals")):
        if own in found and name in vars(learnt):
            fields[name] = np.pad(found.fields[own], (0, width - size))[np.newaxis]
    if "residuals" in found:
        fields["residuals"] = found.fields["residuals"][np.newaxis].copy()
    return learnt.changed(**fields)


def kept_machines(learnt: State) -> Kept:
    """Return the inverse of least-squares machines, and the targets of their support vectors."""
    size = len(learnt.inverse)
    return kept_inverse(learnt) | {"goals": learnt.targets[:-1, :size]}


def taught_machines(learnt: State, found: Taught, n: int) -> State:
    own = taught_inverse(learnt, found, n)
    targets = np.zeros_like(own.targets)
    size, width = own.inverse.shape
    targets[:-1, :size] = found.matrix("goals", len(targets) - 1)
    targets[-1] = own.diagonal[0] != 0
    products = np.pad(targets[:, :size] @ own.inverse[:, :size], ((0, 0), (0, width - size)))
    offsets = found.matrix("values", len(targets) - 1)[:, -1:].T.copy()
    return own.changed(targets=targets, products=products, offsets=offsets)


def kept_margins(learnt: State) -> Kept:
    """Return f at the support vectors, of the terms since each came, and the damage so far."""
    margins = learnt.scale * learnt.values
    return {"margins": margins, "damage": learnt.damage, "n_steps": learnt.n_steps}


def taught_margins(learnt: State, found: Taught, n: int) -> State:
    margins = np.ascontiguousarray(found.matrix("margins", len(learnt.values))[:, :n])
    empty = np.zeros_like(margins)
    own = {"damage": found.number("damage"), "n_steps": found.count("n_steps")}
    return learnt.changed(values=margins, companions=empty, scale=1.0, **own)


def kept_norm(learnt: State) -> Kept:
    """Return the squared norm of all functions, < 0 where it must be computed."""
    return {"square": learnt.square}


def taught_norm(learnt: State, found: Taught, n: int) -> State:
    return learnt.changed(square=found.number("norm_squared"))


def kept_samples(learnt: State) -> Kept:
    """Return the last samples of affine projection, and their kernel matrix."""
    return {name: getattr(learnt, name) for name in ("recent", "gram", "learnt")}


def taught_samples(learnt: State, found: Taught, n: int) -> State:
    names = ("slots", "targets", "weights", "scores")
    recent = np.stack([found.fields[f"recent_{name}"] for name in names]).astype(np.float64)
    gram = found.matrix("gram", len(learnt.gram)).copy()
    return learnt.changed(recent=recent, gram=gram, learnt=found.count("n_learnt"))


class Learnt(NamedTuple):
    """What a policy learns beside support vectors, and how that comes into C, and back.

    Attributes
    ----------
    fields : str
        Its description (`state.fields`).
    kept : callable
        (what it has learnt) -> numbers by their names in C.
    taught : callable
        (what it has learnt, numbers of a device, slots that are in use) -> what it has learnt then.
    """

    fields: str = ""
    kept: Callable[[State], Kept] = lambda learnt: {}
    taught: Callable[[State, Taught, int], State] = lambda learnt, found, n: learnt

    def beside(self, more: str, **rules: Any) -> Learnt:
        """Return what a policy learns that has more fields than this one."""
        return self._replace(fields=f"{self.fields} {more}", **rules)


NOTHING = Learnt()
LENGTHS = Learnt("lengths[slot]")
FACTOR = Learnt("factor[slot slot]", kept_factor, taught_factor)
SPANS = FACTOR.beside("covariance[slot slot]")
INVERSE = Learnt(
    "inverse~[row column] diagonal~[one column] n_updates~ broken~ pending~",
    kept_inverse,
    taught_inverse,
)
VALUES = INVERSE.beside("values~[output column]")
POSTERIOR = VALUES.beside("covariance[row column] prior[row column] residuals[output level]")
MACHINES = INVERSE.beside(
    "targets[machine column] offsets[one output] products~[machine column]",
    kept=kept_machines,
    taught=taught_machines,
)
MARGINS = Learnt(
    "values~[output slot] companions~[output slot] scale~ total~ steps~ n_steps~ damage~",
    kept_margins,
    taught_margins,
)
NORM = Learnt("square~", kept_norm, taught_norm)
SAMPLES = Learnt(
    f"recent[known sample] gram[sample sample] learnt {LENGTHS.fields}",
    kept_samples,
    taught_samples,
)
WEIGHTS = Learnt("weights[machine feature] offsets[machine]")
