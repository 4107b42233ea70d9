/* handed_on: compiled programs that run one after the other on an accelerator, where one writes a
 * large array that the next one passes over: one program of both would keep it on the chip. Only
 * passes that a compiler fuses count on both sides: no products, sorts or calls of libraries. What
 * the arrays have in common are shape and type. */
#include "analyze/excess/ledger.h"
#include "model/op_graph.h"

static const double LEAST_BYTES = 1 << 23; /* of an array: smaller ones stay in the nearest cache */
enum { FARTHEST = 4 };                     /* instructions that only hand on */

struct run { /* of a program: its units in a row, first and last */
    uint32_t first, last, program;
};
struct handing {
    struct ledger        *ledger;
    const struct profile *profile;
    uint8_t              *attrs;  /* by op: ATTR_… */
    double               *spared; /* by unit: part of its traffic */
    size_t                arrays;
    double                bytes;
};
enum { ATTR_ROOT = 1, ATTR_ENTRY = 2 };

static bool mark_ends(struct handing *handing)
{
    const struct profile *profile = handing->profile;

    handing->attrs = arena_new_array(handing->ledger->scratch, uint8_t, profile->ops.count + 1);
    for (size_t i = 0; handing->attrs && i < profile->ops.count; i++) {
        const struct op *op = &profile->ops.items[i];

        for (uint32_t n = 0; n < op->attr_count; n++) {
            struct str name = profile_str(profile, profile->attrs.items[op->first_attr + n].name);

            handing->attrs[i] |= str_equal(name, STR("root")) ? ATTR_ROOT : 0;
            handing->attrs[i] |= str_equal(name, STR("entry")) ? ATTR_ENTRY : 0;
        }
    }
    return handing->attrs != NULL;
}

/* What a compiler puts together with its neighbours. */
static bool is_pass(const struct handing *handing, const struct work_unit *unit)
{
    static const bool passes[OP_CLASS_COUNT] = {
        [OP_ELEMENTWISE] = true, [OP_CAST] = true, [OP_COPY] = true,  [OP_TRANSPOSE] = true,
        [OP_REDUCE] = true,      [OP_VIEW] = true, [OP_OTHER] = true,
    };

    return unit->kind == UNIT_OP && unit->op != NO_ID && unit->part == PART_COMPUTE &&
           passes[unit->op_class] &&
           !compiled_is_type(&handing->ledger->compiled, unit->op, "custom-call");
}

/* Whether the result of an op is one of its program's. */
static bool is_given(const struct handing *handing, uint32_t op)
{
    for (int i = 0; i < FARTHEST; i++) {
        struct op_ids next;

        if (handing->attrs[op] & ATTR_ROOT)
            return true;
        next = op_graph_consumers(handing->profile->graph, op);
        op = NO_ID;
        for (size_t n = 0; n < next.count; n++)
            if (compiled_is_type(&handing->ledger->compiled, next.ids[n],
                                 "tuple|bitcast|get-tuple-element"))
                op = next.ids[n];
        if (op == NO_ID)
            return false;
    }
    return false;
}

/* Whether an op takes an array like this one from outside of its program. */
static bool takes(const struct handing *handing, uint32_t op, const struct tensor *array)
{
    struct op_ids from = op_graph_producers(handing->profile->graph, op);

    for (size_t i = 0; i < from.count; i++) {
        uint32_t         maker = from.ids[i];
        const struct op *row;

        for (int n = 0;
             n < FARTHEST && compiled_is_type(&handing->ledger->compiled, maker, "bitcast"); n++) {
            struct op_ids behind = op_graph_producers(handing->profile->graph, maker);

            if (behind.count != 1)
                break;
            maker = behind.ids[0];
        }
        row = &handing->profile->ops.items[maker];
        if (handing->attrs[maker] & ATTR_ENTRY && row->output_count) {
            const struct tensor *taken = &handing->profile->tensors.items[row->first_output];

            if (taken->dtype == array->dtype && same_dims(taken, array))
                return true;
        }
    }
    return false;
}

/* The array's part of what the unit moves. False: it moves less. */
static bool spare(struct handing *handing, uint32_t at, double bytes)
{
    const struct work_unit *unit = &handing->ledger->units.items[at];
    double                  moved = (double)handing->profile->ops.items[unit->op].bytes;

    if (moved < bytes)
        return false;
    handing->spared[at] += bytes / moved;
    return true;
}

