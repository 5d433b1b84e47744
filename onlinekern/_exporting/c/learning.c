/* What learns. A model is a scale times `values`, $length numbers for each output, and a row of as
   many features: its own elements, those of a map, or kernel values. See scoring.c. */

/*** shares_uniform ***/
/* Of the present model, number n, in the average of all: its weight, and the sum of the weights. */
static real weight_of(int64_t n)
{
    (void)n;
    return 1;
}

static real sum_of_weights(int64_t n)
{
    return (real)n;
}

/*** shares_decay ***/
/* Of the present model, number n, in the average of all: its weight, and the sum of the weights. */
static real weight_of(int64_t n)
{
    return (real)n * (real)(n + 1) * (real)(n + 2);
}

static real sum_of_weights(int64_t n)
{
    return weight_of(n) * (real)(n + 3) / 4;
}

/*** shares_exponential ***/
/* Of the present model, number n, in the average of all: its weight, and the sum of the weights.
   They start from 1 again after $period models. */
static real weight_of(int64_t n)
{
    return POW($growth, (real)((n - 1) % $period));
}

static real sum_of_weights(int64_t n)
{
    return weight_of(n) * -$growth * EXPM1(-(real)n * LOG1P($growth - 1)) / ($growth - 1);
}

/*** averaged_state ***/
static int64_t n_averaged(void)
{
    const int64_t n = steps + 1 - $skipped;
    return n > 1 ? n : 1;
}

/* Count the present model; the companions hold what `values` had not when models were counted. */
static void advance(void)
{
    const real weight = weight_of(n_averaged());
$renew
    steps += 1;
    if (steps > $skipped)
        total += weight * scale;
$restart
}

/*** averaged_fold ***/
static void fold(real factor)
{
    for (int32_t j = 0; j < $outputs * $length; j++) {
        companions[j] -= values[j] * total;
        values[j] *= scale * factor;
    }
    total = 0;
    scale = 1;
}

/*** averaged_scores ***/
/* Scores of the present model, and of the average. */
static void model_scores(const row *phi, real *current, real *predicting)
{
    const int64_t n = n_averaged();
    for (int32_t k = 0; k < $outputs; k++) {
        const real sum = product(values + k * $length, phi);
        const real before = product(companions + k * $length, phi);
        current[k] = scale * sum;
        predicting[k] = $first ? current[k]
            : ((total + weight_of(n) * scale) * sum - before) / sum_of_weights(n);
    }
}

/*** averaged_add ***/
static void add(int32_t k, const row *phi, real step)
{
    const real raw = step / scale;
    add_row(values + k * $length, phi, raw);
    add_row(companions + k * $length, phi, raw * total);
}

/*** renew_companions ***/
    if (steps >= $skipped && n_averaged() % $period == 0)
        for (int32_t j = 0; j < $outputs * $length; j++)
            companions[j] *= POW($growth, (real)-$period);

/*** restart_weights ***/
    if (steps >= $skipped && (n_averaged() - 1) % $period == 0)
        total *= POW($growth, (real)-$period);

/*** plain_scores ***/
static void model_scores(const row *phi, real *current, real *predicting)
{
    for (int32_t k = 0; k < $outputs; k++)
        current[k] = predicting[k] = scale * product(values + k * $length, phi);
}

/*** plain_fold ***/
static void fold(real factor)
{
    for (int32_t j = 0; j < $outputs * $length; j++)
        values[j] *= scale * factor;
    scale = 1;
}

/*** plain_add ***/
static void add(int32_t k, const row *phi, real step)
{
    add_row(values + k * $length, phi, step / scale);
}

/*** shrink ***/
static void shrink(real factor)
{
    if (!(scale * factor >= $smallest && scale * factor <= $largest))
        fold(factor);
    else
        scale *= factor;
}

/*** add_row ***/
static void add_row(real *numbers, const row *x, real step)
{
    for (int32_t j = 0; j < x->n; j++)
        numbers[x->columns ? x->columns[j] : j] += step * x->values[j];
$constant
}

/*** linear_product: dot ***/
static real product(const real *numbers, const row *x)
{
    return dot(numbers, x) + numbers[$features];
}

/*** linear_look: square ***/
static void look(const row *x, row *phi)
{
    *phi = *x;
}

static real length_of(const row *x)
{
    return square(x) + $intercept;
}

