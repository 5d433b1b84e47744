/* Exact splits of large nodes, included after forest_exact.h: two histograms of the rows. The first has
 * a bin for each range of codes, the second for each code of the two bins beside the best edge. */

typedef uint64_t pairs8 __attribute__((vector_size(8 * LANES)));

/* Bins of 2^7 codes of 15 bits. */
#define BITS_OF_BIN 7

/* Rows that are prefetched ahead. */
#define AHEAD 16

/* A residual in the upper half and the count 1 in the lower half: one addition updates both sums. */
INLINE uint64_t pair_of(int64_t number)
{
    return ((uint64_t)number << 32) + 1;
}

/* Clear the histograms for the first pass, or for the second (is_near). */
static void clear_bins(ok_counts *counts, ptrdiff_t width, int is_near)
{
    counts->is_near = is_near;
    if (width == 1)
        memset(&counts->bins.of_one, 0, sizeof counts->bins.of_one);
    else
        memset(&counts->bins.of_several, 0, sizeof counts->bins.of_several);
}

static void begin_counts(ok_counts *counts, ptrdiff_t width)
{
    memset(counts->first, 0, sizeof counts->first);
    memset(counts->below, 0, sizeof counts->below);
    memset(counts->sums_below, 0, sizeof counts->sums_below);
    clear_bins(counts, width, 0);
}

/* Add a row to its bin along axis a. */
INLINE void count_row(ok_counts *counts, ptrdiff_t a, uint16_t bin, uint64_t pair,
                      integers8 number, int is_single)
{
    if (is_single) {
        counts->bins.of_one.pairs[bin][a] += pair;
        return;
    }
    int32_t *sums = counts->bins.of_several.sums[a][bin];
    integers8 sum;
    memcpy(&sum, sums, sizeof sum);
    sum += number;
    memcpy(sums, &sum, sizeof sum);
    counts->bins.of_several.counts[a][bin]++;
}

/* Count rows with one or several outputs, in the first or second pass; both flags are constants where
 * it is inlined. */
INLINE void count_all(const int is_single, const int is_near, const uint16_t *codes,
                      const int32_t *rows, ptrdiff_t n, const int16_t *numbers, ptrdiff_t n_axes,
                      ok_counts *counts)
{
    for (ptrdiff_t i = 0; i < n; i++) {
        const uint16_t *code = codes + (ptrdiff_t)rows[i] * OK_SOUGHT;
        uint16_t bins[OK_SOUGHT];
        uint64_t pair = is_single ? pair_of(numbers[rows[i]]) : 0;
        integers8 number = {0};
        if (!is_single)
            number = load_integers(numbers + (ptrdiff_t)rows[i] * LANES);
        /* At the beginning of a tree the codes are cache misses. */
        __builtin_prefetch(codes + (ptrdiff_t)rows[i + AHEAD < n ? i + AHEAD : i] * OK_SOUGHT);
        if (!is_near) {
            for (int a = 0; a < OK_SOUGHT; a++)
                bins[a] = code[a] >> BITS_OF_BIN;
            if (!is_single) {
                for (ptrdiff_t a = 0; a < n_axes; a++)
                    count_row(counts, a, bins[a], pair, number, 0);
                continue;
            }
            UNROLL
            for (int a = 0; a < LANES; a++)
                count_row(counts, a, bins[a], pair, number, 1);
            if (n_axes <= LANES)
                continue;
            UNROLL
            for (int a = LANES; a < OK_SOUGHT; a++)
                count_row(counts, a, bins[a], pair, number, 1);
            continue;
        }
        /* A row is outside the bins along most axes: four axes are skipped at a time. */
        uint16_t is_inside[OK_SOUGHT];
        for (int a = 0; a < OK_SOUGHT; a++) {
            bins[a] = (uint16_t)(code[a] - counts->first[a]);
            is_inside[a] = bins[a] < OK_BINS ? UINT16_MAX : 0;
        }
        for (int first = 0; first < n_axes; first += 4) {
            uint64_t any;
            memcpy(&any, is_inside + first, sizeof any);
            for (int a = first; any && a < first + 4; a++)
                if (is_inside[a])
                    count_row(counts, a, bins[a], pair, number, is_single);
        }
    }
}

