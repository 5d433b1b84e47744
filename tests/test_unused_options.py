"""Options of commands that would do nothing where they are given are errors which name them."""

import numpy as np
import pytest

pytest.importorskip("typer")
pytest.importorskip("rich")
pytest.importorskip("pyarrow")
pytest.importorskip("uvicorn")
pytest.importorskip("starlette")

from commands import run

from onlinekern.evaluate.comparing import compare
from onlinekern.streams.source import Source

TABLE = ["rows.csv", "--target", "t"]
LIBSVM = "is for tables, and rows.txt is libsvm"
CSV = "is for CSV, and rows.txt is libsvm"
TEXT = "is for LIBSVM text, and rows.csv is csv"
UNUSED = [
    ("train", [*TABLE, "--n-features", 3], TEXT),
    ("train", [*TABLE, "--zero-based"], TEXT),
    ("train", ["rows.txt", "--separator", ";"], CSV),
    ("train", ["rows.txt", "--decimal", ","], CSV),
    ("train", ["rows.txt", "--no-header"], CSV),
    ("train", ["rows.jsonl", "--target", "t", "--no-header"], "and rows.jsonl is jsonl"),
    ("train", ["rows.txt", "--column", "a=number"], LIBSVM),
    ("train", ["rows.txt", "--missing", "refuse"], LIBSVM),
    ("train", ["rows.txt", "--categories", "hash"], LIBSVM),
    ("train", ["rows.txt", "--slots", 100], LIBSVM),
    ("train", [*TABLE, "--slots", 100, "--categories", "one-hot"], "is for hashed categories"),
    ("train", ["rows.txt", "--scale", "none"], "does nothing with stream"),
    ("train", [*TABLE, "--seed", 1, "--seed", 2], "--seed is given 2 times, and takes one value"),
    ("train", [*TABLE, "--target", "a"], "--target is given 2 times"),
    ("train", [*TABLE, "--header", "--no-header"], "--header is given 2 times"),
    ("train", [*TABLE, "--param", "n_epochs=1", "--param", "n_epochs=2"], "has the value 1"),
    ("train", [*TABLE, "--column", "a=number", "--column", "a=date"], "has the value number"),
    ("train", [*TABLE, "--column", "t=number"], "--column t: that is the column of the targets"),
    ("compare", ["--methods", "pa1", "--methods", "arow"], "--methods is given 2 times"),
    ("train", [*TABLE, "--by-class"], "needs --coverage SHARE"),
    ("train", [*TABLE, "--by-class", "--coverage", 0.8, "--task", "regression"], "is for classes"),
    ("predict", ["table.okn", "rows.csv", "--zero-based"], TEXT),
    ("predict", ["table.okn", "rows.csv", "--coverage", 0.5], "is for --what intervals"),
    ("predict", ["text.okn", "rows.txt", "--separator", ";"], CSV),
    ("predict", ["text.okn", "rows.txt", "--target", "t"], "LIBSVM text has no target column"),
    ("compare", [*TABLE, "--n-features", 3], TEXT),
    ("compare", [*TABLE, "--zero-based"], TEXT),
    ("compare", ["--n-features", 3], "needs DATA"),
    ("compare", ["--zero-based"], "needs DATA"),
    ("compare", ["rows.txt", "--in-order", "--repeats", 2], "is for random orders"),
    ("compare", ["rows.txt", "--checkpoint-every", "5s"], "needs --checkpoint PATH"),
    ("compare", ["rows.txt", "--kernel", "cosine", "--gamma", 1], "is for kernels with a width"),
    ("compare", ["rows.txt", "--methods", "stream", "--scale", "none"], "does nothing"),
    ("serve", ["text.okn", "--uds", "socket", "--port", 1], "is for the network"),
    ("serve", ["text.okn", "--uds", "socket", "--host", "::1"], "is for the network"),
    ("serve", ["text.okn", "--read-only", "--sync", "off"], "is for a model that learns"),
    ("serve", ["text.okn", "--read-only", "--snapshot-every", 9], "is for a model that learns"),
    ("serve", ["text.okn", "--read-only", "--max-classes", 9], "is for a model that learns"),
    # Defaults that are named would do nothing either.
    ("serve", ["text.okn", "--read-only", "--sync", "always"], "is for a model that learns"),
    ("serve", ["text.okn", "--uds", "socket", "--host", "127.0.0.1"], "is for the network"),
    ("train", ["rows.txt", "--header"], CSV),
    ("compare", ["rows.txt", "--checkpoint-every", "60s"], "needs --checkpoint PATH"),
]  # fmt: skip


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """Files of three formats, and models that two of them have taught."""
    import onlinekern

    folder = tmp_path_factory.mktemp("files")
    numbers = [(k / 7, k % 5 - 2.0, k % 2) for k in range(40)]
    write = {
        "rows.csv": ["a,b,t", *(f"{a},{b},{t}" for a, b, t in numbers)],
        "rows.txt": [f"{t} 1:{a} 2:{b}" for a, b, t in numbers],
        "rows.jsonl": [f'{{"a": {a}, "b": {b}, "t": {t}}}' for a, b, t in numbers],
    }
    for name, lines in write.items():
        (folder / name).write_text("\n".join(lines) + "\n")
    X, y = np.array(numbers)[:, :2], np.array([t for *_, t in numbers])
    onlinekern.PAClassifier().fit(X, y).save(folder / "text.okn")
    pandas = pytest.importorskip("pandas")
    table = pandas.DataFrame(X, columns=["a", "b"])
    onlinekern.PAClassifier().fit(table, y).save(folder / "table.okn")
    return folder


@pytest.mark.parametrize(
    ("command", "arguments", "why"), UNUSED, ids=[f"{one[0]} {one[1]}" for one in UNUSED]
)
def test_an_option_that_would_do_nothing_is_named(
    files, capsys, monkeypatch, command, arguments, why
):
    monkeypatch.chdir(files)
    where = ["-o", "new.okn"] if command == "train" else []
    code, out, err = run(capsys, command, *arguments, *where)
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert why in err
    named = [word for word in arguments if str(word).startswith("--") and word in err]
    assert named or "target column" in why
    assert not (files / "new.okn").exists()


@pytest.mark.parametrize("given", [{"gamma": 0.5}, {"kernel": "laplacian"}])
def test_a_kernel_that_no_method_has(given):
    X, y = np.random.default_rng(0).normal(size=(60, 2)), np.arange(60) % 2
    with Source.from_arrays(X, y) as source:
        with pytest.raises(ValueError, match="has no effect: none of the methods has a kernel"):
            compare(["linear-pa1", "arow"], source, repeats=1, **given)
        compare(["linear-pa1", "pa1"], source, repeats=1, **given)
