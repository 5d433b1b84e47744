/* The numbers of a model: weights, features and support vectors. */
#include "forest.h"
#include "squares.h"
#include "tree.h"

#include <onlinekern/vector.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The constants of `base.scaled_average`. */
static const double LARGEST_WEIGHT = 0x1p256, LARGEST_GROWTH = 1e100;
enum { MOST_NUMBERS = INT32_MAX - 64, LINE = 8, MOST_DEGREE = 1000000 };

static const char *dtype_of_rows(const okn_t *model)
{
    return model->is_single ? "F32" : "F64";
}

/* How models are averaged: False, True, 'decay' or a number. */
static int read_averaging(okn_t *model, const json_value *value)
{
    double share;
    model->averaged = !value || value->kind != JSON_FALSE;
    model->decays = okn_json_is(value, "decay");
    model->shares = model->decays ? &okn_decay_shares : &okn_uniform_shares;
    if (!model->averaged || model->decays || okn_tree_true(value))
        return 0;
    if (okn_json_real(value, &share) < 0 || !(share > 0 && share < 1))
        return okn_tree_damaged(model, "its average is none");
    model->growth = 1 / share < LARGEST_GROWTH ? 1 / share : LARGEST_GROWTH;
    if (model->growth > 1) {
        model->shares = &okn_exponential_shares;
        model->period = (int64_t)(log(LARGEST_WEIGHT) / log1p(model->growth - 1));
        model->period = model->period > 1 ? model->period : 1;
    }
    return 0;
}

static int read_scale(okn_t *model, const json_value *state)
{
    if (okn_json_real(okn_tree_entry(model, state, "scale"), &model->scale) < 0
        || okn_json_real(okn_tree_entry(model, state, "total"), &model->total) < 0
        || okn_json_whole(okn_tree_entry(model, state, "steps"), &model->steps) < 0
        || model->steps < 0 || !(model->scale > 0 || model->scale < 0))
        return okn_tree_damaged(model, "its scale or its steps are none");
    model->first_steps = model->steps;
    model->smallest_scale = model->is_linear && !model->averaged ? 1e-30 : 1e-3;
    model->largest_scale = model->is_linear ? 1e30 : 1e3;
    return 0;
}

static int read_sizes(okn_t *model, const json_value *outputs, int64_t stride)
{
    if (okn_tree_size(outputs, 1, MOST_NUMBERS, &model->n_outputs) < 0 || stride < 1
        || stride > MOST_NUMBERS / model->n_outputs)
        return okn_tree_damaged(model, "it has no outputs, or too many numbers");
    model->stride = (ptrdiff_t)stride;
    return 0;
}

/* Weights of features: rows of whole lines in one array. */
static int read_weights(okn_t *model, const json_value *state)
{
    const int64_t wide = (model->n_features + LINE) / LINE * LINE, rows = 1 + model->averaged;
    const int64_t half = model->n_outputs * wide;
    const file_array *blocks =
        okn_tree_array(model, okn_tree_entry(model, state, "blocks"), "F64", rows * half);
    real *all = okn_tree_numbers(blocks, rows * half, 0);
    model->values = calloc((size_t)(model->n_outputs * model->stride), sizeof(real));
    model->companions = calloc((size_t)(model->n_outputs * model->stride), sizeof(real));
    for (int64_t k = 0; all && model->values && model->companions && k < model->n_outputs; k++)
        for (int64_t j = 0; j < model->stride; j++) {
            model->values[k * model->stride + j] = all[k * wide + j];
            if (model->averaged)
                model->companions[k * model->stride + j] = all[half + k * wide + j];
        }
    free(all);
    return all && model->values && model->companions
               ? 0
               : okn_tree_damaged(model, "its weights are none");
}

