/* charge: what hand-made steps wait for, as recorded and with work taken away. */
#include <math.h>

#include "testing.h"

#include "analyze/analysis.h"
#include "analyze/schedule/charge.h"
#include "one_step.h"

static void make(struct one_step *step)
{
    struct err err = { 0 };

    one_step_make(step);
    assert_true(analysis_devices.run(&step->b.study, &err));
}

/* One row a change of kernel A of one_step.h, of its 100 us. As recorded the device
 * computes 20..120 and 290..390. Before A it waits 10 for the launch and 10 for the thread; before
 * B 10 for the launch, 150 for the thread, 10 for the thread to leave the sync; at the end 10 for
 * the thread. With A at half or twice as long the same waits lie around 50 less or 100 more of
 * computing. */
TEST(waits_around_work)
{
    static const struct {
        float  factor;
        double compute_us, host_us, launch_us, sync_us;
    } rows[] = {
        { 1, 200, 170, 20, 10 },
        { 0.5F, 150, 170, 20, 10 },
        { 2, 300, 170, 20, 10 },
    };
    struct one_step step;

    make(&step);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct graph_changes changes;
        struct schedule      schedule;
        double               part_ns[PART_COUNT], sum_ns = 0;

        assert_true(graph_changes_make(&changes, &step.graph, &step.scratch));
        changes.factors[one_node(&step, "A", 20)] = rows[i].factor;
        assert_true(schedule_make(&schedule, &step.graph, &changes, &step.scratch));
        assert_true(charge_schedule(&schedule, &step.scratch, part_ns));
        same(part_ns[PART_COMPUTE] / US, rows[i].compute_us);
        same(part_ns[PART_HOST] / US, rows[i].host_us);
        same(part_ns[PART_IDLE_LAUNCH] / US, rows[i].launch_us);
        same(part_ns[PART_IDLE_SYNC] / US, rows[i].sync_us);
        for (int part = 0; part < PART_COUNT; part++)
            sum_ns += part_ns[part];
        same(sum_ns, schedule.step_ns);
    }
    one_step_free(&step);
}

/* The path has 130..280, in which the thread did nothing recorded, as a wait for input, and 0..20
 * as the device's work of the step before: the first is charged so, the second to the thread as
 * before. */
TEST(threads_count_as_the_path_has_them)
{
    static const struct segment segments[] = {
        { .start_ns = 0, .end_ns = 20 * US, .part = PART_COMPUTE, .on_device = true },
        { .start_ns = 130 * US, .end_ns = 280 * US, .frame = NO_ID, .part = PART_INPUT },
    };
    struct one_step step;
    struct schedule schedule;
    double          part_ns[PART_COUNT];

    make(&step);
    for (size_t i = 0; i < sizeof segments / sizeof *segments; i++)
        assert_true(vec_push(&step.b.study.path.segments, &step.b.arena, segments[i]));
    assert_true(schedule_make(&schedule, &step.graph, NULL, &step.scratch));
    assert_true(charge_schedule(&schedule, &step.scratch, part_ns));
    same(part_ns[PART_INPUT] / US, 150);
    same(part_ns[PART_COMPUTE] / US, 200);
    same(part_ns[PART_HOST] / US, 20);
    one_step_free(&step);
}

/* Without an accelerator all of a step is a wait for the thread that leads it: 100 of computing
 * between 50 and 250 of nothing recorded. */
TEST(a_thread_alone)
{
    struct one_step step;
    struct schedule schedule;
    double          part_ns[PART_COUNT];

    one_step_begin(&step);
    builder_slice(&step.b, step.thread, "aten::mm", ACTIVITY_OP, 50 * US, 100 * US);
    one_step_end(&step);
    assert_true(schedule_make(&schedule, &step.graph, NULL, &step.scratch));
    assert_true(charge_schedule(&schedule, &step.scratch, part_ns));
    same(part_ns[PART_COMPUTE] / US, 100);
    same(part_ns[PART_HOST] / US, 300);
    one_step_free(&step);
}
