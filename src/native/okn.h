/* libonlinekern: models of onlinekern in C, without Python. docs/native.md says how.

   A model belongs to its caller: no function has memory of its own. One thread at a time may call
   with a model; any number of models may be used at once. */
#ifndef OKN_H
#define OKN_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What functions return: 0, or one of the others, after which the model is as it was. */
enum {
    OKN_OK = 0,
    OKN_NOT_FINITE = -1,   /* infinity or NaN in the row or the target, or a score that would be;
                              NaN in the row of a forest is a missing value */
    OKN_BAD_COLUMN = -2,   /* columns do not ascend, or are none of the features */
    OKN_BAD_LABEL = -3,    /* no class has the number */
    OKN_NO_MEMORY = -4,
    OKN_CANNOT_READ = -5,  /* the file cannot be opened or read */
    OKN_BAD_FILE = -6,     /* the file is no model, or damaged */
    OKN_NOT_KNOWN = -7,    /* a part of the model that this library lacks */
    OKN_CANNOT_LEARN = -8, /* a model that is scored only */
    OKN_CANNOT_WRITE = -9,
    OKN_BAD_CATEGORY = -10, /* no number of a category, 0 ... 65535, or NaN */
};

typedef struct okn_model okn_t;

/* Open a file of `save`. Also after an error *out is a model: okn_error tells what was wrong, and
   okn_close frees it. It is NULL if there was no memory for that. */
int okn_open(const char *path, okn_t **out);
void okn_close(okn_t *model);

/* What went wrong in the last call with the model that failed; "" if none did. */
const char *okn_error(const okn_t *model);

int32_t okn_n_features(const okn_t *model);
/* How many scores there are: 1 of a regressor or of two classes. */
int32_t okn_n_outputs(const okn_t *model);
/* 0 of a regressor. */
int32_t okn_n_classes(const okn_t *model);
/* The label of a class number as text, which lives as long as the model; NULL if there is none. */
const char *okn_label(const okn_t *model, int32_t number);
/* How many samples it has learnt. */
int64_t okn_n_seen(const okn_t *model);

/* Write what decision_function gives (a regressor: predict) for a row. */
int okn_score(okn_t *model, const double *x, double *scores);
/* The same of a sparse row: n ascending columns from 0 on, and their values. */
int okn_score_sparse(okn_t *model, const int32_t *columns, const double *values, int32_t n,
                     double *scores);
/* The class number of a row, or a negative code. */
int32_t okn_predict(okn_t *model, const double *x);

/* Learn one sample: y is the class number, or the target. */
int okn_learn(okn_t *model, const double *x, double y);
int okn_learn_sparse(okn_t *model, const int32_t *columns, const double *values, int32_t n,
                     double y);
/* 0, or OKN_CANNOT_LEARN with a reason in okn_error. */
int okn_can_learn(okn_t *model);

/* Write the model as it is now, for this library or onlinekern.load. The old file stays until the
   new one is whole. */
int okn_save(okn_t *model, const char *path);

#ifdef __cplusplus
}
#endif

#endif
