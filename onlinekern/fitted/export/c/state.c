/* Models in memory of the caller, and states of models as bytes. See scoring.c. */

/*** init_state ***/
void ${prefix}_init(${prefix}_t *model)
{
    memset(model, 0, sizeof(*model));
    /* memcpy: if many numbers are 0, compilers turn an assignment into many stores. */
    memcpy(&model->state, &exported_values, sizeof(model->state));
}

/*** init_scratch ***/
void ${prefix}_init(${prefix}_t *model)
{
    memset(model, 0, sizeof(*model));
}

/*** shared_model ***/
/* Return the model shared by the functions without a model argument. */
static ${prefix}_t *shared_model(void)
{
    static ${prefix}_t model;
    static int is_ready;
    if (!is_ready) {
        ${prefix}_init(&model);
        is_ready = 1;
    }
    return &model;
}

/*** state_bytes ***/
#define STATE_MAGIC 0x53444b4fu /* the bytes "OKDS" */
#define STATE_VERSION $version
#define STATE_HEAD 24u
#define STATE_MODEL ${identity}u
#define STATE_ROOM ${room}u
#define STATE_FIXED ${fixed}
/* Allowed numbers of a field: finite ones, any word, or whole numbers up to a largest one. */
#define FINITE (-1)
#define ANY (-2)

typedef struct {
    size_t offset;
    int32_t count, size;
    int64_t most;
} state_field;

static const state_field state_fields[] = {
$fields
};

/* Numbers are stored little-endian, whatever the byte order of the processor. */
static void put_word(uint8_t *bytes, uint64_t word, int32_t size)
{
    for (int32_t i = 0; i < size; i++)
        bytes[i] = (uint8_t)(word >> (8 * i));
}

static uint64_t take_word(const uint8_t *bytes, int32_t size)
{
    uint64_t word = 0;
    for (int32_t i = 0; i < size; i++)
        word |= (uint64_t)bytes[i] << (8 * i);
    return word;
}

/* Compute the CRC-32 of zlib and Ethernet, four bits at a time. */
static uint32_t checksum(const uint8_t *bytes, size_t size)
{
    static const uint32_t halves[16] = {
        0x00000000u, 0x1db71064u, 0x3b6e20c8u, 0x26d930acu, 0x76dc4190u, 0x6b6b51f4u,
        0x4db26158u, 0x5005713cu, 0xedb88320u, 0xf00f9344u, 0xd6d6a3e8u, 0xcb61b38cu,
        0x9b64c2b0u, 0x86d3d2d4u, 0xa00ae278u, 0xbdbdf21cu};
    uint32_t sum = 0xffffffffu;
    for (size_t i = 0; i < size; i++) {
        sum ^= bytes[i];
        sum = (sum >> 4) ^ halves[sum & 15];
        sum = (sum >> 4) ^ halves[sum & 15];
    }
    return sum ^ 0xffffffffu;
}

/* Return whether a field may hold a number with these bits. */
static int is_sound(uint64_t word, int32_t size, int64_t most)
{
    if (most == FINITE)
        return size == 8 ? (word >> 52 & 0x7ff) != 0x7ff : (word >> 23 & 0xff) != 0xff;
    return most == ANY || word <= (uint64_t)most;
}

/* Check that bytes are a state of this model. Return 0 or the code of the error. */
static int wrong_with(const uint8_t *bytes, size_t size)
{
    size_t at = STATE_HEAD, total;
    if (size < STATE_HEAD + 4 || take_word(bytes, 4) != STATE_MAGIC)
        return ${PREFIX}_BAD_STATE;
    if (take_word(bytes + 4, 2) != STATE_VERSION)
        return ${PREFIX}_OTHER_VERSION;
    total = (size_t)take_word(bytes + 20, 4);
    if (total < STATE_HEAD + 4 || total > size
        || take_word(bytes + total - 4, 4) != checksum(bytes, total - 4))
        return ${PREFIX}_BAD_STATE;
    if (take_word(bytes + 8, 4) != STATE_MODEL || total != ${PREFIX}_STATE_BYTES)
        return ${PREFIX}_OTHER_MODEL;
    for (size_t f = 0; f < sizeof(state_fields) / sizeof(state_fields[0]); f++)
        for (int32_t i = 0; i < state_fields[f].count; i++, at += (size_t)state_fields[f].size)
            if (!is_sound(take_word(bytes + at, state_fields[f].size), state_fields[f].size,
                          state_fields[f].most))
                return ${PREFIX}_BAD_STATE;
    return ${PREFIX}_OK;
}

