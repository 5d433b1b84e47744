"""Damage the state of fitted models, one leaf at a time, and use what is restored.

The state of a model is the tree of the arguments that its `__reduce__`, and those of its parts,
give. A damage is to be refused with ValueError or TypeError, or with MemoryError before memory is
asked for, or the model that is restored must be safe to use: it may raise, but never crash. A crash
ends the process; the last line that it wrote names the case.

    python -m harness.damage --cases 2000
"""

import argparse
import contextlib
import copy
import math
import pickle
import resource
import signal
import types
import warnings

import numpy as np
import scipy.sparse as sp

from harness import subjects
from onlinekern.core.base.random import Generator
from onlinekern.core.budgets.policy import RefuseWhenFull
from onlinekern.core.kernels.kernels import Gaussian
from onlinekern.core.learning.heads import SeveralTargets
from onlinekern.core.learning.losses import Hinge
from onlinekern.core.race import Race

REFUSALS = (ValueError, TypeError, MemoryError, OverflowError)
# A model that is restored from a damaged state, and then used, may raise these.
FAILURES = (*REFUSALS, FloatingPointError, NotImplementedError)
MOST_BYTES = 8 << 30
MOST_SECONDS = 60
# Parts that no estimator has by default.
VARIANTS = [
    ("BSGDClassifier", {"maintenance": "remove"}),
    ("BSGDClassifier", {"maintenance": "project"}),
    ("BOGDClassifier", {"removal": "nonuniform"}),
    ("KernelPerceptronClassifier", {"max_support": 12}),
    ("KernelPerceptronClassifier", {"max_support": 12, "when_full": "stop"}),
    ("AROWClassifier", {"covariance": "full"}),
    ("PegasosClassifier", {"batch_size": 7}),
    ("LOLClassifier", {"multi_class": "margin"}),
    ("KernelMeanDetector", {"features": "nystroem"}),
    ("KernelMeanDetector", {"statistic": "leverage"}),
    ("KernelMeanDetector", {"statistic": "leverage", "features": "nystroem", "forgetting": 0.9}),
]


class Made(types.SimpleNamespace):
    """An object of the core as the function that makes it, and its arguments."""


def taken_apart(value):
    """Return a copy of a state in which each object of the core is a `Made`."""
    if isinstance(value, dict):
        return {key: taken_apart(item) for key, item in value.items()}
    if isinstance(value, tuple | list):
        return type(value)(map(taken_apart, value))
    if type(value).__module__.startswith("onlinekern.core."):
        make, arguments = value.__reduce__()
        return Made(make=make, arguments=taken_apart(arguments))
    return value


def put_together(tree):
    """Return the state of which `tree` is the copy, made anew from the leaves up."""
    if isinstance(tree, dict):
        return {key: put_together(item) for key, item in tree.items()}
    if isinstance(tree, tuple | list):
        return type(tree)(map(put_together, tree))
    if isinstance(tree, Made):
        return tree.make(*put_together(tree.arguments))
    return copy.copy(tree)


def places(tree, path=()):
    """Yield (path, value) of everything in a tree, the tree itself left out."""
    if isinstance(tree, Made):
        yield from places(tree.arguments, (*path, "arguments"))
    items = tree.items() if isinstance(tree, dict) else ()
    if isinstance(tree, tuple | list):
        items = enumerate(tree)
    for key, value in items:
        yield (*path, key), value
        yield from places(value, (*path, key))


def replaced(tree, path, fresh):
    """Return a copy of a tree with another value at a path."""
    if not path:
        return fresh
    key, *rest = path
    if isinstance(tree, Made):
        return Made(make=tree.make, arguments=replaced(tree.arguments, rest, fresh))
    whole = dict(tree) if isinstance(tree, dict) else list(tree)
    whole[key] = replaced(tree[key], rest, fresh)
    return type(tree)(whole)


STRANGE = {
    "None": None, "text": "7", "empty tuple": (), "a dictionary": {"a": 1}, "a list": [1.0, 2.0],
    "a loss": Hinge(), "a kernel": Gaussian(0.5), "a budget": RefuseWhenFull(3),
    "a generator": Generator(3), "a class": int, "complex": 1j, "an array": np.ones((2, 3)),
}  # fmt: skip
NUMBERS = {
    "-1": -1, "0": 0, "2**31": 2**31, "2**62": 2**62, "-2**63": -(2**63), "10**30": 10**30,
    "NaN": math.nan, "infinity": math.inf, "0.5": 0.5,
}  # fmt: skip


