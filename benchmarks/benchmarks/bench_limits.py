"""Measure what share of the machine's limit learning reaches (see ``benchmarks/ceiling.py``)."""

import statistics
import sys
from pathlib import Path

from . import common

try:
    from onlinekern.core.base.vector import product  # The product and exponential of the limits.
except ImportError:
    product = None
# The script that measures the limits is in the folder above.
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
REPEATS = 5


class Share(common.Warm):
    """The time of the products and exponentials alone, divided by the time of the learner.

    Both are for a thousand support vectors, and are timed in turns.
    """

    rows = 2_000
    param_names = ["algorithm", "dtype"]
    params = [["SPAClassifier", "KernelPAClassifier"], common.DTYPES]

    def setup(self, algorithm, dtype):
        if product is None:
            raise NotImplementedError("the product alone")
        from limits import Limits, cpu_us

        n_support = 1_000
        self.prepare(algorithm, dtype, "csr", n_support)
        self.model.set_params(max_support=n_support)
        self.limits = Limits(self.X)
        self.parts = [self.limits.add(part, n_support) for part in ("product", "exp")]
        self.cpu_us = cpu_us

    def track_share(self, *_):
        times = []
        for _ in range(REPEATS):
            self.limits.measure()
            times.append(self.cpu_us(self.learn) / len(self.y))
        limit = sum(self.limits.us(part, self.model.n_support_) for part in self.parts)
        return round(limit / statistics.median(times), 3)

    def learn(self):
        """Learn the rows once more."""
        common.learn(self.model, self.X, self.y)

    track_share.unit = "of the limit"
