"""The pages of a server, its OpenAPI document, several models, files that are replaced."""

import os
import re
import shutil
import socket
import subprocess
import threading
import time
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("uvicorn", reason="needs the extra serve")
pytest.importorskip("starlette", reason="needs the extra serve")

import uvicorn
from serving import Client, parts, running, samples, spa

from onlinekern import SPAClassifier, StreamRegressor
from onlinekern.evaluate.checkpoint import Period
from onlinekern.serve.metrics import MOST_MARKS, ErrorMarks
from onlinekern.serve.models import Models, Watch, model_files
from onlinekern.serve.pages import FILES
from onlinekern.serve.service import Settings

PAGE = {"Accept": "text/html,application/xhtml+xml"}
TABLE = [{"town": "Ulm", "at": "2026-03-02 08:00", "size": 1.5},
         {"town": "Bonn", "at": "2026-03-03 09:30", "size": None}] * 60  # fmt: skip


def of_tables():
    y = np.arange(120.0) % 7
    return StreamRegressor(random_state=0).partial_fit(TABLE, y)


@pytest.fixture
def model(tmp_path):
    path = tmp_path / "model.okn"
    spa().save(path)
    return str(path)


def learn_all(client, learnt):
    for X, y in learnt:
        assert client.learn(X, y)[0] == 200


def test_the_root_is_a_page_to_browsers_and_json_to_others(model):
    with running(model) as (client, _):
        status, text, headers = client.ask("GET", "/", headers=PAGE)
        assert (status, headers["Content-Type"]) == (200, "text/html; charset=utf-8")
        assert "https://" not in text.replace("http://www.w3.org/2000/svg", "")
        assert "default-src 'self'" in headers["Content-Security-Policy"]
        assert client.get("/")[1]["method"] == "SPAClassifier"


def test_the_summary_tells_what_the_page_shows(model):
    with running(model) as (client, _):
        assert client.get("/summary")[1]["curve"] == []
        learn_all(client, parts(30))
        assert client.post("/predict", {"rows": [1]})[0] == 400
        status, found = client.get("/summary")
        assert status == 200
        assert found["model"] == client.get("/model")[1]
        assert found["curve"][-1][0] == 120
        assert found["curve"][-1][1] == found["error"]
        assert found["alarms"] == []
        assert found["importances"] == []
        assert [one["status"] for one in found["requests"][:2]] == [400, 200]
        assert len(found["requests"]) == 20


def test_importances_have_names(tmp_path):
    of_tables().save(tmp_path / "m.okn")
    with running(str(tmp_path / "m.okn")) as (client, _):
        for k in range(0, 120, 40):
            client.post("/learn", {"rows": TABLE[k : k + 40], "y": [float(i) for i in range(40)]})
        found = client.get("/summary")[1]
        names = [name for name, _ in found["importances"]]
        assert {"town", "size"} <= {*names}
        assert found["importances"][0][1] > 0


def test_a_curve_is_bounded_and_ends_with_what_came_last():
    class Errors:
        error = window_error = 0.5

    curve = ErrorMarks()
    for n in range(1, 20_001):
        curve.add(n, Errors)
    marks = [mark.sample for mark in curve.marks]
    assert MOST_MARKS / 4 < len(marks) <= MOST_MARKS
    assert marks == sorted(marks)
    assert marks[-1] > 19_000


def test_a_token_keeps_all_but_the_empty_pages(model):
    with running(model, token="secret") as (client, _):
        right = {"Authorization": "Bearer secret"}
        for path in ("/summary", "/openapi.json", "/", "/model"):
            assert client.ask("GET", path)[0] == 401
            assert client.ask("GET", path, headers=right)[0] == 200
        text = client.ask("GET", "/", headers=PAGE)[1]
        assert "SPAClassifier" not in text
        assert client.ask("GET", "/docs")[0] == 200


def test_the_interface_comes_without_network(model):
    pytest.importorskip("fastapi_offline", reason="needs the extra serve")
    with running(model) as (client, _):
        text = client.ask("GET", "/docs")[1]
        assert "http" not in text
        for name in FILES:
            status, content, _ = client.ask("GET", f"/docs/{name}")
            assert status == 200
            assert len(content) > 10_000
            assert f'"docs/{name}"' in text
        assert client.ask("GET", "/docs/core.py")[0] == 404


