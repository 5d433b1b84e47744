"""Print errors of the race after one pass, beside the best of all rivals on the same rows.

    python benchmarks/race_rivals.py FOLDER [--orders 3] [--only NAME,...]
        [--rivals docs/forest_rivals.json] [--kept docs/race_rivals.json]

Rows, orders and units are those of `forests.py`: the first 20,000 rows in random order, of which
70 % are learnt in one pass as they are by `StreamClassifier` or `StreamRegressor` with nothing
chosen; the others test. A rival is what `forest_rivals.py` measured on these rows: the one with the
least mean error of the orders that it has. A set counts as close if the race is behind by half a
point at most (targets: 2 % of the error), in the mean of the orders that both have. What the file
of --kept holds is not measured again.
"""

import time

import numpy as np
from command import read_options
from forests import BATCH, ONE_PASS, SETS, TARGETS, best, error_of, load, rivals_of, text_of
from second_order.figures import Kept

from onlinekern import StreamClassifier, StreamRegressor

ROWS = 20_000


def measured(folder, name, order):
    """Return the error of the race on a set, and microseconds of processor time a row."""
    X, y, Z, v = load(folder, name, ROWS, order)
    number = name in TARGETS
    model = (StreamRegressor if number else StreamClassifier)(random_state=order)
    given = {} if number else {"classes": np.unique(y)}
    began = time.process_time()
    model.partial_fit(X, y, **given)
    spent = 1e6 * (time.process_time() - began) / len(y)
    return {"error": error_of(model.predict(Z), v, y, number), "learn_us": spent}


def show(name, kept, folder, orders, rivals):
    """Print the line of a set; returns whether the race is close to the best, and ahead."""
    number = name in TARGETS
    runs = [
        kept.get(f"{name}, {order}", lambda order=order: measured(folder, name, order))
        for order in range(orders)
    ]
    ours = [run["error"] for run in runs]
    found = rivals_of(rivals, name, BATCH | ONE_PASS)
    rival, theirs, _ = best(found)
    n = min(len(ours), len(theirs))
    behind = np.mean(ours[:n]) - np.mean(theirs[:n])
    close = behind <= (0.02 * np.mean(theirs[:n]) if number else 0.5)
    told = "ahead" if behind <= 0 else "close" if close else "behind"
    cells = [name, text_of(ours, number), f"{np.median([run['learn_us'] for run in runs]):.0f}",
             f"{text_of(theirs[:n], number)} ({rival})", told]  # fmt: skip
    print("| " + " | ".join(cells) + " |", flush=True)
    return close, behind <= 0


def main():
    arguments = read_options(
        __doc__,
        "folder",
        orders=3,
        only=tuple(SETS),
        rivals="docs/forest_rivals.json",
        kept="docs/race_rivals.json",
    )
    kept, rivals = Kept(arguments.kept), Kept(arguments.rivals).found
    heads = ["set", "race", "µs", "best of all rivals", "the race is"]
    print("| " + " | ".join(heads) + " |\n|" + "---|" * len(heads))
    stands = [
        show(name, kept, arguments.folder, arguments.orders, rivals) for name in arguments.only
    ]
    close, ahead = (sum(map(bool, told)) for told in zip(*stands, strict=True))
    print(f"\nclose to the best of all: {close} of {len(stands)}; ahead of all: {ahead}")


if __name__ == "__main__":
    main()
