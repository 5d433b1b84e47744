/* Cuts that are drawn by pairs of rows: included by forest_loops.c.
 *
 * The draws of a node overlap: none waits for another, and none branches by what has been drawn. */

#if defined(__AVX2__)
#include <immintrin.h>
#endif

/* Doubles of a vector. */
#if defined(__AVX512F__)
#define PART 8
#elif defined(__AVX2__)
#define PART 4
#else
#define PART 2
#endif
typedef float part __attribute__((vector_size(4 * PART)));
typedef double doubles __attribute__((vector_size(8 * PART)));
typedef int64_t longs __attribute__((vector_size(8 * PART)));

/* Candidates that are drawn, and then scored, together. */
#define GROUP 32
/* Random numbers of a cut, as a rule: two rows, a column and a place. */
#define NUMBERS_OF_CUT 4
/* Pairs drawn until two rows differ. */
#define TRIES 3
/* Fewer cuts are drawn one by one, and those of so many columns that their weights would not be near. */
#define LEAST_ABREAST 3
#define MOST_ABREAST 512

/* What a candidate may cut, and what a difference counts for. Axes, as far as the rows differ; axes,
 * times the slope of the function; directions, times the slope. */
enum { AXES, STEEP_AXES, STEEP };
/* Each kind of cut gets its turn. */
static const int TURNS[5] = {AXES, STEEP_AXES, AXES, STEEP_AXES, STEEP};

/* Number n of the random numbers in [0, 1) of a seed, as `base.random` counts them. */
INLINE double random_number(uint64_t seed, uint64_t n)
{
    uint64_t z = seed + (n + 1) * 0x9E3779B97F4A7C15u;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    z ^= z >> 31;
    return (double)(int64_t)(z >> 11) * (1.0 / 9007199254740992.0);
}

/* Random numbers that are made together, which vectors do, before it is known how many are drawn. */
typedef struct {
    double numbers[NUMBERS_OF_CUT * GROUP];
    ptrdiff_t n, used;
} ahead;

/* Have the next numbers for so many cuts. */
INLINE void look_ahead(const ok_cutter *cutter, ahead *next, ptrdiff_t n_cuts)
{
    next->n = NUMBERS_OF_CUT * (n_cuts < GROUP ? n_cuts : GROUP);
    next->used = 0;
    for (ptrdiff_t i = 0; i < next->n; i++)
        next->numbers[i] = random_number(cutter->seed, cutter->drawn + (uint64_t)i + 1);
}

INLINE double uniform(ok_cutter *cutter, ahead *next)
{
    cutter->drawn++;
    return next->used < next->n ? next->numbers[next->used++]
                                : random_number(cutter->seed, cutter->drawn);
}

/* By how much eight numbers of two rows differ, times the slopes at both, and times shares. */
INLINE numbers8 weights_of(numbers8 x, numbers8 z, numbers8 a, numbers8 b, numbers8 shares, int kind)
{
    numbers8 weights = (numbers8)((integers8)(x - z) & 0x7fffffff);
    return (kind == AXES ? weights : weights * (a + b)) * shares;
}

/* The same of n < 8 numbers, and zeros: what lies behind them is not read. */
INLINE numbers8 last_weights_of(const float *x, const float *z, const float *a, const float *b,
                                numbers8 shares, ptrdiff_t n, int kind)
{
#if defined(__AVX2__)
    static const int32_t inside[2 * LANES] = {-1, -1, -1, -1, -1, -1, -1, -1};
    __m256i mask = _mm256_loadu_si256((const __m256i *)(inside + LANES - n));
    return weights_of((numbers8)_mm256_maskload_ps(x, mask), (numbers8)_mm256_maskload_ps(z, mask),
                      (numbers8)_mm256_maskload_ps(a, mask), (numbers8)_mm256_maskload_ps(b, mask),
                      shares, kind);
#else
    float weights[LANES] = {0};
    for (ptrdiff_t k = 0; k < n; k++)
        weights[k] = fabsf(x[k] - z[k]) * (kind == AXES ? 1 : a[k] + b[k]);
    return load8(weights) * shares;
#endif
}

/* The columns that a cut of some kind may take. */
typedef struct {
    ptrdiff_t begin, n;
} range;

INLINE range range_of(const ok_cutter *cutter, int kind)
{
    int steep = kind == STEEP && cutter->n_drawn_from > cutter->n_axes;
    ptrdiff_t begin = steep ? cutter->n_axes : 0;
    return (range){begin, (steep ? cutter->n_drawn_from : cutter->n_axes) - begin};
}

/* Set the weights of the columns that a cut between two rows may take. Returns their sums in each
 * lane: lane k sums up the weights k, k + 8, k + 16, ... */