@pytest.mark.parametrize("tables", [False, True])
def test_the_document_is_that_of_the_server(tables, model, tmp_path):
    pytest.importorskip("fastapi", reason="needs the extra serve")
    if tables:
        model = str(tmp_path / "tables.okn")
        of_tables().save(model)
    with running(model) as (client, _):
        status, found = client.get("/openapi.json")
        assert status == 200
        paths = found["paths"]
        for path, methods in paths.items():
            for method in methods:
                given = b"{}" if method == "post" else None
                assert client.ask(method.upper(), path, given)[0] not in (404, 405)
        assert "/learn" in paths
        schemas = found["components"]["schemas"]
        if tables:
            assert [*schemas["Row"]["properties"]] == ["town", "at", "size"]
        jsonschema = pytest.importorskip("jsonschema", reason="jsonschema is not installed")

        def check(content, name):
            schema = {"$ref": f"#/components/schemas/{name}", "components": {"schemas": schemas}}
            jsonschema.validate(content, schema)

        row = TABLE[0] if tables else {f"x{k}": 1.0 for k in range(3)}
        rows = [row] if tables else [[1.0, 2.0, 3.0]]
        y = [1.0] if tables else ["yes"]
        for body, name, path, answer in (
            ({"rows": rows}, "ToPredict", "/predict", "Predictions"),
            ({"rows": rows, "y": y}, "ToLearn", "/learn", "Learnt"),
        ):
            check(body, name)
            status, content = client.post(path, body)
            assert status == 200
            check(content, answer)
            with pytest.raises(jsonschema.ValidationError):
                check({**body, "other": 1}, name)
            status, content = client.post(path, {**body, "other": 1})
            assert status == 400
            check(content, "Error")
        for what, coverage in (("intervals", 0.9), ("labels", 1.5), ("all", None)):
            body = {"rows": rows, "what": what, "coverage": coverage}
            if what == "intervals":
                check(body, "ToPredict")
                continue
            with pytest.raises(jsonschema.ValidationError):
                check(body, "ToPredict")
            assert client.post("/predict", body)[0] == 400
        for content in ([[0.5, None]], [[[0.5, None], [None, 1.0]]], [[True, False]]):
            check({"predictions": content}, "Predictions")
        check(client.get("/model")[1], "About")
        check(client.get("/health")[1], "Health")
        validator = pytest.importorskip("openapi_spec_validator", reason="it is not installed")
        validator.validate(found)


def test_a_read_only_server_serves_a_file_that_is_replaced(model):
    with running(model, read_only=True) as (client, service):
        rows = samples(5)[0].tolist()
        before = client.post("/predict", {"rows": rows, "what": "scores"})[1]
        spa(200).save(model)
        service.refresh()
        after = client.post("/predict", {"rows": rows, "what": "scores"})[1]
        assert before != after
        assert client.get("/model")[1]["n_seen"] == 200
        service.refresh()  # It ends the thread before.
        with open(model, "wb") as file:
            file.write(b"no model")
        service.refresh()
        assert "has changed, and cannot be served" in client.get("/health")[1]["problems"][0]
        assert client.post("/predict", {"rows": rows, "what": "scores"})[1] == after
        os.remove(model)
        service.refresh()
        assert client.post("/predict", {"rows": rows})[0] == 200


def test_a_model_of_other_columns_takes_its_place(model):
    with running(model, read_only=True) as (client, service):
        X, y = samples(60)
        SPAClassifier(random_state=0).fit(X[:, :2], y).save(model)
        service.refresh()
        assert client.post("/predict", {"rows": [[1.0, 2.0]]})[0] == 200
        assert client.post("/predict", {"rows": [[1.0, 2.0, 3.0]]})[0] == 400
        assert client.get("/model")[1]["n_features"] == 2


def test_requests_are_answered_while_files_are_replaced(model):
    kinds, answers = [spa(60), spa(90)], []
    with running(model, read_only=True) as (client, service):

        def ask():
            own = Client(client.connection.port)
            answers.extend(own.post("/predict", {"rows": [[1, 2, 3]]})[0] for _ in range(150))

        threads = [threading.Thread(target=ask) for _ in range(3)]
        for thread in threads:
            thread.start()
        for k in range(12):
            kinds[k % 2].save(model)
            service.refresh()
        for thread in threads:
            thread.join()
    assert answers == [200] * 450


def test_a_server_that_learns_keeps_what_it_has_learnt(model):
    with running(model) as (client, service):
        learn_all(client, parts(3))
        spa(90).save(model + ".other")
        os.replace(model + ".other", model)
        service.refresh()
        assert client.get("/model")[1]["n_seen"] == 60 + 12


@contextmanager
def models(folder, token=None, **options):
    """Run a server of a folder in a thread; yield a client and the models."""
    given = {"every": Period(seconds=1000.0), "sync": "off", "read_only": True, **options}
    served = Models(str(folder), lambda path: Settings(path, **given), token)
    listener = socket.create_server(("127.0.0.1", 0))
    server = uvicorn.Server(uvicorn.Config(served, lifespan="off", log_level="error"))
    thread = threading.Thread(target=server.run, args=([listener],))
    served.start()
    thread.start()
    client = Client(listener.getsockname()[1])
    try:
        yield client, served
    finally:
        client.connection.close()
        server.should_exit = True
        thread.join()
        served.close()


