/* Template: elementary functions of a vector register. Included by vector_kernels.c after
 * vector_product.h, with REAL, INTEGER and SUFFIX set.
 *
 * Written with masks and not with ?: on elements, of which GCC 12 makes twice the instructions. */

#ifdef REAL_IS_DOUBLE
#define LOWEST (-708.0)             /* exp() of less is below the normal numbers: 0 */
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

/* The elements of v where the mask is not set, 0 where it is. */
INLINE VECTOR NAME(unless)(BITS mask, VECTOR v)
{
    return (VECTOR)((BITS)v & ~mask);
}

/* exp(t) for t <= 0, or NaN: t = k ln 2 + r, |r| <= ln(2)/2, a polynomial in r that interpolates exp
 * at the Chebyshev points (relative error 3e-9, 5e-18), times 2^k. ROUNDER + BIAS leaves k + BIAS,
 * the exponent of 2^k, in the low bits. Far below, it does not fit and the product is anything: the
 * last line makes it 0. */
INLINE VECTOR NAME(exponential_of)(VECTOR t)
{
    VECTOR shifted = t * LOG2E + (ROUNDER + BIAS);
    VECTOR k = shifted - (ROUNDER + BIAS);
    VECTOR r = (t - k * LN2_HIGH) - k * LN2_LOW;
#ifdef REAL_IS_DOUBLE
    VECTOR p = r * 2.5110095611886237e-08 + 2.763271507163225e-07;
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
    VECTOR p = r * 1.39411607538e-03f + 8.37516828896e-03f;
    p = p * r + 4.16663522683e-02f;
    p = p * r + 1.66664150113e-01f;
    p = p * r + 5.00000004726e-01f;
    p = p * r + 1.00000003783e+00f;
    p = p * r + 1.0f;
#endif
    VECTOR power = (VECTOR)((BITS)shifted << MANTISSA);
    return NAME(unless)(t < LOWEST, p * power);
}

/* tanh(t) = sign(t) (1 - e) / (1 + e), e = exp(-2 |t|): absolute error of a few units in the last
 * place of 1, which is what a kernel value needs. */
INLINE VECTOR NAME(hyperbolic_tangent_of)(VECTOR t)
{
    VECTOR e = NAME(exponential_of)(-2 * NAME(magnitude)(t));
    VECTOR ratio = (1 - e) / (1 + e);
    return (VECTOR)((BITS)ratio | ((BITS)t & ~(BITS)NAME(magnitude)(t)));
}

/* sin(r) and cos(r) for |r| <= pi/4 by the polynomials of Moshier's Cephes library (absolute error
 * below a unit in the last place of 1). */
INLINE VECTOR NAME(sine_near_zero)(VECTOR r)
{
    VECTOR z = r * r;
#ifdef REAL_IS_DOUBLE
    VECTOR p = z * 1.58962301576546568060e-10 - 2.50507477628578072866e-8;
    p = p * z + 2.75573136213857245213e-6;
    p = p * z - 1.98412698295895385996e-4;
    p = p * z + 8.33333333332211858878e-3;
    p = p * z - 1.66666666666666307295e-1;
#else
    VECTOR p = z * -1.9515295891e-4f + 8.3321608736e-3f;
    p = p * z - 1.6666654611e-1f;
#endif
    return p * z * r + r;
}

INLINE VECTOR NAME(cosine_near_zero)(VECTOR r)
{
    VECTOR z = r * r;
#ifdef REAL_IS_DOUBLE
    VECTOR p = z * -1.13585365213876817300e-11 + 2.08757008419747316778e-9;
    p = p * z - 2.75573141792967388112e-7;
    p = p * z + 2.48015872888517045348e-5;
    p = p * z - 1.38888888888730564116e-3;
    p = p * z + 4.16666666666665929218e-2;
    return p * z * z - (REAL)0.5 * z + 1;
#else
    VECTOR p = z * 2.443315711809948e-5f - 1.388731625493765e-3f;
    p = p * z + 4.166664568298827e-2f;
    return p * z * z - 0.5f * z + 1;
#endif
}

/* Cosine and sine of t = k pi/2 + r: the quadrant k mod 4 swaps those of r and gives them their
 * signs. Far outside, where the rounding of k fails, r is 0 so that nothing grows. */
INLINE void NAME(cosine_sine_of)(VECTOR t, VECTOR *cosine, VECTOR *sine)
{
    VECTOR shifted = t * TWO_OVER_PI + ROUNDER;
    VECTOR k = shifted - ROUNDER;
    VECTOR r = ((t - k * HALF_PI_1) - k * HALF_PI_2) - k * HALF_PI_3;
    r = NAME(unless)(NAME(magnitude)(r) > REMAINDER, r);
    VECTOR sin_r = NAME(sine_near_zero)(r), cos_r = NAME(cosine_near_zero)(r);
    BITS quadrant = (BITS)shifted, sign = {0};
    sign += (INTEGER)1 << SIGN_BIT;
    BITS swap = ((BITS)sin_r ^ (BITS)cos_r) & -(quadrant & 1);
    *sine = (VECTOR)((BITS)sin_r ^ swap ^ ((quadrant << (SIGN_BIT - 1)) & sign));
    *cosine = (VECTOR)((BITS)cos_r ^ swap ^ (((quadrant + 1) << (SIGN_BIT - 1)) & sign));
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
