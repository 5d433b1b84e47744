/* The open block of least squares: scores, and samples that enter. The core's `linalg.open_block`,
   in double. */
#include "squares.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Which r is tried, from how many samples on, how far below the best one that of classes is, and
   what of squared targets counts as rounding: the core's `linalg.evidence`. */
static const real CHOICES[] = {0.01, 0.03, 0.1, 0.3, 1, 3, 10, 30, 100};
enum { N_CHOICES = sizeof CHOICES / sizeof *CHOICES, FIRST_CHOICE = 64, BELOW = 2, AT_ONCE = 256 };
static const real LEAST_SHARE = 1e-12;

/* What the weight of the next sample is multiplied with, instead of forgetting. */
static real scale_of(const squares *own)
{
    return own->forgetting < 1 ? pow(own->forgetting, -(double)(own->since + 1)) : 1;
}

void okn_squares_score(okn_t *model, const real *phi, real *scores)
{
    squares *own = model->squares;
    real *h = own->substituted;
    for (int64_t k = 0; k < model->n_outputs; k++)
        scores[k] = okn_product_of(own->weights + k * model->stride, phi, own->used);
    for (int64_t j = 0; j < own->count; j++) {
        const real *factors = own->factors + j * OKN_LANES;
        h[j] = okn_product_of(own->products + j * model->stride, phi, own->used);
        for (int64_t i = 0; i < j; i++)
            h[j] -= factors[i] * h[i];
        h[j] /= factors[j];
        for (int64_t k = 0; k < model->n_outputs; k++)
            scores[k] += h[j] * own->innovations[j * model->n_outputs + k];
    }
}

void okn_squares_measure(okn_t *model, const real *phi)
{
    squares *own = model->squares;
    okn_triangle_multiply(own->inverse, own->used, phi, own->direction);
    own->variance = okn_product_of(own->direction, phi, own->used);
    for (int64_t j = 0; j < own->count; j++)
        own->variance -= own->substituted[j] * own->substituted[j];
}

void okn_squares_border(squares *own, real feature)
{
    const int64_t n = own->used;
    real prior = own->reg;
    if (own->forgetting < 1)
        prior *= pow(own->forgetting, -(double)own->since);
    memset(own->matrix + okn_triangle(n), 0, (size_t)n * sizeof(real));
    memset(own->inverse + okn_triangle(n), 0, (size_t)n * sizeof(real));
    own->matrix[okn_triangle(n) + n] = prior;
    own->inverse[okn_triangle(n) + n] = 1 / prior;
    own->direction[n] = feature / prior;
    own->variance += feature * own->direction[n];
    own->used = n + 1;
}

/* out += Q C'^-1 E, a row for each output. */
static void add_products(okn_t *model, real *out)
{
    squares *own = model->squares;
    real multipliers[OKN_LANES];
    for (int64_t k = 0; k < model->n_outputs; k++) {
        for (int64_t j = own->count - 1; j >= 0; j--) {
            multipliers[j] = own->innovations[j * model->n_outputs + k];
            for (int64_t i = j + 1; i < own->count; i++)
                multipliers[j] -= own->factors[i * OKN_LANES + j] * multipliers[i];
            multipliers[j] /= own->factors[j * OKN_LANES + j];
        }
        for (int64_t j = 0; j < own->count; j++)
            for (int64_t f = 0; f < own->used; f++)
                out[k * model->stride + f] += multipliers[j] * own->products[j * model->stride + f];
    }
}

void okn_squares_settle(okn_t *model)
{
    squares *own = model->squares;
    if (own->settled)
        return;
    memcpy(model->values, own->weights,
           (size_t)(model->n_outputs * model->stride) * sizeof *model->values);
    add_products(model, model->values);
    own->settled = 1;
}

