/*
 * PCRE2 backtracks where RE2 did not. A match that runs into a small limit is asked again of
 * pcre2_dfa_match, which follows all ways at once and so answers yes or no in linear time; after a
 * few of those a pattern is asked of it at once. What it has not (back references), and captures,
 * stay with backtracking under a larger limit, and running into that is told apart from "no".
 */
#include "base/pattern.h"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

enum {
    MAX_PATTERN_BYTES = 64 << 10,
    MAX_ALTERNATIVES = 4096,
    MATCH_LIMIT = 1000000,
    FIRST_MATCH_LIMIT = 10000, /* where there is another way */
    RUNAWAYS = 16,             /* matches that ran into it, before it is no longer tried */
    DEPTH_LIMIT = 100000,
    HEAP_LIMIT_KIB = 32 << 10,
    PARENS_LIMIT = 100,
    INTS_PER_STATE = 6, /* of the workspace of pcre2_dfa_match: two lists of states */
    FEWEST_STATES = 16,
    MOST_STATES = 1 << 15,
    REFUSED_BYTES = 80,  /* of a name, as errors show it */
    USES_WORTH_JIT = 64, /* of short subjects; making machine code takes as long as some */
    BYTES_WORTH_JIT = 256,
};
/* Pairs of states that pcre2_dfa_match may compare at most, for all subjects of a pattern: by that
 * bound some ten seconds, as most matches compare few of them. */
static const uint64_t most_work = UINT64_C(500000000000);

/* What a pattern learns while it is used, by several threads at once. */
struct experience {
    atomic_uint          runaways;
    atomic_uint          states; /* that were enough so far */
    atomic_uint_fast64_t work;
    atomic_uint          uses; /* of PATTERN_OF_ONE */
    atomic_flag          is_refusing;
    atomic_bool          has_refused; /* then these are set */
    size_t               refused_bytes;
    char                 refused[REFUSED_BYTES];
};

struct pattern {
    enum pattern_kind    kind;
    bool                 is_everything;
    struct str           text;
    size_t               count;
    pcre2_code         **codes;
    pcre2_match_context *limits, *first_limits;
    struct experience   *experience;
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
    uint32_t options = PCRE2_NEVER_BACKSLASH_C | PCRE2_UTF | PCRE2_NEVER_UCP | PCRE2_DOLLAR_ENDONLY;
    int      code;
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
    if (!compiled && code == PCRE2_ERROR_HEAP_FAILED) {
        err_set(err, ERR_LIMIT, "no memory for a pattern");
        return NULL;
    }
    if (!compiled) {
        PCRE2_UCHAR message[160];

        pcre2_get_error_message(code, message, sizeof message);
        err_set_at(err, ERR_USAGE, offset + error_offset, "bad pattern '%.*s': %s",
                   (int)(text.len < 200 ? text.len : 200), text.data ? text.data : "",
                   (const char *)message);
        return NULL;
    }
    if (kind != PATTERN_OF_ONE)
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

static pcre2_match_context *limits_of(uint32_t match_limit)
{
    pcre2_match_context *limits = pcre2_match_context_create(NULL);

    if (!limits)
        return NULL;
    pcre2_set_match_limit(limits, match_limit);
    pcre2_set_depth_limit(limits, DEPTH_LIMIT);
    pcre2_set_heap_limit(limits, HEAP_LIMIT_KIB);
    return limits;
}

static bool make(struct pattern *pattern, struct str text)
{
    char *copy = malloc(text.len + 1);

    pattern->limits = limits_of(MATCH_LIMIT);
    pattern->first_limits = limits_of(FIRST_MATCH_LIMIT);
    pattern->experience = calloc(1, sizeof *pattern->experience);
    pattern->text = (struct str) { copy, text.len };
    if (!copy || !pattern->limits || !pattern->first_limits || !pattern->experience)
        return false;
    if (text.len)
        memcpy(copy, text.data, text.len);
    atomic_store(&pattern->experience->states, FEWEST_STATES);
    return true;
}

struct pattern *pattern_new(struct str text, enum pattern_kind kind, bool is_list, struct err *err)
{
    struct pattern *pattern = calloc(1, sizeof *pattern);

