/* Reading of model files, and their arrays. */
#include "file.h"
#include "okn.h"
#include "sha256.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The library safetensors has this limit. */
#define MOST_HEADER_BYTES 100000000
/* So many take a number of bytes that does not overflow. */
#define MOST_ELEMENTS (INT64_MAX / 16)

static const struct {
    const char *name;
    int width;
} DTYPES[] = {{"BOOL", 1}, {"U8", 1},  {"I8", 1},  {"U16", 2}, {"I16", 2}, {"F16", 2},
              {"U32", 4},  {"I32", 4}, {"F32", 4}, {"U64", 8}, {"I64", 8}, {"F64", 8}};

static int wrong(const char **fault, const char *text)
{
    *fault = text;
    return OKN_BAD_FILE;
}

static int read_bytes(const char *path, char **bytes, size_t *size, const char **fault)
{
    FILE *stream = fopen(path, "rb");
    long length;
    *bytes = NULL;
    *fault = "the file cannot be read";
    if (!stream)
        return OKN_CANNOT_READ;
    /* A folder can be opened, but no byte of it be read. */
    if ((getc(stream) == EOF && ferror(stream)) || fseek(stream, 0, SEEK_END)
        || (length = ftell(stream)) < 0 || fseek(stream, 0, SEEK_SET)) {
        fclose(stream);
        return OKN_CANNOT_READ;
    }
    *size = (size_t)length;
    *bytes = malloc(*size + 1);
    if (!*bytes)
        *fault = "no memory for the file";
    if (!*bytes || fread(*bytes, 1, *size, stream) != *size) {
        fclose(stream);
        return *bytes ? OKN_CANNOT_READ : OKN_NO_MEMORY;
    }
    fclose(stream);
    return 0;
}

/* What the header says of one array; begin and end are places in the data. */
static int read_entry(const json *header, const json_value *value, file_array *out, int64_t *begin,
                      int64_t *end)
{
    const json_value *dtype = okn_json_get(header, value, "dtype");
    const json_value *shape = okn_json_get(header, value, "shape");
    const json_value *places = okn_json_get(header, value, "data_offsets");
    out->name = value;
    for (size_t j = 0; j < sizeof DTYPES / sizeof *DTYPES; j++)
        if (okn_json_is(dtype, DTYPES[j].name)) {
            out->width = DTYPES[j].width;
            strcpy(out->dtype, DTYPES[j].name);
        }
    if (!out->width || !shape || shape->kind != JSON_LIST || shape->count > OKN_MOST_AXES || !places
        || places->count != 2)
        return -1;
    out->count = 1;
    out->n_axes = shape->count;
    for (int32_t axis = 0; axis < shape->count; axis++) {
        int64_t length;
        if (okn_json_whole(okn_json_at(header, shape, axis), &length) < 0 || length < 0
            || (length > 0 && out->count > MOST_ELEMENTS / length))
            return -1;
        out->shape[axis] = length;
        out->count *= length;
    }
    if (okn_json_whole(okn_json_at(header, places, 0), begin) < 0
        || okn_json_whole(okn_json_at(header, places, 1), end) < 0)
        return -1;
    return *begin >= 0 && *end - *begin == out->count * out->width ? 0 : -1;
}

static int by_place(const void *one, const void *other)
{
    const file_array *a = one, *b = other;
    if (a->data != b->data)
        return a->data < b->data ? -1 : 1;
    return (a->count > b->count) - (a->count < b->count);
}

static int by_name(const void *one, const void *other)
{
    const json_value *a = ((const file_array *)one)->name, *b = ((const file_array *)other)->name;
    const size_t size = a->key_size < b->key_size ? a->key_size : b->key_size;
    const int order = size ? memcmp(a->key, b->key, size) : 0;
    return order ? order : (a->key_size > b->key_size) - (a->key_size < b->key_size);
}

/* The arrays of the header, which fill the data without gaps; in the end sorted by their names. */
static int read_arrays(model_file *out, const unsigned char *data, int64_t size)
{
    const json_value *value = &out->header.values[0];
    int64_t reached = 0;
    out->arrays = calloc((size_t)value->count + 1, sizeof *out->arrays);
    if (!out->arrays)
        return OKN_NO_MEMORY;
    value = value->first < 0 ? NULL : &out->header.values[value->first];
    for (; value; value = okn_json_next(&out->header, value)) {
        int64_t begin, end;
        if (value == out->texts)
            continue;
        if (read_entry(&out->header, value, &out->arrays[out->n_arrays], &begin, &end) < 0
            || end > size)
            return OKN_BAD_FILE;
        out->arrays[out->n_arrays++].data = data + begin;
    }
    qsort(out->arrays, (size_t)out->n_arrays, sizeof *out->arrays, by_place);
    for (int32_t j = 0; j < out->n_arrays; j++) {
        if (out->arrays[j].data != data + reached)
            return OKN_BAD_FILE;
        reached += out->arrays[j].count * out->arrays[j].width;
    }
    qsort(out->arrays, (size_t)out->n_arrays, sizeof *out->arrays, by_name);
    for (int32_t j = 1; j < out->n_arrays; j++)
        if (!by_name(&out->arrays[j - 1], &out->arrays[j]))
            return OKN_BAD_FILE;
    return reached == size ? 0 : OKN_BAD_FILE;
}

