"""Print mistakes on text whose words share slots, and on text of 1,024 features.

    python benchmarks/slots.py FOLDER [--rows N]

Sets of FOLDER (LIBSVM text, packed with xz: spamcorpus, reuters-moneyfx, sector) are put together
as the texts that they were, but for how often a word comes. Each row is predicted, then learnt;
mistakes in per cent are those of all rows but the first 1,000.
"""

import warnings

import numpy as np
import pandas as pd
from command import read_options
from text import SETS, read

from onlinekern import (
    AROWClassifier,
    PAClassifier,
    StreamClassifier,
    TableEncoder,
    make_stream_pipeline,
)

FIRST, BLOCK = 1000, 200
WAYS = {"1,024 features": "one-hot", "slots": "hash"}


def mistakes(learner, categories, rows, y):
    """Return the mistakes in per cent behind the first rows."""
    encoder = TableEncoder(kinds={"text": "text"}, categories=categories)
    model, wrong = make_stream_pipeline(encoder, learner), []
    for k in range(0, len(y), BLOCK):
        part = slice(k, k + BLOCK)
        told = model.partial_fit_predict(rows[part], y[part], classes=[-1, 1])
        wrong.append(told != y[part])
    return 100 * np.concatenate(wrong)[FIRST:].mean()


def main():
    options = read_options(__doc__, "folder", rows=4000)
    warnings.simplefilter("ignore")
    print("|".join(["set", "learner", *WAYS]))
    for name in SETS:
        X, y = read(options.folder, name)
        X, y = X[: options.rows].tocsr(), y[: options.rows]
        texts = [" ".join(f"w{k}" for k in X[i].indices) for i in range(X.shape[0])]
        rows = pd.DataFrame({"text": texts})
        for learner in (StreamClassifier, PAClassifier, AROWClassifier):
            cells = [f"{mistakes(learner(), way, rows, y):.2f}" for way in WAYS.values()]
            print("|".join([name, learner.__name__, *cells]), flush=True)


if __name__ == "__main__":
    main()
