"""Exported C scores rows as the model does."""

import ctypes
import shutil
import subprocess

import numpy as np
import pytest
from compiled import Program, compiler, load
from exported import CLASSES, Case, cases, fitted, numbers_of, scores_of
from sklearn.base import is_regressor
from sklearn.exceptions import NotFittedError
from sklearn.utils import get_tags

from onlinekern import (
    FourierFeatures,
    KernelPAClassifier,
    KernelPARegressor,
    OnlineStandardScaler,
    PAClassifier,
    StreamClassifier,
    StreamRegressor,
    make_stream_pipeline,
)
from onlinekern.streams import StreamError, open_source

DTYPES = ["float64", "float32"]


def chosen():
    """Return a case of each learner, every other classifier with three classes, and those whose
    terms are others."""
    found = {}
    for case in cases():
        terms = {"kernel", "statistic", "n_assign", "linear"} & case.parameters.keys()
        if terms and case.task != "ovr":
            found[case.name, str(case.parameters)] = case
        elif case.task != ("binary" if len(case.name) % 2 else "ovr"):
            found.setdefault(case.name, case)
    return list(found.values())


CASES = chosen()


def tolerance_of(case, dtype):
    """Return the largest difference, relative to the largest score.

    The experts of a race compute in float32 in Python, in double in C.
    """
    if dtype == "float32":
        return 1e-4
    return 1e-4 if case.name.startswith("Stream") else 1e-6


def rows_of(case, number, stream, as_layout):
    """Return samples of a case; some are sparse, of so many features that vectors are too."""
    X, y = stream(case.task, n=70)
    return as_layout(X / 3, "wide" if number % 4 == 3 and number % 8 != 7 else "dense"), y


def names_before(number):
    return {case.name for case in CASES[:number]}


@pytest.fixture(scope="module")
def models(stream, as_layout):
    found = []
    for number, case in enumerate(CASES):
        X, y = rows_of(case, number, stream, as_layout)
        # Of the rows that it has learnt and those that come then; row 3 holds zeros.
        found.append((case, fitted(case, X[:50], y[:50]), X[::3]))
    return found


@pytest.fixture(scope="module", params=DTYPES)
def programs(request, models, tmp_path_factory):
    """Return the dtype, and (case, model, rows, program) of every case."""
    compiler()
    folder, made = tmp_path_factory.mktemp("c"), []
    if request.param == "float32":  # the forms are those of double
        models = [entry for n, entry in enumerate(models) if CASES[n].name not in names_before(n)]
    for number, (_, model, _) in enumerate(models):
        made.append(model.export_c(folder / f"m{number}.c", dtype=request.param))
    # Each compiler has warnings of its own. A small processor computes a double in software.
    single = request.param == "float32"
    name = "clang" if single and shutil.which("clang") else "cc"
    more = ["-Wdouble-promotion"] if single else []
    library = load(folder, [exported.code for exported in made], name, more)
    outputs = [scores_of(model, X[:1]).shape[1] for _, model, X in models]
    found = [
        (*entry, Program(library, f"m{number}", request.param, outputs[number]))
        for number, entry in enumerate(models)
    ]
    return request.param, found


def plain(X):
    return X if isinstance(X, np.ndarray) else X.toarray()


def test_every_learner_is_exported():
    assert {case.name for case in CASES} == CLASSES.keys()


@pytest.mark.parametrize("sparse_rows", [False, True])
def test_scores(sparse_rows, programs):
    dtype, entries = programs
    wrong = []
    for case, model, X, program in entries:
        expected = scores_of(model, X)
        found = program.scores(plain(X), sparse_rows)
        error = np.abs(found - expected).max() / max(1, np.abs(expected).max())
        if not error <= tolerance_of(case, dtype):
            wrong.append((case, error))
    assert not wrong


@pytest.mark.parametrize("sparse_rows", [False, True])
def test_predictions(sparse_rows, programs):
    dtype, entries = programs
    for case, model, X, program in entries:
        if is_regressor(model):
            continue
        scores = np.sort(scores_of(model, X), axis=1)
        gap = np.abs(scores[:, 0]) if scores.shape[1] == 1 else scores[:, -1] - scores[:, -2]
        # A score next to 0 may be on either side of it.
        sure = gap > tolerance_of(case, dtype) * max(1, np.abs(scores).max())
        found = program.classes(plain(X), sparse_rows)
        np.testing.assert_array_equal(found[sure], numbers_of(model, X)[sure], err_msg=str(case))


def test_targets_are_the_scores(programs):
    dtype, entries = programs
    for _, _, X, program in (entry for entry in entries if is_regressor(entry[1])):
        expected = program.scores(plain(X)[:3])[:, 0]
        for x, target in zip(plain(X)[:3], expected, strict=True):
            for ending, arguments, _alive in program.forms(x):
                out = np.zeros(1, dtype)
                code = program.call(f"predict{ending}", *arguments, out.ctypes.data_as(PTR))
                assert (code, out[0]) == (0, target)


