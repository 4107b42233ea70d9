/*
 * PCRE2 backtracks where RE2 did not: match, depth and heap limits bound every match, and a match
 * that runs into one is told apart from "no". Patterns and subjects are bytes, not UTF-8, because
 * names in traces need not be valid.
 */
#include "base/pattern.h"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>
#include <stdlib.h>

enum {
    MAX_PATTERN_BYTES = 64 << 10,
    MAX_ALTERNATIVES = 4096,
    MATCH_LIMIT = 1000000,
    DEPTH_LIMIT = 100000,
    HEAP_LIMIT_KIB = 32 << 10,
    PARENS_LIMIT = 100,
};

struct pattern {
    enum pattern_kind    kind;
    bool                 is_everything;
    size_t               count;
    pcre2_code         **codes;
    pcre2_match_context *limits;
};

/* Index behind the class that starts at `at`: a first "]" stands for itself. */
static size_t skip_class(struct str text, size_t at)
{
    at++;
    if (at < text.len && text.data[at] == '^')
        at++;
    if (at < text.len && text.data[at] == ']')
        at++;
    while (at < text.len && text.data[at] != ']')
        at += text.data[at] == '\\' ? 2 : 1;
    return at + 1;
}

/* Index of the first comma from `at` on that splits the list, or the end. */
static size_t find_comma(struct str text, size_t at)
{
    size_t depth = 0;

    while (at < text.len) {
        switch (text.data[at]) {
        case '\\':
            at += 2;
            continue;
        case '[':
            at = skip_class(text, at);
            continue;
        case '(':
        case '{':
            depth++;
            break;
        case ')':
        case '}':
            depth -= depth > 0;
            break;
        case ',':
            if (depth == 0)
                return at;
            break;
        default:
            break;
        }
        at++;
    }
    return text.len;
}

static pcre2_code *compile(struct str text, size_t offset, enum pattern_kind kind, struct err *err)
{
    pcre2_compile_context *limits = pcre2_compile_context_create(NULL);
    uint32_t               options =
        PCRE2_NEVER_BACKSLASH_C | PCRE2_NEVER_UTF | PCRE2_NEVER_UCP | PCRE2_DOLLAR_ENDONLY;
    int         code;
    PCRE2_SIZE  error_offset;
    pcre2_code *compiled;

    if (!limits) {
        err_set(err, ERR_LIMIT, "no memory for a pattern");
        return NULL;
    }
    pcre2_set_max_pattern_length(limits, MAX_PATTERN_BYTES);
    pcre2_set_parens_nest_limit(limits, PARENS_LIMIT);
    if (kind == PATTERN_WHOLE)
        options |= PCRE2_ANCHORED | PCRE2_ENDANCHORED;
    compiled = pcre2_compile((PCRE2_SPTR)(text.data ? text.data : ""), text.len, options, &code,
                             &error_offset, limits);
    pcre2_compile_context_free(limits);
    if (!compiled) {
        PCRE2_UCHAR message[160];

        pcre2_get_error_message(code, message, sizeof message);
        err_set_at(err, ERR_USAGE, offset + error_offset, "bad pattern '%.*s': %s",
                   (int)(text.len < 200 ? text.len : 200), text.data ? text.data : "",
                   (const char *)message);
        return NULL;
    }
    pcre2_jit_compile(compiled, PCRE2_JIT_COMPLETE); /* without JIT it is only slower */
    return compiled;
}

/* Takes the next alternative off the list; empty ones count for nothing. */
static bool add_alternative(struct pattern *pattern, struct str text, size_t offset,
                            struct err *err)
{
    pcre2_code **codes;

    if (pattern->count == MAX_ALTERNATIVES)
        return err_set(err, ERR_LIMIT, "more than %d patterns in one list", MAX_ALTERNATIVES);
    if (str_equal(text, STR(".*")))
        pattern->is_everything = true;
    codes = realloc(pattern->codes, (pattern->count + 1) * sizeof(*codes));
    if (!codes)
        return err_set(err, ERR_LIMIT, "no memory for a pattern");
    pattern->codes = codes;
    codes[pattern->count] = compile(text, offset, pattern->kind, err);
    if (!codes[pattern->count])
        return false;
    pattern->count++;
    return true;
}

