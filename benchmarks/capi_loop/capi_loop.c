/* The streams' inner loop of a C program that uses onlinekern: one sample after the other. */
#include <onlinekern/onlinekern.h>

typedef int learn_one_verb(ok_model *, const ok_matrix *, double);
typedef int scores_verb(const ok_model *, const ok_matrix *, double *, ptrdiff_t);

/* Row i of a matrix. */
static ok_matrix row_of(const ok_matrix *X, ptrdiff_t i)
{
    ok_matrix x = *X;

    x.n_rows = 1;
    if (x.indptr != NULL)
        x.indptr += i;
    else
        x.values = (const char *)x.values + i * x.n_columns * x.dtype;
    return x;
}

/* Learn row after row; returns the first status that is not OK_SUCCESS. */
int learn_each(learn_one_verb *learn_one, ok_model *model, const ok_matrix *X, const double *y)
{
    for (ptrdiff_t i = 0; i < X->n_rows; ++i) {
        ok_matrix x = row_of(X, i);
        int status = learn_one(model, &x, y[i]);
        if (status != OK_SUCCESS)
            return status;
    }
    return OK_SUCCESS;
}

/* Score row after row of a model with one output; returns as learn_each. */
int score_each(scores_verb *scores, const ok_model *model, const ok_matrix *X, double *out)
{
    for (ptrdiff_t i = 0; i < X->n_rows; ++i) {
        ok_matrix x = row_of(X, i);
        int status = scores(model, &x, out + i, 1);
        if (status != OK_SUCCESS)
            return status;
    }
    return OK_SUCCESS;
}
