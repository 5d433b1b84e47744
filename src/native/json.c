/* Reading, looking up and writing of JSON. */
#include "json.h"

#include <inttypes.h>
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Deeper lists are none of a model. */
enum { MOST_DEPTH = 32, MOST_DIGITS = 63 };

typedef struct {
    json *out;
    char *place, *end;
    int depth;
} reader;

static int read_value(reader *from, int32_t *number);

static void skip_space(reader *from)
{
    while (from->place < from->end && strchr(" \t\r\n", *from->place) && *from->place)
        from->place++;
}

static int follows(reader *from, char wanted)
{
    skip_space(from);
    if (from->place == from->end || *from->place != wanted)
        return 0;
    from->place++;
    return 1;
}

/* A new value; -1 without memory. */
static int32_t new_value(json *out, int kind)
{
    if (out->count == out->room) {
        const int32_t room = out->room ? 2 * out->room : 64;
        json_value *values;
        if (out->room > INT32_MAX / 2)
            return -1;
        values = realloc(out->values, (size_t)room * sizeof *values);
        if (!values)
            return -1;
        out->values = values;
        out->room = room;
    }
    memset(&out->values[out->count], 0, sizeof *out->values);
    out->values[out->count].kind = kind;
    out->values[out->count].first = out->values[out->count].next = -1;
    return out->count++;
}

/* Four digits of \u; -1 if they are none. */
static int32_t read_unit(const char *place, const char *end)
{
    int32_t unit = 0;
    if (end - place < 4)
        return -1;
    for (int j = 0; j < 4; j++) {
        const char c = place[j];
        const int digit = c >= '0' && c <= '9'   ? c - '0'
                          : c >= 'a' && c <= 'f' ? c - 'a' + 10
                          : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                                 : -1;
        if (digit < 0)
            return -1;
        unit = 16 * unit + digit;
    }
    return unit;
}

/* UTF-8 of a code point; it takes no more bytes than its escape. */
static char *put_point(char *out, int32_t point)
{
    if (point < 0x80) {
        *out++ = (char)point;
        return out;
    }
    if (point < 0x800) {
        *out++ = (char)(0xC0 | (point >> 6));
    } else if (point < 0x10000) {
        *out++ = (char)(0xE0 | (point >> 12));
        *out++ = (char)(0x80 | ((point >> 6) & 0x3F));
    } else {
        *out++ = (char)(0xF0 | (point >> 18));
        *out++ = (char)(0x80 | ((point >> 12) & 0x3F));
        *out++ = (char)(0x80 | ((point >> 6) & 0x3F));
    }
    *out++ = (char)(0x80 | (point & 0x3F));
    return out;
}

/* The code point behind \u; -1 for a surrogate without its other half, and for 0. */
static int32_t read_point(reader *from)
{
    int32_t low, point = read_unit(from->place, from->end);
    if (point <= 0 || (point >= 0xDC00 && point < 0xE000))
        return -1;
    from->place += 4;
    if (point < 0xD800 || point >= 0xE000)
        return point;
    if (from->end - from->place < 6 || from->place[0] != '\\' || from->place[1] != 'u')
        return -1;
    low = read_unit(from->place + 2, from->end);
    if (low < 0xDC00 || low >= 0xE000)
        return -1;
    from->place += 6;
    return 0x10000 + ((point - 0xD800) << 10) + (low - 0xDC00);
}

/* A string, unescaped where it stands. */
static int read_text(reader *from, const char **text, size_t *size)
{
    static const char escaped[] = "\"\\/bfnrt", meant[] = "\"\\/\b\f\n\r\t";
    char *out;
    if (!follows(from, '"'))
        return -1;
    *text = out = from->place;
    while (from->place < from->end && *from->place != '"') {
        const char *found;
        int32_t point;
        char c = *from->place++;
        if ((unsigned char)c < 0x20)
            return -1;
        if (c != '\\') {
            *out++ = c;
            continue;
        }
        if (from->place == from->end)
            return -1;
        c = *from->place++;
        if (c == 'u') {
            point = read_point(from);
            if (point < 0)
                return -1;
            out = put_point(out, point);
            continue;
        }
        found = c ? strchr(escaped, c) : NULL;
        if (!found)
            return -1;
        *out++ = meant[found - escaped];
    }
    *size = (size_t)(out - *text);
    return follows(from, '"') ? 0 : -1;
}

