/* Policies with the inverse H = (K + R)^-1 of the kernel matrix of the support vectors, indexed
   by slots. R holds ridges. Rows and columns of free slots are 0. See scoring.c. */

/*** inverse ***/
/* Compute `direction` = H k, and return diagonal - k'H k. */
static real project_row(const real *k, real diagonal)
{
    for (int32_t i = 0; i < n_support; i++) {
        direction[i] = 0;
        for (int32_t j = 0; j < n_support; j++)
            direction[i] += inverse[i * $slots + j] * k[j];
        diagonal -= direction[i] * k[i];
    }
    return diagonal;
}

/* Extend H by the row of the last call of `project_row`, given its pivot and a slot. */
static void join_row(int32_t slot, real pivot, real kappa, real ridge)
{
    const real least = pivot > ridge ? pivot : ridge;
    if (!(pivot >= ridge / 2))
        n_updates = $period;
    direction[slot] = -1;
    for (int32_t i = 0; i < n_support; i++)
        for (int32_t j = 0; j < n_support; j++)
            inverse[i * $slots + j] += direction[i] * direction[j] / least;
    diagonals[slot] = kappa + ridge;
    n_updates++;
}

/* Write the Cholesky factor of K + R above the diagonal of H; K is stored below. The diagonal of
   K + R is increased by the share `extra`. Return 0 if the matrix is not positive definite. */
static int factorise(real extra, int diagonal_alone)
{
    for (int32_t i = 0; i < n_support; i++)
        for (int32_t j = i; j < n_support; j++) {
            real sum = diagonal_alone || ages[i] == 0 || ages[j] == 0 ? 0 : inverse[j * $slots + i];
            if (i == j)
                sum = ages[i] == 0 ? 1 : diagonals[i] * (1 + extra);
            for (int32_t m = 0; m < i; m++)
                sum -= inverse[m * $slots + i] * inverse[m * $slots + j];
            if (i == j && !(sum > 0))
                return 0;
            inverse[i * $slots + j] = i == j ? SQRT(sum) : sum / inverse[i * ($slots + 1)];
        }
    return 1;
}

/* Compute H anew, because rounding errors grow with the number of updates. */
static void renew_inverse(void)
{
    real extra = 0;
    for (int32_t i = 0; i < n_support; i++) {
        const row own = {support_vectors + i * $features, 0, $features};
        kernel_row(&own, inverse + i * $slots);
    }
    for (int32_t attempt = 0; attempt < 17 && !factorise(extra, attempt == 16); attempt++)
        extra = 10 * extra > $extra ? 10 * extra : $extra;
    /* Compute V, the inverse of the factor, column by column, and then V V'. */
    for (int32_t j = n_support - 1; j >= 0; j--)
        for (int32_t i = j; i >= 0; i--) {
            real sum = i == j;
            for (int32_t m = i + 1; m <= j; m++)
                sum -= inverse[i * $slots + m] * inverse[m * $slots + j];
            inverse[i * $slots + j] = sum / inverse[i * ($slots + 1)];
        }
    for (int32_t i = 0; i < n_support; i++)
        for (int32_t j = i; j < n_support; j++) {
            real sum = 0;
            for (int32_t m = j; m < n_support; m++)
                sum += inverse[i * $slots + m] * inverse[j * $slots + m];
            sum = ages[i] == 0 || ages[j] == 0 ? 0 : sum;
            inverse[i * $slots + j] = inverse[j * $slots + i] = sum;
        }
    n_updates = 0;
}

/* Remove the support vector of a slot from H. */
static void leave(int32_t slot)
{
    const real pivot = inverse[slot * ($slots + 1)];
    if (!(pivot > 0))
        n_updates = $period;
    for (int32_t i = 0; i < n_support; i++)
        direction[i] = inverse[i * $slots + slot];
    for (int32_t i = 0; i < n_support; i++)
        for (int32_t j = 0; j < n_support; j++)
            inverse[i * $slots + j] = i == slot || j == slot
                ? 0 : inverse[i * $slots + j] - direction[i] * direction[j] / pivot;
    diagonals[slot] = 0;
    n_updates++;
    drop(slot);
    if (n_updates >= $period)
        renew_inverse();
}

