/* Template: element-wise kernel functions over a block. Included by vector_kernels.c after
 * vector_elementary.h, with REAL set; the plain loops are vectorised by the compiler. */

/* Elements of a row, LANES or, at its end, fewer: then the other lanes are 0. */
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

/* Calls f(registers, place, elements of each, ...) for the m elements of a row. */
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

static ptrdiff_t NAME(cheapest)(const void *g_, double c, const double *a, const double *b,
                                ptrdiff_t n)
{
    enum { STRIDE = 8 };
    const REAL *g = g_;
    double cost[OK_PANEL], low[STRIDE], least = INFINITY;
    ptrdiff_t best = 0;
    for (ptrdiff_t first = 0; first < n; first += OK_PANEL, a += OK_PANEL, b += OK_PANEL) {
        ptrdiff_t count = n - first < OK_PANEL ? n - first : OK_PANEL;
        for (ptrdiff_t j = 0; j < count; j++)
            cost[j] = a[j] * (b[j] - c * (double)g[first + j] * (double)g[first + j]);
        for (ptrdiff_t j = count; j < OK_PANEL; j++)
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

#undef ALONG_ROW
#undef EACH
#undef TOGETHER
#undef VECTOR
#undef LANES
#undef BITS
#undef NAME
