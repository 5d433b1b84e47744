"""Compare budgeted kernel learners at equal budgets: mistakes, test errors, time of a row.

    python benchmarks/budgets.py --data DIR [--budgets 100 400] [--only TEXT]

At most 20,000 training rows of each set, standardised by their means and deviations unless all
features are alike. Every setting of a learner's grid learns the first 5,000 rows of an order of
their own, at the same budget; that of the fewest mistakes learns all rows, in three orders. gamma
is `WIDTHS` times that of `gamma="median"`. Times are CPU times
of learning, on one thread.
"""

import lzma
import time
from itertools import product
from pathlib import Path

import numpy as np
from command import read_options
from scipy import sparse
from sklearn.datasets import load_svmlight_file
from sklearn.utils import shuffle
from threadpoolctl import threadpool_limits

import onlinekern as ok

ROWS, HEAD, ORDERS = 20_000, 5_000, 3
WIDTHS = (0.0625, 0.25, 1.0, 4.0, 16.0)
HIDDEN = ("budget", "gamma", "plus_plus")
LEARNERS = {
    "BPA-S": (ok.BPAClassifier, {"C": (0.1, 0.25, 0.5, 1.0, 2.0)}),
    "Ahpatron": (ok.AhpatronClassifier, {"eta": (0.06, 0.125, 0.25, 0.5, 1.0)}),
    "Projectron++": (ok.ProjectronClassifier, {"plus_plus": (True,), "eta": (0.03, 0.1, 0.3)}),
    "BSGD": (ok.BSGDClassifier, {"reg": (1e-5, 1e-4, 1e-3, 1e-2)}),
    "BOGD": (ok.BOGDClassifier, {"eta": (0.1, 0.25, 0.5, 1.0, 2.0)}),
}
# Training part, test part or None, whether features are standardised, the class against the rest.
SETS = {
    "a9a": ("a9a.train", "a9a.test", False, None),
    "ijcnn1": ("ijcnn1.train", "ijcnn1.test", True, None),
    "cod-rna": ("cod-rna.train", "cod-rna.test", True, None),
    "spambase": ("spambase", None, True, None),
    "phishing": ("phishing", None, False, None),
    "covtype": ("covtype.first20k", None, True, 2),
    "susy": ("susy.sample30k", None, True, None),
    "eeg": ("eeg-eye-state", None, True, None),
}


def read(folder, name, n_features=None):
    """Return rows and labels of a file, packed or not."""
    path = next(folder / f"{name}.libsvm{end}" for end in (".xz", "")
                if (folder / f"{name}.libsvm{end}").exists())  # fmt: skip
    if path.suffix == ".xz":
        with lzma.open(path) as file:
            return load_svmlight_file(file, n_features=n_features)
    return load_svmlight_file(path, n_features=n_features)


def load(folder, name):
    """Return training rows and labels, and test rows and labels, in float32."""
    train, test, standardised, label = SETS[name]
    X, y = shuffle(*read(folder, train), random_state=12345)
    if test is None:
        cut = min(len(y) * 4 // 5, ROWS)
        Z, z = X[cut : cut + ROWS], y[cut : cut + ROWS]
        X, y = X[:cut], y[:cut]
    else:
        Z, z = shuffle(*read(folder, test, X.shape[1]), random_state=12345)
        X, y, Z, z = X[:ROWS], y[:ROWS], Z[:ROWS], z[:ROWS]
    if label is not None:
        y, z = y == label, z == label
    if standardised:
        X, Z = X.toarray(), Z.toarray()
        mean, deviation = X.mean(axis=0), X.std(axis=0)
        X, Z = ((rows - mean) / np.where(deviation > 0, deviation, 1) for rows in (X, Z))
    form = sparse.csr_matrix if sparse.issparse(X) else np.ascontiguousarray
    return form(X, dtype=np.float32), y, form(Z, dtype=np.float32), z


def learnt(cls, setting, X, y):
    """Return a model that has learnt the rows, and the seconds it took."""
    model = cls(random_state=0, **setting)
    begin = time.process_time()
    model.partial_fit(X, y, classes=np.unique(y))
    return model, time.process_time() - begin


def chosen(cls, grid, budget, width, X, y):
    """Return the setting of the fewest mistakes on the first rows."""
    gammas = [width * factor for factor in WIDTHS]
    grid = {"gamma": gammas, "budget": [budget], **grid}
    settings = [dict(zip(grid, values, strict=True)) for values in product(*grid.values())]
    mistakes = [learnt(cls, one, X[:HEAD], y[:HEAD])[0].n_mistakes_ for one in settings]
    return settings[int(np.argmin(mistakes))]


def measure(cls, setting, data):
    """Return the rates of mistakes and of test errors in %, and microseconds a row, by order."""
    X, y, Z, z = data
    found = []
    for seed in range(ORDERS):
        rows, labels = shuffle(X, y, random_state=seed)
        model, seconds = learnt(cls, setting, rows, labels)
        errors = 1 - model.score(Z, z)
        found.append((100 * model.n_mistakes_ / len(y), 100 * errors, 1e6 * seconds / len(y)))
    return np.array(found).T


def main():
    """Print a row for each set, budget and learner."""
    options = read_options(
        __doc__, data={"type": Path, "required": True}, budgets=[100, 400], only=""
    )
    for name, budget in product(SETS, options.budgets):
        if options.only not in name:
            continue
        data = load(options.data, name)
        X, y = data[:2]
        width = ok.KernelPerceptronClassifier(max_support=1, when_full="oldest")
        width = width.partial_fit(X[:200], y[:200], classes=np.unique(y)).gamma_
        for label, (cls, grid) in LEARNERS.items():
            with threadpool_limits(1):
                setting = chosen(cls, grid, budget, width, X, y)
                mistakes, errors, times = measure(cls, setting, data)
            shown = {key: value for key, value in setting.items() if key not in HIDDEN}
            print(f"| {name} | {budget} | {label} | {mistakes.mean():.2f} ± {mistakes.std():.2f} | "
                  f"{errors.mean():.2f} ± {errors.std():.2f} | {np.median(times):.1f} | "
                  f"{setting['gamma'] / width:g} {shown} |", flush=True)  # fmt: skip


if __name__ == "__main__":
    main()
