/* Functions of the generated files, and templates of functions; `source.py` describes the
   format. `real` is the number type of a file. EXP and similar names are functions of <math.h>
   for this type. */

/*** is_finite ***/
static int is_finite(real value)
{
    return value - value == 0;
}

/*** all_finite: is_finite ***/
static int all_finite(const real *values, int32_t n)
{
    for (int32_t j = 0; j < n; j++)
        if (!is_finite(values[j]))
            return 0;
    return 1;
}

/*** none_infinite: is_finite ***/
static int none_infinite(const real *values, int32_t n)
{
    for (int32_t j = 0; j < n; j++)
        if (values[j] == values[j] && !is_finite(values[j]))
            return 0;
    return 1;
}

/*** dot ***/
/* Return the inner product of a row with weights. */
static real dot(const real *weights, const row *x)
{
    real sum = 0;
    if (x->columns)
        for (int32_t j = 0; j < x->n; j++)
            sum += weights[x->columns[j]] * x->values[j];
    else
        for (int32_t j = 0; j < x->n; j++)
            sum += weights[j] * x->values[j];
    return sum;
}

/*** square ***/
/* ||x||^2 */
static real square(const row *x)
{
    real sum = 0;
    for (int32_t j = 0; j < x->n; j++)
        sum += x->values[j] * x->values[j];
    return sum;
}

/*** absolute ***/
/* ||x||_1 */
static real absolute(const row *x)
{
    real sum = 0;
    for (int32_t j = 0; j < x->n; j++)
        sum += FABS(x->values[j]);
    return sum;
}

/*** inverse_norm: square ***/
/* 1 / ||x||, 0 for a row of zeros */
static real inverse_norm(const row *x)
{
    const real sum = square(x);
    return sum > 0 ? 1 / SQRT(sum) : 0;
}

/*** squared_distance ***/
static real squared_distance(const real *s, const real *x, int32_t n)
{
    real sum = 0;
    for (int32_t j = 0; j < n; j++)
        sum += (x[j] - s[j]) * (x[j] - s[j]);
    return sum;
}

/*** absolute_distance ***/
static real absolute_distance(const real *s, const real *x, int32_t n)
{
    real sum = 0;
    for (int32_t j = 0; j < n; j++)
        sum += FABS(x[j] - s[j]);
    return sum;
}

/*** sparse_dot ***/
static real sparse_dot(const real *s, const column *columns, int32_t n, const real *x)
{
    real sum = 0;
    for (int32_t j = 0; j < n; j++)
        sum += s[j] * x[columns[j]];
    return sum;
}

/*** sparse_squared_distance ***/
/* For the elements that s does not store, the distance is ||x||^2 less the part at stored
   elements. */
static real sparse_squared_distance(const real *s, const column *columns, int32_t n,
                                    const real *x, real norm)
{
    real sum = 0;
    for (int32_t j = 0; j < n; j++) {
        const real value = x[columns[j]], gap = value - s[j];
        norm -= value * value;
        sum += gap * gap;
    }
    return norm > 0 ? norm + sum : sum;
}

/*** sparse_absolute_distance ***/
static real sparse_absolute_distance(const real *s, const column *columns, int32_t n,
                                     const real *x, real norm)
{
    real sum = 0;
    for (int32_t j = 0; j < n; j++) {
        norm -= FABS(x[columns[j]]);
        sum += FABS(x[columns[j]] - s[j]);
    }
    return norm > 0 ? norm + sum : sum;
}

/*** power ***/
static real power(real base, int32_t exponent)
{
    real result = 1;
    for (; exponent; exponent >>= 1) {
        if (exponent & 1)
            result *= base;
        base *= base;
    }
    return result;
}

/*** kernel ***/
/* Return the kernel value of a row with vector i of $id; `norm` depends on the row alone. */
static real ${id}_kernel(const row *x, real norm, int32_t i)
{
    const real p = $product;
    (void)norm;
    return $value;
}

/*** expansion ***/
/* Support vectors $id: add the coefficients times the kernel values. */
static void ${id}_add(const row *x, real *scores)
{
    const real norm = $norm;
    for (int32_t i = 0; i < $count; i++) {
        const real g = ${id}_kernel(x, norm, i);
        for (int32_t k = 0; k < $outputs; k++)
            scores[k] += ${id}_coefficients[i * $outputs + k] * g;
    }
}

