"""Merging: sums exactly, averages to rounding, budgets kept, and every learner goes on."""

from copy import deepcopy

import numpy as np
import pytest
import scipy.sparse as sp
from learners import CLASSES, NAMES, build
from sklearn.base import is_classifier
from sklearn.exceptions import NotFittedError
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.preprocessing import StandardScaler

import onlinekern as ok
from onlinekern import merge
from onlinekern.core.models.union import take_in
from onlinekern.drift import LossDetector, RenewedLearner
from onlinekern.fitted.save import from_bytes, to_bytes

N = 360
CUTS = [120, 200, 290]
# Whose merged model is a linear function of the models: nothing has to leave.
LINEAR = [
    "FOGDClassifier", "FOGDRegressor", "KLMSRegressor", "KernelOGDClassifier", "KernelOGDRegressor",
    "KernelPAClassifier", "KernelPARegressor", "KernelPegasosClassifier",
    "KernelPerceptronClassifier", "OGDClassifier", "OGDRegressor", "OSKLClassifier",
    "PAClassifier", "PARegressor", "PegasosClassifier", "PerceptronClassifier", "SDROGDClassifier",
    "SPAClassifier", "SPARegressor",
]  # fmt: skip
# Sums, or products of Gaussians, in the same features.
ADDED = ["AROWClassifier", "AROWRegressor", "CWClassifier", "SCWClassifier", "LOLClassifier"]


def data(regression, n=N, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 4))
    f = np.sin(2 * X[:, 0]) + X[:, 1] * X[:, 2]
    y = f + 3 if regression else np.array(["no", "perhaps", "yes"])[np.digitize(f, [-0.5, 0.5])]
    return X, y


def taught(name, first=True, **parameters):
    """Return a model that has learnt the first samples, and three that went on from it."""
    regression = not is_classifier(CLASSES[name]())
    X, y = data(regression)
    known = {} if regression else {"classes": ["no", "perhaps", "yes"]}
    model = build(name, **parameters)
    if first:
        model.partial_fit(X[: CUTS[0]], y[: CUTS[0]], **known)
    parts = [slice(CUTS[0], CUTS[1]), slice(CUTS[1], CUTS[2]), slice(CUTS[2], N)]
    known = {} if first else known
    return model, [deepcopy(model).partial_fit(X[p], y[p], **known) for p in parts], (X, y)


def scores_of(model, X):
    return np.ravel(model._scores(X))


@pytest.mark.parametrize("name", NAMES)
def test_every_learner_merges_and_goes_on(name):
    base, models, (X, y) = taught(name)
    before = [to_bytes(model) for model in (base, *models)]
    merged = merge(models, base=base)
    assert [to_bytes(model) for model in (base, *models)] == before
    assert merged.n_seen_ == N
    assert merged.cumulative_loss_ == pytest.approx(
        sum(m.cumulative_loss_ for m in models) - 2 * base.cumulative_loss_
    )
    if hasattr(merged, "budget") and merged.budget is not None and hasattr(merged, "n_support_"):
        assert merged.n_support_ <= merged.budget
    again = from_bytes(to_bytes(merged), "a file")
    for model in (merged, again):
        model.partial_fit(X[:50], y[:50])
    np.testing.assert_array_equal(scores_of(merged, X), scores_of(again, X))
    assert np.isfinite(scores_of(merged, X)).all()


@pytest.mark.parametrize("name", NAMES)
def test_models_that_learnt_alone_merge(name):
    _, models, (X, y) = taught(name, first=False)
    merged = merge(models)
    assert merged.n_seen_ == N - CUTS[0]
    worst = min(model.score(X, y) for model in models)
    assert merged.score(X, y) > worst - 0.15
    # One model is itself.
    alone = merge(models[:1])
    np.testing.assert_allclose(
        scores_of(alone, X), scores_of(models[0], X), rtol=1e-6,
        atol=1e-4 * abs(scores_of(models[0], X)).max(),
    )  # fmt: skip


