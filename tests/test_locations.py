"""Data as folders, patterns, lists and URLs: one stream, with the columns that folders tell."""

import builtins
import gzip
import io
import sys

import numpy as np
import pytest
from interpreters import lines_of

pa = pytest.importorskip("pyarrow")
pytest.importorskip("typer", reason="needs the extra cli")
pytest.importorskip("rich", reason="needs the extra cli")

import pyarrow.csv as pcsv  # noqa: E402
import pyarrow.dataset as pads  # noqa: E402
import pyarrow.parquet as pq  # noqa: E402
from commands import run  # noqa: E402
from stores import s3_server  # noqa: E402

import onlinekern  # noqa: E402
from onlinekern import TableEncoder  # noqa: E402
from onlinekern.streams import StreamError, open_source, read_blocks, read_tables  # noqa: E402
from onlinekern.streams.locations import located  # noqa: E402

DAYS = ("2", "10")
SHOPS = ("Ulm", "S%20K")


def table(day, shop, n=60):
    rng = np.random.default_rng([int(day), len(shop)])
    size = rng.normal(size=n).round(3)
    sold = np.where(size + (0.5 if shop == "Ulm" else -0.5) > 0, "yes", "no")
    return pa.table({"size": size, "sold": sold})


def contents(kind, found):
    """The bytes of a file of a kind."""
    sink = io.BytesIO()
    if kind == "parquet":
        pq.write_table(found, sink)
    elif kind == "arrow":
        with pa.ipc.new_file(sink, found.schema) as file:
            file.write_table(found)
    elif kind == "jsonl":
        lines = (
            f'{{"size": {row["size"]}, "sold": "{row["sold"]}"}}\n' for row in found.to_pylist()
        )
        sink.write("".join(lines).encode())
    else:
        pcsv.write_csv(found, sink)
    text = sink.getvalue()
    return gzip.compress(text) if kind.endswith(".gz") else text


def files(kind):
    """Relative path -> bytes of the files of a table in folders, and of some that are none."""
    parts = {
        f"shop={shop}/day={day}/part-0.{kind}": contents(kind, table(day, shop))
        for shop in SHOPS for day in DAYS
    }  # fmt: skip
    return {**parts, "_SUCCESS": b"", ".part-0.crc": b"\0", "_metadata/x": b"\0"}


@pytest.fixture
def folder(tmp_path):
    """A function that writes the files of a kind to a folder, and names it."""

    def write(kind):
        for name, text in files(kind).items():
            (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / name).write_bytes(text)
        return tmp_path

    return write


def whole(path, **options):
    """All rows of tables, as sorted tuples (size, shop, day, sold)."""
    rows = []
    for X, y in read_tables(path, "sold", **options):
        columns = [X.column(name).to_pylist() for name in ("size", "shop", "day")]
        rows += zip(*columns, y.tolist(), strict=True)
    return sorted(rows)


EXPECTED = sorted(
    (size, shop.replace("%20", " "), float(day), sold)
    for shop in SHOPS for day in DAYS
    for size, sold in zip(*table(day, shop).to_pydict().values(), strict=True)
)  # fmt: skip


@pytest.mark.parametrize("kind", ["parquet", "arrow", "csv", "csv.gz", "jsonl"])
def test_folders_tell_columns(folder, kind):
    path = folder(kind)
    assert whole(path) == EXPECTED
    assert whole(f"{path}/shop=*/**/*.{kind}") == EXPECTED
    assert whole([path / f"shop={shop}" for shop in SHOPS]) == EXPECTED
    assert whole(f"file://{path}".replace("%", "%25")) == EXPECTED
    if kind == "parquet":
        theirs = pads.dataset(path, partitioning="hive").to_table().to_pylist()
        assert len(theirs) == len(EXPECTED)
        names = ("size", "shop", "day", "sold")
        assert sorted(tuple(row[name] for name in names) for row in theirs) == EXPECTED


def test_numbers_in_names_are_in_order(folder):
    found = [str(file) for file in located(folder("csv"))]
    assert [name.partition("day=")[2] for name in found] == 2 * ["2/part-0.csv", "10/part-0.csv"]
    assert "%20" in found[0]


