"""One warning of features, or targets, of scales that a learner does not cope with."""

import copy
import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from learners import CLASSES
from sklearn.base import is_classifier
from sklearn.datasets import load_digits, load_iris
from sklearn.preprocessing import PolynomialFeatures, StandardScaler

from onlinekern import (
    KernelOGDRegressor,
    KernelPAClassifier,
    KernelRLSClassifier,
    OGDRegressor,
    OnlineStandardScaler,
    PAClassifier,
    PARegressor,
    SPAClassifier,
    StreamRegressor,
    TableEncoder,
    all_estimators,
    make_stream_pipeline,
)
from onlinekern.estimators.scales import warn_of_scales
from onlinekern.evaluate import compare
from onlinekern.streams import Source, open_source

ALL = dict(all_estimators())
LEARNERS = sorted(name for name, cls in ALL.items() if hasattr(cls, "_look_at_scales"))
SCALE_THEMSELVES = [
    "KernelForestClassifier", "KernelForestRegressor", "StreamClassifier", "StreamRegressor",
]  # fmt: skip
CUTS = [[300], [1], [7], [19, 1, 50], [200]]


def raw(n=300, units=(1e-2, 1.0, 1e3)):
    """Return features in units that are far apart, labels, and targets near 1."""
    X = np.random.default_rng(0).standard_normal((n, 3))
    return X * units, np.where(X[:, 1] > 0, 1, 0), X[:, 1]


def found(call):
    """Return the UserWarnings of a call."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        call()
    return [w for w in caught if w.category is UserWarning]


def fed(model, X, y, cuts=(300,)):
    """Learn in parts of these lengths, in turn."""
    first, parts = 0, 0
    classes = {"classes": np.unique(y)} if is_classifier(model) else {}
    while first < len(y):
        part = slice(first, first + cuts[parts % len(cuts)])
        model.partial_fit(X[part], y[part], **classes)
        first, parts = part.stop, parts + 1
    return model


def small(name):
    """Return a learner that is quick."""
    sizes = {"gamma": 0.4, "budget": 20, "n_components": 10, "time_budget": 5.0}
    known = ALL[name]().get_params()
    return ALL[name](**{key: value for key, value in sizes.items() if key in known})


@pytest.mark.parametrize("method", ["fit", "partial_fit"])
@pytest.mark.parametrize("name", LEARNERS)
def test_every_learner(name, method):
    model = small(name)
    if not hasattr(model, method):
        pytest.skip("learns in fit only")
    # Of values as large as 1,000, OGD diverges.
    X, labels, targets = raw(units=(1e-4, 1.0, 10.0))
    y = labels if is_classifier(model) else targets
    messages = found(lambda: model.fit(X, y) if method == "fit" else fed(model, X, y))
    messages = [str(w.message) for w in messages if "scales of the features" in str(w.message)]
    assert len(messages) == (name not in SCALE_THEMSELVES)
    for message in messages:
        assert "feature 2 reaches" in message
        assert "feature 0 reaches" in message
        assert f"make_stream_pipeline(OnlineStandardScaler(), {name}())" in message
        assert ("Stream" in message) == (name in CLASSES)


@pytest.mark.parametrize("cuts", CUTS, ids=str)
@pytest.mark.parametrize("sparse", [False, True])
def test_once_in_any_batches(cuts, sparse):
    X, y, _ = raw()
    X = sp.csr_matrix(X) if sparse else X
    assert len(found(lambda: fed(KernelPAClassifier(), X, y, cuts))) == 1
    # Calls of one sample tell nothing, where none are kept.
    assert len(found(lambda: fed(PAClassifier(), X, y, cuts))) == (cuts != [1] and cuts[0] != 19)


def test_once_one_by_one():
    X, y, _ = raw()
    model = KernelPAClassifier()

    def learn():
        for x, label in zip(X, y.tolist(), strict=True):
            model.learn_one(x, label, classes=[0, 1])

    caught = found(learn)
    assert [w.filename for w in caught] == [__file__]


def test_again_in_a_new_fit():
    X, y, _ = raw()
    model = KernelPAClassifier()
    # A stream that is warming up keeps samples, which are not those of the fit.
    model.partial_fit(X[:30] / [1e-2, 1.0, 1e3], y[:30], classes=[0, 1])
    assert len(found(lambda: model.fit(X, y))) == 1
    assert len(found(lambda: model.partial_fit(X, y))) == 0


def test_names_of_features():
    pd = pytest.importorskip("pandas")
    X, y, _ = raw()
    frame = pd.DataFrame(X, columns=["rate", "age", "income"])
    (caught,) = found(lambda: PAClassifier().fit(frame, y))
    assert "feature 'income' reaches" in str(caught.message)
    assert "feature 'rate' reaches" in str(caught.message)


def named_table(n=300):
    """Return a data frame of columns with names in another order than that of their letters."""
    pd = pytest.importorskip("pandas")
    X, y, _ = raw(n)
    return pd.DataFrame(X, columns=["rate", "age", "income"]), y


def learn_in_river(sparse, by_rows):
    pytest.importorskip("river")
    from onlinekern.compat.river import RiverClassifier

    frame, y = named_table()
    model = RiverClassifier(KernelPAClassifier(), max_features=5, sparse=sparse)
    if not by_rows:
        model.learn_many(frame, frame["age"] > 0)
    for x, label in zip(frame.to_dict("records") if by_rows else [], y.tolist(), strict=False):
        model.learn_one(x, label)


def learn_behind_an_encoder(method):
    frame, y = named_table()
    model = make_stream_pipeline(TableEncoder(), PAClassifier())
    more = {} if method == "fit" else {"classes": [0, 1]}
    getattr(model, method)(frame, y, **more)


def learn_in_a_comparison(path):
    pytest.importorskip("pyarrow")
    frame, y = named_table()
    frame.assign(kind=y).to_csv(path, index=False)
    compare({"linear": PAClassifier()}, open_source(path, "kind"), 1)


@pytest.mark.parametrize(
    "learn",
    [
        lambda path: learn_in_river(False, True),
        lambda path: learn_in_river(True, True),
        lambda path: learn_in_river(False, False),
        lambda path: learn_behind_an_encoder("fit"),
        lambda path: learn_behind_an_encoder("partial_fit"),
        learn_in_a_comparison,
    ],
    ids=["river", "river, CSR", "river, a frame", "encoder, fit", "encoder", "compare"],
)
def test_names_that_the_learner_is_not_told(learn, tmp_path):
    (caught,) = found(lambda: learn(tmp_path / "rows.csv"))
    assert "feature 'income' reaches" in str(caught.message)
    assert "feature 'rate' reaches" in str(caught.message)


def test_names_are_those_of_their_learner_alone():
    """What a pipeline makes of named columns has other columns."""
    pytest.importorskip("river")
    from onlinekern.compat.river import RiverClassifier

    model = RiverClassifier(make_stream_pipeline(PolynomialFeatures(), PAClassifier()))
    frame, _ = named_table()
    model.estimator_[0].fit(frame.to_numpy())
    (caught,) = found(lambda: model.learn_many(frame, frame["age"] > 0))
    assert "feature 9 reaches" in str(caught.message) or "feature 6 reaches" in str(caught.message)


def one_of(scale, n=300, d=4):
    """Return features near 1, of which the last has this scale, uniform; and labels."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, d))
    X[:, -1] = rng.uniform(0, scale, n)
    return X, (np.sin(2 * X[:, 0]) + X[:, 1] > 0).astype(int)