/*** mapped_look: dot ***/
static real product(const real *numbers, const row *phi)
{
    return dot(numbers, phi);
}

static void look(const row *x, row *phi)
{
    ${id}_features(x, features);
$constant
    phi->values = features;
    phi->columns = 0;
    phi->n = $length;
}

/*** mapped_length ***/
static real length_of(const row *phi)
{
    return $square;
}

/*** kernel_look: dot ***/
static real product(const real *numbers, const row *phi)
{
    return dot(numbers, phi);
}

/* Kernel values with the support vectors. */
static void look(const row *x, row *phi)
{
    const real norm = $norm;
    for (int32_t i = 0; i < n_support; i++)
        features[i] = support_kernel(x, norm, i);
    phi->values = features;
    phi->columns = 0;
    phi->n = n_support;
}

static real length_of(const row *x)
{
    (void)x;
    return $diagonal;
}

/*** put ***/
/* The row becomes the support vector of a slot; its coefficients are those of `update`. */
static void put(int32_t slot, const row *x)
{
    for (int32_t j = 0; j < $features; j++)
        support_vectors[slot * $features + j] = x->values[j];
$norms
    for (int32_t k = 0; k < $outputs; k++) {
        values[k * $length + slot] = coefficients[k] / scale;
$companion
    }
    if (slot == n_support)
        n_support++;
}

/*** admit_grow ***/
static void admit(const row *x, const row *phi)
{
    (void)phi;
    put(n_support, x);
}

/*** admit_refuse ***/
static void admit(const row *x, const row *phi)
{
    (void)phi;
    if (n_support < $bound)
        put(n_support, x);
}

/*** admit_oldest ***/
static void admit(const row *x, const row *phi)
{
    (void)phi;
    put((int32_t)(n_added % $bound), x);
    n_added++;
}

/*** admit_random ***/
static void admit(const row *x, const row *phi)
{
    (void)phi;
    put(n_support < $bound ? n_support : (int32_t)(uniform() * $bound), x);
}

/*** admit_uniform ***/
static void admit(const row *x, const row *phi)
{
    int32_t slot = n_support;
    (void)phi;
    if (n_support == $bound) {
        slot = (int32_t)(uniform() * $bound);
$rescale
    }
    put(slot, x);
}

/*** clip_coefficients ***/
        for (int32_t j = 0; j < $outputs * $length; j++) {
            const real limit = $limit / scale;
            values[j] = values[j] > limit ? limit : values[j] < -limit ? -limit : values[j];
        }

/*** admit_cheapest ***/
/* Replace the support vector whose removal costs least, by its projection on the sample. */
static void admit(const row *x, const row *phi)
{
    const real length = length_of(x);
    int32_t slot = n_support;
    if (n_support == $bound) {
        real least = 0;
        slot = -1;
        for (int32_t r = 0; r < $bound; r++) {
            real square_of = 0, cost;
            for (int32_t k = 0; k < $outputs; k++)
                square_of += values[k * $length + r] * values[k * $length + r];
            cost = square_of * (lengths[r] - phi->values[r] * phi->values[r] / length);
            if (slot < 0 || cost < least) {
                slot = r;
                least = cost;
            }
        }
        for (int32_t k = 0; k < $outputs; k++)
            coefficients[k] += phi->values[slot] / length * scale * values[k * $length + slot];
    }
    lengths[slot] = length;
    put(slot, x);
}

/*** generator ***/
/* xoshiro256++ (Blackman and Vigna 2021): a number in [0, 1) with 53 random bits. */
static double uniform(void)
{
    const uint64_t sum = generator[0] + generator[3];
    const uint64_t result = ((sum << 23) | (sum >> 41)) + generator[0];
    const uint64_t shifted = generator[1] << 17;
    generator[2] ^= generator[0];
    generator[3] ^= generator[1];
    generator[1] ^= generator[2];
    generator[0] ^= generator[3];
    generator[2] ^= shifted;
    generator[3] = (generator[3] << 45) | (generator[3] >> 19);
    return (double)(result >> 11) * (1.0 / 9007199254740992.0);
}

/*** solve ***/
/* The coefficient of output k at score f and target y. */
static void solve(int32_t k, real f, real y, real weight, real q, double *drawn)
{
    const real importance = gate(f, y, weight, drawn) * weight;
    coefficients[k] = importance > 0 ? rule_coefficient(f, y, q, seen + 1, importance) : 0;
}

