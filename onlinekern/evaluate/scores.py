"""What predictions are worth: errors and kappas of all samples, of the last ones, and faded."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.signal import lfilter

from onlinekern.estimators.types import Array, ArrayLike, Floats
from onlinekern.evaluate.baselines import MOST_ELEMENTS, Majority, NoChange

FIGURES = ("error", "no_change_error", "majority_error")
KAPPAS = ("kappa", "kappa_temporal", "kappa_m")


def gain(error: float, reference: float) -> float:
    """Return the share of a reference's error that is saved: 1 - error / reference.

    1 for no error, 0 for the reference's, and minus infinity for more than a reference of 0.
    """
    if error == reference:
        return 0.0
    return 1.0 - error / reference if reference > 0 else -np.inf


def _counts(numbers: Array, n_labels: int) -> Array:
    return np.bincount(numbers, minlength=n_labels)[:n_labels]


class Sums:
    """Sums over the samples: of the losses, and of the labels that came and that were predicted.

    Parameters
    ----------
    n_labels : int
        Labels are numbers below this; 0 for a regression.
    """

    def __init__(self, n_labels: int) -> None:
        self.n_labels = n_labels
        self.weight = 0.0
        self.losses: Floats = np.zeros(len(FIGURES))
        self.truths, self.guesses = np.zeros(n_labels), np.zeros(n_labels)

    def add(self, losses: Floats, truths: Array, guesses: Array) -> None:
        """Add samples: losses of shape (n, 3), and the numbers of their labels, of shape (n,)."""
        self.weight += len(losses)
        # One after the other, so that blocks of any size give the same bits.
        with np.errstate(over="ignore", invalid="ignore"):  # a model may diverge
            self.losses = np.cumsum(np.vstack([self.losses, losses]), axis=0)[-1]
        self.truths = self.truths + _counts(truths, self.n_labels)
        self.guesses = self.guesses + _counts(guesses, self.n_labels)

    def figures(self) -> dict[str, float]:
        """Return errors, and kappas for a classification."""
        with np.errstate(over="ignore", invalid="ignore"):
            means = self.losses / self.weight
        if not self.n_labels:
            return dict(zip(FIGURES, np.sqrt(means).tolist(), strict=True))
        error, no_change, majority = means.tolist()
        by_chance = 1.0 - float(self.truths @ self.guesses) / self.weight**2
        kappas = (gain(error, by_chance), gain(error, no_change), gain(error, majority))
        return dict(zip(FIGURES + KAPPAS, (error, no_change, majority, *kappas), strict=True))

    def state(self) -> dict[str, Any]:
        """Return the sums as plain numbers, for `restore`."""
        arrays = {name: getattr(self, name).tolist() for name in ("losses", "truths", "guesses")}
        return {"weight": self.weight, **arrays}

    def restore(self, state: dict[str, Any]) -> None:
        """Go on from `state()`."""
        self.weight = state["weight"]
        for name in ("losses", "truths", "guesses"):
            setattr(self, name, np.array(state[name], dtype=np.float64))


class FadedSums(Sums):
    """Sums in which each sample weighs `fading` times the one after it."""

    def __init__(self, n_labels: int, fading: float) -> None:
        super().__init__(n_labels)
        self.fading = fading

    def add(self, losses: Floats, truths: Array, guesses: Array) -> None:
        labels = np.arange(self.n_labels)
        step = max(1, MOST_ELEMENTS // (4 + 2 * self.n_labels))
        for start in range(0, len(losses), step):
            rows = slice(start, start + step)
            came, said = truths[rows, None] == labels, guesses[rows, None] == labels
            self._add(np.hstack([np.ones((len(came), 1)), losses[rows], came, said]))

    def _add(self, table: Floats) -> None:
        sums = np.concatenate([[self.weight], self.losses, self.truths, self.guesses])
        with np.errstate(over="ignore", invalid="ignore"):
            faded, _ = lfilter([1.0], [1.0, -self.fading], table, axis=0, zi=[self.fading * sums])
        weight, self.losses, self.truths, self.guesses = np.split(
            faded[-1], np.cumsum([1, len(FIGURES), self.n_labels])
        )
        self.weight = float(weight[0])


class WindowSums(Sums):
    """Sums over the last `size` samples, which are kept."""

    def __init__(self, n_labels: int, size: int) -> None:
        super().__init__(n_labels)
        self.size = size
        self.kept: tuple[Array, Array, Array] = (
            np.zeros((0, len(FIGURES))), np.zeros(0, np.int64), np.zeros(0, np.int64)
        )  # fmt: skip

    def add(self, losses: Floats, truths: Array, guesses: Array) -> None:
        news = (losses, truths, guesses)
        self.kept = tuple(  # type: ignore[assignment]
            np.concatenate([old, new])[-self.size :]
            for old, new in zip(self.kept, news, strict=True)
        )

    def figures(self) -> dict[str, float]:
        sums = Sums(self.n_labels)
        sums.add(*self.kept)
        return sums.figures()

    def state(self) -> dict[str, Any]:
        return {"kept": [column.tolist() for column in self.kept]}

    def restore(self, state: dict[str, Any]) -> None:
        losses, truths, guesses = state["kept"]
        self.kept = (
            np.reshape(np.array(losses, dtype=np.float64), (-1, len(FIGURES))),
            np.array(truths, dtype=np.int64),
            np.array(guesses, dtype=np.int64),
        )


class Scores:
    """Errors and kappas of predictions, beside those of no change and of the majority.

    Parameters
    ----------
    classes : array-like or None
        All classes of the stream; None for a regression.
    unit : float
        Factor by which regression errors are multiplied.
    window : int or None
        Score the last so many samples too.
    fading : float or None
        Score all samples too, each with this factor times the weight of the one after it.
    """

    def __init__(
        self, classes: ArrayLike | None, unit: float, window: int | None, fading: float | None
    ) -> None:
        self._classes = None if classes is None else np.unique(classes)
        self._unit = unit
        # What is none of the classes has a number of its own.
        n_labels = 0 if self._classes is None else len(self._classes) + 1
        self.total = Sums(n_labels)
        self._sums: dict[str, Sums] = {"": self.total}
        if window is not None:
            self._sums["window_"] = WindowSums(n_labels, window)
        if fading is not None:
            self._sums["faded_"] = FadedSums(n_labels, fading)
        self._labels = np.arange(n_labels) if n_labels else None
        self._no_change, self._majority = NoChange(), Majority()
        self._others(np.zeros(0, dtype=np.int64))  # which tells them the labels

    def add(self, y: Any, predicted: Any) -> Floats:
        """Count samples; return their losses: 0 or 1, or the absolute errors."""
        y, predicted = np.asarray(y), np.asarray(predicted)
        if self._classes is None:
            return self._add_targets(y.astype(np.float64), predicted)
        truths, guesses = self._numbers(y), self._numbers(predicted)
        wrong = [predicted != y, *(other != truths for other in self._others(truths))]
        losses = np.column_stack(wrong).astype(np.float64)
        for sums in self._sums.values():
            sums.add(losses, truths, guesses)
        return losses[:, 0]

    def _add_targets(self, y: Floats, predicted: Any) -> Floats:
        none = np.zeros(len(y), dtype=np.int64)
        with np.errstate(over="ignore", invalid="ignore"):  # a model may diverge
            all_predicted = np.column_stack([predicted, *self._others(y)])
            errors = self._unit * np.abs(all_predicted - y[:, None])
            losses = errors**2
        for sums in self._sums.values():
            sums.add(losses, none, none)
        return errors[:, 0]

    def _others(self, y: Any) -> list[Array]:
        """Return what the baselines predict."""
        both = (self._no_change, self._majority)
        return [baseline.partial_fit_predict(None, y, self._labels) for baseline in both]

    def figures(self) -> dict[str, float]:
        """Return all errors and kappas, with the prefixes "", "window_" and "faded_"."""
        return {
            prefix + name: value
            for prefix, sums in self._sums.items()
            for name, value in sums.figures().items()
        }

    def state(self) -> dict[str, Any]:
        """Return all that was counted as plain numbers, for `restore`."""
        return {
            "sums": {prefix: sums.state() for prefix, sums in self._sums.items()},
            "last": float(self._no_change.last_),
            "counts": self._majority.counts_.tolist(),
            "total": self._majority.total_,
        }

    def restore(self, state: dict[str, Any]) -> None:
        """Go on from `state()`."""
        for prefix, sums in self._sums.items():
            sums.restore(state["sums"][prefix])
        self._no_change.last_ = state["last"]
        self._majority.counts_ = np.array(state["counts"])
        self._majority.total_ = state["total"]

    def _numbers(self, labels: Array) -> Array:
        known = self._classes
        assert known is not None
        found = np.minimum(np.searchsorted(known, labels), len(known) - 1)
        return np.where(known[found] == labels, found, len(known))
