"""`onlinekern serve` over HTTP: its answers, its refusals, and what it tells of itself."""

import gzip
import json
import re
import threading
import time

import numpy as np
import pytest

pytest.importorskip("uvicorn", reason="needs the extra serve")
pytest.importorskip("starlette", reason="needs the extra serve")
pytest.importorskip("typer", reason="needs the extra cli")
pytest.importorskip("rich", reason="needs the extra cli")

from commands import run
from hypothesis import event, given, settings
from hypothesis import strategies as st
from serving import Client, running, same_state, samples, spa

import onlinekern
from onlinekern import (
    ConformalClassifier,
    ConformalRegressor,
    KernelForestClassifier,
    KernelForestRegressor,
    KernelRLSRegressor,
    OGDRegressor,
    OnlineStandardScaler,
    PAClassifier,
    PARegressor,
    SPAClassifier,
    SPAOneClass,
    StreamClassifier,
    TableEncoder,
    make_stream_pipeline,
)
from onlinekern.drift import RenewedLearner
from onlinekern.estimators.answers import answers_of
from onlinekern.reports.text import text_of
from onlinekern.serve import served
from onlinekern.serve.metrics import Growing
from onlinekern.serve.refusal import Refusal
from onlinekern.serve.rows import BodyReader

NAMES = ["size", "age", "colour"]


@pytest.fixture
def path(tmp_path):
    """A model file."""
    spa().save(tmp_path / "model.okn")
    return str(tmp_path / "model.okn")


# ---------------------------------------------------------------- answers


def test_answers_are_those_of_the_model(path):
    X, _ = samples(5, seed=1)
    model = onlinekern.load(path)
    with running(path) as (client, _):
        rows = {"rows": X.tolist()}
        assert client.post("/predict", rows) == (200, {"predictions": model.predict(X).tolist()})
        expected = {"predictions": model.decision_function(X).tolist()}
        assert client.post("/predict", {**rows, "what": "scores"}) == (200, expected)
        expected = {"predictions": model.predict_proba(X).tolist(), "classes": ["no", "yes"]}
        assert client.post("/predict?what=probabilities", rows) == (200, expected)
        one = {"predictions": model.predict(X[:1]).tolist()}
        assert client.post("/predict", {"row": X[0].tolist()}) == (200, one)


def test_learning_is_test_then_train(path):
    X, y = samples(20, seed=2)
    model = onlinekern.load(path)
    expected = model.partial_fit_predict(X[:15], y[:15]).tolist()
    weighed = model.partial_fit_predict(X[15:], y[15:], sample_weight=[0, 1, 2, 3, 4.5]).tolist()
    with running(path) as (client, service):
        status, first = client.learn(X[:15], y[:15])
        answer = {"learnt": 15, "n_seen": 75, "sequence": 1, "snapshot_sequence": 0}
        assert (status, first) == (200, {**answer, "predictions": expected})
        content = {"rows": X[15:].tolist(), "y": y[15:].tolist()}
        _, second = client.post("/learn", {**content, "sample_weight": [0, 1, 2, 3, 4.5]})
        assert (second["predictions"], second["sequence"]) == (weighed, 2)
        assert same_state(service.served.model, model)
    assert same_state(onlinekern.load(path), model)  # the snapshot at the end


def test_model_that_was_trained_on_a_table_takes_names(tmp_path):
    pandas = pytest.importorskip("pandas")
    X, y = samples()
    learner = make_stream_pipeline(OnlineStandardScaler(), SPAClassifier(random_state=0))
    learner.partial_fit(pandas.DataFrame(X, columns=NAMES), y, classes=["no", "yes"])
    learner.save(tmp_path / "table.okn")
    X, y = samples(9, seed=3)
    tables = [dict(zip(NAMES[::-1], row[::-1], strict=True)) for row in X.tolist()]
    with running(str(tmp_path / "table.okn")) as (client, _):
        assert client.get("/")[1]["feature_names"] == NAMES
        by_name = client.post("/predict", {"rows": tables, "what": "scores"})
        assert by_name == client.post("/predict", {"rows": X.tolist(), "what": "scores"})
        assert client.post("/learn", {"rows": tables, "y": y.tolist()})[0] == 200
        missing = {"size": 1, "age": 2}
        status, answer = client.post("/predict", {"rows": [tables[0], missing]})
        assert (status, answer) == (400, {"error": 'rows[1] has no feature "colour"'})
        status, answer = client.post("/predict", {"row": {**tables[0], "weight": 1}})
        assert status == 400
        assert '"weight"' in answer["error"]
        status, answer = client.post("/predict", {"row": {**tables[0], "age": None}})
        assert answer["error"] == 'rows[0][1] (feature "age") must be a number, got null'


