"""What a model may be composed of: compiled components that are more than a base class."""

from typing import Annotated

import numpy as np
import pytest
from sklearn.utils._param_validation import StrOptions

from onlinekern import KernelOGDClassifier, PAClassifier
from onlinekern.core import HEADS, KERNELS, LOSSES, RULES, SAMPLERS, SCHEDULES
from onlinekern.core.base.random import Generator
from onlinekern.core.learning.losses import Hinge, Loss
from onlinekern.core.learning.rules import Rule
from onlinekern.core.learning.sampling import Sampler
from onlinekern.core.models.linear import LinearSpace
from onlinekern.core.models.space import Space
from onlinekern.core.stream import Model
from onlinekern.extending import estimator


def gradient(loss):
    return RULES["gradient"](loss, SCHEDULES["constant"](0.5))


def compose(space=None, rule=None, sampler=None):
    """Return a model of two features in which some components are replaced."""
    return Model(
        space or LinearSpace(2, np.float64, 1, False),
        HEADS["binary"](),
        rule or gradient(Hinge()),
        sampler or SAMPLERS["always"](),
        Generator(0),
        2,
        np.float64,
    )


class Steeper(Hinge):
    """Written in Python: the loop would call the methods of Hinge."""

    def value(self, f, y):
        return 2 * max(0, 1 - y * f)


class Closed(Sampler):
    def importance(self, *_):
        return 0


class Documented(Hinge):
    """The hinge with a constructor of its own, and another name when it is printed."""

    def __init__(self, unused=None):
        super().__init__()

    def __repr__(self):
        return "the hinge"


class Evaluated(Hinge):
    """`evaluate` shows what the loop computes; the loop does not call it."""

    def evaluate(self, f, y):
        return 0.0, 0.0


class Callable(Hinge):
    def __call__(self, f, y):
        return 0.0


@pytest.mark.parametrize(
    "replaced",
    [{"space": Space()}, {"rule": Rule()}, {"rule": gradient(Loss())}],
    ids=["Space", "Rule", "Loss"],
)
def test_a_base_class_is_no_component(replaced, request):
    name = request.node.callspec.id
    with pytest.raises(TypeError, match=f"^{name} is a base class"):
        compose(**replaced)


def test_components_written_in_python():
    for replaced, name in (
        ({"rule": gradient(Steeper())}, "Steeper.value"),
        ({"sampler": Closed()}, "Closed.importance"),
        ({"rule": gradient(Evaluated())}, "Evaluated.evaluate"),
        ({"rule": gradient(Callable())}, "Callable.__call__"),
    ):
        with pytest.raises(TypeError, match=rf"{name} would never be called.*extending\.md"):
            compose(**replaced)


def test_replaced_between_calls():
    model = compose()
    rule, sampler = model.rule, model.sampler
    with pytest.raises(TypeError, match=r"Steeper\.value"):
        model.rule = gradient(Steeper())
    with pytest.raises(TypeError, match=r"Closed\.importance"):
        model.sampler = Closed()
    with pytest.raises(TypeError):
        model.rule = None
    assert (model.rule, model.sampler) == (rule, sampler)
    model.rule = gradient(LOSSES["logistic"]())
    assert model.rule != rule


def test_python_subclass_without_new_methods():
    X, y = np.array([[1.0, 0], [0, 1]]), np.array([1.0, 0])
    spaces = [LinearSpace(2, np.float64, 1, False) for _ in range(2)]
    for space, loss in zip(spaces, (Hinge(), Documented()), strict=True):
        compose(space, gradient(loss)).learn(X, y)
    np.testing.assert_array_equal(spaces[0].latest(), spaces[1].latest())
    assert np.abs(spaces[0].latest()).max() > 0


def test_estimator_with_a_loss_written_in_python(stream):
    class Own(KernelOGDClassifier):
        def _rule(self):
            return gradient(Steeper())

    X, y = stream("binary", n=20)
    with pytest.raises(TypeError, match=r"Steeper\.value would never be called"):
        Own().fit(X, y)


def test_estimator_with_a_kernel_of_its_own(stream):
    @estimator
    class Own(KernelOGDClassifier):
        """Gradient descent with a kernel that the library does not name."""

        kernel: Annotated[str, StrOptions({"narrow"})] = "narrow"

        def _new_kernel(self):
            return KERNELS["gaussian"](10 * self.gamma_)

    X, y = stream("binary", n=60)
    own, named = (cls(gamma="median", random_state=0) for cls in (Own, KernelOGDClassifier))
    assert own.fit(X, y).gamma_ == named.fit(X, y).gamma_
    own, named = Own(gamma=0.1, random_state=0), KernelOGDClassifier(gamma=1.0, random_state=0)
    found = [model.fit(X, y).decision_function(X) for model in (own, named)]
    np.testing.assert_array_equal(*found)


def test_methods_that_a_base_class_lacks():
    with pytest.raises(NotImplementedError, match=r"Loss does not define Loss\."):
        Loss().evaluate(0.0, 1.0)
    with pytest.raises(NotImplementedError, match=r"Rule does not define Rule\.coefficient"):
        Rule().evaluate(0.0, 1.0)


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"y": np.zeros(5)}, "y must have 60 elements"),
        ({"weight": np.ones(61)}, "weight must have 60 elements"),
        ({"y": np.full(60, 1e9)}, "y must be a class number, 0 ... 2"),
        ({"y": np.full(60, -1.0)}, "y must be a class number"),
        ({"y": np.full(60, np.nan)}, "y must be a class number"),
        ({"order": np.array([0, 60])}, "order must hold numbers of the 60 rows"),
        ({"order": np.array([-1])}, "order must hold numbers of the 60 rows"),
    ],
)
def test_what_the_loop_would_index_with_is_checked(changed, message):
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((60, 4)), np.arange(60) % 3.0
    model = PAClassifier().fit(X, y)._model
    before = model.space.effective()
    with pytest.raises(ValueError, match=message):
        model.learn(X, **{"y": y, **changed})
    with pytest.raises(ValueError, match="y must be a class number"):
        model.learn_one(X[0], 1e9)
    np.testing.assert_array_equal(model.space.effective(), before)
