/* Template: element-wise kernel functions over a block, written as plain loops that compilers
 * vectorise (needs -O3 -fno-trapping-math; see speed.md of the design for what each flag costs).
 * Included by vector_kernels.c after vector_product.h, with REAL and UNSIGNED set. */

#ifdef REAL_IS_DOUBLE
#define LOWEST (-708.0)             /* exp() of less is below the normal numbers: 0 */
#define HIGHEST 709.0
#define LOG2E 1.4426950408889634
#define LN2_HIGH 6.93147180369123816490e-01  /* ln 2 in two parts: k * LN2_HIGH is exact */
#define LN2_LOW 1.90821492927058770002e-10
#define ROUNDER 6755399441055744.0  /* 1.5 * 2^52: adding it leaves the nearest integer in the */
#define MANTISSA 52                 /* low bits of the sum */
#define BIAS 1023
#define SIGN_BIT 63
#define HALF_PI_1 1.57079625129699707031  /* pi / 2 in three parts: k times the first two is exact */
#define HALF_PI_2 7.54978941586159635335e-08
#define HALF_PI_3 5.39030285815811905e-15
#define TWO_OVER_PI 0.63661977236758134308
#define REMAINDER 0.79  /* pi / 4, and what the rounding of k may add to it */
#else
#define LOWEST (-87.0f)
#define HIGHEST 88.0f
#define LOG2E 1.44269504f
#define LN2_HIGH 0.693359375f
#define LN2_LOW (-2.12194440e-4f)
#define ROUNDER 12582912.0f
#define MANTISSA 23
#define BIAS 127
#define SIGN_BIT 31
#define HALF_PI_1 1.5703125f
#define HALF_PI_2 4.837512969970703125e-4f
#define HALF_PI_3 7.54978995489188216e-8f
#define TWO_OVER_PI 0.636619772367581343f
#define REMAINDER 0.79f
#endif

/* exp(t) for t <= HIGHEST: t = k ln 2 + r, |r| <= ln(2)/2, a polynomial in r that interpolates exp
 * at the Chebyshev points (relative error 3e-9, 5e-18), times 2^k made from the exponent bits. */
INLINE REAL NAME(exponential_of)(REAL t)
{
    REAL clamped = t < LOWEST ? LOWEST : (t > HIGHEST ? HIGHEST : t);
    REAL shifted = clamped * LOG2E + ROUNDER;
    REAL k = shifted - ROUNDER;
    REAL r = (clamped - k * LN2_HIGH) - k * LN2_LOW;
#ifdef REAL_IS_DOUBLE
    REAL p = 2.5110095611886237e-08;
    p = p * r + 2.763271507163225e-07;
    p = p * r + 2.755724076173926e-06;
    p = p * r + 2.480148527837006e-05;
    p = p * r + 1.984126989019371e-04;
    p = p * r + 1.3888888952505407e-03;
    p = p * r + 8.333333333319546e-03;
    p = p * r + 4.1666666666487380e-02;
    p = p * r + 1.6666666666666681e-01;
    p = p * r + 5.0000000000000185e-01;
    p = p * r + 1.0;
    p = p * r + 1.0;
#else
    REAL p = 1.39411607538e-03f;
    p = p * r + 8.37516828896e-03f;
    p = p * r + 4.16663522683e-02f;
    p = p * r + 1.66664150113e-01f;
    p = p * r + 5.00000004726e-01f;
    p = p * r + 1.00000003783e+00f;
    p = p * r + 1.0f;
#endif
    UNSIGNED exponent;
    memcpy(&exponent, &shifted, sizeof exponent);
    exponent = (exponent + BIAS) << MANTISSA;
    REAL power;
    memcpy(&power, &exponent, sizeof power);
    REAL result = p * power;
    return t < LOWEST ? 0 : result;
}

