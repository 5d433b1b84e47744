/* What headers declare: the templates are `model.h` and `fixed/model.h`. */

/*** declare_predict_target ***/
/* The prediction. */
int ${prefix}_predict(const ${prefix}_real *x, ${prefix}_real *target);
int ${prefix}_predict_sparse(const int32_t *columns, const ${prefix}_real *values, int32_t n,
                             ${prefix}_real *target);

/*** declare_predict_class ***/
/* The class number, or a negative code. */
int32_t ${prefix}_predict(const ${prefix}_real *x);
int32_t ${prefix}_predict_sparse(const int32_t *columns, const ${prefix}_real *values, int32_t n);

/*** declare_learn ***/

/* Learn one sample: $target. Other codes than 0 change nothing. */
int ${prefix}_learn_one(const ${prefix}_real *x$y);
int ${prefix}_learn_one_sparse(const int32_t *columns, const ${prefix}_real *values, int32_t n$y);

/*** declare_threads ***/

   Those that end in _r take a model of the caller's; those of the same names without it share one,
   one thread at a time. Without them, compile with -D${PREFIX}_NO_SHARED_MODEL.

/*** declare_codes ***/
    ${PREFIX}_BAD_STATE = -5,  /* no whole state, or no room for one */
    ${PREFIX}_OTHER_VERSION = -6, /* a state of another version of the format */
    ${PREFIX}_OTHER_MODEL = -7, /* the state of a model that differs in more than what it learnt */
    ${PREFIX}_STATE_BYTES = $bytes,

/*** declare_own ***/

/* A model of the caller's begins as it was exported; the functions above, of such a model. */
void ${prefix}_init(${prefix}_t *model);
$functions

/*** declare_state ***/

/* The state as ${PREFIX}_STATE_BYTES bytes, and back: little-endian, with a checksum. */
int ${prefix}_save(const ${prefix}_t *model, uint8_t *bytes, size_t size);
int ${prefix}_load(${prefix}_t *model, const uint8_t *bytes, size_t size);

/* Of two slots, each of `size` bytes and with anything in it: `load_newest` loads the one that was
   saved last and is whole. `save_next` gives the bytes for the other one, and returns its number, 0
   or 1. If the power fails while that is written, the newest state is still there. */
int ${prefix}_load_newest(${prefix}_t *model, const uint8_t *first, const uint8_t *second,
                          size_t size);
int ${prefix}_save_next(const ${prefix}_t *model, const uint8_t *first, const uint8_t *second,
                        uint8_t *bytes, size_t size);

/*** declare_rows ***/

/* Rows of the table that the model was trained on, with a value for each of its columns:

$columns

   A number, 1 or 0 (true or false) and seconds are `number`, NaN where one is missing. A text is
   `text`, in UTF-8, as the table has it; 0 or "" where it is missing. Seconds since 1970 are those
   that the clocks of the column's time zone show (UTC where none is named).

   `encode` makes the features of a row, x of the functions above; categories stay as they were
   learnt. */
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
