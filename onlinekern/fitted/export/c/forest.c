/* Trees of generated files. See scoring.c. */

/*** scaled_row ***/
/* Scale a row by center and spread of its features. Double precision keeps close dates apart.
   NaN is a missing value. */
static void ${id}_scale(const real *x)
{
    for (int32_t j = 0; j < $features; j++) {
        const double own = ((double)x[j] - ${id}_center[j]) * ${id}_factor[j];
        const double z = own == own ? own : 0;
        ${id}_z[j] = (float)(z > $farthest ? $farthest : z < -$farthest ? -$farthest : z);
    }
$more
}

/*** bend_columns ***/
    for (int32_t k = 0; k < $bends; k++) {
        const int32_t j = ${id}_bent[k];
        const double u = ((double)x[j] - ${id}_bend_centers[k]) * ${id}_bend_factors[k];
        const double size = 1 + (u < -$most ? $most : u < 0 ? -u : u > $most ? $most : u);
        /* The exponent, plus the mantissa: a logarithm that is linear between powers of two. */
        int64_t bits;
        memcpy(&bits, &size, sizeof bits);
        const double far = (double)(bits - ((int64_t)1023 << 52)) * 0x1p-52;
        const double own = ((u < 0 ? -far : far) - ${id}_center[j]) * ${id}_factor[j];
        const double z = u == u ? own : 0;
        ${id}_z[j] = (float)(z > $farthest ? $farthest : z < -$farthest ? -$farthest : z);
    }

/*** group_columns ***/
    for (int32_t g = 0; g < $groups; g++) {
        const int32_t first = ${id}_starts[g], end = ${id}_starts[g + 1];
        const int32_t own = end - first < $orders ? end - first : $orders;
        const int32_t *axes = ${id}_members + first;
        for (int32_t a = 0; a < own; a++)
            ${id}_z[axes[a]] = ${id}_bases[g * $orders + a];
        for (int32_t k = first; k < end; k++)
            for (int32_t a = 0; a < own && (double)x[${id}_members[k]] > ${id}_middles[k]; a++)
                ${id}_z[axes[a]] += ${id}_onsets[k * $orders + a];
    }

/*** gap_columns ***/
    double first = 0, second = 0;
    for (int32_t k = 0; k < $gaps; k++) {
        const int32_t source = ${id}_sources[k];
        float *side = ${id}_z + $sides + 2 * k;
        double sum = 0;
        side[0] = ${id}_z[source];
        side[1] = 0;
        if (x[source] == x[source])
            continue;
        for (int32_t j = 0; j < $givers; j++) {
            const float given = ${id}_z[${id}_givers[j]];
            const float held = given > $most ? $most : given < -$most ? -$most : given;
            sum += (double)${id}_guesses[k * $givers + j] * (double)held;
        }
        side[0] = (float)(sum > $most ? $most : sum < -$most ? -$most : sum);
        side[1] = 1;
        first += (double)${id}_missed[2 * k];
        second += (double)${id}_missed[2 * k + 1];
    }
    ${id}_z[$number] = (float)(first - ${id}_means[0]);
    ${id}_z[$number + 1] = (float)(second - ${id}_means[1]);
    /* Only now, so that guesses are computed from given values and not from other guesses. */
    for (int32_t k = 0; k < $gaps; k++) {
        float *side = ${id}_z + $sides + 2 * k;
        const int is_missing = side[1] > 0;
        ${id}_z[${id}_sources[k]] = side[0];
        side[1] = is_missing ? ${id}_places[2 * k + 1] : side[0];
        side[0] = is_missing ? ${id}_places[2 * k] : side[0];
    }

/*** table_columns ***/
    for (int32_t k = 0; k < $tables; k++) {
        const ${id}_table table = ${id}_tables[k];
        const real value = x[table.source];
        int32_t entry = value == value ? 0 : 1;
        if (value >= 0 && value < (real)(table.size - 2))
            entry = 2 + (int32_t)value;
        ${id}_z[table.column] = ${id}_entries[table.first + entry];
    }

/*** row_products ***/
    for (int32_t m = 0; m < $directions; m++)
        ${id}_z[$axes + m] = 0;
    for (int32_t j = 0; j < $axes; j++)
        for (int32_t m = 0; m < $directions; m++) {
            /* Two statements, so that product and sum are rounded separately. */
            const float product = ${id}_z[j] * ${id}_directions[j * $directions + m];
            ${id}_z[$axes + m] += product;
        }

/*** trees ***/
/* Add the weights of the row's leaf in each tree. A node is followed by its left subtree and
   then by its right one. A subtree of n nodes has n + 1 leaves. */
static void ${id}_add(const row *x, real *scores)
{
    const ${id}_node *tree = ${id}_nodes;
    const real *weights = ${id}_weights;
    ${id}_scale(x->values);
    for (int32_t t = 0; t < $trees; t++) {
        int32_t at = 0, end = ${id}_sizes[t], leaf = 0;
        while (at < end) {
            const int32_t behind = at + 1 + tree[at].left;
            const int is_right = ${id}_z[tree[at].feature] > tree[at].cut;
            leaf += is_right ? behind - at : 0;
            at = is_right ? behind : at + 1;
            end = is_right ? end : behind;
        }
        for (int32_t k = 0; k < $outputs; k++)
            scores[k] += weights[leaf * $outputs + k];
        tree += ${id}_sizes[t];
        weights += (${id}_sizes[t] + 1) * $outputs;
    }
}

