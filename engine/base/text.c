#include "base/text.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Room for `more` bytes and the terminator. */
static bool reserve(struct text *text, size_t more)
{
    size_t capacity = text->capacity;
    char  *moved;

    if (text->is_cut)
        return false;
    if (text->len + more + 1 <= capacity)
        return true;
    while (capacity < text->len + more + 1)
        capacity = capacity ? capacity * 2 : 128;
    moved = arena_grow(text->arena, text->data, text->capacity, capacity);
    if (!moved) {
        text->is_cut = true;
        return false;
    }
    text->data = moved;
    text->capacity = capacity;
    return true;
}

void text_add(struct text *text, struct str s)
{
    if (!reserve(text, s.len))
        return;
    if (s.len)
        memcpy(text->data + text->len, s.data, s.len);
    text->len += s.len;
    text->data[text->len] = '\0';
}

void text_add_byte(struct text *text, char byte)
{
    if (!reserve(text, 1))
        return;
    text->data[text->len++] = byte;
    text->data[text->len] = '\0';
}

/* Characters that change the direction of what follows, or end a line where none is expected. */
static bool is_steering(uint32_t letter)
{
    return (letter >= 0x80 && letter < 0xa0) || letter == 0x61c || letter == 0x200e ||
           letter == 0x200f || (letter >= 0x2028 && letter <= 0x202e) ||
           (letter >= 0x2066 && letter <= 0x2069);
}

static uint32_t letter_of(struct str s, size_t bytes)
{
    uint32_t letter = (unsigned char)s.data[0] & (bytes == 2 ? 0x1fu : 0x0fu);

    for (size_t i = 1; i < bytes; i++)
        letter = letter << 6 | ((unsigned char)s.data[i] & 0x3fu);
    return letter;
}

static bool is_command(struct str s, bool is_first)
{
    return str_starts(s, STR("##[")) || (is_first && str_starts(s, STR("::")));
}

/* The first letter of `s`, if it must not be shown as it is, as what it is shown as. */
static size_t escape(struct str s, bool is_first, char shown[8])
{
    size_t        bytes = str_letter_bytes(s);
    unsigned char first = (unsigned char)s.data[0];

    if (bytes == 0) {
        snprintf(shown, 8, "\xef\xbf\xbd");
        return 1;
    }
    if (bytes == 1 && (first < 0x20 || first == 0x7f || is_command(s, is_first))) {
        snprintf(shown, 8, "\\x%02x", first);
        return 1;
    }
    if ((bytes == 2 || bytes == 3) && is_steering(letter_of(s, bytes))) {
        snprintf(shown, 8, letter_of(s, bytes) < 0x100 ? "\\x%02x" : "\\u%04x",
                 (unsigned)letter_of(s, bytes));
        return bytes;
    }
    return 0;
}

/* Runs of letters that are fine are added at once. */
static void add_clean(struct text *text, struct str s, bool has_lines)
{
    bool   is_first = true; /* only blanks before it on its line */
    size_t plain = 0, at = 0;
    char   shown[8];

    while (at < s.len) {
        struct str rest = str_slice(s, at, s.len);
        char       byte = rest.data[0];
        size_t     bytes =
            has_lines && (byte == '\n' || byte == '\t') ? 0 : escape(rest, is_first, shown);

        if (bytes > 0) {
            text_add(text, str_slice(s, plain, at));
            text_add(text, str_from(shown));
            plain = at + bytes;
        }
        is_first = (has_lines && byte == '\n') || (is_first && (byte == ' ' || byte == '\t'));
        at += bytes > 0 ? bytes : str_letter_bytes(rest);
    }
    text_add(text, str_slice(s, plain, s.len));
}

void text_add_clean(struct text *text, struct str s)
{
    add_clean(text, s, false);
}

void text_clean_lines(struct text *text, size_t from)
{
    struct text clean = { .arena = text->arena, .is_cut = text->is_cut };
    struct str  lines = str_slice(text_str(text), from, text->len);

    add_clean(&clean, lines, true);
    if (!clean.is_cut && !str_equal(text_str(&clean), lines)) {
        text->len = from;
        text_add(text, text_str(&clean));
    }
    text->is_cut |= clean.is_cut;
}

