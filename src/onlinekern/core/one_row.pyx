"""Single rows from C callers: learnt and scored by the model directly, without the estimator.

The functions give the results of `learn_one`, `score_one` and `predict` of an estimator, bit for
bit. Otherwise they return False and change nothing, and the caller must call the method. This is
the case if the class overrides these methods, if there is no model yet or its kernel width is still
being estimated, if the row needs a conversion, or if the method would raise an error.
"""
from libc.math cimport isfinite
from libc.stddef cimport ptrdiff_t
from libc.stdint cimport int32_t
from libc.string cimport memcpy

from onlinekern.core.samples.c_rows cimport ok_matrix, pointed_at
from onlinekern.core.samples.rows cimport Rows
from onlinekern.core.renewed_model cimport RenewedModel
from onlinekern.core.stream cimport Model

# Most outputs of a model here: scores are buffered until all of them are known to be finite.
cdef enum: MOST_OUTPUTS = 64


cdef class Way:
    """Which methods of an estimator class may be replaced by direct calls of the model.

    Parameters
    ----------
    learns : bool
        Whether `learn_one` only maps the label to its class number and calls the model.
    labels : bool
        Whether targets are labels.
    asks : bool
        Whether `learn_one` must be called for the samples for which `_next_calls_blas` is true.
    scores, predicts : bool
        Whether `score_one` returns the scores of the model, and `predict` depends on them only.
    streams : bool
        Whether the class has a `learn_one`.
    """

    def __init__(self, learns, labels, asks, scores, predicts, streams):
        self.learns, self.labels, self.asks = learns, labels, asks
        self.scores, self.predicts, self.streams = scores, predicts, streams


cdef Model model_in(dict attributes):
    """The model of an estimator; None if it has none, or one that may not be called directly."""
    model = attributes.get("_model")
    known = type(model) is Model or type(model) is RenewedModel
    return <Model> model if known and "encoder_" not in attributes else None


cdef object pointed_for(Model model, const ok_matrix *x, int32_t *starts, Rows *rows):
    """Point `rows` at a row for a model; returns its owner, None if it must be converted."""
    alive = pointed_at(x, model.d, model.itemsize, model.space.stored_sparse(), starts, rows,
                       model.space.takes_missing())
    if alive is not None:
        model.space.check_row(rows)
    return alive


cdef bint learn_row(object estimator, Way way, const ok_matrix *x, double y) except -1:
    """Learn the single row of a matrix. Returns whether it was learnt."""
    cdef int32_t[2] starts
    cdef Rows rows
    cdef dict attributes
    if not way.learns:
        return False
    attributes = estimator.__dict__
    model = model_in(attributes)
    if model is None or "_warm_up" in attributes:
        return False
    if way.labels:
        number = (<dict> attributes["_numbers"]).get(y)
        if number is None or estimator.class_weight is not None:
            return False
        y = number
    elif not isfinite(y):
        return False
    if way.asks and estimator._next_calls_blas():
        return False
    alive = pointed_for(model, x, starts, &rows)
    if alive is None:
        return False
    model.learn_row(&rows, y, 1)
    return True


cdef bint takes_rows(object estimator, Way way) except -1:
    """Whether `learn_one` accepts the result of `sample_of`: there is a model, past its warm-up."""
    cdef dict attributes = estimator.__dict__
    if "encoder_" in attributes:
        return False
    return way.streams and "_model" in attributes and "_warm_up" not in attributes


cdef Py_ssize_t scores_of(object estimator, const ok_matrix *x, double *scores) except -1:
    """Write the scores of the single row; returns their number, 0 if the method must be called."""
    cdef int32_t[2] starts
    cdef Rows rows
    cdef Py_ssize_t k, n
    model = model_in(estimator.__dict__)
    if model is None or model.head.n_outputs > MOST_OUTPUTS:
        return 0
    n = model.head.n_outputs
    alive = pointed_for(model, x, starts, &rows)
    if alive is None:
        return 0
    model.score_row(&rows, scores)
    for k in range(n):
        if not isfinite(scores[k]):
            return 0
    return n


cdef bint score_row(object estimator, Way way, const ok_matrix *x, double *out,
                    ptrdiff_t size) except -1:
    """Write the scores of the single row of a matrix to `out`, an array of `size` numbers."""
    cdef double[MOST_OUTPUTS] scores
    cdef Py_ssize_t n = scores_of(estimator, x, scores) if way.scores else 0
    if n == 0 or n > size:
        return False
    memcpy(out, scores, n * sizeof(double))
    return True


cdef bint predict_row(object estimator, Way way, const ok_matrix *x, double *out) except -1:
    """Write the label or target of the single row of a matrix to `out`."""
    cdef double[MOST_OUTPUTS] scores
    cdef Py_ssize_t n, k, winner = 0
    try:
        n = scores_of(estimator, x, scores) if way.predicts else 0
    except ValueError:
        n = 0  # `predict` accepts rows that `score_one` refuses, and raises its own errors
    if n == 0:
        return False
    if not way.labels:
        out[0] = scores[0]
        return n == 1
    if n == 1 and scores[0] > 0:
        winner = 1
    for k in range(1, n):
        if scores[k] > scores[winner]:
            winner = k
    out[0] = estimator.classes_[winner]
    return True
