"""Exported C in fixed point: the same whole numbers as its twin, close to the model."""

import ctypes
import re
import shutil
import subprocess

import numpy as np
import pytest
from compiled import FLAGS, Program, address, compiler, load
from exported import Case, fitted, numbers_of, scores_of
from oracles import fixed_point as twin
from sklearn.base import is_regressor

from onlinekern import (
    FourierFeatures,
    KernelForestClassifier,
    KernelForestRegressor,
    KernelMeanDetector,
    KernelPAClassifier,
    KernelRLSClassifier,
    LearntMetric,
    NystroemFeatures,
    OnlineStandardScaler,
    PAClassifier,
    StreamClassifier,
    TableEncoder,
    make_stream_pipeline,
)
from onlinekern.fitted.export.c.fixed.source import FixedSource
from onlinekern.fitted.export.c.fixed.terms import quarter
from onlinekern.fitted.export.c.source import exponential, halves

# Largest error of a score, in units of the largest score, of rows within the ranges.
EXACT, CANCELLING = 3e-4, 4e-3
CASES = [
    (Case("PAClassifier", {}, "binary"), EXACT),
    (Case("PAClassifier", {}, "ovr"), EXACT),
    (Case("PARegressor", {}, "regression"), EXACT),
    (Case("AROWClassifier", {}, "binary"), EXACT),
    (Case("SPAClassifier", {}, "binary"), EXACT),
    (Case("BOGDClassifier", {}, "ovr"), EXACT),
    (Case("KernelPAClassifier", {"kernel": "laplacian"}, "binary"), EXACT),
    (Case("KernelPAClassifier", {"kernel": "linear"}, "ovr"), EXACT),
    (Case("FOGDClassifier", {"n_components": 30}, "ovr"), EXACT),
    (Case("FOGDRegressor", {"n_components": 30}, "regression"), EXACT),
    (Case("NOGDClassifier", {"budget": 20}, "binary"), CANCELLING),
    (Case("KernelRLSClassifier", {"n_components": 20}, "ovr"), CANCELLING),
    (Case("KernelRLSRegressor", {"n_components": 20}, "regression"), CANCELLING),
    (Case("KernelRLSClassifier", {"metric": "diagonal", "n_components": 20}, "binary"), CANCELLING),
    (Case("KernelRLSClassifier", {"metric": "diagonal", "kernel": "linear"}, "binary"), CANCELLING),
]
SEVERAL = """
void several(float *x, int n);
void several(float *x, int n)
{
    for (int i = 0; i < n; i++)
        x[i] = EXP(x[i]);
}
"""
# Functions of gcc for whole numbers of 64 bits.
WHOLE = ("__aeabi_lmul", "__aeabi_llsl", "__aeabi_lasr", "__aeabi_llsr")
IDS = [f"{case.name}-{case.task}-{sorted(case.parameters)}" for case, _ in CASES]


class Fixed:
    """The functions of one file in fixed point."""

    def __init__(self, made, name="cc", more=()):
        self.header, self.code = made.header.read_text(), made.code.read_text()
        self.library = load(made.code.parent, [made.code], name, more)
        self.prefix = made.code.stem
        self.n_features, self.n_outputs, self.bits = map(
            self.constant, ("N_FEATURES", "N_OUTPUTS", "SCORE_BITS")
        )
        self.tables = twin.tables_of(self.code)

    def constant(self, name):
        return int(re.search(rf"_{name} = (-?\d+)", self.header)[1])

    def table(self, kind):
        return self.tables[next(name for name in self.tables if name.endswith(kind))]

    def features(self, X):
        bits, zeros = (self.tables[f"{self.prefix}_{name}"] for name in ("bits", "zeros"))
        return twin.features(X, bits, zeros)

    def numbers(self, Q):
        """Return the whole numbers of the scores of rows of features."""
        found = np.zeros((len(Q), self.n_outputs), np.int32)
        score = getattr(self.library, f"{self.prefix}_score")
        for q, out in zip(np.ascontiguousarray(Q), found, strict=True):
            assert score(address(q), address(out)) == 0
        return found

    def scores(self, X):
        return self.numbers(self.features(X)) / 2.0**self.bits

    def predictions(self, X):
        call = getattr(self.library, f"{self.prefix}_predict")
        return np.array([call(address(q)) for q in self.features(X)])


