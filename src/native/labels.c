/* Labels of classes as text, and the weights that a file has for them. */
#include "tree.h"

#include <float.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* UTF-8 of code points, without the zeros at their end. */
static char *text_of(const file_array *array, int64_t first, int64_t width)
{
    char *found = malloc((size_t)(4 * width) + 1), *end = found;
    for (int64_t j = first; found && j < first + width; j++) {
        const uint32_t point = (uint32_t)okn_array_word(array, j);
        if (point >= 0x10000)
            *end++ = (char)(0xF0 | (point >> 18 & 7));
        if (point >= 0x800)
            *end++ = (char)(point >= 0x10000 ? 0x80 | (point >> 12 & 0x3F) : 0xE0 | point >> 12);
        if (point >= 0x80)
            *end++ = (char)(point >= 0x800 ? 0x80 | (point >> 6 & 0x3F) : 0xC0 | point >> 6);
        if (point)
            *end++ = (char)(point >= 0x80 ? 0x80 | (point & 0x3F) : point);
    }
    if (found)
        *end = 0;
    return found;
}

/* The label of a number or a text of JSON. */
static char *label_of(const json_value *value)
{
    const int known = value && (value->kind == JSON_TEXT || value->kind == JSON_NUMBER);
    char *found = known ? malloc(value->size + 1) : NULL;
    if (found) {
        memcpy(found, value->text, value->size);
        found[value->size] = 0;
    }
    return found;
}

/* The shortest text that is read as this number, of as many bits as it has in the file. */
static void real_label(char *found, double value, int is_single)
{
    int digits = is_single ? 6 : 15, most = is_single ? 9 : 17;
    do
        snprintf(found, 29, "%.*g", digits++, value);
    while (digits <= most && (is_single ? strtof(found, NULL) : strtod(found, NULL)) != value);
    if (strspn(found, "-0123456789") == strlen(found))
        strcat(found, ".0");
}

static char *number_label(const file_array *array, int64_t k)
{
    char *found = malloc(32);
    if (found && array->dtype[0] == 'F')
        real_label(found, okn_array_real(array, k), array->width == 4);
    else if (found && !strcmp(array->dtype, "BOOL"))
        strcpy(found, okn_array_word(array, k) ? "True" : "False");
    else if (found && array->dtype[0] == 'U')
        snprintf(found, 32, "%" PRIu64, okn_array_word(array, k));
    else if (found)
        snprintf(found, 32, "%" PRId64, okn_array_whole(array, k));
    return found;
}

int okn_read_labels(okn_t *model, const json_value *node)
{
    const json *tree = &model->file.tree;
    const json_value *items = okn_json_get(tree, node, "items");
    const file_array *array = okn_file_find(&model->file, okn_json_get(tree, node, "array"));
    const int is_text = array && !strcmp(array->dtype, "U32") && array->n_axes == 2;
    const int64_t n = array && array->n_axes > 0 ? array->shape[0] : items ? items->count : 0;
    if (n < 2 || n > INT32_MAX / 8
        || (array && !is_text && (array->n_axes != 1 || !strcmp(array->dtype, "F16"))))
        return okn_tree_damaged(model, "its classes are none");
    model->n_classes = (int32_t)n;
    model->labels = calloc((size_t)n, sizeof *model->labels);
    for (int32_t k = 0; model->labels && k < n; k++) {
        const int64_t width = is_text ? array->shape[1] : 0;
        model->labels[k] = is_text ? text_of(array, k * width, width)
                           : array ? number_label(array, k)
                                   : label_of(okn_tree_item(model, node, "items", k));
        if (!model->labels[k])
            return okn_tree_damaged(model, "its classes are none");
    }
    return model->labels ? 0 : okn_fail(model, OKN_NO_MEMORY, "no memory");
}

/* The number of the class whose label a file writes like this; -1 if there is none. */
static int32_t class_of(const okn_t *model, const json_value *value)
{
    char *label = label_of(value);
    int32_t k = label ? model->n_classes - 1 : -1;
    while (k >= 0 && strcmp(model->labels[k], label))
        k--;
    free(label);
    return k;
}

/* Factors of the weights of samples: class_weight of a forest, a dictionary from labels. */
int okn_read_class_weight(okn_t *model, const json_value *node)
{
    const json *tree = &model->file.tree;
    const json_value *keys = okn_json_get(tree, node, "keys"),
                     *values = okn_json_get(tree, node, "values");
    if (!model->forest || !keys || !values || keys->count != values->count) {
        okn_forbid(model, "its class_weight is not known: set class_weight=None");
        return 0;
    }
    model->sample_factors = calloc((size_t)model->n_classes + 1, sizeof(real));
    if (!model->sample_factors)
        return okn_fail(model, OKN_NO_MEMORY, "no memory");
    for (int32_t k = 0; k < model->n_classes; k++)
        model->sample_factors[k] = 1;
    for (int32_t j = 0; j < keys->count; j++) {
        const int32_t k = class_of(model, okn_tree_node(model, okn_json_at(tree, keys, j)));
        real factor = -1;
        if (k >= 0)
            okn_json_real(okn_tree_node(model, okn_json_at(tree, values, j)), &factor);
        if (!(factor >= 0 && factor <= DBL_MAX)) {
            okn_forbid(model, "class_weight of a label is not known");
            return 0;
        }
        model->sample_factors[k] = factor;
    }
    return 0;
}
