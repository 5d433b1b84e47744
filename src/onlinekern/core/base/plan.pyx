"""Plan: stages of small units of work, with estimated costs, that are done one by one.

Which units are due depends on the share of the work that is due alone, not on earlier calls.
"""
# Overhead of a unit. All costs are nanoseconds of CPU time.
UNIT = 3e3


def once(double cost, *functions):
    """A stage of a single unit for each function: (function, number of units, cost of a unit)."""
    return [(function, 1, cost) for function in functions]


def by_rows(function, Py_ssize_t n, Py_ssize_t size, double cost, double unit=UNIT,
            double first=0):
    """A stage for n rows, `size` rows per unit. A unit costs `unit`, plus `cost` per row.

    The first unit costs `first` more: cache misses.
    """
    return (lambda k: function(slice(k * size, min((k + 1) * size, n))),
            (n + size - 1) // size, unit + cost * size, first, 1)


def by_steps(function, Py_ssize_t n, Py_ssize_t n_steps, double cost, double first=0):
    """A stage of n parts, each of `n_steps` units. A unit costs `UNIT` + `cost`.

    Each unit of the first part costs `first` more: cache misses.
    """
    return (lambda k: function(*divmod(k, n_steps)), n * n_steps, UNIT + cost, first, n_steps)


cdef class Plan:
    """A plan before its first unit.

    Parameters
    ----------
    stages : list of (function, int, float) or (function, int, float, float, int)
        Function of the index of a unit, number of units, and cost of a unit; then the additional
        cost of the first units, and their number.
    """

    def __cinit__(self, list stages):
        self.stages = [stage if len(stage) == 5 else (*stage, 0.0, 0) for stage in stages
                       if stage[1] > 0]
        self.n_stages = len(self.stages)
        self.work = sum([units * cost + min(units, n_first) * first
                         for _, units, cost, first, n_first in self.stages])
        self.begin_unit()

    cdef bint is_left(self) noexcept nogil:
        """Whether units are left."""
        return self.stage < self.n_stages

    cdef bint has_unit(self, double share) noexcept nogil:
        """Whether the next unit is due after a share of the work."""
        return self.is_left() and (share >= 1 or self.next <= share * self.work)

    cdef int begin_unit(self) except -1:
        """Compute the cost up to the end of the next unit."""
        if not self.is_left():
            self.stages = None
            return 0
        _, _, cost, first, n_first = self.stages[self.stage]
        self.next = self.done + <double> cost
        if self.unit < n_first:
            self.next += <double> first
        return 0

    cdef int go_on(self) except -1:
        """Do the next unit."""
        function, units, _, _, _ = self.stages[self.stage]
        function(self.unit)
        self.done = self.next
        self.unit += 1
        if self.unit == units:
            self.stage, self.unit = self.stage + 1, 0
        return self.begin_unit()

    def finish(self):
        """Do all units that are left."""
        while self.is_left():
            self.go_on()
