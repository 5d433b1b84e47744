/* The functions of okn.h. */
#include "okn.h"
#include "forest.h"
#include "scalers.h"
#include "squares.h"
#include "tree.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int okn_fail(okn_t *model, int code, const char *text)
{
    char name[OKN_NAME + 1] = "";
    if (code == OKN_NOT_KNOWN || code == OKN_CANNOT_LEARN)
        okn_tree_learner(model, name);
    snprintf(model->error, sizeof model->error, "%s%s%s", name, *name ? ": " : "", text);
    return code;
}

int okn_open(const char *path, okn_t **out)
{
    const char *fault = "";
    int status;
    *out = calloc(1, sizeof **out);
    if (!*out)
        return OKN_NO_MEMORY;
    status = okn_file_read(&(*out)->file, path, &fault);
    return status ? okn_fail(*out, status, fault) : okn_make(*out);
}

void okn_close(okn_t *model)
{
    if (!model)
        return;
    void *const owned[] = {
        model->class_factors, model->values,          model->companions,
        model->variances,     model->support_vectors, model->support_norms,
        model->lengths,       model->map_frequencies, model->ages,
        model->dense_row,     model->features,        model->current,
        model->predicting,    model->coefficients,    model->squared_lengths,
        model->directions,    model->contractions,    model->factor,
        model->covariance,    model->half,            model->solution,
        model->gain,          model->sample_factors,
    };
    for (size_t j = 0; j < sizeof owned / sizeof *owned; j++)
        free(owned[j]);
    okn_forest_free(model->forest);
    okn_squares_free(model->squares);
    okn_scalers_free(model);
    for (int32_t k = 0; model->labels && k < model->n_classes; k++)
        free(model->labels[k]);
    free(model->labels);
    okn_file_free(&model->file);
    free(model);
}

const char *okn_error(const okn_t *model)
{
    return model ? model->error : "no memory";
}

int32_t okn_n_features(const okn_t *model)
{
    return (int32_t)model->n_features;
}

int32_t okn_n_outputs(const okn_t *model)
{
    return (int32_t)model->n_outputs;
}

int32_t okn_n_classes(const okn_t *model)
{
    return model->n_classes;
}

const char *okn_label(const okn_t *model, int32_t number)
{
    return number >= 0 && number < model->n_classes ? model->labels[number] : NULL;
}

int64_t okn_n_seen(const okn_t *model)
{
    return model->began + model->seen;
}

/* Say what a code of a row means. */
static int told(okn_t *model, int status)
{
    switch (status) {
    case OKN_NOT_FINITE:
        return okn_fail(model, status, "the row, the target or a score is infinite or NaN");
    case OKN_BAD_COLUMN:
        return okn_fail(model, status, "columns must ascend and be features of the model");
    case OKN_BAD_LABEL:
        return okn_fail(model, status, "y must be the number of a class");
    case OKN_BAD_CATEGORY:
        return okn_fail(model, status, "a category must be a number from 0 to 65535, or NaN");
    case OKN_NO_MEMORY:
        return okn_fail(model, status, "no memory for another support vector or sample");
    default:
        return status;
    }
}

int okn_score(okn_t *model, const double *x, double *scores)
{
    row read;
    int status = okn_read_dense(model, x, 0, &read);
    if (!status)
        status = okn_finish(model, &read, scores);
    return told(model, status);
}

int okn_score_sparse(okn_t *model, const int32_t *columns, const double *values, int32_t n,
                     double *scores)
{
    row read;
    int status = okn_read_sparse(model, columns, values, n, 0, &read);
    if (!status)
        status = okn_finish(model, &read, scores);
    return told(model, status);
}

int32_t okn_predict(okn_t *model, const double *x)
{
    const int status = okn_score(model, x, model->predicting);
    int32_t best = 0;
    if (status)
        return status;
    if (model->n_classes == 2 && model->n_outputs == 1)
        return model->predicting[0] > 0;
    for (int32_t k = 1; k < model->n_outputs; k++)
        if (model->predicting[k] > model->predicting[best])
            best = k;
    return model->n_classes ? best : okn_fail(model, OKN_BAD_LABEL, "a regressor has no classes");
}

int okn_can_learn(okn_t *model)
{
    if (!model->cannot_learn)
        return OKN_OK;
    return okn_fail(model, OKN_CANNOT_LEARN, model->cannot_learn);
}

/* 0, or why a row is not learnt: the model cannot, or y is no target. */
static int refused(okn_t *model, double y)
{
    const int status = okn_can_learn(model);
    if (status)
        return status;
    if (model->n_classes && !(y >= 0 && y < model->n_classes && y == floor(y)))
        return told(model, OKN_BAD_LABEL);
    return isfinite(y) ? OKN_OK : told(model, OKN_NOT_FINITE);
}

/* Learn a row that was read with this status; its scalers have learnt it. */
static int learn_read(okn_t *model, int status, const row *x, double y)
{
    const int is_read = !status;
    if (!status)
        status = okn_make_room(model);
    if (!status)
        status = okn_step(model, x, y);
    if (status && is_read)
        okn_scalers_undo(model);
    return told(model, status);
}

int okn_learn(okn_t *model, const double *x, double y)
{
    row read;
    const int status = refused(model, y);
    return status ? status : learn_read(model, okn_read_dense(model, x, 1, &read), &read, y);
}

int okn_learn_sparse(okn_t *model, const int32_t *columns, const double *values, int32_t n,
                     double y)
{
    row read;
    const int status = refused(model, y);
    if (status)
        return status;
    return learn_read(model, okn_read_sparse(model, columns, values, n, 1, &read), &read, y);
}