INLINE numbers8 weigh(const ok_cutter *cutter, int32_t one, int32_t other, int kind, range columns,
                      float *out)
{
    ptrdiff_t begin = columns.begin, n = columns.n;
    const float *x = cutter->rows + one * cutter->width + begin;
    const float *z = cutter->rows + other * cutter->width + begin;
    const float *a = cutter->slopes + cutter->slope_of[one] * cutter->n_drawn_from + begin;
    const float *b = cutter->slopes + cutter->slope_of[other] * cutter->n_drawn_from + begin;
    const float *shares = cutter->shares[kind != AXES] + begin;
    numbers8 sum = {0};
    for (ptrdiff_t j = 0; j < n; j += LANES) {
        numbers8 weights = n - j < LANES
            ? last_weights_of(x + j, z + j, a + j, b + j, load8(shares + j), n - j, kind)
            : weights_of(load8(x + j), load8(z + j), load8(a + j), load8(b + j),
                         load8(shares + j), kind);
        memcpy(out + j, &weights, sizeof weights);
        sum += weights;
    }
    return sum;
}

/* The sum of all lanes, each of which is set. */
INLINE double sum_up_lanes(numbers8 sum, double *lanes)
{
    double total = 0;
    UNROLL
    for (int k = 0; k < LANES; k++) {
        lanes[k] = (double)sum[k];
        total += lanes[k];
    }
    return total;
}

/* The one of n columns up to which the weights sum to `left`, from lane j on, up to which `left` is
 * what remains. What is left falls below 0 behind the column that is sought: so those before it are
 * counted, without a branch. */
INLINE ptrdiff_t column_in(double left, ptrdiff_t j, const float *weights, ptrdiff_t n)
{
    ptrdiff_t more = 0;
    for (ptrdiff_t first = 0; first + LANES < n; first += LANES) {
        double weight = (double)weights[first + j];
        more += (left >= weight) & (first + LANES + j < n);
        left -= weight;
    }
    j += more * LANES;
    /* Where rounding has led to the end. */
    if (j >= n || weights[j] == 0)
        for (j = n - 1; weights[j] == 0; j--)
            ;
    return j;
}

/* The same, lane by lane. */
INLINE ptrdiff_t column_at(double left, const double *lanes, const float *weights, ptrdiff_t n)
{
    double rest[LANES];
    ptrdiff_t j = 0;
    UNROLL
    for (int k = 0; k < LANES - 1; k++) {
        rest[k] = left;
        j += left >= lanes[k];
        left -= lanes[k];
    }
    rest[LANES - 1] = left;
    return column_in(rest[j], j, weights, n);
}

/* Make the cut between two rows, in column j. */
INLINE void place(float one, float other, ptrdiff_t j, double where, ok_cut *cut)
{
    float low = one < other ? one : other, high = one < other ? other : one;
    cut->gain = 0;
    cut->feature = j;
    cut->at = (float)((double)low + ((double)high - (double)low) * where);
    /* Rounding must not put both rows on one side. */
    if (cut->at >= high)
        cut->at = low;
}

/* The column that a cut of an axis with gaps takes: guesses, or one of the sides. */
INLINE ptrdiff_t side_of(ok_cutter *cutter, ahead *next, ptrdiff_t j, const float *one, const float *other)
{
    ptrdiff_t turn = (ptrdiff_t)(4 * uniform(cutter, next)), k = cutter->side_of[j] + turn;
    /* What is missing in both rows does not divide them. */
    return turn < 2 && one[k] != other[k] ? k : j;
}

/* Draw a cut of the rows order[first] ... of a node of n. Returns whether there is one. */
INLINE int draw(ok_cutter *cutter, ahead *next, int kind, ptrdiff_t first, ptrdiff_t n, ok_cut *cut)
{
    const int32_t *order = cutter->order + first;
    double lanes[LANES], total = 0;
    range columns = range_of(cutter, kind);
    int32_t one = order[(ptrdiff_t)((double)n * uniform(cutter, next))], other = one;
    for (int attempt = 0; attempt < TRIES && !(total > 0); attempt++) {
        other = order[(ptrdiff_t)((double)n * uniform(cutter, next))];
        total = sum_up_lanes(weigh(cutter, one, other, kind, columns, cutter->weights), lanes);
    }
    if (!(total > 0))
        return 0;
    ptrdiff_t j = columns.begin
        + column_at(total * uniform(cutter, next), lanes, cutter->weights, columns.n);
    const float *x = cutter->rows + one * cutter->width;
    const float *z = cutter->rows + other * cutter->width;
    if (cutter->side_of && j < cutter->n_axes && cutter->side_of[j] > 0)
        j = side_of(cutter, next, j, x, z);
    place(x[j], z[j], j, uniform(cutter, next), cut);
    return 1;
}

#if defined(__clang__)
#define MIXED_LANES(a, b, ...) __builtin_shufflevector(a, b, __VA_ARGS__)
#else
#define MIXED_LANES(a, b, ...) __builtin_shuffle(a, b, (integers8){__VA_ARGS__})
#endif

