"""The papers' tables of the benchmarks: every row learns, on synthetic stand-ins for the data.

Otherwise only a long run would find a broken row, and not every machine has the data sets.
"""

import importlib.util
import json
import lzma
import re
import subprocess
import sys
from xml.etree import ElementTree

import numpy as np
import pytest
from scripts import BENCHMARKS, scripts
from sklearn.datasets import dump_svmlight_file

PAPERS = BENCHMARKS / "papers"
with scripts("papers"):
    import choose
    import datasets
    import pages
    import plots
    import running
    from protocols import (
        after_k_means,
        along_a_pass,
        cross_validated,
        of_the_sketch,
        online,
        online_by_theory,
    )
    from results import FILE, Results, mark
    from rows import TABLES
    from stand_ins import N_SAMPLES, StandIns, stand_in

ROWS = [
    pytest.param(row, id=f"{table}-{row.data}-{row.learner}")
    for table, rows in TABLES.items()
    for row in rows
]


@pytest.mark.parametrize("row", ROWS)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_a_row_learns(row):
    assert row.data in datasets.SETS
    found = row.protocol(row.build, stand_in(row.data), 0)
    assert 0 <= found.error < 60 + 40 * (row.protocol is of_the_sketch)
    assert found.time >= 0
    assert found.size is None or 0 <= found.size <= N_SAMPLES


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
    first, again, other = (online(row.build, data, seed).error for seed in (0, 0, 1))
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
def papers(monkeypatch, tmp_path):
    """Return the program that prints the tables; its results are in a file of the test."""
    monkeypatch.syspath_prepend(str(PAPERS))
    spec = importlib.util.spec_from_file_location("papers", PAPERS / "__main__.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    monkeypatch.setattr(module, "Folder", StandIns)

    def call(*arguments):
        module.main([*arguments, "--jobs", "1", "--results", str(tmp_path / "r.jsonl")])

    return call


DATA = ("--data", ".")


def test_a_table_is_printed(papers, capsys):
    papers("A", "--orders", "2", "--only", "a9a RBP", *DATA)
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 2
    assert lines[1].split()[:2] == ["a9a", "RBP"]
    assert lines[1].split()[5:7] == ["21.7", "21.17"]


def test_a_run_resumes(papers, capsys, tmp_path):
    only = "B", "--only", "ijcnn1 35k P", *DATA
    papers(*only, "--orders", "1")
    told = capsys.readouterr().err
    assert "3 orders to run" in told
    assert "0 min left" in told
    first = (tmp_path / "r.jsonl").read_text()
    papers(*only, "--orders", "2")
    assert "[1/3] B ijcnn1 35k, Perceptron gamma=16.0, order 2" in capsys.readouterr().err
    papers(*only, "--orders", "2")
    assert capsys.readouterr().err == ""
    # The first order is as it was.
    for before, after in zip(first.splitlines(), tmp_path.joinpath("r.jsonl").open(), strict=True):
        one, both = json.loads(before)["runs"], json.loads(after)["runs"]
        assert both["error"][:1] == one["error"]
        assert len(both["error"]) == len(both["time"]) == 2


def test_tables_are_printed_without_data(papers, capsys):
    papers("B", "--only", "ijcnn1 35k BOGD", *DATA)
    with_data = capsys.readouterr().out
    papers("B", "--only", "ijcnn1 35k BOGD")
    assert capsys.readouterr().out == with_data
    papers("B", "--only", "ijcnn1 35k NOGD")
    assert capsys.readouterr().out.rstrip().endswith("no data")


def test_a_changed_row_is_run_again(tmp_path):
    row = next(row for row in TABLES["B"] if row.learner == "DualSGD hinge")
    results = Results(tmp_path / "r.jsonl")
    results.add("B", row, {"error": 12.3456789, "time": 1.0, "size": None})
    again = Results(tmp_path / "r.jsonl")
    assert again.get("B", row) == {"error": [12.346], "time": [1]}
    changed = row.with_parameters({"gamma": 3.0})
    assert mark(changed) != mark(row)
    assert again.n_orders("B", changed) == 0
    again.prune({"B": []})
    again.write()
    assert Results(tmp_path / "r.jsonl").n_orders("B", row) == 0


def test_two_processes_find_what_one_finds(tmp_path):
    chosen = [("B", n, row) for n, row in enumerate(TABLES["B"]) if row.data == "ijcnn1 35k"]
    found = []
    for jobs in (1, 2):
        results = Results()
        running.run(running.lacking(chosen, results, 2), results, StandIns, "", jobs)
        found.append([results.get("B", row)["error"] for _, _, row in chosen])
    assert found[0] == found[1]


def test_an_unknown_table_is_named(papers, capsys):
    with pytest.raises(SystemExit):
        papers("Z")
    assert "no table Z: there are A, A3" in capsys.readouterr().err


def test_a_set_without_a_file_has_no_data(papers, capsys, monkeypatch, tmp_path):
    monkeypatch.setitem(papers.__globals__, "TABLES", TABLES)
    row = next(row for row in TABLES["A3"] if row.data == "w7a, split")
    results = Results()
    chosen = [("A3", n, one) for n, one in enumerate(TABLES["A3"]) if one.data == row.data]
    running.run(running.lacking(chosen, results), results, datasets.Folder, tmp_path)
    assert "w7a, split: no data" in capsys.readouterr().err
    papers("A3", "--only", "w7a, split SPA")
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 3
    assert all(line.endswith("no data") for line in lines[1:])


def test_the_row_s_setting_is_among_the_best_printed(monkeypatch, capsys):
    monkeypatch.setattr(choose, "Folder", StandIns)
    given = ["choose", "B", "--only", "cod-rna all FOGD", "--data", "."]
    monkeypatch.setattr(sys, "argv", given)
    choose.main()
    printed = capsys.readouterr().out.splitlines()
    assert printed[0].startswith("cod-rna all, FOGD")
    errors = [float(line.split()[0]) for line in printed[1:]]
    assert len(errors) in (3, 4)
    assert errors == sorted(errors)
    assert sum("the row's" in line for line in printed) == 1


@pytest.mark.parametrize("program", [".", "choose.py"])
def test_programs_run_without_the_folder_on_the_path(program):
    command = [sys.executable, "-P", str(PAPERS / program), "--help"]
    assert "usage" in subprocess.run(command, capture_output=True, text=True, check=True).stdout


def test_the_expected_support_of_spa_is_near_what_happens():
    row = next(row for row in TABLES["A"] if row.name == "SPA").with_parameters({"beta": 2.0})
    runs = [online_by_theory(row.build, stand_in("a9a"), seed) for seed in range(20)]
    assert all(0 < run.more["expected"] <= run.more["bound"] == N_SAMPLES / 2 for run in runs)
    kept, expected = (np.mean([get(run) for run in runs]) for get in (
        lambda run: run.size, lambda run: run.more["expected"],
    ))  # fmt: skip
    assert kept == pytest.approx(expected, rel=0.1)
    assert np.mean([run.more["loss"] for run in runs]) <= np.mean(
        [run.more["promised"] for run in runs]
    )
    assert all(0 < run.more["comparator"] < run.more["promised"] for run in runs)


def test_a_curve_ends_at_the_error_of_the_pass():
    row = TABLES["C4"][0]
    found = along_a_pass(row.build, stand_in(row.data), 0)
    assert found.more["curve"][-1] == (N_SAMPLES, found.error)
    assert [n for n, _ in found.more["curve"]] == sorted({n for n, _ in found.more["curve"]})


def test_k_means_gives_lol_its_prototypes():
    row = next(row for row in TABLES["C7"] if row.protocol is after_k_means)
    made = []

    def build(n):
        made.append(row.build(n))
        return made[-1]

    after_k_means(build, stand_in(row.data), 0)
    assert made[-1].cluster_centers_.shape == (20, 6)
    np.testing.assert_array_equal(made[-1].cluster_centers_, made[-1].prototypes)


def test_the_error_of_a_sketch_is_within_its_bound():
    for row in TABLES["D2"]:
        assert of_the_sketch(row.build, stand_in(row.data), 0).error <= 100


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
    found = cross_validated(lambda n: Constant(), (np.zeros((50, 2)), y), 0)
    assert found.error == pytest.approx(20)
    assert found.size == 40


KEPT = Results(FILE)
PAGES = sorted(FILE.parent.glob("*.md"))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_pages_have_the_tables_of_the_results(page):
    text = page.read_text(encoding="utf-8")
    assert pages.filled(text, KEPT) == text


def test_the_results_are_those_of_the_rows():
    rows = {(table, row.data, row.learner): row for table in TABLES for row in TABLES[table]}
    assert KEPT.known.keys() <= rows.keys()
    assert all(one["mark"] == mark(rows[key]) for key, one in KEPT.known.items())


def test_every_set_of_a_table_is_on_its_page():
    told = "".join(page.read_text(encoding="utf-8") for page in PAGES)
    for table, rows in TABLES.items():
        blocks = re.findall(rf"<!-- \w+ {table}( \|.*) -->", told)
        named = {part.split(" = ")[0].strip() for block in blocks for part in block.split("|")}
        if table != "C4":  # it is a picture alone
            assert {row.data for row in rows} <= named, table


def test_every_figure_is_drawn_and_shown(tmp_path):
    plots.draw_all(tmp_path, KEPT)
    told = "".join(page.read_text(encoding="utf-8") for page in PAGES)
    for name in plots.FIGURES:
        ElementTree.parse(tmp_path / f"{name}.svg")
        assert f"({name}.svg)" in told
        assert (FILE.parent / f"{name}.svg").exists()


def test_a_figure_without_results_is_left_out(tmp_path):
    plots.draw_all(tmp_path, Results())
    assert list(tmp_path.iterdir()) == []


def test_a_page_is_filled():
    rows = [row for row in TABLES["D"] if row.data == "a9a, divided"]
    results = Results()
    for row in rows:
        error = 20.0 if row.name.startswith("SDROGD") else 30.0
        for seed in range(3):
            error += seed if row.name.startswith("SDROGD") else 0.9 * seed
            results.add("D", row, {"error": error, "time": 1.0, "auc": 90.0})
    text = "words\n<!-- errors D | a9a, divided = a9a | cod-rna, divided -->\n<!-- end -->\nmore\n"
    lines = pages.filled(text, results).splitlines()
    assert lines[3] == "| | a9a | cod-rna, divided |"
    assert lines[5] == "| Pegasos | 31.20 ± 1.12 (24.1) | no data (33.41) |"
    assert pages.filled("\n".join(lines), results).splitlines() == lines
    assert (lines[0], lines[-1]) == ("words", "more")
    told = pages.filled("<!-- tests D | a9a, divided = a9a -->\n<!-- end -->", results)
    assert "-9.87 | < 0.001 |" in told
