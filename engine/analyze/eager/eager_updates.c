/* eager_updates.c: see eager_updates.h. */
#include "analyze/eager/eager_updates.h"
#include "analyze/eager/eager_kinds.h"
#include "base/macros.h"
#include "base/sample.h"
#include "base/sort.h"

#include <stdlib.h>

enum {
    FEWEST_PARAMETERS = 16, /* fewer are no loop */
    WRITTEN_OF_5 = 4        /* parts of five of the parameters that a loop writes */
};

struct mark { /* a backward node, or a forward call that one is for, by time */
    int64_t  start_ns;
    uint32_t window;
    bool     is_node;
};
struct finder {
    const struct profile     *profile;
    const struct eager_calls *calls;
    struct arena             *scratch;
    struct eager_updates     *updates;
    struct eager_kind        *kinds; /* by interned name */
    struct mark              *marks;
    size_t                    mark_count;
    double                    parameters; /* gradients handed over in a pass */
    VEC(double) by_hand;                  /* each call with the pause behind it */
};

static bool is_product(struct finder *finder, const struct eager_call *call)
{
    struct eager_kind *kind = &finder->kinds[call->type];

    if (!kind->is_known)
        *kind = eager_kind_of(eager_base_name(profile_str(finder->profile, call->type)));
    return kind->traits & IS_PRODUCT;
}

static bool is_trained(const struct eager_call *call)
{
    return call->phase == PHASE_FORWARD && call->backward_ns > 0;
}

static int compare_marks(const void *a, const void *b)
{
    const struct mark *left = a, *right = b;

    return COMPARE(left->start_ns, right->start_ns);
}

static bool list_marks(struct finder *finder)
{
    const struct eager_calls *calls = finder->calls;

    finder->marks =
        arena_new_array(finder->scratch, struct mark, calls->list.count + calls->nodes.count + 1);
    if (!finder->marks)
        return false;
    for (size_t i = 0; i < calls->list.count; i++)
        if (is_trained(&calls->list.items[i]))
            finder->marks[finder->mark_count++] =
                (struct mark) { calls->list.items[i].start_ns, calls->list.items[i].window, false };
    for (size_t i = 0; i < calls->nodes.count; i++)
        finder->marks[finder->mark_count++] =
            (struct mark) { event_start_ns(finder->profile, calls->nodes.items[i].event),
                            calls->nodes.items[i].window, true };
    if (finder->mark_count > 1)
        qsort(finder->marks, finder->mark_count, sizeof *finder->marks, compare_marks);
    return true;
}

/* A pass begins with the first node behind a call. */
static void count_passes(struct finder *finder)
{
    for (size_t i = 0; i < finder->mark_count; i++)
        finder->updates->passes +=
            finder->marks[i].is_node && (i == 0 || !finder->marks[i - 1].is_node);
}

/* Every thread numbers its calls by itself; and where the backward pass is recorded, gradients of
 * gradients go back over the same calls again. */
static bool may_compare(const struct eager_calls *calls)
{
    uint32_t timeline = NO_ID;

    for (size_t i = 0; i < calls->list.count; i++) {
        if (calls->list.items[i].phase == PHASE_BACKWARD && calls->list.items[i].sequence >= 0)
            return false;
        if (!is_trained(&calls->list.items[i]))
            continue;
        if (timeline != NO_ID && calls->list.items[i].timeline != timeline)
            return false;
        timeline = calls->list.items[i].timeline;
    }
    return true;
}

/* Nodes of one number and name are one node. */
static void count_again(struct finder *finder)
{
    const struct profile     *profile = finder->profile;
    const struct eager_calls *calls = finder->calls;

    if (!may_compare(calls))
        return;
    for (size_t i = 1; i < calls->nodes.count; i++) {
        const struct eager_node *node = &calls->nodes.items[i], *before = node - 1;

        if (node->sequence < 0 || node->sequence != before->sequence ||
            event_activity(profile, node->event)->name !=
                event_activity(profile, before->event)->name)
            continue;
        finder->updates->again_nodes++;
        finder->updates->again_event = node->event;
        finder->updates->again_ns += eager_node_ns(calls, node);
    }
}

/* Is the last mark before the call, in its step, a node? */
static bool is_behind_backward(const struct finder *finder, const struct eager_call *call)
{
    size_t low = LOWER_BOUND(finder->mark_count, i, finder->marks[i].start_ns < call->start_ns);

    return low > 0 && finder->marks[low - 1].is_node &&
           finder->marks[low - 1].window == call->window;
}

