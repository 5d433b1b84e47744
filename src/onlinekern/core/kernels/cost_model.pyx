"""The cost model: how the kernel values of a block are computed.

It decides nine things:

- Support vectors of sparse samples: in dense panels, or kept sparse.
- Dense samples of a block: as they are, or compressed into sparse rows.
- Products among the samples of a block: one row when that sample becomes a support vector, or all
  pairs at once.
- Panels of the sparse samples of a block: of all features, or of those that occur.
- The length of a block.
- The length of the strips in which a long row of kernel values is scored.
- How many rows are scored at once, and how many of them in one tile.
- From which size on the coefficients of many outputs are read once for several rows.
- Whether coefficients that are mostly 0 are listed, or lie in arrays.

Every choice gives the same bits (see vector.h), except for l1 distances, which dense and sparse
rows sum in different orders. So a choice only affects speed.

The constants are measured by ``benchmarks/cost_model.py``, which forces each choice where the model
would take the other. `overridden` serves that, and the tests that compare the choices.
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
    double least_stored
    Py_ssize_t block_bytes
    Py_ssize_t least_rows
    Py_ssize_t strip_bytes
    Py_ssize_t tile_bytes
    Py_ssize_t tile_rows
    Py_ssize_t rows_together
    Py_ssize_t least_slots
    Py_ssize_t coefficient_bytes
    Py_ssize_t many_vectors
    double least_per_entry

cdef Constants costs = {
    # Unit: one element of a dense row times one panel. Cost of a stored element of a sparse row,
    # and of the search for non-zeros per element of a dense row. The search does not pay for rows
    # below the least length.
    "stored_cost": 1.5,
    "packing_cost": 1.05,
    "least_compressed": 16,
    # Writing a row into a panel touches one cache line per feature. Above this number of features
    # that costs more than the products of the row.
    "most_panel_features": 1024,
    # A single dense row is multiplied at half the rate of six rows together. With few features,
    # reading and writing the products costs more than the products.
    "least_added": 0.6,
    "least_multiplied": 64,
    # To number the columns of a stored element costs about as much as to clear half a feature of a
    # panel.
    "least_stored": 2.0,
    # The kernel values of a block should stay in the level-2 cache until they are used.
    "block_bytes": 3 << 19,
    "least_rows": 16,
    # A strip of kernel values should stay in the level-1 cache, with the coefficients in double
    # beside it, from its products to its score.
    "strip_bytes": 8192,
    # A tile should stay in the level-2 cache: the strips of some rows that share one trip of the
    # support vectors through it. Shorter strips cost more calls than a nearer cache saves. Whole
    # groups of rows are multiplied together.
    "tile_bytes": 1 << 17,
    "tile_rows": 24,
    # Rows for which the support vectors are loaded from memory once. Each sample that is learnt is
    # also multiplied with those before it in the block, which must cost less than a percent.
    "rows_together": 512,
    "least_slots": 128,
    # Coefficients of this size do not stay in the nearer caches from one row to the next.
    "coefficient_bytes": 1 << 19,
    # With this many coefficient vectors, the partial dot products of a tile do not fit into its
    # cache. Fewer tiles, four times as large and of whole panels of rows, cost less.
    "many_vectors": 64,
    # In a score, a listed coefficient costs about as much as five of an array, an output as much as
    # a hundred.
    "least_per_entry": 16.0,
}

cdef Py_ssize_t FOREVER = 1 << 60
# The constants that force each choice (for tests and benchmarks).
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
    "columns": {
        "all": {"least_stored": 0.0},
        "numbered": {"least_stored": 1e300},
    },
    "length": {
        "short": {"block_bytes": 0, "least_rows": 3},
        "long": {"block_bytes": FOREVER},
    },
    "strips": {
        "short": {"strip_bytes": 0, "tile_bytes": 0, "tile_rows": 3, "least_slots": 1},
        "whole rows": {"strip_bytes": FOREVER, "coefficient_bytes": FOREVER},
    },
    "coefficients": {
        "listed": {"least_per_entry": 0.0},
        "arrays": {"least_per_entry": 1e300},
    },
}


cdef bint kept_sparse(Py_ssize_t d) noexcept nogil:
    """Whether support vectors of sparse samples with d features are kept sparse."""
    return d > costs.most_panel_features


cdef bint pays_to_compress(Py_ssize_t d, Py_ssize_t n, Py_ssize_t stored,
                           Py_ssize_t panels) noexcept nogil:
    """Whether n dense rows of d features, with `stored` non-zeros in all, are made sparse.

    Against that many panels this saves panels (n d - stored_cost stored), and costs packing_cost
    n d.
    """
    cdef double saved = panels * (n * d - costs.stored_cost * stored)
    return d >= costs.least_compressed and saved > costs.packing_cost * n * d


cdef bint pays_to_multiply_all(Py_ssize_t d, Py_ssize_t n, Py_ssize_t added) noexcept nogil:
    """Whether the products of all pairs of dense rows of a block are computed at once.

    `added` of the n rows of the block before became support vectors, and needed their products with
    the later rows. For sparse rows it never pays: one row alone is as fast as many.
    """
    return d >= costs.least_multiplied and added > n * costs.least_added


cdef bint pays_to_number(Py_ssize_t d, Py_ssize_t stored) noexcept nogil:
    """Whether the panels of sparse rows hold only the columns that occur in them.

    The rows have d features and so many stored elements in all.
    """
    return d > costs.most_panel_features or stored < costs.least_stored * d


cdef Py_ssize_t best_length(Py_ssize_t n, Py_ssize_t d, Py_ssize_t itemsize) noexcept nogil:
    """How many samples to look ahead, with n support vectors of d features.

    With many support vectors, only few rows of kernel values fit into the cache. Then each support
    vector is read from further away for few samples, which costs d / length elements per kernel
    value. A full panel of samples costs d / 64 for that, and 2 for the kernel value itself, which
    leaves the cache and comes back.
    """
    cdef Py_ssize_t length = costs.block_bytes // ((n + OK_PANEL) * itemsize)
    length = max(costs.least_rows, min(OK_PANEL, length))
    return OK_PANEL if length * (2 + d / 64.0) < d else length


cdef Py_ssize_t strip_length(Py_ssize_t itemsize) noexcept nogil:
    """How many kernel values of a sample are scored together, in whole panels."""
    return max(costs.strip_bytes // itemsize // OK_PANEL, 1) * OK_PANEL


cdef bint outweighs(Py_ssize_t n, Py_ssize_t vectors) noexcept nogil:
    """Whether so many coefficient vectors of n rows are read once for several samples."""
    return n >= OK_PANEL and n * vectors * <Py_ssize_t> sizeof(double) > costs.coefficient_bytes


cdef bint begins_listed(Py_ssize_t n_outputs) noexcept nogil:
    """Whether coefficients are listed at first: one of a step that changes two outputs would be."""
    return n_outputs > 1 and n_outputs >= 2 * costs.least_per_entry


cdef bint stays_listed(Py_ssize_t entries, Py_ssize_t n_outputs, Py_ssize_t n) noexcept nogil:
    """Whether so many entries of n rows are few enough to be listed."""
    return entries * costs.least_per_entry <= <double> n_outputs * n


cdef Py_ssize_t tile_rows(Py_ssize_t n, Py_ssize_t vectors) noexcept nogil:
    """How many of n rows are in one tile, for that many coefficient vectors."""
    return min(n, OK_PANEL if vectors >= costs.many_vectors else costs.tile_rows)


cdef Py_ssize_t tile_width(Py_ssize_t rows, Py_ssize_t itemsize, Py_ssize_t vectors) noexcept nogil:
    """How many kernel values of each row are in a tile of so many rows, in whole panels."""
    cdef Py_ssize_t size = costs.tile_bytes * (4 if vectors >= costs.many_vectors else 1)
    return max(size // (rows * itemsize) // OK_PANEL, 1) * OK_PANEL


cdef Py_ssize_t rows_scored(Py_ssize_t vectors, bint panels) noexcept nogil:
    """How many rows are scored at once with a support set that does not stay in a cache.

    Beside the products, the unfinished dots with all coefficient vectors should stay there. Where
    the rows are copied into `panels`, these should too.
    """
    return OK_PANEL if panels else max(OK_PANEL, costs.rows_together // max(vectors // 2, 1))


cdef Py_ssize_t rows_learnt(Py_ssize_t n, Py_ssize_t vectors, bint panels) noexcept nogil:
    """How many rows are learnt in one block of such a set, of n support vectors."""
    return max(OK_PANEL, min(rows_scored(vectors, panels), n // costs.least_slots))


def constants():
    """The constants of the model, by name."""
    return costs


@contextmanager
def overridden(**changes):
    """Change constants of the model within a ``with`` block, in the whole process.

    A learner made within the block keeps its layout of support vectors afterwards.

    Raises
    ------
    TypeError
        When `constants` has no such name.
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
