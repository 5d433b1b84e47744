"""Measure latency and throughput of `onlinekern serve`, asked by many connections at once.

    python benchmarks/serving.py [--seconds S] [--markdown FILE] [--sync always|interval|off]
        [--models spa stream] [--kinds predict learn both] [--connections 1 16 64] [--rows N]

A server process serves a model that has learnt 20,000 samples of 10 features, two classes. This
process is the client: each connection sends a request, waits for the answer, and sends the next one
(HTTP/1.1, kept alive). A request has `--rows` rows. In "both", every eighth connection learns, at
least one, and the latency is that of the predictions beside it.

Client and server share the machine: where it has two cores, each has one.
"""

import asyncio
import json
import os
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
from command import read_options

from onlinekern import SPAClassifier, StreamClassifier

N_TRAINING, N_FEATURES = 20_000, 10
# Requests that a connection repeats.
N_BODIES = 200
WARM_UP = 0.5
MODELS = {"spa": SPAClassifier, "stream": StreamClassifier}
LENGTH = re.compile(rb"content-length: (\d+)", re.I)


def stream(n, seed):
    """Return samples of a task that a line does not solve."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, N_FEATURES))
    return X, np.where(X[:, 0] * X[:, 1] + 0.3 * X[:, 2] > 0, "yes", "no")


def make_model(name, path):
    """Write a model file."""
    X, y = stream(N_TRAINING, 0)
    known = {"classes": np.unique(y)} if name == "spa" else {}
    model = MODELS[name](random_state=0)
    model.partial_fit(X, y, **known).save(path)


def requests_of(kind, n_rows):
    """Return whole requests as bytes, each with other rows."""
    X, y = stream(N_BODIES * n_rows, 1)
    found = []
    for first in range(0, len(y), n_rows):
        part = slice(first, first + n_rows)
        content = {"rows": np.round(X[part], 6).tolist()}
        if kind == "learn":
            content["y"] = y[part].tolist()
        body = json.dumps(content).encode()
        head = f"POST /{kind} HTTP/1.1\r\nHost: localhost\r\nContent-Length: {len(body)}\r\n\r\n"
        found.append(head.encode() + body)
    return found


class Connection(asyncio.Protocol):
    """A client that asks, waits for the answer, and asks again."""

    def __init__(self, requests, first, seconds):
        self.requests, self.seconds = requests, seconds
        self.number, self.buffer = first, b""

    def connection_made(self, transport):
        self.transport = transport
        self.ask()

    def ask(self):
        self.number += 1
        self.began = time.perf_counter()
        self.transport.write(self.requests[self.number % len(self.requests)])

    def data_received(self, data):
        self.buffer += data
        head = self.buffer.find(b"\r\n\r\n")
        if head < 0 or len(self.buffer) < head + 4 + int(LENGTH.search(self.buffer)[1]):
            return
        if not self.buffer.startswith(b"HTTP/1.1 200"):
            raise RuntimeError(self.buffer.decode())
        now = time.perf_counter()
        self.seconds.append((now, now - self.began))
        self.buffer = b""
        self.ask()


async def load(port, groups, seconds):
    """Ask with several connections; for each group of (requests, connections) its latencies."""
    loop = asyncio.get_running_loop()
    found, transports = [], []
    for requests, connections in groups:
        found.append([])
        for k in range(connections):
            make = lambda r=requests, k=k: Connection(r, 7 * k, found[-1])  # noqa: E731
            transports.append((await loop.create_connection(make, "127.0.0.1", port))[0])
    began = time.perf_counter() + WARM_UP
    await asyncio.sleep(WARM_UP + seconds)
    for transport in transports:
        transport.abort()
    return [[s for now, s in times if began <= now <= began + seconds] for times in found]


def start(path, sync):
    """Start a server process; return it and its port."""
    command = [sys.executable, "-P", "-m", "onlinekern", "serve", path, "--port", "0", "--in-place"]
    process = subprocess.Popen(
        [*command, "--sync", sync], stdout=subprocess.PIPE, text=True, env=os.environ
    )
    for line in process.stdout:
        if found := re.search(r"serving at http://.*:(\d+)", line):
            return process, int(found[1])
    raise RuntimeError("the server did not start")


def measure(options, name, kind, connections):
    """Return the figures of one setting, with a server of its own."""
    with tempfile.TemporaryDirectory() as folder:
        path = str(Path(folder, "model.okn"))
        make_model(name, path)
        process, port = start(path, options.sync)
        try:
            groups = [
                (requests_of("predict" if kind == "both" else kind, options.rows), connections)
            ]
            if kind == "both":
                groups.append((requests_of("learn", options.rows), max(1, connections // 8)))
            times, *others = asyncio.run(load(port, groups, options.seconds))
        finally:
            process.terminate()
            process.communicate()
    p50, p99 = np.percentile(times, [50, 99]) * 1000
    return {
        "model": name,
        "kind": kind,
        "connections": connections,
        "per_second": len(times) / options.seconds,
        "learnt_per_second": sum(map(len, others)) / options.seconds if others else None,
        "p50": p50,
        "p99": p99,
        "longest": max(times) * 1000,
    }


def line_of(row):
    beside = (
        "" if row["learnt_per_second"] is None else f" + {row['learnt_per_second']:,.0f} learnt"
    )
    return (
        f"| {row['model']} | {row['kind']} | {row['connections']} | "
        f"{row['per_second']:,.0f}{beside} | {row['p50']:.2f} | {row['p99']:.2f} | "
        f"{row['longest']:.1f} |"
    )


def main():
    kinds = ["predict", "learn", "both"]
    options = read_options(
        __doc__,
        seconds=5.0,
        sync="always",
        rows=1,
        models={"nargs": "+", "choices": MODELS, "default": list(MODELS)},
        kinds={"nargs": "+", "choices": kinds, "default": kinds},
        connections=[1, 16, 64],
        markdown=None,
    )
    lines = [
        "| model | requests | connections | per second | p50, ms | p99, ms | longest, ms |",
        "|---|---|---|---|---|---|---|",
    ]
    print("\n".join(lines))
    for name in options.models:
        for kind in options.kinds:
            for connections in options.connections:
                lines.append(line_of(measure(options, name, kind, connections)))
                print(lines[-1], flush=True)
    if options.markdown:
        Path(options.markdown).write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
