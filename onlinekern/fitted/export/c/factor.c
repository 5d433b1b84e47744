/* Policies with a Cholesky factor of the kernel matrix of the support vectors, L L' = K + jitter
   I. Row i of L begins at i (i + 1) / 2. See scoring.c. */

/*** factor ***/
/* Solve L h = k for `half`, and return ||h||^2. */
static real solve_lower(const real *k)
{
    real square_of = 0;
    for (int32_t i = 0; i < $rows; i++) {
        const real *own = factor + i * (i + 1) / 2;
        half[i] = k[i];
        for (int32_t j = 0; j < i; j++)
            half[i] -= own[j] * half[j];
        half[i] /= own[i];
        square_of += half[i] * half[i];
    }
    return square_of;
}

/* Compute `solution` = (K + jitter I)^-1 k, with the k of the last call of `solve_lower`. */
static void solve_upper(void)
{
    for (int32_t i = $rows - 1; i >= 0; i--) {
        solution[i] = half[i];
        for (int32_t j = i + 1; j < $rows; j++)
            solution[i] -= factor[j * (j + 1) / 2 + i] * solution[j];
        solution[i] /= factor[i * (i + 1) / 2 + i];
    }
}

/* Append the row of the last call of `solve_lower`; its support vector is stored afterwards. */
static void append_row(real diagonal)
{
    real *own = factor + $rows * ($rows + 1) / 2;
    real pivot = diagonal + $jitter;
    for (int32_t i = 0; i < $rows; i++) {
        own[i] = half[i];
        pivot -= half[i] * half[i];
    }
    own[$rows] = SQRT(pivot > $jitter ? pivot : $jitter);
}

/*** admit_dependence ***/
/* A row far from the span of the support vectors becomes a support vector. Any other row is a
   combination of the support vectors; it makes a step of recursive least squares. */
static void admit(const row *x, const row *phi)
{
    const int32_t n = n_support;
    const real kappa = length_of(x), distance = kappa - solve_lower(phi->values);
    real variance = 1 / coefficients[0], step;
    solve_upper();
    if (distance > $nu && n < $bound) {
        step = noted[0] / distance;
        for (int32_t r = 0; r < n; r++) {
            values[r] -= step * solution[r];
            covariance[n * $bound + r] = covariance[r * $bound + n] = 0;
        }
        covariance[n * $bound + n] = variance;
        append_row(kappa);
        coefficients[0] = step;
        put(n, x);
        return;
    }
    for (int32_t r = 0; r < n; r++) {
        gain[r] = 0;
        for (int32_t s = 0; s < n; s++)
            gain[r] += covariance[r * $bound + s] * solution[s];
        variance += solution[r] * gain[r];
    }
    for (int32_t r = 0; r < n; r++)
        gain[r] /= SQRT(variance); /* keeps the matrix exactly symmetric */
    for (int32_t r = 0; r < n; r++)
        for (int32_t s = 0; s < n; s++)
            covariance[r * $bound + s] -= gain[r] * gain[s];
    step = noted[0] / SQRT(variance);
    solve_lower(gain);
    solve_upper();
    for (int32_t r = 0; r < n; r++)
        values[r] += step * solution[r];
}

/*** admit_projectron ***/
/* Return the step of a margin error, or 0 to skip it. */
static real margin_step(real loss, real covered, real distance, real weight)
{
    const real spare = loss - distance * $price;
    const real step = (loss < 2 * spare ? loss : 2 * spare) / covered;
    if (spare <= 0 || covered <= 0)
        return 0;
    return step < weight ? step : weight;
}

/* A mistake far from the span of the support vectors becomes a support vector if there is room.
   The steps of other samples are projected onto the span. */
static void admit(const row *x, const row *phi)
{
    const real kappa = length_of(x), square_of = solve_lower(phi->values), weight = noted[0];
    const real distance = kappa > square_of ? SQRT($unit * (kappa - square_of)) : 0;
    const int far = distance > $eta && !($full);
    int adds = 0;
    solve_upper();
    for (int32_t k = 0; k < $outputs; k++) {
        const real size = FABS(coefficients[k]);
        real step = size >= 1 ? weight : 0;
        if (size > 0 && size < 1)
            step = margin_step(size, $unit * square_of, distance, weight);
        step = coefficients[k] > 0 ? step : -step;
        coefficients[k] = 0;
        if (size >= 1 && far) {
            coefficients[k] = step;
            adds = 1;
            continue;
        }
        for (int32_t r = 0; r < n_support; r++)
            values[k * $length + r] += step * solution[r];
    }
    if (adds) {
        append_row(kappa);
        put(n_support, x);
    }
}
