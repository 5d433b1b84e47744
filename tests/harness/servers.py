"""Servers that many clients teach and ask at once, and that are stopped or killed in mid-stream.

Some clients are broken: they leave in the middle of a body or before the answer, send what is too
large or no HTTP, or ask and never read. After each round the server gets SIGTERM, SIGINT or
SIGKILL, and is started again from its files. Its journals tell the order of all requests; a model
that learns them one after another in this process must have given each answer:

- to a request that was learnt, the predictions before its rows, the number of samples, its place;
- to one that asked, the predictions after some request: not older than the last one that was
  answered before it was sent, not younger than any that was sent after its answer.

In the end the counters must add up, and the file must be that of this model, byte for byte.

    python -P -m harness.servers --rounds 12
"""

import bisect
import http.client
import json
import os
import random
import re
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import time
from contextlib import suppress
from pathlib import Path

import onlinekern
from harness import subjects
from harness.reports import Report, run
from onlinekern import KernelForestClassifier, SPAClassifier, StreamClassifier
from onlinekern.serve import journal
from onlinekern.serve.rows import BodyReader
from onlinekern.serve.served import ServedModel

SIGNALS = (signal.SIGKILL, signal.SIGTERM, signal.SIGINT)
TOWNS = ("Ulm", "Bern", "Graz", None)
ASKED = ("labels", "scores", "probabilities")
MAX_BYTES = 1 << 16


def row_of(moments, tables):
    """Return a row and its label."""
    row = [moments.gauss(0, 1) for _ in range(3)]
    label = "yes" if row[0] * row[1] > 0 else "no"
    return ({"a": row[0], "b": row[1], "town": moments.choice(TOWNS)} if tables else row), label


def first_model(name):
    """Return a model that has learnt some rows."""
    moments = random.Random(-1)
    rows, y = zip(*(row_of(moments, name == "tables") for _ in range(60)), strict=True)
    if name == "tables":
        from onlinekern import TableEncoder, make_stream_pipeline

        model = make_stream_pipeline(TableEncoder(), subjects.small("SPAClassifier"))
    else:
        model = MODELS[name]()
    return model.partial_fit(list(rows), list(y), classes=["no", "yes"])


MODELS = {
    "SPA": lambda: SPAClassifier(random_state=0),
    "race": lambda: StreamClassifier(random_state=0),
    "forest": lambda: KernelForestClassifier(n_trees=4, memory=64, random_state=0),
    "tables": None,
}


class Journals:
    """All records of a server, though a snapshot drops them: a file that is replaced stays open."""

    def __init__(self, path):
        self.path, self.bodies, self._file, self._over = path, {}, None, False
        self._thread = threading.Thread(target=self._watch)
        self._thread.start()

    def _watch(self):
        while not self._over:
            self._look()
            time.sleep(0.001)

    def _look(self):
        with suppress(FileNotFoundError):
            found = os.stat(self.path)
            if self._file is not None:
                if os.fstat(self._file).st_ino == found.st_ino:
                    return
                self._read()
                os.close(self._file)
                self._file = None
            self._file = os.open(self.path, os.O_RDONLY)

    def _read(self):
        for record in journal.records(f"/proc/self/fd/{self._file}"):
            if record.kind == journal.LEARNT:
                self.bodies[record.sequence] = record.body

    def close(self):
        """Read what is left, once the server has ended."""
        self._over = True
        self._thread.join()
        self._look()
        self._read()
        os.close(self._file)


