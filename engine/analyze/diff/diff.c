#include "analyze/diff/diff.h"

#include "base/macros.h"
#include "base/sort.h"

#include <math.h>
#include <stdlib.h>

struct builder {
    struct diff   *diff;
    struct arena  *arena;
    struct charges charges;
    struct intern  names[CHARGE_BY_COUNT];
    struct id_map  row_of[CHARGE_BY_COUNT]; /* part << 32 | name */
    int64_t        raw_ns[2][PART_COUNT];   /* by side, of the looked-at steps */
    int            side;
};

static struct diff_sums *sums_of(struct builder *builder, enum charge_by by, enum part part,
                                 struct str name)
{
    uint32_t        id = intern_add(&builder->names[by], name), row;
    uint64_t        key = (uint64_t)part << 32 | id;
    struct diff_row fresh = { .part = part };

    if (id == NO_ID)
        return NULL;
    row = id_map_get(&builder->row_of[by], key);
    if (row == NO_ID) {
        row = (uint32_t)builder->diff->rows[by].count;
        fresh.name = intern_str(&builder->names[by], id);
        if (!vec_push(&builder->diff->rows[by], builder->arena, fresh) ||
            !id_map_put(&builder->row_of[by], key, row))
            return NULL;
    }
    return &builder->diff->rows[by].items[row].sides[builder->side];
}

static bool add_path(struct builder *builder)
{
    const struct path *path = &builder->charges.study->path;

    for (size_t i = 0; i < path->segments.count; i++) {
        const struct segment *segment = &path->segments.items[i];
        int64_t               ns = segment->end_ns - segment->start_ns;

        builder->raw_ns[builder->side][segment->part] += ns;
        for (int by = 0; builder->diff->has_paths && by < CHARGE_BY_COUNT; by++) {
            struct diff_sums *sums =
                sums_of(builder, (enum charge_by)by, (enum part)segment->part,
                        charges_of_segment(&builder->charges, segment, (enum charge_by)by));

            if (!sums)
                return false;
            sums->ns += ns;
        }
    }
    return true;
}

/* Where the time of an op's runs is charged when they are on the path. */
static enum part part_of_op(const struct op_time *row)
{
    if (row->kind == ACTIVITY_COLLECTIVE)
        return PART_COMMUNICATION;
    if (row->kind == ACTIVITY_MEMCPY)
        return PART_COPY;
    if (row->kind == ACTIVITY_OUTPUT)
        return PART_OUTPUT;
    return row->kind == ACTIVITY_CALLBACK || (row->is_eager && row->op == NO_ID) ? PART_HOST
                                                                                 : PART_COMPUTE;
}

/* Kernels run for ops of the host; where none was recorded they are the ops. */
static bool has_host_ops(const struct op_times *times)
{
    for (size_t i = 0; i < times->count; i++)
        if (times->rows[i].kind != ACTIVITY_KERNEL && times->rows[i].kind != ACTIVITY_MEMCPY)
            return true;
    return false;
}

/* What numbers of a step are divided by. */
static double divisor_of(const struct builder *builder)
{
    return builder->diff->is_per_batch ? builder->diff->batches[builder->side] : 1;
}

/* Runs of each op; without paths its own time too. */
static bool add_ops(struct builder *builder, struct arena *scratch)
{
    struct op_times times;
    double          step_count;
    bool            has_ops;

    if (!op_times_make(builder->charges.study, scratch, &times))
        return false;
    step_count = fmax(times.step_count, 1) * divisor_of(builder);
    has_ops = has_host_ops(&times);
    for (size_t i = 0; i < times.count; i++) {
        const struct op_time *row = &times.rows[i];
        enum part             part = part_of_op(row);

        for (int by = 0; by < CHARGE_BY_COUNT; by++) {
            struct diff_sums *sums =
                sums_of(builder, (enum charge_by)by, part,
                        charges_of_op(&builder->charges, row, (enum charge_by)by));

            if (!sums)
                return false;
            if (row->kind != ACTIVITY_KERNEL || !has_ops)
                sums->runs += row->calls / step_count;
            if (!builder->diff->has_paths)
                sums->ns += llround(row->self_ns / step_count);
        }
    }
    return true;
}

