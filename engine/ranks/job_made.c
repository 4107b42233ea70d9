#include "ranks/job_made.h"

#include "analyze/path/path.h"
#include "base/macros.h"
#include "base/sample.h"
#include "synth/job_course.h"

#define START_NS INT64_C(1700000000000000000)

/* Texts of a rank, in this order. */
enum { NAME_EVEN = WORK_COUNT, NAME_ODD, NAME_STAGE, NAME_ALL, NAME_LINK, NAME_REDUCE, NAME_OP };
static const enum part work_parts[] = { PART_COMPUTE, PART_HOST, PART_OUTPUT, PART_COMMUNICATION };

struct making {
    const struct job_sketch *sketch;
    const struct job_course *course;
    struct rank_summary      summary;
    struct arena            *arena;
    int64_t                  rank;
    bool                     is_full;
};

static void push(struct making *making, struct numbers *numbers, int64_t number)
{
    making->is_full |= !vec_push(numbers, making->arena, number);
}

static void push_text(struct making *making, struct names *names, const char *text)
{
    making->is_full |= !text || !vec_push(names, making->arena, str_from(text));
}

static const int64_t *work_of(const struct making *making, int64_t step)
{
    return making->course->work[making->rank * making->course->step_count + step];
}

static void fill_names(struct making *making)
{
    struct names *names = &making->summary.names;
    int64_t       stage = making->rank % making->sketch->stage_count;

    for (size_t i = 0; i < ARRAY_COUNT(work_parts); i++)
        push_text(making, names, part_name(work_parts[i]));
    for (int kind = GROUP_EVEN; kind <= GROUP_ODD; kind++) {
        long long first = making->rank - (stage % 2 != kind);

        push_text(making, names, arena_text(making->arena, "[%lld, %lld]", first, first + 1));
    }
    push_text(making, names, arena_text(making->arena, "stage %lld", (long long)stage));
    push_text(making, names, "world");
    push_text(making, names, "send-recv");
    push_text(making, names, "all-reduce");
    push_text(making, names, "gemm");
}

static void fill_groups(struct making *making)
{
    struct rank_summary *summary = &making->summary;
    const int64_t        sizes[GROUP_COUNT] = {
               [GROUP_EVEN] = 2,
               [GROUP_ODD] = 2,
               [GROUP_STAGE] = making->sketch->rank_count / making->sketch->stage_count,
               [GROUP_ALL] = making->sketch->rank_count,
    };

    for (int kind = 0; kind < GROUP_COUNT; kind++) {
        push(making, &summary->group_name, NAME_EVEN + kind);
        push(making, &summary->group_type, kind <= GROUP_ODD ? NAME_LINK : NAME_REDUCE);
        push(making, &summary->group_size, sizes[kind]);
        push(making, &summary->group_numbered, 1);
    }
}

static void fill_steps(struct making *making)
{
    static const int64_t     bytes[] = { 1 << 20, 1 << 20, 1 << 28, 8 };
    struct rank_summary     *summary = &making->summary;
    const struct job_course *course = making->course;

    for (size_t i = 0; i < ARRAY_COUNT(work_parts); i++)
        push(making, &summary->part_name, (int64_t)i);
    for (int64_t step = 0; step < course->step_count; step++) {
        const int64_t            *work = work_of(making, step);
        const struct job_meeting *meetings =
            course->meetings[making->rank * course->step_count + step];

        push(making, &summary->step_number, step);
        push(making, &summary->step_start, course->starts[step]);
        push(making, &summary->step_length, course->starts[step + 1] - course->starts[step]);
        push(making, &summary->part_step, step);
        for (int i = 0; i < WORK_COUNT; i++)
            push(making, &summary->part_ns, work[i]);
        for (int kind = 0; kind < GROUP_COUNT; kind++) {
            if (!meetings[kind].left_ns)
                continue;
            push(making, &summary->meeting_group, kind);
            push(making, &summary->meeting_sequence, step);
            push(making, &summary->meeting_start, meetings[kind].come_ns);
            push(making, &summary->meeting_length, meetings[kind].left_ns - meetings[kind].come_ns);
            push(making, &summary->meeting_bytes, bytes[kind]);
        }
    }
}

static void push_fact(struct making *making, const char *name, double value)
{
    struct rank_summary *summary = &making->summary;

    push(making, &summary->fact_name, (int64_t)summary->detail_names.count);
    push_text(making, &summary->detail_names, name);
    push(making, &summary->fact_text, -1);
    making->is_full |= !vec_push(&summary->fact_value, making->arena, value);
}