/*** forest_cells ***/
/* Find the cells of a row: its leaf in each tree, and the ancestor of this leaf at depth $level,
   or -1 if the leaf is not below this depth. */
static void find_cells(const row *x)
{
    const trees_node *tree = trees_nodes;
    int32_t first = 0;
    trees_scale(x->values);
    for (int32_t t = 0; t < $trees; t++) {
        int32_t at = 0, end = trees_sizes[t], leaf = 0, depth = 0, turns = 1;
        while (at < end) {
            const int32_t behind = at + 1 + tree[at].left;
            const int is_right = trees_z[tree[at].feature] > tree[at].cut;
            leaf += is_right ? behind - at : 0;
            at = is_right ? behind : at + 1;
            end = is_right ? end : behind;
            turns = depth < $level ? 2 * turns + is_right : turns;
            depth += 1;
        }
        leaf_of[t] = first + leaf;
        upper_of[t] = depth > $level ? t * $cells + turns - $cells : -1;
        tree += trees_sizes[t];
        first += trees_sizes[t] + 1;
    }
}

/*** forest_scores ***/
/* Compute scores and variances of the experts. A record holds the weights of all experts, then
   their variances. The last experts also use the upper cells. */
static void score_experts(const row *x)
{
$sums
    find_cells(x);
    memset(sums, 0, $length * sizeof(real));
    memset(above, 0, ($both + 1) * sizeof(real));
    for (int32_t t = 0; t < $trees; t++) {
        for (int32_t j = 0; j < $length; j++)
            sums[j] += (real)leaves[leaf_of[t] * $length + j];
        for (int32_t j = 0; upper_of[t] >= 0 && j < $both; j++)
            above[j] += (real)upper[upper_of[t] * $both + j];
    }
    for (int32_t e = 0; e < $experts; e++) {
        const int32_t own = e - $lower;
        const real share = expert_shares[e];
        for (int32_t k = 0; k < $outputs; k++)
            scored[e * $outputs + k] = share * (sums[e * $outputs + k]
                                                + (own < 0 ? 0 : above[own * $outputs + k]));
        expert_variances[e] = share * share * (sums[$experts * $outputs + e]
            + (own < 0 ? 0 : above[($experts - $lower) * $outputs + own]));
    }
}

/*** forest_body ***/
static void body(const row *x, real *scores)
{
    score_experts(x);
    for (int32_t k = 0; k < $outputs; k++) {
        scores[k] = 0;
        for (int32_t e = 0; e < $experts; e++)
            scores[k] += combination[e] * scored[e * $outputs + k];
        scores[k] = $offset + $unit * scores[k];
    }
}

/*** no_contraction ***/
static real rule_contraction(real f, real y, real q, real importance)
{
    (void)f;
    (void)y;
    (void)q;
    (void)importance;
    return 0;
}

/*** forest_goal ***/
/* Return the target of output k. */
static real goal_of(int32_t k, real y)
{
    (void)k;
    (void)y;
    return $goal;
}

/*** forest_held: all_finite ***/
/* Return the value to learn in place of the target y of output k. A target far from the mean and
   from the prediction is an outlier if predictions are usually good, but have not been on the side
   of such far targets before. It is then replaced by a value near the prediction. */
static real hold(int32_t k, real y, real *own)
{
    const real mean = $offset, deviation = $unit, limit = $longest * own[1];
    real score = 0, near, held = y, gap;
    for (int32_t e = 0; e < $experts; e++)
        score += combination[e] * scored[e * $outputs + k];
    const real f = mean + deviation * score, error = y - f, goal = (y - mean) / deviation;
    near = error < 0 ? -error : error;
    (void)k;
    if (!is_finite(near) || !(goal <= $farthest && goal >= -$farthest))
        return y;
    if (own[0] >= $fewest && near > limit && (goal > $far || goal < -$far)) {
        const real said = score > $most_said ? $most_said : score < -$most_said ? -$most_said : score;
        near = limit;
        if (own[1] < $explained * own[2]
            && !(own[3] > 0 && own[3] * own[3] > $trusted * own[4]))
            held = error < 0 ? f - limit : f + limit;
        own[3] = $kept * own[3] + (goal < 0 ? -said : said);
        own[4] = $kept_squares * own[4] + said * said;
    }
    own[0] = own[0] + 1 < $window ? own[0] + 1 : $window;
    own[1] += (near - own[1]) / own[0];
    gap = (error < 0 ? f - near : f + near) - mean;
    own[2] += ((gap < 0 ? -gap : gap) - own[2]) / own[0];
    return held;
}

