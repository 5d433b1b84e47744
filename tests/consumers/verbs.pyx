"""A compiled package over the C interface: the tests call its verbs through this one.

Arrays are given as addresses, and 0 is NULL, so that wrong ones can be given too. Verbs that
work are called without the GIL, those that only tell something with it.
"""
from libc.stdint cimport int32_t, uintptr_t

from onlinekern.core.capi cimport (
    ONLINEKERN_ABI,
    ok_abi,
    ok_attach_thread,
    ok_check,
    ok_classes,
    ok_detach_thread,
    ok_fit,
    ok_free,
    ok_free_bytes,
    ok_last_error,
    ok_learn,
    ok_learn_one,
    ok_learn_one_sparse,
    ok_load,
    ok_load_file,
    ok_matrix,
    ok_model,
    ok_n_classes,
    ok_n_columns,
    ok_n_mistakes,
    ok_n_outputs,
    ok_n_seen,
    ok_n_support,
    ok_new,
    ok_predict,
    ok_save,
    ok_save_file,
    ok_score_one_sparse,
    ok_scores,
    ok_set_classes,
)

HEADER_ABI = ONLINEKERN_ABI


class Failure(Exception):
    """A code that is not OK_SUCCESS, and the message."""


def abi():
    return ok_abi()


def last_error():
    return ok_last_error().decode()


def check(name, parameters):
    message = ok_check(name, parameters)
    return None if message == NULL else message.decode()


def attached(work):
    """Call a function while this thread is attached twice, once before and once after."""
    ok_detach_thread()
    results = [work()]
    for _ in range(2):
        succeed(ok_attach_thread())
    results.append(work())
    for _ in range(3):
        ok_detach_thread()
    return [*results, work()]


cdef int succeed(int code) except -1:
    if code != 0:
        raise Failure(code, last_error())
    return 0


cdef class Matrix:
    """An ok_matrix; lives as long as what its addresses keep alive."""

    cdef ok_matrix matrix
    cdef tuple addresses

    def __init__(self, values, n_rows, n_columns, dtype, indices=0, indptr=0):
        self.addresses = (values, indices, indptr)
        self.matrix.values = <const void *> <uintptr_t> values
        self.matrix.indices = <const int32_t *> <uintptr_t> indices
        self.matrix.indptr = <const int32_t *> <uintptr_t> indptr
        self.matrix.n_rows = n_rows
        self.matrix.n_columns = n_columns
        self.matrix.dtype = dtype


cdef const ok_matrix *pointer(Matrix X):
    return NULL if X is None else &X.matrix


cdef class Model:
    """A model; `Model.none()` is NULL."""

    cdef ok_model *model

    def __dealloc__(self):
        with nogil:
            ok_free(self.model)

    @staticmethod
    def none():
        return Model()

    @staticmethod
    def new(name, parameters=b""):
        cdef Model self = Model()
        cdef const char *text = NULL if name is None else <const char *> name
        cdef const char *key_values = NULL if parameters is None else <const char *> parameters
        with nogil:
            self.model = ok_new(text, key_values)
        if self.model == NULL:
            raise Failure(None, last_error())
        return self

    @staticmethod
    def load(uintptr_t data, ptrdiff_t size):
        cdef Model self = Model()
        with nogil:
            self.model = ok_load(<const void *> data, size)
        if self.model == NULL:
            raise Failure(None, last_error())
        return self

    def save(self):
        cdef void *data
        cdef ptrdiff_t size
        cdef int code
        with nogil:
            code = ok_save(self.model, &data, &size)
        succeed(code)
        saved = (<const char *> data)[:size]
        ok_free_bytes(data)
        return saved

    @staticmethod
    def load_file(path):
        cdef Model self = Model()
        cdef const char *name = NULL if path is None else <const char *> path
        with nogil:
            self.model = ok_load_file(name)
        if self.model == NULL:
            raise Failure(None, last_error())
        return self

    def save_file(self, path):
        cdef const char *name = NULL if path is None else <const char *> path
        cdef int code
        with nogil:
            code = ok_save_file(self.model, name)
        succeed(code)

    def save_nowhere(self):
        succeed(ok_save(self.model, NULL, NULL))

    def set_classes(self, uintptr_t classes, ptrdiff_t n_classes):
        cdef int code
        with nogil:
            code = ok_set_classes(self.model, <const double *> classes, n_classes)
        succeed(code)

    def fit(self, Matrix X, uintptr_t y, uintptr_t weight=0):
        cdef const ok_matrix *samples = pointer(X)
        cdef int code
        with nogil:
            code = ok_fit(self.model, samples, <const double *> y, <const double *> weight)
        succeed(code)

    def learn(self, Matrix X, uintptr_t y, uintptr_t weight=0, uintptr_t predictions=0):
        cdef const ok_matrix *samples = pointer(X)
        cdef int code
        with nogil:
            code = ok_learn(self.model, samples, <const double *> y, <const double *> weight,
                            <double *> predictions)
        succeed(code)

    def learn_one(self, Matrix x, double y):
        cdef const ok_matrix *sample = pointer(x)
        cdef int code
        with nogil:
            code = ok_learn_one(self.model, sample, y)
        succeed(code)

    def learn_one_sparse(self, uintptr_t values, uintptr_t columns, ptrdiff_t n_stored,
                         ptrdiff_t n_columns, int dtype, double y):
        cdef int code
        with nogil:
            code = ok_learn_one_sparse(self.model, <const void *> values, <const int32_t *> columns,
                                       n_stored, n_columns, dtype, y)
        succeed(code)

    def score_one_sparse(self, uintptr_t values, uintptr_t columns, ptrdiff_t n_stored,
                         ptrdiff_t n_columns, int dtype, uintptr_t scores, ptrdiff_t size):
        cdef int code
        with nogil:
            code = ok_score_one_sparse(self.model, <const void *> values, <const int32_t *> columns,
                                       n_stored, n_columns, dtype, <double *> scores, size)
        succeed(code)

    def scores(self, Matrix X, uintptr_t scores, ptrdiff_t size):
        cdef const ok_matrix *samples = pointer(X)
        cdef int code
        with nogil:
            code = ok_scores(self.model, samples, <double *> scores, size)
        succeed(code)

    def predict(self, Matrix X, uintptr_t predictions):
        cdef const ok_matrix *samples = pointer(X)
        cdef int code
        with nogil:
            code = ok_predict(self.model, samples, <double *> predictions)
        succeed(code)

    def classes(self, uintptr_t classes, ptrdiff_t size):
        cdef int code
        with nogil:
            code = ok_classes(self.model, <double *> classes, size)
        succeed(code)

    def counts(self):
        """Numbers of samples seen, mistakes, support vectors, columns, outputs and classes."""
        return (
            *(ok_n_seen(self.model), ok_n_mistakes(self.model), ok_n_support(self.model)),
            *(ok_n_columns(self.model), ok_n_outputs(self.model), ok_n_classes(self.model)),
        )
