"""Choose step size and regularisation of the learners of `peers.py`, all in the same way.

    python benchmarks/peers_tune.py --data DIR [--only TEXT] [--whole] [--split]

Every combination in a learner's `grid` (`peer_learners.py`) learns the first 5,000 samples of the
stream of `peers.py`, test-then-train. The combination with the fewest mistakes belongs into the
table; among equals, the first. ``--whole`` prints instead the mistakes on the whole stream, with
the library's defaults and with the setting of the table. ``--split`` does either for the learners
of ``peers.py --split``, on the training part in its own order.
"""

import warnings

import numpy as np
from command import read_options
from peer_learners import LEARNERS, SPLIT
from peers import TRAINING_ROWS, read
from sklearn.model_selection import ParameterGrid
from threadpoolctl import threadpool_limits

HEAD, SHOWN = 5_000, 3


def error(learner, X, y):
    """Return the mistakes of one pass in per cent."""
    return 100 * learner.prepare(X, y)() / len(y)


def choose(learner, X, y):
    """Print the best settings on the first samples, and the setting of the table."""
    X, y = X[:HEAD], y[:HEAD]
    settings = list(ParameterGrid(learner.grid))
    errors = [error(learner.with_setting(one), X, y) for one in settings]
    for place, i in enumerate(np.argsort(errors, kind="stable")):
        if place < SHOWN or settings[i] == learner.setting:
            mark = "<- the table's" if settings[i] == learner.setting else ""
            print(f"    {errors[i]:6.2f} {settings[i]} {mark}", flush=True)


def compare(learner, X, y):
    """Print the mistakes on the whole stream: by default, and with the setting of the table."""
    for name, setting in (("defaults", {}), ("chosen", learner.setting)):
        mistakes = error(learner.with_setting(setting), X, y)
        print(f"    {mistakes:6.2f} {name} {setting or ''}", flush=True)


def main():
    """Run all learners that are installed."""
    options = read_options(__doc__, data={"required": True}, only="", whole=False, split=False)
    warnings.simplefilter("ignore")
    X, y = read(options, shuffled=not options.split)
    if options.split:
        X, y = X[:TRAINING_ROWS], y[:TRAINING_ROWS]
    for name, learner in (SPLIT if options.split else LEARNERS).items():
        if options.only in name and learner.grid:
            print(name, flush=True)
            with threadpool_limits(1):
                (compare if options.whole else choose)(learner, X, y)


if __name__ == "__main__":
    main()
