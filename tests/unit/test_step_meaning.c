/* What a step was taken to be, in words. */

#include "testing.h"

#include "analyze/step/step_meaning.h"
#include "profile_builder.h"

static void says(struct str words, const char *expected)
{
    assert_true(str_equal(words, str_from(expected)));
}

/* The number behind a function's name tells its graphs apart. */
TEST(calls_of_functions)
{
    static const struct {
        const char *family, *words;
    } cases[] = {
        { "predict_last_753", "a call of predict_last" },
        { "conv2d", "a call of conv2d" },
        { "", "a run of the session" },
    };
    struct profile_builder b;

    builder_start(&b, FORMAT_XSPACE);
    builder_finish(&b);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct marker  marker = { .family =
                                      intern_add(b.study.facts.names, str_from(cases[i].family)) };
        struct markers markers = { 0 };

        assert_true(vec_push(&markers.list, &b.arena, marker));
        says(step_is_call(&b.study, &markers), cases[i].words);
    }
    builder_free(&b);
}

TEST(runs_of_programs)
{
    struct profile_builder b;
    struct markers         markers = { 0 };
    uint32_t               thread, op, bare;

    builder_start(&b, FORMAT_XSPACE);
    thread = builder_timeline(&b, builder_host(&b, "h"), NO_ID, "worker");
    op = builder_op(&b, "dot.1", "dot", NULL);
    b.profile.ops.items[op].module = builder_name(&b, "jit_decode");
    builder_event(&b, thread, builder_activity(&b, "dot.1", ACTIVITY_OP, op), 0, 10);
    bare = builder_slice(&b, thread, "kernel", ACTIVITY_OP, 20, 10);
    builder_finish(&b);
    assert_true(vec_push(&markers.list, &b.arena, ((struct marker) { .event = 0 })));
    says(step_is_run(&b.study, &markers), "a run of jit_decode");
    markers.list.items[0].event = b.rows[bare];
    says(step_is_run(&b.study, &markers), "a run of the program that takes most time");
    builder_free(&b);
}

TEST(runs_of_a_session)
{
    struct profile_builder b;

    builder_start(&b, FORMAT_GRAPH);
    builder_finish(&b);
    says(step_is_sessions(&b.study, 1), "a run of the session");
    says(step_is_sessions(&b.study, 3), "3 runs of the session, one after the other");
    builder_free(&b);
}
