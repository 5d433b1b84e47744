# Two support vectors of a Gaussian kernel as one (layer 2). May change at minor versions.

cdef double merge_point(double A, double C, double D, double kappa) noexcept nogil
cdef double degradation(double A, double C, double D, double kappa, double h) noexcept nogil
cdef double least_degradation(double a, double kappa) noexcept nogil
cdef int make_table() except -1
