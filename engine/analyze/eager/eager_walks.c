/* eager_walks.c: see eager_walks.h. */
#include "analyze/eager/eager_walks.h"
#include "base/macros.h"

enum {
    FEWEST_WALKS = 6, /* back over one call in a step: a few are derivatives of a formula */
    NEEDED_WALKS = 2  /* for a derivative that the loss holds, and for its own gradient */
};

struct finder {
    const struct profile     *profile;
    const struct eager_calls *calls;
    struct eager_walks       *walks;
    double                   *most; /* by window */
};

static double left_out(double count)
{
    return 1 - NEEDED_WALKS / count;
}

static bool is_same_node(const struct finder *finder, const struct eager_node *a,
                         const struct eager_node *b)
{
    return a->sequence >= 0 && a->sequence == b->sequence && a->window == b->window &&
           event_activity(finder->profile, a->event)->name ==
               event_activity(finder->profile, b->event)->name;
}

/* Nodes of one number and name are one node that runs again. */
static void count_again(struct finder *finder)
{
    const struct eager_node *nodes = finder->calls->nodes.items;
    size_t                   count = finder->calls->nodes.count;

    for (size_t first = 0, end; first < count; first = end) {
        double *most = &finder->most[nodes[first].window], times;

        for (end = first + 1; end < count && is_same_node(finder, &nodes[first], &nodes[end]);)
            end++;
        times = (double)(end - first);
        if (times < FEWEST_WALKS)
            continue;
        for (size_t i = first; i < end; i++)
            finder->walks->ns += eager_node_ns(finder->calls, &nodes[i]) * left_out(times);
        *most = times > *most ? times : *most;
        finder->walks->event = nodes[first].event;
        finder->walks->most = times > finder->walks->most ? times : finder->walks->most;
    }
}

/* Each walk makes calls of its own where gradients of gradients are wanted: passes go over those as
 * often. */
static void count_made(struct finder *finder)
{
    const struct eager_calls *calls = finder->calls;
    const struct eager_node  *nodes = calls->nodes.items;

    for (size_t i = 0; i < calls->list.count; i++) {
        const struct eager_call *call = &calls->list.items[i];
        double                   most = finder->most[call->window];
        size_t                   at;

        if (call->phase != PHASE_BACKWARD || call->sequence < 0 || most <= 0)
            continue;
        at = LOWER_BOUND(calls->nodes.count, n, nodes[n].sequence < call->sequence);
        for (; at < calls->nodes.count && nodes[at].sequence == call->sequence; at++)
            finder->walks->ns += eager_node_ns(calls, &nodes[at]) * left_out(most);
    }
}

bool eager_walks_find(const struct study *study, const struct eager_calls *calls,
                      struct arena *scratch, struct eager_walks *walks)
{
    struct finder finder = { .profile = study->profile, .calls = calls, .walks = walks };

    *walks = (struct eager_walks) { .event = NO_ID };
    finder.most = arena_new_array(scratch, double, calls->windows.count + 1);
    if (!finder.most)
        return false;
    count_again(&finder);
    if (walks->most > 0)
        count_made(&finder);
    return true;
}
