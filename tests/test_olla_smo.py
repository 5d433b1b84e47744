"""OLLA's solver 'smo': its twin, scikit-learn's machines, shrinking, starts, failures."""

import pickle
import signal

import numpy as np
import pytest
from compiled import Program, load
from described import predictions_of_model, scores_of_model
from learners import alpha_of
from oracles import olla, smo
from registry import choices
from sklearn.calibration import CalibratedClassifierCV
from sklearn.exceptions import ConvergenceWarning
from sklearn.multiclass import OneVsRestClassifier
from sklearn.svm import SVC, SVR

import onlinekern
from onlinekern import OLLAClassifier, OLLARegressor
from onlinekern.core.kernels.kernels import Gaussian
from onlinekern.core.kernels.support_set import SupportSet
from onlinekern.core.models.active_rows import ActiveRows
from onlinekern.core.models.smo import DualMinimiser
from onlinekern.estimators.duals import DUALS
from onlinekern.fitted.export.describe import describe
from onlinekern.streams import chess_board

LABEL_LOSSES, TARGET_LOSSES = (
    sorted(DUALS.keys() & choices(name, "loss")) for name in ("OLLAClassifier", "OLLARegressor")
)
GAMMA = 0.4


def build(task="binary", **parameters):
    cls = OLLARegressor if task == "regression" else OLLAClassifier
    extra = {"standardize_target": False} if task == "regression" else {}
    return cls(**{"gamma": GAMMA, "C": 2.0, "solver": "smo", **extra, **parameters})


def same_machine(one, other, tol=2e-3):
    """Assert that a model has the objective and the scores of one of scikit-learn."""
    np.testing.assert_allclose(one.intercept_, other.intercept_, atol=tol)
    assert abs(one.n_support_ - len(other.support_)) <= 2


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize(
    ("task", "loss"),
    [("binary", loss) for loss in LABEL_LOSSES] + [("regression", loss) for loss in TARGET_LOSSES],
)
def test_twin(task, loss, fit_intercept, stream):
    X, y = stream(task, n=50)
    own = {"delta": 0.5} if loss in ("huber", "smooth_hinge") else {}
    weight = np.random.default_rng(1).uniform(0.3, 2.0, 50)
    model = build(task, loss=loss, fit_intercept=fit_intercept, tol=1e-9, **own)
    model.fit(X, y, sample_weight=weight)
    targets = y if task == "regression" else np.where(y == "yes", 1.0, -1.0)
    kernel = olla.kernel_matrix("gaussian", X, X, GAMMA, 3, 0.0)
    twin = smo.solve(smo.problem_of(loss, kernel, targets, 2 * weight, **own), fit_intercept)
    np.testing.assert_allclose(alpha_of(model, 50)[:, 0], twin.coefficients, atol=1e-6)
    np.testing.assert_allclose(model.intercept_, [twin.offset], atol=1e-6)
    np.testing.assert_allclose(model.dual_objective_, [twin.objective], rtol=1e-9)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("layout", ["dense", "csr", "wide"])
@pytest.mark.parametrize("C", [0.1, 30.0])
def test_the_classifier_is_svc(C, layout, dtype, stream, as_layout):
    X, y = stream("binary", n=300)
    model = build(C=C).fit(as_layout(X, layout, dtype), y)
    machine = SVC(gamma=GAMMA, C=C).fit(X, y)
    same_machine(model, machine)
    scores = model.decision_function(as_layout(X, layout, dtype))
    np.testing.assert_allclose(scores, machine.decision_function(X), atol=2e-2)
    gain = np.abs(machine.dual_coef_).sum()
    gain -= machine.dual_coef_[0] @ (
        machine.decision_function(X[machine.support_]) - machine.intercept_) / 2  # fmt: skip
    np.testing.assert_allclose(model.dual_objective_, gain, rtol=1e-3)
    assert model.support_vectors_.dtype == dtype