def test_several_models_have_an_address_each(tmp_path):
    spa().save(tmp_path / "one.okn")
    of_tables().save(tmp_path / "two.okn")
    with models(tmp_path) as (client, served):
        assert client.post("/one/predict", {"rows": [[1, 2, 3]]})[0] == 200
        assert client.post("/two/predict", {"rows": TABLE[:1]})[0] == 200
        assert client.get("/models")[1].keys() == {"one", "two"}
        assert client.get("/health")[1]["two"]["status"] == "ok"
        assert client.get("/two/model")[1]["method"] == "StreamRegressor"
        status, _, headers = client.ask("GET", "/one")
        assert (status, headers["Location"]) == (307, "/one/")
        status, content = client.get("/three/predict")
        assert (status, "the models are one, two" in content["error"]) == (404, True)
        assert client.ask("GET", "/", headers=PAGE)[1].startswith("<!doctype html>")
        assert "onlinekern_requests_total" in client.ask("GET", "/one/metrics")[1]
        spa().save(tmp_path / "three.okn")
        (tmp_path / "four.okn").write_bytes(b"no model")
        served.refresh()
        assert client.post("/three/predict", {"rows": [[1, 2, 3]]})[0] == 200
        assert client.post("/four/predict", {"rows": [[1, 2, 3]]})[0] == 404


def test_several_models_learn_each_its_own(tmp_path):
    for name in ("one", "two"):
        spa().save(tmp_path / f"{name}.okn")
    with models(tmp_path, token="secret", read_only=False) as (client, _):
        right = {"Authorization": "Bearer secret"}
        assert client.ask("GET", "/models")[0] == 401
        assert client.ask("GET", "/health")[0] == 200
        assert client.post("/one/learn", {"rows": [[1, 2, 3]], "y": ["yes"]})[0] == 401
        body = {"rows": [[1, 2, 3]], "y": ["yes"]}
        assert client.post("/one/learn", body, right)[0] == 200
        assert client.ask("GET", "/one/model", headers=right)[1]["n_seen"] == 61
        assert client.ask("GET", "/two/model", headers=right)[1]["n_seen"] == 60


def test_names_must_be_parts_of_an_address(tmp_path):
    with pytest.raises(ValueError, match="has no model files"):
        model_files(str(tmp_path))
    (tmp_path / "a b.okn").write_bytes(b"")
    with pytest.raises(ValueError, match=r"'a b\.okn' cannot be a part of an address"):
        model_files(str(tmp_path))


def test_a_watch_looks_again_after_a_fault(monkeypatch):
    monkeypatch.setattr("onlinekern.serve.models.LOOK_EVERY", 0.01)
    looked = []

    class Served:
        def refresh(self):
            looked.append(1)
            raise RuntimeError("broken")

    with Watch(Served()):
        for _ in range(500):
            if len(looked) > 2:
                break
            time.sleep(0.01)
    assert len(looked) > 2


def test_the_pages_in_a_browser(tmp_path):
    browser = shutil.which("chromium") or shutil.which("google-chrome")
    if browser is None:
        pytest.skip("there is no browser")
    of_tables().save(tmp_path / "m.okn")

    def page(address):
        command = [browser, "--headless", "--no-sandbox", "--disable-gpu", "--dump-dom",
                   f"--user-data-dir={tmp_path / 'browser'}", "--virtual-time-budget=8000",
                   address]  # fmt: skip
        return subprocess.run(command, capture_output=True, text=True, timeout=120).stdout

    with running(str(tmp_path / "m.okn")) as (client, _):
        for k in range(0, 120, 10):
            client.post("/learn", {"rows": TABLE[k : k + 10], "y": [float(i) for i in range(10)]})
        address = f"http://127.0.0.1:{client.connection.port}"
        found = page(f"{address}/")
        assert ">StreamRegressor<" in found
        assert "learns and predicts" in found
        assert "<path" in found
        assert "<td>town</td><td>category</td>" in found
        assert found.count("<td>/learn</td>") == 12
        pytest.importorskip("fastapi_offline", reason="needs the extra serve")
        found = page(f"{address}/docs")
        assert "Predict rows" in found
        assert "Unable to render" not in found


def test_the_client_in_javascript(tmp_path):
    node = shutil.which("node")
    if node is None:
        pytest.skip("node is not installed")
    text = (Path(__file__).parents[1] / "docs" / "serving.md").read_text(encoding="utf-8")
    client_of_page = re.search(r"```js\n(.*?)```", text, re.S)[1]
    of_tables().save(tmp_path / "m.okn")
    with running(str(tmp_path / "m.okn"), token="my-token") as (client, _):
        address = f"http://127.0.0.1:{client.connection.port}"
        script = client_of_page.replace("http://127.0.0.1:8000", address)
        calls = """
        ask("/predict", { rows: [{ town: "Ulm", at: "2026-03-02 08:00", size: null }] })
          .then((found) => { console.log(found.length); return ask("/predict", { rows: [1] }); })
          .catch((error) => console.log(error.message));
        """
        command = [node, "-e", script + calls]
        done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    length, message = done.stdout.splitlines()
    assert length == "1"
    assert message.startswith("rows[0] must be an array or an object")
