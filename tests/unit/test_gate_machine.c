/* Steps that changed with the machine or with the recorder rather than with the code, on programs
 * made by hand that an accelerator runs. */
#include "gate_program.h"

enum { OPS = 6, KERNELS = 6 };
struct recorded {
    double host; /* what calls of the host take, of the usual: every other one a fifth less, the
                    rest a fifth more */
    double step_ns, without_recorder_ns;
    double kernel; /* the first of the kernels, of the usual */
    double syncs;
};

static double skewed(double factor, size_t i)
{
    if (factor == 1)
        return 1;
    return i % 2 == 0 ? factor - 0.2 : factor + 0.2;
}

static void make_recorded(struct summary *summary, const struct recorded *recorded,
                          struct arena *arena)
{
    static const char *const names[OPS] = { "mm", "addmm", "norm", "add", "empty", "copy" };
    struct random            random = { .state = 5 };
    struct program           program = usual;

    program.step_ns = recorded->step_ns;
    make(summary, &program, 1, &random, arena);
    for (size_t i = 0; i < OPS; i++)
        assert_true(
            vec_push(&summary->items[ITEM_OP].rows, arena,
                     row(names[i], "", "", "", 1e6 * (double)(i + 1) * skewed(recorded->host, i))));
    summary->items[ITEM_KERNEL].rows.items[KERNELS - 1].ns *= recorded->kernel;
    summary->runs.items[0].counts[COUNT_SYNCS] =
        (struct count_value) { recorded->syncs, recorded->syncs, recorded->syncs, true };
    assert_true(add_fact(summary, "step.ns", recorded->step_ns, arena));
    if (recorded->without_recorder_ns > 0)
        assert_true(
            add_fact(summary, "replay.without_recorder_ns", recorded->without_recorder_ns, arena));
}

/* The outcomes of the checks of time and of blocking calls. */
struct answer {
    enum outcome time, syncs;
    bool         says; /* the title of that of time has what is asked for */
};

static struct answer judge_both(const struct recorded *was, const struct recorded *is,
                                const char *said)
{
    const struct gate_limits limits = { .max_regression = 0.05 };
    struct summary           before, after;
    struct arena             arena = { 0 };
    struct err               err = { 0 };
    struct gate_result       result;
    struct answer            answer = { OUTCOME_PASS, OUTCOME_PASS, false };

    make_recorded(&before, was, &arena);
    make_recorded(&after, is, &arena);
    assert_true(gate_run(&before, &after, &limits, &arena, &result, &err));
    for (size_t i = 0; i < result.checks.count; i++) {
        const struct check *check = &result.checks.items[i];

        if (check->kind == CHECK_TIME) {
            answer.time = check->outcome;
            answer.says = strstr(check->title, said) || strstr(check->detail, said);
        } else if (strcmp(check->id, "count/syncs") == 0) {
            answer.syncs = check->outcome;
        }
    }
    arena_free(&arena);
    return answer;
}

/* 100 ms, of which the recorder took 10, and now 115 ms, of which it takes 45: 70 instead of 90. */
TEST(a_step_that_only_the_recorder_makes_slower_is_inconclusive)
{
    const struct recorded was = { 1, 100e6, 90e6, 1, 4 }, is = { 1, 115e6, 70e6, 1, 5 };
    struct answer         answer = judge_both(&was, &is, "faster without what recording takes");

    assert_int_equal(answer.time, OUTCOME_INCONCLUSIVE);
    assert_true(answer.says);
    assert_int_equal(answer.syncs, OUTCOME_INCONCLUSIVE); /* bought by a faster step, maybe */
    answer = judge_both(&was, &is, "without that about 70.0 ms, was 90.0 ms (-22.2 %)");
    assert_true(answer.says);
}

TEST(a_step_that_only_the_recorder_makes_faster_is_inconclusive)
{
    const struct recorded was = { 1, 115e6, 70e6, 1, 4 }, is = { 1, 100e6, 90e6, 1, 5 };
    struct answer         answer = judge_both(&was, &is, "slower without what recording takes");

    assert_int_equal(answer.time, OUTCOME_INCONCLUSIVE);
    assert_true(answer.says);
    assert_int_equal(answer.syncs, OUTCOME_FAIL);
}

/* Both ways of looking agree, or only one side can be looked at without the recorder. */
TEST(a_step_that_is_slower_either_way_fails)
{
    const struct recorded was = { 1, 100e6, 90e6, 1, 4 }, is = { 1, 120e6, 105e6, 1, 4 };
    const struct recorded unknown = { 1, 120e6, 0, 1, 4 };

    assert_int_equal(judge_both(&was, &is, "").time, OUTCOME_FAIL);
    assert_int_equal(judge_both(&was, &unknown, "").time, OUTCOME_FAIL);
    assert_int_equal(judge_both(&is, &was, "").time, OUTCOME_PASS);
}

/* Calls of the host take half as long again, and without copy, which grew most, (1.3 + 3.4 + 3.9 +
 * 6.8 + 6.5) / 15 = 1.46 times as long; kernels take what they took: other programs run on the
 * host. Where a kernel of the six takes twice as long, (1 + 2 + 3 + 4 + 5 + 12) / 21 = 1.29 times
 * as much of the device, the code changed. */
TEST(a_busy_host_of_a_device_is_told_from_slower_code)
{
    const struct recorded was = { 1, 100e6, 0, 1, 4 }, busy = { 1.5, 140e6, 0, 1, 4 };
    const struct recorded code = { 1.5, 140e6, 0, 2, 4 };
    struct answer         answer = judge_both(&was, &busy, "takes 1.46 times as long");

    assert_int_equal(answer.time, OUTCOME_INCONCLUSIVE);
    assert_true(answer.says);
    assert_int_equal(judge_both(&was, &code, "").time, OUTCOME_FAIL);
}

/* A baseline of a busy host, and more blocking calls on a quiet one: that the step is shorter does
 * not excuse them. */
TEST(a_baseline_of_a_busy_host_excuses_no_counts)
{
    const struct recorded busy = { 1.5, 140e6, 0, 1, 4 }, quiet = { 1, 100e6, 0, 1, 9 };
    const struct recorded faster = { 1, 140e6, 0, 1, 4 };
    struct answer         answer = judge_both(&busy, &quiet, "took 1.46 times as long");

    assert_int_equal(answer.time, OUTCOME_WARN);
    assert_true(answer.says);
    assert_int_equal(answer.syncs, OUTCOME_FAIL);
    /* Where calls take what they took, the step became faster by itself. */
    assert_int_equal(judge_both(&faster, &quiet, "").syncs, OUTCOME_WARN);
}
