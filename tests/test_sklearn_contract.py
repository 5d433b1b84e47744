"""scikit-learn's own estimator checks, on every estimator."""

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from onlinekern import SPARegressor, all_estimators

# An online learner takes one step per sample: weight 2 is one step of twice the size (or twice the
# cap on it), which is not two steps. scikit-learn lists the same failure for its SGD estimators.
ONE_STEP = "a sample of weight 2 is one larger step, not two steps"
# The check takes any parameter called alpha for a ridge penalty and sets it to 0.01. SPA's alpha
# then lets one sample in a hundred in, too few of its 200 for the score that the check asks.
ALPHA = "the check sets alpha=0.01, which for SPA means to learn 2 of 200 samples"


def expected_failures(estimator):
    failures = {
        "check_sample_weight_equivalence_on_dense_data": ONE_STEP,
        "check_sample_weight_equivalence_on_sparse_data": ONE_STEP,
    }
    if isinstance(estimator, SPARegressor):
        failures["check_regressors_train"] = ALPHA
    return failures


ESTIMATORS = [estimator() for _, estimator in all_estimators()]


@parametrize_with_checks(ESTIMATORS, expected_failed_checks=expected_failures)
def test_scikit_learn(estimator, check):
    check(estimator)


@pytest.mark.parametrize(("name", "estimator"), all_estimators())
def test_every_parameter_is_constrained(name, estimator):
    assert set(estimator().get_params()) == set(estimator._parameter_constraints), name
