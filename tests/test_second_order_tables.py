"""The benchmarks' tables of kernel least squares: every learner learns, on stand-ins for the data.

Otherwise only a long run would find a broken column, and not every machine has the data sets.
"""

import json
import lzma
from types import SimpleNamespace

import numpy as np
import pytest
from scripts import scripts
from sklearn.datasets import dump_svmlight_file

with scripts("second_order"):
    import methods
    import picture
    import sets
    from figures import Kept
    from tables import TABLES

N_SAMPLES, D = 160, 4


@pytest.fixture(scope="module")
def options(tmp_path_factory):
    """Options of a run on small sets."""
    folder = tmp_path_factory.mktemp("data")
    rng = np.random.default_rng(0)
    X = 1 + rng.standard_normal((N_SAMPLES, D))
    values = X[:, 0] * X[:, 1] + 0.1 * rng.standard_normal(N_SAMPLES)
    three = np.digitize(values, np.quantile(values, [0.3, 0.7]))
    for name, y in (("two", np.sign(values)), ("three", three), ("numbers", values)):
        for part in ("", ".test"):
            with lzma.open(folder / f"{name}{part}.libsvm.xz", "wb") as file:
                dump_svmlight_file(X, y, file, zero_based=False)
    return SimpleNamespace(data=folder, orders=2, n_components=[6, 12])


@pytest.fixture(autouse=True)
def _two_widths(monkeypatch):
    monkeypatch.setattr(methods, "GAMMAS", (0.3, 1.0))


@pytest.mark.parametrize("name", TABLES)
def test_every_learner_learns(name, options, tmp_path):
    names = ["numbers"] if name == "regression" else ["two", "three"]
    kept = Kept(tmp_path / "figures.json")
    given = SimpleNamespace(**vars(options), sets=names)
    found = TABLES[name].compute(given, kept, methods.LeastSquares(False), name)
    worst = 1.0 if name == "regression" else 70.0
    for figures in found.values():
        for learner, one in figures.items():
            errors = one["error"] if "error" in one else one["mistakes"]
            assert len(errors) == (1 if (name, learner) == ("whole", "SVC") else 2)
            assert np.mean(errors) < worst, learner
    text = TABLES[name].markdown(found)
    assert len(text.splitlines()) == 4 + len(names)
    assert all(len(line.split("|")) == len(text.splitlines()[2].split("|"))
               for line in text.splitlines()[3:])  # fmt: skip
    # What the file holds is not computed again.
    known = json.loads((tmp_path / "figures.json").read_text())
    assert known == kept.found
    given.data = "nowhere"
    assert TABLES[name].compute(given, kept, methods.LeastSquares(False), name) == found
    if name == "shares":
        picture.draw(found, tmp_path / "shares.png")
        assert (tmp_path / "shares.png").stat().st_size > 10_000


def test_the_gates_of_the_picture_reach_from_few_samples_to_all(options):
    given = SimpleNamespace(**vars(options), sets=["two"])
    found = TABLES["shares"].compute(given, Kept(), methods.LeastSquares(False), "shares")["two"]
    shares = [np.mean(one["share"]) for one in found.values()]
    assert min(shares) < 0.05
    assert max(shares) == 1.0


def test_the_library_and_the_peer_give_the_same_figures(options):
    given = SimpleNamespace(**vars(options), sets=["three"])
    library, peer = (
        TABLES["split"].compute(given, Kept(), methods.LeastSquares(by_peer), "split")["three"]
        for by_peer in (False, True)
    )
    for learner, one in library.items():
        for name in {"error", "mistakes", "share", "landmarks"} & set(one):
            assert one[name] == peer[learner][name], (learner, name)


def test_rows_are_standardised_by_what_was_seen():
    rng = np.random.default_rng(0)
    X = np.column_stack([1e6 + rng.standard_normal(50), np.full(50, 3.0), np.arange(50) == 20])
    more = rng.standard_normal((5, 3)) + np.array([1e6, 3, 0])
    found, test = sets.running_standard(X, more)
    assert found.dtype == test.dtype == np.float32
    for i in (1, 19, 20, 49):
        seen = X[: i + 1]
        spread = seen.std(axis=0)
        expected = (X[i] - seen.mean(axis=0)) / np.where(spread == 0, np.inf, spread)
        np.testing.assert_allclose(found[i], expected, atol=1e-4)
    spread = np.where(X.std(axis=0) == 0, np.inf, X.std(axis=0))
    np.testing.assert_allclose(test, (more - X.mean(axis=0)) / spread, atol=1e-4)
