"""``onlinekern train`` and ``predict``: files and pipes in, a model and its answers out."""

import json
import os
import re
import signal
import subprocess
import sys
import time

import numpy as np
import pytest
from interpreters import python

pytest.importorskip("typer")
pytest.importorskip("rich")
pytest.importorskip("pyarrow")

from commands import run

import onlinekern
from onlinekern.cli import training
from onlinekern.evaluate.methods import METHODS, USUAL

NAMES = ["x", "y", "z"]
SMALL = ["--method", "pa1", "--param", "C=0.5", "--param", "max_support=50"]


def data(n=2500, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3)) * [1e-6, 1, 1e6]
    return X, np.where(X[:, 0] * X[:, 2] > 0, "yes", "no")


def write_table(path, X, y=None, names=NAMES):
    lines = [",".join([*names, *([] if y is None else ["sold"])])]
    for i, row in enumerate(X.tolist()):
        lines.append(",".join([*map(repr, row), *([] if y is None else [str(y[i])])]))
    path.write_text("\n".join(lines) + "\n")


def libsvm(X, y):
    rows = (" ".join(f"{j + 1}:{v!r}" for j, v in enumerate(row)) for row in X.tolist())
    return "".join(f"{label} {row}\n" for label, row in zip(y, rows, strict=True))


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    X, y = data()
    write_table(tmp_path / "train.csv", X, y)
    (tmp_path / "train.txt").write_text(libsvm(X, (y == "yes").astype(int)))
    return tmp_path


def command(*arguments, **options):
    return [sys.executable, "-P", "-m", "onlinekern", *map(str, arguments)]


def test_train_and_predict_a_table(folder, capsys):
    code, out, err = run(capsys, "train", "train.csv", "--target", "sold", "-o", "m.okn",
                         "--param", "time_budget=10", "--json", "o.json")  # fmt: skip
    assert (code, err) == (0, "")
    assert "m.okn: Stream, 2,500 samples, 3 features, 2 classes" in out
    figures = json.loads((folder / "o.json").read_text())
    assert figures["n_samples"] == 2500
    assert figures["window_error"] < figures["error"] < 0.2
    assert not (folder / "m.okn.checkpoint").exists()
    X, y = data(400, seed=1)
    model = onlinekern.load("m.okn")
    np.testing.assert_array_equal(model.feature_names_in_, NAMES)
    # The columns in another order, with and without the target.
    write_table(folder / "other.csv", X[:, [2, 0, 1]], names=["z", "x", "y"])
    write_table(folder / "labelled.csv", X, y)
    for arguments in (["other.csv"], ["labelled.csv", "--target", "sold"]):
        code, out, err = run(capsys, "predict", "m.okn", *arguments)
        assert (code, err) == (0, "")
        np.testing.assert_array_equal(out.split(), model.predict(X))
    assert np.mean(np.array(out.split()) == y) > 0.9
    code, out, _ = run(capsys, "predict", "m.okn", "other.csv", "--what", "probabilities")
    head, *lines = out.splitlines()
    assert head == "no,yes"
    np.testing.assert_array_equal(
        np.array([line.split(",") for line in lines], dtype=float), model.predict_proba(X)
    )
    run(capsys, "predict", "m.okn", "other.csv", "--what", "scores", "-o", "scores.txt")
    np.testing.assert_array_equal(np.loadtxt("scores.txt"), model.decision_function(X))


def test_what_is_learnt_is_what_the_library_learns(folder, capsys):
    X, y = data()
    run(capsys, "train", "train.csv", "--target", "sold", "-o", "m.okn", *SMALL, "--seed", 3)
    expected = onlinekern.make_stream_pipeline(
        onlinekern.OnlineStandardScaler(),
        onlinekern.KernelPAClassifier(variant="pa1", C=0.5, max_support=50, random_state=3),
    )
    expected.partial_fit(X, y, classes=["no", "yes"])
    model = onlinekern.load("m.okn")
    np.testing.assert_array_equal(model.decision_function(X), expected.decision_function(X))
    run(capsys, "train", "train.csv", "--target", "sold", "-o", "plain.okn", *SMALL,
        "--scale", "none", "--limit", 1200)  # fmt: skip
    plain = onlinekern.load("plain.okn")
    assert [type(step).__name__ for step in plain] == ["TableEncoder", "KernelPAClassifier"]
    assert plain[-1].n_seen_ == 1200


