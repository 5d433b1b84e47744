"""Measure R^2 of every regressor on targets in their own units, standardised and not.

    python benchmarks/raw_targets.py FOLDER [--rows 4000]

FOLDER holds the sets (LIBSVM text, packed with xz). Features are standardised, targets are as they
come. Each learner makes one pass over three quarters of a random order; R^2 is that of the others.
A cell holds R^2 of ``standardize_target=False`` and of the default; '-' is a learner that diverged.
"""

import warnings

import numpy as np
from command import read_options
from defaults import read
from sklearn.metrics import r2_score

import onlinekern

SETS = {"cadata": 8, "airlines2k": 8, "abalone_scale": 8, "cpusmall": 12, "elevators": 18}


def explained(cls, X, y, standardize):
    """Return R^2 on the last quarter of the rows after one pass over the others."""
    parameters = {"random_state": 0, "standardize_target": standardize}
    model = cls(**{name: value for name, value in parameters.items() if name in names(cls)})
    n = 3 * len(y) // 4
    learn = getattr(model, "partial_fit", model.fit)
    try:
        return r2_score(y[n:], learn(X[:n], y[:n]).predict(X[n:]))
    except FloatingPointError:
        return np.nan


def names(cls):
    return cls().get_params()


def shown(value):
    if np.isnan(value):
        return "-"
    return f"{value:.2f}" if value > -10 else f"{value:.0e}"


def main():
    options = read_options(__doc__, "folder", rows=4000)
    warnings.simplefilter("ignore")
    print(f"| learner | {' | '.join(SETS)} |\n|---|{'---:|' * len(SETS)}")
    for name, cls in onlinekern.all_estimators("regressor"):
        if "standardize_target" not in names(cls):
            continue
        cells = []
        for data, n_features in SETS.items():
            X, y = read(options.folder, data, n_features, options.rows, 0)
            found = [explained(cls, X, y, standardize) for standardize in (False, True)]
            cells.append(" / ".join(map(shown, found)))
        print(f"| {name} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
