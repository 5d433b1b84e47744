/* Writing of models: what learning has changed goes back into the tree and the arrays. */
#if defined(__unix__) || defined(__APPLE__)
#define _POSIX_C_SOURCE 200809L
#include <unistd.h>
#define OKN_SYNC(stream) fsync(fileno(stream))
#else
#define OKN_SYNC(stream) 0
#endif

#include "forest.h"
#include "scalers.h"
#include "sha256.h"
#include "squares.h"
#include "tree.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_TRIES = 100, LINE = 8 };

static const char *const HASHED[] = {"format_version", "library_version", "class", "tree",
                                     "metadata"};

static const unsigned char *data_of(const file_array *own)
{
    return own->own ? own->own : own->data;
}

int okn_file_checksum(const model_file *own, const buffer *tree, char digits[65])
{
    sha256 sum;
    okn_sha256_begin(&sum);
    for (size_t j = 0; j < sizeof HASHED / sizeof *HASHED; j++) {
        const json_value *text = okn_json_get(&own->header, own->texts, HASHED[j]);
        const int is_tree = tree && !strcmp(HASHED[j], "tree");
        if (!text && !strcmp(HASHED[j], "metadata"))
            continue;
        if (!text || text->kind != JSON_TEXT)
            return -1;
        okn_sha256_add(&sum, is_tree ? tree->bytes : text->text, is_tree ? tree->size : text->size);
        okn_sha256_add(&sum, "\n", 1);
    }
    for (int32_t j = 0; j < own->n_arrays; j++) {
        const file_array *array = &own->arrays[j];
        char line[32];
        okn_sha256_add(&sum, array->name->key, array->name->key_size);
        snprintf(line, sizeof line, " %s ", array->dtype);
        okn_sha256_add(&sum, line, strlen(line));
        for (int axis = 0; axis < array->n_axes; axis++) {
            snprintf(line, sizeof line, "%s%" PRId64, axis ? "," : "", array->shape[axis]);
            okn_sha256_add(&sum, line, strlen(line));
        }
        okn_sha256_add(&sum, "\n", 1);
        okn_sha256_add(&sum, data_of(array), (size_t)(array->count * array->width));
    }
    okn_sha256_end(&sum, digits);
    return 0;
}

static void set_generator(okn_t *model, const json_value *node)
{
    const json_value *words = okn_tree_argument(model, node, 0);
    for (int32_t j = 0; j < 4; j++) {
        json_value *word = okn_tree_item(model, words, "items", j);
        json_value *hex = okn_json_get(&model->file.tree, word, "hex");
        json_value *changed = hex ? hex : word;
        if (!changed)
            continue;
        changed->kind = hex ? JSON_HEX : JSON_WORD;
        changed->set.words = model->generator[j];
    }
}

static file_array *array_of(const okn_t *model, const json_value *state, const char *key)
{
    const json_value *node = okn_tree_entry(model, state, key);
    return okn_file_find(&model->file, okn_json_get(&model->file.tree, node, "array"));
}

static int set_weights(okn_t *model, const json_value *state)
{
    file_array *blocks = array_of(model, state, "blocks");
    const int64_t wide = (model->n_features + LINE) / LINE * LINE, half = model->n_outputs * wide;
    const int64_t width = model->n_features + (model->intercept > 0);
    if (okn_array_resize(blocks, OKN_MOST_AXES, 0))
        return OKN_NO_MEMORY;
    for (int64_t k = 0; k < model->n_outputs; k++)
        for (int64_t j = 0; j < model->stride; j++) {
            okn_array_set_real(blocks, k * wide + j, model->values[k * model->stride + j]);
            if (model->averaged)
                okn_array_set_real(blocks, half + k * wide + j,
                                   model->companions[k * model->stride + j]);
        }
    if (!model->second_order)
        return 0;
    blocks = array_of(model, state, "covariance");
    if (okn_array_resize(blocks, OKN_MOST_AXES, 0))
        return OKN_NO_MEMORY;
    for (int64_t j = 0; j < model->n_outputs * width; j++)
        okn_array_set_real(blocks, j, model->variances[j / width * model->stride + j % width]);
    return 0;
}