static int read_variances(okn_t *model, const json_value *state, const json_value *kind)
{
    const int64_t wide = model->n_features + (model->intercept > 0), n = model->n_outputs * wide;
    real *own;
    if (!okn_json_is(kind, "diagonal")) {
        okn_forbid(model, "its covariance is not diagonal");
        return 0;
    }
    own = okn_tree_numbers(
        okn_tree_array(model, okn_tree_entry(model, state, "covariance"), "F64", n), n, 0);
    model->variances = calloc((size_t)(model->n_outputs * model->stride), sizeof(real));
    for (int64_t j = 0; own && model->variances && j < n; j++)
        model->variances[j / wide * model->stride + j % wide] = own[j];
    free(own);
    return own && model->variances ? 0 : okn_tree_damaged(model, "its variances are none");
}

static int read_linear(okn_t *model, const json_value *space)
{
    const json_value *class_ = okn_tree_class(model, okn_tree_argument(model, space, 0));
    const json_value *told = okn_tree_argument(model, space, 1),
                     *state = okn_tree_argument(model, space, 2);
    const json_value *in_length;
    const int is_batch = okn_json_is(class_, "BatchSpace"), shift = 2 * is_batch;
    int status;
    double skipped = 0;
    model->is_linear = 1;
    model->space = &okn_linear_space;
    model->second_order = okn_json_is(class_, "SecondOrderSpace");
    if (is_batch)
        okn_forbid(model, "linear models that learn in batches are scored only");
    else if (!model->second_order && !okn_json_is(class_, "LinearSpace"))
        return okn_tree_unknown_class(model, "its kind of linear model", class_);
    status = read_averaging(model, okn_tree_item(model, told, "items", shift + 3));
    if (status)
        return status;
    status =
        read_sizes(model, okn_tree_item(model, told, "items", shift + 2), model->n_features + 1);
    if (status)
        return status;
    if (okn_tree_real(model, okn_tree_item(model, told, "items", shift + 4), &model->intercept) < 0
        || !isfinite(model->intercept))
        return okn_tree_damaged(model, "its intercept is none");
    if (!model->second_order
        && okn_tree_real(model, okn_tree_item(model, told, "items", shift + 5), &skipped) < 0)
        return okn_tree_damaged(model, "its average is none");
    if (!(skipped >= 0 && skipped < 1e15))
        return okn_tree_damaged(model, "its average is none");
    model->skipped = (int64_t)skipped;
    in_length = okn_tree_item(model, told, "items", shift + 6);
    model->in_length = in_length && !okn_tree_true(in_length) ? 0 : model->intercept;
    status = read_weights(model, state);
    if (!status && model->second_order)
        status = read_variances(model, state, okn_tree_item(model, told, "items", shift + 5));
    return status ? status : read_scale(model, state);
}

/* Where feature j of a Fourier map is in a row of a file. */
int64_t okn_place(const okn_t *model, int64_t j)
{
    const int64_t n = model->n_components, sine = (n + 15) / 16 * 16;
    const int64_t panels = (n + OK_PANEL - 1) / OK_PANEL * OK_PANEL;
    if (j < n)
        return j;
    return j < 2 * n ? sine + j - n : 2 * sine > panels ? 2 * sine : panels;
}

/* Rows of a file, without their gaps. */
static real *read_features(okn_t *model, const json_value *node)
{
    const json_value *name = okn_json_get(&model->file.tree, node, "array");
    const file_array *array = okn_file_find(&model->file, name);
    const int64_t wide = array && array->n_axes == 2 ? array->shape[1] : 0;
    real *all, *found;
    if (wide <= okn_place(model, model->stride - 1) || array->shape[0] != model->n_outputs)
        return NULL;
    all = okn_tree_numbers(okn_tree_array(model, node, "F64", array->count), array->count, 0);
    found = all ? calloc((size_t)(model->n_outputs * model->stride), sizeof *found) : NULL;
    for (int64_t j = 0; found && j < model->n_outputs * model->stride; j++)
        found[j] = all[j / model->stride * wide + okn_place(model, j % model->stride)];
    free(all);
    return found;
}

