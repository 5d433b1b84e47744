"""ScaledAverage: the scale of a model, and the average of the models of all steps.

The parameters of a model (coefficients of support vectors, or weights of features) are stored as a
vector v and a scale s: w = s v. Shrinking the model multiplies s, and leaves v as it is.

The average of the models w_1 ... w_t is kept without adding up vectors. Let S be the total of the
scales of these models. If v had never changed, their sum would be S v. A number a that is added to
v_j counts for later models only, so S v_j is too large by S a, with the S of that moment. This
excess is added to the companion c_j. At every step

    w_1 + ... + w_t = S v - c.

A score of the average costs one more product, that of c with the sample. A sample that does not
change v costs nothing more. The average that predicts includes the present model, w_{t + 1} = s v:

    ((S + s) v - c) / (t + 1).

`fold_scale` multiplies the scale into v, before s leaves the range in which v and c are accurate.
S then restarts at 0, and -c is the sum of the models so far.
"""


cdef void fold_scale(ScaledAverage *average, double factor, double *values, double *companions,
                     Py_ssize_t n) noexcept nogil:
    """Multiply scale * factor into the n values. The sum of the models so far does not change.

    `companions` is NULL for a model without an average.
    """
    cdef Py_ssize_t j
    cdef double product = average.scale * factor
    if companions != NULL:
        for j in range(n):
            companions[j] -= values[j] * average.total
    for j in range(n):
        values[j] *= product
    average.total = 0
    average.scale = 1


cdef object averaged_array(const ScaledAverage *average, object values, object companions):
    """The parameters of the average model, from arrays of v and of c."""
    return ((average.total + average.scale) * values - companions) / n_averaged(average)