PTR = ctypes.c_void_p


def test_bad_rows_are_refused(programs):
    dtype, entries = programs
    for _, model, X, program in entries:
        x, scores = plain(X)[0].copy(), np.full(program.n_outputs, 5.0, dtype)
        out = scores.ctypes.data_as(PTR)
        # Forests take values that are missing.
        missing = [] if get_tags(model).input_tags.allow_nan else [np.nan]
        for value in (*missing, np.inf, -np.inf):
            x[2] = value
            for ending, arguments, _alive in program.forms(x):
                assert program.call(f"score{ending}", *arguments, out) == -1
        values = np.ones(2, dtype)
        for columns in ([0, 0], [1, 0], [-1, 2], [0, len(x)]):
            given = np.array(columns, np.int32), values
            pointers = [array.ctypes.data_as(PTR) for array in given]
            assert program.call("score_sparse", *pointers, 2, out) == -2
        assert program.call("score_sparse", *pointers, -1, out) == -2
        assert (scores == 5).all()


LABELS = [
    (np.array([3, 7]), ctypes.c_int32, [3, 7]),
    (np.array([False, True]), ctypes.c_int32, [0, 1]),
    (np.array([-(2**40), 2**40]), ctypes.c_int64, [-(2**40), 2**40]),
    (np.array([-5.0, 2.0]), ctypes.c_double, [-5.0, 2.0]),
    (np.array(['a"\\?\n', "gr\u00fcn"]), ctypes.c_char_p, [b'a"\\?\n', "gr\u00fcn".encode()]),
    (np.array(["2026-01", "2026-02"], "M8[M]"), ctypes.c_char_p, [b"2026-01", b"2026-02"]),
    # C promises literals of 4,095 characters.
    (np.array(["a'\\" + 4100 * "ü", 4095 * "z"]), ctypes.c_char_p,
     [b"a'\\" + 4100 * "ü".encode(), 4095 * b"z"]),
]  # fmt: skip


def test_labels(tmp_path, stream):
    X, y = stream("binary", n=40)
    numbers = (y == "yes").astype(int)
    made = [
        PAClassifier().fit(X, labels[numbers]).export_c(tmp_path / f"labels{i}.c")
        for i, (labels, _, _) in enumerate(LABELS)
    ]
    library = load(tmp_path, [exported.code for exported in made])
    for i, (_, kind, expected) in enumerate(LABELS):
        assert Program(library, f"labels{i}", float, 1).table("labels", kind, 2) == expected


