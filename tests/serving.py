"""The helpers that the tests of `onlinekern serve` share: a small model, clients, servers."""

import http.client
import json
import re
import socket
import subprocess
import sys
import threading
from contextlib import contextmanager

import numpy as np
import uvicorn

import onlinekern
from onlinekern import SPAClassifier
from onlinekern.estimators.validation import no_name_warnings
from onlinekern.evaluate.checkpoint import Period
from onlinekern.serve.app import application
from onlinekern.serve.service import Service, Settings


def samples(n=60, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    return X, np.where(X[:, 0] * X[:, 1] > 0, "yes", "no")


def spa(n=60):
    X, y = samples(n)
    return SPAClassifier(random_state=0).partial_fit(X, y, classes=["no", "yes"])


class Client:
    """Connection to a server."""

    def __init__(self, port):
        self.connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)

    def ask(self, method, path, content=None, headers=()):
        """Return status, content and headers of an answer."""
        body = content if content is None or isinstance(content, bytes) else json.dumps(content)
        self.connection.request(method, path, body, dict(headers))
        answer = self.connection.getresponse()
        text = answer.read()
        is_json = answer.headers["Content-Type"] == "application/json"
        return answer.status, json.loads(text) if is_json else text.decode(), answer.headers

    def post(self, path, content, headers=()):
        """Return status and content."""
        return self.ask("POST", path, content, headers)[:2]

    def get(self, path):
        return self.ask("GET", path)[:2]

    def learn(self, X, y):
        y = y.tolist() if isinstance(y, np.ndarray) else y
        return self.post("/learn", {"rows": np.asarray(X).tolist(), "y": y})


@contextmanager
def running(path, token=None, started=True, **options):
    """Run a server in a thread; yield a client and the service."""
    options = {"every": Period(seconds=1000.0), "sync": "off", **options}
    with no_name_warnings():
        service = Service(Settings(path, **options))
    listener = socket.create_server(("127.0.0.1", 0))
    config = uvicorn.Config(application(service, token), lifespan="off", log_level="error")
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, args=([listener],))
    if started:
        service.start()
    thread.start()
    client = Client(listener.getsockname()[1])
    try:
        with no_name_warnings():
            yield client, service
    finally:
        client.connection.close()
        server.should_exit = True
        thread.join()
        service.close()


@contextmanager
def process(path, *options, port="0"):
    """Run a server process; yield it with its port, and kill it if it still runs."""
    command = [sys.executable, "-P", "-m", "onlinekern", "serve", path, "--port", port, *options]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    with subprocess.Popen(command, **pipes) as server:
        said = []
        try:
            for line in server.stdout:
                said.append(line)
                if found := re.search(r"serving at http://127.0.0.1:(\d+)", line):
                    break
            else:
                raise AssertionError(server.stderr.read())
            server.said = "".join(said)
            yield server, int(found[1])
        finally:
            if server.poll() is None:
                server.kill()


def same_state(one, other):
    """Return whether two models have the same bits."""
    return onlinekern.fitted.save.to_bytes(one) == onlinekern.fitted.save.to_bytes(other)


def parts(n, seed=7):
    X, y = samples(4 * n, seed)
    return [(X[k : k + 4], y[k : k + 4]) for k in range(0, 4 * n, 4)]


def after(model, learnt):
    for X, y in learnt:
        model.partial_fit(X, y)
    return model
