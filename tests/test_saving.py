"""A model that is saved and loaded goes on as if nothing had happened, bit for bit."""

import copy
import pickle
import pkgutil
import warnings
from importlib import import_module

import learners
import numpy as np
import pytest
from grids import grid, thinned
from learners import NAMES, SIZES, build, data, learn, passes
from registry import ESTIMATORS, POLICIES
from scipy import sparse
from sklearn.base import clone, is_classifier, is_outlier_detector
from sklearn.utils import get_tags

import onlinekern
from onlinekern._registry import public_classes
from onlinekern.core.base.part import Component
from onlinekern.fitted.save import registered
from onlinekern.fitted.state import restorers

LAYOUTS = ["dense", "csr", "wide"]
CLASSES = public_classes()
# These hold other estimators.
AROUND = {"ConformalClassifier", "ConformalRegressor", "StreamPipeline"}
TRANSFORMERS = sorted([*learners.TRANSFORMERS, "TableEncoder"])
every_layout = pytest.mark.parametrize("layout", LAYOUTS)


@pytest.fixture
def again(tmp_path):
    """Save a model and load it."""

    def save_and_load(model):
        model.save(tmp_path / "model.okn")
        return onlinekern.load(tmp_path / "model.okn")

    return save_and_load


def test_the_tables_hold_every_class():
    assert CLASSES.keys() == {*ESTIMATORS, *TRANSFORMERS, *AROUND}


# Components that are neither made by their constructors nor named by a restorer's arguments.
UNNAMED = {
    *("Bounded", "Component", "InverseGramPolicy", "Part"),
    *("ByteStore", "PanelStore", "SparseStore"),
    *(
        "ForestSpace",
        "LeastSquaresSpace",
        "MetricLeastSquares",
        "LeverageSpace",
        "LocalSpace",
        "MappedSecondOrderSpace",
        "MappedSpace",
    ),
    *("MeanSpace", "NystroemSpace", "OLLASpace", "SketchedSpace"),
    *("MeanVote", "NestedNystroem", "Nystroem", "Residuals", "Sketched", "TwinTarget", "Vote"),
    "PythonKernel",  # a file holds no functions
}


def test_every_part_of_the_core_is_registered():
    components, functions = [], set()
    for found in pkgutil.walk_packages(onlinekern.core.__path__, "onlinekern.core."):
        module = import_module(found.name)
        names = vars(module)
        classes = [cls for cls in names.values() if isinstance(cls, type)]
        own = [cls for cls in classes if cls.__module__ == module.__name__]
        components += [cls for cls in own if issubclass(cls, Component)]
        functions |= {names[name] for name in ("restore", "_restore") if name in names}
    known = registered.parts()
    whole = {cls.__name__ for cls in components if "abstract" not in vars(cls)}
    assert whole - known.keys() == UNNAMED
    alike = [cls for cls in components if cls.__name__ in known and cls is not known[cls.__name__]]
    assert not alike, "two parts of one name"
    assert functions == set(restorers())


@pytest.mark.parametrize(
    ("name", "layout", "dtype"), grid(NAMES, LAYOUTS, [np.float32, np.float64])
)
def test_a_loaded_model_goes_on_alike(name, layout, dtype, stream, as_layout, same_state, again):
    X, y = data(name, stream)
    X = as_layout(X / 3, layout, dtype)  # thirds have no exact digits in either dtype
    original = build(name)
    learn(original, X[:50], y[:50])
    loaded = again(original)
    same_state(loaded, original)
    predictions = learn(original, X[50:], y[50:], [10])
    for mine, theirs in zip(learn(loaded, X[50:], y[50:], [10]), predictions, strict=True):
        np.testing.assert_array_equal(mine, theirs, strict=True)
    same_state(loaded, original)
    np.testing.assert_array_equal(loaded.predict(X), original.predict(X), strict=True)


