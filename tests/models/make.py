"""Write the model files of the present format, which every later version must load.

    python -P tests/models/make.py        (with the library installed)

Each format has a folder. A file in it is written once and never again: a new case is added, and the
files that exist are left alone. `tests/test_model_formats.py` loads the files of all
folders and compares what the models do with what the JSON files say.
"""

import json
from pathlib import Path

import numpy as np
from scipy import sparse

import onlinekern
from onlinekern.fitted.save.model_file import FORMAT

FOLDER = Path(__file__).parent / f"format{FORMAT}"
TEXT = np.array(["hot", "cold"])
ROWS, COLUMNS, LEARNT = 60, 4, 40
# File -> class, parameters, labels (None for targets), layout of the samples.
CASES = {
    "spa": ("SPAClassifier", {"gamma": 0.5, "random_state": 1}, TEXT, "dense"),
    "kernel_ogd_average": (
        *("KernelOGDRegressor", {"gamma": 0.5, "average": True, "reg": 0.5, "eta": 0.4}),
        *(None, "float32"),
    ),
    "forgetron": ("ForgetronClassifier", {"gamma": 0.5, "budget": 9}, [-1, 1], "csr"),
    "rbp_draws": (
        *("RBPClassifier", {"budget": 8, "random_state": np.random.RandomState(5)}),
        *([0, 1, 2], "dense"),
    ),
    "bsgd": ("BSGDClassifier", {"gamma": 0.5, "budget": 9, "random_state": 2}, [0, 1, 2], "wide"),
    "projectron": ("ProjectronClassifier", {"gamma": 0.5, "budget": 9}, [0, 1], "dense"),
    "bolssvm": ("BOLSSVMClassifier", {"gamma": 0.5, "budget": 6}, [0, 1], "dense"),
    "dual_sgd": (
        *("DualSGDRegressor", {"budget": 8, "merge_size": 3, "n_components": 6, "random_state": 3}),
        *(None, "dense"),
    ),
    "fogd": ("FOGDClassifier", {"n_components": 8, "random_state": 4}, TEXT, "float32"),
    "nogd": ("NOGDRegressor", {"budget": 9, "n_components": 5, "random_state": 5}, None, "csr"),
    "olla": ("OLLAClassifier", {"gamma": 0.5, "random_state": 6}, [3, 7], "dense"),
    "lol": ("LOLClassifier", {"n_prototypes": 4, "random_state": 7}, [0, 1, 2], "dense"),
    "sdrogd": ("SDROGDClassifier", {"random_state": 8}, [0, 1], "dense"),
    "arow_full": ("AROWClassifier", {"covariance": "full"}, [0, 1, 2], "dense"),
    "pegasos_batches": ("PegasosClassifier", {"batch_size": 7}, [0, 1], "csr"),
    "pa": ("PAClassifier", {"C": 0.5, "average": True}, [False, True], "csr"),
    "one_class": ("SPAOneClass", {"gamma": 0.5, "random_state": 9}, None, "dense"),
    "kernel_arow_sketched": (
        "KernelAROWClassifier",
        {"covariance": "sketched", "sketch_size": 3, "n_components": 8, "gamma": 0.5},
        *([0, 1, 2], "dense"),
    ),
    "kernel_scw_fourier": (
        "KernelSCWClassifier",
        {"covariance": "diagonal", "features": "fourier", "n_components": 8, "random_state": 13},
        *([0, 1], "csr"),
    ),
    "stream_classifier": (
        "StreamClassifier",
        {"memory_budget": 1e-4, "random_state": 14},
        *([0, 1, 2], "dense"),
    ),
    "stream_regressor": (
        *("StreamRegressor", {"memory_budget": 1e-4, "random_state": 15}),
        *(None, "csr"),
    ),
    "kernel_mean": (
        *("KernelMeanDetector", {"n_components": 5, "forgetting": 0.9, "random_state": 12}),
        *(None, "csr"),
    ),
    "qklms": ("QKLMSRegressor", {"gamma": 0.5, "epsilon": 0.6, "budget": 12}, None, "dense"),
    "kernel_mean_nystroem": (
        *("KernelMeanDetector", {"features": "nystroem", "n_components": 7, "forgetting": 0.9}),
        *(None, "dense"),
    ),
    "kapa": ("KAPARegressor", {"gamma": 0.5, "order": 4, "budget": 8}, None, "csr"),
    "krls": ("KRLSRegressor", {"gamma": 0.5, "nu": 0.1, "budget": 12}, None, "dense"),
    "fixed_budget_krls": (
        *("FixedBudgetKRLSRegressor", {"gamma": 0.5, "budget": 6, "eta": 0.1}),
        *(None, "dense"),
    ),
    "krlst": ("KRLSTRegressor", {"gamma": 0.5, "budget": 6, "forgetting": 0.99}, None, "float32"),
    "kernel_rls": (
        *("KernelRLSClassifier", {"n_components": 9, "linear": False, "forgetting": 0.9}),
        *([0, 1, 2], "dense"),
    ),
    "kernel_rls_regressor": (
        *("KernelRLSRegressor", {"n_components": 8, "linear": False, "forgetting": 0.9}),
        *(None, "float32"),
    ),
    "kernel_mean_leverage": (
        "KernelMeanDetector",
        {"statistic": "leverage", "features": "nystroem", "n_components": 7, "forgetting": 0.9},
        *(None, "float32"),
    ),
    "fourier": ("FourierFeatures", {"n_components": 5, "random_state": 10}, None, "dense"),
    "nystroem": ("NystroemFeatures", {"n_components": 5, "random_state": 11}, None, "csr"),
    "directions": ("FrequentDirections", {"sketch_size": 3}, None, "dense"),
    "scaler": ("OnlineStandardScaler", {"forgetting": 0.9}, None, "float32"),
    "table": ("TableEncoder", {"max_categories": 4, "hashed_features": 5}, None, "table"),
    "unfitted": ("PAClassifier", {"class_weight": {"a": 2.0, None: np.inf}}, None, "dense"),
}


