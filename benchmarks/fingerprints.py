"""Hash what every estimator learns, to show that a change of the code changes no bit.

``python benchmarks/fingerprints.py --save before.json`` learns small streams with every estimator,
dense and CSR, in both dtypes, with each choice of each parameter, and writes a hash of the
predictions, scores, fitted attributes and counters. ``--compare before.json`` does it again and
names what differs. Hashes are comparable on one machine and one instruction set only.
"""

import argparse
import hashlib
import json
import pickle
import sys
import warnings

import numpy as np
import scipy.sparse as sp
from sklearn.base import is_classifier, is_outlier_detector
from sklearn.utils._param_validation import StrOptions

from onlinekern import all_estimators

SIZES = {
    "gamma": 0.4,
    "budget": 12,
    "n_components": 8,
    "merge_size": 3,
    "n_prototypes": 4,
    "sketch_size": 4,
}
# Parameters with choices that change what is learnt; SIZES adds values of numeric parameters.
NUMBERS = {"max_support": 15, "window": 3, "n_epochs": 2, "eta": 0.2, "reg": 0.1, "C": 0.3}


def stream(task, seed, n=130, d=7):
    """Return samples with zeros, and noisy labels or targets."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d)).astype(np.float32).astype(np.float64)
    X[rng.random((n, d)) < 0.4] = 0
    hidden = X[:, 0] + 0.7 * X[:, 1] - 0.5 * X[:, 2] ** 2 + 0.3 * rng.standard_normal(n)
    if task == "binary":
        return X, np.where(hidden > 0, "yes", "no")
    if task == "multi-class":
        return X, np.digitize(hidden, [-1.0, 0.5]) * 10 + 5
    return X, hidden


def choices(cls):
    """Yield parameter settings: the defaults, and each choice of each parameter on its own."""
    defaults = cls().get_params()
    base = {name: value for name, value in SIZES.items() if name in defaults}
    if "random_state" in defaults:
        base["random_state"] = 3
    yield "defaults", base
    for name, constraints in sorted(cls._parameter_constraints.items()):
        values = [NUMBERS[name]] if name in NUMBERS else []
        for constraint in constraints:
            if isinstance(constraint, StrOptions):
                values += sorted(constraint.options)
            elif constraint == "boolean":
                values += [True, False]
        for value in values:
            if value != defaults.get(name, base.get(name)) and name != "verbose":
                yield f"{name}={value}", {**base, name: value}


def update(digest, value):
    """Add a value of any type to a hash."""
    if sp.issparse(value):
        value = value.toarray()
    if isinstance(value, np.ndarray) and value.dtype.kind in "fiub":
        digest.update(str(value.shape).encode() + str(value.dtype).encode())
        digest.update(np.ascontiguousarray(value).tobytes())
    elif isinstance(value, (list, tuple)):
        for item in value:
            update(digest, item)
    else:
        digest.update(repr(value).encode())


def describe(model, X, digest):
    """Add all public results of a fitted model to a hash."""
    for name in sorted(dir(model)):
        if name.endswith("_") and not name.startswith("_"):
            try:
                value = getattr(model, name)
            except (AttributeError, ValueError) as error:
                value = type(error).__name__
            if not callable(value):
                update(digest, [name, value])
    for verb in ("decision_function", "predict"):
        if hasattr(model, verb):
            update(digest, getattr(model, verb)(X))
    if hasattr(model, "score_one"):
        update(digest, np.asarray(model.score_one(X[0])))


def learn(cls, parameters, X, y):
    """Hash a model that learns a stream in parts, is pickled in the middle, and is fitted."""
    digest = hashlib.sha256()
    model = cls(**parameters)
    labels = {"classes": np.unique(y)} if is_classifier(model) else {}
    if hasattr(model, "partial_fit"):
        half = len(y) // 2
        for part in (slice(0, 40), slice(40, half)):
            if is_outlier_detector(model):
                model.partial_fit(X[part])
            else:
                update(digest, model.partial_fit_predict(X[part], y[part], **labels))
        model = pickle.loads(pickle.dumps(model))
        for i in range(half, len(y)):
            row = X[i]
            if is_outlier_detector(model):
                model.learn_one(row)
            else:
                model.learn_one(row, y[i])
        describe(model, X, digest)
    model = cls(**parameters)
    model.fit(X) if is_outlier_detector(model) else model.fit(X, y)
    describe(model, X, digest)
    if hasattr(model, "partial_fit") and not is_outlier_detector(model):
        weight = np.linspace(0, 2, len(y))
        model = cls(**parameters).partial_fit(X, y, sample_weight=weight, **labels)
        describe(model, X, digest)
    return digest.hexdigest()[:16]


def fingerprints(seeds, names):
    """Return the hash of each estimator, setting, task, layout, dtype and seed."""
    found = {}
    for name, cls in all_estimators():
        if names and name not in names:
            continue
        if is_classifier(cls()):
            tasks = ("binary", "multi-class")
        else:
            tasks = ("regression",)
        for choice, parameters in choices(cls):
            for task in tasks:
                for seed in range(seeds if choice == "defaults" else 1):
                    X, y = stream(task, seed)
                    for dtype in (np.float32, np.float64):
                        for form in (np.ascontiguousarray, sp.csr_matrix):
                            samples = form(X.astype(dtype))
                            layout = "csr" if sp.issparse(samples) else "dense"
                            key = f"{name} {choice} {task} {layout} {np.dtype(dtype)} {seed}"
                            try:
                                found[key] = learn(cls, parameters, samples, y)
                            except Exception as error:
                                found[key] = type(error).__name__
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--save", metavar="FILE")
    parser.add_argument("--compare", metavar="FILE")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("names", nargs="*", help="estimators; all by default")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    found = fingerprints(arguments.seeds, arguments.names)
    errors = sorted({value for value in found.values() if len(value) != 16})
    failed = sum(len(value) != 16 for value in found.values())
    print(f"{len(found)} fingerprints, {failed} of which are errors {errors}")
    if arguments.save:
        with open(arguments.save, "w", encoding="utf-8") as file:
            json.dump(found, file, indent=0, sort_keys=True)
    if arguments.compare:
        with open(arguments.compare, encoding="utf-8") as file:
            before = json.load(file)
        common = found.keys() & before.keys()
        differ = sorted(key for key in common if found[key] != before[key])
        for key in differ:
            print(key, before[key], found[key])
        print(f"{len(common)} compared, {len(differ)} differ")
        sys.exit(bool(differ) or not common)


if __name__ == "__main__":
    main()
