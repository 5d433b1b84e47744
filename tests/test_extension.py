"""What packages and users add: the template of a package, registered classes, what is refused."""

import os
import pickle
import shutil
import sys
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

import consumers
import numpy as np
import pytest

import onlinekern
from onlinekern import KernelOGDClassifier, KernelPAClassifier, KernelRLSRegressor, OGDRegressor
from onlinekern.core.kernels.kernels import Gaussian
from onlinekern.core.learning.losses import Hinge
from onlinekern.estimators.kernel import AnyKernel
from onlinekern.extending import LOSSES, RULES, SCHEDULES, Positive, estimator
from onlinekern.fitted.save import foreign

TEMPLATE = Path(__file__).parents[1] / "examples" / "extension"
X = np.random.default_rng(0).standard_normal((60, 2))
Y = np.where(X[:, 0] > 0, 1, -1)


@dataclass(kw_only=True, eq=False, repr=False)
class Softer(KernelOGDClassifier):
    """A user's subclass, with another default and a parameter of its own."""

    eta: float = 0.25
    softness: Positive = 0.5

    def _rule(self):
        loss = LOSSES["smooth_hinge"](self.softness)
        return RULES["gradient"](loss, SCHEDULES["constant"](self.eta), self.reg)


class Named(Gaussian):
    """A user's part without methods."""


@pytest.fixture
def registered():
    """Register classes until the end of the test."""
    tables = foreign.ESTIMATORS, foreign.PARTS
    before = [dict(table) for table in tables]
    yield onlinekern.register
    for table, kept in zip(tables, before, strict=True):
        table.clear()
        table.update(kept)


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    """Build the template, and install it into a folder of its own."""
    consumers.check_installed()
    for name in ("mesonpy", "mesonbuild", "Cython", "pip"):
        if find_spec(name) is None:
            pytest.skip(f"{name} is not installed")
    if not shutil.which("ninja"):
        pytest.skip("ninja is not installed")
    folder = tmp_path_factory.mktemp("extension")
    source = shutil.copytree(TEMPLATE, folder / "source")
    # -O0 builds quickly; the bits are tested with the flags of the template in its own folder.
    consumers.run(
        [sys.executable, "-P", "-m", "pip", "install", "-q", "--no-deps", "--no-build-isolation",
         "--no-index", "-Csetup-args=-Doptimization=0", "--target", str(folder / "site"), "."],
        source,
    )  # fmt: skip
    path = os.pathsep.join([str(folder / "site"), os.environ.get("PYTHONPATH", "")])
    return folder, path


def test_the_template(installed):
    folder, path = installed
    command = [sys.executable, "-P", "-m", "pytest", "-q", "-p", "no:cacheprovider", "tests"]
    printed = consumers.run(command, folder / "source", PYTHONPATH=path)
    assert "12 passed" in printed


def test_a_file_names_the_package_that_it_needs(installed, tmp_path):
    path = installed[1]
    code = (
        "from robust_kernels import RobustClassifier\n"
        "RobustClassifier(gamma=1.0).fit([[0.0], [1.0]], [0, 1]).save('model.okn')"
    )
    consumers.run([sys.executable, "-P", "-c", code], tmp_path, PYTHONPATH=path)
    with pytest.raises(ValueError, match=r"'robust_kernels\.\w+\.\w+', a class of another package"):
        onlinekern.load(tmp_path / "model.okn")
    assert "robust_kernels" not in sys.modules


def test_a_registered_estimator_is_saved(registered, tmp_path):
    model = Softer(softness=0.1, gamma=0.5).fit(X, Y)
    with pytest.raises(TypeError, match=r"Softer is no class .*onlinekern\.register"):
        model.save(tmp_path / "model.okn")
    assert registered(Softer) is Softer
    model.save(tmp_path / "model.okn")
    loaded = onlinekern.load(tmp_path / "model.okn")
    assert type(loaded) is Softer
    assert loaded.get_params() == model.get_params()
    loaded.partial_fit(X, Y)
    model.partial_fit(X, Y)
    assert np.array_equal(loaded.decision_function(X), model.decision_function(X))
    foreign.ESTIMATORS.clear()
    with pytest.raises(ValueError, match=r"Softer', a class of another package: import"):
        onlinekern.load(tmp_path / "model.okn")


def test_a_registered_part_is_saved(registered, tmp_path):
    model = KernelPAClassifier(kernel=Named(0.5)).fit(X, Y)
    assert pickle.loads(pickle.dumps(model)).kernel == Named(0.5)
    with pytest.raises(TypeError, match=r"kernel of .* is an object .*Named.*onlinekern\.register"):
        model.save(tmp_path / "model.okn")
    registered(Named)
    model.save(tmp_path / "model.okn")
    loaded = onlinekern.load(tmp_path / "model.okn")
    assert type(loaded.kernel) is Named
    assert np.array_equal(loaded.decision_function(X), model.decision_function(X))
    foreign.PARTS.clear()
    with pytest.raises(ValueError, match=r"Named', a class of another package: import"):
        onlinekern.load(tmp_path / "model.okn")


