# Scores of rows of many kernel values, strip by strip. May change at minor versions.
from onlinekern.core.base.part cimport Status
from onlinekern.core.kernels.coefficients cimport Coefficients
from onlinekern.core.kernels.window cimport Window


cdef void score_next_row(Window window, Coefficients coefficients, double *current,
                         double *averaged) noexcept nogil
cdef Status score_rows(Window window, Coefficients coefficients, const char *norm_terms,
                       double *out) noexcept nogil