@pytest.mark.parametrize("as_layout", [lambda X: X, sp.csr_matrix, lambda X: X.astype(np.float32)])
@pytest.mark.parametrize("cuts", [[300], [1]])
def test_a_kernel_that_sees_one_feature(as_layout, cuts):
    # The scales differ by less than 1,000, and linear learners cope.
    X, y = one_of(1000.0)
    assert np.abs(X).max(axis=0).max() < 1000 * np.abs(X).max(axis=0).min()
    for model in (KernelRLSClassifier(), KernelPAClassifier(), KernelRLSClassifier(kernel="rbf")):
        (caught,) = found(lambda model=model: fed(model, as_layout(X), y, cuts))
        text = str(caught.message)
        assert text.startswith("the scales of the features differ: feature 3 makes ")
        assert "make_stream_pipeline(OnlineStandardScaler(), Kernel" in text
    assert found(lambda: fed(PAClassifier(), as_layout(X), y, cuts)) == []
    assert found(lambda: fed(KernelPAClassifier(kernel="linear"), as_layout(X), y, cuts)) == []
    near = as_layout(one_of(10.0)[0])
    assert found(lambda: fed(KernelRLSClassifier(), near, y, cuts)) == []


def sparse_text(n=400):
    """Return rows of length 1, as TF-IDF makes them, with numbers of any size."""
    rng = np.random.default_rng(0)
    X = sp.random(n, 3000, 0.02, "csr", random_state=0, data_rvs=lambda k: rng.lognormal(0, 2, k))
    return sp.csr_matrix(X / sp.linalg.norm(X, axis=1)[:, None])


def rare(n=400):
    """Return a number, and a feature that is 1 in one sample of the first twenty."""
    X = np.random.default_rng(0).standard_normal((n, 2))
    X[:, 1] = np.arange(n) == 5
    return X


QUIET = {
    "scaled": lambda: StandardScaler().fit_transform(raw()[0]),
    "iris": lambda: load_iris().data,
    "digits": lambda: load_digits().data,
    "digits, scaled": lambda: StandardScaler().fit_transform(load_digits().data),
    "rare": rare,
    "rare, scaled": lambda: StandardScaler().fit_transform(rare(10_000)),
    "one-hot": lambda: np.eye(500)[np.random.default_rng(0).integers(500, size=400)],
    "text": sparse_text,
    "constant": lambda: np.c_[raw()[0][:, 1], np.full(300, 1e9), np.zeros(300)],
}