@pytest.mark.parametrize("method", [["--param", "time_budget=5"], SMALL])
def test_sets_and_intervals_are_learnt_at_a_coverage(folder, capsys, method):
    X, y = data()
    options = ["--coverage", 0.8, "--report", "r.html", "--json", "r.json"]
    code, out, err = run(
        capsys, "train", "train.csv", "--target", "sold", "-o", "m.okn", *method, *options
    )
    assert (code, err) == (0, "")
    model = onlinekern.load("m.okn")
    learner = model[-1]
    assert type(learner) is onlinekern.ConformalClassifier
    assert (learner.coverage, learner.n_seen_) == (0.8, len(y))
    assert f"sets of labels held {learner.coverage_:.2%}, asked 80.00%" in out
    assert json.loads((folder / "r.json").read_text())["coverage"] == learner.coverage_
    assert ("The race" in (folder / "r.html").read_text()) == (method[0] == "--param")
    write_table(folder / "rows.csv", X[:40])
    code, out, _ = run(capsys, "predict", "m.okn", "rows.csv", "--what", "sets")
    head, *lines = out.splitlines()
    assert (code, head) == (0, "no,yes")
    found = [[text == "True" for text in line.split(",")] for line in lines]
    np.testing.assert_array_equal(found, model.predict_set(X[:40]))
    write_table(folder / "numbers.csv", X, X[:, 1])
    numbers = ["--task", "regression", "-o", "n.okn", "--method", "kernel-rls", *options]
    code, out, _ = run(capsys, "train", "numbers.csv", "--target", "sold", *numbers)
    assert (code, "intervals held" in out) == (0, True)
    assert type(onlinekern.load("n.okn")[-1]) is onlinekern.ConformalRegressor
    code, _, err = run(capsys, "train", "train.csv", "--target", "sold", "-o", "o.okn",
                       "--coverage", 1)  # fmt: skip
    assert (code, "--coverage must be between 0 and 1" in err) == (2, True)


def test_one_class_is_said_of_a_race(folder, capsys):
    (folder / "one.csv").write_text("a,sold\n" + "1,yes\n2,yes\n" * 4)
    code, out, err = run(capsys, "train", "one.csv", "--target", "sold", "-o", "m.okn",
                         "--param", "time_budget=10")  # fmt: skip
    assert (code, err) == (0, "")
    assert out.startswith(
        "m.okn: Stream, 8 samples, 1 feature, 1 class\nall samples are of one class"
    )


def test_sets_hold_the_share_of_each_class(folder, capsys):
    X, y = data()
    y = y.astype(object)
    y[np.arange(len(y)) % 100 == 0] = "perhaps"
    y[7] = "never"
    write_table(folder / "rare.csv", X, y)
    options = ["--coverage", 0.8, "--by-class", "--json", "r.json", *SMALL]
    code, out, err = run(capsys, "train", "rare.csv", "--target", "sold", "-o", "m.okn", *options)
    assert (code, err) == (0, "")
    learner = onlinekern.load("m.okn")[-1]
    shares = dict(zip(learner.classes_, learner.class_coverage_, strict=True))
    assert np.isnan(shares.pop("never"))
    assert (
        f"of one class {min(shares.values()):.2%} at least, that of {min(shares, key=shares.get)}\n"
        in out
    )
    assert "1 of 4 classes are in all sets: too rare" in out
    told = json.loads((folder / "r.json").read_text())["class_coverage"]
    assert told == {**shares, "never": None}
    assert shares["perhaps"] > 0.6
    write_table(folder / "one.csv", X, np.full(len(X), "yes"))
    options[-len(SMALL) :] = ["--task", "classification", "--param", "time_budget=5"]
    code, out, err = run(capsys, "train", "one.csv", "--target", "sold", "-o", "o.okn", *options)
    assert (code, err) == (0, "")
    assert json.loads((folder / "r.json").read_text())["class_coverage"] is None
    write_table(folder / "numbers.csv", X, X[:, 1])
    code, out, err = run(capsys, "train", "numbers.csv", "--target", "sold", "-o", "n.okn", *SMALL,
                         "--coverage", 0.8, "--by-class")  # fmt: skip
    assert (code, out) == (2, "")
    assert "--by-class is for classes, and the targets are numbers" in err


