"""Print errors of linear AROW on rows, on the cells of random trees, and of trees that saw y.

    python benchmarks/partition_features.py FOLDER [--orders 3] [--rows 20000] [--only NAME,...]

Sets and rows are those of `forests.py`; rows are standardised for the first column.
"""

import numpy as np
from command import read_options
from forests import LABELS, TARGETS, error_of, load

from onlinekern import AROWClassifier, AROWRegressor, OnlineStandardScaler, PartitionFeatures


def errors_of(X, y, Z, v, number, seed):
    """Return test errors of AROW on rows, and on both kinds of cells."""
    learner, target = (AROWRegressor, "numbers") if number else (AROWClassifier, "labels")
    classes = {} if number else {"classes": np.unique(y)}
    found = []
    transformers = [OnlineStandardScaler(), PartitionFeatures(random_state=seed),
                    PartitionFeatures(target=target, random_state=seed)]  # fmt: skip
    for transformer, told in zip(transformers, (None, None, y), strict=True):
        rows = transformer.learn_transform(X, told)
        model = learner(random_state=seed).partial_fit(rows, y, **classes)
        found.append(error_of(model.predict(transformer.transform(Z)), v, y, number))
    return found


def main():
    arguments = read_options(__doc__, "folder", orders=3, rows=20_000, only="")
    print("| set | rows | cells | cells of y |\n|---|---|---|---|")
    for name in [*LABELS, *TARGETS]:
        if arguments.only and name not in arguments.only.split(","):
            continue
        number = name in TARGETS
        errors = [
            errors_of(*load(arguments.folder, name, arguments.rows, order), number, order)
            for order in range(arguments.orders)
        ]
        form = ".3f" if number else ".2f"
        cells = [name, *(f"{value:{form}}" for value in np.mean(errors, axis=0))]
        print("| " + " | ".join(cells) + " |", flush=True)


if __name__ == "__main__":
    main()