def exported(model, rows, folder, **more):
    return Fixed(model.export_c(folder / "m.c", dtype="int16", rows=rows), **more)


def sanitizing():
    """Return the options of a compiler that ends a program which overflows."""
    return ["-fsanitize=undefined", "-fno-sanitize-recover", "-O1"]


@pytest.mark.parametrize(("case", "most"), CASES, ids=IDS)
def test_scores_are_close(case, most, tmp_path, stream):
    X, y = stream(case.task, n=90)
    model = fitted(case, X[:60], y[:60])
    program = exported(model, X, tmp_path, more=sanitizing())
    expected, found = scores_of(model, X), program.scores(X)
    assert np.abs(found - expected).max() <= most * np.abs(expected).max()
    if not is_regressor(model):
        clear = np.ones(len(X), bool)
        if expected.shape[1] == 1:
            clear = np.abs(expected[:, 0]) > 2 * most * np.abs(expected).max()
        else:
            two = np.sort(expected, axis=1)[:, -2:]
            clear = two[:, 1] - two[:, 0] > 2 * most * np.abs(expected).max()
        assert clear.sum() > 60
        named = numbers_of(model, X)
        np.testing.assert_array_equal(program.predictions(X)[clear], named[clear])


@pytest.mark.parametrize(("case", "most"), CASES, ids=IDS)
def test_no_row_overflows(case, most, tmp_path, stream):
    X, y = stream(case.task, n=60)
    program = exported(fitted(case, X, y), X[:9] / 7, tmp_path, more=sanitizing())
    rng = np.random.default_rng(0)
    Q = rng.integers(-(1 << 15), 1 << 15, (50, X.shape[1])).astype(np.int16)
    ends = np.where(rng.random((50, X.shape[1])) < 0.5, -(1 << 15), (1 << 15) - 1)
    program.numbers(Q)  # the library ends the process where a sum overflows
    program.numbers(ends.astype(np.int16))


def test_a_table_of_halves_is_that_of_the_twin(tmp_path):
    source = FixedSource("m")
    source.once("halves", halves(), "uint32_t")
    source.once("quarter", quarter(), "uint16_t")
    source.use("half_power", "sine")
    lines = "\n".join([*source.tables, *source.code]).replace("static uint32_t", "uint32_t")
    lines = lines.replace("static int32_t", "int32_t")
    declared = "uint32_t half_power(uint32_t t);\nint32_t sine(uint32_t angle);\n"
    (tmp_path / "tables.c").write_text(f"#include <stdint.h>\n{declared}{lines}")
    library = load(tmp_path, [tmp_path / "tables.c"], more=sanitizing())
    own = twin.tables_of(lines)
    t = np.unique(np.r_[np.arange(0, 32 << 18, 997), np.arange(5000), (32 << 18) - 1])
    library.half_power.restype = ctypes.c_uint32
    found = np.array([library.half_power(int(one)) for one in t])
    np.testing.assert_array_equal(found, twin.half_power(own["halves"], t))
    assert np.abs(found / 2**30 - np.exp2(-t / 2**18)).max() <= 1e-6
    library.sine.argtypes = [ctypes.c_uint32]
    angles = np.unique(np.r_[np.arange(0, 1 << 32, 1 << 19), np.arange(5000), (1 << 32) - 1])
    found = np.array([library.sine(int(angle)) for angle in angles])
    np.testing.assert_array_equal(found, twin.sine(own["quarter"], angles))
    assert np.abs(found / 2**15 - np.sin(angles * (2 * np.pi / 2**32))).max() <= 5e-5


