"""The look-ahead window changes the speed, never a result: equality bit for bit."""

import numpy as np
import pytest
from sklearn.base import is_classifier
from sklearn.datasets import load_svmlight_file

from onlinekern import KernelOGDRegressor, KernelPAClassifier, SPAClassifier, all_estimators
from onlinekern.core import KERNELS

WINDOWS = [1, 7, 64, 1000, None]
DTYPES = [np.float32, np.float64]
LAYOUTS = ["dense", "csr", "wide"]
# (gamma <x, z> + 1)^2 of small integers is a small integer, in float32 too.
EXACT = {"kernel": "polynomial", "gamma": 1.0, "coef0": 1.0, "degree": 2}
# Without a polynomial kernel nothing is exact, nor is the solution of a linear system: those others
# have tests of windows where their twins are.
EXACT_KERNELS = [cls for _, cls in all_estimators() if "max_support" in cls().get_params()]
CLASSIFIERS = [cls for cls in EXACT_KERNELS if is_classifier(cls())]
REGRESSORS = [cls for cls in EXACT_KERNELS if not is_classifier(cls())]
TASKS = [
    *[(cls, task) for cls in CLASSIFIERS for task in ("binary", "ovr", "margin")],
    *[(cls, "regression") for cls in REGRESSORS],
]


def build(cls, task, **parameters):
    """Return an estimator with settings that keep integer data bounded."""
    small = {"eta": 2.0**-6, "reg": 2.0**-7, "epsilon": 0.25, "beta": 2.0, "budget": 30}
    if task in ("ovr", "margin"):
        parameters["multi_class"] = task
    known = cls().get_params()
    if "average" not in known:
        parameters.pop("average", None)
    if "standardize_target" in known:
        parameters["standardize_target"] = False  # integers stay integers
    small = {name: value for name, value in small.items() if name in known}
    return cls(random_state=0, **{**small, **parameters})


def learn(model, X, y, cuts=(40, 230)):
    """Learn in three batches; return all public results."""
    first = {"classes": np.unique(y)} if is_classifier(model) else {}
    predictions = []
    for i, part in enumerate(np.split(np.arange(len(y)), cuts)):
        predictions.append(model.partial_fit_predict(X[part], y[part], **(first if i == 0 else {})))
    score = getattr(model, "decision_function", model.predict)
    return {
        "predictions": np.concatenate(predictions),
        "coefficients": model.dual_coef_,
        "support": np.array(model.n_support_),
        "loss": np.array(model.cumulative_loss_),
        "mistakes": np.array(getattr(model, "n_mistakes_", 0)),
        "scores": score(X),
    }


@pytest.mark.parametrize("average", [False, True])
@pytest.mark.parametrize(("cls", "task"), TASKS)
def test_integer_data(cls, task, average, integer_stream, as_layout, equal):
    X, y = integer_stream(task)
    reference = None
    for dtype in DTYPES:
        for layout in LAYOUTS:
            rows = as_layout(X, layout, dtype)
            for window in WINDOWS:
                model = build(cls, task, average=average, window=window, **EXACT)
                found = learn(model, rows, y)
                reference = reference or found
                for name, value in found.items():
                    what = f"{name}, {np.dtype(dtype)}, {layout}, window={window}"
                    equal(value, reference[name], what)
    assert 20 < reference["support"] <= len(y)


@pytest.mark.parametrize("dtype", DTYPES, ids=["float32", "float64"])
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("kernel", sorted(KERNELS))
# With gamma ||x||^2 near 100, float32 rows take the distance from differences of features.
@pytest.mark.parametrize("gamma", [0.9, 200.0])
def test_continuous_data(kernel, layout, dtype, gamma, stream, as_layout, equal):
    X, y = stream("regression", n=300)
    rows = as_layout(X / 3, layout, dtype)  # thirds have no exact digits in either dtype
    settings = {"kernel": kernel, "gamma": gamma if kernel == "gaussian" else gamma / 100}
    reference = None
    for window in WINDOWS:
        model = KernelOGDRegressor(eta=0.05, average=True, degree=2, window=window, **settings)
        found = learn(model, rows, y)
        reference = reference or found
        for name, value in found.items():
            equal(value, reference[name], f"{name}, window={window}")


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("cls", [KernelPAClassifier, SPAClassifier])
def test_shuffled_epochs(cls, layout, stream, as_layout, equal):
    X, y = stream("ovr", n=200)
    rows = as_layout(X, layout, np.float32)
    models = [
        cls(gamma=0.5, n_epochs=3, random_state=1, window=window).fit(rows, y) for window in WINDOWS
    ]
    for model in models[1:]:
        equal(model.dual_coef_, models[0].dual_coef_)
        assert model.n_mistakes_ == models[0].n_mistakes_


@pytest.fixture(scope="module")
def a9a(data_directory):
    import lzma

    file = data_directory / "a9a.train.libsvm.xz"
    if not file.is_file():
        pytest.skip(f"no {file.name} among the real data")
    with lzma.open(file) as lines:
        X, y = load_svmlight_file(lines, n_features=123, dtype=np.float32)
    return X[:5000], y[:5000]


@pytest.mark.parametrize("layout", ["dense", "csr"])
@pytest.mark.parametrize("cls", [KernelPAClassifier, SPAClassifier])
def test_real_data(cls, layout, a9a, equal):
    X, y = a9a
    rows = X.toarray() if layout == "dense" else X
    reference = None
    for window in WINDOWS:
        model = cls(gamma=0.4, random_state=0, window=window)
        predictions = model.partial_fit_predict(rows, y, classes=[-1, 1])
        reference = predictions if reference is None else reference
        equal(predictions, reference, f"window={window}")
    assert model.n_mistakes_ < 0.25 * len(y)