static int read_items(reader *from, int32_t own, char closing)
{
    int32_t last = -1, item;
    if (follows(from, closing))
        return 0;
    do {
        const char *key = NULL;
        size_t size = 0;
        if (closing == '}' && (read_text(from, &key, &size) < 0 || !follows(from, ':')))
            return -1;
        if (read_value(from, &item) < 0)
            return -1;
        from->out->values[item].key = key;
        from->out->values[item].key_size = size;
        if (last < 0)
            from->out->values[own].first = item;
        else
            from->out->values[last].next = item;
        from->out->values[own].count++;
        last = item;
    } while (follows(from, ','));
    return follows(from, closing) ? 0 : -1;
}

/* A number, or null, true, false. */
static int read_word(reader *from, int32_t number)
{
    static const char *const words[] = {"null", "true", "false"};
    json_value *own = &from->out->values[number];
    char *begin = from->place;
    for (int kind = 0; kind < 3; kind++) {
        const size_t size = strlen(words[kind]);
        if ((size_t)(from->end - begin) >= size && !memcmp(begin, words[kind], size)) {
            own->kind = kind;
            from->place += size;
            return 0;
        }
    }
    while (from->place < from->end && *from->place && strchr("+-.0123456789eE", *from->place))
        from->place++;
    own->kind = JSON_NUMBER;
    own->text = begin;
    own->size = (size_t)(from->place - begin);
    return own->size > 0 && own->size <= MOST_DIGITS ? 0 : -1;
}

static int read_value(reader *from, int32_t *number)
{
    int status;
    skip_space(from);
    *number = new_value(from->out, JSON_NULL);
    if (*number < 0 || from->place == from->end || from->depth == MOST_DEPTH)
        return -1;
    if (*from->place == '"') {
        const char *text;
        size_t size;
        if (read_text(from, &text, &size) < 0)
            return -1;
        from->out->values[*number].kind = JSON_TEXT;
        from->out->values[*number].text = text;
        from->out->values[*number].size = size;
        return 0;
    }
    if (*from->place != '[' && *from->place != '{')
        return read_word(from, *number);
    from->depth++;
    from->out->values[*number].kind = *from->place == '[' ? JSON_LIST : JSON_OBJECT;
    status = read_items(from, *number, *from->place++ == '[' ? ']' : '}');
    from->depth--;
    return status;
}

/* Let lists know where their items are: to follow a chain for each would take the square of its
 * length. 0, or -1 without memory. */
static int place_items(json *out)
{
    int32_t place = 0;
    out->items = malloc((size_t)out->count * sizeof *out->items);
    if (!out->items)
        return -1;
    for (int32_t own = 0; own < out->count; own++) {
        json_value *of = &out->values[own];
        if (of->kind != JSON_LIST)
            continue;
        of->place = place;
        for (int32_t item = of->first; item >= 0; item = out->values[item].next)
            out->items[place++] = item;
    }
    return 0;
}

int okn_json_read(json *out, char *text, size_t size)
{
    reader from = {out, text, text + size, 0};
    int32_t whole;
    if (read_value(&from, &whole) < 0)
        return -1;
    skip_space(&from);
    return from.place == from.end ? place_items(out) : -1;
}

void okn_json_free(json *own)
{
    free(own->values);
    free(own->items);
    memset(own, 0, sizeof *own);
}

json_value *okn_json_next(const json *own, const json_value *value)
{
    return value && value->next >= 0 ? &own->values[value->next] : NULL;
}

json_value *okn_json_get(const json *own, const json_value *of, const char *key)
{
    const size_t size = strlen(key);
    json_value *item;
    if (!of || of->kind != JSON_OBJECT || of->first < 0)
        return NULL;
    for (item = &own->values[of->first]; item; item = okn_json_next(own, item))
        if (item->key_size == size && !memcmp(item->key, key, size))
            return item;
    return NULL;
}

json_value *okn_json_at(const json *own, const json_value *of, int32_t place)
{
    if (!of || of->kind != JSON_LIST || place < 0 || place >= of->count)
        return NULL;
    return &own->values[own->items[of->place + place]];
}

int okn_json_is(const json_value *value, const char *text)
{
    return value && value->kind == JSON_TEXT && value->size == strlen(text)
           && !memcmp(value->text, text, value->size);
}

int okn_json_whole(const json_value *value, int64_t *out)
{
    char digits[MOST_DIGITS + 1], *end;
    if (!value || value->kind != JSON_NUMBER || value->size > 18)
        return -1;
    memcpy(digits, value->text, value->size);
    digits[value->size] = 0;
    *out = strtoll(digits, &end, 10);
    return *end ? -1 : 0;
}