/*** solved_values ***/
/* Compute the coefficients, which are H times the values at the support vectors. */
static void solve_values(void)
{
    for (int32_t i = 0; i < n_support; i++) {
        values[i] = 0;
        for (int32_t j = 0; j < n_support; j++)
            values[i] += inverse[i * $slots + j] * goals[j];
    }
}

/* Evict the support vector whose removal changes the function least. */
static void remove_least(void)
{
    const int32_t slot = smallest_slot();
    goals[slot] = 0;
    leave(slot);
    solve_values();
}

/*** admit_window ***/
static void admit(const row *x, const row *phi)
{
    const real kappa = length_of(x), ridge = $reg / coefficients[0];
    const real pivot = project_row(phi->values, kappa + ridge);
    int32_t slot;
$pulled
    slot = take_slot();
    put(slot, x);
    join_row(slot, pivot, kappa, ridge);
    goals[slot] = noted[0];
    solve_values();
    if (n_support - n_free > $bound)
        remove_least();
}

/*** pulled_goals ***/
    for (int32_t r = 0; r < n_support; r++)
        if (ages[r] > 0)
            goals[r] += $eta * phi->values[r] * (noted[0] - goals[r]);

/*** admit_project ***/
/* If the bound is exceeded, project the smallest support vector onto the others. */
static void admit(const row *x, const row *phi)
{
    const real kappa = length_of(x), pivot = project_row(phi->values, kappa + $ridge);
    int32_t slot = take_slot();
    put(slot, x);
    join_row(slot, pivot, kappa, $ridge);
    if (n_support - n_free <= $bound)
        return;
    slot = smallest_slot();
    for (int32_t k = 0; k < $outputs; k++)
        for (int32_t r = 0; r < n_support; r++)
            if (r != slot)
                values[k * $length + r] -= inverse[slot * $slots + r]
                    / inverse[slot * ($slots + 1)] * values[k * $length + slot];
    leave(slot);
}

/*** admit_tracked ***/
/* Reduce the weight of earlier samples. */
static void forget(void)
{
$forget
}

/* Add a row to the prior and to the covariance. */
static void extend(int32_t slot, const real *k, real kappa, real variance)
{
    for (int32_t r = 0; r < n_support; r++) {
        const real value = ages[r] > 0 ? k[r] : 0;
        prior[slot * $slots + r] = prior[r * $slots + slot] = value;
        covariance[slot * $slots + r] = covariance[r * $slots + slot] = gain[r];
    }
    prior[slot * ($slots + 1)] = kappa + $jitter;
    covariance[slot * ($slots + 1)] = gain[slot] = variance;
}

/* Make a step of the Gaussian process. A row outside the span of the support vectors becomes
   one. */
static void admit(const row *x, const row *phi)
{
    const real kappa = length_of(x);
    real mean = 0, variance = 0, pivot, spread, step;
    forget();
    pivot = project_row(phi->values, kappa + $jitter);
    pivot = pivot > $jitter ? pivot : $jitter;
    for (int32_t r = 0; r < n_support; r++) {
        gain[r] = 0;
        for (int32_t s = 0; s < n_support; s++)
            gain[r] += covariance[r * $slots + s] * direction[s];
        variance += direction[r] * gain[r];
        mean += direction[r] * goals[r];
    }
    variance = (variance > 0 ? variance : 0) + pivot;
    spread = variance + $noise / coefficients[0];
    if (pivot > 2 * $jitter) {
        const int32_t slot = take_slot();
        put(slot, x);
        extend(slot, phi->values, kappa, variance);
        join_row(slot, pivot, kappa, $jitter);
        goals[slot] = mean;
    }
    residuals[0] = $lambda * residuals[0] + (noted[0] - mean) * (noted[0] - mean) / spread;
    residuals[1] = $lambda * residuals[1] + 1;
    for (int32_t r = 0; r < n_support; r++)
        gain[r] /= SQRT(spread); /* keeps the covariance symmetric */
    step = (noted[0] - mean) / SQRT(spread);
    for (int32_t r = 0; r < n_support; r++) {
        goals[r] += gain[r] * step;
        for (int32_t s = 0; s < n_support; s++)
            covariance[r * $slots + s] -= gain[r] * gain[s];
    }
    solve_values();
    if (n_support - n_free > $bound) {
        const int32_t slot = smallest_slot();
        for (int32_t r = 0; r < n_support; r++) {
            prior[slot * $slots + r] = prior[r * $slots + slot] = 0;
            covariance[slot * $slots + r] = covariance[r * $slots + slot] = 0;
        }
        remove_least();
    }
}

