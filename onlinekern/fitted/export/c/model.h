/* $title
   Constants: $flash bytes of flash; a model: $ram bytes of RAM. Numbers are $type.

   The functions return ${PREFIX}_OK, a class number, or a negative error code. A call that fails
   changes nothing.$threads
   Columns of sparse rows must ascend. Do not compile with -ffast-math: it would hide numbers
   that are not finite. */
#ifndef ${PREFIX}_H
#define ${PREFIX}_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef $type ${prefix}_real;

enum {
    ${PREFIX}_OK = 0,
    ${PREFIX}_NOT_FINITE = -1, /* a number of the row is $wrong, or a score would be */
    ${PREFIX}_BAD_COLUMN = -2, /* columns of a sparse row do not ascend, or are no feature's */
    ${PREFIX}_BAD_LABEL = -3,  /* there is no class with this number */
    ${PREFIX}_FULL = -4,       /* there is no room for another support vector */
$codes    ${PREFIX}_N_FEATURES = $features,
    ${PREFIX}_N_OUTPUTS = $outputs,
    ${PREFIX}_N_CLASSES = $classes
};
$labels$structures
/* $meaning */
int ${prefix}_score(const ${prefix}_real *x, ${prefix}_real *scores);
int ${prefix}_score_sparse(const int32_t *columns, const ${prefix}_real *values, int32_t n,
                           ${prefix}_real *scores);
$predict$more$own
#ifdef __cplusplus
}
#endif

#endif
