/* Kernel forests, which are scored: the core's `models.forest`, with what all experts say of a leaf
   in one weight for each output. */
#include "forest.h"
#include "tree.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_NUMBERS = INT32_MAX - 64, MOST_OUTPUTS = 10000, MOST_EXPERTS = 100, UPPER_LEVEL = 4 };
static const double FARTHEST = 1e6, PRIOR = 10, LEAST_ERROR = 1, LEAST_PIVOT = 1e-12;

/* The features of the trees: those of the row, then products with directions, in float. */
static void scale_row(const forest *own, const real *x, int64_t d)
{
    float *z = own->z;
    for (int64_t j = 0; j < d; j++) {
        const double product = (x[j] - own->center[j]) * own->factor[j];
        const double scaled = product == product ? product : 0;
        z[j] = (float)(scaled > FARTHEST ? FARTHEST : scaled < -FARTHEST ? -FARTHEST : scaled);
    }
    for (int64_t m = 0; m < own->n_directions; m++)
        z[d + m] = 0;
    for (int64_t j = 0; j < d; j++)
        for (int64_t m = 0; m < own->n_directions; m++) {
            /* Two statements, which are rounded twice. */
            const float product = z[j] * (float)own->directions[j * own->n_directions + m];
            z[d + m] += product;
        }
}

static void forest_look(okn_t *model, const row *x, row *phi)
{
    const forest *own = model->forest;
    scale_row(own, x->values, model->n_features);
    for (int64_t k = 0; k < model->n_outputs; k++)
        model->features[k] = own->offset;
    for (int32_t t = 0; t < own->n_trees; t++) {
        int32_t at = own->roots[t];
        while (own->below[at] != at)
            at = own->below[at] + (own->z[own->features[at]] > (float)own->cuts[at]);
        for (int64_t k = 0; k < model->n_outputs; k++)
            model->features[k] += own->weights[at * model->n_outputs + k];
    }
    phi->values = model->features;
    phi->columns = NULL;
    phi->n = (int32_t)model->n_outputs;
}

/* The scores are what `look` has found: of the output of these numbers. */
static real forest_product(okn_t *model, const real *numbers, const row *phi)
{
    return phi->values[(numbers - model->values) / model->stride];
}

static const space_part FOREST = {forest_product, forest_look, NULL};

/* Turn a matrix into its Cholesky factor; 0 if it is not positive. */
static int factored(double *matrix, int n)
{
    for (int i = 0; i < n; i++)
        for (int j = 0; j <= i; j++) {
            double value = matrix[i * n + j];
            for (int k = 0; k < j; k++)
                value -= matrix[i * n + k] * matrix[j * n + k];
            if (i > j)
                matrix[i * n + j] = value / matrix[j * n + j];
            else if (value > LEAST_PIVOT * matrix[i * n + i] && isfinite(value))
                matrix[i * n + i] = sqrt(value);
            else
                return 0;
        }
    return 1;
}

static double solved(const double *factor, int n, double *x)
{
    double sum = 0;
    for (int i = 0; i < n; i++) {
        for (int k = 0; k < i; k++)
            x[i] -= factor[i * n + k] * x[k];
        x[i] /= factor[i * n + i];
    }
    for (int i = n - 1; i >= 0; i--) {
        for (int k = i + 1; k < n; k++)
            x[i] -= factor[k * n + i] * x[k];
        x[i] /= factor[i * n + i];
        sum += x[i];
    }
    return sum;
}

/* The weights of the experts that sum to 1 and err least, near equal ones as long as little is
   known, and where errors are few: the core's `learning.combination`. `errors` is overwritten. */
static void combine(double *errors, double met, double least_error, int n, double *weights)
{
    double least = INFINITY, level, second, first, ones[MOST_EXPERTS], shares[MOST_EXPERTS];
    for (int e = 0; e < n; e++)
        weights[e] = 1.0 / n;
    if (!(met > 0))
        return;
    for (int i = 0; i < n * n; i++)
        errors[i] /= met;
    for (int e = 0; e < n; e++)
        least = errors[e * n + e] < least ? errors[e * n + e] : least;
    level = fmax(PRIOR * least, least_error) / met;
    for (int e = 0; e < n; e++) {
        errors[e * n + e] += level;
        shares[e] = level / n;
        ones[e] = 1;
    }
    if (!factored(errors, n))
        return;
    first = solved(errors, n, shares);
    second = solved(errors, n, ones);
    for (int e = 0; e < n && second > 0 && isfinite(second) && isfinite(first); e++)
        weights[e] = shares[e] + ones[e] * (1 - first) / second;
}