def test_folders_may_tell_the_target(tmp_path):
    for label in ("ham", "spam"):
        (tmp_path / f"kind={label}").mkdir()
        (tmp_path / f"kind={label}" / "a.csv").write_text("words,links\n3,1\n4,0\n")
    blocks = list(read_blocks(tmp_path, "kind"))
    assert [y.tolist() for _, y in blocks] == [["ham"] * 2, ["spam"] * 2]
    with open_source(tmp_path, "kind", encoder=TableEncoder()) as source:
        assert source.class_counts == {"ham": 2, "spam": 2}


def test_a_folder_without_a_value_and_a_column_of_the_file(tmp_path):
    for name, text in (("day=7/a.csv", "day,y\n1,0\n"), ("day=8/a.csv", "day,y\n2,1\n")):
        (tmp_path / name).parent.mkdir()
        (tmp_path / name).write_text(text)
    # What the file has itself is what counts.
    assert [X.tolist() for X, _ in read_blocks(tmp_path, "y")] == [[[1.0]], [[2.0]]]
    empty = tmp_path / "hour=__HIVE_DEFAULT_PARTITION__" / "a.csv"
    empty.parent.mkdir()
    empty.write_text("day,y\n2,1\n")
    ((X, _),) = read_tables(empty, "y")
    assert X.column("hour").to_pylist() == [None]
    with pytest.raises(StreamError, match="column 'hour' is missing"):
        list(read_blocks([empty], "y"))