@pytest.mark.parametrize("name", LINEAR)
def test_functions_are_averaged_by_their_samples(name):
    unbounded = {"budget": None} if hasattr(CLASSES[name], "budget") else {}
    _, models, (X, _) = taught(name, first=False, **unbounded)
    counts = np.array([model.n_seen_ for model in models])
    values = [values_in_units(model, X) for model in models]
    expected = sum(n / counts.sum() * v for n, v in zip(counts, values, strict=True))
    merged = merge(models)
    np.testing.assert_allclose(
        values_in_units(merged, X), expected, rtol=1e-9, atol=1e-9 * abs(expected).max() + 1e-12
    )


def values_in_units(model, X):
    """Scores, which of regressors are in the units of the targets."""
    return scores_of(model, X) - (model._model.target_mean if not is_classifier(model) else 0)


@pytest.mark.parametrize("name", [*LINEAR, *ADDED])
def test_merging_is_associative(name):
    unbounded = {"budget": None} if hasattr(CLASSES[name], "budget") else {}
    base, models, (X, _) = taught(name, **unbounded)
    whole = scores_of(merge(models, base=base), X)
    first = merge([merge(models[:2], base=base), models[2]], base=base)
    last = merge([models[0], merge(models[1:], base=base)], base=base)
    for nested in (first, last):
        assert nested.n_seen_ == N
        np.testing.assert_allclose(scores_of(nested, X), whole, rtol=1e-8, atol=1e-8)


@pytest.mark.parametrize("name", ["KernelRLSClassifier", "KernelRLSRegressor"])
@pytest.mark.parametrize("forgetting", [1.0, 0.999])
def test_kernel_least_squares_is_that_of_the_whole_stream(name, forgetting):
    X, y = data("Regressor" in name, n=900)
    how = {"gate": "always"} if "Classifier" in name else {"standardize_target": False}
    how = {key: value for key, value in how.items() if key in CLASSES[name]().get_params()}
    model = CLASSES[name](gamma=0.4, n_components=40, forgetting=forgetting, reg=0.1, **how)
    known = {"classes": np.unique(y)} if "Classifier" in name else {}
    base = deepcopy(model).partial_fit(X[:300], y[:300], **known)
    models = [deepcopy(base).partial_fit(X[p], y[p]) for p in (slice(300, 500), slice(500, 900))]
    merged = merge(models, base=base)
    single = deepcopy(base).partial_fit(X[300:], y[300:])
    if forgetting == 1:
        np.testing.assert_allclose(scores_of(merged, X), scores_of(single, X), rtol=0, atol=1e-9)
    else:
        assert abs(merged.score(X, y) - single.score(X, y)) < 0.05


def test_the_choice_of_reg_goes_on_after_a_merge():
    X, y = data(True, n=900)
    model = ok.KernelRLSRegressor(gamma=0.4, n_components=40, standardize_target=False)
    base = deepcopy(model).partial_fit(X[:70], y[:70])
    models = [deepcopy(base).partial_fit(X[p], y[p]) for p in (slice(70, 300), slice(300, 500))]
    merged = merge(models, base=base)
    single = deepcopy(model).partial_fit(X[:500], y[:500])
    totals = merged._model.space.block.get_state()["evidence"]
    own = single._model.space.block.get_state()
    assert totals[1:].tolist() == [500, 500]
    assert own["evidence"][2] + own["count"] == 500
    regs = sorted(model.reg_ for model in models)
    assert regs[0] <= merged.reg_ <= regs[1]
    one = merge([models[0]], base=base)
    assert one.reg_ == models[0].reg_
    np.testing.assert_allclose(one.predict(X), models[0].predict(X), rtol=1e-9)
    for each in (merged, single):
        each.partial_fit(X[500:], y[500:])
    assert merged.reg_ == single.reg_
    np.testing.assert_allclose(merged.predict(X), single.predict(X), atol=1e-8)


def test_large_sums_that_are_not_positive_by_rounding_are_mended():
    from onlinekern.fitted.families.least_squares import sums_of

    rng = np.random.default_rng(0)
    rows = 1e7 * rng.normal(size=(4, 30))
    known = rows.T @ rows
    wrong = known - 1e-14 * np.trace(known) * np.eye(30)
    assert np.linalg.eigvalsh(wrong)[0] < -0.1
    state = sums_of(wrong, rng.normal(size=(1, 30)), 0.1)
    assert np.linalg.eigvalsh(state["matrix"])[0] > 0
    assert np.isfinite(state["inverse"]).all()
    with pytest.raises(FloatingPointError, match="not positive"):
        sums_of(-known, np.zeros((1, 30)), 0.1)


