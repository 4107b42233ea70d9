/* analysis_replay: facts of hand-made steps, and who came late to a collective. */
#include <math.h>

#include "testing.h"

#include "analyze/analysis.h"
#include "analyze/schedule/lateness.h"
#include "one_step.h"

/* The step of one_step.h: the longest chain through its 400 us holds 100 of kernels and 300 of the
 * host: 280 of its program, 10 of a launch, 10 behind a sync (counted in test_event_schedule.c).
 * One rank is late to nothing. Of steps that
 * follow each other, with a host that takes no time, A begins when B of the step before ends, the
 * sync ends with A, and B begins 10 behind its launch there: 100 + 10 + 100 of the 400. */
TEST(facts_of_a_step)
{
    struct one_step step;
    struct err      err = { 0 };

    one_step_make(&step);
    assert_true(analysis_replay.run(&step.b.study, &err));
    same(builder_fact(&step.b, "replay.error"), 0);
    same(builder_fact(&step.b, "replay.steps"), 1);
    same(builder_fact(&step.b, "replay.unknown_share"), 0);
    same(builder_fact(&step.b, "replay.nodes"), (double)step.graph.nodes.count);
    same(builder_fact(&step.b, "replay.host_bound_ns") / US, 300);
    same(builder_fact(&step.b, "replay.device_bound_ns") / US, 100);
    /* Recording takes 7.5 of it (test_graph_replay.c); of the kernels, of which A waits 10 for its
     * launch, 210 stay. */
    same(builder_fact(&step.b, "replay.without_recorder_ns") / US, 392.5);
    same(builder_fact(&step.b, "efficiency.delays"), 1);
    same(builder_fact(&step.b, "efficiency.host"), 210 / 392.5);
    same(builder_fact(&step.b, "efficiency.network"), 1);
    same(builder_fact(&step.b, "efficiency.all"), 210 / 392.5);
    assert_null(facts_find_table(&step.b.study.facts, "collective_lateness"));
    assert_null(facts_find_table(&step.b.study.facts, "rank_delays"));
    one_step_free(&step);
}

static void slice(struct profile_builder *b, uint32_t timeline, const char *name,
                  enum activity_kind kind, int64_t start_us, int64_t end_us)
{
    builder_slice(b, timeline, name, kind, start_us * US, (end_us - start_us) * US);
}

/*
 * Two ranks with a step of 1000 us: rank 0 runs forward for 300, rank 1 for 700 and json for 100;
 * both then reduce until 900 and update until 1000. Rank 1 comes to the collective at 800, 500
 * behind rank 0, half of its step: 400 of that are in an op, which on a host without an accelerator
 * is compute, 100 in Python. The longest chain is rank 1's up to 900: compute 700 + 100, host 100,
 * communication 100. Of their own rank 0 works 300 + 100, rank 1 800 + 100; as fast as rank 0 that
 * takes it 400, and a step 500 with the 100 of the collective: half of what it takes, and all of it
 * is rank 1's doing.
 */
TEST(a_rank_that_comes_late)
{
    struct profile_builder b;
    struct err             err = { 0 };
    const struct table    *table;
    uint32_t               threads[2];

    builder_start(&b, FORMAT_KINETO);
    for (int r = 0; r < 2; r++) {
        uint32_t host = builder_host(&b, r ? "h1" : "h0");

        threads[r] = builder_timeline(&b, host, NO_ID, "main");
        builder_step(&b, host, 0, 1000 * US);
        slice(&b, threads[r], "forward", ACTIVITY_OP, 0, r ? 700 : 300);
        if (r)
            slice(&b, threads[r], "json", ACTIVITY_PYTHON, 700, 800);
        slice(&b, threads[r], "gloo:all_reduce", ACTIVITY_COLLECTIVE, r ? 800 : 300, 900);
        slice(&b, threads[r], "update", ACTIVITY_OP, 900, 1000);
    }
    builder_finish(&b);
    b.study.steps.host = 0;
    b.study.steps.median_ns = b.study.steps.mean_ns = 1000 * US;
    b.study.path.leader = threads[0];
    for (size_t i = 0; i < b.study.steps.list.count; i++)
        b.study.steps.list.items[i].timeline = threads[b.study.steps.list.items[i].host];
    assert_true(analysis_replay.run(&b.study, &err));
    same(builder_fact(&b, "replay.device_bound_ns") / US, 900);
    same(builder_fact(&b, "replay.host_bound_ns") / US, 100);
    table = facts_find_table(&b.study.facts, "collective_lateness");
    assert_non_null(table);
    assert_int_equal(table->row_count, 1);
    same(builder_cell(&b, "collective_lateness", "why", "compute", "late_ns") / US, 500);
    same(builder_cell(&b, "collective_lateness", "cause", "forward", "why_ns") / US, 400);
    same(builder_cell(&b, "collective_lateness", "name", "gloo:all_reduce", "share"), 0.5);
    same(builder_cell(&b, "collective_lateness", "host", "h1", "rank"), 1);
    same(builder_cell(&b, "collective_lateness", NULL, NULL, "first_rank"), 0);
    same(builder_cell(&b, "collective_lateness", NULL, NULL, "cause_ns") / US, 400);
    same(builder_fact(&b, "efficiency.imbalance"), 2);
    same(builder_cell(&b, "rank_delays", "host", "h1", "contribution"), 1);
    same(builder_cell(&b, "rank_delays", "host", "h1", "slowdown"), 2);
    same(builder_cell(&b, "rank_delays", "host", "h0", "contribution"), 0);
    same(builder_cell(&b, "rank_delays", "host", "h0", "slowdown"), 1);
    builder_free(&b);
}
