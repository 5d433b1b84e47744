"""The description of a fitted model computes what the model computes."""

import numpy as np
import pytest
from described import predictions_of_model, scores_of_model
from exported import CLASSES, Case, cases, fitted, numbers_of, scores_of
from sklearn.base import is_regressor
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import onlinekern
from onlinekern import (
    ConformalClassifier,
    FourierFeatures,
    KernelPAClassifier,
    NystroemFeatures,
    OnlineStandardScaler,
    PAClassifier,
    StreamClassifier,
    make_stream_pipeline,
)
from onlinekern.fitted.export.describe import describe

CASES = cases()
# Of the largest score. A model of float32 samples computes in float32, as do the experts of a race,
# some of which multiply their rounding errors by the inverse of a kernel matrix.
DOUBLE, SINGLE, RACE = 1e-10, 2e-5, 1e-4


def difference(model, X):
    """Return the largest difference of the scores, relative to the largest score."""
    expected = scores_of(model, X)
    return np.abs(scores_of_model(describe(model), X) - expected).max() / max(
        1, np.abs(expected).max()
    )


def test_every_learner_is_among_the_cases():
    assert {case.name for case in CASES} == CLASSES.keys()


@pytest.mark.parametrize(
    ("layout", "dtype"), [("dense", np.float64), ("wide", np.float64), ("dense", np.float32)]
)
@pytest.mark.filterwarnings("ignore:max_support")
def test_scores_are_those_of_the_model(layout, dtype, stream, as_layout):
    wrong = []
    # So many features take long: the last form of each learner, and every fourth of all.
    few = [*{case.name: case for case in CASES}.values(), *CASES[::4]]
    for case in few if layout == "wide" else CASES:
        X, y = stream(case.task, n=80)
        X = as_layout(X / 3, layout, dtype)
        model = fitted(case, X[:60], y[:60])
        bound = DOUBLE if dtype == np.float64 else SINGLE
        bound = RACE if case.name.startswith("Stream") else bound
        if not (found := difference(model, X)) <= bound:
            wrong.append((case, found))
    assert not wrong


@pytest.mark.parametrize("name", CLASSES)
def test_predictions_are_those_of_the_model(name, stream):
    case = next(case for case in reversed(CASES) if case.name == name)
    X, y = stream(case.task)
    model = fitted(case, X[:60], y[:60])
    found = predictions_of_model(describe(model), X)
    if is_regressor(model):
        np.testing.assert_allclose(found, model.predict(X), rtol=1e-4, atol=1e-4)
    else:
        np.testing.assert_array_equal(found, numbers_of(model, X))


def test_a_float32_model_rounds_its_rows(stream):
    X, y = stream("binary", n=60)
    model = fitted(Case("PAClassifier", {}, "binary"), X.astype(np.float32), y)
    assert difference(model, X * np.pi) < 1e-6


@pytest.mark.parametrize(
    "steps",
    [
        [OnlineStandardScaler()],
        [OnlineStandardScaler(with_mean=False, clip=None, forgetting=0.9)],
        [OnlineStandardScaler(with_std=False)],
        ["passthrough", OnlineStandardScaler(clip=1.0), FourierFeatures(n_components=9, gamma=0.3)],
        [NystroemFeatures(n_components=5, gamma=0.3)],
    ],
)
def test_a_pipeline(steps, stream):
    X, y = stream("ovr")
    X = X * 100 + 7
    model = make_stream_pipeline(*steps, KernelPAClassifier(gamma=0.3))
    model.partial_fit(X[:70], y[:70], classes=np.unique(y))
    assert difference(model, X) < DOUBLE
    assert describe(model).n_features == X.shape[1]


def test_a_scaler_that_learnt_rows_of_weight_0_only(stream):
    X, y = stream("binary")
    scaler = OnlineStandardScaler().partial_fit(X, sample_weight=np.zeros(len(X)))
    model = make_pipeline(scaler, PAClassifier().fit(scaler.transform(X), y))
    assert difference(model, X) == 0


def test_what_cannot_be_exported_is_named(stream):
    X, y = stream("binary")
    with pytest.raises(NotFittedError, match="PAClassifier"):
        describe(PAClassifier())
    with pytest.raises(TypeError, match="StandardScaler is no learner of onlinekern"):
        describe(StandardScaler().fit(X))
    with pytest.raises(TypeError, match=r"ConformalClassifier is not exported; .* its estimator_"):
        describe(ConformalClassifier(PAClassifier()).fit(X, y))

    def product(A, B):
        return A @ B.T

    with pytest.raises(TypeError, match=r"product .* is a Python function"):
        describe(KernelPAClassifier(kernel=product).fit(X, y))
    pipeline = make_stream_pipeline(StandardScaler(), PAClassifier())
    with pytest.raises(TypeError, match=r"the step 'standardscaler' \(StandardScaler\)"):
        describe(pipeline.fit(X, y))


def test_a_race_that_knows_one_class(stream):
    X, _ = stream("binary")
    with pytest.raises(NotFittedError, match="one class only"):
        describe(StreamClassifier().partial_fit(X, np.zeros(len(X))))


def test_a_loaded_model_is_described_alike(stream, tmp_path):
    X, y = stream("regression")
    model = fitted(Case("NOGDRegressor", {}, "regression"), X, y)
    model.save(tmp_path / "model.okn")
    loaded = describe(onlinekern.load(tmp_path / "model.okn"))
    np.testing.assert_array_equal(scores_of_model(loaded, X), scores_of_model(describe(model), X))
