"""Data races: several threads teach and ask one model at once, for some seconds.

No sample is lost, every answer is finite and of one state of the model, nothing raises, and no
thread waits for ever.
"""

import copy
import faulthandler
import pickle
import random
import sys
import threading
import time
import warnings

import numpy as np

from harness import subjects
from harness.reports import Report, run

ROWS = 400
SAME = 150
# A thread that waits for so long waits for ever.
MOST_SECONDS = 120


class Crowd:
    """One model and the threads that use it."""

    def __init__(self, name, layout, seconds, seed):
        self.model = subjects.build(name)
        self.online = subjects.is_online(self.model)
        self.X, y = subjects.samples(self.model, ROWS, layout=layout)
        self.rest = subjects.targets(self.model, y)
        self.same = subjects.repeated(self.X, 3, SAME)
        self.seed, self.seconds = seed, seconds
        self.lock = threading.Lock()
        self.given, self.calls, self.faults = 60, 0, []
        first = [target[:60] for target in self.rest]
        if self.online:
            self.model.partial_fit(self.X[:60], *first, **subjects.first_call(self.model))
        else:
            self.model.fit(self.X[:60], *first)

    def teach(self, draw):
        """Learn a batch or a sample; the number of samples is noted."""
        n = draw.choice([1, 1, 3, 30, 120])
        start = draw.randrange(ROWS - n)
        part = slice(start, start + n)
        rest = [target[part] for target in self.rest]
        if not self.online:
            self.model.fit(self.X[:60], *[target[:60] for target in self.rest])
        elif n == 1:
            self.model.learn_one(subjects.row_of(self.X, start), *[y[0] for y in rest])
        elif draw.random() < 0.5 or not hasattr(self.model, "partial_fit_predict"):
            self.model.partial_fit(self.X[part], *rest)
        else:
            assert len(self.model.partial_fit_predict(self.X[part], *rest)) == n
        with self.lock:
            self.given += n

    def ask(self, draw):
        """Ask one thing; raise AssertionError for an answer that no state gives."""
        what = draw.randrange(6)
        if what == 0:
            scores = subjects.score(self.model, self.same)
            assert np.isfinite(scores).all()
            assert (scores == scores[0]).all(), "scores of more than one state"
        elif what == 1:
            assert len(self.model.predict(self.X)) == ROWS
        elif what == 2 and self.online:
            assert np.isfinite(self.model.score_one(subjects.row_of(self.X, 1))).all()
        elif what == 3:
            twin = pickle.loads(pickle.dumps(self.model))
            assert subjects.n_seen(twin) >= 60
            assert np.isfinite(subjects.score(twin, self.same)).all()
        elif what == 4:
            assert subjects.learner(copy.deepcopy(self.model)).cumulative_loss_ >= 0
        else:
            for name in ("n_seen_", "n_support_", "coef_", "support_vectors_", "dual_coef_"):
                value = getattr(self.model, name, None)
                assert value is None or not np.ndim(value) or value.size >= 0

    def work(self, action, seed):
        """Repeat an action until the time is over; note what it raises."""
        draw, end = random.Random(seed), time.monotonic() + self.seconds
        while time.monotonic() < end and not self.faults:
            try:
                action(draw)
            except BaseException as error:
                self.faults.append(f"{action.__name__}: {type(error).__name__}: {error}")
            with self.lock:
                self.calls += 1

    def run(self):
        """Run the threads; return what was found."""
        actions = [self.teach, self.teach, self.ask, self.ask, self.ask]
        threads = [
            threading.Thread(target=self.work, args=(action, f"{self.seed} {k}"))
            for k, action in enumerate(actions)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        learnt = subjects.n_seen(self.model)
        if self.online and learnt != self.given and not self.faults:
            self.faults.append(f"{self.given} samples were given, {learnt} learnt")
        return self.faults


def try_estimator(job):
    """Let threads race for one model: job is (name, layout, seconds, seed)."""
    name, layout, seconds, seed = job
    faulthandler.enable()
    faulthandler.dump_traceback_later(MOST_SECONDS + seconds, exit=True)
    warnings.simplefilter("ignore")
    sys.setswitchinterval(1e-5)
    subjects.hasten()
    crowd, report = Crowd(name, layout, seconds, f"{seed} {name} {layout}"), Report()
    for fault in crowd.run():
        report.find(f"{name} ({layout}): {fault}")
    report.count("calls in 5 threads", crowd.calls)
    report.count("models")
    faulthandler.cancel_dump_traceback_later()
    return report


def jobs(options):
    shared = options.seconds, options.seed
    return [(*case, *shared) for case in subjects.cases(options.names, options.layouts)]


def main():
    """Spend so many `seconds` on each model."""
    return run(try_estimator, jobs, seconds=0.05)


if __name__ == "__main__":
    sys.exit(main())
