/* From a row to the numbers that trees cut: the core's `partitions.scale`, of files. */
#include "forest.h"
#include "tree.h"

#include <math.h>
#include <stdlib.h>

enum { MOST_NUMBERS = INT32_MAX - 64, MOST_CATEGORY = 65535, LEAST_ORDERS = 3, ANY_WIDTH = -1 };

/* The array of an entry, of so many numbers in rows of `wide`, or of any width; NULL without. */
static const file_array *rows_of(const okn_t *model, const json_value *state, const char *key,
                                 const char *dtype, int64_t wide)
{
    const json_value *node = okn_tree_entry(model, state, key);
    const file_array *array =
        okn_file_find(&model->file, okn_json_get(&model->file.tree, node, "array"));
    if (!array || array->count > MOST_NUMBERS || array->n_axes != (wide ? 2 : 1)
        || (wide > 0 && array->shape[1] != wide))
        return NULL;
    return okn_tree_array(model, node, dtype, array->count);
}

real *okn_forest_reals(const okn_t *model, const json_value *state, const char *key, int64_t count)
{
    return okn_tree_numbers(okn_tree_array(model, okn_tree_entry(model, state, key), "F64", count),
                            count, 0);
}

float *okn_forest_floats(const file_array *array)
{
    float *found = array ? calloc((size_t)array->count + 1, sizeof *found) : NULL;
    for (int64_t j = 0; found && j < array->count; j++) {
        found[j] = (float)okn_array_real(array, j);
        if (!isfinite(found[j])) {
            free(found);
            return NULL;
        }
    }
    return found;
}

int32_t *okn_forest_wholes(const file_array *array, int64_t most)
{
    int32_t *found = array ? calloc((size_t)array->count + 1, sizeof *found) : NULL;
    for (int64_t j = 0; found && j < array->count; j++) {
        const int64_t value = okn_array_whole(array, j);
        if (value < 0 || value > most) {
            free(found);
            return NULL;
        }
        found[j] = (int32_t)value;
    }
    return found;
}

/* Tables of categories; they add axes behind those of the features. */
static int read_tables(okn_t *model, const json_value *state)
{
    forest *own = model->forest;
    const int64_t d = model->n_features;
    const file_array *sources = rows_of(model, state, "table_sources", "I32", 0),
                     *columns = rows_of(model, state, "table_columns", "I32", 0),
                     *starts = rows_of(model, state, "table_starts", "I32", 0),
                     *entries = rows_of(model, state, "table_entries", "F32", 0);
    int64_t first = 0;
    if (!sources || !columns || !starts || !entries || columns->count != sources->count
        || starts->count != sources->count + 1 || okn_array_whole(starts, 0) != 0
        || okn_array_whole(starts, sources->count) != entries->count)
        return -1;
    own->n_tables = (int32_t)sources->count;
    own->trees_entries = okn_forest_floats(entries);
    own->trees_tables = calloc((size_t)own->n_tables + 1, sizeof *own->trees_tables);
    if (!own->trees_entries || !own->trees_tables)
        return -1;
    for (int32_t k = 0; k < own->n_tables; k++) {
        const int64_t source = okn_array_whole(sources, k), column = okn_array_whole(columns, k);
        const int64_t end = okn_array_whole(starts, k + 1);
        /* A column is that of its feature, or the next one behind all. */
        if (source < 0 || source >= d || (column != source && column != own->n_axes)
            || end < first + 2 || end > entries->count)
            return -1;
        own->n_axes += column != source;
        own->trees_tables[k].source = (int32_t)source;
        own->trees_tables[k].column = (int32_t)column;
        own->trees_tables[k].first = (int32_t)first;
        own->trees_tables[k].size = (int32_t)(end - first);
        first = end;
    }
    return 0;
}

/* Groups of one-hot columns, of three or more, in the places of the first of which are orders. */
static int read_groups(okn_t *model, const json_value *state)
{
    forest *own = model->forest;
    const int64_t d = model->n_features;
    const file_array *members = rows_of(model, state, "group_members", "I32", 0),
                     *starts = rows_of(model, state, "group_starts", "I32", 0),
                     *bases = rows_of(model, state, "group_bases", "F32", ANY_WIDTH),
                     *steps = rows_of(model, state, "group_steps", "F32", ANY_WIDTH);
    if (!members || !starts || !bases || !steps || members->count > d
        || starts->count != bases->shape[0] + 1 || steps->shape[0] != members->count
        || bases->shape[1] < LEAST_ORDERS || bases->shape[1] > MOST_NUMBERS
        || steps->shape[1] != bases->shape[1]
        || okn_array_whole(starts, 0) != 0
        || okn_array_whole(starts, starts->count - 1) != members->count)
        return -1;
    own->n_groups = (int32_t)bases->shape[0];
    own->n_orders = (int32_t)bases->shape[1];
    for (int32_t g = 0; g < own->n_groups; g++)
        if (okn_array_whole(starts, g + 1) < okn_array_whole(starts, g) + LEAST_ORDERS)
            return -1;
    own->trees_members = okn_forest_wholes(members, d - 1);
    own->trees_starts = okn_forest_wholes(starts, members->count);
    own->trees_middles = okn_forest_reals(model, state, "group_middles", members->count);
    own->trees_bases = okn_forest_floats(bases);
    own->trees_onsets = okn_forest_floats(steps);
    return own->trees_members && own->trees_starts && own->trees_middles && own->trees_bases
                   && own->trees_onsets
               ? 0
               : -1;
}

