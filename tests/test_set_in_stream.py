"""What is set in mid-stream takes effect there, or the next call that learns says that it waits."""

import copy
import pickle
import warnings
from numbers import Integral

import numpy as np
import pytest
from learners import SIZES
from sklearn.base import is_classifier
from sklearn.utils._param_validation import Interval, StrOptions

import onlinekern
import onlinekern.drift
from onlinekern import all_estimators

CLASSES = {name: cls for name, cls in all_estimators() if hasattr(cls, "partial_fit")}
RNG = np.random.default_rng(0)
X = RNG.standard_normal((320, 4))
Y = np.sin(X[:, 0]) + X[:, 1] * X[:, 2] + 0.3 * RNG.standard_normal(320)
# These say how `fit` goes over its samples; a call in a stream learns each once, in order.
OF_FIT = {"n_epochs", "shuffle", "max_iter", "tol", "n_iter_no_change", "validation_fraction",
          "early_stopping", "warm_start"}  # fmt: skip


def build(cls, **parameters):
    known = cls().get_params()
    given = {"budget": 20, "n_components": 20, **SIZES.get(cls.__name__, {}), "random_state": 0}
    return cls(**{name: given[name] for name in given if name in known} | parameters)


def feed(model, rows):
    if is_classifier(model):
        labels = np.digitize(Y[rows], [-0.4, 0.5])
        return model.partial_fit(X[rows], labels, classes=[0, 1, 2])
    return model.partial_fit(X[rows], *([] if hasattr(model, "score_samples") else [Y[rows]]))


def results(model):
    kinds = ("decision_function", "predict_proba", "score_samples", "predict")
    return [getattr(model, kind)(X[:60]) for kind in kinds if hasattr(model, kind)]


def same(one, other):
    return all(map(np.array_equal, one, other))


def has_other_rule(one, other):
    """Return whether the next step is another one, if perhaps not for every sample."""
    return any(
        getattr(one._model, part, None) != getattr(other._model, part, None)
        for part in ("rule", "sampler")
    )


