#define _GNU_SOURCE /* strchrnul */
#include "base/str.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

struct str str_from(const char *text)
{
    return (struct str) { text, text ? strlen(text) : 0 };
}

bool str_equal(struct str a, struct str b)
{
    return a.len == b.len && (a.len == 0 || memcmp(a.data, b.data, a.len) == 0);
}

int str_compare(struct str a, struct str b)
{
    size_t shared = a.len < b.len ? a.len : b.len;
    int    order = shared ? memcmp(a.data, b.data, shared) : 0;

    return order ? order : (a.len > b.len) - (a.len < b.len);
}

bool str_starts(struct str s, struct str prefix)
{
    return s.len >= prefix.len && (prefix.len == 0 || memcmp(s.data, prefix.data, prefix.len) == 0);
}

bool str_ends(struct str s, struct str suffix)
{
    return s.len >= suffix.len &&
           (suffix.len == 0 || memcmp(s.data + s.len - suffix.len, suffix.data, suffix.len) == 0);
}

bool str_contains(struct str s, struct str part)
{
    return part.len == 0 || str_search(s, part) < s.len;
}

size_t str_find(struct str s, char byte)
{
    const char *found = s.len ? memchr(s.data, byte, s.len) : NULL;

    return found ? (size_t)(found - s.data) : s.len;
}

size_t str_find_last(struct str s, char byte)
{
    for (size_t i = s.len; i > 0; i--)
        if (s.data[i - 1] == byte)
            return i - 1;
    return s.len;
}

size_t str_search(struct str s, struct str part)
{
    if (part.len == 0)
        return 0;
    for (size_t at = 0; at + part.len <= s.len; at++) {
        const char *candidate = memchr(s.data + at, part.data[0], s.len - part.len - at + 1);

        if (!candidate)
            break;
        at = (size_t)(candidate - s.data);
        if (memcmp(candidate, part.data, part.len) == 0)
            return at;
    }
    return s.len;
}

struct str str_slice(struct str s, size_t from, size_t to)
{
    if (to > s.len)
        to = s.len;
    if (from > to)
        from = to;
    return (struct str) { s.data ? s.data + from : NULL, to - from };
}

static bool is_blank(char byte)
{
    return byte == ' ' || (byte >= '\t' && byte <= '\r');
}

struct str str_trim(struct str s)
{
    while (s.len && is_blank(s.data[0]))
        s = str_slice(s, 1, s.len);
    while (s.len && is_blank(s.data[s.len - 1]))
        s.len--;
    return s;
}

struct str str_cut(struct str *rest, char byte)
{
    size_t     at = str_find(*rest, byte);
    struct str part = str_slice(*rest, 0, at);

    *rest = str_slice(*rest, at + 1, rest->len);
    return part;
}

bool str_to_uint64(struct str s, uint64_t *number)
{
    enum { SAFE_DIGITS = 19 }; /* any so many fit */
    uint64_t sum = 0;
    size_t   i = 0;

    if (s.len == 0)
        return false;
    for (; i < s.len && i < SAFE_DIGITS; i++) {
        unsigned digit = (unsigned)(unsigned char)s.data[i] - '0';

        if (digit > 9)
            return false;
        sum = sum * 10 + digit;
    }
    for (; i < s.len; i++) {
        unsigned digit = (unsigned)(unsigned char)s.data[i] - '0';

        if (digit > 9 || __builtin_mul_overflow(sum, 10U, &sum) ||
            __builtin_add_overflow(sum, digit, &sum))
            return false;
    }
    *number = sum;
    return true;
}

bool str_to_int64(struct str s, int64_t *number)
{
    bool     is_negative = s.len && s.data[0] == '-';
    uint64_t magnitude;

    if (!str_to_uint64(str_slice(s, is_negative, s.len), &magnitude))
        return false;
    if (magnitude > (uint64_t)INT64_MAX + is_negative)
        return false;
    *number = is_negative ? (int64_t)(0 - magnitude) : (int64_t)magnitude;
    return true;
}

bool str_to_double(struct str s, double *number)
{
    char   text[64], *end;
    double value;

    if (s.len == 0 || s.len >= sizeof text || is_blank(s.data[0]))
        return false;
    memcpy(text, s.data, s.len);
    text[s.len] = '\0';
    errno = 0;
    value = strtod(text, &end); /* the program never leaves the C locale */
    if (end != text + s.len || !isfinite(value))
        return false;
    *number = value;
    return true;
}

size_t str_letter_bytes(struct str s)
{
    const unsigned char *bytes = (const unsigned char *)s.data;
    size_t               len;

    if (s.len == 0)
        return 0;
    len = bytes[0] < 0x80                        ? 1
          : bytes[0] >= 0xC2 && bytes[0] <= 0xDF ? 2
          : bytes[0] >= 0xE0 && bytes[0] <= 0xEF ? 3
          : bytes[0] >= 0xF0 && bytes[0] <= 0xF4 ? 4
                                                 : 0;
    if (len == 0 || len > s.len)
        return 0;
    for (size_t i = 1; i < len; i++)
        if ((bytes[i] & 0xC0) != 0x80)
            return 0;
    /* Overlong forms, surrogates, past U+10FFFF: told by the second byte. */
    if ((bytes[0] == 0xE0 && bytes[1] < 0xA0) || (bytes[0] == 0xED && bytes[1] > 0x9F) ||
        (bytes[0] == 0xF0 && bytes[1] < 0x90) || (bytes[0] == 0xF4 && bytes[1] > 0x8F))
        return 0;
    return len;
}

/* Eight bytes a round, multiply and fold; good enough for tables, stable over machines. */
uint64_t str_hash(struct str s)
{
    uint64_t hash = UINT64_C(0x9e3779b97f4a7c15) ^ s.len;
    size_t   i = 0;

    for (; i + 8 <= s.len; i += 8) {
        uint64_t word;

        memcpy(&word, s.data + i, 8);
        hash = (hash ^ word) * UINT64_C(0xff51afd7ed558ccd);
        hash ^= hash >> 32;
    }
    for (; i < s.len; i++)
        hash = (hash ^ (unsigned char)s.data[i]) * UINT64_C(0x100000001b3);
    hash ^= hash >> 33;
    hash *= UINT64_C(0xc4ceb9fe1a85ec53);
    return hash ^ hash >> 29;
}

uint64_t hash_mix(uint64_t hash, uint64_t more)
{
    return (hash ^ more) * UINT64_C(0x9e3779b97f4a7c15) ^ (hash >> 31);
}

static bool fits_word(struct str s, struct str word)
{
    bool is_end = word.data[0] == '*', is_start = word.data[word.len - 1] == '*';

    word = (struct str) { word.data + is_end, word.len - is_end - is_start };
    if (is_start)
        return is_end ? str_contains(s, word) : str_starts(s, word);
    return is_end ? str_ends(s, word) : str_equal(s, word);
}

bool str_fits(struct str s, const char *words)
{
    while (s.len && *words) {
        const char *end = strchrnul(words, '|');

        if ((*words == *s.data || *words == '*') &&
            fits_word(s, (struct str) { words, (size_t)(end - words) }))
            return true;
        words = end + (*end == '|');
    }
    return false;
}

struct str str_without_number(struct str s)
{
    size_t end = s.len;

    while (end > 0 && s.data[end - 1] >= '0' && s.data[end - 1] <= '9')
        end--;
    return end > 1 && end < s.len && s.data[end - 1] == '_' ? str_slice(s, 0, end - 1) : s;
}