def test_float_may_have_a_table_of_the_exponential(tmp_path, stream):
    """A chip whose libc computes it in double has the table of fixed point instead."""
    X, y = stream("ovr", n=60)
    model = KernelPAClassifier(gamma=0.3).fit(X, y)
    made = model.export_c(tmp_path / "m.c", dtype="float32", learn=False)
    more = [*sanitizing(), "-DM_TABLE_EXP", "-Wdouble-promotion"]
    program = Program(load(tmp_path, [made.code], more=more), "m", "float32", 3)
    expected = scores_of(model, X)
    assert np.abs(program.scores(X) - expected).max() <= 1e-4 * np.abs(expected).max()
    includes = "#include <stdint.h>\n#include <string.h>\n"
    folder = tmp_path / "alone"
    folder.mkdir()
    (folder / "t.c").write_text(includes + exponential("m") + SEVERAL)
    library = load(folder, [folder / "t.c"], more=more)
    x = np.r_[np.linspace(-86.9, 87.9, 20001), 0, -1e30, -np.inf, np.nan].astype(np.float32)
    values = x.copy()
    library.several(address(values), len(values))
    assert np.abs(values[:-4] / np.exp(x[:-4].astype(float)) - 1).max() <= 5e-6
    np.testing.assert_array_equal(values[-4:], [1, 0, 0, np.nan])


def begun(program, sums, bits):
    """Return scores of sums with so many bits, and of what scores begin with."""
    return program.tables["start"] + twin.shifted(sums, bits, program.bits)


def moved_bits(program):
    """Return the bits of a sum, by the shift that the C has."""
    right = re.search(r"scores\[k\] \+= .*>> (\d+)", program.code)
    left = re.search(r"scores\[k\] \+= .*C\(1\) << (\d+)\)", program.code)
    if right:
        return program.bits + int(right[1])
    return program.bits - (int(left[1]) if left else 0)


def test_a_linear_model_has_the_numbers_of_the_twin(tmp_path, stream):
    X, y = stream("ovr", n=60)
    program = exported(PAClassifier().fit(X, y), X, tmp_path)
    Q = program.features(X * 2)
    weights = program.table("_weights").reshape(3, -1)
    expected = begun(program, twin.linear(weights, Q), moved_bits(program))
    np.testing.assert_array_equal(program.numbers(Q), expected)


@pytest.mark.parametrize("kernel", ["gaussian", "laplacian"])
@pytest.mark.parametrize("scaled", [False, True])
def test_a_kernel_model_has_the_numbers_of_the_twin(kernel, scaled, tmp_path, stream):
    X, y = stream("ovr", n=60)
    X = X * np.linspace(1, 2, X.shape[1]) if scaled else X
    model = KernelPAClassifier(kernel=kernel, gamma=0.3).fit(X, y)
    program = exported(model, X, tmp_path)
    Q = program.features(X)
    vectors = program.table("_vectors").reshape(-1, X.shape[1])
    steps = next((own for name, own in program.tables.items() if name.endswith("_steps")), None)
    limit, factor, shift = map(
        int,
        re.search(r"p >= (?:UINT64_C\()?(\d+)\D.*\)p \* (\d+)u\) >> (\d+)", program.code).groups(),
    )
    values = twin.kernel(
        program.table("halves"), vectors, steps, Q, kernel == "gaussian", factor, shift, limit
    )
    assert (values > 0).mean() > 0.5
    coefficients = program.table("_coefficients").reshape(len(vectors), -1)
    expected = begun(program, values @ coefficients, moved_bits(program))
    np.testing.assert_array_equal(program.numbers(Q), expected)


def test_random_features_have_the_numbers_of_the_twin(tmp_path, stream):
    X, y = stream("ovr", n=60)
    model = fitted(Case("FOGDClassifier", {"n_components": 20}, "ovr"), X, y)
    program = exported(model, X + 3, tmp_path)
    Q = program.features(X)
    own = [program.table(name) for name in ("quarter", "_frequencies", "_phases", "_weights")]
    sums = twin.fourier(own[0], own[1].reshape(-1, X.shape[1]), own[2], own[3].reshape(-1, 3, 2), Q)
    np.testing.assert_array_equal(program.numbers(Q), begun(program, sums, moved_bits(program)))


