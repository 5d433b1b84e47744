"""Streams: every format reads back what was written, every error is named, shuffles are uniform."""

import bz2
import gzip
import io
import lzma
import math
import sys
from itertools import islice, permutations

import numpy as np
import pytest
from scipy import sparse

from onlinekern import TableEncoder
from onlinekern.streams import (
    Reading,
    Source,
    StreamError,
    buffer,
    chess_board,
    gaussian_mixture,
    gaussian_mixture_blocks,
    open_source,
    read_blocks,
    read_tables,
    two_normals,
    two_spirals,
)
from onlinekern.streams.formats import binary


def open_zstandard(path, mode):
    return pytest.importorskip("pyarrow").CompressedOutputStream(path, "zstd")


PACKERS = {"": open, ".gz": gzip.open, ".bz2": bz2.open, ".xz": lzma.open, ".zst": open_zstandard}
FAULTS = [
    ("1 1:2\n-1 1:x\n", r"line 2: '1:x' is not index:value"),
    ("1 1:2\n\n# note\n-1 1:nan\n", r"line 4: value of feature 1 is nan"),
    ("1 1:2\n-1 1:inf\n", r"line 2: value of feature 1 is inf"),
    ("nan 1:2\n", r"line 1: label 'nan' is not finite"),
    ("yes 1:2\n", r"line 1: label 'yes' is not a number"),
    ("1,2 1:2\n", r"line 1: label '1,2' is not a number"),
    ("1 1:2 3\n", r"line 1: '3' is not index:value"),
    ("1 2:2 1:3\n", r"line 1: feature indices must ascend without repeats, 1 comes after 2"),
    ("1 1:1\n1 2:2 2:3\n", r"line 2: feature indices must ascend without repeats"),
    ("1 -1:2\n", r"line 1: feature index -1 is out of range"),
    ("1 99999999999:2\n", r"line 1: feature index 99999999999 is out of range"),
    ("", r"no samples"),
    ("# nothing\n\n", r"no samples"),
    ("1\n-1\n", r"no features"),
    ("1 1:2\n1 2:3\n", r"all 2 samples are of one class \(1\)"),
]


def write(path, text):
    path.write_text(text)
    return path


def collect(source, random_state=None):
    """Return all rows of a source, dense, and its targets."""
    pairs = list(source.blocks(random_state))
    rows = [X.toarray() if sparse.issparse(X) else X for X, _ in pairs]
    return np.concatenate(rows), np.concatenate([y for _, y in pairs])


def libsvm_text(X, y):
    lines = []
    for row, target in zip(X, y, strict=True):
        pairs = (f"{j + 1}:{value!r}" for j, value in enumerate(row.tolist()) if value)
        lines.append(" ".join([repr(float(target)), *pairs]))
    return "\n".join(lines) + "\n"


@pytest.fixture
def data():
    generator = np.random.default_rng(0)
    X = generator.standard_normal((50, 6)) * (generator.random((50, 6)) < 0.4)
    X[0, -1] = 1.5
    return X, np.where(generator.random(50) < 0.5, 1.0, -1.0)


@pytest.mark.parametrize("packed", PACKERS)
def test_libsvm_round_trip(tmp_path, data, packed, monkeypatch):
    monkeypatch.setattr(binary, "CHUNK_BYTES", 300)  # lines cut across many chunks
    X, y = data
    path = tmp_path / f"data.libsvm{packed}"
    with PACKERS[packed](path, "wb") as file:
        file.write(libsvm_text(X, y).encode())
    source = open_source(path, dtype="float64")
    assert not source.layout.dense
    rows, targets = collect(source)
    np.testing.assert_array_equal(rows, X)
    np.testing.assert_array_equal(targets, y)
    assert source.classes.tolist() == [-1.0, 1.0]


def test_libsvm_from_standard_input(data, monkeypatch):
    X, y = data
    text = io.TextIOWrapper(io.BytesIO(gzip.compress(libsvm_text(X, y).encode())))
    monkeypatch.setattr("sys.stdin", text)
    np.testing.assert_array_equal(collect(open_source("-", dtype="float64"))[0], X)


