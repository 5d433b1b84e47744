"""Plan: work in stages of units, whose costs are known, that is done a little at a time.

Which units are done where a share of the work is due depends on the share alone, not on when that
is asked.
"""
# What a unit costs beside what is in it, in nanoseconds of a processor as all costs.
UNIT = 3e3


def once(double cost, *functions):
    """A stage for each function that does all of it: (function, units, cost of one)."""
    return [(function, 1, cost) for function in functions]


def by_rows(function, Py_ssize_t n, Py_ssize_t size, double cost, double unit=UNIT,
            double first=0):
    """A stage whose units each see some of n rows, of which one takes so long.

    The first unit takes `first` more: what it calls is in no cache.
    """
    return (lambda k: function(slice(k * size, min((k + 1) * size, n))),
            (n + size - 1) // size, unit + cost * size, first, 1)


def by_steps(function, Py_ssize_t n, Py_ssize_t n_steps, double cost, double first=0):
    """A stage of n parts, each of so many steps, of which one takes so long.

    Each step takes `first` more in the first part.
    """
    return (lambda k: function(*divmod(k, n_steps)), n * n_steps, UNIT + cost, first, n_steps)


cdef class Plan:
    """Work of which nothing is done.

    Parameters
    ----------
    stages : list of (function, int, float) or (function, int, float, float, int)
        Functions of a number, how many units each of them does, and the cost of one; by how much
        the first ones take longer, and how many these are.
    """

    def __cinit__(self, list stages):
        self.stages = [stage if len(stage) == 5 else (*stage, 0.0, 0) for stage in stages
                       if stage[1] > 0]
        self.n_stages = len(self.stages)
        self.work = sum([units * cost + min(units, n_first) * first
                         for _, units, cost, first, n_first in self.stages])
        self.begin_unit()

    cdef bint is_left(self) noexcept nogil:
        """Whether there is work that is not done."""
        return self.stage < self.n_stages

    cdef bint has_unit(self, double share) noexcept nogil:
        """Whether a unit is due where a share of the work is."""
        return self.is_left() and (share >= 1 or self.next <= share * self.work)

    cdef int begin_unit(self) except -1:
        """Find the cost up to the end of the next unit."""
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
        """Do all that is left."""
        while self.is_left():
            self.go_on()
