/* Least squares back into the tree and the arrays of a file: the way back of squares_file.c. */
#include "squares.h"
#include "tree.h"

#include <onlinekern/vector.h>

#include <stdlib.h>

static file_array *array_of(const okn_t *model, const json_value *node)
{
    return file_find(&model->file, json_get(&model->file.tree, node, "array"));
}

/* Rows of a model, in as many rows of a file's array. */
static int set_rows(okn_t *model, file_array *array, int64_t n, const real *rows)
{
    const squares *own = model->squares;
    const int64_t wide = squares_width(model);
    if (!array || array_resize(array, 0, n) || array_resize(array, 1, wide))
        return OKN_NO_MEMORY;
    for (int64_t k = 0; k < n; k++)
        for (int64_t f = 0; f < own->used; f++)
            array_set_real(array, k * wide + squares_place(model, f), rows[k * model->stride + f]);
    return 0;
}

/* A matrix whose diagonal is `rest` where a row has a gap. */
static int set_matrix(okn_t *model, file_array *array, const real *matrix, int64_t panel, real rest)
{
    const squares *own = model->squares;
    const int64_t n = squares_width(model);
    if (!array || array_resize(array, 0, n > 0 ? panel_place(n, panel, n - 1, n - 1) + 1 : 0))
        return OKN_NO_MEMORY;
    for (int64_t i = 0; i < n; i++)
        array_set_real(array, panel_place(n, panel, i, i), rest);
    for (int64_t i = 0; i < own->used; i++)
        for (int64_t j = 0; j <= i; j++) {
            const int64_t row = squares_place(model, i), column = squares_place(model, j);
            array_set_real(array, panel_place(n, panel, row, column), matrix[triangle(i) + j]);
            /* Above the diagonal, in the panels that it goes through. */
            if (row / panel == column / panel)
                array_set_real(array, panel_place(n, panel, column, row), matrix[triangle(i) + j]);
        }
    return 0;
}

/* q of the samples of the open block, columns in the file, and C. */
static int set_products(okn_t *model, file_array *products, file_array *factor)
{
    const squares *own = model->squares;
    const int64_t n = own->count, wide = squares_width(model);
    if (!products || !factor || array_resize(products, 0, wide) || array_resize(products, 1, n)
        || array_resize(factor, 0, n) || array_resize(factor, 1, n))
        return OKN_NO_MEMORY;
    for (int64_t j = 0; j < n; j++) {
        for (int64_t f = 0; f < own->used; f++)
            array_set_real(products, squares_place(model, f) * n + j,
                           own->products[j * model->stride + f]);
        for (int64_t i = j; i < n; i++) /* row j of the file is column j of C */
            array_set_real(factor, j * n + i, own->factors[i * OKN_LANES + j]);
    }
    return 0;
}

/* n rows of so many numbers. */
static int set_numbers(file_array *array, int64_t n, int64_t wide, const real *numbers)
{
    if (!array || array_resize(array, 0, n))
        return OKN_NO_MEMORY;
    for (int64_t j = 0; j < n * wide; j++)
        array_set_real(array, j, numbers[j]);
    return 0;
}

static int set_landmarks(okn_t *model, const json_value *map)
{
    const squares *own = model->squares;
    const int64_t n = own->n_landmarks;
    const json_value *inner = own->has_linear ? tree_argument(model, map, 0) : map;
    const json_value *state = tree_argument(model, inner, 1);
    file_array *whitening = array_of(model, tree_argument(model, inner, 5));
    file_array *values = array_of(model, tree_entry(model, state, "values"));
    file_array *companions = array_of(model, tree_entry(model, state, "companions"));
    if (!values || !companions || !whitening || array_resize(values, 1, n)
        || array_resize(companions, 1, n) || array_resize(whitening, 0, triangle(n))
        || okn_set_vectors(model, state))
        return OKN_NO_MEMORY;
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j <= i; j++)
            array_set_real(whitening, panel_place(n, 1, i, j), own->whitening[triangle(i) + j]);
    return 0;
}

static int set_residuals(okn_t *model, const json_value *node)
{
    const residuals_type *own = model->squares->residuals;
    const json_value *state = tree_argument(model, node, 0);
    file_array *levels = array_of(model, tree_entry(model, state, "levels"));
    if (!own)
        return 0;
    tree_set_whole(tree_value(model, state, "seen"), own->seen);
    if (!levels || array_resize(levels, OKN_MOST_AXES, 0))
        return OKN_NO_MEMORY;
    for (int64_t j = 0; j < OKN_LEVELS; j++)
        array_set_real(levels, j, own->levels[j]);
    return set_numbers(array_of(model, tree_entry(model, state, "recent")),
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
        arrays[j] = array_of(model, tree_entry(model, state, names[j]));
    tree_set_whole(tree_value(model, state, "used"), squares_width(model));
    tree_set_whole(tree_value(model, state, "count"), n);
    tree_set_whole(tree_value(model, state, "waiting"), n);
    tree_set_whole(tree_value(model, state, "since"), own->since);
    tree_set_real(tree_value(model, state, "reg"), own->reg);
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

int squares_set(okn_t *model, const json_value *space)
{
    const json_value *arguments = json_get(&model->file.tree, space, "arguments");
    tree_set_whole(json_at(&model->file.tree, arguments, 7), model->squares->entered);
    if (model->squares->whitening && set_landmarks(model, tree_argument(model, space, 0)))
        return OKN_NO_MEMORY;
    if (set_residuals(model, tree_argument(model, space, 5)))
        return OKN_NO_MEMORY;
    return set_state(model, tree_argument(model, space, 8));
}
