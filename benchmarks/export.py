"""Compare exported C with the library: time of a score, agreement, sizes on small processors.

    python -P benchmarks/export.py
    python -P benchmarks/export.py --forests DIR

Models of 2,000 rows of 16 features, double and float. C is called from a loop in C; one thread.
Sizes for a Cortex-M4 and for WebAssembly need their compilers. The second form exports kernel
forests of 70 % of two sets, whose LIBSVM files are in a folder.
"""

import ctypes
import shutil
import subprocess
import tempfile
import time
from pathlib import Path

import numpy as np
from command import read_options

import onlinekern as ok
from onlinekern.streams import open_source

ROWS, FEATURES, REPEATS = 2000, 16, 5
MODELS = {
    "PA, linear": lambda: ok.PAClassifier(),
    "SPA": lambda: ok.SPAClassifier(gamma=0.05, random_state=0, beta=5.0),
    "BPA-S, 100 support vectors": lambda: ok.BPAClassifier(gamma=0.05, budget=100),
    "FOGD, 100 frequencies": lambda: ok.FOGDClassifier(
        gamma=0.05, n_components=100, average=False, random_state=0
    ),
    "kernel RLS, 100 landmarks": lambda: ok.KernelRLSClassifier(gamma=0.05, n_components=100),
    "kernel forest, 10 trees": lambda: ok.KernelForestClassifier(n_trees=10, random_state=0),
    "kernel forest, 100 trees": lambda: ok.KernelForestClassifier(random_state=0),
}
FORESTS = ("eeg-eye-state", "covtype.first20k")
LOOP = """
#include "{name}.h"
void run(const {name}_real *x, {name}_real *scores, int n);
void run(const {name}_real *x, {name}_real *scores, int n)
{{
    for (int i = 0; i < n; i++)
        {name}_score(x + (long)i * {name_upper}_N_FEATURES,
                     scores + (long)i * {name_upper}_N_OUTPUTS);
}}
"""
TEACH = """
#include "{name}.h"
void teach(const {name}_real *x, const int32_t *y, int n);
void teach(const {name}_real *x, const int32_t *y, int n)
{{
    for (int i = 0; i < n; i++)
        {name}_learn_one(x + (long)i * {name_upper}_N_FEATURES, y[i]);
}}
"""
BROWSER = """
#include "{name}.h"
static {name}_real x[{name_upper}_N_FEATURES], scores[{name_upper}_N_OUTPUTS];
{name}_real *input(void) {{ return x; }}
{name}_real *output(void) {{ return scores; }}
int run(void) {{ return {name}_score(x, scores); }}
"""
NODE = """
const fs = require("fs");
WebAssembly.instantiate(fs.readFileSync(process.argv[2]), {{}}).then(({{instance}}) => {{
    const {{memory, input, output, run}} = instance.exports;
    new {array}(memory.buffer, input(), {features}).set({row});
    console.log(run(), new {array}(memory.buffer, output(), 1)[0]);
}});
"""
CORTEX = ["-mcpu=cortex-m4", "-mthumb", "-mfloat-abi=hard", "-mfpu=fpv4-sp-d16", "-Os", "-std=c99"]


def samples():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((ROWS, FEATURES))
    return X, (X[:, 0] * X[:, 1] + X[:, 2] > 0).astype(int)


def microseconds(call):
    """Return the median time of a call over all rows, per row."""
    times = []
    for _ in range(REPEATS):
        start = time.perf_counter()
        call()
        times.append(time.perf_counter() - start)
    return 1e6 * np.median(times) / ROWS


def run(*command):
    return subprocess.run(list(map(str, command)), check=True, capture_output=True, text=True)


def compiled(made, text):
    """Return the library of an exported file, and of a loop that calls it."""
    folder, name = made.code.parent, made.code.stem
    loop = folder / f"{name}_loop.c"
    loop.write_text(text.format(name=name, name_upper=name.upper()))
    library = folder / f"{name}.so"
    run("cc", "-O2", "-fPIC", "-shared", "-std=c99", made.code, loop, "-o", library, "-lm")
    return ctypes.CDLL(str(library))


def learning_in_c(made, X, y, dtype):
    """Return the time of learning a sample in C."""
    call = compiled(made, TEACH).teach
    rows, labels = X.astype(dtype), y.astype(np.int32)
    pointers = [ctypes.c_void_p(array.ctypes.data) for array in (rows, labels)]
    return microseconds(lambda: call(*pointers, len(X)))


def in_c(made, X, dtype, n_outputs=1):
    """Return the time of a score in C, and the scores."""
    call = compiled(made, LOOP).run
    rows, out = X.astype(dtype), np.zeros((len(X), n_outputs), dtype)
    pointers = [ctypes.c_void_p(array.ctypes.data) for array in (rows, out)]
    took = microseconds(lambda: call(*pointers, len(X)))
    return took, out if n_outputs > 1 else out[:, 0]


