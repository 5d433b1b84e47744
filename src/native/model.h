/* A model in memory, and the parts of its step. The functions of loops.c name what stands here. */
#ifndef OKN_MODEL_H
#define OKN_MODEL_H

#include "file.h"
#include "okn.h"

#include <stddef.h>

enum { OKN_TEXT = 160, OKN_NAME = 40 };
typedef double real;

/* A row: n values, of the columns if there are some, else of the first n features. */
typedef struct {
    const real *values;
    const int32_t *columns;
    int32_t n;
} row;

/* Running mean and scale of the targets; the last ones in a row that were beyond reach. */
typedef struct {
    real weight, mean, squares, scale, far;
} target_type;

typedef struct {
    const char *name;
    real (*value)(okn_t *, real f, real y);
    real (*slope)(okn_t *, real f, real y);
    real (*demand)(okn_t *, real f, real y, real weight); /* NULL where there is none */
} loss_part;

typedef struct {
    const char *name;
    real (*size)(okn_t *, int64_t t);
} schedule_part;

/* The margin that is demanded, in deviations; the size of a coefficient; the margin from which on a
   sample is left alone; and how much the variance contracts. */
typedef struct {
    real (*quantile)(okn_t *, real importance);
    real (*alpha)(okn_t *, real m, real v, real importance);
    real (*bound)(okn_t *, real v, real importance);
    real (*contraction)(okn_t *, real alpha, real v, real importance);
} confidence_part;

typedef struct {
    const char *name;
    real (*coefficient)(okn_t *, real f, real y, real q, int64_t t, real importance);
    real (*contraction)(okn_t *, real f, real y, real q, real importance);
    const confidence_part *confidence; /* of CW and SCW */
} rule_part;

typedef struct {
    const char *name;
    real (*importance)(okn_t *, real f, real y, real weight, double *drawn);
} sampler_part;

typedef struct {
    const char *name;
    void (*solve)(okn_t *, const real *scores, real y, real weight);
    real (*wrong)(okn_t *, const real *scores, real y);
    real (*margin)(okn_t *, const real *scores, int32_t label); /* of least squares */
} head_part;

typedef struct {
    const char *name;
    real (*value)(okn_t *, const row *x, real norm, int32_t i);
    real (*diagonal)(okn_t *, const row *x);
    real (*norm_term)(okn_t *, const row *x); /* what files hold of a support vector's norm */
} kernel_part;

typedef struct {
    const char *name;
    void (*admit)(okn_t *, const row *x, const row *phi);
    int takes_turns; /* slots are taken in turn */
    int has_lengths, has_factor, has_covariance, notes_target;
} policy_part;

typedef struct {
    real (*product)(okn_t *, const real *numbers, const row *phi);
    void (*look)(okn_t *, const row *x, row *phi);
    real (*length_of)(okn_t *, const row *x);
} space_part;

typedef struct {
    real (*weight_of)(okn_t *, int64_t n);
    real (*sum_of_weights)(okn_t *, int64_t n);
} share_part;

/* Tables of loops.c; NULL where no part has the name. */
const loss_part *okn_loss(const json_value *name);
const schedule_part *okn_schedule(const json_value *name);
const rule_part *okn_rule(const json_value *name);
const sampler_part *okn_sampler(const json_value *name);
const head_part *okn_head(const json_value *name);
const kernel_part *okn_kernel(const json_value *name);
const policy_part *okn_policy(const json_value *name);

extern const space_part okn_linear_space, okn_mapped_space, okn_kernel_space, okn_squares_space;
extern const share_part okn_uniform_shares, okn_decay_shares, okn_exponential_shares;

struct okn_model {
    /* sizes: `stride` numbers for each output, so many at most of support vectors */
    ptrdiff_t n_outputs, n_features, stride, budget, n_components;
    int32_t n_classes;
    /* what kind of model it is */
    int is_linear, is_mapped, is_kernel, second_order, averaged, decays, is_single;
    int standardised, target_fixed, margins, has_factors, one_factor, has_norms, constant;
    const space_part *space;
    const kernel_part *kernel;
    const loss_part *loss;
    const schedule_part *schedule;
    const rule_part *rule;
    const sampler_part *sampler;
    const head_part *head;
    const policy_part *policy;
    const share_part *shares;
    /* numbers of the parts */
    real loss_delta, loss_epsilon, eta, power_of_time, rule_C, rule_r, rule_phi, regularisation;
    real margin, alpha, beta, sampler_weighted, largest_slope;
    real kernel_gamma, kernel_coef0, intercept, in_length, forgetting, growth;
    real smallest_scale, largest_scale, largest_coefficient, similarity;
    real policy_nu, policy_eta, policy_price, policy_unit, jitter;
    int32_t kernel_degree;
    int64_t period, skipped;
    real *class_factors, *sample_factors; /* of coefficients; of weights, or NULL */
    /* what it has learnt */
    real *values, *companions, *variances, *support_vectors, *support_norms, *lengths;
    real *map_frequencies, *factor, *covariance;
    int64_t *ages;
    real scale, total;
    int64_t seen, steps, lead, added, n_added;
    int32_t n_support;
    uint64_t generator[4];
    target_type target;
    /* what calls overwrite */
    real *dense_row, *features, *current, *predicting, *coefficients, *squared_lengths;
    real *directions, *contractions, *half, *solution, *gain, noted[1];
    struct okn_forest *forest;   /* of a forest, else NULL */
    struct okn_squares *squares; /* of recursive least squares, else NULL */
    struct okn_scaler *scalers;  /* in front of the learner */
    int32_t n_scalers;
    /* where it comes from */
    model_file file;
    const json_value *learner;
    int64_t first_seen, first_steps;
    int64_t began; /* samples before it had been given any: it may have begun anew */
    char **labels;
    const char *cannot_learn; /* NULL if it can */
    char reason[OKN_TEXT], error[OKN_TEXT + OKN_NAME + 2];
};

/* Make a model of the tree of its file, in model.c. */
int okn_make(okn_t *model);
/* Note what went wrong; returns the code. */
int okn_fail(okn_t *model, int code, const char *text);
/* Room for one more support vector. 0, or OKN_NO_MEMORY. */
int okn_make_room(okn_t *model);

/* Of loops.c: the scores, or a step, of a row that was read. */
/* As it is to be scored, or learnt: then scalers learn it. */
int okn_read_dense(okn_t *model, const real *x, int learns, row *out);
int okn_read_sparse(okn_t *model, const int32_t *columns, const real *values, int32_t n, int learns,
                    row *out);
int okn_finish(okn_t *model, const row *x, real *scores);
int okn_step(okn_t *model, const row *x, real y);
/* Of loops.c: kernel values, and what a kernel wants of a support vector; features of frequencies;
   a target in the units of those so far, which take it up. */
void okn_kernel_row(okn_t *model, const row *x, real *g);
real okn_support_norm(okn_t *model, const row *x);
void okn_fourier_features(okn_t *model, const row *x, real *z);
real okn_standardise_target(okn_t *model, real y);

#endif
