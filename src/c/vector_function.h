/* Template: element-wise kernel functions over a block. Included by vector_kernels.c after
 * vector_elementary.h, with REAL set; the plain loops are vectorised by the compiler. */

/* Loads LANES elements of a row, or fewer at its end; the other lanes are 0. */
INLINE VECTOR NAME(load_some)(const REAL *p, ptrdiff_t count)
{
    VECTOR v = {0};
    memcpy(&v, p, (size_t)count * sizeof(REAL));
    return v;
}

INLINE void NAME(store_some)(REAL *p, VECTOR v, ptrdiff_t count)
{
    memcpy(p, &v, (size_t)count * sizeof(REAL));
}

/* Calls f(number of registers, place, elements of each, ...) along the m elements of a row. */
#define ALONG_ROW(m, f, ...)                                                                 \
    do {                                                                                     \
        ptrdiff_t j = 0;                                                                     \
        for (; j + TOGETHER * LANES <= (m); j += TOGETHER * LANES)                           \
            f(TOGETHER, j, LANES, __VA_ARGS__);                                              \
        for (; j < (m); j += LANES)                                                          \
            f(1, j, (m)-j < LANES ? (m)-j : LANES, __VA_ARGS__);                             \
    } while (0)

/* exp(min(c g - (a + b), 0)) */
INLINE void NAME(decay)(const int count, ptrdiff_t j, ptrdiff_t width, REAL *g, REAL c,
                        const REAL *a, const REAL *b)
{
    VECTOR t[TOGETHER];
    EACH(t[u] = c * NAME(load_some)(g + j + u * LANES, width));
    if (a)
        EACH(t[u] -= *a + NAME(load_some)(b + j + u * LANES, width));
    EACH(t[u] = NAME(unless)(t[u] > 0, t[u]));
    NAME(exponentials_of)(count, t);
    EACH(NAME(store_some)(g + j + u * LANES, t[u], width));
}

static void NAME(exponential)(void *g, ptrdiff_t ld, ptrdiff_t n, ptrdiff_t m, double c,
                              const void *a, const void *b)
{
    for (ptrdiff_t i = 0; i < n; i++)
        if (a)
            ALONG_ROW(m, NAME(decay), (REAL *)g + i * ld, (REAL)c, (const REAL *)a + i, b);
        else
            ALONG_ROW(m, NAME(decay), (REAL *)g + i * ld, (REAL)c, NULL, NULL);
}

static void NAME(scale)(void *g_, ptrdiff_t ld, ptrdiff_t n, ptrdiff_t m, const void *a_,
                        const void *b_)
{
    const REAL *a = a_, *b = b_;
    for (ptrdiff_t i = 0; i < n; i++) {
        REAL *restrict g = (REAL *)g_ + i * ld;
        for (ptrdiff_t j = 0; j < m; j++)
            g[j] *= a[i] * b[j];
    }
}

static void NAME(power)(void *g_, ptrdiff_t ld, ptrdiff_t n, ptrdiff_t m, double c_,
                        double offset_, long degree)
{
    const REAL c = (REAL)c_, offset = (REAL)offset_;
    for (ptrdiff_t i = 0; i < n; i++) {
        REAL *restrict g = (REAL *)g_ + i * ld;
        for (ptrdiff_t strip = 0; strip < m; strip += OK_PANEL) {
            ptrdiff_t width = m - strip < OK_PANEL ? m - strip : OK_PANEL;
            REAL base[OK_PANEL], *product = g + strip;
            for (ptrdiff_t j = 0; j < width; j++)
                base[j] = product[j] = c * product[j] + offset;
            for (long e = 1; e < degree; e++)
                for (ptrdiff_t j = 0; j < width; j++)
                    product[j] *= base[j];
        }
    }
}

INLINE void NAME(squash)(const int count, ptrdiff_t j, ptrdiff_t width, REAL *g, REAL c,
                         REAL offset)
{
    VECTOR t[TOGETHER];
    EACH(t[u] = c * NAME(load_some)(g + j + u * LANES, width) + offset);
    NAME(hyperbolic_tangents_of)(count, t);
    EACH(NAME(store_some)(g + j + u * LANES, t[u], width));
}

