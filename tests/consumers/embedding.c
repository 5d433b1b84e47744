/* A plain C program over the C interface: two threads, without the GIL, learn a stream each, in
 * double and single precision; what they learn is saved, loaded, and asked for scores, which are
 * printed. Failures that a program must survive are provoked and counted on the way. */
#include <Python.h>

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <onlinekern/onlinekern.h>
#include <onlinekern/capi_api.h>

enum { ROWS = 400, BULK = 300, COLUMNS = 3, SCORED = 20 };

typedef struct {
    int dtype;
    double y[ROWS];
    double wide[ROWS * COLUMNS];
    float narrow[ROWS * COLUMNS];
    double scores[SCORED];
    long long counts[3];
    char error[256];
} stream;

static void fill(stream *s, int dtype)
{
    s->dtype = dtype;
    for (int i = 0; i < ROWS; ++i) {
        for (int j = 0; j < COLUMNS; ++j) {
            s->wide[i * COLUMNS + j] = (i * (7 + 6 * j) * 31 + j * 5) % 17 / 8.0 - 1;
            s->narrow[i * COLUMNS + j] = (float)s->wide[i * COLUMNS + j];
        }
        s->y[i] = s->wide[i * COLUMNS] * s->wide[i * COLUMNS + 1] > 0 ? 4 : -2;
    }
}

static ok_matrix rows(const stream *s, int first, int count)
{
    ok_matrix X = {NULL, NULL, NULL, count, COLUMNS, s->dtype};
    X.values = s->dtype == OK_FLOAT64 ? (const void *)(s->wide + first * COLUMNS)
                                      : (const void *)(s->narrow + first * COLUMNS);
    return X;
}

static void expect(int truth, const char *what)
{
    if (!truth) {
        fprintf(stderr, "%s: %s\n", what, ok_last_error());
        exit(1);
    }
}

static ok_model *reloaded(ok_model *model)
{
    void *data;
    ptrdiff_t size;
    expect(ok_save(model, &data, &size) == OK_SUCCESS, "save");
    ok_free(model);
    model = ok_load(data, size);
    ok_free_bytes(data);
    expect(model != NULL, "load");
    return model;
}

static void *learn(void *argument)
{
    stream *s = argument;
    const double classes[] = {-2, 4};
    ok_matrix X = rows(s, 0, BULK);
    ok_model *model = ok_new("SPAClassifier", "gamma=2 beta=5 random_state=3");
    expect(model != NULL, "new");
    expect(ok_learn(model, &X, s->y, NULL, NULL) == OK_ERROR, "learn without classes");
    expect(ok_set_classes(model, classes, 2) == OK_SUCCESS, "classes");
    expect(ok_learn(model, &X, s->y, NULL, NULL) == OK_SUCCESS, "learn");
    expect(ok_learn(model, NULL, s->y, NULL, NULL) == OK_ERROR, "learn nothing");
    X.n_columns = COLUMNS - 1;
    expect(ok_learn(model, &X, s->y, NULL, NULL) == OK_ERROR, "learn other columns");
    strncpy(s->error, ok_last_error(), sizeof s->error - 1);
    model = reloaded(model);
    for (int i = BULK; i < ROWS; ++i) {
        ok_matrix x = rows(s, i, 1);
        expect(ok_learn_one(model, &x, s->y[i]) == OK_SUCCESS, "learn one");
    }
    X = rows(s, 0, SCORED);
    expect(ok_scores(model, &X, s->scores, SCORED - 1) == OK_ERROR, "too little room");
    expect(ok_scores(model, &X, s->scores, SCORED) == OK_SUCCESS, "scores");
    s->counts[0] = ok_n_seen(model);
    s->counts[1] = ok_n_mistakes(model);
    s->counts[2] = ok_n_support(model);
    ok_free(model);
    return NULL;
}

static void report(const stream *s)
{
    printf("counts %lld %lld %lld\n", s->counts[0], s->counts[1], s->counts[2]);
    printf("error %s\n", s->error);
    printf("scores");
    for (int i = 0; i < SCORED; ++i)
        printf(" %a", s->scores[i]);
    printf("\n");
}

int main(void)
{
    static stream streams[2];
    pthread_t threads[2];
    PyThreadState *state;
    Py_Initialize();
    if (import_onlinekern__core__capi() < 0) {
        PyErr_Print();
        return 1;
    }
    expect(ok_abi() == ONLINEKERN_ABI, "built with another ABI");
    expect(ok_new("NoSuchClassifier", "") == NULL, "a name that is none");
    expect(ok_check("SPAClassifier", "gamma=-1") != NULL, "a parameter that is none");
    expect(ok_check("SPAClassifier", "gamma=1") == NULL, "parameters");
    ok_free(NULL);
    ok_free_bytes(NULL);
    state = PyEval_SaveThread();
    for (int t = 0; t < 2; ++t) {
        fill(&streams[t], t == 0 ? OK_FLOAT64 : OK_FLOAT32);
        if (pthread_create(&threads[t], NULL, learn, &streams[t]) != 0)
            return 1;
    }
    for (int t = 0; t < 2; ++t)
        pthread_join(threads[t], NULL);
    PyEval_RestoreThread(state);
    for (int t = 0; t < 2; ++t)
        report(&streams[t]);
    return Py_FinalizeEx() < 0;
}
