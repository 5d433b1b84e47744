"""KernelRowCache: a least-recently-used cache of kernel rows in bounded memory."""
from cython cimport floating
from libc.stdlib cimport free, malloc
from libc.string cimport memmove, memset

from onlinekern.core.base.state cimport integer_within, size_of
from onlinekern.core.base.vector cimport aligned_room

# Largest size in bytes: sums of a few do not overflow.
cdef Py_ssize_t MOST_BYTES = 1 << 58


cdef inline void gather(floating *row, const Py_ssize_t *places, Py_ssize_t count) noexcept nogil:
    """row[k] <- row[places[k]] for ascending places."""
    cdef Py_ssize_t k
    for k in range(count):
        row[k] = row[places[k]]


cdef class KernelRowCache:
    """Kernel rows in bounded memory; the least recently used row is evicted first.

    The caller fills the rows. The operating system provides the pages when they are first written,
    so unused capacity costs no memory.

    Parameters
    ----------
    n : int
        Number of different rows, 0 ... n - 1.
    row_bytes : int > 0
    limit : float
        Bytes for all rows; at least one row is cached.

    Attributes
    ----------
    capacity : int
        Number of rows that fit.
    hits, misses : int
        How often `find` found a row, and how often it did not.
    """

    def __cinit__(self, Py_ssize_t n, Py_ssize_t row_bytes, double limit):
        cdef Py_ssize_t r
        integer_within("row_bytes", row_bytes, 1, MOST_BYTES)
        integer_within("n", n, 0, MOST_BYTES)
        self.n = n
        self.row_bytes = row_bytes
        self.capacity = max(1, min(n, <Py_ssize_t> min(limit / row_bytes, 1e15)))
        self.oldest = self.newest = -1
        self.bytes = self.capacity * row_bytes
        self.memory = <char *> aligned_room(size_of("kernel rows", self.capacity, row_bytes))
        self.slot_of = <Py_ssize_t *> malloc(
            size_of("kernel rows", 4 * max(n, 1), sizeof(Py_ssize_t)))
        if self.memory == NULL or self.slot_of == NULL:
            raise MemoryError(
                f"no memory for {self.capacity} kernel rows of {row_bytes} bytes: "
                "cache_size can be smaller")
        self.row_in = self.slot_of + max(n, 1)
        self.older = self.row_in + max(n, 1)
        self.newer = self.older + max(n, 1)
        for r in range(n):
            self.slot_of[r] = -1

    def __dealloc__(self):
        free(self.memory)
        free(self.slot_of)

    cdef char *find(self, Py_ssize_t row) noexcept nogil:
        """The memory of a row, which becomes the newest; NULL if it is not cached."""
        cdef Py_ssize_t slot = self.slot_of[row]
        if slot < 0:
            self.misses += 1
            return NULL
        self.hits += 1
        if slot != self.newest:
            self.unlink(slot)
            self.link(slot)
        return self.memory + slot * self.row_bytes

    cdef char *make(self, Py_ssize_t row) noexcept nogil:
        """Memory for a row that is not cached; may evict the oldest one."""
        cdef Py_ssize_t slot = self.used
        if slot < self.capacity:
            self.used += 1
        else:
            slot = self.oldest
            self.unlink(slot)
            self.slot_of[self.row_in[slot]] = -1
        self.row_in[slot] = row
        self.slot_of[row] = slot
        self.link(slot)
        return self.memory + slot * self.row_bytes

    cdef void drop(self, Py_ssize_t row) noexcept nogil:
        """Remove a row from the cache; its slot is free after the next `keep_columns`."""
        cdef Py_ssize_t slot = self.slot_of[row]
        if slot >= 0:
            self.unlink(slot)
            self.slot_of[row] = -1

    cdef void keep_columns(self, const Py_ssize_t *places, Py_ssize_t count, Py_ssize_t itemsize,
                           Py_ssize_t row_bytes) noexcept nogil:
        """Make every row one of the elements at `count` ascending places, padded with zeros.

        The rows are shorter from now on, so more of them fit.
        """
        cdef Py_ssize_t slot, kept = 0
        cdef char *row
        for slot in range(self.used):
            if self.slot_of[self.row_in[slot]] != slot:  # dropped
                continue
            row = self.memory + slot * self.row_bytes
            if itemsize == 4:
                gather(<float *> row, places, count)
            else:
                gather(<double *> row, places, count)
            memset(row + count * itemsize, 0, row_bytes - count * itemsize)
            memmove(self.memory + kept * row_bytes, row, row_bytes)
            self.rename(slot, kept)
            kept += 1
        self.used = kept
        self.row_bytes = row_bytes
        self.capacity = min(self.n, self.bytes // row_bytes)

    cdef void unlink(self, Py_ssize_t slot) noexcept nogil:
        """Take a slot out of the list by last use."""
        cdef Py_ssize_t older = self.older[slot], newer = self.newer[slot]
        if older >= 0:
            self.newer[older] = newer
        else:
            self.oldest = newer
        if newer >= 0:
            self.older[newer] = older
        else:
            self.newest = older

    cdef void rename(self, Py_ssize_t slot, Py_ssize_t to) noexcept nogil:
        """Change the number of a row's slot to `to`, which is free or the same; order of use stays.
        """
        cdef Py_ssize_t row = self.row_in[slot]
        cdef Py_ssize_t older = self.older[slot], newer = self.newer[slot]
        self.row_in[to] = row
        self.slot_of[row] = to
        self.older[to] = older
        self.newer[to] = newer
        if older >= 0:
            self.newer[older] = to
        else:
            self.oldest = to
        if newer >= 0:
            self.older[newer] = to
        else:
            self.newest = to

    cdef void link(self, Py_ssize_t slot) noexcept nogil:
        """Make an unlinked slot the newest."""
        self.older[slot] = self.newest
        self.newer[slot] = -1
        if self.newest >= 0:
            self.newer[self.newest] = slot
        else:
            self.oldest = slot
        self.newest = slot

    def use(self, Py_ssize_t row):
        """Find or make a row; whether it was found (for tests)."""
        integer_within("row", row, 0, self.n - 1)
        if self.find(row) != NULL:
            return True
        self.make(row)
        return False

    def kept(self):
        """The rows kept, the least recently used first (for tests)."""
        rows, slot = [], self.oldest
        while slot >= 0:
            rows.append(self.row_in[slot])
            slot = self.newer[slot]
        return rows