static bool add_bytes(struct builder *builder, enum part part, const struct op_time *op,
                      uint32_t event, double bytes)
{
    for (int by = 0; by < CHARGE_BY_COUNT; by++) {
        struct str        name = op ? charges_of_op(&builder->charges, op, (enum charge_by)by)
                                    : charges_of_event(&builder->charges, event, (enum charge_by)by);
        struct diff_sums *sums = sums_of(builder, (enum charge_by)by, part, name);

        if (!sums)
            return false;
        sums->bytes += llround(bytes / divisor_of(builder));
    }
    return true;
}

static bool add_op_memory(struct builder *builder, struct arena *scratch)
{
    const struct profile *profile = builder->charges.study->profile;
    size_t                step_count;
    const bool           *is_used = windows_recorded(builder->charges.study, scratch, &step_count);

    for (size_t i = 0; is_used && i < profile->op_memory.count; i++) {
        const struct op_memory *memory = &profile->op_memory.items[i];
        const struct op        *op = &profile->ops.items[memory->op];
        struct op_time          row = {
                     .op = memory->op, .name = op->name, .type = op->type, .source = op->source
        };

        if (memory->step < profile->recorded_steps.count && is_used[memory->step] &&
            memory->requested_bytes > 0 &&
            !add_bytes(builder, PART_COMPUTE, &row, NO_ID,
                       (double)memory->requested_bytes / (double)step_count))
            return false;
    }
    return is_used != NULL;
}

static bool add_memory(struct builder *builder, struct arena *scratch)
{
    const struct study   *study = builder->charges.study;
    const struct profile *profile = study->profile;
    struct windows        windows;

    if (profile->op_memory.count)
        return add_op_memory(builder, scratch);
    if (!windows_make(study, scratch, &windows))
        return false;
    for (size_t i = 0; i < profile->memory_events.count; i++) {
        const struct memory_event *memory = &profile->memory_events.items[i];

        if (memory->kind == MEMORY_ALLOCATE && memory->event != NO_ID &&
            windows_find(&windows, memory->time_ns) != SIZE_MAX &&
            !add_bytes(builder, charges_part(&builder->charges, memory->event), NULL, memory->event,
                       fabs((double)memory->bytes) / (double)windows.count))
            return false;
    }
    return true;
}

/* Shares `total` out by the running sum of what each had: whole, none negative, none left over. */
struct share_out {
    double  raw_total, raw_sum;
    int64_t total, given;
};

static int64_t share_of(struct share_out *out, int64_t raw)
{
    int64_t upto, share;

    out->raw_sum += (double)raw;
    upto = out->raw_total > 0 ? llround((double)out->total * (out->raw_sum / out->raw_total)) : 0;
    share = upto - out->given;
    out->given = upto;
    return share;
}

static void settle_rows(struct builder *builder, int side, enum charge_by by, enum part part)
{
    struct diff     *diff = builder->diff;
    struct share_out out = { .raw_total = (double)builder->raw_ns[side][part],
                             .total = diff->part_ns[part][side] };

    for (size_t i = 0; i < diff->rows[by].count; i++)
        if (diff->rows[by].items[i].part == part) {
            int64_t *ns = &diff->rows[by].items[i].sides[side].ns;

            *ns = share_of(&out, *ns);
        }
}

/* From the nanoseconds of the looked-at steps to those of the step. */
static void settle_side(struct builder *builder, int side)
{
    struct diff     *diff = builder->diff;
    const int64_t   *raw_ns = builder->raw_ns[side];
    struct share_out out = { .total = diff->step_ns[side] };

    for (int part = 0; part < PART_COUNT; part++)
        out.raw_total += (double)raw_ns[part];
    if (out.raw_total <= 0) {
        diff->part_ns[PART_UNKNOWN][side] = diff->step_ns[side];
        return;
    }
    for (int part = 0; part < PART_COUNT; part++) {
        diff->part_ns[part][side] = share_of(&out, raw_ns[part]);
        for (int by = 0; diff->has_paths && by < CHARGE_BY_COUNT; by++)
            settle_rows(builder, side, (enum charge_by)by, (enum part)part);
    }
}

