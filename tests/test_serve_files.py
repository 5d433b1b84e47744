"""`onlinekern serve` and the disk: no kill loses what was acknowledged, whenever it comes."""

import asyncio
import http.client
import json
import os
import signal
import socket
import threading
import time
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("uvicorn", reason="needs the extra serve")
pytest.importorskip("starlette", reason="needs the extra serve")
pytest.importorskip("typer", reason="needs the extra cli")
pytest.importorskip("rich", reason="needs the extra cli")

from serving import Client, after, parts, process, running, same_state, samples, spa

import onlinekern
from onlinekern import SPAClassifier, cli
from onlinekern.cli import serving
from onlinekern.evaluate.checkpoint import Period
from onlinekern.serve import journal, store
from onlinekern.serve.service import Service, Settings


@pytest.fixture
def path(tmp_path):
    """A model file."""
    spa().save(tmp_path / "model.okn")
    return str(tmp_path / "model.okn")


def refused_command(capsys, *options):
    """What a command says that ends with the code of bad input."""
    with pytest.raises(SystemExit) as ended:
        cli.main(["serve", *options])
    assert ended.value.code == 2
    (line,) = capsys.readouterr().err.splitlines()
    return line


def killed(path, learn, **options):
    """Let a service learn, and leave its files as a kill would."""
    service = Service(Settings(path, **{"every": Period(seconds=1000.0), **options}))
    service.start()
    results = []

    async def ask():
        loop = asyncio.get_running_loop()
        for X, y in learn:
            body = json.dumps({"rows": X.tolist(), "y": y.tolist()}).encode()
            results.append(await service.learn(body, loop.create_future))

    asyncio.run(ask())
    service.predictor.close()
    service.writer.close()
    service.store.close(save=False)
    return results


def test_a_journal_is_learnt_again(path):
    learnt = parts(5)
    first = killed(path, learnt[:3])
    assert [r["sequence"] for r in first] == [1, 2, 3]
    second = killed(path, learnt[3:])
    assert [(r["sequence"], r["snapshot_sequence"]) for r in second] == [(4, 0), (5, 0)]
    with running(path) as (_, service):
        assert service.found.replayed == 5
        assert same_state(service.served.model, after(spa(), learnt))
    with running(path) as (client, service):
        assert service.found.replayed == 0
        assert client.get("/health")[1]["snapshot_sequence"] == 5


def test_snapshots_come_in_time_and_shorten_the_journal(path):
    learnt = parts(10)
    every = Period(samples=8)
    killed(path, learnt, every=every)
    service = Service(Settings(path, every=every))
    try:
        # Two requests are due; while one is written, others may have come.
        assert 0 < service.store.snapshot_sequence <= 10
        assert service.found.replayed == 10 - service.store.snapshot_sequence
        assert same_state(service.served.model, after(spa(), learnt))
    finally:
        service.store.close(save=False)


@pytest.mark.parametrize("stage", ["noted", "replaced"])
def test_a_kill_in_a_snapshot_loses_nothing(path, stage, monkeypatch):
    """The journal knows two states of the model; the file tells which it is."""

    class Killed(BaseException):
        pass

    def kill(*arguments):
        raise Killed

    learnt = parts(4)
    killed(path, learnt[:3])
    service = Service(Settings(path, every=Period(seconds=1000.0)))
    target = (store, "replacing") if stage == "noted" else (journal.Journal, "rotate")
    monkeypatch.setattr(*target, kill)
    with suppress(Killed):
        service.store.snapshot()
        pytest.fail("it was not killed")
    service.store.close(save=False)
    monkeypatch.undo()
    killed(path, learnt[3:])
    with running(path) as (_, service):
        assert service.found.replayed == (4 if stage == "noted" else 1)
        assert same_state(service.served.model, after(spa(), learnt))


def test_a_torn_record_is_dropped_at_any_length(path, tmp_path):
    learnt = parts(3)
    killed(path, learnt)
    whole = (tmp_path / "model.okn.journal").read_bytes()
    first = onlinekern.load(path)
    stops = [r.stop for r in journal.records(f"{path}.journal")]
    for n in [*range(stops[-2], len(whole), 7), len(whole) - 1]:
        for tail in (b"", b"\0" * 20 if n == stops[-2] else b""):
            (tmp_path / "model.okn.journal").write_bytes(whole[:n] + tail)
            service = Service(Settings(path))
            assert service.found.dropped == n + len(tail) - stops[-2]
            assert service.found.replayed == 2
            assert same_state(service.served.model, after(onlinekern.load(path), learnt[:2]))
            service.store.close(save=False)
    assert same_state(onlinekern.load(path), first)


