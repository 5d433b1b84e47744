/* Learning. A model is `scale` times `values`, $length numbers for each output. A row has as
   many features: its own elements, those of a map, or kernel values. See scoring.c. */

/*** shares_uniform ***/
/* Weight of model number n in the average of all models, and the sum of the weights up to n. */
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
/* Weight of model number n in the average of all models, and the sum of the weights up to n. */
static real weight_of(int64_t n)
{
    return (real)n * (real)(n + 1) * (real)(n + 2);
}

static real sum_of_weights(int64_t n)
{
    return weight_of(n) * (real)(n + 3) / 4;
}

/*** shares_exponential ***/
/* Weight of model number n in the average of all models, and the sum of the weights up to n. The
   weights start from 1 again after $period models, to stay finite. */
static real weight_of(int64_t n)
{
    return POW($growth, (real)((n - 1) % $period));
}

static real sum_of_weights(int64_t n)
{
    return weight_of(n) * -$growth * EXPM1(-(real)n * LOG1P($growth - 1)) / ($growth - 1);
}

/*** wrong_target ***/
static real wrong(const real *scores, real y)
{
    return FABS(y - scores[0]);
}

/*** wrong_sign ***/
static real wrong(const real *scores, real y)
{
    return (scores[0] > 0) != (y > 0);
}

/*** wrong_class ***/
static real wrong(const real *scores, real y)
{
    int32_t best = 0;
    for (int32_t k = 1; k < $outputs; k++)
        if (scores[k] > scores[best])
            best = k;
    return best != (int32_t)y;
}

/*** lead_after ***/
/* Count the samples in a row for which the present model was right and the average was wrong. */
static int64_t lead_after(const real *last, const real *averaged, real y)
{
    const real one = wrong(last, y), other = wrong(averaged, y);
    if (2 * one < other)
        return lead + 1;
    return one > other ? 0 : lead;
}

/*** catch_up ***/
    if (led > 0 && n_averaged() > 5) {
        /* A present model that leads gets a larger share; the earlier ones get the rest. */
        const real usual = weight / sum_of_weights(n_averaged());
        const real larger = usual * POW($growth, (real)led);
        const real share = larger < (real)0.5 ? larger : (real)0.5;
        const real rest = (1 - share) / (1 - usual);
        for (int32_t j = 0; j < $outputs * $length; j++)
            companions[j] *= rest;
        total *= rest;
        weight = share * sum_of_weights(n_averaged());
    }

/*** averaged_state ***/
static int64_t n_averaged(void)
{
    const int64_t n = steps + 1 - $skipped;
    return n > 1 ? n : 1;
}

