"""BlockMemory: the memory of recursive least squares over blocks (`linalg.open_block`)."""
from libc.math cimport log
from libc.stdlib cimport free
from libc.string cimport memcpy

from onlinekern.core.base.state cimport size_of
from onlinekern.core.base.undo cimport JournaledMatrix
from onlinekern.core.base.vector cimport OK_PANEL, ops_for, resize_array, whole_panels
from onlinekern.core.linalg.evidence cimport Evidence
from onlinekern.core.linalg.information cimport Information

# N is recomputed after EPOCH x length samples: it then costs, per sample, about as much as one of
# the other products.
cdef Py_ssize_t EPOCH = 8


cdef class BlockMemory:
    """The sums, N = A^-1, and memory for samples that are not in them; see `OpenBlock`."""

    def __cinit__(self, Py_ssize_t length, Py_ssize_t n_outputs, Py_ssize_t itemsize, double reg,
                  double forgetting, bint follows=False, Py_ssize_t below=0):
        cdef Py_ssize_t i
        if not 0 < forgetting <= 1:
            raise ValueError(f"forgetting must be in (0, 1], got {forgetting}")
        self.length, self.n_outputs, self.itemsize = length, n_outputs, itemsize
        self.ops = ops_for(itemsize)
        self.sums = Information(length, n_outputs, reg)
        self.below = below
        self.evidence = Evidence(self.sums, below) if follows else None
        self.base = JournaledMatrix("weights before the block", n_outputs, length)
        self.forgetting = forgetting
        self.choose_lengths()
        self.inverse_bytes = size_of("the inverse", length, length * itemsize)
        self.contents_bytes = (LANES + WAITING) * length * itemsize + (
            LANES * (LANES + 2 * n_outputs) + WAITING) * <Py_ssize_t> sizeof(double)
        self.inverse = <char *> resize_array(NULL, 0, self.inverse_bytes, 1)
        self.contents.products = <char *> resize_array(NULL, 0, self.contents_bytes, 1)
        self.saved_inverse = <char *> resize_array(NULL, 0, self.inverse_bytes, 1)
        self.saved_contents = <char *> resize_array(NULL, 0, self.contents_bytes, 1)
        self.current = <double *> resize_array(NULL, 0, n_outputs, length * sizeof(double))
        self.scaled = <double *> resize_array(NULL, 0, WAITING, length * sizeof(double))
        self.multipliers = <double *> resize_array(NULL, 0, n_outputs, LANES * sizeof(double))
        self.solved = <char *> resize_array(NULL, 0, LANES, length * itemsize)
        self.factor32 = <float *> resize_array(NULL, 0, LANES, LANES * sizeof(float))
        if self.inverse == NULL or self.contents.products == NULL or self.saved_inverse == NULL \
                or self.saved_contents == NULL or self.current == NULL or self.scaled == NULL \
                or self.multipliers == NULL or self.solved == NULL or self.factor32 == NULL:
            raise MemoryError(f"no memory for least squares of {length} features")
        self.contents.rows = self.contents.products + LANES * length * itemsize
        self.contents.factor = <double *> (self.contents.rows + WAITING * length * itemsize)
        self.contents.innovations = self.contents.factor + LANES * LANES
        self.contents.targets = self.contents.innovations + LANES * n_outputs
        self.contents.weights = self.contents.targets + LANES * n_outputs
        for i in range(length):
            self.set_diagonal(i, 1 / reg)

    def __dealloc__(self):
        free(self.inverse)
        free(self.contents.products)
        free(self.saved_inverse)
        free(self.saved_contents)
        free(self.current)
        free(self.scaled)
        free(self.multipliers)
        free(self.solved)
        free(self.factor32)

    def choose_lengths(self):
        """Set the samples of a block, and of an epoch, after which N is recomputed."""
        cdef Py_ssize_t half = EPOCH * self.length
        if self.forgetting < 1:
            half = <Py_ssize_t> min(half, max(log(2) / -log(self.forgetting), 1.0))
        self.block_length = min(LANES, half)
        self.epoch_length = half // self.block_length * self.block_length

    cdef void set_diagonal(self, Py_ssize_t place, double value) noexcept nogil:
        cdef char *panel = self.panel(place // OK_PANEL)
        if self.itemsize == 4:
            (<float *> panel)[place * OK_PANEL + place % OK_PANEL] = <float> value
        else:
            (<double *> panel)[place * OK_PANEL + place % OK_PANEL] = value

    cdef char *panel(self, Py_ssize_t index) noexcept nogil:
        """Columns 64 index ... 64 index + 63 of N, row by row."""
        return self.inverse + index * OK_PANEL * self.length * self.itemsize

    cdef void write_inverse(self, const double *upper) noexcept nogil:
        """Set N from its upper triangle, used x used numbers in C order."""
        cdef Py_ssize_t f, lane, p, column, used = self.used
        cdef double value
        cdef char *row
        for p in range(whole_panels(used) // OK_PANEL):
            for f in range(used):
                row = self.panel(p) + f * OK_PANEL * self.itemsize
                for lane in range(min(OK_PANEL, used - p * OK_PANEL)):
                    column = p * OK_PANEL + lane
                    value = upper[f * used + column] if column >= f else upper[column * used + f]
                    if self.itemsize == 4:
                        (<float *> row)[lane] = <float> value
                    else:
                        (<double *> row)[lane] = value

    cdef void keep_contents(self) noexcept nogil:
        """Copy the samples before the first is overwritten after a checkpoint.

        `close` overwrites none, so a call with one sample copies only N.
        """
        cdef Py_ssize_t rows = (LANES + self.saved_waiting) * self.length * self.itemsize
        cdef Py_ssize_t numbers = <char *> self.contents.factor - self.contents.products
        if not self.contents_kept:
            memcpy(self.saved_contents, self.contents.products, rows)
            memcpy(self.saved_contents + numbers, self.contents.factor,
                   self.contents_bytes - numbers)
            self.contents_kept = True