def test_libsvm_comments_blank_lines_and_query_ids(tmp_path):
    path = write(tmp_path / "a", "\ufeff1 qid:3 1:2 # why\r\n\r\n# no\n-1 2:0.5")
    rows, targets = collect(open_source(path))
    assert rows.tolist() == [[2.0, 0.0], [0.0, 0.5]]
    assert targets.tolist() == [1.0, -1.0]


def test_index_zero_is_found_over_the_whole_file(tmp_path, monkeypatch):
    monkeypatch.setattr(binary, "CHUNK_BYTES", 8)
    path = write(tmp_path / "a", "1 1:2\n-1 2:3\n" * 5 + "1 0:7\n")
    rows, _ = collect(open_source(path))
    assert rows.shape == (11, 3)
    assert rows[-1].tolist() == [7.0, 0.0, 0.0]
    later = write(tmp_path / "b", "1 1:2\n-1 2:3\n")
    assert open_source(later).n_features == 2
    assert open_source(later, zero_based=True).n_features == 3
    with pytest.raises(StreamError, match="feature index 0, but zero_based=False"):
        open_source(path, zero_based=False)


@pytest.mark.parametrize(("text", "message"), FAULTS)
def test_libsvm_faults_are_named(tmp_path, text, message):
    with pytest.raises(StreamError, match=message) as caught:
        open_source(write(tmp_path / "data.txt", text))
    assert "data.txt" in str(caught.value)


def test_fault_far_into_the_file_has_its_line_number(tmp_path, monkeypatch):
    monkeypatch.setattr(binary, "CHUNK_BYTES", 64)
    path = write(tmp_path / "a", "1 1:2\n-1 2:3\n" * 500 + "1 1:2:3\n")
    with pytest.raises(StreamError, match="line 1001: "):
        open_source(path)


@pytest.mark.parametrize("packed", [".gz", ".bz2", ".xz", ".zst"])
def test_damaged_compressed_file(tmp_path, packed):
    path = tmp_path / f"a{packed}"
    with PACKERS[packed](path, "wb") as file:
        file.write(np.random.default_rng(0).bytes(5000))
    path.write_bytes(path.read_bytes()[:2000])
    with pytest.raises(StreamError):
        open_source(path)


def test_zstandard_wants_python_or_pyarrow(tmp_path, monkeypatch):
    pa = pytest.importorskip("pyarrow")
    (tmp_path / "a.zst").write_bytes(2 * pa.compress(b"1 1:2\n-1 2:3\n", "zstd", asbytes=True))
    assert collect(open_source(tmp_path / "a.zst"))[0].tolist() == [[2, 0], [0, 3]] * 2
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    monkeypatch.setattr(binary, "of_python", lambda: None)
    with pytest.raises(
        StreamError, match=r"a\.zst: packed by Zstandard, which Python unpacks from"
    ):
        open_source(tmp_path / "a.zst")


@pytest.mark.parametrize(("name", "line"), [("a.csv", 3), ("head.csv", 1)])
def test_text_of_latin_1_is_told_what_to_do(tmp_path, name, line):
    pytest.importorskip("pyarrow")
    text = "a,b\nUlm,1\nKöln,2\n" if line == 3 else "größe,b\nUlm,1\n"
    (tmp_path / name).write_text(text, encoding="latin-1")
    with pytest.raises(StreamError, match=f"{name}, line {line}: not UTF-8; iconv -f LATIN1"):
        list(read_tables(tmp_path / name, "b"))
    (tmp_path / "a.jsonl").write_text('{"a": "Köln", "b": 1}\n', encoding="latin-1")
    with pytest.raises(StreamError, match=r"a\.jsonl, line 1: not UTF-8; iconv -f LATIN1"):
        list(read_tables(tmp_path / "a.jsonl", "b"))


def test_value_too_large_for_float32(tmp_path):
    path = write(tmp_path / "a", "1 1:1e300\n-1 1:1\n")
    with pytest.raises(StreamError, match="too large for float32"):
        open_source(path)
    assert collect(open_source(path, dtype="float64"))[0].max() == 1e300