@pytest.mark.parametrize("copies", [1, 3])
@pytest.mark.parametrize("task", ["binary", "ovr"])
def test_forests(task, copies, tmp_path, stream):
    """A row that is far enough from the cuts is in the same leaves, also if there are fewer
    directions than features."""
    X, y = stream(task, n=400)
    X = np.tile(np.rint(X * 50) / 50, (1, copies))
    model = KernelForestClassifier(n_trees=8, random_state=0).fit(X, y)
    program = exported(model, X, tmp_path, more=sanitizing())
    expected, found = scores_of(model, X), program.scores(X)
    gaps = np.abs(found - expected).max(axis=1) / np.abs(expected).max()
    assert (gaps < 1e-3).mean() > 0.98
    assert "int16_t cut" in program.code


def forest_with_gaps(task, stream, shares=(0.3, 0.1, 0.3), **parameters):
    """Return a forest that guesses missing values of some features, and its rows."""
    X, y = stream(task, n=400)
    X[:, 1] = X[:, 1] / 10 + 2 * X[:, 0] + 1000
    rng = np.random.default_rng(0)
    for column, share in enumerate(shares):
        X[rng.random(len(X)) < share, column] = np.nan
    learner = KernelForestRegressor if task == "regression" else KernelForestClassifier
    return learner(n_trees=8, random_state=0, **parameters).fit(X, y), X


def features_of(program, X):
    """Return features, of which some are missing."""
    assert "M_MISSING = INT16_MIN" in program.header
    return np.where(np.isnan(X), -32768, program.features(np.nan_to_num(X))).astype(np.int16)


def assert_numbers_of_the_twin(program, Q, missing):
    """Assert that trees give the whole numbers of the twin, which does what the program does."""
    Z = twin.bent(program.table, Q, missing) if "_bend(" in program.code else Q
    Z = twin.ordered(program.table, Z) if "_orders(" in program.code else Z
    Z, sides = twin.filled(program.table, Z) if missing else (Z, Z[:, :0])
    Z = np.hstack([Z, twin.directed(program.table, Z), sides])
    sums = twin.trees(program.table, program.n_outputs, Z)
    np.testing.assert_array_equal(program.numbers(Q), begun(program, sums, moved_bits(program)))


@pytest.mark.parametrize("task", ["binary", "ovr", "regression"])
def test_forests_guess_missing_values(task, tmp_path, stream):
    model, X = forest_with_gaps(task, stream)
    assert len(model._model.space.get_state()["gap_sources"]) == 3
    program = exported(model, X, tmp_path, more=sanitizing())
    rows = np.vstack([X, np.full((1, X.shape[1]), np.nan)])
    expected, Q = scores_of(model, rows), features_of(program, rows)
    gaps = np.abs(program.numbers(Q) / 2.0**program.bits - expected).max(axis=1)
    assert (gaps / np.abs(expected).max() < 1e-3).mean() > 0.98
    assert gaps[-1] < 1e-3 * np.abs(expected).max()
    call = program.library.m_predict
    if task != "regression":
        predicted = model.classes_[[call(address(q)) for q in Q]]
        assert (predicted == model.predict(rows)).mean() > 0.99


@pytest.mark.parametrize("task", ["binary", "ovr"])
@pytest.mark.parametrize("shares", [(0.3,), (0.3, 0.1, 0.3)])
def test_forests_have_the_numbers_of_the_twin(shares, task, tmp_path, stream):
    model, X = forest_with_gaps(task, stream, shares)
    program = exported(model, X[:50] / 3, tmp_path, more=sanitizing())
    rng = np.random.default_rng(1)
    Q = rng.integers(-32768, 32768, (60, X.shape[1])).astype(np.int16)
    Q[rng.random(Q.shape) < 0.4] = -32768
    Q = np.vstack([features_of(program, X[:60]), Q])
    assert_numbers_of_the_twin(program, Q, True)


