"""Keep the figures of the rows in a file of text, one line a row, so that a run can resume."""

import json
import os
from hashlib import blake2s
from pathlib import Path

import numpy as np

FILE = Path(__file__).parents[2] / "docs" / "papers" / "results.jsonl"


def mark(row):
    """Return a short mark of all that decides a row's figures: a changed row is run again."""
    parts = (row.protocol.__name__, row.estimator.__name__, sorted(row.parameters.items()))
    return blake2s(repr(parts).encode(), digest_size=4).hexdigest()


def short(number):
    """Round to five digits: a file of text is for readers too."""
    if isinstance(number, (list, tuple)):
        return [short(one) for one in number]
    rounded = float(f"{float(number):.5g}")
    return int(rounded) if rounded.is_integer() else rounded


class Results:
    """Figures of rows: (table, set, learner) -> measure -> one figure for each order.

    Parameters
    ----------
    path : path or None
        File of JSON lines; None keeps nothing after the run.
    """

    def __init__(self, path=None):
        self.path = path and Path(path)
        self.known = {}
        if self.path and self.path.exists():
            for line in self.path.read_text(encoding="utf-8").splitlines():
                one = json.loads(line)
                self.known[one["table"], one["set"], one["learner"]] = one

    def get(self, table, row):
        """Return the measures of a row's orders so far, each a list; none if it has changed."""
        one = self.known.get((table, row.data, row.learner), {})
        return one["runs"] if one.get("mark") == mark(row) else {}

    def n_orders(self, table, row):
        """Return how many orders of a row are known: the first ones."""
        return len(self.get(table, row).get("error", ()))

    def add(self, table, row, measures):
        """Append the measures of a row's next order, and write the file."""
        runs = self.get(table, row)
        for name, value in measures.items():
            if value is not None:
                runs.setdefault(name, []).append(short(value))
        key = table, row.data, row.learner
        self.known[key] = dict(zip(("table", "set", "learner"), key, strict=True)) | {
            "mark": mark(row), "runs": runs,
        }  # fmt: skip
        self.write()

    def write(self):
        """Write the file in the order of the tables; a stop in between leaves the old one."""
        if self.path is None:
            return
        lines = [json.dumps(self.known[key], separators=(",", ":")) for key in sorted(self.known)]
        fresh = self.path.with_suffix(".new")
        fresh.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
        os.replace(fresh, self.path)

    def prune(self, tables):
        """Forget rows that the tables no longer have."""
        there = {(name, row.data, row.learner) for name, rows in tables.items() for row in rows}
        self.known = {key: one for key, one in self.known.items() if key in there}


def summary(values, digits=2):
    """Return a mean and, of several orders, the standard deviation."""
    spread = f" ± {np.std(values):.{digits}f}" if len(values) > 1 else ""
    return f"{np.mean(values):.{digits}f}{spread}"
