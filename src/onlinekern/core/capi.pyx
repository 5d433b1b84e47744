"""The public C interface: free functions over opaque models, for C and Cython programs.

An `ok_model` is a reference to a Python estimator, so this module alone imports the Python package.
A function here takes the GIL, wraps the caller's memory in arrays, calls its counterpart in
`onlinekern/_capi.py`, and turns an exception into an error code. The caller need not hold the GIL,
and no exception leaves a function.

The arrays are views: nothing is copied, they are read-only unless `written`, and they are dropped
when the call ends. Wrong pointers and sizes are reported as errors before they are used.
"""
cimport numpy as cnp
from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_FromStringAndSize, PyBytes_GET_SIZE
from cpython.ref cimport PyObject, Py_DECREF, Py_INCREF
from libc.stddef cimport ptrdiff_t
from libc.stdint cimport int32_t, int64_t, uintptr_t
from libc.stdlib cimport free, malloc
from libc.string cimport memcpy

import numpy as np
import scipy.sparse as sp

from onlinekern.core.samples.rows cimport Samples

from onlinekern import _capi

cnp.import_array()

cdef ptrdiff_t MOST_BYTES = np.iinfo(np.intp).max


cdef int check_aligned(const void *data, size_t size) except -1:
    """Raise ValueError unless the address is a multiple of the element size."""
    if <uintptr_t> data % size != 0:
        raise ValueError("an array does not begin at a multiple of its elements' size")
    return 0


cdef object view_of(const void *data, ptrdiff_t n, int kind, bint written=False):
    """A one-dimensional array over n elements in the memory of the caller."""
    cdef cnp.npy_intp length = n
    if n == 0:
        return np.empty(0, cnp.PyArray_DescrFromType(kind))
    array = cnp.PyArray_SimpleNewFromData(1, &length, kind, <void *> data)
    if not written:
        cnp.PyArray_CLEARFLAGS(array, cnp.NPY_ARRAY_WRITEABLE)
    return array


cdef object numbers(const double *data, ptrdiff_t n, str name, bint written=False):
    """A view of n doubles of the caller; n < 0 and NULL are errors."""
    if n < 0:
        raise ValueError(f"the size of {name} is negative: {n}")
    if data == NULL and n > 0:
        raise ValueError(f"{name} is NULL")
    check_aligned(data, sizeof(double))
    return view_of(data, n, cnp.NPY_FLOAT64, written)


cdef object optional(const double *data, ptrdiff_t n, bint written=False):
    """The same, or None if there is no such array."""
    return None if data == NULL else numbers(data, n, "an array", written)


cdef ptrdiff_t bad_row(const ok_matrix *X) noexcept nogil:
    """The first row of a CSR matrix that is not within its arrays; -1 if all are."""
    cdef ptrdiff_t i
    cdef int32_t k
    for i in range(X.n_rows):
        if X.indptr[i] < 0 or X.indptr[i + 1] < X.indptr[i]:
            return i
        if X.indptr[i + 1] > X.indptr[i] and (X.indices == NULL or X.values == NULL):
            return i
        for k in range(X.indptr[i], X.indptr[i + 1]):
            if X.indices[k] < 0 or X.indices[k] >= X.n_columns:
                return i
    return -1


cdef object sparse_of(const ok_matrix *X):
    """A CSR matrix over the arrays of the caller, which have been checked."""
    cdef ptrdiff_t first = X.indptr[0], count = X.indptr[X.n_rows] - first
    values = view_of(<const char *> X.values + first * X.dtype, count, kind_of(X))
    indices = view_of(X.indices + first, count, cnp.NPY_INT32)
    indptr = view_of(X.indptr, X.n_rows + 1, cnp.NPY_INT32)
    if first > 0:
        indptr = indptr - np.int32(first)
    return sp.csr_matrix((values, indices, indptr), shape=(X.n_rows, X.n_columns), copy=False)


