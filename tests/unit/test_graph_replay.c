/* graph_replay: what edits of an accelerator's work save in the event graph of a hand-made step. */

#include "testing.h"

#include "analyze/replay/graph_replay.h"
#include "one_step.h"

#define COMPUTE (UINT32_C(1) << PART_COMPUTE)
#define HOST (UINT32_C(1) << PART_HOST)

/*
 * The step of one_step.h: the host waits for A, 20..120, and goes on 10 behind it, until 400; of B,
 * 290..390, nobody waits for the end.
 *   A in half its time           50 less
 *   A gone, its launch (5) too   105 less
 *   A beside the step            100 less
 *   60 of all kernels less       200 become 140: each 0.7 of what it was, 30 less of A
 *   B gone                       its launch 5 less
 *   B in half its time           nothing
 *   host work, or all parts      is not for this graph
 *
 * Recorded by Kineto, half of each of the thread's stretches below 40 us is taken for the
 * recorder's: 0..10, the launches and 15..20. A then begins at 15, 10 behind its launch, the wait
 * ends at 125 and the step at 392.5, as the launch of B takes 2.5, too. What is saved of that
 * counts 400 / 392.5 times, in the length of the recorded step: A in half its time           50 A
 * gone, its launch too       the thread comes to the wait at 7.5 and goes on at 17.5 instead of 125
 *   A beside the step            it comes there at 10 and goes on at 20
 *   60 of all kernels less       30
 *   B gone                       2.5
 */
TEST(edits_of_kernels)
{
    static const struct {
        struct edit edit;
        bool        is_for_graph;
        double      saved_us, without_recorder_us;
    } cases[] = {
        { { .kind = EDIT_SCALE,
            .select = { .part_mask = COMPUTE, .name = "A", .host = NO_ID },
            .factor = 0.5 },
          true,
          50,
          50 },
        { { .kind = EDIT_SCALE, .select = { .part_mask = COMPUTE, .name = "A", .host = NO_ID } },
          true,
          105,
          107.5 },
        { { .kind = EDIT_OVERLAP, .select = { .part_mask = COMPUTE, .name = "A", .host = NO_ID } },
          true,
          100,
          105 },
        { { .kind = EDIT_SUBTRACT,
            .select = { .part_mask = COMPUTE, .host = NO_ID },
            .ns = 60 * US },
          true,
          30,
          30 },
        { { .kind = EDIT_SCALE, .select = { .part_mask = COMPUTE, .name = "B", .host = NO_ID } },
          true,
          5,
          2.5 },
        { { .kind = EDIT_SCALE,
            .select = { .part_mask = COMPUTE, .name = "B", .host = NO_ID },
            .factor = 0.5 },
          true,
          0,
          0 },
        { { .kind = EDIT_SCALE, .select = { .part_mask = HOST, .host = NO_ID } }, false, 0, 0 },
        { { .kind = EDIT_SCALE, .select = { .part_mask = COMPUTE | HOST, .host = NO_ID } },
          false,
          0,
          0 },
        { { .kind = EDIT_SCALE, .select = { .name = "A", .host = NO_ID } }, false, 0, 0 },
        { { .kind = EDIT_STEP, .select = { .host = NO_ID }, .ns = 10 }, false, 0, 0 },
    };
    struct one_step step;

    for (int is_kineto = 0; is_kineto < 2; is_kineto++) {
        one_step_make(&step);
        step.b.study.path.has_device = true;
        step.b.profile.format = is_kineto ? FORMAT_KINETO : FORMAT_GRAPH;
        for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
            struct graph_replay_result result = { 0 };
            double                     saved_us =
                is_kineto ? cases[i].without_recorder_us * 400 / 392.5 : cases[i].saved_us;

            assert_int_equal(graph_replay_run(&step.b.study, &cases[i].edit, 1, &result),
                             cases[i].is_for_graph);
            assert_true(result.saved_ns > (saved_us - 0.01) * US);
            assert_true(result.saved_ns < (saved_us + 0.01) * US);
            if (cases[i].is_for_graph)
                same((result.step_ns + result.saved_ns) / US, 400);
        }
        one_step_free(&step);
    }
}

/*
 * Calls of the same step. Without the wait the thread goes on at 20, not at 130, and ends at 290;
 * B, enqueued at 170, is done at 280: 110 less, by name or as a call with a wait inside. One that
 * takes 4 at most saves 106. Launches have no wait inside. Where the wait is not made and the rest
 * of the thread takes half, it has done in 145, but kernels take 200 of each step, and 1 between
 * them: 199 less.
 *
 * Without what recording took the step ends at 392.5, and without the wait at 277.5, as 5 of 0..10,
 * the launches and 15..20 are gone: 115 less. 4 for the wait are 111 less; the last is 201 again.
 */
TEST(edits_of_calls)
{
    static const char wait[] = "cudaStreamSynchronize";
    static const struct {
        struct edit edits[2];
        size_t      count;
        double      saved_us, without_recorder_us;
    } cases[] = {
        { { { .kind = EDIT_OMIT, .select = { .name = wait, .host = NO_ID } } }, 1, 110, 115 },
        { { { .kind = EDIT_OMIT,
              .select = { .name = wait, .kind_mask = KIND_BIT(ACTIVITY_SYNC), .host = NO_ID } } },
          1,
          110,
          115 },
        { { { .kind = EDIT_OMIT,
              .select = { .name = "cudaLaunch.*",
                          .kind_mask = KIND_BIT(ACTIVITY_SYNC),
                          .host = NO_ID } } },
          1,
          0,
          0 },
        { { { .kind = EDIT_UNBLOCK, .select = { .name = wait, .host = NO_ID }, .ns = 4 * US } },
          1,
          106,
          111 },
        { { { .kind = EDIT_OMIT, .select = { .name = wait, .host = NO_ID } },
            { .kind = EDIT_SCALE, .select = { .part_mask = HOST, .host = NO_ID }, .factor = 0.5 } },
          2,
          199,
          191.5 },
    };
    struct one_step step;

    for (int is_kineto = 0; is_kineto < 2; is_kineto++) {
        one_step_make(&step);
        step.b.study.path.has_device = true;
        step.b.profile.format = is_kineto ? FORMAT_KINETO : FORMAT_GRAPH;
        for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
            struct graph_replay_result result = { 0 };

            assert_true(graph_replay_run(&step.b.study, cases[i].edits, cases[i].count, &result));
            same(result.saved_ns / US,
                 is_kineto ? cases[i].without_recorder_us * 400 / 392.5 : cases[i].saved_us);
        }
        one_step_free(&step);
    }
}

/* Without an accelerator on the path there is no such graph, even if the profile could have one. */
TEST(needs_an_accelerator)
{
    struct edit edit = { .kind = EDIT_SCALE, .select = { .part_mask = COMPUTE, .host = NO_ID } };
    struct graph_replay_result result;
    struct one_step            step;

    one_step_make(&step);
    assert_false(graph_replay_run(&step.b.study, &edit, 1, &result));
    one_step_free(&step);
}