static void NAME(tanh)(void *g, ptrdiff_t ld, ptrdiff_t n, ptrdiff_t m, double c, double offset)
{
    for (ptrdiff_t i = 0; i < n; i++)
        ALONG_ROW(m, NAME(squash), (REAL *)g + i * ld, (REAL)c, (REAL)offset);
}

INLINE void NAME(wave)(const int count, ptrdiff_t j, ptrdiff_t width, REAL *g, REAL *s, REAL c)
{
    VECTOR t[TOGETHER], sine[TOGETHER];
    EACH(t[u] = NAME(load_some)(g + j + u * LANES, width));
    NAME(cosines_sines_of)(count, t, sine);
    EACH(NAME(store_some)(s + j + u * LANES, c * sine[u], width));
    EACH(NAME(store_some)(g + j + u * LANES, c * t[u], width));
}

static void NAME(cosine_sine)(void *g, ptrdiff_t ld, ptrdiff_t n, ptrdiff_t m, ptrdiff_t sine,
                              double c)
{
    for (ptrdiff_t i = 0; i < n; i++)
        ALONG_ROW(m, NAME(wave), (REAL *)g + i * ld, (REAL *)g + i * ld + sine, (REAL)c);
}

static void NAME(add)(const void *g_, double c, double *restrict a, ptrdiff_t n)
{
    const REAL *restrict g = g_;
    for (ptrdiff_t j = 0; j < n; j++)
        a[j] += c * (double)g[j];
}

static void NAME(clip)(double *a, double limit, ptrdiff_t n)
{
    for (ptrdiff_t j = 0; j < n; j++) {
        double value = a[j] < limit ? a[j] : limit;
        a[j] = value > -limit ? value : -limit;
    }
}

static void NAME(follow)(const void *x_, double share, double reach, double *restrict mean,
                         double *restrict variance, ptrdiff_t n)
{
    const REAL *restrict x = x_;
    const double rest = 1 - share, both = share * rest, square = reach * reach;
    for (ptrdiff_t j = 0; square < INFINITY && j < n; j++) {
        double delta = (double)x[j] - mean[j];
        double most = square * variance[j];
        double size = most > 0 && delta * delta > most ? sqrt(most) : fabs(delta);
        double value = rest * variance[j] + both * size * size;
        variance[j] = value < 1e-290 ? 0 : value;
        mean[j] += share * copysign(size, delta);
    }
    if (square < INFINITY)
        return;
    for (ptrdiff_t j = 0; j < n; j++) {
        double delta = (double)x[j] - mean[j];
        double value = rest * variance[j] + both * delta * delta;
        variance[j] = value < 1e-290 ? 0 : value;
        mean[j] += share * delta;
    }
}

static void NAME(standardise)(const void *x_, const double *mean, const double *variance,
                              double limit, void *out_, ptrdiff_t n)
{
    const REAL *restrict x = x_;
    REAL *restrict out = out_;
    if (!variance) {
        for (ptrdiff_t j = 0; j < n; j++)
            out[j] = (REAL)((double)x[j] - mean[j]);
        return;
    }
    /* Standard deviations of a few units in the last place of the mean are rounding errors. */
    const double rounding = 16 * DBL_EPSILON * DBL_EPSILON;
    for (ptrdiff_t j = 0; j < n; j++) {
        double scale = variance[j] > rounding * mean[j] * mean[j] ? sqrt(variance[j]) : 1;
        double value = ((double)x[j] - mean[j]) / scale;
        value = value < limit ? value : limit;
        out[j] = (REAL)(value > -limit ? value : -limit);
    }
}

