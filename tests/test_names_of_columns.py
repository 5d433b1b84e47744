"""Columns whose names are no text: numbers, several levels, dates."""

import warnings

import numpy as np
import pytest

import onlinekern
from onlinekern import (
    ConformalClassifier,
    ConformalRegressor,
    KernelForestClassifier,
    OnlineStandardScaler,
    PAClassifier,
    PARegressor,
    StreamClassifier,
    StreamRegressor,
)
from onlinekern.drift import RenewedLearner

pd = pytest.importorskip("pandas")

N = 120
ROWS = np.random.default_rng(0).normal(size=(N, 3)) * [1, 2, 3]
Y = np.where(ROWS[:, 1] > 0, "yes", "no")
NAMES = {
    "whole numbers": [5, 6, 7],
    "places in another order": [2, 0, 1],
    "levels": pd.MultiIndex.from_tuples([("a", "x"), ("a", "y"), ("b", "x")]),
    "several types": [0, "a", 0.5],
    "dates": pd.date_range("2026-01-01", periods=3),
}
MODELS = {
    "race": lambda: StreamClassifier(random_state=0),
    "forest": lambda: KernelForestClassifier(n_trees=5, random_state=0),
    "linear": lambda: PAClassifier(random_state=0),
    "scaler": OnlineStandardScaler,
    "conformal": lambda: ConformalClassifier(PAClassifier(random_state=0)),
    "renewed": lambda: RenewedLearner(PAClassifier(random_state=0)),
}


def answer(model, X):
    return model.transform(X) if hasattr(model, "transform") else model.decision_function(X)


@pytest.mark.parametrize("names", NAMES)
@pytest.mark.parametrize("kind", MODELS)
def test_such_columns_are_never_taken_by_their_places(kind, names):
    frame = pd.DataFrame(ROWS, columns=NAMES[names])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = MODELS[kind]().fit(frame, Y)
        before = answer(model, frame)
        other = MODELS[kind]().fit(pd.DataFrame(ROWS, columns=["a", "b", "c"]), Y)
        np.testing.assert_array_equal(answer(other, pd.DataFrame(ROWS, columns=[*"abc"])), before)
    back = frame[frame.columns[::-1]]
    for use in (lambda: answer(model, back), lambda: model.partial_fit(back, Y)):
        with pytest.raises(ValueError, match="same order"):
            use()
    with pytest.warns(UserWarning, match="does not have valid feature names"):
        np.testing.assert_array_equal(answer(model, ROWS), before)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        np.testing.assert_array_equal(answer(model, frame), before)


@pytest.mark.parametrize("kind", MODELS)
def test_the_numbers_from_0_on_are_places(kind):
    frame = pd.DataFrame(ROWS)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = MODELS[kind]().fit(ROWS, Y)
        expected = answer(model, ROWS)
        for X in (frame, frame[[2, 0, 1]]):
            np.testing.assert_array_equal(answer(model, X), expected)
        again = MODELS[kind]().fit(frame, Y)
        np.testing.assert_array_equal(answer(again, ROWS), expected)
        assert not hasattr(again, "feature_names_in_")


@pytest.mark.parametrize("kind", MODELS)
def test_places_are_an_array_for_who_knows_other_names(kind):
    model = MODELS[kind]().fit(pd.DataFrame(ROWS, columns=["a", "b", "c"]), Y)
    with pytest.warns(UserWarning, match="does not have valid feature names"):
        expected = answer(model, ROWS)
    with pytest.warns(UserWarning, match="does not have valid feature names"):
        np.testing.assert_array_equal(answer(model, pd.DataFrame(ROWS)), expected)
    # In any other order they are names.
    with pytest.raises(ValueError, match="unseen at fit time"):
        answer(model, pd.DataFrame(ROWS)[[2, 0, 1]])


def test_a_single_row_is_taken_by_its_names():
    frame = pd.DataFrame(ROWS, columns=[5, 6, 7])
    model = PAClassifier(random_state=0).fit(frame, Y)
    assert model.feature_names_in_.tolist() == ["5", "6", "7"]
    assert model.score_one(frame.iloc[3]) == model.score_one(ROWS[3])
    with pytest.raises(ValueError, match="same order"):
        model.score_one(frame.iloc[3][[7, 6, 5]])


def around(random_state):
    return ConformalRegressor(PARegressor(random_state=random_state))


@pytest.mark.parametrize("make", [PARegressor, StreamRegressor, around])
@pytest.mark.parametrize("first", ["2026-01-01", 8])
def test_windows_of_a_series_are_rows(make, first):
    """The names of a window are its times; the next one has others."""
    times = pd.date_range(first, periods=60) if isinstance(first, str) else range(first, first + 60)
    series = pd.Series(np.sin(np.arange(60.0)), index=times)
    model, plain = make(random_state=0), make(random_state=0)
    for i in range(3, 40):
        model.learn_one(series.iloc[i - 3 : i], series.iloc[i])
        plain.learn_one(series.iloc[i - 3 : i].to_numpy(), series.iloc[i])
    window = series.iloc[40:43]
    assert model.score_one(window) == plain.score_one(window.to_numpy())


def test_names_are_kept_in_files(tmp_path):
    frame = pd.DataFrame(ROWS, columns=NAMES["levels"])
    PAClassifier(random_state=0).fit(frame, Y).save(tmp_path / "model.okn")
    model = onlinekern.load(tmp_path / "model.okn")
    model.partial_fit(frame, Y)
    with pytest.raises(ValueError, match="same order"):
        model.predict(frame[frame.columns[::-1]])


def test_two_names_that_become_one_are_told():
    frame = pd.DataFrame(ROWS, columns=[1, "1", 2])
    with pytest.raises(ValueError, match="X has two columns named '1'"):
        PAClassifier().fit(frame, Y)
