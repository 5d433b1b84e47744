"""Linear Passive-Aggressive learners against their twin and against scikit-learn's."""

import itertools
import re
import warnings
from pathlib import Path

import numpy as np
import pytest
import sklearn.linear_model
from oracles import linear
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.linear_model import SGDClassifier, SGDRegressor
from sklearn.utils import compute_class_weight

import onlinekern
from onlinekern import PAClassifier, PARegressor

DTYPES = [np.float32, np.float64]
LAYOUTS = ["dense", "csr"]
SEED = 3
VARIANTS = [{"variant": "pa"}, {"C": 0.05}, {"C": 0.05, "variant": "pa2"}]
# Every variant of fit.
FITS = [
    {},
    {"C": 1.0},
    {"fit_intercept": False},
    {"max_iter": 3, "tol": None},
    {"tol": 0.05, "n_iter_no_change": 2},
    {"early_stopping": True, "validation_fraction": 0.2},
    {"early_stopping": True, "n_iter_no_change": 2, "average": True},
    {"average": True},
    {"average": 37},
    {"average": 10**6},
]
SQUARED = [False, True]
SHUFFLES = [False, True]


@pytest.fixture(scope="module", params=["Classifier", "Regressor"])
def pair(request):
    """Return scikit-learn's class and ours, both for the same task."""
    name = f"PassiveAggressive{request.param}"
    theirs = getattr(sklearn.linear_model, name, None)
    if theirs is None:
        pytest.skip(f"this scikit-learn has no {name} any more")
    return theirs, getattr(onlinekern, f"PA{request.param}")


def task_of(ours, classes):
    return "regression" if ours is PARegressor else ("binary" if classes == 2 else "ovr")


def loss_of(ours, squared):
    loss = "hinge" if ours is PAClassifier else "epsilon_insensitive"
    return {"loss": f"squared_{loss}" if squared else loss}


@pytest.fixture
def samples(stream):
    """Return rows and targets, without empty rows: scikit-learn's PA-I average skips them."""

    def draw(task, layout="dense", dtype=np.float64, n=150, **arguments):
        X, y = stream(task, n=n, **arguments)
        X[~X.any(axis=1)] = 1
        X = X.astype(dtype)
        return (sparse.csr_matrix(X) if layout == "csr" else X), y

    return draw


