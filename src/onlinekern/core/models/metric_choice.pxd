# Choice of the form of a learnt metric. May change at minor versions.


cdef class MetricChoice:
    cdef readonly Py_ssize_t d
    cdef readonly double exponent
    cdef readonly Py_ssize_t form       # index into FORMS
    cdef readonly double width          # factor of the metric, whose trace is d without it
    cdef readonly object gradients      # mean outer product, (d, d), or its diagonal
