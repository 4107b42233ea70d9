#include "read/json_scan.h"

#include "base/macros.h"

#include <string.h>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

static void fail(struct json_scan *scan, const char *expected)
{
    if (scan->state != JSON_FINE)
        return;
    scan->state = scan->at >= scan->end ? JSON_CUT : JSON_BAD;
    scan->expected = expected;
}

/* All control characters are blanks: broken writers put them between values as well. */
static ALWAYS_INLINE bool is_blank(char byte)
{
    return (unsigned char)byte <= ' ';
}

/* Runs of blanks are short: a vector compare would cost more than it saves. */
static ALWAYS_INLINE const char *after_blanks(const char *at, const char *end)
{
    while (at < end && is_blank(*at))
        at++;
    return at;
}

/* The end of a number or word: a blank, a comma or a closing bracket. */
static ALWAYS_INLINE const char *bare_end(const char *at, const char *end)
{
#ifdef __SSE2__
    const __m128i least = _mm_set1_epi8(' ' + 1), comma = _mm_set1_epi8(',');
    const __m128i bit = _mm_set1_epi8(0x20), close = _mm_set1_epi8('}');

    for (; end - at >= 16; at += 16) {
        __m128i  bytes = _mm_loadu_si128((const __m128i *)(const void *)at);
        __m128i  solid = _mm_cmpeq_epi8(_mm_max_epu8(bytes, least), bytes);
        __m128i  stop = _mm_or_si128(_mm_cmpeq_epi8(bytes, comma),
                                     _mm_cmpeq_epi8(_mm_or_si128(bytes, bit), close));
        unsigned mask =
            (unsigned)_mm_movemask_epi8(stop) | (~(unsigned)_mm_movemask_epi8(solid) & 0xFFFF);

        if (mask)
            return at + __builtin_ctz(mask);
    }
#endif
    while (at < end && !is_blank(*at) && *at != ',' && (*at | 0x20) != '}')
        at++;
    return at;
}

static ALWAYS_INLINE char peek(struct json_scan *scan)
{
    if (UNLIKELY(scan->state != JSON_FINE))
        return 0;
    scan->at = after_blanks(scan->at, scan->end);
    return scan->at < scan->end ? *scan->at : 0;
}

char json_peek(struct json_scan *scan)
{
    return peek(scan);
}

static ALWAYS_INLINE const char *find_quote(const char *at, const char *end)
{
#ifdef __SSE2__
    const __m128i quote = _mm_set1_epi8('"'), escape = _mm_set1_epi8('\\');

    for (; end - at >= 16; at += 16) {
        __m128i bytes = _mm_loadu_si128((const __m128i *)(const void *)at);
        int     hits = _mm_movemask_epi8(
                _mm_or_si128(_mm_cmpeq_epi8(bytes, quote), _mm_cmpeq_epi8(bytes, escape)));

        if (hits)
            return at + __builtin_ctz((unsigned)hits);
    }
#endif
    while (at < end && *at != '"' && *at != '\\')
        at++;
    return at;
}

const char *json_find_quote(const char *at, const char *end)
{
    return find_quote(at, end);
}

/* at is behind the opening quote; gives the closing quote, or end when the text is cut. */
static ALWAYS_INLINE const char *string_end(const char *at, const char *end)
{
    while ((at = find_quote(at, end)) < end && *at == '\\')
        at = end - at >= 2 ? at + 2 : end;
    return at;
}

/* at is on the opening quote. */
static ALWAYS_INLINE struct str take_string(struct json_scan *scan)
{
    const char *start = scan->at + 1, *end = string_end(start, scan->end);

    if (end >= scan->end) {
        scan->at = scan->end;
        fail(scan, "a closing quote");
        return (struct str) { 0 };
    }
    scan->at = end + 1;
    return (struct str) { start, (size_t)(end - start) };
}

bool json_open(struct json_scan *scan, char bracket)
{
    if (peek(scan) != bracket || scan->state != JSON_FINE) {
        fail(scan, bracket == '{' ? "an object" : "an array");
        return false;
    }
    scan->at++;
    return true;
}

/* Commas are taken wherever they stand: Kineto has written none and two of them before. */
static ALWAYS_INLINE char next_part(struct json_scan *scan)
{
    char byte = peek(scan);

    while (byte == ',') {
        scan->at++;
        byte = peek(scan);
    }
    return byte;
}

#ifdef __SSE2__
/* A member as Kineto writes it: a comma and few blanks, a short key, its colon behind it. False
 * leaves everything to the careful way. */