def test_test_file_narrower_is_padded_wider_is_refused(tmp_path):
    train = open_source(write(tmp_path / "train", "1 1:1 3:1\n-1 2:1\n"))
    narrow = open_source(write(tmp_path / "narrow", "1 1:1\n1 2:5\n"), like=train)
    assert collect(narrow)[0].tolist() == [[1, 0, 0], [0, 5, 0]]
    wide = write(tmp_path / "wide", "1 7:1\n")
    with pytest.raises(StreamError, match=r"7 features, but .*train has 3"):
        open_source(wide, like=train)
    padded = open_source(tmp_path / "train", n_features=7)
    assert open_source(wide, like=padded).n_features == padded.n_features == 7
    with pytest.raises(StreamError, match=r"a feature index 0, but .*train counts from 1"):
        open_source(write(tmp_path / "zero", "1 0:1\n"), like=train)


def write_table(path, columns):
    pa = pytest.importorskip("pyarrow")
    table = pa.table(columns)
    if path.name.endswith(".parquet"):
        from pyarrow import parquet

        parquet.write_table(table, path)
    else:
        from pyarrow import csv

        opened = PACKERS.get("." + path.name.rpartition(".")[2], open)
        with opened(path, "wb") as file:
            csv.write_csv(table, file)
    return path


@pytest.mark.parametrize("name", ["a.csv", "a.csv.gz", "a.csv.xz", "a.csv.zst", "a.parquet"])
def test_tables_round_trip(tmp_path, data, name, monkeypatch):
    monkeypatch.setattr(binary, "CHUNK_BYTES", 700)
    X, y = data
    columns = {"first": X[:, 0], "label": y} | {f"x{j}": X[:, j] for j in range(1, 6)}
    source = open_source(write_table(tmp_path / name, columns), "label", dtype="float64")
    rows, targets = collect(source)
    np.testing.assert_array_equal(rows, X)
    np.testing.assert_array_equal(targets, y)
    assert source.feature_names == ["first", "x1", "x2", "x3", "x4", "x5"]


@pytest.mark.parametrize("name", ["a.csv", "a.parquet"])
def test_text_labels_and_columns_matched_by_name(tmp_path, name):
    train = write_table(tmp_path / name, {"a": [1, 2, 3], "b": [4, 5, 6], "y": ["u", "v", "u"]})
    test = write_table(tmp_path / f"t{name}", {"y": ["v", "w"], "b": [7.5, 8], "a": [9, 10]})
    source = open_source(train, "y")
    assert source.classes.tolist() == ["u", "v"]
    assert source.class_counts == {"u": 2, "v": 1}
    assert collect(source)[1].tolist() == ["u", "v", "u"]
    test = open_source(test, "y", like=source)
    rows, targets = collect(test)
    assert rows.tolist() == [[9, 7.5], [10, 8]]
    assert targets.tolist() == ["v", "w"]
    assert test.class_counts == {"v": 1, "w": 1}


def test_integers_first_fractions_later(tmp_path, monkeypatch):
    monkeypatch.setattr(binary, "CHUNK_BYTES", 64)
    path = write(tmp_path / "a.csv", "x,y\n" + "1,0\n" * 200 + "1.5,1\n")
    assert collect(open_source(path, "y"))[0][-1].tolist() == [1.5]


def test_kinds_of_columns_that_are_none_are_named(tmp_path):
    pytest.importorskip("pyarrow")
    path = tmp_path / "rows.csv"
    path.write_text("age,place,y\n3,here,1\n4,there,0\n", encoding="utf-8")
    known = Reading(kinds=(("place", "category"),))
    assert [table.num_rows for table, _ in read_tables(path, "y", reading=known)] == [2]
    with pytest.raises(
        StreamError, match=r"no column 'plaec', whose kind is given, among .*age, place, y"
    ):
        next(iter(read_tables(path, "y", reading=Reading(kinds=(("plaec", "category"),)))))


