/* Scores of forests: trees over a row in units of its spread, and weights of their leaves. */
#ifndef OKN_FOREST_H
#define OKN_FOREST_H

#include "model.h"

typedef struct okn_forest {
    int64_t n_nodes, n_directions;
    int32_t n_trees;
    real offset;
    real *center, *factor, *directions, *cuts, *weights; /* weights: a row for each node */
    int32_t *features, *below, *roots;                   /* a leaf is below itself */
    float *z;
} forest;

int okn_forest_read(okn_t *model, const json_value *space);
void okn_forest_free(forest *own);

#endif
