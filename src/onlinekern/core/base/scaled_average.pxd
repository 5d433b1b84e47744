# A vector under one scale, and its running average. May change at minor versions.
from libc.stdint cimport int64_t


cdef struct ScaledAverage:
    double scale         # s
    double total         # S
    int64_t steps        # models counted
    int64_t skipped      # the first models, which the average leaves out


cdef inline int64_t n_averaged(const ScaledAverage *average) noexcept nogil:
    """Number of models in the average, the present one included."""
    return average.steps + 1 - average.skipped


cdef inline void count_model(ScaledAverage *average) noexcept nogil:
    """Count the present model. Call this after the sample was scored, before the model changes."""
    average.steps += 1
    if average.steps > average.skipped:
        average.total += average.scale


cdef inline double averaged_score(const ScaledAverage *average, double product,
                                  double companion_product) noexcept nogil:
    """Score of the average model, from the products of v and of c with a sample."""
    return ((average.total + average.scale) * product - companion_product) / n_averaged(average)


cdef inline double companion_step(const ScaledAverage *average, double step) noexcept nogil:
    """What to add to the companion of a number of v that `step` is added to."""
    return step * average.total


cdef void fold_scale(ScaledAverage *average, double factor, double *values, double *companions,
                     Py_ssize_t n) noexcept nogil
cdef object averaged_array(const ScaledAverage *average, object values, object companions)