def quiet(call, *args, **kwargs):
    """Call without warnings about deprecation and max_iter."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return call(*args, **kwargs)


def same(ours, theirs, tolerance=1e-12):
    for name in ("coef_", "intercept_"):
        mine, other = getattr(ours, name), getattr(theirs, name)
        assert mine.shape == other.shape
        np.testing.assert_allclose(mine, other, rtol=tolerance, atol=tolerance, err_msg=name)


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize(("shuffle", "squared"), [*itertools.product(SHUFFLES, SQUARED)])
@pytest.mark.parametrize("case", FITS, ids=str)
def test_fit_is_theirs(case, shuffle, squared, layout, classes, pair, samples):
    theirs, ours = pair
    if ours is PARegressor and classes == 3:
        pytest.skip("a regression has no classes")
    X, y = samples(task_of(ours, classes), layout)
    settings = {"C": 0.05, "shuffle": shuffle, "random_state": SEED, **loss_of(ours, squared)}
    settings |= case
    expected = quiet(quiet(theirs, **settings).fit, X, y)
    model = quiet(ours(**settings).fit, X, y)
    same(model, expected)
    assert model.n_iter_ == expected.n_iter_
    assert model.t_ == expected.t_
    single = X.astype(np.float32)
    same(quiet(ours(**settings).fit, single, y), quiet(clone(model).fit, single, y), 0)


@pytest.mark.parametrize("weights", ["balanced", "dict"])
@pytest.mark.parametrize(("task", "layout"), [*itertools.product(["binary", "ovr"], LAYOUTS)])
def test_class_weight_is_theirs(task, layout, weights, samples):
    theirs = getattr(sklearn.linear_model, "PassiveAggressiveClassifier", None)
    if theirs is None:
        pytest.skip("this scikit-learn has no PassiveAggressiveClassifier any more")
    X, y = samples(task, layout)
    if weights == "dict":
        # A weight above 2 overshoots, and rounding errors grow.
        weights = dict(zip(np.unique(y).tolist(), [0.5, 1.5, 1.2], strict=False))
    settings = {"C": 0.05, "class_weight": weights, "random_state": SEED}
    same(PAClassifier(**settings).fit(X, y), quiet(quiet(theirs, **settings).fit, X, y))
    if weights != "balanced":
        settings["shuffle"] = False
        expected, model = quiet(theirs, **settings), PAClassifier(**settings)
        for part in (slice(60), slice(60, 61), slice(61, 150)):
            quiet(expected.partial_fit, X[part], y[part], classes=np.unique(y))
            model.partial_fit(X[part], y[part], classes=np.unique(y))
        same(model, expected)


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("squared", SQUARED)
@pytest.mark.parametrize("first", ["partial_fit", "fit"])
def test_partial_fits_are_theirs(first, squared, layout, classes, pair, samples):
    theirs, ours = pair
    X, y = samples(task_of(ours, classes), layout)
    settings = {"C": 0.05, "shuffle": False, **loss_of(ours, squared)}
    expected, model = quiet(theirs, **settings), ours(**settings)
    known = {"classes": np.unique(y)} if ours is PAClassifier else {}
    for i, part in enumerate((slice(60), slice(60, 61), slice(61, 150))):
        for learner in (expected, model):
            if i == 0 and first == "fit":
                quiet(learner.fit, X[part], y[part])
            else:
                quiet(learner.partial_fit, X[part], y[part], **known)
        same(model, expected)
        assert model.t_ == expected.t_
        assert model.n_iter_ == expected.n_iter_


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("average", [False, True])
def test_warm_start_is_theirs(average, classes, pair, samples):
    theirs, ours = pair
    if ours is PARegressor and average:
        pytest.skip("its second fit adds the average of the first one to its own")
    X, y = samples(task_of(ours, classes))
    settings = {"C": 0.05, "average": average, "random_state": SEED, "warm_start": True}
    expected, model = quiet(theirs, max_iter=2, **settings), ours(max_iter=2, **settings)
    for _ in range(3):
        quiet(expected.fit, X, y)
        quiet(model.fit, X, y)
        same(model, expected)


@pytest.mark.parametrize("classes", [2, 3])
def test_weights_to_begin_with_are_theirs(classes, pair, samples):
    theirs, ours = pair
    X, y = samples(task_of(ours, classes))
    settings = {"C": 0.05, "random_state": SEED, "max_iter": 2}
    expected, model = quiet(theirs, **settings), ours(**settings)
    quiet(expected.fit, X, y)
    quiet(model.fit, X, y)
    start = {"coef_init": np.full(model.coef_.shape, 0.3)}
    start["intercept_init"] = np.full(model.intercept_.shape, -0.2)
    same(quiet(model.fit, X, y, **start), quiet(expected.fit, X, y, **start))


# SGDClassifier and SGDRegressor keep the rule after the removal of the classes above.
@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize(
    ("layout", "shuffle", "squared"), [*itertools.product(LAYOUTS, SHUFFLES, SQUARED)]
)
@pytest.mark.parametrize("ours", [PAClassifier, PARegressor])
def test_sample_weights_are_those_of_sgd(ours, layout, shuffle, squared, classes, samples):
    task = task_of(ours, classes)
    X, y = samples(task, layout)
    # The C of scikit-learn's SGD is 1 before 1.8, and eta0 from then on. It bounds steps of rows
    # that are short.
    X *= 0.5
    # Above 1 scikit-learn's step passes the point without a loss, and this one does not.
    weight = np.random.default_rng(0).choice([0.25, 0.5, 1.0], size=len(y))
    theirs = SGDClassifier if ours is PAClassifier else SGDRegressor
    common = {"shuffle": shuffle, "random_state": SEED, "max_iter": 4, "tol": None}
    try:
        sgd = theirs(loss=loss_of(ours, False)["loss"], penalty=None, eta0=1.0, **common)
        sgd.set_params(learning_rate="pa2" if squared else "pa1").fit(X, y, sample_weight=weight)
    except ValueError:
        pytest.skip("this scikit-learn's SGD does not know 'pa1'")
    model = ours(C=1.0, **loss_of(ours, squared), **common).fit(X, y, sample_weight=weight)
    same(model, sgd)


def twin_of(model, task, X, y):
    settings = {key: getattr(model, key) for key in ("C", "average", "fit_intercept")}
    settings["variant"] = model.variant or ("pa2" if "squared" in model.loss else "pa1")
    if task == "regression":
        return {**settings, "task": task, "epsilon": model.epsilon}
    weights = model.class_weight and np.array(list(model.class_weight.values()))
    n_classes = len(np.unique(y))
    return {**settings, "task": task, "n_classes": n_classes, "class_weights": weights}


@pytest.mark.parametrize("weighted", [False, True], ids=["", "weighted"])
@pytest.mark.parametrize("average", [False, True, 20])
@pytest.mark.parametrize("case", VARIANTS, ids=str)
@pytest.mark.parametrize("task", ["binary", "ovr", "margin", "regression"])
def test_twin(task, case, average, weighted, stream, as_layout, close):
    X, y = stream(task)
    ours = PARegressor if task == "regression" else PAClassifier
    settings = {"average": average, **case}
    if task != "regression":
        settings["multi_class"] = "margin" if task == "margin" else "ovr"
    weights = None
    if weighted:
        weights = np.random.default_rng(5).choice([0.0, 0.5, 1.0, 2.5], size=len(y))
        if task != "regression":
            settings["class_weight"] = dict(
                zip(np.unique(y).tolist(), (2.0, 0.5, 3.0), strict=False)
            )
    numbers = y if task == "regression" else np.searchsorted(np.unique(y), y)
    arguments = twin_of(ours(**settings), task, X, y)
    for dtype, layout in itertools.product(DTYPES, ["dense", "csr"]):
        constant = {"constant": 0.01 if layout == "csr" else 1.0}
        expected = linear.pa(X, numbers, sample_weight=weights, **arguments, **constant)
        model = ours(**settings)
        known = {} if task == "regression" else {"classes": np.unique(y)}
        rows = as_layout(X, layout, dtype)
        predictions = model.partial_fit_predict(rows, y, sample_weight=weights, **known)
        close(np.atleast_2d(model.coef_), expected.predicting[:, :-1], dtype)
        close(model.intercept_, expected.predicting[:, -1], dtype)
        close(model.cumulative_loss_, expected.cumulative_loss, dtype)
        if task == "regression":
            close(predictions, expected.predictions, dtype)
        else:
            assert model.n_mistakes_ == expected.mistakes
            same_labels = np.searchsorted(np.unique(y), predictions) == expected.predictions
            assert np.all(same_labels)


@pytest.mark.parametrize("tol", [None, 1e-3, 0.1])
@pytest.mark.parametrize("task", ["binary", "ovr", "margin", "regression"])
def test_passes(task, tol, samples, close):
    X, y = samples(task)
    settings = {"C": 0.05, "tol": tol, "max_iter": 30, "n_iter_no_change": 3, "shuffle": False}
    rule = linear.pa_rule(C=0.05, regression=task == "regression")
    orders = [np.arange(len(y))] * 30
    stop = {key: settings[key] for key in ("tol", "max_iter", "n_iter_no_change")}
    if task == "regression":
        model, targets = PARegressor(**settings), [y]
    else:
        model = PAClassifier(multi_class="margin" if task == "margin" else "ovr", **settings)
        numbers = np.searchsorted(np.unique(y), y)
        targets = [(numbers == k).astype(int) for k in range(3)] if task == "ovr" else [numbers]
    kind = {"task": "binary" if task == "ovr" else task, "n_classes": 3 if task == "margin" else 2}
    twins = [linear.learner(X, rule, **kind) for _ in targets]
    counts = [
        linear.passes(twin, X, target, orders, **stop)
        for twin, target in zip(twins, targets, strict=True)
    ]
    quiet(model.fit, X, y)
    expected = np.vstack([twin.predicting for twin in twins])
    close(np.atleast_2d(model.coef_), expected[:, :-1], np.float64)
    close(model.intercept_, expected[:, -1], np.float64)
    close(model.cumulative_loss_, sum(twin.cumulative_loss for twin in twins), np.float64)
    assert model.n_iter_ == max(counts)


def test_problems_of_several_classes_run_in_threads(samples, same_state):
    X, y = samples("ovr")
    settings = {"C": 0.05, "random_state": SEED, "average": True}
    one, two = (PAClassifier(n_jobs=n, **settings).fit(X, y) for n in (None, 2))
    two.n_jobs = None
    same_state(two, one)


@pytest.mark.parametrize("variant", ["pa1", "pa2"])
def test_without_a_constant_an_infinite_C_is_plain_pa(variant, stream):
    X, y = stream("binary")
    settings = {"fit_intercept": False}
    plain, infinite = PAClassifier(variant="pa"), PAClassifier(variant=variant, C=np.inf)
    for model in (plain, infinite):
        model.set_params(**settings).partial_fit(X, y, classes=["no", "yes"])
    np.testing.assert_array_equal(plain.coef_, infinite.coef_)


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("task", ["binary", "ovr"])
def test_plain_pa_leaves_no_loss(task, layout, samples):
    X, y = samples(task, layout, n=30)
    model = PAClassifier()
    for i in range(30):
        # The first half is learnt by PA-I: the rule may change in mid-stream.
        model.set_params(variant="pa" if i >= 15 else None)
        model.partial_fit(X[i : i + 1], y[i : i + 1], classes=np.unique(y))
        scores = np.atleast_2d(model.decision_function(X[i : i + 1]))[0]
        label = np.searchsorted(np.unique(y), y[i])
        signs = np.where(np.arange(3) == label, 1, -1) if task == "ovr" else [2 * label - 1]
        assert np.max(1 - np.array(signs) * scores) < 1e-9 or i < 15


def test_warning_of_the_last_pass(samples):
    X, y = samples("binary")
    with pytest.warns(ConvergenceWarning, match="max_iter=2"):
        PAClassifier(max_iter=2).fit(X, y)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        PAClassifier(max_iter=2, tol=None).fit(X, y)


def test_verbose(samples, capsys):
    X, y = samples("binary")
    PAClassifier(max_iter=2, tol=None, verbose=1).fit(X, y)
    lines = capsys.readouterr().out.splitlines()
    assert [line.partition(":")[0] for line in lines] == ["pass 1", "pass 2"]
    PAClassifier(max_iter=1, tol=None, verbose=1, early_stopping=True).fit(X, y)
    assert "validation score" in capsys.readouterr().out
    PAClassifier(max_iter=1, tol=None).fit(X, y)
    assert capsys.readouterr().out == ""


def test_bad_calls(samples, state_of, same_state):
    X, y = samples("ovr")
    model = PAClassifier(early_stopping=True)
    with pytest.raises(ValueError, match="early_stopping"):
        model.partial_fit(X, y, classes=np.unique(y))
    with pytest.raises(NotFittedError):
        model.predict(X)
    model = PAClassifier().fit(X, y)
    before = state_of(model)
    for start, message in (
        ({"coef_init": np.zeros((2, 6))}, "coef_init"),
        ({"intercept_init": np.zeros(2)}, "intercept_init"),
        ({"coef_init": np.full((3, 6), np.nan)}, "coef_init"),
    ):
        with pytest.raises(ValueError, match=message):
            model.fit(X, y, **start)
        same_state(model, before)


@pytest.mark.parametrize(("parameter", "value"), [("C", 0), ("average", 0), ("max_iter", 0)])
def test_bad_parameters(parameter, value, samples):
    with pytest.raises(ValueError, match=parameter):
        PAClassifier(**{parameter: value}).fit(*samples("binary"))


def test_parameters_and_defaults_are_theirs(pair):
    theirs, ours = pair
    defaults = quiet(theirs).get_params()
    mine = ours().get_params()
    assert {key: mine[key] for key in defaults} == defaults
    extra = {"variant", "encode", "window", "multi_class" if ours is PAClassifier else "n_jobs"}
    assert set(mine) - set(defaults) == extra


def test_the_page_lists_the_parameters():
    text = (Path(__file__).parents[1] / "docs" / "passive_aggressive.md").read_text("utf-8")
    rows = re.findall(r"^\| `(\w+)` \|", text, re.M)
    known = {*PAClassifier().get_params(), *PARegressor().get_params()}
    assert set(rows) == known


def test_balanced_weights_are_kept_for_later(samples):
    X, y = samples("binary")
    kept = PAClassifier(class_weight="balanced", shuffle=False, max_iter=1, tol=None).fit(X, y)
    values = compute_class_weight("balanced", classes=np.unique(y), y=y)
    weights = dict(zip(np.unique(y).tolist(), values.tolist(), strict=True))
    given = PAClassifier(class_weight=weights).partial_fit(X, y, classes=np.unique(y))
    same(kept, given, 0)
    same(kept.partial_fit(X[:9], y[:9]), given.partial_fit(X[:9], y[:9]), 0)


@pytest.mark.parametrize("length", [1e-6, 0.1, 3.0])
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("squared", SQUARED)
@pytest.mark.parametrize(
    ("task", "n_classes"), [("binary", 2), ("ovr", 3), ("margin", 3), ("regression", 1)]
)
def test_a_large_weight_meets_the_target_of_a_short_row(task, n_classes, squared, layout, length):
    """A step moves the intercept too, which lengths leave out."""
    ours = PARegressor if task == "regression" else PAClassifier
    settings = {"multi_class": task} if task in ("ovr", "margin") else {}
    known = {} if ours is PARegressor else {"classes": np.arange(n_classes)}
    row, target = np.array([[length, 0.0]]), [5.0] if ours is PARegressor else [1]
    x = sparse.csr_matrix(row) if layout == "csr" else row

    def score(weight):
        model = ours(**loss_of(ours, squared), **settings)
        model.partial_fit(x, target, sample_weight=[weight], **known)
        if ours is PARegressor:
            return model.predict(x)[0]
        scores = np.atleast_1d(model.decision_function(x)[0])
        return scores[1] - scores[0] if task == "margin" else scores[-1] * (-1) ** (task == "ovr")

    if ours is PARegressor:
        assert abs(score(1e6) - 5) < 0.1 + 1e-6
    else:
        # A step of weight 1 may pass the margin, and then a hinge has no slope.
        assert score(1e6) == pytest.approx(max(1.0, score(1.0)), abs=1e-3)


@pytest.mark.parametrize("name", ["PARegressor", "OGDClassifier"])
@pytest.mark.parametrize("shape", [(30, 2), (30, 2, 2)])
def test_targets_of_too_many_axes_are_told_with_their_shape(name, shape):
    X, y = np.ones((30, 3)), np.ones(shape)
    said = "y must have one label or target a sample, shape (30,), got shape " + str(shape)
    with pytest.raises(ValueError, match=re.escape(said)) as raised:
        getattr(onlinekern, name)().fit(X, y)
    advised = name.endswith("Regressor") and len(shape) == 2
    assert ("KernelForestRegressor" in str(raised.value)) == advised