/* Whole numbers of an array; NULL if they are none, or one is not from `least` to `most`. */
static int32_t *wholes_of(const okn_t *model, const json_value *node, int64_t count, int64_t least,
                          int64_t most)
{
    const file_array *array = okn_tree_array(model, node, "I32", count);
    int32_t *found = array ? calloc((size_t)count + 1, sizeof *found) : NULL;
    for (int64_t j = 0; found && j < count; j++) {
        const int64_t value = okn_array_whole(array, j);
        if (value < least || value > most) {
            free(found);
            return NULL;
        }
        found[j] = (int32_t)value;
    }
    return found;
}

static real *reals_of(const okn_t *model, const json_value *state, const char *key,
                      const char *dtype, int64_t count)
{
    return okn_tree_numbers(okn_tree_array(model, okn_tree_entry(model, state, key), dtype, count),
                            count, 0);
}

/* Where nodes are below one another. A child comes behind its parent: no walk goes round. */
static int read_nodes(okn_t *model, const json_value *state)
{
    forest *own = model->forest;
    const int64_t n = own->n_nodes;
    int32_t *first =
        wholes_of(model, okn_tree_entry(model, state, "first"), own->n_trees + 1, 0, n);
    const file_array *cuts = okn_tree_array(model, okn_tree_entry(model, state, "cuts"), "F32", n);
    int wrong = !first || first[0] != 0 || first[own->n_trees] != n;
    own->roots = first;
    own->below = wholes_of(model, okn_tree_entry(model, state, "left"), n, 0, n);
    own->features = wholes_of(model, okn_tree_entry(model, state, "features"), n, 0,
                              model->n_features + own->n_directions - 1);
    own->cuts = cuts ? calloc((size_t)n + 1, sizeof(real)) : NULL;
    for (int64_t i = 0; own->cuts && i < n; i++)
        own->cuts[i] = okn_array_real(cuts, i); /* infinite in leaves */
    if (wrong || !own->below || !own->features || !own->cuts)
        return -1;
    for (int32_t t = 0; t < own->n_trees; t++) {
        if (first[t] >= first[t + 1])
            return -1;
        for (int32_t i = first[t]; i < first[t + 1]; i++) {
            const int64_t below = (int64_t)own->below[i] + first[t];
            if (below < i || (below > i && below + 1 >= first[t + 1]))
                return -1;
            own->below[i] = (int32_t)below;
        }
    }
    return 0;
}

/* The cell beside the leaves that a node is part of: one above at a certain depth, or itself. */
static int32_t *upper_cells(const forest *own)
{
    int32_t *upper = calloc((size_t)own->n_nodes, sizeof *upper);
    int32_t *depths = calloc((size_t)own->n_nodes, sizeof *depths);
    for (int32_t i = 0; upper && i < own->n_nodes; i++)
        upper[i] = i;
    for (int32_t i = 0; upper && depths && i < own->n_nodes; i++)
        for (int32_t child = own->below[i]; child != i && child < own->below[i] + 2; child++) {
            depths[child] = depths[i] + 1;
            upper[child] = depths[i] >= UPPER_LEVEL ? upper[i] : child;
        }
    if (!depths) {
        free(upper);
        upper = NULL;
    }
    free(depths);
    return upper;
}

/* What experts say of each node, in one number for each output. */
static int fold(okn_t *model, const json_value *told, const json_value *state, real unit)
{
    forest *own = model->forest;
    const json *tree = &model->file.tree;
    const json_value *noises = okn_json_get(tree, okn_tree_item(model, told, "items", 5), "items");
    const json_value *levels = okn_json_get(tree, okn_tree_item(model, told, "items", 6), "items");
    const int64_t n = own->n_nodes, outputs = model->n_outputs;
    const int64_t experts =
        noises && levels && noises->count < MOST_EXPERTS && levels->count < MOST_EXPERTS
            ? (int64_t)noises->count * levels->count
            : 0;
    double weights[MOST_EXPERTS], met, *errors;
    ptrdiff_t n_labels;
    int32_t *upper;
    real *cells;
    if (experts < 1 || experts > MOST_EXPERTS || n > MOST_NUMBERS / outputs / (2 * experts)
        || okn_tree_size(okn_tree_item(model, told, "items", 3), 0, MOST_OUTPUTS, &n_labels) < 0
        || okn_json_real(okn_tree_entry(model, state, "met"), &met) < 0)
        return -1;
    errors = reals_of(model, state, "errors", "F64", experts * experts);
    cells = reals_of(model, state, "cells", "F32", n * experts * (1 + outputs));
    upper = upper_cells(own);
    own->weights = calloc((size_t)(n * outputs), sizeof(real));
    if (errors)
        combine(errors, met, n_labels > 0 ? LEAST_ERROR : 0, (int)experts, weights);
    for (int64_t i = 0; errors && cells && upper && own->weights && i < n * experts; i++) {
        const int64_t node = i / experts, e = i % experts;
        const int is_both = okn_tree_true(okn_json_at(tree, levels, (int32_t)(e / noises->count)));
        const real share = weights[e] / sqrt((is_both ? 2.0 : 1.0) * own->n_trees) * unit;
        const real *leaf = cells + i * (1 + outputs) + 1;
        const real *above = cells + (upper[node] * experts + e) * (1 + outputs) + 1;
        for (int64_t k = 0; k < outputs; k++)
            own->weights[node * outputs + k] +=
                share * (leaf[k] + (is_both && upper[node] != node ? above[k] : 0));
    }
    free(errors);
    free(cells);
    free(upper);
    return errors && cells && upper && own->weights ? 0 : -1;
}

