"""Sequences of calls: learning, predicting, failing, copying and saving, in any order.

A call that fails leaves every bit of the model as it was. After a call that succeeds, the model is
that of a twin which was given only the successful calls, divided in another way.
"""

import copy
import pickle
import sys
import tempfile
import warnings
from contextlib import suppress
from functools import partial
from pathlib import Path

import joblib
import numpy as np
from hypothesis import HealthCheck, Phase, Verbosity, seed, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    precondition,
    rule,
    run_state_machine_as_test,
)
from scipy import sparse
from sklearn.base import clone, is_classifier
from sklearn.utils import get_tags
from states import difference, state_of

import onlinekern
from harness import subjects
from harness.reports import Report, run
from onlinekern.drift import RenewedLearner
from onlinekern.fitted.save import to_bytes
from onlinekern.preprocessing.pipeline import StreamPipeline
from onlinekern.preprocessing.steps import is_fitted

ROWS = 400
FEATURES = 5


def with_value(X, value):
    """Return a copy of X with its last stored element replaced."""
    X = X.copy()
    if hasattr(X, "iloc"):
        X.iloc[-1, -1] = value
        return X
    (X if isinstance(X, np.ndarray) else X.data).flat[-1] = value
    return X


def bad_numbers(model):
    """Return values that a learner does not take; some take missing ones."""
    first = model[0] if isinstance(model, StreamPipeline) else model
    return [np.inf] if get_tags(first).input_tags.allow_nan else [np.nan, np.inf]


def bad_samples(model, X):
    """Return samples that a learner does not take."""
    bad = [
        *(with_value(X, value) for value in (np.inf, -np.inf)), subjects.narrower(X), X[:0],
        "samples", None, np.empty((3, 0)), np.zeros((2, 2, 2)),
    ]  # fmt: skip
    if hasattr(X, "iloc"):
        return [*bad, X.rename(columns={"last": "first"}), X.assign(last="text"), [3, 4]]
    missing = [with_value(X, value) for value in bad_numbers(model)]
    return [*bad, *missing, X.astype(complex), [[1.0, "two"]]]


def bad_single_rows(model, row):
    """Return single samples that a learner does not take."""
    bad = ["row", None, row[:-1] if isinstance(row, np.ndarray) else {}]
    if isinstance(row, dict):
        return [*bad, {**row, "last": np.inf}, {**row, "size": "text"}]
    return [*bad, *(with_value(row, value) for value in bad_numbers(model))]


def bad_targets(model, y):
    """Return targets that a learner does not take."""
    if is_classifier(model):
        bad = [y[:-1], np.array([None] * len(y)), np.c_[y, y], None]
        return bad if subjects.takes_labels_up(model) else [*bad, np.full(len(y), "never")]
    return [
        np.full(len(y), np.nan), np.full(len(y), np.inf), y[:-1], [None] * len(y), np.c_[y, y],
        np.full(len(y), "text"), None,
    ]  # fmt: skip


def state_in_rows(model):
    """Return the state of a model; a `RenewedLearner` keeps its last samples as they were cut."""
    if not (isinstance(model, RenewedLearner) and "_recent" in vars(model)):
        return state_of(model)
    model = copy.copy(model)
    model._recent = [
        (X[i] if isinstance(X, list) else subjects.row_of(X, i), y[i])
        for X, y, _ in model._recent
        for i in range(len(y))
    ]
    return state_of(model)