@pytest.mark.parametrize(
    ("kernel", "other"), [("linear", "linear"), ("poly", "poly"), ("rbf", "rbf")]
)
@pytest.mark.parametrize("gamma", ["scale", "auto", 0.2])
def test_kernels_and_widths_are_those_of_svc(kernel, other, gamma, stream):
    X, y = stream("binary", n=120)
    model = build(kernel=kernel, gamma=gamma, coef0=1.0, degree=2, tol=1e-5).fit(X, y)
    machine = SVC(kernel=other, gamma=gamma, coef0=1.0, degree=2, C=2.0, tol=1e-5).fit(X, y)
    np.testing.assert_allclose(model.decision_function(X), machine.decision_function(X), atol=1e-3)


@pytest.mark.parametrize("epsilon", [0.0, 0.1, 5.0])
def test_the_regressor_is_svr(epsilon, stream):
    X, y = stream("regression", n=200)
    model = build("regression", epsilon=epsilon).fit(X, y)
    machine = SVR(gamma=GAMMA, C=2.0, epsilon=epsilon).fit(X, y)
    np.testing.assert_allclose(model.predict(X), machine.predict(X), atol=5e-3)
    assert abs(model.n_support_ - len(machine.support_)) <= 3
    scaled = OLLARegressor(gamma=GAMMA, C=2.0, solver="smo").fit(X, 100 * y + 7)
    unit = OLLARegressor(gamma=GAMMA, C=2.0, solver="smo").fit(X, y)
    np.testing.assert_allclose(scaled.predict(X), 100 * unit.predict(X) + 7, atol=0.5)


def test_weights_are_those_of_svc(stream):
    X, y = stream("binary", n=200)
    weight = np.random.default_rng(0).uniform(0, 3, 200)
    weight[::5] = 0
    factors = {"yes": 3.0, "no": 0.5}
    model = build(class_weight=factors).fit(X, y, sample_weight=weight)
    machine = SVC(gamma=GAMMA, C=2.0, class_weight=factors).fit(X, y, sample_weight=weight)
    same_machine(model, machine)
    assert not set(model.support_) & set(range(0, 200, 5))
    balanced = build(class_weight="balanced").fit(X, y)
    same_machine(balanced, SVC(gamma=GAMMA, C=2.0, class_weight="balanced").fit(X, y))


def test_a_weight_is_a_number_of_copies(stream):
    X, y = stream("binary", n=80)
    weight = np.random.default_rng(0).integers(0, 4, 80)
    weighted = build(tol=1e-8).fit(X, y, sample_weight=weight)
    copies = build(tol=1e-8).fit(np.repeat(X, weight, axis=0), np.repeat(y, weight))
    np.testing.assert_allclose(
        weighted.decision_function(X), copies.decision_function(X), atol=1e-6
    )


def test_one_versus_one_is_svc(stream, equal):
    X, y = stream("ovr", n=240)
    names = np.array(["low", "middle", "top"])[np.searchsorted(np.unique(y), y)]
    machine = SVC(gamma=GAMMA, C=2.0, tol=1e-6).fit(X, names)
    for shape in ("ovr", "ovo"):
        model = build(multi_class="ovo", decision_function_shape=shape, tol=1e-6).fit(X, names)
        machine.set_params(decision_function_shape=shape, break_ties=shape == "ovr")
        np.testing.assert_allclose(
            model.decision_function(X), machine.decision_function(X), atol=1e-3
        )
        equal(model.predict(X), machine.predict(X))
    rows = [model.score_one(row) for row in X[:5]]
    expected = [model.classes_[row.argmax()] for row in rows]
    equal(np.array(expected), model.predict(X[:5]))
    assert model.dual_objective_.shape == model.intercept_.shape == (3,)


def test_one_versus_rest_is_a_machine_for_each_class(stream):
    X, y = stream("ovr", n=200)
    model = build(tol=1e-6).fit(X, y)
    machines = OneVsRestClassifier(SVC(gamma=GAMMA, C=2.0, tol=1e-6)).fit(X, y)
    np.testing.assert_allclose(model.decision_function(X), machines.decision_function(X), atol=1e-3)


def minimiser_of(X, y, C, shrinking, cache_bytes=1e8, tol=1e-3, has_offset=True):
    """Return a solved dual of the hinge."""
    form = SupportSet(Gaussian(8.0), X.shape[1], X.dtype, 1, False, False)
    rows = ActiveRows(form, X, cache_bytes)
    bounds = np.where(y > 0, 0, -C), np.where(y > 0, C, 0)
    minimiser = DualMinimiser(rows, y, *bounds, np.zeros(len(y)), 0.0, has_offset, tol, shrinking)
    assert minimiser.minimise(10**7)
    return minimiser


