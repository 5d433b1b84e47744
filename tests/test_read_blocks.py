"""Files read one after the other are one stream: labels keep their values, columns their names."""

import io
import re
from unittest import mock

import numpy as np
import pytest

from onlinekern import KernelPAClassifier
from onlinekern.streams import Source, StreamError, open_source, read_blocks
from onlinekern.streams.formats import binary

pa = pytest.importorskip("pyarrow")
from pyarrow import csv, parquet  # noqa: E402

MONDAY = {"amount": [5.0, 1.0, 2.0], "hour": [1.0, 9.0, 8.0], "kind": ["fraud", "ok", "ok"]}
TUESDAY = {"kind": ["ok", "fraud"], "hour": [7.0, 2.0], "amount": [3.0, 6.0]}


def write(path, columns):
    table = pa.table(columns)
    if path.suffix == ".csv":
        csv.write_csv(table, path)
    elif path.suffix == ".parquet":
        parquet.write_table(table, path)
    else:
        kind = pa.ipc.new_file if path.suffix == ".arrow" else pa.ipc.new_stream
        with kind(path, table.schema) as writer:
            writer.write_table(table)
    return path


@pytest.fixture(params=["csv", "parquet", "arrow", "arrows"])
def files(request, tmp_path):
    def make(*tables):
        return [
            write(tmp_path / f"{number}.{request.param}", columns)
            for number, columns in enumerate(tables)
        ]

    return make


def joined(blocks):
    X, y = zip(*blocks, strict=True)
    return np.concatenate(X).tolist(), np.concatenate(y).tolist()


def test_labels_keep_their_values_and_columns_go_by_name(files):
    rows, labels = joined(read_blocks(files(MONDAY, TUESDAY), "kind"))
    assert rows == [[5, 1], [1, 9], [2, 8], [3, 7], [6, 2]]
    assert labels == ["fraud", "ok", "ok", "ok", "fraud"]


def test_a_later_call_goes_on_like_an_earlier_one(files):
    first, second = files(MONDAY, TUESDAY)
    blocks = read_blocks(first, "kind")
    assert blocks.feature_names == ["amount", "hour"]
    joined(blocks)
    for like in (blocks, open_source(first, "kind")):
        rows, labels = joined(read_blocks(second, "kind", like=like))
        assert rows == [[3, 7], [6, 2]]
        assert labels == ["ok", "fraud"]


def test_a_model_learns_the_labels_as_they_are(files):
    model = KernelPAClassifier(gamma=0.1)
    for X, y in read_blocks(files(MONDAY, TUESDAY), "kind"):
        model.partial_fit(X, y, classes=["ok", "fraud"])
    assert set(model.predict([[5.0, 1.0], [2.0, 8.0]])) == {"fraud", "ok"}


MISMATCHES = {
    "missing": ({"amount": [1.0], "kind": ["ok"]}, r"lacks hour"),
    "more": ({**MONDAY, "day": [1.0, 2.0, 3.0]}, r"has also day"),
    "renamed": (
        {"amount": [1.0], "hours": [2.0], "kind": ["ok"]},
        r"lacks hour and has also hours",
    ),
    "no target": ({"amount": [1.0], "hour": [1.0]}, r"no column named 'kind'"),
}


@pytest.mark.parametrize("name", MISMATCHES)
def test_other_columns_are_named(files, name):
    columns, message = MISMATCHES[name]
    first, second = files(MONDAY, columns)
    blocks = read_blocks([first, second], "kind")
    next(blocks)
    with pytest.raises(StreamError, match=message) as raised:
        next(blocks)
    assert str(second) in str(raised.value)


def test_numbers_that_follow_text_stay_text_in_csv(tmp_path):
    paths = [tmp_path / "a.csv", tmp_path / "b.csv"]
    paths[0].write_text("x,y\n1,0\n2,none\n")
    paths[1].write_text("x,y\n1,0\n")
    assert joined(read_blocks(paths, "y"))[1] == ["0", "none", "0"]
    with pytest.raises(StreamError, match=r"a.csv, data row 2: target 'none' is not a number"):
        joined(read_blocks(paths[::-1], "y"))