static ALWAYS_INLINE bool usual_member(struct json_scan *scan, struct str *key)
{
    enum { LOOKED_AT = 16 + 1 + 16 + 2 };
    const __m128i least = _mm_set1_epi8(' ' + 1), comma = _mm_set1_epi8(',');
    const __m128i quote = _mm_set1_epi8('"'), escape = _mm_set1_epi8('\\');
    const char   *at = scan->at;
    __m128i       bytes;
    unsigned      mask, len;

    if (scan->state != JSON_FINE || scan->end - at < LOOKED_AT)
        return false;
    bytes = _mm_loadu_si128((const __m128i *)(const void *)at);
    mask = (unsigned)_mm_movemask_epi8(_mm_andnot_si128(
        _mm_cmpeq_epi8(bytes, comma), _mm_cmpeq_epi8(_mm_max_epu8(bytes, least), bytes)));
    if (!mask)
        return false;
    at += __builtin_ctz(mask);
    if (*at != '"')
        return false;
    bytes = _mm_loadu_si128((const __m128i *)(const void *)++at);
    mask = (unsigned)_mm_movemask_epi8(
        _mm_or_si128(_mm_cmpeq_epi8(bytes, quote), _mm_cmpeq_epi8(bytes, escape)));
    if (!mask)
        return false;
    len = (unsigned)__builtin_ctz(mask);
    if (at[len] != '"' || at[len + 1] != ':')
        return false;
    *key = (struct str) { at, len };
    scan->at = at + len + 2;
    return true;
}

bool json_take_key(struct json_scan *scan, struct str key)
{
    enum { LOOKED_AT = 16 + 1 + 16 };
    const __m128i least = _mm_set1_epi8(' ' + 1), comma = _mm_set1_epi8(',');
    const char   *at = scan->at;
    __m128i       bytes;
    unsigned      mask;

    if (scan->state != JSON_FINE || (size_t)(scan->end - at) < LOOKED_AT + key.len)
        return false;
    bytes = _mm_loadu_si128((const __m128i *)(const void *)at);
    mask = (unsigned)_mm_movemask_epi8(_mm_andnot_si128(
        _mm_cmpeq_epi8(bytes, comma), _mm_cmpeq_epi8(_mm_max_epu8(bytes, least), bytes)));
    if (!mask)
        return false;
    at += __builtin_ctz(mask);
    if (*at != '"' || at[key.len + 1] != '"' || at[key.len + 2] != ':' ||
        memcmp(at + 1, key.data, key.len) != 0)
        return false;
    scan->at = at + key.len + 3;
    return true;
}
#else
static bool usual_member(struct json_scan *scan, struct str *key)
{
    (void)scan;
    (void)key;
    return false;
}

bool json_take_key(struct json_scan *scan, struct str key)
{
    (void)scan;
    (void)key;
    return false;
}
#endif

static bool careful_member(struct json_scan *scan, struct str *key)
{
    char byte = next_part(scan);

    if (scan->state != JSON_FINE)
        return false;
    if (byte == '}') {
        scan->at++;
        return false;
    }
    if (byte != '"') {
        fail(scan, "a key or }");
        return false;
    }
    *key = take_string(scan);
    if (peek(scan) != ':') {
        fail(scan, "a colon");
        return false;
    }
    scan->at++;
    return true;
}

bool json_member(struct json_scan *scan, struct str *key)
{
    return LIKELY(usual_member(scan, key)) || careful_member(scan, key);
}

bool json_item(struct json_scan *scan)
{
    char byte = next_part(scan);

    if (scan->state != JSON_FINE)
        return false;
    if (byte == ']') {
        scan->at++;
        return false;
    }
    if (scan->at >= scan->end)
        fail(scan, "a value or ]");
    return scan->state == JSON_FINE;
}

static ALWAYS_INLINE struct str take_bare(struct json_scan *scan)
{
    const char *start = scan->at, *at = bare_end(start, scan->end);

    scan->at = at;
    if (at == scan->end) {
        fail(scan, "the end of a number");
        return (struct str) { 0 };
    }
    if (at == start)
        fail(scan, "a value");
    return (struct str) { start, (size_t)(at - start) };
}

struct str json_scalar(struct json_scan *scan)
{
    char byte = peek(scan);

    if (scan->state != JSON_FINE)
        return (struct str) { 0 };
    if (byte == '"')
        return take_string(scan);
    if (byte == '{' || byte == '[')
        return json_value(scan);
    return take_bare(scan);
}

/* Where a skipped value stands: how deep in brackets, and whether inside a string. */
struct nesting_at {
    const char *at;
    size_t      depth;
    bool        is_inside;
};

#ifdef __SSE2__
struct block { /* a bit for each of 64 bytes */
    uint64_t quotes, escapes, opens, closes;
};

