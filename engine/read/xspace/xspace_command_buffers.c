/* XLA puts kernels into command buffers, graphs of CUDA that it replays, and records each of them
 * under the buffer's name. The program's schedule tells which instruction is which kernel. */
#include "read/xspace/xspace_align.h"
#include "read/xspace/xspace_decode.h"
#include "read/xspace/xspace_relabel.h"

#include "base/sort.h"

#include <stdlib.h>

struct node {        /* an event of a replay */
    uint32_t buffer; /* row of ops that stands for the command buffer */
    int64_t  replay; /* correlation */
    int64_t  start_ns;
    uint32_t event;
};
struct plan { /* of a program */
    struct align_step *steps;
    size_t             count;
    struct id_map      named; /* name of a kernel -> row of ops */
};
struct buffers {
    struct profile            *profile;
    const struct xspace_tasks *tasks;
    struct arena               scratch;
    struct id_map              plan_of; /* program -> row of plans, or NO_PLAN */
    VEC(struct plan) plans;
    VEC(struct node) nodes;
    VEC(uint32_t) paired;    /* of rows of kernels that were seen: ops */
    struct id_map  known;    /* print of such a row -> index in paired */
    struct id_map  alone;    /* ops that have events of their own */
    size_t         compared; /* steps times kernels so far */
    struct relabel relabel;
};
static const uint32_t NO_PLAN = UINT32_MAX - 1;
/* Steps times kernels of all replays that are paired, about a second: kernels of graphs that run
 * side by side come in another order each time, and then each replay is another one. */
enum { MOST_COMPARED = 1 << 28 };

static bool is_buffer(const struct profile *profile, uint32_t row)
{
    return row < profile->ops.count && profile->ops.items[row].module &&
           str_starts(profile_str(profile, profile->ops.items[row].name), STR("command_buffer"));
}

static bool add_node(struct buffers *buffers, uint32_t event, uint32_t op)
{
    struct node node = { .buffer = op,
                         .start_ns = event_start_ns(buffers->profile, event),
                         .event = event };

    if (!profile_stat(buffers->profile, STAT_CORRELATION, event, &node.replay))
        return true;
    return vec_push(&buffers->nodes, &buffers->scratch, node);
}

/* Setting memory is part of calls of libraries, and no time. */
static bool collect(struct buffers *buffers)
{
    const struct profile *profile = buffers->profile;

    for (size_t t = 0; t < profile->timelines.count; t++) {
        const struct timeline *timeline = &profile->timelines.items[t];

        for (uint32_t i = 0; timeline->kind == TIMELINE_STREAM && i < timeline->event_count; i++) {
            uint32_t               event = timeline->first_event + i;
            const struct activity *activity = event_activity(profile, event);

            if (activity->op == NO_ID || activity->kind == ACTIVITY_MEMSET)
                continue;
            if (is_buffer(profile, activity->op) ? !add_node(buffers, event, activity->op)
                                                 : !id_map_put(&buffers->alone, activity->op, 1))
                return false;
        }
    }
    return true;
}

static int in_order(const void *a, const void *b)
{
    const struct node *left = a, *right = b;

    return IN_ORDER(COMPARE(left->buffer, right->buffer), COMPARE(left->replay, right->replay),
                    COMPARE(left->start_ns, right->start_ns), COMPARE(left->event, right->event));
}

