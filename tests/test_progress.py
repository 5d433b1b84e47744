"""`verbose`: what a long fit shows in a log, on a terminal and in a notebook."""

import io
import textwrap

import numpy as np
import pytest
from interpreters import python
from sklearn.base import is_classifier, is_outlier_detector
from states import difference, state_of

import onlinekern
from onlinekern import KernelPAClassifier, OLLAClassifier, PAClassifier, SPARegressor
from onlinekern.estimators import progress

# The linear PA prints its passes, as scikit-learn's does (test_linear_pa.py).
SHOWING = [
    (name, cls)
    for name, cls in onlinekern.all_estimators()
    if "verbose" in cls().get_params() and name not in ("PAClassifier", "PARegressor")
]
SMALL = {"budget": 20, "gamma": 0.4, "n_trees": 8, "memory": 64}
# Each sample brings a line; with seven in a part, parts end in the middle of everything.
PART = 7


def built(cls, **parameters):
    known = cls().get_params()
    given = {"random_state": 0, **SMALL, **parameters}
    return cls(**{name: value for name, value in given.items() if name in known})


@pytest.fixture
def small_parts(monkeypatch):
    monkeypatch.setattr(progress, "FIRST_PART", PART)
    monkeypatch.setattr(progress, "SECONDS_OF_A_PART", 0.0)


def samples_for(cls, stream):
    model = cls()
    if is_outlier_detector(model):
        return stream("binary")[0], None
    return stream("binary" if is_classifier(model) else "regression")


def test_every_learner_has_it():
    names = {name for name, _ in onlinekern.all_estimators()}
    assert names - {name for name, _ in SHOWING} == {"PAClassifier", "PARegressor"}


@pytest.mark.parametrize(("name", "cls"), SHOWING)
@pytest.mark.parametrize("n_epochs", [1, 2])
def test_it_changes_no_bit(name, cls, n_epochs, stream, small_parts, capsys):
    X, y = samples_for(cls, stream)
    silent = built(cls, n_epochs=n_epochs).fit(X, y)
    assert capsys.readouterr() == ("", "")
    telling = built(cls, n_epochs=n_epochs, verbose=1).fit(X, y)
    out, err = capsys.readouterr()
    assert out == ""
    assert f"{name}: " in err
    assert len(err.splitlines()) <= progress.LINES
    telling.verbose = 0
    found = difference(state_of(telling), state_of(silent))
    # Costs of experts are times.
    assert found is None or "cost" in found


def test_a_log_gets_lines_that_end(stream, small_parts, capsys):
    X, y = stream("binary", n=700)
    model = KernelPAClassifier(verbose=True).fit(X, y)
    lines = capsys.readouterr().err.splitlines()
    assert 5 <= len(lines) <= progress.LINES
    assert lines[-1].startswith("KernelPAClassifier: 700 of 700 samples, ")
    assert lines[-1].endswith(f"{model.n_mistakes_ / 700:.1%} mistakes so far")
    SPARegressor(verbose=1, n_epochs=2).fit(X, X[:, 0])
    assert "1,400 of 1,400 samples" in (last := capsys.readouterr().err.splitlines()[-1])
    assert "mean loss" in last


@pytest.mark.parametrize(
    ("parameters", "unit"), [({"solver": "smo"}, "machines"), ({"solver": "sgd"}, "samples")]
)
def test_batch_machines_count_what_they_do(parameters, unit, stream, capsys):
    if parameters["solver"] not in ("smo",):
        parameters = {"n_epochs": 3, "tol": 0.0}
    X, y = stream("ovr")
    OLLAClassifier(verbose=1, **parameters).fit(X, y)
    assert f" of {3 if unit == 'machines' else 270} {unit}" in capsys.readouterr().err


def test_it_is_checked():
    with pytest.raises(ValueError, match="verbose"):
        KernelPAClassifier(verbose="loud").fit([[0.0], [1.0]], [0, 1])
    with pytest.raises(ValueError, match="verbose"):
        PAClassifier(verbose=-1).fit([[0.0], [1.0]], [0, 1])


def test_a_failed_fit_ends_the_bar_and_changes_nothing(stream, small_parts, monkeypatch):
    X, y = stream("binary")
    model = KernelPAClassifier(random_state=0).fit(X, y)
    before = state_of(model)
    ended = []

    def stop(done, total, text):
        if done:
            raise KeyboardInterrupt

    class Place:
        def __enter__(self):
            return stop

        def __exit__(self, *_):
            ended.append(True)

    monkeypatch.setattr(progress, "place_to_show", Place)
    model.verbose = 1
    with pytest.raises(KeyboardInterrupt):
        model.fit(X, y)
    model.verbose = 0
    assert ended
    assert difference(state_of(model), before) is None


def test_a_terminal_gets_a_bar(monkeypatch):
    from rich.console import Console

    stream = io.StringIO()
    console = Console(file=stream, force_terminal=True, width=100, color_system=None)
    monkeypatch.setattr(progress, "terminal", lambda: console)
    X = np.arange(600.0)[:, None] % 7
    KernelPAClassifier(verbose=1).fit(X, X[:, 0] > 3)
    assert "KernelPAClassifier: 600 of 600 samples" in stream.getvalue()
    assert "━" in stream.getvalue()


def run(code):
    done = python(textwrap.dedent(code), timeout=120, check=True)
    return done.stdout + done.stderr


def test_nothing_is_imported_unless_it_shows():
    code = """
        import sys
        from onlinekern import KernelPAClassifier
        KernelPAClassifier(verbose={}).fit([[0.0], [1.0]], [0, 1])
        print(sorted({{"rich", "IPython"}} & {{*sys.modules}}))
    """
    assert run(code.format(0)) == "[]\n"
    # Standard error is no terminal here.
    assert "2 of 2 samples" in (text := run(code.format(1)))
    assert "[]" in text


def test_a_notebook_gets_a_bar_below_its_cell():
    nbformat = pytest.importorskip("nbformat")
    client = pytest.importorskip("nbclient")
    pytest.importorskip("ipykernel")
    source = """
    from onlinekern import KernelPAClassifier
    from onlinekern.streams import gaussian_mixture
    KernelPAClassifier(verbose=1, gamma=0.4).fit(*gaussian_mixture(3000, 0)).n_seen_
    """
    book = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(textwrap.dedent(source))])
    client.NotebookClient(book, timeout=120, kernel_name="python3").execute()
    bar, result = book.cells[0].outputs
    assert "KernelPAClassifier: 3,000 of 3,000 samples" in bar["data"]["text/html"]
    assert '<progress value="3000" max="3000">' in bar["data"]["text/html"]
    assert result["data"]["text/plain"] == "3000"
