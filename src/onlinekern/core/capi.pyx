"""The public C interface: free functions over opaque models, for C and Cython programs.

An `ok_model` is a reference to a Python estimator. So this module imports the Python package, as
the only one of the core. A function here takes the GIL, wraps the caller's memory in arrays
(`samples.c_rows`), calls its counterpart in `onlinekern/compat/c_interface.py`, and converts an
exception to an error code. The caller need not hold the GIL. If possible, `one_row` passes a single
row directly to the model, without arrays.
"""
cimport numpy as cnp
from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_FromStringAndSize, PyBytes_GET_SIZE
from cpython.ref cimport PyObject, Py_DECREF, Py_INCREF
from libc.stddef cimport ptrdiff_t
from libc.stdint cimport INT32_MAX, int32_t, int64_t
from libc.stdlib cimport free, malloc
from libc.string cimport memcpy

from onlinekern.core.one_row cimport Way, learn_row, predict_row, score_row, takes_rows
from onlinekern.core.samples.c_rows cimport check_aligned, matrix_of, sample_of, view_of

from onlinekern.compat import c_interface as _capi

cnp.import_array()

# Class of an estimator -> its `Way`: which methods the model may replace for single rows.
cdef dict WAYS = {}


cdef object numbers(const double *data, ptrdiff_t n, str name, bint written=False):
    """An array over n doubles in the caller's memory; n < 0 and NULL are errors."""
    if n < 0:
        raise ValueError(f"the size of {name} is negative: {n}")
    if data == NULL and n > 0:
        raise ValueError(f"{name} is NULL")
    check_aligned(data, sizeof(double))
    return view_of(data, n, cnp.NPY_FLOAT64, written)


cdef object optional(const double *data, ptrdiff_t n, bint written=False):
    """`numbers` of n doubles, or None for NULL."""
    return None if data == NULL else numbers(data, n, "an array", written)


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


cdef extern from *:
    """
    /* Python's thread state while this thread is attached. */
    static OK_THREAD_LOCAL int ok_attachments = 0;
    static OK_THREAD_LOCAL PyThreadState *ok_attached = NULL;
    static void ok_attach(void)
    {
        if (ok_attachments++ > 0)
            return;
        PyGILState_STATE before = PyGILState_Ensure();
        if (before == PyGILState_UNLOCKED)
            ok_attached = PyEval_SaveThread();
        else /* This thread has a Python thread state already, and still holds the GIL. */
            PyGILState_Release(before);
    }
    static void ok_detach(void)
    {
        if (ok_attachments == 0 || --ok_attachments > 0 || ok_attached == NULL)
            return;
        PyEval_RestoreThread(ok_attached);
        ok_attached = NULL;
        PyGILState_Release(PyGILState_UNLOCKED);
    }
    """
    void attach "ok_attach"() nogil
    void detach "ok_detach"() nogil


# Errors and messages

cdef int failed(object error) noexcept:
    """Store the text of an exception as the message of this thread; returns its error code."""
    try:
        text = str(error) or type(error).__name__
        # Decoding drops a character that the cut has split.
        data = text.encode("utf-8", "replace")[:OK_MOST_MESSAGE - 1]
        data = data.decode("utf-8", "ignore").encode()
    except BaseException:  # else the function would return OK_SUCCESS
        data = b"an error of which there is no text"
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
    """Message of the last failure in this thread, UTF-8; "" if there was none.

    Valid until the next failure in this thread.
    """
    return ok_message


# Threads

cdef api int ok_attach_thread() noexcept nogil:
    """Keep Python's state of this thread between calls, instead of making it in each call."""
    attach()
    return OK_SUCCESS


cdef api void ok_detach_thread() noexcept nogil:
    """Undo the last ok_attach_thread of this thread; does nothing if there was none."""
    detach()


# Arguments

cdef Way way_of(object estimator):
    """The `Way` of the class of an estimator."""
    way = WAYS.get(type(estimator))
    if way is None:
        way = WAYS[type(estimator)] = Way(*_capi.way_of(type(estimator)))
    return <Way> way


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
    """A new reference to an estimator."""
    Py_INCREF(estimator)
    return <ok_model *> <PyObject *> estimator


cdef api const char *ok_check(const char *estimator, const char *parameters) noexcept with gil:
    """NULL if ok_new would succeed with these arguments, else the message of ok_last_error."""
    try:
        _capi.new(text_of(estimator, "estimator"), text_of(parameters, "parameters"))
    except BaseException as error:
        failed(error)
        return ok_message
    return NULL


