/* Least squares in files. There, the features of a map begin at whole panels, and symmetric
   matrices are panels of columns, each from its first diagonal element down. */
#include "squares.h"
#include "tree.h"

#include <onlinekern/vector.h>

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_COUNT = INT32_MAX - 64, MOST_FEATURES = 65000, EPOCH = 8 };

static int64_t whole_panels(int64_t n)
{
    return (n + OK_PANEL - 1) / OK_PANEL * OK_PANEL;
}

/* Where feature f is in a row of a file. */
int64_t okn_squares_place(const okn_t *model, int64_t f)
{
    const squares *own = model->squares;
    const int64_t offset = own->has_linear ? whole_panels(own->base) : 0;
    if (own->has_linear && f < own->base)
        return f;
    return offset + (own->whitening ? f - own->base : okn_place(model, f - own->base));
}

/* How many numbers a row of a file has. */
int64_t okn_squares_width(const okn_t *model)
{
    const squares *own = model->squares;
    const int64_t offset = own->has_linear ? whole_panels(own->base) : 0;
    return own->whitening ? offset + own->n_landmarks : own->wide;
}

/* Where element (i, j), i >= j or in the panel of j, of a matrix of n x n is among its panels. */
int64_t okn_panel_place(int64_t n, int64_t panel, int64_t i, int64_t j)
{
    const int64_t begin = j / panel * panel, width = n - begin < panel ? n - begin : panel;
    /* The panels before have begin columns, which are shorter by a panel each time. */
    const int64_t before = begin * n - panel * panel * (begin / panel * (begin / panel - 1) / 2);
    return before + (i - begin) * width + j - begin;
}

/* Numbers of a dictionary's array, which may be of few bits; NULL if it is none such. */
static real *numbers_of(okn_t *model, const json_value *state, const char *key, int64_t count,
                        int64_t room)
{
    const json_value *node = okn_tree_entry(model, state, key);
    file_array *array = okn_tree_array(model, node, "F64", count);
    if (!array)
        array = okn_tree_array(model, node, "F32", count);
    return okn_tree_numbers(array, count, room);
}

/* Rows of a file with the features where they are here, `stride` apart; NULL if there are none. */
static real *read_rows(okn_t *model, const json_value *state, const char *key, int64_t n,
                       int64_t room)
{
    const squares *own = model->squares;
    const int64_t wide = okn_squares_width(model);
    real *all = numbers_of(model, state, key, n * wide, 0);
    real *found = all ? calloc((size_t)(room * model->stride), sizeof *found) : NULL;
    for (int64_t k = 0; found && k < n; k++)
        for (int64_t f = 0; f < own->used; f++)
            found[k * model->stride + f] = all[k * wide + okn_squares_place(model, f)];
    free(all);
    return found;
}

static real *read_matrix(okn_t *model, const json_value *state, const char *key, int64_t panel)
{
    const squares *own = model->squares;
    const int64_t n = okn_squares_width(model);
    const int64_t last = n > 0 ? okn_panel_place(n, panel, n - 1, n - 1) + 1 : 0;
    real *all = numbers_of(model, state, key, last, 0);
    real *found = all ? calloc((size_t)okn_triangle(model->stride), sizeof *found) : NULL;
    for (int64_t i = 0; found && i < own->used; i++) {
        for (int64_t j = 0; j <= i; j++)
            found[okn_triangle(i) + j] = all[okn_panel_place(n, panel, okn_squares_place(model, i),
                                                             okn_squares_place(model, j))];
        if (!(found[okn_triangle(i) + i] > 0)) {
            free(found);
            found = NULL;
        }
    }
    free(all);
    return found;
}

