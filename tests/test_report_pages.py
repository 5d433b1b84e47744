"""Pages of train and compare: true figures, nothing from outside, and text that stays text."""

import json
import re
import signal
import subprocess
import sys
import time
from html.parser import HTMLParser

import numpy as np
import pytest
from interpreters import python_without

pytest.importorskip("typer")
pytest.importorskip("rich")
pytest.importorskip("pyarrow")
pytest.importorskip("matplotlib")

from commands import run
from sklearn.metrics import confusion_matrix

from onlinekern import KernelPAClassifier, OnlineStandardScaler, make_stream_pipeline
from onlinekern.cli import training
from onlinekern.evaluate.errors import MOST_LABELS, MOST_POINTS, OTHERS
from onlinekern.reports.machine import in_bytes, peak_memory
from onlinekern.reports.page import Html, element, html, table
from onlinekern.reports.record import Record
from onlinekern.reports.run import duration

EVIL = "<script>alert(1)</script>"
SMALL = ["--method", "pa1", "--param", "C=0.5", "--param", "max_support=50"]
VOID = {"meta", "br", "hr", "img", "link", "input"}


class Reader(HTMLParser):
    """Elements of a page, its text, and whether each element is closed."""

    def __init__(self):
        super().__init__()
        self.open, self.tags, self.text, self.ids, self.attributes = [], [], [], [], []

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += attrs
        self.ids += [value for name, value in attrs if name == "id"]
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if self.open and self.open[-1] not in ("script", "style"):
            self.text.append(data)


def read(path):
    """Return the parsed page, after the checks that hold for every page."""
    source = path.read_text(encoding="utf-8")
    reader = Reader()
    reader.feed(source)
    assert reader.open == []
    assert reader.tags.count("script") == 1
    assert len(set(reader.ids)) == len(reader.ids)
    targets = re.findall(r'url\(#([^)]*)\)|xlink:href="#([^"]*)"', source)
    assert {one or other for one, other in targets} <= set(reader.ids)
    # Nothing is loaded from anywhere: no address but those that name the kind of a picture.
    loaded = [(name, value) for name, value in reader.attributes
              if name in ("src", "href", "xlink:href", "action", "data", "srcset")]  # fmt: skip
    assert all(value.startswith("#") for _, value in loaded)
    addresses = set(re.findall(r"https?://[^\s\"'<>]*", source))
    assert addresses <= {"http://www.w3.org/1999/xlink", "http://www.w3.org/2000/svg"}
    assert "@import" not in source
    assert "prefers-color-scheme: dark" in source
    assert "Content-Security-Policy" in source
    return reader


def words(reader):
    return " ".join(" ".join(reader.text).split())


