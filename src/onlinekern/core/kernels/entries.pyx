"""Entries: the coefficients that are not 0, listed for each output.

Where a sample changes few of many outputs, most coefficients stay 0. A list of an output has its
entries in the order of their slots, so its dot with kernel values has the bits of the whole row
(`listed_dot` of vector.h). A list that changes is copied once after a checkpoint; entries of slots
that were not there at the checkpoint are cut off by a rollback, and need no copy.
"""
from libc.stdlib cimport calloc, free, malloc
from libc.string cimport memcpy, memmove

from onlinekern.core.base.part cimport NO_MEMORY, OK, Status
from onlinekern.core.base.scaled_average cimport ScaledAverage, fold_scale, renew_companions

cdef Py_ssize_t LEAST_ROOM = 8


cdef class Entries:
    """No entries at first.

    Parameters
    ----------
    n_outputs : int
    averaged : bool
        Whether each has a companion.
    """

    def __cinit__(self, Py_ssize_t n_outputs, bint averaged):
        self.n_outputs = n_outputs
        self.averaged = averaged
        self.stamp = 1
        self.lists = <EntryList *> calloc(n_outputs, sizeof(EntryList))
        self.kept = <EntryList *> calloc(n_outputs, sizeof(EntryList))
        self.changed = <Py_ssize_t *> calloc(n_outputs, sizeof(Py_ssize_t))
        self.stamps = <uint64_t *> calloc(n_outputs, sizeof(uint64_t))
        if self.lists == NULL or self.kept == NULL or self.changed == NULL or self.stamps == NULL:
            raise MemoryError(f"no memory for the coefficients of {n_outputs} outputs")

    def __dealloc__(self):
        free_lists(self.lists, self.n_outputs)
        free_lists(self.kept, self.n_outputs)
        free(self.changed)
        free(self.stamps)

    cdef Py_ssize_t find(self, Py_ssize_t k, Py_ssize_t slot) noexcept nogil:
        """Where the entry of a slot is, or would be, in the list of output k."""
        cdef EntryList *row = &self.lists[k]
        cdef Py_ssize_t low = 0, high = row.count, middle
        if high == 0 or row.slots[high - 1] < slot:
            return high
        while low < high:
            middle = (low + high) // 2
            if row.slots[middle] < slot:
                low = middle + 1
            else:
                high = middle
        return low

    cdef double value(self, Py_ssize_t k, Py_ssize_t slot) noexcept nogil:
        """The value of output k in a slot, 0 without an entry."""
        cdef Py_ssize_t at = self.find(k, slot)
        return self.lists[k].values[at] if holds(&self.lists[k], at, slot) else 0

    cdef Status add(self, Py_ssize_t k, Py_ssize_t slot, double value,
                    double companion) noexcept nogil:
        """Add to the entry of a slot, which is 0 where there is none. Returns a status."""
        cdef EntryList *row = &self.lists[k]
        cdef Py_ssize_t at = self.find(k, slot)
        if slot < self.saved_n and self.keep(k) < 0:
            return NO_MEMORY
        if not holds(row, at, slot):
            if row.count == row.room and enlarge(row, self.averaged) < 0:
                return NO_MEMORY
            shift(row, at, 1)
            row.slots[at] = <int32_t> slot
            row.values[at] = 0
            if self.averaged:
                row.companions[at] = 0
            self.total += 1
        row.values[at] += value
        if self.averaged:
            row.companions[at] += companion
        return OK

    cdef Status remove(self, Py_ssize_t slot) noexcept nogil:
        """Remove the entries of a slot from all lists. Returns a status."""
        cdef Py_ssize_t k, at
        for k in range(self.n_outputs):
            at = self.find(k, slot)
            if not holds(&self.lists[k], at, slot):
                continue
            if slot < self.saved_n and self.keep(k) < 0:
                return NO_MEMORY
            shift(&self.lists[k], at + 1, -1)
            self.total -= 1
        return OK

    cdef Status keep(self, Py_ssize_t k) noexcept nogil:
        """Copy the list of output k, once, before it changes. Returns a status."""
        if self.stamps[k] == self.stamp:
            return OK
        if copy_list(&self.lists[k], &self.kept[k], self.averaged) < 0:
            return NO_MEMORY
        self.stamps[k] = self.stamp
        self.changed[self.n_changed] = k
        self.n_changed += 1
        # What was added since the checkpoint is no part of it.
        cut_off(&self.kept[k], self.saved_n)
        return OK

    cdef Status keep_all(self) noexcept nogil:
        """Copy all lists before they change in place. Returns a status."""
        cdef Py_ssize_t k
        for k in range(self.n_outputs):
            if self.keep(k) < 0:
                return NO_MEMORY
        return OK

    cdef void checkpoint(self, Py_ssize_t n) noexcept nogil:
        """Remember the present lists, of n slots, for `rollback`."""
        self.stamp += 1
        self.n_changed = 0
        self.saved_n = n

    cdef void rollback(self) noexcept nogil:
        """Return to the checkpoint; a second call returns to the same one."""
        cdef Py_ssize_t index, k
        cdef EntryList changed
        for index in range(self.n_changed):
            k = self.changed[index]
            changed = self.lists[k]
            self.lists[k] = self.kept[k]
            self.kept[k] = changed
        self.checkpoint(self.saved_n)
        self.total = 0
        for k in range(self.n_outputs):
            cut_off(&self.lists[k], self.saved_n)
            self.total += self.lists[k].count

    cdef void renew(self, const ScaledAverage *average, int64_t lead) noexcept nogil:
        """`renew_companions` of all entries."""
        cdef Py_ssize_t k
        for k in range(self.n_outputs):
            renew_companions(average, lead, self.lists[k].companions, self.lists[k].count)

    cdef void fold(self, ScaledAverage *average, double factor) noexcept nogil:
        """`fold_scale` of all entries."""
        cdef Py_ssize_t k
        cdef ScaledAverage before = average[0]
        for k in range(self.n_outputs):
            average[0] = before
            fold_scale(average, factor, self.lists[k].values, self.lists[k].companions,
                       self.lists[k].count)

    cdef void add_squares(self, double *out) noexcept nogil:
        """out[slot] += the squares of its values."""
        cdef Py_ssize_t k, i
        cdef const EntryList *row
        for k in range(self.n_outputs):
            row = &self.lists[k]
            for i in range(row.count):
                out[row.slots[i]] += row.values[i] * row.values[i]

    cdef void add_products(self, Py_ssize_t slot, double *out) noexcept nogil:
        """out[other] += the product of the values of a slot with those of each other one."""
        cdef Py_ssize_t k, i
        cdef double value
        cdef const EntryList *row
        for k in range(self.n_outputs):
            value = self.value(k, slot)
            row = &self.lists[k]
            for i in range(row.count if value != 0 else 0):
                out[row.slots[i]] += value * row.values[i]

    cdef int read(self, const double[:, ::1] values, const double[:, ::1] companions) except -1:
        """Take up what is not 0 of arrays of shape (n_outputs, n)."""
        cdef Py_ssize_t k, slot
        for k in range(self.n_outputs):
            for slot in range(values.shape[1]):
                if (values[k, slot] != 0 or companions[k, slot] != 0) and self.add(
                        k, slot, values[k, slot], companions[k, slot]) < 0:
                    raise MemoryError(f"no memory for the coefficients of {self.n_outputs} outputs")
        return 0

    cdef void write(self, double *values, double *companions, Py_ssize_t stride) noexcept nogil:
        """Write the entries into zeros of `stride` numbers for each output; either may be NULL."""
        cdef Py_ssize_t k, i
        cdef const EntryList *row
        for k in range(self.n_outputs):
            row = &self.lists[k]
            for i in range(row.count):
                if values != NULL:
                    values[k * stride + row.slots[i]] = row.values[i]
                if companions != NULL:
                    companions[k * stride + row.slots[i]] = row.companions[i]


