/* The lines of the program at which the time lies that edits select. */
#include <math.h>

#include "testing.h"

#include "analyze/analysis.h"
#include "analyze/replay/edit_lines.h"
#include "profile_builder.h"

extern const struct analysis analysis_path;

/* A function of Python at a line; its row of activities. */
static uint32_t function_at(struct profile_builder *b, const char *file, const char *name,
                            uint32_t line)
{
    struct source_line source = { .file = builder_name(b, file),
                                  .function = builder_name(b, name),
                                  .line = line,
                                  .caller = NO_ID };
    uint32_t           activity = builder_activity(b, name, ACTIVITY_PYTHON, NO_ID);

    assert_true(vec_push(&b->profile.sources, &b->arena, source));
    b->profile.activities.items[activity].source = (uint32_t)b->profile.sources.count - 1;
    return activity;
}

/*
 * One step of 100 us: train.py:7 runs all the time. Inside, train.py:20 works 10..40 us and calls a
 * library 20..30 us, an op runs 50..70 us, another thread's program 70..100 us while train.py:7
 * waits.
 *   host:     10..40 us at train.py:20 with what it calls; 0..10 and 40..50 us at train.py:7
 *   compute:  50..100 us at train.py:7
 */
static void build(struct profile_builder *b)
{
    struct err err = { 0 };
    uint32_t   host = builder_start_host(b, FORMAT_KINETO), python, worker;

    b->profile.hosts.items[host].core_count = 2;
    python = builder_timeline(b, host, NO_ID, "python");
    worker = builder_timeline(b, host, NO_ID, "worker");
    builder_event(b, python, function_at(b, "train.py", "main", 7), 0, 100000);
    builder_event(b, python, function_at(b, "train.py", "mask", 20), 10000, 30000);
    builder_event(b, python, function_at(b, "numpy/core.py", "where", 5), 20000, 10000);
    builder_slice(b, python, "aten::mm", ACTIVITY_OP, 50000, 20000);
    builder_slice(b, python, "wait", ACTIVITY_SYNC, 70000, 30000);
    builder_slice(b, worker, "aten::add", ACTIVITY_OP, 70000, 30000);
    builder_step(b, host, 0, 100000);
    builder_finish(b);
    b->study.steps.list.items[0].timeline = python;
    b->study.steps.median_ns = b->study.steps.mean_ns = 100000;
    assert_true(path_begin(&b->study) && analysis_path.run(&b->study, &err));
}

static void check_line(const struct profile_builder *b, const struct edit_line *line,
                       uint32_t number, double ns)
{
    assert_int_equal(b->profile.sources.items[line->source].line, number);
    assert_true(fabs(line->ns - ns) < 1);
}

TEST(host_time_by_line)
{
    struct profile_builder b;
    struct edit_lines      lines;
    struct err             err = { 0 };
    struct edit            edit = { .kind = EDIT_SCALE, .factor = 0 };

    build(&b);
    edit.select = (struct edit_select) { .part_mask = 1U << PART_HOST, .host = NO_ID };
    assert_true(edit_lines_find(&b.study, &edit, 1, &b.arena, &lines, &err));
    assert_int_equal(lines.list.count, 2);
    check_line(&b, &lines.list.items[0], 20, 30000);
    check_line(&b, &lines.list.items[1], 7, 20000);
    assert_true(fabs(lines.selected_ns - 50000) < 1);
    builder_free(&b);
}

TEST(work_of_another_thread_is_of_the_line_that_waits)
{
    struct profile_builder b;
    struct edit_lines      lines;
    struct err             err = { 0 };
    struct edit            edits[2] = { { .kind = EDIT_SCALE }, { .kind = EDIT_SCALE } };

    build(&b);
    edits[0].select = (struct edit_select) { .name = "aten::add", .host = NO_ID };
    edits[1].select = (struct edit_select) { .part_mask = 1U << PART_COMPUTE, .host = NO_ID };
    assert_true(edit_lines_find(&b.study, edits, 1, &b.arena, &lines, &err));
    assert_int_equal(lines.list.count, 1);
    check_line(&b, &lines.list.items[0], 7, 30000);
    /* What both select counts once. */
    assert_true(edit_lines_find(&b.study, edits, 2, &b.arena, &lines, &err));
    check_line(&b, &lines.list.items[0], 7, 50000);
    builder_free(&b);
}
