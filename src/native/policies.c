/* Budget policies: which support vectors stay, what a policy keeps of them, and room for more. */
#include "forest.h"
#include "squares.h"
#include "tree.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_NUMBERS = INT32_MAX - 64, MOST_FACTORED = 65000 };
/* On the diagonal of factored kernel matrices: the core's `linalg.cholesky`. */
static const real JITTER = 1e-8, SINGLE_JITTER = 1e-5;

/* The numbers that a policy is made of, in their order in its file. */
static int read_numbers(okn_t *model, const json_value *name, const json_value *told)
{
    const int is_projectron = okn_json_is(name, "Projectron"),
              quantises = okn_json_is(name, "Quantise");
    const int32_t place = is_projectron || quantises;
    const json_value *bound = okn_tree_item(model, told, "items", place);
    int wrong = 0;
    model->largest_coefficient = INFINITY;
    model->policy_unit = 1;
    if (quantises)
        wrong |= okn_json_real(okn_tree_item(model, told, "items", 0), &model->similarity);
    if (is_projectron) {
        wrong |= okn_json_real(okn_tree_item(model, told, "items", 0), &model->policy_eta);
        wrong |= okn_tree_real(model, okn_tree_item(model, told, "items", 2), &model->policy_price);
        model->policy_price = model->policy_price < DBL_MAX / 4 ? model->policy_price : DBL_MAX / 4;
        model->policy_unit = okn_tree_true(okn_tree_item(model, told, "items", 3)) ? 2 : 1;
    } else if (okn_json_is(name, "LinearDependence")) {
        wrong |= okn_json_real(okn_tree_item(model, told, "items", 1), &model->policy_nu);
    } else if (okn_tree_real(model, okn_tree_item(model, told, "items", 2),
                             &model->largest_coefficient)
               < 0) {
        model->largest_coefficient = INFINITY;
    }
    model->budget = PTRDIFF_MAX;
    if (!okn_json_is(name, "Budget"))
        wrong |= okn_tree_size(bound, !place, MOST_NUMBERS, &model->budget);
    if (model->budget == 0) /* there is none */
        model->budget = PTRDIFF_MAX;
    return wrong || model->n_support > model->budget
               ? okn_tree_damaged(model, "its budget is none, or smaller than its support vectors")
               : 0;
}

/* The Cholesky factor of the kernel matrix, and of some the covariance beside it. */
static int read_factor(okn_t *model, const json_value *learnt)
{
    const int64_t n = model->n_support, room = model->stride;
    real *factor = okn_tree_numbers(
        okn_tree_array(model, okn_tree_entry(model, learnt, "factor"), "F64", n * n), n * n, 0);
    real *covariance = NULL;
    if (model->policy->has_covariance)
        covariance = okn_tree_numbers(
            okn_tree_array(model, okn_tree_entry(model, learnt, "covariance"), "F64", n * n), n * n,
            0);
    if (n > MOST_FACTORED)
        okn_forbid(model, "so many support vectors of its policy are not known");
    else if (factor && (covariance || !model->policy->has_covariance)) {
        model->factor = calloc((size_t)okn_triangle(room), sizeof(real));
        model->covariance =
            calloc((size_t)(model->policy->has_covariance ? room * room : 1), sizeof(real));
        model->half = calloc((size_t)room, sizeof(real));
        model->solution = calloc((size_t)room, sizeof(real));
        model->gain = calloc((size_t)room, sizeof(real));
    }
    if (model->factor && model->covariance)
        for (int64_t i = 0; i < n; i++)
            for (int64_t j = 0; j < n; j++) {
                if (j <= i)
                    model->factor[okn_triangle(i) + j] = factor[i * n + j];
                if (covariance)
                    model->covariance[i * room + j] = covariance[i * n + j];
            }
    free(factor);
    free(covariance);
    model->jitter = model->is_single ? SINGLE_JITTER : JITTER;
    return model->cannot_learn
                   || (model->factor && model->covariance && model->half && model->solution
                       && model->gain)
               ? 0
               : okn_tree_damaged(model, "what its budget policy keeps is none");
}