@pytest.fixture(scope="module")
def board():
    X, y = chess_board(2500, random_state=0)
    return X.astype(np.float32), np.where(y == y.max(), 1.0, -1.0)


def objective_of(minimiser, y):
    beta, slopes = minimiser.present()[:2]
    return (beta * (y + slopes)).sum() / 2


@pytest.mark.parametrize("has_offset", [True, False])
def test_shrinking_changes_nothing_beyond_tol(has_offset, board):
    X, y = board
    found = {}
    for shrinking in (False, True):
        minimiser = minimiser_of(X, y, 10.0, shrinking, has_offset=has_offset)
        assert bool(minimiser.n_shrunk) == bool(minimiser.n_restored) == shrinking
        assert minimiser.gap <= 1e-3
        assert minimiser.rows.n_active == len(y)
        found[shrinking] = minimiser
        # The slopes are those of the coefficients, whether points were left out meanwhile or not.
        beta, slopes = minimiser.present()[:2]
        np.testing.assert_allclose(slopes, y - minimiser.values_at(np.arange(len(y))), atol=2e-4)
        assert abs(beta.sum()) < 1e-9 or not has_offset
    assert objective_of(found[True], y) == pytest.approx(objective_of(found[False], y), rel=1e-4)


@pytest.mark.parametrize("layout", ["dense", "wide"])
def test_no_bit_depends_on_the_cache(layout, stream, as_layout, equal):
    X, y = stream("binary", n=400)
    models = [
        build(C=20.0, cache_size=size).fit(as_layout(X, layout), y) for size in (1e-9, 0.1, 200.0)
    ]
    for model in models[:2]:
        equal(model.dual_coef_, models[2].dual_coef_)
        equal(model.support_, models[2].support_)
        assert model.n_iter_ == models[2].n_iter_


def test_no_bit_depends_on_the_cache_when_points_leave(board, equal):
    X, y = board
    few, half, all_rows = (
        minimiser_of(X, y, 10.0, True, cache_bytes=4.0 * 2560 * n) for n in (3, 300, 2500)
    )
    assert all_rows.n_shrunk > 0
    assert few.rows.made > half.rows.made > all_rows.rows.made
    for minimiser in (few, half):
        assert minimiser.n_shrunk == all_rows.n_shrunk
        equal(minimiser.coefficients, all_rows.coefficients)


def test_a_warm_start_takes_fewer_steps(board):
    X, y = board[0][:800], board[1][:800]
    cold = OLLAClassifier(solver="smo", gamma=8.0, C=5.0).fit(X, y)
    warm = OLLAClassifier(solver="smo", gamma=8.0, C=5.0, warm_start=True).fit(X, y)
    assert warm.n_iter_ == cold.n_iter_
    assert warm.fit(X, y).n_iter_ == 0
    np.testing.assert_allclose(warm.dual_objective_, cold.dual_objective_, rtol=1e-6)
    fresh = OLLAClassifier(solver="smo", gamma=8.0, C=6.0).fit(X, y)
    warm.set_params(C=6.0).fit(X, y)
    # 0.7 to 0.8: steps depend on the last bits, and so on the instruction set.
    assert warm.n_iter_ < 0.9 * fresh.n_iter_
    np.testing.assert_allclose(warm.dual_objective_, fresh.dual_objective_, rtol=1e-4)
    # Fewer points, other labels: every start is feasible, and the solution that of a cold one.
    warm.fit(X[:500], -y[:500])
    fresh.fit(X[:500], -y[:500])
    np.testing.assert_allclose(warm.dual_objective_, fresh.dual_objective_, rtol=1e-4)


def test_a_warm_start_of_a_regression(stream):
    X, y = stream("regression", n=150)
    warm = build("regression", warm_start=True).fit(X, y)
    before = warm.dual_objective_
    assert warm.fit(X, y).n_iter_ <= 3
    np.testing.assert_allclose(warm.dual_objective_, before, rtol=1e-6)


