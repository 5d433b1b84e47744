"""The command line: its output, its files, and one clear line for every bad input."""

import csv
import functools
import json
import os
import signal
import subprocess
import sys
import warnings

import numpy as np
import pytest

typer_testing = pytest.importorskip("typer.testing")
pytest.importorskip("rich")
pytest.importorskip("pyarrow")
pytest.importorskip("matplotlib")

from commands import run  # noqa: E402
from interpreters import lines_of, python_without  # noqa: E402

import onlinekern  # noqa: E402
from onlinekern.cli import comparing, options  # noqa: E402
from onlinekern.cli.app import app  # noqa: E402
from onlinekern.cli.compare import Request  # noqa: E402
from onlinekern.estimators import memory  # noqa: E402
from onlinekern.evaluate.methods import METHODS  # noqa: E402
from onlinekern.streams import two_normals  # noqa: E402


def libsvm(n, seed=0, distance=3.0):
    X, y = two_normals(n, distance=distance, random_state=seed)
    return "".join(f"{t} 1:{a:.4f} 2:{b:.4f}\n" for t, (a, b) in zip(y, X, strict=True))


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "train.txt").write_text(libsvm(300))
    (tmp_path / "test.txt").write_text(libsvm(100, seed=1))
    return tmp_path


def test_version(capsys):
    expected = f"onlinekern {onlinekern.__version__}\n"
    assert run(capsys, "--version") == (0, expected, "")
    # The option of the application itself, which the help lists.
    result = typer_testing.CliRunner().invoke(app, ["--version", "info"])
    assert (result.exit_code, result.output) == (0, expected)
    assert "--version" in run(capsys, "--help")[1]


def test_run_as_a_module(tmp_path):
    process = subprocess.run(
        [sys.executable, "-m", "onlinekern", "compare", "nothing.txt"],
        capture_output=True, text=True, cwd=tmp_path,
    )  # fmt: skip
    assert process.returncode == 2
    assert process.stderr == "onlinekern: error: nothing.txt: No such file or directory\n"


def test_table_json_csv_and_plot(folder, capsys):
    code, out, err = run(
        capsys, "compare", "train.txt", "--methods", "all", "--test", "test.txt", "--repeats", 3,
        "--set", "spa.eta=0.5", "--set", "spa-last.eta=0.5", "--json", "o.json", "--csv", "o.csv",
        "--plot", "o.png",
    )  # fmt: skip
    assert (code, err) == (0, "")
    assert max(len(line) for line in out.splitlines()) <= 80
    assert "train.txt: 300 samples, 2 features, 2 classes" in out
    for text in ("mistakes %", "test acc. %", "SVs", "µs/sample", "eta 0.5 ", "C ", "* chosen"):
        assert text in out
    streaming = {name: item for name, item in METHODS.items() if item.classifier and not item.batch}
    assert all(method.label in out for method in streaming.values())

    (comparison,) = json.loads((folder / "o.json").read_text())["comparisons"]
    assert comparison["n_samples"] == 300
    methods = {method["name"]: method for method in comparison["methods"]}
    assert list(methods) == [*streaming, "no-change", "majority"]
    spa = methods["spa"]
    assert spa["parameters"]["eta"] == {"value": 0.5, "origin": "given"}
    assert spa["parameters"]["gamma"]["origin"] == "chosen"
    assert len(spa["error"]["runs"]) == 3
    assert spa["error"]["mean"] == pytest.approx(np.mean(spa["error"]["runs"]))
    assert spa["error"]["std"] == pytest.approx(np.std(spa["error"]["runs"], ddof=1))
    assert spa["curves"]["samples"][-1] == 300
    assert spa["curves"]["error"][-1] == pytest.approx(spa["error"]["mean"])

    with (folder / "o.csv").open(newline="") as file:
        rows = {row["method"]: row for row in csv.DictReader(file)}
    assert list(rows) == list(methods)
    assert float(rows["pa1"]["error_mean"]) == methods["pa1"]["error"]["mean"]
    assert float(rows["pa1"]["test_score_mean"]) > 0.8
    assert (folder / "o.png").read_bytes().startswith(b"\x89PNG\r\n")


def test_the_last_samples_are_told_apart_where_they_are_not_all(folder, capsys):
    options = ["--in-order", "--methods", "perceptron,pa1", "--gamma", 0.5, "--seed", 1]
    for window in (50, 10_000):
        code, out, err = run(capsys, "compare", "train.txt", "--window", window, *options)
        assert (code, err) == (0, "")
        assert ("last 50 %" in out) == (window == 50)
        assert "10,000" not in out
        assert "kappa-t" in out