static void NAME(exponential)(void *g_, ptrdiff_t ld, ptrdiff_t n, ptrdiff_t m, double c_,
                              const void *a_, const void *b_)
{
    const REAL c = (REAL)c_;
    const REAL *a = a_, *b = b_;
    for (ptrdiff_t i = 0; i < n; i++) {
        REAL *restrict g = (REAL *)g_ + i * ld;
        if (a)
            for (ptrdiff_t j = 0; j < m; j++) {
                REAL t = c * g[j] - (a[i] + b[j]);
                g[j] = NAME(exponential_of)(t > 0 ? 0 : t);
            }
        else
            for (ptrdiff_t j = 0; j < m; j++) {
                REAL t = c * g[j];
                g[j] = NAME(exponential_of)(t > 0 ? 0 : t);
            }
    }
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

/* tanh(t) = sign(t) (1 - e) / (1 + e), e = exp(-2 |t|): absolute error of a few units in the last
 * place of 1, which is what a kernel value needs. */
static void NAME(tanh)(void *g_, ptrdiff_t ld, ptrdiff_t n, ptrdiff_t m, double c_,
                       double offset_)
{
    const REAL c = (REAL)c_, offset = (REAL)offset_;
    for (ptrdiff_t i = 0; i < n; i++) {
        REAL *restrict g = (REAL *)g_ + i * ld;
        for (ptrdiff_t j = 0; j < m; j++) {
            REAL t = c * g[j] + offset;
            REAL e = NAME(exponential_of)(t > 0 ? -2 * t : 2 * t);
            REAL ratio = (1 - e) / (1 + e);
            g[j] = t < 0 ? -ratio : ratio;
        }
    }
}

/* sin(r) and cos(r) for |r| <= pi/4 by the polynomials of Moshier's Cephes library (absolute error
 * below a unit in the last place of 1). */
INLINE REAL NAME(sine_near_zero)(REAL r)
{
    REAL z = r * r;
#ifdef REAL_IS_DOUBLE
    REAL p = 1.58962301576546568060e-10;
    p = p * z - 2.50507477628578072866e-8;
    p = p * z + 2.75573136213857245213e-6;
    p = p * z - 1.98412698295895385996e-4;
    p = p * z + 8.33333333332211858878e-3;
    p = p * z - 1.66666666666666307295e-1;
#else
    REAL p = -1.9515295891e-4f;
    p = p * z + 8.3321608736e-3f;
    p = p * z - 1.6666654611e-1f;
#endif
    return p * z * r + r;
}

INLINE REAL NAME(cosine_near_zero)(REAL r)
{
    REAL z = r * r;
#ifdef REAL_IS_DOUBLE
    REAL p = -1.13585365213876817300e-11;
    p = p * z + 2.08757008419747316778e-9;
    p = p * z - 2.75573141792967388112e-7;
    p = p * z + 2.48015872888517045348e-5;
    p = p * z - 1.38888888888730564116e-3;
    p = p * z + 4.16666666666665929218e-2;
    return p * z * z - (REAL)0.5 * z + 1;
#else
    REAL p = 2.443315711809948e-5f;
    p = p * z - 1.388731625493765e-3f;
    p = p * z + 4.166664568298827e-2f;
    return p * z * z - 0.5f * z + 1;
#endif
}

INLINE REAL NAME(with_sign)(REAL x, UNSIGNED quadrant)
{
    UNSIGNED bits;
    memcpy(&bits, &x, sizeof bits);
    bits ^= (quadrant & 2) << (SIGN_BIT - 1);
    memcpy(&x, &bits, sizeof x);
    return x;
}

/* t = k pi/2 + r: the quadrant k mod 4 swaps sine and cosine of r and gives them their signs. Far
 * outside, where the rounding of k fails, r is held in its range so that nothing grows. */
static void NAME(cosine_sine)(void *g_, ptrdiff_t ld, ptrdiff_t n, ptrdiff_t m, ptrdiff_t sine,
                              double c_)
{
    const REAL c = (REAL)c_;
    for (ptrdiff_t i = 0; i < n; i++) {
        REAL *restrict g = (REAL *)g_ + i * ld;
        REAL *restrict s = g + sine;
        for (ptrdiff_t j = 0; j < m; j++) {
            REAL shifted = g[j] * TWO_OVER_PI + ROUNDER;
            REAL k = shifted - ROUNDER;
            REAL r = ((g[j] - k * HALF_PI_1) - k * HALF_PI_2) - k * HALF_PI_3;
            r = r < -REMAINDER ? -REMAINDER : (r > REMAINDER ? REMAINDER : r);
            REAL sin_r = NAME(sine_near_zero)(r), cos_r = NAME(cosine_near_zero)(r);
            UNSIGNED quadrant;
            memcpy(&quadrant, &shifted, sizeof quadrant);
            REAL sin_t = quadrant & 1 ? cos_r : sin_r;
            REAL cos_t = quadrant & 1 ? sin_r : cos_r;
            s[j] = c * NAME(with_sign)(sin_t, quadrant);
            g[j] = c * NAME(with_sign)(cos_t, quadrant + 1);
        }
    }
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

#undef LOWEST
#undef HIGHEST
#undef LOG2E
#undef LN2_HIGH
#undef LN2_LOW
#undef ROUNDER
#undef MANTISSA
#undef BIAS
#undef SIGN_BIT
#undef HALF_PI_1
#undef HALF_PI_2
#undef HALF_PI_3
#undef TWO_OVER_PI
#undef REMAINDER
#undef NAME