/* What the compiler calls the kernel of an instruction; NO_ID: no name of the recording. */
static uint32_t kernel_name(const struct profile *profile, uint32_t op)
{
    struct str name = profile_str(profile, profile->ops.items[op].name);
    char       text[256];

    if (name.len > sizeof text)
        return NO_ID;
    for (size_t i = 0; i < name.len; i++) {
        char letter = name.data[i];
        bool is_plain = (letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z') ||
                        (letter >= '0' && letter <= '9') || letter == '_' || letter == '$';

        text[i] = is_plain ? letter : '_';
    }
    return intern_find(&profile->names, (struct str) { text, name.len });
}

/* Instructions that have events of their own are not in a command buffer. */
static bool make_plan(struct buffers *buffers, const struct hlo_order *order, struct plan *plan)
{
    const struct hlo_step *steps = &buffers->tasks->edges.steps.items[order->first];

    plan->named.arena = &buffers->scratch;
    plan->steps = arena_new_array(&buffers->scratch, struct align_step, order->count);
    if (!plan->steps)
        return false;
    for (size_t i = 0; i < order->count; i++) {
        uint32_t name = kernel_name(buffers->profile, steps[i].op);

        if (id_map_get(&buffers->alone, steps[i].op) != NO_ID)
            continue;
        plan->steps[plan->count++] = align_step_of(buffers->profile, &steps[i]);
        if (name != NO_ID && id_map_get(&plan->named, name) == NO_ID &&
            !id_map_put(&plan->named, name, steps[i].op))
            return false;
    }
    return true;
}

/* Row of plans; NO_PLAN: the program has no schedule. NO_ID: the budget. */
static uint32_t plan_of(struct buffers *buffers, uint32_t program)
{
    uint32_t    row = id_map_get(&buffers->plan_of, program);
    struct plan plan = { 0 };

    if (row != NO_ID)
        return row;
    row = NO_PLAN;
    for (size_t i = 0; i < buffers->tasks->edges.orders.count && row == NO_PLAN; i++)
        if (buffers->tasks->edges.orders.items[i].program == program) {
            if (!make_plan(buffers, &buffers->tasks->edges.orders.items[i], &plan) ||
                !vec_push(&buffers->plans, &buffers->scratch, plan))
                return NO_ID;
            row = (uint32_t)buffers->plans.count - 1;
        }
    return id_map_put(&buffers->plan_of, program, row) ? row : NO_ID;
}

/* Which steps have a kernel that is called after them is a matter of this replay. */
static bool pair(struct buffers *buffers, struct plan *plan, const struct node *nodes, size_t count,
                 uint32_t *ops)
{
    struct arena         scratch = { .budget_bytes = buffers->scratch.budget_bytes };
    struct id_map        seen = { .arena = &scratch };
    struct align_kernel *kernels = arena_new_array(&scratch, struct align_kernel, count);
    bool                 ok = kernels != NULL;

    for (size_t i = 0; ok && i < count; i++) {
        const struct activity *activity = event_activity(buffers->profile, nodes[i].event);

        kernels[i] =
            align_kernel_of(buffers->profile, activity, id_map_get(&plan->named, activity->name));
        ok = kernels[i].op == NO_ID || id_map_put(&seen, kernels[i].op, 1);
    }
    for (size_t i = 0; ok && i < plan->count; i++)
        plan->steps[i].is_named = id_map_get(&seen, plan->steps[i].op) != NO_ID;
    ok = ok && align_kernels(plan->steps, plan->count, kernels, count, ops, &scratch);
    arena_free(&scratch);
    return ok;
}

/* Replays of the same kernels are paired once; past what may be compared none are. NULL: the
 * budget. */
static const uint32_t *paired_ops(struct buffers *buffers, uint32_t plan, const struct node *nodes,
                                  size_t count)
{
    uint64_t print = hash_mix(plan, nodes[0].buffer);
    uint32_t at;

    for (size_t i = 0; i < count; i++)
        print = hash_mix(print, event_activity_id(buffers->profile, nodes[i].event));
    print = hash_mix(print, count);
    at = id_map_get(&buffers->known, print);
    if (at == NO_ID) {
        at = (uint32_t)buffers->paired.count;
        for (size_t i = 0; i < count; i++)
            if (!vec_push(&buffers->paired, &buffers->scratch, NO_ID))
                return NULL;
        buffers->compared += count * buffers->plans.items[plan].count;
        if ((buffers->compared <= MOST_COMPARED &&
             !pair(buffers, &buffers->plans.items[plan], nodes, count,
                   &buffers->paired.items[at])) ||
            !id_map_put(&buffers->known, print, at))
            return NULL;
    }
    return &buffers->paired.items[at];
}

static bool settle(struct buffers *buffers, const struct node *nodes, size_t count)
{
    const struct op *buffer = &buffers->profile->ops.items[nodes[0].buffer];
    uint32_t         plan = plan_of(buffers, buffer->program);
    const uint32_t  *ops;

    if (plan == NO_ID || plan == NO_PLAN)
        return plan == NO_PLAN;
    ops = paired_ops(buffers, plan, nodes, count);
    if (!ops)
        return false;
    for (size_t i = 0; i < count; i++)
        if (ops[i] != NO_ID &&
            !xspace_relabel(&buffers->relabel, nodes[i].event, ops[i], COPY_NONE))
            return false;
    return true;
}

static bool settle_all(struct buffers *buffers)
{
    size_t next;

    if (!collect(buffers))
        return false;
    if (buffers->nodes.count)
        qsort(buffers->nodes.items, buffers->nodes.count, sizeof *buffers->nodes.items, in_order);
    for (size_t first = 0; first < buffers->nodes.count; first = next) {
        const struct node *node = &buffers->nodes.items[first];

        for (next = first; next < buffers->nodes.count; next++)
            if (buffers->nodes.items[next].buffer != node->buffer ||
                buffers->nodes.items[next].replay != node->replay)
                break;
        if (!settle(buffers, node, next - first))
            return false;
    }
    return true;
}

bool xspace_command_buffers(const struct xspace_tasks *tasks, struct profile *profile)
{
    struct buffers buffers = { .profile = profile, .tasks = tasks };
    bool           ok = true;

    if (tasks->edges.orders.count == 0)
        return true;
    buffers.scratch.budget_bytes = profile->arena->budget_bytes;
    buffers.plan_of.arena = buffers.known.arena = buffers.alone.arena = &buffers.scratch;
    buffers.relabel = (struct relabel) { .profile = profile, .label_of.arena = &buffers.scratch };
    ok = settle_all(&buffers);
    arena_free(&buffers.scratch);
    return ok;
}
