/* Segments that edits cannot tell apart are one group, whichever step they are in. */

#include "testing.h"

#include "analyze/analysis.h"
#include "analyze/replay/segment_groups.h"
#include "analyze/schedule/recorder.h"
#include "profile_builder.h"

extern const struct analysis analysis_path;

enum { STEP_NS = 100000 };

/* One step: Python 0..30 us, nothing 30..40 us, then waiting 40..100 us for a worker's program of
 * that name, which runs all that time. */
static void add_step(struct profile_builder *b, uint32_t host, uint32_t python, uint32_t worker,
                     int64_t start_ns, const char *program)
{
    builder_slice(b, python, "train", ACTIVITY_STEP, start_ns, STEP_NS);
    builder_slice(b, python, "prepare", ACTIVITY_PYTHON, start_ns, 30000);
    builder_slice(b, python, "block_until_ready", ACTIVITY_SYNC, start_ns + 40000, 60000);
    builder_slice(b, worker, program, ACTIVITY_OP, start_ns + 40000, 60000);
    builder_step(b, host, start_ns, start_ns + STEP_NS);
}

/* Three steps, the last with another program. */
static struct segment_groups *build(struct profile_builder *b)
{
    struct err             err = { 0 };
    struct segment_groups *groups;
    uint32_t               host, python, worker;

    host = builder_start_host(b, FORMAT_XSPACE);
    b->profile.hosts.items[host].core_count = 2;
    python = builder_timeline(b, host, NO_ID, "python");
    worker = builder_timeline(b, host, NO_ID, "worker");
    add_step(b, host, python, worker, 0, "fusion");
    add_step(b, host, python, worker, STEP_NS, "fusion");
    add_step(b, host, python, worker, 2 * STEP_NS, "other");
    builder_finish(b);
    for (size_t i = 0; i < b->study.steps.list.count; i++)
        b->study.steps.list.items[i].timeline = python;
    b->study.steps.median_ns = b->study.steps.mean_ns = STEP_NS;
    assert_true(path_begin(&b->study) && analysis_path.run(&b->study, &err));
    groups = segment_groups_make(&b->study, &err);
    assert_non_null(groups);
    return groups;
}

/* The name of what ran in a group; "" outside any event. */
static struct str name_of(const struct profile_builder *b, const struct segment_groups *groups,
                          size_t group)
{
    uint32_t frame = groups->groups.items[group].frame, event;

    if (frame == NO_ID)
        return STR("");
    event = b->study.path.frames.items[groups->frames.items[frame].frame].event;
    return profile_str(&b->profile, event_activity(&b->profile, event)->name);
}

static double length_of(const struct profile_builder *b, const struct segment_groups *groups,
                        const char *name, size_t *count)
{
    double sum_ns = 0;

    *count = 0;
    for (size_t i = 0; i < groups->groups.count; i++)
        if (str_equal(name_of(b, groups, i), str_from(name))) {
            sum_ns += groups->groups.items[i].length_ns;
            (*count)++;
        }
    return sum_ns;
}

/* fusion: 60 us in each of two steps; other: 60 us in one. */
TEST(equal_work_of_two_steps_is_one_group)
{
    struct profile_builder       b;
    const struct segment_groups *groups = build(&b);
    size_t                       count;

    assert_float_equal(length_of(&b, groups, "fusion", &count), 120000, 1e-6);
    assert_int_equal(count, 1);
    assert_float_equal(length_of(&b, groups, "other", &count), 60000, 1e-6);
    assert_int_equal(count, 1);
    builder_free(&b);
}

/* Of a stretch of traced Python six tenths are the tracer's, and half a microsecond at most: three
 * times 30 us less 0.5 us each. */
TEST(the_tracer_of_python_is_no_work)
{
    struct profile_builder       b;
    const struct segment_groups *groups = build(&b);
    size_t                       count;

    assert_float_equal(length_of(&b, groups, "prepare", &count), 88500, 1e-6);
    assert_float_equal(recorder_of_python_ns(500), 300, 1e-9);
    assert_float_equal(recorder_of_python_ns(0), 0, 0);
    builder_free(&b);
}

/* Groups sum to the steps, 300 us less 1.5 us of the tracer's, and each segment is of the part of
 * its group. */
TEST(groups_hold_every_segment)
{
    struct profile_builder       b;
    const struct segment_groups *groups = build(&b);
    const struct path           *path = &b.study.path;
    double                       sum_ns = 0;

    for (size_t i = 0; i < groups->groups.count; i++)
        sum_ns += groups->groups.items[i].length_ns;
    assert_float_equal(sum_ns, 3.0 * STEP_NS - 1500, 1e-6);
    assert_true(groups->groups.count < path->segments.count);
    for (size_t i = 0; i < path->segments.count; i++)
        assert_int_equal(path->segments.items[i].part,
                         groups->groups.items[groups->group_of_segment[i]].part);
    builder_free(&b);
}