def test_in_order_has_what_the_order_gives_a_meaning(folder, capsys):
    options = ["--methods", "spa", "--json", "o.json", "--csv", "o.csv", "--plot", "o.png"]
    code, out, err = run(capsys, "compare", "train.txt", "--in-order", "--window", 50, *options)
    assert (code, err) == (0, "")
    for text in ("in file order", "last 50 %", "kappa-t", "no change", "majority"):
        assert text in out
    (comparison,) = json.loads((folder / "o.json").read_text())["comparisons"]
    assert comparison["window"] == 50
    spa, no_change, majority = comparison["methods"]
    assert no_change["figures"]["kappa_temporal"]["mean"] == 0
    assert majority["figures"]["kappa_m"]["mean"] == 0
    share = 1 - spa["error"]["mean"] / no_change["error"]["mean"]
    assert spa["figures"]["kappa_temporal"]["mean"] == pytest.approx(share)
    assert f"{share:.3f}" in out
    assert spa["points"]["samples"] == [50, 100, 150, 200, 250, 300]
    assert spa["points"]["window_error"][-1] == spa["figures"]["window_error"]["mean"]
    with (folder / "o.csv").open(newline="") as file:
        row = next(csv.DictReader(file))
    assert float(row["kappa_temporal_mean"]) == pytest.approx(share)
    assert float(row["window_error_mean"]) == spa["figures"]["window_error"]["mean"]
    assert (folder / "o.png").read_bytes().startswith(b"\x89PNG\r\n")
    _, shuffled, _ = run(capsys, "compare", "train.txt", "--methods", "spa", "--repeats", 2)
    assert "kappa-t" not in shuffled


@pytest.mark.parametrize("name", ["data.csv", "data.parquet"])
def test_tables_with_a_target_column(folder, capsys, name):
    pa = pytest.importorskip("pyarrow")
    from pyarrow import csv as arrow_csv
    from pyarrow import parquet

    X, y = two_normals(200, random_state=0)
    table = pa.table({"y": np.where(y > 0, "yes", "no"), "a": X[:, 0], "b": X[:, 1]})
    if name.endswith("csv"):
        arrow_csv.write_csv(table, name)
    else:
        parquet.write_table(table, name)
    code, out, err = run(capsys, "compare", name, "--target", "y", "--methods", "pa1,spa")
    assert (code, err) == (0, "")
    assert "200 samples, 2 features, 2 classes" in out


def test_regression_and_file_order(folder, capsys):
    X = np.random.default_rng(0).uniform(-1, 1, (200, 2))
    lines = (f"{100 * a + b:.3f} 1:{a:.4f} 2:{b:.4f}\n" for a, b in X)
    (folder / "line.txt").write_text("".join(lines))
    code, out, err = run(
        capsys, "compare", "line.txt", "--in-order", "--window", 100, "--methods", "ogd"
    )
    assert (code, err) == (0, "")
    assert "regression" in out
    assert "in file order" in out
    assert "RMSE" in out
    assert "last 100" in out
    assert "mean" in out
    assert "kappa-t" not in out
    assert "±" not in out


def test_without_data_it_runs_on_digits_and_two_gaussians(capsys):
    code, out, _ = run(
        capsys, "compare", "--repeats", 2, "--methods", "perceptron,spa", "--limit", 1000
    )
    assert code == 0
    assert "digits: 1,000 samples, 64 features, 10 classes" in out
    assert "two gaussians: 1,000 samples, 2 features, 2 classes" in out


def test_seed_decides_everything_but_the_times(folder, capsys):
    outputs = []
    for seed in (1, 1, 2):
        run(capsys, "compare", "train.txt", "--methods", "spa", "--seed", seed, "--json", "o.json")
        method, *_ = json.loads((folder / "o.json").read_text())["comparisons"][0]["methods"]
        outputs.append((method["parameters"], method["error"], method["n_support"]))
    assert outputs[0] == outputs[1]
    assert outputs[0] != outputs[2]


def test_hint_on_standard_error(folder, capsys):
    # The learners do not say the same again.
    rows = "1 1:1 2:100000\n-1 1:2 2:5\n1 1:3 2:7\n"
    (folder / "wild.txt").write_text(10 * rows)
    assert run(capsys, "compare", "wild.txt", "--methods", "perceptron")[2] == ""
    code, _, err = run(capsys, "compare", "wild.txt", "--methods", "perceptron", "--scale", "none")
    assert code == 0
    assert err.count("\n") == 1
    assert err.startswith("onlinekern: hint: ")
    assert "--scale running or minmax" in err
    code, _, err = run(capsys, "compare", "wild.txt", "--methods", "pa", "--scale", "minmax")
    assert (code, err) == (0, "")


