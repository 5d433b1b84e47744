/* $title
   Constants: $flash bytes of flash; a model: $ram bytes of RAM. Numbers are fixed point: there
   is no floating-point arithmetic.

   A row holds the features as int16_t. The number q of feature j stands for the value
   (q + ${prefix}_zeros[j]) / 2^${prefix}_bits[j]; ${prefix}_feature computes q. A score n
   stands for n / 2^${PREFIX}_SCORE_BITS.$threads */
#ifndef ${PREFIX}_H
#define ${PREFIX}_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum {
    ${PREFIX}_OK = 0,
    ${PREFIX}_N_FEATURES = $features,
    ${PREFIX}_N_OUTPUTS = $outputs,
    ${PREFIX}_N_CLASSES = $classes,
    ${PREFIX}_SCORE_BITS = $bits$missing
};
$labels$structures
extern const int8_t ${prefix}_bits[$features];
extern const int32_t ${prefix}_zeros[$features];

/* Return the number of feature j for a value in units of 2^-bits. For whole numbers, as an A/D
   converter returns them, bits is 0. Values outside the range of the rows given at export become
   the nearest number. */
int16_t ${prefix}_feature(int32_t j, int32_t value, int32_t bits);

/* $meaning */
int ${prefix}_score(const int16_t *x, int32_t *scores);
$predict$own
#ifdef __cplusplus
}
#endif

#endif
