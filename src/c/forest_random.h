/* Random splits of nodes, and the division of their rows: included by forest_loops.c. */

/* A node of fewer than LEAST_SCORED rows takes the first split that is drawn. Others draw one split per
 * ROWS_OF_CUT rows, at most n_candidates: with few rows the best of many splits fits noise
 * (docs/kernel_forests_tried.md). */
#define LEAST_SCORED 8
#define ROWS_OF_CUT 4
/* Rows that are compared with the threshold before any of them is moved. */
#define LOOKED_AT 128

static ok_cut best_cut(ok_cutter *cutter, ptrdiff_t first, ptrdiff_t last)
{
    ok_cut best = {-1, 0, 0}, cuts[GROUP];
    scored_rows scored;
    ahead next;
    ptrdiff_t n = last - first, n_drawn = 1, n_cuts = 0;
    int is_scored = n >= LEAST_SCORED && cutter->n_candidates > 1;
    int is_abreast = is_scored && !cutter->side_of && cutter->width <= MOST_ABREAST;
    next.n = next.used = 0;
    /* Compilers do not see that `sum_up` sets these before they are used. */
    memset(scored.sums, 0, sizeof scored.sums);
    scored.squares = 0;
    if (is_scored) {
        ptrdiff_t skipped = 0, n_scored = n < OK_MOST_SCORED ? n : OK_MOST_SCORED;
        n_drawn = n / ROWS_OF_CUT < cutter->n_candidates ? n / ROWS_OF_CUT : cutter->n_candidates;
        if (n > OK_MOST_SCORED)
            skipped = (ptrdiff_t)((double)(n - OK_MOST_SCORED + 1) * uniform(cutter, &next));
        look_ahead(cutter, &next, n_drawn);
        if (n > OK_MOST_SCORED)
            fetch(cutter, &next, first, n);
        sum_up(cutter, cutter->order + first + skipped, n_scored, &scored);
    }
    for (ptrdiff_t e = 0; e < n_drawn;) {
        ptrdiff_t wanted = n_drawn - e < LANES ? n_drawn - e : LANES, drawn = 0;
        if (wanted > GROUP - n_cuts)
            wanted = GROUP - n_cuts;
        if (is_abreast && wanted >= LEAST_ABREAST)
            drawn = draw_abreast(cutter, &next, e, wanted, first, n, cuts + n_cuts);
        e += drawn, n_cuts += drawn;
        if (drawn < wanted) {
            int turn = is_scored ? (int)(e % 5) : (int)(5 * uniform(cutter, &next));
            n_cuts += draw(cutter, &next, TURNS[turn], first, n, cuts + n_cuts);
            e++;
        }
        /* Collect a group to score: scoring draws no random numbers. */
        if (n_cuts < GROUP && e < n_drawn)
            continue;
        if (is_scored) {
            score(cutter, &scored, cuts, n_cuts);
            note_gains(cutter, &scored, cuts, n_cuts);
        }
        for (ptrdiff_t u = 0; u < n_cuts; u++)
            if (cuts[u].gain > best.gain)
                best = cuts[u];
        n_cuts = 0;
        if (e < n_drawn)
            look_ahead(cutter, &next, n_drawn - e);
    }
    return best;
}

/* Move those of n <= LOOKED_AT rows from order[first] on that go left to order[middle], ..., where the
 * right side begins so far. Returns where it begins then.
 *
 * A row that goes left is exchanged with the first row of the right side. There is no branch, because
 * it would be mispredicted. Rows that go left are collected in a buffer first: written directly, they
 * would be read again at once, and each step would wait for the one before. */
INLINE ptrdiff_t exchange_rows(int32_t *order, ptrdiff_t first, ptrdiff_t n,
                               const uint8_t *is_left, ptrdiff_t middle)
{
    int32_t left[LOOKED_AT];
    ptrdiff_t n_left = 0;
    for (ptrdiff_t i = 0; i < n; i++) {
        int32_t row = order[first + i], there = order[middle + n_left];
        order[first + i] = row ^ ((row ^ there) & -(int32_t)is_left[i]);
        left[n_left] = row;
        n_left += is_left[i];
    }
    memcpy(order + middle, left, (size_t)n_left * sizeof(int32_t));
    return middle + n_left;
}

static ptrdiff_t divide(const ok_cutter *cutter, ptrdiff_t first, ptrdiff_t last, ptrdiff_t middle,
                        const ok_cut *cut)
{
    int is_large = last - first > OK_MOST_SCORED;
    const float *column = is_large ? cutter->columns + cut->feature * cutter->n_rows
                                   : cutter->rows + cut->feature;
    int32_t *order = cutter->order;
    ptrdiff_t stride = is_large ? 1 : cutter->width;
    for (; first < last; first += LOOKED_AT) {
        ptrdiff_t n = last - first < LOOKED_AT ? last - first : LOOKED_AT;
        uint8_t is_left[LOOKED_AT];
        for (ptrdiff_t i = 0; i < n; i++)
            is_left[i] = column[order[first + i] * stride] <= cut->at;
        middle = exchange_rows(order, first, n, is_left, middle);
    }
    return middle;
}

static ptrdiff_t divide_codes(const uint16_t *codes, int32_t *order, ptrdiff_t first,
                              ptrdiff_t last, const ok_exact_cut *cut)
{
    ptrdiff_t middle = first;
    for (; first < last; first += LOOKED_AT) {
        ptrdiff_t n = last - first < LOOKED_AT ? last - first : LOOKED_AT;
        uint8_t is_left[LOOKED_AT];
        for (ptrdiff_t i = 0; i < n; i++)
            is_left[i] = codes[(ptrdiff_t)order[first + i] * OK_SOUGHT + cut->axis] <= cut->low;
        middle = exchange_rows(order, first, n, is_left, middle);
    }
    return middle;
}
