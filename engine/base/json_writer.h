/*
 * json_writer: JSON into a text, keys in the order written, two-space indent. Numbers are finite and
 * shortest that read back equal to 6 significant digits (json_number) or exact integers. Invalid
 * UTF-8 becomes U+FFFD; "<" is written \u003c so that the text can stand inside HTML.
 */
#ifndef TFPROF_BASE_JSON_WRITER_H
#define TFPROF_BASE_JSON_WRITER_H

#include "base/text.h"

#include <stdint.h>

struct json_writer {
    struct text *text;
    int          depth;
    bool         has_items; /* a comma is due */
    bool         is_compact;
    bool         after_key;
};

void json_object(struct json_writer *json);
void json_object_end(struct json_writer *json);
void json_array(struct json_writer *json);
void json_array_end(struct json_writer *json);
void json_key(struct json_writer *json, const char *key);
void json_str(struct json_writer *json, struct str s);
void json_text(struct json_writer *json, const char *text);
void json_number(struct json_writer *json, double number); /* NaN, infinity: assert */
void json_exact(struct json_writer *json, double number); /* shortest that reads back equal */
void json_null(struct json_writer *json);
void json_integer(struct json_writer *json, int64_t number);
void json_bool(struct json_writer *json, bool value);

#endif