static int set_features(okn_t *model, const json_value *state, const char *key, const real *rows)
{
    file_array *array = array_of(model, state, key);
    const int64_t wide = array->shape[1];
    if (okn_array_resize(array, OKN_MOST_AXES, 0))
        return OKN_NO_MEMORY;
    for (int64_t j = 0; j < model->n_outputs * model->stride; j++)
        okn_array_set_real(array, j / model->stride * wide + okn_place(model, j % model->stride),
                           rows[j]);
    return 0;
}

/* Coefficients of the slots that are used. */
static int set_coefficients(okn_t *model, const json_value *state, const char *key,
                            const real *rows)
{
    file_array *array = array_of(model, state, key);
    const int64_t n = model->n_support;
    if (okn_array_resize(array, 1, n))
        return OKN_NO_MEMORY;
    for (int64_t j = 0; j < model->n_outputs * n; j++)
        okn_array_set_real(array, j, rows[j / n * model->stride + j % n]);
    return 0;
}

int okn_set_vectors(okn_t *model, const json_value *state)
{
    const int64_t n = model->n_support, d = model->n_features;
    file_array *rows = array_of(model, state, "rows"), *terms = array_of(model, state, "terms");
    file_array *ages = array_of(model, state, "ages");
    if (okn_array_resize(rows, 0, n))
        return OKN_NO_MEMORY;
    for (int64_t j = 0; j < n * d; j++)
        okn_array_set_real(rows, j, model->support_vectors[j]);
    if (!terms || okn_array_resize(terms, 0, n))
        return OKN_NO_MEMORY;
    for (int64_t j = 0; j < n; j++) {
        const row own = {model->support_vectors + j * d, NULL, (int32_t)d};
        okn_array_set_real(terms, j, model->kernel->norm_term(model, &own));
    }
    if (okn_array_resize(ages, 0, n))
        return OKN_NO_MEMORY;
    for (int64_t j = 0; j < n; j++)
        okn_array_set_whole(ages, j, model->ages[j]);
    okn_tree_set_whole(okn_tree_value(model, state, "added"), model->added);
    return 0;
}

static int set_space(okn_t *model, const json_value *space)
{
    const json_value *state = okn_tree_argument(model, space, model->is_mapped ? 3 : 2);
    int status;
    if (model->squares)
        return okn_squares_set(model, space);
    if (model->forest)
        return okn_forest_set(model, space);
    okn_tree_set_real(okn_tree_value(model, state, "scale"), model->scale);
    okn_tree_set_real(okn_tree_value(model, state, "total"), model->total);
    if (!model->averaged)
        model->steps = model->first_steps + model->seen - model->first_seen;
    okn_tree_set_whole(okn_tree_value(model, state, "steps"), model->steps);
    if (model->is_linear)
        return set_weights(model, state);
    if (model->is_kernel) {
        status = okn_set_vectors(model, state);
        if (!status)
            status = set_coefficients(model, state, "values", model->values);
        if (!status)
            status = set_coefficients(model, state, "companions", model->companions);
        return status ? status : okn_set_policy(model, okn_tree_argument(model, space, 3));
    }
    status = set_features(model, state, "values", model->values);
    if (!status && model->averaged)
        status = set_features(model, state, "companions", model->companions);
    return status;
}

static int set_model(okn_t *model)
{
    const json *tree = &model->file.tree;
    const json_value *node = okn_tree_model(model);
    const json_value *told = okn_tree_argument(model, node, 0);
    const json_value *arguments = okn_json_get(tree, node, "arguments");
    const json_value *targets = okn_json_get(tree, okn_tree_argument(model, node, 5), "items");
    const real numbers[] = {model->target.weight, model->target.mean, model->target.squares,
                            model->target.scale, model->target.far};
    if (model->seen == model->first_seen)
        return 0;
    for (int32_t j = 0; model->standardised && j < 5; j++)
        okn_tree_set_real(okn_json_at(tree, targets, j + 1), numbers[j]);
    okn_tree_set_whole(okn_json_at(tree, arguments, 1), model->seen);
    if (model->decays)
        okn_tree_set_whole(okn_json_at(tree, arguments, 6), model->lead);
    set_generator(model, okn_tree_item(model, told, "items", 4));
    if (okn_scalers_set(model))
        return OKN_NO_MEMORY;
    return set_space(model, okn_tree_item(model, told, "items", 0));
}

