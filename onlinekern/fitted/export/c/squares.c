/* Recursive least squares of the features of a row; the number of landmarks may grow. See
   scoring.c. */

/*** squares_product: dot ***/
static real product(const real *numbers, const row *phi)
{
    return dot(numbers, phi);
}

/*** squares_look ***/
/* Compute the features of a row: its own elements and a constant 1 (if the model has them),
   followed by the features of the map. */
static void look(const row *x, row *phi)
{
$linear
$constant
$mapped
    phi->values = features;
    phi->columns = 0;
    phi->n = $used;
}

/*** weighed_row ***/
/* Transform the row by a diagonal metric: multiply each feature by its root. */
static void move_row(const row *x, row *moved)
{
    for (int32_t j = 0; j < $features; j++)
        moved_row[j] = metric_root[j] * x->values[j];
    moved->values = moved_row;
    moved->columns = 0;
    moved->n = $features;
}

/*** turned_row: dot ***/
/* Transform the row by a full metric: multiply it by the matrix root. */
static void move_row(const row *x, row *moved)
{
    for (int32_t j = 0; j < $features; j++)
        moved_row[j] = dot(metric_root + j * $features, x);
    moved->values = moved_row;
    moved->columns = 0;
    moved->n = $features;
}

/*** own_elements ***/
    for (int32_t j = 0; j < $features; j++)
        features[j] = 0;
    for (int32_t j = 0; j < x->n; j++)
        features[x->columns ? x->columns[j] : j] = $factor * x->values[j];

/*** landmark_features ***/
static void landmark_features(const row *x, real *z)
{
    const real norm = $norm;
    for (int32_t i = 0; i < n_landmarks; i++) {
        z[i] = 0;
        kernel_values[i] = support_kernel(x, norm, i);
        for (int32_t j = 0; j <= i; j++)
            z[i] += whitening[i * $room + j] * kernel_values[j];
    }
}

/*** consider ***/
/* Make a row a landmark if there is room and it is not in the span of the others. Return its new
   feature, which is its part outside the span, or 0. */
static real consider(const row *x, const real *z)
{
    const int32_t n = n_landmarks;
    const real diagonal = $diagonal;
    real rest = diagonal, delta, steepness;
    real *fresh = whitening + n * $room;
    if (n == $room)
        return 0;
    for (int32_t j = 0; j < n; j++)
        rest -= z[j] * z[j];
    if (!(rest > $least * diagonal))
        return 0;
    delta = SQRT(rest);
    fresh[n] = 1 / delta;
    steepness = fresh[n] * fresh[n] * diagonal;
    for (int32_t f = 0; f < n; f++) {
        fresh[f] = 0;
        for (int32_t j = f; j < n; j++)
            fresh[f] -= z[j] * whitening[j * $room + f];
        fresh[f] /= delta;
        steepness += fresh[f] * fresh[f] * diagonal;
    }
    if (!(SQRT(steepness) <= $steepest)) {
        /* A part this small is rounding error, and must not become a coordinate. */
        memset(fresh, 0, (size_t)(n + 1) * sizeof(*fresh));
        return 0;
    }
    for (int32_t j = 0; j < $features; j++)
        support_vectors[n * $features + j] = x->values[j];
$norms
    n_landmarks = n + 1;
    return delta;
}

/*** enter ***/
/* Update the inverse and the weights by a row of this weight, whose errors are `coefficients`. */
static void enter(const row *phi, real weight)
{
    const int32_t n = phi->n;
    real variance = 0;
    for (int32_t f = 0; f < n; f++) {
        direction[f] = 0;
        for (int32_t g = 0; g < n; g++)
            direction[f] += inverse[f * $length + g] * phi->values[g];
        variance += phi->values[f] * direction[f];
    }
    weight = weight / (1 + weight * variance);
    for (int32_t f = 0; f < n; f++) {
        for (int32_t k = 0; k < $outputs; k++)
            values[k * $length + f] += weight * coefficients[k] * direction[f];
        for (int32_t g = 0; g < n; g++)
            inverse[f * $length + g] -= weight * direction[f] * direction[g];
    }
}

/*** margin_Joint ***/
/* Return the score of the class minus that of its strongest rival. */
static real margin_of(const real *scores, int32_t label)
{
    int32_t rival = label == 0;
    for (int32_t k = 0; k < $outputs; k++)
        if (k != label && scores[k] > scores[rival])
            rival = k;
    return scores[label] - scores[rival];
}

/*** margin_JointOneVsRest ***/
/* Return the smallest margin over the binary problems, each of which separates one class from
   the rest. */