/* Of the open block: q of its samples, columns in the file, and C. */
static int read_products(okn_t *model, const json_value *state)
{
    squares *own = model->squares;
    const int64_t n = own->count;
    real *all = numbers_of(model, state, "products", okn_squares_width(model) * n, 0);
    real *factors = numbers_of(model, state, "factor", n * n, 0);
    own->products = calloc((size_t)(OKN_LANES * model->stride), sizeof(real));
    own->factors = calloc((size_t)OKN_LANES * OKN_LANES, sizeof(real));
    if (all && factors && own->products && own->factors)
        for (int64_t j = 0; j < n; j++) {
            for (int64_t f = 0; f < own->used; f++)
                own->products[j * model->stride + f] = all[okn_squares_place(model, f) * n + j];
            for (int64_t i = 0; i < n; i++) /* row j of the file is column j of C */
                own->factors[i * OKN_LANES + j] = i < j ? 0 : factors[j * n + i];
        }
    for (int64_t j = 0; factors && j < n; j++)
        if (!(factors[j * n + j] > 0)) {
            free(factors);
            factors = NULL;
        }
    free(all);
    free(factors);
    return all && factors && own->products && own->factors ? 0 : -1;
}

static int read_block(okn_t *model, const json_value *state)
{
    squares *own = model->squares;
    const int64_t outputs = model->n_outputs, n = own->count;
    int64_t waiting;
    if (okn_json_whole(okn_tree_entry(model, state, "waiting"), &waiting) < 0 || waiting != n)
        return okn_tree_unknown(model, "its least squares are of an older version: load it with "
                                       "Python and save it again");
    own->rows = read_rows(model, state, "rows", n, OKN_LANES);
    own->innovations =
        numbers_of(model, state, "innovations", n * outputs, OKN_LANES * outputs);
    own->targets = numbers_of(model, state, "targets", n * outputs, OKN_LANES * outputs);
    own->sample_weights = numbers_of(model, state, "weights", n, OKN_LANES);
    if (read_products(model, state) < 0 || !own->rows || !own->innovations || !own->targets
        || !own->sample_weights)
        return okn_tree_damaged(model, "the samples of its open block are none");
    for (int64_t j = 0; j < n; j++)
        if (!(own->sample_weights[j] > 0))
            return okn_tree_damaged(model, "the samples of its open block are none");
    return 0;
}

/* The sums; `length` is that of the core, which decides when they are solved anew. */
static int read_sums(okn_t *model, const json_value *state, int64_t length)
{
    squares *own = model->squares;
    const json_value *evidence = okn_tree_entry(model, state, "evidence");
    double half = (double)(EPOCH * length);
    if (own->forgetting < 1) {
        const double most = log(2) / -log(own->forgetting);
        half = most < half ? most : half;
        half = half > 1 ? floor(half) : 1;
    }
    own->block_length = half < OKN_LANES ? (int64_t)half : OKN_LANES;
    own->epoch_length = (int64_t)half / own->block_length * own->block_length;
    if (!evidence || okn_json_real(okn_tree_entry(model, state, "reg"), &own->reg) < 0)
        return okn_tree_unknown(model, "its least squares are of an older version: load it with "
                                       "Python and save it again");
    if (okn_json_real(okn_tree_entry(model, state, "coming"), &own->coming) < 0)
        own->coming = 0; /* files of before have none */
    if (okn_json_whole(okn_tree_entry(model, state, "count"), &own->count) < 0 || own->count < 0
        || own->count >= own->block_length
        || okn_json_whole(okn_tree_entry(model, state, "since"), &own->since) < 0
        || own->since < own->count || own->since >= own->epoch_length || !(own->reg > 0))
        return okn_tree_damaged(model, "the counts of its least squares are none");
    own->matrix = read_matrix(model, state, "matrix", 1);
    own->inverse = read_matrix(model, state, "inverse", OK_PANEL);
    own->vectors = read_rows(model, state, "vectors", model->n_outputs, model->n_outputs);
    own->weights = read_rows(model, state, "base", model->n_outputs, model->n_outputs);
    if (!okn_tree_array(model, evidence, "F64", 0)) {
        own->evidence = numbers_of(model, state, "evidence", model->n_outputs + 2, 0);
        for (int64_t k = 0; own->evidence && k < model->n_outputs + 2; k++)
            if (!(own->evidence[k] >= 0 && own->evidence[k] < 0x1p53))
                return okn_tree_damaged(model, "the evidence of its least squares is none");
        if (!own->evidence)
            return okn_tree_damaged(model, "the evidence of its least squares is none");
    }
    if (!own->matrix || !own->inverse || !own->vectors || !own->weights)
        return okn_tree_damaged(model, "the sums of its least squares are none");
    return 0;
}

