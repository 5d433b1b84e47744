/* Functions and templates of files that compute in fixed point; `terms.py` defines the numbers.
   Shifting a negative number to the right must keep its sign, as all current compilers do. */

/*** fixed_clip ***/
/* Clip a row to the limits of the scaler. */
static const int16_t *clip(const int16_t *x)
{
    for (int32_t j = 0; j < $features; j++)
        clipped[j] = x[j] < least[j] ? least[j] : x[j] > most[j] ? most[j] : x[j];
    return clipped;
}

/*** fixed_linear ***/
static void ${id}_add(const int16_t *x, int64_t *scores)
{
    for (int32_t k = 0; k < $outputs; k++) {
        const int16_t *w = ${id}_weights + k * $features;
        $sum sum = 0;
        for (int32_t j = 0; j < $features; j++)
            sum += (int32_t)w[j] * x[j];
        scores[k] += $moved;
    }
}

/*** half_power ***/
/* Return 2^(-t / 2^18) in units of 2^-30, for t < 32 * 2^18. A table has the fraction; values
   between its entries are interpolated. */
static uint32_t half_power(uint32_t t)
{
    const uint32_t *entry = halves + ((t >> 10) & 255);
    return (entry[0] - (((entry[0] - entry[1]) * (t & 1023)) >> 10)) >> (t >> 18);
}

/*** table_exp ***/
/* Return exp(x) as a float with a relative error of 5e-6. It uses the bits of 2^-(t / 2^18). For
   x above 88, it returns exp(88). */
static float table_exp(float x)
{
    uint32_t bits;
    float value;
    int32_t t;
    const uint32_t *entry;
    if (!(x > -87))
        return x == x ? 0 : x;
    t = (int32_t)((x < 88 ? -x : -88) * 378193.85f);
    entry = halves + ((t >> 10) & 255);
    value = (float)(entry[0] - (((entry[0] - entry[1]) * ((uint32_t)t & 1023)) >> 10));
    memcpy(&bits, &value, sizeof(bits));
    bits -= (uint32_t)((t >> 18) + 30) << 23;
    memcpy(&value, &bits, sizeof(bits));
    return value;
}

/*** fixed_kernel: half_power ***/
/* Return the kernel value of a row with vector i, in units of 2^-30. */
static uint32_t ${id}_kernel(const int16_t *x, int32_t i)
{
    const int16_t *s = ${id}_vectors + i * $features;
    $wide p = 0;
    for (int32_t j = 0; j < $features; j++) {
        const int32_t gap = (int32_t)x[j] - s[j];
        p += $distance;
    }
    return p >= $limit ? 0 : half_power((uint32_t)(((uint64_t)p * $factor) >> $shift));
}

/*** fixed_row ***/
/* Convert the row to the step size of the vectors. */
static const int16_t *${id}_scaled(const int16_t *x)
{
    for (int32_t j = 0; j < $features; j++)
        ${id}_row[j] = (int16_t)(((int32_t)x[j] * ${id}_steps[j] + 16384) >> 15);
    return ${id}_row;
}

/*** fixed_expansion ***/
/* Support vectors $id: add the coefficients times the kernel values. */
static void ${id}_add(const int16_t *x, int64_t *scores)
{
    int64_t sums[$outputs] = {0};
    x = $row;
    for (int32_t i = 0; i < $count; i++) {
        const int64_t g = ${id}_kernel(x, i);
        for (int32_t k = 0; k < $outputs; k++)
            sums[k] += ${id}_coefficients[i * $outputs + k] * g;
    }
    for (int32_t k = 0; k < $outputs; k++)
        scores[k] += $moved;
}

/*** sine ***/
/* Return the sine of an angle in units of 2^-15; the angle is in units of 2^-32 turns. */
static int32_t sine(uint32_t angle)
{
    const uint32_t within = angle & 0x3fffffff;
    const uint32_t t = angle & 0x40000000 ? 0x40000000 - within : within;
    const uint16_t *entry = quarter + (t >> 22);
    const int32_t rise = entry[1] - entry[0];
    const int32_t value = entry[0] + ((rise * (int32_t)((t >> 7) & 0x7fff) + 16384) >> 15);
    return angle & 0x80000000 ? -value : value;
}

