"""Lesson: the model that predicts learns the rows of a call, and during a trial its rival too.

The predicting model (or race) learns a piece of the rows before its losses on them are tested. If a
loss raises an alarm, a rival begins with the next row (`learning.trials`) and learns the rest of
the piece, up to the end of the trial. If the rival then stays, it also learns the rows of the piece
after the end of the trial, which it has not seen; what the other model learnt there was in vain.
Pieces are so short that this is little.
"""
from libc.stdint cimport int64_t

# Rows that are learnt before their losses are tested.
cdef Py_ssize_t PIECE = 4096


cdef class Lesson:
    """Base class: a subclass defines how models learn, and what a loss is."""

    cdef int learn(self, int64_t seen) except -1:
        """Learn all rows; `seen` is the number of samples before."""
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
        """Number of samples among rows first ... last - 1: rows of weight 0 do not count."""
        cdef Py_ssize_t i
        cdef int64_t found = 0
        for i in range(first, last):
            found += self.weight(self.row(i)) > 0
        return found

    cdef Py_ssize_t watch(self, Py_ssize_t first, Py_ssize_t last, int64_t seen) except -1:
        """Test the losses of rows first ... last - 1, which follow `seen` samples.

        Returns `last`, or the row after an alarm.
        """
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
        """During a trial, output for each row the prediction of the model that predicts then.

        Both models have learnt the rows, and `seen` samples with them. Returns whether the rival
        predicts after them.
        """
        cdef Py_ssize_t i, row
        cdef bint others = False
        cdef double own, rival, weight
        for i in range(first, last):
            row = self.row(i)
            weight = self.weight(row)
            own = rival = 0
            if weight > 0:
                # Read the losses before `give` overwrites the predictions.
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
        """Most rows that may be learnt before their losses are tested."""
        return PIECE

    cdef int teach(self, bint rival, Py_ssize_t first, Py_ssize_t last) except -1:
        """Let the predicting model, or its rival, learn rows first ... last - 1."""
        raise NotImplementedError("Lesson.teach")

    cdef double loss(self, bint rival, Py_ssize_t row) noexcept:
        """Loss of the prediction of one of both for a row."""
        return 0

    cdef int give(self, bint rival, Py_ssize_t row) except -1:
        """Output the prediction of one of both for a row, and count it."""
        raise NotImplementedError("Lesson.give")

    cdef int begin(self, int64_t seen) except -1:
        """Make a rival after `seen` samples."""
        raise NotImplementedError("Lesson.begin")

    cdef int exchange(self, int64_t seen) except -1:
        """Exchange the predicting model and its rival after `seen` samples."""
        raise NotImplementedError("Lesson.exchange")

    cdef int drop(self) except -1:
        """Delete the rival."""
        raise NotImplementedError("Lesson.drop")
