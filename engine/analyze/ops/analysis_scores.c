/*
 * scores: what attention that is spelled out costs in a compiled program. A batched product gives
 * out far more elements than it takes in (a score of each query with each key), work over as many
 * elements follows (scale, mask, softmax, or its gradient), and another product takes them in.
 * Fused attention never writes them. Found along the graph of instructions by their shapes; times
 * are those of accelerators, a used step.
 */
#include "analyze/analysis.h"
#include "analyze/emit.h"
#include "analyze/kernel/kernel_names.h"
#include "analyze/ops/op_times.h"
#include "model/hardware.h"
#include "model/op_graph.h"

enum scores_column {
    OP,
    NS,
    PRODUCT_NS,
    FUSED_NS,
    KEYS,
    ELEMENTS,
    SHAPES,
    SOURCE_FILE,
    SOURCE_LINE
};
static const struct column_spec columns[] = {
    [OP] = { "op", UNIT_NAME, "product that writes scores, of the backward pass too" },
    [NS] = { "ns", UNIT_NS, "time a step of it and of what works on its scores" },
    [PRODUCT_NS] = { "product_ns", UNIT_NS, "of that, in products" },
    [FUSED_NS] = { "fused_ns", UNIT_NS,
                   "what the products take in a fused form: at half of the device's peak for 16 "
                   "bits" },
    [KEYS] = { "keys", UNIT_COUNT, "keys that a query meets" },
    [ELEMENTS] = { "elements", UNIT_COUNT, "scores of one execution" },
    [SHAPES] = { "shapes", UNIT_NAME, "of the product" },
    [SOURCE_FILE] = { "source_file", UNIT_NAME, "file of the user's program" },
    [SOURCE_LINE] = { "source_line", UNIT_COUNT, "line in it" },
};
static const struct table_spec tables[] = {
    { "score_products", "scores of attention that accelerators write and read again", columns,
      ARRAY_COUNT(columns) },
};
/* Scores outnumber queries and keys by the keys over twice the width of a head. A layer of experts
 * widens its inputs by less than four: by its hidden width over the width of a token. */
static const double FUSED_RATE = 0.5; /* of the peak, which fused attention reaches, backward too */
enum { MOST_WALKED = 64, FEWEST_RANK = 3, LEAST_GROWTH = 4, LEAST_SHRINK = 2 };

struct searching {
    struct study *study;
    struct arena *scratch;
    double       *ns;         /* by op, a step, on accelerators */
    double       *fused_ns;   /* by op: its operations at what a fused form reaches; 0 unknown */
    bool         *is_counted; /* by op: its time is in a row already */
    uint32_t     *seen;       /* by op: the product whose walk met it last, + 1 */
};
struct walk { /* from one product that writes scores */
    double   elements;
    uint32_t ops[MOST_WALKED]; /* it, and what reads as many elements behind it */
    bool     is_product[MOST_WALKED];
    size_t   count;
    bool     has_end; /* a product takes the scores in */
};

static bool has_tensor(const struct profile *profile, uint32_t first, uint32_t count,
                       double elements)
{
    for (uint32_t i = 0; i < count; i++)
        if (tensor_elements(&profile->tensors.items[first + i]) == elements)
            return true;
    return false;
}

/* Libraries' calls and fusions are named after the framework's op that they do. */
static bool is_product(const struct profile *profile, const struct op *op)
{
    return op_is_product(profile_str(profile, op->type)) ||
           op_is_product(profile_str(profile, op->name)) ||
           str_ends(profile_str(profile, op->origin), STR("dot_general"));
}

/* Scores that a batched product gives out; 0: it is none, or they are few. What it takes in of the
 * same size is fused onto its results: a mask, the weights that scale a gradient. */
static double scores_of(const struct profile *profile, const struct op *op)
{
    const struct tensor *inputs = &profile->tensors.items[op->first_input];
    const struct tensor *output = &profile->tensors.items[op->first_output];
    double               taken = 0, given = op->output_count ? tensor_elements(output) : 0;
    int                  batched = 0;

    if (given <= 0 || output->rank < FEWEST_RANK || !is_product(profile, op))
        return 0;
    for (uint32_t i = 0; i < op->input_count; i++) {
        double elements = tensor_elements(&inputs[i]);

        if (elements == given)
            continue;
        taken += elements;
        batched += elements > 1 && inputs[i].rank >= FEWEST_RANK;
        if (elements > 1 && inputs[i].rank == FEWEST_RANK - 1)
            return 0; /* a matrix of weights */
    }
    return batched >= 2 && given >= LEAST_GROWTH * taken ? given : 0;
}

static bool takes_scores_in(const struct profile *profile, const struct op *op, double elements)
{
    return op->output_count > 0 && is_product(profile, op) &&
           tensor_elements(&profile->tensors.items[op->first_output]) * LEAST_SHRINK <= elements;
}

