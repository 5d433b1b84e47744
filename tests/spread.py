"""Readers of parts of a stream, in a module that processes of a cluster can import."""

import os
import signal
import threading
import time
from contextlib import contextmanager

from sklearn.base import BaseEstimator, TransformerMixin


def part_of(X, y, first, length):
    """Read so many rows."""
    return X[first : first + length], y[first : first + length]


def slow_part_of(X, y, first, length):
    """Read so many rows, and take a while for it."""
    time.sleep(0.3)
    return part_of(X, y, first, length)


def noted_part_of(X, y, first, length, folder):
    """Read so many rows, and note it in a file."""
    with open(os.path.join(folder, "read"), "a", encoding="utf-8") as file:
        file.write(f"{first}\n")
    return part_of(X, y, first, length)


def part_of_death(X, y, first, length):
    """End the process that reads it."""
    os._exit(1)


def part_to_die_for(X, y, first, length, victim, marks):
    """Read rows; the first process that reads the victim's waits to be killed."""
    if first == victim:
        wait_for_death(marks)
    return part_of(X, y, first, length)


def wait_for_death(marks):
    """Wait to be killed, unless somebody was already."""
    if not (marks / "came").exists():
        (marks / "pid").write_text(str(os.getpid()))
        os.replace(marks / "pid", marks / "came")
        time.sleep(60)


def who_comes(marks):
    """Return the process that waits to be killed, when it does."""
    while not (marks / "came").exists():
        time.sleep(0.02)
    return int((marks / "came").read_text())


def kill_who_comes(marks):
    """Kill the process that waits for it."""
    os.kill(who_comes(marks), signal.SIGKILL)


@contextmanager
def killing(marks, kill=kill_who_comes):
    """Kill the process that waits for it in the block; there must be one."""
    killer = threading.Thread(target=kill, args=[marks], daemon=True)
    killer.start()
    yield
    killer.join(timeout=10)
    assert not killer.is_alive(), "nobody came to be killed"


class Mortal(TransformerMixin, BaseEstimator):
    """Gives rows as they are; who sees a certain value first waits to be killed.

    Parameters
    ----------
    value : float
    marks : Path or None
        None: who sees the value ends.
    """

    def __init__(self, value, marks=None):
        self.value, self.marks = value, marks

    def fit(self, X, y=None):
        self.n_features_in_ = X.shape[1]
        return self

    partial_fit = fit

    def transform(self, X):
        if (X[:, 0] == self.value).any():
            os._exit(1) if self.marks is None else wait_for_death(self.marks)
        return X


def part_that_waits(X, y, first, length, slow, awaited, folder):
    """Read rows and note it; the slow part waits until those that are awaited were read."""
    rows = noted_part_of(X, y, first, length, folder)
    if first == slow:
        wait_for(awaited, folder)
    return rows


def wait_for(awaited, folder):
    """Wait until parts were read, and note what was read by then."""
    until = time.monotonic() + 60
    while time.monotonic() < until:
        read = read_of(folder)
        if set(awaited) <= set(read):
            # A part that should not be read now would be by then.
            time.sleep(0.5)
            (folder / "then").write_text("\n".join(map(str, read_of(folder))))
            return
        time.sleep(0.02)
    raise TimeoutError(f"{sorted(set(awaited) - set(read))} were not read beside the slow part")


def read_of(folder):
    """Return the parts that `noted_part_of` has read."""
    with open(os.path.join(folder, "read"), encoding="utf-8") as file:
        return [int(line) for line in file]
