/* The samples that a forest keeps, and what learning changes back into its file.

   Trees grow in Python. Renewals that fall due meanwhile wait for it: its next sample begins the
   last one, from the samples that are kept here, and what follows is learnt by the new trees too.
 */
#include "forest.h"
#include "tree.h"

#include <stdlib.h>
#include <string.h>

/* As in the core. */
enum { FIRST_RENEWAL = 32 };
static const int64_t MOST_SAMPLES = INT64_C(1) << 48;

static file_array *array_of(const okn_t *model, const json_value *state, const char *key)
{
    const json_value *node = okn_tree_entry(model, state, key);
    return okn_file_find(&model->file, okn_json_get(&model->file.tree, node, "array"));
}

/* The array of the rows; NULL if there are not as many targets and weights. */
static file_array *rows_of(const okn_t *model, const json_value *state)
{
    const json_value *node = okn_tree_entry(model, state, "rows");
    file_array *rows = array_of(model, state, "rows");
    if (!rows || rows->n_axes != 2 || rows->shape[1] != model->n_features
        || !okn_tree_array(model, node, model->is_single ? "F32" : "F64", rows->count)
        || !okn_tree_array(model, okn_tree_entry(model, state, "targets"), "F64", rows->shape[0])
        || !okn_tree_array(model, okn_tree_entry(model, state, "weights"), "F64", rows->shape[0]))
        return NULL;
    return rows;
}

int okn_forest_read_samples(okn_t *model, const json_value *space)
{
    const json_value *told = okn_tree_argument(model, space, 0),
                     *state = okn_tree_argument(model, space, 1);
    forest *own = model->forest;
    const file_array *rows = rows_of(model, state);
    if (!rows || okn_json_whole(okn_tree_entry(model, state, "entered"), &own->entered) < 0
        || okn_json_whole(okn_tree_entry(model, state, "renewed"), &own->renewed) < 0
        || okn_json_whole(okn_tree_item(model, told, "items", 12), &own->memory) < 0
        || own->entered < rows->shape[0] || own->entered > MOST_SAMPLES || own->renewed < 0
        || own->memory < 1 || own->memory > MOST_SAMPLES)
        return -1;
    own->first_entered = own->entered;
    own->renews_anew = okn_tree_true(okn_tree_item(model, told, "items", 16));
    own->kept.n = rows->shape[0];
    own->kept.most = own->kept.n > own->memory ? own->kept.n : own->memory;
    return 0;
}

static real *sample(const okn_t *model, int64_t number)
{
    const samples *own = &model->forest->kept;
    return own->numbers + (own->oldest + number) % own->most * (model->n_features + 2);
}

static const json_value *state_of(const okn_t *model)
{
    const json_value *told = okn_tree_argument(model, okn_tree_model(model), 0);
    return okn_tree_argument(model, okn_tree_item(model, told, "items", 0), 1);
}

/* The samples of the file, which nobody needs before the first one is learnt. */
static void read_kept(okn_t *model)
{
    const json_value *state = state_of(model);
    const file_array *rows = rows_of(model, state), *targets = array_of(model, state, "targets"),
                     *weights = array_of(model, state, "weights");
    const int64_t d = model->n_features;
    for (int64_t i = 0; i < model->forest->kept.n; i++) {
        real *place = sample(model, i);
        for (int64_t j = 0; j < d; j++)
            place[j] = okn_array_real(rows, i * d + j);
        place[d] = okn_array_real(targets, i);
        place[d + 1] = okn_array_real(weights, i);
    }
}

int okn_forest_make_room(okn_t *model)
{
    samples *own = &model->forest->kept;
    const int64_t wide = model->n_features + 2, doubled = 2 * own->n + 64;
    const int64_t room = doubled < own->most ? doubled : own->most;
    real *numbers;
    if (own->n < own->room || own->room == own->most)
        return OKN_OK;
    if (room > INT64_MAX / 16 / wide)
        return OKN_NO_MEMORY;
    numbers = realloc(own->numbers, (size_t)(room * wide) * sizeof *numbers);
    if (!numbers)
        return OKN_NO_MEMORY;
    own->numbers = numbers;
    own->room = room;
    if (!own->is_read)
        read_kept(model);
    own->is_read = 1;
    return OKN_OK;
}

