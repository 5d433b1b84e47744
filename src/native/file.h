/* Model files: safetensors with the tree of a model. docs/files.md describes them. */
#ifndef OKN_FILE_H
#define OKN_FILE_H

#include "json.h"

#include <stddef.h>
#include <stdint.h>

enum { OKN_MOST_AXES = 8 };

typedef struct {
    const json_value *name; /* with its key */
    char dtype[5];
    int n_axes;
    int64_t shape[OKN_MOST_AXES];
    int64_t count;
    int width; /* bytes of an element */
    const unsigned char *data;
    unsigned char *own; /* instead, if the array was replaced */
} file_array;

typedef struct {
    char *bytes; /* the file; strings of the header are unescaped in it */
    json header, tree;
    const json_value *texts; /* "__metadata__" */
    file_array *arrays;
    int32_t n_arrays;
} model_file;

/* 0, or a negative code of okn.h; `fault` says what is wrong. */
int okn_file_read(model_file *out, const char *path, const char **fault);
/* The checksum of a file; `tree` is its tree's text, NULL for that which was read. 0, or -1. */
int okn_file_checksum(const model_file *own, const buffer *tree, char digits[65]);
void okn_file_free(model_file *own);

file_array *okn_file_find(const model_file *own, const json_value *name);
/* Element j of an array: its bytes, as a float, or as a whole number of 64 bits. */
uint64_t okn_array_word(const file_array *own, int64_t j);
double okn_array_real(const file_array *own, int64_t j);
int64_t okn_array_whole(const file_array *own, int64_t j);
/* Give an array another length of one axis, and memory for its elements. 0, or OKN_NO_MEMORY. */
int okn_array_resize(file_array *own, int axis, int64_t length);
void okn_array_set_real(file_array *own, int64_t j, double value);
void okn_array_set_whole(file_array *own, int64_t j, int64_t value);

#endif
