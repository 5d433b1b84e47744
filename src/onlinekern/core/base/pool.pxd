# Threads that stand ready for calls. May change at minor versions.
cdef class Calls:
    cdef object function, items, results, lock, error
    cdef Calls around                    # within an item of which this one was made
    cdef Py_ssize_t begun

    cdef Py_ssize_t next_place(self) except? -2
    cdef int stop(self, error) except -1


cdef bint is_stopped() except -1