def test_damage_of_what_was_acknowledged_is_refused(path, tmp_path):
    killed(path, parts(3))
    file = tmp_path / "model.okn.journal"
    data = bytearray(file.read_bytes())
    data[200] ^= 1
    file.write_bytes(data)
    with pytest.raises(ValueError, match=r"damaged at byte \d+"):
        Service(Settings(path))
    assert file.read_bytes() == data
    file.write_bytes(b"something else")
    with pytest.raises(ValueError, match="no journal"):
        Service(Settings(path))


def test_another_model_file_is_not_taught_what_was_learnt_before(path):
    killed(path, parts(2))
    spa(40).save(path)
    with pytest.raises(ValueError, match="another state"):
        Service(Settings(path))
    spa().save(path)
    with running(path) as (_, service):
        assert service.found.replayed == 2
    # All is in the snapshot now: a new file is welcome, and numbers go on.
    spa(40).save(path)
    with running(path) as (client, _):
        assert client.learn(*samples(2))[1]["sequence"] == 3


def test_a_request_that_was_refused_after_it_was_written_is_left_out(path):
    """A kill between the two leaves it in the journal."""
    killed(path, parts(2))
    body = json.dumps({"rows": [[1, 2, 3]], "y": ["unheard-of"]}).encode()
    with open(f"{path}.journal", "ab") as stream:
        stream.write(journal.encoded(3, journal.LEARNT, body))
    with running(path) as (_, service):
        assert isinstance(service.found, store.Found)
        assert (service.found.replayed, service.found.refused) == (2, 1)


def test_another_place_for_snapshots(path, tmp_path):
    before = open(path, "rb").read()  # noqa: SIM115
    other = str(tmp_path / "other.okn")
    learnt = parts(3)
    killed(path, learnt[:2], snapshot=other)
    with running(path, snapshot=other):
        pass
    with running(path, snapshot=other) as (client, service):
        assert service.found.source == other
        client.learn(*learnt[2])
    assert same_state(onlinekern.load(other), after(spa(), learnt))
    assert open(path, "rb").read() == before  # noqa: SIM115


def test_a_model_that_is_trained_anew_is_not_passed_over(path, tmp_path, capsys):
    """What was learnt elsewhere began with the one before."""
    other = str(tmp_path / "other.okn")
    with running(path, snapshot=other):
        pass
    spa(40).save(path)
    with running(path, snapshot=other) as (client, _):  # nothing was learnt yet
        client.learn(*samples(2))
    spa().save(path)
    with pytest.raises(ValueError, match=f"{path} is not the file from which {other} has learnt"):
        Service(Settings(path, snapshot=other))
    spa(40).save(path)
    with running(path, snapshot=other) as (_, service):
        assert service.found.source == other
    os.unlink(path)
    with running(path, snapshot=other) as (_, service):
        assert service.found.source == other


def test_what_was_learnt_in_place_is_not_passed_over(path, capsys):
    killed(path, parts(2))
    line = refused_command(capsys, path)
    assert f"{path}.journal: a server has written" in line
    assert "--in-place" in line
    assert not os.path.exists(f"{path}.state")


def test_one_server_for_a_model(path):
    with running(path), pytest.raises(ValueError, match=f"process {os.getpid()}"):
        Service(Settings(path))
    assert not os.path.exists(f"{path}.lock")
    with running(path):
        pass


def test_models_that_cannot_be_served(tmp_path):
    path = str(tmp_path / "new.okn")
    SPAClassifier().save(path)
    with pytest.raises(ValueError, match="learnt nothing yet"):
        Service(Settings(path))
    assert os.listdir(tmp_path) == ["new.okn"]


def test_a_snapshot_that_fails_is_told_and_learning_goes_on(path, monkeypatch):
    def full(path):
        raise OSError(28, "No space left on device", path)

    with running(path) as (client, service):
        client.learn(*samples(3))
        monkeypatch.setattr(store, "replacing", full)
        service.store.snapshot()
        health = client.get("/health")[1]
        assert health["status"] == "degraded"
        assert "No space left" in health["problems"][0]
        assert client.get("/health/ready")[0] == 200
        assert "onlinekern_snapshot_failures_total 1.0\n" in client.get("/metrics")[1]
        assert client.learn(*samples(3))[0] == 200
        monkeypatch.undo()
        service.store.snapshot()
        assert client.get("/health")[1]["snapshot_sequence"] == 2
        assert client.get("/health")[1]["status"] == "ok"


