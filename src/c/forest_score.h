/* Scoring of random splits by the rows of a node: included by forest_loops.c. */

#if defined(__AVX512F__)
#include <immintrin.h>
#endif

/* Least sum of squared deviations from the mean, as a share of the sum of squares: less is rounding. */
#define LEAST_DEVIATIONS 1e-4

/* The rows of a node that score its splits: offset of each row, its residuals, the sums of these, and
 * the sum of their squares. Padded to whole lanes by copies of the first row with residuals 0. */
typedef struct {
    ptrdiff_t n;
    ptrdiff_t rows[OK_MOST_SCORED + LANES];
    float numbers[(OK_MOST_SCORED + LANES) * LANES];
    double sums[LANES], squares;
} scored_rows;

/* The sum of the first output; with one output its partial sums are in all lanes. */
INLINE double total_of(const double *sums, ptrdiff_t n_numbers)
{
    double total = sums[0];
    if (n_numbers == 1)
        for (int k = 1; k < LANES; k++)
            total += sums[k];
    return total;
}

/* Gather and sum the residuals of n rows. */
INLINE void sum_up(const ok_cutter *cutter, const int32_t *order, ptrdiff_t n, scored_rows *scored)
{
    numbers8 sum = {0}, squares = {0};
    scored->n = n;
    for (ptrdiff_t i = 0; i < n + LANES; i++)
        scored->rows[i] = order[i < n ? i : 0] * cutter->width;
    if (cutter->n_numbers == 1) {
        for (ptrdiff_t i = 0; i < n; i++)
            scored->numbers[i] = cutter->left[order[i]];
        memset(scored->numbers + n, 0, LANES * sizeof(float));
        for (ptrdiff_t i = 0; i < n; i += LANES) {
            numbers8 y = load8(scored->numbers + i);
            sum += y;
            squares += y * y;
        }
    } else {
        for (ptrdiff_t i = 0; i < n; i++) {
            numbers8 y = load8(cutter->left + (ptrdiff_t)order[i] * LANES);
            memcpy(scored->numbers + i * LANES, &y, sizeof y);
            sum += y;
            squares += y * y;
        }
        memset(scored->numbers + n * LANES, 0, LANES * LANES * sizeof(float));
    }
    scored->squares = 0;
    for (int k = 0; k < LANES; k++) {
        scored->sums[k] = (double)sum[k];
        scored->squares += (double)squares[k];
    }
    scored->sums[0] = total_of(scored->sums, cutter->n_numbers);
}

/* Add the gains of splits to those of their axes. A gain is measured beyond chance: a split of n rows
 * takes 1 / (n - 1) of their squared deviations by chance. */
INLINE void note_gains(const ok_cutter *cutter, const scored_rows *scored, const ok_cut *cuts,
                       ptrdiff_t n_cuts)
{
    double together = 0, n = (double)scored->n;
    for (ptrdiff_t k = 0; k < cutter->n_numbers; k++)
        together += scored->sums[k] * scored->sums[k];
    together /= n;
    double deviations = scored->squares - together;
    /* All residuals are equal, up to rounding. */
    if (!(deviations > LEAST_DEVIATIONS * scored->squares))
        return;
    const double unit = (n - 1) / deviations;
    for (ptrdiff_t u = 0; u < n_cuts; u++) {
        if (cuts[u].feature >= cutter->n_axes)
            continue;
        ok_gains *gains = cutter->gains + cuts[u].feature;
        gains->gain += (cuts[u].gain - together) * unit - 1;
        gains->rows += n;
        gains->cuts++;
    }
}

/* How much a split lowers the sum of squared deviations, up to a constant: sum^2 / n of both sides,
 * added up. `left` are the sums of the left side. */
INLINE double gain_of(const scored_rows *scored, ptrdiff_t n_numbers, double *left,
                      ptrdiff_t n_left)
{
    ptrdiff_t n_right = scored->n - n_left;
    double gain = 0, other = 0;
    left[0] = total_of(left, n_numbers);
    for (ptrdiff_t k = 0; k < n_numbers; k++) {
        double rest = scored->sums[k] - left[k];
        gain += left[k] * left[k];
        other += rest * rest;
    }
    /* A side may be empty: the split was drawn from other rows of the node than these. */
    return gain / (double)(n_left > 1 ? n_left : 1) + other / (double)(n_right > 1 ? n_right : 1);
}

