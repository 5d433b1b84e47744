/* The primitives of vector.h for one instruction set.
 *
 * Compiled once per level with OK_TABLE (symbol), OK_LEVEL (its name) and OK_BYTES (bytes of a
 * vector register) set by the build. The template below is included once per element type. The
 * vectors are the compiler's generic ones (GCC, Clang), so that no intrinsics are needed.
 *
 * Floating point: contraction to fused multiply-add is wanted (same source, same contraction in
 * every block shape); -ffast-math is not, it would drop the NaN and infinity checks above.
 */
#include "onlinekern/vector.h"

#include <float.h>
#include <math.h>
#include <string.h>

#define JOIN_(a, b) a##_##b
#define JOIN(a, b) JOIN_(a, b)

/* Loops whose bounds are compile-time constants must be unrolled completely: only then do the
 * accumulator arrays live in registers. */
#if defined(__clang__)
#define UNROLL _Pragma("clang loop unroll(full)")
#else
#define UNROLL _Pragma("GCC unroll 16")
#endif
#define INLINE static inline __attribute__((always_inline))

#include "vector_indices.h"

#define REAL float
#define INTEGER int32_t
#define UNSIGNED uint32_t
#define SUFFIX f32
#include "vector_product.h"
#include "vector_bytes.h"
#include "vector_elementary.h"
#include "vector_pairs.h"
#include "vector_symmetric.h"
#include "vector_function.h"
#undef REAL
#undef INTEGER
#undef UNSIGNED
#undef SUFFIX

#define REAL double
#define INTEGER int64_t
#define UNSIGNED uint64_t
#define SUFFIX f64
#define REAL_IS_DOUBLE
#include "vector_product.h"
#include "vector_bytes.h"
#include "vector_elementary.h"
#include "vector_pairs.h"
#include "vector_symmetric.h"
#include "vector_function.h"

#define OPS(type, suffix)                                                                    \
    {                                                                                        \
        sizeof(type),                                                                        \
        {dense_dot_##suffix, dense_squared_##suffix, dense_absolute_##suffix},               \
        {sparse_dot_##suffix, NULL, sparse_absolute_##suffix}, exponential_##suffix,         \
        scale_##suffix, power_##suffix, tanh_##suffix, dot_##suffix, dot2_##suffix,          \
        norms_##suffix, all_finite_##suffix, add_##suffix, cosine_sine_##suffix,             \
        clip_##suffix, cheapest_##suffix, transpose_##suffix, follow_##suffix,               \
        standardise_##suffix, hadamard_##suffix, add_dots_##suffix, finish_dot_##suffix,     \
        pair_step_##suffix, pair_gains_##suffix, single_step_##suffix, dense_onto_##suffix,  \
        symmetric_##suffix, listed_dot_##suffix, ones_dot_##suffix,                             \
        sparse_squared_##suffix                                                              \
    }

const ok_vector_table OK_TABLE = {OK_LEVEL, OPS(float, f32), OPS(double, f64), csr_faults};
