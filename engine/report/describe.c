/* describe: what text and JSON have in common. */
#include "report/describe.h"

#include "analyze/study.h"
#include "base/sort.h"
#include "report/layout.h"
#include "rules/advice.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const char *format_title(enum profile_format format)
{
    static const char *const titles[] = { "tfprof profile", "TensorFlow graph", "XSpace",
                                          "Kineto trace" };

    return titles[format];
}

const char *device_kind_name(enum device_kind kind)
{
    switch (kind) {
    case DEVICE_CPU:
        return "cpu";
    case DEVICE_GPU:
        return "gpu";
    case DEVICE_TPU:
        return "tpu";
    case DEVICE_OTHER:
        return "other";
    }
    return "other";
}

const char *timeline_kind_name(enum timeline_kind kind)
{
    switch (kind) {
    case TIMELINE_THREAD:
        return "thread";
    case TIMELINE_STREAM:
        return "stream";
    case TIMELINE_OPS:
        return "ops";
    case TIMELINE_MODULES:
        return "modules";
    case TIMELINE_STEPS:
        return "steps";
    case TIMELINE_DERIVED:
        return "derived";
    case TIMELINE_OTHER:
        return "other";
    }
    return "other";
}

enum part part_from_name(struct str name)
{
    for (int part = 0; part < PART_COUNT; part++)
        if (str_equal(name, str_from(part_name((enum part)part))))
            return (enum part)part;
    return PART_UNKNOWN;
}

bool study_composition(const struct study *study, double part_ns[PART_COUNT])
{
    bool has_any = false;

    for (int part = 0; part < PART_COUNT; part++) {
        if (facts_get(&study->facts, part_ns_fact((enum part)part), &part_ns[part]))
            has_any |= part_ns[part] > 0;
        else
            part_ns[part] = 0;
    }
    return has_any;
}

struct str note_words(struct arena *arena, const struct note *note)
{
    struct text words = { .arena = arena };

    if (note->where && *note->where)
        text_print(&words, "%s: ", note->where);
    text_print(&words, "%s", note->what ? note->what : "");
    if (note->count > 1)
        text_print(&words, " (%llu times)", (unsigned long long)note->count);
    return text_str(&words);
}

bool finding_is_priced(const struct finding *finding)
{
    return finding->impact.has_saving;
}

bool finding_is_fixable(const struct finding *finding)
{
    return finding->impact.has_saving && !finding->impact.resource;
}

bool finding_is_small(const struct finding *finding, double min_share)
{
    return finding_is_priced(finding) && finding->impact.share < min_share &&
           !finding->impact.resource && finding->severity != SEVERITY_VETO;
}

bool finding_is_shown(const struct finding *finding, double min_share)
{
    return !finding->hidden_by && !finding_is_small(finding, min_share);
}

struct step_range study_step_range(const struct study *study)
{
    struct step_range range = { 0 };

    for (size_t i = 0; i < study->steps.list.count; i++) {
        const struct step *step = &study->steps.list.items[i];

        if (step->host != study->steps.host)
            continue;
        range.count++;
        if (!step->is_used) {
            range.left_out++;
            continue;
        }
        if (range.used++ == 0)
            range.first = step->number;
        range.last = step->number;
    }
    return range;
}

static int skip_group_compare(const void *left, const void *right)
{
    const struct skip_group *a = left, *b = right;

    return IN_ORDER(COMPARE(b->count, a->count), strcmp(a->reason, b->reason));
}

bool skip_groups_collect(const struct advice *advice, struct arena *scratch,
                         struct skip_groups *groups)
{
    for (size_t i = 0; i < advice->skipped.count; i++) {
        const char *reason = advice->skipped.items[i].reason;
        size_t      at = 0;

        if (advice->skipped.items[i].is_other_format)
            continue;
        while (at < groups->list.count && strcmp(groups->list.items[at].reason, reason) != 0)
            at++;
        if (at == groups->list.count &&
            !vec_push(&groups->list, scratch, (struct skip_group) { .reason = reason }))
            return false;
        groups->list.items[at].count++;
    }
    if (groups->list.count > 0)
        qsort(groups->list.items, groups->list.count, sizeof *groups->list.items,
              skip_group_compare);
    return true;
}

/* A bound whose end is further from the time that its evidence names than this says why. */
static const double MORE_THAN_NAMED = 1.1;

struct str finding_saving(struct arena *arena, const struct impact *impact)
{
    struct text text = { .arena = arena };

    if (!impact->has_saving)
        return text_str(&text);
    text_add(&text, impact->method == METHOD_SHARE ? STR("may save up to ") : STR("saves "));
    text_add(&text,
             layout_range(arena, impact->method == METHOD_SHARE ? impact->high_ns : impact->low_ns,
                          impact->high_ns, UNIT_NS));
    if (impact->resource) {
        text_print(&text, " (%s)", impact->resource);
        return text_str(&text);
    }
    text_add(&text, STR(" a step"));
    /* as of an op by which a longer row of ops goes: the range holds what was saved elsewhere */
    if (impact->method == METHOD_SHARE && impact->high_ns > MORE_THAN_NAMED * impact->most_ns)
        text_add(&text, STR(", with what depends on it"));
    if (isfinite(impact->share) && impact->method != METHOD_SHARE) {
        text_add(&text, STR(" ("));
        unit_print(&text, impact->share, UNIT_SHARE);
        text_add(&text, STR(")"));
    }
    return text_str(&text);
}

const char *finding_message(const struct finding *finding, struct arena *arena)
{
    const struct impact *impact = &finding->impact;

    if (!impact->has_saving || impact->resource)
        return finding->title;
    return arena_text(arena, "%s; fixing it %.*s", finding->title,
                      STR_ARG(finding_saving(arena, impact)));
}
