# Rows of raw memory as arrays. May change at minor versions.
cdef object rows_as_doubles(const void *values, Py_ssize_t n, Py_ssize_t stride, Py_ssize_t width,
                            Py_ssize_t itemsize)
cdef int write_rows(const double[:, ::1] array, void *values, Py_ssize_t stride,
                    Py_ssize_t itemsize) except -1
cdef object packed(object matrix, Py_ssize_t width)
cdef object widened(object array)