void okn_forest_keep(okn_t *model, const row *x, real y, real weight)
{
    samples *own = &model->forest->kept;
    const int64_t d = model->n_features;
    real *place;
    if (own->n == own->most)
        own->oldest = (own->oldest + 1) % own->most;
    else
        own->n++;
    place = sample(model, own->n - 1);
    memcpy(place, x->values, (size_t)d * sizeof *place);
    place[d] = y;
    place[d + 1] = weight;
    model->forest->entered++;
}

/* At how many samples, of at most `entered`, a renewal was last due: as in the core. */
static int64_t last_due(const forest *own, int64_t entered)
{
    int64_t number = FIRST_RENEWAL;
    if (own->renews_anew && entered >= own->memory)
        return entered / own->memory * own->memory;
    while (2 * number <= entered)
        number *= 2;
    return number;
}

/* Note where renewals are. One that waits is left out when less than half of the samples that it
   would grow from are still kept; the next one finds all of them. */
static void set_renewals(okn_t *model, const json_value *state)
{
    const forest *own = model->forest;
    const int64_t due = last_due(own, own->entered);
    const int64_t before = own->kept.n - (own->entered - due);
    const int64_t wanted = due < own->memory ? due : own->memory;
    const int is_left_out = due > own->renewed && 2 * before < wanted;
    okn_tree_set_whole(okn_tree_value(model, state, "entered"), own->entered);
    if (is_left_out)
        okn_tree_set_whole(okn_tree_value(model, state, "renewed"), due);
    /* Trees that another renewal has cut are not those of this one. */
    if (is_left_out || due != last_due(own, own->first_entered))
        okn_tree_set_whole(okn_tree_value(model, state, "n_grown"), 0);
}

static int set_samples(okn_t *model, const json_value *state)
{
    file_array *rows = array_of(model, state, "rows"), *targets = array_of(model, state, "targets"),
               *weights = array_of(model, state, "weights");
    const int64_t n = model->forest->kept.n, d = model->n_features;
    if (okn_array_resize(rows, 0, n) || okn_array_resize(targets, 0, n)
        || okn_array_resize(weights, 0, n))
        return OKN_NO_MEMORY;
    for (int64_t i = 0; i < n; i++) {
        const real *place = sample(model, i);
        for (int64_t j = 0; j < d; j++)
            okn_array_set_real(rows, i * d + j, place[j]);
        okn_array_set_real(targets, i, place[d]);
        okn_array_set_real(weights, i, place[d + 1]);
    }
    return OKN_OK;
}

static int set_cells(okn_t *model, const json_value *state)
{
    const forest *own = model->forest;
    file_array *cells = array_of(model, state, "cells");
    const int32_t width = 1 + (int32_t)model->n_outputs;
    const int64_t each = (int64_t)own->n_experts * width;
    if (okn_array_resize(cells, OKN_MOST_AXES, 0))
        return OKN_NO_MEMORY;
    for (int64_t j = 0; j < own->n_nodes * each; j++) {
        const float *number =
            okn_forest_number(model, j / each, (int32_t)(j % each / width), (int32_t)(j % width));
        /* A node that is no cell has no weight, and the variance 1. */
        okn_array_set_real(cells, j, number ? *number : j % width == 0);
    }
    return OKN_OK;
}

int okn_forest_set(okn_t *model, const json_value *space)
{
    const json_value *state = okn_tree_argument(model, space, 1);
    const forest *own = model->forest;
    const int64_t n = own->n_experts;
    file_array *errors = array_of(model, state, "errors"),
               *held = own->holds ? array_of(model, state, "held") : NULL;
    if (set_samples(model, state) || set_cells(model, state)
        || okn_array_resize(errors, OKN_MOST_AXES, 0)
        || (held && okn_array_resize(held, OKN_MOST_AXES, 0)))
        return OKN_NO_MEMORY;
    for (int64_t j = 0; j < n * n; j++)
        okn_array_set_real(errors, j, own->combination[n + j]);
    okn_tree_set_real(okn_tree_value(model, state, "met"), own->combination[n * (n + 1)]);
    for (int64_t j = 0; held && j < OKN_HELD; j++)
        okn_array_set_real(held, j, own->held[j]);
    set_renewals(model, state);
    return OKN_OK;
}