/* What a step's collectives take: the rank's, without waiting for others; by type. */
static void fill_collectives(struct making *making)
{
    struct rank_summary     *summary = &making->summary;
    const struct job_sketch *sketch = making->sketch;
    const char *const        types[] = { "send-recv", "all-reduce" };
    const double             ns[] = { (double)(2 * sketch->link_ns),
                                      (double)(sketch->reduce_ns + sketch->meet_ns) };
    const char *const        columns[] = { "type", "ns" };
    int64_t                  first = (int64_t)summary->detail_names.count;

    push_text(making, &summary->detail_names, "collectives");
    push_text(making, &summary->detail_names, columns[0]);
    push_text(making, &summary->detail_names, columns[1]);
    push(making, &summary->table_name, first);
    push(making, &summary->table_rows, ARRAY_COUNT(types));
    for (size_t column = 0; column < ARRAY_COUNT(columns); column++) {
        push(making, &summary->column_table, 0);
        push(making, &summary->column_name, first + 1 + (int64_t)column);
    }
    for (size_t row = 0; row < ARRAY_COUNT(types); row++) {
        push(making, &summary->cells, rank_cell((double)summary->detail_names.count));
        push_text(making, &summary->detail_names, types[row]);
    }
    for (size_t row = 0; row < ARRAY_COUNT(types); row++)
        push(making, &summary->cells, rank_cell(ns[row]));
}

/* The facts that verdict and composition stand on, and what it weighs as the one that others wait
 * for. */
static void fill_facts(struct making *making)
{
    struct rank_summary *summary = &making->summary;
    size_t               steps = (size_t)making->course->step_count;
    double              *own_ns = arena_new_array(making->arena, double, steps);
    double              *step_ns = arena_new_array(making->arena, double, steps);
    double               sums[WORK_COUNT] = { 0 };

    making->is_full |= !own_ns || !step_ns;
    for (size_t step = 0; step < steps && !making->is_full; step++) {
        const int64_t *work = work_of(making, (int64_t)step);

        for (int i = 0; i < WORK_COUNT; i++)
            sums[i] += (double)work[i];
        step_ns[step] = (double)summary->step_length.items[step];
        own_ns[step] = step_ns[step] - (double)work[WORK_WAIT];
    }
    if (making->is_full)
        return;
    summary->step_ns = sample_middle(step_ns, steps);
    summary->compute_ns = sums[WORK_COMPUTE] / (double)steps;
    summary->comm_ns = sums[WORK_WAIT] / (double)steps;
    summary->weight = rank_weight(sample_middle(own_ns, steps));
    push(making, &summary->family_name, NAME_OP);
    push(making, &summary->family_part, WORK_COMPUTE);
    push(making, &summary->family_count, (int64_t)steps);
    push(making, &summary->family_ns, (int64_t)sums[WORK_COMPUTE]);
    push_fact(making, "step.count", (double)steps);
    push_fact(making, "step.used", (double)steps);
    push_fact(making, "step.ns", summary->step_ns);
    push_fact(making, "coverage.world_size", (double)making->course->rank_count);
    for (int i = 0; i < WORK_COUNT; i++) {
        double ns = sums[i] / (double)steps;

        push_fact(making, part_ns_fact(work_parts[i]), ns);
        push_fact(making, part_share_fact(work_parts[i]), ns / summary->step_ns);
    }
}

static bool add_rank(struct making *making, struct rank_records *records, struct arena *kept,
                     struct err *err)
{
    int64_t              machine = making->rank / making->sketch->machine_size;
    const char          *host = arena_text(kept, "node%lld", (long long)machine);
    struct rank_summary *summary = &making->summary;

    *summary = (struct rank_summary) {
        .rank = making->rank,
        .world_size = making->sketch->rank_count,
        .host = str_from(host),
        .origin_ns = START_NS + making->course->clock_ns[machine],
        .format = FORMAT_KINETO,
        .framework = STR("pytorch"),
        .device = STR("NVIDIA H100"),
        .device_kind = DEVICE_GPU,
        .device_count = 1,
        .step_marker = STR("ProfilerStep"),
    };
    fill_names(making);
    fill_groups(making);
    fill_steps(making);
    fill_facts(making);
    fill_collectives(making);
    return (host && !making->is_full && rank_file_add(summary, records, kept, err)) ||
           err_memory(err, "the job");
}

bool job_made_add(const struct job_sketch *sketch, struct rank_records *records,
                  struct arena *arena, struct err *err)
{
    struct arena      scratch = { 0 };
    struct job_course course;
    bool              is_done = job_course_make(sketch, &scratch, &course, err);

    for (int64_t rank = 0; is_done && rank < course.rank_count; rank++) {
        struct arena  texts = { 0 };
        struct making making = {
            .sketch = sketch, .course = &course, .arena = &texts, .rank = rank
        };

        is_done = add_rank(&making, records, arena, err);
        arena_free(&texts);
    }
    arena_free(&scratch);
    return is_done;
}
