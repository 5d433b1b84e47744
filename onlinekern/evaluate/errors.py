"""Errors along a stream, of predictions that were made before the samples were learnt.

`Errors` counts those of all samples, of the last ones, and faded ones. `Metrics` adds those of two
baselines, and kappas. `Curve` records figures along the stream, `Confusion` a confusion matrix. All
of them give their state as plain numbers and text, and go on from it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np

from onlinekern.estimators.types import Array, Classes, Floats
from onlinekern.evaluate.baselines import MOST_ELEMENTS, Majority, NoChange
from onlinekern.evaluate.delayed import Arrivals

KAPPAS = ("kappa", "kappa_temporal", "kappa_m")
# A curve has at most so many points; when there are more, every second one is dropped.
MOST_POINTS = 512
# Classes after these are counted together.
MOST_LABELS = 20
OTHERS = "other classes"


def losses_of(y: Any, predicted: Any, counted: bool) -> Floats:
    """Return the loss of each prediction: 1 for a mistake if they are `counted`, else (f - y)^2."""
    if counted:
        return (predicted != y).astype(np.float64)
    with np.errstate(over="ignore", invalid="ignore"):  # a model may diverge
        squares: Floats = (predicted - y) ** 2
    return squares


def gain(error: float, reference: float) -> float:
    """Return the share of a reference's error that is saved: 1 - error / reference.

    It is minus infinity if the reference is 0 and the error is not.
    """
    if error == reference:
        return 0.0
    return 1.0 - error / reference if reference > 0 else -np.inf


class Sums:
    """Sums over the samples: of their losses, and of the labels that came and were predicted.

    Parameters
    ----------
    n_losses : int
        Losses of a sample, one for each predictor.
    n_labels : int
        Labels are numbers below this; 0 if there are none.
    """

    def __init__(self, n_losses: int, n_labels: int) -> None:
        self.weight = 0.0
        self.losses: Floats = np.zeros(n_losses)
        self.labels: Floats = np.zeros((2, n_labels))

    def add(self, losses: Floats, *labels: Array) -> None:
        """Add samples: losses of shape (n, n_losses), true and predicted labels of shape (n,)."""
        self.weight += len(losses)
        # Losses are added one by one, so that results do not depend on the sizes of blocks.
        with np.errstate(over="ignore", invalid="ignore"):
            self.losses = np.cumsum(np.vstack([self.losses, losses]), axis=0)[-1]
        for counts, numbers in zip(self.labels, labels, strict=False):
            counts += np.bincount(numbers, minlength=len(counts))

    def whole(self) -> Sums:
        """Return the sums over all samples that count."""
        return self

    def state(self) -> dict[str, Any]:
        """Return the sums as plain numbers, for `restore`."""
        return {
            "weight": self.weight, "losses": self.losses.tolist(), "labels": self.labels.tolist()
        }  # fmt: skip

    def restore(self, state: dict[str, Any]) -> None:
        """Go on from `state()`."""
        self.weight, self.losses = state["weight"], np.array(state["losses"], dtype=np.float64)
        self.labels = np.array(state["labels"], dtype=np.float64)


class FadedSums(Sums):
    """Sums in which each sample weighs `fading` times the one after it."""

    def __init__(self, n_losses: int, n_labels: int, fading: float) -> None:
        super().__init__(n_losses, n_labels)
        self.fading = fading

    def add(self, losses: Floats, *labels: Array) -> None:
        numbers = np.arange(self.labels.shape[1])
        step = max(1, MOST_ELEMENTS // (4 + 2 * len(numbers)))
        for start in range(0, len(losses), step):
            rows = slice(start, start + step)
            met = [own[rows, None] == numbers for own in labels]
            self._add(np.hstack([np.ones((len(losses[rows]), 1)), losses[rows], *met]))

    def _add(self, table: Floats) -> None:
        from scipy.signal import lfilter  # slow to import, seldom needed

        sums = np.concatenate([[self.weight], self.losses, *self.labels])
        with np.errstate(over="ignore", invalid="ignore"):
            faded, _ = lfilter([1.0], [1.0, -self.fading], table, axis=0, zi=[self.fading * sums])
        weight, self.losses, both = np.split(faded[-1], np.cumsum([1, len(self.losses)]))
        self.weight, self.labels = float(weight[0]), both.reshape(self.labels.shape)


class WindowSums(Sums):
    """Sums over the last `size` samples, which are kept."""

    def __init__(self, n_losses: int, n_labels: int, size: int) -> None:
        super().__init__(n_losses, n_labels)
        self.size = size
        self.kept: list[Array] = [np.zeros((0, n_losses))]
        self.kept += [np.zeros(0, np.int64)] * 2 if n_labels else []

    def add(self, *columns: Array) -> None:
        self.kept = [
            np.concatenate([old, new])[-self.size :]
            for old, new in zip(self.kept, columns, strict=True)
        ]

    def whole(self) -> Sums:
        sums = Sums(len(self.losses), self.labels.shape[1])
        sums.add(*self.kept)
        return sums

    def state(self) -> dict[str, Any]:
        return {"kept": [column.tolist() for column in self.kept]}

    def restore(self, state: dict[str, Any]) -> None:
        self.kept = [
            np.array(values, dtype=column.dtype).reshape(-1, *column.shape[1:])[-self.size :]
            for values, column in zip(state["kept"], self.kept, strict=True)
        ]


class Errors:
    """Errors of all samples, of the last ones, and faded.

    An error is the share of mistakes, or the root mean squared error.

    Parameters
    ----------
    counted : bool
        Whether mistakes are counted; otherwise errors are squared.
    window : int or None
        Number of the last samples with an error of their own; None: there is none.
    fading : float or None
        Weight of each sample relative to the next one, in the faded error; None: there is none.
    n_labels : int
        Number of labels, as `Sums` takes it.

    Attributes
    ----------
    total : Sums
        Sums over all samples.
    """

    predictors: ClassVar[tuple[str, ...]] = ("error",)

    def __init__(
        self, counted: bool, window: int | None = None, fading: float | None = None,
        n_labels: int = 0,
    ) -> None:  # fmt: skip
        self.counted, self.window = counted, window
        shape = len(self.predictors), n_labels
        self.total = Sums(*shape)
        self._sums: dict[str, Sums] = {"": self.total}
        if window is not None:
            self._sums["window_"] = WindowSums(*shape, window)
        if fading is not None:
            self._sums["faded_"] = FadedSums(*shape, fading)

    def add(self, y: Any, predicted: Any) -> Floats:
        """Count samples; return their losses."""
        losses = losses_of(y, predicted, self.counted)
        self._count(losses[:, None])
        return losses

    def _count(self, *columns: Array) -> None:
        for sums in self._sums.values():
            sums.add(*columns)

    @property
    def n_rows(self) -> int:
        """Samples counted."""
        return int(self.total.weight)

    @property
    def error(self) -> float:
        """Error of all samples; 0 before the first one."""
        return self._errors(self.total)[0]

    @property
    def window_error(self) -> float:
        """Error of the last samples."""
        return self._errors(self._sums["window_"].whole())[0]

    def figures(self) -> dict[str, float]:
        """Return all figures, with the prefixes "", "window_" and "faded_"."""
        return {
            prefix + name: value
            for prefix, sums in self._sums.items()
            for name, value in self._figures(sums.whole()).items()
        }

    def _figures(self, sums: Sums) -> dict[str, float]:
        return dict(zip(self.predictors, self._errors(sums), strict=True))

    def _errors(self, sums: Sums) -> list[float]:
        with np.errstate(over="ignore", invalid="ignore"):
            means = sums.losses / max(1.0, sums.weight)
        return (means if self.counted else np.sqrt(means)).tolist()

    def state(self) -> dict[str, Any]:
        """Return all that was counted as plain numbers and text, for `restore`."""
        return {"sums": {prefix: sums.state() for prefix, sums in self._sums.items()}}

    def restore(self, state: dict[str, Any]) -> None:
        """Go on from `state()`."""
        for prefix, sums in self._sums.items():
            sums.restore(state["sums"][prefix])

    def __str__(self) -> str:
        form = "{:.2%}" if self.counted else "{:.4g}"
        error, last = form.format(self.error), form.format(self.window_error)
        what = f"{error} mistakes" if self.counted else f"RMSE {error}"
        return f"{what}, last {min(self.window or 0, self.n_rows):,}: {last}"


class Metrics(Errors):
    """Errors and kappas of predictions, and errors of the baselines no-change and majority.

    Parameters
    ----------
    classes : array-like or None
        All classes of the stream; None for a regression.
    unit : float
        Factor by which regression errors are multiplied.
    window, fading : as for `Errors`
    """

    predictors = ("error", "no_change_error", "majority_error")

    def __init__(
        self, classes: Classes, unit: float, window: int | None, fading: float | None
    ) -> None:
        self._classes = None if classes is None else np.unique(classes)
        self._unit = unit
        # Labels that are none of the classes share one more number.
        n_labels = 0 if self._classes is None else len(self._classes) + 1
        super().__init__(classes is not None, window, fading, n_labels)
        self._labels = np.arange(n_labels) if n_labels else None
        self._no_change, self._majority = NoChange(), Majority()
        self._baselines(np.zeros(0, dtype=np.int64))  # gives them the labels

    def add(self, y: Any, predicted: Any, arrivals: Arrivals | None = None) -> Floats:
        """Count samples; return their losses: 0 or 1, or the absolute errors.

        `arrivals` are the labels that came meanwhile; None: each came after its sample.
        """
        y, predicted = np.asarray(y), np.asarray(predicted)
        if self._classes is None:
            return self._add_targets(y.astype(np.float64), predicted, arrivals)
        truths, guesses = self._numbers(y), self._numbers(predicted)
        if arrivals is not None:
            arrivals = replace(arrivals, y=self._numbers(arrivals.y))
        others = self._baselines(truths, arrivals)
        wrong = [predicted != y, *(other != truths for other in others)]
        losses = np.column_stack(wrong).astype(np.float64)
        self._count(losses, truths, guesses)
        return losses[:, 0]

    def _add_targets(self, y: Floats, predicted: Any, arrivals: Arrivals | None) -> Floats:
        with np.errstate(over="ignore", invalid="ignore"):  # a model may diverge
            all_predicted = np.column_stack([predicted, *self._baselines(y, arrivals)])
            errors = self._unit * np.abs(all_predicted - y[:, None])
            self._count(errors**2)
        return errors[:, 0]

    def _baselines(self, y: Any, arrivals: Arrivals | None = None) -> list[Array]:
        """Return what the baselines predict."""
        both = (self._no_change, self._majority)
        if arrivals is not None:
            return [arrivals.predict(baseline, self._labels) for baseline in both]
        return [baseline.partial_fit_predict(None, y, self._labels) for baseline in both]

    def _figures(self, sums: Sums) -> dict[str, float]:
        found = super()._figures(sums)
        if not self.counted:
            return found
        truths, guesses = sums.labels
        by_chance = 1.0 - float(truths @ guesses) / sums.weight**2
        references = (by_chance, found["no_change_error"], found["majority_error"])
        kappas = (gain(found["error"], reference) for reference in references)
        return found | dict(zip(KAPPAS, kappas, strict=True))

    def state(self) -> dict[str, Any]:
        return super().state() | {
            "last": float(self._no_change.last_),
            "counts": self._majority.counts_.tolist(),
            "total": self._majority.total_,
        }

    def restore(self, state: dict[str, Any]) -> None:
        super().restore(state)
        self._no_change.last_ = state["last"]
        self._majority.counts_ = np.array(state["counts"])
        self._majority.total_ = state["total"]

    def _numbers(self, labels: Array) -> Array:
        known = self._classes
        assert known is not None
        found = np.minimum(np.searchsorted(known, labels), len(known) - 1)
        return np.where(known[found] == labels, found, len(known))


class Curve:
    """Figures at the multiples of a number of samples, which doubles when they are too many.

    Parameters
    ----------
    stride : int

    Attributes
    ----------
    points : list of dict of str to float
        ``samples``, and the figures by then.
    """

    def __init__(self, stride: int) -> None:
        self.stride = stride
        self.points: list[dict[str, float]] = []

    def to_next(self, n_samples: int) -> int:
        """Return how many samples after the first `n_samples` the next point comes."""
        return self.stride - n_samples % self.stride

    def note(self, errors: Errors) -> bool:
        """Add a point if it is time for one, and return whether it was."""
        if errors.n_rows % self.stride:
            return False
        self.points.append(self.point(errors))
        if len(self.points) > MOST_POINTS:
            self.stride *= 2
            self.points = [one for one in self.points if one["samples"] % self.stride == 0]
        return True

    @staticmethod
    def point(errors: Errors) -> dict[str, float]:
        """Return the figures as they are now."""
        return {"samples": errors.n_rows, **errors.figures()}

    def columns(self, errors: Errors) -> dict[str, Array]:
        """Return an array for each figure, whose last value is that of now."""
        points = list(self.points)
        if not points or points[-1]["samples"] != errors.n_rows:
            points.append(self.point(errors))
        return {name: np.array([point[name] for point in points]) for name in points[0]}

    def state(self) -> dict[str, Any]:
        """Return stride and points, for `restore`."""
        return {"stride": self.stride, "points": self.points}

    def restore(self, state: dict[str, Any]) -> None:
        """Go on from `state()`."""
        self.stride, self.points = state["stride"], [dict(point) for point in state["points"]]


class Confusion:
    """How often which class was predicted for which.

    Parameters
    ----------
    name : callable
        Label -> text.

    Attributes
    ----------
    labels : list of str
        The classes in the order in which blocks brought them; later ones are `OTHERS`.
    counts : Counter
        (class, predicted class) -> samples.
    """

    def __init__(self, name: Callable[[Any], str] = str) -> None:
        self._name = name
        self.labels: list[str] = []
        self.counts: Counter[tuple[str, str]] = Counter()

    def add(self, y: Array, predicted: Array) -> None:
        """Count samples."""
        labels, numbers = np.unique(np.concatenate([y, predicted]), return_inverse=True)
        truths, guesses = np.split(numbers, 2)
        names = [self._known(self._name(label)) for label in labels]
        found, times = np.unique(truths * len(labels) + guesses, return_counts=True)
        for pair, count in zip(found.tolist(), times.tolist(), strict=True):
            truth, guess = divmod(pair, len(labels))
            self.counts[names[truth], names[guess]] += count

    def _known(self, label: str) -> str:
        if label in self.labels:
            return label
        if len(self.labels) == MOST_LABELS:
            return OTHERS
        self.labels.append(label)
        return label

    def state(self) -> dict[str, Any]:
        """Return labels and counts, for `restore`."""
        counts = [[truth, guess, n] for (truth, guess), n in self.counts.items()]
        return {"labels": self.labels, "counts": counts}

    def restore(self, state: dict[str, Any]) -> None:
        """Go on from `state()`."""
        self.labels = list(state["labels"])
        self.counts = Counter({(truth, guess): n for truth, guess, n in state["counts"]})