def test_null_is_a_missing_value_to_a_forest(tmp_path):
    X, y = samples()
    path = str(tmp_path / "forest.okn")
    KernelForestClassifier(n_trees=5, random_state=0).fit(X, y).save(path)
    model = onlinekern.load(path)
    Z, v = samples(9, seed=3)
    rows = Z.tolist()
    rows[2][1] = rows[5][0] = None
    Z[2, 1] = Z[5, 0] = np.nan
    with running(path) as (client, service):
        status, answer = client.post("/learn", {"rows": rows, "y": v.tolist()})
        assert (status, answer["predictions"]) == (200, model.partial_fit_predict(Z, v).tolist())
        assert same_state(service.served.model, model)
        found = client.post("/predict", {"rows": rows, "what": "scores"})[1]["predictions"]
        np.testing.assert_array_equal(found, model.decision_function(Z))
        assert client.post("/predict", {"row": ["a", 1, 2]})[0] == 400
        status, answer = client.post("/predict", {"row": [1e200, None, 10**400]})
        assert (status, answer["error"]) == (400, "rows[0][2] is too large for a number")


def test_regression_and_outliers(tmp_path):
    X, _ = samples()
    PARegressor().partial_fit(X, X[:, 0]).save(tmp_path / "r.okn")
    SPAOneClass(random_state=0).partial_fit(X).save(tmp_path / "o.okn")
    with running(str(tmp_path / "r.okn")) as (client, _):
        status, answer = client.learn(X[:2], [0.5, 1])
        assert (status, answer["learnt"]) == (200, 2)
        assert client.learn(X[:2], [0.5, "a"])[1]["error"] == 'y[1] must be a number, got "a"'
        assert client.post("/predict", {"rows": X[:2].tolist(), "what": "probabilities"})[0] == 422
        assert "onlinekern_error " in client.get("/metrics")[1]
    with running(str(tmp_path / "o.okn")) as (client, _):
        status, answer = client.post("/learn", {"rows": X[:2].tolist()})
        assert (status, answer["learnt"]) == (200, 2)
        assert client.learn(X[:1], [1])[0] == 400
        assert "onlinekern_error " not in client.get("/metrics")[1]


def test_intervals_at_a_coverage(tmp_path):
    X, _ = samples()
    model = KernelRLSRegressor(random_state=0).fit(X, X[:, 0])
    model.save(tmp_path / "m.okn")
    rows = {"rows": X[:4].tolist(), "what": "intervals"}
    with running(str(tmp_path / "m.okn")) as (client, _):
        for coverage in (0.5, 0.9):
            expected = {
                "predictions": np.column_stack(model.predict_interval(X[:4], coverage)).tolist()
            }
            assert client.post("/predict", {**rows, "coverage": coverage}) == (200, expected)
            assert client.post(f"/predict?coverage={coverage}", rows) == (200, expected)
        assert client.post("/predict", rows) == (200, expected)  # 0.9
        told = {"predictions": [[None, None]] * 4}  # 60 rows tell nothing of 99 %
        assert client.post("/predict?coverage=0.99", rows) == (200, told)


