"""Curves that grow while a stream runs: the hook of `prequential`, and what it moves."""

import textwrap

import numpy as np
import pytest

pytest.importorskip("matplotlib")

from matplotlib import pyplot

from onlinekern import KernelPAClassifier
from onlinekern.drift import LossDetector
from onlinekern.evaluate import prequential
from onlinekern.plotting import PrequentialDisplay, live
from onlinekern.streams import gaussian_mixture

X, Y = gaussian_mixture(2000, random_state=0)
Y = np.where(np.arange(2000) < 1200, Y, -Y)
pytestmark = pytest.mark.usefixtures("close_figures")
BLOCKS = [(X[k : k + 700], Y[k : k + 700]) for k in range(0, 2000, 700)]


def learner():
    return KernelPAClassifier(gamma=0.4, random_state=0)


def equal(result, other):
    for name, values in other.curves.items():
        np.testing.assert_array_equal(result.curves[name], values)
    np.testing.assert_array_equal(result.drifts, other.drifts)
    assert result.mistakes == other.mistakes


def test_watch_sees_each_point_as_it_comes():
    seen = []
    result = prequential(learner(), BLOCKS, [-1, 1], window=300, watch=seen.append)
    assert [one.n_samples for one in seen] == [300, 600, 900, 1200, 1500, 1800]
    assert all(one.curves["samples"][-1] == one.n_samples for one in seen)
    np.testing.assert_array_equal(seen[-1].curves["error"], result.curves["error"][:6])
    equal(result, prequential(learner(), BLOCKS, [-1, 1], window=300))


def test_watch_leaves_a_batch_learner_alone():
    """A result on the way fits nothing: the batch learner is refitted as without `watch`."""
    from sklearn.linear_model import LogisticRegression

    class Counted(LogisticRegression):
        fits = 0

        def fit(self, X, y):
            type(self).fits += 1
            return super().fit(X, y)

    found = []
    for watch in (None, lambda result: None):
        Counted.fits = 0
        result = prequential(Counted(), BLOCKS, [-1, 1], window=100, watch=watch)
        found.append((Counted.fits, result.mistakes))
    assert found[0] == found[1]


def test_watch_needs_something_to_see():
    with pytest.raises(ValueError, match="watch needs a window"):
        prequential(learner(), BLOCKS, [-1, 1], window=None, watch=print)
    seen = []
    prequential(learner(), BLOCKS, [-1, 1], window=None, fading=0.99, watch=seen.append)
    assert [one.n_samples for one in seen] == [1000, 2000]


def test_watch_may_stop_a_run():
    def stop(result):
        if result.n_samples >= 600:
            raise RuntimeError("enough")

    model = learner()
    with pytest.raises(RuntimeError, match="enough"):
        prequential(model, BLOCKS, [-1, 1], window=300, watch=stop)
    assert model.n_seen_ == 600


def test_update_moves_the_curves():
    results = []
    arguments = {"window": 200, "detector": LossDetector()}
    last = prequential(learner(), BLOCKS, [-1, 1], watch=results.append, **arguments)
    assert len(last.drifts) > 0
    assert len(results[1].drifts) == 0
    display = PrequentialDisplay(results[1], window=200).plot()
    axes, line = display.ax_, display.line_
    assert display.update(last) is display
    whole = PrequentialDisplay(last, window=200).plot()
    assert display.line_ is line
    for one, other in ((display.line_, whole.line_), (display.total_line_, whole.total_line_)):
        np.testing.assert_array_equal(one.get_data(), other.get_data())
    assert len(display.drift_lines_.get_segments()) == len(last.drifts)
    assert axes.get_xlim()[1] >= 2000
    assert axes.get_ylim()[0] == 0
    assert axes.get_ylim()[1] >= max(display.line_.get_ydata())
    with pytest.raises(ValueError, match="plot before update"):
        PrequentialDisplay(last).update(last)


def test_a_window_grows(monkeypatch):
    """Where there is a window, each point is drawn, and the last picture is that of all."""
    lengths = []

    def seen(self, figure, draw):
        self.figure, self.draw, self.is_seen, self.is_picture = figure, draw, True, False
        self.drawn_at, self.wait = -float("inf"), 0.0

    def show(self):
        self.figure.canvas.draw()
        lengths.append(len(self.figure.axes[0].lines[0].get_xdata()))

    monkeypatch.setattr(live.Live, "__init__", seen)
    monkeypatch.setattr(live.Live, "show", show)
    monkeypatch.setattr(live, "SECONDS", 0.0)
    monkeypatch.setattr(live, "SHARE", float("inf"))
    axes = pyplot.figure().subplots()
    display = PrequentialDisplay.from_stream(
        learner(), BLOCKS, classes=[-1, 1], window=300, live=True, ax=axes
    )
    assert lengths == [1, 2, 3, 4, 5, 6, 7]
    assert display.ax_ is axes
    assert len(axes.lines) == 2
    equal(display.result, prequential(learner(), BLOCKS, [-1, 1], window=300))


def test_without_a_window_nothing_is_drawn_on_the_way(monkeypatch):
    drawn = []
    original = PrequentialDisplay.plot

    def plot(self, *args, **kwargs):
        drawn.append(self.result.n_samples)
        return original(self, *args, **kwargs)

    monkeypatch.setattr(PrequentialDisplay, "plot", plot)
    display = PrequentialDisplay.from_stream(learner(), X, Y, window=300, live=True, color="red")
    assert drawn == [2000]
    assert display.line_.get_color() == "red"


def test_a_notebook_shows_one_picture_that_changes():
    nbformat = pytest.importorskip("nbformat")
    client = pytest.importorskip("nbclient")
    pytest.importorskip("ipykernel")
    source = """
    from onlinekern import KernelPAClassifier
    from onlinekern.plotting import PrequentialDisplay
    from onlinekern.streams import gaussian_mixture
    X, y = gaussian_mixture(20000, 0)
    shown = PrequentialDisplay.from_stream(KernelPAClassifier(gamma=0.4), X, y, live=True)
    """
    book = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(textwrap.dedent(source))])
    updates = []

    class Client(client.NotebookClient):
        def process_message(self, message, *arguments, **named):
            updates.append(message["msg_type"])
            return super().process_message(message, *arguments, **named)

    Client(book, timeout=120, kernel_name="python3").execute()
    (picture,) = book.cells[0].outputs
    assert len(picture["data"]["image/png"]) > 1000
    assert updates.count("update_display_data") >= 1
