/* A race of experts that learn the same stream, and their vote. The names of functions and
   fields of expert k begin with `e<k>_`. Each expert has the same code as a single model. See
   scoring.c. */

/*** race_classes ***/
static real loss_of(int32_t k)
{
    return (losses[k] + 1) / (counts[k] + 2);
}

/* Return 1 for a mistake, else 0. */
static real loss_at(const real *answer, real y)
{
    int32_t best = 0;
    if ($outputs == 1)
        return (answer[0] > 0) != (y > 0);
    for (int32_t k = 1; k < $outputs; k++)
        if (answer[k] > answer[best])
            best = k;
    return best != (int32_t)y;
}

/* Return the error of an answer at output k. A single output counts as two. */
static real error_at(const real *answer, int32_t k, real y)
{
    if ($outputs == 1)
        return (answer[0] - (y > 0 ? 1 : -1)) * $single;
    return answer[k] - (k == (int32_t)y);
}

/* For classes, do nothing: the answers need no limits. */
static void bound(real *answer)
{
    (void)answer;
}

/* Convert the scores of an expert to its answer. */
static void give(real link, const real *scores, real *own)
{
    real sum = 0;
    if ($outputs == 1) {
        const real held = scores[0] > 1 ? 1 : scores[0] < -1 ? -1 : scores[0];
        own[0] = link > 0 ? 2 / (1 + EXP(-link * scores[0])) - 1 : held;
        return;
    }
    real largest = scores[0];
    for (int32_t k = 1; k < $outputs; k++)
        largest = scores[k] > largest ? scores[k] : largest;
    for (int32_t k = 0; k < $outputs; k++) {
        const real level = (1 + scores[k]) / 2;
        if (link < 0)
            own[k] = EXP(-link * (scores[k] - largest));
        else
            own[k] = link > 0 ? 1 / (1 + EXP(-link * scores[k])) : level > 0 ? level : 0;
        own[k] += $least;
        sum += own[k];
    }
    for (int32_t k = 0; k < $outputs; k++)
        own[k] /= sum;
}

/* Return whether the recent loss of the vote is significantly above its usual loss. */
static int is_worse(real usual, real lately)
{
    const real rest = usual < 1 ? 1 - usual : 0;
    return lately > usual + $worse * SQRT(usual * rest / $few);
}

/*** race_targets ***/
static real loss_of(int32_t k)
{
    return counts[k] > 0 ? losses[k] / counts[k] : 0;
}

static real loss_at(const real *answer, real y)
{
    return (answer[0] - y) * (answer[0] - y);
}

static real error_at(const real *answer, int32_t k, real y)
{
    return answer[k] - y;
}

/* Clip an answer to the range of the targets seen, with a margin. */
static void bound(real *answer)
{
    const real reach = $margin * (most_seen - least_seen);
    if (n_ranges == 0)
        return;
    if (answer[0] < least_seen - reach)
        answer[0] = least_seen - reach;
    if (answer[0] > most_seen + reach)
        answer[0] = most_seen + reach;
}

/* Convert the scores of an expert to its answer. */
static void give(real link, const real *scores, real *own)
{
    (void)link;
    own[0] = scores[0];
    bound(own);
}

/* Return whether the recent loss of the vote is significantly above its usual loss. */
static int is_worse(real usual, real lately)
{
    return lately > 2 * usual;
}

/*** race_vote: cholesky ***/
/* Compute the shares of the experts from their losses; those that are not in `among` get 0.
   Return the share of the combination, relative to the sum over all these experts. */
static real weigh(const int32_t *among, real *shares)
{
    real least = -1, sum = 0, unit = 1;
    for (int32_t k = 0; k < $experts; k++) {
        shares[k] = among[k] ? SQRT(loss_of(k)) : 0;
        if (among[k] && (least < 0 || shares[k] < least))
            least = shares[k];
    }
    if ($relative && least > 0)
        unit = least;
    for (int32_t k = 0; k < $experts; k++)
        if (among[k]) {
            shares[k] = EXP($sharpness * (least - shares[k]) / unit);
            sum += shares[k];
        }
    for (int32_t k = 0; k < $experts; k++)
        shares[k] /= sum;
    if (!(counts[$experts + 2] > 0))
        return 0;
    return EXP($sharpness * (least - SQRT(loss_of($experts + 2))) / unit) / sum;
}

