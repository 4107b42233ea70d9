/* diff_items: rules about a row that both profiles have, or one that took another's place. */
#include "gate/judge.h"

#include "base/str.h"
#include "model/profile.h"

#include <string.h>

static const double SLOWER = 1.05;

static const struct item_list *before_list(const struct judging *judging, enum item_kind kind)
{
    return &judging->before->items[kind];
}

static const struct item_list *after_list(const struct judging *judging, enum item_kind kind)
{
    return &judging->after->items[kind];
}

static struct change start(const char *rule, enum item_kind kind, const struct item *before,
                           const struct item *after)
{
    return (struct change) {
        .rule = rule,
        .noun = item_kind_noun(kind),
        .name = after->name,
        .group = after->group,
        .file = after->file,
        .line = after->line,
        .how = CHANGE_MORE,
        .before_ns = before->ns,
        .after_ns = after->ns,
        .before_count = before->count,
        .after_count = after->count,
    };
}

/* The only row of an op that the other list does not have; NULL: none or several. */
static const struct item *only_unmatched(const struct item_list *list,
                                         const struct item_list *other, const char *group)
{
    const struct item *found = NULL;

    for (size_t i = 0; i < list->rows.count; i++) {
        const struct item *item = &list->rows.items[i];

        if (strcmp(item->group, group) != 0 || item_find(other, item))
            continue;
        if (found)
            return NULL;
        found = item;
    }
    return found;
}

static bool find_substituted(struct judging *judging)
{
    const struct item_list *before = before_list(judging, ITEM_KERNEL);
    const struct item_list *after = after_list(judging, ITEM_KERNEL);

    for (size_t i = 0; i < after->rows.count; i++) {
        const struct item *item = &after->rows.items[i], *was;
        struct change      change;

        if (!item->group[0] || only_unmatched(after, before, item->group) != item)
            continue;
        was = only_unmatched(before, after, item->group);
        if (!was || was->count <= 0 || item->count <= 0 || was->ns <= 0 ||
            item->ns / item->count < SLOWER * was->ns / was->count)
            continue;
        change = start("kernel-substituted", ITEM_KERNEL, was, item);
        change.title =
            arena_text(judging->arena, "%s: %s instead of %s, %.3gx slower", item->group,
                       item->name, was->name, (item->ns / item->count) / (was->ns / was->count));
        if (!judge_change(judging, change))
            return false;
    }
    return true;
}

static bool has_trait(const struct item_list *list, const char *group, const char *trait)
{
    for (size_t i = 0; i < list->rows.count; i++)
        if (strcmp(list->rows.items[i].group, group) == 0 &&
            strcmp(list->rows.items[i].trait, trait) == 0)
            return true;
    return false;
}

static bool find_lost_cores(struct judging *judging)
{
    const struct item_list *before = before_list(judging, ITEM_KERNEL);
    const struct item_list *after = after_list(judging, ITEM_KERNEL);

    for (size_t i = 0; i < after->rows.count; i++) {
        const struct item *item = &after->rows.items[i];
        struct item        none = { 0 };
        struct change      change = start("tensor-core-lost", ITEM_KERNEL, &none, item);

        if (!item->group[0] || strcmp(item->trait, "no") != 0 ||
            !has_trait(before, item->group, "yes") || has_trait(before, item->group, "no") ||
            has_trait(after, item->group, "yes"))
            continue;
        change.title = arena_text(judging->arena, "%s no longer runs on tensor cores: %s",
                                  item->group, item->name);
        if (!judge_change(judging, change))
            return false;
    }
    return true;
}

static unsigned bits_of(const char *name)
{
    for (int dtype = 0; dtype < DTYPE_COUNT; dtype++)
        if (strcmp(dtype_name((enum dtype)dtype), name) == 0)
            return dtype_bits((enum dtype)dtype);
    return 0;
}

/* One change for all of them: they have one cause. Rows are by time, so the first is the largest.
 */
