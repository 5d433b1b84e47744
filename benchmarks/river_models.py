"""Compare the learners as models of river with river's own: accuracy and time per sample.

    python benchmarks/river_models.py [--repeat N]

Each model predicts a dictionary, then learns it (predict_one, learn_one), behind river's
StandardScaler; StreamClassifier scales by itself. The streams are river's, in their order. Times
are processor time of one thread without the scaler, which has made its dictionaries before: medians
of the runs. "own rows" is the same estimator with score_one and learn_one on arrays.
"""

import statistics
import time
import warnings

import numpy as np
from command import read_options
from river import datasets, feature_extraction, linear_model, preprocessing

from onlinekern import (
    ForgetronClassifier,
    KernelPAClassifier,
    NOGDClassifier,
    PAClassifier,
    ProjectronClassifier,
    StreamClassifier,
)
from onlinekern.compat.river import Learner

STREAMS = [datasets.Phishing, datasets.Bananas, datasets.ImageSegments]
OURS = {
    "PAClassifier": lambda: PAClassifier(random_state=0),
    "KernelPAClassifier": lambda: KernelPAClassifier(random_state=0),
    "ForgetronClassifier": lambda: ForgetronClassifier(random_state=0),
    "ProjectronClassifier": lambda: ProjectronClassifier(random_state=0),
    "NOGDClassifier": lambda: NOGDClassifier(random_state=0),
    "StreamClassifier": lambda: StreamClassifier(random_state=0),
}
RIVERS = {
    "river LogisticRegression": linear_model.LogisticRegression,
    "river ALMAClassifier": linear_model.ALMAClassifier,
    "river SoftmaxRegression": linear_model.SoftmaxRegression,
    # river's way to a kernel: random Fourier features before a linear model.
    "river RBFSampler, LogisticRegression": lambda: (
        feature_extraction.RBFSampler(seed=0) | linear_model.LogisticRegression()
    ),
    "river RBFSampler, SoftmaxRegression": lambda: (
        feature_extraction.RBFSampler(seed=0) | linear_model.SoftmaxRegression()
    ),
}
TWO_CLASSES = {name for name in RIVERS if name.endswith(("LogisticRegression", "ALMAClassifier"))}


def samples_of(stream, scaled):
    """Return the samples of a stream, scaled by those before them."""
    scaler = preprocessing.StandardScaler()
    samples = []
    for x, y in stream():
        scaler.learn_one(x)
        samples.append((scaler.transform_one(x) if scaled else x, y))
    return samples


def run(model, samples):
    """Return the share of right predictions, and microseconds per sample."""
    right = 0
    start = time.process_time()
    for x, y in samples:
        right += model.predict_one(x) == y
        model.learn_one(x, y)
    spent = time.process_time() - start
    return right / len(samples), spent / len(samples) * 1e6


def run_rows(estimator, samples):
    """Return microseconds per sample of an estimator that sees arrays."""
    rows = np.array([[x[name] for name in sorted(x)] for x, _ in samples])
    labels = [y for _, y in samples]
    estimator.partial_fit(rows[:1], labels[:1], classes=sorted(set(labels)))
    start = time.process_time()
    for row, label in zip(rows[1:], labels[1:], strict=True):
        estimator.score_one(row)
        estimator.learn_one(row, label)
    return (time.process_time() - start) / len(samples) * 1e6


def main():
    repeat = range(read_options(__doc__, repeat=5).repeat)
    warnings.simplefilter("ignore")
    print("| stream | features | model | accuracy, % | µs | own rows, µs |")
    print("|---|---:|---|---:|---:|---:|")
    for stream in STREAMS:
        for name in [*OURS, *RIVERS]:
            samples = samples_of(stream, scaled=name != "StreamClassifier")
            if name in TWO_CLASSES and len({y for _, y in samples}) > 2:
                continue
            make = OURS.get(name) or RIVERS[name]
            runs = [run(Learner(make()) if name in OURS else make(), samples) for _ in repeat]
            spent = statistics.median(time for _, time in runs)
            alone = "-"
            if name in OURS:
                alone = f"{statistics.median(run_rows(make(), samples) for _ in repeat):.1f}"
            print(
                f"| {stream.__name__} | {len(samples[0][0])} | {name} | {100 * runs[0][0]:.1f} "
                f"| {spent:.1f} | {alone} |",
                flush=True,
            )


if __name__ == "__main__":
    main()