/* b and the evidence take up the samples of the block, A does. */
static void add_sums(okn_t *model)
{
    squares *own = model->squares;
    const int64_t outputs = model->n_outputs, stride = model->stride;
    real age = -(double)(own->since - own->count);
    for (int64_t j = 0; j < own->count; j++) {
        age -= 1;
        for (int64_t k = 0; k < outputs; k++) {
            const real target = own->targets[j * outputs + k];
            for (int64_t f = 0; f < own->used; f++)
                own->vectors[k * stride + f] += target * own->rows[j * stride + f];
            if (own->evidence)
                own->evidence[k] += target * target / own->sample_weights[j];
        }
        if (own->evidence) {
            own->evidence[outputs] += pow(own->forgetting, age);
            own->evidence[outputs + 1] += 1;
        }
    }
    okn_triangle_add(own->matrix, own->used, own->rows, stride, own->count, own->sample_weights);
}

/* N <- N - R'R, R = C^-1 Q. */
static void downdate(okn_t *model)
{
    squares *own = model->squares;
    const int64_t stride = model->stride;
    real shares[OKN_LANES];
    for (int64_t j = 0; j < own->count; j++) {
        const real *factors = own->factors + j * OKN_LANES;
        real *solved = own->solved + j * stride;
        memcpy(solved, own->products + j * stride, (size_t)own->used * sizeof *solved);
        for (int64_t i = 0; i < j; i++)
            for (int64_t f = 0; f < own->used; f++)
                solved[f] -= factors[i] * own->solved[i * stride + f];
        for (int64_t f = 0; f < own->used; f++)
            solved[f] /= factors[j];
        shares[j] = -1;
    }
    okn_triangle_add(own->inverse, own->used, own->solved, stride, own->count, shares);
}

/* Forget, and make N and w anew from the sums; `scratch` has room for a triangle. 0, or -1. */
static int renew(okn_t *model, real *scratch)
{
    squares *own = model->squares;
    const int64_t n = own->used, stride = model->stride;
    const real factor = pow(own->forgetting, (double)own->since);
    if (own->forgetting < 1) {
        for (int64_t j = 0; j < okn_triangle(n); j++)
            own->matrix[j] *= factor;
        for (int64_t i = 0; i < n; i++)
            own->matrix[okn_triangle(i) + i] += (1 - factor) * own->reg;
        for (int64_t j = 0; j < model->n_outputs * stride; j++)
            own->vectors[j] *= factor;
        for (int64_t k = 0; own->evidence && k <= model->n_outputs; k++)
            own->evidence[k] *= factor;
    }
    memcpy(scratch, own->matrix, (size_t)okn_triangle(n) * sizeof *scratch);
    if (okn_triangle_factor(scratch, n) < 0)
        return -1;
    memcpy(own->weights, own->vectors, (size_t)(model->n_outputs * stride) * sizeof *scratch);
    for (int64_t k = 0; k < model->n_outputs; k++)
        okn_triangle_solve(scratch, n, own->weights + k * stride);
    okn_triangle_invert(scratch, n, own->inverse);
    own->since = 0;
    return 0;
}

/* Minus twice the logarithm of the density of the targets, if r were another one. 0, or -1. */
static int surprise(okn_t *model, real reg, real *scratch, real *found)
{
    squares *own = model->squares;
    const int64_t n = own->used, outputs = model->n_outputs;
    real determinant = -(double)n * log(reg);
    memcpy(scratch, own->matrix, (size_t)okn_triangle(n) * sizeof *scratch);
    for (int64_t i = 0; i < n; i++)
        scratch[okn_triangle(i) + i] += reg - own->reg;
    if (okn_triangle_factor(scratch, n) < 0)
        return -1;
    for (int64_t i = 0; i < n; i++)
        determinant += 2 * log(scratch[okn_triangle(i) + i]);
    *found = (double)outputs * determinant;
    for (int64_t k = 0; k < outputs; k++) {
        const real total = own->evidence[k];
        real left = total;
        memcpy(own->direction, own->vectors + k * model->stride, (size_t)n * sizeof *scratch);
        okn_triangle_solve_lower(scratch, n, own->direction);
        left -= okn_product_of(own->direction, own->direction, n);
        if (total > 0)
            *found += own->evidence[outputs]
                      * log(left > LEAST_SHARE * total ? left : LEAST_SHARE * total);
    }
    return 0;
}

