"""Print errors of kernel least squares after one and two passes, without and with a metric.

    python benchmarks/second_pass.py FOLDER [--orders 5] [--rows 20000] [--components 400]

FOLDER holds the sets (LIBSVM text, packed with xz). Each is put into random orders; of its first
rows, 70 % are learnt, standardised, in float32, and the others test. Prints mean test errors in per
cent (of targets: the root mean square error over their deviation), and processor time a row.
"""

import time

import numpy as np
from command import read_options
from forests import SETS, TARGETS, error_of, load

from onlinekern import KernelRLSClassifier, KernelRLSRegressor, OnlineStandardScaler

MORE = ("usps.train", "optdigits", "waveform5000", "dna.train")
COLUMNS = [
    {"n_epochs": passes, "metric": metric} for metric in ("none", "auto") for passes in (1, 2)
]


def main():
    arguments = read_options(__doc__, "folder", orders=5, rows=20_000, components=400)
    print("| set | one pass | two | metric, one pass | two |\n" + "|---" * 5 + "|")
    for name in (*SETS, *MORE):
        number = name in TARGETS
        learner = KernelRLSRegressor if number else KernelRLSClassifier
        errors, costs = [], []
        for order in range(arguments.orders):
            X, y, Z, v = load(arguments.folder, name, arguments.rows, order)
            scaler = OnlineStandardScaler(clip=5.0).fit(X)
            X, Z = (scaler.transform(rows).astype(np.float32) for rows in (X, Z))
            for column in COLUMNS:
                model = learner(n_components=arguments.components, random_state=0, **column)
                began = time.process_time()
                model.fit(X, y)
                costs.append(1e6 * (time.process_time() - began) / len(X))
                errors.append(error_of(model.predict(Z), v, y, number))
        mean = np.reshape(errors, (-1, len(COLUMNS))).mean(axis=0)
        cost = np.median(np.reshape(costs, (-1, len(COLUMNS))), axis=0)
        cells = [
            f"{value:{'.3f' if number else '.2f'}} ({time:.0f})"
            for value, time in zip(mean, cost, strict=True)
        ]
        print(f"| {name} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
