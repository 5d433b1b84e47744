"""``onlinekern train`` and ``predict`` on tables as they are, from every format and from pipes."""

import io
import json
import re
import subprocess
import sys
from unittest import mock

import numpy as np
import pytest

pytest.importorskip("typer")
pytest.importorskip("pyarrow")

import pyarrow as pa
from commands import run
from pyarrow import feather, ipc, parquet

import onlinekern
from onlinekern import StreamClassifier, TableEncoder, make_stream_pipeline
from onlinekern.fitted.save import to_bytes
from onlinekern.streams import Reading, StreamError, open_source, read_tables
from onlinekern.streams.blocks import in_blocks
from onlinekern.streams.formats import binary

N = 1500
FORMATS = ["rows.csv", "rows.tsv", "rows.jsonl", "rows.parquet", "rows.arrow", "rows.arrows"]
FAST = ["--method", "linear-pa1"]


def rows(n=N, seed=0):
    """A table of all kinds in which town and hour decide."""
    rng = np.random.default_rng(seed)
    hours = rng.integers(0, 24 * 300, n)
    towns = rng.choice(["Ulm", "Bonn", "Mainz, am Rhein"], n)
    sold = (towns == "Ulm") ^ (hours % 24 < 12)
    at = np.datetime64("2026-01-01") + (60 * hours).astype("timedelta64[m]")
    return pa.table({
        "town": [None if rng.random() < 0.05 else str(town) for town in towns],
        "size": [None if rng.random() < 0.1 else float(v) for v in rng.normal(size=n)],
        "at": [str(moment).replace("T", " ") for moment in at],
        "new": (rng.random(n) < 0.5).tolist(),
        "sold": np.where(sold, "yes", "no").tolist(),
    })  # fmt: skip


def write(path, table, separator=","):
    """Write a table in the format of the file's name."""
    kind = path.suffix
    if kind in (".csv", ".tsv"):
        separator = "\t" if kind == ".tsv" else separator
        cells = [table.column_names, *(row.values() for row in table.to_pylist())]
        path.write_text("".join(separator.join(map(cell, line)) + "\n" for line in cells))
    elif kind == ".jsonl":
        path.write_text("".join(json.dumps(row) + "\n" for row in table.to_pylist()))
    elif kind == ".parquet":
        parquet.write_table(table, path)
    elif kind == ".arrow":
        feather.write_feather(table, path, compression="uncompressed")
    else:
        with ipc.new_stream(path, table.schema) as stream:
            stream.write_table(table)


def cell(value):
    text = "" if value is None else str(value)
    return f'"{text}"' if "," in text else text


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def saved(path):
    """What is in a model file, without what differs from one saving to the next."""
    return to_bytes(onlinekern.load(path))


def piped(text, *arguments):
    command = [sys.executable, "-P", "-m", "onlinekern", *map(str, arguments)]
    return subprocess.run(command, input=text, capture_output=True, check=False)


def test_the_first_hour(folder, capsys):
    """Raw columns, nothing chosen: the model is right, and knows the columns."""
    write(folder / "rows.csv", rows())
    code, out, err = run(capsys, "train", "rows.csv", "--target", "sold", "-o", "m.okn")
    assert (code, err) == (0, "")
    assert "1,500 samples, 4 features, 2 classes" in out
    model = onlinekern.load("m.okn")
    kinds = {"town": "category", "size": "number", "at": "date", "new": "boolean"}
    assert model[0].kinds_ == kinds
    new = rows(300, seed=1)
    write(folder / "new.csv", new.drop_columns("sold").select(["new", "at", "size", "town"]))
    code, out, err = run(capsys, "predict", "m.okn", "new.csv")
    assert (code, err) == (0, "")
    np.testing.assert_array_equal(out.split(), model.predict(new.drop_columns("sold")))
    assert np.mean(np.array(out.split()) == new.column("sold").to_numpy()) > 0.9
    code, out, _ = run(capsys, "info", "m.okn")
    assert all(f"{name}: {kind}" in out for name, kind in kinds.items())


def test_all_formats_are_one_stream(folder, capsys):
    table, new = rows(), rows(50, seed=1).drop_columns("sold")
    expected = None
    for name in FORMATS:
        write(folder / name, table)
        write(folder / f"new-{name}", new)
        assert run(capsys, "train", name, "--target", "sold", "-o", "m.okn", *FAST)[0] == 0
        code, out, err = run(capsys, "predict", "m.okn", f"new-{name}", "--what", "scores")
        assert (code, err) == (0, "")
        expected = out if expected is None else expected
        assert out == expected
    X = new
    pairs = list(read_tables("rows.jsonl", "sold"))
    assert [type(block).__name__ for block, _ in pairs] == ["RecordBatch"]
    scores = onlinekern.load("m.okn").decision_function(X)
    np.testing.assert_array_equal(scores, np.array(expected.split(), dtype=float))