def test_what_is_no_way_to_read_is_named():
    with pytest.raises(ValueError, match="format: unknown 'excel'; known are libsvm, csv"):
        Reading(format="excel")
    for name in ("separator", "decimal"):
        for mark in ("", "ab", "\n"):
            with pytest.raises(ValueError, match=f"^{name} must be one character, got"):
                Reading(**{name: mark})


TABLE_FAULTS = [
    ("a,b,y\n1,2,0\n3,q,1\n", "y", "line 3: 'q' in column 'b' is no number"),
    ("a,b,y\n1,2,0\n3,,1\n", "y", "data row 2: column 'b' is missing or NaN"),
    ("a,b,y\n1,2,0\n3,inf,1\n", "y", "data row 2: column 'b' is infinite"),
    ("a,b,y\n1,2,0\n3,1\n", "y", "line 3: Expected 3 columns, got 2"),
    ("a,b,y\n1,2,0\n3,1,\n", "y", "data row 2: no value of 'y'"),
    ("a,b,y\n1,2,0\n", "z", "no column named 'z'; name the target column, one of a, b, y"),
    ("a,b,y\n1,2,0\n", None, "name the target column, one of a, b, y"),
    ("a,a,y\n1,2,0\n", "y", "two columns have the same name, 'a'"),
    ("y\n1\n", "y", "no column besides the target"),
    ("a,y\n", "y", "no samples"),
    ("", "y", "empty file"),
    ("PAR1\n\x00\x01,,", "y", "a.csv: a Parquet file, and no text; the ending of a name tells"),
    ("ARROW1\n\x00", "y", "a.csv: an Arrow file, and no text"),
    ("PK\x03\x04\n\x00", "y", "a.csv: an archive, as zip and Excel write them"),
    ("a,y\n1,3\n2,3\n", "y", "all 2 samples are of one class"),
    ("a, b, y\n1,2,0\n", "y", "no column named 'y'; name .*, one of a, ' b', ' y'"),
    ("a,y\r1,3\r2,4\r", "y", "a.csv: lines end in a carriage return alone"),
    ("SQLite format 3\x00", "y", "a.csv: an SQLite database, and no text"),
]


@pytest.mark.parametrize(("text", "target", "message"), TABLE_FAULTS)
def test_csv_faults_are_named(tmp_path, text, target, message):
    pytest.importorskip("pyarrow")
    with pytest.raises(StreamError, match=message):
        open_source(write(tmp_path / "a.csv", text), target)


@pytest.mark.parametrize("target", [None, "y"])
@pytest.mark.parametrize(
    ("begin", "what"),
    [
        (b"\x93NUMPY\x01", "an array of NumPy"),
        (b"PK\x03\x04", "an archive"),
        (b"\x80\x05", "a pickle"),
        (b"\xd0\xcf\x11\xe0\xa1", "an old file of Excel"),
        (b"Obj\x01\x04", "an Avro file"),
        (
            b"% Iris\n%\n\n@RELATION iris\n@ATTRIBUTE a NUMERIC\n",
            "ARFF: what follows its line @data",
        ),
        (b'[{"a": 1},\n{"a": 2}]\n', "an array of JSON: JSON lines, an .* named .jsonl"),
        (b"\xff\xfea\x00", "text of UTF-16"),
    ],
)
@pytest.mark.parametrize("name", ["rows.csv", "rows.data", "rows.csv.xz"])
def test_files_that_are_no_text_are_named(tmp_path, name, begin, what, target):
    pytest.importorskip("pyarrow")
    path = tmp_path / name
    path.write_bytes(begin + bytes(range(256)) * 9)
    with pytest.raises(StreamError, match=f"{name}: {what}"):
        open_source(path, target)


def test_an_array_of_json_behind_a_table_is_named(tmp_path):
    pytest.importorskip("pyarrow")
    paths = [write(tmp_path / "a.csv", "p,y\n1,2\n"), write(tmp_path / "b.json", '[{"p": 1}]')]
    with pytest.raises(StreamError, match=r"b\.json: an array of JSON"):
        list(read_blocks(paths, "y"))
    with pytest.raises(StreamError, match=r"b\.json: an array of JSON"):
        read_blocks(paths[1], like=read_blocks(paths[0], "y"))


