"""gamma="median": the width comes from the first 200 samples, however a stream is cut."""

import copy
import pickle

import numpy as np
import pytest
from learners import CLASSES, NAMES, SIZES
from oracles import warm_up
from scipy import sparse
from sklearn.base import clone, is_classifier

import onlinekern
from onlinekern import (
    FourierFeatures,
    KernelMeanDetector,
    KernelOGDRegressor,
    KernelPAClassifier,
    KernelRLSClassifier,
    NystroemFeatures,
    OLLAClassifier,
    SPAClassifier,
    SPAOneClass,
)
from onlinekern.core.samples.distances import pair_distances
from onlinekern.estimators import median_width

WARMING_UP = [name for name in NAMES if "gamma" in CLASSES[name]().get_params()]
TRYING = [name for name in WARMING_UP if CLASSES[name]().gamma == "best"]
FEW = ["FOGDClassifier", "KernelPARegressor", "KernelRLSClassifier", "SPAClassifier"]
N = 230
LABELS = [5, 15, 25]


def build(name, **parameters):
    sizes = {"budget": 20, "n_components": 30, **SIZES.get(name, {})}
    known = {size: value for size, value in sizes.items() if hasattr(CLASSES[name], size)}
    return CLASSES[name](random_state=7, **{**known, **parameters})


def first(model):
    return {"classes": LABELS} if is_classifier(model) and not hasattr(model, "classes_") else {}


def data(name, stream, n=N, **arguments):
    return stream("ovr" if is_classifier(CLASSES[name]()) else "regression", n=n, **arguments)


def weights(n=N):
    """Return weights, some of every other one 0: a call of two has a sample that is learnt."""
    rng = np.random.default_rng(4)
    weight = rng.choice([0.5, 1.0, 3.0], size=n)
    weight[2::2] *= rng.random(len(weight[2::2])) < 0.9
    weight[[12, 24]] = 0
    return weight


def learn(model, X, y, size, weight=None):
    """Learn in calls of so many samples; return the predictions."""
    made = []
    for start in range(0, len(y), size):
        part = slice(start, start + size)
        given = {} if weight is None else {"sample_weight": weight[part]}
        made.append(model.partial_fit_predict(X[part], y[part], **first(model), **given))
    return np.concatenate(made)


def exact_width(X):
    """Return the width of the twin as it is, given the distances that the core sums."""
    distances = pair_distances(X, True)
    return 2 / np.median(distances)


def twin_of(name, X, y, weight):
    """Return the model of the twin, its width and its predictions."""

    def learn_one(model, x, target, w):
        row = np.reshape(x, (1, -1))
        if w == 0:
            return model.predict(row)[0]
        return model.partial_fit_predict(row, [target], sample_weight=[w], **first(model))[0]

    mistake = is_classifier(CLASSES[name]())
    error = (lambda f, y: float(f != y)) if mistake else (lambda f, y: (f - y) ** 2)
    model, gamma, predictions = warm_up.learn(
        *(lambda gamma: build(name, gamma=gamma), learn_one, X, y, weight, exact_width),
        error if name in TRYING else None,
    )
    return model, gamma, np.array(predictions)


@pytest.mark.parametrize("name", WARMING_UP)
def test_it_is_the_twin_however_it_is_cut(name, stream, equal):
    n = 1100 if name in TRYING else N
    X, y = data(name, stream, n=n)
    weight = weights(n)
    learnt = weight > 0
    twin, gamma, predictions = twin_of(name, X, y, weight)
    for size in (2, 10, 1000):
        model = build(name)
        assert model.gamma == ("best" if name in TRYING else "median")
        # In the twin, `predict` makes the others, whose last bits may differ.
        made = learn(model, X, y, size, weight)
        equal(made[learnt], predictions[learnt], f"calls of {size}")
        assert model.gamma_ == gamma
        scores = "decision_function" if is_classifier(model) else "predict"
        equal(getattr(model, scores)(X), getattr(twin, scores)(X), f"calls of {size}")
        assert model.n_seen_ == learnt.sum()
        if is_classifier(model):
            assert model.n_mistakes_ == np.sum((predictions != y)[learnt])
        assert "_warm_up" not in vars(model)