@pytest.mark.parametrize("name", ["rows.csv", "rows.jsonl", "rows.arrows"])
def test_pipes_of_tables(folder, capsys, name):
    write(folder / name, rows())
    raw = (folder / name).read_bytes()
    done = piped(raw, "train", "-", "--target", "sold", "-o", "piped.okn", *FAST)
    assert (done.returncode, done.stderr) == (0, b"")
    run(capsys, "train", name, "--target", "sold", "-o", "m.okn", *FAST)
    assert saved("piped.okn") == saved("m.okn")
    if name != "rows.arrows":  # answers to text: see below
        return
    done = piped(raw, "predict", "m.okn", "--target", "sold")
    code, out, _ = run(capsys, "predict", "m.okn", name, "--target", "sold")
    assert (done.returncode, done.stdout.decode()) == (code, out)


@pytest.mark.parametrize("name", ["rows.csv", "rows.jsonl"])
def test_answers_come_while_the_pipe_goes_on(folder, capsys, name):
    """A row is answered before the next one is there."""
    write(folder / name, rows(300))
    run(capsys, "train", name, "--target", "sold", "-o", "m.okn", *FAST)
    _, expected, _ = run(capsys, "predict", "m.okn", name, "--target", "sold")
    head, *lines = (folder / name).read_text().splitlines(keepends=True)
    with subprocess.Popen(
        [sys.executable, "-P", "-m", "onlinekern", "predict", "m.okn", "--target", "sold"],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
    ) as process:  # fmt: skip
        if name.endswith("csv"):
            process.stdin.write(head)
        else:
            lines.insert(0, head)
        for line, answer in zip(lines[:3], expected.splitlines(), strict=False):
            process.stdin.write(line)
            process.stdin.flush()
            assert process.stdout.readline().strip() == answer
        rest, _ = process.communicate("".join(lines[3:]))
        assert rest.splitlines() == expected.splitlines()[3:]


def test_a_slow_pipe_is_learnt_a_thousand_at_a_time():
    table, y = rows(2500), np.arange(2500)
    blocks = ((table.slice(k, 7).to_batches()[0], y[k : k + 7]) for k in range(0, 2500, 7))
    found = list(in_blocks(blocks, 1000, join=True))
    assert [len(part) for _, part in found] == [1000, 1000, 500]
    np.testing.assert_array_equal(np.concatenate([part for _, part in found]), y)
    assert pa.Table.from_batches([X for X, _ in found]).equals(table)


def test_text_of_other_makes(folder, capsys):
    table = rows(200)
    write(folder / "rows.csv", table)
    write(folder / "rows2.csv", table, ";")
    (folder / "bare.csv").write_text((folder / "rows.csv").read_text().split("\n", 1)[1])
    for file, target, options in [
        ("rows2.csv", "sold", []),
        ("rows2.csv", "sold", ["--separator", ";"]),
        ("bare.csv", "f4", ["--no-header"]),
    ]:
        code, _, err = run(capsys, "train", file, "--target", target, "-o", "m.okn", *FAST,
                             *options)  # fmt: skip
        assert (code, err) == (0, "")
        kinds = onlinekern.load("m.okn")[0].kinds_
        assert list(kinds.values()) == ["category", "number", "date", "boolean"]
    (folder / "comma.csv").write_text("a;b;y\n" + "1,5;2;0\n2,5;3;1\n" * 30)
    run(capsys, "train", "comma.csv", "--target", "y", "-o", "m.okn", *FAST, "--decimal", ",")
    assert onlinekern.load("m.okn")[0].kinds_ == {"a": "number", "b": "number"}


def test_text_with_line_breaks_is_one_value(folder, monkeypatch):
    """Blocks are cut at line ends: one inside quotes must not cut a row."""
    monkeypatch.setattr(binary, "CHUNK_BYTES", 64)
    notes = [f"first {k},\nsecond {k}" for k in range(40)]
    text = "".join(f'{k},"{note}",{k % 2}\n' for k, note in enumerate(notes))
    (folder / "rows.csv").write_text("k,note,y\n" + text)
    blocks = [X for X, _ in read_tables("rows.csv", "y")]
    assert len(blocks) > 5
    assert pa.Table.from_batches(blocks).column("note").to_pylist() == notes


