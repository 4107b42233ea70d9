/* What a step is said to be bound by. */
#include "rank_program.h"

/* With an accelerator: 30 ms of host are the limit beside 50 ms of computing, not beside 65; and 20
 * where the schedule of several steps has more of it than of computing. */
TEST(the_schedule_has_a_word_in_the_verdict)
{
    static const struct {
        double      compute, host, critical_host, critical_compute, steps;
        const char *class_name;
    } rows[] = {
        { 0.50, 0.30, NAN, NAN, 1, "host-bound" },  { 0.65, 0.30, NAN, NAN, 1, "compute-bound" },
        { 0.75, 0.20, 60, 40, 5, "host-bound" },    { 0.75, 0.20, 40, 60, 5, "compute-bound" },
        { 0.75, 0.20, 60, 40, 1, "compute-bound" }, { 0.85, 0.10, 60, 40, 5, "compute-bound" },
    };

    for (size_t i = 0; i < ARRAY_COUNT(rows); i++) {
        struct fixture f;
        struct verdict verdict;
        struct err     err = { 0 };

        start(&f, replay_parts);
        assert_true(facts_set(&f.facts, analysis_fact("part.compute_share"), rows[i].compute));
        assert_true(facts_set(&f.facts, analysis_fact("part.host_share"), rows[i].host));
        assert_true(facts_set(&f.facts, analysis_fact("device.idle_share"), rows[i].host));
        assert_true(facts_set(&f.facts, analysis_fact("step.used"), rows[i].steps));
        if (isfinite(rows[i].critical_host)) {
            assert_true(facts_set(&f.facts, analysis_fact("replay.error"), 0.01));
            assert_true(facts_set(&f.facts, analysis_fact("replay.unknown_share"), 0.01));
            assert_true(facts_set(&f.facts, analysis_fact("replay.host_bound_ns"),
                                  rows[i].critical_host * MS));
            assert_true(facts_set(&f.facts, analysis_fact("replay.device_bound_ns"),
                                  rows[i].critical_compute * MS));
        }
        assert_true(verdict_make(&verdict, &f.facts, &f.arena, &err));
        assert_string_equal(verdict.class_name, rows[i].class_name);
        arena_free(&f.arena);
    }
}

/* Without an accelerator the class with most of the step leads, however much waits beside it; what
 * is less than 15 points behind makes it mixed. */
TEST(on_a_cpu_most_of_the_step_leads)
{
    static const struct {
        double      compute, host, input;
        const char *class_name;
    } rows[] = {
        { 0.60, 0.40, 0, "compute-bound" },
        { 0.40, 0.60, 0, "host-bound" },
        { 0.55, 0.41, 0, "mixed" },
        { 0.75, 0, 0.25, "compute-bound" },
        { 0.30, 0.10, 0.60, "input-bound" },
        { 0.45, 0.10, 0.45, "mixed" },
        { 0.28, 0.18, 0.14, "compute-bound" }, /* the second has less than a fifth */
    };

    for (size_t i = 0; i < ARRAY_COUNT(rows); i++) {
        struct fixture f;
        struct verdict verdict;
        struct err     err = { 0 };

        start(&f, replay_parts);
        assert_true(facts_set(&f.facts, analysis_fact("coverage.accelerators"), 0));
        assert_true(facts_set(&f.facts, analysis_fact("part.compute_share"), rows[i].compute));
        assert_true(facts_set(&f.facts, analysis_fact("part.host_share"), rows[i].host));
        assert_true(facts_set(&f.facts, analysis_fact("part.input_share"), rows[i].input));
        assert_true(verdict_make(&verdict, &f.facts, &f.arena, &err));
        assert_string_equal(verdict.class_name, rows[i].class_name);
        arena_free(&f.arena);
    }
}

TEST(the_verdict_follows_the_composition)
{
    static const struct {
        double      input, host, compute;
        const char *class_name;
    } rows[] = {
        { 0.29, 0.10, 0.60, "input-bound" }, { 0.05, 0.10, 0.85, "compute-bound" },
        { 0.05, 0.60, 0.35, "host-bound" },  { 0.40, 0.35, 0.25, "mixed" },
        { 0.48, 0.52, 0.00, "mixed" },       { 0.10, 0.12, 0.78, "compute-bound" },
    };

    for (size_t i = 0; i < ARRAY_COUNT(rows); i++) {
        struct fixture f;
        struct verdict verdict;
        struct err     err = { 0 };

        start(&f, replay_parts);
        facts_set(&f.facts, analysis_fact("part.input_share"), rows[i].input);
        facts_set(&f.facts, analysis_fact("part.host_share"), rows[i].host);
        facts_set(&f.facts, analysis_fact("part.compute_share"), rows[i].compute);
        assert_true(verdict_make(&verdict, &f.facts, &f.arena, &err));
        assert_string_equal(verdict.class_name, rows[i].class_name);
        if (i == 0)
            assert_string_equal(verdict.text,
                                "Input-bound: 29.0 ms (29.0 %) of each 100.0 ms step waits for "
                                "input, which could hide behind the 60.0 ms (60.0 %) that it "
                                "computes.");
        arena_free(&f.arena);
    }
}

