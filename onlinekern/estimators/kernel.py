"""Estimators whose model holds support vectors, and the parameters of their kernel."""

from collections.abc import Callable
from typing import Any, ClassVar, Literal, TypeAlias

import scipy.sparse as sp
from sklearn.exceptions import ConvergenceWarning

from onlinekern.core import KERNELS, POLICIES
from onlinekern.core.base.random import Generator
from onlinekern.core.kernels.kernels import Kernel
from onlinekern.core.kernels.python_kernel import PythonKernel
from onlinekern.core.kernels.support_set import SupportSet
from onlinekern.core.models.space import KernelSpace
from onlinekern.estimators.contract import Learner
from onlinekern.estimators.extensions import PAGE
from onlinekern.estimators.kernel_width import check_representable, own_name
from onlinekern.estimators.median_width import width_of
from onlinekern.estimators.memory import Form
from onlinekern.estimators.parameters import Count, Finite, KernelName, KernelWidth, estimator
from onlinekern.estimators.types import Array, Floats, Sparse
from onlinekern.estimators.warnings import warn

# Some learners read numbers of a compiled kernel, which a function has not got.
CompiledKernel: TypeAlias = KernelName | Kernel
# The others need nothing of a kernel but its values.
AnyKernel: TypeAlias = KernelName | Kernel | Callable[[Array, Array], Array]
WhenFull: TypeAlias = Literal["nearest", "oldest", "stop"]

# This is the policy of a set of `max_support` support vectors.
WHEN_FULL = {"nearest": "nearest", "oldest": "oldest", "stop": "refuse"}

# Support vectors in a panel of dense storage.
PANEL = 64


def as_csr(X: Any, wanted: bool) -> Any:
    """Return a matrix as CSR if that is wanted, else as it is."""
    return sp.csr_matrix(X) if wanted and not sp.issparse(X) else X


def new_kernel(
    kernel: Any, gamma: Any, degree: int | None = None, coef0: float | None = None
) -> Any:
    """Return the kernel of the core with this name or alias, or of this function, or itself."""
    if isinstance(kernel, Kernel):
        return kernel
    if callable(kernel):
        return PythonKernel(kernel)
    given = {"gamma": gamma, "degree": degree, "coef0": coef0}
    cls = KERNELS[own_name(kernel)]
    return cls(*[given[name] for name in cls.parameters])


@estimator
class KernelEstimator(Learner):
    """Mixin of learners that hold support vectors under any kernel.

    All are kept, up to the `max_support` that a subclass may declare. Another policy is what a
    subclass returns from `_budget(rng)`, `rng` being the model's generator.
    """

    kernel: AnyKernel = "gaussian"
    gamma: KernelWidth = "median"
    degree: Count = 3
    coef0: Finite = 0.0

    _warms_up = True
    _space_type: ClassVar[type[Any]] = KernelSpace

    def _space(self, X: Any, n_outputs: int, rng: Generator, features: Any) -> Any:
        return self._space_type(self._kernel_support(X, n_outputs), self._budget(rng))

    def _kernel_support(self, X: Any, n_outputs: int) -> Any:
        """Return an empty support set under the kernel of the parameters."""
        self._check_kernel(X)
        self.gamma_ = width_of(self, X)
        check_representable(self.gamma_, X, self.kernel)
        self._sparse = sp.issparse(X)
        kernel, average = self._new_kernel(), getattr(self, "average", False)
        return SupportSet(kernel, X.shape[1], X.dtype, n_outputs, average, self._sparse)

    def _new_kernel(self) -> Any:
        """Return the kernel of the parameters and of the width `gamma_`."""
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

    def _budget(self, rng: Generator) -> Any:
        """Return the budget policy."""
        self._warned = False
        max_support = getattr(self, "max_support", None)
        if max_support is None:
            return POLICIES["grow"]()
        return POLICIES[WHEN_FULL[getattr(self, "when_full", "stop")]](max_support)

    def _finish(self) -> None:
        if hasattr(self, "max_support") and self._model.space.budget.refused and not self._warned:
            self._warned = True
            warn(
                f"max_support={self.max_support} support vectors are stored: further samples are "
                "not added. Raise max_support, set when_full='nearest', or use a budgeted learner.",
                ConvergenceWarning,
            )

    def _n_bytes(self, form: Form) -> int:
        # There is room for a row in each of two blocks, and for the numbers of the columns in use
        # or the first panel of support vectors.
        each = 2 * form.itemsize + (4 if form.is_sparse else PANEL * form.itemsize)
        return form.n_features * each

    def _layout(self, X: Any) -> Any:
        """Return X, as CSR where the support vectors are stored sparse."""
        return as_csr(X, self._fitted_model.space.support.stored_sparse)

    @property
    def support_vectors_(self) -> Array | Sparse:
        """Support vectors, ndarray or CSR matrix of shape (n_SV, n_features)."""
        return as_csr(self._read(lambda space: space.support.rows()), self._sparse)

    @property
    def dual_coef_(self) -> Floats:
        """Coefficients of the model that predicts, ndarray of shape (n_outputs, n_SV)."""
        return self._read_in_units(lambda space: space.support.effective())

    @property
    def n_support_(self) -> int:
        """Number of support vectors."""
        return self._read(lambda space: space.support.n_rows)