static real margin_of(const real *scores, int32_t label)
{
    real least = scores[label];
    for (int32_t k = 0; k < $outputs; k++)
        if (k != label && -scores[k] < least)
            least = -scores[k];
    return least;
}

/*** larger_weights ***/
/* Return the factor by which the weights of later samples grow. This replaces forgetting:
   earlier samples need not be changed. */
static real weight_after(int64_t samples)
{
    return POW($lambda, -(real)samples);
}

/*** same_weights ***/
static real weight_after(int64_t samples)
{
    (void)samples;
    return 1;
}

/*** sums ***/
/* Write the Cholesky factor of the sums into the rows of `inverse`, up to the diagonal. Before,
   add the number `more` to the diagonal and increase it by the share `extra`. Return 0 if the
   matrix is not positive definite. */
static int factorise(real more, real extra)
{
    for (int32_t i = 0; i < $used; i++)
        for (int32_t j = 0; j <= i; j++) {
            real sum = sums[i * (i + 1) / 2 + j];
            if (i == j)
                sum = (sum + more) * (1 + extra);
            for (int32_t m = 0; m < j; m++)
                sum -= inverse[i * $length + m] * inverse[j * $length + m];
            if (i == j && !(sum > 0))
                return 0;
            inverse[i * $length + j] = i == j ? SQRT(sum) : sum / inverse[j * ($length + 1)];
        }
    return 1;
}

/* Invert the factor in its place, which gives V; then compute V'V. */
static void invert_factor(void)
{
    const int32_t n = $used;
    for (int32_t j = 0; j < n; j++) {
        inverse[j * ($length + 1)] = 1 / inverse[j * ($length + 1)];
        for (int32_t i = j + 1; i < n; i++) {
            real sum = 0;
            for (int32_t m = j; m < i; m++)
                sum -= inverse[i * $length + m] * inverse[m * $length + j];
            inverse[i * $length + j] = sum / inverse[i * ($length + 1)];
        }
    }
    for (int32_t j = 0; j < n; j++)
        for (int32_t i = 0; i <= j; i++) {
            real sum = 0;
            for (int32_t m = j; m < n; m++)
                sum += inverse[m * $length + i] * inverse[m * $length + j];
            inverse[i * $length + j] = sum;
        }
    for (int32_t i = 0; i < n; i++)
        for (int32_t j = 0; j < i; j++)
            inverse[i * $length + j] = inverse[j * $length + i];
}

/* Compute inverse and weights anew from the sums, and restore the part of the prior that was
   forgotten. */
static void renew_inverse(void)
{
    const real fade = 1 / weight_after(since);
    real extra = 0;
    for (int32_t i = 0; i < $used; i++) {
        for (int32_t j = 0; j <= i; j++)
            sums[i * (i + 1) / 2 + j] *= fade;
        sums[i * (i + 3) / 2] += (1 - fade) * reg;
    }
    for (int32_t j = 0; j < $outputs * $length; j++)
        vectors[j] *= fade;
$fade_evidence
    for (int32_t attempt = 0; attempt < 17 && !factorise(0, extra); attempt++)
        extra = 10 * extra > $extra ? 10 * extra : $extra;
    invert_factor();
    for (int32_t k = 0; k < $outputs; k++)
        for (int32_t f = 0; f < $used; f++) {
            values[k * $length + f] = 0;
            for (int32_t g = 0; g < $used; g++)
                values[k * $length + f] += inverse[f * $length + g] * vectors[k * $length + g];
        }
    since = 0;
}

/*** no_choice ***/
static void choose_reg(void)
{
}

/*** choice ***/
/* Return minus twice the log of the predictive density of the targets, each given the earlier
   ones, if the prior precision were `other`. */
static real surprise_of(real other)
{
    real determinant = -(real)$used * LOG(other), found;
    if (!factorise(other - reg, 0))
        return $largest;
    for (int32_t f = 0; f < $used; f++)
        determinant += 2 * LOG(inverse[f * ($length + 1)]);
    found = $outputs * determinant;
    for (int32_t k = 0; k < $outputs; k++) {
        real rest = evidence[k];
        for (int32_t i = 0; i < $used; i++) {
            direction[i] = vectors[k * $length + i];
            for (int32_t m = 0; m < i; m++)
                direction[i] -= inverse[i * $length + m] * direction[m];
            direction[i] /= inverse[i * ($length + 1)];
            rest -= direction[i] * direction[i];
        }
        if (evidence[k] > 0)
            found += evidence[$outputs]
                * LOG(rest > $share * evidence[k] ? rest : $share * evidence[k]);
    }
    return found;
}