/* The units of a row, and directions; -1 if they are none. */
static int read_scale(okn_t *model, const json_value *state)
{
    forest *own = model->forest;
    const int64_t d = model->n_features;
    const json_value *node = okn_tree_entry(model, state, "directions");
    const file_array *array =
        okn_file_find(&model->file, okn_json_get(&model->file.tree, node, "array"));
    if (node && node->kind != JSON_NULL) {
        if (!array || array->n_axes != 2 || array->shape[0] != d)
            return -1;
        own->n_directions = array->shape[1];
        own->directions = reals_of(model, state, "directions", "F32", array->count);
        if (!own->directions)
            return -1;
    }
    own->center = reals_of(model, state, "center", "F64", d);
    own->factor = reals_of(model, state, "factor", "F64", d);
    own->z = calloc((size_t)(d + own->n_directions), sizeof *own->z);
    return own->center && own->factor && own->z ? 0 : -1;
}

int okn_forest_read(okn_t *model, const json_value *space)
{
    const json_value *told = okn_tree_argument(model, space, 0),
                     *state = okn_tree_argument(model, space, 1);
    const json_value *cuts = okn_tree_entry(model, state, "cuts");
    const file_array *nodes =
        okn_file_find(&model->file, okn_json_get(&model->file.tree, cuts, "array"));
    forest *own = model->forest = calloc(1, sizeof *own);
    ptrdiff_t n_trees;
    real unit;
    if (!own)
        return okn_fail(model, OKN_NO_MEMORY, "no memory");
    okn_forbid(model, "forests are scored only");
    model->space = &FOREST;
    model->scale = 1;
    if (!okn_tree_array(model, okn_tree_entry(model, state, "table_sources"), "I32", 0))
        return okn_tree_unknown(model, "tables of columns (its categories) are not known");
    if (!okn_tree_array(model, okn_tree_entry(model, state, "gap_sources"), "I32", 0))
        return okn_tree_unknown(model, "guesses of missing values are not known");
    if (okn_json_real(okn_tree_entry(model, state, "offset"), &own->offset) < 0
        || okn_json_real(okn_tree_entry(model, state, "unit"), &unit) < 0)
        return okn_tree_unknown(model, "forests of several targets are not known");
    if (okn_tree_size(okn_tree_item(model, told, "items", 2), 1, MOST_OUTPUTS, &model->n_outputs)
            < 0
        || okn_tree_size(okn_tree_item(model, told, "items", 7), 1, MOST_NUMBERS, &n_trees) < 0
        || !nodes || nodes->count > MOST_NUMBERS || n_trees > nodes->count)
        return okn_tree_damaged(model, "its forest has no trees");
    own->n_trees = (int32_t)n_trees;
    own->n_nodes = nodes->count;
    model->stride = model->n_outputs;
    model->values = calloc((size_t)(model->n_outputs * model->stride), sizeof(real));
    if (!model->values || read_scale(model, state) < 0 || read_nodes(model, state) < 0
        || fold(model, told, state, unit) < 0)
        return okn_tree_damaged(model, "the trees of its forest are none");
    return 0;
}

void okn_forest_free(forest *own)
{
    if (!own)
        return;
    void *const owned[] = {own->center,  own->factor,   own->directions, own->cuts,
                           own->weights, own->features, own->below,      own->roots, own->z};
    for (size_t j = 0; j < sizeof owned / sizeof *owned; j++)
        free(owned[j]);
    free(own);
}
