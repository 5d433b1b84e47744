"""The page of a model: true figures of every kind of model, in one file that loads nothing."""

import re
import shutil
import subprocess

import numpy as np
import pytest

pytest.importorskip("matplotlib")

from sklearn.exceptions import NotFittedError
from sklearn.linear_model import SGDClassifier
from sklearn.preprocessing import FunctionTransformer
from test_report_pages import EVIL, read, words

import onlinekern
from onlinekern import (
    KernelForestClassifier,
    KernelPAClassifier,
    KernelRLSRegressor,
    OnlineStandardScaler,
    PAClassifier,
    StreamClassifier,
    TableEncoder,
    make_stream_pipeline,
)
from onlinekern.drift import LossDetector, RenewedLearner
from onlinekern.evaluate import prequential
from onlinekern.fitted.save import to_bytes
from onlinekern.reports import ModelPage, report_html
from onlinekern.reports.machine import in_bytes
from onlinekern.streams import gaussian_mixture

X, Y = gaussian_mixture(1500, 0)
TABLE = [{"town": "Ulm", EVIL: "2026-03-02 08:00", "size": 1.5},
         {"town": "Bonn", EVIL: "2026-03-03 09:30", "size": None}] * 100  # fmt: skip


def page_of(model, tmp_path, **arguments):
    text = report_html(model, tmp_path / "m.html", **arguments)
    assert (tmp_path / "m.html").read_text(encoding="utf-8") == text
    return read(tmp_path / "m.html")


def test_a_stream_with_drift(tmp_path):
    """The curve, the drifts, the figures of the stream and the experts are those of the run."""
    y = np.where(np.arange(1500) < 900, Y, -Y)
    model = StreamClassifier(random_state=0, time_budget=20)
    stream = [(X[k : k + 300], y[k : k + 300]) for k in range(0, 1500, 300)]
    result = prequential(model, stream, [-1, 1], window=300, detector=LossDetector())
    assert len(result.drifts) > 0
    page = page_of(model, tmp_path, result=result, window=300)
    text = words(page)
    for part in (
        "StreamClassifier", "2 classes: -1, 1", "1,500", f"{result.error:.2%}", "last 300 samples",
        f"{result.curves['window_error'][-1]:.2%}", f"sample {result.drifts[0]:,}", "drift found",
        f"{result.microseconds_per_sample:.3g} µs", "The race: who led when", "time_budget",
        "Experts of the race", "Importances", in_bytes(len(to_bytes(model))), "scikit-learn",
    ):  # fmt: skip
        assert part in text, part
    assert page.tags.count("svg") == 3


def test_a_table_names_its_columns(tmp_path):
    model = make_stream_pipeline(TableEncoder(), OnlineStandardScaler(), PAClassifier(C=0.125))
    page = page_of(model.fit(TABLE, ["yes", "no"] * 100), tmp_path)
    text = words(page)
    for part in ("town category", f"{EVIL} date", "size number", "paclassifier C 0.125",
                 "mistakes, all samples"):  # fmt: skip
        assert part in text, part
    assert "Error along the stream" not in text
    source = (tmp_path / "m.html").read_text(encoding="utf-8")
    assert '<tr class="best"><td>paclassifier C</td>' in source
    assert "<tr><td>paclassifier tol</td>" in source


def test_importances_and_a_metric(tmp_path):
    Z = np.random.default_rng(0).normal(size=(800, 5))
    model = KernelRLSRegressor(metric="full", random_state=0).fit(Z, np.sin(2 * Z[:, 1]) + Z[:, 3])
    text = words(page_of(model, tmp_path))
    assert f"{model.metric_[1, 1]:.2g}" in text
    assert f"{model.metric_[3, 1]:.2g}" in text
    assert "5 numbers" in text
    assert "Regression" in text
    forest = KernelForestClassifier(n_trees=5, random_state=0).fit(X, Y)
    text = words(page_of(forest, tmp_path))
    assert "Importances" in text
    assert "Metric" not in text


def test_alarms_of_a_learner_that_begins_anew(tmp_path):
    model = RenewedLearner(KernelPAClassifier(gamma=0.4, random_state=0))
    model.partial_fit(np.vstack([X, X]), np.concatenate([Y, -Y]), classes=[-1, 1])
    assert len(model.alarms_)
    text = words(page_of(model, tmp_path))
    assert f"began after sample {model.alarms_[0]:,}" in text
    assert "3,000" in text


@pytest.mark.parametrize(("name", "cls"), onlinekern.all_estimators())
def test_every_model_has_a_page(name, cls, tmp_path):
    model = cls().set_params(**{"random_state": 0} if "random_state" in cls().get_params() else {})
    regression = name.endswith("Regressor")
    page = page_of(model.fit(X[:80], X[:80, 0] if regression else Y[:80]), tmp_path)
    assert name in words(page)
    assert "µs" in words(page)


def test_what_cannot_be_saved_has_a_page_without_its_size(tmp_path):
    steps = FunctionTransformer(lambda rows: rows), KernelPAClassifier(gamma=0.4)
    text = words(page_of(make_stream_pipeline(*steps).fit(X, Y), tmp_path))
    assert "in its file" not in text
    assert "support vectors" in text


def test_bad_arguments_name_themselves(tmp_path):
    fitted = KernelPAClassifier(gamma=0.4).fit(X, Y)
    with pytest.raises(NotFittedError):
        report_html(KernelPAClassifier())
    with pytest.raises(NotFittedError):
        report_html(RenewedLearner(KernelPAClassifier()))
    with pytest.raises(TypeError, match="model"):
        report_html(KernelPAClassifier)
    with pytest.raises(TypeError, match="result"):
        report_html(fitted, result=3)
    with pytest.raises(ValueError, match="window"):
        report_html(fitted, window=0)
    result = prequential(KernelPAClassifier(gamma=0.4), [(X, Y)], [-1, 1], window=None)
    with pytest.raises(ValueError, match="window"):
        report_html(fitted, tmp_path / "m.html", result=result)
    assert not (tmp_path / "m.html").exists()


def test_a_model_of_another_library_has_a_page(tmp_path):
    text = words(page_of(SGDClassifier().fit(X, Y), tmp_path))
    assert "SGDClassifier" in text


def test_a_notebook_shows_it_in_a_frame():
    page = report_html(KernelPAClassifier(gamma=0.4).fit(X, Y))
    assert isinstance(page, ModelPage)
    frame = page._repr_html_()
    assert frame.startswith("<iframe srcdoc=")
    assert "<!DOCTYPE" not in frame


def test_in_a_browser(tmp_path):
    browser = shutil.which("chromium") or shutil.which("google-chrome")
    if browser is None:
        pytest.skip("there is no browser")
    report_html(KernelForestClassifier(n_trees=5).fit(X, Y), tmp_path / "m.html")
    for width in (1200, 400):
        command = [browser, "--headless", "--no-sandbox", "--disable-gpu", "--dump-dom",
                   f"--user-data-dir={tmp_path / 'browser'}", f"--window-size={width},900",
                   f"file://{tmp_path / 'm.html'}"]  # fmt: skip
        found = subprocess.run(command, capture_output=True, text=True, timeout=120).stdout
        assert re.search(r"<h2>Importances</h2>.*<path", found, re.S)


def test_a_race_of_one_class_says_what_it_waits_for():
    model = onlinekern.StreamClassifier().partial_fit([[1.0, 2.0]], ["only"])
    with pytest.raises(NotFittedError, match="has seen samples of one class only"):
        report_html(model)