cdef api ok_model *ok_new(const char *estimator, const char *parameters) noexcept with gil:
    """A new model that has learnt nothing; NULL if the name or a parameter is wrong."""
    try:
        return model_of(_capi.new(text_of(estimator, "estimator"),
                                  text_of(parameters, "parameters")))
    except BaseException as error:
        failed(error)
        return NULL


cdef api ok_model *ok_load(const void *data, ptrdiff_t size) noexcept with gil:
    """The model in bytes of ok_save; NULL if there is none."""
    try:
        if data == NULL or size < 0:
            raise ValueError(f"data is NULL, or its size negative: {size}")
        return model_of(_capi.load(PyBytes_FromStringAndSize(<const char *> data, size)))
    except BaseException as error:
        failed(error)
        return NULL


cdef api int ok_save(const ok_model *model, void **data, ptrdiff_t *size) noexcept with gil:
    """Write the model to new bytes, which ok_free_bytes frees."""
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
    """Write the model to a file; on failure the file is not changed."""
    try:
        if path == NULL:
            raise ValueError("path is NULL")
        _capi.save_file(estimator_of(model), <bytes> path)
    except BaseException as error:
        return failed(error)
    return OK_SUCCESS


cdef api void ok_free(ok_model *model) noexcept with gil:
    """Free a model; NULL is ignored."""
    if model != NULL:
        Py_DECREF(<object> <PyObject *> model)


cdef api void ok_free_bytes(void *data) noexcept nogil:
    """Free the bytes of ok_save; NULL is ignored."""
    free(data)


# Learning

cdef api int ok_set_classes(ok_model *model, const double *classes,
                            ptrdiff_t n_classes) noexcept with gil:
    """Set all labels of a stream; classifiers need them before its first sample."""
    try:
        _capi.announce(estimator_of(model), numbers(classes, n_classes, "classes"))
    except BaseException as error:
        return failed(error)
    return OK_SUCCESS


cdef api int ok_fit(ok_model *model, const ok_matrix *X, const double *y,
                    const double *weight) noexcept with gil:
    """Learn from scratch; the classes are those in y. NULL as weight means 1 for every sample."""
    try:
        estimator = estimator_of(model)
        samples = matrix_of(X)
        _capi.fit(estimator, samples, optional(y, X.n_rows), optional(weight, X.n_rows))
    except BaseException as error:
        return failed(error)
    return OK_SUCCESS


cdef api int ok_learn(ok_model *model, const ok_matrix *X, const double *y, const double *weight,
                      double *predictions) noexcept with gil:
    """Continue learning, in one pass over the samples in their order.

    `predictions`, if not NULL, get the prediction for each sample before it was learnt.
    """
    try:
        estimator = estimator_of(model)
        samples = matrix_of(X)
        _capi.learn(estimator, samples, optional(y, X.n_rows), optional(weight, X.n_rows),
                    optional(predictions, X.n_rows, written=True))
    except BaseException as error:
        return failed(error)
    return OK_SUCCESS


cdef object row_for(object estimator, const ok_matrix *x):
    """The single row in a form for the estimator's methods; pipelines need a CSR matrix."""
    sample = sample_of(x)
    return matrix_of(x) if x.indptr != NULL and _capi.is_pipeline(estimator) else sample


cdef int learn_one(ok_model *model, const ok_matrix *x, double y) except -1:
    """Continue learning with one sample."""
    estimator = estimator_of(model)
    way = way_of(estimator)
    if learn_row(estimator, way, x, y):
        return 0
    sample = row_for(estimator, x)
    if takes_rows(estimator, way):
        estimator.learn_one(sample, y)
    elif not _capi.learn_one(estimator, sample, y):
        _capi.learn(estimator, matrix_of(x), numbers(&y, 1, "y"), None, None)
    return 0


cdef api int ok_learn_one(ok_model *model, const ok_matrix *x, double y) noexcept with gil:
    """Continue learning with one sample, a matrix of one row, with few checks."""
    try:
        learn_one(model, x, y)
    except BaseException as error:
        return failed(error)
    return OK_SUCCESS


cdef api int ok_learn_one_sparse(ok_model *model, const void *values, const int32_t *columns,
                                 ptrdiff_t n_stored, ptrdiff_t n_columns, int dtype,
                                 double y) noexcept with gil:
    """ok_learn_one for a sparse sample of `n_stored` elements; the others are 0."""
    cdef int32_t[2] starts
    cdef ok_matrix x
    try:
        point_at_stored(&x, starts, values, columns, n_stored, n_columns, dtype)
        learn_one(model, &x, y)
    except BaseException as error:
        return failed(error)
    return OK_SUCCESS