def test_pipes_of_libsvm_text(folder):
    text = (folder / "train.txt").read_text()
    options = ["--n-features", 3, "-o", "m.okn", "--param", "time_budget=5"]
    done = subprocess.run(
        command("train", "-", *options), input=text, capture_output=True, text=True
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert "3 features, 2 classes" in done.stdout
    found = subprocess.run(command("predict", "m.okn"), input=text, capture_output=True, text=True)
    assert (found.returncode, found.stderr) == (0, "")
    labels = [line.split()[0] for line in text.splitlines()]
    assert np.mean(np.array(found.stdout.split()) == labels) > 0.9


def test_libsvm_files_are_read_for_their_features(folder, capsys):
    assert run(capsys, "train", "train.txt", "-o", "m.okn", *SMALL)[0] == 0
    assert onlinekern.load("m.okn").n_features_in_ == 3
    code, _, err = run(capsys, "train", "-", "-o", "n.okn")
    assert (code, err) == (
        2, "onlinekern: error: LIBSVM text from standard input needs --n-features\n"
    )  # fmt: skip


def test_targets_are_numbers(folder, capsys):
    X, _ = data()
    write_table(folder / "numbers.csv", X, 1e6 + 1e3 * X[:, 1])
    code, out, _ = run(capsys, "train", "numbers.csv", "--target", "sold", "-o", "m.okn",
                       "--method", "kernel-rls")  # fmt: skip
    assert code == 0
    assert "RMSE" in out
    assert "classes" not in out
    write_table(folder / "new.csv", X[:5])
    code, out, _ = run(capsys, "predict", "m.okn", "new.csv")
    np.testing.assert_allclose(np.array(out.split(), float), 1e6 + 1e3 * X[:5, 1], rtol=1e-4)
    code, _, err = run(capsys, "predict", "m.okn", "new.csv", "--what", "probabilities")
    assert code == 2
    assert "KernelRLSRegressor has no predict_proba" in err
    code, out, _ = run(capsys, "predict", "m.okn", "new.csv", "--what", "intervals", "--coverage",
                       "0.5")  # fmt: skip
    head, *lines = out.splitlines()
    assert (code, head) == (0, "lower,upper")
    expected = onlinekern.load("m.okn").predict_interval(X[:5], 0.5)
    np.testing.assert_array_equal(np.loadtxt(lines, delimiter=","), np.column_stack(expected))
    code, _, err = run(capsys, "predict", "m.okn", "new.csv", "--coverage", "1.5")
    assert (code, "--coverage must be between 0 and 1" in err) == (2, True)


@pytest.mark.parametrize("method", [["--param", "time_budget=5"], SMALL])
def test_a_run_that_was_stopped_goes_on_alike(folder, capsys, monkeypatch, method):
    options = ["train.csv", "--target", "sold", *method, "--checkpoint-every", 600]
    run(capsys, "train", *options, "-o", "whole.okn", "--json", "whole.json")
    learn = training.Training.learn
    calls = []

    def fail(self, X, y):
        calls.append(len(y))
        if len(calls) == 2:
            raise OSError(5, "the disk is gone")
        learn(self, X, y)

    monkeypatch.setattr(training.Training, "learn", fail)
    assert run(capsys, "train", *options, "-o", "parts.okn")[0] == 2
    monkeypatch.undo()
    monkeypatch.chdir(folder)
    code, _, err = run(capsys, "train", *options, "-o", "parts.okn")
    assert code == 2
    assert "--resume goes on from it" in err
    arguments = [*options, "-o", "parts.okn", "--resume", "--json", "p.json"]
    assert run(capsys, "train", *arguments)[0] == 0
    whole, parts = (json.loads((folder / name).read_text()) for name in ("whole.json", "p.json"))
    for name in ("n_samples", "error", "window_error"):
        assert parts[name] == whole[name]
    X, _ = data(200, seed=1)
    one, other = (onlinekern.load(name) for name in ("whole.okn", "parts.okn"))
    np.testing.assert_array_equal(one.decision_function(X), other.decision_function(X))
    assert not (folder / "parts.okn.checkpoint").exists()


def test_ctrl_c_saves(folder):
    text = (folder / "train.txt").read_text()
    options = ["--n-features", 3, "-o", "m.okn", "--param", "time_budget=5"]
    process = subprocess.Popen(
        command("train", "-", *options), stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    # What comes is learnt as it comes: 5,000 lines, and then silence.
    process.stdin.write(2 * text)
    process.stdin.flush()
    time.sleep(4)
    process.send_signal(signal.SIGINT)
    out, _ = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "--resume goes on from there" in out
    model = onlinekern.load("m.okn")
    assert model.n_seen_ > 0
    assert (folder / "m.okn.checkpoint").exists()


def test_ctrl_c_before_the_first_row(folder, capsys, monkeypatch):
    def interrupted(*arguments):
        raise KeyboardInterrupt
        yield

    monkeypatch.setattr(training, "blocks_of", interrupted)
    code, out, err = run(capsys, "train", "train.txt", "-o", "m.okn", "--json", "o.json",
                         "--report", "o.html")  # fmt: skip
    assert (code, err.strip()) == (130, "")
    assert "stopped after 0 samples" in out
    assert not any((folder / name).exists() for name in ("m.okn", "o.json", "o.html"))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["train.csv", "--target", "sold"], "-o"),
        (["train.csv", "-o", "m.okn"], "name the target column"),
        (["none.csv", "-o", "m.okn"], "none.csv: No such file"),
        (["train.csv", "--target", "sold", "-o", "m.okn", "--method", "spam"], "unknown 'spam'"),
        (["train.csv", "--target", "sold", "-o", "m.okn", "--method", "olla"], "no streams"),
        (["train.csv", "--target", "sold", "-o", "m.okn", "--param", "C=1"], "no parameter 'C'"),
        (["train.csv", "--target", "sold", "-o", "m.okn", "--param", "C"], "expected NAME=VALUE"),
        (["train.csv", "--target", "sold", "-o", "m.okn", "--window", 0], "--window must be"),
        (["train.csv", "--target", "sold", "-o", "no/m.okn"], "no/m.okn"),
        (
            ["train.csv", "--target", "sold", "-o", "m.okn", "--task", "regression"],
            "is not a number",
        ),
        (["train.csv", "--target", "sold", "-o", "m.okn", "--task", "guess"], "unknown 'guess'"),
        (["-", "-", "-o", "m.okn"], "only once"),
        (["train.csv", "--target", "sold", "-o", "m.okn", "--column", "x=word"], "unknown 'word'"),
        (["train.csv", "--target", "sold", "-o", "m.okn", "--column", "q=text"], "no column 'q'"),
        (["train.csv", "--target", "sold", "-o", "m.okn", "--missing", "no"], "unknown 'no'"),
        (["train.csv", "--target", "sold", "-o", "m.okn", "--format", "xml"], "unknown 'xml'"),
        (["train.csv", "--target", "sold", "-o", "m.okn", "--separator", ";;"], "one character"),
        (["train.txt", "-o", "m.okn", "--on-error", "go on"], "unknown 'go on'"),
    ],
)
def test_bad_input_is_one_line(folder, capsys, arguments, message):
    code, out, err = run(capsys, "train", *arguments)
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert message in err
    assert not (folder / "m.okn").exists()