def test_least_squares_of_other_landmarks_is_projected():
    X, y = data(True, n=1200)
    model = ok.KernelRLSRegressor(gamma=0.2, n_components=60)
    models = [deepcopy(model).partial_fit(X[p], y[p]) for p in (slice(500), slice(500, 1000))]
    merged = merge(models)
    # 60 landmarks of 120, and what they do not span is lost: docs/merging.md says how much.
    assert merged.score(X[1000:], y[1000:]) > min(m.score(X[1000:], y[1000:]) for m in models) - 0.1
    wide = ok.KernelRLSRegressor(gamma=0.02, n_components=400, standardize_target=False, reg=1.0)
    models = [deepcopy(wide).partial_fit(X[p], y[p]) for p in (slice(200), slice(200, 400))]
    single = deepcopy(wide).partial_fit(X[:400], y[:400])
    # There is room for all landmarks, so that all of both spans is there.
    merged = merge(models)
    held = X[1000:]
    assert abs(merged.predict(held) - single.predict(held)).max() < 0.1 * np.ptp(y)


def test_means_are_exact():
    X = np.random.default_rng(1).normal(size=(300, 3))
    model = ok.KernelMeanDetector(gamma=0.5, n_components=30, random_state=3)
    whole = deepcopy(model).partial_fit(X)
    base = deepcopy(model).partial_fit(X[:50])
    models = [deepcopy(base).partial_fit(X[p]) for p in (slice(50, 100), slice(100, 300))]
    merged = merge(models, base=base)
    np.testing.assert_allclose(merged.score_samples(X), whole.score_samples(X), rtol=1e-9)
    alone = [deepcopy(model).partial_fit(X[p]) for p in (slice(100), slice(100, 300))]
    np.testing.assert_allclose(merge(alone).score_samples(X), whole.score_samples(X), rtol=1e-9)
    twice = merge(alone[:1], [2.0])._model.space
    assert twice.__reduce__()[1][2] == 2 * alone[0]._model.space.__reduce__()[1][2]
    doubled = merge(alone, [2.0, 1.0])
    weighted = deepcopy(model).partial_fit(X, sample_weight=np.where(np.arange(300) < 100, 2.0, 1))
    np.testing.assert_allclose(doubled.score_samples(X), weighted.score_samples(X), rtol=1e-9)


@pytest.mark.parametrize("sparse", [False, True])
def test_moments_are_exact(sparse):
    X = np.random.default_rng(2).normal(3, 2, size=(200, 3)) * [1, 10, 100]
    X[X < 0] = 0
    X = sp.csr_matrix(X) if sparse else X
    how = {"with_mean": not sparse}
    base = ok.OnlineStandardScaler(**how).fit(X[:40])
    models = [deepcopy(base).partial_fit(X[p]) for p in (slice(40, 70), slice(70, 200))]
    merged, expected = merge(models, base=base), StandardScaler(**how).fit(X.toarray() if sparse
                                                                        else X)  # fmt: skip
    assert merged.n_samples_seen_ == 200
    if sparse:
        squares = np.asarray(X.power(2).mean(axis=0)).ravel()
        np.testing.assert_allclose(merged.var_, squares, rtol=1e-12)
    else:
        np.testing.assert_allclose(merged.mean_, expected.mean_, rtol=1e-12)
        np.testing.assert_allclose(merged.var_, expected.var_, rtol=1e-10)


@pytest.mark.parametrize("with_base", [False, True])
def test_sketches_keep_their_guarantee(with_base):
    rng = np.random.default_rng(3)
    X = rng.normal(size=(400, 20)) * np.linspace(3, 0.1, 20)
    base = ok.FrequentDirections(6).fit(X[:100])
    cuts = (slice(100, 250), slice(250, 400)) if with_base else (slice(250), slice(250, 400))
    start = base if with_base else ok.FrequentDirections(6)
    models = [deepcopy(start).partial_fit(X[cut]) for cut in cuts]
    merged = merge(models, base=base if with_base else None)
    errors = np.linalg.eigvalsh(X.T @ X - merged.sketch_.T @ merged.sketch_)
    bound = merged.error_bound_
    assert errors[-1] <= bound * (1 + 1e-9)
    assert errors[0] >= (-bound if with_base else -1e-9 * errors[-1])
    assert merged.squared_norm_ == pytest.approx(np.square(X).sum())
    assert bound < np.square(X).sum()


