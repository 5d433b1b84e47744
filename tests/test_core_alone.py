"""Test of the wheels where scikit-learn has none (musllinux): the core learns without it."""

import subprocess
import sys

import pytest

CODE = """
import sys
sys.modules["sklearn"] = None
import pickle
import numpy as np
from scipy import sparse
from onlinekern import show_config
from onlinekern.core import HEADS, KERNELS, LOSSES, POLICIES, RULES, SAMPLERS
from onlinekern.core.base.random import Generator
from onlinekern.core.kernels.support_set import SupportSet
from onlinekern.core.models.space import KernelSpace
from onlinekern.core.stream import Model

X = np.random.default_rng(0).uniform(-1, 1, (2000, 3)).astype({dtype!r})
y = (X[:, 0] * X[:, 1] > 0).astype(float)
for rows in (X, sparse.csr_matrix(X)):
    rng = Generator(0)
    support = SupportSet(KERNELS[{kernel!r}](2.0), 3, X.dtype, 1, False, rows is not X)
    space = KernelSpace(support, POLICIES["random"](100, rng))
    model = Model(
        space, HEADS["binary"](), RULES["pa1"](LOSSES["hinge"](), 1.0),
        SAMPLERS["always"](), rng, 3,
        X.dtype,
    )
    predicted = model.learn(rows, y)
    assert (predicted[1000:] != y[1000:]).mean() < 0.2, "nothing was learnt"
    assert support.n_rows == 100
    scores, again = np.empty((2000, 1)), np.empty((2000, 1))
    model.scores(rows, scores)
    pickle.loads(pickle.dumps(model)).scores(rows, again)
    assert np.array_equal(scores, again)
assert not any(name.startswith("sklearn.") for name in sys.modules)
print(show_config("dicts"))
"""


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("kernel", ["gaussian", "laplacian"])
def test_the_core_needs_no_scikit_learn(kernel, dtype, tmp_path):
    process = subprocess.run(
        [sys.executable, "-P", "-c", CODE.format(kernel=kernel, dtype=dtype)],
        cwd=tmp_path,
        capture_output=True,
        text=True,
    )
    assert process.returncode == 0, process.stderr
    assert "instruction_set" in process.stdout
