"""Simulate many learners in one process: accuracy and speed-up by workers and rounds.

    python benchmarks/mixing.py [--rows N] [--workers W,...] [--rounds R,...] [--only NAME,...]
                                [--bandwidth BYTES] [--latency SECONDS] [--staleness S]
                                [--plot FILE]

A stream of N samples is learnt by W models in R rounds. All begin with one model of the first
4,096 samples; in each round every model learns its next samples and all are merged
(`onlinekern.merge`, a tree of eights). Accuracy is that of the merged model on held-out samples.
The time is that of a cluster of W machines by the cost model of docs/mixing.md,

    T(W, R) = N_0 c + R (L + D (m + 2 l + 8 b / B)),

with what this run measures: c, CPU seconds a sample of the single stream; L, the longest part of a
round; m, a merge of eight models; b, the bytes of a model; D = log_8 W levels of the tree. The
bandwidth B and the latency l are given. The speed-up is N c / T. Nothing runs in parallel here.
With a staleness S a round begins with the model of S rounds before the last one; the time is that
of rounds one after the other. `cluster_model.py` has the time of rounds that overlap.
"""

import math
import time
import warnings
from copy import deepcopy

import numpy as np
from command import read_options

from onlinekern import (
    DualSGDClassifier,
    FOGDClassifier,
    KernelRLSClassifier,
    PAClassifier,
    SDROGDClassifier,
    SPAClassifier,
    merge,
)
from onlinekern.fitted.save import to_bytes

BEGUN = 4096
HELD = 10_000
FAN_IN = 8
KERNEL = {"gamma": 0.3, "random_state": 0}
LEARNERS = {
    "SPA": SPAClassifier(max_support=1000, when_full="stop", **KERNEL),
    "FOGD": FOGDClassifier(average=False, **KERNEL),
    "DualSGD": DualSGDClassifier(**KERNEL),
    "PA": PAClassifier(C=0.01, average=True, random_state=0),
    "SDROGD": SDROGDClassifier(random_state=0),
    "KernelRLS": KernelRLSClassifier(n_components=200, gate="always", **KERNEL),
}


