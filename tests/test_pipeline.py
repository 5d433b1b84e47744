"""Pipelines of a stream: the steps learn together, in any batches, or not at all."""

import copy
import pickle
import sys
import warnings

import numpy as np
import pytest
from scipy import sparse
from sklearn import config_context
from sklearn.base import clone
from sklearn.decomposition import IncrementalPCA
from sklearn.exceptions import NotFittedError, UnsetMetadataPassedError
from sklearn.feature_extraction.text import HashingVectorizer
from sklearn.linear_model import SGDClassifier
from sklearn.model_selection import GridSearchCV, KFold, cross_val_score
from sklearn.preprocessing import (
    FunctionTransformer,
    Normalizer,
    PolynomialFeatures,
    QuantileTransformer,
    StandardScaler,
)
from versions import needs

import onlinekern
from onlinekern import (
    FourierFeatures,
    FrequentDirections,
    KernelPAClassifier,
    KernelRLSRegressor,
    NystroemFeatures,
    OnlineStandardScaler,
    PAClassifier,
    PARegressor,
    SPAOneClass,
    StreamClassifier,
    StreamPipeline,
    make_stream_pipeline,
)
from onlinekern.evaluate import prequential
from onlinekern.preprocessing.steps import BeforeCall

UNITS = [1e-9, 1.0, 1e9, 1.0]


def stream(n=200, seed=0):
    """Return samples in wild units, and labels."""
    rng = np.random.default_rng(seed)
    Z = rng.normal(size=(n, 4))
    return Z * UNITS + [0.0, 1e6, 0.0, 0.0], np.where(Z[:, 0] * Z[:, 2] > 0, "yes", "no")


def kernel_pipeline(**parameters):
    return make_stream_pipeline(
        OnlineStandardScaler(forgetting=0.99), Normalizer(),
        KernelPAClassifier(gamma=0.5, random_state=0, **parameters),
    )  # fmt: skip


LABELS = ["no", "yes"]


def scores(pipeline, X):
    return pipeline.decision_function(X)


def test_it_is_the_scaler_and_then_the_learner(equal):
    X, y = stream()
    pipeline = make_stream_pipeline(OnlineStandardScaler(), KernelPAClassifier(gamma=0.5))
    predicted = pipeline.partial_fit_predict(X, y, classes=LABELS)
    scaler, learner = OnlineStandardScaler(), KernelPAClassifier(gamma=0.5)
    expected = learner.partial_fit_predict(scaler.learn_transform(X), y, classes=LABELS)
    equal(predicted, expected)
    equal(scores(pipeline, X), learner.decision_function(scaler.transform(X)))
    equal(pipeline.predict(X), learner.predict(scaler.transform(X)))
    assert pipeline.score(X, y) == learner.score(scaler.transform(X), y)
    assert pipeline.n_support_ == learner.n_support_
    with pytest.warns(UserWarning, match="scales of the features differ"):
        raw = KernelPAClassifier(gamma="scale").partial_fit_predict(X, y, classes=LABELS)
    assert np.mean(predicted[100:] != y[100:]) < 0.5 * np.mean(raw[100:] != y[100:])


@pytest.mark.parametrize("layout", ["dense", "csr"])
def test_any_batches_same_bits(layout, as_layout, equal):
    X, y = stream()
    X = as_layout(X, layout)
    whole = kernel_pipeline()
    predicted = whole.partial_fit_predict(X, y, classes=LABELS)
    cut = kernel_pipeline()
    parts = [cut.partial_fit_predict(X[a : a + 7], y[a : a + 7], classes=LABELS)
             for a in range(0, 200, 7)]  # fmt: skip
    equal(np.concatenate(parts), predicted)
    single = kernel_pipeline()
    for i in range(200):
        single.learn_one(X[i], y[i], **({"classes": LABELS} if i == 0 else {}))
    for other in (cut, single):
        equal(scores(other, X), scores(whole, X))
    ones = [whole.score_one(X[i]) for i in range(20)]
    equal(np.array(ones), scores(whole, X[:20]))


