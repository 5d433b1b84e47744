"""Interrupts: Ctrl-C at random moments of a call.

The call raises KeyboardInterrupt and nothing else, or ends. The model is the one before the call or
the one after it, never one between; and the next call works.
"""

import faulthandler
import gc
import pickle
import random
import signal
import sys
import time
import warnings

import sklearn
from sklearn.base import clone
from states import difference, state_of

from harness import subjects
from harness.reports import Report, run
from onlinekern.estimators.blas_threads import ONE_THREAD

MOST_ROWS = 200_000
ROWS = 300


class Timer:
    """Interrupts a call some seconds after it began, as Ctrl-C does."""

    def __init__(self):
        self.armed = False
        signal.signal(signal.SIGALRM, self.interrupt)

    def interrupt(self, number, frame):
        # A signal that comes too late must not end the harness.
        if self.armed:
            self.armed = False
            signal.default_int_handler(number, frame)

    def make(self, call, seconds):
        """Make the call; return the exception that it raised, None if it ended."""
        try:
            self.armed = True
            signal.setitimer(signal.ITIMER_REAL, seconds)
            call()
            self.armed = False
        except BaseException as error:
            return error
        finally:
            self.armed = False
            signal.setitimer(signal.ITIMER_REAL, 0)
        return None


def calls_of(model, X, y):
    """Return {name: (pickled model, function of it)}: the calls that are interrupted."""
    rest = subjects.targets(model, y)
    same = pickle.dumps(model)
    calls = {
        "fit": (pickle.dumps(clone(model)), lambda m: m.fit(X, *rest)),
        "fit again": (same, lambda m: m.fit(X, *rest)),
        "scores": (same, lambda m: subjects.score(m, X)),
        "pickle": (same, lambda m: pickle.loads(pickle.dumps(m))),
    }
    if subjects.is_online(model):
        calls["partial_fit"] = (same, lambda m: m.partial_fit(X, *rest))
    if hasattr(model, "partial_fit_predict"):
        calls["partial_fit_predict"] = (same, lambda m: m.partial_fit_predict(X, *rest))
    return calls


def begun(name, layout):
    """Return a model in mid-stream."""
    model = subjects.build(name)
    X, y = subjects.samples(model, 60, layout=layout)
    rest = subjects.targets(model, y)
    if subjects.is_online(model):
        return model.partial_fit(X, *rest, **subjects.first_call(model))
    return model.fit(X, *rest)


def rows_for(name, layout, milliseconds):
    """Return samples whose learning takes about so long."""
    model = begun(name, layout)
    seconds, n = 0.0, ROWS
    while True:
        X, y = subjects.samples(model, n, seed=1, layout=layout)
        call = calls_of(model, X, y)["fit"]
        began = time.perf_counter()
        call[1](pickle.loads(call[0]))
        seconds = time.perf_counter() - began
        if seconds > milliseconds / 1e3 or 2 * n > MOST_ROWS or name.startswith("OLLA"):
            return model, X, y
        n *= 2


def kind_of(error):
    """Return the name of an exception, or all that it says; its frames are dropped."""
    if error is None or type(error) is KeyboardInterrupt:
        return error and "KeyboardInterrupt"
    return f"{type(error).__name__}: {error}"


def faults_of(model, states, error):
    """Yield what is wrong after a call that may have been interrupted."""
    if error not in (None, "KeyboardInterrupt"):
        yield error
    differences = [difference(state_of(model), state) for state in states]
    if all(differences):
        yield f"a model between: {differences[0]} is not as before, {differences[-1]} not as after"
    if ONE_THREAD._inside:
        yield "BLAS is left with one thread"
        ONE_THREAD._inside.clear()


def try_call(timer, where, pickled, call, tries, draw, report):
    """Interrupt one call at random moments."""
    model = pickle.loads(pickled)
    before = state_of(model)
    began = time.perf_counter()
    call(model)
    seconds = time.perf_counter() - began
    after = state_of(model)
    for _ in range(tries):
        model = pickle.loads(pickled)
        error = kind_of(timer.make(lambda model=model: call(model), draw.uniform(1e-6, seconds)))
        # An interruption at the end of scikit-learn's own context leaves its setting behind.
        sklearn.set_config(skip_parameter_validation=False)
        report.count("calls")
        report.count("interrupted", int(error is not None))
        faults = list(faults_of(model, (before, after), error))
        if error is not None and not faults and difference(state_of(model), before) is None:
            call(model)
            differs = difference(state_of(model), after)
            faults = [f"the next call differs: {differs}"] if differs else []
        for fault in faults:
            report.find(f"{where}: {fault}")


def try_single_rows(timer, where, pickled, X, y, tries, draw, report):
    """Interrupt a loop of `learn_one`: the model has learnt the rows so far, or one more."""
    model = pickle.loads(pickled)
    rest = subjects.targets(model, y)
    rows = [(subjects.row_of(X, i), *[target[i] for target in rest]) for i in range(40)]
    states = [state_of(model)]
    began = time.perf_counter()
    for row in rows:
        model.learn_one(*row)
    seconds = time.perf_counter() - began
    model = pickle.loads(pickled)
    for row in rows:
        states.append(state_of(model.learn_one(*row)))
    for _ in range(tries):
        model, done = pickle.loads(pickled), [0]

        def learn(model=model, done=done):
            for row in rows:
                model.learn_one(*row)
                done[0] += 1

        error = kind_of(timer.make(learn, draw.uniform(1e-6, seconds)))
        report.count("calls")
        report.count("interrupted", int(error is not None))
        for fault in faults_of(model, states[done[0] : done[0] + 2], error):
            report.find(f"{where}: {fault}")


def try_estimator(job):
    """Interrupt the calls of an estimator: job is (name, layout, tries, milliseconds, seed)."""
    name, layout, tries, milliseconds, seed = job
    faulthandler.enable()
    warnings.simplefilter("ignore")
    # An interrupt while an object is destroyed is reported; the call goes on.
    sys.unraisablehook = lambda _: None
    gc.freeze()
    subjects.hasten()
    timer, report, draw = Timer(), Report(), random.Random(f"{seed} {name} {layout}")
    model, X, y = rows_for(name, layout, milliseconds)
    for call, (pickled, function) in calls_of(model, X, y).items():
        try_call(timer, f"{name}.{call} ({layout})", pickled, function, tries, draw, report)
    if subjects.is_online(model):
        where = f"{name}.learn_one ({layout})"
        try_single_rows(timer, where, pickle.dumps(model), X, y, tries, draw, report)
    return report


def jobs(options):
    shared = options.tries, options.milliseconds, options.seed
    return [(*case, *shared) for case in subjects.cases(options.names, options.layouts)]


def main():
    """Interrupt each method `tries` times, in calls of so many `milliseconds` at least."""
    return run(try_estimator, jobs, tries=4, milliseconds=0.0)


if __name__ == "__main__":
    sys.exit(main())