@pytest.mark.parametrize("name", WARMING_UP)
def test_learn_one(name, stream, same_state):
    X, y = data(name, stream, n=510 if name in TRYING else 210)
    model, other = build(name), build(name)
    learn(model, X, y, 1000)
    for row, target in zip(X, y.tolist(), strict=True):
        other.learn_one(row, target, **first(other))
    same_state(other, model)


@pytest.mark.parametrize("n", [1, 2, 4, 5, 37, 100, 199])
@pytest.mark.parametrize("layout", ["dense", "csr", "wide"])
@pytest.mark.parametrize("name", FEW)
def test_short_streams(name, layout, n, stream, as_layout, same_state, equal):
    X, y = data(name, stream, n=n + 10)
    rows = as_layout(X, layout)
    model, other = build(name), build(name)
    equal(learn(model, rows[:n], y[:n], 1), learn(other, rows[:n], y[:n], 1000))
    same_state(other, model)
    count = max([0, *(count for count in warm_up.COUNTS if count <= n)])
    assert model.gamma_ == pytest.approx(warm_up.median_width(X[:count]), rel=1e-12)
    assert len(model._warm_up.samples[1]) == n
    equal(learn(model, rows[n:], y[n:], 3), learn(other, rows[n:], y[n:], 10))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("name", FEW)
def test_dense_and_sparse_samples_are_the_same(name, dtype, stream, as_layout, close):
    X, y = data(name, stream)
    dense, thin = as_layout(X, "dense", dtype), as_layout(X, "csr", dtype)
    made = [build(name) for _ in range(4)]
    learn(made[0], dense, y, 10)
    learn(made[1], thin, y, 10)
    for model, (early, late) in zip(made[2:], [(dense, thin), (thin, dense)], strict=True):
        learn(model, early[:30], y[:30], 10)
        learn(model, late[30:], y[30:], 10)
    for model in made[1:]:
        assert model.gamma_ == made[0].gamma_
        scores = "decision_function" if is_classifier(model) else "predict"
        close(getattr(model, scores)(dense), getattr(made[0], scores)(dense), dtype)


