/*
 * pattern: a comma list of regexes, whole-string match (RE2's full match as tfprof means it), on
 * PCRE2 with JIT and limits. Commas inside {}, [] and () do not split. ".*" alone is everything.
 * Patterns are UTF-8, and so are the texts they are asked of: there a byte that belongs to no letter
 * counts as one letter, U+001A. A match that costs too much is reported, never "no match".
 */
#ifndef TFPROF_BASE_PATTERN_H
#define TFPROF_BASE_PATTERN_H

#include "base/arena.h"
#include "base/err.h"
#include "base/str.h"

struct pattern; /* owned by the caller, freed by pattern_free */

enum pattern_kind {
    PATTERN_WHOLE,  /* the string is matched from start to end */
    PATTERN_SEARCH, /* a match anywhere */
    PATTERN_OF_ONE, /* the same, for one thread alone and mostly few subjects: cheaper to make */
};
/* is_list splits at commas. ERR_USAGE with the offset and PCRE2's message for a bad pattern. */
struct pattern *pattern_new(struct str text, enum pattern_kind kind, bool is_list, struct err *err);
void            pattern_free(struct pattern *pattern); /* accepts NULL */
enum pattern_match { PATTERN_NO, PATTERN_YES, PATTERN_TOO_COSTLY };
/* Yes and no in time that grows with the length of the subject, but for back references. After a
 * match that was too costly every other is too: ask pattern_settled once when all names are through. */
enum pattern_match pattern_matches(const struct pattern *pattern, struct str subject);
/* False, ERR_USAGE with the pattern and the name, when pattern_matches ever gave up. */
bool pattern_settled(const struct pattern *pattern, struct err *err);
/* Captures of the first alternative that matches: spans[2*i], spans[2*i+1] of group i, up to
 * max_spans groups; *count groups are set; unset ones are SIZE_MAX. For PATTERN_SEARCH from `from`. */
enum pattern_match pattern_find(const struct pattern *pattern, struct str subject, size_t from,
                                size_t *spans, size_t max_spans, size_t *count);

#endif