def test_columns_of_folders_must_be_those_of_the_first_file(tmp_path):
    for name in ("day=1/a.csv", "b.csv"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("x,y\n1,0\n")
    with pytest.raises(StreamError, match=r"b.csv: 1 feature columns.*lacks day"):
        list(read_blocks([tmp_path / "day=1", tmp_path / "b.csv"], "y"))


@pytest.mark.parametrize(
    ("make", "message"),
    [(lambda path: path, "no files in this folder"), (lambda path: [], "no files to read")],
)
def test_nothing_to_read(tmp_path, make, message):
    with pytest.raises(StreamError, match=message):
        read_tables(make(tmp_path), "y")
    with pytest.raises(FileNotFoundError, match="No file matches"):
        read_tables(tmp_path / "*.csv", "y")


def test_names_that_look_like_patterns_or_urls(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("a[1].csv", "b::c.csv"):
        (tmp_path / name).write_text("x,y\n1,0\n")
        assert len(list(read_blocks(name, "y"))) == 1


@pytest.fixture
def memory():
    """A store in memory, in which files are put by `files`."""
    fsspec = pytest.importorskip("fsspec")
    store = fsspec.filesystem("memory")
    store.store.clear()

    def put(kind, root="/tables"):
        for name, text in files(kind).items():
            store.pipe(f"{root}/{name}", text)
        return f"memory:/{root}"

    yield put
    store.store.clear()


@pytest.mark.parametrize("kind", ["parquet", "arrow", "csv.gz", "jsonl"])
def test_stores_are_read(memory, kind):
    url = memory(kind)
    assert whole(url) == EXPECTED
    assert whole(f"{url}/shop=*/day=*/*") == EXPECTED
    one = f"{url}/shop=Ulm/day=10/part-0.{kind}"
    assert len(whole([one, one])) == 120


def test_faults_of_stores_name_the_file(memory, monkeypatch):
    url = memory("parquet")
    with pytest.raises(FileNotFoundError, match="memory://tables/nothing"):
        read_tables("memory://tables/nothing.csv", "sold")
    with pytest.raises(FileNotFoundError, match="No file matches"):
        read_tables(f"{url}/*.csv", "sold")
    with pytest.raises(StreamError, match="unknown protocol 'nonsense'"):
        read_tables("nonsense://bucket/a.csv", "sold")
    from fsspec.implementations.memory import MemoryFile

    monkeypatch.setattr(MemoryFile, "read", lambda *_: 1 / 0)
    with pytest.raises(OSError, match=r"division by zero.*part-0.parquet"):
        read_tables(f"{url}/shop=Ulm/day=10/part-0.parquet", "sold")


@pytest.mark.parametrize(
    ("package", "url", "extra"),
    [("fsspec", "memory://a.csv", "remote"), ("s3fs", "s3://bucket/a.csv", "s3"),
     ("gcsfs", "gs://bucket/a.csv", "gcs")],
)  # fmt: skip
def test_a_missing_package_names_its_extra(monkeypatch, capsys, package, url, extra):
    there = builtins.__import__

    def without(name, *rest, **named):
        if name.partition(".")[0] == package:
            raise ImportError(f"No module named {name!r}", name=name)
        return there(name, *rest, **named)

    # A store that another test has used would be there without its package.
    if "fsspec.registry" in sys.modules:
        stores = sys.modules["fsspec.registry"]._registry
        monkeypatch.delitem(stores, url.partition(":")[0], raising=False)
    for name in [name for name in sys.modules if name.partition(".")[0] == package]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setattr(builtins, "__import__", without)
    code, _, err = run(capsys, "train", url, "--target", "y", "-o", "unused.okn")
    assert code == 2
    assert err.count("\n") == 1
    assert url in err
    assert f"pip install 'onlinekern[{extra}]'" in err


@pytest.fixture
def bucket(monkeypatch):
    """A server that speaks S3, and a bucket of it with a table."""
    with s3_server(monkeypatch) as (endpoint, store):
        store.mkdir("shops")
        for name, text in files("parquet").items():
            store.pipe(f"shops/sales/{name}", text)
        store.pipe("shops/rows.txt", b"1 1:0.5 2:1\n-1 2:3\n" * 30)
        yield endpoint, store


def test_s3(bucket, monkeypatch, tmp_path, capsys):
    endpoint, store = bucket
    assert whole("s3://shops/sales", storage_options={"endpoint_url": endpoint}) == EXPECTED
    options = {"storage_options": {"endpoint_url": endpoint}}
    with open_source("s3://shops/rows.txt", **options) as source:
        assert (source.n_samples, source.n_features) == (60, 2)
    with open_source("s3://shops/sales", "sold", encoder=TableEncoder(), **options) as source:
        assert source.n_samples == len(EXPECTED)
        assert source.feature_names == ["size", "shop", "day"]
    with pytest.raises(OSError, match="s3://missing"):
        read_tables("s3://missing/a.csv", "sold", **options)
    # The commands, whose store the environment tells.
    monkeypatch.setenv("AWS_ENDPOINT_URL", endpoint)
    model, answers = tmp_path / "model.okn", tmp_path / "answers.txt"
    asked = ("s3://shops/sales", "--target", "sold")
    code, out, err = run(capsys, "train", *asked, "-o", model, "--method", "pa1")
    assert (code, err) == (0, "")
    assert f"{len(EXPECTED)} samples" in out
    assert list(onlinekern.load(model).feature_names_in_) == ["size", "shop", "day"]
    code, _, err = run(capsys, "predict", model, *asked, "-o", answers)
    assert (code, err) == (0, "")
    assert len(answers.read_text().split()) == len(EXPECTED)
    code, out, err = run(
        capsys, "compare", "s3://shops/sales/**/*.parquet", "--target", "sold", "--methods", "pa1",
        "--repeats", 1, "--test", "s3://shops/sales/shop=Ulm",
    )  # fmt: skip
    assert (code, err) == (0, "")
    assert f"{len(EXPECTED)} samples" in out
    # What came since the last listing is read too.
    store.pipe("shops/sales/shop=Ulm/day=3/part-0.parquet", contents("parquet", table("3", "Ulm")))
    assert run(capsys, "train", *asked, "-o", model, "--method", "pa1")[1].count("300 samples")


def test_credentials_that_are_refused_are_one_line(bucket, monkeypatch, capsys):
    endpoint, _ = bucket
    monkeypatch.setenv("AWS_ENDPOINT_URL", endpoint)
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    monkeypatch.delenv("AWS_ACCESS_KEY_ID")
    monkeypatch.delenv("AWS_SECRET_ACCESS_KEY")
    asked = ("s3://shops/sales", "--target", "sold", "-o", "unused.okn")
    code, _, err = run(capsys, "train", *asked)
    assert code == 2
    assert err.count("\n") == 1
    assert "s3://shops/sales" in err


def test_local_files_need_no_fsspec(folder):
    """Nor do they load it."""
    code = (
        "import sys; from onlinekern.streams import read_tables\n"
        f"list(read_tables({str(folder('csv'))!r}, 'sold')); assert 'fsspec' not in sys.modules"
    )
    lines_of(code)
