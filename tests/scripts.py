"""The scripts of the benchmarks, for the tests that import them."""

import sys
from contextlib import contextmanager
from pathlib import Path

BENCHMARKS = Path(__file__).parents[1] / "benchmarks"


@contextmanager
def scripts(*folders):
    """Find modules of `benchmarks`, and first of these folders of it, while they are imported."""
    paths = [str(BENCHMARKS / folder) for folder in (*folders, "")]
    sys.path[:0] = paths
    try:
        yield
    finally:
        for path in paths:
            sys.path.remove(path)
