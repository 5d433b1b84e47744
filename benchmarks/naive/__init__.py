"""Run the plain C loop against which the library is measured; the first call compiles it."""

import ctypes
import functools
from pathlib import Path

import numpy as np
from c_library import compiled
from sklearn.utils import check_random_state

SOURCE = Path(__file__).with_name("spa_naive.c")


class Outcome(ctypes.Structure):
    """Result of a run of the loop (`Outcome` of the C source)."""

    _fields_ = [
        ("mistakes", ctypes.c_long),
        ("n_support", ctypes.c_long),
        ("cumulative_loss", ctypes.c_double),
    ]


@functools.cache
def loop():
    """Return the compiled loop."""
    function = compiled(SOURCE).spa_naive
    doubles = np.ctypeslib.ndpointer(np.float64, flags="C_CONTIGUOUS")
    function.argtypes = [
        doubles, doubles, ctypes.c_long, ctypes.c_long, *4 * [ctypes.c_double], doubles,
        ctypes.POINTER(Outcome),
    ]  # fmt: skip
    return function


def gate_numbers(random_state, n):
    """Return the first n uniform numbers that an estimator's sampler with this seed draws.

    Parameters
    ----------
    random_state : int
    n : int

    Returns
    -------
    ndarray of shape (n,)
    """
    from onlinekern.core.base.random import Generator

    seed = check_random_state(random_state).randint(np.iinfo(np.int64).max, dtype=np.int64)
    return Generator(seed).random(n)


def spa(X, y, uniforms, *, gamma, alpha, beta, eta):
    """Run the loop over a stream.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features), float64
    y : ndarray of shape (n_samples,)
        -1 or +1.
    uniforms : ndarray of shape (n_samples,)
        The random numbers of the sampler, one per sample, see `gate_numbers`.
    gamma, alpha, beta, eta : float
        As in `SPAClassifier`.

    Returns
    -------
    Outcome
    """
    outcome = Outcome()
    status = loop()(
        X, np.asarray(y, np.float64), *X.shape, gamma, alpha, beta, eta, uniforms,
        ctypes.byref(outcome),
    )  # fmt: skip
    if status != 0:
        raise MemoryError("the naive loop ran out of memory")
    return outcome