def test_the_last_class_of_a_name_counts(registered):
    registered(Softer)
    again = type("Softer", (KernelOGDClassifier,), {"__module__": __name__})
    registered(again)
    assert foreign.ESTIMATORS[f"{__name__}.Softer"] is again


def test_what_cannot_be_registered():
    class Inside(Named):
        pass

    for wrong in (dict, Softer(), "Softer", KernelOGDClassifier, Gaussian):
        with pytest.raises(TypeError, match="onlinekern"):
            onlinekern.register(wrong)
    with pytest.raises(ValueError, match="defined in a function"):
        onlinekern.register(Inside)


def test_parts_of_the_library_as_parameters(tmp_path):
    given = {"gamma": 0.5, "random_state": 0}
    plain = KernelOGDClassifier(**given).fit(X, Y)
    model = KernelOGDClassifier(loss=Hinge(), **given).fit(X, Y)
    assert np.array_equal(model.decision_function(X), plain.decision_function(X))
    model.save(tmp_path / "model.okn")
    assert onlinekern.load(tmp_path / "model.okn").loss == Hinge()


REFUSED = {
    "loss": lambda: KernelOGDClassifier(loss=lambda f, y: 0.0),
    "schedule": lambda: OGDRegressor(schedule=lambda t: 1 / t),
    "gamma": lambda: KernelPAClassifier(gamma=lambda X: 1.0),
    "kernel": lambda: onlinekern.FOGDClassifier(kernel=lambda A, B: A @ B.T),
    "multi_class": lambda: KernelPAClassifier(multi_class=Hinge()),
}


@pytest.mark.parametrize("name", REFUSED)
def test_a_function_that_nobody_would_call(name):
    model = REFUSED[name]()
    for learn in (model.fit, model.partial_fit):
        with pytest.raises(TypeError, match=rf"The '{name}' parameter .*docs/extending\.md"):
            learn(X, Y)


class Widened(Gaussian):
    def __call__(self, A, B):
        return A @ B.T


class Transforming(Gaussian):
    def transform(self, *arguments):
        pass


class Evaluating(Hinge):
    def evaluate(self, f, y):
        return 0.0, 0.0


@pytest.mark.parametrize(
    "model",
    [
        KernelPAClassifier(kernel=Widened(1.0)),
        KernelPAClassifier(kernel=Transforming(1.0)),
        KernelOGDClassifier(loss=Evaluating()),
    ],
    ids=lambda model: type(model).__name__,
)
def test_an_override_that_nobody_would_call(model):
    with pytest.raises(TypeError, match=r"would never be called.*docs/extending\.md"):
        model.fit(X, Y)


def test_a_subclass_whose_parameters_nobody_would_look_at():
    with pytest.raises(TypeError, match=r"Wide\.gamma would never be looked at"):
        type("Wide", (KernelPAClassifier,), {"gamma": 5.0})
    with pytest.raises(TypeError, match=r"Own\.loss would never be looked at"):
        type("Own", (KernelOGDClassifier,), {"loss": lambda self, f, y: 0.0})

    class Undecorated(KernelPAClassifier):
        gamma: float = 5.0

    with pytest.raises(TypeError, match="'gamma', but is no dataclass"):
        Undecorated().fit(X, Y)


def test_a_subclass_with_its_own_constructor():
    class Explicit(KernelPAClassifier):
        def __init__(self, gamma=5.0):
            super().__init__(gamma=gamma)

    assert Explicit().fit(X, Y).gamma_ == 5.0
    assert Explicit().get_params() == {"gamma": 5.0}
    assert Softer().fit(X, Y).eta == 0.25
    with pytest.raises(ValueError, match="'softness' parameter of Softer"):
        Softer(softness=-1.0).fit(X, Y)


@estimator
class Wider(KernelRLSRegressor):
    """Takes a kernel of another package."""

    kernel: AnyKernel = "gaussian"


@pytest.mark.parametrize("metric", ["auto", "diagonal", "full"])
def test_a_metric_needs_the_gradient_of_the_kernel(metric):
    words = rf"metric='{metric}' needs the gradient of the kernel, which Named .*Gaussian"
    model = Wider(kernel=Named(0.5), metric=metric, gamma=0.5)
    with pytest.raises(ValueError, match=words):
        model.fit(X, Y.astype(float))
    assert not hasattr(model, "n_features_in_")
    model.set_params(metric="none").fit(X, Y.astype(float))
