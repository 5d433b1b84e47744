/* Scoring and learning: what chooses among the parts of a model, around the loops that exported C
   has too. */
#include "forest.h"
#include "scalers.h"
#include "squares.h"

#include <math.h>
#include <string.h>

static real loss_value(okn_t *model, real f, real y)
{
    return model->loss->value(model, f, y);
}

static real loss_slope(okn_t *model, real f, real y)
{
    return model->loss->slope(model, f, y);
}

static real loss_demand(okn_t *model, real f, real y, real weight)
{
    return model->loss->demand(model, f, y, weight);
}

static real step_size(okn_t *model, int64_t t)
{
    return model->schedule->size(model, t);
}

static real rule_coefficient(okn_t *model, real f, real y, real q, int64_t t, real importance)
{
    return model->rule->coefficient(model, f, y, q, t, importance);
}

static real rule_contraction(okn_t *model, real f, real y, real q, real importance)
{
    /* NULL of first order */
    return model->rule->contraction ? model->rule->contraction(model, f, y, q, importance) : 0;
}

static real sampler(okn_t *model, real f, real y, real weight, double *drawn)
{
    return model->sampler->importance(model, f, y, weight, drawn);
}

static void solve_all(okn_t *model, const real *scores, real y, real weight)
{
    model->head->solve(model, scores, y, weight);
}

static real wrong(okn_t *model, const real *scores, real y)
{
    return model->head->wrong(model, scores, y);
}

static real product(okn_t *model, const real *numbers, const row *phi)
{
    return model->space->product(model, numbers, phi);
}

static void look(okn_t *model, const row *x, row *phi)
{
    model->space->look(model, x, phi);
}

static real length_of(okn_t *model, const row *x)
{
    return model->space->length_of(model, x);
}

static real weight_of(okn_t *model, int64_t n)
{
    return model->shares->weight_of(model, n);
}

static real sum_of_weights(okn_t *model, int64_t n)
{
    return model->shares->sum_of_weights(model, n);
}

static real support_kernel(okn_t *model, const row *x, real norm, int32_t i)
{
    return model->kernel->value(model, x, norm, i);
}

static real kernel_diagonal(okn_t *model, const row *x)
{
    return model->kernel->diagonal(model, x);
}

static void admit(okn_t *model, const row *x, const row *phi)
{
    model->policy->admit(model, x, phi);
}

static real quantile(okn_t *model, real importance)
{
    return model->rule->confidence->quantile(model, importance);
}

static real alpha_of(okn_t *model, real m, real v, real importance)
{
    return model->rule->confidence->alpha(model, m, v, importance);
}

static real bound(okn_t *model, real v, real importance)
{
    return model->rule->confidence->bound(model, v, importance);
}

static real contraction_of(okn_t *model, real alpha, real v, real importance)
{
    return model->rule->confidence->contraction(model, alpha, v, importance);
}

static real kernel_norm(okn_t *model, const row *x);
static void fold(okn_t *model, real factor);
static void model_scores(okn_t *model, const row *phi, real *current, real *predicting);
static void add(okn_t *model, int32_t k, const row *phi, real step);
static void measure(okn_t *model, const row *x);
static void update(okn_t *model, const row *x, const row *phi);
static void shrink_before(okn_t *model, int64_t t);
static void count_model(okn_t *model, int64_t led);
static real noted_of(okn_t *model, real y, real weight);
static int takes(okn_t *model, const real *values, int32_t n);

#include "loops.inc"

/* NaN is a missing value to a forest. Scalers know none. */
static int takes(okn_t *model, const real *values, int32_t n)
{
    return model->forest && !model->n_scalers ? none_infinite(values, n) : all_finite(values, n);
}

static real kernel_norm(okn_t *model, const row *x)
{
    return model->has_norms ? inverse_norm(x) : 0;
}

static void fold(okn_t *model, real factor)
{
    if (model->averaged)
        averaged_fold(model, factor);
    else
        plain_fold(model, factor);
}

static void model_scores(okn_t *model, const row *phi, real *current, real *predicting)
{
    if (model->averaged)
        averaged_model_scores(model, phi, current, predicting);
    else
        plain_model_scores(model, phi, current, predicting);
}

static void add(okn_t *model, int32_t k, const row *phi, real step)
{
    if (model->averaged)
        averaged_add(model, k, phi, step);
    else
        plain_add(model, k, phi, step);
}

static void measure(okn_t *model, const row *x)
{
    if (model->second_order)
        second_measure(model, x);
    else
        first_measure(model, x);
}

static void update(okn_t *model, const row *x, const row *phi)
{
    if (model->is_kernel) {
        admit(model, x, phi);
        return;
    }
    for (int32_t k = 0; k < model->n_outputs; k++) {
        if (!(model->coefficients[k] < 0 || model->coefficients[k] > 0))
            continue;
        if (model->second_order)
            move(model, k, x);
        else
            add(model, k, phi, model->coefficients[k]);
    }
}