/* What reads the scores, and what reads what has as many elements behind that. */
static void follow(struct searching *searching, uint32_t start, struct walk *walk)
{
    const struct profile *profile = searching->study->profile;

    walk->ops[0] = start;
    walk->is_product[0] = true;
    walk->count = 1;
    searching->seen[start] = start + 1;
    for (size_t at = 0; at < walk->count; at++) {
        const struct op *from = &profile->ops.items[walk->ops[at]];
        struct op_ids    next = op_graph_consumers(profile->graph, walk->ops[at]);

        if (at > 0 && (walk->is_product[at] || !has_tensor(profile, from->first_output,
                                                           from->output_count, walk->elements)))
            continue;
        for (size_t i = 0; i < next.count && walk->count < MOST_WALKED; i++) {
            uint32_t         id = next.ids[i];
            const struct op *op = &profile->ops.items[id];

            if (searching->seen[id] == start + 1 ||
                !has_tensor(profile, op->first_input, op->input_count, walk->elements))
                continue;
            searching->seen[id] = start + 1;
            walk->ops[walk->count] = id;
            walk->is_product[walk->count] = takes_scores_in(profile, op, walk->elements);
            walk->has_end |= walk->is_product[walk->count];
            walk->count++;
        }
    }
}

static bool emit(struct searching *searching, struct table *table, const struct walk *walk)
{
    struct study         *study = searching->study;
    const struct profile *profile = study->profile;
    const struct op      *op = &profile->ops.items[walk->ops[0]];
    const struct tensor  *scores = &profile->tensors.items[op->first_output];
    uint32_t              shapes = emit_shapes(study, op), source;
    double                ns = 0, product_ns = 0, fused_ns = 0;
    size_t                row;

    for (size_t i = 0; i < walk->count; i++) {
        uint32_t id = walk->ops[i];

        if (searching->is_counted[id])
            continue;
        searching->is_counted[id] = true;
        ns += searching->ns[id];
        product_ns += walk->is_product[i] ? searching->ns[id] : 0;
        fused_ns += walk->is_product[i] ? searching->fused_ns[id] : 0;
    }
    if (ns <= 0)
        return true;
    row = table_add(table, study->arena);
    if (row == SIZE_MAX || shapes == NO_ID)
        return false;
    emit_name(table, OP, row, op->name);
    emit_number(table, NS, row, ns);
    emit_number(table, PRODUCT_NS, row, product_ns);
    if (fused_ns > 0)
        emit_number(table, FUSED_NS, row, fused_ns);
    emit_number(table, KEYS, row, (double)scores->dims[scores->rank - 1]);
    emit_number(table, ELEMENTS, row, walk->elements);
    emit_name(table, SHAPES, row, shapes);
    source = profile_user_source(profile, op->source);
    emit_source(profile, table, SOURCE_FILE, row, source);
    return true;
}

/* Operations of an op a step over the rate that fused attention has on its device. */
static double fused_time(const struct profile *profile, const struct op_time *time, double steps)
{
    const struct device   *device = &profile->devices.items[time->device];
    struct hardware        made;
    const struct hardware *hardware = hardware_of(profile, device, &made);
    double                 peak =
        hardware ? hardware_peak_flops_per_s(hardware, hardware_half_type(profile, device)) : 0;
    double flops = (double)profile->ops.items[time->op].flops;

    return peak > 0 && flops > 0 ? 1e9 * flops * time->calls / steps / (FUSED_RATE * peak) : 0;
}

/* Time on accelerators, by op. */
static bool find_times(struct searching *searching)
{
    const struct profile *profile = searching->study->profile;
    struct op_times       times;

    searching->ns = arena_new_array(searching->scratch, double, profile->ops.count);
    searching->fused_ns = arena_new_array(searching->scratch, double, profile->ops.count);
    searching->is_counted = arena_new_array(searching->scratch, bool, profile->ops.count);
    searching->seen = arena_new_array(searching->scratch, uint32_t, profile->ops.count);
    if (!searching->ns || !searching->fused_ns || !searching->is_counted || !searching->seen ||
        !op_times_make(searching->study, searching->scratch, &times))
        return false;
    for (size_t i = 0; i < times.count; i++) {
        const struct op_time *time = &times.rows[i];

        if (time->op >= profile->ops.count || time->device == NO_ID ||
            profile->devices.items[time->device].kind == DEVICE_CPU)
            continue;
        searching->ns[time->op] += time->self_ns / times.step_count;
        searching->fused_ns[time->op] += fused_time(profile, time, times.step_count);
    }
    return true;
}

static bool examine(struct searching *searching)
{
    const struct profile *profile = searching->study->profile;
    struct table         *table = facts_table(&searching->study->facts, &tables[0]);

    if (!table || !find_times(searching))
        return false;
    for (uint32_t id = 0; id < profile->graph->vertex_count; id++) {
        const struct op *op = &profile->ops.items[id];
        struct walk      walk = { .count = 0 };

        if (searching->ns[id] <= 0)
            continue;
        walk.elements = scores_of(profile, op);
        if (walk.elements <= 0)
            continue;
        follow(searching, id, &walk);
        if (walk.has_end && !emit(searching, table, &walk))
            return false;
    }
    return true;
}

static bool run(struct study *study, struct err *err)
{
    struct arena     scratch = { 0 };
    struct searching searching = { .study = study, .scratch = &scratch };
    bool             is_done = true;

    if (study->profile->format == FORMAT_XSPACE && study->profile->graph)
        is_done = examine(&searching);
    arena_free(&scratch);
    return is_done || emit_limit("the scores of attention", err);
}

const struct analysis analysis_scores = {
    .name = "scores",
    .summary = "scores of attention that a compiled program writes and reads again",
    .tables = tables,
    .table_count = ARRAY_COUNT(tables),
    .run = run,
};