/* The header, with the metadata; `data` is where the arrays begin. */
static int read_header(model_file *out, size_t size, size_t *data, const char **fault)
{
    uint64_t length = 0;
    for (int j = 7; j >= 0; j--)
        length = length << 8 | (size >= 10 ? (unsigned char)out->bytes[j] : 0);
    if (length < 2 || length > MOST_HEADER_BYTES || length > size - 8)
        return wrong(fault, "is no safetensors file, or it is cut off");
    if (okn_json_read(&out->header, out->bytes + 8, (size_t)length) < 0
        || out->header.values[0].kind != JSON_OBJECT)
        return wrong(fault, "is no safetensors file: its header is no JSON");
    out->texts = okn_json_get(&out->header, &out->header.values[0], "__metadata__");
    if (!okn_json_is(okn_json_get(&out->header, out->texts, "format"), "onlinekern"))
        return wrong(fault, "holds no model of onlinekern");
    if (!okn_json_is(okn_json_get(&out->header, out->texts, "format_version"), "1"))
        return wrong(fault, "is of another format than 1");
    *data = 8 + (size_t)length;
    return 0;
}

static int read_checked(model_file *out, size_t size, const char **fault)
{
    const json_value *tree;
    char digits[65];
    size_t begin;
    int status = read_header(out, size, &begin, fault);
    if (status)
        return status;
    *fault = "is damaged: its header and its arrays do not agree";
    status = read_arrays(out, (unsigned char *)out->bytes + begin, (int64_t)(size - begin));
    if (status)
        return status;
    if (okn_file_checksum(out, NULL, digits) < 0
        || !okn_json_is(okn_json_get(&out->header, out->texts, "sha256"), digits))
        return wrong(fault, "is damaged: its checksum does not agree with its contents");
    tree = okn_json_get(&out->header, out->texts, "tree");
    /* Its strings are unescaped in the file's bytes, which nobody else reads any more. */
    if (tree->kind != JSON_TEXT || okn_json_read(&out->tree, (char *)tree->text, tree->size) < 0
        || out->tree.values[0].kind != JSON_LIST || !out->tree.values[0].count)
        return wrong(fault, "is damaged: its tree is no list of nodes");
    return 0;
}

int okn_file_read(model_file *out, const char *path, const char **fault)
{
    size_t size = 0;
    int status = read_bytes(path, &out->bytes, &size, fault);
    return status ? status : read_checked(out, size, fault);
}

void okn_file_free(model_file *own)
{
    for (int32_t j = 0; j < own->n_arrays; j++)
        free(own->arrays[j].own);
    free(own->arrays);
    okn_json_free(&own->header);
    okn_json_free(&own->tree);
    free(own->bytes);
    memset(own, 0, sizeof *own);
}

file_array *okn_file_find(const model_file *own, const json_value *name)
{
    if (!name || name->kind != JSON_TEXT)
        return NULL;
    for (int32_t j = 0; j < own->n_arrays; j++)
        if (own->arrays[j].name->key_size == name->size
            && !memcmp(own->arrays[j].name->key, name->text, name->size))
            return &own->arrays[j];
    return NULL;
}

static const unsigned char *data_of(const file_array *own)
{
    return own->own ? own->own : own->data;
}

uint64_t okn_array_word(const file_array *own, int64_t j)
{
    const unsigned char *bytes = data_of(own) + j * own->width;
    uint64_t word = 0;
    for (int k = own->width - 1; k >= 0; k--)
        word = word << 8 | bytes[k];
    return word;
}

double okn_array_real(const file_array *own, int64_t j)
{
    const uint64_t word = okn_array_word(own, j);
    double wide;
    if (own->width == 4) {
        const uint32_t half = (uint32_t)word;
        float narrow;
        memcpy(&narrow, &half, 4);
        return narrow;
    }
    memcpy(&wide, &word, 8);
    return wide;
}

int64_t okn_array_whole(const file_array *own, int64_t j)
{
    const int lacking = own->dtype[0] == 'I' ? 64 - 8 * own->width : 0;
    uint64_t word = okn_array_word(own, j) << lacking;
    int64_t value;
    /* The sign fills the bits that a narrow number lacks. */
    if (lacking && word >> 63)
        word = word >> lacking | ~(UINT64_MAX >> lacking);
    else
        word >>= lacking;
    memcpy(&value, &word, 8);
    return value;
}

int okn_array_resize(file_array *own, int axis, int64_t length)
{
    int64_t count = 1;
    unsigned char *bytes;
    if (axis != OKN_MOST_AXES && axis >= own->n_axes)
        return OKN_NO_MEMORY;
    for (int j = 0; j < own->n_axes; j++) {
        const int64_t side = j == axis ? length : own->shape[j];
        /* Where an axis of the file has no elements, the others may be of any size. */
        if (side > 0 && count > MOST_ELEMENTS / side)
            return OKN_NO_MEMORY;
        count *= side;
    }
    bytes = calloc((size_t)(count * own->width) + 1, 1);
    if (!bytes)
        return OKN_NO_MEMORY;
    free(own->own);
    own->own = bytes;
    own->count = count;
    if (axis < own->n_axes)
        own->shape[axis] = length;
    return 0;
}

static void set_word(file_array *own, int64_t j, uint64_t word)
{
    /* A file may say of an array that it has other axes than a model's. */
    if (j >= own->count)
        return;
    for (int k = 0; k < own->width; k++)
        own->own[j * own->width + k] = (unsigned char)(word >> (8 * k));
}

void okn_array_set_real(file_array *own, int64_t j, double value)
{
    uint64_t word = 0;
    if (own->width == 4) {
        const float narrow = (float)value;
        uint32_t half;
        memcpy(&half, &narrow, 4);
        word = half;
    } else {
        memcpy(&word, &value, 8);
    }
    set_word(own, j, word);
}

void okn_array_set_whole(file_array *own, int64_t j, int64_t value)
{
    set_word(own, j, (uint64_t)value);
}
