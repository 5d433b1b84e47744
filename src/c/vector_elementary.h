/* Template: elementary functions of a vector register. Included by vector_kernels.c after
 * vector_product.h, with REAL, INTEGER and SUFFIX set.
 *
 * Uses masks instead of ?: on elements, which GCC 12 compiles to twice as many instructions. */

#ifdef REAL_IS_DOUBLE
#define LOWEST (-708.0)             /* exp() of less is subnormal, and set to 0 */
#define LOG2E 1.4426950408889634
#define LN2_HIGH 6.93147180369123816490e-01  /* ln 2 in two parts: k * LN2_HIGH is exact */
#define LN2_LOW 1.90821492927058770002e-10
#define ROUNDER 6755399441055744.0  /* 1.5 * 2^52: the low bits of x + ROUNDER are the integer */
#define MANTISSA 52                 /* nearest to x */
#define BIAS 1023
#define SIGN_BIT 63
#define HALF_PI_1 1.57079625129699707031  /* pi / 2 in three parts: k times the first 2 is exact */
#define HALF_PI_2 7.54978941586159635335e-08
#define HALF_PI_3 5.39030285815811905e-15
#define TWO_OVER_PI 0.63661977236758134308
#define REMAINDER 0.79  /* pi / 4, plus a margin for the rounding of k */
#else
#define LOWEST (-87.0f)
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

/* The elements of v, but 0 where the mask is set. */
INLINE VECTOR NAME(unless)(BITS mask, VECTOR v)
{
    return (VECTOR)((BITS)v & ~mask);
}

/* EACH does one step of a computation for `count` registers before the next step. So no instruction
 * depends on the one right before it, and the latencies overlap. Out-of-order execution of one
 * register after the other is 1.2 times slower, 1.4 times without AVX2. Of 2, 3, 4, 6 and 8
 * registers, TOGETHER is the fastest number on a Zen 3. */
#define TOGETHER (OK_BYTES == 16 ? 8 : 4)
#define EACH(step)                                                                           \
    UNROLL                                                                                   \
    for (int u = 0; u < count; u++)                                                          \
        step

/* exp(t) for t <= 0 or NaN. With t = k ln 2 + r and |r| <= ln(2)/2, the result is 2^k times a
 * polynomial in r, which interpolates exp at the Chebyshev points (relative error 3e-9 for float,
 * 5e-18 for double). Adding ROUNDER + BIAS leaves k + BIAS, the exponent bits of 2^k, in the low
 * bits. Below LOWEST this exponent does not fit; the last line sets these results to 0. */
INLINE void NAME(exponentials_of)(const int count, VECTOR *t)
{
    VECTOR shifted[TOGETHER], k[TOGETHER], r[TOGETHER], p[TOGETHER];
    EACH(shifted[u] = t[u] * LOG2E + (ROUNDER + BIAS));
    EACH(k[u] = shifted[u] - (ROUNDER + BIAS));
    EACH(r[u] = t[u] - k[u] * LN2_HIGH);
    EACH(r[u] = r[u] - k[u] * LN2_LOW);
#ifdef REAL_IS_DOUBLE
    EACH(p[u] = r[u] * 2.5110095611886237e-08 + 2.763271507163225e-07);
    EACH(p[u] = p[u] * r[u] + 2.755724076173926e-06);
    EACH(p[u] = p[u] * r[u] + 2.480148527837006e-05);
    EACH(p[u] = p[u] * r[u] + 1.984126989019371e-04);
    EACH(p[u] = p[u] * r[u] + 1.3888888952505407e-03);
    EACH(p[u] = p[u] * r[u] + 8.333333333319546e-03);
    EACH(p[u] = p[u] * r[u] + 4.1666666666487380e-02);
    EACH(p[u] = p[u] * r[u] + 1.6666666666666681e-01);
    EACH(p[u] = p[u] * r[u] + 5.0000000000000185e-01);
    EACH(p[u] = p[u] * r[u] + 1.0);
    EACH(p[u] = p[u] * r[u] + 1.0);
#else
    EACH(p[u] = r[u] * 1.39411607538e-03f + 8.37516828896e-03f);
    EACH(p[u] = p[u] * r[u] + 4.16663522683e-02f);
    EACH(p[u] = p[u] * r[u] + 1.66664150113e-01f);
    EACH(p[u] = p[u] * r[u] + 5.00000004726e-01f);
    EACH(p[u] = p[u] * r[u] + 1.00000003783e+00f);
    EACH(p[u] = p[u] * r[u] + 1.0f);
#endif
    EACH(shifted[u] = (VECTOR)((BITS)shifted[u] << MANTISSA));
    EACH(t[u] = NAME(unless)(t[u] < LOWEST, p[u] * shifted[u]));
}

