#include "view/diff.h"

#include <stdlib.h>

enum { NS_PER_MICRO = 1000 };
#define UNKNOWN_LINE "(line not recorded)"

struct builder {
    struct diff  *diff;
    struct arena *arena;
    struct intern names[DIFF_BY_COUNT];
    struct text   label; /* used again for each */
    int64_t       depth;
    int64_t       op_ns[2], op_bytes[2];
};

/* Of all steps, those in which it did not run too; whole nanoseconds, so that sums are exact. */
static struct diff_sums sums_of(const struct classic *classic, uint32_t node)
{
    const struct classic_node *row = &classic->nodes.items[node];
    int64_t                    steps = classic->steps.count ? (int64_t)classic->steps.count : 1;
    struct diff_sums           sums = { 0 };
    int64_t                    micros = 0, runs = 0;

    for (uint32_t i = 0; i < row->exec_count; i++) {
        const struct classic_exec *exec = &classic->execs.items[row->first_exec + i];

        if (__builtin_add_overflow(micros, exec->sums[MEASURE_EXEC_MICROS], &micros) ||
            __builtin_add_overflow(sums.bytes, exec->sums[MEASURE_REQUESTED_BYTES], &sums.bytes))
            return (struct diff_sums) { 0 };
        runs += exec->sums[MEASURE_RUNS];
    }
    sums.ns = micros > INT64_MAX / NS_PER_MICRO ? 0 : micros * NS_PER_MICRO / steps;
    sums.bytes /= steps;
    sums.runs = (double)runs / (double)steps;
    return sums;
}

/* From the first start to the last end, the mean of the steps; 0: no starts were recorded. */
static int64_t wall_ns(const struct classic *classic, struct arena *arena)
{
    size_t   count = classic->steps.count, seen = 0;
    int64_t *start = arena_new_array(arena, int64_t, count),
            *end = arena_new_array(arena, int64_t, count);
    int64_t sum = 0;

    for (size_t i = 0; start && end && i < classic->execs.count; i++) {
        const struct classic_exec *exec = &classic->execs.items[i];
        size_t                     low = 0, high = count;

        while (low < high) { /* steps ascend */
            size_t middle = low + (high - low) / 2;

            if (classic->steps.items[middle] < exec->step)
                low = middle + 1;
            else
                high = middle;
        }
        if (low == count || exec->start_micros <= 0)
            continue;
        if (!start[low] || exec->start_micros < start[low])
            start[low] = exec->start_micros;
        if (exec->end_micros > end[low])
            end[low] = exec->end_micros;
    }
    for (size_t i = 0; start && end && i < count; i++)
        if (start[i] && end[i] > start[i] &&
            end[i] - start[i] < INT64_MAX / NS_PER_MICRO / 1000000) {
            sum += (end[i] - start[i]) * NS_PER_MICRO;
            seen++;
        }
    return seen ? sum / (int64_t)seen : 0;
}

static struct str scope_of(struct str name, int64_t depth)
{
    for (size_t i = 0; i < name.len; i++)
        if (name.data[i] == '/' && --depth == 0)
            return str_slice(name, 0, i);
    return name;
}

static struct str line_of(struct builder *builder, const struct classic *classic, uint32_t node)
{
    const struct profile     *profile = classic->profile;
    uint32_t                  source = classic->nodes.items[node].source;
    const struct source_line *line;
    struct str                file;
    size_t                    slash;

    if (source == NO_ID)
        return STR(UNKNOWN_LINE);
    line = &profile->sources.items[profile_user_source(profile, source)];
    file = profile_str(profile, line->file);
    slash = str_find_last(file, '/');
    builder->label.len = 0;
    text_print(&builder->label, "%.*s:%u %.*s",
               STR_ARG(str_slice(file, slash < file.len ? slash + 1 : 0, file.len)), line->line,
               STR_ARG(profile_str(profile, line->function)));
    return str_trim(text_str(&builder->label));
}