/* Masks of eight rows: all bits set if the row goes left. */
INLINE integers8 left_of(const float *column, const ptrdiff_t *rows, float at)
{
    numbers8 x = {column[rows[0]], column[rows[1]], column[rows[2]], column[rows[3]],
                  column[rows[4]], column[rows[5]], column[rows[6]], column[rows[7]]};
    return x <= at;
}

/* Compute the gains of n_cuts splits; n_cuts and is_single are constants where it is inlined. Sums are
 * float32: a lane for each output, or, with one output, for the rows i, i + 8, ... */
INLINE void score_together(const int n_cuts, const int is_single, const ok_cutter *cutter,
                           const scored_rows *scored, ok_cut *cuts)
{
    const ptrdiff_t *rows = scored->rows;
    const float *columns[OK_CUTS], *numbers = scored->numbers;
    numbers8 sum[OK_CUTS] = {{0}};
    integers8 count[OK_CUTS] = {{0}};
    for (int u = 0; u < n_cuts; u++)
        columns[u] = cutter->rows + cuts[u].feature;
    for (ptrdiff_t i = 0; i < scored->n; i += LANES) {
        integers8 left[OK_CUTS];
        UNROLL
        for (int u = 0; u < n_cuts; u++) {
            left[u] = left_of(columns[u], rows + i, cuts[u].at);
            count[u] -= left[u];
        }
        if (is_single) {
            integers8 y = (integers8)load8(numbers + i);
            UNROLL
            for (int u = 0; u < n_cuts; u++)
                sum[u] += (numbers8)(y & left[u]);
            continue;
        }
        UNROLL
        for (int k = 0; k < LANES; k++) {
            integers8 y = (integers8)load8(numbers + (i + k) * LANES);
            UNROLL
            for (int u = 0; u < n_cuts; u++)
                sum[u] += (numbers8)(y & left[u][k]);
        }
    }
    for (int u = 0; u < n_cuts; u++) {
        ptrdiff_t added = (LANES - scored->n % LANES) % LANES;
        ptrdiff_t n_left = columns[u][rows[0]] <= cuts[u].at ? -added : 0;
        double sums[LANES];
        for (int k = 0; k < LANES; k++) {
            n_left += count[u][k];
            sums[k] = (double)sum[u][k];
        }
        cuts[u].gain = gain_of(scored, is_single ? 1 : LANES, sums, n_left);
    }
}

INLINE void score_few(const int is_single, const ok_cutter *cutter, const scored_rows *scored,
                      ok_cut *cuts, ptrdiff_t n_cuts)
{
    for (; n_cuts > 0; n_cuts -= OK_CUTS, cuts += OK_CUTS) {
        switch (n_cuts) {
        case 1: score_together(1, is_single, cutter, scored, cuts); break;
        case 2: score_together(2, is_single, cutter, scored, cuts); break;
        case 3: score_together(3, is_single, cutter, scored, cuts); break;
        default: score_together(OK_CUTS, is_single, cutter, scored, cuts);
        }
    }
}

#if defined(__AVX512F__)
/* Floats of a vector, and most columns of rows for which sixteen splits are scored at a time. */
#define WIDE 16
#define MOST_WIDE (4 * WIDE)

/* For which of sixteen splits a row goes left; the row has n_parts vectors. */
INLINE __mmask16 left_of_each(const int n_parts, const float *row, __mmask16 rest, __m512i column,
                              __mmask16 is_far, __m512 at)
{
    __m512 part[4], x;
    for (int k = 0; k < n_parts; k++)
        part[k] = k < n_parts - 1 ? _mm512_loadu_ps(row + k * WIDE)
                                  : _mm512_maskz_loadu_ps(rest, row + k * WIDE);
    x = n_parts == 1 ? _mm512_permutexvar_ps(column, part[0])
                     : _mm512_permutex2var_ps(part[0], column, part[1]);
    if (n_parts > 2)
        x = _mm512_mask_blend_ps(is_far, x,
                                 _mm512_permutex2var_ps(part[2], column, part[n_parts - 1]));
    return _mm512_cmp_ps_mask(x, at, _CMP_LE_OQ);
}

