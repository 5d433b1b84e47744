/* The functions that a header declares. See scoring.c. */

/*** types ***/
typedef ${prefix}_real real;

/* Make a row of n values. Without column numbers, they are those of the first n features. */
typedef struct {
    const real *values;
    const int32_t *columns;
    int32_t n;
} row;

/*** checked_columns: all_finite none_infinite ***/
static int check(const int32_t *columns, const real *values, int32_t n)
{
    if (n < 0 || n > ${PREFIX}_N_FEATURES)
        return ${PREFIX}_BAD_COLUMN;
    for (int32_t j = 0; j < n; j++)
        if (columns[j] < 0 || columns[j] >= ${PREFIX}_N_FEATURES
            || (j > 0 && columns[j] <= columns[j - 1]))
            return ${PREFIX}_BAD_COLUMN;
    return $taken(values, n) ? ${PREFIX}_OK : ${PREFIX}_NOT_FINITE;
}

/*** direct: checked_columns ***/
static int read_dense(const real *x, row *out)
{
    out->values = x;
    out->columns = 0;
    out->n = $features;
    return $taken(x, $features) ? ${PREFIX}_OK : ${PREFIX}_NOT_FINITE;
}

static int read_sparse(const int32_t *columns, const real *values, int32_t n, row *out)
{
    out->values = values;
    out->columns = columns;
    out->n = n;
    return check(columns, values, n);
}

/*** prepared: checked_columns ***/
/* Transform `dense_row` into the row that is scored. */
static void prepare(row *out)
{
    real *x = dense_row;
$steps
    out->values = x;
    out->columns = 0;
    out->n = $scored;
}

static int read_dense(const real *x, row *out)
{
    if (!$taken(x, $features))
        return ${PREFIX}_NOT_FINITE;
    memcpy(dense_row, x, $features * sizeof(real));
    prepare(out);
    return ${PREFIX}_OK;
}

static int read_sparse(const int32_t *columns, const real *values, int32_t n, row *out)
{
    const int status = check(columns, values, n);
    if (status != ${PREFIX}_OK)
        return status;
    memset(dense_row, 0, $features * sizeof(real));
    for (int32_t j = 0; j < n; j++)
        dense_row[columns[j]] = values[j];
    prepare(out);
    return ${PREFIX}_OK;
}

/*** scaled_in_place ***/
/* Scale the row that was read, for the members that score scaled rows. */
static void scale_row(const row *prepared)
{
    real *x = (real *)prepared->values;
$steps
}

/*** score ***/
static int finish(const row *x, real *scores)
{
    body(x, scores);
    return all_finite(scores, $outputs) ? ${PREFIX}_OK : ${PREFIX}_NOT_FINITE;
}

int ${prefix}_score(const real *x, real *scores)
{
    row prepared;
    const int status = read_dense(x, &prepared);
    return status == ${PREFIX}_OK ? finish(&prepared, scores) : status;
}

int ${prefix}_score_sparse(const int32_t *columns, const real *values, int32_t n, real *scores)
{
    row prepared;
    const int status = read_sparse(columns, values, n, &prepared);
    return status == ${PREFIX}_OK ? finish(&prepared, scores) : status;
}

/*** predict_class ***/
static int32_t winner(const real *scores)
{
$winner
}

int32_t ${prefix}_predict(const real *x)
{
    real scores[$outputs];
    const int status = ${prefix}_score(x, scores);
    return status == ${PREFIX}_OK ? winner(scores) : status;
}

int32_t ${prefix}_predict_sparse(const int32_t *columns, const real *values, int32_t n)
{
    real scores[$outputs];
    const int status = ${prefix}_score_sparse(columns, values, n, scores);
    return status == ${PREFIX}_OK ? winner(scores) : status;
}

/*** predict_target ***/
int ${prefix}_predict(const real *x, real *target)
{
    return ${prefix}_score(x, target);
}

int ${prefix}_predict_sparse(const int32_t *columns, const real *values, int32_t n, real *target)
{
    return ${prefix}_score_sparse(columns, values, n, target);
}

/*** learn_class ***/
int ${prefix}_learn_one(const real *x, int32_t y)
{
    row prepared;
    if (y < 0 || y >= ${PREFIX}_N_CLASSES)
        return ${PREFIX}_BAD_LABEL;
    return learn_read($follow(x, &prepared), &prepared, (real)y, $weight);
}