/* strtod and printf write the point of the program's locale, which may be another character. */
static char point_of_locale(void)
{
    return *localeconv()->decimal_point;
}

int okn_json_real(const json_value *value, double *out)
{
    char digits[MOST_DIGITS + 1], *point, *end;
    if (!value || value->kind != JSON_NUMBER)
        return -1;
    memcpy(digits, value->text, value->size);
    digits[value->size] = 0;
    point = strchr(digits, '.');
    if (point)
        *point = point_of_locale();
    *out = strtod(digits, &end);
    return *end || !isfinite(*out) ? -1 : 0;
}

int okn_json_hex(const json_value *value, uint64_t *out)
{
    char digits[20], *end;
    if (!value || value->kind != JSON_TEXT || value->size < 3 || value->size > 18
        || memcmp(value->text, "0x", 2))
        return -1;
    memcpy(digits, value->text + 2, value->size - 2);
    digits[value->size - 2] = 0;
    if (strspn(digits, "0123456789abcdefABCDEF") != value->size - 2)
        return -1;
    *out = strtoull(digits, &end, 16);
    return 0;
}

void okn_buffer_add(buffer *out, const void *bytes, size_t size)
{
    if (size > out->room - out->size && !out->failed) {
        const size_t room = 2 * out->room + size + 256;
        char *larger = realloc(out->bytes, room);
        out->failed = !larger;
        if (larger) {
            out->bytes = larger;
            out->room = room;
        }
    }
    if (out->failed || size == 0)
        return;
    memcpy(out->bytes + out->size, bytes, size);
    out->size += size;
}

void okn_buffer_say(buffer *out, const char *text)
{
    okn_buffer_add(out, text, strlen(text));
}

void okn_json_write_text(const char *text, size_t size, buffer *out)
{
    char escape[8];
    okn_buffer_say(out, "\"");
    for (size_t j = 0; j < size; j++) {
        const unsigned char c = (unsigned char)text[j];
        if (c < 0x20) {
            snprintf(escape, sizeof escape, "\\u%04x", c);
            okn_buffer_say(out, escape);
            continue;
        }
        if (c == '"' || c == '\\')
            okn_buffer_say(out, "\\");
        okn_buffer_add(out, text + j, 1);
    }
    okn_buffer_say(out, "\"");
}

/* A float says that it is one: Python takes 1 for another type than 1.0. */
static void write_real(double value, buffer *out)
{
    char digits[40], *point;
    snprintf(digits, sizeof digits, "%.17g", value);
    point = strchr(digits, point_of_locale());
    if (point)
        *point = '.';
    okn_buffer_say(out, digits);
    if (!strpbrk(digits, ".e"))
        okn_buffer_say(out, ".0");
}

static void write_items(const json *own, const json_value *of, buffer *out)
{
    const json_value *item = of->first < 0 ? NULL : &own->values[of->first];
    okn_buffer_say(out, of->kind == JSON_LIST ? "[" : "{");
    for (; item; item = okn_json_next(own, item)) {
        if (of->kind == JSON_OBJECT) {
            okn_json_write_text(item->key, item->key_size, out);
            okn_buffer_say(out, ":");
        }
        okn_json_write(own, item, out);
        if (item->next >= 0)
            okn_buffer_say(out, ",");
    }
    okn_buffer_say(out, of->kind == JSON_LIST ? "]" : "}");
}

void okn_json_write(const json *own, const json_value *value, buffer *out)
{
    static const char *const words[] = {"null", "true", "false"};
    char digits[40];
    switch (value->kind) {
    case JSON_NUMBER:
        okn_buffer_add(out, value->text, value->size);
        return;
    case JSON_TEXT:
        okn_json_write_text(value->text, value->size, out);
        return;
    case JSON_WHOLE:
        snprintf(digits, sizeof digits, "%" PRId64, value->set.whole);
        okn_buffer_say(out, digits);
        return;
    case JSON_WORD:
        snprintf(digits, sizeof digits, "%" PRIu64, value->set.words);
        okn_buffer_say(out, digits);
        return;
    case JSON_HEX:
        snprintf(digits, sizeof digits, "\"0x%" PRIx64 "\"", value->set.words);
        okn_buffer_say(out, digits);
        return;
    case JSON_REAL:
        write_real(value->set.real, out);
        return;
    case JSON_LIST:
    case JSON_OBJECT:
        write_items(own, value, out);
        return;
    default:
        okn_buffer_say(out, words[value->kind]);
    }
}
