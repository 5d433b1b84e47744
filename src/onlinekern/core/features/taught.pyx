"""TaughtFeatures: base of features that are learnt along a stream, from samples and targets.

Rows are kept, and the features are learnt from them at absolute numbers of samples. A call that
fails changes nothing. One thread learns at a time.
"""
import numpy as np

from onlinekern.core.base.lock cimport Access, Lock, begin_writing, end_writing
from onlinekern.core.base.part cimport OK, Status
from onlinekern.core.base.state cimport check_width, float_dtype
from onlinekern.core.samples.rows cimport Rows, Samples, samples_of

from onlinekern.core.base.lock import Writing
from onlinekern.core.base.part import refuse_attributes


cdef class TaughtFeatures:
    """Features that have learnt nothing so far. A subclass defines `run`, and extends undo.

    Parameters
    ----------
    d : int
        Number of features of a sample.
    dtype : dtype
        Type of the samples.

    Attributes
    ----------
    settings : tuple
        The other arguments of the class.
    kind : {'none', 'auto', 'labels', 'numbers'}
        Kind of the targets.
    calls : int
        Number of calls that learnt.
    """

    def __cinit__(self, Py_ssize_t d, dtype, *_):
        self.lock, self.access = Lock(), Access()
        self.d, self.itemsize = d, float_dtype(dtype).itemsize

    @property
    def dtype(self):
        return np.dtype(np.float32 if self.itemsize == 4 else np.float64)

    def learn(self, X, y=None, bint transform=False):
        """Learn rows, in their order.

        Parameters
        ----------
        X : ndarray or CSR matrix of shape (n, d), validated
        y : ndarray of shape (n,), float64, or None
            Finite; None if there are no targets, or none are needed any more.
        transform : bool
            Whether to return the result of `run`: each row transformed before it is learnt.
        """
        cdef Samples samples = samples_of(X, self.dtype)
        cdef const double[::1] targets
        check_width("X", samples.rows.d, self.d)
        targets = np.zeros(samples.rows.n) if y is None else y
        if targets.shape[0] != samples.rows.n:
            raise ValueError(f"{targets.shape[0]} targets do not fit {samples.rows.n} rows")
        begin_writing(self.lock, self.access)
        try:
            self.calls += 1
            self.checkpoint()
            try:
                return self.run(samples, targets, transform)
            except BaseException:
                self.rollback()
                raise
        finally:
            end_writing(self.lock, self.access)

    cdef object run(self, Samples samples, const double[::1] y, bint transform):
        """Learn rows; if `transform`, return how they are transformed before they are learnt."""
        raise NotImplementedError(f"{type(self).__name__}.run")

    cdef int keep(self, const Rows *rows, Py_ssize_t first, Py_ssize_t n,
                  const double *y) except -1:
        """Store n rows with their targets."""
        cdef Py_ssize_t i
        cdef Status status = OK
        with nogil:
            for i in range(n):
                status = self.recent.keep(rows, first + i, &y[i], 1)
                if status != OK:
                    break
        if status != OK:
            raise MemoryError(f"no memory for {self.recent.capacity} samples")
        return 0

    cdef void checkpoint(self):
        self.saved_recent = self.recent
        if self.recent is not None:
            self.recent.checkpoint()

    cdef void rollback(self):
        self.recent = self.saved_recent
        if self.recent is not None:
            self.recent.rollback()

    def share_lock_with(self, Lock lock not None):
        """Use another lock from now on. No thread may be learning now."""
        self.lock = lock

    def undo(self):
        """Return to the state before the last call that learnt."""
        with Writing(self.lock, self.access):
            self.rollback()

    def arguments(self):
        """Arguments that construct the same features without samples."""
        return (self.d, self.dtype, *self.settings)

    def __getstate__(self):
        refuse_attributes(self)
