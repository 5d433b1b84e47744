"""The base of the kernel adaptive filters whose step is a budget policy."""

from typing import Any, ClassVar

from onlinekern.core import LOSSES, POLICIES, RULES
from onlinekern.core.base.random import Generator
from onlinekern.core.stream import Model
from onlinekern.estimators.kernel import KernelEstimator
from onlinekern.estimators.memory import check_size
from onlinekern.estimators.parameters import Count, estimator
from onlinekern.estimators.several_targets import SEVERAL


@estimator
class PolicyFilter(KernelEstimator):
    """Mixin of filters whose policy gets every sample, in the order of the series.

    A subclass returns the arguments of the policy from `_arguments`. Those after the sizes may
    change in mid-stream.
    """

    budget: Count = 500
    shuffle: bool = False

    _target_checks = SEVERAL
    _policy: ClassVar[str]
    # These are the first arguments of the policy, which say how large it is.
    _n_sizes: ClassVar[int] = 1
    # The policy keeps so many matrices of the support vectors' size.
    _n_matrices: ClassVar[int] = 1

    def _rule(self) -> Any:
        return RULES["every_sample"](LOSSES["squared"]())

    def _arguments(self) -> tuple[Any, ...]:
        raise NotImplementedError(f"{type(self).__name__}._arguments")

    def _check_memory(self) -> None:
        """Raise MemoryError if there is no room for the matrices of the policy."""
        # Each matrix has a copy, which undoes a failed call.
        check_size("budget", self.budget, self._n_matrices * 2 * 8 * self.budget**2)

    def _budget(self, rng: Generator) -> Any:
        self._check_memory()
        return POLICIES[self._policy](*self._arguments())

    def _renew(self, model: Model) -> None:
        super()._renew(model)
        budget, sizes = model.space.budget, self._n_sizes
        arguments = (*budget.arguments[:sizes], *self._arguments()[sizes:])
        if arguments != budget.arguments:
            self._validate_params()
            with model.writing():
                budget.change(*arguments)
