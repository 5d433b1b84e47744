/* Trees of generated files. See scoring.c. */

/*** scaled_row ***/
/* A row in units of the spread of its features, in double: dates that lie close differ. NaN is a
   missing value. */
static void ${id}_scale(const real *x)
{
    for (int32_t j = 0; j < $features; j++) {
        const double own = ((double)x[j] - ${id}_center[j]) * ${id}_factor[j];
        const double z = own == own ? own : 0;
        ${id}_z[j] = (float)(z > $farthest ? $farthest : z < -$farthest ? -$farthest : z);
    }
$more
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
            /* Two statements, which are rounded twice. */
            const float product = ${id}_z[j] * ${id}_directions[j * $directions + m];
            ${id}_z[$axes + m] += product;
        }

/*** trees ***/
/* The weights of the leaf of each tree. A node is followed by its left subtree, and that by the
   right one; a subtree of n nodes has n + 1 leaves. */
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
/* The cells of a row: its leaf in each tree, and the node above it at depth $level, -1 if the leaf is
   not below. */
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
/* Scores and variances of the experts. A record holds their weights, then their variances; the last
   experts see the upper cells too. */
static void score_experts(const row *x)
{
    real sums[$length], above[$both + 1];
    find_cells(x);
    memset(sums, 0, sizeof(sums));
    memset(above, 0, sizeof(above));
    for (int32_t t = 0; t < $trees; t++) {
        for (int32_t j = 0; j < $length; j++)
            sums[j] += (real)leaves[leaf_of[t] * $length + j];
        for (int32_t j = 0; upper_of[t] >= 0 && j < $both; j++)
            above[j] += (real)upper[upper_of[t] * $both + j];
    }
    for (int32_t e = 0; e < $experts; e++) {
        const int32_t own = e - $lower;
        const real share = own < 0 ? $share_lower : $share_both;
        for (int32_t k = 0; k < $outputs; k++)
            scored[e * $outputs + k] = share * (sums[e * $outputs + k]
                                                + (own < 0 ? 0 : above[own * $outputs + k]));
        variances[e] = share * share * (sums[$experts * $outputs + e]
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
            scores[k] += shares[e] * scored[e * $outputs + k];
        scores[k] = $offset + $unit * scores[k];
    }
}

/*** forest_goal ***/
/* The target of output k. */
static real goal_of(int32_t k, real y)
{
    (void)k;
    return $goal;
}

/*** forest_shares ***/
/* The shares after a sample that has been scored: they follow squared errors (Herbster and Warmuth
   1998). */
static void share_out(real y, real weight, real *fresh)
{
    real losses[$experts], least = 0, total = 0;
    for (int32_t e = 0; e < $experts; e++) {
        losses[e] = 0;
        for (int32_t k = 0; k < $outputs; k++) {
            const real goal = goal_of(k, y);
            real f = scored[e * $outputs + k];
$clipped
            losses[e] += (f - goal) * (f - goal) < 4 ? (f - goal) * (f - goal) : 4;
        }
        least = e == 0 || losses[e] < least ? losses[e] : least;
    }
    for (int32_t e = 0; e < $experts; e++) {
        fresh[e] = shares[e] * EXP(-$rate * (weight < 1 ? weight : 1) * (losses[e] - least));
        total += fresh[e];
    }
    for (int32_t e = 0; e < $experts; e++)
        fresh[e] = (1 - $given_back) * fresh[e] / total + $given_back / $experts;
}

/*** forest_learn: all_finite ***/
/* Whether numbers are finite as float too. */
static int all_float(const real *numbers, int32_t n)
{
    for (int32_t j = 0; j < n; j++)
        if (!(numbers[j] < $largest && numbers[j] > -$largest))
            return 0;
    return 1;
}

/* Move the experts from `first` on in the cell of a record. */
static void move(float *record, int32_t first)
{
    const int32_t weights = ($experts - first) * $outputs;
    for (int32_t e = first; e < $experts; e++) {
        const float variance = record[weights + e - first];
        if (!(falls[e] > 0))
            continue;
        for (int32_t k = 0; k < $outputs; k++) {
            const float step = (float)steps[e * $outputs + k] * variance;
            record[(e - first) * $outputs + k] += step;
        }
        record[weights + e - first] = variance - (float)falls[e] * variance * variance;
    }
}

static int learn(const row *x, real y, real weight)
{
    real fresh[$experts];
    score_experts(x);
    if (!all_finite(scored, $experts * $outputs))
        return ${PREFIX}_NOT_FINITE;
    if (!(weight > 0))
        return ${PREFIX}_OK;
$share_out
    for (int32_t e = 0; e < $experts; e++) {
        const real share = e < $lower ? $share_lower : $share_both;
        const real importance = weight / noises[e];
        real largest = 0;
        for (int32_t k = 0; k < $outputs; k++) {
            const real f = scored[e * $outputs + k], goal = goal_of(k, y);
            const real contraction = rule_contraction(f, goal, variances[e], importance);
            steps[e * $outputs + k]
                = rule_coefficient(f, goal, variances[e], 1, importance) * share;
            /* One variance serves all outputs: it falls once, by the largest contraction. */
            largest = contraction > largest ? contraction : largest;
        }
        falls[e] = largest * share * share;
    }
    if (!all_float(steps, $experts * $outputs) || !all_float(falls, $experts))
        return ${PREFIX}_NOT_FINITE;
    memcpy(shares, fresh, sizeof(shares));
    for (int32_t t = 0; t < $trees; t++) {
        move(leaves + leaf_of[t] * $length, 0);
        if (upper_of[t] >= 0)
            move(upper + upper_of[t] * $both, $lower);
    }
    return ${PREFIX}_OK;
}
