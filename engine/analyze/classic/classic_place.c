/* From collected nodes and execs to those of the model: by name, then step. */
#include "analyze/classic/classic_maker.h"
#include "base/sort.h"

#include <stdlib.h>

enum { NS_PER_MICRO = 1000 };

struct ordered {
    struct str name;
    uint32_t   row;
};

static int compare_names(const void *left, const void *right)
{
    const struct ordered *a = left, *b = right;
    int                   order = str_compare(a->name, b->name);

    return order ? order : (a->row > b->row) - (a->row < b->row);
}

static int compare_execs(const void *left, const void *right)
{
    const struct made_exec *a = left, *b = right;

    return IN_ORDER(COMPARE(a->node, b->node), COMPARE(a->step, b->step));
}

/* Nodes by name, each with an op of its own; place_of[row] is where a made node went. */
static bool place_nodes(struct maker *maker, struct classic *classic, uint32_t *place_of)
{
    struct profile *profile = maker->profile;
    size_t          count = maker->nodes.count;
    struct ordered *order = arena_new_array(&maker->scratch, struct ordered, count);

    if (!order || !vec_reserve(&classic->nodes, profile->arena, count) ||
        !vec_reserve(&profile->ops, profile->arena, count))
        return false;
    for (uint32_t i = 0; i < count; i++)
        order[i] = (struct ordered) { profile_str(profile, maker->nodes.items[i].name), i };
    if (count)
        qsort(order, count, sizeof *order, compare_names);
    for (uint32_t i = 0; i < count; i++) {
        const struct made_node *made = &maker->nodes.items[order[i].row];
        struct op               op = OP_UNKNOWN;
        struct classic_node     node = { .op = (uint32_t)profile->ops.count,
                                         .source = made->source,
                                         .device = made->device,
                                         .shape = NO_ID,
                                         .is_gradient = made->is_gradient };

        if (made->op != NO_ID)
            op = profile->ops.items[made->op];
        else
            op.source = made->source;
        op.name = made->name;
        op.type = made->type;
        op.module = 0;
        node.float_ops = op.flops >= 0 ? op.flops : FLOAT_OPS_UNKNOWN;
        classic->has_code |= made->source != NO_ID;
        place_of[order[i].row] = i;
        profile->ops.items[profile->ops.count++] = op;
        classic->nodes.items[classic->nodes.count++] = node;
    }
    return true;
}

static int64_t micros(int64_t ns)
{
    return ns > 0 ? (ns + NS_PER_MICRO / 2) / NS_PER_MICRO : 0;
}

static bool place_execs(struct maker *maker, struct classic *classic, const uint32_t *place_of)
{
    struct arena *arena = maker->profile->arena;

    if (!vec_reserve(&classic->execs, arena, maker->execs.count))
        return false;
    for (size_t i = 0; i < maker->execs.count; i++)
        maker->execs.items[i].node = place_of[maker->execs.items[i].node];
    if (maker->execs.count)
        qsort(maker->execs.items, maker->execs.count, sizeof *maker->execs.items, compare_execs);
    for (size_t i = 0; i < maker->execs.count; i++) {
        const struct made_exec *made = &maker->execs.items[i];
        struct classic_node    *node = &classic->nodes.items[made->node];
        struct classic_exec     exec = { .step = made->step };

        exec.sums[MEASURE_RUNS] = made->runs;
        exec.sums[MEASURE_CPU_MICROS] = micros(made->cpu_ns);
        exec.sums[MEASURE_ACCELERATOR_MICROS] = micros(made->accelerator_ns);
        exec.sums[MEASURE_EXEC_MICROS] =
            exec.sums[MEASURE_CPU_MICROS] + exec.sums[MEASURE_ACCELERATOR_MICROS];
        exec.sums[MEASURE_REQUESTED_BYTES] = made->allocated_bytes;
        exec.sums[MEASURE_RESIDUAL_BYTES] = made->kept_bytes;
        exec.start_micros = made->start_ns / NS_PER_MICRO;
        exec.end_micros = made->end_ns / NS_PER_MICRO;
        if (node->exec_count++ == 0)
            node->first_exec = (uint32_t)classic->execs.count;
        classic->execs.items[classic->execs.count++] = exec;
    }
    return true;
}

/* Steps by their numbers where those ascend, else by their place. Several hosts' steps of one
 * number are one. */
static bool place_steps(struct maker *maker, struct classic *classic)
{
    const struct steps *steps = &maker->study->steps;
    uint32_t *number_of = arena_new_array(&maker->scratch, uint32_t, steps->list.count + 1);
    int64_t   last = INT64_MIN;
    bool      is_numbered = true;
    uint32_t  count = 0, host = NO_ID;

    if (!number_of)
        return false;
    for (size_t i = 0; i < steps->list.count; i++) {
        const struct step *step = &steps->list.items[i];

        if (step->host != host)
            last = INT64_MIN;
        host = step->host;
        is_numbered &= step->number > last && step->number >= 0 && step->number < UINT32_MAX;
        last = step->number;
    }
    host = NO_ID;
    for (size_t i = 0; i < steps->list.count; i++) {
        const struct step *step = &steps->list.items[i];

        count = step->host == host ? count + 1 : 0;
        host = step->host;
        number_of[i] = is_numbered ? (uint32_t)step->number : count;
        if (step->is_used && !classic_has_step(classic, number_of[i]) &&
            !vec_push(&classic->steps, maker->profile->arena, number_of[i]))
            return false;
    }
    for (size_t i = 0; i < maker->execs.count; i++)
        maker->execs.items[i].step = number_of[maker->execs.items[i].step];
    return true;
}

/* Several hosts' execs of one node and step are summed. */
static void merge_execs(struct maker *maker)
{
    struct made_exec *execs = maker->execs.items;
    size_t            kept = 0;

    if (maker->execs.count)
        qsort(execs, maker->execs.count, sizeof *execs, compare_execs);
    for (size_t i = 0; i < maker->execs.count; i++) {
        struct made_exec *into = kept ? &execs[kept - 1] : NULL;

        if (!into || into->node != execs[i].node || into->step != execs[i].step) {
            execs[kept++] = execs[i];
            continue;
        }
        into->cpu_ns += execs[i].cpu_ns;
        into->accelerator_ns += execs[i].accelerator_ns;
        into->runs += execs[i].runs;
        into->allocated_bytes += execs[i].allocated_bytes;
        into->kept_bytes += execs[i].kept_bytes;
    }
    maker->execs.count = kept;
}

bool classic_place(struct maker *maker, struct classic *classic)
{
    uint32_t *place_of = arena_new_array(&maker->scratch, uint32_t, maker->nodes.count);

    classic->profile = maker->profile;
    if (!place_of || !place_steps(maker, classic))
        return false;
    merge_execs(maker);
    return place_nodes(maker, classic, place_of) && place_execs(maker, classic, place_of);
}