cdef inline bint holds(const EntryList *row, Py_ssize_t at, Py_ssize_t slot) noexcept nogil:
    """Whether the entry of the slot is at the place that `find` gave."""
    return at < row.count and row.slots[at] == slot


cdef Status enlarge(EntryList *row, bint averaged) noexcept nogil:
    """Make room for more entries, half as many again. Returns a status."""
    cdef EntryList fresh
    fresh.count = 0
    fresh.room = max(LEAST_ROOM, row.room + row.room // 2)
    fresh.values = <double *> malloc(
        fresh.room * ((1 + averaged) * sizeof(double) + sizeof(int32_t)))
    if fresh.values == NULL:
        return NO_MEMORY
    fresh.companions = fresh.values + fresh.room if averaged else NULL
    fresh.slots = <int32_t *> (fresh.values + (1 + averaged) * fresh.room)
    fill_list(row, &fresh, averaged)
    free(row.values)
    row[0] = fresh
    return OK


cdef Status copy_list(const EntryList *row, EntryList *copy, bint averaged) noexcept nogil:
    """Make `copy`, whose memory is its own, equal to a list. Returns a status."""
    copy.count = 0
    while copy.room < row.count:
        if enlarge(copy, averaged) < 0:
            return NO_MEMORY
    fill_list(row, copy, averaged)
    return OK


cdef void fill_list(const EntryList *row, EntryList *copy, bint averaged) noexcept nogil:
    """Copy the entries of a list into another one, which has room."""
    copy.count = row.count
    if row.count == 0:
        return
    memcpy(copy.values, row.values, row.count * sizeof(double))
    memcpy(copy.slots, row.slots, row.count * sizeof(int32_t))
    if averaged:
        memcpy(copy.companions, row.companions, row.count * sizeof(double))


cdef void shift(EntryList *row, Py_ssize_t first, Py_ssize_t by) noexcept nogil:
    """Move the entries from `first` on by so many places, for which there is room."""
    cdef Py_ssize_t n = row.count - first
    row.count += by
    if n == 0:
        return
    memmove(row.values + first + by, row.values + first, n * sizeof(double))
    memmove(row.slots + first + by, row.slots + first, n * sizeof(int32_t))
    if row.companions != NULL:
        memmove(row.companions + first + by, row.companions + first, n * sizeof(double))


cdef void cut_off(EntryList *row, Py_ssize_t n) noexcept nogil:
    """Drop the entries of slots from slot n on."""
    while row.count > 0 and row.slots[row.count - 1] >= n:
        row.count -= 1


cdef void free_lists(EntryList *lists, Py_ssize_t n) noexcept:
    cdef Py_ssize_t k
    for k in range(n if lists != NULL else 0):
        free(lists[k].values)
    free(lists)