@pytest.mark.parametrize("data", sorted(QUIET))
@pytest.mark.parametrize("as_layout", [lambda X: X, sp.csr_matrix])
def test_does_not_cry_wolf(data, as_layout):
    X = as_layout(QUIET[data]())
    y = np.arange(X.shape[0]) % 2
    for cuts in ([X.shape[0]], [20], [1]):
        assert found(lambda cuts=cuts: fed(KernelPAClassifier(), X[:400], y[:400], cuts)) == []
    assert found(lambda: PAClassifier().fit(X[:400], y[:400])) == []


def test_dense_and_sparse_rows_tell_the_same():
    X, y, _ = raw()
    X[np.random.default_rng(1).random(X.shape) < 0.5] = 0
    dense, sparse = (found(lambda X=X: PAClassifier().fit(X, y)) for X in (X, sp.csr_matrix(X)))
    assert [str(w.message) for w in dense] == [str(w.message) for w in sparse] != []


def test_once_for_each_learner_of_a_comparison():
    X, y, _ = raw()
    source = Source.from_arrays(X, y, name="raw")
    learners = {"kernel": KernelPAClassifier(), "linear": PAClassifier()}
    caught = found(lambda: compare(learners, source, 3))
    assert [w.filename for w in caught] == 2 * [__file__]


def test_not_behind_a_scaler():
    X, y, _ = raw()
    for learner in (KernelPAClassifier(), PAClassifier()):
        model = make_stream_pipeline(OnlineStandardScaler(), learner)
        assert found(lambda model=model: fed(model, X, y, [7])) == []
        assert found(lambda model=model: model.fit(X, y)) == []


@pytest.mark.parametrize("method", ["fit", "partial_fit", "partial_fit_predict"])
@pytest.mark.parametrize("learner", [KernelPAClassifier, PAClassifier])
def test_as_an_error_it_leaves_the_learner(learner, method, same_state):
    X, y, _ = raw()
    model = learner().partial_fit(X[:3], y[:3], classes=[0, 1])
    twin = copy.deepcopy(model)
    with warnings.catch_warnings():
        warnings.simplefilter("error", UserWarning)
        for _ in range(2):
            with pytest.raises(UserWarning, match="scales of the features"):
                getattr(model, method)(X, y)
            same_state(model, twin)


@pytest.mark.parametrize("unit", [1e-6, 1e-2, 1e2, 1e6, 1e200])
def test_targets(unit):
    X, _, targets = raw(units=(1.0, 1.0, 1.0))
    far = not 1e-3 < unit < 1e3
    named = {
        OGDRegressor(standardize_target=False): "Set standardize_target=True",
        KernelOGDRegressor(standardize_target=False, loss="huber"): "Set standardize_target=True",
        PARegressor(): "TransformedTargetRegressor",
    }
    for model, remedy in named.items():
        messages = [str(w.message) for w in found(lambda m=model: fed(m, X, unit * targets, [7]))]
        assert len(messages) == far
        assert all(remedy in message for message in messages)
    for model in (OGDRegressor(), StreamRegressor(time_budget=5.0)):
        if unit < 1e100:
            assert found(lambda model=model: fed(model, X, unit * targets)) == []


def test_targets_far_from_zero_and_targets_that_are_zero():
    X, _, targets = raw(units=(1.0, 1.0, 1.0))
    assert len(found(lambda: PARegressor().fit(X, targets + 1e5))) == 1
    assert found(lambda: PARegressor().fit(X, 0 * targets)) == []


def test_a_constant_that_a_scaler_has_moved_to_0():
    X = np.random.default_rng(0).normal(size=(300, 3))
    X[:, 2] = np.where(np.arange(300) % 7 == 0, 1e-14, -1e-14)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        SPAClassifier(random_state=0).fit(X, X[:, 0] > 0)


@pytest.mark.parametrize("unit", [1e-316, 1e-200, 1e-100, 1e100, 1e200])
@pytest.mark.parametrize("layout", [np.asarray, sp.csr_matrix])
def test_units_do_not_matter_to_shares_of_distances(unit, layout):
    """Their squares may be beyond the largest number, or 0."""
    X = np.random.default_rng(0).standard_normal((40, 4))
    model = KernelOGDRegressor(gamma=1.0, standardize_target=True)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warn_of_scales(model, layout(X * unit), X[:, 0])
        with pytest.raises(UserWarning, match=r"feature 1 makes 9\d\.\d% of the squared"):
            warn_of_scales(model, layout(X * unit * [1, 100, 1, 1]), X[:, 0])