/* What a policy wants to know of a sample. */
static real noted_of(okn_t *model, real y, real weight)
{
    return model->policy && model->policy->notes_target ? y - model->current[0] : weight;
}

/* The model shrinks before sample number t. */
static void shrink_before(okn_t *model, int64_t t)
{
    if (!strcmp(model->rule->name, "Pegasos")) {
        shrink(model, (real)(t - 1) / (real)t);
    } else if (model->regularisation > 0 && !strcmp(model->rule->name, "Gradient")) {
        const real factor = 1 - step_size(model, t) * model->regularisation;
        shrink(model, factor > 0 ? factor : 0);
    }
}

static void count_model(okn_t *model, int64_t led)
{
    if (!model->averaged)
        return;
    advance(model, led > model->lead ? led : 0);
    if (model->decays)
        model->lead = led;
}

static real no_norm(okn_t *model, const row *x)
{
    (void)model;
    (void)x;
    return 0;
}

static real square_norm(okn_t *model, const row *x)
{
    return model->kernel_gamma * square(x);
}

static real absolute_norm(okn_t *model, const row *x)
{
    return model->kernel_gamma * absolute(x);
}

#define LOSS(name, demand) {#name, name##_value, name##_slope, demand}
static const loss_part LOSSES[] = {
    LOSS(PerceptronLoss, NULL), LOSS(Hinge, Hinge_demand), LOSS(SquaredHinge, NULL),
    LOSS(SmoothHinge, NULL),    LOSS(Logistic, NULL),      LOSS(Exponential, NULL),
    LOSS(Squared, NULL),        LOSS(Huber, NULL),
    LOSS(EpsilonInsensitive, EpsilonInsensitive_demand),
    /* with an epsilon of 0 */
    {"Absolute", EpsilonInsensitive_value, EpsilonInsensitive_slope, EpsilonInsensitive_demand},
};
static const schedule_part SCHEDULES[] = {
    {"Schedule", Schedule_size},
    {"InverseSquareRoot", InverseSquareRoot_size},
    {"Inverse", Inverse_size},
    {"Power", Power_size},
};
#define RULE(name) {#name, name##_coefficient, NULL, NULL}
static const confidence_part EXACT = {ConfidenceWeighted_quantile, ConfidenceWeighted_alpha,
                                      deviation_bound, deviation_contraction},
                             OF_VARIANCE = {VarianceConfidenceWeighted_quantile,
                                            VarianceConfidenceWeighted_alpha, variance_bound,
                                            variance_contraction},
                             SOFT_1 = {soft_quantile, SoftConfidenceWeighted1_alpha,
                                       deviation_bound, deviation_contraction},
                             SOFT_2 = {soft_quantile, SoftConfidenceWeighted2_alpha,
                                       deviation_bound, deviation_contraction};
#define CONFIDENT(name, parts) {#name, confidence_coefficient, confidence_contraction, &parts}
static const rule_part RULES[] = {
    RULE(Perceptron), RULE(Gradient), RULE(PassiveAggressive), RULE(PassiveAggressive1),
    RULE(PassiveAggressive2), RULE(ScaledPassiveAggressive1), RULE(ScaledPassiveAggressive2),
    RULE(EverySample), RULE(MarginPerceptron),
    {"Pegasos", Gradient_coefficient, NULL, NULL},
    {"AROW", AROW_coefficient, AROW_contraction, NULL},
    CONFIDENT(ConfidenceWeighted, EXACT), CONFIDENT(VarianceConfidenceWeighted, OF_VARIANCE),
    CONFIDENT(SoftConfidenceWeighted1, SOFT_1), CONFIDENT(SoftConfidenceWeighted2, SOFT_2),
};
static const sampler_part SAMPLERS[] = {
    {"Gate", Sampler_importance}, /* of the class Sampler */
    {"WithinMargin", WithinMargin_importance},
    {"LossProportional", LossProportional_importance},
    {"SlopeProportional", SlopeProportional_importance},
};
static const head_part HEADS[] = {
    {"Head", Head_solve, wrong_target, NULL},
    {"Standardized", Head_solve, wrong_target, NULL},
    {"Binary", Binary_solve, wrong_sign, NULL},
    {"OneVsRest", OneVsRest_solve, wrong_class, NULL},
    {"Margin", Margin_solve, wrong_class, NULL},
    {"Joint", NULL, wrong_class, margin_over_rival},
    {"JointOneVsRest", NULL, wrong_class, margin_over_zero},
};
static const kernel_part KERNELS[] = {
    {"Gaussian", gaussian_kernel, gaussian_diagonal, square_norm},
    {"EuclideanLaplacian", exponential_kernel, exponential_diagonal, no_norm},
    {"Laplacian", laplacian_kernel, laplacian_diagonal, absolute_norm},
    {"Polynomial", polynomial_kernel, polynomial_diagonal, no_norm},
    {"Kernel", linear_kernel, linear_diagonal, no_norm},
    {"Sigmoid", sigmoid_kernel, sigmoid_diagonal, no_norm},
    {"Cosine", cosine_kernel, cosine_diagonal, kernel_norm},
};
static const policy_part POLICIES[] = {
    {.name = "Budget", .admit = admit_grow},
    {.name = "RefuseWhenFull", .admit = admit_refuse},
    {.name = "OldestEviction", .admit = admit_oldest, .takes_turns = 1},
    {.name = "NearestWhenFull", .admit = admit_nearest, .takes_turns = 1, .has_lengths = 1},
    {.name = "RandomEviction", .admit = admit_random},
    {.name = "UniformEviction", .admit = admit_uniform},
    {.name = "NonuniformEviction", .admit = admit_nonuniform},
    {.name = "CheapestReplacement", .admit = admit_cheapest, .has_lengths = 1},
    {.name = "Quantise", .admit = admit_quantise},
    {.name = "Projectron", .admit = admit_projectron, .has_factor = 1},
    {.name = "LinearDependence", .admit = admit_dependence, .has_factor = 1, .has_covariance = 1,
     .notes_target = 1},
};
const space_part okn_linear_space = {linear_product, linear_look, linear_length_of};
const space_part okn_mapped_space = {mapped_product, mapped_look, mapped_length_of};
const space_part okn_kernel_space = {kernel_product, kernel_look, kernel_length_of};
const share_part okn_uniform_shares = {uniform_weight_of, uniform_sum_of_weights};
const share_part okn_decay_shares = {decay_weight_of, decay_sum_of_weights};
const share_part okn_exponential_shares = {exponential_weight_of, exponential_sum_of_weights};

