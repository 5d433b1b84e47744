/* Recursive least squares of the features of a row; its landmarks may grow. See scoring.c. */

/*** squares_product: dot ***/
static real product(const real *numbers, const row *phi)
{
    return dot(numbers, phi);
}

/*** squares_look ***/
/* The features of a row: its own elements and 1, where they are features, and those of the map. */
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
/* The row in the metric: its features are weighed. */
static void move_row(const row *x, row *moved)
{
    for (int32_t j = 0; j < $features; j++)
        moved_row[j] = metric_root[j] * x->values[j];
    moved->values = moved_row;
    moved->columns = 0;
    moved->n = $features;
}

/*** turned_row: dot ***/
/* The row in the metric: it is multiplied with a matrix. */
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
/* Make a row a landmark if there is room, and the others cannot express it. Returns its part beyond
   them, a feature, or 0. */
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
        /* It would turn rounding into a coordinate. */
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
/* Take up a row of this weight, whose targets are further off by `coefficients`. */
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
/* The score of the class over that of its strongest rival. */
static real margin_of(const real *scores, int32_t label)
{
    int32_t rival = label == 0;
    for (int32_t k = 0; k < $outputs; k++)
        if (k != label && scores[k] > scores[rival])
            rival = k;
    return scores[label] - scores[rival];
}

/*** margin_JointOneVsRest ***/
/* The smallest margin of the class against the rest, for each class. */
static real margin_of(const real *scores, int32_t label)
{
    real least = scores[label];
    for (int32_t k = 0; k < $outputs; k++)
        if (k != label && -scores[k] < least)
            least = -scores[k];
    return least;
}

/*** larger_weights ***/
/* What the weight of a sample is multiplied with, instead of forgetting those before it. */
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
/* Write the Cholesky factor of the sums into the rows of `inverse`, up to the diagonal, which grows
   before by a number and a share. Returns whether there is one. */
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

/* The inverse V of the factor, in its place; then V'V. */
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

/* Make the inverse and the weights anew from the sums, to which the prior is given back. */
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
/* Minus twice the log of the density of the targets, each given those before, if `reg` were another
   number. */
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

/* How many samples the choice is of that a block reaches, before which there are so many; 0 if there
   is none. */
static int64_t choice_of(int64_t before)
{
    int64_t due = 64;
    while (due <= before)
        due *= 2;
    return due <= before + $block ? due : 0;
}

/* The `reg` of the best predictions so far; the inverse is overwritten. */
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

/* Take another `reg` after a block. First it is chosen at once; later by the samples before the block,
   and the inverse is made anew with it in the next one. */
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
/* Take up a row, and add it to the sums; after each block of samples they may be due. */
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
