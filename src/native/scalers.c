/* Scalers in front of a learner: the core's `linalg.running_moments`, for one row. */
#include "scalers.h"
#include "tree.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_STEPS = 100 };
static const real LARGEST_UNIT = 1e30, LEAST_FORGETTING = 1e-100, LEAST_VARIANCE = 1e-290;

/* The estimator of a step, NULL where it does nothing. */
static const json_value *step_of(const okn_t *model, const json_value *steps, int32_t j)
{
    const json_value *node =
        okn_tree_item(model, okn_tree_item(model, steps, "items", j), "items", 1);
    return node && node->kind == JSON_OBJECT ? node : NULL;
}

int okn_scalers_find(okn_t *model, const json_value *pipeline, const json_value **learner)
{
    const json *tree = &model->file.tree;
    const json_value *given =
        okn_json_get(tree, okn_json_get(tree, pipeline, "parameters"), "steps");
    const json_value *steps = okn_tree_node(model, given),
                     *items = okn_json_get(tree, steps, "items");
    const int32_t last = items ? items->count - 1 : -1;
    if (last < 0 || last > MOST_STEPS)
        return okn_tree_damaged(model, "the steps of its pipeline are none");
    model->scalers = calloc((size_t)last + 1, sizeof *model->scalers);
    if (!model->scalers)
        return okn_fail(model, OKN_NO_MEMORY, "no memory");
    for (int32_t j = 0; j < last; j++) {
        const json_value *node = step_of(model, steps, j);
        if (!node)
            continue;
        if (!okn_json_is(okn_tree_class(model, node), "OnlineStandardScaler"))
            return okn_tree_unknown_class(model, "a step of its pipeline",
                                          okn_tree_class(model, node));
        model->scalers[model->n_scalers++].node = node;
    }
    *learner = step_of(model, steps, last);
    return *learner ? 0 : okn_tree_damaged(model, "its pipeline has no learner");
}

static json_value *parameter_of(const okn_t *model, const json_value *node, const char *name)
{
    const json *tree = &model->file.tree;
    return okn_tree_node(model, okn_json_get(tree, okn_json_get(tree, node, "parameters"), name));
}

/* The node of what a scaler has learnt. */
static const json_value *moments_of(const okn_t *model, const scaler *own)
{
    const json *tree = &model->file.tree;
    return okn_tree_node(
        model, okn_json_get(tree, okn_json_get(tree, own->node, "attributes"), "_moments"));
}

static int read_scaler(okn_t *model, scaler *own)
{
    const json_value *node = moments_of(model, own), *state = okn_tree_argument(model, node, 2);
    const json_value *clip = parameter_of(model, own->node, "clip");
    const int64_t d = model->n_features;
    const json_value *array = okn_tree_entry(model, state, "moments");
    int64_t width = -1;
    int wrong = 0;
    if (!node)
        return okn_tree_unknown(model, "its scaler has learnt nothing");
    own->centred = okn_tree_true(okn_tree_argument(model, node, 1));
    own->divides = okn_tree_true(parameter_of(model, own->node, "with_std"));
    own->limit = INFINITY;
    if (clip && clip->kind != JSON_NULL)
        wrong |= okn_tree_real(model, clip, &own->limit);
    wrong |= okn_tree_real(model, parameter_of(model, own->node, "forgetting"), &own->forgetting);
    wrong |= okn_json_whole(okn_tree_argument(model, node, 0), &width);
    wrong |= okn_json_whole(okn_tree_entry(model, state, "count"), &own->tally.count);
    wrong |= okn_json_real(okn_tree_entry(model, state, "unit"), &own->tally.unit);
    wrong |= okn_json_real(okn_tree_entry(model, state, "total"), &own->tally.total);
    own->moments = calloc(2 * (size_t)d, sizeof(real));
    own->before = calloc(2 * (size_t)d, sizeof(real));
    real *found = okn_tree_numbers(okn_tree_array(model, array, "F64", own->centred ? 2 * d : d),
                                   own->centred ? 2 * d : d, 0);
    wrong |= !found || !own->moments || !own->before || width != d || own->tally.count < 0
             || !(own->forgetting > 0 && own->forgetting <= 1) || !(own->limit > 0)
             || !(own->tally.unit > 0) || !(own->tally.total >= 0);
    if (!wrong)
        memcpy(own->moments + (own->centred ? 0 : d), found,
               (size_t)(own->centred ? 2 * d : d) * sizeof(real));
    free(found);
    for (int64_t j = d; !wrong && j < 2 * d; j++)
        wrong = own->moments[j] < 0;
    return wrong ? okn_tree_damaged(model, "what its scaler has learnt is none") : 0;
}

