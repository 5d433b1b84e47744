/* A C program whose threads use one model at once, each as it likes: one learns row after row, three
 * score, save or fail meanwhile, and then two learn. Each answer must be that of the model after some
 * number of rows, which never goes back. */
#include <Python.h>

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <onlinekern/onlinekern.h>
#include <onlinekern/capi_api.h>

enum { ROWS = 120, FIRST = 20, COLUMNS = 3, PROBES = 4, READERS = 3, BETWEEN = 10, PART = 10 };

typedef struct {
    int number;
    atomic_long done;       /* answers so far */
    int kept;               /* those that differ from the one before */
    double answers[ROWS + 1][PROBES];
} reader;

static double values[ROWS][COLUMNS], y[ROWS], states[ROWS + 1][PROBES];
static ok_model *model;
static reader readers[READERS];
static atomic_int learning = 1;

static void expect(int truth, const char *what)
{
    if (!truth) {
        fprintf(stderr, "%s: %s\n", what, ok_last_error());
        exit(1);
    }
}

static ok_matrix rows(int first, int count)
{
    return (ok_matrix){values[first], NULL, NULL, count, COLUMNS, OK_FLOAT64};
}

static ok_model *begun(void)
{
    const double classes[] = {-1, 1};
    ok_matrix X = rows(0, FIRST);
    ok_model *new = ok_new("KernelPAClassifier", "gamma=2 random_state=3");
    expect(new != NULL && ok_set_classes(new, classes, 2) == OK_SUCCESS, "new");
    expect(ok_learn(new, &X, y, NULL, NULL) == OK_SUCCESS, "learn the first rows");
    return new;
}

static void score(const ok_model *of, double *answers)
{
    ok_matrix X = rows(0, PROBES);
    expect(ok_scores(of, &X, answers, PROBES) == OK_SUCCESS, "scores");
}

static void score_each(double *answers)
{
    for (int i = 0; i < PROBES; ++i) {
        ok_matrix x = rows(i, 1);
        expect(ok_scores(model, &x, answers + i, 1) == OK_SUCCESS, "score");
    }
}

static void score_saved(double *answers)
{
    void *data;
    ptrdiff_t size;
    expect(ok_save(model, &data, &size) == OK_SUCCESS, "save");
    ok_model *copy = ok_load(data, size);
    expect(copy != NULL, "load");
    ok_free_bytes(data);
    score(copy, answers);
    ok_free(copy);
}

static void fail(int number)
{
    ok_matrix X = rows(0, PART);
    char expected[32];
    X.n_columns = 10 + number;
    snprintf(expected, sizeof expected, "X has %d features", 10 + number);
    expect(ok_learn(model, &X, y, NULL, NULL) == OK_ERROR, "learn other columns");
    expect(strncmp(ok_last_error(), expected, strlen(expected)) == 0, "another thread's error");
}

static void *read_answers(void *argument)
{
    reader *own = argument;
    double answers[PROBES];
    if (own->number == 0)
        expect(ok_attach_thread() == OK_SUCCESS, "attach");
    do {
        if (own->number == 2)
            score_saved(answers);
        else
            score(model, answers);
        fail(own->number);
        if (own->kept == 0 || memcmp(own->answers[own->kept - 1], answers, sizeof answers) != 0) {
            expect(own->kept <= ROWS, "more states than rows");
            memcpy(own->answers[own->kept++], answers, sizeof answers);
        }
        ++own->done;
    } while (learning);
    ok_detach_thread();
    return NULL;
}

static void *learn_rows(void *unused)
{
    const struct timespec pause = {0, 100000};
    long before[READERS];
    (void)unused;
    for (int i = FIRST; i < ROWS; ++i) {
        ok_matrix x = rows(i, 1);
        expect(ok_learn_one(model, &x, y[i]) == OK_SUCCESS, "learn one");
        if (i % BETWEEN > 0)
            continue;
        for (int r = 0; r < READERS; ++r) /* so that all of them read between */
            before[r] = readers[r].done;
        for (int r = 0; r < READERS; ++r)
            while (readers[r].done < before[r] + 2)
                nanosleep(&pause, NULL);
    }
    learning = 0;
    return NULL;
}

static void *learn_parts(void *unused)
{
    (void)unused;
    for (int i = 0; i < ROWS; i += PART) {
        ok_matrix X = rows(i, PART);
        expect(ok_learn(model, &X, y + i, NULL, NULL) == OK_SUCCESS, "learn");
    }
    return NULL;
}

static void run(int count, void *(*const *work)(void *), void *const *arguments)
{
    pthread_t threads[READERS + 1];
    for (int t = 0; t < count; ++t)
        expect(pthread_create(&threads[t], NULL, work[t], arguments[t]) == 0, "a thread");
    for (int t = 0; t < count; ++t)
        pthread_join(threads[t], NULL);
}

/* The scores after each row, of a model that one thread alone uses. */
static void find_states(void)
{
    ok_model *alone = begun();
    score(alone, states[FIRST]);
    for (int i = FIRST; i < ROWS; ++i) {
        ok_matrix x = rows(i, 1);
        expect(ok_learn_one(alone, &x, y[i]) == OK_SUCCESS, "learn one alone");
        score(alone, states[i + 1]);
    }
    ok_free(alone);
}

static void check(const reader *r)
{
    int at = FIRST;
    for (int k = 0; k < r->kept; ++k) {
        while (at <= ROWS && memcmp(states[at], r->answers[k], sizeof states[at]) != 0)
            ++at;
        expect(at <= ROWS, "an answer of no state, or of one before");
    }
    printf("reader %d: %d states\n", r->number, r->kept);
}

int main(void)
{
    void *(*const readings[])(void *) = {learn_rows, read_answers, read_answers, read_answers};
    void *const arguments[] = {NULL, &readers[0], &readers[1], &readers[2]};
    void *(*const learnings[])(void *) = {learn_parts, learn_parts};
    double last[PROBES], each[PROBES];
    for (int i = 0; i < ROWS; ++i) {
        for (int j = 0; j < COLUMNS; ++j)
            values[i][j] = (i * (7 + 6 * j) * 31 + j * 5) % 17 / 8.0 - 1;
        y[i] = values[i][0] * values[i][1] > 0 ? 1 : -1;
    }
    for (int r = 0; r < READERS; ++r)
        readers[r].number = r;
    Py_Initialize();
    if (import_onlinekern__core__capi() < 0) {
        PyErr_Print();
        return 1;
    }
    PyThreadState *state = PyEval_SaveThread();
    find_states();
    model = begun();
    run(READERS + 1, readings, arguments);
    for (int r = 0; r < READERS; ++r)
        check(&readers[r]);
    score(model, last);
    score_each(each);
    expect(memcmp(last, states[ROWS], sizeof last) == 0, "the last state");
    expect(memcmp(each, last, sizeof each) == 0, "row by row");
    run(2, learnings, arguments);
    printf("seen: %lld\n", (long long)ok_n_seen(model));
    ok_free(model);
    PyEval_RestoreThread(state);
    return Py_FinalizeEx() < 0;
}