@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.filterwarnings("ignore:max_support")
def test_every_policy_goes_on_alike(policy, stream, same_state, again):
    name, parameters = POLICIES[policy]
    X, y = stream("binary" if is_classifier(CLASSES[name]()) else "regression")
    original = CLASSES[name](gamma=0.4, random_state=3, **parameters)
    learn(original, X[:60], y[:60])
    loaded = again(original)
    for model in (original, loaded):
        learn(model, X[60:], y[60:])
    same_state(loaded, original)


@pytest.mark.parametrize(("name", "layout"), thinned(ESTIMATORS, LAYOUTS, 2))
def test_what_fit_has_learnt(name, layout, stream, as_layout, same_state, again):
    X, y = stream("binary" if is_classifier(CLASSES[name]()) else "regression")
    X = as_layout(X, layout)
    given = {**SIZES.get(name, {}), **(passes(name, 2) if name in NAMES else {})}
    original = CLASSES[name](random_state=1, **given).fit(X, y)
    loaded = again(original)
    if is_outlier_detector(original):
        assert loaded.offset_ == original.offset_
        for model in (original, loaded):
            model.partial_fit(X[5:6])
            model.partial_fit(X)
        recent, other = (vars(model.__dict__.pop("_recent")) for model in (loaded, original))
        np.testing.assert_equal(recent, other)
    same_state(loaded, original)
    fitted = [clone(model).fit(X, y) for model in (loaded, original)]
    np.testing.assert_array_equal(*(model.predict(X) for model in fitted), strict=True)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@every_layout
@pytest.mark.parametrize("name", TRANSFORMERS)
def test_transformers(name, layout, dtype, stream, as_layout, again):
    if name == "TableEncoder":
        pytest.importorskip("pyarrow")
        if layout in ("csr", "wide"):
            pytest.skip("it takes no sparse rows")
    rows, y = stream("binary")
    X = as_layout(rows / 3, layout, dtype)
    if layout == "wide":
        X = X[:, 2990:]
    size = {"sketch_size": 3, "n_components": 7, "random_state": 0, "forgetting": 0.9,
            "memory": 64, "n_trees": 9}  # fmt: skip
    original = CLASSES[name]()
    known = original.get_params().keys()
    original.set_params(**{key: value for key, value in size.items() if key in known})
    given = y if get_tags(original).target_tags.required else None
    original.partial_fit(X[:40], given if given is None else given[:40])
    loaded = again(original)
    for model in (original, loaded):
        model.partial_fit(X[40:], given if given is None else given[40:])
    transformed = (model.transform(X) for model in (loaded, original))
    scaled = (rows.toarray() if sparse.issparse(rows) else rows for rows in transformed)
    np.testing.assert_array_equal(*scaled, strict=True)
    assert repr(loaded) == repr(original)
    names = original.get_feature_names_out()
    np.testing.assert_array_equal(loaded.get_feature_names_out(), names, strict=True)


@pytest.mark.parametrize("name", [*ESTIMATORS, *TRANSFORMERS])
def test_a_model_that_has_learnt_nothing(name, again):
    original = CLASSES[name]()
    loaded = again(original)
    assert type(loaded) is CLASSES[name]
    assert vars(loaded) == vars(original)


LABELS = {
    "bool": np.array([False, True]),
    "int8": np.array([-3, 5], dtype=np.int8),
    "uint64": np.array([1, 2**63 + 1], dtype=np.uint64),
    "float": np.array([-1.0, 2.0]),
    "text": np.array(["ja", "nö\U0001f600"]),
    "objects": np.array(["no", "yes"], dtype=object),
    "days": np.array(["2020-01-01", "2021-01-01"], dtype="M8[D]"),
    "nanoseconds": np.array(["2020-01-01", "2021-01-01"], dtype="M8[ns]"),
    "durations": np.array([3, 5], dtype="m8[s]"),
    "big-endian": np.array([1, 7], dtype=">i4"),
}