def test_a_failed_fit_leaves_the_model(stream, equal):
    X, y = stream("binary", n=60)
    model = build(kernel="poly", degree=3).fit(X, y)
    before = model.decision_function(X)
    with pytest.raises(FloatingPointError, match="kernel value is not finite"):
        model.fit(1e150 * X, y)
    equal(model.decision_function(X), before)


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="no timers on this system")
def test_an_interrupted_fit_leaves_the_model(board, equal):
    X, y = board
    model = OLLAClassifier(solver="smo", gamma=8.0, C=1.0).fit(X[:100], y[:100])
    before = model.decision_function(X)
    model.set_params(C=1e9, tol=1e-13)  # for hours
    y = np.random.default_rng(0).permutation(y)

    def interrupt(*_):
        raise KeyboardInterrupt

    old = signal.signal(signal.SIGALRM, interrupt)
    signal.setitimer(signal.ITIMER_REAL, 0.1)
    try:
        with pytest.raises(KeyboardInterrupt):
            model.fit(X, y)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, old)
    equal(model.decision_function(X), before)


def test_it_stops_at_max_iter(stream):
    X, y = stream("binary", n=200)
    with pytest.warns(ConvergenceWarning, match="stopped after 7 steps"):
        model = build(max_iter=7).fit(X, y)
    assert model.n_iter_ == 7


@pytest.mark.parametrize(
    ("task", "parameters", "message"),
    [
        ("binary", {"loss": "logistic"}, "solver='smo' needs a loss .* got loss='logistic'"),
        ("binary", {"loss": "exponential"}, "solver='smo' needs a loss"),
        ("binary", {"penalty": "l1"}, "solver='smo' needs penalty='l2', got penalty='l1'"),
        ("binary", {"tol": 0.0}, "solver='smo' needs tol > 0"),
        ("binary", {"n_epochs": 3}, "n_epochs=3 has no effect with solver='smo'"),
        ("binary", {"selection": "cyclic"}, "selection='cyclic' has no effect"),
        ("binary", {"solver": "gradient", "shrinking": False}, "shrinking=False has no effect"),
        ("binary", {"solver": "gradient", "warm_start": True}, "warm_start=True has no effect"),
        ("ovr", {"multi_class": "margin"}, "needs multi_class='ovr' or 'ovo'"),
        ("ovr", {"multi_class": "ovo", "solver": "gradient"}, "needs multi_class='ovr' or 'margin"),
        ("regression", {"max_iter": 0}, "max_iter"),
    ],
)  # fmt: skip
def test_combinations(task, parameters, message, stream):
    X, y = stream(task, n=40)
    with pytest.raises(ValueError, match=message):
        build(task, **parameters).fit(X, y)


@pytest.mark.parametrize("multi_class", ["ovr", "ovo"])
def test_probabilities(multi_class, stream, equal):
    X, y = stream("ovr", n=600)
    model = build(multi_class=multi_class).fit(X[:400], y[:400])
    assert not hasattr(model, "predict_proba")
    with pytest.raises(AttributeError) as failure:
        model.predict_log_proba(X)
    assert "set probability=True" in str(failure.value.__cause__)
    scores = model.decision_function(X)
    model.set_params(probability=True).fit(X[:400], y[:400])
    equal(model.decision_function(X), scores)
    probabilities = model.predict_proba(X[400:])
    np.testing.assert_allclose(probabilities.sum(axis=1), 1)
    equal(model.classes_[probabilities.argmax(axis=1)], model.predict(X[400:]))
    right = probabilities[np.arange(200), np.searchsorted(model.classes_, y[400:])]
    machine = CalibratedClassifierCV(SVC(gamma=GAMMA, C=2.0), ensemble=False)
    machine.fit(X[:400], y[:400])
    theirs = machine.predict_proba(X[400:])
    theirs = theirs[np.arange(200), np.searchsorted(model.classes_, y[400:])]
    assert -np.log(right).mean() < -np.log(theirs).mean() + 0.1


@pytest.mark.parametrize("parameters", [{}, {"fit_intercept": False}, {"loss": "squared_hinge"}])
def test_probabilities_are_fitted_to_scores_of_points_left_out(parameters, stream):
    X, y = stream("binary", n=100)
    model = build(tol=1e-7, probability=True, **parameters).fit(X, y)
    noted = model._model.recent.rows()[:, 0]
    for fold in range(5):
        own = np.arange(fold, 100, 5)
        rest = np.setdiff1d(np.arange(100), own)
        without = build(tol=1e-7, **parameters).fit(X[rest], y[rest])
        np.testing.assert_allclose(noted[own], without.decision_function(X[own]), atol=1e-4)