/* Landmarks: support vectors, and rows of L^-1, by columns in the file. */
static int read_landmarks(okn_t *model, const json_value *map)
{
    squares *own = model->squares;
    const json_value *told = okn_tree_argument(model, map, 0),
                     *state = okn_tree_argument(model, map, 1);
    const json_value *selection = okn_tree_argument(model, map, 3);
    const double rounding = sqrt(model->is_single ? FLT_EPSILON : DBL_EPSILON);
    ptrdiff_t most;
    real novelty, *all;
    int status = okn_read_kernel_function(model, okn_tree_item(model, told, "items", 0));
    if (status)
        return status;
    if (okn_tree_size(okn_tree_argument(model, map, 2), 1, MOST_COUNT, &most) < 0
        || okn_json_real(okn_tree_argument(model, map, 4), &novelty) < 0
        || !(novelty > 0 && novelty < 1))
        return okn_tree_damaged(model, "its landmarks have no such numbers");
    status = okn_read_vectors(model, state);
    if (!status && !okn_tree_array(model, okn_tree_entry(model, state, "free"), "I64", 0))
        return okn_tree_damaged(model, "some of its landmarks are free");
    if (status)
        return status;
    own->n_landmarks = model->n_support;
    own->most_landmarks = most;
    own->only_entered = okn_json_is(selection, "margin");
    own->least = okn_json_is(selection, "first") ? rounding : novelty;
    own->steepest = 0.001 / (rounding * rounding);
    if (own->n_landmarks > most || own->n_landmarks > MOST_FEATURES)
        return okn_tree_damaged(model, "it has more landmarks than it may have");
    own->whitening = calloc((size_t)okn_triangle(own->n_landmarks) + 1, sizeof(real));
    all = okn_tree_numbers(okn_tree_array(model, okn_tree_argument(model, map, 5), "F64",
                                          okn_triangle(own->n_landmarks)),
                           okn_triangle(own->n_landmarks), 0);
    for (int64_t i = 0; all && own->whitening && i < own->n_landmarks; i++)
        for (int64_t j = 0; j <= i; j++)
            own->whitening[okn_triangle(i) + j] = all[okn_panel_place(own->n_landmarks, 1, i, j)];
    free(all);
    return all && own->whitening ? 0
                                 : okn_tree_damaged(model, "the rows of its landmarks are none");
}

/* The features, and how many numbers a row of them has in the core; -1 after an error. */
static int read_map(okn_t *model, const json_value *map, int64_t *length)
{
    squares *own = model->squares;
    const int has_linear = okn_json_is(okn_tree_class(model, map), "WithLinear");
    const json_value *inner = has_linear ? okn_tree_argument(model, map, 0) : map;
    int64_t offset;
    int status;
    own->has_linear = own->has_constant = has_linear;
    own->base = has_linear ? model->n_features + 1 : 0;
    own->factor = 1 / sqrt((double)model->n_features);
    offset = has_linear ? whole_panels(own->base) : 0;
    if (okn_json_is(okn_json_get(&model->file.tree, inner, "object"), "NestedNystroem")) {
        status = read_landmarks(model, inner);
        own->used = own->base + own->n_landmarks;
        own->most = own->base + own->most_landmarks;
        *length = offset + whole_panels(own->most_landmarks);
    } else if (okn_json_is(okn_tree_class(model, inner), "RandomFourier")) {
        const int has_constant = okn_tree_true(okn_tree_argument(model, inner, 2));
        status = okn_read_frequencies(model, inner);
        if (!status && has_constant)
            return okn_tree_unknown(model, "constants beside its frequencies are not known");
        own->used = own->most = own->base + 2 * model->n_components;
        own->wide = *length = offset + whole_panels(2 * okn_place(model, model->n_components));
    } else {
        return okn_tree_unknown_class(model, "its kind of features", okn_tree_class(model, inner));
    }
    if (!status && own->used > MOST_FEATURES)
        return okn_tree_unknown(model, "so many features of least squares are not known");
    return status;
}