/*** forest_combination: cholesky ***/
/* Compute the weights with sum 1 that minimise the mean squared error (Bates and Granger 1969).
   They stay nearly equal while few errors are known, and where the errors are small. */
static void weigh(const real *errors, real met, real *weights)
{
    real matrix[$most_experts * $most_experts], a[$most_experts], c[$most_experts];
    real least = errors[0] / met, level, first = 0, second = 0;
    for (int32_t e = 0; e < $experts; e++)
        weights[e] = (real)1 / $experts;
    for (int32_t i = 0; i < $experts * $experts; i++)
        matrix[i] = errors[i] / met;
    for (int32_t e = 1; e < $experts; e++)
        least = matrix[e * $experts + e] < least ? matrix[e * $experts + e] : least;
    level = ($prior * least > $least_error ? $prior * least : $least_error) / met;
    for (int32_t e = 0; e < $experts; e++) {
        matrix[e * $experts + e] += level;
        a[e] = level / $experts;
        c[e] = 1;
    }
    if (!factor_errors(matrix, $experts, $experts))
        return;
    solve_errors(matrix, $experts, $experts, a);
    solve_errors(matrix, $experts, $experts, c);
    for (int32_t e = 0; e < $experts; e++) {
        first += a[e];
        second += c[e];
    }
    if (second > 0 && is_finite(second) && is_finite(first))
        for (int32_t e = 0; e < $experts; e++)
            weights[e] = a[e] + c[e] * (1 - first) / second;
}

/* Update the weights of the experts, and their sums of errors, by a sample that has been scored. */
static void combine(real y, real weight, real *fresh)
{
    real *errors = fresh + $experts;
    real *met = errors + $experts * $experts;
    real missed[$most_experts];
    weight = weight < $most_weight ? weight : $most_weight;
    for (int32_t i = 0; i < $experts * $experts; i++)
        errors[i] = $keep * combination[$experts + i];
    *met = $keep * combination[$numbers - 1] + weight;
    for (int32_t k = 0; k < $outputs; k++) {
        const real goal = goal_of(k, y);
        for (int32_t e = 0; e < $experts; e++) {
            real f = scored[e * $outputs + k];
$clipped
            f -= goal;
            missed[e] = f > $most_error ? $most_error : f < -$most_error ? -$most_error : f;
        }
        for (int32_t i = 0; i < $experts; i++)
            for (int32_t j = 0; j <= i; j++)
                errors[i * $experts + j] += weight * missed[i] * missed[j];
    }
    weigh(errors, *met, fresh);
}

/*** forest_learn: all_finite ***/
/* Return whether the steps are so small that the sum of many of them stays finite in a float. */
static int all_small(const real *numbers, int32_t n)
{
    for (int32_t j = 0; j < n; j++)
        if (!(numbers[j] <= $most_step && numbers[j] >= -$most_step))
            return 0;
    return 1;
}

/* Update the experts from `first` on in a cell, whose record this is. */
static void move(float *record, int32_t first)
{
    const int32_t weights = ($experts - first) * $outputs;
    for (int32_t e = first; e < $experts; e++) {
        const float variance = record[weights + e - first];
        if (!(falls[e] >= 0))
            continue;
        for (int32_t k = 0; k < $outputs; k++) {
            const float step = (float)expert_steps[e * $outputs + k] * variance;
            record[(e - first) * $outputs + k] += step;
        }
        record[weights + e - first] = variance - (float)falls[e] * variance * variance;
    }
}

static int learn(const row *x, real y, real weight)
{
    real fresh[$most_experts * ($most_experts + 1) + 1];
    score_experts(x);
    if (!all_finite(scored, $experts * $outputs))
        return ${PREFIX}_NOT_FINITE;
    if (!(weight > 0))
        return ${PREFIX}_OK;
$hold
$combine
    for (int32_t e = 0; e < $experts; e++) {
        const real share = expert_shares[e];
        const real importance = weight / noises[e];
        real largest = -1;
        for (int32_t k = 0; k < $outputs; k++) {
            const real f = scored[e * $outputs + k], goal = goal_of(k, y);
            const real contraction = rule_contraction(f, goal, expert_variances[e], importance);
            const real step = rule_coefficient(f, goal, expert_variances[e], 1, importance);
            expert_steps[e * $outputs + k] = step * share;
            /* All outputs of an expert share one variance. It is reduced once, by the largest
               contraction. -1 means no step at all; 0 means a step of a first-order rule, which
               leaves the variance as it is. */
            if ((step > 0 || step < 0 || contraction > 0) && contraction > largest)
                largest = contraction;
        }
        falls[e] = largest * share * share;
    }
    if (!all_small(expert_steps, $experts * $outputs) || !all_small(falls, $experts))
        return ${PREFIX}_NOT_FINITE;
    memcpy(combination, fresh, $numbers * sizeof(real));
$known
    for (int32_t t = 0; t < $trees; t++) {
        move(leaves + leaf_of[t] * $length, 0);
        if (upper_of[t] >= 0)
            move(upper + upper_of[t] * $both, $lower);
    }
    seen += 1;
    return ${PREFIX}_OK;
}
