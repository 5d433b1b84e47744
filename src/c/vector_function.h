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
#else
#define LOWEST (-87.0f)
#define HIGHEST 88.0f
#define LOG2E 1.44269504f
#define LN2_HIGH 0.693359375f
#define LN2_LOW (-2.12194440e-4f)
#define ROUNDER 12582912.0f
#define MANTISSA 23
#define BIAS 127
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

#undef LOWEST
#undef HIGHEST
#undef LOG2E
#undef LN2_HIGH
#undef LN2_LOW
#undef ROUNDER
#undef MANTISSA
#undef BIAS
#undef NAME
