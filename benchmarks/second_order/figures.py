"""Keep the figures of the tables in a file as they are found, and write them as Markdown."""

import json
from pathlib import Path

import numpy as np


class Kept:
    """A dictionary that a file keeps: what it holds is not computed again.

    Parameters
    ----------
    path : path or None
        JSON; None keeps nothing after the run.
    """

    def __init__(self, path=None):
        self.path = path and Path(path)
        known = self.path is not None and self.path.exists()
        self.found = json.loads(self.path.read_text(encoding="utf-8")) if known else {}

    def get(self, key, compute):
        """Return the value of a key, computed if it is not known."""
        if key not in self.found:
            self.found[key] = compute()
            if self.path:
                self.path.write_text(json.dumps(self.found, indent=1), encoding="utf-8")
        return self.found[key]


def mean(values, digits=2):
    """Return a mean and the standard deviation over the orders."""
    spread = f" ± {np.std(values):.{digits}f}" if len(values) > 1 else ""
    return f"{np.mean(values):.{digits}f}{spread}"


def markdown(columns, rows):
    """Return a table as Markdown; `rows` is name -> texts of the columns."""
    lines = ["| | " + " | ".join(columns) + " |", "|---" * (len(columns) + 1) + "|"]
    lines += [f"| {name} | " + " | ".join(cells) + " |" for name, cells in rows.items()]
    return "\n".join(lines)
