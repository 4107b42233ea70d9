/* changes: what explains a difference: the parts of the step, and the ops, kernels and call sites
 * that are not as they were. */
#include "gate/judge.h"

#include "base/sort.h"
#include "base/str.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double SMALL_SHARE = 0.005; /* of the step: smaller changes are not listed */
enum { MOST_CHANGES = 40 };

static int by_size(const void *left, const void *right)
{
    const struct part_change *a = left, *b = right;

    return IN_ORDER(COMPARE(fabs(b->after_ns - b->before_ns), fabs(a->after_ns - a->before_ns)),
                    COMPARE(a->part, b->part));
}

bool judge_parts(struct judging *judging)
{
    struct gate_result *result = judging->result;
    double              before_ns[PART_COUNT], after_ns[PART_COUNT];

    double grain_ns = part_grain_ns(fmax(result->before_ns, result->after_ns));

    if (!result->has_step ||
        !summary_parts(judging->before, result->before_ns, grain_ns, before_ns) ||
        !summary_parts(judging->after, result->after_ns, grain_ns, after_ns))
        return true;
    for (int part = 0; part < PART_COUNT; part++) {
        struct part_change change = { (enum part)part, before_ns[part], after_ns[part] };

        if ((before_ns[part] > 0 || after_ns[part] > 0) &&
            !vec_push(&result->parts, judging->arena, change))
            return false;
    }
    if (result->parts.count > 1)
        qsort(result->parts.items, result->parts.count, sizeof *result->parts.items, by_size);
    return true;
}

/* Rules on a row that appeared; NULL: none is about its kind. */
static const char *rule_for_new(enum item_kind kind)
{
    switch (kind) {
    case ITEM_SYNC:
        return "new-sync";
    case ITEM_COPY:
        return "new-copy";
    case ITEM_PATH:
    case ITEM_OP:
    case ITEM_KERNEL:
    case ITEM_COLLECTIVE:
    case ITEM_KIND_COUNT:
        break;
    }
    return NULL;
}

static struct change start_change(const struct item *item, enum item_kind kind)
{
    return (struct change) {
        .noun = item_kind_noun(kind),
        .name = item->name,
        .group = item->group,
        .file = item->file,
        .line = item->line,
        .remedy = "",
    };
}

bool judge_change(struct judging *judging, struct change change)
{
    const struct diff_rule *rule = change.rule ? diff_rule_find(change.rule) : NULL;

    if (rule) {
        change.severity = rule->severity;
        change.remedy = rule->remedy;
    }
    judge_fingerprint(change.fingerprint, change.rule ? change.rule : change.noun, change.name,
                      change.file);
    if (change.title)
        change.title = judge_in_unit(judging, change.title);
    return change.title && vec_push(&judging->result->changes, judging->arena, change);
}

static const char *name_of(struct judging *judging, const struct item *item, enum item_kind kind)
{
    if (!item->name[0])
        return arena_text(judging->arena, "%s outside any recorded event",
                          item->group[0] ? item->group : "time");
    if (kind == ITEM_COPY && item->group[0])
        return arena_text(judging->arena, "%s %s", item->group, item->name);
    return item->name;
}

static bool add_changed(struct judging *judging, enum item_kind kind, const struct item *before,
                        const struct item *after)
{
    struct change change = start_change(after, kind);
    const char   *name = name_of(judging, after, kind);

    change.before_ns = before->ns;
    change.after_ns = after->ns;
    change.before_count = before->count;
    change.after_count = after->count;
    change.how = after->ns > before->ns ? CHANGE_MORE : CHANGE_LESS;
    change.title = arena_text(judging->arena, "%s: %s a step, was %s", name ? name : "",
                              judge_value(judging->arena, after->ns, UNIT_NS),
                              judge_value(judging->arena, before->ns, UNIT_NS));
    return judge_change(judging, change);
}

static bool add_new(struct judging *judging, enum item_kind kind, const struct item *after)
{
    struct change change = start_change(after, kind);
    const char   *name = name_of(judging, after, kind);

    change.rule = rule_for_new(kind);
    change.how = CHANGE_NEW;
    change.after_ns = after->ns;
    change.after_count = after->count;
    change.title =
        arena_text(judging->arena, "new %s %s: %s a step, %s times", item_kind_noun(kind),
                   name ? name : "", judge_value(judging->arena, after->ns, UNIT_NS),
                   judge_value(judging->arena, after->count, UNIT_COUNT));
    return judge_change(judging, change);
}