cdef Samples pointers_to_row(const ok_matrix *x):
    """The only row of a CSR matrix, which has been checked; None if its columns do not ascend."""
    cdef Samples samples = Samples()
    cdef ptrdiff_t first = x.indptr[0], count = x.indptr[1] - first, k
    cdef int32_t *starts
    for k in range(1, count):
        if x.indices[first + k] <= x.indices[first + k - 1]:
            return None
    samples.packed = malloc(2 * sizeof(int32_t))
    if samples.packed == NULL:
        raise MemoryError("no memory for one sample")
    starts = <int32_t *> samples.packed
    starts[0], starts[1] = 0, <int32_t> count
    samples.rows.values = <const char *> x.values + first * x.dtype
    samples.rows.columns = x.indices + first
    samples.rows.starts = starts
    samples.rows.n, samples.rows.d, samples.rows.itemsize = 1, x.n_columns, x.dtype
    return samples


cdef int kind_of(const ok_matrix *X) noexcept:
    return cnp.NPY_FLOAT32 if X.dtype == OK_FLOAT32 else cnp.NPY_FLOAT64


cdef int check_matrix(const ok_matrix *X) except -1:
    """Raise ValueError for a matrix that cannot be read."""
    cdef ptrdiff_t row
    if X == NULL:
        raise ValueError("X is NULL")
    if X.n_rows < 0 or X.n_columns < 0:
        raise ValueError(f"X is of {X.n_rows} x {X.n_columns} elements")
    if X.dtype != OK_FLOAT32 and X.dtype != OK_FLOAT64:
        raise ValueError(f"the dtype of X must be OK_FLOAT32 or OK_FLOAT64, got {X.dtype}")
    check_aligned(X.values, X.dtype)
    check_aligned(X.indices, sizeof(int32_t))
    check_aligned(X.indptr, sizeof(int32_t))
    if X.indptr != NULL:
        with nogil:
            row = bad_row(X)
        if row >= 0:
            raise ValueError(f"row {row} of X: indptr must be >= 0 and not descend, indices must "
                             f"be within 0 ... n_columns - 1 = {X.n_columns - 1}")
        return 0
    if X.indices != NULL:
        raise ValueError("X has indices but no indptr")
    if X.n_columns > 0 and X.n_rows > MOST_BYTES // X.dtype // X.n_columns:
        raise ValueError(f"X is of {X.n_rows} x {X.n_columns} elements, more than there is memory")
    if X.values == NULL and X.n_rows * X.n_columns > 0:
        raise ValueError("the values of X are NULL")
    return 0


cdef object matrix_of(const ok_matrix *X):
    """A matrix over the arrays of the caller, dense or CSR."""
    check_matrix(X)
    if X.indptr != NULL:
        return sparse_of(X)
    return view_of(X.values, X.n_rows * X.n_columns, kind_of(X)).reshape(X.n_rows, X.n_columns)


cdef object sample_of(const ok_matrix *x):
    """The only row of a matrix, as `learn_one` and `score_one` of a model take it soonest."""
    check_matrix(x)
    if x.n_rows != 1:
        raise ValueError(f"x must be one row, got {x.n_rows}")
    if x.indptr == NULL:
        return view_of(x.values, x.n_columns, kind_of(x))
    row = pointers_to_row(x)
    return sparse_of(x) if row is None else row


cdef extern from *:
    """
    #ifdef _MSC_VER
    #define OK_THREAD_LOCAL __declspec(thread)
    #else
    #define OK_THREAD_LOCAL _Thread_local
    #endif
    #define OK_MOST_MESSAGE 2048
    static OK_THREAD_LOCAL char ok_message[OK_MOST_MESSAGE];
    """
    const int OK_MOST_MESSAGE
    char *ok_message


# Errors and messages

cdef int failed(object error) noexcept:
    """Keep what an exception says as the message of this thread; returns its code."""
    text = str(error) or type(error).__name__
    # Not cut within a character.
    data = text.encode("utf-8", "replace")[:OK_MOST_MESSAGE - 1].decode("utf-8", "ignore").encode()
    memcpy(ok_message, PyBytes_AS_STRING(data), PyBytes_GET_SIZE(data) + 1)
    if not isinstance(error, Exception):
        return OK_INTERRUPTED
    if isinstance(error, MemoryError):
        return OK_NO_MEMORY
    return OK_DIVERGED if isinstance(error, FloatingPointError) else OK_ERROR


cdef api int ok_abi() noexcept nogil:
    """ONLINEKERN_ABI of the header that this library was built with."""
    return ONLINEKERN_ABI