class Clients:
    """Threads that learn and ask until the server has gone; they keep what they were answered."""

    def __init__(self, port, tables, moments, report, last):
        self.port, self.tables, self.report = port, tables, report
        self.over = False
        self.last = last
        # (time of sending, sequence, body, answer), and (last, time of the answer, body, answer).
        self.learnt, self.asked = [], []
        # Bodies that did not come whole.
        self.torn = set()
        probes = random.Random(-2)
        self.probes = [
            json.dumps(
                {"rows": [row_of(probes, tables)[0] for _ in range(4)], "what": what}
            ).encode()
            for what in ASKED
        ]
        self.moments = [random.Random(moments.random()) for _ in range(64)]
        self.threads = []

    def start(self, learners, askers, broken):
        kinds = [self._learn] * learners + [self._ask] * askers + [self._break] * broken
        for kind, moments in zip(kinds, self.moments, strict=False):
            self.threads.append(threading.Thread(target=self._until_over, args=(kind, moments)))
            self.threads[-1].start()

    def join(self):
        self.over = True
        for thread in self.threads:
            thread.join()

    def _until_over(self, kind, moments):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        while not self.over:
            try:
                kind(connection, moments)
            except (OSError, http.client.HTTPException):
                connection.close()
                time.sleep(0.01)
        connection.close()

    def _post(self, connection, path, body):
        connection.request("POST", path, body)
        answer = connection.getresponse()
        content = answer.read()
        return answer.status, json.loads(content)

    def _body(self, moments):
        rows, y = zip(
            *(row_of(moments, self.tables) for _ in range(moments.randint(1, 5))), strict=True
        )
        content = {"rows": rows, "y": y}
        if moments.random() < 0.2:
            content["sample_weight"] = [moments.uniform(0.5, 2) for _ in rows]
        if moments.random() < 0.05:
            content["y"] = ["neither"] * len(rows)
        return json.dumps(content).encode()

    def _learn(self, connection, moments):
        body, sent = self._body(moments), time.monotonic()
        status, answer = self._post(connection, "/learn", body)
        if status == 200:
            self.learnt.append((sent, answer["sequence"], body, answer))
            self.last = max(self.last, answer["sequence"])
        elif status == 503 or (status == 422 and b"neither" in body):
            self.report.count(f"{status}")
        else:
            self.report.find(f"/learn: {status} {answer}")

    def _ask(self, connection, moments):
        body, last = moments.choice(self.probes), self.last
        status, answer = self._post(connection, "/predict", body)
        if status == 200:
            self.asked.append((last, time.monotonic(), body, answer["predictions"]))
        elif status != 503:
            self.report.find(f"/predict: {status} {answer}")

    def _break(self, connection, moments):
        body = self._body(moments)
        head = b"POST /learn HTTP/1.1\r\nHost: a\r\nContent-Length: %d\r\n\r\n"
        kind = moments.randrange(9)
        self.report.count("broken requests")
        with socket.create_connection(("127.0.0.1", self.port), timeout=60) as one:
            if kind in (0, 7):
                self.torn.add(body)
            if kind == 0:  # half a body
                one.sendall(head % len(body) + body[: len(body) // 2])
            elif kind == 1:  # no answer is read
                one.sendall(head % len(body) + body)
            elif kind == 2:  # nor is the connection ended as it should be
                one.sendall(head % len(body) + body)
                one.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            elif kind == 3:
                one.sendall(head % (3 * MAX_BYTES) + b" " * 3 * MAX_BYTES)
                self._expect(one, b"413")
            elif kind == 4:  # far too large, and never sent whole
                one.sendall(head % (1 << 40))
                for _ in range(40):
                    one.sendall(b" " * MAX_BYTES)
            elif kind == 5:
                one.sendall(bytes(moments.randrange(256) for _ in range(200)) + b"\r\n\r\n")
            elif kind == 6:  # many requests whose answers nobody reads
                ask = self.probes[0]
                one.sendall((b"POST /predict HTTP/1.1\r\nHost: a\r\nContent-Length: %d\r\n\r\n"
                             % len(ask) + ask) * 30)  # fmt: skip
                time.sleep(0.05)
            elif kind == 7:  # in pieces, each of them a chunk, the last of which lies about itself
                one.sendall(
                    b"POST /learn HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n"
                )
                for k in range(0, len(body), 50):
                    one.sendall(b"%x\r\n%b\r\n" % (len(body[k : k + 50]), body[k : k + 50]))
                one.sendall(b"zz\r\n\r\n")
            else:  # slow
                one.sendall(head % len(body) + body[:9])
                time.sleep(0.3)
                one.sendall(body[9:])
                self._expect(one, b"200", *[b"422"] * (b"neither" in body))

    def _expect(self, one, *statuses):
        with one.makefile("rb") as stream:
            line = stream.readline()
        if line and line.split()[1] not in (*statuses, b"503"):
            self.report.find(f"{line} in place of {statuses}")


def started(path, log):
    """Start a server that complains to a file; return the process and its port."""
    command = [
        sys.executable, "-P", "-m", "onlinekern", "serve", str(path), "--port", "0",
        "--snapshot-every", "0.3s", "--max-bytes", str(MAX_BYTES), "--log-level", "error",
    ]  # fmt: skip
    server = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=log, text=True)
    for line in server.stdout:
        if found := re.search(r"serving at http://127.0.0.1:(\d+)", line):
            return server, int(found[1])
    raise AssertionError(f"the server ended with code {server.wait()}")


def ended(server, number):
    """Send a signal to a server; return what is wrong with its end."""
    server.send_signal(number)
    try:
        code = server.wait(60)
    except subprocess.TimeoutExpired:
        server.kill()
        return [f"the server did not end within 60 s after {number.name}"]
    finally:
        server.stdout.close()
    return (
        [] if code == (-9 if number == signal.SIGKILL else 0) else [f"{number.name}: code {code}"]
    )


class Order:
    """What a model says that learns all requests one after another."""

    def __init__(self, path):
        self.served = ServedModel(onlinekern.load(path), str(path))
        self.reader = BodyReader(self.served.model, self.served.task, 100)

    def check(self, bodies, learnt, asked, report):
        """Compare the answers; bodies: sequence -> body."""
        given = {sequence: (body, answer) for _, sequence, body, answer in learnt}
        # Who was answered before a request was sent has seen nothing of it.
        sent = sorted((moment, sequence) for moment, sequence, _, _ in learnt)
        firsts, first = [], len(bodies) + 1
        for _, sequence in reversed(sent):
            first = min(first, sequence)
            firsts.append(first)
        firsts.reverse()
        waiting = {}
        for last, answered, body, answer in asked:
            place = bisect.bisect(sent, (answered,))
            most = firsts[place] - 1 if place < len(firsts) else len(bodies)
            waiting.setdefault(last, []).append((most, body, answer))
        open_ = []
        for number in range(len(bodies) + 1):
            if number:
                self._learn(number, bodies[number], given.get(number), report)
            open_ += waiting.pop(number, [])
            if open_:
                now = {body: self._ask(body) for body in {body for _, body, _ in open_}}
                open_ = [
                    (most, body, answer) for most, body, answer in open_ if now[body] != answer
                ]
            late = [answer for most, _, answer in open_ if most <= number]
            for answer in late[:3]:
                report.find(f"no moment up to request {number} gives the answer {answer}")
            open_ = [entry for entry in open_ if entry[0] > number]
        report.count("answers to who learns", len(given))
        report.count("answers to who asks", len(asked))

    def _learn(self, number, body, given, report):
        samples = self.reader.to_learn(body)
        predictions = self.served.learn(samples).tolist()
        if given is None:
            report.count("requests learnt whose client had gone")
            return
        sent, answer = given
        wanted = {"learnt": len(predictions), "n_seen": self.served.count("n_seen_"),
                  "sequence": number, "predictions": predictions}  # fmt: skip
        if sent != body or {key: answer[key] for key in wanted} != wanted:
            report.find(f"request {number}: {answer} in place of {wanted}")

    def _ask(self, body):
        samples, asked = self.reader.to_predict(body, {})
        return self.served.answer(samples.X, asked)[0].tolist()


def counters(port):
    """Return the metrics of a server."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    connection.request("GET", "/metrics")
    lines = connection.getresponse().read().decode().splitlines()
    connection.close()
    return {
        line.rsplit(" ", 1)[0]: float(line.rsplit(" ", 1)[1]) for line in lines if line[0] != "#"
    }


def check_counters(found, clients, before, report):
    """Compare the metrics of a server whose clients have all been answered."""
    rows = sum(answer["learnt"] for _, _, _, answer in clients.learnt)
    wanted = {
        'requests_total{path="/learn",status="200"}': len(clients.learnt),
        'requests_total{path="/predict",status="200"}': len(clients.asked),
        'request_seconds_count{path="/predict"}': len(clients.asked),
        "samples_learnt_total": rows,
        "sequence": before + len(clients.learnt),
        'queue_length{path="/learn"}': 0,
        'queue_length{path="/predict"}': 0,
    }
    for name, value in wanted.items():
        if found["onlinekern_" + name] != value:
            report.find(f"{name} is {found['onlinekern_' + name]}, not {value}")


def torment(job):
    """Stop a server after each of some rounds; return a report."""
    name, rounds, seconds, clients_of_a_kind, seed = job
    report, moments = Report(), random.Random(f"{name} {seed}")
    tables = name == "tables"
    learnt, asked, torn, last = [], [], set(), 0
    with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryFile("w+") as log:
        path = Path(folder) / "model.okn"
        first_model(name).save(path)
        state = Path(f"{path}.state") / path.name
        journals = Journals(f"{state}.journal")
        try:
            for number in range(rounds + 1):
                is_last = number == rounds
                server, port = started(path, log)
                try:
                    clients = Clients(port, tables, moments, report, last)
                    clients.start(*[clients_of_a_kind] * 2, 0 if is_last else 4)
                    time.sleep(moments.uniform(0.3, 1) * seconds)
                    if is_last:
                        clients.join()
                        check_counters(counters(port), clients, last, report)
                    how = SIGNALS[1] if is_last else moments.choice(SIGNALS)
                    report.findings += ended(server, how)
                    report.count(how.name)
                    clients.join()
                finally:
                    server.kill()
                    server.wait()
                learnt += clients.learnt
                asked += clients.asked
                torn |= clients.torn
                # Behind a kill there may be requests that nobody was told of.
                last = last_of(state)
        finally:
            journals.close()
        log.seek(0)
        report.findings += [
            f"{name}: the server said {line}" for line in log.read().splitlines()[:3]
        ]
        bodies = journals.bodies
        if sorted(bodies) != list(range(1, last + 1)):
            report.find(f"{len(bodies)} requests in journals, the last is number {last}")
            return report
        if torn & set(bodies.values()):
            report.find(f"{name}: a request was learnt that had not come whole")
        order = Order(path)
        order.check(bodies, learnt, asked, report)
        if onlinekern.fitted.save.to_bytes(order.served.model) != state.read_bytes():
            report.find(f"{name}: the file is not that of the model that learnt all in order")
    return report


def last_of(state):
    """Return the number of the last request that was learnt."""
    return journal.contents_of(f"{state}.journal").last


def jobs(options):
    names = options.models.split(",")
    return [
        (name, options.rounds, options.seconds, options.clients, options.seed) for name in names
    ]


if __name__ == "__main__":
    sys.exit(
        run(torment, jobs, names=False, rounds=4, seconds=2.0, clients=16, models=",".join(MODELS))
    )
