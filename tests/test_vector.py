"""The vector primitives: accuracy of the exponential, and every instruction set."""

import json
import os
import platform
import shutil
import subprocess
from decimal import Context, Decimal
from pathlib import Path

import numpy as np
import pytest
from compiled import compiler
from interpreters import python
from scipy import sparse

from onlinekern.core.base.vector import available_levels, cosine_sine, exponential, level, product

# Below this, exp is denormal in the dtype, and 0 here.
LOWEST = {np.float32: -87.0, np.float64: -708.0}
DTYPES = sorted(LOWEST, key=lambda dtype: np.dtype(dtype).itemsize)
# A stream through every kernel, layout and dtype; prints decisions and values.
SCRIPT = """
import json
import numpy as np
from scipy import sparse
from onlinekern import OLLAClassifier, SPAClassifier, SPARegressor
from onlinekern.core import KERNELS
from onlinekern.core.base.vector import level

rng = np.random.default_rng(0)
X = rng.standard_normal((150, 9)) * (rng.random((150, 9)) < 0.7)
label, target = (X[:, 0] * X[:, 1] > 0).astype(int), np.sin(X).sum(axis=1)
found = {"level": level()}
for kernel in KERNELS:
    for dtype in (np.float32, np.float64):
        for layout in (np.ascontiguousarray, sparse.csr_matrix):
            rows = layout(X.astype(dtype))
            scores = []
            for window in (1, 13, 64):
                common = dict(kernel=kernel, gamma=0.1, window=window, random_state=0)
                model = SPAClassifier(**common).partial_fit(rows, label, classes=[0, 1])
                regressor = SPARegressor(**common)
                scores.append(regressor.partial_fit_predict(rows, target).tolist())
            found[f"{kernel} {np.dtype(dtype)} {layout.__name__}"] = {
                "mistakes": model.n_mistakes_,
                "support": [model.n_support_, regressor.n_support_],
                "same in every window": scores[0] == scores[1] == scores[2],
                "scores": scores[0],
            }
machines = found["machines"] = []
for dtype in (np.float32, np.float64):
    for intercept in (True, False):
        machine = OLLAClassifier(solver="smo", C=3.0, gamma=0.3, tol=1e-6, fit_intercept=intercept)
        for rows in (X, X > 0):
            machines.append(machine.fit(rows.astype(dtype), label).dual_objective_.tolist())
print(json.dumps(found))
"""

# Forests of every number of experts and outputs that `forest_loops.c` has loops for, and of others.
FORESTS = """
import json
import numpy as np
from onlinekern import KernelForestClassifier, KernelForestRegressor
from onlinekern.core.base.vector import level
from onlinekern.learners import kernel_forest as learners

X = np.random.default_rng(0).standard_normal((700, 6))
found = {"level": level()}
common = dict(n_trees=10, memory=512, random_state=0)
for n_experts, settings in {4: {}, 2: {"noise": 1.0}, 1: {"noise": 1.0, "levels": "leaf"}}.items():
    for n in (2, 3, 9, 20):
        label = np.digitize(np.sin(X).sum(axis=1), np.linspace(-2, 2, n - 1))
        model = KernelForestClassifier(**common, **settings)
        model.partial_fit(X, label, classes=np.arange(n))
        found[f"{n} classes, {n_experts} experts"] = model.decision_function(X[:50]).tolist()
    for n in (1, 3, 9):
        targets = np.sin(X[:, :1] * np.arange(1, n + 1))
        scores = KernelForestRegressor(**common, **settings).partial_fit_predict(X, targets)
        found[f"{n} targets, {n_experts} experts"] = scores.tolist()
# Rows of two to six vectors of sixteen numbers, with directions.
for d in (20, 36, 55, 90):
    wide = np.random.default_rng(d).standard_normal((400, d)).round(1)
    label, targets = wide[:, 0] * wide[:, d - 1] > 0, wide[:, d - 1] ** 2 + wide[:, d // 2]
    model = KernelForestClassifier(n_trees=5, random_state=0).fit(wide, label)
    found[f"{d} features, classes"] = model.decision_function(wide[:50]).tolist()
    model = KernelForestRegressor(n_trees=5, random_state=0).fit(wide, targets)
    found[f"{d} features, numbers"] = model.predict(wide[:50]).tolist()
# Exact trees, which sort the rows of small nodes and count those of large ones.
learners.EXACT_FROM = 1024
X = np.random.default_rng(1).standard_normal((1400, 10)).round(1)
for n in (2, 9):
    label = np.digitize(np.sin(X).sum(axis=1), np.linspace(-2, 2, n - 1))
    model = KernelForestClassifier(n_trees=8, memory=1024, max_samples=1.0, random_state=0)
    model.partial_fit(X, label, classes=np.arange(n))
    found[f"{n} classes, exact trees"] = model.decision_function(X[:50]).tolist()
print(json.dumps(found))
"""


