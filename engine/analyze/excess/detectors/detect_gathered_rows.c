/* gathered_rows: several devices gather what each made a part of, and then each works on all of it.
 * Weights are gathered too, but are there before; a product of the forward pass may need all; and
 * rows that are only written into an array, as gradients of looked-up rows are into a table that
 * every device has, are needed by all of them.
 */
#include "analyze/excess/ledger.h"
#include "model/op_graph.h"

enum { MOST_GATHERS = 32, FARTHEST_SCATTER = 4 };

struct gather {
    uint32_t op;
    uint32_t order; /* what puts the own part in order for it, or NO_ID */
    double   parts; /* elements of the result over those that went in */
    uint32_t cell;
};
struct finder {
    struct ledger        *ledger;
    const struct profile *profile;
    struct gather         gathers[MOST_GATHERS];
    size_t                count;
};

static bool computes(const struct compiled *compiled, uint32_t op)
{
    return compiled_works(compiled, op) && compiled->op_class[op] != OP_CAST &&
           compiled->op_class[op] != OP_COPY;
}

/* Behind what only hands on or puts in another order: a parameter is there before the step. */
static bool is_made(const struct finder *finder, uint32_t op)
{
    const struct compiled *compiled = &finder->ledger->compiled;
    enum { FARTHEST = 16 };

    for (int i = 0; i < FARTHEST && !computes(compiled, op); i++) {
        uint32_t      inside = compiled->root[op];
        struct op_ids producers =
            op_graph_producers(finder->profile->graph, inside == NO_ID ? op : inside);

        if (!producers.count)
            return false;
        op = producers.ids[0];
    }
    return computes(compiled, op);
}

static bool is_forward_product(const struct finder *finder, uint32_t op)
{
    const struct op *row = &finder->profile->ops.items[op];
    enum op_class    op_class = (enum op_class)finder->ledger->compiled.op_class[op];

    return (op_class == OP_PRODUCT || op_class == OP_CONVOLUTION) &&
           !str_contains(profile_str(finder->profile, row->origin), STR("transpose("));
}

static bool feeds_product(const struct finder *finder, uint32_t op)
{
    struct op_ids consumers = op_graph_consumers(finder->profile->graph, op);

    for (size_t i = 0; i < consumers.count; i++)
        if (is_forward_product(finder, consumers.ids[i]))
            return true;
    return false;
}

static bool is_scatter(const struct finder *finder, uint32_t op)
{
    const struct compiled *compiled = &finder->ledger->compiled;
    uint32_t               root = compiled->root[op];

    return compiled_is_type(compiled, root == NO_ID ? op : root, "scatter");
}

/* Whether all that is made of a result, number by number, ends in scatters. */
static bool feeds_scatters(const struct finder *finder, uint32_t op, int farthest)
{
    const struct compiled *compiled = &finder->ledger->compiled;
    struct op_ids          consumers = op_graph_consumers(finder->profile->graph, op);
    bool                   ok = consumers.count > 0 && farthest > 0;

    for (size_t i = 0; ok && i < consumers.count; i++) {
        uint32_t taker = consumers.ids[i];

        if (compiled_timed(compiled, taker) != taker)
            continue; /* held by another consumer, which is looked at */
        ok = is_scatter(finder, taker) ||
             (compiled_elements(compiled, taker) == compiled_elements(compiled, op) &&
              feeds_scatters(finder, taker, farthest - 1));
    }
    return ok;
}

static const struct tensor *result_of(const struct finder *finder, uint32_t op)
{
    const struct op *row = &finder->profile->ops.items[op];

    return row->output_count ? &finder->profile->tensors.items[row->first_output] : NULL;
}

static void list_gathers(struct finder *finder)
{
    for (uint32_t op = 0; op < finder->profile->ops.count && finder->count < MOST_GATHERS; op++) {
        const struct op *row = &finder->profile->ops.items[op];
        struct op_ids    producers = op_graph_producers(finder->profile->graph, op);
        double           in, out;

        if (!compiled_is_type(&finder->ledger->compiled, op, "all-gather") || !row->input_count ||
            !row->output_count || producers.count != 1 || !is_made(finder, producers.ids[0]) ||
            feeds_product(finder, op) || feeds_scatters(finder, op, FARTHEST_SCATTER))
            continue;
        in = tensor_elements(&finder->profile->tensors.items[row->first_input]);
        out = tensor_elements(result_of(finder, op));
        if (in > 0 && out >= 2 * in)
            finder->gathers[finder->count++] =
                (struct gather) { .op = op,
                                  .order =
                                      finder->ledger->compiled.op_class[producers.ids[0]] == OP_COPY
                                          ? producers.ids[0]
                                          : NO_ID,
                                  .parts = out / in,
                                  .cell = NO_ID };
    }
}

/* The gather that a unit waits in, or whose whole result it works on. */
static struct gather *gather_of(struct finder *finder, const struct work_unit *unit)
{
    const struct path *path = finder->ledger->path;
    uint32_t           op = unit->op;

    for (uint32_t f = unit->frame; op == NO_ID && f != NO_ID; f = path->frames.items[f].parent)
        op = event_activity(finder->profile, path->frames.items[f].event)->op;
    for (size_t i = 0; op != NO_ID && i < finder->count; i++) {
        const struct op     *row = &finder->profile->ops.items[op];
        const struct tensor *all = result_of(finder, finder->gathers[i].op);

        if (op == finder->gathers[i].op || op == finder->gathers[i].order)
            return &finder->gathers[i];
        if (row->program != finder->profile->ops.items[finder->gathers[i].op].program)
            continue;
        for (uint32_t t = 0; t < row->input_count + row->output_count; t++)
            if (same_dims(&finder->profile->tensors.items[row->first_input + t], all))
                return &finder->gathers[i];
    }
    return NULL;
}

static bool find(struct ledger *ledger, const struct detector *self)
{
    struct finder finder = { .ledger = ledger, .profile = ledger->study->profile };

    if (!finder.profile->graph || finder.profile->format != FORMAT_XSPACE)
        return true;
    list_gathers(&finder);
    for (size_t u = 0; finder.count && u < ledger->units.count; u++) {
        struct work_unit *unit = &ledger->units.items[u];
        struct gather    *gather = unit->kind == UNIT_PAUSE ? NULL : gather_of(&finder, unit);

        if (!gather)
            continue;
        if (!ledger_cell_once(
                ledger, self, unit, &gather->cell, "each of %.0f devices has all of %.60s",
                gather->parts,
                profile_str(finder.profile, finder.profile->ops.items[gather->op].name).data))
            return false;
        ledger_claim(ledger, gather->cell, unit,
                     unit->part == PART_COMMUNICATION || unit->op == gather->order
                         ? 1
                         : 1 - 1 / gather->parts);
    }
    return true;
}

const struct detector detector_gathered_rows = { "gathered-rows", CAUSE_REPEAT, GRADE_SIZES, find };
