/* JSON in memory: values that point into the text they were read from, and can be changed. */
#ifndef OKN_JSON_H
#define OKN_JSON_H

#include <stddef.h>
#include <stdint.h>

enum {
    JSON_NULL,
    JSON_TRUE,
    JSON_FALSE,
    JSON_NUMBER, /* as it was read */
    JSON_TEXT,
    JSON_LIST,
    JSON_OBJECT,
    JSON_WHOLE, /* a whole number that was set */
    JSON_REAL,  /* a float that was set */
    JSON_WORD,  /* the same of 64 bits without a sign */
    JSON_HEX,   /* a text that was set: "0x..." */
};

/* A value. Items of lists and objects are chained; -1 ends a chain. Those of lists stand in `items`
 * too, from `place` on. */
typedef struct {
    int kind;
    int32_t first, next, count, place;
    const char *text, *key;
    size_t size, key_size;
    union {
        int64_t whole;
        uint64_t words;
        double real;
    } set;
} json_value;

/* Value 0 is the whole text. */
typedef struct {
    json_value *values;
    int32_t *items;
    int32_t count, room;
} json;

typedef struct {
    char *bytes;
    size_t size, room;
    int failed; /* no memory */
} buffer;

/* Read a text, which is overwritten by its unescaped strings. 0, or -1: no JSON, or no memory. */
int okn_json_read(json *out, char *text, size_t size);
void okn_json_free(json *own);

/* The item of an object, or of a list; NULL where `of` is none, or has no such item. */
json_value *okn_json_get(const json *own, const json_value *of, const char *key);
json_value *okn_json_at(const json *own, const json_value *of, int32_t place);
/* The item behind one in its list; NULL behind the last. */
json_value *okn_json_next(const json *own, const json_value *value);

int okn_json_is(const json_value *value, const char *text);
/* 0, or -1: the value is NULL or no such number. */
int okn_json_whole(const json_value *value, int64_t *out);
int okn_json_real(const json_value *value, double *out);
int okn_json_hex(const json_value *value, uint64_t *out);

void okn_json_write(const json *own, const json_value *value, buffer *out);
void okn_json_write_text(const char *text, size_t size, buffer *out);
void okn_buffer_add(buffer *out, const void *bytes, size_t size);
void okn_buffer_say(buffer *out, const char *text);

#endif
