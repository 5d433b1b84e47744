"""Lesson: the rows of a call, which one learns that answers, and during a trial its rival too.

What answers, a model or a race, learns a piece of the rows before its losses are looked at. Where
one of them raises an alarm, a rival begins with the next row (`learning.trials`). It learns the
rows of the piece that have been learnt without it, as long as the trial lasts; a rival that stays
has not seen those behind the end of its trial, and learns them then. A piece is so short that
little has been learnt for nothing.
"""
from libc.stdint cimport int64_t

# Rows of a call that are learnt before the losses are looked at.
cdef Py_ssize_t PIECE = 4096


cdef class Lesson:
    """Base of the lessons: a subclass says what learns, and what a loss is."""

    cdef int learn(self, int64_t seen) except -1:
        """Learn all rows; there were `seen` samples before."""
        cdef Py_ssize_t first = 0, ahead = 0, last
        cdef int64_t left
        while first < self.n:
            if ahead == first:
                ahead = min(self.n, first + min(PIECE, self.piece()))
                self.teach(False, first, ahead)
            if self.trials.now.left == 0:
                last = self.watch(first, ahead, seen)
                seen += self.count(first, last)
                first = last
                continue
            last, left = first, self.trials.now.left
            while last < ahead and left > 0:
                left -= self.weight(self.row(last)) > 0
                last += 1
            self.teach(True, first, last)
            seen += self.count(first, last)
            if self.compare(first, last, seen):
                ahead = last
            first = last
        return 0

    cdef int64_t count(self, Py_ssize_t first, Py_ssize_t last) noexcept nogil:
        """How many rows first ... last - 1 are samples: those of weight 0 are not."""
        cdef Py_ssize_t i
        cdef int64_t found = 0
        for i in range(first, last):
            found += self.weight(self.row(i)) > 0
        return found

    cdef Py_ssize_t watch(self, Py_ssize_t first, Py_ssize_t last, int64_t seen) except -1:
        """See the losses of rows behind `seen` samples. Returns the end, or that of an alarm."""
        cdef Py_ssize_t i, row
        cdef double weight
        for i in range(first, last):
            row = self.row(i)
            weight = self.weight(row)
            if weight > 0:
                seen += 1
                self.give(False, row)
                if self.trials.see(self.loss(False, row), weight):
                    self.begin(seen)
                    return i + 1
        return last

    cdef bint compare(self, Py_ssize_t first, Py_ssize_t last, int64_t seen) except -1:
        """Give those answers to rows, or what the rival told, that err less.

        Both have learnt the rows, and `seen` samples with them. Returns whether another one answers
        behind them.
        """
        cdef Py_ssize_t i, row
        cdef bint others = False
        cdef double own, rival, weight
        for i in range(first, last):
            row = self.row(i)
            weight = self.weight(row)
            own = rival = 0
            if weight > 0:
                # What is given overwrites what was told.
                own, rival = self.loss(others, row), self.loss(not others, row)
            self.give(others, row)
            if weight > 0:
                self.trials.see(own, weight)
                others ^= self.trials.goes_to_rival(weight * own, weight * rival)
        if others:
            self.exchange(seen)
        if self.trials.now.left == 0:
            self.drop()
            if self.trials.now.due:
                self.begin(seen)
        return others

    cdef Py_ssize_t piece(self) except -1:
        """Rows that may be learnt before the losses are looked at."""
        return PIECE

    cdef int teach(self, bint rival, Py_ssize_t first, Py_ssize_t last) except -1:
        """Let the one that answers, or its rival, learn rows first ... last - 1."""
        raise NotImplementedError("Lesson.teach")

    cdef double loss(self, bint rival, Py_ssize_t row) noexcept:
        """The loss of what one of them told of a row."""
        return 0

    cdef int give(self, bint rival, Py_ssize_t row) except -1:
        """Give what one of them told of a row as the answer, and count it."""
        raise NotImplementedError("Lesson.give")

    cdef int begin(self, int64_t seen) except -1:
        """Let a rival begin behind so many samples."""
        raise NotImplementedError("Lesson.begin")

    cdef int exchange(self, int64_t seen) except -1:
        """Let the rival be the one that answers, behind so many samples."""
        raise NotImplementedError("Lesson.exchange")

    cdef int drop(self) except -1:
        """Let the rival go."""
        raise NotImplementedError("Lesson.drop")