FILES = {
    "malformed.txt": "1 1:2\n-1 1:x\n",
    "nan.txt": "1 1:2\n-1 1:nan\n",
    "one.txt": "1 1:2\n1 1:3\n",
    "empty.txt": "",
    "wide.txt": "1 9:2\n-1 1:3\n",
    "words.csv": "a,y\n1,0\nq,1\n",
    "index.txt": "1 1:1\n-1 2147483000:1\n",
    "query.txt": "1 qid:1 1:2\n-1 qid:x 1:3\n",
    "labels.txt": "".join(f"{k}e307 1:1\n" for k in range(-8, 9)),
    "binary.txt": "\x00\x01\x7fELF\n\x00",
}
BAD = [
    (["nope.txt"], "nope.txt: No such file or directory"),
    (["nowhere/*.csv"], "nowhere/*.csv: No file matches"),
    (["malformed.txt"], "malformed.txt, line 2: '1:x' is not index:value"),
    (["nan.txt"], "nan.txt, line 2: value of feature 1 is nan"),
    (["one.txt"], "one.txt: all 2 samples are of one class (1)"),
    (["empty.txt"], "empty.txt: no samples"),
    (["train.txt", "--test", "wide.txt"], "wide.txt: 9 features, but train.txt has 2"),
    (["train.txt", "--test", "nope.txt"], "nope.txt: No such file or directory"),
    (["wide.txt", "--n-features", "3"], "9 features, more than n_features=3"),
    (["train.txt", "--target", "y"], "LIBSVM text has no target column to name"),
    (["words.csv"], "name the target column, one of a, y"),
    (["words.csv", "--target", "z"], "no column named 'z'"),
    (["train.txt", "--methods", "spa,foo"], "unknown 'foo'; known are stream"),
    (["train.txt", "--methods", "pegasos", "--task", "regression"], "does no regression"),
    (["train.txt", "--gamma", "0"], "--gamma must be a positive number"),
    (["train.txt", "--gamma", "wide"], "--gamma must be a positive number"),
    (["train.txt", "--gamma", "nan"], "--gamma must be a positive number"),
    (["train.txt", "--kernel", "foo"], "--kernel: unknown 'foo'; known are gaussian"),
    (["train.txt", "--scale", "foo"], "--scale: unknown 'foo'"),
    (["train.txt", "--dtype", "int8"], "--dtype: unknown 'int8'"),
    (["train.txt", "--repeats", "0"], "--repeats must be at least 1, got 0"),
    (["train.txt", "--repeats", "many"], "--repeats"),
    (["train.txt", "--limit", "1"], "--limit must be at least 2"),
    (["train.txt", "--set", "spa.eta"], "expected METHOD.PARAMETER=VALUE"),
    (["train.txt", "--set", "spa.foo=1"], "no parameter 'foo'"),
    (["train.txt", "--set", "foo.eta=1"], "no method 'foo'"),
    (["train.txt", "--set", "spa.kernel=linear"], "use --seed and --kernel"),
    (["train.txt", "--methods", "spa", "--set", "spa.eta=-1"], "eta"),
    (["train.txt", "--methods", "spa", "--set", "spa.eta=much"], "eta"),
    (["train.txt", "--plot", "nowhere/o.png"], "nowhere/o.png: No such file or directory"),
    (["train.txt", "--plot", "o.doc"], "the name must end in .png"),
    (["train.txt", "--json", "."], ".: Is a directory"),
    (["train.txt", "--csv", "train.txt"], "--csv train.txt: this file is read; name another"),
    (["train.txt", "--csv", "o.x", "--json", "./o.x"], "--csv o.x: this file is that of --json"),
    (["train.txt", "--csv", "-"], "-: a file is needed"),
    (["train.txt", "--bogus"], "--bogus"),
    (["index.txt"], "n_features=2147483000 needs at least"),
    (["train.txt", "--n-features", "2147483648"], "n_features=2147483648 is more than"),
    (
        ["train.txt", "--set", "fogd.n_components=1000000000000", "--methods", "fogd"],
        "n_components=1000000000000 needs at least",
    ),
    (
        ["train.txt", "--set", "budget=1000000000000", "--methods", "bolssvm"],
        "budget=1000000000000 needs at least",
    ),
    (["train.txt", "--set", "rbp.budget=1000000000000000000000", "--methods", "rbp"], "budget"),
    (["query.txt"], "query.txt, line 2: 'qid:x' is not qid:number"),
    (["labels.txt", "--task", "regression"], "labels.txt: the variance of the targets overflows"),
    (["binary.txt"], "binary.txt, line 1: label"),
    (["train.txt", "--resume"], "--resume needs --checkpoint PATH"),
    (["--checkpoint", "run"], "--checkpoint needs DATA"),
    (["train.txt", "--checkpoint", "."], ".: Is a directory"),
    (["train.txt", "--checkpoint", "test.txt"], "--checkpoint test.txt: there is such a file"),
    (["train.txt", "--checkpoint", "test.txt", "--resume"], "test.txt is no safetensors file"),
    (
        ["train.txt", "--checkpoint", "nowhere/run"],
        "nowhere/run: No such file or directory: the run stops here; nothing was written",
    ),
    (["train.txt", "--checkpoint-every", "often"], "--checkpoint-every must be a positive number"),
    (["-", "--test", "-"], "cannot both be standard input"),
    (["--test", "test.txt"], "need DATA"),
]