def test_a_coverage_that_is_none_is_named(tmp_path):
    X, _ = samples()
    spa().save(tmp_path / "classes.okn")
    ConformalRegressor(KernelRLSRegressor(random_state=0), 0.8).fit(X, X[:, 0]).save(
        tmp_path / "m.okn"
    )
    row = {"row": X[0].tolist()}
    asked = {**row, "what": "intervals"}
    with running(str(tmp_path / "m.okn")) as (client, _):
        for wrong in ("0.9", True, 0, 1, 1.5, [0.8]):
            status, answer = client.post("/predict", {**asked, "coverage": wrong})
            assert (status, answer["error"][:44]) == (
                400,
                "coverage must be a number between 0 and 1, g",
            )
        for wrong in ("a", "nan", "2", ""):
            status, answer = client.post(f"/predict?coverage={wrong}", asked)
            assert (status, answer["error"][:44]) == (
                400,
                "coverage must be a number between 0 and 1, g",
            )
        assert client.post("/predict?coverage=0.8", {**asked, "coverage": 0.9}) == (
            400, {"error": "coverage is 0.9 in the body, and 0.8 in the address"}
        )  # fmt: skip
        assert client.post("/predict", {**row, "coverage": 0.8}) == (
            400, {"error": "coverage is for what=intervals, and what is labels"}
        )  # fmt: skip
        status, answer = client.post("/predict", {**asked, "coverage": 0.9})
        assert (status, "has followed 0.8" in answer["error"]) == (422, True)
        assert client.post("/predict", {**asked, "coverage": 0.8})[0] == 200
        assert client.post("/predict?what=sets", row)[0] == 422
    with running(str(tmp_path / "classes.okn")) as (client, _):
        expected = "what=intervals: SPAClassifier has no predict_interval"
        assert client.post("/predict", asked) == (422, {"error": expected})


@pytest.mark.parametrize("cls", [ConformalClassifier, ConformalRegressor])
def test_intervals_and_sets_around_a_learner_of_tables(cls, tmp_path, capsys):
    pandas = pytest.importorskip("pandas")
    X = pandas.DataFrame(
        {"size": np.arange(40.0), "town": [("Ulm", "Bonn")[k % 2] for k in range(40)]}
    )
    y = np.arange(40) % 2
    learner = KernelForestClassifier if cls is ConformalClassifier else KernelForestRegressor
    model = cls(learner(n_trees=3, random_state=0)).fit(X, y)
    model.save(tmp_path / "model.okn")
    row = {"size": 3.5, "town": "Bonn"}
    with running(str(tmp_path / "model.okn")) as (client, _):
        expected = model.predict(pandas.DataFrame([row])).tolist()
        assert client.post("/predict", {"row": row}) == (200, {"predictions": expected})
        what = "sets" if cls is ConformalClassifier else "intervals"
        expected = answers_of(model, what, pandas.DataFrame([row])).tolist()
        found = client.post("/predict", {"row": row, "what": what})
        classes = {"classes": [0, 1]} if cls is ConformalClassifier else {}
        assert found == (200, {"predictions": expected, **classes})
        assert client.post("/learn", {"row": row, "y": 1})[0] == 200
        assert client.get("/model")[1]["columns"] == {"size": "number", "town": "category"}
    X.to_csv(tmp_path / "rows.csv", index=False)
    code, out, _ = run(capsys, "predict", tmp_path / "model.okn", tmp_path / "rows.csv")
    assert code == 0
    learnt = onlinekern.load(tmp_path / "model.okn")
    np.testing.assert_allclose([float(line) for line in out.split()], learnt.predict(X), rtol=1e-9)
    code, out, _ = run(
        capsys, "predict", tmp_path / "model.okn", tmp_path / "rows.csv", "--what", what
    )
    head, *lines = out.splitlines()
    assert (code, head) == (0, "0,1" if cls is ConformalClassifier else "lower,upper")
    expected = [[text_of(value) for value in row] for row in answers_of(learnt, what, X)]
    assert [line.split(",") for line in lines] == expected