static bool add_side(struct builder *builder, int64_t depth)
{
    const struct study *study = builder->diff->studies[builder->side];
    struct arena        scratch = { .budget_bytes = builder->arena->budget_bytes };
    bool                is_done;

    is_done = charges_start(&builder->charges, study, depth, &scratch) && add_path(builder) &&
              add_ops(builder, &scratch) && add_memory(builder, &scratch);
    arena_free(&scratch);
    return is_done;
}

static int by_identity(const void *left, const void *right)
{
    const struct diff_row *a = left, *b = right;

    return IN_ORDER(COMPARE(a->part, b->part), str_compare(a->name, b->name));
}

static int by_change(const void *left, const void *right)
{
    const struct diff_row *a = left, *b = right;
    int64_t                of_a = llabs(a->sides[1].ns - a->sides[0].ns);
    int64_t                of_b = llabs(b->sides[1].ns - b->sides[0].ns);

    return IN_ORDER(COMPARE(of_b, of_a), by_identity(a, b));
}

static void sort_rows(struct diff *diff, int (*compare)(const void *, const void *))
{
    for (int by = 0; by < CHARGE_BY_COUNT; by++)
        if (diff->rows[by].count)
            qsort(diff->rows[by].items, diff->rows[by].count, sizeof *diff->rows[by].items,
                  compare);
}

static bool set_step(struct diff *diff, int side, struct err *err)
{
    const struct study   *study = diff->studies[side];
    const struct absence *absence;

    diff->step_ns[side] = llround(steps_ns(&study->steps));
    if (diff->step_ns[side] > 0)
        return true;
    absence = facts_why_absent(&study->facts, "step.ns");
    return err_set(err, ERR_INPUT, "%s has no step to compare: %s",
                   study->recording->name ? study->recording->name : "a side",
                   absence ? absence->reason : "none took any time");
}

bool diff_is_per_batch(double before, double after)
{
    static const double UNLIKE = 1.5;

    return fmin(before, after) >= 1 && fmax(before, after) >= UNLIKE * fmin(before, after);
}

static void set_unit(struct diff *diff)
{
    for (int side = 0; side < 2; side++)
        if (!facts_get(&diff->studies[side]->facts, "work.per_step", &diff->batches[side]))
            diff->batches[side] = 0;
    diff->is_per_batch = diff_is_per_batch(diff->batches[0], diff->batches[1]);
    for (int side = 0; side < 2 && diff->is_per_batch; side++)
        diff->step_ns[side] = llround((double)diff->step_ns[side] / diff->batches[side]);
}

static bool add_sides(struct builder *builder, int64_t depth)
{
    for (int by = 0; by < CHARGE_BY_COUNT; by++) {
        builder->row_of[by].arena = builder->arena;
        if (!intern_init(&builder->names[by], builder->arena))
            return false;
    }
    for (; builder->side < 2; builder->side++)
        if (!add_side(builder, depth))
            return false;
    return true;
}

bool diff_make(struct diff *diff, const struct study *before, const struct study *after,
               int64_t depth, struct arena *arena, struct err *err)
{
    struct builder builder = { .diff = diff, .arena = arena };

    *diff =
        (struct diff) { .studies = { before, after },
                        .has_paths = before->path.segments.count && after->path.segments.count };
    for (int side = 0; side < 2; side++)
        if (!set_step(diff, side, err))
            return false;
    set_unit(diff);
    if (!add_sides(&builder, depth))
        return err_set(err, ERR_LIMIT, "the comparison does not fit the memory limit");
    /* Which row a nanosecond is rounded to must not hang on which side came first. */
    sort_rows(diff, by_identity);
    for (int side = 0; side < 2; side++)
        settle_side(&builder, side);
    sort_rows(diff, by_change);
    return true;
}

bool diff_has_lines(const struct diff *diff)
{
    for (size_t i = 0; i < diff->rows[CHARGE_BY_LINE].count; i++)
        if (!str_equal(diff->rows[CHARGE_BY_LINE].items[i].name, STR(CHARGE_NO_LINE)))
            return true;
    return false;
}
