/* Least squares of a row: its features, its landmarks, and the step. */
#include "squares.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* What the core's `models.residuals` follows, and how fast. */
static const real WANTED[OKN_LEVELS] = {0.005, 0.01, 0.02, 0.05, 0.1, 0.15, 0.2,
                                        0.3,   0.4,  0.5,  0.6,  0.7, 0.8,  0.9};
static const real RATES[OKN_LEVELS] = {0.005, 0.005, 0.005, 0.01, 0.01, 0.01, 0.01,
                                       0.01,  0.01,  0.01,  0.01, 0.01, 0.01, 0.01};
enum { MOST_STRIDE = 65000 };

/* z of the landmarks: L^-1 times the kernel values, which are left in `direction`. */
static void landmark_features(okn_t *model, const row *x, real *z)
{
    const squares *own = model->squares;
    okn_kernel_row(model, x, own->direction);
    for (int64_t i = 0; i < own->n_landmarks; i++)
        z[i] = okn_product_of(own->whitening + okn_triangle(i), own->direction, i + 1);
}

static void squares_look(okn_t *model, const row *x, row *phi)
{
    const squares *own = model->squares;
    real *features = model->features;
    okn_squares_settle(model);
    for (int64_t j = 0; own->has_linear && j < model->n_features; j++)
        features[j] = own->factor * x->values[j];
    if (own->has_constant)
        features[own->base - 1] = 1;
    if (own->whitening)
        landmark_features(model, x, features + own->base);
    else
        okn_fourier_features(model, x, features + own->base);
    phi->values = features;
    phi->columns = NULL;
    phi->n = (int32_t)own->used;
}

static real squares_product(okn_t *model, const real *numbers, const row *phi)
{
    (void)model;
    return okn_product_of(numbers, phi->values, phi->n);
}

const space_part okn_squares_space = {squares_product, squares_look, NULL};

/* Make a row a landmark if there is room, and the others cannot express it. Returns its part
   beyond them, a feature, or 0. */
static real consider(okn_t *model, const row *x, const real *z)
{
    squares *own = model->squares;
    const int64_t n = own->n_landmarks, d = model->n_features;
    const real diagonal = model->kernel->diagonal(model, x);
    real *fresh = own->whitening + okn_triangle(n);
    const real rest = diagonal - okn_product_of(z, z, n), delta = rest > 0 ? sqrt(rest) : 0;
    if (!(delta * delta > own->least * diagonal) || !isfinite(delta))
        return 0;
    memset(fresh, 0, (size_t)n * sizeof *fresh);
    for (int64_t j = 0; j < n; j++)
        for (int64_t f = 0; f <= j; f++)
            fresh[f] -= z[j] * own->whitening[okn_triangle(j) + f];
    for (int64_t f = 0; f < n; f++)
        fresh[f] /= delta;
    fresh[n] = 1 / delta;
    if (!(sqrt(okn_product_of(fresh, fresh, n + 1) * diagonal) <= own->steepest))
        return 0;
    memcpy(model->support_vectors + n * d, x->values, (size_t)d * sizeof *fresh);
    model->support_norms[n] = okn_support_norm(model, x);
    model->ages[n] = model->added++;
    own->n_landmarks = ++model->n_support;
    return delta;
}

/* Which residual in ascending order is the quantile; 0: none. */
static int64_t rank_of(int64_t held, real miscoverage)
{
    const int64_t rank = (int64_t)ceil((double)(held + 1) * (1 - miscoverage));
    return rank < held ? rank : held;
}

static void note_residual(residuals_type *own, real size)
{
    const int64_t held = own->seen < OKN_RESIDUALS ? own->seen : OKN_RESIDUALS;
    int64_t smaller = 0;
    for (int64_t i = 0; i < held; i++)
        smaller += own->recent[i] < size;
    for (int64_t level = 0; own->seen > 0 && level < OKN_LEVELS; level++) {
        real *share = &own->levels[level];
        *share += RATES[level] * (WANTED[level] - (smaller >= rank_of(held, *share)));
        *share = *share < 0 ? 0 : *share > 1 ? 1 : *share;
    }
    own->recent[own->seen % OKN_RESIDUALS] = size;
    own->seen++;
}