def test_a_model_of_several_targets_predicts_and_says_that_it_is_not_taught(tmp_path, capsys):
    X, _ = samples()
    model = KernelRLSRegressor(random_state=0).fit(X, X[:, :2])
    model.save(tmp_path / "model.okn")
    with running(tmp_path / "model.okn") as (client, _):
        found = client.post("/predict", {"row": X[0].tolist()})
        assert found == (200, {"predictions": model.predict(X[:1]).tolist()})
        found = client.post("/predict", {"row": X[0].tolist(), "what": "intervals"})
        ends = np.stack(model.predict_interval(X[:1]), axis=-1)
        assert found == (200, {"predictions": ends.tolist()})
        assert ends.shape == (1, 2, 2)
        for y in ([[1.0, 2.0]], [1.0]):
            status, content = client.post("/learn", {"rows": X[:1].tolist(), "y": y})
            assert status == 422
            assert "2 targets of each row, and is not taught here" in content["error"]
    text = " ".join(f"{k}:{value!r}" for k, value in enumerate(X[0].tolist(), 1))
    (tmp_path / "row.txt").write_text(f"0 {text}\n")
    code, out, _ = run(
        capsys, "predict", tmp_path / "model.okn", tmp_path / "row.txt", "--what", "intervals"
    )
    head, line = out.splitlines()
    assert (code, head) == (0, "lower_0,upper_0,lower_1,upper_1")
    np.testing.assert_allclose([float(end) for end in line.split(",")], ends.ravel())


def test_a_stream_classifier_takes_up_classes_up_to_a_limit(tmp_path):
    X, y = samples()
    StreamClassifier().partial_fit(X, y).save(tmp_path / "stream.okn")
    with running(str(tmp_path / "stream.okn"), max_classes=3) as (client, _):
        assert client.learn(X[:2], ["yes", "perhaps"])[0] == 200
        assert client.get("/model")[1]["classes"] == ["no", "perhaps", "yes"]
        status, answer = client.learn(X[:1], ["never"])
        assert status == 422
        assert "more than 3" in answer["error"]
        assert client.learn(X[:1], [3])[0] == 400  # a number among texts


def test_a_renewed_learner_takes_up_classes_as_its_learner_does(tmp_path):
    X, y = samples()
    for learner, status in ((StreamClassifier(), 200), (PAClassifier(), 422)):
        path = str(tmp_path / f"{status}.okn")
        RenewedLearner(learner).partial_fit(X, y, ["no", "yes"]).save(path)
        with running(path) as (client, _):
            assert client.learn(X[:2], ["yes", "maybe"])[0] == status
            assert len(client.get("/model")[1]["classes"]) == (3 if status == 200 else 2)


def test_sets_grow_with_the_classes(tmp_path):
    X, y = samples()
    ConformalClassifier(StreamClassifier()).partial_fit(X, y).save(tmp_path / "sets.okn")
    with running(str(tmp_path / "sets.okn")) as (client, _):
        assert client.get("/model")[1]["n_seen"] == 60
        assert client.learn(X[:2], ["yes", "perhaps"])[0] == 200
        found = client.post("/predict?what=sets", {"row": X[0].tolist()})[1]
        assert found["classes"] == ["no", "perhaps", "yes"]
        assert [len(row) for row in found["predictions"]] == [3]
        assert client.get("/model")[1]["n_seen"] == 62


@pytest.mark.parametrize("what", ["scores", "probabilities"])
def test_answers_and_classes_are_of_one_moment(what, tmp_path, monkeypatch):
    """Another thread may bring a class while the answer is made."""
    X, y = samples()
    StreamClassifier().partial_fit(X, y).save(tmp_path / "stream.okn")
    with running(str(tmp_path / "stream.okn")) as (client, _):
        answer, new = served.answers_of, iter(["perhaps", "rarely"])

        def interrupted(model, *asked):
            found = answer(model, *asked)
            for label in new:
                model.partial_fit(X[:1], [label])
                break
            return found

        monkeypatch.setattr(served, "answers_of", interrupted)
        found = client.post(f"/predict?what={what}", {"row": X[0].tolist()})[1]
        assert found["classes"] == ["no", "perhaps", "rarely", "yes"]
        assert [len(row) for row in found["predictions"]] == [4]


def test_a_stream_of_one_class_has_no_probabilities_yet(tmp_path):
    X, _ = samples()
    StreamClassifier().partial_fit(X, ["only"] * len(X)).save(tmp_path / "one.okn")
    with running(str(tmp_path / "one.okn")) as (client, _):
        row = {"row": X[0].tolist()}
        assert client.post("/predict", row) == (200, {"predictions": ["only"]})
        assert client.post("/predict?what=probabilities", row)[0] == 409
        assert client.post("/learn", {**row, "y": "other"})[0] == 200
        assert client.post("/predict?what=probabilities", row)[0] == 200


