"""Displays: what is drawn is what the model did, and what does not fit is named."""

import doctest
import importlib
import runpy
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse

pytest.importorskip("matplotlib")

import matplotlib

matplotlib.use("Agg")

from matplotlib import pyplot
from sklearn.datasets import load_digits
from sklearn.ensemble import RandomForestClassifier
from sklearn.exceptions import NotFittedError
from sklearn.preprocessing import Normalizer

from onlinekern import (
    BPAClassifier,
    FOGDRegressor,
    KernelForestClassifier,
    KernelForestRegressor,
    KernelPAClassifier,
    KernelPARegressor,
    KernelRLSRegressor,
    OnlineStandardScaler,
    PAClassifier,
    PartitionFeatures,
    SPAClassifier,
    StreamClassifier,
    StreamRegressor,
    TableEncoder,
    make_stream_pipeline,
)
from onlinekern.evaluate import prequential
from onlinekern.plotting import (
    BudgetDisplay,
    DecisionRegionsDisplay,
    ImportanceDisplay,
    MetricDisplay,
    PrequentialCalibrationDisplay,
    PrequentialDisplay,
    RaceDisplay,
    SupportVectorsDisplay,
    plot_race,
)
from onlinekern.streams import two_normals

pytestmark = pytest.mark.usefixtures("close_figures")
MODULES = ["comparisons", "learning", "budget", "calibration", "regions", "support", "race",
           "importances", "metric"]  # fmt: skip
X, Y = two_normals(900, distance=2.0, random_state=0)
BLOCKS = [(X[first : first + 300], Y[first : first + 300]) for first in (0, 300, 600)]


@pytest.fixture
def digits():
    rows, y = load_digits(return_X_y=True)
    return rows[:600], y[:600]


def learner(**options):
    return KernelPAClassifier(gamma=0.5, random_state=0, **options)


@pytest.mark.parametrize("module", MODULES)
def test_docstrings(module):
    if module == "importances":
        pytest.importorskip("pandas")
    failed, tried = doctest.testmod(importlib.import_module(f"onlinekern.plotting.{module}"))
    assert failed == 0
    assert tried >= 5


