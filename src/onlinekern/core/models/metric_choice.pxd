# Which metric a stream needs. May change at minor versions.


cdef class MetricChoice:
    cdef readonly Py_ssize_t d
    cdef readonly double exponent
    cdef readonly Py_ssize_t form       # place in FORMS
    cdef readonly double width          # factor of the metric of trace d
    cdef readonly object gradients      # mean outer product, (d, d), or its diagonal
