"""Sequences of calls: learning, predicting, failing, copying and saving, in any order.

A call that fails leaves every bit of the model as it was. After a call that succeeds, the model is
that of a twin which was given only the successful calls, divided in another way.
"""

import argparse
import copy
import inspect
import pickle
import sys
import tempfile
import time
import warnings
from functools import partial
from pathlib import Path

import joblib
import numpy as np
from hypothesis import HealthCheck, Phase, Verbosity, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    precondition,
    rule,
    run_state_machine_as_test,
)
from sklearn.base import clone, is_classifier
from sklearn.utils import get_tags
from states import difference, state_of

import onlinekern
from harness import subjects
from harness.reports import Report, conclude, in_processes

ROWS = 400
FEATURES = 5


def with_value(X, value):
    """Return a copy of X with its last stored element replaced."""
    X = X.copy()
    (X if isinstance(X, np.ndarray) else X.data).flat[-1] = value
    return X


def bad_numbers(model):
    """Return values that a learner does not take; some take missing ones."""
    return [np.inf] if get_tags(model).input_tags.allow_nan else [np.nan, np.inf]


def bad_samples(model, X):
    """Return samples that a learner does not take."""
    return [
        *(with_value(X, value) for value in (*bad_numbers(model), -np.inf)), X[:, :-1], X[:0],
        X.astype(complex), "samples", None, [[1.0, "two"]], np.empty((3, 0)), np.zeros((2, 2, 2)),
    ]  # fmt: skip


def bad_targets(model, y):
    """Return targets that a learner does not take."""
    if is_classifier(model):
        return [np.full(len(y), "never"), y[:-1], np.array([None] * len(y)), np.c_[y, y], None]
    return [
        np.full(len(y), np.nan), np.full(len(y), np.inf), y[:-1], [None] * len(y), np.c_[y, y],
        np.full(len(y), "text"), None,
    ]  # fmt: skip


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
        }

    @property
    def begun(self):
        return "_model" in vars(self.model)

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
        differs = difference(state_of(self.model), state_of(self.twin))
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

    @rule(n=st.integers(8, 40), layout=st.sampled_from(subjects.LAYOUTS))
    def fit(self, n, layout):
        self.layout = layout
        X, rest = self.take(max(n, 30))
        self.model.fit(X, *rest)
        self.twin = subjects.build(self.subject).set_params(**self.model.get_params())
        self.twin.fit(X, *rest)
        self.check("fit")

    @precondition(lambda self: hasattr(self.model, "partial_fit"))
    @rule(n=st.integers(1, 40), cut=st.integers(0, 40), tested=st.booleans())
    def partial_fit(self, n, cut, tested):
        X, rest = self.take(n)
        first = {} if self.begun else subjects.first_call(self.model)
        method = self.model.partial_fit_predict if tested else self.model.partial_fit
        predicted = method(X, *rest, **first)
        cut = min(cut, n)
        for part in (slice(0, cut), slice(cut, n)):
            if part.start < part.stop:
                self.twin.partial_fit(X[part], *[y[part] for y in rest], **first)
        if tested:
            assert len(predicted) == n
        self.check("partial_fit")

    @precondition(lambda self: hasattr(self.model, "learn_one") and self.layout == "dense")
    @rule(n=st.integers(1, 5))
    def learn_one(self, n):
        X, rest = self.take(n)
        first = {} if self.begun else subjects.first_call(self.model)
        for i in range(n):
            self.model.learn_one(X[i], *[y[i] for y in rest], **first)
        self.twin.partial_fit(X, *rest, **first)
        if hasattr(self.model, "n_iter_"):
            # The passes of the last bulk call: learn_one is none.
            self.twin.n_iter_ = self.model.n_iter_
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
        if self.layout == "dense":
            np.testing.assert_array_equal(
                np.ravel(self.model.score_one(X[0])), np.ravel(subjects.score(self.twin, X))
            )
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
        x, one = self.data["dense"][0][0], [y[0] for y in self.data["dense"][1:]]
        one = one if self.with_targets else []
        wide = np.zeros(subjects.WIDE) if self.layout == "wide" else x
        bad = [
            *(with_value(wide, value) for value in bad_numbers(self.model)),
            wide[:-1],
            "row",
            None,
        ]
        row = bad[data.draw(st.integers(0, len(bad) - 1))]
        self.refused(lambda: self.model.learn_one(row, *one), "a bad row")
        self.refused(lambda: self.model.score_one(row), "a bad row to score")
        if self.with_targets:
            self.refused(lambda: self.model.learn_one(wide, None), "a bad target")

    @precondition(lambda self: self.begun)
    @rule()
    def bad_parameter(self):
        name = next(iter(self.model.get_params()))
        self.refused(lambda: self.model.set_params(nothing=3), "an unknown parameter")
        value = getattr(self.model, name)
        self.model.set_params(**{name: value})
        self.check("set_params")

    @precondition(lambda self: hasattr(self.model, "window"))
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
            assert "_model" not in vars(clone(self.model))
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


def try_estimator(job):
    """Run sequences of calls on one estimator: job is (name, sequences, calls of each, shrink)."""
    name, sequences, calls, shrink = job
    warnings.simplefilter("ignore")
    report = Report()
    machine = type(f"Calls{name}", (Calls,), {"subject": name, "report": report})
    try:
        run_state_machine_as_test(
            machine,
            settings=settings(
                max_examples=sequences, stateful_step_count=calls, derandomize=True, deadline=None,
                database=None, suppress_health_check=list(HealthCheck),
                verbosity=Verbosity.quiet, print_blob=False,
                phases=[Phase.generate, Phase.shrink] if shrink else [Phase.generate],
            ),
        )  # fmt: skip
    except Exception as error:
        notes = " ".join(line.strip() for line in getattr(error, "__notes__", []))
        report.find(f"{name}: {type(error).__name__}: {error} {notes}"[:600])
    return report


def main():
    parser = argparse.ArgumentParser(description=inspect.getdoc(sys.modules[__name__]))
    parser.add_argument("--names", nargs="*", default=subjects.NAMES, help="default all")
    parser.add_argument("--sequences", type=int, default=1, help="of each estimator")
    parser.add_argument("--calls", type=int, default=15, help="in each sequence")
    parser.add_argument("--shrink", action="store_true", help="what is found, to a short sequence")
    parser.add_argument("--processes", type=int, default=1)
    options = parser.parse_args()
    began = time.monotonic()
    shared = options.sequences, options.calls, options.shrink
    jobs = [(name, *shared) for name in options.names]
    return conclude(in_processes(try_estimator, jobs, options.processes), began)


if __name__ == "__main__":
    sys.exit(main())