def test_weights_are_routed_to_the_steps_that_request_them():
    rng = np.random.default_rng(0)
    X, weights = rng.normal(size=(60, 3)), rng.uniform(0.1, 2.0, size=60)
    y = X[:, 0] + 0.5 * rng.normal(size=60) > 0
    plain = make_stream_pipeline(OnlineStandardScaler(), SGDClassifier(random_state=0))
    alone = clone(plain).fit(X, y, sgdclassifier__sample_weight=weights)
    with config_context(enable_metadata_routing=True):
        plain[0].set_fit_request(sample_weight=False)
        plain[1].set_fit_request(sample_weight=True).set_score_request(sample_weight=True)
        routed = clone(plain).fit(X, y, sample_weight=weights)
        weighed = routed.score(X, y, sample_weight=weights)
    assert (routed[1].coef_ == alone[1].coef_).all()
    assert routed[0].mean_ == pytest.approx(X.mean(axis=0))
    assert weighed == pytest.approx(np.average(routed.predict(X) == y, weights=weights))
    assert weighed != routed.score(X, y)


@needs("scikit-learn", "1.7", "before, cross-validation asks no pipeline whether it scores weights")
def test_weights_are_routed_by_cross_validation():
    X, y = stream()
    weights = np.random.default_rng(0).uniform(0.1, 3, len(y))
    model = make_stream_pipeline(OnlineStandardScaler(), PAClassifier(random_state=0))
    with config_context(enable_metadata_routing=True):
        model[0].set_fit_request(sample_weight=False)
        model[1].set_fit_request(sample_weight=True).set_score_request(sample_weight=True)
        given = {"cv": KFold(2), "error_score": "raise"}
        found = cross_val_score(model, X, y, params={"sample_weight": weights}, **given)
        for score, (train, test) in zip(found, KFold(2).split(X), strict=True):
            model.fit(X[train], y[train], sample_weight=weights[train])
            assert score == model.score(X[test], y[test], sample_weight=weights[test])


def test_weights_of_a_stream_are_routed_too(equal):
    X, y = stream()
    weights = np.random.default_rng(0).uniform(0.1, 3, len(y))

    def new(scaler, learner):
        steps = OnlineStandardScaler(), Normalizer(), PAClassifier()
        for step, wanted in ((steps[0], scaler), (steps[2], learner)):
            step.set_partial_fit_request(sample_weight=wanted)
        return make_stream_pipeline(*steps)

    with config_context(enable_metadata_routing=True):
        for wanted in ((True, False), (False, True), (True, True)):
            scaler, learner = OnlineStandardScaler(), PAClassifier()
            its, own = (weights if one else None for one in wanted)
            Z = Normalizer().transform(scaler.learn_transform(X, sample_weight=its))
            learner.partial_fit(Z, y, classes=LABELS, sample_weight=own)
            one, many = new(*wanted), new(*wanted)
            many.partial_fit(X, y, classes=LABELS, sample_weight=weights)
            for row, label, weight in zip(X, y, weights.tolist(), strict=True):
                one.learn_one(row, label, LABELS, weight)
            for model in (one, many):
                equal(model[-1].coef_, learner.coef_)
                equal(model[0].mean_, scaler.mean_)
        given = {"classes": LABELS, "sample_weight": weights}
        with pytest.raises(UnsetMetadataPassedError, match=r"OnlineStandardScaler\.partial_fit"):
            new(None, True).partial_fit(X, y, **given)
        with pytest.raises(TypeError, match="not routed to any object"):
            new(False, False).partial_fit(X, y, **given)
        new(None, None).partial_fit(X, y, classes=LABELS)


