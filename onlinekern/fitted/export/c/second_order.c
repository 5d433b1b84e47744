/* Linear models with a variance of each weight: CW, AROW, SCW. See scoring.c. */

/*** variances ***/
/* Compute S x of an output, in the order of the row's elements with the intercept last. Return
   x'S x. */
static real measure_output(int32_t k, const row *x, real square_of)
{
    const real *own = variances + k * $length;
    real *direction = directions + k * $length;
    real sum = 0;
    for (int32_t j = 0; j < x->n; j++) {
        direction[j] = x->values[j] * own[x->columns ? x->columns[j] : j];
        sum += x->values[j] * direction[j];
    }
    direction[x->n] = $intercept * own[$features];
    sum += $intercept * direction[x->n];
    return sum > $negligible * square_of ? sum : 0;
}

/*** measure_outputs: square ***/
static void measure(const row *x)
{
    const real square_of = square(x) + $intercept;
    for (int32_t k = 0; k < $outputs; k++)
        squared_lengths[k] = measure_output(k, x, square_of);
}

/*** move ***/
/* Update output k along its S x, and reduce the variances in this direction. */
static void move(int32_t k, const row *x)
{
    const real *direction = directions + k * $length;
    for (int32_t j = 0; j <= x->n; j++) {
        const int32_t column = x->columns && j < x->n ? x->columns[j] : j;
        const int32_t place = k * $length + (j == x->n ? $features : column);
        const real rest = variances[place] - contractions[k] * direction[j] * direction[j];
        values[place] += coefficients[k] * direction[j] / scale;
$companion
        variances[place] = rest > 0 ? rest : 0;
    }
}

/*** direction_diagonal ***/
/* Compute S z of matrix m, and return z'S z. */
static real direction_of(int32_t m, const row *phi)
{
    real *direction = directions + m * $length;
    real sum = 0;
    for (int32_t f = 0; f < phi->n; f++) {
        direction[f] = covariance[m * $length + f] * phi->values[f];
        sum += direction[f] * phi->values[f];
    }
    return sum;
}

static void contract(int32_t m, int32_t n, real contraction)
{
    const real *direction = directions + m * $length;
    for (int32_t f = 0; f < n; f++) {
        real *own = covariance + m * $length + f;
        *own -= contraction * direction[f] * direction[f];
        *own = *own > 0 ? *own : 0;
    }
}

/*** direction_matrix ***/
/* Compute S z of matrix m, and return z'S z. */
static real direction_of(int32_t m, const row *phi)
{
    real *direction = directions + m * $length;
    real sum = 0;
    for (int32_t f = 0; f < phi->n; f++) {
        const real *own = covariance + (m * $length + f) * $length;
        direction[f] = 0;
        for (int32_t g = 0; g < phi->n; g++)
            direction[f] += own[g] * phi->values[g];
        sum += direction[f] * phi->values[f];
    }
    return sum;
}

static void contract(int32_t m, int32_t n, real contraction)
{
    real *direction = directions + m * $length;
    const real root = SQRT(contraction); /* keeps S symmetric to the bit */
    for (int32_t f = 0; f < n; f++)
        direction[f] *= root;
    for (int32_t f = 0; f < n; f++) {
        real *own = covariance + (m * $length + f) * $length;
        for (int32_t g = 0; g < n; g++)
            own[g] -= direction[f] * direction[g];
        own[f] = own[f] > 0 ? own[f] : 0;
    }
}

/*** confidence: square ***/
static void measure(const row *phi)
{
    const real square_of = square(phi);
    for (int32_t k = 0; k < $outputs; k++) {
        if (k < $matrices) {
            const real variance = direction_of(k, phi);
            squared_lengths[k] = variance > $negligible * square_of ? variance : 0;
        } else {
            squared_lengths[k] = squared_lengths[0];
        }
    }
}

/* Update the outputs along their S z, and reduce the matrices. A matrix that all outputs share
   is reduced once, by the largest contraction. */
static void move_along(const row *phi)
{
    real largest_of_all = 0;
    for (int32_t k = 0; k < $outputs; k++) {
        const real *direction = directions + k % $matrices * $length;
        if (!(coefficients[k] < 0 || coefficients[k] > 0))
            continue;
        for (int32_t f = 0; f < phi->n; f++) {
            values[k * $length + f] += coefficients[k] * direction[f] / scale;
$companion
        }
        largest_of_all = contractions[k] > largest_of_all ? contractions[k] : largest_of_all;
    }
    for (int32_t k = 0; k < $matrices; k++)
        if ($matrices < $outputs || coefficients[k] < 0 || coefficients[k] > 0)
            contract(k, phi->n, $matrices < $outputs ? largest_of_all : contractions[k]);
}