def test_a_column_may_be_called_as_a_line_of_arff_begins(tmp_path):
    pytest.importorskip("pyarrow")
    path = write(tmp_path / "a.csv", "@relation,y\n1,0\n2,1\n")
    assert open_source(path, "y").feature_names == ["@relation"]


def test_libsvm_text_that_begins_with_a_fault_may_be_of_another_format(tmp_path):
    hint = r"a.data, line 1: label 'a,b,y' is not a number; this is read as LIBSVM text: the ending"
    with pytest.raises(StreamError, match=hint):
        open_source(write(tmp_path / "a.data", "a,b,y\n1,2,0\n"))
    with pytest.raises(StreamError, match=r"line 2: label 'yes' is not a number$"):
        open_source(write(tmp_path / "a.data", "1 1:2\nyes 1:2\n"))


def test_text_in_the_first_row_is_a_column_of_text(tmp_path):
    pytest.importorskip("pyarrow")
    path = write(tmp_path / "a.csv", "town,size,y\nUlm,2,0\nBonn,1,1\n")
    hint = "line 2: 'Ulm' in column 'town' is no number; open_source with an encoder, and read_t"
    with pytest.raises(StreamError, match=hint):
        open_source(path, "y")
    assert open_source(path, "y", encoder=TableEncoder()).n_features > 2
    path = write(tmp_path / "b.csv", "town,size,y\n1,2,0\nBonn,1,1\n")
    with pytest.raises(StreamError, match=r"line 3: 'Bonn' in column 'town' is no number$"):
        open_source(path, "y")


def test_a_column_may_be_called_like_the_beginning_of_another_format(tmp_path):
    pytest.importorskip("pyarrow")
    for name in ("[kWh]", "ORC", "relation", "Object"):
        path = write(tmp_path / "a.csv", f"{name},y\n1,0\n2,1\n")
        assert open_source(path, "y").feature_names == [name]


def test_what_is_no_arrow_file_is_said(tmp_path):
    pytest.importorskip("pyarrow")
    with pytest.raises(StreamError, match=r"a.arrow: no Arrow file or stream, or a damaged one: "):
        open_source(write(tmp_path / "a.arrow", "a,b,y\n1,2,0\n"), "y")


def test_the_index_of_a_data_frame_is_no_feature(tmp_path):
    pd = pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    table = pd.DataFrame({"a": [1.0, 2.0], "y": [0, 1]}, index=pd.Index([7, 8], name="number"))
    table.to_parquet(tmp_path / "a.parquet")
    assert read_blocks(tmp_path / "a.parquet", target="y").feature_names == ["a"]
    # Unless it is what shall be learnt.
    by_number = read_blocks(tmp_path / "a.parquet", target="number")
    assert by_number.feature_names == ["a", "y"]


def test_parquet_faults_are_named(tmp_path):
    path = write_table(tmp_path / "a.parquet", {"t": ["x", "y"], "y": [0, 1]})
    with pytest.raises(StreamError, match="column 't' is not numeric"):
        open_source(path, "y")
    with pytest.raises(StreamError, match="data row 2: column 'a' is missing"):
        open_source(write_table(path, {"a": [1.0, None], "y": [0, 1]}), "y")
    with pytest.raises(StreamError):
        open_source(write(path, "hello"), "y")


def test_other_columns_than_the_training_file(tmp_path):
    pytest.importorskip("pyarrow")
    train = open_source(write(tmp_path / "a.csv", "a,b,y\n1,2,0\n1,3,1\n"), "y")
    for header in ("a,c,y", "a,b,c,y"):
        body = ",".join("1" * (header.count(",") + 1))
        other = write(tmp_path / "b.csv", f"{header}\n{body}\n")
        with pytest.raises(StreamError, match=r"the first file has 2; this one (lacks|has)"):
            open_source(other, "y", like=train)


