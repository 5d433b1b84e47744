"""One sample of many features, dense or sparse, for a model with sparse support vectors."""

import numpy as np
import pytest
from scipy import sparse

from onlinekern import KernelPAClassifier

D = 2_100  # stored sparse, and no multiple of the vector length


@pytest.fixture(params=["float32", "float64"])
def rows(request):
    """Return sparse rows, some empty, some with the first and the last feature."""
    X = sparse.random(60, D, density=0.01, random_state=0, format="lil")
    X[3] = 0
    X[5, 0], X[5, D - 1], X[6, 63], X[6, 64] = 1.0, -2.0, 3.0, -4.0
    return sparse.csr_matrix(X, dtype=request.param)


@pytest.fixture
def model(rows):
    """Return a learner that has seen the first rows."""
    return KernelPAClassifier(gamma=0.4).partial_fit(
        rows[:20], np.arange(20) % 2, classes=[0, 1]
    )  # fmt: skip


def test_every_form_of_a_row_is_the_same(model, rows):
    expected = model.decision_function(rows)
    for form in (lambda x: x.toarray()[0], lambda x: x, lambda x: x.tocoo(), lambda x: x.tocsc()):
        scores = [model.score_one(form(rows[i])) for i in range(rows.shape[0])]
        np.testing.assert_array_equal(scores, expected)


def test_learning_single_rows_is_learning_them_together(model, rows):
    other = KernelPAClassifier(gamma=0.4).partial_fit(
        rows, np.arange(rows.shape[0]) % 2, classes=[0, 1]
    )
    for i in range(20, rows.shape[0]):
        model.learn_one(rows[i] if i % 3 else rows[i].toarray()[0], i % 2)
    np.testing.assert_array_equal(model.dual_coef_, other.dual_coef_)
    np.testing.assert_array_equal(
        model.support_vectors_.toarray(), other.support_vectors_.toarray()
    )


def test_bad_rows_are_found(model, rows):
    seen = model.n_seen_
    infinite, other = rows[7].copy(), np.zeros((1, D - 1), rows.dtype)
    infinite.data[-1] = np.inf
    for bad in (infinite, infinite.toarray()[0], other[0], sparse.csr_matrix(other), rows[:2]):
        with pytest.raises(ValueError, match=r"x (contains|has|must)"):
            model.learn_one(bad, 1)
    assert model.n_seen_ == seen
