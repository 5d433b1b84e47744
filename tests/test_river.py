"""The learners as models of river: river's own checks, dictionaries, labels, pipelines, drift."""

import copy
import doctest
import pickle
import random
import re
import warnings
from importlib import import_module
from itertools import islice
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
from grids import marked
from interpreters import python_without
from learners import NAMES, width
from sklearn.base import is_classifier
from sklearn.linear_model import LinearRegression

from onlinekern import (
    AROWClassifier,
    AROWRegressor,
    ConformalClassifier,
    KernelForestClassifier,
    KernelPAClassifier,
    OGDRegressor,
    OLLARegressor,
    OnlineStandardScaler,
    PAClassifier,
    PARegressor,
    PartitionFeatures,
    SDROGDClassifier,
    SPAClassifier,
    SPAOneClass,
    StreamClassifier,
    TableEncoder,
    all_estimators,
    make_stream_pipeline,
)
from onlinekern.drift import RenewedLearner

river = pytest.importorskip("river", reason="river is not installed")
pd = pytest.importorskip("pandas", reason="river's checks of mini-batches need pandas")
from river import (  # noqa: E402
    checks,
    datasets,
    drift,
    evaluate,
    feature_extraction,
    metrics,
    preprocessing,
)

from onlinekern.compat._classes import MOST_WAITING  # noqa: E402
from onlinekern.compat.river import (  # noqa: E402
    Learner,
    RiverClassifier,
    RiverDetector,
    RiverRegressor,
)

ESTIMATORS = dict(all_estimators())
DETECTORS = [name for name, _ in all_estimators("outlier_detector")]
# A constant step diverges on dates like 736,389, which river's stream has as they are.
STEPS = {"OGDRegressor": {"eta": 1e-13}}
# They are run on the first samples of river's streams: all seven classes of ImageSegments come.
FIRST = 35
# These take two seconds each, of which the learner has little: one that grows, a race, and those
# that `first_samples` and `STEPS` treat in another way.
ALWAYS = {
    "KernelRLSClassifier", "OGDRegressor", "PAClassifier", "SDROGDClassifier", "StreamClassifier",
}  # fmt: skip
LONG_STREAMS = checks._yield_datasets


def small(name):
    """Return an estimator with a small budget."""
    sizes = width(name) if name in NAMES else {"gamma": 0.4}
    return ESTIMATORS[name](random_state=7, **sizes, **STEPS.get(name, {}))


def dictionaries(X):
    """Return rows as dictionaries."""
    return [{f"x{k}": value for k, value in enumerate(row)} for row in X.tolist()]


class Shifted:
    """In the place of CreditCard, which river downloads: one sample in twenty is far away."""

    def take(self, n):
        rng = np.random.default_rng(0)
        far = rng.random(n) < 0.05
        X = rng.normal(size=(n, 6)) + 3.0 * far[:, np.newaxis]
        return zip(dictionaries(X), far.tolist(), strict=True)


def first_samples(model, scale=1):
    """Yield the streams of river's checks, shortened; SDROGD has two classes and no more.

    Labels that are numpy.bool_ are tried with one estimator only.
    """
    for stream in LONG_STREAMS(model, scale):
        samples = list(
            islice(stream, 300 if isinstance(model, RiverDetector) else FIRST * min(scale, 4))
        )
        labels = {y for _, y in samples}
        if isinstance(model.estimator, SDROGDClassifier) and len(labels) > 2:
            continue
        if isinstance(samples[0][1], np.bool_) and not isinstance(model.estimator, PAClassifier):
            continue
        yield samples