# ---------------------------------------------------------------- refusals

BAD_BODIES = {
    b"": "no JSON",
    b"{": "no JSON",
    b"\xff\xfe": "UTF-8",
    b"[1, 2]": "must be an object",
    b"[" * 100_000: "nested too deep",
    b'{"rows": [[1, 2, NaN]]}': "NaN is no number",
    b'{"rows": [[1, 2, 1e999]]}': "rows[0][2] is too large",
    b'{"rows": [[1, 2, ' + b"9" * 400 + b"]]}": "rows[0][2] is too large",
    b'{"rows": [[1, 2, ' + b"9" * 5000 + b"]]}": "no JSON",
    b'{"rows": [[1, 2, "3"]]}': 'rows[0][2] must be a number, got "3"',
    b'{"rows": [[1, 2, 3], [1, 2, [3]]]}': "rows[1][2] must be a number, got an array of 1",
    b'{"rows": [[1, 2]]}': "rows[0] has 2 numbers, the model has 3 features",
    b'{"rows": [3]}': "rows[0] must be an array or an object",
    b'{"rows": []}': "rows is empty",
    b'{"rows": {"a": 1}}': "rows must be an array",
    b'{"rows": [{"a": 1}]}': "trained without names",
    b'{"row": [1, 2, 3], "rows": [[1, 2, 3]]}': 'either "rows"',
    b"{}": 'either "rows"',
    b'{"rows": [[1, 2, 3]], "row_s": 1}': 'unknown argument "row_s"',
}
BAD_TARGETS = {
    b"": "y is missing",
    b', "y": "yes"': "y must be an array",
    b', "y": ["yes", "no"]': "y has 2 values for 1 rows",
    b', "y": [1]': "y[0] must be text",
    b', "y": [null]': "y[0] must be text",
    b', "y": ["a\\u0000"]': "a letter that no label may have",
    b', "y": ["\\ud800"]': "a letter that no label may have",
    b', "y": ["' + b"a" * 300 + b'"]': "at most 256",
    b', "y": ["yes"], "sample_weight": [-1]': "sample_weight[0] is negative",
    b', "y": ["yes"], "sample_weight": [1, 2]': "sample_weight has 2 values",
    b', "y": ["yes"], "sample_weight": [1e999]': "sample_weight[0] is too large",
    b', "y": ["yes"], "sample_weight": ["1"]': "sample_weight[0] must be a number",
}


def test_bad_input_is_named_and_changes_nothing(path):
    before = onlinekern.load(path)
    with running(path) as (client, service):
        for body, message in BAD_BODIES.items():
            for route in ("/predict", "/learn"):
                status, answer = client.post(route, body)
                assert (status, message in answer["error"]) == (400, True), answer
        for rest, message in BAD_TARGETS.items():
            status, answer = client.post("/learn", b'{"rows": [[1, 2, 3]]' + rest + b"}")
            assert (status, message in answer["error"]) == (400, True), answer
        status, answer = client.learn([[1, 2, 3]], ["maybe"])
        assert (status, "none of the model's classes" in answer["error"]) == (422, True)
        for what in ("nothing", ""):
            assert client.post(f"/predict?what={what}a", {"row": [1, 2, 3]})[0] == 400
        assert client.post("/predict?what=labels", {"row": [1, 2, 3], "what": "scores"})[0] == 400
        for method, route, expected in (
            ("GET", "/learn", 405),
            ("DELETE", "/predict", 405),
            ("POST", "/metrics", 405),
            ("GET", "/nothing", 404),
        ):
            status, answer, _ = client.ask(method, route)
            assert (status, list(answer)) == (expected, ["error"])
        assert client.get("/health")[1]["sequence"] == 0
        assert same_state(service.served.model, before)
    assert same_state(onlinekern.load(path), before)


JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=3), inner),
    max_leaves=12,
)
BODIES = st.fixed_dictionaries(
    {},
    optional={
        "rows": st.lists(st.lists(st.floats(), min_size=3, max_size=3) | JSON_VALUES) | JSON_VALUES,
        "row": JSON_VALUES,
        "y": st.lists(st.sampled_from(["yes", "no"]) | JSON_VALUES) | JSON_VALUES,
        "sample_weight": JSON_VALUES,
    },
)