static void write_entry(const file_array *array, int64_t *begin, buffer *out)
{
    const int64_t end = *begin + array->count * array->width;
    char text[128];
    okn_buffer_say(out, ",");
    okn_json_write_text(array->name->key, array->name->key_size, out);
    snprintf(text, sizeof text, ":{\"dtype\":\"%s\",\"shape\":[", array->dtype);
    okn_buffer_say(out, text);
    for (int axis = 0; axis < array->n_axes; axis++) {
        snprintf(text, sizeof text, "%s%" PRId64, axis ? "," : "", array->shape[axis]);
        okn_buffer_say(out, text);
    }
    snprintf(text, sizeof text, "],\"data_offsets\":[%" PRId64 ",%" PRId64 "]}", *begin, end);
    okn_buffer_say(out, text);
    *begin = end;
}

/* The texts of the header: those of the file that was read, but for the tree and its checksum. */
static void write_texts(const model_file *own, const buffer *tree, const char *digits, buffer *out)
{
    const json_value *text = &own->header.values[own->texts->first];
    okn_buffer_say(out, "{\"__metadata__\":{");
    for (; text; text = okn_json_next(&own->header, text)) {
        okn_json_write_text(text->key, text->key_size, out);
        okn_buffer_say(out, ":");
        if (text->key_size == 4 && !memcmp(text->key, "tree", 4))
            okn_json_write_text(tree->bytes, tree->size, out);
        else if (text->key_size == 6 && !memcmp(text->key, "sha256", 6))
            okn_json_write_text(digits, 64, out);
        else
            okn_json_write(&own->header, text, out);
        if (text->next >= 0)
            okn_buffer_say(out, ",");
    }
    okn_buffer_say(out, "}");
}

/* The file in memory; arrays of wide elements first, so that each lies at a multiple of its width.
 */
static void write_file(const model_file *own, buffer *out)
{
    buffer tree = {0}, header = {0};
    char digits[65] = "";
    unsigned char length[8];
    int64_t begin = 0;
    okn_json_write(&own->tree, &own->tree.values[0], &tree);
    okn_file_checksum(own, &tree, digits);
    write_texts(own, &tree, digits, &header);
    for (int width = 8; width > 0; width /= 2)
        for (int32_t j = 0; j < own->n_arrays; j++)
            if (own->arrays[j].width == width)
                write_entry(&own->arrays[j], &begin, &header);
    okn_buffer_say(&header, "}");
    while (header.size % 8 && !header.failed)
        okn_buffer_say(&header, " ");
    for (int j = 0; j < 8; j++)
        length[j] = (unsigned char)((uint64_t)header.size >> (8 * j));
    okn_buffer_add(out, length, 8);
    okn_buffer_add(out, header.bytes, header.size);
    for (int width = 8; width > 0; width /= 2)
        for (int32_t j = 0; j < own->n_arrays; j++)
            if (own->arrays[j].width == width)
                okn_buffer_add(out, data_of(&own->arrays[j]),
                               (size_t)(own->arrays[j].count * width));
    out->failed |= tree.failed | header.failed;
    free(tree.bytes);
    free(header.bytes);
}

/* Write a file beside the old one, and put it in its place. 0, or -1. */
static int replace(const char *path, const buffer *bytes)
{
    char *name = malloc(strlen(path) + 16);
    FILE *stream = NULL;
    int wrong;
    for (int number = 0; name && !stream && number < MOST_TRIES; number++) {
        sprintf(name, "%s.%d.tmp", path, number);
        stream = fopen(name, "wbx");
    }
    if (!stream) {
        free(name);
        return -1;
    }
    wrong = fwrite(bytes->bytes, 1, bytes->size, stream) != bytes->size;
    wrong |= fflush(stream) != 0;
    wrong |= OKN_SYNC(stream) != 0;
    wrong |= fclose(stream) != 0;
    wrong = wrong || rename(name, path) != 0;
    if (wrong)
        remove(name);
    free(name);
    return wrong ? -1 : 0;
}

int okn_save(okn_t *model, const char *path)
{
    buffer bytes = {0};
    int wrong;
    if (!model->dense_row)
        return okn_fail(model, OKN_BAD_FILE, "the file that was opened holds no model to save");
    if (set_model(model)) {
        free(bytes.bytes);
        return okn_fail(model, OKN_NO_MEMORY, "no memory for the file");
    }
    write_file(&model->file, &bytes);
    wrong = bytes.failed ? OKN_NO_MEMORY : replace(path, &bytes) ? OKN_CANNOT_WRITE : 0;
    free(bytes.bytes);
    return wrong ? okn_fail(model, wrong, "the file cannot be written") : 0;
}
