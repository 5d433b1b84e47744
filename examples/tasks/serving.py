"""Serving: a model over HTTP that goes on learning
=================================================

You get a server that predicts and learns at the same time, and loses nothing that it has
acknowledged when it is killed. This script trains a model, serves it, teaches it, kills the
server, and starts it again. It needs ``pip install 'onlinekern[serve]'``.
"""

import json
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

from onlinekern import StreamClassifier

rng = np.random.default_rng(0)
folder = Path(tempfile.mkdtemp())


def visits(n):
    """Return visitors of a shop as dictionaries, and who has bought."""
    rows = [{"page": str(rng.choice(["home", "shoes", "sale"])),
             "seconds": int(rng.integers(1, 300)),
             "at": f"2026-03-{rng.integers(1, 29):02d} {rng.integers(0, 24):02d}:00"}
            for _ in range(n)]  # fmt: skip
    bought = ["yes" if ((row["page"] == "sale") == (row["seconds"] > 60)) ^ (rng.random() < 0.1)
              else "no" for row in rows]  # fmt: skip
    return rows, bought


# %%
# Train and save
# --------------

rows, bought = visits(500)
StreamClassifier(random_state=0).partial_fit(rows, bought).save(folder / "shop.okn")

# %%
# Serve
# -----
# On the command line this is ``onlinekern serve shop.okn``. A free port keeps out of the way of
# others.

with socket.socket() as free:
    free.bind(("127.0.0.1", 0))
    PORT = free.getsockname()[1]
COMMAND = [sys.executable, "-m", "onlinekern", "serve", "shop.okn", "--port", str(PORT)]


def ask(path, content=None):
    """Send a request, and return the answer."""
    data = None if content is None else json.dumps(content).encode()
    address = f"http://127.0.0.1:{PORT}{path}"
    with urllib.request.urlopen(urllib.request.Request(address, data), timeout=30) as answer:
        return json.load(answer)


def start():
    """Start the server, and wait until it is ready."""
    server = subprocess.Popen(COMMAND, cwd=folder, stdout=subprocess.DEVNULL)
    for _ in range(600):
        try:
            ask("/health/ready")
            return server
        except OSError:
            if server.poll() is not None:
                raise RuntimeError("the server has ended") from None
            time.sleep(0.1)
    server.kill()
    raise RuntimeError("the server is not ready after a minute")


server = start()

# %%
# Predict and learn
# -----------------
# A row is an object with the columns of the table. ``/learn`` answers with the predictions made
# before.

print(ask("/predict", {"row": {"page": "sale", "seconds": 120, "at": "2026-03-30 12:00"}}))
try:
    for _ in range(30):
        rows, bought = visits(50)
        ask("/learn", {"rows": rows, "y": bought})
    told = ask("/summary")
finally:
    # %%
    # The server is killed: no warning, no time to write anything.
    server.send_signal(signal.SIGKILL)
    server.wait()

# %%
# Start it again
# --------------
# The same command goes on from what was acknowledged.

server = start()
print(f"learnt before the kill {told['model']['n_seen']}, after it {ask('/model')['n_seen']}")
server.terminate()
server.wait()

# %%
# What the page at ``/`` shows, drawn here: the error along the stream.

samples, total, lately = np.array(told["curve"]).T
figure, axes = plt.subplots(figsize=(8, 3.5), layout="constrained")
axes.plot(samples, 100 * lately, label="the last 1,000")
axes.plot(samples, 100 * total, linestyle="--", label="all since the start")
axes.set(xlabel="samples learnt", ylabel="mistakes (%)", ylim=(0, None))
axes.legend()
plt.show()
