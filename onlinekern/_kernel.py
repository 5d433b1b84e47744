"""Estimators whose model is a set of support vectors: the parameters of the kernel and the set."""

import warnings
from dataclasses import dataclass
from numbers import Integral, Real

import numpy as np
import scipy.sparse as sp
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils._param_validation import Interval, StrOptions

from onlinekern._base import Learner, OnlineEstimator
from onlinekern._threads import one_blas_thread
from onlinekern.core import BUDGETS, KERNEL_ALIASES, KERNELS
from onlinekern.core.kernels.support_set import SupportSet
from onlinekern.core.models.space import KernelSpace


def kernel_width(gamma, X):
    """gamma as a number: 'scale' and 'auto' are worked out from the samples X."""
    if gamma == "auto":
        return 1.0 / X.shape[1]
    if gamma != "scale":
        return float(gamma)
    if sp.issparse(X):
        mean = X.mean(dtype=np.float64)
        variance = X.multiply(X).mean(dtype=np.float64) - mean**2
    else:
        variance = X.var(dtype=np.float64)
    return 1.0 / (X.shape[1] * variance) if variance > 0 else 1.0


@dataclass(kw_only=True, eq=False, repr=False)
class WidthEstimator(Learner):
    """Mixin for models whose kernel has a width gamma."""

    gamma: float | str = "scale"

    _constraints = {
        "gamma": [StrOptions({"scale", "auto"}), Interval(Real, 0, None, closed="neither")],
    }

    def _kernel_width(self, X):
        return kernel_width(self.gamma, X)


@dataclass(kw_only=True, eq=False, repr=False)
class SupportVectors(WidthEstimator):
    """Mixin for models that hold support vectors under a kernel of width gamma."""

    def _layout(self, X):
        """Dense samples become CSR where the support vectors are stored sparse."""
        if not sp.issparse(X) and self._fitted_model.space.support.stored_sparse:
            return sp.csr_matrix(X)
        return X

    @property
    def support_vectors_(self):
        """Support vectors, ndarray or CSR matrix of shape (n_SV, n_features)."""
        rows = self._fitted_model.space.support.rows()
        return sp.csr_matrix(rows) if self._sparse and not sp.issparse(rows) else rows

    @property
    def dual_coef_(self):
        """Coefficients of the model that predicts, ndarray of shape (n_outputs, n_SV)."""
        return self._fitted_model.space.support.effective()

    @property
    def n_support_(self):
        """Support vectors in all."""
        return self._fitted_model.space.support.n_rows


@dataclass(kw_only=True, eq=False, repr=False)
class SupportVectorEstimator(SupportVectors, OnlineEstimator):
    """Mixin for learners of streams that hold support vectors."""


@dataclass(kw_only=True, eq=False, repr=False)
class KernelMachine(SupportVectors):
    """Mixin for models that are a set of support vectors under any kernel."""

    kernel: str = "gaussian"
    degree: int = 3
    coef0: float = 0.0

    _constraints = {
        "kernel": [StrOptions({*KERNELS, *KERNEL_ALIASES})],
        "degree": [Interval(Integral, 1, None, closed="left")],
        "coef0": [Interval(Real, None, None, closed="neither")],
    }

    def _new_support(self, X, n_outputs):
        """An empty support set for samples like X."""
        self.gamma_ = self._kernel_width(X)
        name = KERNEL_ALIASES.get(self.kernel, self.kernel)
        kernel = KERNELS[name](self.gamma_, self.degree, self.coef0)
        self._sparse = sp.issparse(X)
        averaged = bool(getattr(self, "average", False))
        return SupportSet(kernel, X.shape[1], X.dtype, n_outputs, averaged, self._sparse)


@dataclass(kw_only=True, eq=False, repr=False)
class KernelEstimator(KernelMachine, SupportVectorEstimator):
    """Mixin for kernel learners; a subclass says what bounds the set of support vectors."""

    _space_type = KernelSpace

    def _space(self, X, n_outputs, rng):
        return self._space_type(self._new_support(X, n_outputs), self._budget(rng))


@dataclass(kw_only=True, eq=False, repr=False)
class GrowingEstimator(KernelEstimator):
    """Mixin for kernel learners whose support vectors stay, up to a cap on memory."""

    average: bool = False
    max_support: int | None = None

    _constraints = {
        "average": ["boolean"],
        "max_support": [Interval(Integral, 1, None, closed="left"), None],
    }

    def _budget(self, rng):
        self._warned = False
        if self.max_support is None:
            return BUDGETS["grow"]()
        return BUDGETS["cap"](self.max_support)

    def _finish(self):
        budget = self._model.space.budget
        if budget.refused and not self._warned:
            self._warned = True
            warnings.warn(
                f"max_support={self.max_support} support vectors are stored: further samples are "
                "not added. Raise max_support, or use a budgeted learner.",
                ConvergenceWarning,
                stacklevel=5,
            )


@dataclass(kw_only=True, eq=False, repr=False)
class BudgetedEstimator(KernelEstimator):
    """Mixin for kernel learners of at most `budget` support vectors.

    A subclass gives the policy in `_budget(rng)`, `rng` being the model's generator.
    """

    budget: int = 500

    _constraints = {"budget": [Interval(Integral, 1, None, closed="left")]}


@dataclass(kw_only=True, eq=False, repr=False)
class InvertingEstimator(BudgetedEstimator):
    """Mixin for budgeted learners whose policy may make an inverse afresh, by LAPACK."""

    fit = one_blas_thread(OnlineEstimator.fit)
    _partial_fit = one_blas_thread(OnlineEstimator._partial_fit)
    _learn_one = one_blas_thread(OnlineEstimator._learn_one)