/* Features that are bent. */
static int read_bends(okn_t *model, const json_value *state)
{
    forest *own = model->forest;
    const file_array *features = rows_of(model, state, "bend_features", "I32", 0);
    if (!features || features->count > model->n_features)
        return -1;
    own->n_bends = (int32_t)features->count;
    own->trees_bent = okn_forest_wholes(features, model->n_features - 1);
    own->trees_bend_centers = okn_forest_reals(model, state, "bend_centers", features->count);
    own->trees_bend_factors = okn_forest_reals(model, state, "bend_factors", features->count);
    return own->trees_bent && own->trees_bend_centers && own->trees_bend_factors ? 0 : -1;
}

/* Guesses of missing values. */
static int read_gaps(okn_t *model, const json_value *state)
{
    forest *own = model->forest;
    const file_array *sources = rows_of(model, state, "gap_sources", "I32", 0),
                     *givers = rows_of(model, state, "gap_givers", "I32", 0);
    const file_array *guesses, *places, *missed;
    if (!sources || !givers || sources->count > model->n_features
        || givers->count > model->n_features)
        return -1;
    own->n_gaps = (int32_t)sources->count;
    own->n_givers = (int32_t)givers->count;
    if (!own->n_gaps)
        return 0;
    own->n_axes += 2;
    guesses = rows_of(model, state, "gap_guesses", "F32", own->n_givers);
    places = rows_of(model, state, "gap_places", "F32", 2);
    missed = rows_of(model, state, "gap_weights", "F32", 2);
    if (!guesses || !places || !missed || guesses->shape[0] != own->n_gaps
        || places->shape[0] != own->n_gaps || missed->shape[0] != own->n_gaps)
        return -1;
    own->trees_sources = okn_forest_wholes(sources, model->n_features - 1);
    own->trees_givers = okn_forest_wholes(givers, model->n_features - 1);
    own->trees_guesses = okn_forest_floats(guesses);
    own->trees_places = okn_forest_floats(places);
    own->trees_missed = okn_forest_floats(missed);
    own->trees_means = okn_forest_reals(model, state, "gap_means", 2);
    return own->trees_sources && own->trees_givers && own->trees_guesses && own->trees_places
                   && own->trees_missed && own->trees_means
               ? 0
               : -1;
}

/* The units of a row, what is looked up or guessed, and directions; -1 if they are none. */
static int read_scale(okn_t *model, const json_value *state)
{
    forest *own = model->forest;
    const json_value *node = okn_tree_entry(model, state, "directions");
    own->n_axes = (int32_t)model->n_features;
    if (read_tables(model, state) < 0 || read_groups(model, state) < 0
        || read_bends(model, state) < 0
        || read_gaps(model, state) < 0)
        return -1;
    if (node && node->kind != JSON_NULL) {
        const file_array *array =
            okn_file_find(&model->file, okn_json_get(&model->file.tree, node, "array"));
        if (!array || array->n_axes != 2 || array->shape[0] != own->n_axes
            || array->count > MOST_NUMBERS)
            return -1;
        own->n_directions = (int32_t)array->shape[1];
        own->trees_directions = okn_forest_floats(okn_tree_array(model, node, "F32", array->count));
        if (!own->trees_directions)
            return -1;
    }
    own->trees_center = okn_forest_reals(model, state, "center", model->n_features);
    own->trees_factor = okn_forest_reals(model, state, "factor", model->n_features);
    own->n_columns = (int64_t)own->n_axes + own->n_directions + 2 * (int64_t)own->n_gaps;
    own->trees_z = calloc((size_t)own->n_columns, sizeof *own->trees_z);
    return own->trees_center && own->trees_factor && own->trees_z ? 0 : -1;
}

static int read_categories(okn_t *model, const json_value *told)
{
    forest *own = model->forest;
    const json *tree = &model->file.tree;
    const json_value *items = okn_json_get(tree, okn_tree_item(model, told, "items", 18), "items");
    const int32_t n = items ? items->count : 0;
    ptrdiff_t found;
    own->categories = calloc((size_t)n + 1, sizeof *own->categories);
    for (int32_t j = 0; own->categories && j < n; j++) {
        if (okn_tree_size(okn_json_at(tree, items, j), 0, model->n_features - 1, &found) < 0)
            return -1;
        own->categories[j] = (int32_t)found;
    }
    own->n_categories = n;
    return own->categories ? 0 : -1;
}

int okn_forest_read_rows(okn_t *model, const json_value *told, const json_value *state)
{
    return read_scale(model, state) < 0 || read_categories(model, told) < 0 ? -1 : 0;
}

int okn_forest_check(const okn_t *model, const row *x)
{
    const forest *own = model->forest;
    for (int32_t j = 0; own && j < own->n_categories; j++) {
        const real value = x->values[own->categories[j]];
        if (value == value && !(value >= 0 && value <= MOST_CATEGORY && value == floor(value)))
            return OKN_BAD_CATEGORY;
    }
    return OKN_OK;
}