@pytest.mark.parametrize("kind", LABELS)
def test_labels_of_every_kind(kind, stream, again):
    X, y = stream("binary")
    labels = LABELS[kind]
    y = labels[(y == "yes").astype(int)]
    model = onlinekern.SPAClassifier(gamma=0.4, random_state=0)
    model.partial_fit(X[:50], y[:50], classes=labels)
    loaded = again(model)
    assert loaded.classes_.dtype == model.classes_.dtype
    for one in (model, loaded):
        one.learn_one(X[50], y[50])
        one.partial_fit(X[51:], y[51:])
    np.testing.assert_array_equal(loaded.predict(X), model.predict(X), strict=True)


def test_names_of_features_and_later_parameters(stream, again):
    pandas = pytest.importorskip("pandas")
    X, y = stream("binary")
    frame = pandas.DataFrame(X, columns=list("abcdef"))
    model = onlinekern.KernelPAClassifier(gamma=0.4, C=0.1, random_state=0).fit(frame[:50], y[:50])
    model.set_params(C=0.7, gamma=9.0)
    loaded = again(model)
    assert list(loaded.feature_names_in_) == list("abcdef")
    for one in (model, loaded):
        with pytest.warns(UserWarning, match="gamma of KernelPAClassifier will take effect"):
            one.partial_fit(frame[50:], y[50:])
    np.testing.assert_array_equal(
        loaded.decision_function(frame), model.decision_function(frame), strict=True
    )
    with pytest.raises(ValueError, match="feature names should match"):
        loaded.predict(frame.rename(columns={"a": "z"}))


def test_names_of_features_as_an_array(stream, again):
    X, y = stream("binary")
    model = onlinekern.PAClassifier().fit(X, y)
    model.feature_names_in_ = np.array(list("abcdef"), dtype=object)
    loaded = again(model)
    np.testing.assert_array_equal(loaded.feature_names_in_, model.feature_names_in_, strict=True)


def test_what_is_shared_stays_shared(stream, again):
    """The generator of a model is that of its policy: one draw moves both."""
    X, y = stream("binary")
    model = onlinekern.RBPClassifier(budget=5, gamma=0.4, random_state=0).partial_fit(
        X, y, classes=["no", "yes"]
    )
    loaded = again(model)
    assert loaded._model.rng is loaded._model.space.budget.arguments[1]
    draws = np.random.RandomState(3)
    model.random_state, model.note = draws, [draws, {"again": draws}]
    loaded = again(model)
    assert loaded.random_state is loaded.note[0] is loaded.note[1]["again"]
    assert loaded.random_state.randint(1 << 30) == draws.randint(1 << 30)


def test_a_warning_given_once_is_not_given_again(stream, again):
    X, y = stream("binary", n=300)
    model = onlinekern.SPAClassifier(
        gamma=0.4, max_support=5, when_full="stop", random_state=0, beta=1.0
    )
    with pytest.warns(Warning, match="max_support=5"):
        learn(model, X, y)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        learn(again(model), X, y)


def test_other_ways_to_copy_are_as_they_were(stream, same_state, again):
    X, y = stream("binary")
    model = again(onlinekern.KernelPAClassifier(gamma=0.4).fit(X, y))
    for other in (pickle.loads(pickle.dumps(model)), copy.deepcopy(model), copy.copy(model)):
        same_state(other, model)


def test_landmarks_in_rows_of_64_bit_indices(stream, again):
    X = sparse.csr_matrix(stream()[0])
    model = onlinekern.NystroemFeatures(n_components=4, random_state=0).fit(X)
    model.landmarks_.indices = model.landmarks_.indices.astype(np.int64)
    model.landmarks_.indptr = model.landmarks_.indptr.astype(np.int64)
    loaded = again(model)
    assert loaded.landmarks_.indices.dtype == np.int64
    np.testing.assert_array_equal(loaded.landmarks_.toarray(), model.landmarks_.toarray())


def test_a_parameter_that_is_an_estimator(again):
    inner = onlinekern.PAClassifier(C=0.3)
    loaded = again(onlinekern.SPAClassifier(random_state=inner))
    assert loaded.random_state.C == 0.3