static void count_rows(const uint16_t *codes, const int32_t *rows, ptrdiff_t n,
                       const int16_t *numbers, ptrdiff_t width, ptrdiff_t n_axes,
                       ok_counts *counts)
{
    if (width == 1 && counts->is_near)
        count_all(1, 1, codes, rows, n, numbers, n_axes, counts);
    else if (width == 1)
        count_all(1, 0, codes, rows, n, numbers, n_axes, counts);
    else if (counts->is_near)
        count_all(0, 1, codes, rows, n, numbers, n_axes, counts);
    else
        count_all(0, 0, codes, rows, n, numbers, n_axes, counts);
}

/* Find the best edges between bins along eight axes, with one output. */
INLINE void seek_edges_of_one(const ok_counts *counts, ptrdiff_t n, ptrdiff_t first, float mean,
                              float *gains, int32_t *places)
{
    pairs8 sum;
    integers8 place = {0};
    numbers8 most;
    memcpy(&most, gains + first, sizeof most);
    for (int a = 0; a < LANES; a++)
        sum[a] = ((uint64_t)(int64_t)counts->sums_below[first + a][0] << 32)
            + (uint64_t)counts->below[first + a];
    for (int bin = 0; bin < OK_BINS; bin++) {
        pairs8 pair;
        memcpy(&pair, counts->bins.of_one.pairs[bin] + first, sizeof pair);
        sum += pair;
        integers8 below = __builtin_convertvector(sum & 0xffffffff, integers8);
        integers8 above = (int32_t)n - below;
        numbers8 apart = __builtin_convertvector(__builtin_convertvector(sum >> 32, integers8),
                                                 numbers8)
            - __builtin_convertvector(below, numbers8) * mean;
        /* Count 1 for an empty side: a division by 0 would raise a floating-point flag, which ends
         * the call as an error. */
        numbers8 sizes = __builtin_convertvector(below - (below == 0), numbers8)
            * __builtin_convertvector(above - (above == 0), numbers8);
        numbers8 gain = apart * apart * (1 / sizes);
        integers8 better = (gain > most) & (below >= OK_LEAST_ROWS) & (above >= OK_LEAST_ROWS);
        most = chosen(better, gain, most);
        place = chosen_integers(better, (integers8){0} + bin, place);
    }
    memcpy(gains + first, &most, sizeof most);
    memcpy(places + first, &place, sizeof place);
}

/* Find the best edge between bins along one axis, with LANES outputs. */
INLINE void seek_edges_of_several(const ok_counts *counts, ptrdiff_t n, ptrdiff_t axis,
                                  numbers8 mean, float *most, int32_t *place)
{
    const int32_t *sizes = counts->bins.of_several.counts[axis];
    int32_t below = counts->below[axis];
    integers8 sum;
    memcpy(&sum, counts->sums_below[axis], sizeof sum);
    for (int bin = 0; bin < OK_BINS; bin++) {
        integers8 own;
        if (bin > 0 && sizes[bin] == 0)
            continue;
        memcpy(&own, counts->bins.of_several.sums[axis][bin], sizeof own);
        sum += own;
        below += sizes[bin];
        if (below < OK_LEAST_ROWS || n - below < OK_LEAST_ROWS)
            continue;
        numbers8 apart = __builtin_convertvector(sum, numbers8) - (float)below * mean;
        float gain = sum_of_lanes(apart * apart) * weight_of(below, n);
        if (gain > *most)
            *most = gain, *place = bin;
    }
}

