/* Kernel affine projection: each step changes the coefficients of the last samples. See
   scoring.c. */

/*** kapa_moves_own ***/
/* Compute the changes of the coefficients of the last samples. */
static void find_moves(int32_t count)
{
    for (int32_t k = 0; k < count; k++)
        moves_of[k] = $eta * recent_weights[k] * (recent_targets[k] - recent_scores[k]);
}

/*** kapa_moves_joint ***/
/* Solve (G + R) moves = errors by a Cholesky factor, with the diagonal increased by the share
   `extra`. Return 0 if the matrix is not positive definite. */
static int solve_moves(int32_t count, real extra)
{
    for (int32_t i = 0; i < count; i++) {
        moves_of[i] = recent_targets[i] - recent_scores[i];
        for (int32_t j = 0; j <= i; j++) {
            real sum = gram[i * $order + j];
            if (i == j)
                sum = (sum + $reg / recent_weights[i]) * (1 + extra);
            for (int32_t m = 0; m < j; m++)
                sum -= system_of[i * $order + m] * system_of[j * $order + m];
            if (i == j && !(sum > 0))
                return 0;
            system_of[i * $order + j] = i == j ? SQRT(sum) : sum / system_of[j * ($order + 1)];
        }
    }
    for (int32_t i = 0; i < count; i++) {
        for (int32_t j = 0; j < i; j++)
            moves_of[i] -= system_of[i * $order + j] * moves_of[j];
        moves_of[i] /= system_of[i * ($order + 1)];
    }
    for (int32_t i = count - 1; i >= 0; i--) {
        for (int32_t j = i + 1; j < count; j++)
            moves_of[i] -= system_of[j * $order + i] * moves_of[j];
        moves_of[i] /= system_of[i * ($order + 1)];
    }
    return 1;
}

/* Compute the changes of the coefficients of the last samples. */
static void find_moves(int32_t count)
{
    real extra = 0;
    int32_t attempt = 0;
    while (attempt < 14 && !solve_moves(count, extra)) {
        extra = 10 * extra > $extra ? 10 * extra : $extra;
        attempt++;
    }
    for (int32_t k = 0; k < count; k++) {
        const real own = FABS(gram[k * ($order + 1)]) + $reg / recent_weights[k];
        if (attempt == 14)
            moves_of[k] = (recent_targets[k] - recent_scores[k]) / own;
        moves_of[k] *= $eta;
    }
}

/*** admit_affine ***/
/* Make the row a support vector with coefficient 0, and the newest of the last samples. Return
   the slot of the sample whose place it takes. */
static int32_t remember(const row *x, const row *phi, int32_t count, int32_t place)
{
    const int32_t before = recent_slots[place];
    const real known = scale * product(values, phi), weight = coefficients[0];
    int32_t slot;
    for (int32_t k = 0; k < count; k++) {
        gram[k * $order + place] = phi->values[recent_slots[k]];
        gram[place * $order + k] = phi->values[recent_slots[k]];
    }
    coefficients[0] = 0;
    slot = take_slot();
    put(slot, x);
    lengths[slot] = gram[place * ($order + 1)] = length_of(x);
    recent_slots[place] = slot;
    recent_targets[place] = noted[0];
    recent_weights[place] = weight;
    recent_scores[place] = known;
    n_learnt++;
    return before;
}

/* Update the scores of the last samples after the coefficient of a slot has changed. */
static void move_scores(int32_t count, int32_t slot, real step)
{
    const row own = {support_vectors + slot * $features, 0, $features};
    kernel_row(&own, features);
    for (int32_t k = 0; k < count; k++)
        recent_scores[k] += step * features[recent_slots[k]];
}

/* Evict the support vector of a slot, and project its term onto the nearest one. */
static void project_onto_nearest(int32_t count, int32_t leaving)
{
    real step = scale * values[leaving], largest = 0;
    int32_t nearest = -1;
    move_scores(count, leaving, -step);
    drop(leaving);
    for (int32_t r = 0; r < n_support; r++)
        if (ages[r] > 0 && lengths[r] > 0 && features[r] * features[r] / lengths[r] > largest) {
            nearest = r;
            largest = features[r] * features[r] / lengths[r];
        }
    if (nearest < 0)
        return;
    step *= features[nearest] / lengths[nearest];
    values[nearest] += step / scale;
    move_scores(count, nearest, step);
}

static void admit(const row *x, const row *phi)
{
    const int32_t place = (int32_t)(n_learnt % $order);
    const int32_t leaving = remember(x, phi, n_learnt < $order ? (int32_t)n_learnt : $order, place);
    const int32_t count = n_learnt < $order ? (int32_t)n_learnt : $order;
    find_moves(count);
    for (int32_t k = 0; k < count; k++) {
        values[recent_slots[k]] += moves_of[k] / scale;
        for (int32_t j = 0; j < count; j++)
            recent_scores[k] += gram[k * $order + j] * moves_of[j];
    }
    if (n_support - n_free > $bound)
        project_onto_nearest(count, leaving);
}
