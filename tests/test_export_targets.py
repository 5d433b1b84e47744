"""Exported C on a 32-bit ARM processor and as WebAssembly gives the scores of this machine."""

import subprocess

import numpy as np
import pytest
from compiled import FLAGS, compiler
from exported import Case, fitted, scores_of

from onlinekern import (
    FOGDClassifier,
    KernelForestClassifier,
    KernelPAClassifier,
    KernelRLSClassifier,
    PAClassifier,
)

CASES = [
    Case("PAClassifier", {"average": True}, "ovr"),
    Case("KernelRLSClassifier", {"n_components": 10}, "ovr"),
    Case("SPAClassifier", {"max_support": 60}, "ovr"),
]
ARM = ["-mcpu=cortex-a9", "-marm", "-mfloat-abi=hard", "-mfpu=vfpv3", "--specs=rdimon.specs"]
CORTEX = ["-mcpu=cortex-m4", "-mthumb", "-mfloat-abi=hard", "-mfpu=fpv4-sp-d16"]
# Learns two rows, and prints the scores of the first one.
MAIN = """
#include <stdio.h>
#include "model.h"
static const model_real rows[] = {{{rows}}};
int main(void)
{{
    model_real scores[3];
    int code = model_learn_one(rows, 0) | model_learn_one(rows + {d}, 2);
    code |= model_score(rows, scores);
    printf("%d %.8g %.8g %.8g\\n", code, (double)scores[0], (double)scores[1], (double)scores[2]);
    return 0;
}}
"""
# Prints the whole numbers and the class of each row.
FIXED = """
#include <stdio.h>
#include "model.h"
static const int16_t rows[] = {{{rows}}};
int main(void)
{{
    for (int i = 0; i < {n}; i++) {{
        int32_t scores[MODEL_N_OUTPUTS];
        const int16_t *row = rows + i * MODEL_N_FEATURES;
        printf("%d %d", (int)model_score(row, scores), (int)model_predict(row));
        for (int k = 0; k < MODEL_N_OUTPUTS; k++)
            printf(" %ld", (long)scores[k]);
        puts("");
    }}
    return 0;
}}
"""
WRAPPER = """
#include "model.h"
static model_real x[MODEL_N_FEATURES], scores[MODEL_N_OUTPUTS];
model_real *input(void) { return x; }
model_real *output(void) { return scores; }
int run(int label) { return label < 0 ? model_score(x, scores) : model_learn_one(x, label); }
"""
NODE = """
const fs = require("fs");
WebAssembly.instantiate(fs.readFileSync(process.argv[2]), {}).then(({instance}) => {
    const {memory, input, output, run} = instance.exports;
    const rows = JSON.parse(process.argv[3]);
    let code = 0;
    for (const [row, label] of [[rows[0], 0], [rows[1], 2], [rows[0], -1]]) {
        new Float32Array(memory.buffer, input(), row.length).set(row);
        code |= run(label);
    }
    console.log(code, ...new Float32Array(memory.buffer, output(), 3));
});
"""


@pytest.fixture(params=CASES, ids=lambda case: case.name)
def exported(request, stream, tmp_path):
    """Return the exported files, two rows, and the scores of the first once both are learnt."""
    X, y = stream("ovr", n=40)
    model = fitted(request.param, X, y)
    rows = X[[7, 11]] * 1.5
    made = model.export_c(tmp_path / "model.c", dtype="float32", learn=True)
    for row, label in zip(rows, (0, 2), strict=True):
        model.learn_one(row, model.classes_[label])
    return made, rows, scores_of(model, rows[:1])[0]


def output_of(*command):
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-2000:]
    return done.stdout


def check(output, expected):
    code, *scores = map(float, output.split())
    assert code == 0
    np.testing.assert_allclose(scores, expected, atol=1e-4 * max(1, np.abs(expected).max()))


def test_arm(exported, tmp_path):
    gcc, machine = compiler("arm-none-eabi-gcc"), compiler("qemu-arm")
    made, rows, expected = exported
    main, program = tmp_path / "main.c", tmp_path / "program"
    text = ", ".join(f"{value!r}f" for value in rows.ravel().tolist())
    main.write_text(MAIN.format(rows=text, d=rows.shape[1]))
    output_of(gcc, *CORTEX, *FLAGS, "-c", made.code, "-o", tmp_path / "model.o")
    output_of(gcc, *ARM, *FLAGS, made.code, main, "-lm", "-o", program)
    check(output_of(machine, "-cpu", "cortex-a9", program), expected)


@pytest.mark.parametrize(
    "model",
    [
        PAClassifier(),
        KernelPAClassifier(gamma=0.3),
        FOGDClassifier(n_components=20, random_state=0),
        KernelRLSClassifier(n_components=20),
        KernelForestClassifier(n_trees=8, random_state=0),
    ],
    ids=lambda model: type(model).__name__,
)
def test_fixed_point_on_arm(model, stream, tmp_path):
    gcc, machine = compiler("arm-none-eabi-gcc"), compiler("qemu-arm")
    X, y = stream("ovr", n=300)
    rng = np.random.default_rng(0)
    has_gaps = isinstance(model, KernelForestClassifier)
    if has_gaps:
        X[rng.random(X.shape) < 0.2] = np.nan
    made = model.fit(X, y).export_c(tmp_path / "model.c", dtype="int16", rows=X)
    rows = rng.integers(-32767, 32768, (60, X.shape[1]))
    if has_gaps:
        rows[rng.random(rows.shape) < 0.4] = -32768
    main, here, there = tmp_path / "main.c", tmp_path / "here", tmp_path / "there"
    main.write_text(FIXED.format(rows=", ".join(map(str, rows.ravel())), n=len(rows)))
    output_of(compiler(), *FLAGS, made.code, main, "-o", here)
    output_of(gcc, "-Os", *ARM, *FLAGS, made.code, main, "-o", there)
    printed = output_of(here)
    assert len(set(printed.splitlines())) > 30
    assert output_of(machine, "-cpu", "cortex-a9", there) == printed


def test_webassembly(exported, tmp_path):
    emcc, node = compiler("emcc"), compiler("node")
    made, rows, expected = exported
    wrapper, script, module = (tmp_path / name for name in ("w.c", "run.js", "model.wasm"))
    wrapper.write_text(WRAPPER)
    script.write_text(NODE)
    options = ["--no-entry", "-sSTANDALONE_WASM", "-sEXPORTED_FUNCTIONS=_input,_output,_run"]
    output_of(emcc, "-std=c99", made.code, wrapper, *options, "-o", module)
    check(output_of(node, script, module, str(rows.tolist())), expected)