/* Calls [first, end) of one thread and step. Where norms are taken, gradients are clipped. */
static bool count_run(struct finder *finder, size_t first, size_t end)
{
    const struct eager_call *calls = finder->calls->list.items;
    double                   writes = 0, norms = 0, work_ns = 0, host_ns;

    for (size_t i = first; i < end; i++) {
        struct str name = profile_str(finder->profile, calls[i].type);

        writes += str_ends(name, STR("_"));
        norms += str_ends(name, STR("norm"));
        work_ns += calls[i].work_ns;
    }
    if (writes * 5 < finder->parameters * WRITTEN_OF_5 || norms * 2 > finder->parameters)
        return true;
    host_ns = (double)(calls[end - 1].end_ns - calls[first].start_ns);
    if (!finder->calls->is_on_device)
        work_ns = host_ns;
    finder->updates->by_hand_host_ns += host_ns;
    finder->updates->by_hand_calls += (double)(end - first);
    finder->updates->by_hand_source = calls[first].source;
    finder->updates->by_hand_writes += writes;
    finder->updates->by_hand_ns += work_ns;
    for (size_t i = first; i < end; i++) {
        double ns = finder->calls->is_on_device ? calls[i].work_ns
                    : i + 1 < end ? (double)(calls[i + 1].start_ns - calls[i].start_ns)
                                  : (double)(calls[i].end_ns - calls[i].start_ns);

        if (!vec_push(&finder->by_hand, finder->scratch, ns))
            return false;
    }
    return true;
}

static bool may_update(struct finder *finder, const struct eager_call *call)
{
    return call->phase == PHASE_FORWARD && call->backward_ns <= 0 && !is_product(finder, call) &&
           is_behind_backward(finder, call);
}

/* Other programs hold one up now and then: a tenth of the calls does not count. */
static bool count_by_hand(struct finder *finder)
{
    const struct eager_call *calls = finder->calls->list.items;
    size_t                   count = finder->calls->list.count;

    if (finder->parameters < FEWEST_PARAMETERS)
        return true;
    for (size_t first = 0, end; first < count; first = end) {
        end = first + 1;
        if (!may_update(finder, &calls[first]))
            continue;
        while (end < count && calls[end].timeline == calls[first].timeline &&
               calls[end].window == calls[first].window && may_update(finder, &calls[end]))
            end++;
        if (!count_run(finder, first, end))
            return false;
    }
    if (finder->by_hand.count)
        finder->updates->by_hand_call_ns =
            sample_quantile(finder->by_hand.items, finder->by_hand.count, 0.9);
    return true;
}

/* Rows of a left operand: all its dimensions but the last. */
static bool count_rows(struct finder *finder)
{
    const struct profile *profile = finder->profile;
    double *rows = arena_new_array(finder->scratch, double, finder->calls->list.count + 1);
    size_t  count = 0;

    if (!rows)
        return false;
    for (size_t i = 0; i < finder->calls->list.count; i++) {
        const struct eager_call *call = &finder->calls->list.items[i];
        const struct tensor     *left;

        if (!is_trained(call) || !is_product(finder, call) ||
            eager_product_flops(profile, call->op) <= 0)
            continue;
        left = &profile->tensors.items[profile->ops.items[call->op].first_input];
        rows[count] = 1;
        for (int8_t j = 0; j + 1 < left->rank; j++)
            rows[count] *= (double)left->dims[j];
        count++;
    }
    finder->updates->product_rows = sample_median(rows, count);
    return true;
}

bool eager_updates_find(const struct study *study, const struct eager_calls *calls,
                        struct arena *scratch, struct eager_updates *updates)
{
    struct finder finder = {
        .profile = study->profile, .calls = calls, .scratch = scratch, .updates = updates
    };

    *updates = (struct eager_updates) { .by_hand_source = NO_ID, .again_event = NO_ID };
    finder.kinds =
        arena_new_array(scratch, struct eager_kind, (size_t)study->profile->names.count + 1);
    if (!finder.kinds || !list_marks(&finder) || !count_rows(&finder))
        return false;
    count_passes(&finder);
    count_again(&finder);
    if (updates->passes > 0)
        finder.parameters = calls->accumulated.count / updates->passes;
    return count_by_hand(&finder);
}