static bool find_widened(struct judging *judging)
{
    const struct item_list *after = after_list(judging, ITEM_OP);
    const struct item      *largest = NULL, *largest_was = NULL;
    struct change           change;
    size_t                  count = 0;

    for (size_t i = 0; i < after->rows.count; i++) {
        const struct item *item = &after->rows.items[i];
        const struct item *was = item_find(before_list(judging, ITEM_OP), item);
        unsigned           bits = was ? bits_of(was->dtype) : 0;

        if (bits == 0 || bits_of(item->dtype) <= bits || bits_of(item->dtype) > 64)
            continue;
        largest_was = count == 0 ? was : largest_was;
        largest = count++ == 0 ? item : largest;
    }
    if (!largest)
        return true;
    change = start("dtype-widened", ITEM_OP, largest_was, largest);
    change.title =
        count == 1
            ? arena_text(judging->arena, "%s computes in %s, was %s", largest->name, largest->dtype,
                         largest_was->dtype)
            : arena_text(judging->arena, "%s and %zu other ops compute in wider types: %s, was %s",
                         largest->name, count - 1, largest->dtype, largest_was->dtype);
    return judge_change(judging, change);
}

static bool is_fused(const char *name)
{
    static const char words[] =
        "*fus*|*Fus*|*flash*|*scaled_dot_product*|*triton_*|*layer_norm*|*foreach*|"
        "*multi_tensor*|*gelu*";

    return str_fits(str_from(name), words);
}

/* The largest fused row that the other list lacks. */
static const struct item *fused_only_in(const struct item_list *list, const struct item_list *other)
{
    for (size_t i = 0; i < list->rows.count; i++)
        if (is_fused(list->rows.items[i].name) && !item_find(other, &list->rows.items[i]))
            return &list->rows.items[i];
    return NULL;
}

static double calls_only_in(const struct item_list *list, const struct item_list *other,
                            size_t *row_count)
{
    double calls = 0;

    for (size_t i = 0; i < list->rows.count; i++) {
        if (item_find(other, &list->rows.items[i]))
            continue;
        calls += list->rows.items[i].count;
        ++*row_count;
    }
    return calls;
}

/* A fused row that only `whole` has, where `parts` has several others with more calls. */
static bool find_fusion(struct judging *judging, enum item_kind kind, bool is_lost)
{
    const struct item_list *before = before_list(judging, kind), *after = after_list(judging, kind);
    const struct item_list *whole = is_lost ? before : after, *parts = is_lost ? after : before;
    const struct item      *fused = fused_only_in(whole, parts);
    struct item             none = { .name = "", .group = "", .file = "" };
    size_t                  part_count = 0, whole_count = 0;
    double                  calls = calls_only_in(parts, whole, &part_count);
    struct change           change;

    if (!fused || part_count < 2 || calls <= calls_only_in(whole, parts, &whole_count))
        return true;
    change = is_lost ? start("fusion-lost", kind, fused, &none)
                     : start("fusion-gained", kind, &none, fused);
    change.name = fused->name;
    change.how = is_lost ? CHANGE_GONE : CHANGE_NEW;
    change.title = is_lost ? arena_text(judging->arena,
                                        "%s is gone; %.0f calls of %zu other %ss "
                                        "a step took its place",
                                        fused->name, calls, part_count, change.noun)
                           : arena_text(judging->arena, "%s took the place of %.0f calls a step",
                                        fused->name, calls);
    return judge_change(judging, change);
}

bool judge_items(struct judging *judging)
{
    static const enum item_kind kinds[] = { ITEM_KERNEL, ITEM_OP };

    for (size_t i = 0; i < ARRAY_COUNT(kinds); i++)
        if (!find_fusion(judging, kinds[i], true) || !find_fusion(judging, kinds[i], false))
            return false;
    return find_substituted(judging) && find_lost_cores(judging) && find_widened(judging);
}
