"""Coefficients: K numbers per support vector, under one scale, with their running average.

The model of output k is f_k(x) = scale * sum_r a_kr kappa(s_r, x). The scale and the average are
those of `base.scaled_average`: the same kernel values give the score of the last model and, with
the companions, that of the average.

The weights of explicit features z have the same form, f_k(x) = scale * w_k . z(x), with z in place
of the kernel values (`reserve_features`, `add_multiples`).

Listed coefficients (see coefficient_rows) give scores of the same bits as those in arrays.
"""
from libc.math cimport INFINITY, fabs, sqrt
from libc.stdint cimport int64_t
from libc.string cimport memcpy, memset

from onlinekern.core.base.part cimport NO_MEMORY, OK, Status
from onlinekern.core.base.scaled_average cimport (
    averaged_score, companion_step, count_model, fold_scale, renew_companions, renews,
)
from onlinekern.core.base.vector cimport OK_SUMS, ok_vector_ops, ops_for, whole_panels
from onlinekern.core.kernels.coefficient_rows cimport CoefficientRows
from onlinekern.core.kernels.cost_model cimport stays_listed
from onlinekern.core.kernels.entries cimport EntryList

# The score of the average is a difference of numbers that are larger than it by a factor of up to
# 1 / scale. Its relative error is therefore about 2^-53 / scale.
cdef double SMALLEST_SCALE = 1e-3
# The scale grows if a policy enlarges the coefficients to compensate for evicted support vectors.
cdef double LARGEST_SCALE = 1e3