def damages_of_array(array):
    """Yield (name, damaged copy) of an array."""
    row = array[:1] if len(array) else np.zeros((1, *array.shape[1:]), array.dtype)
    yield "one longer", np.concatenate([array, row])
    yield "ten longer", np.concatenate([array, np.ones((10, *array.shape[1:]))]).astype(array.dtype)
    yield "one shorter", array[:-1]
    yield "no rows", array[:0]
    yield "transposed", np.ascontiguousarray(array.T)
    yield "one axis more", array[..., None]
    yield "flat", array.ravel()
    yield "no axis", np.array(3.0)
    for dtype in ("O", "c16", "i4", "u8", "f4", "f2", "U3", "?"):
        yield dtype, array.astype(dtype)
    if array.ndim > 1:
        yield "a column longer", np.pad(array, [(0, 0)] * (array.ndim - 1) + [(0, 1)])
        yield "a column shorter", array[..., :-1]
    for number in (-1, 0, 2**31, 2**62, math.nan, math.inf, -1e300, 1e308):
        for place in {0, array.size // 2, array.size - 1} if array.size else ():
            if array.dtype.kind == "f" or (not math.isnan(number) and abs(number) < 2**63):
                damaged = array.copy()
                with np.errstate(all="ignore"):
                    damaged.flat[place] = np.array(number).astype(array.dtype)
                yield f"{number} at {place}", damaged


def damages_of_csr(matrix):
    """Yield (name, damaged copy) of a CSR matrix, which may be none afterwards."""
    yield "a row less", matrix[:-1]
    yield "a column less", matrix[:, :-1]
    yield "coo", matrix.tocoo()
    yield "dense", matrix.toarray()
    yield "float32", matrix.astype("f4")
    yield "complex", matrix.astype("c16")
    for name in ("data", "indices", "indptr"):
        for damage, array in damages_of_array(getattr(matrix, name)):
            damaged = matrix.copy()
            setattr(damaged, name, array)
            yield f"{name} {damage}", damaged
    for shape in ((2**31, 3), (3, 2**40), (-1, -1), (len(matrix.indptr), matrix.shape[1])):
        damaged = matrix.copy()
        damaged._shape = shape
        yield f"shape {shape}", damaged


def damages_of(value):
    """Yield (name, damaged value) for a value of a state."""
    if isinstance(value, np.ndarray):
        yield from damages_of_array(value)
    elif sp.issparse(value):
        yield from damages_of_csr(value)
    elif isinstance(value, dict):
        for key in value:
            yield f"without {key}", {name: value[name] for name in value if name != key}
        yield "one more", {**value, "more": 1}
    elif isinstance(value, tuple | list):
        yield "one shorter", value[:-1]
        yield "one longer", value + type(value)([1])
    elif isinstance(value, bool | int | float | np.generic):
        yield from NUMBERS.items()
        if not isinstance(value, bool):
            yield "one more", value + 1
            yield "one less", value - 1
            yield "negative", -value
            yield "true", True
        else:
            yield "the other", not value
    elif isinstance(value, type | np.dtype):
        for dtype in (np.float32, np.float64, np.int64, np.dtype("O")):
            yield str(dtype), dtype
        yield "another class", RefuseWhenFull
    elif isinstance(value, Made):
        cls = type(value.make(*put_together(value.arguments)))
        yield "not initialised", Made(make=cls.__new__, arguments=(cls,))
    yield from STRANGE.items()


def fitted(name, parameters, layout):
    """Return an estimator that has learnt a few samples, and these as its model takes them."""
    estimator = subjects.build(name, average=layout == "csr", **parameters)
    X, y = subjects.samples(estimator, 60, layout=layout)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        estimator.fit(X, *subjects.targets(estimator, y))
    return estimator._model, estimator._layout(X)


def use(model, X):
    """Do with a restored model what a user would."""
    scores = np.empty((X.shape[0], model.head.n_outputs))
    several = scores.shape[1] if isinstance(model.head, SeveralTargets) else 1
    one = np.ones(several) if several > 1 else 1.0
    rows = X.toarray() if sp.issparse(X) else X
    plain = model.experts if isinstance(model, Race) else [model]
    for act in (
        lambda: model.scores(X, scores),
        lambda: model.learn(X[:9], np.arange(9.0 * several) % scores.shape[1]),
        lambda: [model.learn_one(row, one) for row in rows[:20]],
        lambda: model.score_one(rows[0]),
        model.undo,
        lambda: pickle.loads(pickle.dumps(model)).scores(X, scores),
        *[lambda each=each: repr(each.space) and each.space == each.space for each in plain],
    ):
        with contextlib.suppress(FAILURES):
            act()


def try_cases(label, model, X, count, rng):
    """Damage a model `count` times; return the names of the cases that were not refused rightly."""
    tree, wrong, taken = taken_apart(model), [], 0
    use(put_together(tree), X)
    everything = list(places(tree))
    for _ in range(count):
        path, value = everything[rng.integers(len(everything))]
        damages = list(damages_of(value))
        name, fresh = damages[rng.integers(len(damages))]
        case = f"{label} {'.'.join(map(str, path))}: {name}"
        print("trying", case, flush=True)
        signal.alarm(MOST_SECONDS)
        try:
            restored = put_together(replaced(tree, path, fresh))
        except REFUSALS:
            continue
        except Exception as error:
            wrong.append(f"{case}: {error!r}")
            continue
        taken += 1
        use(restored, X)
    signal.alarm(0)
    return wrong, taken


def main():
    """Try cases of every estimator; the last line counts them."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--cases", type=int, default=10, help="of each estimator and layout")
    parser.add_argument("--layouts", nargs="+", default=["dense", "csr", "wide", "targets"])
    parser.add_argument("--only", default="", help="estimators whose name begins with this")
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    resource.setrlimit(resource.RLIMIT_AS, (MOST_BYTES, MOST_BYTES))
    rng, wrong, tried, taken = np.random.default_rng(given.seed), [], 0, 0
    subjects.hasten()
    learners = [
        (name, {}) for name in subjects.NAMES if hasattr(subjects.build(name), "_new_model")
    ]
    for name, parameters in [*learners, *VARIANTS]:
        # A full covariance of many features takes minutes to copy and damage.
        layouts = given.layouts[:1] if parameters else given.layouts
        names = [name] if name.startswith(given.only) else []
        for _, layout in subjects.cases(names, layouts):
            model, X = fitted(name, parameters, layout)
            label = " ".join([name, layout, *map(str, parameters.values())])
            found, safe = try_cases(label, model, X, given.cases, rng)
            wrong += found
            tried, taken = tried + given.cases, taken + safe
    print(*wrong, sep="\n")
    print(f"{tried} damaged states, {taken} of them restored, {len(wrong)} refused wrongly")
    return 1 if wrong else 0


if __name__ == "__main__":
    raise SystemExit(main())