class Calls(RuleBasedStateMachine):
    """A model, and its twin; `subject` is the name of the estimator, `report` counts."""

    subject = "SPAClassifier"
    report = Report()

    def __init__(self):
        super().__init__()
        self.model, self.twin = subjects.build(self.subject), subjects.build(self.subject)
        self.next = 0
        self.layout = "dense"
        self.with_targets = subjects.has_targets(self.model)
        self.data = {
            layout: subjects.samples(self.model, ROWS, FEATURES, layout=layout)
            for layout in subjects.LAYOUTS
            if subjects.takes(self.subject, layout)
        }

    @property
    def begun(self):
        return is_fitted(self.model)

    def take(self, n):
        """Return the next rows and the arguments after them."""
        n = min(n, ROWS)
        if self.next + n > ROWS:
            self.next = 0
        X, y = self.data[self.layout]
        part = slice(self.next, self.next + n)
        self.next += n
        return X[part], [y[part]] if self.with_targets else []

    def check(self, what):
        self.report.count(what)
        self.report.count("calls")
        differs = difference(state_in_rows(self.model), state_in_rows(self.twin))
        assert differs is None, f"{self.subject}, {what}: {differs}"

    def refused(self, call, what):
        """Make a call that must fail and change nothing."""
        before = state_of(self.model)
        try:
            call()
        except (ValueError, TypeError, FloatingPointError):
            pass
        else:
            raise AssertionError(f"{self.subject}, {what}: was not refused")
        differs = difference(state_of(self.model), before)
        assert differs is None, f"{self.subject}, {what}: changed {differs}"
        self.check("failing calls")

    @rule(n=st.integers(8, 40), data=st.data())
    def fit(self, n, data):
        self.layout = data.draw(st.sampled_from(sorted(self.data)))
        X, rest = self.take(max(n, 30))
        self.model.fit(X, *rest)
        self.twin = clone(self.model).fit(X, *rest)
        self.check("fit")

    @precondition(lambda self: hasattr(self.model, "partial_fit"))
    @rule(n=st.integers(1, 40), cut=st.integers(0, 40), tested=st.booleans())
    def partial_fit(self, n, cut, tested):
        X, rest = self.take(n)
        first = {} if self.begun else subjects.first_call(self.model)
        tested = tested and hasattr(self.model, "partial_fit_predict")
        method = self.model.partial_fit_predict if tested else self.model.partial_fit
        predicted = method(X, *rest, **first)
        cut = min(cut, n)
        for part in (slice(0, cut), slice(cut, n)):
            if part.start < part.stop:
                self.twin.partial_fit(X[part], *[y[part] for y in rest], **first)
        if tested:
            assert len(predicted) == n
        self.check("partial_fit")

    @precondition(lambda self: hasattr(self.model, "learn_one"))
    @rule(n=st.integers(1, 5))
    def learn_one(self, n):
        X, rest = self.take(n)
        first = {} if self.begun else subjects.first_call(self.model)
        for i in range(n):
            self.model.learn_one(subjects.row_of(X, i), *[y[i] for y in rest], **first)
        self.twin.partial_fit(X, *rest, **first)
        learner = subjects.learner(self.model)
        if hasattr(learner, "n_iter_"):
            # The passes of the last bulk call: learn_one is none.
            subjects.learner(self.twin).n_iter_ = learner.n_iter_
        self.check("learn_one")

    @precondition(lambda self: self.begun)
    @rule(n=st.integers(1, 30))
    def predict(self, n):
        X, _ = self.take(n)
        scores = subjects.score(self.model, X)
        np.testing.assert_array_equal(subjects.score(self.twin, X), scores)
        parts = (
            [subjects.score(self.twin, X[:1]), subjects.score(self.twin, X[1:])] if n > 1 else []
        )
        if parts:
            np.testing.assert_array_equal(np.concatenate(parts), scores)
        assert len(self.model.predict(X)) == n
        self.check("predict")

    @precondition(lambda self: self.begun and hasattr(self.model, "score_one"))
    @rule()
    def score_one(self):
        X, _ = self.take(1)
        found = self.model.score_one(subjects.row_of(X, 0))
        np.testing.assert_array_equal(np.ravel(found), np.ravel(subjects.score(self.twin, X)))
        self.check("score_one")

    @precondition(lambda self: self.begun)
    @rule(data=st.data())
    def bad_rows(self, data):
        X, rest = self.take(12)
        bad = bad_samples(self.model, X)
        rows = bad[data.draw(st.integers(0, len(bad) - 1))]
        methods = [partial(self.model.predict)]
        if hasattr(self.model, "partial_fit"):
            methods += [lambda X: self.model.partial_fit(X, *rest)]
        if hasattr(self.model, "partial_fit_predict"):
            methods += [lambda X: self.model.partial_fit_predict(X, *rest)]
        self.refused(lambda: data.draw(st.sampled_from(methods))(rows), "bad rows")

    @precondition(lambda self: self.begun and self.with_targets)
    @rule(data=st.data())
    def bad_labels(self, data):
        X, rest = self.take(12)
        bad = bad_targets(self.model, rest[0])
        y = bad[data.draw(st.integers(0, len(bad) - 1))]
        if hasattr(self.model, "partial_fit"):
            self.refused(lambda: self.model.partial_fit(X, y), "bad targets")
        elif not (is_classifier(self.model) and isinstance(y, np.ndarray)):
            self.refused(lambda: self.model.fit(X, y), "bad targets")

    @precondition(lambda self: self.begun)
    @rule(weights=st.sampled_from([-1.0, np.nan, np.inf]))
    def bad_weights(self, weights):
        X, rest = self.take(12)
        method = getattr(self.model, "partial_fit", self.model.fit)
        self.refused(lambda: method(X, *rest, sample_weight=np.full(12, weights)), "bad weights")

    @precondition(lambda self: self.begun and hasattr(self.model, "learn_one"))
    @rule(data=st.data())
    def bad_single_rows(self, data):
        X, rest = self.take(1)
        x = X.toarray()[0] if sparse.issparse(X) else subjects.row_of(X, 0)
        one = [y[0] for y in rest]
        bad = bad_single_rows(self.model, x)
        row = bad[data.draw(st.integers(0, len(bad) - 1))]
        self.refused(lambda: self.model.learn_one(row, *one), "a bad row")
        self.refused(lambda: self.model.score_one(row), "a bad row to score")
        if self.with_targets:
            self.refused(lambda: self.model.learn_one(x, None), "a bad target")

    @precondition(lambda self: self.begun)
    @rule()
    def bad_parameter(self):
        name = next(iter(self.model.get_params(deep=False)))
        self.refused(lambda: self.model.set_params(nothing=3), "an unknown parameter")
        value = getattr(self.model, name)
        self.model.set_params(**{name: value})
        self.check("set_params")

    # Blocks of OLLA's solver 'smo' are its own: it refuses a window.
    @precondition(
        lambda self: hasattr(self.model, "window") and getattr(self.model, "solver", "") != "smo"
    )
    @rule(window=st.sampled_from([None, 1, 3, 64]))
    def set_window(self, window):
        self.model.set_params(window=window)
        self.twin.set_params(window=window)
        self.check("set_params")

    @precondition(lambda self: "C" in self.model.get_params() or "eta" in self.model.get_params())
    @rule(value=st.sampled_from([0.1, 0.5, 1.0]))
    def set_step(self, value):
        name = "C" if "C" in self.model.get_params() else "eta"
        self.model.set_params(**{name: value})
        self.twin.set_params(**{name: value})
        self.check("set_params")

    @rule(way=st.sampled_from(["pickle", "joblib", "copy", "deepcopy", "clone", "save"]))
    def duplicate(self, way):
        if way == "clone":
            assert not is_fitted(clone(self.model))
            return self.check("clone")
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "model"
            self.model = {
                "pickle": lambda model: pickle.loads(pickle.dumps(model)),
                "joblib": lambda model: joblib.dump(model, path) and joblib.load(path),
                "copy": copy.copy,
                "deepcopy": copy.deepcopy,
                "save": lambda model: (model.save(path), onlinekern.load(path))[1],
            }[way](self.model)
        return self.check(way)

    @precondition(lambda self: self.begun)
    @rule(way=st.sampled_from(["export_c", "export_onnx", "to_bytes", "merge"]))
    def give_away(self, way):
        """What others make of a model leaves it as it is; not all models can be exported."""
        ways = {
            "to_bytes": lambda: to_bytes(self.model),
            "merge": lambda: onlinekern.merge([self.model, self.twin]),
        }
        with suppress(ValueError, TypeError, NotImplementedError, AttributeError, ImportError):
            ways.get(way, lambda: getattr(self.model, way)())()
        self.check("exports and merges")


