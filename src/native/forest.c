/* Kernel forests of files: the core's `models.forest`, in the order of exported C. */
#include "forest.h"
#include "tree.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    MOST_NUMBERS = INT32_MAX - 64,
    MOST_OUTPUTS = 10000,
    UPPER_LEVEL = 4,
    UPPER_CELLS = 1 << UPPER_LEVEL,
};

/* Places of the nodes of a tree from left to right, parents in front: how many inner nodes are
   below each, its number among these, the leaves in front of it, and its way down from the root. */
typedef struct {
    int32_t below, size, place, leaves, turns;
} place;

/* Sizes of subtrees; -1 unless each node but the root has one parent, in front of it: so no walk
   goes round, and none is longer than the tree. */
static int measure_tree(place *nodes, int32_t n)
{
    int32_t inner = 0;
    for (int32_t i = 0; i < n; i++) {
        const int32_t below = nodes[i].below;
        if (below == i)
            continue;
        if (below < i || below + 1 >= n || nodes[below].turns || nodes[below + 1].turns)
            return -1;
        nodes[below].turns = nodes[below + 1].turns = 1;
        inner++;
    }
    if (n != 2 * inner + 1 || inner > UINT16_MAX)
        return -1;
    for (int32_t i = n - 1; i >= 0; i--)
        if (nodes[i].below != i)
            nodes[i].size = 1 + nodes[nodes[i].below].size + nodes[nodes[i].below + 1].size;
    return 0;
}

static void place_children(place *nodes, int32_t i)
{
    place *left = nodes + nodes[i].below, *right = left + 1;
    const int32_t turns = nodes[i].turns;
    left->place = nodes[i].place + 1;
    right->place = left->place + left->size;
    left->leaves = nodes[i].leaves;
    right->leaves = left->leaves + left->size + 1;
    left->turns = turns > 0 && turns < UPPER_CELLS ? 2 * turns : 0;
    right->turns = left->turns ? left->turns + 1 : 0;
}

/* Number the nodes and the cells of tree t, which begins at node `first` of the file and has so
   many inner nodes in front of it. */
static int read_tree(forest *own, place *nodes, int32_t n, int32_t t, int32_t first, int32_t before,
                     const file_array *cuts, const int32_t *features)
{
    if (measure_tree(nodes, n) < 0)
        return -1;
    nodes[0].place = nodes[0].leaves = 0;
    nodes[0].turns = 1;
    for (int32_t i = 0; i < n; i++) {
        const int is_leaf = nodes[i].below == i;
        const int is_upper = nodes[i].turns >= UPPER_CELLS;
        own->cells[first + i] = is_leaf    ? before + t + nodes[i].leaves
                                : is_upper ? -2 - (t * UPPER_CELLS + nodes[i].turns - UPPER_CELLS)
                                           : -1;
        if (is_leaf)
            continue;
        place_children(nodes, i);
        trees_node *node = own->trees_nodes + before + nodes[i].place;
        node->cut = (float)okn_array_real(cuts, first + i);
        node->feature = (uint16_t)features[first + i];
        node->left = (uint16_t)nodes[nodes[i].below].size;
    }
    own->trees_sizes[t] = nodes[0].size;
    return 0;
}

static int read_trees(okn_t *model, const int32_t *first, const int32_t *left,
                      const int32_t *features, const file_array *cuts)
{
    forest *own = model->forest;
    place *nodes = calloc((size_t)own->n_nodes, sizeof *nodes);
    int32_t before = 0;
    int wrong = !nodes || first[0] != 0 || first[own->n_trees] != own->n_nodes;
    for (int32_t t = 0; !wrong && t < own->n_trees; t++) {
        const int32_t n = first[t + 1] - first[t];
        wrong = n < 1 || first[t + 1] > own->n_nodes;
        for (int32_t i = 0; !wrong && i < n; i++)
            nodes[first[t] + i].below = left[first[t] + i];
        wrong =
            wrong || read_tree(own, nodes + first[t], n, t, first[t], before, cuts, features) < 0;
        before += own->trees_sizes[t];
    }
    free(nodes);
    return wrong ? -1 : 0;
}