cdef api const char *ok_last_error() noexcept nogil:
    """What the last failure in this thread was, UTF-8; "" if there was none.

    Valid until the next failure in this thread.
    """
    return ok_message


# Arguments

cdef object estimator_of(const ok_model *model):
    if model == NULL:
        raise ValueError("model is NULL")
    return <object> <PyObject *> model


cdef str text_of(const char *text, str name):
    if text == NULL:
        raise ValueError(f"{name} is NULL")
    return text.decode()


# Models

cdef ok_model *model_of(object estimator):
    """A reference of its own to an estimator."""
    Py_INCREF(estimator)
    return <ok_model *> <PyObject *> estimator


cdef api const char *ok_check(const char *estimator, const char *parameters) noexcept with gil:
    """NULL if ok_new would make a model of this, or what is wrong: the text of ok_last_error."""
    try:
        _capi.new(text_of(estimator, "estimator"), text_of(parameters, "parameters"))
    except BaseException as error:
        failed(error)
        return ok_message
    return NULL


cdef api ok_model *ok_new(const char *estimator, const char *parameters) noexcept with gil:
    """A model that has learnt nothing yet; NULL if the name or a parameter is wrong."""
    try:
        return model_of(_capi.new(text_of(estimator, "estimator"),
                                  text_of(parameters, "parameters")))
    except BaseException as error:
        failed(error)
        return NULL


cdef api ok_model *ok_load(const void *data, ptrdiff_t size) noexcept with gil:
    """The model that ok_save has made bytes of; NULL if none."""
    try:
        if data == NULL or size < 0:
            raise ValueError(f"data is NULL, or its size negative: {size}")
        return model_of(_capi.load(PyBytes_FromStringAndSize(<const char *> data, size)))
    except BaseException as error:
        failed(error)
        return NULL


cdef api int ok_save(const ok_model *model, void **data, ptrdiff_t *size) noexcept with gil:
    """Write the model to new bytes, which ok_free_bytes ends."""
    cdef void *copy
    try:
        if data == NULL or size == NULL:
            raise ValueError("data or size is NULL")
        saved = _capi.save(estimator_of(model))
        copy = malloc(PyBytes_GET_SIZE(saved))
        if copy == NULL:
            raise MemoryError(f"no memory for {len(saved)} bytes")
        memcpy(copy, PyBytes_AS_STRING(saved), PyBytes_GET_SIZE(saved))
        data[0], size[0] = copy, PyBytes_GET_SIZE(saved)
    except BaseException as error:
        return failed(error)
    return OK_SUCCESS


cdef api ok_model *ok_load_file(const char *path) noexcept with gil:
    """The model in a file of ok_save_file; NULL if there is none."""
    try:
        if path == NULL:
            raise ValueError("path is NULL")
        return model_of(_capi.load_file(<bytes> path))
    except BaseException as error:
        failed(error)
        return NULL


cdef api int ok_save_file(const ok_model *model, const char *path) noexcept with gil:
    """Write the model to a file, whole or not at all."""
    try:
        if path == NULL:
            raise ValueError("path is NULL")
        _capi.save_file(estimator_of(model), <bytes> path)
    except BaseException as error:
        return failed(error)
    return OK_SUCCESS


cdef api void ok_free(ok_model *model) noexcept with gil:
    """End a model; NULL is none."""
    if model != NULL:
        Py_DECREF(<object> <PyObject *> model)


cdef api void ok_free_bytes(void *data) noexcept nogil:
    """End the bytes of ok_save; NULL is none."""
    free(data)


# Learning

cdef api int ok_set_classes(ok_model *model, const double *classes,
                            ptrdiff_t n_classes) noexcept with gil:
    """Announce all labels that will ever come, which a stream's first sample needs."""
    try:
        _capi.announce(estimator_of(model), numbers(classes, n_classes, "classes"))
    except BaseException as error:
        return failed(error)
    return OK_SUCCESS