BAD_LINES = {
    "rows.csv": ["Ulm,big,2026-01-01 00:00,True,yes", "Ulm,1.0", "Ulm,1.0,2026-01-01,maybe,yes"],
    "rows.jsonl": ['{"town": 7, "size": "big"}', "{", '{"new": 1}', "[1]"],
}


@pytest.mark.parametrize("name", BAD_LINES)
def test_faulty_lines_of_tables(folder, capsys, name):
    write(folder / f"good-{name}", rows(300))
    lines = (folder / f"good-{name}").read_text().splitlines()
    for bad in BAD_LINES[name]:
        (folder / name).write_text("\n".join([*lines[:100], bad, *lines[100:]]) + "\n")
        code, out, err = run(capsys, "train", name, "--target", "sold", "-o", "m.okn", *FAST)
        assert (code, out, err.count("\n")) == (2, "", 1)
        assert f"{name}, line 10" in err or f"{name}, data row 101: no value" in err
    (folder / name).write_text("\n".join([*lines[:100], *BAD_LINES[name], *lines[100:]]) + "\n")
    code, _, err = run(capsys, "train", name, "--target", "sold", "-o", "m.okn", *FAST,
                       "--on-error", "skip", "--json", "o.json")  # fmt: skip
    assert code == 0
    assert f"left out: {name}, " in err
    assert f" 10{'1' if name.endswith('l') else '2'}: " in err.split("left out: ")[1]
    assert json.loads((folder / "o.json").read_text())["lines_left_out"] == len(BAD_LINES[name])
    run(capsys, "train", f"good-{name}", "--target", "sold", "-o", "good.okn", *FAST)
    assert saved("m.okn") == saved("good.okn")


@pytest.mark.parametrize("name", ["rows.csv", "rows.jsonl", "rows.txt"])
def test_infinite_values_are_faults_of_their_row(folder, capsys, monkeypatch, name):
    """As a feature or as a target, in whatever way it is written; they can be left out."""
    forms = {
        "rows.csv": ("{2},{0},{1}", "a,b,t\n", ["inf", "1e999", "-Infinity"]),
        "rows.jsonl": ('{{"a": {2}, "b": {0}, "t": {1}}}', "", ["Infinity", "1e999"]),
        "rows.txt": ("{1} 1:{2} 2:{0}", "", ["inf", "1e999"]),
    }
    form, head, words = forms[name]
    good = [form.format(k / 7, k % 13 / 5, -k) for k in range(1200)]
    bad = [line for word in words for line in (form.format(1, 2, word), form.format(1, word, 2))]
    if name != "rows.txt":
        # The kind of targets has been settled by then.
        monkeypatch.setattr(binary, "CHUNK_BYTES", 10_000)
        bad.append(form.format(1, '"many"', 2))
    given = ["--target", "t"] if name != "rows.txt" else []
    given += ["--method", "ogd", "--task", "regression"]
    (folder / f"good-{name}").write_text(head + "\n".join(good) + "\n")
    (folder / name).write_text(head + "\n".join([*good[:-5], *bad, *good[-5:]]) + "\n")
    code, _, err = run(capsys, "train", name, "-o", "m.okn", *given, "--on-error", "skip",
                       "--json", "o.json")  # fmt: skip
    assert code == 0
    assert f"left out: {name}, " in err
    assert json.loads((folder / "o.json").read_text())["lines_left_out"] == len(bad)
    assert run(capsys, "train", f"good-{name}", "-o", "good.okn", *given)[0] == 0
    assert saved("m.okn") == saved("good.okn")


def test_numbers_of_python_alone_are_faults(folder, capsys):
    lines = ["a,t", *(f"{k},{k % 2}" for k in range(300))]
    (folder / "rows.csv").write_text("\n".join([*lines, "1_000,1", "7,0"]) + "\n")
    code, _, err = run(capsys, "train", "rows.csv", "--target", "t", "-o", "m.okn", *FAST,
                       "--on-error", "skip")  # fmt: skip
    assert code == 0
    assert "left out: rows.csv, data row 301: '1_000' in column 'a' is no number\n" in err