/* What a row of this weight changes; steps are weight (y - f). */
static int take_up(okn_t *model, const row *x, row *phi, real weight)
{
    squares *own = model->squares;
    real *features = model->features, delta = 0, size = 0;
    int status = OKN_OK;
    if (weight > 0) {
        okn_squares_measure(model, features);
        size = own->variance > 0 ? own->variance * pow(own->forgetting, -(double)own->since) : 0;
        size = fabs(model->coefficients[0] / weight) / sqrt(1 + size);
    }
    if (own->n_landmarks < own->most_landmarks && (weight > 0 || !own->only_entered))
        delta = consider(model, x, features + own->base);
    if (delta > 0) {
        features[phi->n] = delta;
        okn_squares_border(own, delta);
    }
    if (weight > 0)
        status = okn_squares_enter(model, features, weight, model->coefficients, model->current);
    if (status && delta > 0) {
        own->n_landmarks = --model->n_support;
        own->used--;
        model->added--;
    }
    if (!status && weight > 0 && own->residuals)
        note_residual(own->residuals, size);
    return status;
}

/* The coefficients of a row whose scores are known, and the weight with which it enters. */
static real weigh(okn_t *model, real y)
{
    const real *scores = model->current;
    const int32_t label = (int32_t)y;
    real f = scores[0], target = model->n_classes == 2 && model->n_outputs == 1 ? 2 * y - 1 : y;
    double drawn = -1;
    real weight;
    if (model->n_outputs > 1) {
        f = model->head->margin(model, scores, label);
        target = 1;
    }
    weight = model->sampler->importance(model, f, target, 1, &drawn);
    for (int32_t k = 0; k < model->n_outputs; k++) {
        const real own = model->n_outputs > 1 ? (k == label ? 1 : -1) : target;
        model->coefficients[k] = weight > 0 ? weight * (own - scores[k]) : 0;
    }
    return weight;
}

int okn_squares_step(okn_t *model, const row *x, real y)
{
    const target_type before = model->target;
    uint64_t drawn_from[4];
    real weight;
    row phi;
    int status = OKN_OK;
    memcpy(drawn_from, model->generator, sizeof drawn_from);
    squares_look(model, x, &phi);
    okn_squares_score(model, phi.values, model->current);
    for (int32_t k = 0; k < model->n_outputs; k++)
        if (!isfinite(model->current[k]))
            return OKN_NOT_FINITE;
    if (model->standardised)
        y = okn_standardise_target(model, y);
    weight = weigh(model, y);
    for (int32_t k = 0; k < model->n_outputs; k++)
        if (!isfinite(model->coefficients[k]))
            status = OKN_NOT_FINITE;
    if (!isfinite(weight) || !isfinite(model->target.mean) || !isfinite(model->target.scale))
        status = OKN_NOT_FINITE;
    if (!status)
        status = take_up(model, x, &phi, weight);
    if (status) {
        model->target = before;
        memcpy(model->generator, drawn_from, sizeof drawn_from);
        return status;
    }
    model->seen++;
    return OKN_OK;
}

int okn_squares_make_room(okn_t *model)
{
    squares *own = model->squares;
    const int64_t outputs = model->n_outputs, from = model->stride, d = model->n_features;
    const int64_t to = 2 * from + 64 < own->most ? 2 * from + 64 : own->most;
    const int64_t before = from - own->base, room = to - own->base;
    int status;
    wider parts[] = {
        {&model->values, outputs, outputs, from, to, NULL},
        {&model->features, 1, 1, from, to, NULL},
        {&own->vectors, outputs, outputs, from, to, NULL},
        {&own->weights, outputs, outputs, from, to, NULL},
        {&own->products, OKN_LANES, OKN_LANES, from, to, NULL},
        {&own->rows, OKN_LANES, OKN_LANES, from, to, NULL},
        {&own->solved, OKN_LANES, OKN_LANES, from, to, NULL},
        {&own->direction, 1, 1, from, to, NULL},
        {&own->matrix, 1, 1, okn_triangle(from), okn_triangle(to), NULL},
        {&own->inverse, 1, 1, okn_triangle(from), okn_triangle(to), NULL},
        {&own->whitening, 1, 1, okn_triangle(before), okn_triangle(room), NULL},
        {&model->support_vectors, 1, 1, before * d, room * d, NULL},
        {&model->support_norms, 1, 1, before, room, NULL},
        {&model->ages, 1, 1, before, room, NULL},
    };
    if (own->used < from || own->n_landmarks >= own->most_landmarks)
        return OKN_OK;
    if (to > MOST_STRIDE || room > MOST_STRIDE * (int64_t)MOST_STRIDE / d)
        return OKN_NO_MEMORY;
    status = okn_widen(parts, sizeof parts / sizeof *parts);
    if (!status)
        model->stride = (ptrdiff_t)to;
    return status;
}
