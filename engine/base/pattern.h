/*
 * pattern: a comma list of regexes, whole-string match (RE2's full match as tfprof means it), on
 * PCRE2 with JIT and limits. Commas inside {}, [] and () do not split. ".*" alone is everything.
 * A match that runs into a limit is reported, never "no match".
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
};
/* is_list splits at commas. ERR_USAGE with the offset and PCRE2's message for a bad pattern. */
struct pattern *pattern_new(struct str text, enum pattern_kind kind, bool is_list, struct err *err);
void            pattern_free(struct pattern *pattern); /* accepts NULL */
enum pattern_match { PATTERN_NO, PATTERN_YES, PATTERN_TOO_COSTLY };
enum pattern_match pattern_matches(const struct pattern *pattern, struct str subject);
/* Captures of the first alternative that matches: spans[2*i], spans[2*i+1] of group i, up to
 * max_spans groups; *count groups are set; unset ones are SIZE_MAX. For PATTERN_SEARCH from `from`. */
enum pattern_match pattern_find(const struct pattern *pattern, struct str subject, size_t from,
                                size_t *spans, size_t max_spans, size_t *count);

#endif
