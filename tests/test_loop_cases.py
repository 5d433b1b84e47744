"""The stream loop is compiled for several cases of samples; all learn the same, bit for bit."""

import numpy as np
import pytest
from scipy import sparse

import onlinekern

RNG = np.random.default_rng(0)
X = np.where(RNG.random((150, 6)) < 0.5, RNG.standard_normal((150, 6)), 0.0)
X[7] = 0
Y = (X[:, 0] - X[:, 1] + 0.3 * RNG.standard_normal(150) > 0).astype(float)
N = len(Y)

LEARNERS = {
    "PAClassifier": [{}, {"average": True}, {"fit_intercept": False}, {"C": 0.01}],
    "OGDClassifier": [{}, {"average": True}, {"loss": "logistic"}, {"reg": 0.1}],
    "PerceptronClassifier": [{}, {"average": True}],
    "AROWClassifier": [{}, {"covariance": "full"}],
    "SCWClassifier": [{}, {"average": True}],
    "CWClassifier": [{}],
    "SDROGDClassifier": [{}],
    "LOLClassifier": [{}],
    "FOGDClassifier": [{"n_components": 20}],
    "SPAClassifier": [{}],
    "KernelOGDClassifier": [{}],
    "PARegressor": [{}, {"average": True}],
    # Targets as they are: standardised ones are not a case of their own.
    "OGDRegressor": [{"standardize_target": False}],
}
CASES = [(name, options) for name, settings in LEARNERS.items() for options in settings]


def in_one_call(model, rows):
    return [model.learn(rows, Y)]


def with_weights(model, rows):
    return [model.learn(rows, Y, np.ones(N))]


def in_an_order(model, rows):
    return [model.learn(rows, Y, order=np.arange(N))]


def with_scores(model, rows):
    return [model.learn(rows, Y, scores=np.empty((N, 1)))]


def row_by_row(model, rows):
    return [model.learn(rows[i : i + 1], Y[i : i + 1]) for i in range(N)]


def learnt(name, options, kind, dtype, way):
    """Return what a learner predicts and counts, and its scores, when it has learnt in this way."""
    rows = kind(X.astype(dtype))
    estimator = getattr(onlinekern, name)(**options)
    if "random_state" in estimator.get_params():
        estimator.set_params(random_state=0)
    if name.endswith("Regressor"):
        estimator.partial_fit(rows[:1], Y[:1])
    else:
        estimator.partial_fit(rows[:1], Y[:1], classes=[0.0, 1.0])
    model = estimator._model
    predictions = np.concatenate(way(model, rows))
    scores = np.empty((N, 1))
    model.scores(rows, scores)
    return (predictions, scores), (model.n_seen, model.n_mistakes, model.cumulative_loss)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_matrix])
@pytest.mark.parametrize(
    ("name", "options"), CASES, ids=[f"{name}-{'-'.join(options)}" for name, options in CASES]
)
def test_all_cases_learn_the_same(name, options, kind, dtype, equal):
    arrays, counts = learnt(name, options, kind, dtype, in_one_call)
    assert counts[0] == N + 1
    assert np.ptp(arrays[1]) > 0
    for way in (with_weights, in_an_order, with_scores, row_by_row):
        others, other_counts = learnt(name, options, kind, dtype, way)
        assert other_counts == pytest.approx(counts, rel=1e-12), way
        for one, other in zip(arrays, others, strict=True):
            equal(one, other)