int ${prefix}_learn_one_sparse(const int32_t *columns, const real *elements, int32_t n, int32_t y)
{
    row prepared;
    if (y < 0 || y >= ${PREFIX}_N_CLASSES)
        return ${PREFIX}_BAD_LABEL;
    return learn_read($sparse(columns, elements, n, &prepared), &prepared, (real)y, $weight);
}

/*** learn_target: is_finite ***/
int ${prefix}_learn_one(const real *x, real y)
{
    row prepared;
    if (!is_finite(y))
        return ${PREFIX}_NOT_FINITE;
    return learn_read($follow(x, &prepared), &prepared, y, 1);
}

int ${prefix}_learn_one_sparse(const int32_t *columns, const real *elements, int32_t n, real y)
{
    row prepared;
    if (!is_finite(y))
        return ${PREFIX}_NOT_FINITE;
    return learn_read($sparse(columns, elements, n, &prepared), &prepared, y, 1);
}

/*** learn_targets: all_finite ***/
int ${prefix}_learn_one(const real *x, const real *y)
{
    row prepared;
    if (!all_finite(y, ${PREFIX}_N_OUTPUTS))
        return ${PREFIX}_NOT_FINITE;
    targets = y;
    return learn_read($follow(x, &prepared), &prepared, y[0], 1);
}

int ${prefix}_learn_one_sparse(const int32_t *columns, const real *elements, int32_t n,
                               const real *y)
{
    row prepared;
    if (!all_finite(y, ${PREFIX}_N_OUTPUTS))
        return ${PREFIX}_NOT_FINITE;
    targets = y;
    return learn_read($sparse(columns, elements, n, &prepared), &prepared, y[0], 1);
}

/*** learn_read ***/
/* Learn a row that was read with this status. */
static int learn_read(int status, const row *x, real y, real weight)
{
    return status == ${PREFIX}_OK ? learn(x, y, weight) : status;
}

/*** learn_followed ***/
/* Learn a row that was read with this status. The moments have been updated by it already. */
static int learn_read(int status, const row *x, real y, real weight)
{
    if (status != ${PREFIX}_OK)
        return status;
    status = learn(x, y, weight);
    if (status != ${PREFIX}_OK)
        moments = moments_before;
    return status;
}

/*** followed_reading ***/
static int follow_dense(const real *x, row *out)
{
    int status;
    following = 1;
    status = read_dense(x, out);
    following = 0;
    return status;
}

static int follow_sparse(const int32_t *columns, const real *elements, int32_t n, row *out)
{
    int status;
    following = 1;
    status = read_sparse(columns, elements, n, out);
    following = 0;
    return status;
}

/*** follow ***/
/* Update means and variances by a row (West 1979). */
static void follow(const real *x)
{
    real share;
    moments_before = moments;
    moments.weight = $forgetting * moments.weight + 1;$begin
    share = 1 / moments.weight;
    for (int32_t j = 0; j < $features; j++) {
$moment
    }
}

/*** near_gap ***/
        const real most = $square * moments.variance[j];
        if (most > 0 && gap * gap > most)
            gap = gap < 0 ? -SQRT(most) : SQRT(most);

/*** centred_moment ***/
        real gap = x[j] - moments.mean[j];
$near
        moments.variance[j] = (1 - share) * (moments.variance[j] + share * gap * gap);
        moments.mean[j] += share * gap;

/*** plain_moment ***/
        moments.variance[j] = (1 - share) * moments.variance[j] + share * x[j] * x[j];

/*** missing_search: is_finite ***/
/* Return whether a number stands for a missing value of feature j: the lowest value if `side` is 1,
   the highest if it is 2. */
static int is_missing(int32_t j, real x)
{
    return (moments.side[j] == 1 && x == moments.low[j])
        || (moments.side[j] == 2 && x == moments.high[j]);
}

/* Add a value of this weight to moments. */
static int add_value(real x, real weight, real *mean, real *variance, real *total)
{
    const real gap = x - *mean;
    if (weight <= 0)
        return 1;
    if (!(FABS(gap) < $farthest))
        return 0;
    *total += weight;
    *mean += weight / *total * gap;
    *variance = (1 - weight / *total) * (*variance + weight / *total * gap * gap);
    return 1;
}

/* Add a value of feature j to those between its ends. */
static void add_between(int32_t j, real x, real weight)
{
    if (!add_value(x, weight, moments.middle + j, moments.spread + j, moments.between + j))
        moments.n_values[j] = -1;
}

