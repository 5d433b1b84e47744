/* Nodes of the tree of a file: docs/files.md describes them. */
#include "tree.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int okn_tree_damaged(okn_t *model, const char *text)
{
    return okn_fail(model, OKN_BAD_FILE, text);
}

int okn_tree_unknown(okn_t *model, const char *text)
{
    return okn_fail(model, OKN_NOT_KNOWN, text);
}

/* Letters of a name, at most OKN_NAME, to text; their number. A stranger's file may say anything. */
static int copy_name(char *text, const json_value *name)
{
    const size_t size = name && name->kind == JSON_TEXT ? name->size : 0;
    int n = 0;
    for (size_t j = 0; j < size && j < OKN_NAME; j++)
        if (isalnum((unsigned char)name->text[j]) || name->text[j] == '_')
            text[n++] = name->text[j];
    return n;
}

void okn_tree_learner(const okn_t *model, char *text)
{
    if (model->learner)
        text[copy_name(text, okn_tree_class(model, model->learner))] = 0;
}

/* "what (name) is not known", in text of OKN_TEXT bytes. */
static void name_class(char *text, const char *what, const json_value *name)
{
    int n = snprintf(text, OKN_TEXT - 64, "%s (", what);
    n += copy_name(text + n, name);
    strcpy(text + n, ") is not known");
}

int okn_tree_unknown_class(okn_t *model, const char *what, const json_value *name)
{
    char text[OKN_TEXT];
    name_class(text, what, name);
    return okn_tree_unknown(model, text);
}

void okn_forbid(okn_t *model, const char *reason)
{
    if (!model->cannot_learn)
        model->cannot_learn = reason;
}

void okn_forbid_class(okn_t *model, const char *what, const json_value *name)
{
    if (model->cannot_learn)
        return;
    name_class(model->reason, what, name);
    model->cannot_learn = model->reason;
}

json_value *okn_tree_node(const okn_t *model, const json_value *value)
{
    const json *tree = &model->file.tree;
    int64_t number;
    if (!value || value->kind != JSON_LIST)
        return (json_value *)value;
    if (value->count != 1 || okn_json_whole(okn_json_at(tree, value, 0), &number) < 0 || number < 0
        || number > INT32_MAX)
        return NULL;
    return okn_json_at(tree, &tree->values[0], (int32_t)number);
}

/* Item j of a list of a node, as the node for which it stands. */
json_value *okn_tree_item(const okn_t *model, const json_value *node, const char *list, int32_t j)
{
    const json *tree = &model->file.tree;
    return okn_tree_node(model, okn_json_at(tree, okn_json_get(tree, node, list), j));
}

json_value *okn_tree_argument(const okn_t *model, const json_value *node, int32_t j)
{
    return okn_tree_item(model, node, "arguments", j);
}

json_value *okn_tree_renewed(const okn_t *model)
{
    const json *tree = &model->file.tree;
    const json_value *own = okn_json_get(tree, model->learner, "attributes");
    json_value *node = okn_tree_node(model, okn_json_get(tree, own, "_model"));
    return okn_json_is(okn_json_get(tree, node, "object"), "RenewedModel") ? node : NULL;
}

json_value *okn_tree_model(const okn_t *model)
{
    const json *tree = &model->file.tree;
    const json_value *own = okn_json_get(tree, model->learner, "attributes");
    const json_value *renewed = okn_tree_renewed(model);
    return renewed ? okn_tree_argument(model, renewed, 0)
                   : okn_tree_node(model, okn_json_get(tree, own, "_model"));
}

int okn_tree_is(const okn_t *model, const json_value *node, const char *kind)
{
    return okn_json_is(okn_json_get(&model->file.tree, node, "kind"), kind);
}

json_value *okn_tree_class(const okn_t *model, const json_value *node)
{
    return okn_json_get(&model->file.tree, node, "class");
}

json_value *okn_tree_value(const okn_t *model, const json_value *node, const char *key)
{
    const json *tree = &model->file.tree;
    const json_value *keys = okn_json_get(tree, node, "keys"),
                     *values = okn_json_get(tree, node, "values");
    for (int32_t j = 0; keys && j < keys->count; j++)
        if (okn_json_is(okn_json_at(tree, keys, j), key))
            return okn_json_at(tree, values, j);
    return NULL;
}

json_value *okn_tree_entry(const okn_t *model, const json_value *node, const char *key)
{
    return okn_tree_node(model, okn_tree_value(model, node, key));
}

/* A number, which may be infinite, or true or false. 0, or -1. */
int okn_tree_real(const okn_t *model, const json_value *node, double *out)
{
    const json_value *bytes = okn_json_get(&model->file.tree, node, "bytes");
    if (node && (node->kind == JSON_TRUE || node->kind == JSON_FALSE)) {
        *out = node->kind == JSON_TRUE;
        return 0;
    }
    if (okn_tree_is(model, node, "float") && okn_json_is(bytes, "000000000000f07f")) {
        *out = INFINITY;
        return 0;
    }
    return okn_json_real(node, out);
}

int okn_tree_true(const json_value *node)
{
    return node && node->kind == JSON_TRUE;
}

/* The array of a node, of this dtype and so many elements; NULL if it is none. */
file_array *okn_tree_array(const okn_t *model, const json_value *node, const char *dtype,
                           int64_t count)
{
    const json *tree = &model->file.tree;
    file_array *found = okn_file_find(&model->file, okn_json_get(tree, node, "array"));
    if (!found || !okn_tree_is(model, node, "array")
        || !okn_json_is(okn_json_get(tree, node, "order"), "C") || strcmp(found->dtype, dtype)
        || found->count != count)
        return NULL;
    return found;
}

/* Finite numbers of an array, in memory of their own with room for more; NULL if there are none
   such, or no memory. */
real *okn_tree_numbers(const file_array *array, int64_t count, int64_t room)
{
    real *found = array ? calloc((size_t)(room > count ? room : count) + 1, sizeof *found) : NULL;
    for (int64_t j = 0; found && j < count; j++) {
        found[j] = okn_array_real(array, j);
        if (!isfinite(found[j])) {
            free(found);
            return NULL;
        }
    }
    return found;
}

int okn_tree_size(const json_value *value, int64_t least, int64_t most, ptrdiff_t *out)
{
    int64_t found;
    if (okn_json_whole(value, &found) < 0 || found < least || found > most)
        return -1;
    *out = (ptrdiff_t)found;
    return 0;
}

void okn_tree_set_whole(json_value *value, int64_t number)
{
    if (value) {
        value->kind = JSON_WHOLE;
        value->set.whole = number;
    }
}

void okn_tree_set_real(json_value *value, double number)
{
    if (value) {
        value->kind = JSON_REAL;
        value->set.real = number;
    }
}