def test_prototypes_are_the_means_of_their_samples():
    X, y = data(False, n=500)
    model = ok.LOLClassifier(n_prototypes=8, random_state=0)
    base = deepcopy(model).partial_fit(X[:100], y[:100], classes=np.unique(y))
    models = [deepcopy(base).partial_fit(X[p], y[p]) for p in (slice(100, 300), slice(300, 500))]
    merged = merge(models, base=base)
    assert merged.cluster_counts_.sum() == 500
    assert len(merged.cluster_centers_) == 8
    # Sums of samples are kept, whoever their prototype is.
    sums = merged.cluster_counts_ @ merged.cluster_centers_
    np.testing.assert_allclose(sums, X.sum(axis=0), rtol=1e-9)
    np.testing.assert_allclose(merged.mean_, X.mean(axis=0), rtol=1e-9)
    alone = [deepcopy(model).partial_fit(X[p], y[p], classes=np.unique(y))
             for p in (slice(5), slice(5, 9))]  # fmt: skip
    assert len(merge(alone).cluster_centers_) == 8


@pytest.mark.parametrize("name", ["StreamClassifier", "StreamRegressor"])
def test_races_merge_their_experts(name):
    X, y = data("Regressor" in name, n=2400)
    known = {"classes": np.unique(y)} if "Classifier" in name else {}
    base = CLASSES[name](time_budget=20, random_state=0).partial_fit(X[:600], y[:600], **known)
    parts = (slice(600, 1300), slice(1300, 2000))
    models = [deepcopy(base).partial_fit(X[p], y[p]) for p in parts]
    merged = merge(models, base=base)
    assert merged.n_seen_ == 2000
    held = X[2000:], y[2000:]
    assert merged.score(*held) > np.mean([m.score(*held) for m in models]) - 0.01
    merged.partial_fit(X[:600], y[:600])
    assert merged.n_seen_ == 2600


def test_pipelines_and_tables_merge_step_by_step():
    rng = np.random.default_rng(4)
    n = 300
    table = {
        "colour": rng.choice(["red", "green", "blue"], n).tolist(),
        "size": rng.normal(size=n).tolist(),
    }
    y = np.where(np.array(table["size"]) + (np.array(table["colour"]) == "red") > 0.3, "a", "b")
    rows = [dict(zip(table, values, strict=True)) for values in zip(*table.values(), strict=True)]
    pipeline = ok.make_stream_pipeline(ok.TableEncoder(), ok.OnlineStandardScaler(with_mean=False),
                                       ok.SPAClassifier(gamma=0.3, random_state=0))  # fmt: skip
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(rows)
    base = pipeline.partial_fit(frame[:100], y[:100], classes=["a", "b"])
    models = [deepcopy(base).partial_fit(frame[p], y[p]) for p in (slice(100, 180), slice(180, n))]
    merged = merge(models, base=base)
    assert merged[-1].n_seen_ == n
    assert merged[0]._columns[1].count == n
    assert merged.score(frame, y) > 0.8
    other = deepcopy(pipeline)
    strange = frame.assign(colour=["violet"] * n)
    alone = [ok.TableEncoder().fit(frame), ok.TableEncoder().fit(strange)]
    with pytest.raises(ValueError, match="colour"):
        merge(alone)
    other.steps[1] = ("scaler", StandardScaler())
    with pytest.raises(ValueError, match="different steps"):
        merge([merged, other])