def stream(n):
    """Return samples of a curved boundary with a linear part, and noise, in five dimensions."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n + HELD, 5))
    f = np.sin(2 * X[:, 0]) + X[:, 1] * X[:, 2] + X[:, 3] + 0.3 * rng.normal(size=len(X))
    return X, np.where(f > 0, 1, -1)


class Tree:
    """Models that are merged by eights as they come, so that few are held at a time.

    Attributes
    ----------
    longest : list of float
        CPU seconds of the longest merge of each level.
    """

    def __init__(self, base):
        self.base, self.waiting, self.longest = base, [], []

    def add(self, model, level=0):
        if level == len(self.waiting):
            self.waiting.append([])
        self.waiting[level].append(model)
        if len(self.waiting[level]) == FAN_IN:
            self.close(level)

    def close(self, level):
        """Merge what waits at a level, for the next one."""
        models, self.waiting[level] = self.waiting[level], []
        self.longest += [0.0] * (level + 1 - len(self.longest))
        begun = time.process_time()
        merged = merge(models, base=self.base)
        self.longest[level] = max(self.longest[level], time.process_time() - begun)
        self.add(merged, level + 1)

    def result(self):
        level = 0
        while level + 1 < len(self.waiting) or len(self.waiting[level]) > 1:
            if self.waiting[level]:
                self.close(level)
            level += 1
        return self.waiting[level][0]


def mixed(base, X, y, workers, rounds, staleness):
    """Return the model after all rounds; CPU seconds of the longest parts, and of the merges."""
    learning, merging, models = 0.0, 0.0, [base] * (staleness + 1)
    for rows in np.array_split(np.arange(BEGUN, len(X) - HELD), rounds):
        base, newest = models[0], models[-1]
        tree, longest = Tree(base), 0.0
        if newest is not base:
            tree.add(newest)
        for part in np.array_split(rows, workers):
            model = deepcopy(base)
            begun = time.process_time()
            model.partial_fit(X[part], y[part])
            longest = max(longest, time.process_time() - begun)
            tree.add(model)
        models = [*models[1:], tree.result()]
        learning, merging = learning + longest, merging + sum(tree.longest)
    return models[-1], learning, merging


def measure(learner, X, y, options):
    """Yield workers, rounds, accuracy and speed-up of each setting, the single stream first."""
    held = X[-HELD:], y[-HELD:]
    base = deepcopy(learner)
    begun = time.process_time()
    base.partial_fit(X[:BEGUN], y[:BEGUN], classes=[-1, 1])
    first = time.process_time() - begun
    single = deepcopy(base).partial_fit(X[BEGUN:-HELD], y[BEGUN:-HELD])
    whole = time.process_time() - begun
    lines = [(1, 1, single.score(*held), 1.0)]
    for workers in options.workers:
        for rounds in options.rounds:
            model, learning, merging = mixed(base, X, y, workers, rounds, options.staleness)
            levels = math.ceil(math.log(workers, FAN_IN) - 1e-9)
            sent = 2 * options.latency + FAN_IN * len(to_bytes(model)) / options.bandwidth
            spent = first + learning + merging + rounds * levels * sent
            lines.append((workers, rounds, model.score(*held), whole / spent))
    return lines


def draw(found, path):
    import matplotlib as mpl

    mpl.use("Agg")
    from matplotlib import pyplot as plt

    size = (2.6 * len(found), 5)
    figure, axes = plt.subplots(2, len(found), figsize=size, layout="constrained")
    axes = np.reshape(axes, (2, -1))
    for place, (name, lines) in enumerate(found.items()):
        above, below = axes[:, place]
        above.axhline(100 * lines[0][2], color="0.6", lw=1, ls="--")
        for rounds, marker in zip(sorted({line[1] for line in lines[1:]}), "osd^v", strict=False):
            own = [line for line in lines[1:] if line[1] == rounds]
            label = f"{rounds} round" + "s" * (rounds > 1)
            above.plot([o[0] for o in own], [100 * o[2] for o in own], marker + "-", label=label)
            below.loglog([o[0] for o in own], [o[3] for o in own], marker + "-")
        ideal = sorted({line[0] for line in lines[1:]})
        below.loglog(ideal, ideal, color="0.6", lw=1, ls="--")
        # Three points above and below the single stream.
        above.set(title=name, xscale="log", ylim=(100 * lines[0][2] - 3, 100 * lines[0][2] + 3))
        below.set(xlabel="workers", ylim=(0.3, 1100))
        for own in (above, below):
            own.set_xticks(ideal, map(str, ideal))
            own.minorticks_off()
    axes[0, 0].set_ylabel("accuracy, %")
    axes[1, 0].set_ylabel("speed-up")
    axes[0, 0].legend(fontsize="small", loc="lower left")
    figure.savefig(path, dpi=110)


def numbers(text):
    return [int(part) for part in text.split(",")]


def main():
    options = read_options(
        __doc__,
        rows=262_144,
        workers={"type": numbers, "default": [4, 16, 64, 256, 1024]},
        rounds={"type": numbers, "default": [1, 4, 16]},
        only="",
        bandwidth=125e6,
        latency=1e-3,
        staleness=0,
        plot=None,
    )
    warnings.simplefilter("ignore")
    X, y = stream(options.rows)
    found = {}
    print("| learner | workers | rounds | accuracy | speed-up |\n|---|---|---|---|---|")
    for name, learner in LEARNERS.items():
        if options.only and name not in options.only.split(","):
            continue
        found[name] = measure(learner, X, y, options)
        for workers, rounds, accuracy, speed in found[name]:
            line = f"| {name} | {workers} | {rounds} | {100 * accuracy:.2f} | {speed:.1f} |"
            print(line, flush=True)
    if options.plot:
        draw(found, options.plot)


if __name__ == "__main__":
    main()
