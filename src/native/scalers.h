/* Scalers in front of a learner: `OnlineStandardScaler` of a `StreamPipeline`. */
#ifndef OKN_SCALERS_H
#define OKN_SCALERS_H

#include "model.h"

/* Rows are counted in units of a weight that grows instead of those of rows before. */
typedef struct {
    real unit, total;
    int64_t count;
} tally_type;

typedef struct okn_scaler {
    const json_value *node;
    int centred, divides;
    real limit, forgetting;
    tally_type tally, tally_before;
    /* means, or nothing, then variances, or sums of squares; as many of before the last row */
    real *moments, *before;
} scaler;

/* The steps of a pipeline: counts its scalers, and gives its learner. 0, or a code of okn.h. */
int okn_scalers_find(okn_t *model, const json_value *pipeline, const json_value **learner);
/* What they have learnt; the number of features is known. */
int okn_scalers_read(okn_t *model);
/* Scale a row in its place, after it was learnt if it is to be. 0, or OKN_NOT_FINITE. */
int okn_scalers_apply(okn_t *model, real *x, int learns);
/* Forget the row that was learnt last. */
void okn_scalers_undo(okn_t *model);
int okn_scalers_set(okn_t *model);
void okn_scalers_free(okn_t *model);

#endif