def test_support_vectors_that_come_twice_count_twice():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 3))[rng.integers(0, 40, 300)]
    y = np.where(X[:, 0] * X[:, 1] + 0.5 * rng.normal(size=300) > 0, 1, 0)
    model = ok.KernelPAClassifier(gamma=0.5, C=0.1)
    parts = [deepcopy(model).partial_fit(X[k::2], y[k::2], [0, 1]) for k in (0, 1)]
    wanted = sum(part.decision_function(X) for part in parts) / 2
    assert min(part.n_support_ for part in parts) > 40
    np.testing.assert_allclose(merge(parts).decision_function(X), wanted, atol=1e-12)


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize(
    "model",
    [
        ok.KernelPAClassifier(gamma=1.0, max_support=60, when_full="oldest"),
        ok.BPAClassifier(gamma=0.1, budget=60, random_state=0),
        ok.SlidingWindowKRLSRegressor(gamma=0.5, budget=60),
        ok.KernelRLSRegressor(gamma=0.5, n_components=60, random_state=0),
    ],
)
def test_smooth_kernels_in_float32_are_merged_as_in_double(model, sparse):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 2))
    y = X[:, 0] * X[:, 1] + rng.normal(size=400) / 3
    if is_classifier(model):
        y = y > 0

    def merged_in(dtype):
        rows = X.astype(dtype)
        rows = sp.csr_matrix(rows) if sparse else rows
        halves = [
            deepcopy(model).fit(rows[part], y[part]) for part in (slice(200), slice(200, 400))
        ]
        return halves, merge(halves), rows

    halves, whole, rows = merged_in(np.float32)
    assert whole.score(rows, y) >= np.mean([half.score(rows, y) for half in halves]) - 0.02
    assert whole.score(rows, y) == pytest.approx(merged_in(np.float64)[1].score(rows, y), abs=0.05)


def test_a_projectron_takes_in_support_vectors_of_several_blocks():
    X, y = data(False, n=200)
    model = ok.ProjectronClassifier(gamma=1.0, budget=400).fit(X[:100], y[:100] == "yes")
    space, known = model._model.space, model.n_support_
    for row in X[100:]:
        take_in(space, row[None], np.ones((1, 1)))
    assert space.support.n > known + 50
    factor = space.budget.get_learnt()["factor"]
    gram = rbf_kernel(space.support.rows(), gamma=1.0)
    np.testing.assert_allclose(factor @ factor.T, gram, atol=1e-6)


def test_sparse_expansions_merge():
    X, y = data(True, n=200)
    X = sp.random(200, 5000, density=0.01, format="csr", random_state=0)
    X.data += 0.1  # of one scale
    models = [ok.KernelPARegressor(gamma=0.5).partial_fit(X[p], y[p])
              for p in (slice(80), slice(60, 200))]  # fmt: skip
    merged = merge(models)
    # The rows that both have met are in it once.
    assert merged.n_support_ <= 200
    values = [values_in_units(model, X) for model in models]
    expected = (80 * values[0] + 140 * values[1]) / 220
    np.testing.assert_allclose(values_in_units(merged, X), expected, rtol=1e-7, atol=1e-9)


def test_targets_in_other_units_are_averaged_in_units():
    X, y = data(True)
    models = [ok.PARegressor().partial_fit(X[:100], y[:100]), ok.PARegressor()]
    with pytest.warns(UserWarning, match="targets are far from unit scale"):
        models[1].partial_fit(X[100:], 1000 * y[100:])
    merged = merge(models)
    predicted = [model.predict(X) for model in models]
    expected = (100 * predicted[0] + 260 * predicted[1]) / 360
    np.testing.assert_allclose(merged.predict(X), expected, rtol=1e-9)


@pytest.mark.parametrize(
    "around",
    [
        ok.ConformalClassifier,
        lambda learner: RenewedLearner(learner, LossDetector()),
        lambda learner: ok.make_stream_pipeline(
            ok.OnlineStandardScaler(), ok.ConformalClassifier(learner)
        ),
    ],
)
def test_what_is_around_a_learner_is_refused(around):
    X, y = data(False)
    learner = ok.PAClassifier()  # the same parameter of both
    models = [around(learner).partial_fit(X, y, classes=np.unique(y)) for _ in range(2)]
    with pytest.raises(TypeError, match=r"cannot be merged.*estimator_"):
        merge(models)


