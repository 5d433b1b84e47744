"""Measure the limit of the machine: the parts that a learner cannot do without, each alone.

A `Limits` measures, in microseconds per sample, the products with the support vectors or the random
frequencies, the exponential and the sines of a block of 64 samples. The library's own functions
compute them, in memory that is in the cache. BLAS's matrix product is measured beside them.
"""

import functools
import statistics
import time

import numpy as np
from scipy import sparse

from benchmarks import streams
from onlinekern.core.base import vector

ROWS = 64
PANEL = 64  # rows of a panel, and bytes of a cache line
SECONDS = 0.02


def cpu_us(call, seconds=SECONDS):
    """Return the mean CPU time of a call in microseconds, measured for about so many seconds."""
    start = time.process_time()
    count = 0
    while (elapsed := time.process_time() - start) < seconds or count == 0:
        call()
        count += 1
    return 1e6 * elapsed / count


def drawn_panels(random, size, d, dtype):
    """Return random panels of vectors, aligned to cache lines as in the library."""
    itemsize = np.dtype(dtype).itemsize
    memory = np.empty(size * d * itemsize + PANEL, np.uint8)
    start = -memory.ctypes.data % PANEL
    panels = memory[start : start + size * d * itemsize].view(dtype).reshape(-1, d, PANEL)
    panels[...] = random.random(panels.shape)
    return panels


class Limits:
    """Limits of one stream in one dtype and layout.

    Parameters
    ----------
    X : ndarray or CSR matrix
        The stream, in the layout in which it is learnt.
    """

    def __init__(self, X):
        self.rows = X[:ROWS]
        self.few = X[: 32 * ROWS]
        self.dtype = X.dtype
        self.d = X.shape[1]
        self.random = np.random.default_rng(0)
        self.calls = {}
        self.times = {}

    def add(self, part, size):
        """Add a part to measure ("product", "packed", "exp", "waves", "linear") at a size.

        The size is the number of support vectors, or of frequencies.
        """
        key = (part, max(PANEL, round(size / PANEL) * PANEL))
        if key not in self.calls:
            self.calls[key] = getattr(self, f"_{part}")(key[1])
            self.times[key] = []
        return key

    def measure(self):
        """Time every part once more."""
        for key, call in self.calls.items():
            samples = ROWS if key[0] != "linear" else self.few.shape[0]
            self.times[key].append(cpu_us(call) / samples)

    def us(self, key, size):
        """Return the median time of a part, in microseconds per sample, scaled to the size."""
        return statistics.median(self.times[key]) * (size / key[1] if key[0] != "linear" else 1)

    def _product(self, size):
        """Multiply the rows in their layout, dense or sparse, with all vectors."""
        panels = drawn_panels(self.random, size, self.d, self.dtype)
        out = np.empty((ROWS, size), self.dtype)
        return functools.partial(vector.product, self.rows, panels, out)

    def _packed(self, size):
        """Multiply dense rows as sparse rows; the packing is not counted."""
        self_of_sparse = Limits(sparse.csr_matrix(self.rows))
        return self_of_sparse._product(size)

    def _exp(self, size):
        block = -self.random.random((ROWS, size)).astype(self.dtype)
        return functools.partial(vector.exponential, block, out=block)

    def _waves(self, size):
        block = self.random.random((2, ROWS * size)).astype(self.dtype)
        return functools.partial(vector.cosine_sine, block[0], out=block)

    def _linear(self, size):
        """Multiply rows and weights for the scores, and add the rows to weights for the steps.

        A step reads its row and writes weights, which costs twice as much as a score where rows
        are sparse: a second product would not stand for it.
        """
        weights = self.random.random(self.d).astype(self.dtype)
        steps = self.random.random(self.few.shape[0]).astype(self.dtype)

        def call():
            self.few @ weights
            steps @ self.few

        return call


def gigaflops(X, size, block, repeats):
    """Return the median rates of the library's and BLAS's product of a block of rows, in turns."""
    rows = np.ascontiguousarray(streams.laid_out(X[:block], X.dtype, "dense"))
    panels = drawn_panels(np.random.default_rng(0), size, rows.shape[1], rows.dtype)
    vectors = np.ascontiguousarray(panels.transpose(0, 2, 1).reshape(size, -1))
    out = np.empty((block, size), rows.dtype)
    calls = [
        functools.partial(vector.product, rows, panels, out),
        functools.partial(np.matmul, rows, vectors.T, out=out),
    ]
    times = [[cpu_us(call) for call in calls] for _ in range(repeats)]
    work = 2e-3 * block * size * rows.shape[1]
    return [work / statistics.median(column) for column in zip(*times, strict=True)]
