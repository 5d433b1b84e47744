"""``onlinekern export``: a model file in, C out."""

import numpy as np
import pytest
from commands import run
from sklearn.datasets import dump_svmlight_file

pytest.importorskip("typer")

from described import scores_of_model

from onlinekern import (
    NystroemFeatures,
    OnlineStandardScaler,
    PAClassifier,
    StreamClassifier,
    TableEncoder,
    load,
    make_stream_pipeline,
)
from onlinekern.fitted.export.describe import describe


@pytest.fixture
def folder(tmp_path, monkeypatch, stream):
    """The current folder, with three model files."""
    monkeypatch.chdir(tmp_path)
    X, y = stream("binary", n=40)
    make_stream_pipeline(OnlineStandardScaler(), PAClassifier()).fit(X, y).save("model.okn")
    PAClassifier().fit(X, y).save("plain.okn")
    StreamClassifier(time_budget=20.0).fit(X, y).save("race.okn")
    NystroemFeatures(gamma=0.5).fit(X).save("map.okn")
    dump_svmlight_file(X, y == "yes", "rows.libsvm", zero_based=False)
    PAClassifier().save("empty.okn")
    return tmp_path


def test_files_are_those_of_the_method(folder, capsys):
    code, out, err = run(capsys, "export", "model.okn", "--to", "c", "-o", "m.c")
    assert (code, err) == (0, "")
    made = load("model.okn").export_c("other.c", prefix="m")
    assert (
        out == f"m.c, m.h: scores and learns, {made.flash:,} bytes of flash, {made.ram:,} of RAM\n"
    )
    assert (folder / "m.h").read_text() == made.header.read_text()
    assert (folder / "m.c").read_text() == made.code.read_text().replace("other.h", "m.h")


def test_options(folder, capsys):
    options = ["--dtype", "float32", "--prefix", "alarm"]
    assert run(capsys, "export", "plain.okn", "-o", "m.c", *options)[1].startswith(
        "m.c, m.h: scores and learns, "
    )
    header = (folder / "m.h").read_text()
    assert "typedef float alarm_real" in header
    assert "alarm_learn_one" in header
    assert run(capsys, "export", "plain.okn", "-o", "m.c", "--no-learn")[0] == 0
    assert "learn_one" not in (folder / "m.h").read_text()


def test_fixed_point(folder, capsys, stream):
    X, y = stream("binary", n=40)
    options = ["--dtype", "int16", "--rows"]
    code, out, err = run(capsys, "export", "plain.okn", "-o", "m.c", *options, "rows.libsvm")
    assert (code, err) == (0, "")
    assert out.startswith("m.c, m.h: scores, ")
    load("plain.okn").export_c("other.c", prefix="m", dtype="int16", rows=X)
    assert (folder / "m.c").read_text() == (folder / "other.c").read_text().replace(
        "other.h", "m.h"
    )
    pd = pytest.importorskip("pandas")
    table = pd.DataFrame(X, columns=list("abcdef"))
    make_stream_pipeline(TableEncoder(), PAClassifier()).fit(table, y).save("table.okn")
    table.assign(y=y)[[*"ybfdeca"]].to_csv("rows.csv", index=False)
    assert run(capsys, "export", "table.okn", "-o", "t.c", *options, "rows.csv")[0] == 0
    load("table.okn").export_c("other.c", prefix="t", dtype="int16", rows=table)
    assert (folder / "t.c").read_text() == (folder / "other.c").read_text().replace(
        "other.h", "t.h"
    )


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["model.okn", "-o", "m.txt"], "--output m.txt: the name must end in .c or .onnx"),
        (["model.okn", "-o", "m.txt", "--to", "c"], "path must end in .c, got 'm.txt'"),
        (["model.okn", "-o", "m.c", "--to", "pascal"], "--to: unknown 'pascal'; known are c"),
        (["model.okn", "-o", "m.c", "--dtype", "int8"], "dtype must be"),
        (["model.okn", "-o", "m.c", "--prefix", "a b"], "prefix must be a C identifier"),
        (["plain.okn", "-o", "m.c", "--dtype", "int16"], "rows must be given with dtype='int16'"),
        (["plain.okn", "-o", "m.c", "--rows", "no.csv"], "no.csv: No such file"),
        (["plain.okn", "-o", "m.c", "--rows", "rows.libsvm"], "rows has no effect with dtype"),
        (
            ["plain.okn", "-o", "m.onnx", "--rows", "rows.libsvm"],
            "--rows is no option of --to onnx",
        ),
        (["missing.okn", "-o", "m.c"], "missing.okn: No such file"),
        (["model.okn", "-o", "nowhere/m.c"], "nowhere/m.h: No such file"),
        (["map.okn", "-o", "m.c"], "map.okn holds a NystroemFeatures, which is no learner"),
        (["empty.okn", "-o", "m.c"], "is not fitted yet"),
        (["race.okn", "-o", "m.c", "--learn"], "cannot be exported to learn: it is a race"),
        (["plain.okn", "-o", "m.c", "--capacity", "0"], "capacity must be an integer >= 1"),
        (["plain.okn", "-o", "m.c", "--capacity", "9"], "capacity=9 has no effect on PAClass"),
    ],
)
def test_bad_input(folder, capsys, arguments, message):
    code, out, err = run(capsys, "export", *arguments)
    assert (code, out) == (2, "")
    assert message in err
    assert err.count("\n") == 1
    assert not list(folder.glob("m.*"))


def test_what_cannot_be_exported(folder, capsys, stream):
    from sklearn.preprocessing import StandardScaler

    X, y = stream("binary", n=40)
    pipeline = make_stream_pipeline(StandardScaler(), PAClassifier()).fit(X, y)
    with pytest.raises(TypeError, match="the step 'standardscaler'"):
        pipeline.export_c("m.c")
    notes = [{"note": f"words of row number {k}"} for k in range(len(y))]
    table = make_stream_pipeline(TableEncoder(), PAClassifier()).fit(notes, y)
    table.save("table.okn")
    code, _, err = run(capsys, "export", "table.okn", "-o", "m.c")
    assert code == 2
    assert "the step 'tableencoder' (TableEncoder) cannot be exported: column 'note'" in err


def test_a_table_of_numbers_is_exported(stream, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    X, y = stream("binary", n=40)
    table = make_stream_pipeline(TableEncoder(), PAClassifier()).fit(X, y)
    np.testing.assert_allclose(
        scores_of_model(describe(table), X).ravel(), table.decision_function(X), rtol=1e-12
    )
    table.save("table.okn")
    code, out, _ = run(capsys, "export", "table.okn", "-o", "m.c")
    assert (code, "m.h" in out) == (0, True)
    holes = np.where(np.arange(len(X))[:, None] % 3 == 0, np.nan, X)
    table.fit(holes, y)
    found = scores_of_model(describe(table), holes).ravel()
    np.testing.assert_allclose(found, table.decision_function(holes), rtol=1e-12)
