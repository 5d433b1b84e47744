"""Several targets of kernel least squares: one inverse, and what a model of each would say."""

import pickle
import subprocess
from functools import partial

import numpy as np
import pytest
import several_targets
from compiled import FLAGS, compiler
from oracles.kernel_rls import kernel_rls

from onlinekern import KernelRLSRegressor, merge
from onlinekern.core.learning.heads import HEADS
from onlinekern.core.models.residuals import Residuals

SETTINGS = {"n_components": 30, "gamma": 0.2, "random_state": 3}
# The reg is shared, and so is a metric: these are chosen for all targets together.
ALIKE = [
    {"reg": 0.1},
    {"reg": 0.1, "standardize_target": False},
    {"reg": 0.5, "features": "fourier", "linear": False},
    {"reg": 0.1, "selection": "ald", "novelty": 0.2},
    {"reg": 0.1, "forgetting": 0.98},
]
CASES = [
    *ALIKE,
    {},
    {"gamma": "median"},
    {"metric": "diagonal"},
    {"metric": "full", "forgetting": 0.99},
]


def samples(n=300, dtype=np.float64):
    return several_targets.samples(n, 4, dtype)


def new_model(**case):
    return KernelRLSRegressor(**{**SETTINGS, **case})


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("case", ALIKE, ids=str)
def test_they_are_those_of_a_model_for_each(case, dtype):
    X, Y, weight = samples(dtype=dtype)
    model, alone = new_model(**case), [new_model(**case) for _ in Y.T]
    found = model.partial_fit_predict(X, Y, sample_weight=weight)
    each = [
        one.partial_fit_predict(X, y, sample_weight=weight)
        for one, y in zip(alone, Y.T, strict=True)
    ]
    # What forgetting fades is multiplied in another order.
    loose = 0 if "forgetting" not in case else 1e-12 if dtype == np.float64 else 1e-5

    def check(found, expected):
        np.testing.assert_allclose(found, expected, rtol=loose, atol=100 * loose)

    check(found, np.column_stack(each))
    check(model.predict(X), np.column_stack([one.predict(X) for one in alone]))
    check(model.coef_, np.vstack([one.coef_ for one in alone]))
    check(model.intercept_, np.concatenate([one.intercept_ for one in alone]))
    check(model.noise_, [one.noise_ for one in alone])
    _, deviations = model.predict(X, return_std=True)
    check(deviations, np.column_stack([one.predict(X, return_std=True)[1] for one in alone]))
    intervals = [one.predict_interval(X, coverage=0.8) for one in alone]
    for side, bounds in enumerate(model.predict_interval(X, coverage=0.8)):
        check(bounds, np.column_stack([both[side] for both in intervals]))
    check(model.target_scale_, [one.target_scale_ for one in alone])
    assert model.cumulative_loss_ == pytest.approx(sum(one.cumulative_loss_ for one in alone))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("case", [*ALIKE, {}], ids=str)
def test_they_are_those_of_the_twin(case, dtype):
    X, Y, weight = samples(160, dtype)
    Y = (Y - Y.mean(axis=0)) / Y.std(axis=0)
    model = new_model(**{**case, "standardize_target": False})
    found = model.partial_fit_predict(X, Y, sample_weight=weight)
    names = ("features", "n_components", "selection", "novelty", "reg", "forgetting", "gamma")
    block = model._model.space.block
    run = kernel_rls(
        X, Y, model.frequencies_ if model.features == "fourier" else None, task="regression",
        linear=model.linear is not False, block=block.epoch_length, closing=block.block_length,
        sample_weight=weight, dtype=dtype, **{name: getattr(model, name) for name in names},
    )  # fmt: skip
    loose = {np.float32: 5e-3, np.float64: 1e-9}[dtype]
    np.testing.assert_allclose(found, run.predictions, atol=loose)
    np.testing.assert_allclose(model.predict(X[:40]), run.decision_function(X[:40]), atol=loose)
    assert model.reg_ == run.reg
    assert model.cumulative_loss_ == pytest.approx(run.cumulative_loss, rel=loose)


@pytest.mark.parametrize("case", CASES, ids=str)
def test_a_stream_may_be_cut_saved_and_undone(case, tmp_path):
    several_targets.check_cuts(partial(new_model, **case), samples(500), 37, tmp_path)


def test_a_failed_call_leaves_the_model():
    several_targets.check_failures(new_model, *samples(100)[:2])


def test_one_column_is_one_target():
    several_targets.check_one_column(new_model, *samples(100)[:2])