/* The unit with most of it, of those that a line of the program made where there are any. */
static const struct work_unit *worst_of(const struct handing *handing)
{
    const struct ledger    *ledger = handing->ledger;
    const struct work_unit *worst = NULL;
    double                  most = 0;
    bool                    has_line = false;

    for (size_t u = 0; u < ledger->units.count; u++) {
        const struct work_unit *unit = &ledger->units.items[u];
        double                  ns = handing->spared[u] * unit->left_ns;
        bool                    is_told = ns > 0 && ledger_source(ledger, unit) != NO_ID;

        if (is_told < has_line || (is_told == has_line && ns <= most))
            continue;
        most = ns, worst = unit, has_line = is_told;
    }
    return worst;
}

static bool claim(struct handing *handing, const struct detector *self)
{
    struct ledger          *ledger = handing->ledger;
    const struct work_unit *worst = worst_of(handing);
    uint32_t                cell;

    if (!worst)
        return true;
    cell = ledger_cell(ledger, self, worst);
    if (cell == NO_ID)
        return false;
    for (size_t u = 0; u < ledger->units.count; u++)
        if (handing->spared[u] > 0)
            ledger_claim(ledger, cell, &ledger->units.items[u],
                         handing->spared[u] < 1 ? handing->spared[u] : 1);
    return ledger_tell(
        ledger, cell,
        "%.0f arrays a step, %.0f MB, are results of one program and read by the next",
        (double)handing->arrays / (double)ledger->step_count,
        handing->bytes / (double)ledger->step_count / 1e6);
}

/* Every reader is spared it, and the writer once. */
static void hand_on(struct handing *handing, uint32_t writer, const struct tensor *array,
                    const struct run *next)
{
    const struct work_unit *units = handing->ledger->units.items;
    double                  bytes = tensor_bytes(array);
    bool                    is_read = false;

    for (uint32_t u = next->first; u <= next->last; u++) {
        if (is_pass(handing, &units[u]) && takes(handing, units[u].op, array))
            is_read |= spare(handing, u, bytes);
    }
    if (!is_read || !spare(handing, writer, bytes))
        return;
    handing->arrays++;
    handing->bytes += bytes;
}

static void compare_runs(struct handing *handing, const struct run *run, const struct run *next)
{
    const struct profile *profile = handing->profile;

    for (uint32_t u = run->first; u <= run->last; u++) {
        const struct work_unit *unit = &handing->ledger->units.items[u];
        const struct op        *op;

        if (!is_pass(handing, unit) || !is_given(handing, unit->op))
            continue;
        op = &profile->ops.items[unit->op];
        for (uint32_t i = 0; i < op->output_count; i++) {
            const struct tensor *array = &profile->tensors.items[op->first_output + i];

            if (tensor_bytes(array) >= LEAST_BYTES)
                hand_on(handing, u, array, next);
        }
    }
}

/* A program whose first instruction comes again runs again. */
static void look_at_step(struct handing *handing, size_t step)
{
    const struct ledger *ledger = handing->ledger;
    struct run           last = { .program = 0 }, run = { .program = 0 };
    uint32_t             first_op = NO_ID;

    for (uint32_t u = ledger->first_unit[step]; u <= ledger->first_unit[step + 1]; u++) {
        bool                    is_end = u == ledger->first_unit[step + 1];
        const struct work_unit *unit = &ledger->units.items[u];
        uint32_t                program;

        if (!is_end && (unit->kind != UNIT_OP || unit->op == NO_ID))
            continue;
        program = is_end ? 0 : handing->profile->ops.items[unit->op].program;
        if (!is_end && program == run.program && unit->op != first_op) {
            run.last = u;
            continue;
        }
        if (last.program && run.program && last.program != run.program)
            compare_runs(handing, &last, &run);
        last = run;
        run = (struct run) { u, u, program };
        first_op = is_end ? NO_ID : unit->op;
    }
}

static bool find(struct ledger *ledger, const struct detector *self)
{
    struct handing handing = { .ledger = ledger, .profile = ledger->study->profile };

    if (!ledger->path->has_device || !handing.profile->graph)
        return true;
    handing.spared = arena_new_array(ledger->scratch, double, ledger->units.count + 1);
    if (!handing.spared || !mark_ends(&handing))
        return false;
    for (size_t step = 0; step < ledger->step_count; step++)
        look_at_step(&handing, step);
    return claim(&handing, self);
}

const struct detector detector_handed_on = { "handed-on", CAUSE_BYTES, GRADE_SIZES, find };
