/* Whether arithmetic of this thread has overflowed, or divided a number by 0, since it was last asked
 * to forget that: the processor notes it by itself. As long as it has not, no infinity has come of
 * finite numbers.
 */
#ifndef OK_OVERFLOW_H
#define OK_OVERFLOW_H

#if defined(__x86_64__) || defined(_M_X64)
/* The functions of <fenv.h> look at the x87 unit too, which takes longer and computes nothing. */
#include <xmmintrin.h>

#define OK_NOTED (_MM_EXCEPT_OVERFLOW | _MM_EXCEPT_DIV_ZERO)

static inline int ok_has_overflowed(void)
{
    return (_mm_getcsr() & OK_NOTED) != 0;
}

static inline void ok_forget_overflow(void)
{
    unsigned int state = _mm_getcsr();
    /* Writing it takes longer than reading. */
    if (state & OK_NOTED)
        _mm_setcsr(state & ~(unsigned int)OK_NOTED);
}
#else
#include <fenv.h>

/* Processors without such notes, as that of WebAssembly, lack these names. */
#if defined(FE_OVERFLOW) && defined(FE_DIVBYZERO)
#define OK_NOTED (FE_OVERFLOW | FE_DIVBYZERO)
#else
#define OK_NOTED 0
#endif

static inline int ok_has_overflowed(void)
{
    return OK_NOTED != 0 && fetestexcept(OK_NOTED) != 0;
}

static inline void ok_forget_overflow(void)
{
    if (ok_has_overflowed())
        feclearexcept(OK_NOTED);
}
#endif

#endif
