"""Samples, and their addresses, for the compiled package `verbs`."""

import numpy as np
from scipy import sparse

LABELS = np.array([5.0, 15.0, 25.0])
TWO = np.array([-1.0, 1.0])
LAYOUTS = {
    "dense": np.ascontiguousarray,
    "float32": lambda X: np.ascontiguousarray(X, dtype=np.float32),
    "csr": sparse.csr_matrix,
}


class Address(int):
    """Return the address of an array, which keeps the array alive."""


def address(array):
    """Return the address of an array; 0 (NULL) for None."""
    place = Address(0 if array is None else array.ctypes.data)
    place.array = array
    return place


def samples(n, seed=0):
    """Return samples of three features, and labels that no linear model separates."""
    X = np.random.default_rng(seed).standard_normal((n, 3))
    return X, np.where(X[:, 0] * X[:, 1] > 0, 1.0, -1.0)


def fields_of(X):
    """Return the fields of an `ok_matrix` of an array or a CSR matrix."""
    if sparse.issparse(X):
        arrays = {"values": X.data, "indices": X.indices, "indptr": X.indptr}
    else:
        arrays = {"values": X}
    fields = {name: address(array) for name, array in arrays.items()}
    return fields | {"n_rows": X.shape[0], "n_columns": X.shape[1], "dtype": X.dtype.itemsize}


def bytes_of(data):
    """Return bytes as an array, which has an address."""
    return np.frombuffer(data, np.uint8)