static bool add(struct builder *builder, enum diff_by by, struct str name, int side,
                const struct diff_sums *sums)
{
    struct intern    *names = &builder->names[by];
    uint32_t          count = names->count, id = intern_add(names, name);
    struct diff_part  part = { .name = { "", 0 } };
    struct diff_sums *sum;

    if (id == NO_ID)
        return false;
    if (id == count) {
        part.name = intern_str(names, id);
        if (!vec_push(&builder->diff->parts[by], builder->arena, part))
            return false;
    }
    sum = &builder->diff->parts[by].items[id].sides[side];
    sum->ns += sums->ns;
    sum->bytes += sums->bytes;
    sum->runs += sums->runs;
    return true;
}

/* Where single lines called an op, their times are rounded apart: what that leaves is told with the
 * lines that are not known. */
static bool add_lines(struct builder *builder, const struct classic *classic, int side)
{
    const struct classic *lines = classic->lines ? classic->lines : classic;
    struct diff_sums      rest = { .ns = builder->op_ns[side], .bytes = builder->op_bytes[side] };

    for (uint32_t node = 0; node < lines->nodes.count; node++) {
        struct diff_sums sums = sums_of(lines, node);

        if (!sums.ns && !sums.bytes && sums.runs <= 0)
            continue;
        rest.ns -= sums.ns;
        rest.bytes -= sums.bytes;
        if (!add(builder, DIFF_BY_LINE, line_of(builder, lines, node), side, &sums))
            return false;
    }
    return (!rest.ns && !rest.bytes) || add(builder, DIFF_BY_LINE, STR(UNKNOWN_LINE), side, &rest);
}

static bool add_side(struct builder *builder, const struct classic *classic, int side)
{
    for (uint32_t node = 0; node < classic->nodes.count; node++) {
        struct diff_sums sums = sums_of(classic, node);

        builder->op_ns[side] += sums.ns;
        builder->op_bytes[side] += sums.bytes;
        builder->diff->step[side].bytes += sums.bytes;
        builder->diff->step[side].runs += sums.runs;
        if (!sums.ns && !sums.bytes && sums.runs <= 0)
            continue;
        if (!add(builder, DIFF_BY_TYPE, classic_type(classic, node), side, &sums) ||
            !add(builder, DIFF_BY_SCOPE, scope_of(classic_name(classic, node), builder->depth),
                 side, &sums))
            return false;
    }
    return add_lines(builder, classic, side);
}

static int compare_parts(const void *left, const void *right)
{
    const struct diff_part *a = left, *b = right;
    int64_t                 of_a = llabs(a->sides[1].ns - a->sides[0].ns);
    int64_t                 of_b = llabs(b->sides[1].ns - b->sides[0].ns);

    if (of_a != of_b)
        return of_a > of_b ? -1 : 1;
    return str_compare(a->name, b->name);
}

/* What ops do not account for, so that all parts sum to the step. */
static bool add_rest(struct builder *builder, enum diff_by by)
{
    struct diff     *diff = builder->diff;
    struct diff_part rest = { .name = STR_INIT("(waiting, less what ran at once)"),
                              .is_rest = true };

    for (int side = 0; side < 2; side++)
        rest.sides[side].ns = diff->step[side].ns - builder->op_ns[side];
    if (rest.sides[0].ns || rest.sides[1].ns)
        return vec_push(&diff->parts[by], builder->arena, rest);
    return true;
}

bool diff_make(const struct classic *before, const struct classic *after, int64_t depth,
               struct arena *arena, struct diff *diff)
{
    struct builder builder = { .diff = diff, .arena = arena, .depth = depth, .label.arena = arena };

    *diff = (struct diff) { .classics = { before, after } };
    for (int by = 0; by < DIFF_BY_COUNT; by++) /* the empty name has id 0 in every table */
        if (!intern_init(&builder.names[by], arena) ||
            !vec_push(&diff->parts[by], arena, (struct diff_part) { .name = { "", 0 } }))
            return false;
    for (int side = 0; side < 2; side++)
        if (!add_side(&builder, diff->classics[side], side))
            return false;
    for (int side = 0; side < 2; side++) {
        diff->step[side].ns = wall_ns(diff->classics[side], arena);
        if (!diff->step[side].ns)
            diff->step[side].ns = builder.op_ns[side];
    }
    for (int by = 0; by < DIFF_BY_COUNT; by++) {
        if (!add_rest(&builder, (enum diff_by)by))
            return false;
        qsort(diff->parts[by].items, diff->parts[by].count, sizeof(struct diff_part),
              compare_parts);
    }
    return true;
}