@pytest.mark.parametrize("multi_class", ["ovr", "ovo"])
def test_it_is_kept(multi_class, stream, equal, tmp_path):
    X, y = stream("ovr", n=150)
    model = build(multi_class=multi_class, probability=True).fit(X, y)
    model.save(tmp_path / "machine.okn")
    for copy in (pickle.loads(pickle.dumps(model)), onlinekern.load(tmp_path / "machine.okn")):
        for name in ("support_", "dual_coef_", "intercept_", "dual_objective_"):
            equal(getattr(copy, name), getattr(model, name))
        equal(copy.predict_proba(X), model.predict_proba(X))
        assert (copy.n_iter_, copy.n_seen_) == (model.n_iter_, 150)


@pytest.mark.parametrize(("task", "multi_class"), [("binary", "ovr"), ("ovr", "ovo")])
def test_merged_machines_are_their_mean(task, multi_class, stream):
    X, y = stream(task, n=200)
    own = {"multi_class": multi_class, "decision_function_shape": multi_class}
    parts = [build(**own).fit(X[i::2], y[i::2]) for i in range(2)]
    merged = onlinekern.merge(parts)
    expected = np.mean([part.decision_function(X) for part in parts], axis=0)
    np.testing.assert_allclose(merged.decision_function(X), expected, atol=1e-9)


def test_exported_machines(stream, tmp_path):
    X, y = stream("ovr", n=100)
    model = build().fit(X, y)
    np.testing.assert_allclose(
        scores_of_model(describe(model), X), model.decision_function(X), atol=1e-9
    )
    assert not model.export_c(tmp_path / "model.c").learns


@pytest.fixture(scope="module")
def voting():
    """Return a machine of five classes that samples do not tell apart, samples, their votes, and
    by how much a score of a pair is off 0 at least."""
    X = np.random.default_rng(0).standard_normal((150, 3)).astype(np.float32).astype(float)
    y = np.array(list("abcde"))[np.random.default_rng(1).integers(0, 5, 150)]
    model = build(C=50.0, multi_class="ovo", decision_function_shape="ovo").fit(X[:90], y[:90])
    sure = np.abs(model.decision_function(X)).min(axis=1)
    return model.set_params(decision_function_shape="ovr"), X, model.decision_function(X), sure


def test_exported_votes(voting):
    model, X, votes, _ = voting
    made = describe(model)
    np.testing.assert_allclose(scores_of_model(made, X), votes, atol=1e-9)
    model.set_params(decision_function_shape="ovo")
    np.testing.assert_array_equal(
        model.classes_[predictions_of_model(describe(model), X)], model.predict(X)
    )
    model.set_params(decision_function_shape="ovr")
    best = np.sort(np.floor(votes + 0.5), axis=1)[:, -2:]
    assert (best[:, 0] == best[:, 1]).sum() > 5


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("sparse_rows", [False, True])
def test_exported_votes_in_c(sparse_rows, dtype, voting, tmp_path):
    model, X, votes, sure = voting
    made = model.export_c(tmp_path / "pairs.c", dtype=dtype)
    program = Program(load(tmp_path, [made.code]), "pairs", dtype, 5)
    tolerance = 1e-9 if dtype == "float64" else 1e-5
    sure = sure > tolerance
    assert sure.sum() > 140
    found = program.scores(X, sparse_rows)
    np.testing.assert_allclose(found[sure], votes[sure], atol=tolerance)
    numbers = program.classes(X, sparse_rows)
    np.testing.assert_array_equal(model.classes_[numbers][sure], model.predict(X)[sure])


def test_exported_votes_that_are_no_numbers(voting, tmp_path):
    model, X, *_ = voting
    made = model.export_c(tmp_path / "pairs.c")
    program = Program(load(tmp_path, [made.code]), "pairs", float, 5)
    x = X[0].copy()
    x[1] = np.nan
    assert program.call("predict", *program.dense(x)[0]) == -1