static int read_nodes(okn_t *model, const json_value *state)
{
    forest *own = model->forest;
    const int64_t n = own->n_nodes, last = own->n_columns - 1;
    const int64_t most = last < UINT16_MAX ? last : UINT16_MAX;
    const file_array *ends = okn_tree_array(model, okn_tree_entry(model, state, "first"), "I32",
                                            (int64_t)own->n_trees + 1),
                     *below = okn_tree_array(model, okn_tree_entry(model, state, "left"), "I32", n),
                     *cuts = okn_tree_array(model, okn_tree_entry(model, state, "cuts"), "F32", n);
    int32_t *first = okn_forest_wholes(ends, n), *left = okn_forest_wholes(below, n);
    int32_t *features = okn_forest_wholes(
        okn_tree_array(model, okn_tree_entry(model, state, "features"), "I32", n), most);
    int wrong;
    own->trees_nodes = calloc((size_t)n, sizeof *own->trees_nodes);
    own->cells = calloc((size_t)n, sizeof *own->cells);
    own->trees_sizes = calloc((size_t)own->n_trees, sizeof *own->trees_sizes);
    wrong = !first || !left || !features || !cuts || !own->trees_nodes || !own->cells
            || !own->trees_sizes || read_trees(model, first, left, features, cuts) < 0;
    free(first);
    free(left);
    free(features);
    return wrong ? -1 : 0;
}

float *okn_forest_number(const okn_t *model, int64_t node, int32_t expert, int32_t k)
{
    const forest *own = model->forest;
    const int32_t cell = own->cells[node], outputs = (int32_t)model->n_outputs;
    const int32_t e = cell >= 0 ? expert : expert - own->n_lower;
    const int32_t experts = cell >= 0 ? own->n_experts : own->n_experts - own->n_lower;
    float *record = cell >= 0 ? own->leaves + (int64_t)cell * own->record_length
                              : own->upper + (int64_t)(-2 - cell) * own->n_both;
    if (cell == -1 || e < 0)
        return NULL;
    return record + (k > 0 ? e * outputs + k - 1 : experts * outputs + e);
}

/* The cells' numbers, which are 0 for experts that do not see their tree. */
static int read_cells(okn_t *model, const json_value *state)
{
    forest *own = model->forest;
    const int32_t width = 1 + (int32_t)model->n_outputs;
    const int64_t each = (int64_t)own->n_experts * width,
                  n_leaves = (own->n_nodes + own->n_trees) / 2;
    const json_value *node = okn_tree_entry(model, state, "cells");
    float *numbers = okn_forest_floats(okn_tree_array(model, node, "F32", own->n_nodes * each));
    int32_t *first = okn_forest_wholes(okn_tree_array(model, okn_tree_entry(model, state, "first"),
                                                      "I32", (int64_t)own->n_trees + 1),
                                       own->n_nodes);
    int32_t t = 0;
    int wrong;
    own->leaves = calloc((size_t)(n_leaves * own->record_length), sizeof *own->leaves);
    own->upper =
        calloc((size_t)((int64_t)own->n_trees * UPPER_CELLS * own->n_both) + 1, sizeof *own->upper);
    wrong = !numbers || !first || !own->leaves || !own->upper;
    for (int64_t j = 0; !wrong && j < own->n_nodes * each; j++) {
        const int32_t e = (int32_t)(j % each / width);
        float *place = okn_forest_number(model, j / each, e, (int32_t)(j % width));
        while (j / each >= first[t + 1])
            t++;
        if (place) {
            *place = numbers[j];
            wrong = numbers[j] != 0 && t >= own->trees_seen[e];
        }
    }
    free(numbers);
    free(first);
    return wrong ? -1 : 0;
}