/* Of a step of 100 ms: computing that memory holds, collectives that wait for a late rank; without
 * the facts, or with too little in them, what the parts say. */
TEST(facts_tell_verdicts_apart)
{
    static const struct {
        double      compute, communication, memory, skew; /* the last two < 0: unknown */
        const char *text;
    } rows[] = {
        { 0.90, 0.05, 0.80, 0.90,
          "Memory-bound: 90.0 ms (90.0 %) of each 100.0 ms step computes, 80.0 % of that in ops "
          "that memory limits." },
        { 0.90, 0.05, 0.40, -1, "Compute-bound: 90.0 ms (90.0 %) of each 100.0 ms step computes." },
        { 0.90, 0.05, -1, -1, "Compute-bound: 90.0 ms (90.0 %) of each 100.0 ms step computes." },
        { 0.60, 0.40, 0.80, 0.70,
          "Imbalanced: 40.0 ms (40.0 %) of each 100.0 ms step waits for collectives, ranks begin "
          "them 70.0 % of their time apart." },
        { 0.40, 0.60, 0.80, 0.20,
          "Communication-bound: 60.0 ms (60.0 %) of each 100.0 ms step waits for collectives." },
        { 0.40, 0.60, -1, -1,
          "Communication-bound: 60.0 ms (60.0 %) of each 100.0 ms step waits for collectives." },
    };

    for (size_t i = 0; i < ARRAY_COUNT(rows); i++) {
        struct fixture f;
        struct verdict verdict;
        struct err     err = { 0 };

        start(&f, replay_parts);
        facts_set(&f.facts, analysis_fact("part.compute_share"), rows[i].compute);
        facts_set(&f.facts, analysis_fact("part.communication_share"), rows[i].communication);
        if (rows[i].memory >= 0)
            facts_set(&f.facts, analysis_fact("flops.memory_bound_share"), rows[i].memory);
        if (rows[i].skew >= 0)
            facts_set(&f.facts, analysis_fact("comm.skew_share"), rows[i].skew);
        assert_true(verdict_make(&verdict, &f.facts, &f.arena, &err));
        assert_string_equal(verdict.text, rows[i].text);
        assert_int_equal(verdict.class_name[0], rows[i].text[0] - 'A' + 'a');
        arena_free(&f.arena);
    }
}

/* Of a step of 100 ms 60 are the host's, of which recording took 50: of what is left the device
 * computes 4 of 5. */
TEST(what_recording_took_is_no_verdict)
{
    struct fixture f;
    struct verdict verdict;
    struct err     err = { 0 };

    start(&f, replay_parts);
    assert_true(facts_set(&f.facts, analysis_fact("part.compute_share"), 0.4));
    assert_true(facts_set(&f.facts, analysis_fact("part.host_share"), 0.6));
    assert_true(facts_set(&f.facts, analysis_fact("device.idle_share"), 0.6));
    assert_true(facts_set(&f.facts, analysis_fact("replay.without_recorder_ns"), 50 * MS));
    assert_true(verdict_make(&verdict, &f.facts, &f.arena, &err));
    assert_string_equal(verdict.class_name, "compute-bound");
    assert_string_equal(
        verdict.text,
        "Compute-bound: 80.0 % of each step computes, once about 50.0 ms of 100.0 ms are "
        "left out that recording takes.");
    arena_free(&f.arena);
}

/* The whole recording stands for a step of 100 ms: 60 of them load and compile once. Nine tenths of
 * the rest are computing. */
TEST(start_up_is_said_beside_the_verdict)
{
    struct fixture f;
    struct verdict verdict;
    struct err     err = { 0 };

    start(&f, replay_parts);
    assert_true(facts_set(&f.facts, analysis_fact("part.compute_share"), 0.36));
    assert_true(facts_set(&f.facts, analysis_fact("part.host_share"), 0.04));
    assert_true(facts_set(&f.facts, analysis_fact("part.compile_share"), 0.6));
    assert_true(facts_set(&f.facts, analysis_fact("startup.share"), 0.6));
    assert_true(verdict_make(&verdict, &f.facts, &f.arena, &err));
    assert_string_equal(verdict.class_name, "compute-bound");
    assert_string_equal(verdict.text,
                        "Compute-bound: 36.0 ms (36.0 %) of each 100.0 ms step computes, beside "
                        "60.0 ms of start-up, which later steps do not pay.");
    arena_free(&f.arena);
}