def run(code, isa):
    """Run code on an instruction set."""
    return python(code, env={"ONLINEKERN_ISA": isa})


def found_on(isa, code):
    """Return what code prints on an instruction set, without the name of that, which is checked."""
    process = run(code, isa)
    assert process.returncode == 0, process.stderr
    found = json.loads(process.stdout)
    assert found.pop("level") == isa
    return found


def units_off(values):
    """Return the error of `exponential` in units in the last place of the exact result."""
    context = Context(prec=40)
    errors = []
    for t, result in zip(values.tolist(), exponential(values), strict=True):
        exact = context.exp(Decimal(t))
        unit = np.spacing(values.dtype.type(float(exact)))
        errors.append(abs(context.subtract(Decimal(float(result)), exact)) / Decimal(float(unit)))
    return np.array(errors, dtype=float)


@pytest.mark.parametrize("dtype", DTYPES)
def test_exponential_is_accurate(dtype):
    rng = np.random.default_rng(0)
    lowest = LOWEST[dtype]
    # The worst arguments of the reduction are half-way between multiples of ln 2.
    halves = -(np.arange(0, -lowest / np.log(2) - 1) + 0.5) * np.log(2)
    near = np.concatenate([np.nextafter(halves, 0), halves, np.nextafter(halves, lowest)])
    tiny = -np.logspace(-30, 0, 200)
    grid = np.linspace(lowest, 0, 1001)
    values = np.concatenate(
        [grid, near, tiny, rng.uniform(lowest, 0, 1500), rng.uniform(-2, 0, 500)]
    )
    assert units_off(values.astype(dtype)).max() <= 2


@pytest.mark.parametrize("dtype", DTYPES)
def test_exponential_at_the_edges(dtype):
    lowest, tiny = dtype(LOWEST[dtype]), np.finfo(dtype).smallest_subnormal
    cases = {
        -0.0: 1, tiny: 1, -tiny: 1, 1e-3: 1, 5: 1, 1e30: 1, np.inf: 1, np.nan: np.nan,
        -np.inf: 0, -1e30: 0, np.finfo(dtype).min: 0, np.nextafter(lowest, dtype(-np.inf)): 0,
    }  # fmt: skip
    result = exponential(np.array(list(cases), dtype=dtype))
    np.testing.assert_array_equal(result, np.array(list(cases.values()), dtype=dtype))
    assert units_off(np.array([lowest])).max() <= 2
    # Denormal results are 0, normal ones are not.
    assert exponential(np.array([lowest]))[0] >= np.finfo(dtype).smallest_normal
    below = np.linspace(lowest - 30, np.nextafter(lowest, dtype(-np.inf)), 500).astype(dtype)
    assert not exponential(below).any()


@pytest.mark.parametrize("dtype", DTYPES)
def test_exponential_does_not_depend_on_the_position(dtype):
    values = np.random.default_rng(1).uniform(-50, 0, 131).astype(dtype)
    whole = exponential(values)
    for n in (1, 2, 3, 7, 8, 15, 16, 17, 63, 64, 65, 130):
        np.testing.assert_array_equal(exponential(values[:n]), whole[:n])
        np.testing.assert_array_equal(exponential(values[-n:]), whole[-n:])


@pytest.mark.parametrize("dtype", DTYPES)
def test_exponential_does_not_decrease(dtype):
    values = np.linspace(-20, 0, 100001).astype(dtype)
    assert np.diff(exponential(values)).min() >= -2 * np.finfo(dtype).eps


# Options of the levels, as in src/meson.build, and the bytes of a register.
LEVELS = {
    "baseline": ([], 16),
    "x86-64-v3": (["-march=x86-64-v3"], 32),
    "x86-64-v4": (["-march=x86-64-v4", "-mprefer-vector-width=512"], 64),
}
FORMS = Path(__file__).with_name("harness") / "vector_forms.c"
HOME = Path(__file__).parents[1] / "src"
PLAIN = ["-O3", "-fno-trapping-math", "-fno-math-errno", "-ffp-contract=fast", "-Wno-psabi"]


def forms(folder, level, cc="cc", more=()):
    """Return the program that compares each primitive of one level with a plain loop."""
    options, width = LEVELS[level]
    command = [compiler(cc), "-std=gnu11", *more, f"-I{HOME / 'include'}"]
    table = [f'-DOK_LEVEL="{level}"', f"-DOK_BYTES={width}", "-DOK_TABLE=ok_vector_baseline"]
    made = [str(folder / name) for name in ("kernels.o", "forms")]
    kernels = [*PLAIN, *options, *table, "-c", str(HOME / "c" / "vector_kernels.c"), "-o", made[0]]
    rest = ["-O1", str(FORMS), str(HOME / "c" / "vector_select.c"), made[0], "-lm", "-o", made[1]]
    for arguments in (kernels, rest):
        done = subprocess.run([*command, *arguments], capture_output=True, text=True)
        assert done.returncode == 0, done.stderr[:4000]
    return made[1]


