# Checks of what a state holds. May change at minor versions.
from libc.stdint cimport int64_t

# The number of a column has 31 bits; vectors of so many outputs can still be counted in bytes.
cdef enum:
    MOST_FEATURES = 2147483647
    MOST_OUTPUTS = 1073741824


cdef dict fields_of(object state, str owner, tuple names)
cdef dict chosen(dict state, tuple names)
cdef int check_width(str name, Py_ssize_t d, Py_ssize_t expected) except -1
cdef tuple items_of(object state, str owner, Py_ssize_t count)
cdef type subclass_of(object cls, str name, type base)
cdef int check_kind(object part, str name, type base) except -1
cdef object doubles_of_shape(str name, object array, tuple shape)
cdef bint is_symmetric(const double[:, ::1] matrix) noexcept nogil
cdef int check_matrix(str name, object array) except -1
cdef object integers_within(str name, object array, Py_ssize_t count, object least, object most)
cdef object rows_of_form(str name, object rows, Py_ssize_t d, object dtype, bint sparse,
                         bint missing=*)
cdef object float_dtype(object dtype)
cdef int64_t integer_within(str name, object number, object least, object most) except? -1
cdef int64_t count_of(str name, object number) except -1
cdef double finite_number(str name, object number) except? -1
cdef double positive_number(str name, object number) except -1
cdef double not_negative(str name, object number) except -1
cdef bint flag_of(str name, object value) except -1
cdef str shown(object value)
cdef Py_ssize_t size_of(str what, object count, object size) except -1