@pytest.mark.filterwarnings("ignore:feature .* is ignored:UserWarning")
@pytest.mark.filterwarnings("ignore:.*scale:UserWarning")
@pytest.mark.parametrize(
    "name", [*(marked([name], name not in ALWAYS) for name in NAMES), *DETECTORS]
)
def test_rivers_checks(name, monkeypatch):
    monkeypatch.setattr(checks, "_yield_datasets", first_samples)
    monkeypatch.setattr(datasets, "CreditCard", Shifted)
    random.seed(0)
    model = Learner(small(name))
    done = set()
    for check in checks.yield_checks(model):
        check(model.clone())
        done.add(check.__name__)
    assert {"check_emerging_features", "check_pickling", "check_bounded_memory_growth"} <= done
    assert ("check_roc_auc" in done) == (name in DETECTORS)
    assert ("check_learn_many_matches_learn_one" in done) == (name not in DETECTORS)


def whole(model, scale=1):
    """Yield the streams of river's checks as they are, but for SDROGD, which has two classes."""
    for stream in LONG_STREAMS(model, scale):
        samples = list(stream)
        if isinstance(model.estimator, SDROGDClassifier) and len({y for _, y in samples}) > 2:
            continue
        yield samples


@pytest.mark.long
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", [*NAMES, *DETECTORS])
def test_rivers_checks_on_whole_streams(name, monkeypatch):
    # Budgets and widths are the defaults. A clone without a seed draws another one, as the clones
    # of an ensemble must; `check_learn_many_matches_learn_one` compares two of them.
    monkeypatch.setattr(checks, "_yield_datasets", whole)
    monkeypatch.setattr(datasets, "CreditCard", Shifted)
    random.seed(0)
    # A renewal that has begun keeps copies of samples, which the check of the memory takes for
    # growth without end.
    forest = {"renewal_spread": 0.0} if name.startswith("KernelForest") else {}
    model = Learner(ESTIMATORS[name](random_state=7, **STEPS.get(name, {}), **forest))
    for check in checks.yield_checks(model):
        check(model.clone())


@pytest.mark.filterwarnings("ignore:feature .* is ignored:UserWarning")
@pytest.mark.filterwarnings("ignore:.*scale:UserWarning")
@pytest.mark.parametrize("name", ["SPAClassifier", "FOGDRegressor"])
def test_a_copy_learns_the_same_without_a_seed(name, monkeypatch):
    # river copies a model before the first sample, and shuffles the dictionaries of one of the two.
    monkeypatch.setattr(checks, "_yield_datasets", first_samples)
    model = Learner(ESTIMATORS[name]())
    done = set()
    for check in checks.yield_checks(model):
        if check.__name__ in ("check_shuffle_features_no_impact", "check_pickling"):
            check(model.clone())
            done.add(check.__name__)
    assert len(done) == 2
    seeds = [m.estimator_.random_state for m in (model, model.clone(), copy.deepcopy(model))]
    assert seeds[0] == seeds[2] != seeds[1]
    assert model.estimator.random_state is None
    pipeline = Learner(make_stream_pipeline(OnlineStandardScaler(), SPAClassifier()))
    assert None not in [
        value for key, value in pipeline.estimator_.get_params().items() if "random_state" in key
    ]


def teach(plain, rows, y):
    """Teach an estimator as its model of river does: the first two classes in one call."""
    if not is_classifier(plain):
        for k in range(len(y)):
            plain.partial_fit(rows[k : k + 1], y[k : k + 1])
        return
    first = 1 + int(np.argmax(y != y[0]))
    plain.partial_fit(rows[:first], y[:first], classes=np.unique(y[:first]))
    for k in range(first, len(y)):
        known = np.union1d(plain.classes_, y[k])
        plain.partial_fit(rows[k : k + 1], y[k : k + 1], classes=known)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("sparse", [False, True])
