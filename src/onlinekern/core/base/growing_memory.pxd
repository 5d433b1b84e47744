# Memory that grows with a stream. May change at minor versions.


cdef void *grown(void *old, Py_ssize_t old_count, Py_ssize_t count, Py_ssize_t size) noexcept nogil
cdef void free_grown(void *memory) noexcept nogil
