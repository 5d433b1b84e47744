"""Fixed point of exported C beside float and double: changed predictions, and what a chip takes.

    python -P benchmarks/fixed_point.py --data DIR [--only NAME,...] [--missing SHARE]
    python -P benchmarks/fixed_point.py --chip

The first form lets learners learn 70 % of the rows of LIBSVM files (5,000 at most), exports them as
float64, float32 and int16, whose ranges are those of 2,000 of these rows, and lets the C predict
the other rows (3,000 at most). With --missing, a share of all values is missing, and forests learn.

The second form builds models of 2,000 rows of 8 features for a Cortex-M0, which has no floating
unit (`arm-none-eabi-gcc -mcpu=cortex-m0 -Os`, with newlib and libgcc), and runs them in
`qemu-system-arm -M microbit`. Its log of single instructions has each program counter and stack
pointer. Cycles are those of a Cortex-M0 with the multiplier of one cycle and memory without wait
states (Technical Reference Manual r0p0, table 3-1): loads and stores 2, of n registers 1 + n, or
4 + n if that returns, a branch that is taken 3, calls 4, the rest 1. Flash is what a program with
the prediction has more than an empty one.
"""

import ctypes
import re
import subprocess
import tempfile
from pathlib import Path

import numpy as np
from command import read_options

import onlinekern as ok
from onlinekern.streams import open_source

SETS = ("spambase", "phishing", "segment", "satimage.train", "eeg-eye-state", "covtype.sample10k")
TARGETS = ("housing", "cpusmall", "cadata")
TYPES = ("float64", "float32", "int16")
LEARNT, SAMPLE, OTHERS = 5000, 2000, 3000
# Rows that the chip predicts: each instruction is a page of qemu's log.
ROWS = 1
HERE = Path(__file__).with_name("chip")
SCALED = {
    "PA": {},
    "AROW": {},
    "SPA": {"beta": 5.0, "random_state": 0},
    "BOGD": {"budget": 100, "random_state": 0},
    "FOGD": {"n_components": 100, "random_state": 0},
    "KernelRLS": {"n_components": 100},
}
MODELS = {
    "PA, linear": ok.PAClassifier(),
    "BPA-S, 50 support vectors": ok.BPAClassifier(gamma=0.1, budget=50),
    "FOGD, 100 frequencies": ok.FOGDClassifier(gamma=0.1, n_components=100, random_state=0),
    "kernel RLS, 50 landmarks": ok.KernelRLSClassifier(gamma=0.1, n_components=50),
    "kernel forest, 10 trees": ok.KernelForestClassifier(n_trees=10, random_state=0),
}
# Of a chip: the name of each type, its dtype, and options of the compiler.
BUILDS = (
    ("float64", "float64", []),
    ("float32", "float32", []),
    ("float32, table", "float32", ["-DM_TABLE_EXP"]),
    ("int16", "int16", []),
)
LOOP = """
#include "m.h"
void answers(const {x} *x, {out} *found, int n);
void answers(const {x} *x, {out} *found, int n)
{{
    for (int i = 0; i < n; i++)
        {call};
}}
"""
CALLS = {
    True: "m_predict(x + (long)i * M_N_FEATURES, found + i)",
    False: "found[i] = m_predict(x + (long)i * M_N_FEATURES)",
}
M0 = ["arm-none-eabi-gcc", "-mcpu=cortex-m0", "-mthumb", "-Os", "-std=c99", "-ffunction-sections",
      "-fdata-sections"]  # fmt: skip
LINK = ["-nostartfiles", "-Wl,--gc-sections", "-T", HERE / "m0.ld", HERE / "start.c", "-lm"]
QEMU = ["qemu-system-arm", "-M", "microbit", "-nographic", "-semihosting", "-singlestep", "-d",
        "exec,cpu,nochain"]  # fmt: skip
REGISTERS = re.compile(rb"R12=\w+ R13=(\w+) R14=\w+ R15=(\w+)")
INSTRUCTION = re.compile(r"^ +([0-9a-f]+):\t((?:[0-9a-f]{4} ?)+) *\t(\S+)(?:\t(.*))?$", re.M)


def run(*command):
    return subprocess.run(list(map(str, command)), check=True, capture_output=True, text=True)


class Units:
    """Features and targets of a model in fixed point, as its header has them."""

    def __init__(self, header, library):
        self.bits = int(re.search(r"_SCORE_BITS = (-?\d+)", header)[1])
        n = int(re.search(r"_N_FEATURES = (\d+)", header)[1])
        self.shift = np.array((ctypes.c_int8 * n).in_dll(library, "m_bits"), float)
        self.zeros = np.array((ctypes.c_int32 * n).in_dll(library, "m_zeros"), float)

    def features(self, X):
        found = np.clip(np.rint(X * np.exp2(self.shift)) - self.zeros, -32767, 32767)
        return np.where(np.isnan(X), -32768, found).astype(np.int16)


