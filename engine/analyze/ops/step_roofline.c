#include "analyze/ops/step_roofline.h"

#include "analyze/emit.h"
#include "base/macros.h"

#include <math.h>

enum { NUMBER, DURATION, FLOPS, BYTES, RATE, BANDWIDTH, INTENSITY, EFFICIENCY, BOUND };
const struct column_spec step_roofline_columns[STEP_ROOFLINE_COLUMNS] = {
    [NUMBER] = { "number", UNIT_COUNT, "which step" },
    [DURATION] = { "duration_ns", UNIT_NS, "how long it took" },
    [FLOPS] = { "flops", UNIT_FLOPS, "operations of ops of known cost that it called" },
    [BYTES] = { "bytes", UNIT_BYTES, "their memory traffic" },
    [RATE] = { "flops_per_s", UNIT_FLOPS_PER_S, "operations over the step" },
    [BANDWIDTH] = { "bytes_per_s", UNIT_BYTES_PER_S, "traffic over the step" },
    [INTENSITY] = { "intensity", UNIT_NONE, "operations a byte" },
    [EFFICIENCY] = { "efficiency", UNIT_SHARE, "share of the peak that is nearer" },
    [BOUND] = { "bound", UNIT_NAME, "compute or memory: which peak that is" },
};

struct row {
    const struct step *step;
    double             flops, bytes;
};
struct counting {
    const struct step_roofline *input;
    struct row                 *rows; /* by time */
    size_t                      row_count;
    double                     *calls; /* by op: events in these steps */
};

static bool list_steps(struct counting *counting, struct arena *scratch)
{
    const struct steps *steps = &counting->input->study->steps;

    counting->rows = arena_new_array(scratch, struct row, steps->list.count + 1);
    counting->calls =
        arena_new_array(scratch, double, counting->input->study->profile->ops.count + 1);
    if (!counting->rows || !counting->calls)
        return false;
    for (size_t i = 0; i < steps->list.count; i++) {
        const struct step *step = &steps->list.items[i];

        if (step->host == steps->host && step->is_used && step->is_sampled)
            counting->rows[counting->row_count++].step = step;
    }
    return true;
}

static struct row *step_at(struct counting *counting, int64_t time_ns)
{
    size_t behind =
        LOWER_BOUND(counting->row_count, i, counting->rows[i].step->start_ns <= time_ns);
    struct row *row = behind ? &counting->rows[behind - 1] : NULL;

    return row && time_ns < row->step->end_ns ? row : NULL;
}

/* Counts the events of each op first, then gives each its share of the op's cost: kernels of one
 * call are as many each time. */
static void walk(struct counting *counting, bool is_sharing)
{
    const struct profile *profile = counting->input->study->profile;

    for (size_t t = 0; t < profile->timelines.count; t++) {
        const struct timeline *line = &profile->timelines.items[t];

        if (line->host != counting->input->study->steps.host || line->kind == TIMELINE_DERIVED)
            continue;
        for (uint32_t i = 0; i < line->event_count; i++) {
            uint32_t              event = line->first_event + i;
            uint32_t              op = event_activity(profile, event)->op;
            const struct op_work *work = op == NO_ID ? NULL : &counting->input->work[op];
            struct row           *row;

            if (!work || !work->is_known || work->is_on_device != (line->device != NO_ID))
                continue;
            row = step_at(counting, event_start_ns(profile, event));
            if (!row)
                continue;
            if (!is_sharing) {
                counting->calls[op]++;
                continue;
            }
            row->flops += fmax(0, work->flops) / counting->calls[op];
            row->bytes += fmax(0, work->bytes) / counting->calls[op];
        }
    }
}

static void fill_bound(const struct step_roofline *input, struct table *table, size_t at,
                       const struct row *row, double seconds)
{
    double compute = input->flops_per_s > 0 ? row->flops / seconds / input->flops_per_s : 0;
    double memory = input->memory_per_s > 0 ? row->bytes / seconds / input->memory_per_s : 0;

    if (input->flops_per_s <= 0 || input->memory_per_s <= 0 || fmax(compute, memory) <= 0)
        return;
    emit_number(table, EFFICIENCY, at, fmax(compute, memory));
    emit_name(table, BOUND, at,
              facts_name(&input->study->facts, compute > memory ? STR("compute") : STR("memory")));
}

bool step_roofline_fill(const struct step_roofline *input, struct arena *scratch)
{
    struct counting counting = { .input = input };
    struct table   *table = NULL;

    if (!list_steps(&counting, scratch))
        return false;
    walk(&counting, false);
    walk(&counting, true);
    for (size_t i = 0; i < counting.row_count; i++) {
        const struct row *row = &counting.rows[i];
        double            seconds = (double)(row->step->end_ns - row->step->start_ns) / 1e9;
        size_t            at;

        if (seconds <= 0 || (row->flops <= 0 && row->bytes <= 0))
            continue;
        if (!table && !(table = facts_table(&input->study->facts, input->table)))
            return false;
        at = table_add(table, input->study->arena);
        if (at == SIZE_MAX)
            return false;
        emit_number(table, NUMBER, at, (double)row->step->number);
        emit_number(table, DURATION, at, seconds * 1e9);
        emit_number(table, FLOPS, at, row->flops);
        emit_number(table, BYTES, at, row->bytes);
        emit_number(table, RATE, at, row->flops / seconds);
        emit_number(table, BANDWIDTH, at, row->bytes / seconds);
        if (row->bytes > 0)
            emit_number(table, INTENSITY, at, row->flops / row->bytes);
        fill_bound(input, table, at, row, seconds);
    }
    return table || facts_absent(&input->study->facts, input->table->name, "steps, and shapes",
                                 "no marked step holds calls of an op of known cost");
}