cdef class Coefficients(CoefficientRows):
    """Coefficients of rows in numbered slots; its arguments are those of `CoefficientRows`."""

    cdef void sums_of(self, Py_ssize_t k, const char *g, Py_ssize_t length,
                      double *sums) noexcept nogil:
        """The dots of kernel values with the values of output k and, if averaged, companions."""
        cdef const EntryList *row
        if self.listed:
            row = &self.entries.lists[k]
            sums[0] = self.ops.listed_dot(g, row.slots, row.values, row.count)
            if self.averaged:
                sums[1] = self.ops.listed_dot(g, row.slots, row.companions, row.count)
        elif self.averaged:
            self.ops.dot2(g, self.values + k * self.capacity,
                          self.companions + k * self.capacity, length, sums)
        else:
            sums[0] = self.ops.dot(g, self.values + k * self.capacity, length)

    cdef void scores(self, const char *g, double *current, double *averaged) noexcept nogil:
        """Scores from the kernel values g of one sample, a number per row in whole panels.

        f_t goes into `current`, the average of f_1 ... f_t into `averaged` (f_t again when the
        coefficients are not averaged), n_outputs numbers each; the two may be the same memory,
        which then holds the average.
        """
        cdef Py_ssize_t k, length = whole_panels(self.n)
        cdef double[2] sums
        for k in range(self.n_outputs):
            self.sums_of(k, g, length, sums)
            self.scale_score(k, sums, current, averaged)

    cdef void scale_score(self, Py_ssize_t k, const double *sums, double *current,
                          double *averaged) noexcept nogil:
        """The scores of output k from the dots with its values and, if averaged, companions."""
        current[k] = self.average.scale * sums[0]
        averaged[k] = (averaged_score(&self.average, sums[0], sums[1]) if self.averaged
                       else current[k])

    cdef void add_scores(self, const char *g, Py_ssize_t first, Py_ssize_t n,
                         double *sums) noexcept nogil:
        """Add the part of n rows, from `first` on, to the scores of a sample; none is listed.

        g are its kernel values with them. Whole panels, one after another, and `finish_scores`
        give the bits of `scores`. `sums` are OK_SUMS numbers for each of `n_vectors`, 0 at first.
        """
        self.add_tile(g, 0, 1, first, n, sums)

    cdef void add_tile(self, const char *g, Py_ssize_t ld, Py_ssize_t rows, Py_ssize_t first,
                       Py_ssize_t n, double *sums) noexcept nogil:
        """The same of several samples, whose kernel values are `ld` numbers apart.

        Their sums lie one behind the other.
        """
        n = min(n, whole_panels(self.n) - first)
        if n > 0:
            self.ops.add_dots(g, ld, rows, self.values + first, self.capacity, self.n_vectors(), n,
                              sums)

    cdef void finish_scores(self, const double *sums, double *current,
                            double *averaged) noexcept nogil:
        """The scores of a sample whose rows were all added up, as `scores` gives them."""
        cdef Py_ssize_t k
        cdef double[2] pair
        for k in range(self.n_outputs):
            pair[0] = self.ops.finish_dot(sums + k * OK_SUMS)
            if self.averaged:
                pair[1] = self.ops.finish_dot(sums + (self.n_outputs + k) * OK_SUMS)
            self.scale_score(k, pair, current, averaged)

    cdef Status assign(self, Py_ssize_t slot, const double *step) noexcept nogil:
        """Give the row in a slot its K coefficients; there is room. Returns a status.

        The slot is a cleared one, or the next.
        """
        cdef Py_ssize_t k, j
        if self.listed:
            self.n = max(self.n, slot + 1)
            return self.add_entries(slot, step)
        if slot < self.saved_n and self.preserve() < 0:
            return NO_MEMORY
        self.least_changed = min(self.least_changed, slot)
        for k in range(self.n_outputs):
            j = k * self.capacity + slot
            self.values[j] = step[k] / self.average.scale
            if self.averaged:
                self.companions[j] = companion_step(&self.average, self.values[j])
        self.n = max(self.n, slot + 1)
        return OK

    cdef Status add_entries(self, Py_ssize_t slot, const double *step) noexcept nogil:
        """`add_at` where coefficients are listed; too many of them are written out."""
        cdef Py_ssize_t k
        cdef double raw
        self.least_changed = min(self.least_changed, slot)
        for k in range(self.n_outputs):
            if step[k] == 0:
                continue
            raw = step[k] / self.average.scale
            if self.entries.add(k, slot, raw, companion_step(&self.average, raw)) < 0:
                return NO_MEMORY
        return OK if stays_listed(self.entries.total, self.n_outputs, self.n) else self.write_out()

    cdef Status add_at(self, Py_ssize_t slot, const double *step) noexcept nogil:
        """Add K numbers to the coefficients in a slot, from now on. Returns a status."""
        cdef Py_ssize_t k, j
        cdef double raw
        if self.listed:
            return self.add_entries(slot, step)
        if slot < self.saved_n and self.preserve() < 0:
            return NO_MEMORY
        self.least_changed = min(self.least_changed, slot)
        for k in range(self.n_outputs):
            j = k * self.capacity + slot
            raw = step[k] / self.average.scale
            self.values[j] += raw
            if self.averaged:
                self.companions[j] += companion_step(&self.average, raw)
        return OK

    cdef Status reserve_features(self, Py_ssize_t length) noexcept nogil:
        """Be a model of `length` features, in whole panels, that has learnt nothing yet.

        Its numbers are the weights of features, and `scores` takes features for kernel values.
        Returns a status.
        """
        self.listed = False
        self.n = length
        return self.reserve(length)

    cdef Status add_multiples(self, const char *z, const double *factors) noexcept nogil:
        """Add factors_k z, a kernel value for each row or a feature, to output k. Returns a status.

        The models averaged so far stay what they were.
        """
        return self.add_scaled(self.ops, z, factors)

    cdef Status add_multiples_double(self, const double *z, const double *factors) noexcept nogil:
        """The same with a number in double for each row."""
        return self.add_scaled(ops_for(sizeof(double)), z, factors)

    cdef Status add_scaled(self, const ok_vector_ops *ops, const void *z,
                           const double *factors) noexcept nogil:
        cdef Py_ssize_t k
        for k in range(self.n_outputs):
            if self.add_to_output(ops, k, z, factors[k]) < 0:
                return NO_MEMORY
        return OK

    cdef Status add_to_output(self, const ok_vector_ops *ops, Py_ssize_t k, const void *z,
                              double factor) noexcept nogil:
        """Add factor z to output k; `ops` are those of the type of z. Returns a status."""
        cdef double raw = factor / self.average.scale
        if raw == 0:
            return OK
        if self.write_out() < 0 or self.preserve_output(k) < 0:
            return NO_MEMORY
        ops.add(z, raw, self.values + k * self.capacity, self.n)
        if self.averaged:
            ops.add(z, companion_step(&self.average, raw),
                    self.companions + k * self.capacity, self.n)
        return OK

    cdef Status clear(self, Py_ssize_t slot) noexcept nogil:
        """Make the coefficients in a slot 0. Returns a status."""
        cdef Py_ssize_t k
        if self.listed:
            self.least_changed = min(self.least_changed, slot)
            return self.entries.remove(slot)
        if slot < self.saved_n and self.preserve() < 0:
            return NO_MEMORY
        self.least_changed = min(self.least_changed, slot)
        for k in range(self.n_outputs):
            self.values[k * self.capacity + slot] = 0
            if self.averaged:
                self.companions[k * self.capacity + slot] = 0
        return OK

    cdef Status overwrite(self, Py_ssize_t k, const double *fresh) noexcept nogil:
        """Replace all n numbers of output k, in units of the scale. Returns a status.

        For models without an average, as `multiply`.
        """
        if self.write_out() < 0 or self.preserve_output(k) < 0:
            return NO_MEMORY
        memcpy(self.values + k * self.capacity, fresh, self.n * sizeof(double))
        return OK

    cdef Status multiply(self, const double *factors) noexcept nogil:
        """Multiply the coefficients of each slot by a factor of its own. Returns a status.

        For models without an average: the companions stay as they are.
        """
        cdef Py_ssize_t k, r
        cdef double *values
        if self.write_out() < 0 or self.preserve() < 0:
            return NO_MEMORY
        for k in range(self.n_outputs):
            values = self.values + k * self.capacity
            for r in range(self.n):
                values[r] *= factors[r]
        return OK

    cdef Status clip(self, double limit) noexcept nogil:
        """Hold every coefficient within -limit ... limit. Returns a status.

        For models without an average, as `multiply`.
        """
        cdef Py_ssize_t k
        if limit == INFINITY:
            return OK
        if self.write_out() < 0 or self.preserve() < 0:
            return NO_MEMORY
        for k in range(self.n_outputs):
            self.ops.clip(self.values + k * self.capacity, limit / self.average.scale, self.n)
        return OK

    cdef Py_ssize_t cheapest(self, const char *g, double length,
                             const double *lengths) noexcept nogil:
        """The slot r of smallest |a_r|^2 (lengths[r] - g_r^2 / length); none is listed."""
        return self.ops.cheapest(g, 1 / length, self.values, self.capacity, self.n_outputs,
                                 lengths, self.n)

    cdef void norms(self, double *out) noexcept nogil:
        """out[r] = `norm` of slot r, for all slots."""
        cdef Py_ssize_t r
        if self.n_outputs == 1:
            for r in range(self.n):
                out[r] = fabs(self.values[r])
            return
        self.squares(out)
        for r in range(self.n):
            out[r] = sqrt(out[r])

    cdef void squares(self, double *out) noexcept nogil:
        """out[r] = the sum of the squares of the K coefficients of slot r, for all slots."""
        cdef Py_ssize_t k, r
        cdef const double *values
        memset(out, 0, self.n * sizeof(double))
        if self.listed:
            self.entries.add_squares(out)
            return
        for k in range(self.n_outputs):
            values = self.values + k * self.capacity
            for r in range(self.n):
                out[r] += values[r] * values[r]

    cdef void products(self, Py_ssize_t slot, double *out) noexcept nogil:
        """out[r] = the product of the K coefficients of a slot with those of slot r, for all r."""
        cdef Py_ssize_t k, r
        cdef const double *values
        memset(out, 0, self.n * sizeof(double))
        if self.listed:
            self.entries.add_products(slot, out)
            return
        for k in range(self.n_outputs):
            values = self.values + k * self.capacity
            for r in range(self.n):
                out[r] += values[slot] * values[r]

    cdef double norm(self, Py_ssize_t slot) noexcept nogil:
        """The Euclidean norm of the K coefficients of a slot, without the common scale."""
        cdef Py_ssize_t k
        cdef double square = 0
        if self.n_outputs == 1:
            return fabs(self.values[slot])
        for k in range(self.n_outputs):
            square += self.at(k, slot) * self.at(k, slot)
        return sqrt(square)

    cdef Status advance(self, int64_t lead) noexcept nogil:
        """Count one step: f_t has been scored and enters the average. Before `shrink`, `assign`.

        Returns a status.
        """
        if self.averaged and renews(&self.average, lead):
            if self.preserve() < 0:
                return NO_MEMORY
            if self.listed:
                self.entries.renew(&self.average, lead)
            else:
                renew_companions(&self.average, lead, self.companions,
                                 self.n_outputs * self.capacity)
        count_model(&self.average, lead)
        return OK

    cdef Status shrink(self, double factor) noexcept nogil:
        """f <- factor f, in O(1) but for a rare fold. Returns a status."""
        if not SMALLEST_SCALE <= self.average.scale * factor <= LARGEST_SCALE:
            return self.fold(factor)
        self.average.scale *= factor
        return OK

    cdef Status fold(self, double factor) noexcept nogil:
        """Multiply scale * factor into the values. The sum of f_1 ... f_t does not change."""
        if self.preserve() < 0:
            return NO_MEMORY
        if self.listed:
            self.entries.fold(&self.average, factor)
        else:
            fold_scale(&self.average, factor, self.values, self.companions,
                       self.n_outputs * self.capacity)
        return OK