/* cost[j] = (b_j - c g_j^2) sum_k a_kj^2 for the OK_PANEL places j of a panel. */
INLINE void NAME(costs)(const REAL *g, double c, const double *a, ptrdiff_t stride,
                        ptrdiff_t outputs, const double *b, double *cost)
{
    for (ptrdiff_t j = 0; j < OK_PANEL; j++)
        cost[j] = a[j] * a[j];
    for (ptrdiff_t k = 1; k < outputs; k++)
        for (ptrdiff_t j = 0; j < OK_PANEL; j++)
            cost[j] += a[k * stride + j] * a[k * stride + j];
    for (ptrdiff_t j = 0; j < OK_PANEL; j++)
        cost[j] *= b[j] - c * (double)g[j] * (double)g[j];
}

static ptrdiff_t NAME(cheapest)(const void *g, double c, const double *a, ptrdiff_t stride,
                                ptrdiff_t outputs, const double *b, ptrdiff_t n)
{
    enum { STRIDE = 8 };
    double cost[OK_PANEL], low[STRIDE], least = INFINITY;
    ptrdiff_t best = 0;
    for (ptrdiff_t first = 0; first < n; first += OK_PANEL, a += OK_PANEL, b += OK_PANEL) {
        NAME(costs)((const REAL *)g + first, c, a, stride, outputs, b, cost);
        for (ptrdiff_t j = n - first; j < OK_PANEL; j++)
            cost[j] = INFINITY;
        for (int l = 0; l < STRIDE; l++)
            low[l] = cost[l];
        for (ptrdiff_t j = STRIDE; j < OK_PANEL; j += STRIDE)
            for (int l = 0; l < STRIDE; l++)
                low[l] = cost[j + l] < low[l] ? cost[j + l] : low[l];
        for (int l = 0; l < STRIDE; l++)
            if (low[l] < least) {
                least = low[l];
                best = -1;
            }
        if (best < 0)
            for (best = first; cost[best - first] != least;)
                best++;
    }
    return best;
}

/* 16-byte registers: every processor interleaves their lanes in one instruction. */
#define SIDE ((ptrdiff_t)(16 / sizeof(REAL)))
typedef REAL NAME(quad) __attribute__((vector_size(16), may_alias));
typedef INTEGER NAME(quad_bits) __attribute__((vector_size(16), may_alias));
#ifdef REAL_IS_DOUBLE
#define LOWER 0, 2
#define UPPER 1, 3
#else
#define LOWER 0, 4, 1, 5
#define UPPER 2, 6, 3, 7
#endif
#if defined(__clang__)
#define INTERLEAVE(a, b, ...) __builtin_shufflevector(a, b, __VA_ARGS__)
#else
#define INTERLEAVE(a, b, ...) __builtin_shuffle(a, b, (NAME(quad_bits)){__VA_ARGS__})
#endif

/* Transposes SIDE x SIDE elements, by interleaving the first half of the rows with the second half
 * log2(SIDE) times. */
INLINE void NAME(interleave)(NAME(quad) *rows)
{
    NAME(quad) other[SIDE];
    UNROLL
    for (int stage = 1; stage < SIDE; stage *= 2) {
        UNROLL
        for (int i = 0; i < SIDE / 2; i++) {
            other[2 * i] = INTERLEAVE(rows[i], rows[i + SIDE / 2], LOWER);
            other[2 * i + 1] = INTERLEAVE(rows[i], rows[i + SIDE / 2], UPPER);
        }
        UNROLL
        for (int i = 0; i < SIDE; i++)
            rows[i] = other[i];
    }
}

INLINE void NAME(transpose_square)(const REAL *tile, REAL *g, ptrdiff_t ld)
{
    NAME(quad) rows[SIDE];
    UNROLL
    for (int i = 0; i < SIDE; i++)
        memcpy(&rows[i], tile + i * OK_PANEL, sizeof rows[i]);
    NAME(interleave)(rows);
    UNROLL
    for (int i = 0; i < SIDE; i++)
        memcpy(g + i * ld, &rows[i], sizeof rows[i]);
}

static void NAME(transpose)(const void *tile, ptrdiff_t n, void *g, ptrdiff_t ld)
{
    for (ptrdiff_t i = 0; i < n; i += SIDE)
        for (ptrdiff_t j = 0; j < OK_PANEL; j += SIDE)
            NAME(transpose_square)((const REAL *)tile + j * OK_PANEL + i, (REAL *)g + i * ld + j,
                                   ld);
}

