# The public C interface. Stable: ONLINEKERN_ABI rises when a name or signature changes.
# docs/c_api.md describes the functions; those that work on a model take the GIL themselves.
from libc.stddef cimport ptrdiff_t
from libc.stdint cimport int32_t, int64_t

from onlinekern.core.samples.c_rows cimport OK_FLOAT32, OK_FLOAT64, ok_dtype, ok_matrix

cdef extern from "onlinekern/onlinekern.h" nogil:
    const int ONLINEKERN_ABI

    ctypedef struct ok_model:
        pass

    enum ok_status:
        OK_SUCCESS
        OK_ERROR
        OK_DIVERGED
        OK_NO_MEMORY
        OK_INTERRUPTED


cdef int ok_abi() noexcept nogil
cdef const char *ok_last_error() noexcept nogil
cdef int ok_attach_thread() noexcept nogil
cdef void ok_detach_thread() noexcept nogil

cdef const char *ok_check(const char *estimator, const char *parameters) noexcept nogil
cdef ok_model *ok_new(const char *estimator, const char *parameters) noexcept nogil
cdef ok_model *ok_load(const void *data, ptrdiff_t size) noexcept nogil
cdef int ok_save(const ok_model *model, void **data, ptrdiff_t *size) noexcept nogil
cdef ok_model *ok_load_file(const char *path) noexcept nogil
cdef int ok_save_file(const ok_model *model, const char *path) noexcept nogil
cdef void ok_free(ok_model *model) noexcept nogil
cdef void ok_free_bytes(void *data) noexcept nogil

cdef int ok_set_classes(ok_model *model, const double *classes,
                        ptrdiff_t n_classes) noexcept nogil
cdef int ok_fit(ok_model *model, const ok_matrix *X, const double *y,
                const double *weight) noexcept nogil
cdef int ok_learn(ok_model *model, const ok_matrix *X, const double *y, const double *weight,
                  double *predictions) noexcept nogil
cdef int ok_learn_one(ok_model *model, const ok_matrix *x, double y) noexcept nogil
cdef int ok_learn_one_sparse(ok_model *model, const void *values, const int32_t *columns,
                             ptrdiff_t n_stored, ptrdiff_t n_columns, int dtype,
                             double y) noexcept nogil

cdef int ok_scores(const ok_model *model, const ok_matrix *X, double *scores,
                   ptrdiff_t size) noexcept nogil
cdef int ok_score_one_sparse(const ok_model *model, const void *values, const int32_t *columns,
                             ptrdiff_t n_stored, ptrdiff_t n_columns, int dtype, double *scores,
                             ptrdiff_t size) noexcept nogil
cdef int ok_predict(const ok_model *model, const ok_matrix *X, double *predictions) noexcept nogil

cdef int64_t ok_n_seen(const ok_model *model) noexcept nogil
cdef int64_t ok_n_mistakes(const ok_model *model) noexcept nogil
cdef int64_t ok_n_support(const ok_model *model) noexcept nogil
cdef int64_t ok_n_columns(const ok_model *model) noexcept nogil
cdef int64_t ok_n_outputs(const ok_model *model) noexcept nogil
cdef int64_t ok_n_classes(const ok_model *model) noexcept nogil
cdef int ok_classes(const ok_model *model, double *classes, ptrdiff_t size) noexcept nogil
