#include "model/interval.h"

#include "base/macros.h"
#include "base/sort.h"

bool intervals_add(struct intervals *set, struct arena *arena, int64_t start_ns, int64_t end_ns)
{
    struct interval item = { start_ns, end_ns };

    return end_ns <= start_ns || vec_push(&set->list, arena, item);
}

int interval_compare(const void *a, const void *b)
{
    const struct interval *left = a, *right = b;

    return IN_ORDER(COMPARE(left->start_ns, right->start_ns), COMPARE(left->end_ns, right->end_ns));
}

void intervals_settle(struct intervals *set)
{
    size_t count = 0;
    bool   is_sorted = true;

    for (size_t i = 1; i < set->list.count && is_sorted; i++)
        is_sorted = set->list.items[i - 1].start_ns <= set->list.items[i].start_ns;
    if (!is_sorted)
        sort_stretches(set->list.items, set->list.count, sizeof *set->list.items, interval_compare);
    for (size_t i = 0; i < set->list.count; i++) {
        struct interval item = set->list.items[i];

        if (count > 0 && item.start_ns <= set->list.items[count - 1].end_ns) {
            if (item.end_ns > set->list.items[count - 1].end_ns)
                set->list.items[count - 1].end_ns = item.end_ns;
            continue;
        }
        set->list.items[count++] = item;
    }
    set->list.count = count;
}

int64_t intervals_total_ns(const struct intervals *set)
{
    int64_t total_ns = 0;

    for (size_t i = 0; i < set->list.count; i++)
        total_ns += set->list.items[i].end_ns - set->list.items[i].start_ns;
    return total_ns;
}

/* First range that ends behind `time_ns`. */
static size_t first_behind(const struct intervals *set, int64_t time_ns)
{
    return LOWER_BOUND(set->list.count, i, set->list.items[i].end_ns <= time_ns);
}

int64_t intervals_overlap_ns(const struct intervals *set, int64_t start_ns, int64_t end_ns)
{
    int64_t total_ns = 0;

    for (size_t i = first_behind(set, start_ns);
         i < set->list.count && set->list.items[i].start_ns < end_ns; i++)
        total_ns += int64_least(set->list.items[i].end_ns, end_ns) -
                    int64_most(set->list.items[i].start_ns, start_ns);
    return total_ns;
}

int64_t *intervals_sums(const struct intervals *set, struct arena *arena)
{
    int64_t *sums = arena_new_array(arena, int64_t, set->list.count + 1);

    for (size_t i = 0; sums && i < set->list.count; i++)
        sums[i + 1] = sums[i] + set->list.items[i].end_ns - set->list.items[i].start_ns;
    return sums;
}

/* Only the first and the last one may be cut. */
int64_t intervals_overlap_by(const struct intervals *set, const int64_t *sums, int64_t start_ns,
                             int64_t end_ns)
{
    const struct interval *items = set->list.items;
    size_t                 first = first_behind(set, start_ns);
    size_t                 end = LOWER_BOUND(set->list.count, i, items[i].start_ns < end_ns);

    if (first >= end)
        return 0;
    return sums[end] - sums[first] -
           (int64_most(items[first].start_ns, start_ns) - items[first].start_ns) -
           (items[end - 1].end_ns - int64_least(items[end - 1].end_ns, end_ns));
}

bool intervals_intersect(const struct intervals *a, const struct intervals *b, struct arena *arena,
                         struct intervals *result)
{
    size_t i = 0, j = 0;

    *result = (struct intervals) { 0 };
    while (i < a->list.count && j < b->list.count) {
        struct interval left = a->list.items[i], right = b->list.items[j];

        if (!intervals_add(result, arena, int64_most(left.start_ns, right.start_ns),
                           int64_least(left.end_ns, right.end_ns)))
            return false;
        if (left.end_ns <= right.end_ns)
            i++;
        else
            j++;
    }
    return true;
}

bool intervals_subtract(const struct intervals *a, const struct intervals *b, struct arena *arena,
                        struct intervals *result)
{
    size_t j = 0;

    *result = (struct intervals) { 0 };
    for (size_t i = 0; i < a->list.count; i++) {
        struct interval rest = a->list.items[i];

        while (j < b->list.count && b->list.items[j].end_ns <= rest.start_ns)
            j++;
        for (size_t k = j; k < b->list.count && b->list.items[k].start_ns < rest.end_ns; k++) {
            if (!intervals_add(result, arena, rest.start_ns, b->list.items[k].start_ns))
                return false;
            rest.start_ns = int64_most(rest.start_ns, b->list.items[k].end_ns);
            j = k;
        }
        if (!intervals_add(result, arena, rest.start_ns, rest.end_ns))
            return false;
    }
    return true;
}