static bool add_list(struct pattern *pattern, struct str text, struct err *err)
{
    for (size_t at = 0; at < text.len;) {
        size_t end = find_comma(text, at);

        if (end > at && !add_alternative(pattern, str_slice(text, at, end), at, err))
            return false;
        at = end + 1;
    }
    return true;
}

struct pattern *pattern_new(struct str text, enum pattern_kind kind, bool is_list, struct err *err)
{
    struct pattern *pattern = calloc(1, sizeof *pattern);

    if (pattern)
        pattern->limits = pcre2_match_context_create(NULL);
    if (!pattern || !pattern->limits) {
        pattern_free(pattern);
        err_set(err, ERR_LIMIT, "no memory for a pattern");
        return NULL;
    }
    pattern->kind = kind;
    pcre2_set_match_limit(pattern->limits, MATCH_LIMIT);
    pcre2_set_depth_limit(pattern->limits, DEPTH_LIMIT);
    pcre2_set_heap_limit(pattern->limits, HEAP_LIMIT_KIB);
    if (is_list ? add_list(pattern, text, err) : add_alternative(pattern, text, 0, err))
        return pattern;
    pattern_free(pattern);
    return NULL;
}

void pattern_free(struct pattern *pattern)
{
    if (!pattern)
        return;
    for (size_t i = 0; i < pattern->count; i++)
        pcre2_code_free(pattern->codes[i]);
    free(pattern->codes);
    pcre2_match_context_free(pattern->limits);
    free(pattern);
}

/* One alternative; the match data are the call's own, so that threads can share a pattern. */
static enum pattern_match match_one(const struct pattern *pattern, const pcre2_code *code,
                                    struct str subject, size_t from, pcre2_match_data *found)
{
    PCRE2_SPTR bytes = (PCRE2_SPTR)(subject.data ? subject.data : "");
    int        result = pcre2_match(code, bytes, subject.len, from, 0, found, pattern->limits);

    if (result == PCRE2_ERROR_JIT_STACKLIMIT) /* the interpreter has its frames on the heap */
        result = pcre2_match(code, bytes, subject.len, from, PCRE2_NO_JIT, found, pattern->limits);
    if (result >= 0)
        return PATTERN_YES;
    return result == PCRE2_ERROR_NOMATCH ? PATTERN_NO : PATTERN_TOO_COSTLY;
}

static void copy_spans(pcre2_match_data *found, size_t *spans, size_t max_spans, size_t *count)
{
    const PCRE2_SIZE *all = pcre2_get_ovector_pointer(found);
    size_t            groups = pcre2_get_ovector_count(found);

    *count = groups < max_spans ? groups : max_spans;
    for (size_t i = 0; i < *count * 2; i++)
        spans[i] = all[i] == PCRE2_UNSET ? SIZE_MAX : all[i];
}

enum pattern_match pattern_find(const struct pattern *pattern, struct str subject, size_t from,
                                size_t *spans, size_t max_spans, size_t *count)
{
    enum pattern_match answer = PATTERN_NO;

    if (count)
        *count = 0;
    if (pattern->kind == PATTERN_WHOLE)
        from = 0;
    if (from > subject.len)
        return PATTERN_NO;
    for (size_t i = 0; i < pattern->count; i++) {
        pcre2_match_data *found = pcre2_match_data_create_from_pattern(pattern->codes[i], NULL);

        if (!found)
            return PATTERN_TOO_COSTLY;
        enum pattern_match one = match_one(pattern, pattern->codes[i], subject, from, found);

        if (one == PATTERN_YES && count)
            copy_spans(found, spans, max_spans, count);
        pcre2_match_data_free(found);
        if (one == PATTERN_YES)
            return one;
        if (one == PATTERN_TOO_COSTLY)
            answer = one; /* unless a later alternative says yes */
    }
    return answer;
}

enum pattern_match pattern_matches(const struct pattern *pattern, struct str subject)
{
    if (pattern->is_everything)
        return PATTERN_YES;
    return pattern_find(pattern, subject, 0, NULL, 0, NULL);
}
