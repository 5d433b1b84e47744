"""BOLSSVM: a least-squares support vector machine on a budget of support vectors.

Its model f_k(x) = sum_i alpha_ki kappa(x_i, x) + b_k solves, for every output k,

    [ 0  1'          ] [ b_k     ]   [ 0   ]
    [ 1  K + R       ] [ alpha_k ] = [ y_k ],     R_ii = 1 / (C w_i),

over its support vectors (Jian, Shen, Li, Liang and Li 2017; w_i is the weight of a sample). With
H = (K + R)^-1 and h = H 1,

    b_k = 1'H y_k / 1'h,     alpha_k = H y_k - b_k h,     (A^-1)_ii = H_ii - h_i^2 / 1'h,

so one inverse, of a positive definite matrix, serves all outputs. alpha_i / (A^-1)_ii is the
residual at x_i of the machine trained without x_i: the support vector of the smallest is removed.

Only mistakes enter. Where labels are noisy, samples of wrong labels are mistakes more often than
others, have large residuals, and so stay for ever: in the end they are most of the budget. So if
more than a share of the support vectors is on the wrong side of the machine trained without it, the
one that is furthest there is removed. The share 1 is the paper's machine.
"""
from libc.math cimport INFINITY
from libc.stdlib cimport free

import numpy as np

from onlinekern.core.base.part cimport NO_MEMORY, OK, Status
from onlinekern.core.base.state cimport chosen
from onlinekern.core.base.undo cimport JournaledMatrix
from onlinekern.core.base.vector cimport aligned_resize
from onlinekern.core.budgets.inverse_policy cimport InverseGramPolicy
from onlinekern.core.linalg.inverse_gram cimport over_weight

from onlinekern.core.linalg.inverse_gram import INVERSE_FIELDS