/* Registers of a Hadamard transform: not wider than its last step, of SIDE x SIDE elements. */
#define STRIP_BYTES (OK_BYTES < 16 * SIDE ? OK_BYTES : 16 * SIDE)
#define STRIP ((ptrdiff_t)(STRIP_BYTES / sizeof(REAL)))
typedef REAL NAME(strip) __attribute__((vector_size(STRIP_BYTES), may_alias));

/* One stage: (a, b) <- (a + b, a - b) for elements that are `stride` apart. */
INLINE void NAME(one_stage)(REAL *x, ptrdiff_t stride)
{
    for (ptrdiff_t j = 0; j < stride; j += STRIP) {
        NAME(strip) a, b, sum, difference;
        memcpy(&a, x + j, sizeof a);
        memcpy(&b, x + stride + j, sizeof b);
        sum = a + b;
        difference = a - b;
        memcpy(x + j, &sum, sizeof a);
        memcpy(x + stride + j, &difference, sizeof b);
    }
}

/* Two stages in one pass, of strides 2 * stride and stride. */
INLINE void NAME(two_stages)(REAL *x, ptrdiff_t stride)
{
    for (ptrdiff_t j = 0; j < stride; j += STRIP) {
        NAME(strip) v[4], w[4];
        UNROLL
        for (int i = 0; i < 4; i++)
            memcpy(&v[i], x + i * stride + j, sizeof v[i]);
        w[0] = v[0] + v[2];
        w[1] = v[1] + v[3];
        w[2] = v[0] - v[2];
        w[3] = v[1] - v[3];
        v[0] = w[0] + w[1];
        v[1] = w[0] - w[1];
        v[2] = w[2] + w[3];
        v[3] = w[2] - w[3];
        UNROLL
        for (int i = 0; i < 4; i++)
            memcpy(x + i * stride + j, &v[i], sizeof v[i]);
    }
}

INLINE void NAME(fold)(NAME(quad) *rows)
{
    UNROLL
    for (int stage = 1; stage < SIDE; stage *= 2) {
        UNROLL
        for (int i = 0; i < SIDE; i++)
            if (!(i & stage)) {
                NAME(quad) a = rows[i], b = rows[i + stage];
                rows[i] = a + b;
                rows[i + stage] = a - b;
            }
    }
}

/* All stages of SIDE x SIDE elements: those across rows, then, transposed, those within rows. */
INLINE void NAME(small_hadamard)(REAL *x)
{
    NAME(quad) rows[SIDE];
    UNROLL
    for (int i = 0; i < SIDE; i++)
        memcpy(&rows[i], x + i * SIDE, sizeof rows[i]);
    NAME(fold)(rows);
    NAME(interleave)(rows);
    NAME(fold)(rows);
    NAME(interleave)(rows);
    UNROLL
    for (int i = 0; i < SIDE; i++)
        memcpy(x + i * SIDE, &rows[i], sizeof rows[i]);
}

/* Long strides come first: so no wide load follows narrow stores to the same memory, which would
 * prevent store forwarding. */
static void NAME(hadamard)(void *x_, ptrdiff_t n)
{
    REAL *x = x_;
    ptrdiff_t length = SIDE * SIDE;
    while (4 * length <= n)
        length *= 4;
    if (length < n)
        NAME(one_stage)(x, length);
    for (; length > SIDE * SIDE; length /= 4)
        for (ptrdiff_t i = 0; i < n; i += length)
            NAME(two_stages)(x + i, length / 4);
    for (ptrdiff_t i = 0; i < n; i += SIDE * SIDE)
        NAME(small_hadamard)(x + i);
}

#undef STRIP
#undef STRIP_BYTES
#undef SIDE
#undef LOWER
#undef UPPER
#undef INTERLEAVE
#undef ALONG_ROW
#undef EACH
#undef TOGETHER
#undef VECTOR
#undef LANES
#undef BITS
#undef NAME