static bool add_gone(struct judging *judging, enum item_kind kind, const struct item *before)
{
    struct change change = start_change(before, kind);
    const char   *name = name_of(judging, before, kind);

    change.how = CHANGE_GONE;
    change.before_ns = before->ns;
    change.before_count = before->count;
    change.title = arena_text(judging->arena, "gone: %s %s, was %s a step", item_kind_noun(kind),
                              name ? name : "", judge_value(judging->arena, before->ns, UNIT_NS));
    return judge_change(judging, change);
}

/* A list that was cut says nothing about what is smaller than its last row. */
static bool is_surely_absent(const struct item_list *list, const struct item *item)
{
    return list->is_complete || list->rows.count == 0 ||
           item->ns > 1.5 * list->rows.items[list->rows.count - 1].ns;
}

/* Calls that occur in nearly each step, so that a rare one does not look new. */
static bool is_regular(const struct item *item)
{
    return item->count >= 0.5;
}

/* "MatMul:_MklMatMul" of a path is the op "MatMul". */
static bool is_of(const char *piece, struct str op)
{
    struct str name = str_from(piece ? piece : "");

    return op.len > 0 && str_starts(name, op) && (name.len == op.len || name.data[op.len] == ':');
}

/* A piece of the step's change says what became of this. */
static bool is_said(const struct judging *judging, const struct item *item)
{
    for (size_t i = 0; i < judging->result->pieces.count; i++) {
        const struct piece *piece = &judging->result->pieces.items[i];

        if (is_of(piece->was, str_from(item->name)) || is_of(piece->is, str_from(item->name)))
            return true;
    }
    return false;
}

static bool compare_lists(struct judging *judging, enum item_kind kind, double small_ns)
{
    const struct item_list *before = &judging->before->items[kind];
    const struct item_list *after = &judging->after->items[kind];
    bool                    is_site = rule_for_new(kind) != NULL;

    for (size_t i = 0; i < after->rows.count; i++) {
        const struct item *item = &after->rows.items[i], *was = item_find(before, item);

        if (!is_site && is_said(judging, item))
            continue;
        if (was && fabs(item->ns - was->ns) >= small_ns &&
            fabs(item->ns - was->ns) >= 0.03 * fmax(item->ns, was->ns)) {
            if (!add_changed(judging, kind, was, item))
                return false;
        } else if (!was && is_surely_absent(before, item) &&
                   (is_site ? is_regular(item) : item->ns >= small_ns) &&
                   !add_new(judging, kind, item)) {
            return false;
        }
    }
    for (size_t i = 0; i < before->rows.count; i++) {
        const struct item *item = &before->rows.items[i];

        if (item->ns >= small_ns && !item_find(after, item) && is_surely_absent(after, item) &&
            !is_said(judging, item) && !add_gone(judging, kind, item))
            return false;
    }
    return true;
}

static int by_weight(const void *left, const void *right)
{
    const struct change *a = left, *b = right;

    return IN_ORDER(COMPARE(!a->rule, !b->rule), a->rule ? COMPARE(b->severity, a->severity) : 0,
                    COMPARE(fabs(b->after_ns - b->before_ns), fabs(a->after_ns - a->before_ns)),
                    strcmp(a->title, b->title));
}

bool judge_changes(struct judging *judging)
{
    double step_ns = fmax(judging->result->before_ns, judging->result->after_ns);

    /* What lies on the path is said by pieces, where there are any. */
    for (int kind = 0; kind < ITEM_KIND_COUNT; kind++)
        if ((kind != ITEM_PATH || judging->result->pieces.count == 0) &&
            !compare_lists(judging, (enum item_kind)kind, SMALL_SHARE * step_ns))
            return false;
    if (!judge_items(judging) || !judge_rules(judging))
        return false;
    if (judging->result->changes.count > 0)
        qsort(judging->result->changes.items, judging->result->changes.count,
              sizeof *judging->result->changes.items, by_weight);
    if (judging->result->changes.count > MOST_CHANGES)
        judging->result->changes.count = MOST_CHANGES;
    return true;
}