def test_learns_what_the_estimator_learns(name, sparse, stream):
    task = "binary" if name == "SDROGDClassifier" else "ovr"
    X, y = stream(task if name.endswith("Classifier") else "regression", n=40)
    rows = sp.csr_matrix(X) if sparse else X
    model, plain = Learner(small(name), sparse=sparse), small(name)
    teach(plain, rows, y)
    for row, target in zip(dictionaries(X), y.tolist(), strict=True):
        model.learn_one(row, target)
    answers = [model.predict_one(row) for row in dictionaries(X)]
    if is_classifier(plain):
        assert answers == plain.predict(rows).tolist()
    else:
        np.testing.assert_allclose(answers, plain.predict(rows), rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("name", DETECTORS)
def test_a_detector_scores_outliers_high(name, stream):
    X, _ = stream(n=80)
    model, plain = Learner(small(name)), small(name).partial_fit(X)
    for row in dictionaries(X):
        assert isinstance(model.score_one(row), float)
        model.learn_one(row)
    scores = [model.score_one(row) for row in dictionaries(X)]
    np.testing.assert_allclose(scores, -plain.decision_function(X), rtol=1e-9, atol=1e-12)


def test_cells_of_trees_grow_on_the_way():
    rng = np.random.default_rng(0)
    learner = make_stream_pipeline(
        PartitionFeatures(n_trees=20, memory=256, random_state=0), AROWClassifier(random_state=0)
    )
    model, right = Learner(learner), 0
    for k in range(600):
        x = dict(zip("ab", rng.normal(size=2).tolist(), strict=True))
        y = "far" if np.hypot(*x.values()) > 1.2 else "near"
        right += k >= 300 and model.predict_one(x) == y
        model.learn_one(x, y)
    assert right > 270


@pytest.mark.parametrize(
    ("estimator", "cls"),
    [
        (PAClassifier(), RiverClassifier),
        (PARegressor(), RiverRegressor),
        (SPAOneClass(), RiverDetector),
        (make_stream_pipeline(OnlineStandardScaler(), PARegressor()), RiverRegressor),
    ],
)
def test_the_estimator_says_what_model_it_becomes(estimator, cls):
    model = Learner(estimator, max_features=3, sparse=True)
    assert type(model) is cls
    assert model.estimator is estimator
    assert (model.max_features, model.sparse) == (3, True)
    assert type(model.clone()) is cls


@pytest.mark.parametrize("make", [Learner, RiverRegressor])
def test_what_cannot_learn_a_stream_is_refused(make):
    for estimator in (OLLARegressor(), OnlineStandardScaler(), LinearRegression(), "PARegressor"):
        with pytest.raises(TypeError, match="estimator must be a"):
            make(estimator)
    with pytest.raises(TypeError, match="estimator must be a regressor"):
        RiverRegressor(PAClassifier())
    with pytest.raises(ValueError, match="max_features must be None or at least 1, got 0"):
        make(PARegressor(), max_features=0)


def test_the_estimator_is_not_touched():
    estimator = PAClassifier(C=0.5)
    model = Learner(estimator)
    model.learn_one({"a": 1.0}, True)
    model.learn_one({"a": -1.0}, False)
    assert not hasattr(estimator, "classes_")
    assert model.estimator_.C == 0.5
    assert model.clone().predict_one({"a": 1.0}) is None


@pytest.mark.parametrize(
    "labels", [[False, True], ["no", "yes"], [3, 7], [np.bool_(True), np.bool_(False)], [1, 0, 2]]
)
def test_labels_are_given_back(labels):
    model = Learner(AROWClassifier())
    x = {"a": 1.0, "b": 1.0}
    assert model.predict_one(x) is None
    assert model.predict_proba_one(x) == {}
    for _ in range(3):
        model.learn_one(x, labels[0])
    assert model.predict_one(x) == labels[0]
    assert model.predict_proba_one(x) == {labels[0]: 1.0}
    for k in range(60):
        model.learn_one({"a": float(k % len(labels)), "b": 1.0}, labels[k % len(labels)])
    found = model.predict_proba_one(x)
    assert set(found) == set(labels)
    assert sum(found.values()) == pytest.approx(1.0)
    assert model.predict_one(x) == max(found, key=found.get)
    assert type(model.predict_one(x)) in (bool, str, int)


def test_labels_of_another_kind_are_refused():
    model = Learner(PAClassifier(), max_features=2)
    model.learn_one({"a": 1.0}, 1)
    with pytest.raises(ValueError, match=r"y is '1', which is of another kind than \[1\]"):
        model.learn_one({"a": 1.0, "b": 2.0}, "1")
    model.learn_one({"a": -1.0}, 2)
    with pytest.raises(ValueError, match="another kind"):
        model.learn_one({"a": 1.0}, "2")
    assert model.predict_proba_one({"a": 1.0}).keys() == {1, 2}


def test_missing_values_wait_for_the_second_class():
    nan = float("nan")
    samples = [
        ({"a": nan, "b": 1.0}, "x"),
        ({"a": 1.0, "b": nan}, "x"),
        ({"a": 2.0, "b": 3.0}, "y"),
    ]
    model = Learner(KernelForestClassifier(random_state=0))
    for x, y in samples:
        model.learn_one(x, y)
    assert model.estimator_.n_seen_ == 3
    other = Learner(PAClassifier())
    other.learn_one({"a": 1.0}, "x")
    with pytest.raises(ValueError, match="feature 'a' is nan, and PAClassifier takes finite"):
        other.learn_one({"a": nan}, "x")


@pytest.mark.parametrize("before", [[], [1], [0, 1]])
@pytest.mark.parametrize(("label", "words"), [(None, "y.0. is missing"), (1.5, "continuous")])
def test_what_is_no_label_is_refused_at_any_time(before, label, words):
    model = Learner(PAClassifier())
    for y in before:
        model.learn_one({"a": 1.0}, y)
    with pytest.raises(ValueError, match=words):
        model.learn_one({"a": 1.0}, label)
    model.learn_one({"a": 1.0}, 1)


def test_of_one_class_the_last_samples_are_kept():
    X = np.random.default_rng(0).normal(size=(MOST_WAITING + 50, 2)) + 1
    model, late = Learner(SPAClassifier(random_state=0)), Learner(SPAClassifier(random_state=0))
    for k, x in enumerate(dictionaries(X)):
        model.learn_one(x, "a")
        if k >= 50:
            late.learn_one(x, "a")
    for learner in (model, late):
        learner.learn_one({"x0": -1.0, "x1": -1.0}, "b")
    assert model.estimator_.n_seen_ == late.estimator_.n_seen_ == MOST_WAITING + 1
    x = {"x0": 0.1, "x1": 0.0}
    assert model.predict_proba_one(x) == late.predict_proba_one(x)


def test_a_feature_that_is_missing_is_0():
    model = Learner(PARegressor())
    model.learn_one({"a": 1.0, "b": True}, 1.0)
    model.learn_one({"a": -1.0, "b": False}, -1.0)
    assert model.predict_one({"a": 2.0}) == model.predict_one({"b": 0, "a": 2.0})
    assert model.predict_one({}) == model.predict_one({"a": 0, "b": 0.0})


def test_a_feature_without_a_column_is_ignored_and_named_once():
    model = Learner(PARegressor())
    model.learn_one({"a": 1.0}, 1.0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert model.predict_one({"a": 2.0, "b": 1.0}) == model.predict_one({"a": 2.0})
    with pytest.warns(UserWarning, match="feature 'b' is ignored.*1 columns.*max_features") as told:
        model.learn_one({"a": 2.0, "c": 5.0, "b": 1.0}, 2.0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.learn_one({"a": 2.0, "c": 5.0, "b": 1.0, "d": 1.0}, 2.0)
    assert told[0].filename == __file__
    assert model.feature_names == ["a"]


@pytest.mark.parametrize("sparse", [False, True])
def test_columns_are_taken_by_features_that_come(sparse):
    late = Learner(KernelPAClassifier(gamma=0.5), max_features=3, sparse=sparse)
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(50, 3)), rng.integers(0, 2, 50)
    X[:20, 2] = 0
    X[:10, 1] = 0
    for row, target in zip(X, y.tolist(), strict=True):
        late.learn_one({name: v for name, v in zip("abc", row.tolist(), strict=True) if v}, target)
    whole = Learner(KernelPAClassifier(gamma=0.5))
    for row, target in zip(X.tolist(), y.tolist(), strict=True):
        whole.learn_one(dict(zip("abc", row, strict=True)), target)
    assert late.feature_names == ["a", "b", "c"]
    for row in dictionaries(X):
        x = dict(zip("abc", row.values(), strict=True))
        assert late.predict_proba_one(x) == pytest.approx(whole.predict_proba_one(x), rel=1e-9)


def test_names_of_any_kind():
    model = Learner(PARegressor())
    model.learn_one({("a", 1): 1.0, 2: 0.5, "b": 1.0}, 1.0)
    assert sorted(map(repr, model.feature_names)) == ["'b'", "('a', 1)", "2"]
    other = Learner(PARegressor())
    other.learn_one({"b": 1.0, 2: 0.5, ("a", 1): 1.0}, 1.0)
    assert other.feature_names == model.feature_names


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize(
    ("x", "y", "w", "message"),
    [
        ({"a": 1.0, "new": "red"}, 1, 1.0, "feature 'new' is 'red', which is no number"),
        ({"a": float("nan"), "new": 1.0}, 1, 1.0, "NaN|finite"),
        ({"a": 1.0, "new": 1.0}, 1, -1.0, "[Nn]egative|at least 0"),
    ],
)
@pytest.mark.parametrize("n", [0, 1, 2])
def test_a_call_that_fails_changes_nothing(sparse, x, y, w, message, n):
    model = Learner(PAClassifier(random_state=0), max_features=5, sparse=sparse)
    for k in range(n):
        model.learn_one({"a": 1.0 - k}, k)
    before = pickle.dumps(model)
    with pytest.raises(ValueError, match=message):
        model.learn_one(x, y, w)
    assert pickle.dumps(model) == before
    with pytest.raises(ValueError, match="the first sample has no features"):
        Learner(PARegressor()).learn_one({}, 1.0)


def test_a_batch_that_fails_changes_nothing():
    model = Learner(SDROGDClassifier(random_state=0))
    X = pd.DataFrame({"a": [1.0, 2.0, 3.0], "b": [0.0, 1.0, 0.0]})
    model.learn_many(X, pd.Series(["x", "x", "y"]))
    before = pickle.dumps(model)
    with pytest.raises(ValueError, match="cannot take up classes in mid-stream"):
        model.learn_many(X, pd.Series(["x", "y", "z"]))
    assert pickle.dumps(model) == before
    with pytest.raises(ValueError, match="X has 3 rows, y has 2"):
        model.learn_many(X, pd.Series(["x", "y"]))


@pytest.mark.parametrize("library", ["pandas", "polars"])
@pytest.mark.parametrize("sparse", [False, True])
def test_batches_are_the_same_as_samples(library, sparse):
    frames = pytest.importorskip(library)
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(40, 3)), rng.integers(0, 3, 40)
    y[:4] = 2
    weights = rng.random(40)
    names = [f"x{k}" for k in range(3)]
    one, many = (Learner(SPAClassifier(random_state=1), 4, sparse) for _ in range(2))
    for row, target, weight in zip(dictionaries(X), y.tolist(), weights, strict=True):
        one.learn_one(row, str(target), weight)
    frame = frames.DataFrame(dict(zip(names, X.T, strict=True)))
    for part in (slice(0, 3), slice(3, 3), slice(3, 40)):
        labels = [str(label) for label in y[part].tolist()]
        many.learn_many(frame[part], frames.Series(labels), weights[part])
    assert list(many.predict_many(frame)) == [one.predict_one(row) for row in dictionaries(X)]
    table = many.predict_proba_many(frame)
    assert list(table.columns) == ["0", "1", "2"]
    expected = [list(one.predict_proba_one(row).values()) for row in dictionaries(X)]
    np.testing.assert_allclose(np.asarray(table), expected, rtol=1e-9)


def test_batches_before_the_second_class():
    X = pd.DataFrame({"a": [1.0, 2.0]}, index=[7, 8])
    model = Learner(PAClassifier())
    assert model.predict_many(X).tolist() == [None, None]
    assert model.predict_proba_many(X).shape == (2, 0)
    model.learn_many(X, pd.Series([True, True]))
    assert model.predict_many(X).to_dict() == {7: True, 8: True}
    assert model.predict_proba_many(X).to_dict() == {True: {7: 1.0, 8: 1.0}}
    assert Learner(PARegressor()).predict_many(X).to_dict() == {7: 0.0, 8: 0.0}


def test_weights_count():
    plain, heavy, absent = models = [Learner(OGDRegressor()) for _ in range(3)]
    for model, weight in zip(models, (1.0, 2.0, 0.0), strict=True):
        model.learn_one({"a": 1.0}, 1.0)
        model.learn_one({"a": 2.0}, 5.0, w=weight)
    answers = [model.predict_one({"a": 2.0}) for model in (absent, plain, heavy)]
    assert answers == sorted(set(answers))
    assert absent.estimator_.n_seen_ == 1


def test_rivers_pipeline_and_evaluation():
    model = preprocessing.StandardScaler() | Learner(KernelPAClassifier(random_state=0))
    accuracy = evaluate.progressive_val_score(datasets.Phishing(), model, metrics.Accuracy())
    assert accuracy.get() > 0.85
    assert isinstance(model, river.base.Classifier)


def test_a_stream_pipeline_scales_within():
    estimator = make_stream_pipeline(OnlineStandardScaler(), AROWRegressor())
    stream_of_river = datasets.TrumpApproval().take(500)
    score = evaluate.progressive_val_score(stream_of_river, Learner(estimator), metrics.MAE())
    assert score.get() < 2


def test_words_of_texts_are_sparse():
    texts = [("good fine day", True), ("bad grim day", False), ("fine good", True), ("grim", False)]
    model = feature_extraction.BagOfWords() | Learner(PAClassifier(), 2**14, sparse=True)
    for text, label in texts * 3:
        model.learn_one(text, label)
    assert [model.predict_one(text) for text, _ in texts] == [label for _, label in texts]
    assert len(model["RiverClassifier"].feature_names) == 5


def test_a_drift_detector_retrains_it():
    rng = np.random.default_rng(0)
    model = drift.DriftRetrainingClassifier(
        model=Learner(PAClassifier(random_state=0)), drift_detector=drift.binary.DDM()
    )
    first = model.bkg_model
    right = []
    for k in range(2000):
        x = {"a": rng.normal(), "b": rng.normal()}
        y = (x["a"] > 0) == (k < 1000)
        right.append(model.predict_one(x) == y)
        model.learn_one(x, y)
    assert model.bkg_model is not first
    assert np.mean(right[1800:]) > 0.9


def test_pickles_go_on_with_the_same_bits():
    samples = list(datasets.ImageSegments().take(80))
    model = Learner(StreamClassifier(random_state=0, time_budget=5.0))
    for x, y in samples[:40]:
        model.learn_one(x, y)
    loaded = pickle.loads(pickle.dumps(model))
    for x, y in samples[40:]:
        assert loaded.predict_proba_one(x) == model.predict_proba_one(x)
        model.learn_one(x, y)
        loaded.learn_one(x, y)


def test_examples():
    failed, tried = doctest.testmod(import_module("onlinekern.compat.river"))
    assert failed == 0
    assert tried > 12


def test_the_examples_of_the_page_run():
    page = (Path(__file__).parents[1] / "docs" / "river.md").read_text(encoding="utf-8")
    names = {}
    for example in re.findall(r"^```python\n(.*?)^```$", page, re.M | re.S):
        exec(compile(example, "docs/river.md", "exec"), names)
    assert names["model"].predict_one({}) in (False, True)


def test_without_river_the_message_says_what_to_install(tmp_path):
    process = python_without("river", "import onlinekern.compat.river", cwd=tmp_path)
    assert process.returncode == 1
    assert "ImportError: onlinekern.compat.river needs river: pip install" in process.stderr


def mixed(n=300):
    """Dictionaries of text, dates, numbers and holes, and which of them are sold."""
    rng = np.random.default_rng(0)
    for k in range(n):
        town = str(rng.choice(["Ulm", "Bonn", "Mainz"]))
        x = {"town": town, "at": f"2026-03-{1 + k % 28:02}", "size": float(rng.normal())}
        if k % 7 == 3:
            del x["size"]
        yield x, "yes" if town == "Ulm" else "no"


def test_columns_of_all_kinds():
    """Behind a TableEncoder, dictionaries are learnt as they are."""
    pytest.importorskip("pyarrow")
    pipeline = make_stream_pipeline(TableEncoder(), OnlineStandardScaler(), PAClassifier())
    model, right = Learner(pipeline), 0
    for x, y in mixed():
        right += model.predict_one(x) == y
        model.learn_one(x, y)
    assert right > 280
    assert model.feature_names == ["town", "at", "size"]
    assert model.estimator_[0].kinds_ == {"town": "category", "at": "date", "size": "number"}
    # What came later is ignored, with one warning; what cannot be is refused and leaves no trace.
    with pytest.warns(UserWarning, match="'more' is ignored"):
        model.learn_one({"town": "Ulm", "more": 1}, "yes")
    before = model.estimator_.score_one({"town": "Ulm", "at": None, "size": 1.0})
    with pytest.raises(ValueError, match="column 'size' holds string"):
        model.learn_one({"town": "Ulm", "at": None, "size": "big"}, "yes")
    assert model.estimator_.score_one({"town": "Ulm", "at": None, "size": 1.0}) == before
    with pytest.raises(ValueError, match="max_features and sparse are for"):
        Learner(pipeline, max_features=9)


def test_frames_of_columns_of_all_kinds():
    pytest.importorskip("pyarrow")
    pandas = pytest.importorskip("pandas")
    rows, labels = zip(*mixed(200), strict=True)
    frame, y = pandas.DataFrame(list(rows)), pandas.Series(labels)
    model = Learner(make_stream_pipeline(TableEncoder(), OnlineStandardScaler(), PAClassifier()))
    model.learn_many(frame[:150], y[:150])
    assert (model.predict_many(frame[150:]).to_numpy() == y[150:].to_numpy()).mean() > 0.9


@pytest.mark.parametrize("learner", [StreamClassifier, PAClassifier])
def test_learners_take_values_of_any_kind_without_a_pipeline(learner):
    pytest.importorskip("pyarrow")
    model, right = Learner(learner(random_state=0)), 0
    for x, y in mixed():
        right += model.predict_one(x) == y
        model.learn_one(x, y)
    assert right > 250
    assert model.estimator_.encoder_.kinds_ == {"town": "category", "at": "date", "size": "number"}
    pandas = pytest.importorskip("pandas")
    rows, labels = zip(*mixed(200), strict=True)
    model = Learner(learner(random_state=0))
    model.learn_many(pandas.DataFrame(list(rows)), pandas.Series(labels))
    assert model.feature_names == ["town", "at", "size"]
    with pytest.raises(ValueError, match="column 'at' is 'soon'"):
        model.learn_one({"town": "Ulm", "at": "soon", "size": 1.0}, "yes")
    # Numbers are learnt as before, by an estimator that has no encoder.
    model = Learner(learner(random_state=0))
    for k in range(20):
        model.learn_one({"size": k % 3, "new": True}, k % 3 > 1)
    assert not hasattr(model.estimator_, "encoder_")
    assert Learner(learner(encode=False)).learn_one({"size": 1.0}, "yes") is None
    with pytest.raises(ValueError, match="number"):
        Learner(learner(encode=False)).learn_one({"town": "Ulm"}, "yes")


@pytest.mark.parametrize(
    "wrapper",
    [
        RenewedLearner(StreamClassifier(random_state=0)),
        ConformalClassifier(),
        ConformalClassifier(RenewedLearner(make_stream_pipeline(TableEncoder(), PAClassifier()))),
    ],
    ids=repr,
)
def test_wrappers_take_values_of_the_kinds_that_what_is_in_them_takes(wrapper):
    pytest.importorskip("pyarrow")
    model, right = Learner(wrapper), 0
    for x, y in mixed(200):
        right += model.predict_one(x) == y
        model.learn_one(x, y)
    assert right > 150
    assert model.feature_names == ["town", "at", "size"]


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("value", [float("nan"), float("-inf"), None], ids=str)
@pytest.mark.parametrize("estimator", [PAClassifier(), PARegressor(), SPAOneClass(gamma=1.0)])
def test_a_feature_that_is_no_finite_number_is_named(estimator, value, sparse):
    model = Learner(estimator, sparse=sparse)
    detects = isinstance(estimator, SPAOneClass)
    for k in range(4):
        model.learn_one({"a": 1.0, "b": k}, *([] if detects else [k % 2]))
    bad = {"a": 2.0, "b": value}
    calls = [lambda: model.learn_one(bad, *([] if detects else [0]))]
    calls.append(lambda: (model.score_one if detects else model.predict_one)(bad))
    if not detects:
        frame = pd.DataFrame([{"a": 1.0, "b": 1.0}, bad])
        calls += [lambda: model.learn_many(frame, pd.Series([0, 1]))]
        calls += [lambda: model.predict_many(frame)]
    for call in calls:
        with pytest.raises(ValueError, match=r"feature 'b' is (nan|-inf|None), and \w+ takes"):
            call()


def test_classes_that_are_announced_are_there_from_the_first_sample():
    model = Learner(KernelPAClassifier(random_state=0), classes=["no", "yes", "perhaps"])
    assert model.predict_one({"a": 1.0}) is None
    model.learn_one({"a": 1.0}, "yes")
    assert model.estimator_.n_seen_ == 1
    assert set(model.predict_proba_one({"a": 1.0})) == {"no", "yes", "perhaps"}
    plain = KernelPAClassifier(random_state=0)
    plain.partial_fit([[1.0]], ["yes"], classes=["no", "perhaps", "yes"])
    for k, label in enumerate(["no", "perhaps", "yes", "no"] * 5):
        model.learn_one({"a": float(k)}, label)
        plain.partial_fit([[float(k)]], [label])
    assert model.predict_proba_one({"a": 2.0}) == dict(
        zip(plain.classes_.tolist(), plain.predict_proba([[2.0]])[0].tolist(), strict=True)
    )
    # Others come later; a clone of river's begins with those announced.
    model.learn_one({"a": 3.0}, "never")
    assert set(model.predict_proba_one({"a": 1.0})) == {"no", "yes", "perhaps", "never"}
    again = model.clone()
    again.learn_one({"a": 1.0}, "no")
    assert set(again.predict_proba_one({"a": 1.0})) == {"no", "yes", "perhaps"}


@pytest.mark.parametrize("classes", [["yes"], "yes", ["a", "a"]])
def test_classes_must_be_labels(classes):
    with pytest.raises(ValueError, match="classes must be two or more labels"):
        Learner(KernelPAClassifier(), classes=classes)
    with pytest.raises(ValueError, match="classes are for classifiers"):
        Learner(PARegressor(), classes=[0, 1])
