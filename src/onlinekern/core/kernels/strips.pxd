# Scores of rows of many kernel values, strip by strip. May change at minor versions.
from onlinekern.core.base.part cimport Status
from onlinekern.core.kernels.coefficients cimport Coefficients
from onlinekern.core.kernels.window cimport Window


cdef Status score_rows(Window window, Coefficients coefficients, const char *norm_terms,
                       double *out) noexcept nogil
cdef Status open_rows(Window window, Coefficients coefficients, const char *norm_terms,
                      Py_ssize_t n, Py_ssize_t spare, bint begun) noexcept nogil
cdef bint stay_as_they_are(Window window, Coefficients coefficients) noexcept nogil
cdef void score_row(Window window, Coefficients coefficients, Py_ssize_t i, double *current,
                    double *averaged) noexcept nogil