def test_equal_parameters_may_have_several_types():
    X, y = data(False)
    kinds = [
        {"C": 2.0, "average": False, "class_weight": {"no": 2}},
        {"C": 2, "average": np.False_, "class_weight": {np.str_("no"): np.float64(2)}},
        {"C": np.float64(2), "average": False, "class_weight": {"no": 2.0}},
    ]
    models = [ok.PAClassifier(**kind).partial_fit(X, y, classes=np.unique(y)) for kind in kinds]
    models.append(from_bytes(to_bytes(models[2]), "a file"))
    assert merge(models).n_seen_ == 4 * N


def test_columns_that_differ_are_named():
    X, y = data(False)
    rows = [dict(zip("abcd", row, strict=True)) for row in X.tolist()]
    named = ok.PAClassifier().fit(rows, y)
    cases = {
        "has them in another order": [dict(reversed(row.items())) for row in rows],
        "lacks 'a' and has also 'e'": [dict(zip("ebcd", row, strict=True)) for row in X.tolist()],
        "learnt rows without names|an encoder of tables, or none": X,
    }
    for text, samples in cases.items():
        with pytest.raises(ValueError, match=text):
            merge([named, ok.PAClassifier().fit(samples, y)])


def test_what_does_not_fit_is_refused():
    X, y = data(False)
    one = ok.SPAClassifier(gamma=0.4).partial_fit(X, y, classes=np.unique(y))
    two = [ok.PAClassifier().fit(X, y), ok.PAClassifier(C=0.3).fit(X, y)]
    cases = [
        ([], {}, ValueError, "models must hold one"),
        (None, {}, TypeError, "models must be a list of estimators, got None"),
        ([one, StandardScaler()], {}, TypeError, "estimators of onlinekern"),
        ([one, two[0]], {}, ValueError, "one class"),
        (two, {}, ValueError, "C=1.0 and C=0.3"),
        ([one, ok.SPAClassifier(gamma=0.4)], {}, NotFittedError, "not fitted"),
        ([one, one], {"weights": [1.0]}, ValueError, "weights must be 2"),
        ([one, one], {"weights": [1.0, 0.0]}, ValueError, "weights must be 2"),
        ([one, deepcopy(one).fit(X, y == "yes")], {}, ValueError, "classes_"),
        ([one, deepcopy(one).fit(X[:, :2], y)], {}, ValueError, "different numbers of features: "),
        ([one], {"base": deepcopy(one).partial_fit(X, y)}, ValueError, "begun with base"),
    ]
    for models, how, error, message in cases:
        with pytest.raises(error, match=message):
            merge(models, **how)
    wide = [ok.SPAClassifier().fit(X * scale, y) for scale in (1, 3)]
    with pytest.raises(ValueError, match="same gamma"):
        merge(wide)
    seeds = [ok.FOGDClassifier(gamma=0.4, random_state=seed).fit(X, y) for seed in (0, 1)]
    with pytest.raises(ValueError, match="random_state"):
        merge(seeds)
    bent = ok.KRLSTRegressor(kernel="sigmoid", gamma=0.1, budget=20)
    X, y = data(True)
    tracked = [deepcopy(bent).partial_fit(X[part], y[part]) for part in (slice(180), slice(180, N))]
    with pytest.raises(ValueError, match="not positive definite"):
        merge(tracked)
    bent = ok.BPAClassifier(kernel="sigmoid", gamma=0.1, budget=20, random_state=0)
    X, y = data(False)
    halves = [deepcopy(bent).fit(X[part], y[part]) for part in (slice(180), slice(180, N))]
    with pytest.raises(ValueError, match="not positive definite"):
        merge(halves)


def test_features_of_a_stream_must_be_settled_before_models_part():
    X = np.random.default_rng(0).normal(size=(700, 3))
    y = (X[:, 0] > 0).astype(int)

    def merged(n_base):
        base = ok.make_stream_pipeline(ok.FourierFeatures(random_state=0), ok.PAClassifier())
        base.partial_fit(X[:n_base], y[:n_base], classes=[0, 1])
        parts = [deepcopy(base).partial_fit(X[k : k + 20], y[k : k + 20]) for k in (300, 500)]
        return ok.merge(parts, base=base)

    with pytest.raises(ValueError, match=r"let all begin with one model \(base\) whose features"):
        merged(90)  # the width is measured at the 100th
    assert merged(200).n_features_in_ == 3