/* Write the state as bytes, with the number of this save. */
static int write_bytes(const ${prefix}_t *model, uint32_t number, uint8_t *bytes, size_t size)
{
    size_t at = STATE_HEAD;
    if (size < ${PREFIX}_STATE_BYTES)
        return ${PREFIX}_BAD_STATE;
    put_word(bytes, STATE_MAGIC, 4);
    put_word(bytes + 4, STATE_VERSION, 2);
    put_word(bytes + 6, sizeof(real), 1);
    put_word(bytes + 7, STATE_FIXED, 1);
    put_word(bytes + 8, STATE_MODEL, 4);
    put_word(bytes + 12, STATE_ROOM, 4);
    put_word(bytes + 16, number, 4);
    put_word(bytes + 20, ${PREFIX}_STATE_BYTES, 4);
    for (size_t f = 0; f < sizeof(state_fields) / sizeof(state_fields[0]); f++) {
        const uint8_t *from = (const uint8_t *)&model->state + state_fields[f].offset;
        const size_t width = (size_t)state_fields[f].size;
        for (int32_t i = 0; i < state_fields[f].count; i++, from += width, at += width) {
            uint32_t half;
            uint64_t word;
            memcpy(&half, from, 4);
            if (width == 8)
                memcpy(&word, from, 8);
            else
                word = half;
            put_word(bytes + at, word, state_fields[f].size);
        }
    }
    put_word(bytes + at, checksum(bytes, at), 4);
    return ${PREFIX}_OK;
}

int ${prefix}_save(const ${prefix}_t *model, uint8_t *bytes, size_t size)
{
    return write_bytes(model, 0, bytes, size);
}

int ${prefix}_load(${prefix}_t *model, const uint8_t *bytes, size_t size)
{
    size_t at = STATE_HEAD;
    const int status = wrong_with(bytes, size);
    if (status != ${PREFIX}_OK)
        return status;
    for (size_t f = 0; f < sizeof(state_fields) / sizeof(state_fields[0]); f++) {
        uint8_t *to = (uint8_t *)&model->state + state_fields[f].offset;
        const size_t width = (size_t)state_fields[f].size;
        for (int32_t i = 0; i < state_fields[f].count; i++, to += width, at += width) {
            const uint64_t word = take_word(bytes + at, state_fields[f].size);
            const uint32_t half = (uint32_t)word;
            if (width == 8)
                memcpy(to, &word, 8);
            else
                memcpy(to, &half, 4);
        }
    }
    return ${PREFIX}_OK;
}

/* Return which slot, 0 or 1, was saved last. If neither is valid, return the error of the first
   one. */
static int newest(const uint8_t *first, const uint8_t *second, size_t size)
{
    const int one = wrong_with(first, size), other = wrong_with(second, size);
    uint32_t later;
    if (one != ${PREFIX}_OK || other != ${PREFIX}_OK)
        return other == ${PREFIX}_OK ? 1 : one;
    later = (uint32_t)take_word(second + 16, 4) - (uint32_t)take_word(first + 16, 4);
    return later > 0 && later < 0x80000000u;
}

int ${prefix}_save_next(const ${prefix}_t *model, const uint8_t *first, const uint8_t *second,
                        uint8_t *bytes, size_t size)
{
    const int last = newest(first, second, size);
    const uint64_t number = last < 0 ? 0 : take_word((last == 1 ? second : first) + 16, 4) + 1;
    const int status = write_bytes(model, (uint32_t)number, bytes, size);
    return status == ${PREFIX}_OK ? last == 0 : status;
}

int ${prefix}_load_newest(${prefix}_t *model, const uint8_t *first, const uint8_t *second,
                          size_t size)
{
    const int last = newest(first, second, size);
    return last < 0 ? last : ${prefix}_load(model, last == 1 ? second : first, size);
}
