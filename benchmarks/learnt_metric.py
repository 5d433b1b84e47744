"""Learners behind a metric that is learnt on the way, `LearntMetric`, and without one.

    python benchmarks/learnt_metric.py DIR [--sets segment pol] [--orders 2] [--rows 12000]

DIR is a folder of LIBSVM files. At most ROWS rows in random order, 70 % learnt in one pass by
`OnlineStandardScaler`, the metric and a learner with its defaults. Prints test errors in % (of
targets the root mean squared error over the deviation) without a metric, with a diagonal and a
full one, and with the form that is chosen, and the processor time of the metric alone in
microseconds a row.
"""

import time

import numpy as np
from command import read_options
from forests import TARGETS, error_of, load

import onlinekern as ok

SETS = [
    *("segment", "splice", "spambase", "phishing", "satimage", "ijcnn1", "covtype.first20k"),
    *("puma32H", "kin40k", "pol", "cadata", "elevators"),
]
LEARNERS = {
    "SPA": (ok.SPAClassifier, ok.SPARegressor),
    "kernel PA": (ok.KernelPAClassifier, ok.KernelPARegressor),
    "FOGD": (ok.FOGDClassifier, ok.FOGDRegressor),
    "NOGD": (ok.NOGDClassifier, ok.NOGDRegressor),
    "DualSGD": (ok.DualSGDClassifier, ok.DualSGDRegressor),
}
FORMS = ("none", "diagonal", "full", "auto")


def steps_of(form):
    """Return the scaler, and the metric if there is one."""
    metric = [] if form == "none" else [ok.LearntMetric(metric=form, random_state=0)]
    return [ok.OnlineStandardScaler(), *metric]


def error(folder, name, rows, order, form, learner):
    """Return the test error of a learner after one pass."""
    X, y, tested, labels = load(folder, name, rows, order)
    number = name in TARGETS
    known = {} if number else {"classes": np.unique(np.concatenate([y, labels]))}
    model = ok.make_stream_pipeline(*steps_of(form), LEARNERS[learner][number](random_state=0))
    for i in range(0, len(X), 500):
        model.partial_fit(X[i : i + 500], y[i : i + 500], **known)
    return error_of(model.predict(tested), labels, y, number)


def cost(folder, name, rows, form):
    """Return microseconds a row of a metric."""
    X, y, _, _ = load(folder, name, rows, 0)
    scaler, metric = steps_of(form)
    X = scaler.learn_transform(X)
    began = time.process_time()
    metric.learn_transform(X, y)
    return 1e6 * (time.process_time() - began) / len(X)


def main():
    """Print a line for each set and learner."""
    given = read_options(
        __doc__, "folder", sets={"nargs": "+", "default": SETS}, orders=2, rows=12_000
    )
    print(f"| set | learner | {' | '.join(FORMS)} |\n|---|---|{'---:|' * len(FORMS)}")
    for name in given.sets:
        for learner in LEARNERS:
            means = [
                np.mean([
                    error(given.folder, name, given.rows, order, form, learner)
                    for order in range(given.orders)
                ])
                for form in FORMS
            ]  # fmt: skip
            cells = [f"{one:.{3 if name in TARGETS else 2}f}" for one in means]
            best = int(np.argmin(means))
            cells[best] = f"**{cells[best]}**"
            print(f"| {name} | {learner} | {' | '.join(cells)} |", flush=True)
        own = [f"{cost(given.folder, name, given.rows, form):.1f}" for form in FORMS[1:]]
        print(f"{name}: the metric takes {', '.join(own)} us a row", flush=True)


if __name__ == "__main__":
    main()
