"""A parameter that acts only beside another one says so in its docstring, and is right.

scikit-learn takes `SVC(degree=5)` without a word where the kernel is no polynomial, so that grids
over both can be searched. So do the learners here: the docstring is where one reads of it.
"""

import inspect
import re
import warnings
from itertools import islice, product
from numbers import Real

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import is_classifier, is_outlier_detector, is_regressor
from sklearn.utils._param_validation import Interval, StrOptions

import onlinekern

ClassDoc = pytest.importorskip("numpydoc.docscrape").ClassDoc
# These never change a result, or change it on other data or in other calls than those below.
ELSEWHERE = {
    *("n_jobs", "verbose", "window", "cache_size", "encode", "warm_start", "categorical_features"),
    *("begin_anew", "metric", "metric_exponent", "prototypes", "exact", "hold_outliers"),
}
# Few samples fill it.
SMALL = {"budget": 20}
ANSWERS = (
    *("transform", "decision_function", "predict", "predict_proba", "predict_interval"),
    *("leverage", "score_samples"),
)
NUMBERS = (0.001, 0.3, 0.7, 0.99, 1, 2, 5, 20, 90, 1000)
PUBLIC = {name: getattr(onlinekern, name) for name in dir(onlinekern)}
TRANSFORMERS = {name: cls for name, cls in PUBLIC.items() if hasattr(cls, "transform")}
# It is of tables (test_tables.py).
del TRANSFORMERS["TableEncoder"]
ALL = dict(onlinekern.all_estimators()) | TRANSFORMERS
ESTIMATORS = sorted(
    name
    for name, cls in ALL.items()
    if all(one.default is not one.empty for one in inspect.signature(cls).parameters.values())
)


def samples(cls):
    """Return samples, and labels of several kinds or targets."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(150, 3))
    made = cls()
    two = np.where(X[:, 0] * X[:, 1] + 0.3 * rng.normal(size=150) > 0, "yes", "no")
    three = np.where(X[:, 2] > 0.7, "maybe", two)
    targets = np.sin(2 * X[:, 0]) + X[:, 1] + 0.1 * rng.normal(size=150)
    if is_outlier_detector(made):
        return X, [None]
    labels = [] if is_regressor(made) else [three, two]
    return X, [*labels, *([] if is_classifier(made) else [targets])]


def others_of(cls, name):
    """Return values of a parameter other than its default."""
    default, found = inspect.signature(cls).parameters[name].default, []
    for one in cls._parameter_constraints.get(name, ()):
        if isinstance(one, StrOptions):
            found += sorted(one.options)
        elif isinstance(one, Interval):
            found += [float(v) if one.type is Real else v for v in NUMBERS if v in one]
        elif one in ("boolean", None):
            found += [True, False] if one else [None]
    return [one for one in found if type(one) is not type(default) or one != default]


class Fits:
    """What learners of a class make of their samples, each computed once."""

    def __init__(self, cls):
        self.cls, self.known = cls, {}
        base = SMALL | {"random_state": 0}
        self.base = {name: base[name] for name in base if name in cls._get_param_names()}
        self.X, self.targets = samples(cls)

    def of(self, place, **parameters):
        key = place, *sorted(parameters.items(), key=str)
        if key not in self.known:
            try:
                self.known[key] = self.fit(self.targets[place], parameters)
            except (ValueError, TypeError, MemoryError):  # What does not go together is an error.
                self.known[key] = None
        return self.known[key]

    def fit(self, y, parameters):
        model = self.cls(**self.base | parameters)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model.fit(self.X, y)
            told = [getattr(model, name)(self.X) for name in ANSWERS if hasattr(model, name)]
            told = [one.toarray() if sp.issparse(one) else one for one in told]
        counted = [getattr(model, name, 0) for name in ("n_mistakes_", "n_support_")]
        return [np.asarray(one) for one in [*told, *counted]]

    def acts(self, name, value, **beside):
        """Return whether a value of a parameter changes anything, beside those of others."""
        for place in range(len(self.targets)):
            if (one := self.of(place, **beside)) is None:
                continue
            other = self.of(place, **beside, **{name: value})
            if other is None or not all(map(np.array_equal, one, other)):
                return True
        return False


def entries(cls):
    """Return what the docstring says of each parameter."""
    return {one.name: " ".join(one.desc) for one in ClassDoc(cls)["Parameters"]}


def partners(cls, name, entry):
    """Return the other parameters that an entry names, with values that it names, or all."""
    words = {*re.findall(r"\w+", entry)}
    found = {}
    for other in inspect.signature(cls).parameters:
        values = [] if other in ELSEWHERE | {name} else others_of(cls, other)
        named = [one for one in values if type(one) is str and {*re.findall(r"\w+", one)} <= words]
        if named or re.search(rf"(`|\b){other}(`|=)", entry):
            found[other] = named or values
    return found


def beside_whom(cls, name, said):
    """Yield settings of what an entry names, then of what the entries of these name beside it."""
    first = partners(cls, name, said[name])
    yield from ({other: one} for other, values in first.items() for one in values)
    for other, values in first.items():
        more = partners(cls, other, said[other])
        more.pop(name, None)
        for one in values:
            yield from ({other: one, each: v} for each, them in more.items() for v in them)
            for given in islice(product(*([None, *each] for each in more.values())), 300):
                named = zip(more, given, strict=True)
                yield {other: one} | {each: v for each, v in named if v is not None}


@pytest.mark.parametrize("name", ESTIMATORS)
def test_what_acts_beside_another_parameter_says_so(name):
    cls = ALL[name]
    fits, silent = Fits(cls), []
    said = entries(cls)
    for name in said:
        if name in ELSEWHERE | {"random_state"} or said[name].startswith("Not used:"):
            continue
        values = others_of(cls, name)
        if any(fits.acts(name, one) for one in values):
            continue
        if not any(
            fits.acts(name, value, **one)
            for one in beside_whom(cls, name, said)
            for value in values
        ):
            silent.append(name)
    assert silent == []