def samples(labels, layout):
    """Return rows and targets that follow from a formula: no generator of numbers is needed."""
    i, j = np.arange(ROWS)[:, None], np.arange(COLUMNS)
    X = ((i * (7 + 6 * j) * 31 + 5 * j) % 17 - 8) / 8.0
    hidden = X[:, 0] + X[:, 1] * X[:, 2]
    y = hidden
    if labels is not None:
        levels = np.quantile(hidden, np.linspace(0, 1, len(labels) + 1)[1:-1])
        y = np.asarray(labels)[np.digitize(hidden, levels)]
    if layout == "table":
        towns, day = ["Ulm", "Bonn", None], "2026-03-{:02}"
        X = [
            {
                "size": None if k % 7 == 3 else size,
                "town": towns[k % 3],
                "at": day.format(1 + k % 28),
            }
            for k, size in enumerate(X[:, 0].tolist())
        ]
    elif layout == "float32":
        X = X.astype(np.float32)
    elif layout == "csr":
        X = sparse.csr_matrix(X)
    elif layout == "wide":  # so many columns that support vectors are stored sparse
        X = sparse.csr_matrix(np.pad(X, ((0, 0), (0, 3000 - COLUMNS))))
    return X, y


def answers(model, X):
    """Return what a model says of rows, as lists of numbers."""
    for method in ("decision_function", "predict", "transform"):
        if hasattr(model, method):
            return np.asarray(getattr(model, method)(X), dtype=float).tolist()
    raise TypeError(f"{type(model).__name__} answers nothing")


def learn(model, X, y, labels):
    """Go on learning, as far as the model can."""
    first = {} if labels is None else {"classes": labels}
    if hasattr(model, "transform"):
        model.partial_fit(X)
    elif hasattr(model, "partial_fit"):
        model.partial_fit(X, y, **first)
    else:
        model.fit(X, y)


def main():
    FOLDER.mkdir(exist_ok=True)
    for file, (name, parameters, labels, layout) in CASES.items():
        if (FOLDER / f"{file}.okn").exists():  # it must stay as it is
            continue
        X, y = samples(labels, layout)
        model = getattr(onlinekern, name)(**parameters)
        said = {"labels": None if labels is None else list(map(str, labels)), "layout": layout}
        if file != "unfitted":
            learn(model, X[:LEARNT], y[:LEARNT], labels)
            said["answers"] = answers(model, X[LEARNT:])
        model.save(FOLDER / f"{file}.okn")
        said["parameters"] = {key: repr(value) for key, value in model.get_params().items()}
        if file != "unfitted":
            learn(model, X[LEARNT:], y[LEARNT:], labels)
            said["later"] = answers(model, X[:LEARNT])
        lines = (f"{json.dumps(key)}: {json.dumps(value)}" for key, value in said.items())
        text = "{\n" + ",\n".join(lines) + "\n}\n"
        (FOLDER / f"{file}.json").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