@pytest.mark.parametrize("missing", [False, True])
@pytest.mark.parametrize("task", ["binary", "ovr", "regression"])
def test_forests_put_one_hot_columns_together(task, missing, tmp_path, stream):
    X, y = stream(task, n=400)
    rng = np.random.default_rng(0)
    code = rng.integers(0, 6, len(X))
    y = np.where(code % 2 == 0, y, y[::-1])
    other = rng.integers(0, 10, len(X))
    X = np.hstack([X, *(0.7 * (codes[:, None] == np.arange(size))
                        for codes, size in ((code, 5), (other, 9)))])  # fmt: skip
    if missing:
        X[rng.random(len(X)) < 0.2, 1] = np.nan
    learner = KernelForestRegressor if task == "regression" else KernelForestClassifier
    model = learner(n_trees=8, random_state=0).fit(X, y)
    assert model._model.space.get_state()["group_starts"].tolist() == [0, 5, 14]
    program = exported(model, X[:200], tmp_path, more=sanitizing())
    read = features_of if missing else Fixed.features
    Q, expected = read(program, X), scores_of(model, X)
    wrong = np.abs(program.numbers(Q) / 2.0**program.bits - expected).max(axis=1)
    assert (wrong / np.abs(expected).max() < 1e-3).mean() > 0.98
    # The whole numbers are those of the twin, where several are on too.
    Q = np.vstack([Q[:60], rng.integers(-32767, 32768, (60, X.shape[1])).astype(np.int16)])
    assert_numbers_of_the_twin(program, Q, missing)


@pytest.mark.parametrize("missing", [False, True])
@pytest.mark.parametrize("task", ["binary", "ovr", "regression"])
def test_forests_bend_heavy_tails(task, missing, tmp_path, stream):
    X, y = stream(task, n=400)
    X = np.exp(1.5 * X / X.std(axis=0))
    rng = np.random.default_rng(0)
    if missing:
        X[rng.random(len(X)) < 0.2, 1] = np.nan
    learner = KernelForestRegressor if task == "regression" else KernelForestClassifier
    model = learner(n_trees=8, random_state=0).fit(X, y)
    assert len(model._model.space.get_state()["bend_features"]) > 0
    program = exported(model, X, tmp_path, more=sanitizing())
    read = features_of if missing else Fixed.features
    Q, expected = read(program, X), scores_of(model, X)
    wrong = np.abs(program.numbers(Q) / 2.0**program.bits - expected).max(axis=1)
    assert (wrong / np.abs(expected).max() < 1e-3).mean() > 0.95
    Q = np.vstack([Q[:60], rng.integers(-32768, 32768, (60, X.shape[1])).astype(np.int16)])
    assert_numbers_of_the_twin(program, Q, missing)


def test_a_feature_with_gaps_may_have_one_value(tmp_path, stream):
    X, y = stream("binary", n=200)
    X[:, 1], X[::3, 1] = 7.0, np.nan
    model = KernelForestClassifier(n_trees=8, random_state=0).fit(X, y)
    program = exported(model, X, tmp_path, more=sanitizing())
    expected, Q = scores_of(model, X), features_of(program, X)
    gaps = np.abs(program.numbers(Q) / 2.0**program.bits - expected).max(axis=1)
    assert (gaps / np.abs(expected).max() < 1e-3).mean() > 0.98


def test_pipelines(tmp_path, stream):
    X, y = stream("ovr", n=80)
    X = X * np.logspace(0, 3, X.shape[1]) + 50
    steps = [
        [OnlineStandardScaler(clip=1.0), KernelPAClassifier(gamma=0.3)],
        [OnlineStandardScaler(with_mean=False), FourierFeatures(n_components=9), PAClassifier()],
        [OnlineStandardScaler(), NystroemFeatures(n_components=9), PAClassifier()],
        [LearntMetric(metric="diagonal"), KernelPAClassifier(gamma=1e-5)],
    ]
    for number, own in enumerate(steps):
        model = make_stream_pipeline(*own)
        model.partial_fit(X[:60], y[:60], classes=np.unique(y))
        folder = tmp_path / str(number)
        folder.mkdir()
        program = exported(model, X, folder, more=sanitizing())
        expected = scores_of(model, X)
        error = np.abs(program.scores(X) - expected).max() / np.abs(expected).max()
        assert error <= CANCELLING, own
        assert (model.classes_[program.predictions(X)] == model.predict(X)).mean() > 0.95