int okn_read_frequencies(okn_t *model, const json_value *map)
{
    const file_array *frequencies = okn_file_find(
        &model->file, okn_json_get(&model->file.tree, okn_tree_argument(model, map, 0), "array"));
    if (!frequencies || frequencies->n_axes != 2 || frequencies->shape[1] != model->n_features
        || frequencies->shape[0] < 1 || frequencies->shape[0] > MOST_NUMBERS / 4
        || (strcmp(frequencies->dtype, "F32") && strcmp(frequencies->dtype, "F64")))
        return okn_tree_damaged(model, "its frequencies are none");
    model->n_components = (ptrdiff_t)frequencies->shape[0];
    model->map_frequencies = okn_tree_numbers(frequencies, frequencies->count, 0);
    return model->map_frequencies ? 0 : okn_tree_damaged(model, "its frequencies are none");
}

static int read_mapped(okn_t *model, const json_value *space)
{
    const json_value *map = okn_tree_argument(model, space, 0),
                     *state = okn_tree_argument(model, space, 3);
    int status;
    model->is_mapped = 1;
    model->space = &okn_mapped_space;
    if (!okn_json_is(okn_tree_class(model, map), "RandomFourier"))
        return okn_tree_unknown_class(model, "its kind of features", okn_tree_class(model, map));
    status = okn_read_frequencies(model, map);
    if (status)
        return status;
    status = read_averaging(model, okn_tree_argument(model, space, 2));
    if (status)
        return status;
    status = read_sizes(model, okn_tree_argument(model, space, 1),
                        2 * model->n_components + okn_tree_true(okn_tree_argument(model, map, 2)));
    if (status)
        return status;
    model->values = read_features(model, okn_tree_entry(model, state, "values"));
    model->companions = read_features(model, okn_tree_entry(model, state, "companions"));
    if (!model->values || !model->companions)
        return okn_tree_damaged(model, "its weights are none");
    return read_scale(model, state);
}

int okn_read_kernel_function(okn_t *model, const json_value *node)
{
    const json_value *name = okn_tree_class(model, node);
    const int is_polynomial = okn_json_is(name, "Polynomial");
    double degree = 1;
    int wrong = 0;
    model->kernel = okn_kernel(name);
    if (!model->kernel)
        return okn_tree_unknown_class(model, "its kernel", name);
    model->has_norms = okn_json_is(name, "Cosine");
    if (!model->has_norms && !okn_json_is(name, "Kernel"))
        wrong |= okn_json_real(okn_tree_argument(model, node, 0), &model->kernel_gamma);
    if (is_polynomial)
        wrong |= okn_json_real(okn_tree_argument(model, node, 1), &degree);
    if (is_polynomial || okn_json_is(name, "Sigmoid"))
        wrong |=
            okn_json_real(okn_tree_argument(model, node, 1 + is_polynomial), &model->kernel_coef0);
    if (wrong || !(degree >= 1 && degree <= MOST_DEGREE))
        return okn_tree_damaged(model, "its kernel has no such numbers");
    model->kernel_degree = (int32_t)degree;
    return 0;
}

static int read_ages(okn_t *model, const json_value *state, int64_t n)
{
    const file_array *ages = okn_tree_array(model, okn_tree_entry(model, state, "ages"), "I64", n);
    model->ages = ages ? calloc((size_t)n + 1, sizeof *model->ages) : NULL;
    if (!model->ages || okn_json_whole(okn_tree_entry(model, state, "added"), &model->added) < 0
        || model->added < 0)
        return okn_tree_damaged(model, "the ages of its support vectors are none");
    for (int64_t j = 0; j < n; j++)
        model->ages[j] = okn_array_whole(ages, j);
    return 0;
}

/* The row of a slot as it is compared with others. */
static row row_of(const okn_t *model, int64_t slot)
{
    const row found = {model->support_vectors + slot * model->n_features, NULL,
                       (int32_t)model->n_features};
    return found;
}