def test_weights_reach_all_steps_that_take_them(equal):
    X, y = stream()
    weights = np.random.default_rng(0).uniform(0.1, 3, len(y))
    pipeline = make_stream_pipeline(OnlineStandardScaler(), Normalizer(), PAClassifier())
    pipeline.partial_fit(X, y, classes=LABELS, sample_weight=weights)
    scaler, learner = OnlineStandardScaler(), PAClassifier()
    Z = Normalizer().transform(scaler.learn_transform(X, sample_weight=weights))
    learner.partial_fit(Z, y, classes=LABELS, sample_weight=weights)
    equal(pipeline[-1].coef_, learner.coef_)
    equal(pipeline[0].mean_, scaler.mean_)
    single = make_stream_pipeline(OnlineStandardScaler(), Normalizer(), PAClassifier())
    for row, label, weight in zip(X, y, weights.tolist(), strict=True):
        single.learn_one(row, label, LABELS, weight)
    equal(single[-1].coef_, learner.coef_)
    equal(single[0].mean_, scaler.mean_)
    with pytest.raises(ValueError, match="sample_weight"):
        single.learn_one(X[0], y[0], sample_weight=-1.0)
    pipeline.fit(X, y, sample_weight=weights)
    equal(pipeline[0].var_, OnlineStandardScaler().fit(X, sample_weight=weights).var_)
    other = make_stream_pipeline(StandardScaler(), SGDClassifier(random_state=0))
    other.partial_fit(X, y, classes=LABELS, sample_weight=weights)
    assert other[0].n_samples_seen_ == pytest.approx(weights.sum())


@pytest.mark.parametrize(
    "transformer",
    [
        StandardScaler(),
        IncrementalPCA(n_components=2),
        FunctionTransformer(np.tanh),
        FourierFeatures(n_components=5, gamma=0.5, random_state=0),
    ],
    ids=lambda step: type(step).__name__,
)
@pytest.mark.filterwarnings("ignore:the scales of the features differ")  # after three of them
def test_transformers_that_learn_batches_or_nothing(transformer, equal):
    X, y = stream()
    pipeline = make_stream_pipeline(clone(transformer), PAClassifier())
    alone, learner = clone(transformer), PAClassifier()
    for start in range(0, 200, 50):
        batch = slice(start, start + 50)
        pipeline.partial_fit(X[batch], y[batch], classes=LABELS)
        if hasattr(alone, "partial_fit"):
            alone.partial_fit(X[batch])
        learner.partial_fit(alone.transform(X[batch]), y[batch], classes=LABELS)
    equal(pipeline[-1].coef_, learner.coef_)
    if not isinstance(transformer, IncrementalPCA):  # which wants batches
        pipeline.learn_one(X[0], y[0])
    expected = pipeline.decision_function(X[:1])[0]
    assert pipeline.score_one(X[0]) == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("layout", ["dense", "float32", "csr"])
@pytest.mark.parametrize(
    "transformer",
    [
        FourierFeatures(n_components=5, random_state=0),
        FourierFeatures(n_components=4, gamma="scale", kernel="laplacian", random_state=0),
        NystroemFeatures(n_components=30, random_state=0),
        NystroemFeatures(n_components=3, n_landmarks=60, kernel="linear", random_state=0),
        FrequentDirections(3),
        FrequentDirections(1),
    ],
    ids=repr,
)
def test_features_do_not_depend_on_how_a_stream_is_cut(transformer, layout, as_layout, equal):
    X, y = np.random.default_rng(0).normal(size=(450, 5)), np.arange(450) % 2
    X = X.astype(np.float32) if layout == "float32" else as_layout(X, layout)
    whole = make_stream_pipeline(clone(transformer), PAClassifier())
    expected = whole.partial_fit_predict(X, y, classes=[0, 1])
    seen = clone(transformer).learn_transform(X)
    assert len(np.unique(seen[:, 0])) > 400
    for size in (1, 7, 200):
        cut = make_stream_pipeline(clone(transformer), PAClassifier())
        given = {"classes": [0, 1]}
        found = [cut.partial_fit_predict(X[k : k + size], y[k : k + size], **given)
                 for k in range(0, 450, size)]  # fmt: skip
        equal(np.concatenate(found), expected)
        equal(cut[-1].coef_, whole[-1].coef_)
        equal(cut.decision_function(X), whole.decision_function(X))
    single = make_stream_pipeline(clone(transformer), PAClassifier())
    for k in range(450):
        single.learn_one(X[k], y[k], **(given if k == 0 else {}))
        if k in (30, 120, 230):
            single = pickle.loads(pickle.dumps(single))
    equal(single.decision_function(X), whole.decision_function(X))


