"""Several targets of the adaptive filters: one dictionary and one inverse serve all of them."""

import pickle
from functools import partial

import numpy as np
import pytest
import several_targets
from budgeted import NOT_OF_THE_LOOP, as_dense
from compiled import Program, load
from oracles import filters
from sklearn.exceptions import ConvergenceWarning

from onlinekern import (
    FixedBudgetKRLSRegressor,
    KAPARegressor,
    KLMSRegressor,
    KRLSRegressor,
    KRLSTRegressor,
    QKLMSRegressor,
    SlidingWindowKRLSRegressor,
    merge,
)

klms = partial(filters.qklms, epsilon=0.0, budget=None)
# Estimator, twin, settings; and whether who stays depends on the targets.
CASES = [
    (KLMSRegressor, klms, {}, False),
    (QKLMSRegressor, filters.qklms, {"epsilon": 1.2}, False),
    (QKLMSRegressor, filters.qklms, {"epsilon": 0.9, "budget": 12, "eta": 0.3}, False),
    (KAPARegressor, filters.kapa, {"order": 7, "budget": 30, "eta": 0.3, "reg": 0.1}, False),
    (KAPARegressor, filters.kapa, {"variant": "kapa1", "order": 4, "budget": 30}, False),
    (KRLSRegressor, filters.krls, {"nu": 0.3, "budget": 20}, False),
    (SlidingWindowKRLSRegressor, filters.sliding_window_krls, {"budget": 14, "reg": 0.1}, False),
    (FixedBudgetKRLSRegressor, filters.fixed_budget_krls, {"budget": 14}, True),
    (FixedBudgetKRLSRegressor, filters.fixed_budget_krls, {"budget": 9, "eta": 0.4}, True),
    (FixedBudgetKRLSRegressor, filters.fixed_budget_krls, {"budget": 400, "reg": 0.1}, False),
    (KRLSTRegressor, filters.krlst, {"budget": 14, "forgetting": 0.95, "noise": 0.1}, True),
    (KRLSTRegressor, filters.krlst, {"budget": 12, "mode": "ui", "noise": 0.2}, True),
    (KRLSTRegressor, filters.krlst, {"budget": 400, "forgetting": 0.99, "gamma": 3.0}, False),
]
IDS = [f"{cls.__name__}-{number}" for number, (cls, *_) in enumerate(CASES)]
each_case = pytest.mark.parametrize(("cls", "twin", "settings", "by_target"), CASES, ids=IDS)


def samples(n=130, dtype=np.float64):
    return several_targets.samples(n, 3, dtype)


def build(cls, **settings):
    return cls(**{"gamma": 0.4, "random_state": 3, **settings})


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@each_case
def test_twin(cls, twin, settings, by_target, dtype):
    X, Y, weight = samples(dtype=dtype)
    given = (Y - Y.mean(axis=0)) / Y.std(axis=0)
    model = build(cls, standardize_target=False, **settings)
    # The twin of KLMS has settings of its own.
    known = {k: v for k, v in model.get_params().items() if k not in NOT_OF_THE_LOOP}
    if cls is KLMSRegressor:
        known = {"eta": model.eta, "gamma": model.gamma}
    run = twin(X, given, sample_weight=weight, task="regression", **known)
    loose = {np.float32: 3e-4, np.float64: 1e-9}[dtype]
    found = model.partial_fit_predict(X, given, sample_weight=weight)
    np.testing.assert_allclose(found, run.predictions, atol=loose)
    rows = as_dense(model.support_vectors_, 3)
    np.testing.assert_allclose(rows, np.array(run.machine.rows), atol=loose)
    scale = max(1.0, np.abs(run.dual_coef).max())
    np.testing.assert_allclose(model.dual_coef_ / scale, run.dual_coef / scale, atol=loose)
    assert model.cumulative_loss_ == pytest.approx(run.cumulative_loss, rel=loose)
    if cls is KRLSTRegressor:
        mean, std = model.predict(X[:50] + 1, return_std=True)
        np.testing.assert_array_equal(mean, model.predict(X[:50] + 1))
        variance = filters.krlst_variance(run.machine, X[:50] + 1, model.noise)
        loose = {np.float32: 2e-2, np.float64: 1e-6}[dtype]
        np.testing.assert_allclose(std, np.sqrt(variance), rtol=loose)
        power = run.machine.sums[0] / run.machine.sums[1]
        np.testing.assert_allclose(model.signal_power_, power, rtol=loose)


@pytest.mark.parametrize("layout", ["dense", "csr"])
@each_case
def test_they_are_those_of_a_model_for_each(cls, twin, settings, by_target, layout, as_layout):
    if by_target:
        pytest.skip("who leaves is missed least by all targets together")
    X, Y, weight = samples()
    X = as_layout(X, layout)
    model, alone = build(cls, **settings), [build(cls, **settings) for _ in Y.T]
    found = model.partial_fit_predict(X, Y, sample_weight=weight)
    each = [
        one.partial_fit_predict(X, y, sample_weight=weight)
        for one, y in zip(alone, Y.T, strict=True)
    ]
    np.testing.assert_array_equal(found, np.column_stack(each))
    np.testing.assert_array_equal(model.predict(X), np.column_stack([m.predict(X) for m in alone]))
    np.testing.assert_array_equal(model.dual_coef_, np.vstack([one.dual_coef_ for one in alone]))
    np.testing.assert_array_equal(model.target_scale_, [one.target_scale_ for one in alone])
    assert model.cumulative_loss_ == pytest.approx(sum(one.cumulative_loss_ for one in alone))
    assert model.n_outputs_ == 3
    if cls is KRLSTRegressor:
        stds = [one.predict(X, return_std=True)[1] for one in alone]
        found = model.predict(X, return_std=True)[1]
        np.testing.assert_allclose(found, np.column_stack(stds), rtol=1e-12)
        np.testing.assert_allclose(model.signal_power_, [one.signal_power_ for one in alone])