@pytest.mark.parametrize(("arguments", "message"), BAD, ids=[" ".join(a) for a, _ in BAD])
def test_bad_input_ends_in_one_line(folder, capsys, arguments, message):
    for name, text in FILES.items():
        (folder / name).write_text(text)
    before = sorted(folder.iterdir())
    code, out, err = run(capsys, "compare", *arguments)
    assert code == 2
    assert out == ""
    assert err.startswith("onlinekern: error: ")
    assert message in err
    assert err.count("\n") == 1
    assert sorted(folder.iterdir()) == before


def test_all_models_together_must_fit(folder, capsys, monkeypatch):
    """Each of these alone has room; rows whose largest index is large stay sparse."""
    (folder / "wide.txt").write_text("1 9000000:1\n-1 1:1\n1 2:1\n-1 3:1\n")
    monkeypatch.setattr(memory, "available_memory", lambda: 3 * 10**8)
    arguments = ["compare", "wide.txt", "--repeats", 1, "--methods"]
    # No method has a width: no kernel model is made to choose one.
    code, out, err = run(capsys, *arguments, "linear-pa1")
    assert (code, err) == (0, "")
    assert "Lin. PA-I" in out
    code, out, err = run(capsys, *arguments, "linear-pa1,linear-ogd")
    assert (code, out) == (2, "")
    assert "n_features=9000000 needs at least 0.324 gigabytes" in err


def test_closed_standard_input(folder, capsys, monkeypatch):
    monkeypatch.setattr(sys, "stdin", None)
    code, out, err = run(capsys, "compare", "-")
    assert (code, out, err) == (2, "", "onlinekern: error: standard input is closed\n")


@pytest.mark.parametrize(
    "data", [b"a,y\n1,caf\xe9\n2,no\n", b"caf\xe9,y\n1,0\n2,1\n"], ids=["label", "header"]
)
def test_tables_that_are_not_utf8_are_named(folder, capsys, data):
    (folder / "latin.csv").write_bytes(data)
    code, out, err = run(capsys, "compare", "latin.csv", "--target", "y")
    assert (code, out) == (2, "")
    assert err.startswith("onlinekern: error: latin.csv")
    assert err.count("\n") == 1


def test_settings_are_read_as_numbers_words_and_names():
    settings = ["a.x=1", "b=0.5", "c=None", "d=true", "e=invsqrt"]
    assert Request(settings=settings).set_parameters() == {
        "a.x": 1, "b": 0.5, "c": None, "d": True, "e": "invsqrt",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("arguments", "text"),
    [(["compare", "--help"], "--methods"), (["info"], "numpy"), ([], "Usage")],
)
def test_help_and_info(capsys, arguments, text):
    code, out, err = run(capsys, *arguments)
    assert (code, err) == (0, "")
    assert text in out


@pytest.mark.filterwarnings("always")
def test_deprecations_of_other_packages_are_not_printed(capsys, monkeypatch):
    for module, printed in (("pyparsing", ""), ("onlinekern.old", "onlinekern: warning: old\n")):
        names = {"__name__": module, "warnings": warnings}
        exec("def tell(request): warnings.warn('old', DeprecationWarning)", names)
        monkeypatch.setattr(options.Request, "run", names["tell"])
        code, _, err = run(capsys, "info")
        assert (code, err) == (0, printed)


@pytest.mark.parametrize(
    ("package", "arguments"),
    [
        ("typer", ["info"]),
        ("rich", ["info"]),
        ("matplotlib", ["compare", "train.txt", "--plot", "o.png"]),
        ("pyarrow", ["compare", "a.csv", "--target", "y"]),
    ],
)
def test_without_the_extra_one_line_says_what_to_install(package, arguments, folder):
    (folder / "a.csv").write_text("a,y\n1,0\n2,1\n")
    done = python_without(package, "from onlinekern.cli import main; main()", *arguments)
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr.count("\n") == 1
    assert done.stderr.startswith("onlinekern: error: ")
    assert f"needs {package}: pip install 'onlinekern[cli]'" in done.stderr