@pytest.mark.parametrize(
    "transformer",
    [
        FourierFeatures(n_components=5, random_state=0),
        NystroemFeatures(n_components=30, random_state=0),
        FrequentDirections(3),
    ],
    ids=lambda step: type(step).__name__,
)
def test_a_file_keeps_what_features_of_a_stream_are_made_of(transformer, tmp_path, equal):
    X = np.random.default_rng(0).normal(size=(300, 5))
    step = clone(transformer)
    expected = clone(step).learn_transform(X)
    step.learn_transform(X[:17])
    with pytest.raises(ValueError, match="NaN"):
        step.learn_transform(np.vstack([X[17:30], np.full((1, 5), np.nan)]))
    step.save(tmp_path / "step.okn")
    equal(onlinekern.load(tmp_path / "step.okn").learn_transform(X[17:]), expected[17:])
    equal(step.learn_transform(X[17:]), expected[17:])


def test_a_failed_call_leaves_the_features_of_a_stream_as_they_were(equal):
    X, y = np.random.default_rng(0).normal(size=(300, 5)), np.arange(300) % 2
    steps = FourierFeatures(random_state=0), NystroemFeatures(random_state=0), FrequentDirections(2)
    for step in steps:
        model = make_stream_pipeline(step, PAClassifier())
        model.partial_fit(X[:9], y[:9], classes=[0, 1])
        for rows in (slice(9, 10), slice(9, 60)):
            with pytest.raises(ValueError, match="label"):
                model.partial_fit(X[rows], np.full(rows.stop - rows.start, 7))
        model.partial_fit(X[9:], y[9:])
        whole = make_stream_pipeline(clone(step), PAClassifier()).partial_fit(X, y, [0, 1])
        equal(model.decision_function(X), whole.decision_function(X))


def test_text():
    texts = np.array(["good fine", "bad", "fine", "bad awful", "good", "awful"], dtype=object)
    labels = [1, 0, 1, 0, 1, 0]
    pipeline = make_stream_pipeline(HashingVectorizer(n_features=64), PAClassifier())
    pipeline.partial_fit(texts, labels, classes=[0, 1])
    for text, label in zip(texts, labels, strict=True):
        pipeline.learn_one(text, label)
    assert pipeline.predict(["good", "awful bad"]).tolist() == [1, 0]
    assert pipeline.score_one("good") > 0


def test_a_transformer_that_cannot_learn_is_refused_by_name():
    X, y = stream()
    scaler = OnlineStandardScaler()
    pipeline = StreamPipeline(
        [("scale", scaler), ("ranks", QuantileTransformer()), ("learner", PAClassifier())]
    )
    for call in (pipeline.partial_fit, pipeline.partial_fit_predict):
        with pytest.raises(TypeError, match=r"step 'ranks' .QuantileTransformer. cannot"):
            call(X, y, classes=LABELS)
    with pytest.raises(TypeError, match="ranks"):
        pipeline.learn_one(X[0], y[0], classes=LABELS)
    assert not hasattr(scaler, "n_features_in_")
    fitted = make_stream_pipeline(PolynomialFeatures(2).fit(X), "passthrough", PAClassifier())
    with pytest.warns(UserWarning, match="scales of the features differ"):
        fitted.partial_fit(X, y, classes=LABELS)
    assert fitted[-1].n_features_in_ == 15


def state_of(pipeline):
    return [pickle.dumps({**vars(step), "learnt": None}) for step in pipeline[:-1]] + [
        pipeline[-1].decision_function(np.eye(pipeline[-1].n_features_in_)).tolist()
    ]


@pytest.mark.parametrize("scaler", [OnlineStandardScaler, StandardScaler])
@pytest.mark.parametrize("learner", [PAClassifier, lambda: SGDClassifier(random_state=0)])
def test_a_failed_call_leaves_all_steps_as_they_were(scaler, learner):
    X, y = stream()
    pipeline = make_stream_pipeline(scaler(), learner())
    wrong = np.where(np.arange(200) == 199, "perhaps", y)
    with pytest.raises(ValueError, match=r"perhaps|y contains|labels"):
        pipeline.partial_fit(X, wrong, classes=LABELS)
    with pytest.raises(NotFittedError):
        pipeline[0].transform(X)
    pipeline.partial_fit(X[:50], y[:50], classes=LABELS)
    twin = copy.deepcopy(pipeline)
    calls = [
        lambda: pipeline.partial_fit(X[50:], wrong[50:]),
        lambda: pipeline.learn_one(X[60], "perhaps"),
        lambda: pipeline.fit(X, wrong[:10]),
        lambda: pipeline.partial_fit(X[:, :2], y),
    ]
    for call in calls:
        with pytest.raises(ValueError, match=r".+"):
            call()
        np.testing.assert_array_equal(scores(pipeline, X), scores(twin, X))
    for model in (pipeline, twin):
        model.partial_fit(X[50:], y[50:])
    np.testing.assert_array_equal(scores(pipeline, X), scores(twin, X))