def test_rows_of_numbers_in_a_table(tmp_path, stream):
    X, y = stream("binary", n=60)
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(X, columns=[f"c{j}" for j in range(X.shape[1])])
    model = make_stream_pipeline(TableEncoder(), PAClassifier()).fit(frame, y)
    program = exported(model, frame, tmp_path)
    expected = scores_of(model, frame)
    assert np.abs(program.scores(X) - expected).max() <= EXACT * np.abs(expected).max()
    frame["town"] = np.where(X[:, 0] > 0, "Ulm", "Bonn")
    model.fit(frame, y)
    with pytest.raises(TypeError, match="takes rows of a table"):
        model.export_c(tmp_path / "t.c", dtype="int16", rows=frame)


def test_features(tmp_path, stream):
    """The C makes the features that the header's numbers say, and holds what is beyond them."""
    X, y = stream("binary", n=60)
    rows = X * np.logspace(-6, 9, X.shape[1]) + np.linspace(0, 1e6, X.shape[1])
    model = PAClassifier().fit(X, y)
    program = exported(model, rows, tmp_path, more=sanitizing())
    call = program.library.m_feature
    call.restype = ctypes.c_int16
    bits, zeros = program.tables["m_bits"], program.tables["m_zeros"]
    assert np.all(np.abs(twin.features(rows, bits, zeros).astype(int)) < 32767)
    rng = np.random.default_rng(0)
    for given in (-200, -40, 0, 7, 31, 200):
        for j in range(X.shape[1]):
            for value in (0, 1, -1, 2**31 - 1, -(2**31), *rng.integers(-99999, 99999, 20).tolist()):
                shift = int(bits[j]) - given
                exact = value << shift if shift > 0 else (value + (1 << -shift >> 1)) >> -shift
                expected = max(-32767, min(32767, exact - int(zeros[j])))
                assert call(j, value, given) == expected, (given, j, value)


def test_constant_features(tmp_path, stream):
    X, y = stream("binary", n=60)
    rows = X.copy()
    rows[:, 0], rows[:, 1] = 0.0, -5.0
    model = PAClassifier().fit(rows, y)
    program = exported(model, rows, tmp_path)
    rows[:, 0] = 1.0
    expected = scores_of(model, rows)
    assert np.abs(program.scores(rows) - expected).max() <= EXACT * np.abs(expected).max()


def test_no_floating_number_is_computed(tmp_path, stream):
    """The files have no such type, and a processor without a floating unit needs no help."""
    X, y = stream("ovr", n=60)
    models = [
        make_stream_pipeline(OnlineStandardScaler(clip=2.0), KernelPAClassifier(gamma=0.3)),
        make_stream_pipeline(
            OnlineStandardScaler(), FourierFeatures(n_components=9), PAClassifier()
        ),
        KernelForestClassifier(n_trees=4, random_state=0),
        KernelForestClassifier(n_trees=4, random_state=0),
    ]
    gaps = np.where(np.arange(X.size).reshape(X.shape) % 7 == 0, np.nan, X)
    cross = shutil.which("arm-none-eabi-gcc")
    for number, model in enumerate(models):
        rows = gaps if number == 3 else X
        made = model.fit(rows, y).export_c(tmp_path / f"m{number}.c", dtype="int16", rows=rows)
        code = re.sub(r"/\*.*?\*/", "", made.code.read_text() + made.header.read_text(), flags=re.S)
        assert not re.search(r"\b(float|double|real)\b|\d\.\d|math\.h", code)
        if cross is None:
            continue
        target = tmp_path / "m.o"
        subprocess.run(
            [cross, "-mcpu=cortex-m0", "-mthumb", "-Os", *FLAGS, "-c", made.code, "-o", target],
            check=True,
        )
        done = subprocess.run(["arm-none-eabi-nm", "-u", target], capture_output=True, text=True)
        assert set(done.stdout.split()) - {"U"} <= {"memcpy", "memset", *WHOLE}