def test_importing_the_package_needs_no_extra():
    """Modules that scikit-learn itself imports do not count."""
    code = (
        "import sys, sklearn.preprocessing, sklearn.metrics; theirs = set(sys.modules); "
        "import onlinekern, onlinekern.streams, onlinekern.evaluate, onlinekern.plotting, "
        "onlinekern.cli; print([m for m in ('typer', 'rich', 'matplotlib', 'pyarrow') "
        "if m in set(sys.modules) - theirs])"
    )
    assert lines_of(code) == ["[]"]


def start(*arguments, **options):
    command = [sys.executable, "-P", "-m", "onlinekern", "compare", *arguments]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, **options)


def test_subprocess_reads_standard_input(folder):
    process = start("-", "--methods", "spa", "--repeats", "1", stdin=subprocess.PIPE)
    out, err = process.communicate(libsvm(200).encode(), timeout=60)
    assert (process.returncode, err) == (0, b"")
    assert b"standard input: 200 samples" in out


@pytest.mark.skipif(os.name != "posix", reason="needs POSIX signals")
def test_interrupt_ends_in_130(folder):
    # Tests run in the background may ignore interrupts.
    heed = functools.partial(signal.signal, signal.SIGINT, signal.SIG_DFL)
    process = start("-", stdin=subprocess.PIPE, preexec_fn=heed)
    # A pipe holds 64 KiB: once more is written, the reader has begun. It waits for more,
    # for the pipe stays open.
    process.stdin.write(20 * libsvm(1000).encode())
    process.stdin.flush()
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert b"Traceback" not in err


@pytest.mark.skipif(os.name != "posix", reason="needs POSIX pipes")
def test_broken_pipe_is_silent(folder):
    process = start("train.txt", "--methods", "spa")
    process.stdout.close()
    err = process.stderr.read()
    process.wait(timeout=60)
    assert err == b""
    assert process.returncode != 0


@pytest.mark.skipif(os.name != "posix", reason="needs a POSIX shell")
def test_closed_outputs(folder):
    command = f"{sys.executable} -P -m onlinekern"
    for line, code in (("--version >&- 2>&-", 0), ("compare nope 2>&1", 2)):
        done = subprocess.run(f"{command} {line}", shell=True, capture_output=True, text=True)
        assert done.returncode == code
        assert "Traceback" not in done.stdout + done.stderr
    assert done.stdout == "onlinekern: error: nope: No such file or directory\n"


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs a device that is always full")
@pytest.mark.parametrize("option", ["--json", "--csv", "--plot"])
def test_a_full_disk_is_named(folder, capsys, option):
    os.symlink("/dev/full", "o.png")
    code, _, err = run(
        capsys, "compare", "train.txt", "--methods", "spa", "--repeats", 1, option, "o.png"
    )
    assert (code, err) == (2, "onlinekern: error: o.png: No space left on device\n")


def test_a_table_that_cannot_be_written_names_standard_output(folder, capsys, monkeypatch):
    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(comparing, "print_table", full)
    code, _, err = run(capsys, "compare", "train.txt", "--methods", "pa1", "--repeats", 1)
    assert (code, err) == (2, "onlinekern: error: standard output: No space left on device\n")


def test_a_plot_of_models_without_support_vectors(folder, capsys):
    code, _, err = run(
        capsys, "compare", "train.txt", "--methods", "linear-pa1", "--repeats", 1, "--plot", "o.png"
    )
    assert (code, err) == (0, "")
    assert (folder / "o.png").stat().st_size > 1000


def test_bytes_that_steer_a_terminal_are_not_printed(folder, capsys):
    (folder / "escape.csv").write_bytes(b"a,\x1b[2J\x07\n1,1\n2,0\n")
    code, _, err = run(capsys, "compare", "escape.csv", "--target", "y")
    assert code == 2
    assert err.rstrip("\n").isprintable()
    assert "\\x1b[2J" in err


def test_an_empty_name(folder, capsys):
    assert run(capsys, "compare", "")[2].startswith("onlinekern: error: ")
    assert "''" in run(capsys, "compare", "")[2]


@pytest.mark.parametrize("name", METHODS)
def test_methods_are_told_without_marks(name, capsys):
    code, told, _ = run(capsys, "methods", name)
    assert code == 0
    assert not {mark for mark in ("`", ".. [", "]_") if mark in told}
