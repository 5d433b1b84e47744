"""Plan: work in stages of units, whose costs are known, that is done a little at a time.

Which units are done where a share of the work is due depends on the share alone, not on when that
is asked.
"""
# What a unit costs beside what is in it, in nanoseconds of a processor as all costs.
UNIT = 3e3


def once(double cost, *functions):
    """A stage for each function that does all of it: (function, units, cost of one)."""
    return [(function, 1, cost) for function in functions]


def by_rows(function, Py_ssize_t n, Py_ssize_t size, double cost, double unit=UNIT):
    """A stage whose units each see some of n rows, of which one takes so long."""
    return (lambda k: function(slice(k * size, min((k + 1) * size, n))),
            (n + size - 1) // size, unit + cost * size)


def by_steps(function, Py_ssize_t n, Py_ssize_t n_steps, double cost):
    """A stage of n parts, each of so many steps, of which one takes so long."""
    return lambda k: function(*divmod(k, n_steps)), n * n_steps, UNIT + cost


cdef class Plan:
    """Work of which nothing is done.

    Parameters
    ----------
    stages : list of (function, int, float)
        Functions of a number, how many units each of them does, and the cost of one.
    """

    def __cinit__(self, list stages):
        self.stages = [stage for stage in stages if stage[1] > 0]
        self.n_stages = len(self.stages)
        self.work = sum([units * cost for _, units, cost in self.stages])
        self.next = self.stages[0][2] if self.n_stages > 0 else 0.0

    cdef bint is_left(self) noexcept nogil:
        """Whether there is work that is not done."""
        return self.stage < self.n_stages

    cdef bint has_unit(self, double share) noexcept nogil:
        """Whether a unit is due where a share of the work is."""
        return self.is_left() and (share >= 1 or self.next <= share * self.work)

    cdef int go_on(self) except -1:
        """Do the next unit."""
        function, units, cost = self.stages[self.stage]
        function(self.unit)
        self.done += cost
        self.unit += 1
        if self.unit == units:
            self.stage, self.unit = self.stage + 1, 0
        if self.is_left():
            self.next = self.done + <double> self.stages[self.stage][2]
        else:
            self.stages = None
        return 0

    def finish(self):
        """Do all that is left."""
        while self.is_left():
            self.go_on()