/* Take in a value of feature j: its ends, what is next to them, and what is between. */
static void take_in(int32_t j, real x)
{
    const real low = moments.low[j], high = moments.high[j];
    int is_fresh = 1;
    if (x == low) {
        moments.low_count[j] += 1;
        moments.low_weight[j] += 1;
        return;
    }
    if (x == high) {
        moments.high_count[j] += 1;
        moments.high_weight[j] += 1;
        return;
    }
    if (low == high) {
        moments.low_next[j] = moments.high_next[j] = low;
        if (x < low) {
            moments.high_count[j] = moments.low_count[j];
            moments.high_weight[j] = moments.low_weight[j];
            moments.low_count[j] = moments.low_weight[j] = 1;
            moments.low[j] = moments.high_next[j] = x;
        } else {
            moments.high_count[j] = moments.high_weight[j] = 1;
            moments.high[j] = moments.low_next[j] = x;
        }
    } else if (x < low) {
        add_between(j, low, moments.low_weight[j]);
        moments.low_next[j] = low;
        moments.low[j] = x;
        moments.low_count[j] = moments.low_weight[j] = 1;
    } else if (x > high) {
        add_between(j, high, moments.high_weight[j]);
        moments.high_next[j] = high;
        moments.high[j] = x;
        moments.high_count[j] = moments.high_weight[j] = 1;
    } else {
        add_between(j, x, 1);
        is_fresh = x < moments.low_next[j] || x > moments.high_next[j];
        if (x < moments.low_next[j])
            moments.low_next[j] = x;
        if (x > moments.high_next[j])
            moments.high_next[j] = x;
    }
    if (moments.n_values[j] >= 0)
        moments.n_values[j] += (real)is_fresh;
}

/* Whether an end of feature j stands for missing values: it is a gap apart from the others, and so
   many rows have it. */
static int stands_apart(int32_t j, real gap, real range, real count, int known)
{
    if (!(gap >= $still * range) || moments.n_values[j] < 0)
        return 0;
    return known
        || (gap >= $apart * range && count >= $count && count * $one_in >= moments.rows
            && count * $at_most <= moments.rows && moments.n_values[j] > $values
            && moments.rows - moments.low_count[j] - moments.high_count[j] >= $others);
}

/* Look at a value of feature j. Where a number begins to stand for missing values, or does so no
   more, its moments become those of the other values. */
static void look_at(int32_t j, real x)
{
    int side = (int)moments.side[j], changes = 0;
    moments.low_weight[j] *= $forgetting;
    moments.high_weight[j] *= $forgetting;
    moments.between[j] *= $forgetting;
    if ((side == 1 && x < moments.low[j]) || (side == 2 && x > moments.high[j])) {
        side = 0;
        changes = 1;
    }
    take_in(j, x);
    {
        const real low = moments.low[j], high = moments.high[j];
        const real second = moments.low_next[j], before = moments.high_next[j];
        const int found
            = stands_apart(j, second - low, high - second, moments.low_count[j], side == 1) ? 1
            : stands_apart(j, high - before, before - low, moments.high_count[j], side == 2) ? 2
                                                                                             : 0;
        changes = changes || found != side;
        moments.side[j] = (real)found;
        if (changes) {
            real mean = moments.middle[j], variance = moments.spread[j], total = moments.between[j];
            int fits = moments.n_values[j] >= 0;
            if (found != 1)
                fits = fits && add_value(low, moments.low_weight[j], &mean, &variance, &total);
            if (found != 2)
                fits = fits && add_value(high, moments.high_weight[j], &mean, &variance, &total);
            if (fits && total > 0 && is_finite(mean) && is_finite(variance)) {
                moments.mean[j] = mean;
                moments.variance[j] = variance;
            }
        }
    }
}

/*** standardise ***/
static void standardise(real *x)
{
    if (following)
        follow(x);
    for (int32_t j = 0; j < $features; j++) {
$centre
$divide
    }
}

/*** divide_by_deviation ***/
        if (moments.variance[j] > $rounding * moments.mean[j] * moments.mean[j])
            x[j] /= SQRT(moments.variance[j]);

/*** winner_binary ***/
    return scores[0] > 0;

/*** winner_outlier ***/
    return scores[0] >= 0;

/*** winner_classes ***/
    int32_t best = 0;
    for (int32_t k = 1; k < $outputs; k++)
        if (scores[k] > scores[best])
            best = k;
    return best;