def test_one_class_is_not_enough(folder, capsys):
    X, _ = data(30)
    write_table(folder / "alone.csv", X, np.full(30, "yes"))
    code, _, err = run(capsys, "train", "alone.csv", "--target", "sold", "-o", "m.okn", *SMALL)
    assert code == 2
    assert "one class only (yes)" in err


def test_figures_go_to_standard_output(folder, capsys):
    asked = ["train.csv", "--target", "sold", "--json", "-"]
    code, out, err = run(capsys, "train", *asked, "-o", "m.okn", "--method", "linear-pa1")
    assert code == 0
    assert json.loads(out)["n_samples"] == 2500
    assert "m.okn: Lin. PA-I, 2,500 samples" in err
    more = ["--methods", "linear-pa1", "--repeats", 1, "--limit", 100]
    code, out, err = run(capsys, "compare", *asked, *more)
    assert code == 0
    assert json.loads(out)["comparisons"][0]["n_samples"] == 100
    assert "mistakes %" in err
    assert not (folder / "-").exists()


def test_info_tells_of_a_model_that_waits_for_a_second_class(folder, capsys):
    rows = [{"town": "Ulm"}, {"town": "Bonn"}]
    model = onlinekern.StreamClassifier(time_budget=5).partial_fit(rows, ["yes", "yes"])
    model.save("m.okn")
    code, out, err = run(capsys, "info", "m.okn")
    assert (code, err) == (0, "")
    assert "classes: yes alone; 2 samples wait for another one" in out


