/* Kernel forests: trees over rows in units of their spread, and experts that learn their cells.
   The functions of loops.c name what stands here. */
#ifndef OKN_FOREST_H
#define OKN_FOREST_H

#include "model.h"

enum { OKN_MOST_EXPERTS = 16 };
/* What is known of targets: their number, up to OKN_MOST_HELD, mean error and deviation, and how far
   answers agreed with far ones, which alone may be negative, with its variance. */
enum { OKN_HELD = 5, OKN_AGREEMENT = 3, OKN_MOST_HELD = 200 };

/* A node is followed by its left subtree, of so many nodes, and that by the right one. */
typedef struct {
    float cut;
    uint16_t feature, left;
} trees_node;

/* Entries of a column that is looked up. */
typedef struct {
    int32_t source, column, first, size;
} trees_table;

/* The last samples, from which Python lets trees grow: d numbers, target and weight of each, in a
   ring whose oldest is number `oldest`. */
typedef struct {
    real *numbers;
    int64_t n, room, most, oldest;
    int is_read;
} samples;

typedef struct okn_forest {
    int32_t n_trees, n_experts, n_lower, n_both, record_length, n_labels;
    int32_t n_axes, n_directions, n_gaps, n_givers, n_tables, n_categories, n_groups, n_orders;
    int32_t n_bends;
    int64_t n_nodes, n_columns;
    real offset, unit, least_error;
    /* from a row to the numbers that trees cut */
    real *trees_center, *trees_factor, *trees_means, *trees_middles;
    real *trees_bend_centers, *trees_bend_factors;
    float *trees_directions, *trees_entries, *trees_guesses, *trees_places, *trees_missed, *trees_z;
    float *trees_bases, *trees_onsets;
    int32_t *trees_sources, *trees_givers, *trees_members, *trees_starts, *trees_bent, *categories;
    trees_table *trees_tables;
    trees_node *trees_nodes;
    int32_t *trees_sizes;
    /* what experts have learnt: records of leaves and of upper cells; their weights, the sums of
       products of their errors, and how many samples these are of; 1 / sqrt(number of cells of a
       row that an expert sees), and how many of the first trees it sees */
    float *leaves, *upper;
    real *combination, *noises, *expert_shares;
    int32_t *trees_seen;
    /* what is known of the targets, before and after the sample that is learnt, and what is learnt
       in its place; of classes, and in files of former versions, targets are not held */
    real held[OKN_HELD], held_next[OKN_HELD], aims[1];
    int holds;
    /* what calls overwrite */
    int32_t *leaf_of, *upper_of;
    real *scored, *expert_steps, *expert_variances, *expert_sums, *falls;
    /* of the file: its rule, and the cell of each node: number j of the leaves, -2 - j of the upper
       cells, -1: none */
    const json_value *rule;
    int32_t *cells;
    /* samples learnt, those of when the file was opened, and when its last renewal began */
    int64_t entered, first_entered, renewed, memory;
    int renews_anew;
    samples kept;
} forest;

int okn_forest_read(okn_t *model, const json_value *space);
void okn_forest_free(forest *own);
/* Where number k of an expert in the cell of a node is: its variance, then its weights. NULL if the
   node is no cell of this expert. */
float *okn_forest_number(const okn_t *model, int64_t node, int32_t expert, int32_t k);

/* Of forest_rows.c: arrays of finite numbers, and of whole ones from 0 to `most`, NULL if they are
   none; what becomes of a row, with -1 if that is nothing; and whether a row has numbers of
   categories where it should: 0, or OKN_BAD_CATEGORY. */
real *okn_forest_reals(const okn_t *model, const json_value *state, const char *key, int64_t count);
float *okn_forest_floats(const file_array *array);
int32_t *okn_forest_wholes(const file_array *array, int64_t most);
int okn_forest_read_rows(okn_t *model, const json_value *told, const json_value *state);
int okn_forest_check(const okn_t *model, const row *x);

/* Of loops.c: the weights of the experts that their errors give. */
void okn_forest_weigh(okn_t *model);

/* Of forest_samples.c: whether the arrays of the file are samples; room for one more; a sample that
   was learnt; and all that learning has changed, back into the file. */
int okn_forest_read_samples(okn_t *model, const json_value *space);
int okn_forest_make_room(okn_t *model);
void okn_forest_keep(okn_t *model, const row *x, real y, real weight);
int okn_forest_set(okn_t *model, const json_value *space);

#endif