/* How many of the first trees an expert sees: all, where a file does not tell. */
static int read_share(okn_t *model, const json_value *told, int32_t e)
{
    forest *own = model->forest;
    const json_value *seen =
        okn_json_get(&model->file.tree, okn_tree_item(model, told, "items", 24), "items");
    ptrdiff_t n_seen = own->n_trees;
    if (seen && seen->count > 0
        && (seen->count != own->n_experts
            || okn_tree_size(okn_json_at(&model->file.tree, seen, e), 1, own->n_trees, &n_seen) < 0))
        return -1;
    own->trees_seen[e] = (int32_t)n_seen;
    own->expert_shares[e] = 1 / sqrt((e < own->n_lower ? 1.0 : 2.0) * (double)n_seen);
    return 0;
}

/* Noises and levels of the experts, and the weights of their scores. */
static int read_experts(okn_t *model, const json_value *told, const json_value *state)
{
    forest *own = model->forest;
    const json *tree = &model->file.tree;
    const json_value *noises = okn_json_get(tree, okn_tree_item(model, told, "items", 5), "items");
    const json_value *levels = okn_json_get(tree, okn_tree_item(model, told, "items", 6), "items");
    const int64_t outputs = model->n_outputs;
    int64_t n;
    real *errors;
    if (!noises || !levels || noises->count < 1 || levels->count < 1
        || noises->count > OKN_MOST_EXPERTS || levels->count > OKN_MOST_EXPERTS
        || noises->count * levels->count > OKN_MOST_EXPERTS)
        return -1;
    n = own->n_experts = noises->count * levels->count;
    for (int32_t j = 0; j < levels->count; j++)
        own->n_lower += okn_tree_true(okn_json_at(tree, levels, j)) ? 0 : noises->count;
    own->record_length = (int32_t)(n * (1 + outputs));
    own->n_both = (int32_t)((n - own->n_lower) * (1 + outputs));
    if (own->n_nodes + UPPER_CELLS * (int64_t)own->n_trees > MOST_NUMBERS / own->record_length)
        return -1;
    own->noises = calloc((size_t)n, sizeof(real));
    own->expert_shares = calloc((size_t)n, sizeof(real));
    own->trees_seen = calloc((size_t)n, sizeof *own->trees_seen);
    own->combination = calloc((size_t)(n * (n + 1) + 1), sizeof(real));
    errors = okn_forest_reals(model, state, "errors", n * n);
    if (!own->noises || !own->expert_shares || !own->trees_seen || !own->combination
        || !errors
        || okn_json_real(okn_tree_entry(model, state, "met"), own->combination + n * (n + 1)) < 0) {
        free(errors);
        return -1;
    }
    memcpy(own->combination + n, errors, (size_t)(n * n) * sizeof(real));
    free(errors);
    for (int32_t e = 0; e < n; e++)
        if (okn_json_real(okn_json_at(tree, noises, e % noises->count), &own->noises[e]) < 0
            || !(own->noises[e] > 0) || read_share(model, told, e) < 0)
            return -1;
    okn_forest_weigh(model);
    return 0;
}

/* What is known of the targets, if the file says it; refused as `HeldTargets` refuses it. */
static int read_held(okn_t *model, const json_value *state)
{
    forest *own = model->forest;
    real *found;
    const json_value *entry = okn_tree_entry(model, state, "held");
    own->holds = own->n_labels == 0 && entry && !okn_tree_array(model, entry, "F64", 0);
    if (!own->holds)
        return 0;
    found = okn_forest_reals(model, state, "held", OKN_HELD);
    if (!found)
        return -1;
    memcpy(own->held, found, sizeof own->held);
    free(found);
    for (int32_t j = 0; j < OKN_HELD; j++)
        if (j != OKN_AGREEMENT && !(own->held[j] >= 0))
            return -1;
    return own->held[0] <= OKN_MOST_HELD ? 0 : -1;
}