def test_a_call_copies_no_rows_that_wait_for_a_second_class(equal):
    X, y = stream()
    race = StreamClassifier(random_state=0)
    model = make_stream_pipeline(OnlineStandardScaler(), race).partial_fit(X[:50], ["a"] * 50)
    waiting = race._waiting
    assert BeforeCall(race).attributes["_waiting"] is waiting
    with pytest.raises(ValueError, match=r"[Ii]nfinit"):
        model.partial_fit(np.vstack([X[50:52], X[:1] * np.inf]), ["a", "b", "a"])
    with pytest.raises(ValueError, match="sample_weight"):
        model.partial_fit(X[50:53], ["a", "b", "a"], sample_weight=[1.0, 1.0, -1.0])
    assert race._waiting is waiting
    assert not hasattr(race, "classes_")
    other = make_stream_pipeline(OnlineStandardScaler(), StreamClassifier(random_state=0))
    labels = np.where(y == y[0], "a", "b")
    for one in (model, other.partial_fit(X[:50], ["a"] * 50)):
        one.partial_fit(X[50:], labels[50:])
    equal(model.decision_function(X), other.decision_function(X))


def test_a_failed_call_is_undone_under_threads_that_predict():
    """No other thread meets a step without what it has learnt: one could run at each event."""
    X, y = stream()
    pipeline = make_stream_pipeline(OnlineStandardScaler(), PAClassifier())
    pipeline.partial_fit(X, y, classes=LABELS)
    expected, found = pipeline.predict(X[:5]).tolist(), []

    def predict(frame, *_):
        if frame.f_code.co_name == "restore":
            found.append(pipeline.predict(X[:5]).tolist())

    before = sys.getprofile()
    sys.setprofile(predict)
    try:
        with pytest.raises(ValueError, match="perhaps"):
            pipeline.learn_one(X[60], "perhaps")
    finally:
        sys.setprofile(before)
    assert len(found) > 4
    assert found.count(expected) == len(found)


def test_copies_go_on_alike(tmp_path, equal):
    X, y = stream()
    pipeline = kernel_pipeline()
    pipeline.steps[1] = ("nothing", "passthrough")
    pipeline.partial_fit(X[:100], y[:100], classes=LABELS)
    pipeline.save(tmp_path / "pipeline.okn")
    loaded = onlinekern.load(tmp_path / "pipeline.okn")
    copies = [loaded, pickle.loads(pickle.dumps(pipeline)), copy.deepcopy(pipeline)]
    pipeline.partial_fit(X[100:], y[100:])
    for other in copies:
        assert type(other) is StreamPipeline
        equal(scores(other.partial_fit(X[100:], y[100:]), X), scores(pipeline, X))
    assert repr(loaded) == repr(pipeline)
    foreign = make_stream_pipeline(StandardScaler(), PAClassifier())
    with pytest.raises(TypeError, match=r"steps.*StandardScaler: it cannot be saved"):
        foreign.save(tmp_path / "foreign.okn")


@pytest.mark.parametrize("steps", [5, [], [("a",)], [(1, PAClassifier())], [("a", 3)]])
def test_damaged_steps_are_refused(steps):
    pipeline = make_stream_pipeline(PAClassifier())
    pipeline.steps = steps
    with pytest.raises(ValueError, match="does not fit together: "):
        pickle.loads(pickle.dumps(pipeline))