@settings(max_examples=100)
@given(BODIES, st.sampled_from(["text", "number", "truth"]))
def test_any_json_is_samples_or_refused(content, kind):
    X, y = samples()
    labels = {"text": y, "number": (y == "yes").astype(int), "truth": y == "yes"}[kind]
    model = PAClassifier().partial_fit(X, labels, classes=np.unique(labels))
    reader = BodyReader(model, "classification", 10)
    try:
        found = reader.to_learn(json.dumps(content).encode())
    except Refusal as error:
        event(f"refused with {error.status}")
        return
    assert found.X.shape == (len(found.y), 3)
    model.partial_fit(*found[:2], sample_weight=found.sample_weight)


@settings(max_examples=200)
@given(st.binary(max_size=40))
def test_any_bytes_are_refused(body):
    X, y = samples()
    reader = BodyReader(PAClassifier().partial_fit(X, y, classes=["no", "yes"]), "regression", 10)
    with pytest.raises(Refusal):
        reader.to_predict(body, {})


def test_a_model_that_diverges_is_left_as_it_was(tmp_path):
    X, _ = samples()
    path = str(tmp_path / "model.okn")
    OGDRegressor().partial_fit(X, X[:, 0]).save(path)
    before = onlinekern.load(path)
    with running(path) as (client, service):
        status, answer = client.learn([[1e300, 1, 1], [1e-300, 1, 1]], [1e308, -1e308])
        assert (status, list(answer)) == (422, ["error"])
        assert same_state(service.served.model, before)
        assert client.learn(X[:1], [1.0])[1]["sequence"] == 1


def test_token(path):
    with running(path, token="secret") as (client, _):
        row = {"row": [1, 2, 3]}
        for headers in ({}, {"Authorization": "Bearer wrong"}, {"Authorization": "Basic secret"}):
            status, answer, found = client.ask("POST", "/predict", row, headers)
            assert (status, found["WWW-Authenticate"]) == (401, "Bearer")
            assert list(answer) == ["error"]
        assert client.post("/predict", row, {"Authorization": "Bearer secret"})[0] == 200
        assert client.get("/metrics")[0] == 401
        assert client.get("/health")[0] == 200


def test_pages_of_other_sites_are_not_answered(path):
    with running(path) as (client, _):
        row = {"row": [1, 2, 3]}
        assert client.post("/predict", row, {"Origin": "http://elsewhere.example"})[0] == 403
        own = f"http://127.0.0.1:{client.connection.port}"
        assert client.post("/predict", row, {"Origin": own})[0] == 200


def test_largest_body(path):
    body = json.dumps({"row": [1, 2, 3]}).encode()
    with running(path, max_bytes=len(body)) as (client, _):
        assert client.post("/predict", body)[0] == 200
        for n in (1, 20_000):
            status, answer = client.post("/predict", body + b" " * n)
            assert (status, "--max-bytes" in answer["error"]) == (413, True)
        # Without a length, in chunks.
        client.connection.request("POST", "/predict", iter([body, b" " * 99]))
        assert client.connection.getresponse().status == 413


def test_packed_bodies_are_refused(path):
    body = gzip.compress(json.dumps({"row": [1, 2, 3]}).encode())
    with running(path) as (client, _):
        status, answer = client.post("/predict", body, {"Content-Encoding": "gzip"})
        assert (status, "Content-Encoding gzip" in answer["error"]) == (415, True)
        plain = {"Content-Encoding": "identity"}
        assert client.post("/predict", {"row": [1, 2, 3]}, plain)[0] == 200


def test_a_full_queue_is_said(path):
    with running(path, queue=2, started=False) as (client, service):
        others = [threading.Thread(target=Client(client.connection.port).learn,
                                   args=samples(1, seed)) for seed in range(2)]  # fmt: skip
        for thread in others:
            thread.start()
        while len(service.writer.inbox) < 2:
            time.sleep(0.001)
        status, answer, headers = client.ask("POST", "/learn", {"row": [1, 2, 3], "y": "yes"})
        assert (status, headers["Retry-After"]) == (503, "1")
        assert "queue is full" in answer["error"]
        assert 'onlinekern_queue_length{path="/learn"} 2.0' in client.get("/metrics")[1]
        service.start()
        for thread in others:
            thread.join()
        assert client.post("/learn", {"row": [1, 2, 3], "y": "yes"})[1]["sequence"] == 3