/*** forget_to_prior ***/
    for (int32_t r = 0; r < n_support; r++) {
        goals[r] *= SQRT($lambda);
        for (int32_t s = 0; s < n_support; s++) {
            const int32_t place = r * $slots + s;
            covariance[place] = $lambda * covariance[place] + (1 - $lambda) * prior[place];
        }
    }

/*** forget_by_uncertainty ***/
    for (int32_t r = 0; r < n_support; r++)
        if (covariance[r * ($slots + 1)] > (real)1e6 * prior[r * ($slots + 1)])
            return;
    for (int32_t j = 0; j < n_support * $slots; j++)
        covariance[j] /= $lambda;

/*** admit_machine ***/
/* Return the target of the sample for output k. */
static real target_of(int32_t k)
{
    return $target;
}

/* Compute the coefficients and the offset of the least-squares machine of each output. */
static void solve_machines(void)
{
    real total = 0;
    for (int32_t i = 0; i < n_support; i++) {
        ones_solved[i] = 0;
        for (int32_t j = 0; j < n_support; j++)
            ones_solved[i] += inverse[i * $slots + j];
        total += ones_solved[i];
    }
    for (int32_t k = 0; k < $outputs; k++) {
        real *own = values + k * $length, shift = 0;
        for (int32_t i = 0; i < n_support; i++) {
            own[i] = 0;
            for (int32_t j = 0; j < n_support; j++)
                own[i] += inverse[i * $slots + j] * goals[k * $slots + j];
            shift += own[i];
        }
        own[$slots] = shift / total;
        for (int32_t i = 0; i < n_support; i++)
            own[i] -= own[$slots] * ones_solved[i];
    }
}

/* Return the leave-one-out residual of output k at a support vector. */
static real residual_of(int32_t k, int32_t slot, real total)
{
    const real h = ones_solved[slot];
    return values[k * $length + slot] / (inverse[slot * ($slots + 1)] - h * h / total);
}

/* Return the leave-one-out margin of a support vector; it is < 0 if the prediction is wrong. */
static real margin_without(int32_t slot, real total)
{
    real own = 0, rival = -$largest;
    for (int32_t k = 0; k < $outputs; k++) {
        const real y = goals[k * $slots + slot], f = y - residual_of(k, slot, total);
        if ($outputs == 1)
            return y * f;
        if (y > 0)
            own = f;
        else if (f > rival)
            rival = f;
    }
    return own - rival;
}

/* Choose the slot to be freed. If too many support vectors are misclassified when left out, it is
   the one with the most negative margin. Otherwise it is the one with the smallest leave-one-out
   residuals. The newest support vector came by a mistake, so it is not counted among the
   misclassified ones. */
static int32_t leaving_slot(int32_t newest)
{
    real total = 0;
    int32_t wrong_ones = 0;
    for (int32_t r = 0; r < n_support; r++)
        total += ones_solved[r];
    for (int32_t r = 0; r < n_support; r++) {
        sizes[r] = r == newest || ages[r] == 0 ? $largest : margin_without(r, total);
        wrong_ones += sizes[r] < 0;
    }
    if ((real)wrong_ones > $most)
        return smallest_slot();
    for (int32_t r = 0; r < n_support; r++) {
        sizes[r] = 0;
        for (int32_t k = 0; k < $outputs && ages[r] > 0; k++)
            sizes[r] += residual_of(k, r, total) * residual_of(k, r, total);
    }
    return smallest_slot();
}

static void admit(const row *x, const row *phi)
{
    const real kappa = length_of(x), ridge = 1 / ($C * noted[1]);
    const real pivot = project_row(phi->values, kappa + ridge);
    int32_t slot = take_slot();
    put(slot, x);
    join_row(slot, pivot, kappa, ridge);
    for (int32_t k = 0; k < $outputs; k++)
        goals[k * $slots + slot] = target_of(k);
    solve_machines();
    if (n_support - n_free <= $bound)
        return;
    slot = leaving_slot(slot);
    for (int32_t k = 0; k < $outputs; k++)
        goals[k * $slots + slot] = 0;
    leave(slot);
    solve_machines();
}