def test_it_is_cloned_and_searched():
    X, y = stream()
    pipeline = kernel_pipeline().partial_fit(X, y, classes=LABELS)
    assert not hasattr(clone(pipeline)[0], "n_features_in_")
    grid = {"onlinestandardscaler__clip": [3.0, None], "kernelpaclassifier__C": [0.1, 1.0]}
    search = GridSearchCV(clone(pipeline), grid, cv=2).fit(X, y)
    assert search.best_score_ > 0.7
    assert "onlinestandardscaler" in pipeline._repr_html_()
    pipeline.set_params(kernelpaclassifier__C=0.25)
    assert pipeline[-1]._model.rule.arguments == KernelPAClassifier(C=0.25)._rule().arguments


def test_evaluation_takes_it():
    X, y = stream(400)
    result = prequential(kernel_pipeline(), [(X[:150], y[:150]), (X[150:], y[150:])], LABELS)
    assert result.n_samples == 400
    assert result.n_support > 0
    assert result.late_error < 0.3


def test_regressors_and_detectors(equal):
    X, _ = stream()
    y = np.sin(X[:, 0] * 1e9)
    regressor = make_stream_pipeline(OnlineStandardScaler(), KernelRLSRegressor(gamma=0.3))
    for i in range(100):
        regressor.learn_one(X[i], y[i])
    regressor.partial_fit(X[100:], y[100:])
    assert regressor.score(X, y) > 0.8
    detector = make_stream_pipeline(OnlineStandardScaler(), SPAOneClass(gamma=0.3))
    detector.partial_fit(X)
    detector.learn_one(X[0])
    assert set(detector.predict(X)) <= {-1, 1}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        scaled = (X - [0.0, 1e6, 0.0, 0.0]) / UNITS
        make_stream_pipeline(PARegressor()).partial_fit(scaled, y).predict(scaled)


def test_it_has_what_its_learner_has():
    pipeline = make_stream_pipeline(OnlineStandardScaler(), SGDClassifier())
    assert hasattr(pipeline, "partial_fit")
    assert not hasattr(pipeline, "partial_fit_predict")
    assert not hasattr(pipeline, "score_one")
    assert not hasattr(make_stream_pipeline(OnlineStandardScaler(), Normalizer()), "partial_fit")
    with pytest.raises(NotFittedError):
        kernel_pipeline().score_one(np.zeros(4))


def test_sparse_samples(equal):
    X, y = stream()
    pipeline = make_stream_pipeline(OnlineStandardScaler(), PAClassifier())
    pipeline.partial_fit(sparse.csr_matrix(X), y, classes=LABELS)
    row = sparse.csr_matrix(X[:1])
    pipeline.learn_one(row, y[0])
    equal(np.array([pipeline.score_one(row)]), scores(pipeline, row))


@pytest.mark.parametrize("container", ["pandas", "polars"])
def test_set_output_holds_in_streams_too(container, equal):
    """What learns a stream gets frames with the same names as what predicts."""
    frames = pytest.importorskip(container)
    X, y = stream(300)
    names = [f"c{k}" for k in range(X.shape[1])]
    table = frames.DataFrame(dict(zip(names, X.T, strict=True)))
    scaler = OnlineStandardScaler().set_output(transform=container)
    learnt = scaler.learn_transform(table)
    assert isinstance(learnt, frames.DataFrame)
    assert list(learnt.columns) == names
    steps = OnlineStandardScaler(), FourierFeatures(gamma=0.5, random_state=0), PAClassifier()
    plain = make_stream_pipeline(*map(clone, steps)).partial_fit(X, y, classes=LABELS)
    model = make_stream_pipeline(*steps).set_output(transform=container)
    model.partial_fit(table, y, classes=LABELS)
    equal(model[0].learn_transform(table).to_numpy(), plain[0].learn_transform(X))
    equal(scores(model, table), scores(plain, X))
    assert model[-1].n_features_in_ == len(model[-1].feature_names_in_)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for row, label in zip(X[:20], y[:20], strict=True):
            plain.learn_one(row, label)
            model.learn_one(row, label)
        encoded = make_stream_pipeline(onlinekern.TableEncoder(), onlinekern.StreamClassifier())
        encoded.set_output(transform=container).partial_fit(table, y).predict(table)
    equal(scores(model, table), scores(plain, X))


def test_a_pipeline_without_steps_is_refused():
    with pytest.raises(TypeError, match="steps are missing: transformers, then a learner"):
        make_stream_pipeline()