def queued(service, client, requests):
    """Answers to requests that wait together before the service starts."""
    answers = [None] * len(requests)

    def ask(k):
        answers[k] = Client(client.connection.port).post(*requests[k])

    threads = []
    for k, (route, _) in enumerate(requests):
        inbox = (service.writer if route == "/learn" else service.predictor).inbox
        before = len(inbox)
        threads.append(threading.Thread(target=ask, args=(k,)))
        threads[-1].start()
        while len(inbox) == before:
            time.sleep(0.001)
    service.start()
    for thread in threads:
        thread.join()
    return answers


def test_what_is_learnt_together_is_learnt_in_order(tmp_path):
    """Weighted or not, refused or not: as if each had come alone."""
    X, _ = samples(8)
    model = OGDRegressor().partial_fit(X, X[:, 0])
    path = str(tmp_path / "model.okn")
    model.save(path)
    requests, expected = [], []
    for k, weight in enumerate([None, None, [3.0], [0.5], None, None]):
        content = {"rows": X[k : k + 1].tolist(), "y": [float(k)], "sample_weight": weight}
        if k == 1:  # diverges
            content["rows"], content["y"] = [[1e300, 1, 1]], [1e308]
        else:
            found = model.partial_fit_predict(X[k : k + 1], [k], sample_weight=weight)
            expected.append((found.tolist(), len(expected) + 1, model.n_seen_))
        requests.append(("/learn", content))
    with running(path, started=False) as (client, service):
        answers = queued(service, client, requests)
        assert [status for status, _ in answers] == [200, 422, 200, 200, 200, 200]
        learnt = [answer for status, answer in answers if status == 200]
        assert expected == [(a["predictions"], a["sequence"], a["n_seen"]) for a in learnt]
        assert same_state(service.served.model, model)


def test_what_is_asked_together_gets_its_own_answers(path):
    X, _ = samples(6, seed=4)
    asked = ["labels", "labels", "scores", "scores", "probabilities", "labels"]
    requests = [
        ("/predict", {"row": x, "what": what}) for x, what in zip(X.tolist(), asked, strict=True)
    ]
    with running(path, started=False) as (client, service):
        together = queued(service, client, requests)
        assert together == [client.post(*request) for request in requests]


def test_read_only(path):
    with running(path) as (first, _), running(path, read_only=True) as (second, _):
        assert first.learn(*samples(3))[0] == 200
        status, answer = second.learn(*samples(3))
        assert (status, answer) == (403, {"error": "this server is read-only"})
        assert second.get("/model")[1]["learns"] is False
        assert second.get("/health/ready")[0] == 200


# ---------------------------------------------------------------- what is told


def test_metrics_and_health(path):
    X, y = samples(40, seed=5)
    with running(path) as (client, service):
        client.learn(X[:20], y[:20])
        client.learn(X[20:], y[20:])
        client.post("/predict", b"{")
        text = client.get("/metrics")[1]
        found = dict(line.rsplit(" ", 1) for line in text.splitlines() if line[0] != "#")
        prefix = "onlinekern_"
        assert float(found[prefix + 'requests_total{path="/learn",status="200"}']) == 2
        assert float(found[prefix + 'requests_total{path="/predict",status="400"}']) == 1
        assert float(found[prefix + 'request_seconds_bucket{le="+Inf",path="/learn"}']) == 2
        assert float(found[prefix + "samples_learnt_total"]) == 40
        assert float(found[prefix + "samples_seen"]) == 100
        model = onlinekern.load(path)
        mistakes = np.mean(model.partial_fit_predict(X, y) != y)
        assert float(found[prefix + "error"]) == pytest.approx(mistakes)
        assert float(found[prefix + "support_vectors"]) == model.n_support_
        assert float(found[prefix + "alarms_total"]) == 0
        assert float(found[prefix + "sequence"]) == 2
        assert float(found[prefix + "snapshot_sequence"]) == 0
        for name in {line.split("{")[0].split(" ")[0] for line in text.splitlines()} - {"#"}:
            base = re.sub(r"_(bucket|sum|count)$", "", name)
            assert f"# TYPE {base} " in text
        status, health = client.get("/health/ready")
        assert (status, health["status"], health["problems"]) == (200, "ok", [])
        service.stopping = True
        assert client.get("/health/ready")[0] == 503
        assert client.get("/health")[0] == 200


