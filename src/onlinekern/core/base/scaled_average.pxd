# A vector under one scale, and its running average. May change at minor versions.
from libc.stdint cimport int64_t

cdef enum:
    FIRST_TO_CATCH_UP = 6    # before, a model has half of the polynomial average and more


cdef struct ScaledAverage:
    double scale         # s
    double total         # S
    int64_t steps        # models counted
    int64_t skipped      # the first models, which the average leaves out
    double weight        # of the present model in the average
    double weights       # of all models in the average, the present one included
    double growth        # of the weight from one model to the next; 0: polynomial
    int64_t period       # models after which weights start from 1 again; 0: never


cdef inline int64_t n_averaged(const ScaledAverage *average) noexcept nogil:
    """Number of models in the average, the present one included."""
    return average.steps + 1 - average.skipped


cdef inline bint catches_up(const ScaledAverage *average, int64_t lead) noexcept nogil:
    """Whether the present model gets a larger share than its number gives it."""
    return lead > 0 and average.growth == 0 and n_averaged(average) >= FIRST_TO_CATCH_UP


cdef inline void count_model(ScaledAverage *average, int64_t lead) noexcept nogil:
    """Count the present model. Call this after the sample was scored, before the model changes.

    `lead` is that of `learning.heads`. Where `renews` holds, call `renew_companions` first.
    """
    if catches_up(average, lead):
        catch_up(average, lead)
    average.steps += 1
    if average.steps > average.skipped:
        average.total += average.weight * average.scale
        if average.growth == 1:
            average.weights += 1
        else:
            weigh_next(average)


cdef inline bint ends_period(const ScaledAverage *average) noexcept nogil:
    """Whether the weights start from 1 again once the present model is counted."""
    return average.period > 0 and average.steps >= average.skipped \
        and n_averaged(average) % average.period == 0


cdef inline bint renews(const ScaledAverage *average, int64_t lead) noexcept nogil:
    """Whether the companions must be renewed before the present model is counted."""
    return ends_period(average) or catches_up(average, lead)


cdef inline double averaged_score(const ScaledAverage *average, double product,
                                  double companion_product) noexcept nogil:
    """Score of the average model, from the products of v and of c with a sample."""
    return ((average.total + average.weight * average.scale) * product - companion_product) \
        / average.weights


cdef inline double companion_step(const ScaledAverage *average, double step) noexcept nogil:
    """What to add to the companion of a number of v that `step` is added to."""
    return step * average.total


cdef object averaging_of(object averaging)
cdef int begin_average(ScaledAverage *average, object averaging) except -1
cdef void resume_average(ScaledAverage *average, double scale, double total,
                         int64_t steps) noexcept nogil
cdef void weigh_next(ScaledAverage *average) noexcept nogil
cdef double share_of_last(const ScaledAverage *average) noexcept nogil
cdef void catch_up(ScaledAverage *average, int64_t lead) noexcept nogil
cdef void renew_companions(const ScaledAverage *average, int64_t lead, double *companions,
                           Py_ssize_t n) noexcept nogil
cdef void fold_scale(ScaledAverage *average, double factor, double *values, double *companions,
                     Py_ssize_t n) noexcept nogil
cdef object averaged_array(const ScaledAverage *average, object values, object companions)
