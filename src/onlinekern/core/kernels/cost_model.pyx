"""Producers: which way the kernel values of a block are made. The cost model, in one place.

The products of coming samples with support rows are made in one of three ways: dense rows
with dense panels, sparse rows with dense panels, sparse support rows with the panels of the block.
Those among the samples of a block are made when a sample becomes a support row, or all at once. And
a block may be long or short. Every way gives the same bits (see vector.h; but for l1 distances,
which dense and sparse rows sum differently), so what is decided here costs or saves time only.

The constants are measured by ``benchmarks/cost_model.py``, which makes each way run where the model
would choose another. `overridden` is for that, and for the tests of each way against the others.
"""
from contextlib import contextmanager

from onlinekern.core.base.vector cimport OK_PANEL


cdef struct Constants:
    double stored_cost
    double packing_cost
    Py_ssize_t least_compressed
    Py_ssize_t most_panel_features
    double least_added
    Py_ssize_t least_multiplied
    Py_ssize_t block_bytes
    Py_ssize_t least_rows

cdef Constants costs = {
    # In elements of a dense row against one panel: a stored element of a sparse row, and to look
    # for the stored ones among those of a dense row. Short rows are over before that pays.
    "stored_cost": 1.5,
    "packing_cost": 1.05,
    "least_compressed": 16,
    # To write a row into a panel is to clear a number in each of its lines of memory: above so many
    # features that costs more than the products of a row do.
    "most_panel_features": 1024,
    # A dense row alone meets the block's panels at half the rate of six rows together. Of few
    # features, the products are less than the reading and writing of them.
    "least_added": 0.6,
    "least_multiplied": 64,
    # The kernel block should stay in the level-2 cache between its making and its use.
    "block_bytes": 3 << 19,
    "least_rows": 16,
}

cdef Py_ssize_t FOREVER = 1 << 60
# What forces each way, by what is chosen between (for tests and benchmarks).
WAYS = {
    "support vectors": {
        "panels": {"most_panel_features": FOREVER},
        "kept sparse": {"most_panel_features": 0},
    },
    "samples": {
        "dense": {"least_compressed": FOREVER},
        "compressed": {"least_compressed": 0, "stored_cost": 0.0, "packing_cost": -1.0},
    },
    "pairs": {
        "one by one": {"least_added": 2.0},
        "all at once": {"least_added": -1.0, "least_multiplied": 0},
    },
    "length": {
        "short": {"block_bytes": 0, "least_rows": 3},
        "long": {"block_bytes": FOREVER},
    },
}


cdef bint kept_sparse(Py_ssize_t d) noexcept nogil:
    """Whether support rows of sparse samples of d features are kept sparse, not in panels."""
    return d > costs.most_panel_features


cdef bint pays_to_compress(Py_ssize_t d, Py_ssize_t n, Py_ssize_t stored,
                           Py_ssize_t panels) noexcept nogil:
    """Whether n dense rows of d features, `stored` of them not 0, are taken for sparse ones.

    They will meet so many panels: it saves panels (n d - stored_cost stored), and costs
    packing_cost n d.
    """
    cdef double saved = panels * (n * d - costs.stored_cost * stored)
    return d >= costs.least_compressed and saved > costs.packing_cost * n * d


cdef bint pays_to_multiply_all(Py_ssize_t d, Py_ssize_t n, Py_ssize_t added) noexcept nogil:
    """Whether the products among all dense rows of a block are made at once.

    `added` of the n rows of the block before became support rows, which asks for their products
    with the others. A sparse row alone is as fast as many.
    """
    return d >= costs.least_multiplied and added > n * costs.least_added


cdef Py_ssize_t best_length(Py_ssize_t n, Py_ssize_t d, Py_ssize_t itemsize) noexcept nogil:
    """How many samples to look ahead against n support rows of d features.

    A large support set makes a window whose block fits the cache short, and then each of the d
    features is read from further away for few rows: d / width elements per kernel value, against
    d / 64 + 2 (the value itself, out of the cache and back) for a full panel of rows.
    """
    cdef Py_ssize_t width = costs.block_bytes // ((n + OK_PANEL) * itemsize)
    width = max(costs.least_rows, min(OK_PANEL, width))
    return OK_PANEL if width * (2 + d / 64.0) < d else width


def constants():
    """The constants of the model, by name."""
    return costs


@contextmanager
def overridden(**changes):
    """Constants of the model are others within a ``with`` block, in the whole process.

    Learners made within the block keep the form of their support rows.

    Raises
    ------
    TypeError
        When a name is none of `constants`.
    """
    global costs
    unknown = changes.keys() - constants().keys()
    if unknown:
        raise TypeError(f"the cost model has no constant {', '.join(sorted(unknown))}")
    before = costs
    costs = {**constants(), **changes}
    try:
        yield
    finally:
        costs = before
