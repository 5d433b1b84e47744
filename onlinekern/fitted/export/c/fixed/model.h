/* $title
   Constants: $flash bytes of flash; a model: $ram bytes of RAM. Numbers are fixed point: nothing
   computes with floating ones.

   A row has the features as int16_t. With bits and zero of feature j, the number q stands for the
   value (q + ${prefix}_zeros[j]) / 2^${prefix}_bits[j]; ${prefix}_feature makes it. A score n
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

/* Feature j of a value in units of 2^-bits: 0 bits for whole numbers, as a converter gives them.
   Values beyond the rows that the model was exported with become the nearest feature. */
int16_t ${prefix}_feature(int32_t j, int32_t value, int32_t bits);

/* $meaning */
int ${prefix}_score(const int16_t *x, int32_t *scores);
$predict$own
#ifdef __cplusplus
}
#endif

#endif