int okn_read_vectors(okn_t *model, const json_value *state)
{
    const json_value *rows = okn_tree_entry(model, state, "rows");
    const file_array *array =
        okn_file_find(&model->file, okn_json_get(&model->file.tree, rows, "array"));
    const int64_t d = model->n_features;
    int64_t n;
    if (okn_tree_is(model, rows, "csr"))
        return okn_tree_unknown(model, "support vectors that are sparse rows are not known");
    if (!array || array->n_axes != 2 || array->shape[1] != d || array->shape[0] > MOST_NUMBERS)
        return okn_tree_damaged(model, "its support vectors are none");
    n = array->shape[0];
    model->n_support = (int32_t)n;
    model->support_vectors =
        okn_tree_numbers(okn_tree_array(model, rows, dtype_of_rows(model), n * d), n * d, d);
    model->support_norms = calloc((size_t)n + 1, sizeof(real));
    if (!model->support_vectors || !model->support_norms)
        return okn_tree_damaged(model, "its support vectors are none");
    for (int64_t j = 0; model->has_norms && j < n; j++) {
        const row own = row_of(model, j);
        model->support_norms[j] = model->kernel->norm_term(model, &own);
    }
    return read_ages(model, state, n);
}

static int read_coefficients(okn_t *model, const json_value *state)
{
    const int64_t n = model->n_support;
    if (n > MOST_NUMBERS / model->n_outputs)
        return okn_tree_damaged(model, "it has too many numbers");
    model->stride = n > 0 ? (ptrdiff_t)n : 1;
    model->values = okn_tree_numbers(
        okn_tree_array(model, okn_tree_entry(model, state, "values"), "F64", n * model->n_outputs),
        n * model->n_outputs, model->n_outputs);
    model->companions =
        okn_tree_numbers(okn_tree_array(model, okn_tree_entry(model, state, "companions"), "F64",
                                        n * model->n_outputs),
                         n * model->n_outputs, model->n_outputs);
    return model->values && model->companions
               ? 0
               : okn_tree_damaged(model, "its coefficients are none");
}

static int read_kernel(okn_t *model, const json_value *space)
{
    const json_value *class_ = okn_tree_class(model, okn_tree_argument(model, space, 0));
    const json_value *told = okn_tree_argument(model, space, 1),
                     *state = okn_tree_argument(model, space, 2);
    int status;
    model->is_kernel = 1;
    model->space = &okn_kernel_space;
    if (okn_json_is(class_, "InverseTimeSpace"))
        okn_forbid_class(model, "the step of its kernel model", class_);
    else if (!okn_json_is(class_, "KernelSpace"))
        return okn_tree_unknown_class(model, "its kind of kernel model", class_);
    if (okn_tree_size(okn_tree_item(model, told, "items", 3), 1, MOST_NUMBERS, &model->n_outputs)
        < 0)
        return okn_tree_damaged(model, "it has no outputs");
    status = okn_read_kernel_function(model, okn_tree_item(model, told, "items", 0));
    if (!status)
        status = read_averaging(model, okn_tree_item(model, told, "items", 4));
    if (!status)
        status = okn_read_vectors(model, state);
    if (!status)
        status = read_coefficients(model, state);
    if (!status)
        status = okn_read_policy(model, okn_tree_argument(model, space, 3));
    if (!okn_tree_array(model, okn_tree_entry(model, state, "free"), "I64", 0))
        okn_forbid(model, "some slots of its support vectors are free");
    return status ? status : read_scale(model, state);
}

int okn_make_space(okn_t *model, const json_value *space)
{
    const json_value *name = okn_json_get(&model->file.tree, space, "object");
    if (okn_json_is(name, "LinearSpace"))
        return read_linear(model, space);
    if (okn_json_is(name, "MappedSpace"))
        return read_mapped(model, space);
    if (okn_json_is(name, "KernelSpace"))
        return read_kernel(model, space);
    if (okn_json_is(name, "ForestSpace"))
        return okn_forest_read(model, space);
    if (okn_json_is(name, "LeastSquaresSpace"))
        return okn_squares_read(model, space);
    return okn_tree_unknown_class(model, "its kind of model", name);
}