@pytest.mark.parametrize("metric", ["none", "full"])
@pytest.mark.parametrize("reg", [0.1, "auto"])
def test_merged_models_know_all_targets(reg, metric):
    X, Y, _ = samples(600)
    case = {"metric": metric, "reg": reg, "features": "fourier" if metric == "none" else "nystroem"}
    base = new_model(**case).partial_fit(X[:200], Y[:200])
    parts = [
        pickle.loads(pickle.dumps(base)).partial_fit(X[rows], Y[rows])
        for rows in (slice(200, 400), slice(400, 600))
    ]
    merged = merge(parts, base=base)
    np.testing.assert_allclose(merged.target_mean_, Y.mean(axis=0))
    np.testing.assert_allclose(merged.target_scale_, Y.std(axis=0))
    errors = np.abs(merged.predict(X) - Y).mean(axis=0) / Y.std(axis=0)
    whole = new_model(**case).partial_fit(X, Y)
    assert (errors < 1.5 * np.abs(whole.predict(X) - Y).mean(axis=0) / Y.std(axis=0)).all()
    merged.partial_fit(X[:10], Y[:10])


def test_merged_sums_are_exact_without_standardising():
    X, Y, _ = samples(600)
    case = {"reg": 0.1, "features": "fourier", "standardize_target": False}
    parts = [
        new_model(**case).partial_fit(X[rows], Y[rows]) for rows in (slice(300), slice(300, 600))
    ]
    whole = new_model(**case).partial_fit(X, Y)
    np.testing.assert_allclose(merge(parts).predict(X), whole.predict(X), rtol=1e-9)


MAIN = """
#include <stdio.h>
#include "model.h"
static const double rows[] = {{{rows}}};
int main(void)
{{
    double scores[3];
    for (int i = 0; i < {n}; i++) {{
        model_score(rows + {d} * i, scores);
        printf("%.17g %.17g %.17g\\n", scores[0], scores[1], scores[2]);
    }}
    return 0;
}}
"""


@pytest.mark.parametrize("standardize", [False, True])
def test_c_scores_them(tmp_path, standardize):
    X, Y, _ = samples(100)
    model = new_model(standardize_target=standardize).partial_fit(X, Y)
    model.export_c(tmp_path / "model.c")
    rows = ", ".join(map(repr, X[:9].ravel().tolist()))
    (tmp_path / "main.c").write_text(MAIN.format(rows=rows, n=9, d=4))
    command = [compiler(), *FLAGS, "main.c", "model.c", "-lm", "-o", "main"]
    subprocess.run(command, cwd=tmp_path, check=True)
    told = subprocess.run([tmp_path / "main"], capture_output=True, text=True, check=True).stdout
    found = np.array(told.split(), dtype=float).reshape(9, 3)
    np.testing.assert_allclose(found, model.predict(X[:9]), rtol=1e-9)
    with pytest.raises(TypeError, match="3 targets"):
        model.export_c(tmp_path / "model.c", learn=True)


def test_onnx_scores_them(tmp_path):
    runtime = pytest.importorskip("onnxruntime")
    X, Y, _ = samples(100)
    model = new_model().partial_fit(X, Y)
    model.export_onnx(tmp_path / "model.onnx")
    session = runtime.InferenceSession(str(tmp_path / "model.onnx"))
    found = session.run(None, {session.get_inputs()[0].name: X[:9].astype(np.float32)})[0]
    np.testing.assert_allclose(found.reshape(9, 3), model.predict(X[:9]), rtol=1e-4)


def test_parts_refuse_what_does_not_fit():
    with pytest.raises(ValueError, match="forgetting must be <= 1"):
        HEADS["several_standardized"](3, 1.5)
    with pytest.raises(ValueError, match="n_outputs"):
        Residuals(0)
    X, Y, _ = samples(60)
    model = new_model().partial_fit(X, Y)
    restore, arguments = model._model.__reduce__()
    parts = pickle.loads(pickle.dumps(arguments[0]))
    fixed, weights, means, squares, scales, far = arguments[5]
    for bad in [
        (fixed, weights, means[:2], squares, scales, far),
        (fixed, weights[:2], means, squares, scales, far),
        (fixed, weights, means, squares, -scales, far),
        (fixed, weights, means, squares, scales, far - 1),
        (fixed, weights, means, squares),
    ]:
        with pytest.raises(ValueError, match="targets"):
            restore(parts, *arguments[1:5], bad, *arguments[6:])
    # Former versions had one weight of all, and counted none that were far off.
    former = (fixed, float(weights[0]), means, squares, scales)
    read = restore(parts, *arguments[1:5], former, *arguments[6:]).__reduce__()[1][5]
    for given, found in zip(arguments[5], read, strict=True):
        np.testing.assert_array_equal(found, given)
