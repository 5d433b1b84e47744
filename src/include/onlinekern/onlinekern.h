/* The types of onlinekern's public C interface. The functions are declared in capi_api.h beside this
 * file, which is included after it; docs/c_api.md describes them.
 *
 * What is here and the signatures in capi_api.h change only together with ONLINEKERN_ABI. Compare it
 * with ok_abi(), the number that the installed library was built with, before any other call.
 */
#ifndef ONLINEKERN_H
#define ONLINEKERN_H

#include <stddef.h>
#include <stdint.h>

#define ONLINEKERN_ABI 1

/* An estimator, learnt or yet to learn: made by ok_new or ok_load, ended by ok_free. */
typedef struct ok_model ok_model;

/* The type of a matrix's elements, as their size in bytes. */
enum ok_dtype {
    OK_FLOAT32 = 4,
    OK_FLOAT64 = 8
};

/* Samples, one a row: a dense matrix in row-major order, or a compressed sparse one (CSR).
 * The arrays belong to the caller; they are read during a call and not kept.
 * Rows i ... j - 1 of a CSR matrix are that matrix with indptr + i and n_rows = j - i. */
typedef struct {
    const void *values;     /* dense: n_rows * n_columns elements; CSR: the stored elements */
    const int32_t *indices; /* CSR: the column of each stored element; dense: NULL          */
    const int32_t *indptr;  /* CSR: row i is stored at indptr[i] ... indptr[i + 1] - 1;
                               dense: NULL                                                  */
    ptrdiff_t n_rows;
    ptrdiff_t n_columns;
    int dtype;              /* an ok_dtype                                                  */
} ok_matrix;

/* What a verb returns. After any but OK_SUCCESS, ok_last_error() says why and the model is as it was
 * before the call. */
enum ok_status {
    OK_SUCCESS = 0,
    OK_ERROR = 1,       /* a bad argument, and whatever is not listed below       */
    OK_DIVERGED = 2,    /* a score or a step was not finite: the learner diverges */
    OK_NO_MEMORY = 3,
    OK_INTERRUPTED = 4  /* by a signal, Ctrl-C for one                            */
};

#endif
