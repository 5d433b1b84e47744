# How the kernel values of a block are computed. May change at minor versions.

cdef bint kept_sparse(Py_ssize_t d) noexcept nogil
cdef bint pays_to_compress(Py_ssize_t d, Py_ssize_t n, Py_ssize_t stored,
                           Py_ssize_t panels) noexcept nogil
cdef bint pays_to_multiply_all(Py_ssize_t d, Py_ssize_t n, Py_ssize_t added) noexcept nogil
cdef bint pays_to_number(Py_ssize_t d, Py_ssize_t stored) noexcept nogil
cdef Py_ssize_t best_length(Py_ssize_t n, Py_ssize_t d, Py_ssize_t itemsize) noexcept nogil
cdef Py_ssize_t strip_length(Py_ssize_t itemsize) noexcept nogil
cdef bint outweighs(Py_ssize_t n, Py_ssize_t vectors) noexcept nogil
cdef bint begins_listed(Py_ssize_t n_outputs) noexcept nogil
cdef bint stays_listed(Py_ssize_t entries, Py_ssize_t n_outputs, Py_ssize_t n) noexcept nogil
cdef Py_ssize_t tile_rows(Py_ssize_t n, Py_ssize_t vectors) noexcept nogil
cdef Py_ssize_t tile_width(Py_ssize_t rows, Py_ssize_t itemsize, Py_ssize_t vectors) noexcept nogil
cdef Py_ssize_t rows_scored(Py_ssize_t vectors, bint panels) noexcept nogil
cdef Py_ssize_t rows_learnt(Py_ssize_t n, Py_ssize_t vectors, bint panels) noexcept nogil
