/* eager_typical.c: see eager_typical.h. */
#include "analyze/eager/eager_typical.h"
#include "base/sample.h"
#include "base/sort.h"
#include "model/names.h"

#include <stdlib.h>
#include <string.h>

struct timing {
    uint32_t type, op, call;
    double   ns;
};

static int compare_timings(const void *a, const void *b)
{
    const struct timing *left = a, *right = b;

    return IN_ORDER(COMPARE(left->type, right->type), COMPARE(left->op, right->op),
                    COMPARE(left->ns, right->ns), COMPARE(left->call, right->call));
}

static bool is_view(struct str name)
{
    return name_is(name, NAMES_SMALL_VIEW);
}

/* The lower quartile: after long work the caches are cold, and views take as long as they miss. */
static double view_ns(const struct profile *profile, const struct timing *timings, size_t count,
                      double *numbers)
{
    enum { FEWEST_VIEWS = 8 };
    bool   counts = false;
    size_t found = 0;

    for (size_t i = 0; i < count; i++) {
        if (i == 0 || timings[i].type != timings[i - 1].type)
            counts = is_view(eager_base_name(profile_str(profile, timings[i].type)));
        if (counts)
            numbers[found++] = timings[i].ns;
    }
    if (found < FEWEST_VIEWS)
        return 0;
    return sample_quantile(numbers, found, 0.25);
}

bool eager_typical_make(const struct study *study, const struct eager_calls *calls,
                        struct arena *scratch, struct eager_typical *typical)
{
    size_t         count = calls->list.count;
    struct timing *timings = arena_new_array(scratch, struct timing, count + 1);
    double        *numbers = arena_new_array(scratch, double, count + 1);

    typical->call_ns = arena_new_array(scratch, double, count + 1);
    if (!timings || !numbers || !typical->call_ns)
        return false;
    for (size_t i = 0; i < count; i++) {
        const struct eager_call *call = &calls->list.items[i];

        timings[i] = (struct timing) { .type = call->type,
                                       .op = call->op,
                                       .call = (uint32_t)i,
                                       .ns = (double)(call->end_ns - call->start_ns) };
    }
    if (count > 1)
        qsort(timings, count, sizeof *timings, compare_timings);
    for (size_t first = 0, end; first < count; first = end) {
        for (end = first + 1; end < count && timings[end].type == timings[first].type &&
                              timings[end].op == timings[first].op;)
            end++;
        for (size_t i = first; i < end; i++)
            typical->call_ns[timings[i].call] = timings[first + (end - first) / 2].ns;
    }
    typical->view_ns = view_ns(study->profile, timings, count, numbers);
    return true;
}
