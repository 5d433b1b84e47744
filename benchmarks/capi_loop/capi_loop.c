/* The streams' inner loop of a C program that uses onlinekern: one sample after the other. */
#include <Python.h>
#include <pthread.h>

#include <onlinekern/onlinekern.h>

typedef int learn_one_verb(ok_model *, const ok_matrix *, double);
typedef int scores_verb(const ok_model *, const ok_matrix *, double *, ptrdiff_t);

/* What the loops work on. */
typedef struct {
    learn_one_verb *learn_one;
    scores_verb *scores;
    ok_model *model;
    const ok_matrix *X;
    const double *y;
    double *out; /* NULL: learn */
    int attached;
    int status;
} work;

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

/* Learn row after row, or score row after row of a model with one output; returns the first status
 * that is not OK_SUCCESS. */
int each(work *w)
{
    for (ptrdiff_t i = 0; i < w->X->n_rows; ++i) {
        ok_matrix x = row_of(w->X, i);
        int status = w->out != NULL ? w->scores(w->model, &x, w->out + i, 1)
                                    : w->learn_one(w->model, &x, w->y[i]);
        if (status != OK_SUCCESS)
            return status;
    }
    return OK_SUCCESS;
}

static void *thread(void *argument)
{
    work *w = argument;

    if (!w->attached) {
        w->status = each(w);
        return NULL;
    }
    PyGILState_STATE before = PyGILState_Ensure();
    PyThreadState *state = PyEval_SaveThread();
    w->status = each(w);
    PyEval_RestoreThread(state);
    PyGILState_Release(before);
    return NULL;
}

/* The same in a thread of its own. */
int each_in_thread(work *w)
{
    pthread_t id;

    if (pthread_create(&id, NULL, thread, w) != 0)
        return OK_ERROR;
    pthread_join(id, NULL);
    return w->status;
}