cdef int point_at_stored(ok_matrix *x, int32_t *starts, const void *values, const int32_t *columns,
                         ptrdiff_t n_stored, ptrdiff_t n_columns, int dtype) except -1:
    """Set x to a CSR matrix of one row with these elements; the two `starts` are its indptr."""
    if not 0 <= n_stored <= INT32_MAX:
        raise ValueError(f"n_stored must be within 0 ... {INT32_MAX}, got {n_stored}")
    if n_stored > 0 and (values == NULL or columns == NULL):
        raise ValueError("values or columns is NULL")
    starts[0], starts[1] = 0, <int32_t> n_stored
    x.values, x.indices, x.indptr = values, columns, starts
    x.n_rows, x.n_columns, x.dtype = 1, n_columns, dtype
    return 0


# Scores and predictions
cdef int score(const ok_model *model, const ok_matrix *X, double *scores,
               ptrdiff_t size) except -1:
    """Write decision values."""
    estimator = estimator_of(model)
    single = X != NULL and X.n_rows == 1
    if single and scores != NULL:
        check_aligned(scores, sizeof(double))
        if score_row(estimator, way_of(estimator), X, scores, size):
            return 0
    out = numbers(scores, size, "scores", written=True)
    if single and _capi.has_learnt(estimator):
        _capi.score_one(estimator, row_for(estimator, X), out)
    else:
        _capi.scores(estimator, matrix_of(X), out)
    return 0


cdef api int ok_scores(const ok_model *model, const ok_matrix *X, double *scores,
                       ptrdiff_t size) noexcept with gil:
    """Write n_rows * n_outputs decision values to `scores`, an array of `size` numbers."""
    try:
        score(model, X, scores, size)
    except BaseException as error:
        return failed(error)
    return OK_SUCCESS


cdef api int ok_score_one_sparse(const ok_model *model, const void *values, const int32_t *columns,
                                 ptrdiff_t n_stored, ptrdiff_t n_columns, int dtype,
                                 double *scores, ptrdiff_t size) noexcept with gil:
    """ok_scores for a sparse sample of `n_stored` elements; the others are 0."""
    cdef int32_t[2] starts
    cdef ok_matrix x
    try:
        point_at_stored(&x, starts, values, columns, n_stored, n_columns, dtype)
        score(model, &x, scores, size)
    except BaseException as error:
        return failed(error)
    return OK_SUCCESS


cdef api int ok_predict(const ok_model *model, const ok_matrix *X,
                        double *predictions) noexcept with gil:
    """Write a label, a target, or 1 or -1 (outlier detectors) for each of the n_rows samples."""
    try:
        estimator = estimator_of(model)
        if X != NULL and X.n_rows == 1 and predictions != NULL:
            check_aligned(predictions, sizeof(double))
            if predict_row(estimator, way_of(estimator), X, predictions):
                return OK_SUCCESS
        samples = matrix_of(X)
        _capi.predict(estimator, samples,
                      numbers(predictions, X.n_rows, "predictions", written=True))
    except BaseException as error:
        return failed(error)
    return OK_SUCCESS


cdef int64_t count(const ok_model *model, str name) noexcept:
    """The count in an attribute of the estimator, or -1."""
    try:
        return _capi.count(estimator_of(model), name)
    except BaseException as error:
        failed(error)
        return -1


cdef api int64_t ok_n_seen(const ok_model *model) noexcept with gil:
    """Number of samples learnt."""
    return count(model, "n_seen_")


cdef api int64_t ok_n_mistakes(const ok_model *model) noexcept with gil:
    """Number of samples predicted wrongly before they were learnt; -1 for a regressor."""
    return count(model, "n_mistakes_")


cdef api int64_t ok_n_support(const ok_model *model) noexcept with gil:
    """Number of support vectors; 0 for a model without them."""
    return count(model, "n_support_")


cdef api int64_t ok_n_columns(const ok_model *model) noexcept with gil:
    """Number of features of a sample."""
    return count(model, "n_features_in_")


cdef api int64_t ok_n_outputs(const ok_model *model) noexcept with gil:
    """Number of scores of a sample."""
    return count(model, "n_outputs_")


cdef api int64_t ok_n_classes(const ok_model *model) noexcept with gil:
    """Number of known labels; 0 for a regressor or an outlier detector."""
    try:
        return len(_capi.classes(estimator_of(model)))
    except BaseException as error:
        failed(error)
        return -1


cdef api int ok_classes(const ok_model *model, double *classes, ptrdiff_t size) noexcept with gil:
    """Write the n_classes labels, ascending, to `classes`, an array of `size` numbers."""
    try:
        labels = _capi.classes(estimator_of(model))
        out = numbers(classes, size, "classes", written=True)
        _capi.write(labels, out, "classes")
    except BaseException as error:
        return failed(error)
    return OK_SUCCESS