@pytest.mark.parametrize("laplacian", [False, True])
@pytest.mark.parametrize("layout", ["dense", "csr", "wide"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_width_against_the_twin(laplacian, layout, dtype, stream, as_layout):
    X, y = stream("binary", n=N)
    kernel = "laplacian" if laplacian else "rbf"
    model = KernelPAClassifier(kernel=kernel).partial_fit(as_layout(X, layout, dtype), y,
                                                          classes=["no", "yes"])  # fmt: skip
    assert model.gamma_ == pytest.approx(warm_up.median_width(X[:200], laplacian), rel=1e-12)


def test_repeated_samples(equal):
    X = np.repeat([[0.0, 0.0], [3.0, 4.0]], [90, 10], axis=0)
    model = KernelOGDRegressor().partial_fit(X, X[:, 0])
    assert warm_up.median_width(X) == 2 / 25
    assert model.gamma_ == 2 / 25
    same = KernelOGDRegressor().partial_fit(np.ones((100, 2)), np.ones(100))
    assert same.gamma_ == warm_up.median_width(np.ones((100, 2))) == 1
    huge = KernelOGDRegressor()
    with pytest.raises(ValueError, match=r"sample 0 has a feature of the size 1e.200"):
        huge.partial_fit([[1e200], [-1e200], [0.0]], [1.0, 1.0, 1.0])
    assert not hasattr(huge, "gamma_")


def test_the_samples_after_it_do_not_count(stream):
    X, y = stream("binary", n=N)
    far = X.copy()
    far[200:] *= 100
    labels = ["no", "yes"]
    models = [SPAClassifier(random_state=0).partial_fit(rows, y, labels) for rows in (X, far)]
    assert models[0].gamma_ == models[1].gamma_


def test_many_clusters_get_a_narrow_kernel():
    # 104 clusters of 26 classes: with the median width 10.9 % of the samples are mistakes.
    rng = np.random.default_rng(26)
    centres, places = rng.normal(size=(104, 16)), rng.integers(104, size=3000)
    X, y = centres[places] + 0.35 * rng.normal(size=(3000, 16)), places % 26
    model = SPAClassifier(random_state=0).partial_fit(X, y, classes=np.arange(26))
    plain = SPAClassifier(gamma="median", random_state=0).partial_fit(X, y, classes=np.arange(26))
    assert model.gamma_ in [plain.gamma_ * multiple for multiple in warm_up.MULTIPLES[2:]]
    assert model.n_mistakes_ < 0.8 * plain.n_mistakes_


@pytest.mark.parametrize("kernel", ["polynomial", "sigmoid"])
def test_only_widths_of_distances_are_tried(kernel, stream):
    X, y = stream("binary", n=N)
    model = KernelPAClassifier(kernel=kernel).partial_fit(X, y, classes=["no", "yes"])
    assert "_warm_up" not in vars(model)
    assert model.gamma_ == exact_width(X[:200])


@pytest.mark.parametrize("kernel", ["linear", "cosine"])
def test_kernels_without_a_width_need_none(kernel, stream):
    X, y = stream("binary")
    model = KernelPAClassifier(kernel=kernel).partial_fit(X[:3], y[:3], classes=["no", "yes"])
    assert "_warm_up" not in vars(model)
    assert model.gamma_ == 1


@pytest.mark.parametrize("name", FEW)
def test_fit_is_partial_fit_in_its_order(name, stream, equal):
    X, y = data(name, stream)
    fitted = build(name, shuffle=False).fit(X, y)
    streamed = build(name, shuffle=False)
    learn(streamed, X, y, 7)
    assert fitted.gamma_ == streamed.gamma_
    equal(fitted.predict(X), streamed.predict(X))
    assert fitted.cumulative_loss_ == streamed.cumulative_loss_


def test_fit_measures_in_the_order_in_which_it_learns(stream):
    X, y = stream("binary", n=N)
    X[:210] *= np.linspace(0.1, 3, 210)[:, None]
    model = KernelPAClassifier(gamma="median", random_state=5).fit(X, y)
    draws = np.random.RandomState(5)
    draws.randint(np.iinfo(np.int64).max, dtype=np.int64)
    order = draws.permutation(N)
    assert model.gamma_ == exact_width(X[order[:200]])
    streamed = KernelPAClassifier(gamma="median", random_state=5)
    streamed.partial_fit(X[order], y[order], classes=["no", "yes"])
    assert model.n_mistakes_ == streamed.n_mistakes_
    np.testing.assert_array_equal(model.decision_function(X), streamed.decision_function(X))


def test_later_passes_measure_nothing(stream):
    X, y = stream("binary", n=60)
    once = KernelPAClassifier(shuffle=False).fit(X, y)
    twice = KernelPAClassifier(shuffle=False, n_epochs=4).fit(X, y)
    assert twice.gamma_ == once.gamma_ == exact_width(X[:50])
    assert twice.n_seen_ == 240
    assert "_warm_up" in vars(once)
    assert "_warm_up" not in vars(twice)


@pytest.mark.parametrize("n", [1, 3, 60])
@pytest.mark.parametrize("name", FEW)
def test_copies_in_mid_stream_go_on_alike(name, n, stream, tmp_path, same_state):
    X, y = data(name, stream)
    model = build(name)
    learn(model, X[:n], y[:n], 7)
    model.save(tmp_path / "model.okn")
    others = [
        copy.deepcopy(model),
        pickle.loads(pickle.dumps(model)),
        onlinekern.load(tmp_path / "model.okn"),
    ]
    learn(model, X[n:], y[n:], 7)
    for other in others:
        learn(other, X[n:], y[n:], 40)
        same_state(other, model)
    assert "_warm_up" not in vars(clone(model))


@pytest.mark.parametrize("average", [False, True])
def test_the_same_draws_however_random_the_state(average, stream, equal):
    X, y = stream("binary", n=N)
    for state in (None, np.random.RandomState(3)):
        model = SPAClassifier(random_state=state, average=average, beta=3.0)
        model.partial_fit(X[:80], y[:80], classes=["no", "yes"])
        other = copy.deepcopy(model)
        model.partial_fit(X[80:], y[80:])
        for row, label in zip(X[80:], y[80:], strict=True):
            other.learn_one(row, label)
        equal(model.decision_function(X), other.decision_function(X))


@pytest.mark.parametrize("name", FEW)
def test_a_call_between_two_widths_learns_in_place(name, stream):
    """A copy of the model takes a hundred times as long as one sample."""
    X, y = data(name, stream)
    model = build(name)
    learn(model, X[:51], y[:51], 7)
    before = model._model
    model.learn_one(X[51], y[51])
    model.partial_fit(X[52:99], y[52:99])
    assert model._model is before
    model.learn_one(X[99], y[99])
    assert model._model is not before


@pytest.mark.parametrize("name", FEW)
def test_samples_that_cannot_be_kept_are_not_learnt(
    name, stream, monkeypatch, state_of, same_state
):
    X, y = data(name, stream)
    model = build(name)
    learn(model, X[:60], y[:60], 7)
    before = state_of(model)

    def keep(*_):
        raise MemoryError

    with monkeypatch.context() as patched:
        patched.setattr(type(model._warm_up), "keep", keep)
        for n in (61, 70):
            with pytest.raises(MemoryError):
                model.partial_fit(X[60:n], y[60:n])
            same_state(model, before)


@pytest.mark.parametrize("n", [1, 40, 150])
def test_a_failed_call_leaves_it_as_it_was(n, stream, state_of, same_state):
    X, y = stream("regression", n=N)
    bad = X.copy()
    bad[190] = 1e150
    model = KernelOGDRegressor(kernel="polynomial", degree=3, coef0=1.0, eta=1e-6)
    model.partial_fit(X[:n], y[:n])
    before, twin = state_of(model), copy.deepcopy(model)
    with pytest.raises(FloatingPointError):
        model.partial_fit(bad[n:], y[n:])
    same_state(model, before)
    with pytest.raises(ValueError, match="NaN"):
        model.partial_fit(np.where(bad > 1e100, np.nan, bad)[n:], y[n:])
    with pytest.raises(ValueError):
        model.learn_one(X[0, :-1], 0.0)
    same_state(model, before)
    same_state(model.partial_fit(X[n:], y[n:]), twin.partial_fit(X[n:], y[n:]))


@pytest.mark.parametrize("name", FEW)
def test_a_single_row_that_ends_a_piece_is_undone(name, stream, monkeypatch, state_of, same_state):
    """The model learns it in place, and is replaced by one of another width."""
    X, y = data(name, stream)
    model = build(name)
    learn(model, X[:19], y[:19], 7)
    before, twin = state_of(model), copy.deepcopy(model)

    def learnt_anew(*_):
        raise MemoryError

    with monkeypatch.context() as patched:
        patched.setattr(median_width, "learnt_anew", learnt_anew)
        for call in (
            lambda: model.partial_fit(X[19:20], y[19:20]),
            lambda: model.learn_one(X[19], y[19]),
        ):
            with pytest.raises(MemoryError):
                call()
            same_state(model, before)
    shared = model._model
    model.learn_one(X[19], y[19])
    assert model._model is not shared
    same_state(model.partial_fit(X[20:], y[20:]), twin.partial_fit(X[19:], y[19:]))


def test_a_failed_first_call_leaves_nothing(stream):
    X, y = stream("regression", n=N)
    X[190] = 1e150
    model = KernelOGDRegressor(kernel="polynomial", degree=3, coef0=1.0, eta=1e-6)
    with pytest.raises(FloatingPointError):
        model.partial_fit(X, y)
    assert vars(model) == vars(clone(model))


def test_parameters_of_the_step_act_at_once_and_others_in_a_new_fit(stream, equal):
    X, y = stream("binary", n=N)
    model = KernelPAClassifier(C=1.0, gamma="median").partial_fit(
        X[:30], y[:30], classes=["no", "yes"]
    )
    model.set_params(C=0.1, kernel="laplacian", gamma=0.3)
    with pytest.warns(UserWarning, match="gamma, kernel of KernelPAClassifier will take effect"):
        model.partial_fit(X[30:], y[30:])
    assert model.gamma_ == exact_width(X[:200])
    expected = KernelPAClassifier(C=0.1, gamma=model.gamma_)
    expected.partial_fit(X, y, classes=["no", "yes"])
    equal(model.decision_function(X), expected.decision_function(X))
    model.partial_fit(X[:1], y[:1])
    assert model.fit(X, y).gamma_ == 0.3


def test_the_callers_rows_are_copied(stream, equal):
    X, y = stream("binary", n=N)
    model, other = KernelPAClassifier(), KernelPAClassifier()
    model.partial_fit(X, y, classes=["no", "yes"])
    for start in range(0, N, 10):
        rows, labels = X[start : start + 10].copy(), y[start : start + 10].copy()
        other.partial_fit(rows, labels, classes=["no", "yes"])
        rows[:] = 99
        labels[:] = "no"
    equal(other.decision_function(X), model.decision_function(X))


@pytest.mark.parametrize("cls", [KernelMeanDetector, SPAOneClass])
def test_detectors(cls, stream, same_state):
    X, _ = stream("binary", n=N)
    model, other = cls(random_state=0).partial_fit(X), cls(random_state=0)
    for row in X:
        other.learn_one(row)
    same_state(other, model)
    assert model.gamma_ == exact_width(X[:200])


@pytest.mark.parametrize("layout", ["dense", "csr"])
def test_batch_learners_measure_rows_at_equal_intervals(layout, stream, as_layout):
    X, y = stream("binary", n=450)
    order = np.argsort(y, kind="stable")
    rows, labels = as_layout(X[order], layout), y[order]
    expected = exact_width(X[order][np.arange(200) * 450 // 200])
    assert OLLAClassifier(n_epochs=1).fit(rows, labels).gamma_ == expected
    for cls in (FourierFeatures, NystroemFeatures):
        assert cls().fit(rows).gamma_ == expected


def test_readers_never_see_half_of_a_call(stream, monkeypatch):
    """A model that is replaced within a call is not the one that others read."""
    X, y = stream("binary", n=N)
    model = KernelRLSClassifier(n_components=30).partial_fit(X[:30], y[:30], classes=["no", "yes"])
    shown, seen = model._model, model.n_seen_
    model.partial_fit(X[30:60], y[30:60])
    assert model._model is not shown
    assert shown.n_seen == seen


def damaged(model, **changes):
    """Return a copy of a model, its first samples changed, as a pickle would bring it."""
    other = copy.copy(model)
    kept = copy.copy(other._warm_up)
    vars(kept).update(changes)
    other._warm_up = kept
    return other


def test_first_samples_that_do_not_fit_are_refused(stream, tmp_path):
    X, y = stream("binary", n=30)
    model = KernelPAClassifier().partial_fit(X, y, classes=["no", "yes"])
    rows, targets, weight = model._warm_up.samples
    wrong = [
        {"samples": (rows[:-1], targets[:-1], weight[:-1])},
        {"samples": (rows[:-1], targets, weight)},
        {"samples": (rows[:, 1:].copy(), targets, weight)},
        {"samples": (rows, targets, -weight)},
        {"samples": (rows, targets.astype(int), weight)},
        {"samples": (rows.astype(np.float32), targets, weight)},
        {"samples": rows},
        {"gamma": 0.0},
        {"parameters": None},
        {"draws": 3},
    ]
    for changes in wrong:
        damaged(model, **changes).save(tmp_path / "model.okn")
        with pytest.raises(ValueError):
            onlinekern.load(tmp_path / "model.okn")
    damaged(model).save(tmp_path / "model.okn")
    onlinekern.load(tmp_path / "model.okn").partial_fit(X, y)


def test_a_sparse_row_alone(stream, equal):
    X, y = stream("binary", n=N)
    thin = sparse.csr_matrix(X)
    model, other = KernelPAClassifier(), KernelPAClassifier()
    model.partial_fit(thin, y, classes=["no", "yes"])
    for i in range(N):
        other.learn_one(thin[i], y[i], classes=["no", "yes"])
    equal(other.decision_function(X), model.decision_function(X))