def try_estimator(job):
    """Run sequences of calls on one estimator: job is (name, sequences, calls, shrink, seed)."""
    name, sequences, calls, shrink, number = job
    warnings.simplefilter("ignore")
    subjects.hasten()
    report = Report()
    machine = seed(f"{number} {name}")(
        type(f"Calls{name}", (Calls,), {"subject": name, "report": report})
    )
    try:
        run_state_machine_as_test(
            machine,
            settings=settings(
                max_examples=sequences, stateful_step_count=calls, deadline=None, database=None,
                suppress_health_check=list(HealthCheck),
                verbosity=Verbosity.quiet, print_blob=False,
                phases=[Phase.generate, Phase.shrink] if shrink else [Phase.generate],
            ),
        )  # fmt: skip
    except Exception as error:
        notes = " ".join(line.strip() for line in getattr(error, "__notes__", []))
        report.find(f"{name}: {type(error).__name__}: {error} {notes}"[:600])
    return report


def jobs(options):
    shared = options.sequences, options.calls, options.shrink, options.seed
    return [(name, *shared) for name in options.names]


def main():
    """Try `sequences` of so many `calls` of each estimator; `shrink` what is found."""
    return run(try_estimator, jobs, layouts=False, sequences=1, calls=15, shrink=False)


if __name__ == "__main__":
    sys.exit(main())