/*** linear: dot ***/
static void ${id}_add(const row *x, real *scores)
{
    for (int32_t k = 0; k < $outputs; k++)
        scores[k] += dot(${id}_weights + k * $features, x);
}

/*** constant ***/
static void ${id}_add(const row *x, real *scores)
{
    (void)x;
    for (int32_t k = 0; k < $outputs; k++)
        scores[k] += ${id}_values[k];
}

/*** fourier: dot ***/
/* Add the weighted cosines and sines of the products with the frequencies $id. */
static void ${id}_add(const row *x, real *scores)
{
    for (int32_t j = 0; j < $count; j++) {
        const real angle = dot(${id}_frequencies + j * $features, x);
        const real cosine = COS(angle), sine = SIN(angle);
        for (int32_t k = 0; k < $outputs; k++) {
            const real *w = ${id}_weights + 2 * (j * $outputs + k);
            scores[k] += w[0] * cosine + w[1] * sine;
        }
    }
}

/*** weighed ***/
/* Add the term of a row whose features are multiplied by a diagonal metric's root. */
static void ${id}_add(const row *x, real *scores)
{
    const row moved = {${id}_row, 0, $features};
    for (int32_t j = 0; j < $features; j++)
        ${id}_row[j] = ${id}_root[j] * x->values[j];
    ${inner}_add(&moved, scores);
}

/*** turn: dot ***/
static void ${id}_turn(const row *x, real *out)
{
    for (int32_t j = 0; j < $features; j++)
        out[j] = dot(${id}_root + j * $features, x);
}

/*** turned ***/
/* Add the term of a row that is multiplied by a metric's root. */
static void ${id}_add(const row *x, real *scores)
{
    const row moved = {${id}_row, 0, $features};
    ${id}_turn(x, ${id}_row);
    ${inner}_add(&moved, scores);
}

/*** fourier_features: dot ***/
static void ${id}_features(const row *x, real *z)
{
    for (int32_t j = 0; j < $count; j++) {
        const real angle = dot(${id}_frequencies + j * $features, x);
        z[j] = $factor * COS(angle);
        z[$count + j] = $factor * SIN(angle);
    }
}

/*** projected_features ***/
static void ${id}_features(const row *x, real *z)
{
    const real norm = $norm;
    for (int32_t f = 0; f < $length; f++)
        z[f] = 0;
    for (int32_t i = 0; i < $count; i++) {
        const real g = ${id}_kernel(x, norm, i);
        for (int32_t f = 0; f < $length; f++)
            z[f] += ${id}_projection[i * $length + f] * g;
    }
}

/*** leverage ***/
/* Return 1 / (1 + v), where v is the variance of a row in the features $id. */
static void ${id}_add(const row *x, real *scores)
{
    real variance = 0;
    ${id}_features(x, ${id}_z);
    for (int32_t f = 0; f < $length; f++) {
        real sum = 0;
        for (int32_t g = 0; g < $length; g++)
            sum += ${id}_matrix[f * $length + g] * ${id}_z[g];
        variance += ${id}_z[f] * sum;
    }
    variance = variance > 0 ? variance : 0;
$rest
    scores[0] += 1 / (1 + variance);
}

/*** beyond_landmarks ***/
    {
        const real diagonal = $diagonal;
        real rest = diagonal;
        for (int32_t f = 0; f < $length; f++)
            rest -= ${id}_z[f] * ${id}_z[f];
        if (rest > $rounding * diagonal)
            variance += rest / $reg;
    }

/*** local: squared_distance dot ***/
/* Add the scores of the nearest prototypes' hyperplanes, weighted by shares of norm 1. */
static void ${id}_add(const row *x, real *scores)
{
    int32_t found = 0;
    real total = 0;
    for (int32_t i = 0; i < $count; i++) {
        const real distance = squared_distance(${id}_prototypes + i * $features, x->values, x->n);
        int32_t place = found < $assigned ? found : $assigned - 1;
        if (found == $assigned && !(distance < ${id}_distances[place]))
            continue;
        for (; place > 0 && distance < ${id}_distances[place - 1]; place--) {
            ${id}_distances[place] = ${id}_distances[place - 1];
            ${id}_nearest[place] = ${id}_nearest[place - 1];
        }
        ${id}_distances[place] = distance;
        ${id}_nearest[place] = i;
        found += found < $assigned;
    }
    for (int32_t t = found - 1; t >= 0; t--) {
        ${id}_distances[t] = $share;
        total += ${id}_distances[t] * ${id}_distances[t];
    }
    for (int32_t t = 0; t < found; t++) {
        const int32_t i = ${id}_nearest[t];
        const real share = ${id}_distances[t] / SQRT(total);
        for (int32_t k = 0; k < $outputs; k++)
            scores[k] += share * (${id}_intercepts[i * $outputs + k]
                                  + dot(${id}_weights + (i * $outputs + k) * $features, x));
    }
}