def values_of(cls, name, now):
    """Return other values that a parameter may have."""
    base = now if isinstance(now, int | float) and not isinstance(now, bool) else 1
    found = []
    for allowed in cls._parameter_constraints.get(name, []):
        if isinstance(allowed, StrOptions):
            found += sorted(allowed.options)
        elif isinstance(allowed, Interval):
            whole = issubclass(allowed.type, Integral)
            found += [2 * base, max(1, base // 2)] if whole else [2.0 * base, 0.5 * base + 1e-3]
        elif isinstance(allowed, str) and allowed == "boolean":
            found += [True, False]
        elif allowed is None:
            found.append(None)
    if name == "random_state":
        found.append(5)
    return [value for value in found if type(value) is not type(now) or value != now]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", CLASSES)
def test_a_parameter_takes_effect_or_is_told(name):
    cls = CLASSES[name]
    first, rest = slice(0, 220), slice(220, 320)
    begun = feed(build(cls), first)
    expected = results(feed(copy.deepcopy(begun), rest))
    told = set()
    for parameter, now in build(cls).get_params().items():
        for value in values_of(cls, parameter, now) if parameter not in OF_FIT else ():
            model = copy.deepcopy(begun)
            try:
                model.set_params(**{parameter: value})
            except ValueError:
                continue
            with warnings.catch_warnings(record=True) as noted:
                warnings.simplefilter("always")
                feed(model, rest)
            said = [f"{parameter} of {name} will take effect" in str(w.message) for w in noted]
            told |= {parameter} if any(said) else set()
            acts = has_other_rule(model, begun) or not same(results(model), expected)
            if acts or any(said):
                assert acts != any(said), (parameter, value)
                continue
            try:
                other = results(feed(feed(build(cls, **{parameter: value}), first), rest))
            except ValueError:
                continue
            # A model that has it from the first row on is the same: it changes nothing here.
            assert same(other, expected), (parameter, value)
    assert "random_state" in told


def test_it_is_told_once_and_by_every_way_of_learning():
    model = feed(build(onlinekern.FOGDClassifier), slice(0, 100))
    for learn in (
        lambda: feed(model, slice(100, 110)),
        lambda: model.learn_one(X[0], 1),
        lambda: model.partial_fit_predict(X[:2], [0, 1]),
    ):
        model.set_params(gamma=0.3, n_components=30)
        with pytest.warns(UserWarning, match="gamma, n_components of FOGDClassifier will take"):
            learn()
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            learn()
        model.set_params(gamma="median", n_components=20)
        with pytest.warns(UserWarning, match="gamma"):
            learn()


@pytest.mark.parametrize(
    "way", ["fit", "same value", "other type", "there and back", "clone", "step"]
)
def test_nothing_is_told_where_nothing_waits(way):
    from sklearn.base import clone

    model = feed(build(onlinekern.KernelOGDRegressor, gamma=0.5), slice(0, 100))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        if way == "fit":
            model.set_params(gamma=0.4).fit(X, Y)
        elif way == "same value":
            model.set_params(gamma=float("0.5"), kernel="gaussian")
        elif way == "other type":
            model.set_params(gamma=np.float64(0.5), degree=np.int64(3), coef0=int(model.coef0))
        elif way == "there and back":
            model.set_params(gamma=0.4).set_params(kernel="linear")
            copy.deepcopy(model).set_params(kernel="gaussian", gamma=0.5).partial_fit(X, Y)
            model = pickle.loads(pickle.dumps(model)).set_params(kernel="gaussian", gamma=0.5)
        elif way == "clone":
            model = clone(model.set_params(gamma=0.4))
        else:
            model.set_params(eta=0.1)
        model.partial_fit(X, Y).learn_one(X[0], Y[0])


def test_a_warning_that_is_an_error_leaves_the_model_as_it_was():
    model = feed(build(onlinekern.FOGDRegressor), slice(0, 100)).set_params(gamma=0.3)
    before = results(model)
    for _ in range(2):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            with pytest.raises(UserWarning, match="gamma"):
                feed(model, slice(100, 200))
    assert same(results(model), before)


def test_what_waits_is_kept_by_copies(tmp_path):
    model = feed(build(onlinekern.FOGDRegressor), slice(0, 100)).set_params(gamma=0.3)
    model.save(tmp_path / "model.okn")
    for other in (pickle.loads(pickle.dumps(model)), onlinekern.load(tmp_path / "model.okn")):
        with pytest.warns(UserWarning, match="gamma"):
            feed(other, slice(100, 200))


def test_what_has_its_first_value_again_waits_no_more():
    model = feed(build(onlinekern.FOGDRegressor, gamma=0.5), slice(0, 100))
    model.set_params(gamma=0.4, n_components=30).set_params(gamma=0.5)
    with pytest.warns(UserWarning, match="^n_components of"):
        feed(model, slice(100, 200))
    # Truth is no number.
    model = feed(build(onlinekern.OGDRegressor, average=False), slice(0, 100))
    model.set_params(average=True)
    with pytest.warns(UserWarning, match="^average of"):
        feed(model, slice(100, 200))


@pytest.mark.parametrize("waiting", [5, ["gamma"], {"gama": 1.0}])
def test_what_waits_in_a_damaged_state_is_refused(waiting):
    model = feed(build(onlinekern.FOGDRegressor), slice(0, 100)).set_params(gamma=0.3)
    model._waiting_parameters = waiting
    with pytest.raises(ValueError, match="what waits for fit"):
        pickle.loads(pickle.dumps(model))


def test_probabilities_are_those_of_the_head_that_has_learnt():
    model = build(onlinekern.FOGDClassifier, loss="logistic", multi_class="ovr")
    feed(model, slice(0, 200))
    before = model.predict_proba(X)
    np.testing.assert_array_equal(model.set_params(multi_class="margin").predict_proba(X), before)


def test_batches_of_pegasos_stay_as_large_as_they_were():
    one, other = (
        feed(build(onlinekern.PegasosClassifier, batch_size=4), slice(0, 90)) for _ in "12"
    )
    one.set_params(batch_size=16)
    with pytest.warns(UserWarning, match="batch_size"):
        feed(one, slice(90, 200))
    feed(other, slice(90, 200))
    assert same(results(one), results(other))
    one.set_params(reg=0.5)
    assert not same(results(feed(one, slice(200, 220))), results(feed(other, slice(200, 220))))


# Transformers, and learners inside others.

OTHERS = {
    "kernel": "laplacian", "gamma": 3.0, "random_state": 7, "n_components": 9,
    "frequencies": "hashed", "degree": 2, "coef0": 1.0, "n_landmarks": 15,
    "selection": "random", "with_mean": False,
    "with_std": False, "clip": 1.0, "forgetting": 0.9, "sketch_size": 2, "metric": "full",
    "metric_exponent": 1.0, "target": "numbers", "n_trees": 7, "memory": 100, "max_samples": 0.5,
    "max_leaf": 9, "n_candidates": 3,
}  # fmt: skip
ACTS = {"with_std", "clip", "forgetting"}
TRANSFORMERS = ("FourierFeatures", "NystroemFeatures", "OnlineStandardScaler",
                "FrequentDirections", "LearntMetric", "PartitionFeatures")  # fmt: skip


def transformed(transformer, rows, method):
    labels = (Y[rows] > 0).astype(int)
    made = getattr(transformer, method)(X[rows], labels)
    made = made.transform(X[:20]) if made is transformer else made
    return made.toarray() if hasattr(made, "toarray") else made


@pytest.mark.parametrize("method", ["partial_fit", "learn_transform"])
@pytest.mark.parametrize("n", [40, 220])  # before the map is settled, and behind
@pytest.mark.parametrize("name", TRANSFORMERS)
def test_a_parameter_of_a_transformer_takes_effect_or_is_told(name, n, method):
    begun = build(getattr(onlinekern, name))
    transformed(begun, slice(0, n), "partial_fit")
    expected = transformed(copy.deepcopy(begun), slice(n, 320), method)
    for parameter, now in begun.get_params().items():
        value = OTHERS[parameter]
        if value == now:
            continue
        model = copy.deepcopy(begun).set_params(**{parameter: value})
        model = pickle.loads(pickle.dumps(model))
        with warnings.catch_warnings(record=True) as noted:
            warnings.simplefilter("always")
            found = transformed(model, slice(n, 320), method)
            transformed(model, slice(0, 10), method)
        said = [str(one.message) for one in noted]
        if parameter in ACTS:
            assert not said
            assert not np.array_equal(found, expected)
        else:
            assert [one.startswith(f"{parameter} of {name} will take effect") for one in said] == [
                True
            ]
            np.testing.assert_array_equal(found, expected)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            waits = copy.deepcopy(begun).set_params(**{parameter: value})
            waits.set_params(**{parameter: now}).partial_fit(X[:9], Y[:9] > 0)
            again = copy.deepcopy(begun).set_params(**{parameter: value})
            again.fit(X[:200], Y[:200] > 0).partial_fit(X[:9], Y[:9] > 0)


def test_parameters_of_an_encoder_are_told():
    pytest.importorskip("pyarrow")
    rows = [{"a": float(i % 7), "b": "xyz"[i % 3]} for i in range(30)]
    encoder = onlinekern.TableEncoder().partial_fit(rows)
    for learn in (
        lambda model: model.partial_fit(rows),
        lambda model: model.learn_transform_one(rows[0]),
        lambda model: model.learn_transform(rows),
    ):
        model = copy.deepcopy(encoder).set_params(categories="codes", missing="keep")
        with pytest.warns(UserWarning, match=r"^categories, missing of TableEncoder will take"):
            learn(model)
        learn(model)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        encoder.set_params(missing="refuse")
        with pytest.raises(ValueError, match="missing"):
            encoder.partial_fit([{"a": None, "b": "x"}])


@pytest.mark.parametrize("name", ["ConformalClassifier", "RenewedLearner", "pipeline"])
def test_a_parameter_of_a_learner_inside_is_told_once(name):
    base, labels = onlinekern.PAClassifier(random_state=0), (Y > 0).astype(int)
    if name == "RenewedLearner":
        model, when = onlinekern.drift.RenewedLearner(base), "with the next learner that begins"
    else:
        model, when = onlinekern.ConformalClassifier(base), "when it is fitted anew"
    whole, prefix = model, "estimator__"
    if name == "pipeline":
        features = onlinekern.FourierFeatures(n_components=10, random_state=0)
        whole = onlinekern.StreamPipeline([("map", features), ("learner", model)])
        prefix = "learner__estimator__"
    whole.partial_fit(X, labels, classes=[0, 1])
    for learn in (lambda: whole.learn_one(X[0], 1), lambda: whole.partial_fit(X, labels)):
        whole.set_params(**{prefix + "C": 7.0})
        with pytest.warns(UserWarning, match=rf"^estimator__C of .* will take effect {when}"):
            learn()
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            learn()
            whole.set_params(**{prefix + "C": 9.0}).set_params(**{prefix + "C": 7.0})
            learn()
        whole.set_params(**{prefix + "C": 1.0})
        with pytest.warns(UserWarning, match=r"^estimator__C of "):
            learn()
    if name == "pipeline":
        whole.set_params(map__gamma=2.0)
        with pytest.warns(UserWarning, match=r"^gamma of FourierFeatures will take effect"):
            whole.partial_fit(X, labels)


@pytest.mark.parametrize("cls", [onlinekern.ConformalClassifier, onlinekern.drift.RenewedLearner])
def test_a_parameter_of_a_learner_inside_waits_in_copies_and_files_too(cls, tmp_path):
    model = cls(onlinekern.PAClassifier(random_state=0))
    model.partial_fit(X, (Y > 0).astype(int), classes=[0, 1]).set_params(estimator__C=7.0)
    model.save(tmp_path / "model.okn")
    loaded = onlinekern.load(tmp_path / "model.okn")
    for other in (loaded, copy.deepcopy(model), pickle.loads(pickle.dumps(model))):
        with pytest.warns(UserWarning, match=r"^estimator__C of "):
            other.partial_fit(X, (Y > 0).astype(int))
    model._waiting_parameters = {"learner__C": 1.0}
    with pytest.raises(ValueError, match="what waits for fit"):
        copy.deepcopy(model)


@pytest.mark.parametrize("name", ["PAClassifier", "PARegressor", "KernelMeanDetector"])
def test_a_single_row_tells_what_waits_once(name):
    model = feed(build(CLASSES[name]), slice(0, 100))
    waits = "gamma" if "gamma" in model.get_params() else "average"
    model.set_params(**{waits: 0.37 if waits == "gamma" else not model.average})
    target = [] if name.endswith("Detector") else [1]
    with pytest.warns(UserWarning, match=f"^{waits} of {name} will take effect"):
        model.learn_one(X[100], *target)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.learn_one(X[101], *target)


def test_a_detector_waits_for_the_next_learner():
    model = onlinekern.drift.RenewedLearner(onlinekern.PARegressor(random_state=0))
    model.partial_fit(X, Y).set_params(detector=onlinekern.drift.LossDetector(run_length=500))
    with pytest.warns(UserWarning, match=r"^detector of RenewedLearner will take effect with"):
        model.learn_one(X[0], Y[0])


def test_parameters_of_a_learner_inside_stay_where_one_is_refused():
    model = onlinekern.ConformalClassifier(onlinekern.PAClassifier())
    model.partial_fit(X, (Y > 0).astype(int), classes=[0, 1])
    with pytest.raises(ValueError, match="coverage"):
        model.set_params(estimator__C=7.0, coverage=7.0)
    assert model.estimator.C == 1.0
    assert model.coverage == 0.9


@pytest.mark.parametrize("weight", [-1.0, np.nan, "heavy"])
def test_a_class_weight_that_no_fit_would_take_is_refused(weight):
    model = onlinekern.OGDClassifier(random_state=0).fit(X, Y > 0)
    with pytest.raises(ValueError, match="class_weight of True must be a number >= 0"):
        model.set_params(class_weight={True: weight})
    assert model.class_weight is None
    model.set_params(class_weight={"another set": 2.0})
