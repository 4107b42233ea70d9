#include "analyze/step/step_meaning.h"

#include "base/sample.h"
#include "base/text.h"
#include "base/unit.h"

struct str step_is_run(const struct study *study, const struct markers *markers)
{
    const struct profile *profile = study->profile;
    struct text           words = { .arena = study->arena };
    uint32_t event = markers->list.count ? markers->list.items[0].event : NO_ID, op = NO_ID;

    if (event != NO_ID)
        op = event_activity(profile, event)->op;
    if (op == NO_ID || !profile->ops.items[op].module)
        return STR("a run of the program that takes most time");
    text_print(&words, "a run of %s", profile_str(profile, profile->ops.items[op].module).data);
    return text_str(&words);
}

struct str step_is_call(const struct study *study, const struct markers *markers)
{
    struct text words = { .arena = study->arena };
    uint32_t    family = markers->list.count ? markers->list.items[0].family : 0;
    struct str  name =
        str_without_number(family ? intern_str(study->facts.names, family) : (struct str) { 0 });

    if (name.len == 0)
        return STR("a run of the session");
    text_print(&words, "a call of %.*s", STR_ARG(name));
    return text_str(&words);
}

struct str step_is_sessions(const struct study *study, size_t period)
{
    struct text words = { .arena = study->arena };

    if (period < 2)
        return STR("a run of the session");
    text_print(&words, "%zu runs of the session, one after the other", period);
    return text_str(&words);
}

struct str step_is_whole(const struct study *study, const struct markers *rounds,
                         struct arena *scratch)
{
    struct text words = { .arena = study->arena };
    double     *lengths = arena_new_array(scratch, double, rounds->list.count + 1);

    for (size_t i = 0; lengths && i < rounds->list.count; i++)
        lengths[i] = (double)(rounds->list.items[i].end_ns - rounds->list.items[i].start_ns);
    if (!lengths || !rounds->list.count)
        return STR("");
    text_print(&words, "%zu rounds of the same ops, ", rounds->list.count);
    unit_print(&words, sample_median(lengths, rounds->list.count), UNIT_NS);
    text_add(&words, STR(" each"));
    return text_str(&words);
}