def test_pipelines(tmp_path, stream, as_layout):
    X, y = stream("ovr")
    pipelines = [
        make_stream_pipeline(OnlineStandardScaler(clip=1.0), KernelPAClassifier(gamma=0.3)),
        make_stream_pipeline(
            OnlineStandardScaler(with_mean=False), FourierFeatures(n_components=9), PAClassifier()
        ),
        make_stream_pipeline(OnlineStandardScaler(with_std=False), StreamClassifier(time_budget=3)),
    ]
    X = X * 100 + 7
    for number, model in enumerate(pipelines):
        model.partial_fit(X[:60], y[:60], classes=np.unique(y))
        model.export_c(tmp_path / f"p{number}.c")
    library = load(tmp_path, [tmp_path / f"p{number}.c" for number in range(3)])
    for number, model in enumerate(pipelines):
        for sparse_rows in (False, True):
            found = Program(library, f"p{number}", float, 3).scores(X, sparse_rows)
            np.testing.assert_allclose(found, scores_of(model, X), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("task", ["binary", "ovr", "regression"])
def test_races_with_a_forest(task, tmp_path, stream):
    X, y = stream(task)
    X = X * np.logspace(-3, 3, 6)  # the forest gets them as they come
    kind = StreamRegressor if task == "regression" else StreamClassifier
    known = {} if task == "regression" else {"classes": np.unique(y)}
    models = {
        "race": kind(time_budget=20),
        "piped": make_stream_pipeline(
            FourierFeatures(n_components=5, gamma=1e-6), kind(time_budget=20)
        ),
        "single": kind(time_budget=20),
    }
    for name, model in models.items():
        rows = X.astype(np.float32) if name == "single" else X
        model.partial_fit(rows[:60], y[:60], **known)
        race = model[-1]._model if name == "piped" else model._model
        equal = np.ones(len(race.experts) + 2)
        race.vote.set_state({**race.vote.get_state(), "losses": equal, "counts": 2 * equal})
        assert race.vote.weights(race.voting)[race.raw.index(True)] > 0.1
        model.export_c(tmp_path / f"{name}.c")
    library = load(tmp_path, [tmp_path / f"{name}.c" for name in models])
    for name, model in models.items():
        rows = X.astype(np.float32).astype(float) if name == "single" else X
        for sparse_rows in (False, True):
            found = Program(library, name, float, 3 if task == "ovr" else 1).scores(
                rows, sparse_rows
            )
            np.testing.assert_allclose(found, scores_of(model, rows), rtol=1e-4, atol=1e-5)


def test_a_race_of_many_classes(tmp_path, many_classes):
    X, y = many_classes()
    model = StreamClassifier(time_budget=20).partial_fit(X, y, classes=np.unique(y))
    vote = model._model.vote
    equal = np.ones(len(vote.links) + 2)
    vote.set_state({**vote.get_state(), "losses": equal, "counts": 2 * equal})
    assert vote.weights(model._model.voting)[np.argmin(vote.links)] > 0.05
    model.export_c(tmp_path / "many.c")
    found = Program(load(tmp_path, [tmp_path / "many.c"]), "many", float, 24).scores(X, False)
    np.testing.assert_allclose(found, scores_of(model, X), rtol=1e-4, atol=1e-5)


def test_sizes_are_those_of_the_object_file(tmp_path, stream):
    X, y = stream("binary")
    made = fitted(Case("SPAClassifier", {}, "binary"), X, y).export_c(tmp_path / "model.c")
    object_file = tmp_path / "model.o"
    command = [compiler(), "-O2", "-c", str(made.code), "-o", str(object_file)]
    subprocess.run(command, check=True)
    size = subprocess.run(
        [compiler("size"), "-A", str(object_file)], capture_output=True, text=True
    )
    sections = dict(line.split()[:2] for line in size.stdout.splitlines() if line.startswith("."))
    constants = sum(int(n) for name, n in sections.items() if name.startswith(".rodata"))
    memory = int(sections.get(".bss", 0)) + int(sections.get(".data", 0))
    assert made.flash <= constants + 64
    assert constants <= made.flash + 256
    assert made.ram <= memory <= made.ram + 64
    assert f"{made.flash} bytes of flash; a model: {made.ram} bytes" in made.header.read_text()


def test_what_is_written(tmp_path, stream):
    X, y = stream("regression", n=40)
    model = KernelPARegressor(gamma=0.4)
    with pytest.raises(NotFittedError):
        model.export_c(tmp_path / "model.c")
    model.fit(X, y)
    for arguments, message in [
        ({"path": "model.cpp"}, "path must end in .c"),
        (
            {"path": "model.c", "dtype": "int32"},
            "dtype must be 'float32', 'float64' or 'int16', got 'int32'",
        ),
        ({"path": "model.c", "dtype": None}, "dtype must be"),
        ({"path": "model.c", "prefix": "a-b"}, "prefix must be a C identifier"),
        ({"path": "model.c", "prefix": "int"}, "prefix must be a C identifier"),
        ({"path": "7.c"}, "'7.c' does not give"),
    ]:
        arguments["path"] = tmp_path / arguments["path"]
        with pytest.raises(ValueError, match=message):
            model.export_c(**arguments)
    assert not list(tmp_path.iterdir())
    made = model.export_c(tmp_path / "my-model.c")
    assert [made.code.name, made.header.name] == ["my-model.c", "my-model.h"]
    assert "my_model_score" in made.header.read_text()
    assert '#include "my-model.h"' in made.code.read_text()


def test_a_number_that_does_not_fit(tmp_path, stream):
    X, y = stream("regression", n=40)
    model = KernelPARegressor(gamma=0.4).fit(X, y * 1e60)
    with pytest.raises(ValueError, match="dtype='float32' has no room for"):
        model.export_c(tmp_path / "model.c", dtype="float32")
    assert not list(tmp_path.iterdir())


REAL = {
    "classification": ["PAClassifier", "SPAClassifier", "FOGDClassifier", "KernelRLSClassifier"],
    "regression": ["PARegressor", "KRLSTRegressor", "NOGDRegressor", "KernelRLSRegressor"],
}


def test_real_data(data_directory, tmp_path):
    """Models of the first 80 rows of every set score the next 20 rows."""
    entries = []
    for number, file in enumerate(sorted(data_directory.glob("*.libsvm.xz"))):
        try:
            source = open_source(file, limit=100, scale="minmax", dtype="float64")
        except StreamError:  # a file that is sorted by class
            continue
        with source:
            (rows, targets), task = source.head(100), source.task
        n_targets = len(np.unique(targets[:80]))
        # Of so many classes, scikit-learn takes them for targets.
        if n_targets == 1 or (task == "classification" and (targets.max() > 99 or n_targets > 40)):
            continue
        case = Case(REAL[task][number % 4], {"n_components": 8}, task)
        model = fitted(case, rows[:80], targets[:80])
        model.export_c(tmp_path / f"m{number}.c")
        entries.append((file.name, model, rows[80:], f"m{number}"))
    assert entries
    library = load(tmp_path, [tmp_path / f"{entry[-1]}.c" for entry in entries])
    for name, model, rows, prefix in entries:
        expected = scores_of(model, rows)
        found = Program(library, prefix, float, expected.shape[1]).scores(plain(rows), True)
        error = np.abs(found - expected).max() / np.abs(expected).max()
        assert error <= 1e-6, (name, model)