/* Compute the weights with sum 1 that minimise the mean squared error (Bates and Granger 1969).
   While few errors are known, they stay near the shares. */
static void combine_voters(void)
{
    real unknown[$experts], moved[$experts], least = 0, fewest = 0, level, first = 0, second = 0;
    int32_t places[$experts], n = 0;
    for (int32_t k = 0; k < $experts; k++) {
        weights[k] = shares[k];
        if (awake[k])
            places[n++] = k;
    }
    for (int32_t i = 0; i < n; i++)
        if (i == 0 || met[places[i]] < fewest)
            fewest = met[places[i]];
    if (!(fewest > 0))
        return;
    for (int32_t i = 0; i < n; i++)
        for (int32_t j = 0; j <= i; j++) {
            const int32_t pair = places[i] * $experts + places[j];
            /* Divide by the geometric mean of both: the product itself may overflow or
               underflow. */
            mean_errors[i * $experts + j] = errors[pair] / met[places[i]]
                * SQRT(met[places[i]] / met[places[j]]);
            if (i == j && (i == 0 || mean_errors[i * ($experts + 1)] < least))
                least = mean_errors[i * ($experts + 1)];
        }
    level = $prior * least / fewest;
    for (int32_t i = 0; i < n; i++) {
        mean_errors[i * ($experts + 1)] += level;
        unknown[i] = level * shares[places[i]];
        moved[i] = 1;
    }
    if (!factor_errors(mean_errors, n, $experts))
        return;
    solve_errors(mean_errors, n, $experts, unknown);
    solve_errors(mean_errors, n, $experts, moved);
    for (int32_t i = 0; i < n; i++) {
        first += unknown[i];
        second += moved[i];
    }
    if (second > 0 && is_finite(second) && is_finite(first))
        for (int32_t i = 0; i < n; i++)
            weights[places[i]] = unknown[i] + moved[i] * (1 - first) / second;
}

/* Compute the answer of the awake experts from the scores of all, and the answer of their
   combination. */
static void answer_of_voters(real *out)
{
    const real own = weigh(awake, shares);
    combine_voters();
    for (int32_t c = 0; c < $outputs; c++)
        out[c] = combined[c] = 0;
    for (int32_t k = 0; k < $experts; k++) {
        real *opinion = opinions + k * $outputs;
        if (!awake[k])
            continue;
        give(links[k], race_scores + k * $outputs, opinion);
        for (int32_t c = 0; c < $outputs; c++) {
            out[c] += (shares[k] + own * weights[k]) / (1 + own) * opinion[c];
            combined[c] += weights[k] * opinion[c];
        }
    }
    bound(out);
    bound(combined);
}

static void body(const row *x, real *scores)
{
$bodies
    answer_of_voters(scores);
}

/*** race_learn: all_finite ***/
/* Choose the experts that vote on the next $segment samples. At first and after an alarm, all of
   them do. Later, those with the largest shares do, as long as their total cost is within the
   limit. */
static void choose_voters(void)
{
    real left = $left, most = 0;
    int32_t best_of_all = 0, chosen[$experts];
    if (is_worse(loss_of($experts), loss_of($experts + 1)))
        alarm = seen + $alarm;
    for (int32_t k = 0; k < $experts; k++)
        awake[k] = 1;
    if (seen < $trial || seen < alarm)
        return;
    weigh(awake, shares);
    for (int32_t k = 0; k < $experts; k++) {
        chosen[k] = 0;
        if (shares[k] > most) {
            best_of_all = k;
            most = shares[k];
        }
    }
    for (int32_t n = 0; n < $experts; n++) {
        int32_t next = -1, stays = 0;
        for (int32_t k = 0; k < $experts; k++) {
            const int32_t own = k == best_of_all || seen < patience[k];
            if (!chosen[k] && (next < 0 || own > stays || (own == stays && shares[k] > shares[next]))) {
                next = k;
                stays = own;
            }
        }
        chosen[next] = 1;
        awake[next] = stays || costs[next] <= $little
            || (shares[next] >= $least_weight * most && costs[next] <= left);
        if (awake[next])
            left -= costs[next];
    }
}

static void note(int32_t k, real loss, real weight, real decay)
{
    losses[k] = decay * losses[k] + weight * loss;
    counts[k] = decay * counts[k] + weight;
}

