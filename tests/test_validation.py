"""The short way of validation takes only what scikit-learn would return unchanged."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.utils import validation

from onlinekern import KernelPAClassifier, KernelPARegressor, SPAOneClass
from onlinekern.streams import gaussian_mixture

X, Y = gaussian_mixture(60, random_state=0)
TARGETS = X[:, 0] + X[:, 1]
WIDE = sparse.csr_matrix(X[:3])
WIDE.indices = WIDE.indices.astype(np.int64)
PLAIN = [Y[:3], Y[:3].astype(float), Y[:3].tolist(), Y[:3].astype(np.int8)]
ODD_ROWS = {
    "list": X[:3].tolist(),
    "float32": X[:3].astype(np.float32),
    "fortran": np.asfortranarray(X[:3]),
    "strided": np.repeat(X[:3], 2, axis=0)[::2],
    "swapped": X[:3].astype(X.dtype.newbyteorder()),
    "subclass": X[:3].view(type("Rows", (np.ndarray,), {})),
    "csr": WIDE,
}
BAD_ROWS = {
    "nan": [[np.nan, 0.0]],
    "infinite": [[-np.inf, np.inf]],
    "features": [[1.0, 2.0, 3.0]],
    "none": np.empty((0, 2)),
    "flat": [1.0, 2.0],
}
BAD_LABELS = {
    "unknown": [7, 1, 1],
    "length": [1, 1],
    "table": [[1, 1], [1, -1], [1, 1]],
    "nan": [np.nan, 1.0, 1.0],
    "continuous": [0.5, 1.0, 1.0],
    "text": ["a", "b", "a"],
    "missing": [None, 1, 1],
    "nothing": None,
}


def fitted(estimator=KernelPAClassifier):
    """Return a learner in mid-stream."""
    model = estimator(gamma=0.4, random_state=0)
    if estimator is KernelPAClassifier:
        return model.partial_fit(X, Y, classes=[-1, 1])
    return model.partial_fit(X, TARGETS)


@pytest.fixture
def long_way(monkeypatch):
    """Count the calls of scikit-learn's validation."""
    calls = []
    full = validation.validate_data

    def noted(*args, **kwargs):
        calls.append(args)
        return full(*args, **kwargs)

    monkeypatch.setattr(validation, "validate_data", noted)
    return calls


@pytest.mark.parametrize("labels", PLAIN, ids=lambda y: str(getattr(y, "dtype", "list")))
def test_plain_arrays_take_the_short_way(labels, long_way):
    model, other = fitted(), fitted()
    long_way.clear()
    model.partial_fit(X[:3], labels)
    model.partial_fit(X[:3], labels, classes=[-1, 1])
    assert not long_way
    for _ in range(2):
        other.partial_fit(X[:3].tolist(), labels)
    assert len(long_way) == 2
    scores = model.decision_function(X)
    assert len(long_way) == 2
    np.testing.assert_array_equal(scores, other.decision_function(X.tolist()))


@pytest.mark.parametrize("name", ODD_ROWS)
def test_odd_arrays_go_the_long_way_and_learn_the_same(name, long_way):
    model, other = fitted(), fitted()
    rows = np.asarray(ODD_ROWS[name].toarray() if name == "csr" else ODD_ROWS[name], dtype=float)
    other.partial_fit(np.ascontiguousarray(rows), Y[:3])
    long_way.clear()
    model.partial_fit(ODD_ROWS[name], Y[:3])
    assert len(long_way) == 1
    np.testing.assert_array_equal(model.decision_function(X), other.decision_function(X))


@pytest.mark.parametrize("name", BAD_ROWS)
@pytest.mark.parametrize("estimator", [KernelPAClassifier, KernelPARegressor, SPAOneClass])
@pytest.mark.filterwarnings("ignore:invalid value:RuntimeWarning")  # scikit-learn adds inf to -inf
def test_bad_rows_are_found(name, estimator):
    model = fitted(estimator)
    rows = np.array(BAD_ROWS[name], dtype=float)
    labels = np.ones(len(rows)) if rows.ndim == 2 else np.ones(1)
    for call in (lambda: model.partial_fit(rows, labels), lambda: model.predict(rows)):
        with pytest.raises(ValueError):
            call()
    assert model.n_seen_ == len(X)


@pytest.mark.parametrize("name", BAD_LABELS)
def test_bad_labels_are_found(name):
    model = fitted()
    for labels in (BAD_LABELS[name], np.array(BAD_LABELS[name])):
        with pytest.raises((ValueError, TypeError)):
            model.partial_fit(X[:3], labels)
    assert model.n_seen_ == len(X)


@pytest.mark.parametrize("targets", [[np.nan, 0, 0], [np.inf, 0, 0], [1, 2], ["a", "b", "c"]])
def test_bad_targets_are_found(targets):
    model = fitted(KernelPARegressor)
    with pytest.raises(ValueError):
        model.partial_fit(X[:3], np.array(targets))
    assert model.n_seen_ == len(X)


@pytest.mark.parametrize("classes", [[-1, 2], [1], ["-1", "1"]])
def test_classes_may_grow_only(classes):
    with pytest.raises(ValueError, match="classes"):
        fitted().partial_fit(X[:3], Y[:3], classes=classes)


def test_rows_too_large_to_sum_are_no_error(long_way):
    model = KernelPAClassifier(gamma=0.4).partial_fit(X.astype("float32"), Y, classes=[-1, 1])
    long_way.clear()
    assert np.isfinite(model.decision_function(np.full((3, 2), 3e38, "float32"))).all()
    assert not long_way


def test_names_of_features_are_still_asked_for():
    pandas = pytest.importorskip("pandas")
    model = KernelPAClassifier(gamma=0.4).partial_fit(
        pandas.DataFrame(X, columns=["a", "b"]), Y, classes=[-1, 1]
    )
    with pytest.warns(UserWarning, match="feature names"):
        model.partial_fit(X[:3], Y[:3])
