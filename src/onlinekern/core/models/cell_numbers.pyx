"""Weights and variances of all nodes of a forest in one array, as in the state of a model."""
import numpy as np

from onlinekern.core.models.cell_experts cimport CellExperts, Generation

from onlinekern.core.partitions.renewal import cells_of


cdef object numbers_of(CellExperts experts, Generation now):
    """Variance and weights of all nodes: ndarray (n_nodes, n_experts, 1 + n_outputs), float32.

    A leaf has numbers for all experts. An upper cell has numbers for the experts that see both
    kinds of cells. All other entries have weight 0 and variance 1.
    """
    forest = now.forest
    shape = forest.n_nodes, experts.n_experts, 1 + experts.n_outputs
    out = np.zeros(shape, dtype=np.float32)
    out[:, :, 0] = 1
    nodes, upper = cells_of(forest)
    out[nodes] = now.leaves.to_array()
    if now.upper is not None:
        there = upper >= 0
        out[upper[there], experts.n_lower:] = now.upper.to_array()[there]
    return out


cdef int set_numbers(CellExperts experts, Generation now, object array) except -1:
    """Set the cells of a generation from an array of `numbers_of`, after checking it."""
    shape = now.forest.n_nodes, experts.n_experts, 1 + experts.n_outputs
    if not isinstance(array, np.ndarray) or array.dtype != np.float32:
        raise TypeError("cells must be an ndarray of float32")
    if array.shape != shape:
        raise ValueError(f"cells must be of shape {shape}, got {array.shape}")
    nodes, upper = cells_of(now.forest)
    trees = np.repeat(np.arange(now.forest.n_trees), [tree.n_nodes for tree in now.forest.trees])
    for cells, first in ((nodes, 0), (upper[upper >= 0], experts.n_lower)):
        unseen = trees[cells, None] >= np.asarray(experts.n_seen)[first:]
        if array[cells, first:][unseen].any():
            raise ValueError("cells must be 0 for experts that do not see their tree")
    leaves, above = experts.new_cells(now.forest)
    leaves.set_array(array[nodes])
    if above is not None:
        there, numbers = upper >= 0, above.to_array()
        numbers[there] = array[upper[there], experts.n_lower:]
        above.set_array(numbers)
    now.leaves, now.upper = leaves, above
    return 0