def data(n=2500, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    return X, np.where(X[:, 0] * X[:, 2] > 0, EVIL, "no & never")


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    X, y = data()
    lines = [f'x,"<b>y""</b>",$z$,{"sold"}']
    lines += [",".join([*map(repr, row), label]) for row, label in zip(X.tolist(), y, strict=True)]
    (tmp_path / "a$b<i>.csv").write_text("\n".join(lines) + "\n")
    return tmp_path


TRAIN = ["train", "a$b<i>.csv", "--target", "sold", "-o", "m.okn"]


def test_a_page_of_a_race(folder, capsys):
    code, _, err = run(capsys, *TRAIN, "--param", "time_budget=10", "--report", "o.html",
                       "--json", "o.json")  # fmt: skip
    assert (code, err) == (0, "")
    figures = json.loads((folder / "o.json").read_text())
    page = read(folder / "o.html")
    assert page.tags.count("svg") == 2
    assert "b" not in page.tags
    assert "i" not in page.tags
    text = words(page)
    for part in (
        f"{figures['error']:.2%}", f"{figures['window_error']:.2%}", "2,500", EVIL, "no & never",
        'x, <b>y"</b>, $z$', "Stream on a$b<i>.csv: 2 classes", "StreamClassifier(", "leads now",
        "Experts of the race", "samples per second", "checkpoint-every", "scikit-learn",
    ):  # fmt: skip
        assert part in text, part


def test_a_page_of_one_method(folder, capsys):
    assert run(capsys, *TRAIN, *SMALL, "--report", "o.htm", "--limit", 700)[0] == 0
    page = read(folder / "o.htm")
    assert page.tags.count("svg") == 1
    text = words(page)
    assert "The race" not in text
    assert "support vectors 50" in text
    # The classes are those of the same model, test-then-train.
    X, y = data()
    model = make_stream_pipeline(
        OnlineStandardScaler(),
        KernelPAClassifier(variant="pa1", C=0.5, max_support=50, random_state=0),
    )
    predicted = model.partial_fit_predict(X[:700], y[:700], classes=np.unique(y))
    counts = confusion_matrix(y[:700], predicted)
    for count in counts.ravel():
        assert f" {count:,} " in text
    least = 1 - counts.sum(axis=1).max() / 700
    assert f"the commonest class: {least:.2%} mistakes" in text


def test_a_page_of_many_classes(folder, capsys):
    X, _ = data(1200)
    y = np.arange(1200) % 25
    rows = [
        ",".join([*map(repr, row), str(label)]) for row, label in zip(X.tolist(), y, strict=True)
    ]
    (folder / "n.csv").write_text("x,y,z,t\n" + "\n".join(rows) + "\n")
    assert run(capsys, "train", "n.csv", "--target", "t", "-o", "n.okn", *SMALL, "--task",
               "classification", "--report", "o.html")[0] == 0  # fmt: skip
    page = read(folder / "o.html")
    text = words(page)
    heads = text.partition("said beforehand. ")[2]
    assert heads.startswith(" ".join([*map(str, range(MOST_LABELS)), OTHERS]))
    assert "the commonest class" not in text  # it is not known which one


def test_a_page_of_a_regression(folder, capsys):
    X, _ = data(300)
    rows = [",".join(map(repr, [*row, 1e6 + 100 * row[1]])) for row in X.tolist()]
    (folder / "n.csv").write_text("x,y,z,t\n" + "\n".join(rows) + "\n")
    assert run(capsys, "train", "n.csv", "--target", "t", "-o", "n.okn", "--method", "kernel-rls",
               "--report", "o.html")[0] == 0  # fmt: skip
    text = words(read(folder / "o.html"))
    assert "RMSE, all samples" in text
    assert "Rows: what it was" not in text


def stopped_after(calls, monkeypatch):
    """Let training fail at a call of `learn`."""
    learn, seen = training.Training.learn, []

    def fail(self, X, y):
        seen.append(len(y))
        if len(seen) == calls:
            raise OSError(5, "the disk is gone")
        learn(self, X, y)

    monkeypatch.setattr(training.Training, "learn", fail)


def curve_of(path):
    """Return the paths and texts of the first picture of a page."""
    return re.findall(r"<svg.*?</svg>", path.read_text(), re.S)[0]


@pytest.mark.parametrize("before", [True, False])
def test_a_run_that_goes_on(folder, capsys, monkeypatch, before):
    options = [*TRAIN, *SMALL, "--checkpoint-every", 600]
    assert run(capsys, *options, "--report", "whole.html")[0] == 0
    stopped_after(2, monkeypatch)
    report = ["--report", "o.html"] if before else []
    assert run(capsys, *options, *report)[0] == 2
    assert not (folder / "o.html").exists()
    monkeypatch.undo()
    monkeypatch.chdir(folder)
    assert run(capsys, *options, "--resume", "--report", "o.html")[0] == 0
    text = words(read(folder / "o.html"))
    same = curve_of(folder / "o.html") == curve_of(folder / "whole.html")
    assert same == before
    assert ("begin after 1,000 samples" in text) == (not before)


def test_ctrl_c_writes_the_page(folder):
    text = "".join(
        f"{int(label == EVIL)} 1:{a!r} 2:{b!r} 3:{c!r}\n"
        for (a, b, c), label in zip(data()[0].tolist(), data()[1], strict=True)
    )
    options = ["--n-features", "3", *SMALL, "--report", "o.html", "--checkpoint-every", "5000"]
    command = [sys.executable, "-P", "-m", "onlinekern", "train", "-", "-o", "m.okn", *options]
    process = subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    # The reader waits for 4 MiB, or the end.
    process.stdin.write(text * (5 * 2**20 // len(text)))
    process.stdin.flush()
    until = time.monotonic() + 60
    while not (folder / "m.okn.checkpoint").exists() and time.monotonic() < until:
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=60)
    assert process.returncode == 130
    assert "Stopped by Ctrl-C after" in words(read(folder / "o.html"))


def test_a_page_of_a_comparison(folder, capsys):
    code, _, err = run(
        capsys, "compare", "a$b<i>.csv", "--target", "sold", "--in-order", "--gamma", "0.5",
        "--methods", "pa1,spa,linear-pa1", "--set", "C=1", "--report", "o.html",
        "--csv", "o.csv",
    )  # fmt: skip
    assert (code, err) == (0, "")
    page = read(folder / "o.html")
    assert page.tags.count("svg") == 3
    assert page.tags.count("button") == 7
    text = words(page)
    assert "onlinekern compare: a$b<i>.csv" in text
    heads, *rows = [line.split(",") for line in (folder / "o.csv").read_text().splitlines()]
    for row in rows:
        error = float(dict(zip(heads, row, strict=True))["error_mean"])
        assert f"{100 * error:.2f}" in text
    assert "settings C=1" in text
    assert "in-order yes" in text


def test_a_page_of_the_default_data(folder, capsys):
    assert run(capsys, "compare", "--repeats", 2, "--limit", 300, "--methods", "pa1", "--gamma",
               "scale", "--report", "o.html")[0] == 0  # fmt: skip
    page = read(folder / "o.html")
    assert page.tags.count("svg") == 4
    assert "digits: 300 samples, 64 features" in words(page)


@pytest.mark.parametrize("command", ["train", "compare"])
@pytest.mark.parametrize(
    ("name", "message"),
    [("o.pdf", "must end in .html"), ("no/o.html", "no/o.html: No such file")],
)
def test_a_page_that_cannot_be_written_is_known_at_once(folder, capsys, command, name, message):
    options = TRAIN[1:] if command == "train" else TRAIN[1:4]
    code, out, err = run(capsys, command, *options, "--report", name)
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert message in err
    assert not (folder / "m.okn").exists()


def test_without_matplotlib_the_extra_is_named(folder):
    code = "from onlinekern.cli import main; main()"
    done = python_without("matplotlib", code, *TRAIN, "--report", "o.html")
    assert (done.returncode, done.stdout) == (2, "")
    assert "needs matplotlib: pip install 'onlinekern[cli]'" in done.stderr


def recorded(y, predicted, cut, counted=True):
    record = Record(counted, 100)
    for first in range(0, len(y), cut):
        record.add(y[first : first + cut], predicted[first : first + cut])
    return record


@pytest.mark.parametrize("cut", [1, 37, 1000, 9000])
def test_the_curve_does_not_depend_on_the_cut(cut):
    rng = np.random.default_rng(0)
    y, predicted = rng.integers(0, 3, (2, 8000)).astype(float)
    record = recorded(y, predicted, cut)
    wrong = y != predicted
    assert record.curve.points[0]["samples"] == 50
    for point in record.curve.points:
        n = point["samples"]
        assert point["error"] == pytest.approx(wrong[:n].mean())
        assert point["window_error"] == pytest.approx(wrong[max(0, n - 100) : n].mean())
    other = recorded(y, predicted, 500)
    assert record.curve.points == other.curve.points
    assert record.confusion.counts == other.confusion.counts
    again = Record(True, 100)
    again.restore(json.loads(json.dumps(record.state())))
    assert again.state() == record.state()


def test_the_record_is_bounded():
    rng = np.random.default_rng(0)
    y, predicted = rng.integers(0, 400, (2, 60_000)).astype(float)
    record = recorded(y, predicted, 1000)
    assert MOST_POINTS / 2 <= len(record.curve.points) <= MOST_POINTS
    assert len({point["samples"] % 50 for point in record.curve.points}) == 1
    assert len(record.confusion.labels) == MOST_LABELS
    counts = record.confusion.counts
    assert len(counts) <= (MOST_LABELS + 1) ** 2
    assert sum(counts.values()) == 60_000
    assert counts[OTHERS, OTHERS] > 0
    assert len(record.state()["sums"]["window_"]["kept"][0]) == 100


def test_a_record_of_a_regression_that_diverges():
    y = np.zeros(300)
    predicted = np.where(np.arange(300) < 150, 2.0, 1e200)
    record = recorded(y, predicted, 100, counted=False)
    assert record.curve.points[1] == {"samples": 100, "error": 2.0, "window_error": 2.0}
    assert record.curve.points[-1]["error"] == np.inf
    assert not record.confusion.counts


def test_what_is_no_html_is_escaped():
    assert html('<a b="c">&') == "&lt;a b=&quot;c&quot;&gt;&amp;"
    assert html(html("<")) == "&lt;"
    assert element("p", "<", Html("<b>x</b>"), class_='"') == '<p class="&quot;">&lt;<b>x</b></p>'
    assert "<td>&lt;</td>" in table(["a", "b"], [["<", "1"]], numbers=1)


@pytest.mark.parametrize(
    ("number", "text"), [(12, "12 B"), (1500, "1.5 kB"), (2e9, "2 GB"), (3e12, "3,000 GB")]
)
def test_bytes(number, text):
    assert in_bytes(number) == text


def test_durations_and_memory():
    assert [duration(s) for s in (0.123456, 59.94, 61, 7380)] == [
        "0.123 s", "59.9 s", "1 min 1 s", "2 h 3 min",
    ]  # fmt: skip
    memory = peak_memory()
    assert memory is None or 2**20 < memory < 2**44