/*** fixed_fourier: sine ***/
/* Add the weighted cosines and sines of the products with the frequencies $id. The angles are in
   turns; their overflow is intended. */
static void ${id}_add(const int16_t *x, int64_t *scores)
{
    int64_t sums[$outputs] = {0};
    for (int32_t i = 0; i < $count; i++) {
        const uint32_t *frequency = ${id}_frequencies + i * $features;
        uint32_t angle = ${id}_phases[i];
        for (int32_t j = 0; j < $features; j++)
            angle += frequency[j] * (uint32_t)(int32_t)x[j];
        const int32_t a = sine(angle + 0x40000000), b = sine(angle);
        for (int32_t k = 0; k < $outputs; k++) {
            const int16_t *w = ${id}_weights + 2 * (i * $outputs + k);
            sums[k] += w[0] * a + w[1] * b;
        }
    }
    for (int32_t k = 0; k < $outputs; k++)
        scores[k] += $moved;
}

/*** fixed_bends ***/
/* Compress the features of heavy tails by a logarithm that is linear between powers of two. */
static const int16_t *${id}_bend(const int16_t *x)
{
    int16_t *z = ${id}_bent_row;
    memcpy(z, x, $features * sizeof(int16_t));
    for (int32_t k = 0; k < $bends; k++) {
        const int32_t j = ${id}_bent[k], drop = ${id}_drops[k];
$missing        const int64_t u = ${id}_slopes[k] * x[j] + ${id}_distances[k];
        const int64_t one = INT64_C(1) << ${id}_fractions[k];
        int64_t size = one + (u < 0 ? -u : u), far = -one;
        for (; size >= 2 * one; size >>= 1)
            far += one;
        far = (far + size + (drop > 0 ? INT64_C(1) << (drop - 1) : 0)) >> drop;
        z[j] = (int16_t)(u < 0 ? -far : far);
    }
    return z;
}

/*** fixed_groups ***/
/* Put the orders of one-hot columns in the place of the first columns of each group. */
static const int16_t *${id}_orders(const int16_t *x)
{
    int16_t *z = ${id}_row;
    memcpy(z, x, $features * sizeof(int16_t));
    for (int32_t g = 0; g < $groups; g++) {
        const int32_t first = ${id}_borders[g], end = ${id}_borders[g + 1];
        for (int32_t a = 0; a < $orders && first + a < end; a++) {
            int32_t sum = ${id}_bases[g * $orders + a];
            for (int32_t k = first; k < end; k++)
                sum += x[${id}_members[k]] > ${id}_middles[k] ? ${id}_onsets[k * $orders + a] : 0;
            z[${id}_members[first + a]] = (int16_t)(sum > 32767 ? 32767
                                                    : sum < -32767 ? -32767 : sum);
        }
    }
    return z;
}

/*** fixed_gaps ***/
/* Put guesses in the place of missing values. Then append two sums over the missing values and,
   at the end, two columns for each feature that has gaps. */
static const int16_t *${id}_filled(const int16_t *x)
{
    int16_t *z = ${id}_z;
    int32_t first = 0, second = 0;
    for (int32_t j = 0; j < $features; j++)
        z[j] = x[j] == INT16_MIN ? ${id}_centers[j] : x[j];
    for (int32_t k = 0; k < $gaps; k++) {
        const int32_t source = ${id}_sources[k];
        const int16_t *guess = ${id}_guesses + k * $givers, *ends = ${id}_ends + 2 * source;
        int64_t p = ${id}_starts[k];
        z[$sides + 2 * k] = z[source];
        if (x[source] != INT16_MIN)
            continue;
        for (int32_t j = 0; j < $givers; j++) {
            const int32_t giver = ${id}_givers[j], q = z[giver];
            const int32_t least = ${id}_ends[2 * giver], most = ${id}_ends[2 * giver + 1];
            p += guess[j] * ((q > most ? most : q < least ? least : q) - ${id}_centers[giver]);
        }
        p >>= ${id}_moves[k];
        z[$sides + 2 * k] = (int16_t)(p > ends[1] ? ends[1] : p < ends[0] ? ends[0] : p);
        first += ${id}_missed[2 * k];
        second += ${id}_missed[2 * k + 1];
    }
    z[$features] = (int16_t)first;
    z[$features + 1] = (int16_t)second;
    /* Only now, so that guesses are computed from given values and not from other guesses. */
    for (int32_t k = 0; k < $gaps; k++) {
        int16_t *side = z + $sides + 2 * k;
        const int is_missing = x[${id}_sources[k]] == INT16_MIN;
        z[${id}_sources[k]] = side[0];
        side[1] = is_missing ? ${id}_places[2 * k + 1] : side[0];
        side[0] = is_missing ? ${id}_places[2 * k] : side[0];
    }
    return z;
}

