"""One row of a C caller: what most estimators do with it, their model does without Python.

The functions do what `learn_one`, `score_one` and `predict` of an estimator do, bit for bit, or
return False and have done nothing: then the method must be called. That is so for a class with ways
of its own, for a model that does not exist yet or still measures its width, for a row that must be
converted first, and for anything that the method would refuse, so that the error is the method's.
"""
from libc.math cimport isfinite
from libc.stddef cimport ptrdiff_t
from libc.stdint cimport int32_t
from libc.string cimport memcpy

from onlinekern.core.samples.c_rows cimport ok_matrix, pointed_at
from onlinekern.core.samples.rows cimport Rows
from onlinekern.core.renewed_model cimport RenewedModel
from onlinekern.core.stream cimport Model

# Scores lie here until all of them are known to be finite.
cdef enum: MOST_OUTPUTS = 64


cdef class Way:
    """What the model of an estimator can do by itself, the same for all objects of a class.

    Parameters
    ----------
    learns : bool
        Whether `learn_one` does no more than number the label and teach the model.
    labels : bool
        Whether targets are labels.
    asks : bool
        Whether `_next_calls_blas` says of each sample if `learn_one` must be called.
    scores, predicts : bool
        Whether `score_one` gives the scores of the model, and `predict` follows from them.
    streams : bool
        Whether there is a `learn_one`.
    """

    def __init__(self, learns, labels, asks, scores, predicts, streams):
        self.learns, self.labels, self.asks = learns, labels, asks
        self.scores, self.predicts, self.streams = scores, predicts, streams


cdef Model model_in(dict attributes):
    """The model of an estimator; None if it has none that works by itself."""
    model = attributes.get("_model")
    known = type(model) is Model or type(model) is RenewedModel
    return <Model> model if known and "encoder_" not in attributes else None


cdef object pointed_for(Model model, const ok_matrix *x, int32_t *starts, Rows *rows):
    """`pointed_at` of a row for a model."""
    alive = pointed_at(x, model.d, model.itemsize, model.space.stored_sparse(), starts, rows,
                       model.space.takes_missing())
    if alive is not None:
        model.space.check_row(rows)
    return alive


cdef bint learn_row(object estimator, Way way, const ok_matrix *x, double y) except -1:
    """Learn the only row of a matrix."""
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
    """Whether `learn_one` takes what `sample_of` makes: that of a model past its first samples."""
    cdef dict attributes = estimator.__dict__
    if "encoder_" in attributes:
        return False
    return way.streams and "_model" in attributes and "_warm_up" not in attributes


cdef Py_ssize_t scores_of(object estimator, const ok_matrix *x, double *scores) except -1:
    """Write the scores of the only row; returns their number, 0 if the method must be called."""
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
    """Write the scores of the only row of a matrix to `out`, which has room for `size`."""
    cdef double[MOST_OUTPUTS] scores
    cdef Py_ssize_t n = scores_of(estimator, x, scores) if way.scores else 0
    if n == 0 or n > size:
        return False
    memcpy(out, scores, n * sizeof(double))
    return True


cdef bint predict_row(object estimator, Way way, const ok_matrix *x, double *out) except -1:
    """Write the label or target of the only row of a matrix to `out`."""
    cdef double[MOST_OUTPUTS] scores
    cdef Py_ssize_t n, k, winner = 0
    try:
        n = scores_of(estimator, x, scores) if way.predicts else 0
    except ValueError:
        n = 0  # `predict` takes rows that `score_one` refuses, and has messages of its own
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
