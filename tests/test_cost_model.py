"""Every way to compute the kernel values of a block gives the same bits."""

import pickle

import numpy as np
import pytest
from learners import build, data, learn
from scipy import sparse

from onlinekern.core.budgets.policy import Budget
from onlinekern.core.kernels import cost_model
from onlinekern.core.kernels.support_set import SupportSet
from onlinekern.core.models.space import KernelSpace
from onlinekern.core.stream import Model

SUPPORT_ROWS, SAMPLES, AMONG, COLUMNS, WIDTHS, STRIPS = (
    cost_model.WAYS[name]
    for name in ("support vectors", "samples", "pairs", "columns", "length", "strips")
)
# Few and many updates, growing and full sets, merged rows, averages, regression.
LEARNERS = [
    "SPAClassifier",
    "KernelPAClassifier",
    "BOGDClassifier",
    "BPAClassifier",
    "BSGDClassifier",
    "ProjectronClassifier",
    "OSKLClassifier",
    "DualSGDClassifier",
    "KernelOGDRegressor",
]
DOT_KERNELS = ["rbf", "poly", "linear", "sigmoid", "cosine"]


def ways(*tables):
    """Return every combination of ways, one of each table, as keyword arguments."""
    found = [{}]
    for table in tables:
        found = [{**chosen, **way} for chosen in found for way in table.values()]
    return found


def learnt(name, X, y, changes, **parameters):
    """Return the state of a learner after a stream, and its predictions."""
    with cost_model.overridden(**changes):
        model = build(name, **parameters)
        predictions = learn(model, X, y, [20, 21, 50])[0]
        scores = model.predict(X)
    rows = model.support_vectors_
    return {
        "predictions": predictions,
        "scores": scores,
        "support": rows.toarray() if sparse.issparse(rows) else rows,
        "coefficients": model.dual_coef_,
    }


@pytest.fixture
def all_alike(stream, as_layout, equal):
    """Assert that a learner ends in the same state in every way."""

    def check(name, layout, dtype, changes, **parameters):
        X, y = data(name, stream, n=150, d=9)
        X = as_layout(X, layout, dtype)
        first, *others = (learnt(name, X, y, way, **parameters) for way in changes)
        for other in others:
            for what, value in first.items():
                equal(other[what], value, what)

    return check


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("name", LEARNERS)
def test_sparse_samples(name, dtype, all_alike):
    all_alike(name, "csr", dtype, ways(SUPPORT_ROWS, COLUMNS, WIDTHS))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("name", LEARNERS)
def test_dense_samples(name, dtype, all_alike):
    all_alike(name, "dense", dtype, ways(SAMPLES, AMONG, WIDTHS))