def test_the_example_runs(tmp_path, capsys):
    script = Path(__file__).parents[1] / "examples" / "figures" / "displays.py"
    runpy.run_path(str(script))["main"](tmp_path / "o.png")
    assert capsys.readouterr().out.startswith("drifts found: [3")
    assert (tmp_path / "o.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize("data", [(X, Y), (BLOCKS,), (sparse.csr_matrix(X), Y)])
def test_learning_curve(data):
    known = {} if len(data) == 2 else {"classes": [-1, 1]}
    axes = pyplot.figure().subplots()
    display = PrequentialDisplay.from_stream(learner(), *data, window=150, ax=axes, **known)
    expected = prequential(learner(), BLOCKS, [-1, 1], window=150).curves
    assert display.ax_ is axes
    assert display.figure_ is axes.figure
    np.testing.assert_array_equal(display.line_.get_xdata(), expected["samples"])
    np.testing.assert_allclose(display.line_.get_ydata(), 100 * expected["window_error"])
    np.testing.assert_allclose(display.total_line_.get_ydata(), 100 * expected["error"])
    assert display.line_.get_label() == "KernelPAClassifier, last 150 samples"
    assert display.drift_lines_ is None


class Alarm:
    """Finds drift at some samples."""

    def __init__(self, at):
        self.at, self.n, self.drift_detected = at, 0, False

    def update(self, loss):
        self.n += 1
        self.drift_detected = self.n in self.at


def test_drifts_are_marked_and_plot_draws_again():
    display = PrequentialDisplay.from_stream(
        learner(), X, Y, window=100, detector=Alarm({250, 777}), name="mine", color="red"
    )
    marks = [segment[0, 0] for segment in display.drift_lines_.get_segments()]
    assert marks == [250, 777]
    assert display.line_.get_color() == "red"
    first = display.ax_
    other = display.plot(name="yours")
    assert other is display
    assert display.ax_ is not first
    assert display.line_.get_label() == "yours, last 100 samples"


def test_a_regression_has_root_mean_squared_errors():
    display = PrequentialDisplay.from_stream(KernelPARegressor(gamma=0.5), X, X[:, 0], window=300)
    assert display.ax_.get_ylabel() == "root mean squared error"
    assert display.total_line_.get_ydata()[-1] == display.result.error


def test_a_result_without_a_window_is_refused():
    with pytest.raises(ValueError, match="with a window"):
        PrequentialDisplay(prequential(learner(), BLOCKS, [-1, 1], window=None)).plot()


@pytest.mark.parametrize(
    ("data", "error", "message"),
    [
        ((X,), TypeError, "y may be None only if X is an iterable"),
        ((X, Y[:-1]), ValueError, "inconsistent numbers of samples"),
        ((BLOCKS,), ValueError, "classes must be given"),
        (([X],), TypeError, "must yield pairs"),
    ],
)
def test_samples_that_do_not_fit(data, error, message):
    known = {"classes": [-1, 1]} if message == "must yield pairs" else {}
    with pytest.raises(error, match=message):
        PrequentialDisplay.from_stream(learner(), *data, **known)


def test_budgets():
    model = BPAClassifier(gamma=0.5, random_state=0)
    display = BudgetDisplay.from_stream(model, X, Y, budgets=[40, 5, 15])
    expected = [
        prequential(BPAClassifier(gamma=0.5, random_state=0, budget=budget), [(X, Y)], [-1, 1])
        for budget in (5, 15, 40)
    ]
    np.testing.assert_array_equal(display.line_.get_xdata(), [5, 15, 40])
    np.testing.assert_allclose(display.line_.get_ydata(), [100 * one.error for one in expected])
    late = [100 * one.late_error for one in expected]
    np.testing.assert_allclose(display.late_line_.get_ydata(), late)
    assert not hasattr(model, "n_seen_")
    assert display.ax_.get_xlabel() == "budget"
    display.figure_.canvas.draw()
    assert [label.get_text() for label in display.ax_.get_xticklabels()] == ["5", "15", "40"]


def test_the_parameter_of_a_budget():
    pipeline = make_stream_pipeline(OnlineStandardScaler(), FOGDRegressor(gamma=0.5))
    display = BudgetDisplay.from_stream(pipeline, X, X[:, 0], budgets=[10, 20])
    assert display.parameter == "fogdregressor__n_components"
    assert display.ax_.get_xlabel() == "n_components"
    assert display.estimator_name == "FOGDRegressor"
    display = BudgetDisplay.from_stream(learner(), BLOCKS, budgets=[0.5, 1.0], parameter="C")
    assert display.ax_.get_xlabel() == "C"


@pytest.mark.parametrize(
    ("model", "data", "options", "error", "message"),
    [
        (learner(), (X, Y), {"budgets": []}, ValueError, "budgets must hold at least one"),
        (PAClassifier(), (X, Y), {"budgets": [1]}, ValueError, "PAClassifier has none of budget"),
        (learner(), (X, Y), {"budgets": [1], "parameter": "x"}, ValueError, "got 'x'"),
        (learner(), (iter(BLOCKS),), {"budgets": [1]}, TypeError, "X must be a list of blocks"),
    ],
)
def test_budgets_that_do_not_fit(model, data, options, error, message):
    with pytest.raises(error, match=message):
        BudgetDisplay.from_stream(model, *data, **options)


def test_calibration_is_of_probabilities_before_learning():
    display = PrequentialCalibrationDisplay.from_stream(learner(), X, Y, rows=90, n_bins=5)
    twin, found = learner(), []
    for first in range(0, 900, 90):
        if first:
            found.append(twin.predict_proba(X[first : first + 90])[:, 1])
        twin.partial_fit(X[first : first + 90], Y[first : first + 90], classes=[-1, 1])
    found = np.concatenate(found)
    np.testing.assert_array_equal(display.y_prob, found)
    bins = np.minimum((found * 5).astype(int), 4)
    filled = np.unique(bins)
    shares = [np.mean(Y[90:][bins == k] == 1) for k in filled]
    np.testing.assert_allclose(display.line_.get_ydata(), shares)
    assert display.ax_.get_ylabel() == "share of class 1"
    other = PrequentialCalibrationDisplay.from_stream(learner(), X, Y, rows=90, pos_label=-1)
    np.testing.assert_allclose(other.y_prob, 1 - found)


@pytest.mark.parametrize(
    ("model", "y", "options", "error", "message"),
    [
        (KernelPARegressor(), X[:, 0], {}, TypeError, "must have predict_proba"),
        (learner(), np.arange(900) % 3, {}, ValueError, "classes must be two"),
        (learner(), Y, {"pos_label": 7}, ValueError, "pos_label must be one of"),
        (learner(), Y, {"rows": 0}, ValueError, "rows must be an integer"),
        (learner(), Y, {"rows": 900}, ValueError, "more samples than the first rows"),
    ],
)
def test_calibrations_that_do_not_fit(model, y, options, error, message):
    with pytest.raises(error, match=message):
        PrequentialCalibrationDisplay.from_stream(model, X, y, **options)


def test_regions_and_support_vectors():
    model = learner().partial_fit(X, Y, classes=[-1, 1])
    display = DecisionRegionsDisplay.from_estimator(model, X, Y, grid_resolution=30)
    np.testing.assert_allclose(display.support_.get_offsets(), model.support_vectors_)
    np.testing.assert_allclose(display.samples_[1].get_offsets(), X[Y == 1])
    grid = np.c_[display.xx0.ravel(), display.xx1.ravel()]
    np.testing.assert_allclose(display.response.ravel(), model.decision_function(grid))
    room = 0.05 * np.ptp(X, axis=0).max()
    assert display.xx0.min() == pytest.approx(X[:, 0].min() - room)
    assert len(display.ax_.get_legend().get_texts()) == 2
    plain = DecisionRegionsDisplay.from_estimator(
        model, X, support=False, grid_resolution=5, response_method="predict"
    )
    assert plain.support_ is None
    assert plain.samples_ == []
    assert plain.ax_.get_legend() is None


def test_regions_of_three_classes_and_of_a_pipeline():
    y = np.where(X[:, 1] > 1, 2, Y)
    pipeline = make_stream_pipeline(OnlineStandardScaler(), learner())
    wide = X * [100, 0.01]
    pipeline.partial_fit(wide, y, classes=[-1, 1, 2])
    display = DecisionRegionsDisplay.from_estimator(pipeline, wide, y, grid_resolution=20)
    scaler, model = (step for _, step in pipeline.steps)
    expected = scaler.inverse_transform(model.support_vectors_)
    np.testing.assert_allclose(display.support_.get_offsets(), expected)
    assert len(display.samples_) == 3
    pipeline = make_stream_pipeline(Normalizer(), learner()).partial_fit(X, Y, classes=[-1, 1])
    with pytest.raises(ValueError, match="Normalizer has no inverse_transform"):
        DecisionRegionsDisplay.from_estimator(pipeline, X)
    linear = PAClassifier().partial_fit(X, Y, classes=[-1, 1])
    assert DecisionRegionsDisplay.from_estimator(linear, X, grid_resolution=5).support_ is None
    with pytest.raises(ValueError, match="2"):
        DecisionRegionsDisplay.from_estimator(linear, np.ones((5, 3)))


def test_support_vectors_as_images(digits):
    rows, y = digits
    model = SPAClassifier(gamma=0.001, random_state=0).partial_fit(rows, y, classes=range(10))
    display = SupportVectorsDisplay.from_estimator(model, shape=(8, 8), n=6)
    order = np.argsort(-np.abs(model.dual_coef_).max(axis=0), kind="stable")[:6]
    shown = np.array([image.get_array() for image in display.images_])
    np.testing.assert_array_equal(shown, model.support_vectors_[order].reshape(-1, 8, 8))
    for place, k in enumerate(order):
        output = np.abs(model.dual_coef_[:, k]).argmax()
        value = model.dual_coef_[output, k]
        label = f"{'not ' if value < 0 else ''}{output}: {value:+.2g}"
        assert display.texts_[place].get_text() == label
    display.figure_.canvas.draw()
    renderer = display.figure_.canvas.get_renderer()
    texts = [text.get_window_extent(renderer) for text in display.texts_]
    images = [image.get_window_extent(renderer) for image in display.images_]
    for place, box in enumerate(texts):
        others = [*texts[:place], *texts[place + 1 :], *images]
        assert not any(box.overlaps(other) for other in others)


def test_labels_of_two_classes_and_of_targets():
    model = learner().partial_fit(X, np.where(Y > 0, "$a$", "b"), classes=["$a$", "b"])
    display = SupportVectorsDisplay.from_estimator(model, shape=(1, 2), n=4)
    names = [text.get_text().partition(":")[0] for text in display.texts_]
    assert names == ["b" if value > 0 else "$a$" for value in display.coefficients]
    model = KernelPARegressor(gamma=0.5).partial_fit(X, X[:, 0])
    display = SupportVectorsDisplay.from_estimator(model, shape=(2, 1), n=10_000)
    assert len(display.images_) == model.n_support_
    assert display.labels == []


@pytest.mark.parametrize(
    ("model", "options", "error", "message"),
    [
        (learner(), {"shape": (1, 2)}, NotFittedError, "not fitted"),
        (PAClassifier().fit(X, Y), {"shape": (1, 2)}, TypeError, "PAClassifier, which has none"),
        (learner().fit(X, Y), {"shape": (2, 2)}, ValueError, "of 2 features, got \\(2, 2\\)"),
        (learner().fit(X, Y), {"shape": (1, 2), "n": 0}, ValueError, "n must be an integer"),
    ],
)
def test_support_vectors_that_do_not_fit(model, options, error, message):
    with pytest.raises(error, match=message):
        SupportVectorsDisplay.from_estimator(model, **options)


def test_the_race(tmp_path):
    display = RaceDisplay.from_stream(StreamClassifier(time_budget=10), BLOCKS)
    report = display.report
    order = report.weights.mean(axis=0).argsort()[::-1]
    bottom = np.zeros(len(report.samples))
    for area, k in zip(display.areas_, order, strict=True):
        found = area.get_data()
        np.testing.assert_allclose(found.values - found.baseline, report.weights[:, k])
        np.testing.assert_allclose(found.baseline, bottom)
        assert area.get_label() == report.experts[k].name
        bottom = found.values
    np.testing.assert_allclose(bottom, 1)
    looks = [(area.get_facecolor(), area.get_hatch()) for area in display.areas_]
    assert len(set(looks)) == len(looks)
    shown = [text.get_text() for text in display.legend_.get_texts()]
    assert shown == [area.get_label() for area in display.areas_[::-1]]
    plot_race(report, tmp_path / "o.svg")
    again = RaceDisplay.from_estimator(StreamRegressor(time_budget=10).partial_fit(X, X[:, 0]))
    assert len(again.areas_) == len(again.report.experts)


def test_a_report_reaches_the_last_sample():
    for n in (100, 256, 300):
        report = StreamClassifier(random_state=0).partial_fit(X[:n], Y[:n]).report()
        assert report.samples[-1] == report.n_seen == n
        assert report.weights[-1].tolist() == [expert.weight for expert in report.experts]
        assert sum(expert.led for expert in report.experts) == pytest.approx(1)
        assert report.leaders[-1][1] == n
        assert len(RaceDisplay(report).plot().areas_) == len(report.experts)


def test_races_that_are_none():
    with pytest.raises(TypeError, match="got PAClassifier"):
        RaceDisplay.from_stream(PAClassifier(), X, Y)
    with pytest.raises(NotFittedError):
        RaceDisplay.from_estimator(StreamClassifier())
    nothing = StreamClassifier().partial_fit(X[:100], Y[:100], sample_weight=np.zeros(100))
    with pytest.raises(ValueError, match="no weights"):
        RaceDisplay.from_estimator(nothing)


def importances_of(display):
    """Return label -> length of the bars, from the top on."""
    labels = [label.get_text() for label in display.ax_.get_yticklabels()]
    return dict(zip(labels, [bar.get_width() for bar in display.bars_], strict=True))


def test_importances_are_bars_with_names():
    rows = np.random.default_rng(0).normal(size=(300, 6))
    y = np.sin(3 * rows[:, 4]) + 0.5 * rows[:, 1] > 0
    model = KernelForestClassifier(n_trees=5, random_state=0).fit(rows, y)
    importances = model.feature_importances_
    found = importances_of(ImportanceDisplay.from_estimator(model))
    assert next(iter(found)) == "feature 4"
    assert list(found.values()) == sorted(importances, reverse=True)
    assert found["feature 1"] == importances[1]
    named = ImportanceDisplay.from_estimator(model, n=2, feature_names=list("abcdef"), alpha=0.5)
    assert list(importances_of(named)) == ["e", "b", "4 others"]
    assert importances_of(named)["4 others"] == pytest.approx(importances[[0, 2, 3, 5]].sum())
    assert named.bars_[0].get_alpha() == 0.5
    ax = pyplot.figure().subplots()
    assert named.plot(ax).ax_ is ax
    few = ImportanceDisplay(np.array([0.1, 0.9]), ["a", "$b$"], 1).plot()
    assert list(importances_of(few)) == ["$b$", "1 other"]


def test_importances_of_a_step_of_a_pipeline():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(np.random.default_rng(0).normal(size=(300, 3)), columns=list("xyz"))
    y = frame["y"] > 0
    forest = KernelForestClassifier(n_trees=5, random_state=0)
    behind = make_stream_pipeline(OnlineStandardScaler(), forest).fit(frame, y)
    assert next(iter(importances_of(ImportanceDisplay.from_estimator(behind)))) == "y"
    cells = make_stream_pipeline(PartitionFeatures(n_trees=5, random_state=0), PAClassifier())
    assert next(iter(importances_of(ImportanceDisplay.from_estimator(cells.fit(frame, y))))) == "y"
    others = RandomForestClassifier(n_estimators=5, random_state=0).fit(frame, y)
    assert next(iter(importances_of(ImportanceDisplay.from_estimator(others)))) == "y"


def test_models_without_importances_are_named():
    model = PAClassifier().fit(X, Y)
    with pytest.raises(TypeError, match="got PAClassifier, which has none"):
        ImportanceDisplay.from_estimator(model)
    with pytest.raises(NotFittedError):
        ImportanceDisplay.from_estimator(KernelForestClassifier())
    forest = KernelForestClassifier(n_trees=3, random_state=0).fit(X, Y)
    with pytest.raises(ValueError, match="those of 2 features, got 3"):
        ImportanceDisplay.from_estimator(forest, feature_names=list("abc"))
    with pytest.raises(ValueError, match="n must be"):
        ImportanceDisplay.from_estimator(forest, n=0)


# Metrics


def rows_of_use(n=600):
    """Return rows of which the second and the last feature matter, and targets."""
    rows = np.random.default_rng(0).standard_normal((n, 4))
    return rows, np.sin(2 * rows[:, 1]) + rows[:, 3]


def names_in(axis):
    return [label.get_text() for label in axis.get_ticklabels()]


@pytest.mark.parametrize("metric", ["diagonal", "full"])
def test_bars_are_importances(metric):
    model = KernelRLSRegressor(metric=metric, random_state=0).fit(*rows_of_use())
    display = MetricDisplay.from_estimator(model, n=3, color="red")
    order = np.argsort(-model.feature_importances_)
    np.testing.assert_array_equal(display.shown, order[:3])
    widths = [bar.get_width() for bar in display.bars_]
    np.testing.assert_array_equal(widths, model.feature_importances_[order])
    assert names_in(display.ax_.yaxis) == [*(f"feature {j}" for j in order[:3]), "1 other"]
    assert display.bars_[0].get_facecolor() == matplotlib.colors.to_rgba("red")


def test_a_matrix_is_the_metric():
    model = KernelRLSRegressor(metric="full", random_state=0).fit(*rows_of_use())
    _, ax = pyplot.subplots()
    display = MetricDisplay.from_estimator(model, kind="matrix", n=2, ax=ax)
    assert display.ax_ is ax
    assert set(display.shown) == {1, 3}
    shown = model.metric_[np.ix_([1, 3], [1, 3])]
    np.testing.assert_array_equal(display.image_.get_array(), shown)
    assert display.image_.get_clim() == (-shown.max(), shown.max())
    assert names_in(ax.xaxis) == names_in(ax.yaxis) == ["feature 1", "feature 3"]


def test_names_of_features():
    pandas = pytest.importorskip("pandas")
    rows, y = rows_of_use()
    table = pandas.DataFrame(rows, columns=["a", "b", "c", "d"])
    model = KernelRLSRegressor(metric="diagonal", random_state=0).fit(table, y)
    display = MetricDisplay.from_estimator(model)
    assert sorted(names_in(display.ax_.yaxis)[:2]) == ["b", "d"]
    given = MetricDisplay.from_estimator(model, feature_names="wxyz")
    assert sorted(names_in(given.ax_.yaxis)[:2]) == ["x", "z"]
    table["kind"] = np.where(rows[:, 0] > 0, "up", "down")
    learner = KernelRLSRegressor(metric="diagonal", random_state=0)
    model = make_stream_pipeline(TableEncoder(), OnlineStandardScaler(), learner).fit(table, y)
    names = names_in(MetricDisplay.from_estimator(model).ax_.yaxis)
    assert sorted(names[:2]) == ["b", "d"]
    assert {"kind=up", "kind=down"} < set(names)
    # Normalizer names what it makes x0, x1, ...
    unnamed = make_stream_pipeline(Normalizer(), learner).fit(rows, y)
    assert set(names_in(MetricDisplay.from_estimator(unnamed).ax_.yaxis)) == {
        "x0",
        "x1",
        "x2",
        "x3",
    }


def test_what_has_no_metric_is_refused():
    rows, y = rows_of_use()
    plain = KernelRLSRegressor(random_state=0)
    with pytest.raises(NotFittedError):
        MetricDisplay.from_estimator(plain)
    with pytest.raises(TypeError, match=r"must have feature_importances_.*KernelRLSRegressor"):
        MetricDisplay.from_estimator(plain.fit(rows, y))
    model = KernelRLSRegressor(metric="diagonal", random_state=0).fit(rows, y)
    with pytest.raises(TypeError, match="a matrix can be drawn of metric='full' only"):
        MetricDisplay.from_estimator(model, kind="matrix")
    with pytest.raises(ValueError, match="kind must be 'bars' or 'matrix', got 'pie'"):
        MetricDisplay.from_estimator(model, kind="pie")
    with pytest.raises(ValueError, match="those of 4 features, got 1"):
        MetricDisplay.from_estimator(model, feature_names=["a"])
    with pytest.raises(ValueError, match="n must be"):
        MetricDisplay.from_estimator(model, n=0)
    forest = KernelForestRegressor(n_trees=4, random_state=0).fit(rows, y)
    assert len(MetricDisplay.from_estimator(forest).bars_) == 4