static ALWAYS_INLINE struct block load_block(const char *at)
{
    const __m128i quote = _mm_set1_epi8('"'), escape = _mm_set1_epi8('\\');
    /* '[' and '{', ']' and '}' differ in one bit only. */
    const __m128i bit = _mm_set1_epi8(0x20), open = _mm_set1_epi8('{'), close = _mm_set1_epi8('}');
    struct block  block = { 0 };

    for (int i = 0; i < 4; i++) {
        __m128i bytes = _mm_loadu_si128((const __m128i *)(const void *)(at + 16 * i));
        __m128i folded = _mm_or_si128(bytes, bit);

        block.quotes |= (uint64_t)(uint32_t)_mm_movemask_epi8(_mm_cmpeq_epi8(bytes, quote))
                        << 16 * i;
        block.escapes |= (uint64_t)(uint32_t)_mm_movemask_epi8(_mm_cmpeq_epi8(bytes, escape))
                         << 16 * i;
        block.opens |= (uint64_t)(uint32_t)_mm_movemask_epi8(_mm_cmpeq_epi8(folded, open))
                       << 16 * i;
        block.closes |= (uint64_t)(uint32_t)_mm_movemask_epi8(_mm_cmpeq_epi8(folded, close))
                        << 16 * i;
    }
    return block;
}

/* Bit i of the result: an odd number of bits up to i are set. Between quotes that is "inside". */
static ALWAYS_INLINE uint64_t running_parity(uint64_t bits)
{
    for (unsigned shift = 1; shift < 64; shift *= 2)
        bits ^= bits << shift;
    return bits;
}

/* Skips whole blocks until the brackets are balanced (true), or until an escape or the end of the
 * text asks for more care. */
static bool skip_blocks(struct nesting_at *nesting, const char *end)
{
    for (; end - nesting->at >= 64; nesting->at += 64) {
        struct block block = load_block(nesting->at);
        uint64_t     inside, brackets;

        if (block.escapes)
            return false;
        inside = running_parity(block.quotes) ^ (nesting->is_inside ? UINT64_MAX : 0);
        brackets = (block.opens | block.closes) & ~inside;
        for (; brackets; brackets &= brackets - 1) {
            int bit = __builtin_ctzll(brackets);

            if (block.opens >> bit & 1) {
                nesting->depth++;
            } else if (--nesting->depth == 0) {
                nesting->at += bit + 1;
                return true;
            }
        }
        nesting->is_inside = inside >> 63;
    }
    return false;
}
#else
static bool skip_blocks(struct nesting_at *nesting, const char *end)
{
    (void)nesting;
    (void)end;
    return false;
}
#endif

/* The same byte by byte over the next 64 bytes and the string they may end in. */
static bool skip_bytes(struct nesting_at *nesting, const char *end)
{
    const char *at = nesting->at, *stop = end - at > 64 ? at + 64 : end;

    while (at < stop) {
        char byte = nesting->is_inside ? '"' : *at++;

        if (byte == '"') {
            at = string_end(at, end);
            nesting->is_inside = false;
            if (at < end)
                at++;
        } else if ((byte | 0x20) == '{') {
            nesting->depth++;
        } else if ((byte | 0x20) == '}' && --nesting->depth == 0) {
            nesting->at = at;
            return true;
        }
    }
    nesting->at = at;
    return false;
}

static void skip_nested(struct json_scan *scan)
{
    struct nesting_at nesting = { .at = scan->at };

    while (nesting.at < scan->end) {
        if (skip_blocks(&nesting, scan->end) || skip_bytes(&nesting, scan->end)) {
            scan->at = nesting.at;
            return;
        }
    }
    scan->at = scan->end;
    fail(scan, "a closing bracket");
}

struct str json_value(struct json_scan *scan)
{
    char        byte = peek(scan);
    const char *start = scan->at;

    if (scan->state != JSON_FINE)
        return (struct str) { 0 };
    if (byte == '"')
        take_string(scan);
    else if (byte == '{' || byte == '[')
        skip_nested(scan);
    else
        take_bare(scan);
    return scan->state == JSON_FINE ? (struct str) { start, (size_t)(scan->at - start) }
                                    : (struct str) { 0 };
}

void json_skip(struct json_scan *scan)
{
    (void)json_value(scan);
}

static int hex_digit(char byte)
{
    if (byte >= '0' && byte <= '9')
        return byte - '0';
    if ((byte | 0x20) >= 'a' && (byte | 0x20) <= 'f')
        return (byte | 0x20) - 'a' + 10;
    return -1;
}

/* The four digits of a \u escape, or -1. */
static int32_t hex_four(struct str raw, size_t at)
{
    int32_t code = 0;

    if (at + 4 > raw.len)
        return -1;
    for (size_t i = at; i < at + 4; i++) {
        int digit = hex_digit(raw.data[i]);

        if (digit < 0)
            return -1;
        code = code * 16 + digit;
    }
    return code;
}

