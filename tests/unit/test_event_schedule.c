/* event_schedule: a hand-made step scheduled again. */
#include <math.h>

#include "testing.h"

#include "analyze/schedule/event_schedule.h"
#include "one_step.h"

/* Unchanged it takes 400 us, as recorded. Back from its end: nothing recorded 285..400, a launch
 * 280..285, nothing recorded 130..280, 10 to leave the sync, A 20..120, 10 from its launch, which
 * begins at 10, nothing recorded before it: host 115 + 5 + 150 + 10 = 280, sync 10, compute 100,
 * launch 10. */
TEST(unchanged)
{
    struct one_step step;
    struct schedule schedule;

    one_step_make(&step);
    assert_true(schedule_make(&schedule, &step.graph, NULL, &step.scratch));
    same(schedule.step_ns / US, 400);
    same(schedule.error, 0);
    same(schedule.worst_error, 0);
    same(schedule.chain_ns[PART_HOST] / US, 280);
    same(schedule.chain_ns[PART_IDLE_SYNC] / US, 10);
    same(schedule.chain_ns[PART_COMPUTE] / US, 100);
    same(schedule.chain_ns[PART_IDLE_LAUNCH] / US, 10);
    one_step_free(&step);
}

/* A at half ends at 70, the sync at 80: 50 less, 350. A that takes 30 more: 430. B gone or at half:
 * nothing waits for it: 400. */
TEST(changed)
{
    static const struct {
        const char *name;
        int64_t     start_us, extra_us;
        float       factor;
        double      step_us;
    } rows[] = {
        { "A", 20, 0, 0.5F, 350 },
        { "A", 20, 30, 1, 430 },
        { "B", 290, 0, 0.5F, 400 },
        { "B", 290, 0, 0, 400 },
    };
    struct one_step step;

    one_step_make(&step);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct graph_changes changes;
        struct schedule      schedule;
        uint32_t             node = one_node(&step, rows[i].name, rows[i].start_us);

        assert_true(graph_changes_make(&changes, &step.graph, &step.scratch));
        changes.factors[node] = rows[i].factor;
        changes.extra_ns[node] = rows[i].extra_us * US;
        assert_true(schedule_make(&schedule, &step.graph, &changes, &step.scratch));
        same(schedule.step_ns / US, rows[i].step_us);
    }
    one_step_free(&step);
}