int okn_read_policy(okn_t *model, const json_value *budget)
{
    const json_value *state = okn_tree_argument(model, budget, 2);
    const json_value *learnt = okn_tree_entry(model, state, "learnt");
    const json_value *name = okn_tree_class(model, okn_tree_argument(model, budget, 0));
    const int64_t n = model->n_support;
    int status;
    model->policy = okn_policy(name);
    model->budget = PTRDIFF_MAX;
    if (okn_tree_value(model, learnt, "offsets"))
        return okn_tree_unknown(model, "a budget policy that solves for offsets is not known");
    if (!model->policy) {
        okn_forbid_class(model, "its budget policy", name);
        return 0;
    }
    status = read_numbers(model, name, okn_tree_argument(model, budget, 1));
    if (status)
        return status;
    model->n_added = model->added;
    if (model->policy->takes_turns && n < model->budget && model->added != n)
        okn_forbid(model, "its support vectors are in no order");
    if (model->policy->has_lengths) {
        file_array *lengths =
            okn_tree_array(model, okn_tree_entry(model, learnt, "lengths"), "F64", n);
        model->lengths = okn_tree_numbers(lengths, n, model->stride);
        if (!model->lengths)
            return okn_tree_damaged(model, "the lengths of its support vectors are none");
    }
    return model->policy->has_factor ? read_factor(model, learnt) : 0;
}

/* A square matrix into an array of so many rows and columns. */
static int set_square(okn_t *model, const json_value *learnt, const char *key, const real *numbers,
                      int is_triangle)
{
    const int64_t n = model->n_support;
    const json_value *node = okn_tree_entry(model, learnt, key);
    file_array *array = okn_file_find(&model->file, okn_json_get(&model->file.tree, node, "array"));
    if (okn_array_resize(array, 0, n) || okn_array_resize(array, 1, n))
        return OKN_NO_MEMORY;
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < (is_triangle ? i + 1 : n); j++)
            okn_array_set_real(array, i * n + j,
                               numbers[is_triangle ? okn_triangle(i) + j : i * model->stride + j]);
    return OKN_OK;
}

int okn_set_policy(okn_t *model, const json_value *budget)
{
    const json *tree = &model->file.tree;
    const json_value *state = okn_tree_argument(model, budget, 2);
    const json_value *learnt = okn_tree_entry(model, state, "learnt");
    const json_value *items = okn_json_get(tree, okn_tree_entry(model, state, "set"), "items");
    file_array *lengths;
    okn_tree_set_whole(okn_json_at(tree, items, 6), model->n_support);
    okn_tree_set_whole(okn_json_at(tree, items, 7), model->added);
    if (model->policy->has_factor && set_square(model, learnt, "factor", model->factor, 1))
        return OKN_NO_MEMORY;
    if (model->policy->has_covariance)
        return set_square(model, learnt, "covariance", model->covariance, 0);
    if (!model->policy->has_lengths)
        return 0;
    items = okn_tree_entry(model, learnt, "lengths");
    lengths = okn_file_find(&model->file, okn_json_get(tree, items, "array"));
    if (okn_array_resize(lengths, 0, model->n_support))
        return OKN_NO_MEMORY;
    for (int64_t j = 0; j < model->n_support; j++)
        okn_array_set_real(lengths, j, model->lengths[j]);
    return 0;
}

/* Rows of so many numbers, and of how many they will be; ages are words of as many bits. */
static wider rows_of(void *place, int64_t rows, int64_t from, int64_t to)
{
    const wider found = {place, rows, rows, from, to, NULL};
    return found;
}

int okn_make_room(okn_t *model)
{
    const int64_t from = model->stride, d = model->n_features, outputs = model->n_outputs;
    int64_t to = 2 * from + 8;
    size_t n = 0;
    int status;
    wider parts[12];
    if (model->squares)
        return okn_squares_make_room(model);
    if (model->forest)
        return okn_forest_make_room(model);
    if (!model->is_kernel || model->n_support < from || model->n_support >= model->budget)
        return OKN_OK;
    to = to < model->budget ? to : model->budget;
    if (to > MOST_NUMBERS / outputs || to > MOST_NUMBERS / d
        || (model->policy->has_factor && to > MOST_FACTORED))
        return OKN_NO_MEMORY;
    parts[n++] = rows_of(&model->ages, 1, from, to);
    parts[n++] = rows_of(&model->support_vectors, 1, from * d, to * d);
    parts[n++] = rows_of(&model->support_norms, 1, from, to);
    parts[n++] = rows_of(&model->features, 1, from, to);
    parts[n++] = rows_of(&model->values, outputs, from, to);
    parts[n++] = rows_of(&model->companions, outputs, from, to);
    if (model->policy->has_lengths)
        parts[n++] = rows_of(&model->lengths, 1, from, to);
    if (model->policy->has_factor) {
        parts[n++] = rows_of(&model->factor, 1, okn_triangle(from), okn_triangle(to));
        parts[n++] = rows_of(&model->half, 1, from, to);
        parts[n++] = rows_of(&model->solution, 1, from, to);
        parts[n++] = rows_of(&model->gain, 1, from, to);
    }
    if (model->policy->has_covariance) {
        parts[n] = rows_of(&model->covariance, from, from, to);
        parts[n++].fresh_rows = to;
    }
    status = okn_widen(parts, n);
    if (!status)
        model->stride = (ptrdiff_t)to;
    return status;
}