def test_info_tells_of_several_targets(folder, capsys):
    X, _ = data(40)
    for name, Y in {"one.okn": X[:, 0], "two.okn": X[:, :2]}.items():
        onlinekern.KernelForestRegressor(n_trees=3).fit(X, Y).save(name)
        code, out, err = run(capsys, "info", name)
        assert (code, err) == (0, "")
        assert ("targets of a row: 2" in out) == (name == "two.okn")


def test_lines_left_out_are_told_where_too_few_are_left(folder, capsys):
    (folder / "r.csv").write_text("a,y\n1,no\n2\n3,4,yes\n5,no\n")
    asked = ["r.csv", "--target", "y", "-o", "m.okn", "--method", "linear-pa1"]
    code, out, err = run(capsys, "train", *asked, "--on-error", "skip")
    assert (code, out) == (2, "")
    first, second = err.splitlines()
    assert first == "onlinekern: left out: r.csv, line 3: 1 columns, not 2, and 1 more"
    assert "one class only (no)" in second


def test_what_is_read_is_not_written_over(folder, capsys):
    train = ["train", "train.csv", "--target", "sold", "--method", "linear-pa1", "-o"]
    assert run(capsys, *train, "m.okn")[0] == 0
    predict = ["predict", "m.okn", "train.csv", "--target", "sold", "-o"]
    before = {name: (folder / name).read_bytes() for name in ("train.csv", "m.okn")}
    for arguments, text in {
        (*train, "./train.csv"): "--output ./train.csv: this file is read; name another one",
        (*train, "n.okn", "--json", "n.okn"): "--json n.okn: this file is that of --output",
        (*predict, "m.okn"): "--output m.okn: this file is that of MODEL",
        (*predict, "train.csv"): "--output train.csv: this file is read",
        ("export", "m.okn", "--rows", "train.csv", "-o", "train.csv"): "this file is read",
        (*train, "-"): "-: a file is needed",
    }.items():
        code, out, err = run(capsys, *arguments)
        assert (code, out) == (2, "")
        assert text in err
    assert {name: (folder / name).read_bytes() for name in before} == before
    compare = ["compare", "train.csv", "--target", "sold", "--methods", "linear-pa1"]
    compare += ["--repeats", 1, "--limit", 100]  # A device may be named twice.
    assert run(capsys, *compare, "--json", os.devnull, "--csv", os.devnull)[0] == 0


def test_predict_names_what_does_not_fit(folder, capsys):
    run(capsys, "train", "train.csv", "--target", "sold", "-o", "m.okn", *SMALL)
    write_table(folder / "new.csv", data(5)[0], names=["x", "y", "w"])
    code, _, err = run(capsys, "predict", "m.okn", "new.csv")
    assert code == 2
    assert "this one lacks z and has also w" in err
    code, _, err = run(capsys, "predict", "m.okn", "train.txt")
    assert code == 2
    assert "a table (the first file: that of m.okn)" in err
    onlinekern.PAClassifier().save("empty.okn")
    assert "has learnt nothing" in run(capsys, "predict", "empty.okn", "new.csv")[2]


def test_a_model_of_rows_without_names_takes_no_table(folder, capsys):
    onlinekern.PAClassifier().fit([[0.0] * 3, [1.0] * 3], ["no", "yes"]).save("m.okn")
    code, out, err = run(capsys, "predict", "m.okn", "train.csv", "--target", "sold")
    assert (code, out) == (2, "")
    assert "train.csv: a table, whose columns have names; the first file has none" in err