/*** rule_AROW ***/
static real rule_coefficient(real f, real y, real q, int64_t t, real importance)
{
    (void)t;
    return q <= 0 ? 0 : loss_slope(f, y) * loss_value(f, y) / (q + $r / importance);
}

static real rule_contraction(real f, real y, real q, real importance)
{
    return q <= 0 || loss_value(f, y) <= 0 ? 0 : 1 / (q + $r / importance);
}

/*** quantile_ConfidenceWeighted ***/
static real quantile(real importance)
{
    return $phi * SQRT(importance);
}

/*** quantile_VarianceConfidenceWeighted ***/
static real quantile(real importance)
{
    return $phi * importance;
}

/*** quantile_soft ***/
static real quantile(real importance)
{
    (void)importance;
    return $phi;
}

/*** excess ***/
/* Return phi^2 v - m^2. */
static real excess(real m, real v, real phi)
{
    const real bound = phi * SQRT(v);
    return (bound - m) * (bound + m);
}

/*** exact_alpha: excess ***/
static real exact_alpha(real m, real v, real importance)
{
    const real phi = quantile(importance), squared = phi * phi;
    const real middle = m * (1 + squared / 2);
    const real root = SQRT(m * m * squared * squared / 4 + v * squared * (1 + squared));
    if (m > 0)
        return excess(m, v, phi) / (v * (middle + root));
    return (root - middle) / (v * (1 + squared));
}

/*** alpha_ConfidenceWeighted: exact_alpha ***/
static real alpha_of(real m, real v, real importance)
{
    return exact_alpha(m, v, importance);
}

/*** alpha_SoftConfidenceWeighted1: exact_alpha ***/
static real alpha_of(real m, real v, real importance)
{
    const real most = $C * importance, alpha = exact_alpha(m, v, importance);
    return alpha < most ? alpha : most;
}

/*** alpha_SoftConfidenceWeighted2: excess ***/
static real alpha_of(real m, real v, real importance)
{
    const real squared = $phi * $phi, n = v + 1 / (2 * $C * importance);
    const real middle = m * (2 * n + squared * v);
    const real root = $phi * SQRT(squared * m * m * v * v + 4 * n * v * (n + v * squared));
    if (m > 0)
        return 2 * excess(m, v, $phi) / (root + middle);
    return (root - middle) / (2 * n * (n + v * squared));
}

/*** alpha_VarianceConfidenceWeighted ***/
static real alpha_of(real m, real v, real importance)
{
    const real phi = quantile(importance), middle = 1 + 2 * phi * m, missing = phi * v - m;
    const real root = SQRT(middle * middle + 8 * phi * missing);
    if (middle > 0)
        return 2 * missing / (v * (middle + root));
    return (root - middle) / (4 * phi * v);
}

/*** bound_deviation ***/
/* Return the margin from which on a sample of variance v causes no step. */
static real bound(real v, real importance)
{
    return quantile(importance) * SQRT(v);
}

static real contraction_of(real alpha, real v, real importance)
{
    const real part = alpha * quantile(importance), slope = part * v;
    return part / (2 * v / (slope + SQRT(slope * slope + 4 * v)) + slope);
}

/*** bound_variance ***/
/* Return the margin from which on a sample of variance v causes no step. */
static real bound(real v, real importance)
{
    return quantile(importance) * v;
}

static real contraction_of(real alpha, real v, real importance)
{
    const real growth = 2 * alpha * quantile(importance);
    return growth / (1 + growth * v);
}

/*** rule_confidence ***/
static real rule_coefficient(real f, real y, real q, int64_t t, real importance)
{
    (void)t;
    if (q <= 0 || y * f >= bound(q, importance))
        return 0;
    return y * alpha_of(y * f, q, importance);
}

static real rule_contraction(real f, real y, real q, real importance)
{
    if (q <= 0 || y * f >= bound(q, importance))
        return 0;
    return contraction_of(alpha_of(y * f, q, importance), q, importance);
}
