"""Pictures: what is drawn is what was found, labels lie apart, and no two curves look alike."""

import numpy as np
import pytest
from interpreters import python

pytest.importorskip("matplotlib")

import matplotlib

matplotlib.use("Agg")
from matplotlib import pyplot
from matplotlib.text import Text
from sklearn.base import BaseEstimator

from onlinekern import plotting
from onlinekern.evaluate import compare
from onlinekern.plotting.labels import End, EndLabels, spread
from onlinekern.plotting.style import style_of
from onlinekern.streams import Source, gaussian_mixture

pytestmark = pytest.mark.usefixtures("close_figures")
NAMES = "perceptron,ogd,pegasos,pa1,pa2,bpa,bogd,spa,linear-pa1,arow,fogd,nogd,scw1,linear-ogd"


@pytest.fixture(scope="module")
def comparison():
    """Fourteen methods and two baselines on a short stream."""
    with Source.from_arrays(*gaussian_mixture(600, random_state=0), name="a$b$c") as source:
        return compare(NAMES, source, shuffle=False, gamma=0.4, settings={"budget": 40}, window=200)


def overlaps(texts, figure):
    """Return the pairs of texts that lie on each other."""
    renderer = figure.canvas.get_renderer()
    # Of a note, the text alone: lines lead from the labels to the curves.
    boxes = [(text.get_text(), Text.get_window_extent(text, renderer)) for text in texts]
    return [(a, b) for i, (a, x) in enumerate(boxes) for b, y in boxes[:i] if x.overlaps(y)]


def drawn(function, comparison, **options):
    """Return axes with one panel of a comparison, drawn."""
    figure, axes = pyplot.subplots(layout="constrained", **options)
    function(comparison, axes)
    figure.canvas.draw()
    return axes


@pytest.mark.parametrize("name", ["plot_errors", "plot_window", "plot_supports"])
def test_labels_at_the_ends_lie_apart(comparison, name):
    axes = drawn(getattr(plotting, name), comparison)
    notes = [text for text in axes.texts if hasattr(text, "arrow_patch")]
    assert len(notes) >= 7
    assert overlaps(notes, axes.figure) == []
    frame = axes.get_window_extent()
    for note in notes:
        assert Text.get_window_extent(note).x0 > frame.x1
    # Another size, other places: they are found when the figure is drawn.
    axes.figure.set_size_inches(8, 3.2)
    axes.figure.canvas.draw()
    assert overlaps(notes, axes.figure) == []


def test_the_check_of_overlaps_finds_one():
    figure, axes = pyplot.subplots()
    texts = [axes.text(0.5, y, "x") for y in (0.5, 0.501, 0.9)]
    figure.canvas.draw()
    assert overlaps(texts, figure) == [("x", "x")]


@pytest.mark.parametrize("name", ["plot_errors", "plot_supports"])
def test_no_two_curves_look_alike(comparison, name):
    axes = drawn(getattr(plotting, name), comparison)
    looks = [(line.get_color(), str(line._dash_pattern)) for line in axes.lines]
    assert len(set(looks)) == len(looks) >= 7


def test_styles_of_many_curves():
    styles = [style_of(place) for place in range(384)]
    assert len({(s["color"], str(s["linestyle"]), s["marker"]) for s in styles}) == 384
    assert len({(s["color"], str(s["linestyle"])) for s in styles[:48]}) == 48
    assert {s["marker"] for s in styles[:48]} == {""}


def test_curves_are_those_of_the_comparison(comparison):
    axes = drawn(plotting.plot_errors, comparison)
    curves = {note.get_text().split("  ")[0]: note for note in axes.texts}
    best = min(comparison.methods, key=lambda result: result.errors[0])
    for result in comparison.methods[:-2]:
        note = curves[result.label]
        assert note.xy[1] == pytest.approx(100 * result.runs[0].error)
        assert note.get_text().endswith(f"{100 * result.runs[0].error:.2f}")
        assert (note.get_fontweight() == "bold") == (result.errors[0] <= best.errors[0])
    assert axes.get_title() == "a$b$c: mistakes so far"


