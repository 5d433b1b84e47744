"""
Learn a stream with Flink
=========================

Parts of a stream are learnt in rounds. Then a stream goes on from that model, with a model for each
town, which Flink keeps as keyed state; at the end of the stream it gives them.

    pip install 'onlinekern[flink]'
    python examples/clusters/flink_streams.py
"""

from functools import partial

import numpy as np
from pyflink.common import Row, Types
from pyflink.datastream import StreamExecutionEnvironment

from onlinekern import KernelRLSClassifier
from onlinekern.distributed import flink

PARTS, ROWS = 4, 5000
NAMES = ["town", "a", "b", "c", "sold"]
KIND = Types.ROW_NAMED(NAMES, [Types.STRING()] + 3 * [Types.DOUBLE()] + [Types.LONG()])


def read(part):
    """Return one part of the stream; in earnest it would be a file."""
    rng = np.random.default_rng(part)
    X = rng.normal(size=(ROWS, 3))
    return X, (X[:, 0] * X[:, 1] > 0.1).astype(int)


def rows_of(part):
    """Return the same as rows of Flink, with a town."""
    X, y = read(part)
    return [
        Row("Ulm" if x[2] > 0 else "Bonn", *x, label)
        for x, label in zip(X.tolist(), y.tolist(), strict=True)
    ]


def main():
    learner = KernelRLSClassifier(n_components=100, gate="always", random_state=0)
    parts = [partial(read, part) for part in range(PARTS)]
    fitted = flink.fit(learner, parts, classes=[0, 1], rounds=2, n_learners=2)
    for one in fitted.rounds:
        share = one.mistakes / one.samples
        print(f"round {one.number}: {one.samples:,} samples, {share:.2%} mistakes")
    environment = StreamExecutionEnvironment.get_execution_environment()
    rows = environment.from_collection(rows_of(PARTS), KIND)
    answers, _ = flink.learn_stream(fitted.model, rows, "town", "sold", features=["a", "b", "c"])
    with answers.execute_and_collect() as found:
        wrong = np.mean([row[-1] != row[-2] for row in found])
    print(f"stream: {wrong:.2%} mistakes")


if __name__ == "__main__":
    main()