def test_what_was_saved_beside_a_model_is_beside_its_snapshots(tmp_path):
    path, snapshot = tmp_path / "model.okn", tmp_path / "state" / "model.okn"
    snapshot.parent.mkdir()
    spa().save(path, {"target_column": "sold"})
    for seed in (0, 20):  # The second begins with the snapshot.
        service = Service(Settings(str(path), snapshot=str(snapshot)))
        service.start()
        X, y = samples(20, seed)
        body = json.dumps({"rows": X.tolist(), "y": y.tolist()}).encode()

        async def ask(service=service, body=body):
            return await service.learn(body, asyncio.get_running_loop().create_future)

        asyncio.run(ask())
        service.close()
        _, metadata = onlinekern.load(snapshot, return_metadata=True)
        assert metadata == {"target_column": "sold"}


@pytest.mark.parametrize("function", ["write", "force"])
def test_a_journal_that_fails_refuses_samples(path, monkeypatch, function):
    owner = os if function == "write" else journal
    real = getattr(owner, function)
    broken = True
    parts = iter([b"part"])

    def failing(number, *arguments):
        if not broken or number != service.store.journal._number:
            return real(number, *arguments)
        if function == "write" and (part := next(parts, None)):
            return real(number, part)  # a disk takes what it has room for
        raise OSError(28, "No space left on device")

    with running(path, sync="always") as (client, service):
        X, y = samples(4)
        assert client.learn(X[:1], y[:1])[0] == 200
        monkeypatch.setattr(owner, function, failing)
        before = onlinekern.fitted.save.to_bytes(service.served.model)
        status, answer, headers = client.ask("POST", "/learn", {"row": X[0].tolist(), "y": "yes"})
        assert (status, "nothing was learnt" in answer["error"]) == (503, True)
        assert headers["Retry-After"]
        assert onlinekern.fitted.save.to_bytes(service.served.model) == before
        assert client.post("/predict", {"row": X[0].tolist()})[0] == 200
        assert "journal" in client.get("/health")[1]["problems"][-1]
        assert "onlinekern_journal_failed 1.0\n" in client.get("/metrics")[1]
        broken = False
        assert client.learn(X[1:], y[1:])[1]["sequence"] == 2
        assert client.get("/health")[1]["problems"] == []
        copy = onlinekern.load(path)
        journal_path = service.store.journal_path
        learnt = [r.sequence for r in journal.records(journal_path) if r.kind == journal.LEARNT]
        # After a failed sync there is a snapshot and a new journal.
        assert learnt == ([1, 2] if function == "write" else [2])
        assert same_state(copy, spa() if function == "write" else spa().partial_fit(X[:1], y[:1]))
    assert onlinekern.load(path).n_seen_ == 64


# ---------------------------------------------------------------- processes


@pytest.fixture
def state(path):
    """The file of what a server has learnt; the model file that it was given stays as it was."""
    before = Path(path).read_bytes()
    yield f"{path}.state/model.okn"
    assert Path(path).read_bytes() == before
    assert not os.path.exists(f"{path}.journal")


def test_no_acknowledged_sample_is_lost_by_a_kill(path, state):
    """Clients learn at the same time, the server is killed in mid-stream, and started again."""
    X, y = samples(4000, seed=11)
    learnt, snapshots = {}, set()

    def learn(port, first):
        client = Client(port)
        with suppress(OSError, http.client.HTTPException):
            for k in range(first, len(y), 4):
                status, answer = client.learn(X[k : k + 1], y[k : k + 1])
                assert status == 200
                assert answer["sequence"] not in learnt
                learnt[answer["sequence"]] = X[k : k + 1], y[k : k + 1]
                snapshots.add(answer["snapshot_sequence"])

    with process(path, "--snapshot-every", "50") as (server, port):
        clients = [threading.Thread(target=learn, args=(port, c)) for c in range(4)]
        for thread in clients:
            thread.start()
        while len(learnt) < 300:
            time.sleep(0.002)
        server.kill()
        for thread in clients:
            thread.join()
    # What was learnt and not answered: at most one request of each client.
    for record in journal.records(f"{state}.journal"):
        if record.kind == journal.LEARNT and record.sequence not in learnt:
            content = json.loads(record.body)
            learnt[record.sequence] = np.array(content["rows"]), np.array(content["y"])
    with process(path) as (server, port):
        health = Client(port).get("/health")[1]
        server.terminate()
        assert server.wait() == 0
    assert len(snapshots) > 1
    assert sorted(learnt) == list(range(1, health["sequence"] + 1))
    assert same_state(onlinekern.load(state), after(spa(), [learnt[k] for k in sorted(learnt)]))


def test_a_killed_model_has_the_bits_of_one_that_never_stopped(path, state):
    learnt = parts(30)
    with process(path, "--snapshot-every", "40", "--sync", "interval") as (server, port):
        client = Client(port)
        for X, y in learnt[:-5]:
            assert client.learn(X, y)[0] == 200
        server.send_signal(signal.SIGKILL)
        server.wait()
    with process(path) as (server, port):
        client = Client(port)
        for X, y in learnt[-5:]:
            client.learn(X, y)
        server.send_signal(signal.SIGINT)
        assert server.wait() == 0
    assert same_state(onlinekern.load(state), after(spa(), learnt))
    assert not os.path.exists(f"{state}.lock")