def test_baselines_far_above_are_named(comparison):
    axes = drawn(plotting.plot_errors, comparison)
    (above,) = [text for text in axes.texts if text.get_text().startswith("above: ")]
    assert "no change" in above.get_text()
    assert axes.get_ylim()[1] < 100 * comparison.methods[-2].runs[0].error


@pytest.mark.parametrize(
    ("wanted", "expected"),
    [
        ([0.2, 0.5, 0.9], [0.2, 0.5, 0.9]),
        ([0.5, 0.5], [0.45, 0.55]),
        ([0.95, 0.1, 1.0], [0.9, 0.1, 1.0]),
        ([0.0, 0.02], [0.0, 0.1]),
        ([5.0, 5.0, 5.0], [0.8, 0.9, 1.0]),
    ],
)
def test_spread(wanted, expected):
    np.testing.assert_allclose(spread(wanted, 0.1, 0.0, 1.0), expected, atol=1e-12)


def test_more_labels_than_there_is_room_for_stay_apart():
    found = spread(np.zeros(30), 0.1, 0.0, 1.0)
    np.testing.assert_allclose(np.diff(found), 0.1)


def test_labels_are_plain_text():
    figure, axes = pyplot.subplots()
    EndLabels(axes, [End(0.5, 0.5, "$\\nonsense$ {", style_of(0))])
    figure.canvas.draw()
    drawn = {text.get_text() for text in figure.findobj(Text)}
    assert "$\\nonsense$ {" in drawn


class Fixed(BaseEstimator):
    """Answers 0."""

    def partial_fit_predict(self, X, y):
        return np.zeros(len(y))


def test_a_regression_and_a_model_that_diverges(tmp_path):
    class Diverges(Fixed):
        def partial_fit_predict(self, X, y):
            return np.full(len(y), np.inf)

    y = np.random.default_rng(0).standard_normal(300)
    with Source.from_arrays(np.zeros((300, 1)), y) as source:
        found = compare({"fixed": Fixed(), "off": Diverges()}, source, repeats=1)
    axes = drawn(plotting.plot_errors, found)
    assert any(note.get_text().startswith("fixed") for note in axes.texts)
    assert axes.get_ylabel() == "root mean squared error"
    plotting.plot_comparisons([found], tmp_path / "o.png")


def test_a_single_point_is_a_dot():
    with Source.from_arrays(*gaussian_mixture(200, random_state=0)) as source:
        found = compare("spa,pa1", source, shuffle=False, gamma=0.4, settings={"C": 1, "eta": 1})
    axes = drawn(plotting.plot_window, found)
    assert [line.get_marker() for line in axes.lines] == ["o"] * len(axes.lines)
    assert all(len(line.get_xdata()) == 1 for line in axes.lines)


def test_public_names():
    assert set(plotting.__all__) <= set(dir(plotting))
    for name in plotting.__all__:
        assert getattr(plotting, name) is not None
    with pytest.raises(AttributeError, match="Gone"):
        plotting.Gone  # noqa: B018


def test_without_matplotlib_the_extra_is_named():
    code = (
        "import sys; sys.modules['matplotlib'] = None\n"
        "from onlinekern import StreamClassifier, plotting\n"
        "for call in (\n"
        "    lambda: plotting.PrequentialDisplay.from_stream(None, [], None),\n"
        "    lambda: plotting.BudgetDisplay.from_stream(None, [], None, budgets=[1]),\n"
        "    lambda: plotting.PrequentialCalibrationDisplay.from_stream(None, []),\n"
        "    lambda: plotting.DecisionRegionsDisplay.from_estimator(None, []),\n"
        "    lambda: plotting.SupportVectorsDisplay([[[1]]], [1], []).plot(),\n"
        "    lambda: plotting.RaceDisplay.from_stream(StreamClassifier(), []),\n"
        "):\n"
        "    try:\n        call()\n"
        "    except ImportError as error:\n        print(error)\n"
    )
    done = python(code)
    lines = done.stdout.splitlines()
    assert len(lines) == 6, done.stderr
    assert all("needs matplotlib: pip install 'onlinekern[cli]'" in line for line in lines)