/* Transpose LANES rows: three times the first half of them is interleaved with the second. */
INLINE void transpose8(numbers8 *rows)
{
    numbers8 other[LANES];
    UNROLL
    for (int stage = 1; stage < LANES; stage *= 2) {
        UNROLL
        for (int i = 0; i < LANES / 2; i++) {
            other[2 * i] = MIXED_LANES(rows[i], rows[i + LANES / 2], 0, 8, 1, 9, 2, 10, 3, 11);
            other[2 * i + 1] = MIXED_LANES(rows[i], rows[i + LANES / 2], 4, 12, 5, 13, 6, 14, 7,
                                           15);
        }
        UNROLL
        for (int i = 0; i < LANES; i++)
            rows[i] = other[i];
    }
}

/* Of some of the cuts whose sums in each lane are side by side, from c on: the sum of all lanes, the
 * lane up to which they sum to a share of it, and what remains. */
INLINE void find_lanes(const numbers8 *sums, int c, const double *shares, double *totals,
                       double *rests, int64_t *lanes_of)
{
    doubles weights[LANES], total = {0}, left, rest;
    longs lane = {0};
    UNROLL
    for (int k = 0; k < LANES; k++) {
        part sum;
        memcpy(&sum, (const float *)&sums[k] + c, sizeof sum);
        weights[k] = __builtin_convertvector(sum, doubles);
        total += weights[k];
    }
    memcpy(&left, shares + c, sizeof left);
    left *= total;
    rest = left;
    UNROLL
    for (int k = 0; k < LANES - 1; k++) {
        longs beyond = left >= weights[k];
        left -= weights[k];
        lane -= beyond;
        rest = (doubles)(((longs)left & beyond) | ((longs)rest & ~beyond));
    }
    memcpy(totals + c, &total, sizeof total);
    memcpy(rests + c, &rest, sizeof rest);
    memcpy(lanes_of + c, &lane, sizeof lane);
}

/* Draw so many cuts, at most LANES, as `draw` does where no column has gaps: the rows that they are
 * between one by one, and their columns side by side. Returns how many are drawn before the first
 * whose rows do not differ: `draw` is to draw that one. */
INLINE ptrdiff_t draw_abreast(ok_cutter *cutter, ahead *next, ptrdiff_t turn, ptrdiff_t n_cuts,
                              ptrdiff_t first, ptrdiff_t n, ok_cut *cuts)
{
    const int32_t *order = cutter->order + first;
    const ptrdiff_t size = cutter->width + 2 * LANES;
    int32_t one[LANES], other[LANES];
    range columns[LANES];
    ptrdiff_t used[LANES];
    uint64_t drawn[LANES];
    double shares[LANES] = {0}, places[LANES], totals[LANES], rests[LANES];
    int64_t lanes_of[LANES];
    numbers8 sums[LANES] = {{0}};
    for (ptrdiff_t c = 0; c < n_cuts; c++) {
        int kind = TURNS[(turn + c) % 5];
        drawn[c] = cutter->drawn, used[c] = next->used;
        one[c] = other[c] = order[(ptrdiff_t)((double)n * uniform(cutter, next))];
        /* A row does not differ from itself. */
        for (int attempt = 0; attempt < TRIES && one[c] == other[c]; attempt++)
            other[c] = order[(ptrdiff_t)((double)n * uniform(cutter, next))];
        shares[c] = uniform(cutter, next), places[c] = uniform(cutter, next);
        columns[c] = range_of(cutter, kind);
        sums[c] = weigh(cutter, one[c], other[c], kind, columns[c], cutter->weights + c * size);
    }
    transpose8(sums);
    UNROLL
    for (int c = 0; c < LANES; c += PART)
        find_lanes(sums, c, shares, totals, rests, lanes_of);
    for (ptrdiff_t c = 0; c < n_cuts; c++) {
        if (!(totals[c] > 0)) {
            cutter->drawn = drawn[c], next->used = used[c];
            return c;
        }
        ptrdiff_t j = columns[c].begin
            + column_in(rests[c], (ptrdiff_t)lanes_of[c], cutter->weights + c * size, columns[c].n);
        place(cutter->rows[one[c] * cutter->width + j], cutter->rows[other[c] * cutter->width + j],
              j, places[c], cuts + c);
    }
    return n_cuts;
}

/* Let the rows come nearer that cuts will be drawn by, a line of 16 numbers at a time. */
INLINE void fetch(const ok_cutter *cutter, const ahead *next, ptrdiff_t first, ptrdiff_t n)
{
    for (ptrdiff_t e = 0; e < next->n; e += NUMBERS_OF_CUT) {
        for (int k = 0; k < 2; k++) {
            int32_t row = cutter->order[first + (ptrdiff_t)((double)n * next->numbers[e + k])];
            const float *x = cutter->rows + row * cutter->width;
            const float *a = cutter->slopes + cutter->slope_of[row] * cutter->n_drawn_from;
            for (ptrdiff_t j = 0; j < cutter->width; j += 16)
                __builtin_prefetch(x + j);
            for (ptrdiff_t j = 0; j < cutter->n_drawn_from; j += 16)
                __builtin_prefetch(a + j);
        }
    }
}
