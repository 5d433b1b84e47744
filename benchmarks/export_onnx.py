"""Compare exported ONNX with the library and exported C: time of a score, agreement, sizes.

    python benchmarks/export_onnx.py
    python benchmarks/export_onnx.py --forests DIR

The models of export.py, and its kernel forests. onnxruntime has one thread; it scores all rows in
one call, and each row in a call of its own.
"""

import tempfile
from pathlib import Path

import numpy as np
import onnxruntime
from command import read_options
from export import FORESTS, fitted, forest_of, in_c, microseconds, samples


def session_of(made):
    """Return what scores rows with the file."""
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    session = onnxruntime.InferenceSession(made.path, options, ["CPUExecutionProvider"])
    return lambda rows: session.run(["scores"], {"X": rows})[0]


def timed(score, rows):
    """Return microseconds a row, of one call and of a call for each row."""
    parts = [rows[i : i + 1] for i in range(len(rows))]
    return microseconds(lambda: score(rows)), microseconds(lambda: [score(x) for x in parts])


def forests(data):
    """Print what kernel forests of real data take."""
    print(
        "| set | outputs | trees | type | file, bytes | onnxruntime, one call, µs | row by row, µs "
        "| decision_function, µs | C, µs | largest difference |"
    )
    print("|---" * 10 + "|")
    for name in FORESTS:
        for n_trees in (10, 100):
            model, X, _ = forest_of(Path(data) / f"{name}.libsvm.xz", n_trees)
            expected = model.decision_function(X).reshape(len(X), -1)
            block = microseconds(lambda model=model, X=X: model.decision_function(X))
            for dtype in ("float64", "float32"):
                with tempfile.TemporaryDirectory() as folder:
                    made = model.export_onnx(Path(folder) / "m.onnx", dtype=dtype)
                    code = model.export_c(Path(folder) / "m.c", dtype=dtype)
                    in_c_time, _ = in_c(code, X, dtype, expected.shape[1])
                    score, rows = session_of(made), X.astype(dtype)
                    error = np.abs(score(rows) - expected).max() / max(1, np.abs(expected).max())
                    together, apart = timed(score, rows)
                    print(
                        f"| {name} | {expected.shape[1]} | {n_trees} | {dtype} | {made.size:,} "
                        f"| {together:.2f} | {apart:.2f} | {block:.2f} | {in_c_time:.2f} "
                        f"| {error:.0e} |"
                    )


def main():
    data = read_options(__doc__, forests=None).forests
    if data is not None:
        forests(data)
        return
    models()


def models():
    """Print what the models of artificial data take."""
    X, y = samples()
    print(
        "| model | type | file, bytes | onnxruntime, one call, µs | row by row, µs "
        "| decision_function, µs | score_one, µs | C, µs | largest difference |"
    )
    print("|---|---|---|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        for number, (title, model, expected, block, single) in enumerate(fitted(X, y)):
            for dtype in ("float64", "float32"):
                stem = Path(folder) / f"m{number}{dtype[5:]}"
                in_c_time, _ = in_c(model.export_c(stem.with_suffix(".c"), dtype=dtype), X, dtype)
                made = model.export_onnx(stem.with_suffix(".onnx"), dtype=dtype)
                score, rows = session_of(made), X.astype(dtype)
                error = np.abs(score(rows)[:, 0] - expected).max() / max(1, np.abs(expected).max())
                together, apart = timed(score, rows)
                name = f"SPA, {model.n_support_} support vectors" if title == "SPA" else title
                print(
                    f"| {name} | {dtype} | {made.size:,} | {together:.2f} | {apart:.2f} "
                    f"| {block:.2f} | {single:.2f} | {in_c_time:.2f} | {error:.0e} |"
                )


if __name__ == "__main__":
    main()