cdef class LeastSquaresPolicy(InverseGramPolicy):
    """Add every sample; when the budget is exceeded, remove the most redundant support vector.

    Parameters
    ----------
    max_support : int >= 1
    C : float > 0
        Weight of the squared residuals against the norm of the model.
    share : float in [0, 1], default=1
        The largest share of support vectors that the others contradict.
    """

    def __init__(self, Py_ssize_t max_support, double C, double share=1.0):
        super().__init__(max_support)
        if not 0 <= share <= 1:
            raise ValueError(f"share must be in [0, 1], got {share}")
        self.C, self.share = C, share
        self.arguments = (max_support, C, share)

    def __dealloc__(self):
        free(self.alphas)
        free(self.residuals)

    cdef int prepare(self) except -1:
        InverseGramPolicy.prepare(self)
        self.n_outputs = self.support.n_outputs
        self.targets = JournaledMatrix("targets", self.n_outputs + 1, self.gram.ld)
        self.offsets = JournaledMatrix("offsets", 1, self.n_outputs)
        self.products = JournaledMatrix("products", self.n_outputs + 1, self.gram.ld)
        self.alphas = <double *> aligned_resize(
            self.alphas, 0, self.n_outputs * self.gram.ld * sizeof(double))
        self.residuals = <double *> aligned_resize(
            self.residuals, 0, self.n_outputs * self.gram.ld * sizeof(double))
        if self.alphas == NULL or self.residuals == NULL:
            raise MemoryError(f"no memory for {self.n_outputs} least-squares machines")
        return 0

    cdef void observe(self, const double *targets, double weight) noexcept nogil:
        self.label = targets[0]
        self.weight = weight

    cdef void shift(self, double *scores) noexcept nogil:
        cdef Py_ssize_t k
        for k in range(self.n_outputs):
            scores[k] += self.offsets.values[k]

    cdef double target(self, Py_ssize_t k) noexcept nogil:
        """+1 or -1 of the sample for output k; 1 for k = K."""
        if k == self.n_outputs:
            return 1
        if self.n_outputs == 1:
            return 1 if self.label > 0 else -1
        return 1 if k == <Py_ssize_t> self.label else -1

    cdef double *alpha(self, Py_ssize_t k) noexcept nogil:
        """alpha of output k."""
        return self.alphas + k * self.gram.ld

    cdef Status admit(self, Py_ssize_t i, const double *coefficients) noexcept nogil:
        cdef Py_ssize_t k
        cdef Py_ssize_t slot = self.enter(i, coefficients, over_weight(1, self.C * self.weight))
        if slot < 0:
            return NO_MEMORY
        for k in range(self.n_outputs + 1):
            self.targets.touch(k)[slot] = self.target(k)
            self.gram.solve_joined(self.targets.row(k), self.products.touch(k))
        self.solve()
        if self.is_exceeded():
            slot = self.leaving(slot)
            for k in range(self.n_outputs + 1):
                self.targets.touch(k)[slot] = 0
            if self.leave(slot) < 0:
                return NO_MEMORY
            for k in range(self.n_outputs + 1):
                self.gram.solve_deflated(slot, self.targets.row(k), self.products.touch(k))
            self.solve()
        return self.publish()

    cdef double h_sum(self) noexcept nogil:
        """1'h."""
        cdef Py_ssize_t i
        cdef const double *h = self.products.row(self.n_outputs)
        cdef double total = 0
        for i in range(self.gram.size):
            total += h[i]
        return total

    cdef void solve(self) noexcept nogil:
        """Compute alpha and the offsets from H y and h."""
        cdef Py_ssize_t i, k
        cdef const double *h = self.products.row(self.n_outputs)
        cdef const double *product
        cdef double *alpha
        cdef double *offsets = self.offsets.touch(0)
        cdef double total = self.h_sum(), offset
        for k in range(self.n_outputs):
            product, alpha = self.products.row(k), self.alpha(k)
            offset = 0
            for i in range(self.gram.size):
                offset += product[i]
            offsets[k] = offset / total
            for i in range(self.gram.size):
                alpha[i] = product[i] - offsets[k] * h[i]

    cdef Py_ssize_t most_redundant(self) noexcept nogil:
        """The slot that the machine trained without it predicts best; the oldest of equals."""
        cdef Py_ssize_t slot, k
        cdef double residual
        for slot in range(self.support.n):
            self.work[slot] = 0
            for k in range(self.n_outputs):
                residual = self.residuals[k * self.gram.ld + slot]
                self.work[slot] += residual * residual
        return self.support.smallest(self.work)

    cdef void leave_one_out(self) noexcept nogil:
        """Compute the residuals of the machines without one support vector each."""
        cdef Py_ssize_t slot, k
        cdef const double *h = self.products.row(self.n_outputs)
        cdef double pivot, total = self.h_sum()
        for slot in range(self.support.n):
            pivot = self.gram.own[slot] - h[slot] * h[slot] / total
            for k in range(self.n_outputs):
                self.residuals[k * self.gram.ld + slot] = self.alpha(k)[slot] / pivot

    cdef double margin(self, Py_ssize_t slot) noexcept nogil:
        """Of a support vector by the machine without it: < 0 if it is on the wrong side."""
        cdef Py_ssize_t k
        cdef double own = 0, rival = -INFINITY, y, score
        for k in range(self.n_outputs):
            y = self.targets.row(k)[slot]
            score = y - self.residuals[k * self.gram.ld + slot]
            if self.n_outputs == 1:
                return y * score
            if y > 0:
                own = score
            elif score > rival:
                rival = score
        return own - rival

    cdef Py_ssize_t leaving(self, Py_ssize_t newest) noexcept nogil:
        """The slot to be freed. The newest sample was a mistake, so it is on the wrong side."""
        cdef Py_ssize_t slot, wrong = 0
        self.leave_one_out()
        if self.share < 1:
            for slot in range(self.support.n):
                self.work[slot] = INFINITY if slot == newest else self.margin(slot)
                wrong += self.support.occupied(slot) and self.work[slot] < 0
            if wrong > self.share * self.max_support:
                return self.support.smallest(self.work)
        return self.most_redundant()

    cdef Status publish(self) noexcept nogil:
        """Give the support vectors their coefficients. Returns a status.

        The rule does not shrink, so the scale of the coefficients is 1.
        """
        cdef Py_ssize_t k
        for k in range(self.n_outputs):
            if self.support.coefficients.overwrite(k, self.alpha(k)) < 0:
                return NO_MEMORY
        return OK

    cdef void checkpoint(self) noexcept nogil:
        InverseGramPolicy.checkpoint(self)
        self.targets.checkpoint()
        self.offsets.checkpoint()
        self.products.checkpoint()

    cdef void rollback(self) noexcept nogil:
        InverseGramPolicy.rollback(self)
        self.targets.rollback()
        self.offsets.rollback()
        self.products.rollback()

    def intercept(self):
        """Offsets of the outputs, ndarray of shape (n_outputs,)."""
        return self.offsets.to_array()[0]

    def get_learnt(self):
        return {**self.gram.get_state(), "targets": self.targets.to_array(),
                "offsets": self.offsets.to_array(), "products": self.products.to_array()}

    def set_learnt(self, learnt):
        learnt = self.fields_learnt(learnt, (*INVERSE_FIELDS, "targets", "offsets", "products"))
        occupied = self.set_inverse(chosen(learnt, INVERSE_FIELDS))
        self.targets.set_array(learnt["targets"])
        self.offsets.set_array(learnt["offsets"])
        # Those of merged machines are numbers between the labels.
        targets = self.targets.to_array()
        if targets[:, ~occupied].any() or not np.array_equal(
                targets[self.n_outputs], occupied):
            raise ValueError("targets must be 0 but in the slots "
                             f"{np.flatnonzero(occupied)}, where the last row is 1")
        self.set_products(learnt["products"], occupied)

    cdef object set_products(self, object products, object occupied):
        """Take over H y and h; compute them if they are None, as in models of older versions."""
        cdef Py_ssize_t k
        if products is None:
            for k in range(self.n_outputs + 1):
                self.gram.solve(self.targets.row(k), self.products.touch(k))
            return
        self.products.set_array(products)
        if products[:, ~occupied].any():
            raise ValueError(f"products must be 0 but in the slots {np.flatnonzero(occupied)}")


POLICIES = {"bolssvm": LeastSquaresPolicy}
