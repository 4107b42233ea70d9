#include "rules/suppress.h"

#include "base/macros.h"
#include "base/option.h"
#include "base/pattern.h"

#include <string.h>

static bool is_found(const struct pattern *pattern, const char *text)
{
    return text && pattern_matches(pattern, str_from(text)) == PATTERN_YES;
}

static bool is_about(const struct suppression *suppression, const struct finding *finding,
                     bool *is_bad, struct err *err)
{
    const struct subject *subject = &finding->subject;
    const char *const     names[] = { subject->op, subject->kernel, subject->device, subject->host,
                                      subject->scope };
    struct pattern       *pattern;
    bool                  found = false;

    if (suppression->is_expired ||
        (suppression->rule && strcmp(suppression->rule, finding->rule) != 0) ||
        (suppression->fingerprint && strcmp(suppression->fingerprint, finding->fingerprint) != 0))
        return false;
    if (!suppression->subject)
        return true;
    pattern = pattern_new(str_from(suppression->subject), PATTERN_SEARCH, false, err);
    if (!pattern) {
        *is_bad = true;
        return false;
    }
    for (size_t i = 0; i < ARRAY_COUNT(names); i++)
        found |= is_found(pattern, names[i]);
    for (size_t i = 0; i < finding->locations.count; i++)
        found |= is_found(pattern, finding->locations.items[i].file);
    *is_bad |= !pattern_settled(pattern, err);
    pattern_free(pattern);
    return found && !*is_bad;
}

void suppress_know(struct suppressions *suppressions, const char *const *ids, size_t count)
{
    for (size_t i = 0; suppressions && i < suppressions->list.count; i++) {
        struct suppression *suppression = &suppressions->list.items[i];

        suppression->is_known = !suppression->rule;
        for (size_t j = 0; suppression->rule && j < count; j++)
            suppression->is_known |= strcmp(suppression->rule, ids[j]) == 0;
        if (!suppression->is_known)
            suppression->nearest = option_nearest(suppression->rule, ids, count);
    }
}

void suppress_looked(struct suppressions *suppressions, const char *rule)
{
    for (size_t i = 0; suppressions && i < suppressions->list.count; i++)
        suppressions->list.items[i].has_looked |=
            !suppressions->list.items[i].rule ||
            strcmp(suppressions->list.items[i].rule, rule) == 0;
}

struct suppression *suppress_find(struct suppressions *suppressions, const struct finding *finding,
                                  bool *is_bad, struct err *err)
{
    for (size_t i = 0; suppressions && i < suppressions->list.count; i++)
        if (is_about(&suppressions->list.items[i], finding, is_bad, err))
            return &suppressions->list.items[i];
    return NULL;
}
