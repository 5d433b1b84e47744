/* Declarations of the headers, whose templates are `model.h` and `fixed/model.h`. */

/*** declare_predict_target ***/
/* Write the prediction. */
int ${prefix}_predict(const ${prefix}_real *x, ${prefix}_real *target);
int ${prefix}_predict_sparse(const int32_t *columns, const ${prefix}_real *values, int32_t n,
                             ${prefix}_real *target);

/*** declare_predict_class ***/
/* Return the class number, or a negative error code. */
int32_t ${prefix}_predict(const ${prefix}_real *x);
int32_t ${prefix}_predict_sparse(const int32_t *columns, const ${prefix}_real *values, int32_t n);

/*** declare_learn ***/

/* Learn one sample: $target. If the code is not 0, nothing has changed. */
int ${prefix}_learn_one(const ${prefix}_real *x$y);
int ${prefix}_learn_one_sparse(const int32_t *columns, const ${prefix}_real *values, int32_t n$y);

/*** declare_threads ***/

   A function with the ending _r takes a model of the caller. The functions without this ending
   share one model; only one thread at a time may call them. Compiling with
   -D${PREFIX}_NO_SHARED_MODEL leaves them out.

/*** declare_codes ***/
    ${PREFIX}_BAD_STATE = -5,  /* no valid state, or too few bytes for one */
    ${PREFIX}_OTHER_VERSION = -6, /* a state of another version of the format */
    ${PREFIX}_OTHER_MODEL = -7, /* a state of a different model */
    ${PREFIX}_STATE_BYTES = $bytes,

/*** declare_own ***/

/* Set a model of the caller to the exported state. The _r functions take such a model. */
void ${prefix}_init(${prefix}_t *model);
$functions

/*** declare_state ***/

/* Save a state as ${PREFIX}_STATE_BYTES bytes (little-endian, with a checksum), and load it. */
int ${prefix}_save(const ${prefix}_t *model, uint8_t *bytes, size_t size);
int ${prefix}_load(${prefix}_t *model, const uint8_t *bytes, size_t size);

/* Saving in two slots of `size` bytes, which may contain anything. `load_newest` loads the valid
   slot that was saved last. `save_next` makes the bytes for the other slot, and returns its
   number, 0 or 1. If the power fails while they are being written, the last valid state is still
   there. */
int ${prefix}_load_newest(${prefix}_t *model, const uint8_t *first, const uint8_t *second,
                          size_t size);
int ${prefix}_save_next(const ${prefix}_t *model, const uint8_t *first, const uint8_t *second,
                        uint8_t *bytes, size_t size);

/*** declare_rows ***/

/* Functions for rows of a table like that of the training. A row has a value for each column:

$columns

   Numbers, truth values (1 or 0) and seconds are given as `number`; a missing one is NaN. Texts are
   given as `text`, in UTF-8 and spelt as in the table; a missing one is 0 or "". Seconds since 1970
   are those of a local clock in the column's time zone (UTC if none is named).

   `encode` computes the features of a row, which are x of the functions above. Categories that
   training did not see get no features of their own. */
typedef struct {
    double number;
    const char *text;
} ${prefix}_value;

enum { ${PREFIX}_N_COLUMNS = $count };

extern const char *const ${prefix}_columns[$count];

int ${prefix}_encode(const ${prefix}_value *values, ${prefix}_real *x);
int ${prefix}_score_row(const ${prefix}_value *values, ${prefix}_real *scores);
$predict

/*** declare_predict_row_target ***/
int ${prefix}_predict_row(const ${prefix}_value *values, ${prefix}_real *target);

/*** declare_predict_row_class ***/
int32_t ${prefix}_predict_row(const ${prefix}_value *values);
