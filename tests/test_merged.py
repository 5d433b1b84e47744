"""A merged model is at least about as good as the mean of the models of the parts."""

import numpy as np
import pytest
from scripts import scripts

import onlinekern as ok
from onlinekern import merge

with scripts():
    import merged

QUICK = [
    ("BOLSSVMClassifier", 50),
    ("BSGDRegressor, merge", 50),
    ("SlidingWindowKRLSRegressor", 50),
    ("KRLSTRegressor", 25),
    ("KRLSRegressor", 25),
    ("KernelAROWClassifier", 25),
    ("KernelLogisticClassifier", 25),
    ("KernelRLSRegressor", 25),
    ("NOGDRegressor", 25),
]


def assert_keeps(found, *names):
    """Compare merged models with their parts, with a base and alone; a batch learner has none."""
    for part, whole in (found[:2], found[2:]):
        assert np.isnan(part) or whole > part - merged.MARGIN, (*names, found)


@pytest.mark.parametrize(("name", "budget"), QUICK)
def test_merged_models_keep_what_the_parts_knew(name, budget):
    (found,) = [scores for *_, scores in merged.rows_of(1200, 3, [budget], [name])]
    assert_keeps(found, name)


@pytest.mark.long
@pytest.mark.parametrize("name", [name for name, *_ in merged.learners()])
def test_every_learner_at_three_budgets(name):
    for _, budget, found in merged.rows_of(2000, 5, [25, 50, 100], [name]):
        assert_keeps(found, name, budget)


@pytest.mark.parametrize("covariance", ["full", "sketched", "diagonal"])
def test_gaussians_of_other_landmarks_add_up(covariance):
    how = {"covariance": covariance}
    scores = [merged.scores(ok.KernelAROWClassifier, how, 50, 1200, seed) for seed in range(3)]
    *_, part, whole = np.mean(scores, axis=0)
    # What one model has learnt of a feature is not all that four have.
    assert whole > part + 1


def test_one_model_and_its_base_are_the_model():
    (X, y), _ = merged.stream("regressor", 600, 0)
    base = ok.StreamRegressor(time_budget=20, random_state=0).partial_fit(X[:300], y[:300])
    model = merged.learnt(base, X[300:], y[300:])
    np.testing.assert_array_equal(merge([model], base=base).predict(X), model.predict(X))