/* Find the best edge between bins along each axis. */
static void seek_edges(const ok_counts *counts, ptrdiff_t n, ptrdiff_t width, ptrdiff_t n_axes,
                       float *gains, int32_t *places)
{
    integers8 total;
    memcpy(&total, counts->total, sizeof total);
    numbers8 mean = __builtin_convertvector(total, numbers8) / (float)n;
    if (width == 1)
        for (ptrdiff_t a = 0; a < n_axes; a += LANES)
            seek_edges_of_one(counts, n, a, mean[0], gains, places);
    else
        for (ptrdiff_t a = 0; a < n_axes; a++)
            seek_edges_of_several(counts, n, a, mean, gains + a, places + a);
}

/* Add the sums of the first n_bins bins of an axis to `sums`; return the number of their rows. */
static int32_t add_bins(const ok_counts *counts, ptrdiff_t width, ptrdiff_t axis, int n_bins,
                        int32_t *sums)
{
    int32_t count = 0;
    for (int bin = 0; bin < n_bins; bin++) {
        if (width == 1) {
            uint64_t pair = counts->bins.of_one.pairs[bin][axis];
            sums[0] += (int32_t)(pair >> 32);
            count += (int32_t)pair;
            continue;
        }
        for (int k = 0; k < LANES; k++)
            sums[k] += counts->bins.of_several.sums[axis][bin][k];
        count += counts->bins.of_several.counts[axis][bin];
    }
    return count;
}

static void near_edges(ok_counts *counts, ptrdiff_t n, ptrdiff_t width, ptrdiff_t n_axes)
{
    float gains[OK_SOUGHT] = {0};
    int32_t places[OK_SOUGHT] = {0};
    memset(counts->total, 0, sizeof counts->total);
    add_bins(counts, width, 0, OK_BINS, counts->total);
    seek_edges(counts, n, width, n_axes, gains, places);
    for (ptrdiff_t a = 0; a < n_axes; a++) {
        counts->first[a] = (uint16_t)(places[a] << BITS_OF_BIN);
        counts->below[a] = add_bins(counts, width, a, places[a], counts->sums_below[a]);
    }
    clear_bins(counts, width, 1);
}

/* Number of rows in a bin of an axis. */
INLINE int32_t rows_in(const ok_counts *counts, ptrdiff_t width, ptrdiff_t axis, ptrdiff_t bin)
{
    return width == 1 ? (int32_t)counts->bins.of_one.pairs[bin][axis]
                      : counts->bins.of_several.counts[axis][bin];
}

/* Find the next code above the split that a row has, if it is in the histogram. Returns whether the
 * codes on both sides of the split are those of rows. */
static int find_beside(const ok_counts *counts, ptrdiff_t width, ok_exact_cut *cut)
{
    ptrdiff_t first = counts->first[cut->axis], under = cut->low - first, over = under + 1;
    if (rows_in(counts, width, cut->axis, under) == 0)
        return 0;
    while (over < OK_BINS && rows_in(counts, width, cut->axis, over) == 0)
        over++;
    cut->high = (int32_t)(first + over);
    return over < OK_BINS;
}

static void cut_counted(const uint16_t *codes, const int32_t *rows, ptrdiff_t n, ptrdiff_t width,
                        ptrdiff_t n_axes, const ok_counts *counts, ok_exact_cut *best)
{
    float gains[OK_SOUGHT];
    int32_t places[OK_SOUGHT] = {0};
    for (int a = 0; a < OK_SOUGHT; a++)
        gains[a] = best->gain;
    seek_edges(counts, n, width, n_axes, gains, places);
    for (ptrdiff_t a = 0; a < n_axes; a++)
        take(best, gains[a], a, counts->first[a] + places[a], 0);
    /* Otherwise search all rows for the nearest codes on both sides of the split. */
    if (best->axis < 0 || find_beside(counts, width, best))
        return;
    int32_t edge = best->low, low = 0, high = UINT16_MAX;
    for (ptrdiff_t i = 0; i < n; i++) {
        int32_t code = codes[(ptrdiff_t)rows[i] * OK_SOUGHT + best->axis];
        int32_t under = code <= edge ? code : 0, over = code <= edge ? UINT16_MAX : code;
        low = under > low ? under : low;
        high = over < high ? over : high;
    }
    best->low = low, best->high = high;
}