/* Return the largest count of an expert. */
static real most_counted(void)
{
    real most = 0;
    for (int32_t k = 0; k < $experts; k++)
        most = counts[k] > most ? counts[k] : most;
    return most;
}

/* Reset all losses if one early, far-off target dominates them. This is assumed if for more than
   half of the experts the loss of this sample is negligible compared with the accumulated one. */
static void forget_swamped(real y, real weight)
{
    real least = 0;
    int32_t n = 0, small = 0;
    if (!$relative || most_counted() > $early_count * weight)
        return;
    for (int32_t k = 0; k < $experts; k++)
        if (fed[k] && (n++ == 0 || losses[k] < least))
            least = losses[k];
    for (int32_t k = 0; k < $experts; k++)
        if (fed[k] && weight * loss_at(race_scores + k * $outputs, y) < $swamped * least)
            small++;
    if (2 * small <= n)
        return;
    for (int32_t k = 0; k < $experts + 3; k++)
        losses[k] = counts[k] = 0;
    for (int32_t k = 0; k < $experts; k++) {
        met[k] = 0;
        for (int32_t j = 0; j < $experts; j++)
            errors[k * $experts + j] = 0;
    }
}

/* Return the factor by which a sample of this weight discounts the earlier losses of the
   experts. */
static real discount_of(real weight)
{
    const real most = most_counted();
    real found;
    if (weight > most)
        found = most / weight * most / weight / 3;
    else
        found = 1 - $early * weight / most;
    return found < $decay ? found : $decay;
}

/* Update the losses of the experts, and the products of their errors. */
static void note_sample(const real *answer, real y, real weight)
{
    real discount, half;
    forget_swamped(y, weight);
    discount = discount_of(weight);
    half = SQRT(discount);
    note($experts, loss_at(answer, y), weight, $decay);
    note($experts + 1, loss_at(answer, y), weight, $lately);
    note($experts + 2, loss_at(combined, y), weight, discount);
    for (int32_t k = 0; k < $experts; k++) {
        note(k, fed[k] ? loss_at(race_scores + k * $outputs, y) : 0, fed[k] ? weight : 0, discount);
        if (fed[k])
            met[k] = discount * met[k] + weight;
        for (int32_t j = 0; j <= k; j++) {
            real product_of_two = 0;
            if (fed[k] != fed[j])
                errors[k * $experts + j] *= half;
            if (!fed[k] || !fed[j])
                continue;
            for (int32_t c = 0; c < $outputs; c++)
                product_of_two += error_at(opinions + k * $outputs, c, y)
                    * error_at(opinions + j * $outputs, c, y);
            errors[k * $experts + j] = discount * errors[k * $experts + j] + weight * product_of_two;
        }
    }
}

/* Train all experts whose turn it is. If one of them would fail, none learns; a dry run finds
   out. */
static int learn(const row *x, real y, real weight)
{
    const int32_t turn = (int32_t)(($rest - seen / $segment % $rest) % $rest);
    real answer[$outputs];
    int status = ${PREFIX}_OK;
    if (!(weight > 0))
        return ${PREFIX}_OK;
    for (int32_t k = 0; k < $experts; k++)
        fed[k] = awake[k] || k % $rest == turn;
    dry_run[0] = 1;
$tries
    dry_run[0] = 0;
    if (status != ${PREFIX}_OK)
        return status;
    answer_of_voters(answer);
    for (int32_t k = 0; k < $experts; k++)
        if (fed[k] && !awake[k])
            give(links[k], race_scores + k * $outputs, opinions + k * $outputs);
    if (!all_finite(answer, $outputs) || !is_finite(loss_at(answer, y)))
        return ${PREFIX}_NOT_FINITE;
$learns
$noted
    seen += 1;
    if (seen % $segment == 0)
        choose_voters();
    return ${PREFIX}_OK;
}

/*** race_note_targets ***/
    if (n_ranges > 0)
        note_sample(answer, y, weight); /* one target has no scale of errors */
    least_seen = n_ranges == 0 || y < least_seen ? y : least_seen;
    most_seen = n_ranges == 0 || y > most_seen ? y : most_seen;
    n_ranges = 1;

/*** dry_run ***/
    if (dry_run[0]) {
$restore
        for (int32_t k = 0; k < $outputs; k++)
            shown[k] = $shown;
        return ${PREFIX}_OK;
    }