/*** sum ***/
static void ${id}_scores(const row *x, real *scores)
{
    for (int32_t k = 0; k < $outputs; k++)
        scores[k] = 0;
$terms
}

/*** units ***/
    for (int32_t k = 0; k < $outputs; k++)
        scores[k] = $shift + $scale * scores[k];

/*** binary_vote ***/
/* Return the vote of a member for class 1 minus its vote for class 0. */
static real vote_of(real score, real link)
{
    if (link > 0)
        return 2 / (1 + EXP(-link * score)) - 1;
    return score > 1 ? 1 : score < -1 ? -1 : score;
}

/*** class_vote ***/
/* Add the votes of a member for the classes, times its share, to the answer. */
static void vote(real *own, real share, real link, real *answer)
{
    real total = 0, largest = own[0];
    for (int32_t k = 1; k < $outputs; k++)
        largest = own[k] > largest ? own[k] : largest;
    for (int32_t k = 0; k < $outputs; k++) {
        const real level = (1 + own[k]) / 2;
        if (link < 0)
            own[k] = EXP(-link * (own[k] - largest));
        else
            own[k] = link > 0 ? 1 / (1 + EXP(-link * own[k])) : level > 0 ? level : 0;
        own[k] += $least;
        total += own[k];
    }
    for (int32_t k = 0; k < $outputs; k++)
        answer[k] += share * own[k] / total;
}

/*** pair_vote ***/
/* Count the votes of the pairs of classes. Between classes with equal votes, the sums of their
   scores decide. */
static void vote(const real *own, real *votes)
{
    for (int32_t k = 0; k < $classes; k++)
        votes[k] = totals[k] = 0;
    for (int32_t k = 0; k < $classes; k++)
        for (int32_t other = k + 1; other < $classes; other++, own++) {
            votes[*own > 0 ? k : other] += 1;
            totals[k] += *own;
            totals[other] -= *own;
        }
    for (int32_t k = 0; k < $classes; k++)
        votes[k] += totals[k] / (3 * (FABS(totals[k]) + 1));
}

/*** target_vote ***/
static real bounded(real target)
{
    const real least = $least, most = $most;
    return target < least ? least : target > most ? most : target;
}

/*** twin ***/
static real within(real target, real least, real most)
{
    return target < least ? least : target > most ? most : target;
}

/* Combine the score of a target with that of its twin, which is on a logarithmic scale. */
static real of_both(const real *both, real own, real other, real factor, real least, real most)
{
    const real z = within(both[1], -$limit, $limit);
    const real said = factor * ((EXP(z) - EXP(-z)) / 2);
    return within(own * within(both[0], least, most) + other * within(said, least, most), least,
                  most);
}

/*** body ***/
static void body(const row *x, real *scores)
{
$work
}

/*** mean ***/
static void ${id}_apply_mean(real *x)
{
    for (int32_t j = 0; j < $features; j++)
        x[j] -= ${id}_mean[j];
}

/*** scale ***/
static void ${id}_apply_scale(real *x)
{
    for (int32_t j = 0; j < $features; j++)
        x[j] /= ${id}_scale[j];
}

/*** blank: nothing ***/
/* Numbers that stand for missing values become NaN. */
static void ${id}_blank(real *x)
{
    for (int32_t k = 0; k < $count; k++)
        if (x[${id}_columns[k]] == ${id}_numbers[k])
            x[${id}_columns[k]] = (real)nothing();
}

/*** present ***/
static void ${id}_fill_in(real *x)
{
    for (int32_t j = 0; j < $features; j++)
        x[j] = x[j] == x[j] ? x[j] : 0;
}

/*** clip ***/
static void ${id}_clip(real *x)
{
    for (int32_t j = 0; j < $features; j++)
        x[j] = x[j] > $limit ? $limit : x[j] < -$limit ? -$limit : x[j];
}

/*** single ***/
/* Round to float32, the type of the samples that the model has learnt. */
static void single(real *x, int32_t n)
{
    for (int32_t j = 0; j < n; j++)
        x[j] = (real)(float)x[j];
}