def size_on_cortex(made):
    """Return flash and RAM of the object file on a Cortex-M4, or a dash."""
    if shutil.which("arm-none-eabi-gcc") is None:
        return "-"
    target = made.code.with_suffix(".o")
    run("arm-none-eabi-gcc", *CORTEX, "-Wall", "-Wextra", "-Werror", "-c", made.code, "-o", target)
    text, data, bss = run("arm-none-eabi-size", target).stdout.splitlines()[1].split()[:3]
    return f"{int(text) + int(data):,} / {int(data) + int(bss):,}"


def size_of_wasm(made, x, dtype, expected):
    """Return the bytes of a module that node has run, or a dash."""
    if shutil.which("emcc") is None or shutil.which("node") is None:
        return "-"
    name, folder = made.code.stem, made.code.parent
    wrapper, script, module = (folder / f"{name}_{end}" for end in ("w.c", "run.js", "w.wasm"))
    wrapper.write_text(BROWSER.format(name=name, name_upper=name.upper()))
    array = "Float32Array" if dtype == "float32" else "Float64Array"
    script.write_text(NODE.format(array=array, features=len(x), row=x.tolist()))
    options = ["--no-entry", "-sSTANDALONE_WASM", "-sEXPORTED_FUNCTIONS=_input,_output,_run"]
    run("emcc", "-O2", "-std=c99", made.code, wrapper, *options, "-o", module)
    code, score = run("node", script, module).stdout.split()
    assert code == "0", "the module must score"
    assert abs(float(score) - expected) <= 1e-4 * max(1, abs(expected)), "the score must agree"
    return f"{module.stat().st_size:,}"


def fitted(X, y):
    """Yield each model, with its title, scores, and microseconds of a block and of single rows."""
    for title, make in MODELS.items():
        model = make().fit(X, y)
        block = microseconds(lambda model=model: model.decision_function(X))
        single = microseconds(lambda model=model: [model.score_one(x) for x in X])
        yield title, model, model.decision_function(X), block, single


def forest_of(path, n_trees):
    """Return a kernel forest of 70 % of a set, and 2,000 other rows with their class numbers."""
    with open_source(path, dtype="float64") as source:
        X, y = source.head(1 << 20)
    order = np.random.default_rng(0).permutation(X.shape[0])
    learnt, others = np.split(order, [len(order) * 7 // 10])
    model = ok.KernelForestClassifier(n_trees=n_trees, random_state=0, shuffle=False)
    rows = X[others[:ROWS]]
    rows = rows if isinstance(rows, np.ndarray) else rows.toarray()
    model.fit(X[learnt], y[learnt])
    return model, rows, np.searchsorted(model.classes_, y[others[:ROWS]])


def forests(data):
    """Print what kernel forests of real data take."""
    print(
        "| set | features | outputs | trees | nodes | type | C, µs | decision_function, µs "
        "| largest difference | tables: flash / RAM | Cortex-M4: flash / RAM "
        "| learning: C, µs | learning: flash / RAM |"
    )
    print("|---" * 13 + "|")
    for name in FORESTS:
        for n_trees in (10, 100):
            model, X, y = forest_of(Path(data) / f"{name}.libsvm.xz", n_trees)
            expected = model.decision_function(X)
            n_outputs = expected.size // len(expected)
            block = microseconds(lambda model=model, X=X: model.decision_function(X))
            for dtype in ("float64", "float32"):
                with tempfile.TemporaryDirectory() as folder:
                    made = model.export_c(Path(folder) / "m.c", dtype=dtype)
                    own, scores = in_c(made, X, dtype, n_outputs)
                    error = np.abs(scores - expected).max() / max(1, np.abs(expected).max())
                    more = model.export_c(Path(folder) / "l.c", dtype=dtype, learn=True)
                    learns = learning_in_c(more, X, y, dtype)
                    print(
                        f"| {name} | {X.shape[1]} | {n_outputs} | {n_trees} | {model.n_cells_:,} "
                        f"| {dtype} | {own:.2f} | {block:.2f} | {error:.0e} "
                        f"| {made.flash:,} / {made.ram:,} | {size_on_cortex(made)} "
                        f"| {learns:.2f} | {more.flash:,} / {more.ram:,} |"
                    )


def main():
    data = read_options(__doc__, forests=None).forests
    if data is not None:
        forests(data)
        return
    models()


def models():
    """Print what the models of artificial data take."""
    X, y = samples()
    print(
        "| model | type | C, µs | decision_function, µs | score_one, µs | largest difference "
        "| tables: flash / RAM | Cortex-M4: flash / RAM | WebAssembly |"
    )
    print("|---|---|---|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        for number, (title, model, expected, block, single) in enumerate(fitted(X, y)):
            for dtype in ("float64", "float32"):
                made = model.export_c(Path(folder) / f"m{number}{dtype[5:]}.c", dtype=dtype)
                own, scores = in_c(made, X, dtype)
                error = np.abs(scores - expected).max() / max(1, np.abs(expected).max())
                name = f"SPA, {model.n_support_} support vectors" if title == "SPA" else title
                print(
                    f"| {name} | {dtype} | {own:.2f} | {block:.2f} | {single:.2f} | {error:.0e} "
                    f"| {made.flash:,} / {made.ram:,} | {size_on_cortex(made)} "
                    f"| {size_of_wasm(made, X[0], dtype, expected[0])} |"
                )


if __name__ == "__main__":
    main()