    if (!pattern || !make(pattern, text)) {
        pattern_free(pattern);
        err_set(err, ERR_LIMIT, "no memory for a pattern");
        return NULL;
    }
    pattern->kind = kind;
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
    pcre2_match_context_free(pattern->first_limits);
    free(pattern->experience);
    free((char *)pattern->text.data);
    free(pattern);
}

/* Bytes at the start that are well-formed UTF-8. */
static size_t readable_bytes(struct str s)
{
    size_t at = 0, len = 1;

    while (at < s.len && len) {
        uint64_t word;

        for (; at + sizeof word <= s.len; at += sizeof word) {
            memcpy(&word, s.data + at, sizeof word);
            if (word & UINT64_C(0x8080808080808080))
                break;
        }
        len = str_letter_bytes(str_slice(s, at, s.len));
        at += len;
    }
    return at;
}

/* The subject as it is, or a copy in *copy, to be freed, without damage. */
static void make_readable(struct str *subject, char **copy)
{
    size_t at = readable_bytes(*subject);

    *copy = NULL;
    if (!subject->data)
        subject->data = "";
    if (at == subject->len)
        return;
    *copy = malloc(subject->len);
    if (!*copy)
        arena_out_of_memory(subject->len);
    memcpy(*copy, subject->data, subject->len);
    subject->data = *copy;
    for (; at < subject->len; at += readable_bytes(str_slice(*subject, at, subject->len)))
        (*copy)[at] = '\x1A';
}

/* One alternative; the match data are the call's own, so that threads can share a pattern. */
static int backtrack(const pcre2_code *code, struct str subject, size_t from,
                     pcre2_match_data *found, pcre2_match_context *limits)
{
    PCRE2_SPTR bytes = (PCRE2_SPTR)subject.data;
    int result = pcre2_match(code, bytes, subject.len, from, PCRE2_NO_UTF_CHECK, found, limits);

    if (result == PCRE2_ERROR_JIT_STACKLIMIT) /* the interpreter has its frames on the heap */
        result = pcre2_match(code, bytes, subject.len, from, PCRE2_NO_UTF_CHECK | PCRE2_NO_JIT,
                             found, limits);
    return result;
}

/* What no memory is left for is no answer, and not too costly either. */
static enum pattern_match answer_of(int result)
{
    if (result >= 0)
        return PATTERN_YES;
    if (result == PCRE2_ERROR_NOMEMORY)
        arena_out_of_memory(0);
    return result == PCRE2_ERROR_NOMATCH ? PATTERN_NO : PATTERN_TOO_COSTLY;
}

/* Whether following so many states over the subject is within what the pattern may cost in all. */
static bool takes_work(const struct pattern *pattern, size_t bytes, unsigned states)
{
    uint64_t starts = pattern->kind == PATTERN_WHOLE ? 1 : bytes + 1;
    double   work = (double)states * states / 2 * (double)(bytes + 1) * (double)starts;

    if (work > (double)most_work)
        return false;
    return atomic_fetch_add(&pattern->experience->work, (uint64_t)work) < most_work;
}

/* All ways at once, with as many states as that takes. */
static enum pattern_match follow(const struct pattern *pattern, const pcre2_code *code,
                                 struct str subject, pcre2_match_data *found)
{
    struct experience *experience = pattern->experience;
    bool               is_whole = pattern->kind == PATTERN_WHOLE;
    uint32_t           options = PCRE2_NO_UTF_CHECK | (is_whole ? 0 : PCRE2_DFA_SHORTEST);
    unsigned           states = atomic_load(&experience->states);
    int                result = PCRE2_ERROR_DFA_WSSIZE;

    for (; result == PCRE2_ERROR_DFA_WSSIZE && states <= MOST_STATES; states *= 2) {
        size_t ints = (size_t)states * INTS_PER_STATE + INTS_PER_STATE;
        int   *workspace = malloc(ints * sizeof *workspace);

        if (!workspace)
            arena_out_of_memory(ints * sizeof *workspace);
        if (!takes_work(pattern, subject.len, states)) {
            free(workspace);
            return PATTERN_TOO_COSTLY;
        }
        atomic_store(&experience->states, states);
        result = pcre2_dfa_match(code, (PCRE2_SPTR)subject.data, subject.len, 0, options, found,
                                 pattern->limits, workspace, ints);
        free(workspace);
    }
    /* It finds the longest first, and takes PCRE2_ENDANCHORED for no condition. */
    if (result >= 0 && is_whole && pcre2_get_ovector_pointer(found)[1] != subject.len)
        return PATTERN_NO;
    return answer_of(result);
}

static bool has_back_references(const pcre2_code *code)
{
    uint32_t most = 0;

    pcre2_pattern_info(code, PCRE2_INFO_BACKREFMAX, &most);
    return most > 0;
}

/* Yes or no, by the way that is fastest for most patterns first. */
static enum pattern_match match_one(const struct pattern *pattern, const pcre2_code *code,
                                    struct str subject, pcre2_match_data *found)
{
    atomic_uint *runaways = &pattern->experience->runaways;
    int          result;

