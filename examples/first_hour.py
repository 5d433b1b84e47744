"""The first hour with a table
===========================

You get, from one data frame: a model, its error beside boosted trees, a C file, a server, and a
page that tells of it all. Each part is a cell; run them one by one in a notebook, or all of them:

.. code-block:: sh

    pip install 'onlinekern[serve,onnx]' pandas onnxruntime
    python examples/first_hour.py [ROWS]
"""

import json
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.ensemble import HistGradientBoostingRegressor

from onlinekern import StreamRegressor
from onlinekern.evaluate import prequential
from onlinekern.plotting import PrequentialDisplay
from onlinekern.reports import report_html

ROWS = int(sys.argv[1]) if sys.argv[1:] else 6000
folder = Path(tempfile.mkdtemp())


def sales(rows, seed=0):
    """Return a data frame of a shop's hours, and what was sold in each."""
    rng = np.random.default_rng(seed)
    at = pd.date_range("2025-01-01", periods=rows, freq="h")
    town = rng.choice(["Ulm", "Bonn", "Kiel"], rows)
    price = rng.uniform(5, 15, rows)
    open_hours = np.exp(-((at.hour.to_numpy() - 15) ** 2) / 20)
    size = pd.Series(town).map({"Ulm": 1.0, "Bonn": 2.0, "Kiel": 0.6}).to_numpy()
    sold = 40 * open_hours * size * np.exp(-price / 12) * np.where(at.day_of_week == 5, 1.8, 1.0)
    price[rng.random(rows) < 0.05] = np.nan
    table = pd.DataFrame({"at": at, "town": town, "price": price, "sale": rng.random(rows) < 0.1})
    return table, sold * np.where(table["sale"], 1.5, 1.0) + rng.normal(0, 1, rows)


table, sold = sales(ROWS)
print(table.head(3).to_string())

# %%
# 1. The data frame straight in
# -----------------------------
# Dates, text, a yes or no, and holes: an encoder inside the model makes numbers of them.
# ``verbose`` shows how far a long fit is.

model = StreamRegressor(random_state=0, verbose=1).fit(table, sold)
print(model.encoder_.kinds_)

# %%
# 2. How good is it?
# ------------------
# Each row is predicted before it is learnt; the curve grows in a notebook while the stream runs.
# Boosted trees get the parts of the date by hand, and the first half to be fitted to.

learner = StreamRegressor(random_state=0)
shown = PrequentialDisplay.from_stream(learner, table, sold, window=500, live=True)
half = ROWS // 2
parts = table.assign(hour=table["at"].dt.hour, day=table["at"].dt.day_of_week,
                     town=pd.factorize(table["town"])[0]).drop(columns="at")  # fmt: skip
boosting = HistGradientBoostingRegressor(random_state=0).fit(parts[:half], sold[:half])
error = np.sqrt(np.mean((boosting.predict(parts[half:]) - sold[half:]) ** 2))
print(f"StreamRegressor, later half: root mean square error {shown.result.late_error:.2f}")
print(f"boosted trees, later half:   {error:.2f}; the mean alone {np.std(sold):.2f}")

# %%
# 3. The same model in C and in ONNX
# ----------------------------------
# Both take the columns of the table. The C file needs nothing but a compiler.

made = learner.export_c(folder / "shop.c")
print(f"{made.code.name}: {made.flash:,} bytes of constants")
MAIN = """
#include <stdio.h>
#include "shop.h"
int main(void) {
    shop_value row[SHOP_N_COLUMNS] = {{1772460000.0, 0}, {0, "Ulm"}, {7.5, 0}, {1, 0}};
    double sold;
    shop_score_row(row, &sold);
    printf("%.4f\\n", sold);
    return 0;
}
"""
now = {"at": pd.Timestamp(1772460000, unit="s"), "town": "Ulm", "price": 7.5, "sale": True}
expected = learner.predict([now])[0]
if shutil.which("cc"):
    (folder / "main.c").write_text(MAIN)
    compiled = ["cc", "-O2", "-std=c99", "main.c", "shop.c", "-lm", "-o", "shop"]
    subprocess.run(compiled, cwd=folder, check=True)
    found = float(subprocess.run([folder / "shop"], capture_output=True, check=True).stdout)
    print(f"C says {found:.4f}, Python {expected:.4f}")
    assert abs(found - expected) < 1e-3
if find_spec("onnx") and find_spec("onnxruntime"):
    import onnxruntime

    session = onnxruntime.InferenceSession(learner.export_onnx(folder / "shop.onnx").path)
    given = {
        "at": np.array([[1772460000.0]]),
        "town": np.array([["Ulm"]], dtype=object),
        "price": np.array([[7.5]], np.float32),
        "sale": np.array([[1.0]], np.float32),
    }
    found = float(np.asarray(session.run(None, given)[0]).item())
    print(f"ONNX says {found:.4f}")
    assert abs(found - expected) < 1e-2

# %%
# 4. A server that goes on learning
# ---------------------------------
# ``onlinekern serve shop.okn`` does it on the command line. Open its address in a browser to see
# the model, its error along the stream, and its last requests.


def ask(port, path, content=None):
    """Send a request, and return the answer."""
    data = None if content is None else json.dumps(content).encode()
    request = urllib.request.Request(f"http://127.0.0.1:{port}{path}", data)
    with urllib.request.urlopen(request, timeout=30) as answer:
        return json.load(answer)


def start(port):
    """Start the server, and wait until it is ready."""
    command = [sys.executable, "-m", "onlinekern", "serve", "shop.okn", "--port", str(port)]
    server = subprocess.Popen(command, cwd=folder, stdout=subprocess.DEVNULL)
    for _ in range(600):
        try:
            ask(port, "/health/ready")
            return server
        except OSError:
            time.sleep(0.1)
    server.kill()
    raise RuntimeError("the server is not ready after a minute")


learner.save(folder / "shop.okn")
if find_spec("starlette") and find_spec("uvicorn"):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    server = start(port)
    row = {"at": "2026-03-02 14:00", "town": "Ulm", "price": 7.5, "sale": True}
    print(ask(port, "/predict", {"row": row}))
    print(ask(port, "/learn", {"rows": [row], "y": [31.0]}))
    server.terminate()
    server.wait()

# %%
# 5. A page that tells of it
# --------------------------
# One HTML file without network: the error along the stream, importances, columns, parameters,
# memory and time. In a notebook, ``report_html(...)`` shows it below the cell.

page = report_html(learner, folder / "shop.html", result=shown.result, window=500)
print(f"{folder / 'shop.html'}: {len(page):,} letters")

# %%
# Any learner of the library takes the same table: a linear one, for comparison.

from onlinekern import OnlineStandardScaler, PARegressor, TableEncoder, make_stream_pipeline  # noqa: E402

plain = make_stream_pipeline(TableEncoder(), OnlineStandardScaler(), PARegressor(random_state=0))
print(f"linear: {prequential(plain, [(table, sold)]).late_error:.2f}")