def predictions(model, dtype, rows, X, regression):
    """Return what the C of a type predicts."""
    with tempfile.TemporaryDirectory() as folder:
        given = {"rows": rows} if dtype == "int16" else {"learn": False}
        made = model.export_c(Path(folder) / "m.c", dtype=dtype, **given)
        loop, library = Path(folder) / "loop.c", Path(folder) / "m.so"
        fixed = dtype == "int16"
        number = {"float64": "double", "float32": "float", "int16": "int32_t"}[dtype]
        out = number if regression else "int32_t"
        loop.write_text(
            LOOP.format(x="int16_t" if fixed else number, out=out, call=CALLS[regression])
        )
        run("cc", "-O2", "-fPIC", "-shared", "-std=c99", made.code, loop, "-o", library, "-lm")
        c = ctypes.CDLL(str(library))
        units = Units(made.header.read_text(), c) if fixed else None
        x = np.ascontiguousarray(units.features(X) if fixed else X.astype(dtype))
        kind = np.int32 if fixed or not regression else dtype
        found = np.zeros(len(X), kind)
        c.answers(*(ctypes.c_void_p(array.ctypes.data) for array in (x, found)), len(X))
        return found / 2.0**units.bits if fixed and regression else found


def split(path):
    """Return learnt rows and targets, and others."""
    with open_source(path, dtype="float64") as source:
        X, y = source.head(1 << 17)
    order = np.random.default_rng(0).permutation(X.shape[0])
    learnt, others = np.split(order, [len(order) * 7 // 10])
    X = X if isinstance(X, np.ndarray) else X.tocsr()
    parts = [X[own] for own in (learnt[:LEARNT], others[:OTHERS])]
    X, far = (part if isinstance(part, np.ndarray) else part.toarray() for part in parts)
    return X, y[learnt[:LEARNT]], far, y[others[:OTHERS]]


def learners(kind, n_features, missing):
    """Yield the name of each learner, and the learner; kernels are as wide as rows are long."""
    for name, given in () if missing else SCALED.items():
        width = {} if name in ("PA", "AROW") else {"gamma": 1 / n_features}
        learner = getattr(ok, name + kind)(**given, **width)
        yield name, ok.make_stream_pipeline(ok.OnlineStandardScaler(), learner)
    yield "KernelForest", getattr(ok, f"KernelForest{kind}")(n_trees=30, random_state=0)


def changes(data, only, missing):
    """Print the share of predictions that other types change."""
    print("| set | learner | error | float32 changes | int16 changes | error, int16 |")
    print("|---" * 6 + "|")
    for name in (*SETS, *TARGETS):
        if only and name not in only.split(","):
            continue
        regression = name in TARGETS
        X, y, far, truth = split(Path(data) / f"{name}.libsvm.xz")
        kind = "Regressor" if regression else "Classifier"
        rng = np.random.default_rng(1)
        for part in (X, far) if missing else ():
            part[rng.random(part.shape) < missing] = np.nan
        for title, learner in learners(kind, X.shape[1], missing):
            known = {} if regression else {"classes": np.unique(y)}
            model = learner.partial_fit(X, y, **known)
            double, single, fixed = (
                predictions(model, dtype, X[:SAMPLE], far, regression) for dtype in TYPES
            )
            if regression:
                unit = truth.std()
                errors = [np.sqrt(np.mean((own - truth) ** 2)) / unit for own in (double, fixed)]
                moved = [np.sqrt(np.mean((own - double) ** 2)) / unit for own in (single, fixed)]
                told = [f"{errors[0]:.4f}", *(f"{m:.1e}" for m in moved), f"{errors[1]:.4f}"]
            else:
                labels = model.classes_
                errors = [100 * np.mean(labels[own] != truth) for own in (double, fixed)]
                moved = [100 * np.mean(own != double) for own in (single, fixed)]
                told = [f"{errors[0]:.2f}", *(f"{m:.2f}" for m in moved), f"{errors[1]:.2f}"]
            print(f"| {name} | {title} | {' | '.join(told)} |", flush=True)


def cost(mnemonic, operands, taken):
    """Return the cycles of an instruction of a Cortex-M0."""
    name = mnemonic.removesuffix(".n").removesuffix(".w")
    if name in ("push", "pop", "stmia", "ldmia"):
        registers = operands[operands.index("{") + 1 : operands.index("}")]
        count = sum(
            1 if "-" not in part else int(part.split("-r")[1]) - int(part.split("-")[0][1:]) + 1
            for part in registers.replace(" ", "").split(",")
        )
        return (4 if taken else 1) + count
    if name.startswith(("ldr", "str")):
        return 2
    if name == "bl":
        return 4
    return 3 if taken else 1


def traced(elf):
    """Return cycles, instructions and stack of each call between two marks, from qemu's log."""
    text = run("arm-none-eabi-objdump", "-d", elf).stdout
    code = {
        int(place, 16): (len(words.split()) * 2, name, operands)
        for place, words, name, operands in INSTRUCTION.findall(text)
    }
    symbols = run("arm-none-eabi-nm", elf).stdout
    mark = int(re.search(r"^(\w+) T mark$", symbols, re.M)[1], 16) & ~1
    log = subprocess.Popen(
        [*QEMU, "-kernel", str(elf)],
        stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
    )  # fmt: skip
    found, before, top = [], None, 0
    for line in log.stderr:
        own = REGISTERS.match(line)
        if own is None:
            continue
        stack, place = int(own[1], 16), int(own[2], 16)
        if before is not None and found:
            size, name, operands = code[before]
            found[-1][0] += cost(name, operands, place != before + size)
            found[-1][1] += 1
            found[-1][2] = max(found[-1][2], top - stack)
        if place == mark:
            found.append([0, 0, 0])
            top = stack
        before = place
    assert log.wait() == 0
    return np.array(found[:-1:2])


def program(made, X, dtype, library):
    """Return the text of a program that predicts rows between marks."""
    fixed = dtype == "int16"
    number = {"float64": "double", "float32": "float", "int16": "int16_t"}[dtype]
    rows = Units(made.header.read_text(), library).features(X) if fixed else X.astype(dtype)
    numbers = ", ".join(map(repr, rows.ravel().tolist()))
    return f"""#include "m.h"
static const {number} rows[] = {{{numbers}}};
volatile int32_t found;
__attribute__((noinline)) void mark(void) {{ __asm volatile(""); }}
int main(void)
{{
    for (int i = 0; i < {len(X)}; i++) {{
        mark();
        found = m_predict(rows + i * M_N_FEATURES);
        mark();
    }}
    return 0;
}}
"""


def flash_of(elf):
    text, data = run("arm-none-eabi-size", elf).stdout.splitlines()[1].split()[:2]
    return int(text) + int(data)


def chip():
    """Print what each type takes of a chip without a floating unit."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((2000, 8))
    y = (X[:, 0] * X[:, 1] + X[:, 2] > 0).astype(int)
    print("| model | type | flash | RAM | stack | cycles | instructions |")
    print("|---" * 7 + "|")
    for title, learner in MODELS.items():
        model = learner.partial_fit(X, y, classes=[0, 1])
        for name, dtype, options in BUILDS:
            with tempfile.TemporaryDirectory() as folder:
                told = measured(model, dtype, X, Path(folder), options)
                if told is not None:
                    print(f"| {title} | {name} | {told} |", flush=True)


def measured(model, dtype, X, folder, more):
    """Return the figures of a model as text; None if an option says nothing to it."""
    given = {"rows": X} if dtype == "int16" else {"learn": False}
    made = model.export_c(folder / "m.c", dtype=dtype, **given)
    if more and "TABLE_EXP" not in made.code.read_text():
        return None
    run("cc", "-fPIC", "-shared", made.code, "-o", folder / "m.so", "-lm")
    library = ctypes.CDLL(str(folder / "m.so"))
    (folder / "main.c").write_text(program(made, X[:ROWS], dtype, library))
    (folder / "none.c").write_text("int main(void) { return 0; }\n")
    elf, none, target = folder / "m.elf", folder / "none.elf", folder / "m.o"
    run(*M0, *more, folder / "main.c", made.code, *LINK, "-o", elf)
    run(*M0, folder / "none.c", *LINK, "-o", none)
    run(*M0, *more, "-c", made.code, "-o", target)
    undefined = set(run("arm-none-eabi-nm", "-u", target).stdout.split())
    floating = {own for own in undefined if re.match(r"__aeabi_[cdf]", own)}
    assert dtype != "int16" or not floating, floating
    ram = sum(map(int, run("arm-none-eabi-size", target).stdout.splitlines()[1].split()[1:3]))
    rows = ROWS * X.shape[1] * np.dtype(dtype).itemsize
    cycles, instructions, stack = traced(elf).mean(axis=0)
    return (
        f"{flash_of(elf) - flash_of(none) - rows:,} | {ram:,} | {stack:.0f} | {cycles:,.0f} "
        f"| {instructions:,.0f}"
    )


def main():
    arguments = read_options(__doc__, data=None, only=None, missing=0.0, chip=False)
    if arguments.data is not None:
        changes(arguments.data, arguments.only, arguments.missing)
    if arguments.chip:
        chip()


if __name__ == "__main__":
    main()