/* Count the present model in the average. The companions hold the changes of `values` since. */
static void advance($led)
{
    real weight = weight_of(n_averaged());
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
/* Compute the scores of the present model, and of the average. */
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

/*** linear_look ***/
static void look(const row *x, row *phi)
{
    *phi = *x;
}

/*** linear_length: square ***/
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

/*** kernel_row ***/
/* Compute the kernel values of a row with the support vectors. */
static void kernel_row(const row *x, real *g)
{
    const real norm = $norm;
    for (int32_t i = 0; i < n_support; i++)
        g[i] = support_kernel(x, norm, i);
}

/*** kernel_look: dot ***/
static real product(const real *numbers, const row *phi)
{
    return dot(numbers, phi);
}

static void look(const row *x, row *phi)
{
    kernel_row(x, features);
    phi->values = features;
    phi->columns = 0;
    phi->n = n_support;
}

/*** kernel_length ***/
static real length_of(const row *x)
{
    (void)x;
    return $diagonal;
}

/*** measure ***/
/* Compute the squared length of a row, which is the same for all outputs. */
static void measure(const row *x)
{
    const real length = length_of(x);
    for (int32_t k = 0; k < $outputs; k++)
        squared_lengths[k] = length;
}

/*** solve ***/
/* Compute the coefficient of output k, given score f, target y and squared length q. */
static void solve(int32_t k, real f, real y, real weight, real q, double *drawn)
{
    const real importance = sampler(f, y, weight, drawn) * weight;
    coefficients[k] = importance > 0 ? rule_coefficient(f, y, q, seen + 1, importance) : 0;
$contraction
}

/*** solve_further ***/
/* The same for weights above 1: a step of weight 1, followed by one for the rest of the weight. */
static void solve(int32_t k, real f, real y, real weight, real q, double *drawn)
{
    const real importance = sampler(f, y, weight, drawn), own = weight > 1 ? 1 : weight;
    const int64_t t = seen + 1;
    real step = importance > 0 ? rule_coefficient(f, y, q, t, importance * own) : 0;
    if (weight > 1 && (step < 0 || step > 0))
        step = rule_further(f, y, q, t, importance * (weight - 1), step);
    coefficients[k] = step;
}

/*** head_single ***/
static void solve_all(const real *scores, real y, real weight)
{
    double drawn = -1;
    solve(0, scores[0], $target, weight, squared_lengths[0], &drawn);
}

/*** head_OneVsRest ***/
static void solve_all(const real *scores, real y, real weight)
{
    double drawn = -1;
    for (int32_t k = 0; k < $outputs; k++)
        solve(k, scores[k], k == (int32_t)y ? 1 : -1, weight, squared_lengths[k], &drawn);
}

/*** head_Margin ***/
/* Compare the true class with its strongest rival. */
static void solve_all(const real *scores, real y, real weight)
{
    const int32_t label = (int32_t)y;
    int32_t rival = label == 0;
    double drawn = -1;
    for (int32_t k = 0; k < $outputs; k++) {
        coefficients[k] = 0;
        if (k != label && scores[k] > scores[rival])
            rival = k;
    }
    solve(label, scores[label] - scores[rival], 1, weight,
          squared_lengths[label] + squared_lengths[rival], &drawn);
    coefficients[rival] = -coefficients[label];
$contraction
}

/*** class_factors ***/
    for (int32_t k = 0; k < $outputs; k++)
        if ($which)
            coefficients[k] *= class_factors[(int32_t)y];

/*** target_state: is_finite ***/
/* Return the target, or a nearer value in its place if it is an outlier. An outlier among the
   first targets is forgotten. This is `learning.targets` of the core. */
static real within_reach(real y, real weight)
{
    const real deviation = target.squares > 0 ? SQRT(target.squares / target.weight) : 0;
    const real most = 30 * deviation, n = target.weight / weight;
    /* If its square overflows, take_up finds the error. */
    if (deviation <= $rounding * FABS(target.mean)
        || !is_finite((y - target.mean) * (y - target.mean)))
        return y;
    if ($forgetting == 1 && n > (real)1.5 && n < (real)8.5) {
        const real side = deviation / SQRT(n - 1), gap = n * side;
        real near = target.mean + (y > target.mean ? side : -side);
        if (10000 * FABS(y - near) > gap)
            near = 2 * target.mean - near;
        if (10000 * FABS(y - near) <= gap && FABS(y - near) > 1000 * $rounding * gap) {
            target.mean = near;
            target.squares = 0;
            target.weight -= weight;
            target.far = 0;
            return y;
        }
    }
    target.far = FABS(y - target.mean) > most ? target.far + 1 : 0;
    /* Several far targets in a row are a change of the stream, not outliers. */
    if (target.far > 2)
        return y;
    if (y > target.mean + most)
        return target.mean + most;
    return y < target.mean - most ? target.mean - most : y;
}

/* Update the moments by a target. Return the value that is learnt in its place. */
static real take_up(real y, real weight)
{
    real before, gain;
    y = within_reach(y, weight);
    before = y - target.mean;
    target.weight = $forgetting * target.weight + weight;
    target.mean += weight / target.weight * before;
    /* If the earlier weights are nearly 0, rounding may make it negative. */
    gain = weight * before * (y - target.mean);
    target.squares = $forgetting * target.squares + (gain < 0 ? 0 : gain);
    target.scale = SQRT(target.squares / target.weight);
    if (target.scale <= $rounding * FABS(target.mean))
        target.scale = 1; /* the targets are equal but for rounding */
    return y;
}

/*** learn ***/
static int learn(const row *x, real y, real weight)
{
$rooms
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
$lead
    measure($of);
    solve_all(current, y, weight);
$factors
    if (!all_finite(coefficients, $outputs)$more) {
$restore
        return ${PREFIX}_NOT_FINITE;
    }
    for (int32_t k = 0; k < $outputs; k++)
        moves |= coefficients[k] < 0 || coefficients[k] > 0;
$full
$dry
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
$room
    row phi;
    look(x, &phi);
    model_scores(&phi, current, scores);
$units
}

/*** cholesky: is_finite ***/
/* Replace the lower triangle of a matrix with rows of `stride` numbers by its Cholesky factor.
   Return 0 if a pivot is too small a share of the diagonal: it is then rounding error. */
static int factor_errors(real *matrix, int32_t n, int32_t stride)
{
    for (int32_t i = 0; i < n; i++)
        for (int32_t j = 0; j <= i; j++) {
            real value = matrix[i * stride + j];
            for (int32_t m = 0; m < j; m++)
                value -= matrix[i * stride + m] * matrix[j * stride + m];
            if (i > j)
                matrix[i * stride + j] = value / matrix[j * (stride + 1)];
            else if (value > (real)1e-12 * matrix[i * (stride + 1)] && is_finite(value))
                matrix[i * (stride + 1)] = SQRT(value);
            else
                return 0;
        }
    return 1;
}

/* Solve a system by this factor; x holds the right side and then the solution. */
static void solve_errors(const real *factor, int32_t n, int32_t stride, real *x)
{
    for (int32_t i = 0; i < n; i++) {
        for (int32_t m = 0; m < i; m++)
            x[i] -= factor[i * stride + m] * x[m];
        x[i] /= factor[i * (stride + 1)];
    }
    for (int32_t i = n - 1; i >= 0; i--) {
        for (int32_t m = i + 1; m < n; m++)
            x[i] -= factor[m * stride + i] * x[m];
        x[i] /= factor[i * (stride + 1)];
    }
}
