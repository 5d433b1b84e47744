# Copies of numbered records, for undo (layer 1). May change at minor versions.

cdef class Journal:
    cdef readonly Py_ssize_t size      # bytes of a record
    cdef Py_ssize_t n                  # records at the checkpoint: later ones need no copy
    cdef Py_ssize_t count, room, flag_room
    cdef Py_ssize_t *numbers           # of the records copied
    cdef char *copies
    cdef char *copied                  # a flag per record

    cdef void open(self, Py_ssize_t n) noexcept nogil
    cdef bint wants(self, Py_ssize_t number) noexcept nogil
    cdef char *record(self, Py_ssize_t number) noexcept nogil
    cdef char *copy(self, Py_ssize_t index) noexcept nogil
    cdef int keep(self, Py_ssize_t number, const char *base) noexcept nogil
    cdef void put_back(self, char *base) noexcept nogil