def test_a_model_that_never_errs_raises_no_alarm():
    alarms = Growing(True)
    alarms.add(np.zeros(500_000))
    assert alarms.count == 0


@pytest.mark.parametrize("counted", [True, False])
@pytest.mark.parametrize("size", [1, 70, 8000])
def test_errors_that_grow_raise_an_alarm(counted, size):
    rng = np.random.default_rng(0)
    rise = np.repeat([1.0, 2.0], [5000, 3000])
    losses = rng.random(8000) < 0.1 * rise if counted else (rise * rng.normal(size=8000)) ** 2
    losses = losses.astype(float)
    if not counted:
        losses[50] = np.inf  # a model that diverges
    alarms = Growing(counted)
    seen = []
    for i in range(0, 8000, size):
        alarms.add(losses[i : i + size])
        seen.append(alarms.count)
    assert seen[-1] == 1
    if size < 8000:
        assert 5000 < (np.argmax(seen) + 1) * size < 6000


@pytest.mark.parametrize("inside", [False, True])
def test_tables_with_categories_and_dates(inside, tmp_path):
    """A model with a TableEncoder takes values of all kinds, by name or in order."""
    pytest.importorskip("pyarrow")
    rng = np.random.default_rng(0)
    rows = [
        {"town": town, "size": None if k % 9 == 0 else float(k % 7), "new": bool(k % 2),
         "at": f"2026-03-{1 + k % 28:02}", "zip": 89073 + k % 3}
        for k, town in enumerate(rng.choice(["Ulm", "Bonn"], 200))
    ]  # fmt: skip
    y = np.array(["yes" if row["town"] == "Ulm" else "no" for row in rows])
    kinds = {"zip": "category"}
    model = make_stream_pipeline(TableEncoder(kinds=kinds), OnlineStandardScaler(), PAClassifier())
    if inside:
        model = StreamClassifier(random_state=0)
        rows = [{**row, "zip": str(row["zip"])} for row in rows]
    model.partial_fit(rows[:100], y[:100], classes=["no", "yes"])
    model.save(tmp_path / "m.okn")
    bad = [
        ({**rows[0], "size": "big"}, 'feature "size") must be a number, got "big"'),
        ({**rows[0], "new": 1}, 'feature "new") must be true or false'),
        ({**rows[0], "at": 7}, "must be a date as text"),
        ({**rows[0], "at": "soon"}, "rows[1] (feature \"at\") is 'soon', which is no date"),
        ({**rows[0], "more": 1}, 'has the feature "more"'),
        ({"town": "Ulm"}, "has no feature"),
        ([1, 2], "has 2 values, the model has 5"),
        ({**rows[0], "size": 10**400}, "too large"),
    ]
    with running(str(tmp_path / "m.okn")) as (client, service):
        assert client.get("/model")[1]["columns"]["zip"] == "category"
        status, content = client.post("/predict", {"rows": rows[100:]})
        assert (status, content["predictions"]) == (200, model.predict(rows[100:]).tolist())
        in_order = [list(row.values()) for row in rows[100:]]
        assert client.post("/predict", {"rows": in_order})[1] == content
        for row, message in bad:
            status, content = client.post("/learn", {"rows": [rows[0], row], "y": ["no", "yes"]})
            assert status == 400, content
            assert message in content["error"]
        assert same_state(service.served.model, model)
        status, content = client.post("/learn", {"rows": rows[100:], "y": y[100:].tolist()})
        assert (status, content["learnt"]) == (200, 100)
        model.partial_fit(rows[100:], y[100:])
        # Categories that are numbers come as text.
        np.testing.assert_array_equal(
            service.served.model.decision_function(rows), model.decision_function(rows)
        )