    if (has_back_references(code))
        return answer_of(backtrack(code, subject, 0, found, pattern->limits));
    if (atomic_load(runaways) < RUNAWAYS) {
        result = backtrack(code, subject, 0, found, pattern->first_limits);
        if (answer_of(result) != PATTERN_TOO_COSTLY)
            return answer_of(result);
        atomic_fetch_add(runaways, 1);
    }
    return follow(pattern, code, subject, found);
}

static void copy_spans(pcre2_match_data *found, size_t *spans, size_t max_spans, size_t *count)
{
    const PCRE2_SIZE *all = pcre2_get_ovector_pointer(found);
    size_t            groups = pcre2_get_ovector_count(found);

    *count = groups < max_spans ? groups : max_spans;
    for (size_t i = 0; i < *count * 2; i++)
        spans[i] = all[i] == PCRE2_UNSET ? SIZE_MAX : all[i];
}

/* Machine code is made once it is worth its time. No other thread uses the pattern meanwhile. */
static void count_use(const struct pattern *pattern, struct str subject)
{
    atomic_uint *uses = &pattern->experience->uses;
    unsigned     before = atomic_load(uses), more = 1;

    if (pattern->kind != PATTERN_OF_ONE || before >= USES_WORTH_JIT)
        return;
    if (subject.len > BYTES_WORTH_JIT)
        more = USES_WORTH_JIT;
    atomic_store(uses, before + more);
    for (size_t i = 0; before + more >= USES_WORTH_JIT && i < pattern->count; i++)
        pcre2_jit_compile(pattern->codes[i], PCRE2_JIT_COMPLETE);
}

enum pattern_match pattern_find(const struct pattern *pattern, struct str subject, size_t from,
                                size_t *spans, size_t max_spans, size_t *count)
{
    enum pattern_match answer = PATTERN_NO;
    char              *copy;

    *count = 0;
    if (pattern->kind == PATTERN_WHOLE)
        from = 0;
    if (from > subject.len)
        return PATTERN_NO;
    count_use(pattern, subject);
    make_readable(&subject, &copy);
    while (from < subject.len && ((unsigned char)subject.data[from] & 0xC0) == 0x80)
        from++; /* inside of a letter */
    for (size_t i = 0; i < pattern->count && answer != PATTERN_YES; i++) {
        pcre2_match_data  *found = pcre2_match_data_create_from_pattern(pattern->codes[i], NULL);
        enum pattern_match one;

        if (!found)
            arena_out_of_memory(0);
        one = answer_of(backtrack(pattern->codes[i], subject, from, found, pattern->limits));
        if (one == PATTERN_YES)
            copy_spans(found, spans, max_spans, count);
        pcre2_match_data_free(found);
        if (one != PATTERN_NO) /* too costly, unless a later alternative says yes */
            answer = one;
    }
    free(copy);
    return answer;
}

static enum pattern_match match_any(const struct pattern *pattern, struct str subject)
{
    enum pattern_match answer = PATTERN_NO;
    pcre2_match_data  *found = pcre2_match_data_create(1, NULL);

    if (!found)
        arena_out_of_memory(0);
    for (size_t i = 0; i < pattern->count && answer != PATTERN_YES; i++) {
        enum pattern_match one = match_one(pattern, pattern->codes[i], subject, found);

        if (one != PATTERN_NO) /* too costly, unless a later alternative says yes */
            answer = one;
    }
    pcre2_match_data_free(found);
    return answer;
}

static void refuse(struct experience *experience, struct str subject)
{
    struct str part = str_slice(subject, 0, REFUSED_BYTES);

    if (atomic_flag_test_and_set(&experience->is_refusing))
        return;
    experience->refused_bytes = part.len;
    if (part.len)
        memcpy(experience->refused, part.data, part.len);
    atomic_store(&experience->has_refused, true);
}

enum pattern_match pattern_matches(const struct pattern *pattern, struct str subject)
{
    struct str         readable = subject;
    enum pattern_match answer;
    char              *copy;

    if (pattern->is_everything)
        return PATTERN_YES;
    if (atomic_load(&pattern->experience->has_refused))
        return PATTERN_TOO_COSTLY;
    count_use(pattern, subject);
    make_readable(&readable, &copy);
    answer = match_any(pattern, readable);
    free(copy);
    if (answer == PATTERN_TOO_COSTLY)
        refuse(pattern->experience, subject);
    return answer;
}

bool pattern_settled(const struct pattern *pattern, struct err *err)
{
    const struct experience *experience = pattern->experience;

    if (!atomic_load(&experience->has_refused))
        return true;
    err_set(err, ERR_USAGE, "the pattern '%.*s' is too costly for the name '%.*s'",
            (int)(pattern->text.len < 200 ? pattern->text.len : 200), pattern->text.data,
            (int)experience->refused_bytes, experience->refused);
    return err_advise(err, "back references and repeats of repeats, such as (a|b*)*, cost most");
}