int okn_scalers_read(okn_t *model)
{
    int status = 0;
    for (int32_t j = 0; !status && j < model->n_scalers; j++)
        status = read_scaler(model, &model->scalers[j]);
    return status;
}

/* Make room for a row of weight 1. Returns its share of all weights. */
static real advance(scaler *own, int64_t d)
{
    tally_type *tally = &own->tally;
    tally->unit /= own->forgetting > LEAST_FORGETTING ? own->forgetting : LEAST_FORGETTING;
    if (tally->unit > LARGEST_UNIT) {
        const real factor = 1 / tally->unit;
        tally->unit = 1;
        tally->total *= factor;
        for (int64_t j = d; !own->centred && j < 2 * d; j++)
            own->moments[j] *= factor;
    }
    tally->total += tally->unit;
    tally->count++;
    return tally->unit / tally->total;
}

static void follow(scaler *own, const real *x, int64_t d)
{
    real *mean = own->moments, *squares = own->moments + d;
    own->tally_before = own->tally;
    memcpy(own->before, own->moments, 2 * (size_t)d * sizeof(real));
    const real share = advance(own, d), rest = 1 - share, both = share * rest;
    for (int64_t j = 0; j < d; j++) {
        const real gap = x[j] - mean[j], value = rest * squares[j] + both * gap * gap;
        if (own->centred) {
            squares[j] = value < LEAST_VARIANCE ? 0 : value;
            mean[j] += share * gap;
        } else {
            squares[j] += own->tally.unit * (x[j] * x[j]);
        }
    }
}

static void scale(const scaler *own, real *x, int64_t d)
{
    const real *mean = own->moments, *squares = own->moments + d;
    const real rounding = 16 * DBL_EPSILON * DBL_EPSILON;
    for (int64_t j = 0; j < d; j++) {
        const real square = own->centred ? squares[j] : squares[j] / own->tally.total;
        x[j] -= mean[j];
        if (!own->divides)
            continue;
        if (square > rounding * mean[j] * mean[j])
            x[j] /= sqrt(square);
        x[j] = x[j] < own->limit ? x[j] : own->limit;
        x[j] = x[j] > -own->limit ? x[j] : -own->limit;
    }
}

static int all_are_finite(const real *numbers, int64_t n)
{
    for (int64_t j = 0; j < n; j++)
        if (!isfinite(numbers[j]))
            return 0;
    return 1;
}

int okn_scalers_apply(okn_t *model, real *x, int learns)
{
    const int64_t d = model->n_features;
    int finite = 1;
    for (int32_t i = 0; i < model->n_scalers; i++) {
        scaler *own = &model->scalers[i];
        if (learns) {
            follow(own, x, d);
            finite &= all_are_finite(own->moments, 2 * d) && isfinite(own->tally.total);
        }
        if (own->tally.count == 0)
            memset(x, 0, (size_t)d * sizeof *x);
        else
            scale(own, x, d);
        for (int64_t j = 0; model->is_single && j < d; j++)
            x[j] = (real)(float)x[j];
    }
    finite &= all_are_finite(x, d);
    if (!finite && learns)
        okn_scalers_undo(model);
    return finite ? OKN_OK : OKN_NOT_FINITE;
}

void okn_scalers_undo(okn_t *model)
{
    for (int32_t i = 0; i < model->n_scalers; i++) {
        scaler *own = &model->scalers[i];
        own->tally = own->tally_before;
        memcpy(own->moments, own->before, 2 * (size_t)model->n_features * sizeof(real));
    }
}

int okn_scalers_set(okn_t *model)
{
    const int64_t d = model->n_features;
    for (int32_t i = 0; i < model->n_scalers; i++) {
        const scaler *own = &model->scalers[i];
        const json_value *state = okn_tree_argument(model, moments_of(model, own), 2);
        const json_value *node = okn_tree_entry(model, state, "moments");
        file_array *array =
            okn_file_find(&model->file, okn_json_get(&model->file.tree, node, "array"));
        const real *numbers = own->moments + (own->centred ? 0 : d);
        okn_tree_set_whole(okn_tree_value(model, state, "count"), own->tally.count);
        okn_tree_set_real(okn_tree_value(model, state, "unit"), own->tally.unit);
        okn_tree_set_real(okn_tree_value(model, state, "total"), own->tally.total);
        if (!array || okn_array_resize(array, OKN_MOST_AXES, 0))
            return OKN_NO_MEMORY;
        for (int64_t j = 0; j < array->count; j++)
            okn_array_set_real(array, j, numbers[j]);
    }
    return OKN_OK;
}

void okn_scalers_free(okn_t *model)
{
    for (int32_t i = 0; model->scalers && i < model->n_scalers; i++) {
        free(model->scalers[i].moments);
        free(model->scalers[i].before);
    }
    free(model->scalers);
}