def test_sigterm_finishes_what_was_sent(path):
    with process(path, "--in-place") as (server, port):
        answers = []

        def learn(part):
            with suppress(ConnectionError, http.client.HTTPException):
                answers.append(Client(port).learn(*part)[0])

        clients = [threading.Thread(target=learn, args=(part,)) for part in parts(8)]
        for thread in clients:
            thread.start()
        while not answers:
            time.sleep(0.001)
        server.terminate()
        for thread in clients:
            thread.join()
        assert server.wait() == 0
    # A connection that had not been accepted by then is closed.
    assert onlinekern.load(path).n_seen_ == 60 + 4 * len(answers)
    assert answers == [200] * len(answers)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_server_can_be_ended_as_soon_as_it_serves(path, state, number):
    with process(path) as (server, port):
        assert Client(port).learn(*samples(3))[0] == 200
        server.kill()
        server.wait()
    with process(path) as (server, _):
        server.send_signal(number)
        assert server.wait() == 0
        assert "holds all up to request 1" in server.stdout.read()
        assert server.stderr.read() == ""
    assert not os.path.exists(f"{state}.lock")


def test_a_server_that_has_learnt_nothing_names_no_file(path, state):
    with process(path) as (server, _):
        server.terminate()
        assert server.wait() == 0
        assert server.stdout.read().endswith("stopped; nothing has been learnt\n")
    assert not os.path.exists(state)


def test_a_body_that_does_not_come_holds_up_no_end(path, state):
    with process(path) as (server, port):
        assert Client(port).learn(*samples(3))[0] == 200
        with socket.create_connection(("127.0.0.1", port)) as one:
            one.sendall(b"POST /learn HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\n{")
            # It is read when a request behind it has been answered.
            assert Client(port).get("/health")[0] == 200
            server.terminate()
            answer = http.client.HTTPResponse(one)
            answer.begin()
            assert (answer.status, answer.headers["Retry-After"]) == (503, "5")
            assert json.loads(answer.read()) == {"error": "the server is shutting down"}
        assert server.wait() == 0
        # One line, and no traceback.
        assert len(server.stderr.read().splitlines()) == 1
    assert onlinekern.load(state).n_seen_ == 63


def test_a_client_that_leaves_is_no_fault_of_the_server(path):
    """It sends many requests at once, and reads no answer."""
    body = json.dumps({"rows": samples(4)[0].tolist()}).encode()
    ask = b"POST /predict HTTP/1.1\r\nHost: a\r\nContent-Length: %d\r\n\r\n" % len(body) + body
    with process(path, "--read-only") as (server, port):
        for _ in range(20):
            with socket.create_connection(("127.0.0.1", port)) as one:
                one.sendall(30 * ask)
                time.sleep(0.02)
        assert Client(port).get("/health")[0] == 200
        server.terminate()
        assert server.wait() == 0
        assert server.stderr.read() == ""


def test_command_line_refusals(path, tmp_path, capsys, monkeypatch):
    missing = str(tmp_path / "missing.okn")
    assert missing in refused_command(capsys, missing)
    assert "--sync: unknown 'never'" in refused_command(capsys, path, "--sync", "never")
    assert "--queue must be from 1" in refused_command(capsys, path, "--queue", "0")
    assert "--snapshot-every" in refused_command(capsys, path, "--snapshot-every", "soon")
    both = refused_command(capsys, path, "--token", "a", "--token-file", path)
    assert "exclude each other" in both
    for options in (("--snapshot", path), ("--in-place",)):
        both = refused_command(capsys, path, "--read-only", *options)
        assert f"--read-only and {options[0]} exclude each other" in both
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = str(other.getsockname()[1])
        assert "in use" in refused_command(capsys, path, "--port", port)
    monkeypatch.setenv("ONLINEKERN_TOKEN", " ")
    assert "token must be" in refused_command(capsys, path)
    assert onlinekern.load(path).n_seen_ == 60


def test_a_unix_socket(path, tmp_path, capsys):
    address = str(tmp_path / "socket")
    stale = serving.listening_at_path(address)
    assert "in use" in refused_command(capsys, path, "--uds", address)
    assert os.path.exists(address)
    stale.close()
    # Nobody listens there any more.
    serving.listening_at_path(address).close()
    (tmp_path / "file").write_text("")
    assert "in use" in refused_command(capsys, path, "--uds", str(tmp_path / "file"))