def test_predict_leaves_out_what_the_model_does_not_know(folder, capsys):
    """The file has one column more than the model; that of the targets is known anyhow."""
    X, y = data(40)
    write_table(folder / "few.csv", X, y)
    write_table(folder / "rows.csv", X)
    write_table(folder / "more.csv", np.c_[X, X[:, 0]], names=["x", "y", "z", "w"])
    run(capsys, "train", "few.csv", "--target", "sold", "-o", "m.okn", *SMALL)
    _, expected, _ = run(capsys, "predict", "m.okn", "rows.csv")
    assert run(capsys, "predict", "m.okn", "few.csv") == (0, expected, "")
    code, out, err = run(capsys, "predict", "m.okn", "more.csv")
    assert (code, out) == (2, "")
    assert "has also w" in err
    assert "--ignore-extra" in err
    assert run(capsys, "predict", "m.okn", "more.csv", "--ignore-extra") == (0, expected, "")
    write_table(folder / "other.csv", X[:, :2], y, names=["x", "y"])
    err = run(capsys, "predict", "m.okn", "other.csv", "--ignore-extra")[2]
    assert "this one lacks z (" in err
    assert "--ignore-extra" not in err
    # Of several files, a later one.
    code, _, err = run(capsys, "predict", "m.okn", "[fr]*ws.csv")
    assert code == 0
    for name in ("a.csv", "b.csv"):
        write_table(folder / name, X, None if name == "a.csv" else y)
    assert run(capsys, "predict", "m.okn", "[ab].csv") == (0, 2 * expected, "")
    write_table(folder / "b.csv", np.c_[X, X[:, 0]], names=["x", "y", "z", "w"])
    assert "--ignore-extra" in run(capsys, "predict", "m.okn", "[ab].csv")[2]
    (folder / "few.txt").write_text(
        libsvm(X, y == "yes").replace("True", "1").replace("False", "0")
    )
    (folder / "wide.txt").write_text((folder / "few.txt").read_text().replace("\n", " 9:1\n"))
    run(capsys, "train", "few.txt", "-o", "m.okn", *SMALL)
    _, expected, _ = run(capsys, "predict", "m.okn", "few.txt")
    assert "feature index 9, expected 1 to 3; " in run(capsys, "predict", "m.okn", "wide.txt")[2]
    assert run(capsys, "predict", "m.okn", "wide.txt", "--ignore-extra") == (0, expected, "")


def test_indices_from_zero_name_the_option(folder, capsys):
    text = "".join(f"{k % 2} 0:{k} 2:1\n" for k in range(40))
    (folder / "zero.txt").write_text(text)
    code, out, err = run(capsys, "train", "zero.txt", "-o", "m.okn", *SMALL)
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert "feature index 0, expected 1 to 2; " in err
    assert "--zero-based" in err
    assert run(capsys, "train", "zero.txt", "-o", "m.okn", "--zero-based", *SMALL)[0] == 0


def test_more_arguments_than_a_command_takes(folder, capsys):
    for command, taken in (("predict", "MODEL and DATA"), ("compare", "DATA")):
        given = ["m.okn"] * (command == "predict")
        code, out, err = run(capsys, command, *given, "train.csv", "b.csv", "c.csv")
        assert (code, out) == (2, "")
        assert f"{command} takes {taken}, got also " in err
        assert "a pattern in quotes" in err
    assert "info takes MODEL, got also b" in run(capsys, "info", "a", "b")[2]


@pytest.mark.parametrize(
    ("name", "task", "message"),
    [
        ("krls", "classification", "'krls' does no classification (perhaps kernel-rls"),
        ("krl", "auto", "unknown 'krl' (perhaps krls"),
        ("sap", "auto", "unknown 'sap' (perhaps spa"),
        ("telepathy", "auto", "unknown 'telepathy'; known are stream"),
    ],
)
def test_the_near_method_is_named(folder, capsys, name, task, message):
    asked = ("--target", "sold", "-o", "m.okn", "--method", name, "--task", task)
    code, _, err = run(capsys, "train", "train.csv", *asked)
    assert code == 2
    assert message in err
    err = run(capsys, "compare", "train.csv", "--target", "sold", "--methods", name)[2]
    assert message.partition("(")[2] in err


def test_methods_are_listed(capsys):
    code, out, _ = run(capsys, "methods")
    assert code == 0
    for name in METHODS:
        assert re.search(rf"^{re.escape(name)} ", out, re.M)
    assert "K. Crammer et al. (2006)" in " ".join(out.split())
    assert max(map(len, out.splitlines())) <= 80


def test_the_shell_completes_methods():
    variables = {"_ONLINEKERN_COMPLETE": "complete_bash", "COMP_CWORD": "3",
                 "COMP_WORDS": "onlinekern train --method kernel-r"}  # fmt: skip
    code = "import sys; sys.argv = ['onlinekern']; from onlinekern.cli import main; main()"
    assert python(code, env=variables).stdout.split() == ["kernel-rls", "kernel-rls-lot"]


