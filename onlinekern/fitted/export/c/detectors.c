/* Detectors: the offset of their scores, means of features, and leverages. See scoring.c. */

/*** recent_scores ***/
/* The k-th smallest of the n newest scores, from 0 on: passes from one to the next larger. */
static real ranked(int32_t n, int32_t k)
{
    const int32_t first = (int32_t)((recent_count - n) % $kept);
    real found = recent[first];
    for (int32_t j = 1; j < n; j++)
        if (recent[(first + j) % $kept] < found)
            found = recent[(first + j) % $kept];
    for (int32_t below = 0;;) {
        real next = found;
        for (int32_t j = 0; j < n; j++) {
            const real score = recent[(first + j) % $kept];
            below += score <= found && score >= found;
            if (score > found && (next <= found || score < next))
                next = score;
        }
        if (below > k || next <= found)
            return found;
        found = next;
    }
}

/* The score that a sample had before it was learnt. The offset is a quantile of the last half, found
   anew after 1, 2, 4 ... $every, and then after each $every. */
static void note_score(real score)
{
    const int32_t kept = recent_count / 2 < $kept ? (int32_t)(recent_count / 2) + 1 : $kept;
    const real wanted = $fraction * (real)(kept + 1) - 1, place = wanted > 0 ? wanted : 0;
    const int32_t below = (int32_t)place;
    real least, next;
    recent[recent_count % $kept] = score;
    recent_count += 1;
    if (recent_count % $every != 0
        && (recent_count > $every || (recent_count & (recent_count - 1)) != 0))
        return;
    least = ranked(kept, below);
    next = below + 1 < kept ? ranked(kept, below + 1) : least;
    offset = least + (place - (real)below) * (next - least);
}

/*** leverage_scores ***/
/* 1 / (1 + v), where v is the variance of a row. */
static void model_scores(const row *phi, real *current, real *predicting)
{
    real variance = 0;
    for (int32_t f = 0; f < phi->n; f++) {
        real sum = 0;
        for (int32_t g = 0; g < phi->n; g++)
            sum += inverse[f * $length + g] * phi->values[g];
        variance += phi->values[f] * sum;
    }
    variance = variance > 0 ? variance : 0;
$fade
$rest
    current[0] = predicting[0] = 1 / (1 + variance);
}

/*** beyond_features ***/
    {
        real rest = own_length[0];
        for (int32_t f = 0; f < phi->n; f++)
            rest -= phi->values[f] * phi->values[f];
        if (rest > $rounding * own_length[0])
            variance += rest / reg;
    }

/*** learn_row ***/
int ${prefix}_learn_one(const real *x)
{
    row prepared;
    return learn_read($follow(x, &prepared), &prepared, 1, 1);
}

int ${prefix}_learn_one_sparse(const int32_t *columns, const real *elements, int32_t n)
{
    row prepared;
    return learn_read($sparse(columns, elements, n, &prepared), &prepared, 1, 1);
}
