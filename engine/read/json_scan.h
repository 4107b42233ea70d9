/*
 * json_scan: pulls values out of JSON text without building a tree. The caller walks the parts it
 * knows and skips the rest; strings and numbers come back as spans of the text.
 *
 *     if (!json_open(&scan, '{')) ...
 *     while (json_member(&scan, &key)) {
 *         if (str_equal(key, STR("ts")))
 *             ts = json_scalar(&scan);
 *         else
 *             json_skip(&scan);
 *     }
 *
 * Checked are structure and strings of what the caller walks; inside skipped values only strings
 * and the balance of brackets. Real traces hold raw control characters, NaN, Infinity and trailing
 * commas: all are accepted. Once state is not JSON_FINE every call gives nothing, so that a caller
 * may check it at the end of an object only.
 */
#ifndef TFPROF_READ_JSON_SCAN_H
#define TFPROF_READ_JSON_SCAN_H

#include "base/arena.h"
#include "base/str.h"

enum json_state {
    JSON_FINE,
    JSON_CUT, /* the text ends inside a value */
    JSON_BAD, /* `expected` was not found at `at` */
};
struct json_scan {
    const char     *at, *end;
    enum json_state state;
    const char     *expected; /* for JSON_BAD: "a comma or }" */
};

/* The next byte that is no blank, not taken; 0 at the end of the text (the state stays fine). */
char json_peek(struct json_scan *scan);
/* Takes the bracket; false and JSON_BAD when something else stands there. */
bool json_open(struct json_scan *scan, char bracket);
/* The next member's key (as written), its colon taken. False at the closing brace, which it takes,
 * and on trouble. */
bool json_member(struct json_scan *scan, struct str *key);
/* Takes the next member's key and colon where it is this one and written as usual; false takes
 * nothing: ask json_member. */
bool json_take_key(struct json_scan *scan, struct str key);
/* Whether another item follows in an array; takes commas and the closing bracket. */
bool json_item(struct json_scan *scan);
/* A string's content between the quotes (escapes as written) or a bare scalar's text. */
struct str json_scalar(struct json_scan *scan);
/* Any value as written, quotes and brackets included. */
struct str json_value(struct json_scan *scan);
void       json_skip(struct json_scan *scan);

/* First quote or backslash at or behind `at`, else `end`. */
const char *json_find_quote(const char *at, const char *end);
/* Resolves escapes; a string without any comes back as it is. Lone surrogates become U+FFFD. */
struct str json_unescape(struct arena *arena, struct str raw);
/* Decimal text times 10^power as an integer, rounded towards minus infinity, without a double in
 * between: "1.5" with power 3 is 1500. False for NaN, text or what does not fit. */
bool json_decimal(struct str text, int power, int64_t *number);

#endif