/* tanh(t) = sign(t) (1 - e) / (1 + e) with e = exp(-2 |t|). The absolute error is a few units in
 * the last place of 1, which is enough for a kernel value. */
INLINE void NAME(hyperbolic_tangents_of)(const int count, VECTOR *t)
{
    VECTOR e[TOGETHER];
    EACH(e[u] = -2 * NAME(magnitude)(t[u]));
    NAME(exponentials_of)(count, e);
    EACH(e[u] = (1 - e[u]) / (1 + e[u]));
    EACH(t[u] = (VECTOR)((BITS)e[u] | ((BITS)t[u] & ~(BITS)NAME(magnitude)(t[u]))));
}

/* sin(r) and cos(r) for |r| <= pi/4 by the polynomials of Moshier's Cephes library (absolute error
 * below a unit in the last place of 1). */
INLINE void NAME(near_zero)(const int count, const VECTOR *r, VECTOR *cosine, VECTOR *sine)
{
    VECTOR z[TOGETHER];
    EACH(z[u] = r[u] * r[u]);
#ifdef REAL_IS_DOUBLE
    EACH(sine[u] = z[u] * 1.58962301576546568060e-10 - 2.50507477628578072866e-8);
    EACH(sine[u] = sine[u] * z[u] + 2.75573136213857245213e-6);
    EACH(sine[u] = sine[u] * z[u] - 1.98412698295895385996e-4);
    EACH(sine[u] = sine[u] * z[u] + 8.33333333332211858878e-3);
    EACH(sine[u] = sine[u] * z[u] - 1.66666666666666307295e-1);
    EACH(cosine[u] = z[u] * -1.13585365213876817300e-11 + 2.08757008419747316778e-9);
    EACH(cosine[u] = cosine[u] * z[u] - 2.75573141792967388112e-7);
    EACH(cosine[u] = cosine[u] * z[u] + 2.48015872888517045348e-5);
    EACH(cosine[u] = cosine[u] * z[u] - 1.38888888888730564116e-3);
    EACH(cosine[u] = cosine[u] * z[u] + 4.16666666666665929218e-2);
#else
    EACH(sine[u] = z[u] * -1.9515295891e-4f + 8.3321608736e-3f);
    EACH(sine[u] = sine[u] * z[u] - 1.6666654611e-1f);
    EACH(cosine[u] = z[u] * 2.443315711809948e-5f - 1.388731625493765e-3f);
    EACH(cosine[u] = cosine[u] * z[u] + 4.166664568298827e-2f);
#endif
    EACH(sine[u] = sine[u] * z[u] * r[u] + r[u]);
    EACH(cosine[u] = cosine[u] * z[u] * z[u] - (REAL)0.5 * z[u] + 1);
}

/* Cosine and sine of t = k pi/2 + r. The quadrant k mod 4 determines whether those of r are
 * swapped, and their signs. For huge |t| the rounding of k fails; r is then set to 0, so that
 * results stay bounded. `t` is overwritten with the cosines. */
INLINE void NAME(cosines_sines_of)(const int count, VECTOR *t, VECTOR *sine)
{
    VECTOR shifted[TOGETHER], k[TOGETHER], cosine[TOGETHER];
    BITS swap[TOGETHER];
    const BITS sign = (BITS){0} + (INTEGER)((uint64_t)1 << SIGN_BIT);
    EACH(shifted[u] = t[u] * TWO_OVER_PI + ROUNDER);
    EACH(k[u] = shifted[u] - ROUNDER);
    EACH(t[u] = t[u] - k[u] * HALF_PI_1);
    EACH(t[u] = t[u] - k[u] * HALF_PI_2);
    EACH(t[u] = t[u] - k[u] * HALF_PI_3);
    EACH(t[u] = NAME(unless)(NAME(magnitude)(t[u]) > REMAINDER, t[u]));
    NAME(near_zero)(count, t, cosine, sine);
    EACH(swap[u] = ((BITS)sine[u] ^ (BITS)cosine[u]) & -((BITS)shifted[u] & 1));
    EACH(sine[u] = (VECTOR)((BITS)sine[u] ^ swap[u]
                            ^ (((BITS)shifted[u] << (SIGN_BIT - 1)) & sign)));
    EACH(t[u] = (VECTOR)((BITS)cosine[u] ^ swap[u]
                         ^ ((((BITS)shifted[u] + 1) << (SIGN_BIT - 1)) & sign)));
}

#undef LOWEST
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
