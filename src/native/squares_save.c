/* Least squares back into the tree and the arrays of a file: the way back of squares_file.c. */
#include "squares.h"
#include "tree.h"

#include <onlinekern/vector.h>

#include <stdlib.h>

static file_array *array_of(const okn_t *model, const json_value *node)
{
    return okn_file_find(&model->file, okn_json_get(&model->file.tree, node, "array"));
}

/* Rows of a model, in as many rows of a file's array. */
static int set_rows(okn_t *model, file_array *array, int64_t n, const real *rows)
{
    const squares *own = model->squares;
    const int64_t wide = okn_squares_width(model);
    if (!array || okn_array_resize(array, 0, n) || okn_array_resize(array, 1, wide))
        return OKN_NO_MEMORY;
    for (int64_t k = 0; k < n; k++)
        for (int64_t f = 0; f < own->used; f++)
            okn_array_set_real(array, k * wide + okn_squares_place(model, f),
                               rows[k * model->stride + f]);
    return 0;
}

/* A matrix whose diagonal is `rest` where a row has a gap. */
static int set_matrix(okn_t *model, file_array *array, const real *matrix, int64_t panel, real rest)
{
    const squares *own = model->squares;
    const int64_t n = okn_squares_width(model);
    if (!array
        || okn_array_resize(array, 0, n > 0 ? okn_panel_place(n, panel, n - 1, n - 1) + 1 : 0))
        return OKN_NO_MEMORY;
    for (int64_t i = 0; i < n; i++)
        okn_array_set_real(array, okn_panel_place(n, panel, i, i), rest);
    for (int64_t i = 0; i < own->used; i++)
        for (int64_t j = 0; j <= i; j++) {
            const int64_t row = okn_squares_place(model, i), column = okn_squares_place(model, j);
            okn_array_set_real(array, okn_panel_place(n, panel, row, column),
                               matrix[okn_triangle(i) + j]);
            /* Above the diagonal, in the panels that it goes through. */
            if (row / panel == column / panel)
                okn_array_set_real(array, okn_panel_place(n, panel, column, row),
                                   matrix[okn_triangle(i) + j]);
        }
    return 0;
}

/* q of the samples of the open block, columns in the file, and C. */
static int set_products(okn_t *model, file_array *products, file_array *factor)
{
    const squares *own = model->squares;
    const int64_t n = own->count, wide = okn_squares_width(model);
    if (!products || !factor || okn_array_resize(products, 0, wide)
        || okn_array_resize(products, 1, n) || okn_array_resize(factor, 0, n)
        || okn_array_resize(factor, 1, n))
        return OKN_NO_MEMORY;
    for (int64_t j = 0; j < n; j++) {
        for (int64_t f = 0; f < own->used; f++)
            okn_array_set_real(products, okn_squares_place(model, f) * n + j,
                               own->products[j * model->stride + f]);
        for (int64_t i = j; i < n; i++) /* row j of the file is column j of C */
            okn_array_set_real(factor, j * n + i, own->factors[i * OKN_LANES + j]);
    }
    return 0;
}

/* n rows of so many numbers. */
static int set_numbers(file_array *array, int64_t n, int64_t wide, const real *numbers)
{
    if (!array || okn_array_resize(array, 0, n))
        return OKN_NO_MEMORY;
    for (int64_t j = 0; j < n * wide; j++)
        okn_array_set_real(array, j, numbers[j]);
    return 0;
}

static int set_landmarks(okn_t *model, const json_value *map)
{
    const squares *own = model->squares;
    const int64_t n = own->n_landmarks;
    const json_value *inner = own->has_linear ? okn_tree_argument(model, map, 0) : map;
    const json_value *state = okn_tree_argument(model, inner, 1);
    file_array *whitening = array_of(model, okn_tree_argument(model, inner, 5));
    file_array *values = array_of(model, okn_tree_entry(model, state, "values"));
    file_array *companions = array_of(model, okn_tree_entry(model, state, "companions"));
    if (!values || !companions || !whitening || okn_array_resize(values, 1, n)
        || okn_array_resize(companions, 1, n) || okn_array_resize(whitening, 0, okn_triangle(n))
        || okn_set_vectors(model, state))
        return OKN_NO_MEMORY;
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j <= i; j++)
            okn_array_set_real(whitening, okn_panel_place(n, 1, i, j),
                               own->whitening[okn_triangle(i) + j]);
    return 0;
}

static int set_residuals(okn_t *model, const json_value *node)
{
    const residuals_type *own = model->squares->residuals;
    const json_value *state = okn_tree_argument(model, node, 0);
    file_array *levels = array_of(model, okn_tree_entry(model, state, "levels"));
    if (!own)
        return 0;
    okn_tree_set_whole(okn_tree_value(model, state, "seen"), own->seen);
    if (!levels || okn_array_resize(levels, OKN_MOST_AXES, 0))
        return OKN_NO_MEMORY;
    for (int64_t j = 0; j < OKN_LEVELS; j++)
        okn_array_set_real(levels, j, own->levels[j]);
    return set_numbers(array_of(model, okn_tree_entry(model, state, "recent")),
                       own->seen < OKN_RESIDUALS ? own->seen : OKN_RESIDUALS, 1, own->recent);
}

static int set_state(okn_t *model, const json_value *state)
{
    const squares *own = model->squares;
    const int64_t n = own->count, outputs = model->n_outputs;
    file_array *arrays[11];
    static const char *const names[] = {"matrix", "inverse", "vectors", "base", "products",
                                        "factor", "rows", "innovations", "targets", "weights",
                                        "evidence"};
    for (int j = 0; j < 11; j++)
        arrays[j] = array_of(model, okn_tree_entry(model, state, names[j]));
    okn_tree_set_whole(okn_tree_value(model, state, "used"), okn_squares_width(model));
    okn_tree_set_whole(okn_tree_value(model, state, "count"), n);
    okn_tree_set_whole(okn_tree_value(model, state, "waiting"), n);
    okn_tree_set_whole(okn_tree_value(model, state, "since"), own->since);
    okn_tree_set_real(okn_tree_value(model, state, "reg"), own->reg);
    okn_tree_set_real(okn_tree_value(model, state, "coming"), own->coming);
    return set_matrix(model, arrays[0], own->matrix, 1, own->reg)
                   || set_matrix(model, arrays[1], own->inverse, OK_PANEL, 1 / own->reg)
                   || set_rows(model, arrays[2], outputs, own->vectors)
                   || set_rows(model, arrays[3], outputs, own->weights)
                   || set_products(model, arrays[4], arrays[5])
                   || set_rows(model, arrays[6], n, own->rows)
                   || set_numbers(arrays[7], n, outputs, own->innovations)
                   || set_numbers(arrays[8], n, outputs, own->targets)
                   || set_numbers(arrays[9], n, 1, own->sample_weights)
                   || (own->evidence && set_numbers(arrays[10], outputs + 2, 1, own->evidence))
               ? OKN_NO_MEMORY
               : 0;
}

int okn_squares_set(okn_t *model, const json_value *space)
{
    const json_value *arguments = okn_json_get(&model->file.tree, space, "arguments");
    okn_tree_set_whole(okn_json_at(&model->file.tree, arguments, 7), model->squares->entered);
    if (model->squares->whitening && set_landmarks(model, okn_tree_argument(model, space, 0)))
        return OKN_NO_MEMORY;
    if (set_residuals(model, okn_tree_argument(model, space, 5)))
        return OKN_NO_MEMORY;
    return set_state(model, okn_tree_argument(model, space, 8));
}