def test_clang_takes_it_too(tmp_path, stream):
    compiler("clang")
    X, y = stream("ovr", n=60)
    exported(KernelPAClassifier(gamma=0.3).fit(X, y), X, tmp_path, name="clang")


def refused(model, folder, rows, message, kind=ValueError, **more):
    with pytest.raises(kind, match=message):
        model.export_c(folder / "no.c", dtype="int16", rows=rows, **more)
    assert not list(folder.iterdir())


def test_what_is_refused(tmp_path, stream):
    X, y = stream("binary", n=60)
    model = PAClassifier().fit(X, y)
    refused(model, tmp_path, None, "rows must be given with dtype='int16'")
    refused(model, tmp_path, X[:, :2], "rows must have 6 features, got 2")
    refused(model, tmp_path, X[:0], "rows|minimum of 1")
    refused(model, tmp_path, np.full_like(X, np.nan), "rows contains NaN")
    refused(model, tmp_path, np.full_like(X, 1e60), "rows: column 0 has values of a size")
    refused(model, tmp_path, X, "learn=True: with dtype='int16' a model does not", learn=True)
    refused(model, tmp_path, X, "capacity=5: with dtype='int16'", capacity=5)
    with pytest.raises(ValueError, match="rows has no effect with dtype='float32'"):
        model.export_c(tmp_path / "no.c", dtype="float32", rows=X)
    narrow = KernelPAClassifier(gamma=1e12).fit(X, y)
    refused(narrow, tmp_path, X, "rows: 16 bits over their range")
    clipped = make_stream_pipeline(OnlineStandardScaler(clip=1.0), PAClassifier()).fit(X, y)
    refused(clipped, tmp_path, X + 100, "rows: column 0 has values only beyond the limit")


NO_FORM = [
    (KernelPAClassifier(kernel="polynomial"), "the kernel 'polynomial' has no fixed point"),
    (KernelPAClassifier(kernel="sigmoid"), "the kernel 'sigmoid'"),
    (KernelPAClassifier(kernel="cosine"), "the kernel 'cosine'"),
    (KernelPAClassifier(kernel="exponential"), "the kernel 'exponential'"),
    (KernelMeanDetector(statistic="leverage", gamma=0.5), "leverages have no fixed point"),
    (StreamClassifier(time_budget=3), "StreamClassifier has no fixed point: the votes of experts"),
    (
        make_stream_pipeline(FourierFeatures(n_components=5), KernelPAClassifier(gamma=0.5)),
        "features of a kernel have fixed point right before a linear learner",
    ),
]  # fmt: skip


@pytest.mark.parametrize(("model", "message"), NO_FORM)
def test_what_has_no_form(model, message, tmp_path, stream):
    X, y = stream("binary", n=60)
    if isinstance(model, KernelMeanDetector):
        model.fit(X)
    else:
        model.fit(X, y)
    refused(model, tmp_path, X, message, TypeError)


def test_a_full_metric_has_no_form(tmp_path, stream):
    X, y = stream("binary", n=60)
    model = KernelRLSClassifier(metric="full", n_components=10, gamma=0.4)
    refused(model.fit(X, y), tmp_path, X, "a metric that is a matrix has no fixed point", TypeError)


def test_trees_with_categories_have_no_form(tmp_path, stream):
    X, y = stream("binary", n=60)
    X[:, 1] = np.arange(60) % 4
    model = KernelForestClassifier(n_trees=3, categorical_features=[1]).fit(X, y)
    refused(model, tmp_path, X, "trees with categories have no fixed point", TypeError)