def test_bytes_that_are_not_utf8(folder, capsys, monkeypatch):
    """Python says nothing of its own of them, and they can be left out."""
    ignored = []
    monkeypatch.setattr(sys, "unraisablehook", ignored.append)
    text = b"name,size,y\n" + b"Ulm,1,0\nBonn,2,1\n" * 50 + b"%sUlm,3,0\n" * 1
    asked = ("latin.csv", "--target", "y", "-o", "m.okn", *FAST)
    for bad, message, fault in (
        (b"K\xf6ln,3\n", "Expected 3 columns, got 2", "line 102: 2 columns, not 3"),
        (b"K\xf6ln,3,1\n", "not UTF-8|invalid UTF8", "data row 101: column 'name' is not UTF-8"),
    ):
        (folder / "latin.csv").write_bytes(text % bad)
        code, _, err = run(capsys, "train", *asked)
        assert (code, err.count("\n")) == (2, 1)
        assert re.search(message, err)
        code, out, err = run(capsys, "train", *asked, "--on-error", "skip")
        assert (code, err) == (0, f"onlinekern: left out: latin.csv, {fault}\n")
        assert "101 samples" in out
    assert not ignored


@pytest.mark.parametrize("ending", ["", "\nUlm,1,0\nBonn,2,x,1\n"])
def test_line_breaks_in_the_names_of_a_header(folder, ending):
    (folder / "a.csv").write_text('"na\n\nme",size,"y"\nUlm,1,0\nBonn,2,1' + ending)
    blocks = read_tables("a.csv", "y")
    assert blocks.feature_names == ["na\n\nme", "size"]
    if ending:
        with pytest.raises(StreamError, match=r"a\.csv, line 7: Expected 3 columns"):
            list(blocks)
    else:
        assert np.concatenate([y for _, y in blocks]).tolist() == [0.0, 1.0]


def test_a_quote_that_never_ends_is_part_of_a_name(folder):
    (folder / "a.csv").write_text('x5",y\n' + "1,0\n2,1\n" * 40)
    assert read_tables("a.csv", "y").feature_names == ['x5"']


def test_lines_left_out_leave_text_as_it_is(folder):
    """Decimal commas and blanks are those of numbers, not of text."""
    lines = [f'" a, b {k % 3}";1,5;{k % 2}\n' for k in range(30)]
    (folder / "rows.csv").write_text("note;size;y\n" + "".join(lines) + "x;big;1\n")
    faults = []
    reading = Reading(decimal=",", faults=faults)
    (X, _), = read_tables("rows.csv", "y", reading=reading)  # fmt: skip
    assert X.column("note").to_pylist() == [f" a, b {k % 3}" for k in range(30)]
    assert X.column("size").to_pylist() == [1.5] * 30
    assert faults == ["rows.csv, data row 31: 'big' in column 'size' is no number"]


def test_what_does_not_fit_is_named(folder, capsys):
    write(folder / "rows.csv", rows(300))
    run(capsys, "train", "rows.csv", "--target", "sold", "-o", "m.okn", *FAST)
    (folder / "a.csv").write_text("town,size,new\nUlm,1,True\n")
    (folder / "b.csv").write_text("town,size,at,new\nUlm,big,2026-01-01,True\n")
    (folder / "c.csv").write_text("town,size,at,new\nUlm,1,2026-01-01,True\nUlm,1,soon,True\n")
    (folder / "d.jsonl").write_text('{"town": "Ulm", "size": 1e999, "at": null, "new": true}\n')
    for file, message in [
        ("a.csv", "lacks at"),
        ("b.csv", "line 2: 'big' in column 'size' is no number"),
        ("c.csv", "data row 2: column 'at' is 'soon', which is no date"),
        ("d.jsonl", "line 1: column 'size' is infinite"),
    ]:
        code, out, err = run(capsys, "predict", "m.okn", file)
        assert (code, out, err.count("\n")) == (2, "", 1)
        assert message in err
    code, _, err = run(capsys, "train", "rows.csv", "--target", "sold", "-o", "m.okn", *FAST,
                       "--missing", "refuse")  # fmt: skip
    assert (code, "is missing" in err) == (2, True)
    write(folder / "rows.parquet", rows(300))
    code, _, err = run(capsys, "train", "rows.parquet", "--target", "sold", "-o", "m.okn",
                       "--on-error", "skip")  # fmt: skip
    assert (code, "only text has faulty lines" in err) == (2, True)


