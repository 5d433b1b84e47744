/* The functions that a header declares. See scoring.c. */

/*** types ***/
typedef ${prefix}_real real;

/* A row: n values, of the columns if there are some, else of the first n features. */
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
/* Read `dense_row` as it is to be scored. */
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
/* Scale the row that was read, for those that score it scaled. */
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
/* Learn a row that was read with this status; the moments have learnt it already. */
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
/* Means and variances of the rows so far (West 1979). */
static void follow(const real *x)
{
    real share;
    moments_before = moments;
    moments.weight = $forgetting * moments.weight + 1;
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