#define FIND(function, type, table)                                                                \
    const type *function(const json_value *name)                                                   \
    {                                                                                              \
        for (size_t j = 0; j < sizeof table / sizeof *table; j++)                                  \
            if (okn_json_is(name, table[j].name))                                                  \
                return &table[j];                                                                  \
        return NULL;                                                                               \
    }

FIND(okn_loss, loss_part, LOSSES)
FIND(okn_schedule, schedule_part, SCHEDULES)
FIND(okn_rule, rule_part, RULES)
FIND(okn_sampler, sampler_part, SAMPLERS)
FIND(okn_head, head_part, HEADS)
FIND(okn_kernel, kernel_part, KERNELS)
FIND(okn_policy, policy_part, POLICIES)

/* Let scalers follow a row that was read with this status. */
static int follow(okn_t *model, int status, int learns, const row *x)
{
    if (!status && model->n_scalers > 0)
        status = okn_scalers_apply(model, model->dense_row, learns);
    if (status || !model->forest)
        return status;
    status = okn_forest_check(model, x);
    if (status && learns)
        okn_scalers_undo(model);
    return status;
}

int okn_read_dense(okn_t *model, const real *x, int learns, row *out)
{
    return follow(model, read_dense(model, x, out), learns, out);
}

int okn_read_sparse(okn_t *model, const int32_t *columns, const real *values, int32_t n, int learns,
                    row *out)
{
    return follow(model, read_sparse(model, columns, values, n, out), learns, out);
}

int okn_finish(okn_t *model, const row *x, real *scores)
{
    if (model->forest)
        forest_body(model, x, scores);
    else
        body(model, x, scores);
    return all_finite(scores, (int32_t)model->n_outputs) ? OKN_OK : OKN_NOT_FINITE;
}

int okn_step(okn_t *model, const row *x, real y)
{
    if (model->forest) {
        const real weight = model->sample_factors ? model->sample_factors[(int32_t)y] : 1;
        const int status = forest_learn(model, x, y, weight);
        if (!status && weight > 0)
            okn_forest_keep(model, x, model->forest->holds ? model->forest->aims[0] : y, weight);
        return status;
    }
    return model->squares ? okn_squares_step(model, x, y) : learn(model, x, y, 1);
}

void okn_forest_weigh(okn_t *model)
{
    forest *own = model->forest;
    const int32_t n = own->n_experts;
    const real met = own->combination[n * (n + 1)];
    for (int32_t e = 0; e < n; e++)
        own->combination[e] = 1.0 / n;
    if (met > 0)
        weigh(model, own->combination + n, met, own->combination);
}

void okn_kernel_row(okn_t *model, const row *x, real *g)
{
    kernel_row(model, x, g);
}

real okn_support_norm(okn_t *model, const row *x)
{
    return kernel_norm(model, x);
}

void okn_fourier_features(okn_t *model, const row *x, real *z)
{
    map_features(model, x, z);
}

real okn_standardise_target(okn_t *model, real y)
{
    if (!model->target_fixed)
        y = take_up(model, y, 1);
    return (y - model->target.mean) / model->target.scale;
}