@pytest.mark.parametrize("gamma", [0.4, "median"])
@each_case
def test_a_stream_may_be_cut_saved_and_undone(cls, twin, settings, by_target, gamma, tmp_path):
    made = partial(build, cls, **{**settings, "gamma": gamma})
    several_targets.check_cuts(made, samples(500), 67, tmp_path)


@each_case
def test_one_column_is_one_target(cls, twin, settings, by_target):
    several_targets.check_one_column(partial(build, cls, **settings), *samples()[:2])


@each_case
def test_a_failed_call_leaves_the_model(cls, twin, settings, by_target):
    several_targets.check_failures(partial(build, cls, **settings), *samples()[:2])


@pytest.mark.parametrize("average", ["decay", True, 0.9])
def test_klms_averages_all_targets(average):
    X, Y, _ = samples(300)
    settings = {"max_support": 40, "average": average, "standardize_target": False}
    model = build(KLMSRegressor, **settings).partial_fit(X, Y / 100)
    alone = [build(KLMSRegressor, **settings).partial_fit(X, y / 100) for y in Y.T]
    # The last model takes the lead of the average for one target only.
    expected = np.column_stack([one.predict(X) for one in alone])
    loose = 0.5 * Y.std(axis=0).max() / 100 if average == "decay" else 1e-12
    np.testing.assert_allclose(model.predict(X), expected, atol=loose)
    with pytest.warns(ConvergenceWarning):
        build(KLMSRegressor, max_support=40, when_full="stop").partial_fit(X, Y)


def merged_parts(cls, settings, X, Y, with_base):
    """Return models of two thirds of a stream, merged; both have begun with a third, or not."""
    base = build(cls, **settings).partial_fit(X[:100], Y[:100]) if with_base else None
    parts = [
        pickle.loads(pickle.dumps(base or build(cls, **settings))).partial_fit(X[rows], Y[rows])
        for rows in (slice(100, 200), slice(200, 300))
    ]
    return merge(parts, base=base)


@pytest.mark.parametrize("with_base", [False, True])
@each_case
def test_merged_models_know_all_targets(cls, twin, settings, by_target, with_base):
    X, Y, _ = samples(300)
    merged = merged_parts(cls, settings, X, Y, with_base)
    if cls is not KRLSTRegressor:  # which forgets them
        seen = Y[0 if with_base else 100 :]
        np.testing.assert_allclose(merged.target_mean_, seen.mean(axis=0))
        np.testing.assert_allclose(merged.target_scale_, seen.std(axis=0))
    # Of one target the merge is the same, and has its own tests.
    copies = merged_parts(cls, settings, X, np.repeat(Y[:, :1], 3, axis=1), with_base)
    one = merged_parts(cls, settings, X, Y[:, 0], with_base)
    np.testing.assert_allclose(copies.predict(X), np.repeat(one.predict(X)[:, None], 3, axis=1),
                               rtol=1e-6, atol=1e-6)  # fmt: skip
    merged.partial_fit(X[:10], Y[:10])
    assert merged.predict(X).shape == Y.shape


@pytest.mark.parametrize("with_base", [False, True])
@pytest.mark.parametrize(
    ("cls", "settings"),
    [
        (KLMSRegressor, {}),
        (KRLSRegressor, {"budget": 400, "nu": 0.2}),
        (SlidingWindowKRLSRegressor, {"budget": 400, "reg": 0.1}),
        (FixedBudgetKRLSRegressor, {"budget": 400, "reg": 0.1}),
        (KAPARegressor, {"budget": 400}),
        (KRLSTRegressor, {"budget": 400, "gamma": 3.0, "noise": 0.1}),
    ],
)
def test_each_target_is_merged_as_if_alone(cls, settings, with_base):
    """Nobody has to leave, so that the targets do not choose who stays."""
    X, Y, _ = samples(300)
    settings = {"gamma": 1.0, **settings}
    merged = merged_parts(cls, settings, X, Y, with_base)
    alone = [merged_parts(cls, settings, X, y, with_base) for y in Y.T]
    expected = np.column_stack([one.predict(X) for one in alone])
    np.testing.assert_allclose(merged.predict(X) / Y.std(axis=0), expected / Y.std(axis=0),
                               atol=1e-6)  # fmt: skip


@pytest.mark.parametrize("standardize", [False, True])
@each_case
def test_exports_score_them(cls, twin, settings, by_target, standardize, tmp_path):
    runtime = pytest.importorskip("onnxruntime")
    X, Y, _ = samples()
    model = build(cls, standardize_target=standardize, **settings).fit(X, Y)
    model.export_c(tmp_path / "m.c")
    program = Program(load(tmp_path, [tmp_path / "m.c"]), "m", float, 3)
    unit = np.abs(Y).max()
    np.testing.assert_allclose(program.scores(X) / unit, model.predict(X) / unit, atol=1e-7)
    with pytest.raises(TypeError, match=r"3 targets|has no C"):
        model.export_c(tmp_path / "m.c", learn=True, capacity=200)
    model.export_onnx(tmp_path / "m.onnx")
    session = runtime.InferenceSession(str(tmp_path / "m.onnx"))
    (found,) = session.run(None, {session.get_inputs()[0].name: X.astype(np.float32)})
    np.testing.assert_allclose(found.reshape(-1, 3) / unit, model.predict(X) / unit, atol=1e-3)
