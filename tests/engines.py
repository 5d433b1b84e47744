"""What tests of several engines share: samples, learners, and what is the same."""

from functools import partial

import numpy as np
import pytest
from spread import part_of

from onlinekern import (
    KernelRLSClassifier,
    KernelRLSRegressor,
    OnlineStandardScaler,
    PAClassifier,
    distributed,
    make_stream_pipeline,
)

N, CHUNK = 1800, 300
LABELS = ["no", "yes"]


def samples():
    """Return X of three features, and two labels."""
    X = np.random.default_rng(0).normal(size=(N, 3))
    return X, np.where(X[:, 0] + X[:, 1] ** 2 > 0.5, "yes", "no")


def parts_of(X, y, read=part_of, **options):
    """Return readers of six parts."""
    return [partial(read, X, y, first, CHUNK, **options) for first in range(0, N, CHUNK)]


def sensors(n):
    """Return a table of rows of three sensors."""
    pd = pytest.importorskip("pandas", reason="pandas is not installed")
    rng = np.random.default_rng(0)
    a, b = rng.normal(size=(2, n))
    return pd.DataFrame({
        "sensor": rng.choice(["east", "north", "west"], n), "at": np.arange(n), "a": a, "b": b,
        "load": np.sin(a) + b, "label": np.where(a > b, "up", "down"),
    })  # fmt: skip


def without_some_labels(table):
    """Return the table without a third of the labels, and without the first one of a sensor."""
    gaps = table.copy()
    gaps.loc[gaps.index % 3 == 1, "label"] = None
    gaps.loc[gaps.index[gaps["sensor"] == "east"][0], "label"] = None
    return gaps


def alone(table, make, y="load"):
    """Return what the model of each key predicts, which learns its rows in one call; and models."""
    found, models = table[y].copy(), {}
    for key, rows in table.groupby("sensor"):
        models[key] = make()
        found[rows.index] = models[key].partial_fit_predict(rows[["a", "b"]], rows[y])
    return found.tolist(), models


def labels_alone(table):
    """Return what a model of each key predicts of labels, of which some are missing."""
    wanted, models = [], {}
    for row in table.itertuples():
        X = table.loc[[row.Index], ["a", "b"]]
        model = models.setdefault(row.sensor, PAClassifier(random_state=0))
        if isinstance(row.label, str):
            y = np.array([row.label])
            wanted += model.partial_fit_predict(X, y, classes=["down", "up"]).tolist()
        else:
            wanted += model.predict(X).tolist() if hasattr(model, "classes_") else [None]
    assert wanted.count(None) >= 1
    return wanted


def least_squares():
    """Return a learner whose models are merged without loss."""
    return KernelRLSClassifier(n_components=20, random_state=0)


def same(fitted, expected, X):
    """Assert that two runs have made the same model, bit for bit, and the same record."""
    method = "decision_function" if hasattr(expected.model, "classes_") else "predict"
    found, wanted = (getattr(one.model, method)(X) for one in (fitted, expected))
    np.testing.assert_array_equal(found, wanted)
    for one, other in zip(fitted.rounds, expected.rounds, strict=True):
        assert one.by_learner == other.by_learner
        assert (one.number, one.mistakes) == (other.number, other.mistakes)
        assert one.squared_error == other.squared_error
        assert one.bytes_moved > 0
    assert fitted.skipped == expected.skipped


class Readers:
    """Tests of an engine whose parts are functions or files.

    A subclass has a fixture `fit`; its module has the fixtures `samples` and `client`, of Dask.
    """

    def test_targets_and_transformers(self, fit, samples, client):
        X, _ = samples
        y = np.sin(X[:, 0]) + X[:, 1]
        model = make_stream_pipeline(
            OnlineStandardScaler(), KernelRLSRegressor(n_components=20, random_state=0)
        )
        # More than are merged at once.
        parts = [partial(part_of, X, y, first, 180) for first in range(0, N, 180)]
        options = {"n_learners": 9, "warm_up": 250, "progress": False}
        expected = distributed.fit(model, parts, client=client, **options)
        same(fit(model, parts, **options), expected, X)

    def test_files(self, fit, samples, client, tmp_path):
        pa = pytest.importorskip("pyarrow", reason="pyarrow is not installed")
        parquet = pytest.importorskip("pyarrow.parquet", reason="pyarrow is not installed")
        X, y = samples
        table = pa.table({"a": X[:, 0], "b": X[:, 1], "sold": y})
        parquet.write_table(table, tmp_path / "rows.parquet", row_group_size=CHUNK)
        options = {"rounds": 2, "n_learners": 2, "progress": False}
        expected = distributed.fit(least_squares(), tmp_path, "sold", client=client, **options)
        same(fit(least_squares(), tmp_path, "sold", **options), expected, X[:, :2])

    def test_bad_rows(self, fit, samples):
        X, y = samples
        bad = X.copy()
        bad[1501, 1] = np.nan
        options = {"classes": LABELS, "progress": False}
        with pytest.raises(ValueError, match=r"^reader 5 of X, row 1: column 1 is missing or NaN"):
            fit(least_squares(), parts_of(bad, y), **options)
        fitted = fit(least_squares(), parts_of(bad, y), on_error="skip", **options)
        assert fitted.skipped == {"reader 5 of X": 1}
        assert fitted.samples == N - 1

    @pytest.mark.parametrize(
        ("change", "error", "message"),
        [
            ({"X": np.zeros((9, 2)), "y": "c"}, TypeError, "X must be a list of functions"),
            ({"X": [3]}, TypeError, "X holds int, which is neither .* nor a function"),
            ({"y": "sold"}, ValueError, "y and sample_weight must be None where X is a list"),
            ({"rounds": 0}, ValueError, "rounds must be an integer of at least 1, got 0"),
            ({"rounds": 99}, ValueError, "rounds is 99, but X has 6 parts"),
            ({"n_learners": 1.5}, ValueError, "n_learners must be an integer"),
            ({"on_error": "stop"}, ValueError, "on_error must be 'raise' or 'skip', got 'stop'"),
            ({"estimator": PAClassifier}, TypeError, "estimator must be a learner of streams"),
            ({"resume": True}, ValueError, "checkpoint must be given where resume is True"),
        ],
    )
    def test_bad_arguments(self, fit, samples, change, error, message):
        options = {"estimator": PAClassifier(), "X": parts_of(*samples), "progress": False}
        with pytest.raises(error, match=message):
            fit(**{**options, **change})