cdef api int ok_fit(ok_model *model, const ok_matrix *X, const double *y,
                    const double *weight) noexcept with gil:
    """Learn from scratch; the classes are those of y. A NULL weight is 1 for every sample."""
    try:
        estimator = estimator_of(model)
        samples = matrix_of(X)
        _capi.fit(estimator, samples, optional(y, X.n_rows), optional(weight, X.n_rows))
    except BaseException as error:
        return failed(error)
    return OK_SUCCESS


cdef api int ok_learn(ok_model *model, const ok_matrix *X, const double *y, const double *weight,
                      double *predictions) noexcept with gil:
    """Go on learning, one pass over the samples in their order.

    `predictions`, if not NULL, get what was predicted for each sample before it was learnt.
    """
    try:
        estimator = estimator_of(model)
        samples = matrix_of(X)
        _capi.learn(estimator, samples, optional(y, X.n_rows), optional(weight, X.n_rows),
                    optional(predictions, X.n_rows, written=True))
    except BaseException as error:
        return failed(error)
    return OK_SUCCESS


cdef api int ok_learn_one(ok_model *model, const ok_matrix *x, double y) noexcept with gil:
    """Go on learning with one sample, a matrix of one row, with the least of checks."""
    try:
        estimator = estimator_of(model)
        sample = sample_of(x)
        if _capi.learns_singly(estimator):
            _capi.learn_one(estimator, sample, y)
        else:
            _capi.learn(estimator, matrix_of(x), numbers(&y, 1, "y"), None, None)
    except BaseException as error:
        return failed(error)
    return OK_SUCCESS


# Answers

cdef api int ok_scores(const ok_model *model, const ok_matrix *X, double *scores,
                       ptrdiff_t size) noexcept with gil:
    """Write n_rows * n_outputs decision values to `scores`, which has room for `size`."""
    try:
        estimator = estimator_of(model)
        out = numbers(scores, size, "scores", written=True)
        if X != NULL and X.n_rows == 1 and _capi.has_learnt(estimator):
            _capi.score_one(estimator, sample_of(X), out)
        else:
            _capi.scores(estimator, matrix_of(X), out)
    except BaseException as error:
        return failed(error)
    return OK_SUCCESS


cdef api int ok_predict(const ok_model *model, const ok_matrix *X,
                        double *predictions) noexcept with gil:
    """Write a label, target, or 1 or -1 of an outlier detector for each of the n_rows samples."""
    try:
        estimator = estimator_of(model)
        samples = matrix_of(X)
        _capi.predict(estimator, samples,
                      numbers(predictions, X.n_rows, "predictions", written=True))
    except BaseException as error:
        return failed(error)
    return OK_SUCCESS


cdef int64_t count(const ok_model *model, str name) noexcept:
    """A number that the estimator knows, or -1."""
    try:
        return _capi.count(estimator_of(model), name)
    except BaseException as error:
        failed(error)
        return -1


cdef api int64_t ok_n_seen(const ok_model *model) noexcept with gil:
    """Samples learnt."""
    return count(model, "n_seen_")


cdef api int64_t ok_n_mistakes(const ok_model *model) noexcept with gil:
    """Samples whose label was not predicted before they were learnt; -1 of a regressor."""
    return count(model, "n_mistakes_")


cdef api int64_t ok_n_support(const ok_model *model) noexcept with gil:
    """Support vectors; 0 of a model that has none."""
    return count(model, "n_support_")


cdef api int64_t ok_n_columns(const ok_model *model) noexcept with gil:
    """Features of a sample."""
    return count(model, "n_features_in_")


cdef api int64_t ok_n_outputs(const ok_model *model) noexcept with gil:
    """Scores of a sample."""
    return count(model, "n_outputs_")


cdef api int64_t ok_n_classes(const ok_model *model) noexcept with gil:
    """Labels that are known; 0 of a regressor or an outlier detector."""
    try:
        return len(_capi.classes(estimator_of(model)))
    except BaseException as error:
        failed(error)
        return -1


cdef api int ok_classes(const ok_model *model, double *classes, ptrdiff_t size) noexcept with gil:
    """Write the n_classes labels, ascending, to `classes`, which has room for `size`."""
    try:
        labels = _capi.classes(estimator_of(model))
        out = numbers(classes, size, "classes", written=True)
        _capi.write(labels, out, "classes")
    except BaseException as error:
        return failed(error)
    return OK_SUCCESS