def test_a_fault_of_several_files_is_named_by_its_file(folder, capsys):
    write(folder / "one.csv", rows(1500))
    lines = (folder / "one.csv").read_text().splitlines()
    place = lines[0].split(",").index("size")
    row = lines[50].split(",")
    row[place] = "1e999"
    (folder / "two.csv").write_text("\n".join([*lines[:50], ",".join(row), *lines[51:]]) + "\n")
    said = "two.csv, data row 50: column 'size' is infinite"
    code, _, err = run(
        capsys, "train", "one.csv", "two.csv", "--target", "sold", "-o", "m.okn", *FAST
    )
    assert (code, said in err) == (2, True), err
    assert run(capsys, "train", "one.csv", "--target", "sold", "-o", "m.okn", *FAST)[0] == 0
    (folder / "both").mkdir()
    for name in ("one.csv", "two.csv"):
        (folder / name).rename(folder / "both" / name)
    code, _, err = run(capsys, "predict", "m.okn", "both", "--target", "sold")
    assert (code, said in err) == (2, True), err


def test_columns_of_another_kind(folder, capsys):
    (folder / "rows.csv").write_text("zip,x,y\n" + "89073,1,0\n53111,2,1\n" * 50)
    run(capsys, "train", "rows.csv", "--target", "y", "-o", "m.okn", *FAST, "--column",
        "zip=category")  # fmt: skip
    model = onlinekern.load("m.okn")
    assert model[0].kinds_ == {"zip": "category", "x": "number"}
    assert "zip=89073" in model[0].get_feature_names_out()
    (folder / "new.csv").write_text("zip,x\n89073,1\n0815,2\n")
    assert run(capsys, "predict", "m.okn", "new.csv")[0] == 0


def test_a_stopped_run_goes_on_with_its_columns(folder, capsys):
    """After --resume, categories and kinds are those of the checkpoint."""
    write(folder / "rows.csv", rows())
    options = ["--target", "sold", *FAST, "--checkpoint-every", "500"]
    run(capsys, "train", "rows.csv", *options, "-o", "whole.okn")
    code = (
        "import signal, sys\n"
        "from onlinekern.cli import training\n"
        "learn = training.Training.learn\n"
        "def stopped(self, X, y):\n"
        "    learn(self, X, y)\n"
        "    signal.raise_signal(signal.SIGINT)\n"
        "training.Training.learn = stopped\n"
        "from onlinekern.cli import main\n"
        "main(sys.argv[1:])\n"
    )
    stopped = [sys.executable, "-P", "-c", code, "train", "rows.csv", *options, "-o", "m.okn"]
    assert subprocess.run(stopped, capture_output=True, check=False).returncode == 130
    code, _, err = run(capsys, "train", "rows.csv", *options, "-o", "m.okn", "--resume", "--limit",
                       "10")  # fmt: skip
    assert (code, "--limit 10: 1000 rows have been learnt already" in err) == (2, True)
    assert run(capsys, "train", "rows.csv", *options, "-o", "m.okn", "--resume")[0] == 0
    assert saved("m.okn") == saved("whole.okn")


def test_compare_takes_them_too(folder, capsys):
    write(folder / "rows.csv", rows(400))
    write(folder / "test.csv", rows(200, seed=1))
    code, out, err = run(capsys, "compare", "rows.csv", "--target", "sold", "--test", "test.csv",
                         "--methods", "spa", "--repeats", "1", "--gamma", "0.5")  # fmt: skip
    assert (code, err.count("error")) == (0, 0)
    assert "SPA" in out
    with open_source("rows.csv", "sold", encoder=TableEncoder()) as source:
        assert source.n_features == len(TableEncoder().fit(
            rows(400).drop_columns("sold")).get_feature_names_out())  # fmt: skip
    with pytest.raises(StreamError, match="is no number"):
        list(open_source("rows.csv", "sold").blocks())


def test_in_python_the_same(folder):
    write(folder / "rows.csv", rows(300), ";")
    model = make_stream_pipeline(TableEncoder(), StreamClassifier(random_state=0))
    for X, y in read_tables("rows.csv", "sold", reading=Reading(separator=";")):
        model.partial_fit(X, y)
    assert model[-1].n_seen_ == 300
    with pytest.raises(StreamError, match="LIBSVM text is no table"):
        next(read_tables(write_libsvm(folder), None))


def write_libsvm(folder):
    (folder / "a.txt").write_text("1 1:2\n")
    return folder / "a.txt"


