"""RowCache: numbered rows of equal length in bounded memory, the least recently used leaves first.

Layer 1. What a row holds is its maker's business. The pages of the memory come from the system
when they are first written, so a cache that is larger than what is asked of it costs nothing.
"""
from libc.stdlib cimport free, malloc


cdef class RowCache:
    """A cache of up to n rows.

    Parameters
    ----------
    n : int
        Rows that there are.
    row_bytes : int > 0
    limit : float
        Bytes that the rows may take in all; one row is always kept.

    Attributes
    ----------
    capacity : int
        Rows that can be kept.
    hits, misses : int
        How often a row was found, and how often it was not.
    """

    def __init__(self, Py_ssize_t n, Py_ssize_t row_bytes, double limit):
        cdef Py_ssize_t r
        self.n = n
        self.row_bytes = row_bytes
        self.capacity = max(1, min(n, <Py_ssize_t> min(limit / row_bytes, 1e15)))
        self.oldest = self.newest = -1
        self.memory = <char *> malloc(self.capacity * row_bytes)
        self.place = <Py_ssize_t *> malloc((max(n, 1) + 3 * self.capacity) * sizeof(Py_ssize_t))
        if self.memory == NULL or self.place == NULL:
            raise MemoryError(
                f"no memory for {self.capacity} kernel rows of {row_bytes} bytes: "
                "cache_size can be smaller")
        self.owner = self.place + max(n, 1)
        self.older = self.owner + self.capacity
        self.newer = self.older + self.capacity
        for r in range(n):
            self.place[r] = -1

    def __dealloc__(self):
        free(self.memory)
        free(self.place)

    cdef char *find(self, Py_ssize_t row) noexcept nogil:
        """The memory of a row, which counts as used now; NULL when it is not kept."""
        cdef Py_ssize_t place = self.place[row]
        if place < 0:
            self.misses += 1
            return NULL
        self.hits += 1
        if place != self.newest:
            self.unlink(place)
            self.link(place)
        return self.memory + place * self.row_bytes

    cdef char *make(self, Py_ssize_t row) noexcept nogil:
        """Memory for a row that is not kept, at the cost of the one not used for longest."""
        cdef Py_ssize_t place = self.used
        if place < self.capacity:
            self.used += 1
        else:
            place = self.oldest
            self.unlink(place)
            self.place[self.owner[place]] = -1
        self.owner[place] = row
        self.place[row] = place
        self.link(place)
        return self.memory + place * self.row_bytes

    cdef void unlink(self, Py_ssize_t place) noexcept nogil:
        cdef Py_ssize_t older = self.older[place], newer = self.newer[place]
        if older >= 0:
            self.newer[older] = newer
        else:
            self.oldest = newer
        if newer >= 0:
            self.older[newer] = older
        else:
            self.newest = older

    cdef void link(self, Py_ssize_t place) noexcept nogil:
        """A place that is not linked becomes the newest."""
        self.older[place] = self.newest
        self.newer[place] = -1
        if self.newest >= 0:
            self.newer[self.newest] = place
        else:
            self.oldest = place
        self.newest = place

    def use(self, Py_ssize_t row):
        """Ask for a row, make it if need be; whether it was there (for tests)."""
        if self.find(row) != NULL:
            return True
        self.make(row)
        return False

    def kept(self):
        """The rows that are kept, the least recently used first (for tests)."""
        rows, place = [], self.oldest
        while place >= 0:
            rows.append(self.owner[place])
            place = self.newer[place]
        return rows