/* Find the r of the best predictions so far. 0, or -1. */
static int find_reg(okn_t *model, real *scratch, real *reg)
{
    squares *own = model->squares;
    int best = 0, status;
    real least, found;
    for (int i = 1; i < N_CHOICES; i++)
        if (fabs(log(CHOICES[i] / own->reg)) < fabs(log(CHOICES[best] / own->reg)))
            best = i;
    status = surprise(model, CHOICES[best], scratch, &least);
    for (int way = 1; way >= -1; way -= 2)
        for (int place = best + way; !status && place >= 0 && place < N_CHOICES; place += way) {
            status = surprise(model, CHOICES[place], scratch, &found);
            if (status || !(found < least))
                break;
            least = found;
            best = place;
        }
    if (model->n_classes > 0)
        best = best > BELOW ? best - BELOW : 0;
    *reg = CHOICES[best];
    return status;
}

static void take_reg(squares *own, real reg)
{
    for (int64_t i = 0; i < own->used; i++)
        own->matrix[okn_triangle(i) + i] += reg - own->reg;
    own->reg = reg;
}

/* How many samples the choice of r is of that the block reaches; 0 if there is none. */
static real choice_of(const okn_t *model)
{
    const squares *own = model->squares;
    real before, due = FIRST_CHOICE;
    if (!own->evidence)
        return 0;
    before = own->evidence[model->n_outputs + 1];
    while (due <= before)
        due *= 2;
    return due <= before + (double)own->count ? due : 0;
}

/* What a block that is closed may change before it fails, one behind the other in memory. */
static void copy_sums(okn_t *model, real *copy, int back)
{
    squares *own = model->squares;
    const int64_t half = okn_triangle(own->used), rows = model->n_outputs * model->stride;
    real *const parts[] = {own->matrix, own->inverse, own->vectors, own->weights, own->evidence,
                           &own->reg};
    const int64_t counts[] = {half, half, rows, rows, own->evidence ? model->n_outputs + 2 : 0, 1};
    for (size_t j = 0; j < sizeof counts / sizeof *counts; copy += counts[j++])
        if (counts[j] > 0)
            memcpy(back ? parts[j] : copy, back ? copy : parts[j],
                   (size_t)counts[j] * sizeof *copy);
}

/* Close a block by making N and w anew, perhaps with another r. */
static int make_anew(okn_t *model, int chooses)
{
    squares *own = model->squares;
    const int64_t since = own->since, half = okn_triangle(own->used);
    const int64_t more = 2 * model->n_outputs * model->stride + model->n_outputs + 3;
    real *scratch = calloc((size_t)(3 * half + more), sizeof *scratch);
    real reg;
    int status;
    if (!scratch)
        return OKN_NO_MEMORY;
    copy_sums(model, scratch + half, 0);
    add_sums(model);
    status = renew(model, scratch);
    if (!status && chooses) {
        status = find_reg(model, scratch, &reg);
        if (!status) {
            take_reg(own, reg);
            status = renew(model, scratch);
        }
    }
    if (status) {
        copy_sums(model, scratch + half, 1);
        own->since = since;
    }
    free(scratch);
    return status ? OKN_NOT_FINITE : OKN_OK;
}

/* Take r as the samples before the block choose it. If it is another one, the next block makes N anew,
   as if it ended an epoch. */
static int take_choice(okn_t *model)
{
    squares *own = model->squares;
    real reg = own->coming;
    if (!(reg > 0)) {
        real *scratch = malloc((size_t)okn_triangle(own->used) * sizeof *scratch);
        if (!scratch)
            return OKN_NO_MEMORY;
        const int status = find_reg(model, scratch, &reg);
        free(scratch);
        if (status)
            return OKN_NOT_FINITE;
    }
    if (!(reg == own->reg))
        own->since = own->epoch_length - own->block_length;
    take_reg(own, reg);
    return OKN_OK;
}