def test_numbers_and_text_do_not_mix_in_parquet(tmp_path):
    numbers = write(tmp_path / "n.parquet", {"x": [1.0, 2.0], "y": [0, 1]})
    text = write(tmp_path / "t.parquet", {"x": [1.0, 2.0], "y": ["0", "1"]})
    assert joined(read_blocks(text, "y"))[1] == ["0", "1"]
    with pytest.raises(StreamError, match=r"t.parquet: column 'y' holds text, but numbers before"):
        joined(read_blocks([numbers, text], "y"))
    with pytest.raises(StreamError, match=r"n.parquet: column 'y' holds numbers, but text before"):
        joined(read_blocks([text, numbers], "y"))


def test_tables_and_libsvm_text_do_not_mix(tmp_path):
    table, text = write(tmp_path / "a.csv", MONDAY), tmp_path / "b.txt"
    text.write_text("1 1:2\n")
    for paths in ([table, text], [text, table]):
        blocks = read_blocks(paths, None if paths[0] is text else "kind", n_features=2)
        next(blocks)
        with pytest.raises(StreamError):
            next(blocks)
    with pytest.raises(StreamError, match="no files"):
        read_blocks([])


def test_several_libsvm_files(tmp_path):
    paths = [tmp_path / "a", tmp_path / "b"]
    paths[0].write_text("1 1:2\n")
    paths[1].write_text("-1 2:3\n")
    blocks = list(read_blocks(paths, n_features=2))
    assert [X.toarray().tolist() for X, _ in blocks] == [[[2, 0]], [[0, 3]]]
    assert [y.tolist() for _, y in blocks] == [[1], [-1]]


def test_sources_of_text_labels(files):
    first, second, numbers = files(MONDAY, TUESDAY, {"amount": [1.0], "hour": [1.0], "kind": [0.0]})
    source = open_source(first, "kind")
    assert source.classes.tolist() == ["fraud", "ok"]
    assert source.head(2)[1].tolist() == ["fraud", "ok"]
    assert sorted(np.concatenate([y for _, y in source.blocks(0)])) == ["fraud", "ok", "ok"]
    test = open_source(second, "kind", like=source)
    assert test.class_counts == {"fraud": 1, "ok": 1}
    with pytest.raises(StreamError, match="cannot be text"):
        open_source(first, "kind", task="regression")
    if numbers.suffix != ".csv":
        with pytest.raises(StreamError, match="holds numbers, but text before"):
            open_source(numbers, "kind", like=source)
    arrays = Source.from_arrays(np.eye(3), ["a", "b", "a"])
    assert arrays.class_counts == {"a": 2, "b": 1}
    with pytest.raises(StreamError, match="the targets are numbers, those of stream are text"):
        Source.from_arrays(np.eye(3), [0, 1, 0], like=arrays)


@pytest.mark.parametrize("cut", ["footer", "page"])
def test_a_damaged_table_names_the_file(files, cut):
    (path,) = files(MONDAY)
    if path.suffix == ".csv" or (path.suffix, cut) == (".arrows", "footer"):
        pytest.skip("there is no such part")
    data = bytearray(path.read_bytes())
    start = len(data) - 60 if cut == "footer" else 4
    data[start : start + 8] = b"\xff" * 8
    path.write_bytes(data)
    for read in (read_blocks, open_source):
        with pytest.raises(StreamError, match=re.escape(str(path))):
            next(iter(read(path, "kind")))


@pytest.mark.parametrize("kind", [pa.ipc.new_file, pa.ipc.new_stream])
def test_batches_of_arrow_are_read_one_by_one(tmp_path, kind, monkeypatch):
    monkeypatch.setattr(binary, "CHUNK_BYTES", 0)  # 64 rows at a time
    table = pa.table({"x": np.arange(1000.0), "y": np.arange(1000.0) % 2})
    with kind(tmp_path / "a.arrow", table.schema) as writer:
        writer.write_table(table, max_chunksize=300)
    blocks = list(read_blocks(tmp_path / "a.arrow", "y"))
    assert {len(y) for _, y in blocks} == {64, 44, 36}
    np.testing.assert_array_equal(np.concatenate([X[:, 0] for X, _ in blocks]), np.arange(1000.0))


def test_a_fault_of_standard_input_says_so(monkeypatch):
    monkeypatch.setattr("sys.stdin", mock.Mock(buffer=io.BufferedReader(io.BytesIO(b"1 9:1\n"))))
    with pytest.raises(StreamError, match="standard input: feature index 9"):
        next(read_blocks("-", n_features=2))