/* Return the sample number of the choice that falls into the next block, or 0. `before` samples
   came before this block. */
static int64_t choice_of(int64_t before)
{
    int64_t due = 64;
    while (due <= before)
        due *= 2;
    return due <= before + $block ? due : 0;
}

/* Return the `reg` with the best predictions so far. This overwrites the inverse. */
static real best_reg(void)
{
    int32_t best = 0;
    real least;
    for (int32_t i = 1; i < $choices; i++)
        if (FABS(LOG(regs[i] / reg)) < FABS(LOG(regs[best] / reg)))
            best = i;
    least = surprise_of(regs[best]);
    for (int32_t way = 1; way >= -1; way -= 2)
        for (int32_t place = best + way; place >= 0 && place < $choices; place += way) {
            const real found = surprise_of(regs[place]);
            if (!(found < least))
                break;
            least = found;
            best = place;
        }
    return regs[best > $below ? best - $below : 0];
}

static void take_reg(real other)
{
    for (int32_t f = 0; f < $used; f++)
        sums[f * (f + 3) / 2] += other - reg;
    reg = other;
}

/* Change `reg` after a block if a choice is due. The first choice takes effect at once. Later
   choices use the samples before the block, and take effect with the renewal of the inverse in
   the next one. */
static void choose_reg(void)
{
    if (coming > 0) {
        since = coming == reg ? since : $epoch - $block;
        take_reg(coming);
        coming = 0;
    } else if (choice_of(counted - $block) > 0) {
        if (since > 0)
            renew_inverse();
        take_reg(best_reg());
        renew_inverse();
    }
$choose_later
}

/*** take_up ***/
/* Learn a row, and add it to the sums; after each full block, renew what is due. */
static void take_up_row(const row *phi, const real *goals, real importance)
{
    const real weight = importance * weight_after(since + 1);
    enter(phi, weight);
    for (int32_t f = 0; f < phi->n; f++) {
        for (int32_t g = 0; g <= f; g++)
            sums[f * (f + 1) / 2 + g] += weight * phi->values[f] * phi->values[g];
        for (int32_t k = 0; k < $outputs; k++)
            vectors[k * $length + f] += weight * goals[k] * phi->values[f];
    }
$note_evidence
    since += 1;
    in_block += 1;
$renewed
    if (in_block < $block)
        return;
    in_block = 0;
    choose_reg();
}

/*** choose_later ***/
    if (choice_of(counted) > $at_once) {
        const int32_t kept = since;
        coming = best_reg();
        renew_inverse();
        since = kept;
    }

/*** epoch_ends ***/
    if (in_block == $block && since >= $epoch)
        renew_inverse();

/*** epoch_ends_early ***/
    if (in_block == $early && since - $early + $block >= $epoch) {
        renew_inverse();
        since = $early;
    }

/*** take_up_targets ***/
        real goals[$outputs];
        for (int32_t k = 0; k < $outputs; k++)
            goals[k] = $goal;
        take_up_row(&phi, goals, importance);

/*** fade_evidence ***/
    for (int32_t k = 0; k <= $outputs; k++)
        evidence[k] *= fade;

/*** note_evidence ***/
    for (int32_t k = 0; k < $outputs; k++)
        evidence[k] += weight * goals[k] * goals[k];
    evidence[$outputs] += weight_after(since + 1);
    counted += 1;

/*** learn_squares ***/
static int learn(const row *x, real y, real weight)
{
    real scores[$outputs], importance;
    double drawn = -1;
    row phi;
$save
    look(x, &phi);
    model_scores(&phi, scores, scores);
    if (!all_finite(scores, $outputs))
        return ${PREFIX}_NOT_FINITE;
    if (!(weight > 0))
        return ${PREFIX}_OK;
$targets
    for (int32_t k = 0; k < $outputs; k++)
        coefficients[k] = ($target) - scores[k];
    importance = sampler($margin, weight, &drawn) * weight;
    if (!is_finite(importance) || !all_finite(coefficients, $outputs)$more) {
$restore
        return ${PREFIX}_NOT_FINITE;
    }
$dry
    seen += 1;
$consider
    if (importance > 0) {
$enter
        entered += 1;
    }
$noted
    return ${PREFIX}_OK;
}

/*** grow ***/
    if ($asked) {
$moved        const real delta = consider($row, features + $base);
        if (delta > 0) {
$more
            features[phi.n++] = delta;
        }
    }