/* What calls overwrite. */
static int make_room(okn_t *model)
{
    forest *own = model->forest;
    const size_t scores = (size_t)own->n_experts * (size_t)model->n_outputs;
    own->leaf_of = calloc((size_t)own->n_trees, sizeof(int32_t));
    own->upper_of = calloc((size_t)own->n_trees, sizeof(int32_t));
    own->scored = calloc(scores, sizeof(real));
    own->expert_steps = calloc(scores, sizeof(real));
    own->expert_variances = calloc((size_t)own->n_experts, sizeof(real));
    own->falls = calloc((size_t)own->n_experts, sizeof(real));
    own->expert_sums = calloc((size_t)own->record_length + (size_t)own->n_both + 1, sizeof(real));
    return own->leaf_of && own->upper_of && own->scored && own->expert_steps
                   && own->expert_variances && own->falls && own->expert_sums
               ? 0
               : -1;
}

static int read_sizes(okn_t *model, const json_value *told, const json_value *state)
{
    forest *own = model->forest;
    const json_value *cuts = okn_tree_entry(model, state, "cuts");
    const file_array *nodes =
        okn_file_find(&model->file, okn_json_get(&model->file.tree, cuts, "array"));
    ptrdiff_t n_trees, n_labels;
    if (okn_tree_size(okn_tree_item(model, told, "items", 2), 1, MOST_OUTPUTS, &model->n_outputs)
            < 0
        || okn_tree_size(okn_tree_item(model, told, "items", 3), 0, MOST_NUMBERS, &n_labels) < 0
        || okn_tree_size(okn_tree_item(model, told, "items", 7), 1, MOST_NUMBERS, &n_trees) < 0
        || !nodes || nodes->count > MOST_NUMBERS || n_trees > nodes->count
        || n_labels != model->n_classes)
        return -1;
    own->n_trees = (int32_t)n_trees;
    own->n_nodes = nodes->count;
    own->n_labels = (int32_t)n_labels;
    own->least_error = n_labels > 0 ? 1 : 0;
    model->stride = model->n_outputs;
    return 0;
}

int okn_forest_read(okn_t *model, const json_value *space)
{
    const json_value *told = okn_tree_argument(model, space, 0),
                     *state = okn_tree_argument(model, space, 1);
    forest *own = model->forest = calloc(1, sizeof *own);
    if (!own)
        return okn_fail(model, OKN_NO_MEMORY, "no memory");
    if (okn_json_real(okn_tree_entry(model, state, "offset"), &own->offset) < 0
        || okn_json_real(okn_tree_entry(model, state, "unit"), &own->unit) < 0)
        return okn_tree_unknown(model, "forests of several targets are not known");
    own->rule = okn_tree_item(model, told, "items", 4);
    if (!(own->unit > 0) || read_sizes(model, told, state) < 0
        || okn_forest_read_rows(model, told, state) < 0 || read_nodes(model, state) < 0
        || read_experts(model, told, state) < 0 || read_cells(model, state) < 0
        || read_held(model, state) < 0 || make_room(model) < 0)
        return okn_tree_damaged(model, "the trees of its forest are none");
    if (okn_forest_read_samples(model, space) < 0)
        return okn_tree_damaged(model, "the samples of its forest are none");
    /* Till then the experts of targets have no weights: they have no unit to be weighed in. */
    if (own->renewed == 0)
        okn_forbid(model, "its trees have not grown yet: Python must have learnt 32 samples");
    return 0;
}

void okn_forest_free(forest *own)
{
    if (!own)
        return;
    void *const owned[] = {
        own->trees_center,  own->trees_factor,  own->trees_means,  own->trees_directions,
        own->trees_entries, own->trees_guesses, own->trees_places, own->trees_missed,
        own->trees_z,       own->trees_sources, own->trees_givers, own->categories,
        own->trees_tables,  own->trees_nodes,   own->trees_sizes,  own->leaves,
        own->upper,         own->combination,   own->noises,       own->leaf_of,
        own->upper_of,      own->scored,        own->expert_steps, own->expert_variances,
        own->expert_sums,   own->falls,         own->cells,        own->kept.numbers,
        own->trees_middles, own->trees_bases,   own->trees_onsets, own->trees_members,
        own->trees_starts,  own->trees_bent,    own->trees_bend_centers, own->trees_bend_factors,
        own->expert_shares, own->trees_seen,
    };
    for (size_t j = 0; j < sizeof owned / sizeof *owned; j++)
        free(owned[j]);
    free(own);
}
