"""Estimators whose model holds support vectors, and the parameters of their kernel."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from numbers import Real
from typing import TYPE_CHECKING, Any

import scipy.sparse as sp
from sklearn.exceptions import ConvergenceWarning

from onlinekern.core import KERNEL_ALIASES, KERNELS, POLICIES
from onlinekern.core.kernels.kernels import Kernel
from onlinekern.core.kernels.python_kernel import PythonKernel
from onlinekern.core.kernels.support_set import SupportSet
from onlinekern.core.models.space import KernelSpace
from onlinekern.estimators.constraints import AVERAGE, COUNT, KERNEL_WIDTH
from onlinekern.estimators.contract import Learner
from onlinekern.estimators.extensions import PAGE
from onlinekern.estimators.median_width import WarmingUp, width_of
from onlinekern.estimators.scikit_learn import Interval, StrOptions
from onlinekern.estimators.types import Array, Floats, Sparse
from onlinekern.estimators.warnings import warn

if TYPE_CHECKING:
    from onlinekern.core.base.random import Generator

KERNEL_CONSTRAINTS = {
    "kernel": [StrOptions({*KERNELS, *KERNEL_ALIASES})],
    "gamma": KERNEL_WIDTH,
    "degree": COUNT,
    "coef0": [Interval(Real, None, None, closed="neither")],
}

# Of learners that need nothing of a kernel but its values.
ANY_KERNEL = {"kernel": [*KERNEL_CONSTRAINTS["kernel"], Kernel, callable]}
# Of those that read numbers of a compiled kernel: a function has not got them.
COMPILED_KERNEL = {"kernel": [*KERNEL_CONSTRAINTS["kernel"], Kernel]}
KernelFunction = Callable[[Array, Array], Array]

# The policy of a set of `max_support` support vectors.
WHEN_FULL = {"stop": "refuse", "oldest": "oldest"}

# Dense support vectors are stored in panels of so many.
PANEL = 64


def new_kernel(
    kernel: Any, gamma: Any, degree: int | None = None, coef0: float | None = None
) -> Any:
    """The kernel of the core with this name or alias, or of this function, or the kernel itself."""
    if isinstance(kernel, Kernel):
        return kernel
    if callable(kernel):
        return PythonKernel(kernel)
    name: str = kernel
    return KERNELS[KERNEL_ALIASES.get(name, name)](gamma, degree, coef0)


@dataclass(kw_only=True, eq=False, repr=False)
class SupportVectors(Learner):
    """Mixin: the model's space holds a support set, whose rows and coefficients are attributes."""

    def _n_bytes(self, n_features: int, n_outputs: int, itemsize: int, is_sparse: bool) -> int:
        # Room for a row in each of two blocks; the numbers of the columns in use, or the first
        # panel of support vectors.
        return n_features * (2 * itemsize + (4 if is_sparse else PANEL * itemsize))

    def _new_support(self, kernel: Any, X: Any, n_outputs: int) -> Any:
        """An empty support set for samples like X."""
        self._sparse = sp.issparse(X)
        average = getattr(self, "average", False)
        return SupportSet(kernel, X.shape[1], X.dtype, n_outputs, average, self._sparse)

    def _layout(self, X: Any) -> Any:
        """Dense samples become CSR where the support vectors are stored sparse."""
        if not sp.issparse(X) and self._fitted_model.space.support.stored_sparse:
            return sp.csr_matrix(X)
        return X

    @property
    def support_vectors_(self) -> Array | Sparse:
        """Support vectors, ndarray or CSR matrix of shape (n_SV, n_features)."""
        rows = self._read(lambda space: space.support.rows())
        return sp.csr_matrix(rows) if self._sparse and not sp.issparse(rows) else rows

    @property
    def dual_coef_(self) -> Floats:
        """Coefficients of the model that predicts, ndarray of shape (n_outputs, n_SV)."""
        return self._read_in_units(lambda space: space.support.effective())

    @property
    def n_support_(self) -> int:
        """Number of support vectors."""
        return self._read(lambda space: space.support.n_rows)


@dataclass(kw_only=True, eq=False, repr=False)
class KernelEstimator(SupportVectors):
    """Mixin: support vectors under any kernel, within the budget that a subclass chooses.

    A subclass returns the budget policy from `_budget(rng)`, `rng` being the model's generator, or
    makes a space of its own in `_space`.
    """

    kernel: str | Kernel | KernelFunction = "gaussian"
    gamma: float | str = "median"
    degree: int = 3
    coef0: float = 0.0

    _space_type = KernelSpace
    _constraints = {**KERNEL_CONSTRAINTS, **ANY_KERNEL}

    def _kernel_support(self, X: Any, n_outputs: int) -> Any:
        """An empty support set under the kernel of the parameters."""
        self._check_kernel(X)
        self.gamma_ = width_of(self, X)
        return self._new_support(self._new_kernel(), X, n_outputs)

    def _new_kernel(self) -> Any:
        """The kernel of the parameters and of the width `gamma_`."""
        return new_kernel(self.kernel, self.gamma_, self.degree, self.coef0)

    def _check_kernel(self, X: Any) -> None:
        """Raise an error if parameters or samples do not go with a kernel that has no name."""
        if isinstance(self.kernel, str):
            return
        for name in ("gamma", "degree", "coef0"):
            default = type(self).__dataclass_fields__[name].default
            if (value := getattr(self, name)) != default:
                raise ValueError(
                    f"{name}={value!r} has no effect on kernel={self.kernel!r}, which has its own "
                    f"parameters: leave {name} at its default, {default!r}"
                )
        if callable(self.kernel) and sp.issparse(X):
            raise TypeError(
                f"kernel={self.kernel!r} is a function, which takes dense samples: got a sparse "
                f"matrix. Take X.toarray(), or a compiled kernel ({PAGE})"
            )

    def _space(self, X: Any, n_outputs: int, rng: Generator) -> Any:
        return self._space_type(self._kernel_support(X, n_outputs), self._budget(rng))


@dataclass(kw_only=True, eq=False, repr=False)
class GrowingEstimator(KernelEstimator, WarmingUp):
    """Mixin for kernel learners that keep every support vector, up to a cap on memory."""

    average: bool | str | float = False
    max_support: int | None = None
    when_full: str = "stop"

    _constraints = {
        "average": AVERAGE,
        "max_support": [*COUNT, None],
        "when_full": [StrOptions(set(WHEN_FULL))],
    }

    def _budget(self, rng: Generator) -> Any:
        self._warned = False
        if self.max_support is None:
            return POLICIES["grow"]()
        return POLICIES[WHEN_FULL[self.when_full]](self.max_support)

    def _finish(self) -> None:
        budget = self._model.space.budget
        if budget.refused and not self._warned:
            self._warned = True
            warn(
                f"max_support={self.max_support} support vectors are stored: further samples are "
                "not added. Raise max_support, set when_full='oldest', or use a budgeted learner.",
                ConvergenceWarning,
            )


@dataclass(kw_only=True, eq=False, repr=False)
class BudgetedEstimator(KernelEstimator, WarmingUp):
    """Mixin for kernel learners of at most `budget` support vectors."""

    budget: int = 500

    _constraints = {"budget": COUNT}
