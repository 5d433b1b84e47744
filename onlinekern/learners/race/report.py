"""Reports on a race: they say who led when, what experts learnt and cost, and who does as well."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from onlinekern.core.learning.trials import alarms_of
from onlinekern.estimators.types import Array, Floats
from onlinekern.learners.race.kinds import CLIP, FORGETTING, Expert

# A stretch of the stream that is a smaller share of it is not worth a line.
SHORTEST = 0.02
# Features that are named in a line of the text.
MOST_NAMED = 5


@dataclass(frozen=True)
class ExpertReport:
    """One expert of a race.

    Attributes
    ----------
    name : str
    estimator : estimator
        The estimator that it is, not fitted.
    cost : float
        Nominal microseconds a sample.
    weight : float
        Its share in the next answer if all were awake.
    loss : float
        Discounted mistake rate, or root mean squared error.
    learnt : float
        Share of the samples that it learnt, of those since its race began.
    led : float
        Share of the stream in which it had the largest weight.
    awake : bool
        Whether it votes now.
    is_raw : bool
        Whether it learns the rows as they come, and not the scaled ones.
    """

    name: str
    estimator: Any
    cost: float
    weight: float
    loss: float
    learnt: float
    led: float
    awake: bool
    is_raw: bool = False


@dataclass(frozen=True)
class RaceReport:
    """Report on a race; its text is a table.

    Attributes
    ----------
    task : {"classification", "regression"}
    n_seen : int
    experts : list of ExpertReport
    loss : float
        Discounted mistake rate, or root mean squared error, of the vote.
    samples : ndarray of shape (n_marks,)
        Samples seen when weights were noted; the last one is now.
    weights : ndarray of shape (n_marks, n_experts)
        Weights of the experts then.
    alarms : tuple of int
        Numbers of the samples behind which a race began anew beside the one that answered.
    encodes : bool
        Whether the samples were tables that an encoder made numbers of.
    clip : float
        To so many deviations scaled samples are clipped.
    memory, most_memory : float
        Megabytes that the models take at most, as they are estimated for as many samples as
        forests keep: as a rule, and while forests are renewed. The first is what `memory_budget`
        bounds.
    missing_numbers : dict
        Numbers that are taken for missing values now, by the names of the features (without names,
        by their indices).
    """

    task: str
    n_seen: int
    experts: list[ExpertReport]
    loss: float
    samples: Array
    weights: Floats
    alarms: tuple[int, ...] = ()
    encodes: bool = False
    clip: float = CLIP
    memory: float = 0.0
    most_memory: float = 0.0
    missing_numbers: dict[str | int, float] = field(default_factory=dict)

    @property
    def leader(self) -> ExpertReport:
        """Expert whose weight is the largest now."""
        return max(self.experts, key=lambda expert: expert.weight)

    @property
    def leaders(self) -> list[tuple[int, int, str]]:
        """Stretches of the stream, as (first sample, last sample, name of who led).

        Stretches of less than 2 % of the stream are left out.
        """
        found: list[tuple[int, int, str]] = []
        first = 1
        for last, winner in zip(self.samples.tolist(), self._winners().tolist(), strict=True):
            name = self.experts[winner].name
            if found and found[-1][2] == name:
                found[-1] = (found[-1][0], last, name)
            else:
                found.append((first, last, name))
            first = last + 1
        return [one for one in found if one[1] - one[0] + 1 >= SHORTEST * self.n_seen]

    def estimator(self) -> Any:
        """Make the plain estimator that does what the leader does: a scaler, then the learner.

        A forest needs neither that nor an encoder. For others an encoder comes first where the
        samples were tables. Experts "of logarithms too" learn the target alone there. It does not
        begin anew by itself: `onlinekern.drift.RenewedLearner` around it does. Nor does it find
        numbers such as -999 that stand for missing values.

        Returns
        -------
        StreamPipeline
            The pipeline, not fitted.
        """
        from sklearn.base import clone

        from onlinekern.preprocessing.pipeline import make_stream_pipeline
        from onlinekern.preprocessing.scaler import OnlineStandardScaler
        from onlinekern.preprocessing.tables.encoder import TableEncoder

        # A forest takes tables as they are.
        encodes = self.encodes and not self.leader.is_raw
        steps: list[Any] = [TableEncoder(categories="auto")] if encodes else []
        if not self.leader.is_raw:
            steps.append(OnlineStandardScaler(clip=self.clip, forgetting=FORGETTING))
        return make_stream_pipeline(*steps, clone(self.leader.estimator))

    def plot(self, path: Any) -> None:
        """Draw the weights along the stream; see `onlinekern.plotting.plot_race`."""
        from onlinekern.plotting import plot_race

        plot_race(self, path)

    def _winners(self) -> Array:
        return self.weights.argmax(axis=1)

    def __str__(self) -> str:
        what = "mistakes" if self.task == "classification" else "RMSE"
        unit = "{:.2%}" if self.task == "classification" else "{:.4g}"
        width = max(len(expert.name) for expert in self.experts)
        lines = [
            f"{self.n_seen} samples, {what} of the vote lately {unit.format(self.loss)}",
            f"{'expert':{width}}  weight     led  learnt  {what:>9}  us/sample",
        ]
        for one in sorted(self.experts, key=lambda expert: -expert.weight):
            asleep = "" if one.awake else "  asleep"
            lines.append(
                f"{one.name:{width}}  {one.weight:6.1%}  {one.led:6.1%}  {one.learnt:6.1%}  "
                f"{unit.format(one.loss):>9}  {one.cost:9.1f}{asleep}"
            )
        if self.alarms:
            lines.append(f"begun anew beside itself after {', '.join(map(str, self.alarms))}")
        renewed = f", {self.most_memory:.0f} while forests are renewed"
        renewed = renewed if self.most_memory > self.memory else ""
        lines.append(f"memory of the models: {self.memory:.3g} MB at most{renewed}")
        if self.missing_numbers:
            lines.append(f"taken for missing values: {self._missing_numbers()}")
        lines += [f"samples {first} to {last}: led by {name}" for first, last, name in self.leaders]
        return "\n".join([*lines, f"the same plainly: {self._code()}"])

    def _missing_numbers(self) -> str:
        named = [
            f"{number:g} in {'feature ' if isinstance(name, int) else ''}{name}"
            for name, number in self.missing_numbers.items()
        ]
        more = [f"{len(named) - MOST_NAMED} more"] if len(named) > MOST_NAMED else []
        return ", ".join(named[:MOST_NAMED] + more)

    def _code(self) -> str:
        scaler = f"OnlineStandardScaler(clip={self.clip:g}, forgetting={FORGETTING:g}), "
        encoder = "TableEncoder(categories='auto'), " * self.encodes
        before = (encoder + scaler) * (not self.leader.is_raw)
        plain = f"make_stream_pipeline({before}{one_line(self.leader.estimator)})"
        return f"RenewedLearner({plain})" if self.alarms else plain


def one_line(estimator: Any) -> str:
    """Return the call that makes an estimator, with the parameters that are not the default."""
    defaults = type(estimator)().get_params()
    changed = {k: v for k, v in estimator.get_params().items() if v != defaults[k]}
    arguments = ", ".join(f"{name}={value!r}" for name, value in changed.items())
    return f"{type(estimator).__name__}({arguments})"


def importances_of(race: Any) -> Floats:
    """Return those of the forest that has the larger share.

    Metrics of kernels have other units, so they are not mixed with those of forests.
    """
    with race.reading():
        weights = race.vote.weights(np.ones(len(race.experts), dtype=np.uint8))
        for k in np.argsort(-weights, kind="stable"):
            if race.raw[k]:
                return race.experts[k].space.importances
    raise AttributeError(
        "feature_importances_ is that of a kernel forest, and this race has none: time_budget or "
        "memory_budget have no room for it"
    )


def report_of(race: Any, ladder: list[Expert], task: str, names: Array | None) -> RaceReport:
    """Make the report on a race of the core, whose experts are those of the ladder.

    `names` are those of the features, if they have any.
    """
    with race.reading():
        history, learnt, n_seen = list(race.history), race.learnt, race.n_seen
        age = max(1, n_seen - race.began)
        losses = race.vote.mean_losses()
        weights = race.vote.weights(np.ones(len(ladder), dtype=np.uint8))
        voting, limit = race.voting, float(race.limit)
        numbers = race.moments.missing_values()
    if n_seen > (history[-1][0] if history else 0):
        # The race notes its weights now and then; what has come since counts too.
        history.append((n_seen, weights))
    if task == "regression":
        losses = np.sqrt(losses)
    samples = np.array([mark for mark, _ in history], dtype=np.int64)
    noted = np.array([weight for _, weight in history]).reshape(len(history), len(ladder))
    stretches = np.diff(samples, prepend=0)
    led = np.bincount(noted.argmax(axis=1), stretches, len(ladder)) / max(1, n_seen)
    # A race of an older file has fewer twins than the current ladder.
    twins = [", of logarithms too" if twin is not None else "" for twin in race.twins]
    experts = [
        ExpertReport(
            one.name + twins[k], one.estimator, one.cost, float(weights[k]), float(losses[k]),
            float(learnt[k] / age), float(led[k]), bool(voting[k]),
            one.is_raw,
        )
        for k, one in enumerate(ladder)
    ]  # fmt: skip
    loss, alarms = float(losses[len(ladder)]), tuple(alarms_of(race).tolist())
    missing = {
        int(j) if names is None else str(names[j]): float(numbers[j])
        for j in np.flatnonzero(~np.isnan(numbers))
    }
    return RaceReport(
        task, n_seen, experts, loss, samples, noted, alarms, clip=limit, missing_numbers=missing
    )
