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
    real rest = diagonal, delta;
    real *fresh = whitening + n * $room;
    if (n == $room)
        return 0;
    for (int32_t j = 0; j < n; j++)
        rest -= z[j] * z[j];
    if (!(rest > $least * diagonal))
        return 0;
    delta = SQRT(rest);
    for (int32_t f = 0; f < n; f++) {
        fresh[f] = 0;
        for (int32_t j = f; j < n; j++)
            fresh[f] -= z[j] * whitening[j * $room + f];
        fresh[f] /= delta;
    }
    fresh[n] = 1 / delta;
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
    seen += 1;
$consider
    if (importance > 0) {
        enter(&phi, importance);
        entered += 1;
    }
$noted
    return ${PREFIX}_OK;
}

/*** grow ***/
    if ($asked) {
        const real delta = consider(x, features + $base);
        if (delta > 0) {
$more
            features[phi.n++] = delta;
        }
    }