/* Put the samples of the block into the sums, N and w. */
static int close_block(okn_t *model)
{
    squares *own = model->squares;
    const real due = choice_of(model);
    const int beside = own->forgetting == 1 && due > AT_ONCE;
    int status = OKN_OK;
    if ((due > 0 && !beside) || own->since >= own->epoch_length) {
        status = make_anew(model, due > 0);
    } else {
        if (beside)
            status = take_choice(model);
        if (status)
            return status;
        add_products(model, own->weights);
        add_sums(model);
        downdate(model);
    }
    if (!status)
        own->count = 0;
    own->coming = status ? own->coming : 0;
    return status;
}

/* Make N and w anew from the sums, and take up the samples of the block with them. */
static int renew_in_block(okn_t *model)
{
    squares *own = model->squares;
    const int64_t n = own->count, outputs = model->n_outputs, stride = model->stride;
    real *scratch = malloc((size_t)(okn_triangle(own->used) + outputs) * sizeof *scratch), *scores;
    if (!scratch)
        return OKN_NO_MEMORY;
    if (renew(model, scratch)) {
        free(scratch);
        return OKN_NOT_FINITE;
    }
    scores = scratch + okn_triangle(own->used);
    own->since = n;
    for (own->count = 0; own->count < n; own->count++) {
        const int64_t j = own->count;
        const real *phi = own->rows + j * stride;
        const real weight = own->sample_weights[j];
        real *factors = own->factors + j * OKN_LANES, root;
        okn_squares_score(model, phi, scores);
        okn_squares_measure(model, phi);
        root = sqrt(1 / weight + (own->variance > 0 ? own->variance : 0));
        memcpy(factors, own->substituted, (size_t)j * sizeof *factors);
        factors[j] = root;
        for (int64_t k = 0; k < outputs; k++)
            own->innovations[j * outputs + k] =
                (own->targets[j * outputs + k] / weight - scores[k]) / root;
        memcpy(own->products + j * stride, own->direction, (size_t)own->used * sizeof *scores);
    }
    free(scratch);
    return OKN_OK;
}

/* Write the row that was scored and measured into its lane. */
static void append(okn_t *model, const real *phi, real root, const real *steps, const real *scores,
                   real weight)
{
    squares *own = model->squares;
    const int64_t lane = own->count, outputs = model->n_outputs, stride = model->stride;
    const size_t used = (size_t)own->used * sizeof(real);
    const size_t unused = (size_t)stride * sizeof(real) - used;
    real *rows = own->rows + lane * stride, *products = own->products + lane * stride;
    memcpy(own->factors + lane * OKN_LANES, own->substituted, (size_t)lane * sizeof(real));
    own->factors[lane * OKN_LANES + lane] = root;
    for (int64_t k = 0; k < outputs; k++) {
        own->innovations[lane * outputs + k] = steps[k] / weight / root;
        own->targets[lane * outputs + k] = scale_of(own) * (weight * scores[k] + steps[k]);
    }
    own->sample_weights[lane] = weight * scale_of(own);
    memcpy(rows, phi, used);
    memset(rows + own->used, 0, unused);
    memcpy(products, own->direction, used);
    memset(products + own->used, 0, unused);
}

int okn_squares_enter(okn_t *model, const real *phi, real weight, const real *steps,
                      const real *scores)
{
    squares *own = model->squares;
    const real root = sqrt(1 / (weight * scale_of(own)) + (own->variance > 0 ? own->variance : 0));
    int status = OKN_OK;
    if (!isfinite(root))
        return OKN_NOT_FINITE;
    append(model, phi, root, steps, scores, weight);
    own->count++;
    own->since++;
    if (own->count == own->block_length)
        status = close_block(model);
    else if (own->forgetting == 1 && own->count == 3 * own->block_length / 4
             && own->since - own->count + own->block_length >= own->epoch_length)
        status = renew_in_block(model);
    if (status) {
        own->count--;
        own->since--;
        return status;
    }
    own->entered++;
    own->settled = 0;
    return OKN_OK;
}