/* As `score_together`, for sixteen splits with one output: the values of a row are permuted to the
 * order of the splits, instead of gathering one for each. */
INLINE void score_wide(const int n_parts, const ok_cutter *cutter, const scored_rows *scored,
                       ok_cut *cuts, ptrdiff_t n_cuts)
{
    int32_t features[WIDE] = {0};
    float places[WIDE] = {0};
    double gains[WIDE];
    __mmask16 rest = (__mmask16)((1u << (cutter->width - WIDE * (n_parts - 1))) - 1);
    ptrdiff_t added = (LANES - scored->n % LANES) % LANES;
    __m512 sum[LANES];
    __m512i count = _mm512_setzero_si512(), one = _mm512_set1_epi32(1);
    for (ptrdiff_t u = 0; u < n_cuts; u++) {
        features[u] = (int32_t)cuts[u].feature;
        places[u] = cuts[u].at;
    }
    __m512i column = _mm512_loadu_si512(features);
    __m512 at = _mm512_loadu_ps(places);
    __mmask16 is_far = _mm512_cmpge_epi32_mask(column, _mm512_set1_epi32(2 * WIDE));
    UNROLL
    for (int k = 0; k < LANES; k++)
        sum[k] = _mm512_setzero_ps();
    for (ptrdiff_t i = 0; i < scored->n; i += LANES) {
        UNROLL
        for (int k = 0; k < LANES; k++) {
            __mmask16 left = left_of_each(n_parts, cutter->rows + scored->rows[i + k], rest,
                                          column, is_far, at);
            sum[k] = _mm512_mask_add_ps(sum[k], left, sum[k],
                                        _mm512_set1_ps(scored->numbers[i + k]));
            count = _mm512_mask_add_epi32(count, left, count, one);
        }
    }
    count = _mm512_mask_sub_epi32(
        count,
        left_of_each(n_parts, cutter->rows + scored->rows[0], rest, column, is_far, at), count,
        _mm512_set1_epi32((int32_t)added));
    UNROLL
    for (int half = 0; half < 2; half++) {
        __m512d left = _mm512_setzero_pd(), least = _mm512_set1_pd(1);
        UNROLL
        for (int k = 0; k < LANES; k++) {
            __m512d lane = _mm512_cvtps_pd(
                half ? _mm512_extractf32x8_ps(sum[k], 1) : _mm512_castps512_ps256(sum[k]));
            left = k ? _mm512_add_pd(left, lane) : lane;
        }
        __m512d n_left = _mm512_cvtepi32_pd(
            half ? _mm512_extracti32x8_epi32(count, 1) : _mm512_castsi512_si256(count));
        __m512d n_right = _mm512_sub_pd(_mm512_set1_pd((double)scored->n), n_left);
        __m512d right = _mm512_sub_pd(_mm512_set1_pd(scored->sums[0]), left);
        _mm512_storeu_pd(
            gains + 8 * half,
            _mm512_add_pd(
                _mm512_div_pd(_mm512_mul_pd(left, left), _mm512_max_pd(n_left, least)),
                _mm512_div_pd(_mm512_mul_pd(right, right), _mm512_max_pd(n_right, least))));
    }
    for (ptrdiff_t u = 0; u < n_cuts; u++)
        cuts[u].gain = gains[u];
}
#endif

/* Compute the gains of splits. */
INLINE void score(const ok_cutter *cutter, const scored_rows *scored, ok_cut *cuts,
                  ptrdiff_t n_cuts)
{
    if (cutter->n_numbers > 1) {
        score_few(0, cutter, scored, cuts, n_cuts);
        return;
    }
#if defined(__AVX512F__)
    if (cutter->width <= MOST_WIDE) {
        for (; n_cuts > 0; n_cuts -= WIDE, cuts += WIDE) {
            ptrdiff_t n = n_cuts < WIDE ? n_cuts : WIDE;
            switch ((cutter->width + WIDE - 1) / WIDE) {
            case 1: score_wide(1, cutter, scored, cuts, n); break;
            case 2: score_wide(2, cutter, scored, cuts, n); break;
            case 3: score_wide(3, cutter, scored, cuts, n); break;
            default: score_wide(4, cutter, scored, cuts, n);
            }
        }
        return;
    }
#endif
    score_few(1, cutter, scored, cuts, n_cuts);
}
