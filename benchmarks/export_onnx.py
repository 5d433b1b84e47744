"""Compare exported ONNX with the library and exported C: time of a score, agreement, sizes.

    python benchmarks/export_onnx.py

The models of export.py. onnxruntime has one thread; it scores all rows in one call, and each row in
a call of its own.
"""

import tempfile
from pathlib import Path

import numpy as np
import onnxruntime
from export import fitted, in_c, microseconds, samples


def session_of(made):
    """Return what scores rows with the file."""
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    session = onnxruntime.InferenceSession(made.path, options, ["CPUExecutionProvider"])
    return lambda rows: session.run(["scores"], {"X": rows})[0]


def main():
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
                parts = [rows[i : i + 1] for i in range(len(rows))]
                error = np.abs(score(rows)[:, 0] - expected).max() / max(1, np.abs(expected).max())
                together = microseconds(lambda score=score, rows=rows: score(rows))
                apart = microseconds(lambda score=score, parts=parts: [score(x) for x in parts])
                name = f"SPA, {model.n_support_} support vectors" if title == "SPA" else title
                print(
                    f"| {name} | {dtype} | {made.size:,} | {together:.2f} | {apart:.2f} "
                    f"| {block:.2f} | {single:.2f} | {in_c_time:.2f} | {error:.0e} |"
                )


if __name__ == "__main__":
    main()