/*** fixed_products ***/
/* Append the products of a row with the directions of the trees. */
static const int16_t *${id}_products(const int16_t *x)
{
$begin
    for (int32_t m = 0; m < $directions; m++) {
        const int16_t *direction = ${id}_directions + m * $axes;
        int64_t p = ${id}_offsets[m];
        for (int32_t j = 0; j < $axes; j++)
            p += (int32_t)direction[j] * ${id}_z[j];
        p >>= ${id}_shifts[m];
        ${id}_z[$axes + m] = (int16_t)(p > 32767 ? 32767 : p < -32767 ? -32767 : p);
    }
    return ${id}_z;
}

/*** fixed_trees ***/
/* Add the weights of the row's leaf in each tree; scoring.c describes the order of the nodes. */
static void ${id}_add(const int16_t *x, int64_t *scores)
{
    const ${id}_node *tree = ${id}_nodes;
    const int16_t *weights = ${id}_weights;
    int32_t sums[$outputs] = {0};
    x = $row;
    for (int32_t t = 0; t < $trees; t++) {
        int32_t at = 0, end = ${id}_sizes[t], leaf = 0;
        while (at < end) {
            const int32_t behind = at + 1 + tree[at].left;
            const int is_right = x[tree[at].feature] > tree[at].cut;
            leaf += is_right ? behind - at : 0;
            at = is_right ? behind : at + 1;
            end = is_right ? end : behind;
        }
        for (int32_t k = 0; k < $outputs; k++)
            sums[k] += weights[leaf * $outputs + k];
        tree += ${id}_sizes[t];
        weights += (${id}_sizes[t] + 1) * $outputs;
    }
    for (int32_t k = 0; k < $outputs; k++)
        scores[k] += $moved;
}

/*** fixed_entries ***/
int16_t ${prefix}_feature(int32_t j, int32_t value, int32_t bits)
{
    int32_t shift = ${prefix}_bits[j] - bits;
    int64_t q = value;
    if (shift >= 0) {
        q *= INT64_C(1) << (shift > 31 ? 31 : shift);
    } else {
        shift = shift < -62 ? 62 : -shift;
        q = (q + (INT64_C(1) << (shift - 1))) >> shift;
    }
    q -= ${prefix}_zeros[j];
    return (int16_t)(q > 32767 ? 32767 : q < -32767 ? -32767 : q);
}

static int32_t saturated(int64_t score)
{
    return (int32_t)(score > INT32_MAX ? INT32_MAX : score < -INT32_MAX ? -INT32_MAX : score);
}

int ${prefix}_score(const int16_t *x, int32_t *scores)
{
    int64_t sums[$outputs];
$work
    for (int32_t k = 0; k < $outputs; k++)
        scores[k] = saturated(sums[k]);
    return ${PREFIX}_OK;
}

/*** fixed_predict_class ***/
static int32_t winner(const int32_t *scores)
{
$winner
}

int32_t ${prefix}_predict(const int16_t *x)
{
    int32_t scores[$outputs];
    ${prefix}_score(x, scores);
    return winner(scores);
}

/*** fixed_predict_target ***/
int ${prefix}_predict(const int16_t *x, int32_t *target)
{
    return ${prefix}_score(x, target);
}

/*** fixed_declare_predict_target ***/
/* Write the prediction. */
int ${prefix}_predict(const int16_t *x, int32_t *target);

/*** fixed_declare_predict_class ***/
/* Return the class number. */
int32_t ${prefix}_predict(const int16_t *x);