/*** head_single: solve ***/
static void solve_all(const real *scores, real y, real weight, real q)
{
    double drawn = -1;
    solve(0, scores[0], $target, weight, q, &drawn);
}

/*** head_OneVsRest: solve ***/
static void solve_all(const real *scores, real y, real weight, real q)
{
    double drawn = -1;
    for (int32_t k = 0; k < $outputs; k++)
        solve(k, scores[k], k == (int32_t)y ? 1 : -1, weight, q, &drawn);
}

/*** head_Margin: solve ***/
/* The true class against its strongest rival. */
static void solve_all(const real *scores, real y, real weight, real q)
{
    const int32_t label = (int32_t)y;
    int32_t rival = label == 0;
    double drawn = -1;
    for (int32_t k = 0; k < $outputs; k++) {
        coefficients[k] = 0;
        if (k != label && scores[k] > scores[rival])
            rival = k;
    }
    solve(label, scores[label] - scores[rival], 1, weight, 2 * q, &drawn);
    coefficients[rival] = -coefficients[label];
}

/*** class_factors ***/
    for (int32_t k = 0; k < $outputs; k++)
        if ($which)
            coefficients[k] *= class_factors[(int32_t)y];

/*** target_state ***/
static void take_up(real y, real weight)
{
    const real before = y - target.mean;
    target.weight = $forgetting * target.weight + weight;
    target.mean += weight / target.weight * before;
    target.squares = $forgetting * target.squares + weight * before * (y - target.mean);
    target.scale = SQRT(target.squares / target.weight);
    if (target.scale <= $rounding * FABS(target.mean))
        target.scale = 1; /* equal targets: what is left is rounding */
}

/*** learn ***/
static int learn(const row *x, real y, real weight)
{
    real current[$outputs], predicting[$outputs];
    int moves = 0;
    row phi;
$save
    look(x, &phi);
    model_scores(&phi, current, predicting);
    if (!all_finite(current, $outputs) || !all_finite(predicting, $outputs))
        return ${PREFIX}_NOT_FINITE;
    if (!(weight > 0))
        return ${PREFIX}_OK;
$targets
    solve_all(current, y, weight, length_of($of));
$factors
    if (!all_finite(coefficients, $outputs)$more) {
$restore
        return ${PREFIX}_NOT_FINITE;
    }
    for (int32_t k = 0; k < $outputs; k++)
        moves |= coefficients[k] < 0 || coefficients[k] > 0;
$full
    seen += 1;
$advance
$shrink
    if (moves)
$update
    return ${PREFIX}_OK;
}

/*** learner_body ***/
static void body(const row *x, real *scores)
{
    real current[$outputs];
    row phi;
    look(x, &phi);
    model_scores(&phi, current, scores);
$units
}

/*** learn_class ***/
int ${prefix}_learn_one(const real *x, int32_t y)
{
    row prepared;
    const int status = read_dense(x, &prepared);
    if (y < 0 || y >= ${PREFIX}_N_CLASSES)
        return ${PREFIX}_BAD_LABEL;
    return status == ${PREFIX}_OK ? learn(&prepared, (real)y, $weight) : status;
}

int ${prefix}_learn_one_sparse(const int32_t *columns, const real *values_, int32_t n, int32_t y)
{
    row prepared;
    const int status = read_sparse(columns, values_, n, &prepared);
    if (y < 0 || y >= ${PREFIX}_N_CLASSES)
        return ${PREFIX}_BAD_LABEL;
    return status == ${PREFIX}_OK ? learn(&prepared, (real)y, $weight) : status;
}

/*** learn_target ***/
int ${prefix}_learn_one(const real *x, real y)
{
    row prepared;
    const int status = read_dense(x, &prepared);
    if (!is_finite(y))
        return ${PREFIX}_NOT_FINITE;
    return status == ${PREFIX}_OK ? learn(&prepared, y, 1) : status;
}

int ${prefix}_learn_one_sparse(const int32_t *columns, const real *values_, int32_t n, real y)
{
    row prepared;
    const int status = read_sparse(columns, values_, n, &prepared);
    if (!is_finite(y))
        return ${PREFIX}_NOT_FINITE;
    return status == ${PREFIX}_OK ? learn(&prepared, y, 1) : status;
}