static size_t put_utf8(char *out, uint32_t code)
{
    if (code < 0x80) {
        out[0] = (char)code;
        return 1;
    }
    if (code < 0x800) {
        out[0] = (char)(0xC0 | code >> 6);
        out[1] = (char)(0x80 | (code & 0x3F));
        return 2;
    }
    if (code < 0x10000) {
        out[0] = (char)(0xE0 | code >> 12);
        out[1] = (char)(0x80 | (code >> 6 & 0x3F));
        out[2] = (char)(0x80 | (code & 0x3F));
        return 3;
    }
    out[0] = (char)(0xF0 | code >> 18);
    out[1] = (char)(0x80 | (code >> 12 & 0x3F));
    out[2] = (char)(0x80 | (code >> 6 & 0x3F));
    out[3] = (char)(0x80 | (code & 0x3F));
    return 4;
}

/* raw[*at] is behind "\u". Six written bytes never make more than three, twelve never more than
 * four, so the result always fits where the escape stood. */
static size_t put_unicode(char *out, struct str raw, size_t *at)
{
    int32_t code = hex_four(raw, *at), low;

    if (code < 0) { /* no escape after all: kept as written */
        out[0] = 'u';
        return 1;
    }
    *at += 4;
    if (code < 0xD800 || code > 0xDFFF)
        return put_utf8(out, (uint32_t)code);
    if (code <= 0xDBFF && *at + 6 <= raw.len && raw.data[*at] == '\\' && raw.data[*at + 1] == 'u') {
        low = hex_four(raw, *at + 2);
        if (low >= 0xDC00 && low <= 0xDFFF) {
            *at += 6;
            return put_utf8(out,
                            0x10000 + ((uint32_t)(code - 0xD800) << 10) + (uint32_t)(low - 0xDC00));
        }
    }
    return put_utf8(out, 0xFFFD);
}

struct str json_unescape(struct arena *arena, struct str raw)
{
    static const char plain[] = "bfnrt", meant[] = "\b\f\n\r\t";
    struct str        text;
    char             *out;
    size_t            at = 0, len = 0;

    if (str_find(raw, '\\') == raw.len)
        return raw;
    text = arena_str(arena, raw);
    if (!text.data)
        return raw;
    out = (char *)(uintptr_t)text.data;
    while (at < raw.len) {
        const char *known;
        char        byte = raw.data[at++];

        if (byte != '\\' || at == raw.len) {
            out[len++] = byte;
            continue;
        }
        byte = raw.data[at++];
        known = byte ? strchr(plain, byte) : NULL;
        if (byte == 'u')
            len += put_unicode(out + len, raw, &at);
        else
            out[len++] = known ? meant[known - plain] : byte;
    }
    out[len] = 0;
    return (struct str) { out, len };
}

struct decimal { /* digits[0] . digits[1]... as an integer, and where its point belongs */
    uint64_t digits;
    int      exponent;   /* value = digits * 10^exponent */
    bool     is_rounded; /* digits that did not fit were not all zero */
};

static bool scan_exponent(struct str text, size_t at, int *exponent)
{
    int64_t written;

    if (at < text.len && text.data[at] == '+')
        at++;
    if (!str_to_int64(str_slice(text, at, text.len), &written) || written > 400 || written < -400)
        return false;
    *exponent += (int)written;
    return true;
}

static bool scan_decimal(struct str text, size_t at, struct decimal *decimal)
{
    bool   has_point = false;
    size_t first = at;

    for (; at < text.len; at++) {
        char byte = text.data[at];

        if (byte == '.' && !has_point && at > first) {
            has_point = true;
        } else if (byte >= '0' && byte <= '9') {
            if (decimal->digits <= (UINT64_MAX - 9) / 10) {
                decimal->digits = decimal->digits * 10 + (uint64_t)(byte - '0');
                decimal->exponent -= has_point;
            } else {
                decimal->is_rounded |= byte != '0';
                decimal->exponent += !has_point;
            }
        } else {
            return (byte | 0x20) == 'e' && at > first &&
                   scan_exponent(text, at + 1, &decimal->exponent);
        }
    }
    return at > first;
}

bool json_decimal(struct str text, int power, int64_t *number)
{
    struct decimal decimal = { 0 };
    bool           is_negative = text.len && text.data[0] == '-';
    int            exponent;

    if (!scan_decimal(text, is_negative, &decimal))
        return false;
    exponent = decimal.exponent + power;
    for (; exponent > 0 && decimal.digits; exponent--)
        if (__builtin_mul_overflow(decimal.digits, 10, &decimal.digits))
            return false;
    for (; exponent < 0 && decimal.digits; exponent++) {
        decimal.is_rounded |= decimal.digits % 10 != 0;
        decimal.digits /= 10;
    }
    decimal.is_rounded |= exponent < 0 && decimal.digits;
    if (decimal.digits > INT64_MAX - 1)
        return false;
    *number = (int64_t)decimal.digits;
    if (is_negative)
        *number = -*number - decimal.is_rounded;
    return true;
}
