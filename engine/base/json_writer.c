#include "base/json_writer.h"

#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static void new_line(struct json_writer *json)
{
    if (json->is_compact)
        return;
    text_add_byte(json->text, '\n');
    text_fill(json->text, ' ', (size_t)json->depth * 2);
}

/* What separates the next value or key from what stands before it. */
static void begin_item(struct json_writer *json)
{
    if (json->after_key) {
        json->after_key = false;
        return;
    }
    if (json->has_items)
        text_add_byte(json->text, ',');
    if (json->depth)
        new_line(json);
    json->has_items = true;
}

static void open_nest(struct json_writer *json, char bracket)
{
    begin_item(json);
    text_add_byte(json->text, bracket);
    json->depth++;
    json->has_items = false;
}

static void close_nest(struct json_writer *json, char bracket)
{
    assert(json->depth > 0 && !json->after_key);
    json->depth--;
    if (json->has_items)
        new_line(json);
    text_add_byte(json->text, bracket);
    json->has_items = true;
}

void json_object(struct json_writer *json)
{
    open_nest(json, '{');
}

void json_object_end(struct json_writer *json)
{
    close_nest(json, '}');
}

void json_array(struct json_writer *json)
{
    open_nest(json, '[');
}

void json_array_end(struct json_writer *json)
{
    close_nest(json, ']');
}

/* The letter of a two-character escape, or 0. */
static char short_escape(char byte)
{
    switch (byte) {
    case '"':
    case '\\':
        return byte;
    case '\n':
        return 'n';
    case '\t':
        return 't';
    case '\r':
        return 'r';
    default:
        return 0;
    }
}

static void add_quoted(struct text *text, struct str s)
{
    text_add_byte(text, '"');
    for (size_t i = 0, plain = 0; i <= s.len;) {
        size_t len = str_letter_bytes(str_slice(s, i, s.len));
        char   byte = i < s.len ? s.data[i] : 0;

        if (len > 1 || (len == 1 && (unsigned char)byte >= 0x20 && byte != '<' && byte != 0x7F &&
                        !short_escape(byte))) {
            i += len;
            continue;
        }
        text_add(text, str_slice(s, plain, i));
        if (i == s.len)
            break;
        if (len == 0)
            text_add(text, STR("\xEF\xBF\xBD")); /* U+FFFD */
        else if (short_escape(byte))
            text_print(text, "\\%c", short_escape(byte));
        else
            text_print(text, "\\u%04x", (unsigned)(unsigned char)byte);
        plain = ++i;
    }
    text_add_byte(text, '"');
}

void json_key(struct json_writer *json, const char *key)
{
    begin_item(json);
    add_quoted(json->text, str_from(key));
    text_add(json->text, json->is_compact ? STR(":") : STR(": "));
    json->after_key = true;
}

void json_str(struct json_writer *json, struct str s)
{
    begin_item(json);
    add_quoted(json->text, s);
}

void json_text(struct json_writer *json, const char *text)
{
    json_str(json, str_from(text));
}

void json_number(struct json_writer *json, double number)
{
    assert(isfinite(number));
    begin_item(json);
    if (number == 0)
        text_add_byte(json->text, '0'); /* also for -0 */
    else if (fabs(number) < 9007199254740992.0 && number == floor(number))
        text_print(json->text, "%.0f", number);
    else
        text_print(json->text, "%.6g", number);
}

void json_exact(struct json_writer *json, double number)
{
    assert(isfinite(number));
    begin_item(json);
    text_add_exact(json->text, number);
}

void json_null(struct json_writer *json)
{
    begin_item(json);
    text_add(json->text, STR("null"));
}

void json_integer(struct json_writer *json, int64_t number)
{
    begin_item(json);
    text_print(json->text, "%" PRId64, number);
}

void json_bool(struct json_writer *json, bool value)
{
    begin_item(json);
    text_add(json->text, value ? STR("true") : STR("false"));
}