@pytest.mark.parametrize("kind", ["dense", "sparse"])
@pytest.mark.parametrize("budget", [1 << 20, 2000])
def test_shuffle_is_a_permutation_told_by_the_seed(kind, budget):
    X = np.arange(1, 601, dtype=float).reshape(300, 2)
    y = np.arange(300.0)
    rows = sparse.csr_matrix(X) if kind == "sparse" else X
    source = Source.from_arrays(rows, y, task="regression", budget=budget, dtype="float64")
    first, targets = collect(source, 1)
    again, _ = collect(source, 1)
    other, _ = collect(source, 2)
    np.testing.assert_array_equal(first, again)
    assert not np.array_equal(first, other)
    assert not np.array_equal(first, X)
    np.testing.assert_array_equal(first[np.argsort(first[:, 0])], X)
    # Targets stay with their rows (standardised, hence compared by rank).
    np.testing.assert_array_equal(np.argsort(targets), np.argsort(first[:, 0]))
    np.testing.assert_array_equal(collect(source)[0], X)


@pytest.mark.parametrize("budget", [1 << 20, 32])
def test_shuffle_is_uniform(budget):
    # Chi-square over all 24 orders of four rows; 32 bytes force the external shuffle.
    kept = buffer.RowBuffer(budget)
    for i in range(4):
        kept.append(np.full((1, 1), float(i)), np.full(1, float(i)))
    generator = np.random.default_rng(7)
    counts = dict.fromkeys(permutations(range(4)), 0)
    trials = 960
    for _ in range(trials):
        rows = np.concatenate([X[:, 0] for X, _ in kept.shuffled(generator)])
        counts[tuple(rows.astype(int))] += 1
    expected = trials / math.factorial(4)
    statistic = sum((count - expected) ** 2 / expected for count in counts.values())
    assert statistic < 49.7  # 23 degrees of freedom, level 0.001


def test_blocks_and_held_rows_stay_within_the_budget(monkeypatch):
    budget = 40_000
    monkeypatch.setattr(buffer, "BLOCK_BYTES", 4000)
    kept = buffer.RowBuffer(budget)
    for _ in range(100):
        kept.append(np.zeros((50, 4)), np.zeros(50))
    assert kept.n_bytes > 4 * budget
    assert not kept._blocks
    loads = []
    load = buffer.RowBuffer._load
    monkeypatch.setattr(
        buffer.RowBuffer, "_load", lambda self: loads.append(self.n_bytes) or load(self)
    )
    for blocks in (kept.blocks(), kept.shuffled(np.random.default_rng(0))):
        sizes = [buffer.n_bytes(X) for X, _ in blocks]
        assert max(sizes) <= 4000
        assert sum(sizes) == 100 * 50 * 4 * 8
    assert max(loads) <= budget / 2


def test_two_replays_at_once():
    kept = buffer.RowBuffer(0)
    for i in range(5):
        kept.append(np.full((1, 1), float(i)), np.zeros(1))
    pairs = zip(kept.blocks(), kept.blocks(), strict=True)
    assert [(a[0][0, 0], b[0][0, 0]) for a, b in pairs] == [(i, i) for i in range(5)]


@pytest.mark.parametrize("kind", ["dense", "sparse"])
@pytest.mark.parametrize("scale", ["minmax", "standard"])
def test_scaling(kind, scale, data):
    X, y = data
    X = X * [1, 10, 100, 0.1, 1, 5] + (0 if kind == "sparse" else 3)
    X[:, 4] = 0.0 if kind == "sparse" else 2.0
    rows = sparse.csr_matrix(X) if kind == "sparse" else X
    source = Source.from_arrays(rows, y, scale=scale, dtype="float64", budget=1000)
    scaled, _ = collect(source)
    live = [0, 1, 2, 3, 5]
    assert not scaled[:, 4].any()  # a constant feature carries no information
    if scale == "minmax":
        np.testing.assert_allclose(scaled[:, live].min(axis=0), -1)
        np.testing.assert_allclose(scaled[:, live].max(axis=0), 1)
    else:
        np.testing.assert_allclose(scaled.mean(axis=0), 0, atol=1e-12)
        np.testing.assert_allclose(scaled[:, live].std(axis=0), 1)
    twice = Source.from_arrays(rows[:7], y[:7], like=source)
    np.testing.assert_allclose(collect(twice)[0], scaled[:7])