def compared(program):
    """Return the level of a program that has found no difference, and how much it compared."""
    done = subprocess.run([*program], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout or done.stderr
    level, number = done.stdout.split()
    return level, int(number)


@pytest.mark.parametrize("isa", available_levels())
def test_every_primitive_is_a_plain_loop(isa, tmp_path):
    level, number = compared([forms(tmp_path, isa)])
    assert level == isa
    assert number > 800_000


def test_every_primitive_of_neon_is_a_plain_loop(tmp_path):
    if platform.machine() == "aarch64":
        pytest.skip("here it is the test above")
    emulator = shutil.which("qemu-aarch64-static") or shutil.which("qemu-aarch64")
    if emulator is None:
        pytest.skip("no qemu for aarch64: Debian's qemu-user-static")
    program = forms(tmp_path, "baseline", "aarch64-linux-gnu-gcc", ["-static"])
    assert compared([emulator, program])[1] > 800_000


def test_levels():
    assert "baseline" in available_levels()
    assert level() == os.environ.get("ONLINEKERN_ISA", available_levels()[0])


@pytest.fixture(scope="module")
def baseline():
    return found_on("baseline", SCRIPT)


# They are compared with it, which is all that there is on some machines.
BEYOND_BASELINE = [isa for isa in available_levels() if isa != "baseline"] or ["baseline"]


@pytest.mark.parametrize("isa", BEYOND_BASELINE)
def test_every_instruction_set_decides_alike(isa, baseline):
    found = found_on(isa, SCRIPT)
    assert found.keys() == baseline.keys()
    np.testing.assert_allclose(found.pop("machines"), baseline["machines"], rtol=1e-5)
    for name, result in found.items():
        expected = baseline[name]
        assert result["same in every window"], f"{name} on {isa}"
        for key in ("same in every window", "mistakes", "support"):
            assert result[key] == expected[key], f"{name} on {isa}: {key}"
        tolerance = 1e-4 if "float32" in name else 1e-10
        np.testing.assert_allclose(
            result["scores"], expected["scores"], rtol=tolerance, atol=tolerance, err_msg=name
        )


@pytest.fixture(scope="module")
def baseline_forests():
    return found_on("baseline", FORESTS)


@pytest.mark.parametrize("isa", BEYOND_BASELINE)
def test_every_instruction_set_grows_the_same_forests(isa, baseline_forests):
    found = found_on(isa, FORESTS)
    assert found.keys() == baseline_forests.keys()
    for name, scores in found.items():
        assert scores == baseline_forests[name], f"{name} on {isa}"


def test_unknown_instruction_set():
    process = run("from onlinekern import SPAClassifier", "sse-9")
    assert process.returncode != 0
    last = process.stderr.strip().splitlines()[-1]
    assert last.startswith("ImportError")
    assert "ONLINEKERN_ISA='sse-9'" in last
    assert "baseline" in last


@pytest.mark.parametrize("dtype", DTYPES)
def test_product_is_that_of_the_matrices(dtype):
    rng = np.random.default_rng(0)
    X = (rng.random((7, 5)) * (rng.random((7, 5)) < 0.6)).astype(dtype)
    panels = rng.random((2, 5, 64)).astype(dtype)
    expected = np.hstack([X @ panel for panel in panels])
    for rows in (X, sparse.csr_matrix(X)):
        out = np.full((7, 128), np.nan, dtype)
        product(rows, panels, out)
        np.testing.assert_allclose(out, expected, rtol=1e-5)
    with pytest.raises(ValueError, match="fit"):
        product(X, panels, np.zeros((7, 64), dtype))


@pytest.mark.parametrize("dtype", DTYPES)
def test_in_place_is_the_same(dtype):
    values = np.linspace(-5, 0, 100, dtype=dtype)
    expected, waves = exponential(values), cosine_sine(values)
    assert exponential(values, out=values) is values
    np.testing.assert_array_equal(values, expected)
    out = np.vstack([np.linspace(-5, 0, 100, dtype=dtype), np.zeros(100, dtype)])
    cosine_sine(out[0], out=out)
    np.testing.assert_array_equal(out, waves)


NOT_FINITE = """
import numpy as np
from onlinekern.core.samples.plain import all_finite

for dtype in (np.float32, np.float64):
    for size in (1, 3, 17, 64, 131, 2000):
        values = np.resize([np.finfo(dtype).max, np.finfo(dtype).smallest_subnormal, -0.0], size)
        values = values.astype(dtype)
        assert all_finite(values) and all_finite(-values)
        for place in range(0, size, max(1, size // 23)):
            for bad in (np.nan, np.inf, -np.inf):
                spoilt = values.copy()
                spoilt[place] = bad
                assert not all_finite(spoilt), (dtype, size, place, bad)
"""


@pytest.mark.parametrize("isa", available_levels())
def test_every_instruction_set_finds_what_is_not_finite(isa):
    process = run(NOT_FINITE, isa)
    assert process.returncode == 0, process.stderr