@pytest.mark.parametrize("average", [False, True])
@pytest.mark.parametrize("kernel", ["rbf", "poly"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("task", ["binary", "multi-class"])
@pytest.mark.parametrize("layout", ["dense", "csr"])
def test_rows_of_many_strips(layout, task, dtype, kernel, average, stream, as_layout, equal):
    X, y = stream(task, n=300)
    X = as_layout(X, layout, dtype)
    found = []
    for way in ways(STRIPS, SUPPORT_ROWS):
        with cost_model.overridden(**way):
            model = build("KernelOGDClassifier", kernel=kernel, average=average)
            predictions = learn(model, X[:220], y[:220], [90, 91, 200])[0]
            assert model.n_support_ > 128  # three panels
            found.append((predictions, model.decision_function(X), model.dual_coef_))
    for other in found[1:]:
        for one, two in zip(found[0], other, strict=True):
            equal(two, one)


@pytest.mark.parametrize("average", [False, "decay", 0.5])
@pytest.mark.parametrize("task", ["binary", "multi-class"])
@pytest.mark.parametrize("name", ["KernelOGDClassifier", "NOGDClassifier", "KernelPAClassifier"])
@pytest.mark.filterwarnings("ignore:max_support")
def test_scores_begun_before_coefficients_change(name, task, average, stream, equal):
    """A scale is folded into all coefficients, companions are renewed, or the space changes."""
    X, y = stream(task, n=400)
    parameters = {
        "KernelOGDClassifier": {},
        "NOGDClassifier": {"budget": 150},
        "KernelPAClassifier": {"max_support": 170},
    }[name]
    found = []
    for way in ways(STRIPS):
        with cost_model.overridden(**way):
            model = build(name, average=average, **parameters)
            predictions = learn(model, X, y, [100, 101])[0]
            found.append((predictions, model.decision_function(X), model.n_support_))
    assert found[0][2] > 128
    for one, two in zip(*found, strict=True):
        equal(two, one)


def test_a_slot_that_was_left_free(stream, equal):
    """The next support vector takes it, in the middle of what was begun."""
    X, y = stream("binary", n=400)
    found = []
    for way in ways(STRIPS):
        with cost_model.overridden(**way):
            model = build("KernelPAClassifier", max_support=None)
            learn(model, X[:200], y[:200])
            support = model._model.space.support
            assert support.n > 64
            state = support.get_state()
            state["values"][:, 3] = state["companions"][:, 3] = 0
            state["ages"][3] = -1
            state["free"] = np.array([3], state["free"].dtype)
            other = SupportSet(*support.arguments())
            other.set_state(state)
            old = model._model
            parts = old.head, old.rule, old.sampler, old.rng
            rest = Model(KernelSpace(other, Budget()), *parts, X.shape[1], X.dtype)
            found.append((rest.learn(X[200:], (y[200:] == y[0]).astype(float)), other.effective()))
    for one, two in zip(*found, strict=True):
        equal(two, one)


@pytest.mark.parametrize("kernel", DOT_KERNELS)
@pytest.mark.parametrize("name", ["BOGDClassifier", "KernelPAClassifier"])
def test_kernels(name, kernel, all_alike):
    all_alike(name, "csr", np.float64, ways(SUPPORT_ROWS), kernel=kernel)
    all_alike(name, "dense", np.float64, ways(SAMPLES, AMONG), kernel=kernel)


@pytest.mark.parametrize("name", ["BOGDClassifier", "KernelPAClassifier"])
def test_absolute_differences(name, all_alike):
    all_alike(name, "csr", np.float64, ways(SUPPORT_ROWS, COLUMNS), kernel="laplacian")
    all_alike(name, "dense", np.float64, ways(AMONG, WIDTHS), kernel="laplacian")


def test_samples_far_from_the_origin(stream, equal):
    """Every way sums float32 distances of these samples from differences."""
    X, y = stream("binary", n=150)
    X = (X + 300 * (np.arange(len(X)) % 3 == 0)[:, None]).astype(np.float32)
    for name, tables in [("BOGDClassifier", (AMONG, WIDTHS)), ("KernelOGDClassifier", (STRIPS,))]:
        first, *others = (learnt(name, X, y, way) for way in ways(*tables))
        for other in others:
            for what, value in first.items():
                equal(other[what], value, what)


def test_all_layouts_in_all_ways(stream, as_layout, close):
    """Dense and sparse rows sum squared norms in different orders."""
    X, y = stream("binary", n=150)
    dense = [learnt("BOGDClassifier", X, y, way) for way in ways(SAMPLES)]
    csr = [
        learnt("BOGDClassifier", as_layout(X, "csr"), y, way) for way in ways(SUPPORT_ROWS, WIDTHS)
    ]
    for other in [*dense, *csr]:
        close(other["coefficients"], dense[0]["coefficients"], np.float64)
        close(other["support"], dense[0]["support"], np.float64)


@pytest.mark.parametrize("saved", SUPPORT_ROWS)
@pytest.mark.parametrize("resumed", SUPPORT_ROWS)
def test_a_saved_model_resumes_in_another_form(saved, resumed, stream, as_layout, equal):
    X, y = stream("binary", n=100)
    X = as_layout(X, "csr")
    whole, half = build("BOGDClassifier"), build("BOGDClassifier")
    learn(whole, X, y)
    with cost_model.overridden(**SUPPORT_ROWS[saved]):
        learn(half, X[:50], y[:50])
        text = pickle.dumps(half)
    with cost_model.overridden(**SUPPORT_ROWS[resumed]):
        half = pickle.loads(text)
        assert half._model.space.support.stored_sparse == (resumed == "kept sparse")
        half.partial_fit(X[50:], y[50:])
    equal(half.dual_coef_, whole.dual_coef_)
    equal(half.decision_function(X), whole.decision_function(X))


def test_the_form_follows_the_number_of_features(stream):
    X, y = stream("binary", n=20)
    most = cost_model.constants()["most_panel_features"]
    for features, form in [(most, False), (most + 1, True)]:
        wide = sparse.csr_matrix((X[X != 0], np.nonzero(X)), shape=(len(X), features))
        model = build("BOGDClassifier")
        learn(model, wide, y)
        assert model._model.space.support.stored_sparse == form


def test_constants_return():
    before = cost_model.constants()

    def fail():
        with cost_model.overridden(least_rows=1, least_added=0.7):
            assert cost_model.constants() == {**before, "least_rows": 1, "least_added": 0.7}
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()
    assert cost_model.constants() == before


def test_unknown_constants():
    with (
        pytest.raises(TypeError, match="no constant least_columns"),
        cost_model.overridden(least_columns=3),
    ):
        pass
