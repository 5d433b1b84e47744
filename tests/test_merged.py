"""A merged model is at least about as good as the mean of the models of the parts."""

import importlib.util
from pathlib import Path

import numpy as np
import pytest

import onlinekern as ok
from onlinekern import merge

PATH = Path(__file__).parents[1] / "benchmarks" / "merged.py"
SPEC = importlib.util.spec_from_file_location("merged", PATH)
merged = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(merged)
# These lose more: so small a budget of one model holds too little of what the others know.
LOSING = {("KRLSTRegressor", 25)}
QUICK = ["BOLSSVMClassifier", "BSGDRegressor, merge", "SlidingWindowKRLSRegressor"]


@pytest.mark.parametrize("name", QUICK)
def test_merged_models_keep_what_the_parts_knew(name):
    (found,) = [scores for *_, scores in merged.rows_of(1200, 3, [50], [name])]
    assert found[1] > found[0] - merged.MARGIN


@pytest.mark.long
@pytest.mark.parametrize("name", [name for name, *_ in merged.learners()])
def test_every_learner_at_three_budgets(name):
    for _, budget, found in merged.rows_of(2000, 5, [25, 50, 100], [name]):
        # A batch learner has no base.
        part, whole = found[:2] if np.isfinite(found[0]) else found[2:]
        keeps = whole > part - merged.MARGIN
        assert keeps != ((name, budget) in LOSING), budget


def test_one_model_and_its_base_are_the_model():
    (X, y), _ = merged.stream("regressor", 600, 0)
    base = ok.StreamRegressor(time_budget=20, random_state=0).partial_fit(X[:300], y[:300])
    model = merged.learnt(base, X[300:], y[300:])
    np.testing.assert_array_equal(merge([model], base=base).predict(X), model.predict(X))