def test_targets_have_decimal_commas_too(folder, capsys):
    rows = [f"{k % 7},5;{k % 7},25\n" for k in range(60)]
    (folder / "comma.csv").write_text("a;y\n" + "".join(rows) + "1,0;none\n1,0;inf\n")
    asked = ("comma.csv", "--target", "y", "-o", "m.okn", "--decimal", ",", *FAST)
    asked = (*asked, "--task", "regression")
    code, _, err = run(capsys, "train", *asked)
    assert (code, err) == (
        2, "onlinekern: error: comma.csv, data row 61: target 'none' is not a number\n",
    )  # fmt: skip
    code, out, err = run(capsys, "train", *asked, "--on-error", "skip")
    assert (code, "60 samples" in out) == (0, True)
    assert err.endswith("comma.csv, data row 61: target 'none' is not a number, and 1 more\n")
    assert 0.25 <= onlinekern.load("m.okn").predict([{"a": 3.5}])[0] <= 6.25


def test_text_of_typed_files_is_no_target_of_a_regression(folder, capsys):
    write(folder / "rows.parquet", rows(300))
    code, _, err = run(capsys, "train", "rows.parquet", "--target", "sold", "-o", "m.okn", *FAST,
                       "--task", "regression")  # fmt: skip
    assert (code, err) == (2, "onlinekern: error: the targets of a regression cannot be text\n")


@pytest.mark.parametrize("name", ["rows.csv", "rows.jsonl", "rows.parquet"])
def test_predict_leaves_the_target_of_train_out(tmp_path, capsys, monkeypatch, name):
    monkeypatch.chdir(tmp_path)
    table = rows(200)
    write(tmp_path / name, table)
    write(tmp_path / f"new.{name}", table.drop_columns("sold"))
    assert run(capsys, "train", name, "--target", "sold", "-o", "model.okn", *FAST)[0] == 0
    _, expected, _ = run(capsys, "predict", "model.okn", f"new.{name}")
    assert expected.count("\n") == 200
    for more in ([], ["--target", "sold"]):
        assert run(capsys, "predict", "model.okn", name, *more) == (0, expected, "")
    # A column that `train` did not know is none.
    write(tmp_path / name, table.rename_columns(["town", "size", "at", "new", "bought"]))
    code, _, err = run(capsys, "predict", "model.okn", name)
    assert code == 2
    assert "has also bought" in err
    assert run(capsys, "predict", "model.okn", name, "--target", "bought") == (0, expected, "")
    assert "onlinekern.target_column: sold" in run(capsys, "info", "model.okn")[1]


def test_models_of_python_have_no_target_column(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    table = rows(200)
    write(tmp_path / "rows.csv", table)
    model = make_stream_pipeline(TableEncoder(), StreamClassifier(time_budget=12.0))
    model.partial_fit(table.drop_columns("sold"), table["sold"])
    model.save("model.okn", {"target_column": "size", "day": 3})
    code, _, err = run(capsys, "predict", "model.okn", "rows.csv")
    assert code == 2
    assert "has also sold" in err
    assert run(capsys, "predict", "model.okn", "rows.csv", "--target", "sold")[0] == 0
    assert run(capsys, "info", "model.okn")[1].endswith("target_column: size\nday: 3\n")


def test_memory_is_planned_for_the_classes_of_the_first_rows(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    sizes, towns = rng.normal(size=300), rng.choice(["Ulm", "Bonn", "Jena"], 300)
    grades = np.array(["a", "b", "c", "d"])[np.digitize(sizes, [-0.7, 0, 0.7])]
    lines = [f"{s:.3f},{t},{g}" for s, t, g in zip(sizes, towns, grades, strict=True)]
    (tmp_path / "rows.csv").write_text("\n".join(["size,town,grade", *lines]))
    assert run(capsys, "train", "rows.csv", "--target", "grade", "-o", "model.okn")[::2] == (0, "")


def test_standard_input_that_is_said_to_be_a_table_needs_a_target(folder, capsys, monkeypatch):
    text = io.BufferedReader(io.BytesIO(b"a,b,y\n1,2,0\n2,1,1\n"))
    monkeypatch.setattr(sys, "stdin", mock.Mock(buffer=text))
    code, _, err = run(capsys, "train", "-", "--format", "csv", "-o", "m.okn")
    assert (code, err) == (
        2, "onlinekern: error: standard input: name the target column, one of a, b, y\n",
    )  # fmt: skip


def test_files_without_a_row_are_named(folder, capsys):
    (folder / "none.csv").write_text("a,b,y\n")
    code, _, err = run(capsys, "train", "none.csv", "--target", "y", "-o", "m.okn")
    assert (code, err) == (2, "onlinekern: error: the data hold no rows: none.csv\n")
