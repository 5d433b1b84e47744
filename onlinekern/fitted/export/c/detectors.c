/* Detectors: the offset of their scores, means of features, and leverages. See scoring.c. */

/*** odds_of_score ***/
    score = score > $least ? (score < $most ? score : $most) : $least;
    return -LOG(1 / score - 1);

/*** recent_scores ***/
/* Return a quantile of n residuals. Each pass finds the next larger value, until k are passed. */
static real quantile_of_rests(int32_t n, real fraction)
{
    const real wanted = fraction * (real)(n + 1) - 1, place = wanted > 0 ? wanted : 0;
    const int32_t k = (int32_t)place;
    real found = rests[0];
    for (int32_t j = 1; j < n; j++)
        if (rests[j] < found)
            found = rests[j];
    for (int32_t below = 0;;) {
        real next = found;
        for (int32_t j = 0; j < n; j++) {
            below += rests[j] <= found && rests[j] >= found;
            if (rests[j] > found && (next <= found || rests[j] < next))
                next = rests[j];
        }
        if (below > k || next <= found) {
            const real after = below > k + 1 ? found : next;
            return found + (place - (real)k) * (after - found);
        }
        found = next;
    }
}

/* Transform a score to the scale on which its trend is linear, and back. */
static real linked_score(real score)
{
$linked
}

static real unlinked_score(real found)
{
$unlinked
}

/* Return the variable in which the trend is linear, for a score of this age and number. */
static real time_of(real age, real number)
{
    return $time;
}

/* Return this variable for the j-th of the n newest scores. */
static real time_of_newest(int32_t n, int32_t j)
{
    return time_of((real)(n - 1 - j), (real)(recent_count - n + j + 1));
}

/* Clip a number to an interval. */
static real between(real number, real least, real most)
{
    return number < least ? least : number > most ? most : number;
}

/* Store the score that a sample had before it was learnt. The offset is a quantile of the newer
   half of the scores, taken around their trend. It is computed again each time the number of
   samples has grown by 1/32 to 1/16, but at least after every $every samples. */
static void note_score(real score)
{
    const int32_t kept = recent_count / 2 < $kept ? (int32_t)(recent_count / 2) + 1 : $kept;
    const int32_t newest = kept / $trend_from;
    int32_t first, step = 1;
    real last, level = 0, middle = 0, spread = 0, slope = 0, most = 0, low, high, ahead, found;
    recent[recent_count % $kept] = score;
    recent_count += 1;
    while (step < $every && recent_count / 32 >= step)
        step *= 2;
    if (recent_count % step != 0)
        return;
    first = (int32_t)((recent_count - kept) % $kept);
    if (kept < $trend_from) {
        for (int32_t j = 0; j < kept; j++)
            rests[j] = recent[(first + j) % $kept];
        offset = quantile_of_rests(kept, $fraction);
        return;
    }
    for (int32_t j = 0; j < kept; j++)
        rests[j] = -linked_score(recent[(first + j) % $kept]);
    high = -quantile_of_rests(kept, $tail);
    for (int32_t j = 0; j < kept; j++)
        rests[j] = -rests[j];
    low = quantile_of_rests(kept, $tail);
    /* What is far from the others counts for the trend as if it were nearer. */
    found = $far * (high - low);
    low -= found;
    high += found;
    last = between(rests[kept - 1], low, high);
    for (int32_t j = 0; j < kept; j++) {
        const real near = between(rests[j], low, high) - last;
        level += near / (real)kept;
        middle += time_of_newest(kept, j) / (real)kept;
        if (j >= kept - newest)
            most += near / (real)newest;
    }
    for (int32_t j = 0; j < kept; j++) {
        const real apart = time_of_newest(kept, j) - middle;
        spread += apart * apart;
        slope += apart * (between(rests[j], low, high) - last);
    }
    slope /= spread;
    for (int32_t j = 0; j < kept; j++)
        rests[j] -= last + level + slope * (time_of_newest(kept, j) - middle);
    /* The trend is fitted to n numbers, so it lies closer to them than to the next one; correct
       that. */
    found = (real)(step + 1) / 2;
    ahead = time_of(-found, (real)recent_count + found) - middle;
    found = 1 + 1 / (real)kept + ahead * ahead / spread;
    found = SQRT(found / (1 - 2 / (real)kept)) * quantile_of_rests(kept, $fraction);
    found += level + slope * ahead;
    offset = unlinked_score(last + (found < most ? found : most));
}

/*** leverage_scores ***/
/* Return 1 / (1 + v), where v is the variance of a row. */
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