def test_wide_sparse_rows_stay_sparse_when_scaled():
    X = sparse.random(40, 5000, density=0.01, random_state=0, format="csr")
    y = np.arange(40) % 2
    source = Source.from_arrays(X, y, scale="minmax", dtype="float64")
    scaled = sparse.vstack([block for block, _ in source.blocks()])
    assert scaled.nnz == X.nnz
    assert abs(scaled).max() == 1.0


def test_statistics_do_not_depend_on_the_cut_into_blocks(data):
    X, y = data
    whole = Source([(X, y)], budget=1 << 20)
    pieces = Source([(sparse.csr_matrix(X[i : i + 3]), y[i : i + 3]) for i in range(0, 50, 3)],
                    zero_based=True)  # fmt: skip
    for name in ("low", "high", "mean", "variance"):
        np.testing.assert_allclose(
            getattr(whole.statistics, name), getattr(pieces.statistics, name), atol=1e-12
        )
    assert whole.statistics.density == pytest.approx(pieces.statistics.density)


def test_dense_enough_sparse_rows_become_dense():
    y = np.arange(10) % 2
    full = Source.from_arrays(sparse.csr_matrix(np.ones((10, 3))), y)
    assert full.layout.dense
    assert isinstance(next(full.blocks())[0], np.ndarray)
    thin = Source.from_arrays(sparse.csr_matrix(np.eye(10)), y)
    assert sparse.issparse(next(thin.blocks())[0])


@pytest.mark.parametrize(
    ("y", "task"),
    [
        ([0, 1, 0, 1], "classification"),
        ([0.5, 1.5, 0.5, 0.5], "regression"),
        ([0.5, 1.5, 2.5, 0.5], "regression"),
        (range(200), "classification"),
        (range(201), "regression"),
    ],
)
def test_task_is_told_by_the_targets(y, task):
    assert Source.from_arrays(np.ones((len(y), 1)), y).task == task


def test_regression_targets_are_standardised():
    y = np.arange(1000.0) * 300
    source = Source.from_arrays(np.ones((1000, 1)), y, task="regression")
    targets = collect(source)[1]
    assert targets.mean() == pytest.approx(0, abs=1e-12)
    assert targets.std() == pytest.approx(1)
    assert source.layout.target_deviation == pytest.approx(y.std())


def test_hint_for_wild_ranges():
    X = np.random.default_rng(0).random((50, 3))
    y = np.arange(50) % 2
    assert Source.from_arrays(X, y).hint is None
    assert "1,000" in Source.from_arrays(X * [1, 1000, 1], y).hint
    assert Source.from_arrays(X * [1, 1000, 1], y, scale="minmax").hint is None


def test_limit_and_head(tmp_path):
    path = write(tmp_path / "a", "1 1:2\n-1 1:3\n" * 50)
    assert open_source(path, limit=7).n_samples == 7
    X, y = open_source(path).head(30, random_state=0)
    assert X.shape == (30, 1)
    assert len(y) == 30


def test_read_blocks_straight_through(tmp_path):
    path = write(tmp_path / "a", "1 1:2\n-1 3:3\n")
    ((X, y),) = read_blocks(path, n_features=4)
    assert X.shape == (2, 4)
    assert y.tolist() == [1, -1]
    with pytest.raises(StreamError, match="feature index 3, expected 1 to 2"):
        list(read_blocks(path, n_features=2))
    with pytest.raises(StreamError, match="n_features"):
        list(read_blocks(path))


@pytest.mark.parametrize("draw", [gaussian_mixture, two_normals, two_spirals, chess_board])
def test_synthetic_streams_repeat_by_seed(draw):
    X, y = draw(500, random_state=3)
    again, _ = draw(500, random_state=3)
    np.testing.assert_array_equal(X, again)
    assert X.shape == (500, 2)
    assert sorted(set(y.tolist())) == [-1, 1]


