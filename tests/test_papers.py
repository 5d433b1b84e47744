"""The papers' tables of the benchmarks: every row learns, on synthetic stand-ins for the data.

Otherwise only a long run would find a broken row, and not every machine has the data sets.
"""

import importlib.util
import lzma
import sys
from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import dump_svmlight_file

PAPERS = Path(__file__).parents[1] / "benchmarks" / "papers"
sys.path.insert(0, str(PAPERS))
try:
    import choose
    import datasets
    from protocols import cross_validated, online
    from rows import TABLES
finally:
    sys.path.remove(str(PAPERS))

ROWS = [
    pytest.param(row, id=f"{table}-{row.data}-{row.learner}")
    for table, rows in TABLES.items()
    for row in rows
]
N_SAMPLES = 120
MANY_CLASSES = ("usps", "mnist ", "satimage", "shuttle")


def stand_in(name, n=N_SAMPLES, d=6):
    """Return a small set in the form of the named one: (X, y), or with a test part."""
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, size=(n, d))
    y = np.where(X[:, 0] + X[:, 1] ** 2 > 0.3, 1.0, -1.0)
    if name.startswith(MANY_CLASSES) and "0/1" not in name:
        y = np.arange(n) % 3.0
        X[:, 0] += 3 * y
    return (X, y, X, y) if name.endswith("split") else (X, y)


class StandIns:
    """Replaces a folder of data sets."""

    def __init__(self, path):
        self.get = stand_in


@pytest.mark.parametrize("row", ROWS)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_a_row_learns(row):
    assert row.data in datasets.SETS
    error, spent, size = row.protocol(row.build, stand_in(row.data), 0)
    assert 0 <= error < 60
    assert spent >= 0
    assert size is None or 0 <= size <= N_SAMPLES


@pytest.mark.parametrize("row", [row for row in ROWS if row.values[0].grid])
def test_what_a_row_has_was_tried(row):
    for name, values in row.grid.items():
        assert row.parameters[name] in values


def test_rows_are_told_apart():
    for rows in TABLES.values():
        names = [(row.data, row.learner) for row in rows]
        assert len(names) == len(set(names))


def test_a_regularisation_is_divided_by_the_stream():
    row = next(row for row in TABLES["B"] if row.learner == "DualSGD hinge")
    assert row.build(100).reg == 0.02
    assert row.with_parameters({"reg_per_stream": 5}).build(100).reg == 0.05


def test_an_order_is_one_of_the_seed():
    row = next(row for row in TABLES["A"] if row.learner == "Perceptron")
    data = stand_in(row.data)
    first, again, other = (online(row.build, data, seed)[0] for seed in (0, 0, 1))
    assert first == again
    assert first != other


@pytest.fixture
def folder(tmp_path):
    """Return a folder of two small data sets as LIBSVM files."""
    rng = np.random.default_rng(0)
    for name, n_features in (("usps", 256), ("ijcnn1", 22)):
        for part, n in (("train", 20), ("test", 10)):
            path = tmp_path / f"{name}.{part}.libsvm"
            X = rng.uniform(-1, 1, size=(n, n_features))
            dump_svmlight_file(X, np.arange(n) % 2, str(path), zero_based=False)
            (tmp_path / f"{path.name}.xz").write_bytes(lzma.compress(path.read_bytes()))
    return datasets.Folder(tmp_path)


def test_sets_are_read_and_scaled(folder):
    X, y, X_test, y_test = folder.get("usps unit, split")
    assert (len(y), len(y_test)) == (20, 10)
    np.testing.assert_allclose(np.linalg.norm(np.vstack([X, X_test]), axis=1), 1)
    assert X.min() >= 0
    X, _, X_test, _ = folder.get("ijcnn1 standard, split")
    np.testing.assert_allclose(X.mean(axis=0), 0, atol=1e-12)
    np.testing.assert_allclose(X.std(axis=0), 1)
    assert np.abs(X_test.mean(axis=0)).max() > 0.01
    X, y = folder.get("ijcnn1 142k")
    assert X.shape == (30, 22)
    assert folder.get("ijcnn1 142k")[0] is X


@pytest.fixture
def run(monkeypatch, capsys):
    """Run the `main` of a benchmark module on the stand-ins; return its output."""

    def call(module, *arguments):
        monkeypatch.setattr(module, "Folder", StandIns)
        monkeypatch.setattr(sys, "argv", [module.__name__, *arguments, "--data", "."])
        module.main()
        return capsys.readouterr().out

    return call


@pytest.fixture
def papers(monkeypatch):
    """Return the program that prints the tables."""
    monkeypatch.syspath_prepend(str(PAPERS))
    spec = importlib.util.spec_from_file_location("papers", PAPERS / "__main__.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_a_table_is_printed(papers, run):
    lines = run(papers, "A", "--repeats", "2", "--only", "a9a RBP").splitlines()
    assert len(lines) == 2
    assert lines[1].split()[:2] == ["a9a", "RBP"]
    assert lines[1].split()[5:7] == ["21.7", "21.17"]


def test_the_row_s_setting_is_among_the_best_printed(run):
    printed = run(choose, "B", "--only", "cod-rna all FOGD").splitlines()
    assert printed[0].startswith("cod-rna all, FOGD")
    errors = [float(line.split()[0]) for line in printed[1:]]
    assert len(errors) in (3, 4)
    assert errors == sorted(errors)
    assert sum("the row's" in line for line in printed) == 1


def test_a_set_without_a_file_has_no_data(papers, run, monkeypatch, tmp_path):
    monkeypatch.setattr(sys.modules[__name__], "StandIns", lambda path: datasets.Folder(tmp_path))
    lines = run(papers, "A3", "--only", "w7a, split SPA").splitlines()
    assert len(lines) == 3
    assert all(line.endswith("no data") for line in lines[1:])


def test_features_are_scaled_to_the_cube_of_the_training_rows():
    X, X_test = datasets.cube(np.array([[0.0], [4.0]]), np.array([[1.0], [6.0]]))
    np.testing.assert_allclose(X, [[-1], [1]])
    np.testing.assert_allclose(X_test, [[-0.5], [2]])


class Constant:
    """Predicts the positive class; its size is the number of rows of each class that it learnt."""

    def set_params(self, random_state):
        return self

    def fit(self, X, y):
        self.n_support_ = np.array([np.sum(y < 0), np.sum(y > 0)])

    def predict(self, X):
        return np.ones(len(X))


def test_cross_validation_takes_each_row_once():
    y = np.repeat([-1.0, 1.0], [10, 40])
    error, _, size = cross_validated(lambda n: Constant(), (np.zeros((50, 2)), y), 0)
    assert error == pytest.approx(20)
    assert size == 40
