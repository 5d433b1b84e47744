"""The undo of a call: sizes without memory, states of another shape, many checkpoints.

That failed calls leave every estimator as it was is tested in test_failed_calls.py.
"""

import copy

import numpy as np
import pytest

from onlinekern import KernelPerceptronClassifier, RBPClassifier
from onlinekern.core.base.undo import JournaledMatrix
from onlinekern.core.kernels.coefficients import Coefficients
from onlinekern.core.linalg.frequent_directions import FrequentDirections
from onlinekern.core.linalg.inverse_gram import InverseGram
from onlinekern.core.models.covariances import COVARIANCES
from onlinekern.core.models.linear import LinearSpace


@pytest.mark.parametrize("shape", [(2**40, 2**40), (2**60, 8), (2**61 + 1, 8), (2**62, 2)])
def test_sizes_that_overflow_are_refused(shape):
    with pytest.raises(MemoryError, match=f"covariances: {shape[0]} x {shape[1]} numbers"):
        JournaledMatrix("covariances", *shape)


def test_a_huge_inverse_is_refused_by_name():
    with pytest.raises(MemoryError, match=r"inverse Gram matrix: 1000000000000 x .* gigabytes"):
        InverseGram(10**12)


@pytest.mark.parametrize("shape", [(3, 5), (0, 8), (4, 0)])
def test_a_matrix_takes_back_what_it_gave(shape):
    matrix = JournaledMatrix("numbers", *shape)
    np.testing.assert_array_equal(matrix.to_array(), np.zeros(shape))
    values = np.random.default_rng(0).standard_normal(shape)
    matrix.set_array(np.asfortranarray(values))
    np.testing.assert_array_equal(matrix.to_array(), values)
    with pytest.raises(ValueError, match=r"numbers must have shape \(\d, \d\), got \(\d,\)"):
        matrix.set_array(np.zeros(shape[0]))


@pytest.mark.parametrize("kind", list(COVARIANCES))
def test_a_covariance_of_another_shape_is_refused(kind):
    covariance = COVARIANCES[kind](2, 5)
    state = covariance.to_array()
    covariance.set_array(state)
    shape = rf"must have shape \({len(state)}, 5"
    for wrong in (state[1:], state[:, :4], state[0]):
        with pytest.raises(ValueError, match=shape):
            covariance.set_array(wrong)


def test_states_of_another_shape_are_refused():
    space = LinearSpace(9, np.float64, 2, True)
    with pytest.raises(ValueError, match="linear weights must have shape"):
        space.set_state({**space.get_state(), "blocks": np.zeros((3, 8))})
    gram = InverseGram(3)
    with pytest.raises(ValueError, match="diagonal of the Gram matrix must have shape"):
        gram.set_state({**gram.get_state(), "diagonal": np.zeros(3)})
    coefficients = Coefficients(2, True, 8)
    state = coefficients.get_state()
    with pytest.raises(ValueError, match=r"companions .* must have shape \(2, 0\)"):
        coefficients.set_state({**state, "companions": np.zeros((2, 3))})
    numbers = np.zeros((2, 3))
    with pytest.raises(ValueError, match="3 rows do not fit into 0 slots"):
        coefficients.set_state({**state, "values": numbers, "companions": numbers})


def test_a_sketch_of_another_shape_is_refused():
    sketch = FrequentDirections(2, 5)
    sketch.insert(np.eye(5)[:3])
    restore, (size, d, rows, *rest) = sketch.__reduce__()
    np.testing.assert_array_equal(restore(size, d, rows, *rest).rows(), sketch.rows())
    with pytest.raises(ValueError, match=r"rows of the sketch must have shape \(3, 5\)"):
        restore(size, d, rows[:, :4], *rest)
    with pytest.raises(ValueError, match="4 rows do not fit into a sketch of size 2"):
        restore(size, d, np.ones((4, 5)), *rest)


@pytest.mark.parametrize(
    ("cls", "options"),
    [
        (KernelPerceptronClassifier, {}),
        (KernelPerceptronClassifier, {"average": True}),
        (RBPClassifier, {"budget": 20}),
    ],
)
def test_failures_between_many_checkpoints(cls, options, state_of, same_state):
    # Each sample is a call, and so a checkpoint, of a set of support vectors that grows; after each
    # of them a call fails that has changed the model before.
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((150, 4)), rng.integers(2, size=150)
    bad = np.r_[rng.standard_normal((5, 4)), np.full((1, 4), 1e160)]
    model = cls(kernel="polynomial", gamma=1.0, random_state=0, **options)
    model.partial_fit(X[:2], [0, 1], classes=[0, 1])
    twin = copy.deepcopy(model)
    for i in range(2, len(y)):
        model.learn_one(X[i], y[i])
        twin.learn_one(X[i], y[i])
        before = state_of(model)
        with pytest.raises(FloatingPointError):
            model.partial_fit(bad, rng.integers(2, size=6))
        same_state(model, before)
    same_state(model, twin)