def test_gaussian_mixture_is_the_papers():
    X, y = gaussian_mixture(200_000, random_state=0)
    assert (y == 1).mean() == pytest.approx(0.6, abs=0.005)
    np.testing.assert_allclose(X[y == 1].mean(axis=0), [2, 0], atol=0.03)
    np.testing.assert_allclose(np.cov(X[y == 1].T), 4 * np.eye(2), atol=0.1)
    np.testing.assert_allclose(X[y == -1].mean(axis=0), [0, 0], atol=0.03)
    np.testing.assert_allclose(np.cov(X[y == -1].T), np.eye(2), atol=0.05)
    blocks = list(islice(gaussian_mixture_blocks(0, block_size=10), 3))
    assert not np.array_equal(blocks[0][0], blocks[1][0])


def test_two_spirals_are_arms_of_their_own():
    X, y = two_spirals(5000, turns=1.5, random_state=0)
    radius = np.hypot(*X.T)
    along = 2 * np.pi * 1.5 * radius
    np.testing.assert_allclose(X, (y * radius)[:, None] * np.c_[np.cos(along), np.sin(along)])
    assert radius.max() <= 1
    noisy, _ = two_spirals(5000, turns=1.5, noise=0.1, random_state=0)
    np.testing.assert_allclose((noisy - X).std(axis=0), 0.1, rtol=0.05)


@pytest.mark.parametrize("size", [2, 4, 5])
def test_chess_board_alternates(size):
    X, y = chess_board(5000, size=size, random_state=0)
    column, row = ((X + 1) * size / 2).astype(int).T
    assert set(column) == set(row) == set(range(size))
    np.testing.assert_array_equal(y, 1 - 2 * ((column + row) % 2))


def test_text_of_pandas_is_text_and_a_frame_is_no_array():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"a": [1.0, 2.0, 3.0], "y": ["no", "yes", "no"]})
    with Source.from_arrays(frame[["a"]].to_numpy(), frame["y"]) as source:
        assert source.classes.tolist() == ["no", "yes"]
    with pytest.raises(StreamError, match=r"got a DataFrame: X.to_numpy\(\) is one"):
        Source.from_arrays(frame[["a"]], frame["y"])


@pytest.mark.parametrize(
    ("name", "given", "kind"),
    [
        ("rows.txt", {"separator": ";"}, "CSV"),
        ("rows.txt", {"decimal": ","}, "CSV"),
        ("rows.txt", {"header": False}, "CSV"),
        ("rows.txt", {"kinds": (("a", "category"),)}, "tables"),
        ("rows.txt", {"ignore_extra": True}, "tables"),
        ("rows.jsonl", {"separator": ";"}, "CSV"),
    ],
)
def test_a_reading_that_does_nothing_is_named(name, given, kind, tmp_path):
    pytest.importorskip("pyarrow")
    path = tmp_path / name
    path.write_text('{"a": 1, "t": 0}\n{"a": 2, "t": 1}\n' if "json" in name else "1 1:2\n0 1:3\n")
    target = "t" if "json" in name else None
    what = rf"^{next(iter(given))}=.* is for {kind}, and .*{name} is "
    with pytest.raises(StreamError, match=what):
        open_source(path, target, reading=Reading(**given))
    with pytest.raises(StreamError, match=what):
        read_tables(path, target, reading=Reading(**given))
    assert open_source(path, target, reading=Reading(numeric_targets=True)).n_samples == 2


@pytest.mark.parametrize("given", [{"n_features": 3}, {"zero_based": True}])
def test_options_of_libsvm_text_are_none_of_tables(given, tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text("a,t\n1,0\n2,1\n")
    (tmp_path / "rows.txt").write_text("1 1:2\n0 1:3\n")
    for read in (open_source, read_blocks):
        with pytest.raises(StreamError, match=rf"^{next(iter(given))}=.* is for LIBSVM text"):
            read(path, "t", **given)
        read(tmp_path / "rows.txt", n_features=3)