@pytest.mark.parametrize("name", METHODS)
def test_a_method_is_described(capsys, name):
    code, out, err = run(capsys, "methods", name)
    assert (code, err) == (0, "")
    assert out.startswith(f"{name} (")
    for cls in filter(None, (METHODS[name].classifier, METHODS[name].regressor)):
        assert cls in out
    assert re.search(r"^\[1\] .*\(\d{4}\)", out, re.M)


def test_an_unknown_method_is_named(capsys):
    code, _, err = run(capsys, "methods", "spam")
    assert (code, "unknown 'spam'" in err) == (2, True)


def test_faulty_lines_are_left_out_if_asked(folder, capsys):
    lines = (folder / "train.txt").read_text().splitlines()
    good = "\n".join(lines[:600]) + "\n"
    bad = [*lines[:5], "1 1:x", *lines[5:300], "nonsense", "# fine", "", *lines[300:600]]
    (folder / "good.txt").write_text(good)
    (folder / "bad.txt").write_text("\n".join(bad) + "\n")
    assert run(capsys, "train", "good.txt", "-o", "good.okn", *SMALL)[0] == 0
    code, _, err = run(capsys, "train", "bad.txt", "-o", "bad.okn", *SMALL)
    assert (code, err) == (2, "onlinekern: error: bad.txt, line 6: '1:x' is not index:value\n")
    code, _, err = run(capsys, "train", "bad.txt", "-o", "bad.okn", *SMALL, "--on-error", "skip",
                       "--json", "o.json")  # fmt: skip
    assert code == 0
    assert "onlinekern: left out: bad.txt, line 6: '1:x' is not index:value, and 1 more\n" in err
    assert json.loads((folder / "o.json").read_text())["lines_left_out"] == 2
    X, _ = data(50)
    one, other = (onlinekern.load(name) for name in ("good.okn", "bad.okn"))
    np.testing.assert_array_equal(one.decision_function(X), other.decision_function(X))


def test_info_tells_what_a_model_is(folder, capsys):
    run(capsys, "train", "train.csv", "--target", "sold", "-o", "m.okn", "--param", "time_budget=5")
    code, out, _ = run(capsys, "info", "m.okn")
    assert code == 0
    for text in ("StreamClassifier(", "x: number", "features: 3", "classes: no, yes",
                 "learnt: 2,500", "mistakes before learning: ", "the same plainly"):  # fmt: skip
        assert text in out
    run(capsys, "train", "train.txt", "-o", "k.okn", *SMALL)
    out = run(capsys, "info", "k.okn")[1]
    for text in ("StreamPipeline(", "features: 3", "classes: 0.0, 1.0", "support vectors: 50"):
        assert text in out
    onlinekern.SPAClassifier().save("empty.okn")
    assert "has learnt nothing yet" in run(capsys, "info", "empty.okn")[1]


def test_compare_and_train_have_one_recipe(folder, capsys):
    """Features of all sizes are standardised as they come: both commands err alike."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 2)) * [1e-4, 1e4]
    labels = (X[:, 0] * X[:, 1] > 0).astype(int).tolist()
    rows = (f"{a!r},{b!r},{t}\n" for t, (a, b) in zip(labels, X.tolist(), strict=True))
    (folder / "wild.csv").write_text("a,b,y\n" + "".join(rows))
    asked = ["wild.csv", "--target", "y", "--json", "o.json"]
    own = {"pa1": ["C=1.0", "gamma=0.5"], "kernel-rls": ["reg=0.1", "gamma=0.5"], "stream": []}
    for name, values in own.items():
        given = [word for value in values for word in ("--param", value)]
        run(capsys, "train", *asked, "-o", "m.okn", "--method", name, *given)
        error = json.loads((folder / "o.json").read_text())["error"]
        given = ["--set" if word == "--param" else word for word in given]
        code, _, _ = run(capsys, "compare", *asked, "--methods", name, "--in-order",
                         "--dtype", "float64", *given)  # fmt: skip
        assert code == 0
        (found,) = json.loads((folder / "o.json").read_text())["comparisons"]
        assert found["methods"][0]["error"]["mean"] == pytest.approx(error)
        assert error < 0.3
    assert "kernel-rls" in USUAL