static int read_residuals(okn_t *model, const json_value *node)
{
    const json_value *state = okn_tree_argument(model, node, 0);
    residuals_type *own;
    int64_t seen, n;
    real *recent, *levels;
    if (!node || node->kind == JSON_NULL)
        return 0;
    own = model->squares->residuals = calloc(1, sizeof *own);
    if (!own || okn_json_whole(okn_tree_entry(model, state, "seen"), &seen) < 0 || seen < 0
        || model->n_outputs > 1)
        return okn_tree_damaged(model, "its residuals are none");
    own->seen = seen;
    n = seen < OKN_RESIDUALS ? seen : OKN_RESIDUALS;
    recent = numbers_of(model, state, "recent", n, 0);
    levels = numbers_of(model, state, "levels", OKN_LEVELS, 0);
    if (recent && levels) {
        memcpy(own->recent, recent, (size_t)n * sizeof *recent);
        memcpy(own->levels, levels, sizeof own->levels);
    }
    free(recent);
    free(levels);
    return recent && levels ? 0 : okn_tree_damaged(model, "its residuals are none");
}

static int make_scratch(okn_t *model)
{
    squares *own = model->squares;
    const size_t stride = (size_t)model->stride;
    own->solved = calloc(OKN_LANES * stride, sizeof(real));
    own->direction = calloc(stride, sizeof(real));
    own->substituted = calloc(OKN_LANES, sizeof(real));
    model->values = calloc((size_t)model->n_outputs * stride, sizeof(real));
    return own->solved && own->direction && own->substituted && model->values
               ? 0
               : okn_fail(model, OKN_NO_MEMORY, "no memory");
}

int okn_squares_read(okn_t *model, const json_value *space)
{
    const json_value *state = okn_tree_argument(model, space, 8);
    squares *own = model->squares = calloc(1, sizeof *own);
    int64_t length = 0, used;
    int status;
    if (!own)
        return okn_fail(model, OKN_NO_MEMORY, "no memory");
    model->space = &okn_squares_space;
    model->scale = 1;
    if (okn_tree_size(okn_tree_argument(model, space, 1), 1, MOST_COUNT / OKN_LANES,
                      &model->n_outputs)
            < 0
        || okn_json_real(okn_tree_argument(model, space, 3), &own->forgetting) < 0
        || !(own->forgetting > 0 && own->forgetting <= 1)
        || okn_json_whole(okn_tree_argument(model, space, 7), &own->entered) < 0)
        return okn_tree_damaged(model, "its least squares have no such numbers");
    status = read_map(model, okn_tree_argument(model, space, 0), &length);
    if (status)
        return status;
    model->stride = own->used > 0 ? (ptrdiff_t)own->used : 1;
    if (model->stride > MOST_COUNT / model->n_outputs
        || okn_json_whole(okn_tree_entry(model, state, "used"), &used) < 0
        || used != okn_squares_width(model))
        return okn_tree_damaged(model, "its least squares are not those of its features");
    status = read_sums(model, state, length);
    if (!status)
        status = read_block(model, state);
    if (!status)
        status = read_residuals(model, okn_tree_argument(model, space, 5));
    return status ? status : make_scratch(model);
}

void okn_squares_free(squares *own)
{
    if (!own)
        return;
    void *const owned[] = {
        own->whitening,   own->matrix,  own->vectors,        own->inverse,  own->weights,
        own->products,    own->rows,    own->factors,        own->innovations,
        own->targets,     own->evidence, own->sample_weights, own->residuals,
        own->direction,   own->solved,  own->substituted,
    };
    for (size_t j = 0; j < sizeof owned / sizeof *owned; j++)
        free(owned[j]);
    free(own);
}