bool text_is_whole(const struct text *text)
{
    return !text->is_cut && !text->arena->is_spent;
}

void text_fill(struct text *text, char byte, size_t count)
{
    if (!reserve(text, count))
        return;
    memset(text->data + text->len, byte, count);
    text->len += count;
    text->data[text->len] = '\0';
}

void text_vprint(struct text *text, const char *format, va_list arguments)
{
    va_list again;
    size_t  room = text->is_cut || !text->data ? 0 : text->capacity - text->len;
    int     len;

    va_copy(again, arguments);
    len = vsnprintf(room ? text->data + text->len : NULL, room, format, arguments);
    if (len >= 0 && (size_t)len < room) {
        text->len += (size_t)len;
    } else if (len >= 0 && reserve(text, (size_t)len)) {
        vsnprintf(text->data + text->len, (size_t)len + 1, format, again);
        text->len += (size_t)len;
    } else if (room) {
        text->data[text->len] = '\0';
    }
    va_end(again);
}

void text_print(struct text *text, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    text_vprint(text, format, arguments);
    va_end(arguments);
}

struct str text_str(const struct text *text)
{
    return (struct str) { text->data ? text->data : "", text->len };
}

/* Code points that take two columns, or none; ranges of Unicode 15 that names contain in practice.
 */
static unsigned columns_of(uint32_t point)
{
    static const struct {
        uint32_t first, last;
        unsigned columns;
    } ranges[] = {
        { 0x0300, 0x036F, 0 },   { 0x200B, 0x200F, 0 }, { 0xFE00, 0xFE0F, 0 },
        { 0x1100, 0x115F, 2 },   { 0x2E80, 0x303E, 2 }, { 0x3041, 0x33FF, 2 },
        { 0x3400, 0x4DBF, 2 },   { 0x4E00, 0x9FFF, 2 }, { 0xA000, 0xA4CF, 2 },
        { 0xAC00, 0xD7A3, 2 },   { 0xF900, 0xFAFF, 2 }, { 0xFE30, 0xFE6F, 2 },
        { 0xFF00, 0xFF60, 2 },   { 0xFFE0, 0xFFE6, 2 }, { 0x1F300, 0x1FAFF, 2 },
        { 0x20000, 0x3FFFD, 2 },
    };

    for (size_t i = 0; i < ARRAY_COUNT(ranges); i++)
        if (point >= ranges[i].first && point <= ranges[i].last)
            return ranges[i].columns;
    return 1;
}

size_t text_width(struct str s)
{
    size_t columns = 0;

    for (size_t i = 0; i < s.len;) {
        unsigned char byte = (unsigned char)s.data[i];
        unsigned      more = byte >= 0xF0 ? 3 : byte >= 0xE0 ? 2 : byte >= 0xC0 ? 1 : 0;
        uint32_t      point = more ? byte & (0x3FU >> more) : byte;

        for (i++; more && i < s.len && ((unsigned char)s.data[i] & 0xC0) == 0x80; more--, i++)
            point = point << 6 | ((unsigned char)s.data[i] & 0x3FU);
        columns += columns_of(point);
    }
    return columns;
}

void text_add_xml(struct text *text, struct str s)
{
    for (size_t i = 0; i < s.len; i++) {
        switch (s.data[i]) {
        case '&':
            text_add(text, STR("&amp;"));
            break;
        case '<':
            text_add(text, STR("&lt;"));
            break;
        case '>':
            text_add(text, STR("&gt;"));
            break;
        case '"':
            text_add(text, STR("&quot;"));
            break;
        default:
            text_add_byte(text, s.data[i]);
        }
    }
}

void text_add_exact(struct text *text, double number)
{
    char digits[32];
    bool is_whole = fabs(number) < 9007199254740992.0 && number == floor(number);

    snprintf(digits, sizeof digits, "%.0f", number == 0 ? 0 : number);
    for (int precision = 6; !is_whole && precision <= 17; precision++) {
        snprintf(digits, sizeof digits, "%.*g", precision, number);
        if (strtod(digits, NULL) == number)
            break;
    }
    text_add(text, str_from(digits));
}
