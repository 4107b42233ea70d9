/* eager_validation.c: see eager_validation.h. */
#include "analyze/eager/eager_validation.h"

#include "analyze/eager/eager_kinds.h"

struct finder {
    const struct profile     *profile;
    const struct eager_calls *calls;
    struct arena             *scratch;
    struct eager_kind        *kinds;       /* by name */
    int64_t                  *update_ends; /* by window */
    struct eager_validation  *found;
};

static uint16_t traits_of(struct finder *finder, uint32_t type)
{
    struct eager_kind *kind = &finder->kinds[type];

    if (!kind->is_known)
        *kind = eager_kind_of(eager_base_name(profile_str(finder->profile, type)));
    return kind->traits;
}

static uint64_t weight_key(const struct finder *finder, const struct eager_call *call)
{
    const struct op *op = call->op != NO_ID ? &finder->profile->ops.items[call->op] : NULL;
    uint64_t         hash = call->type;

    if (!op || op->input_count < 2)
        return 0;
    for (uint32_t i = 1; i < op->input_count; i++) {
        const struct tensor *tensor = &finder->profile->tensors.items[op->first_input + i];

        for (int8_t j = 0; j < tensor->rank; j++)
            hash = (hash ^ (uint64_t)tensor->dims[j]) * 0x100000001b3u ^ (hash >> 29);
    }
    return hash;
}

/* Where each window's last update ends; INT64_MAX: it has none. */
static bool find_update_ends(struct finder *finder)
{
    size_t windows = finder->calls->windows.count;

    finder->update_ends = arena_new_array(finder->scratch, int64_t, windows + 1);
    for (size_t w = 0; finder->update_ends && w < windows; w++)
        finder->update_ends[w] = INT64_MAX;
    for (size_t i = 0; finder->update_ends && i < finder->calls->ranges.count; i++) {
        const struct eager_range *range = &finder->calls->ranges.items[i];
        int64_t                  *end_ns;

        if (range->phase != PHASE_UPDATE || range->window >= windows)
            continue;
        end_ns = &finder->update_ends[range->window];
        *end_ns = *end_ns == INT64_MAX || range->end_ns > *end_ns ? range->end_ns : *end_ns;
    }
    return finder->update_ends != NULL;
}

/* Calls [first, end) of one thread and step. Behind the update each trained product runs again, and
 * nothing is drawn: no new experience is made. */
static bool count_validation(struct finder *finder, size_t first, size_t end)
{
    const struct eager_call *calls = finder->calls->list.items;
    int64_t                  update_ns = finder->update_ends[calls[first].window];
    struct id_map            trained = { .arena = finder->scratch };
    size_t                   begin = end, keys = 0, products = 0, last = first;

    for (size_t i = first; i < end && update_ns != INT64_MAX; i++) {
        uint64_t key = weight_key(finder, &calls[i]);
        uint32_t row;

        if (calls[i].start_ns >= update_ns && traits_of(finder, calls[i].type) & IS_DRAW)
            return true;
        if (!(traits_of(finder, calls[i].type) & IS_PRODUCT) || key == 0)
            continue;
        row = id_map_get(&trained, key);
        if (calls[i].phase == PHASE_FORWARD && calls[i].backward_ns > 0 &&
            calls[i].start_ns < update_ns) {
            if (row == NO_ID && !id_map_put(&trained, key, (uint32_t)keys++))
                return false;
            last = i;
        } else if (eager_is_unrecorded(&calls[i]) && calls[i].start_ns >= update_ns &&
                   row != NO_ID) {
            begin = products++ == 0 ? i : begin;
        }
    }
    if (keys == 0 || products < keys)
        return true;
    finder->found->begin = (uint32_t)begin;
    finder->found->trained = (uint32_t)last;
    finder->found->products += (double)products;
    finder->found->ns += eager_span(finder->calls, begin, end);
    return true;
}

bool eager_validation_find(const struct study *study, const struct eager_calls *calls,
                           struct arena *scratch, struct eager_validation *found)
{
    struct finder finder = {
        .profile = study->profile, .calls = calls, .scratch = scratch, .found = found
    };
    const struct eager_call *list = calls->list.items;
    size_t                   count = calls->list.count;

    *found = (struct eager_validation) { .begin = NO_ID };
    finder.kinds =
        arena_new_array(scratch, struct eager_kind, (size_t)study->profile->names.count + 1);
    if (!finder.kinds || !find_update_ends(&finder))
        return false;
    for (size_t first = 0, end; first < count; first = end) {
        end = first + 1;
        while (end < count && eager_is_together(&list[first], &list[end]))
            end++;
        if (!count_validation(&finder, first, end))
            return false;
    }
    return true;
}
