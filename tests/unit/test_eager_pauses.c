/* eager_pauses: what counts as a pause of the program. Times in us of a step of 10 ms. */
#include "analyze/eager/eager_pauses.h"

#include "profile_builder.h"
#include "testing.h"

#include <math.h>

enum { MOST_CALLS = 6 };

struct steps_case {
    const char *what;
    int         steps;
    struct {
        int64_t start_us, end_us; /* end 0: none */
    } calls[5][MOST_CALLS];
    double sum_us, longest_us;
};

TEST(pauses)
{
    /* Short pauses of 10 us are the median. Long are those of 80 us and more. */
    static const struct steps_case cases[] = {
        /* 3 ms between the second and third call of each step, and none at the edges */
        { "the same place in each step",
          3,
          { { { 0, 1000 }, { 1010, 2000 }, { 5000, 6000 }, { 6010, 9990 }, { 9995, 10000 } },
            { { 0, 1000 }, { 1010, 2000 }, { 4800, 6000 }, { 6010, 9990 }, { 9995, 10000 } },
            { { 0, 1000 }, { 1010, 2000 }, { 5100, 6000 }, { 6010, 9990 }, { 9995, 10000 } } },
          3000,
          3000 },
        { "one step alone",
          3,
          { { { 0, 1000 }, { 1010, 2000 }, { 5000, 6000 }, { 6010, 9990 }, { 9995, 10000 } },
            { { 0, 1000 }, { 1010, 2000 }, { 2010, 6000 }, { 6010, 9990 }, { 9995, 10000 } },
            { { 0, 1000 }, { 1010, 2000 }, { 2010, 6000 }, { 6010, 9990 }, { 9995, 10000 } } },
          0,
          0 },
        { "too few steps",
          2,
          { { { 0, 1000 }, { 5000, 6000 } }, { { 0, 1000 }, { 5000, 6000 } } },
          0,
          0 },
        /* the edges: 500 us before the first call and 400 behind the last one */
        { "edges of the step",
          3,
          { { { 500, 2000 }, { 2010, 3000 }, { 3010, 6000 }, { 6005, 9000 }, { 9010, 9600 } },
            { { 500, 2000 }, { 2010, 3000 }, { 3010, 6000 }, { 6005, 9000 }, { 9010, 9600 } },
            { { 500, 2000 }, { 2010, 3000 }, { 3010, 6000 }, { 6005, 9000 }, { 9010, 9600 } } },
          900,
          500 },
        /* other numbers of calls: sums 1000, 2000, 3000 and longest 1000, 2000, 2000; what three
         * of four steps have at least */
        { "steps that differ",
          3,
          { { { 0, 1000 }, { 2000, 5000 }, { 5010, 10000 } },
            { { 0, 1000 }, { 3000, 5000 }, { 5010, 7000 }, { 7010, 10000 } },
            { { 0, 1000 }, { 3000, 5000 }, { 6000, 7000 }, { 7010, 9000 }, { 9010, 10000 } } },
          1000,
          1000 },
    };

    for (size_t c = 0; c < ARRAY_COUNT(cases); c++) {
        struct arena       scratch = { 0 };
        struct eager_calls calls = { 0 };
        struct interval    windows[5];
        double             sum_ns, longest_ns;

        print_message("%s\n", cases[c].what);
        for (int step = 0; step < cases[c].steps; step++) {
            windows[step] = (struct interval) { step * 10000000, (step + 1) * 10000000 };
            for (int i = 0; i < MOST_CALLS && cases[c].calls[step][i].end_us; i++) {
                struct eager_call call = {
                    .start_ns = windows[step].start_ns + cases[c].calls[step][i].start_us * 1000,
                    .end_ns = windows[step].start_ns + cases[c].calls[step][i].end_us * 1000,
                    .window = (uint32_t)step
                };

                assert_true(vec_push(&calls.list, &scratch, call));
            }
        }
        calls.windows = (struct windows) { .items = windows, .count = (size_t)cases[c].steps };
        assert_true(eager_pauses(&calls, &scratch, &sum_ns, &longest_ns));
        assert_true(sum_ns == cases[c].sum_us * 1000);
        assert_true(longest_ns == cases[c].longest_us * 1000);
        arena_free(&scratch);
    }
}

/* One step that is looked at, of 10 ms: its pause of 3 ms counts where the median step is as long,
 * and not where the median is 7 ms: then the pause is its own. */
TEST(one_step_that_is_typical)
{
    for (int is_typical = 0; is_typical < 2; is_typical++) {
        struct arena       scratch = { 0 };
        struct eager_calls calls = { 0 };
        struct interval    window = { 0, 10000000 };
        double             sum_ns, longest_ns;

        for (int i = 0; i < 4; i++) {
            int64_t start_ns = i < 2 ? i * 1000000 : 3000000 + i * 1000000;

            assert_true(
                vec_push(&calls.list, &scratch,
                         (struct eager_call) { .start_ns = start_ns,
                                               .end_ns = i == 3 ? 10000000 : start_ns + 1000000 }));
        }
        calls.windows = (struct windows) { .items = &window,
                                           .count = 1,
                                           .step_ns = is_typical ? 10000000 : 7000000 };
        assert_true(eager_pauses(&calls, &scratch, &sum_ns, &longest_ns));
        assert_true(sum_ns == (is_typical ? 3000000 : 0));
        arena_free(&scratch);
    }
}

/* An optimizer's range is the program at work: it fills the pause. */
TEST(ranges_are_no_pauses)
{
    struct arena       scratch = { 0 };
    struct eager_calls calls = { 0 };
    struct interval    windows[3];
    double             sum_ns, longest_ns;

    for (uint32_t step = 0; step < 3; step++) {
        int64_t start_ns = step * 10000000;

        windows[step] = (struct interval) { start_ns, start_ns + 10000000 };
        assert_true(vec_push(&calls.list, &scratch,
                             (struct eager_call) { .start_ns = start_ns,
                                                   .end_ns = start_ns + 4000000,
                                                   .window = step }));
        assert_true(vec_push(
            &calls.ranges, &scratch,
            (struct eager_range) { start_ns + 4000000, start_ns + 10000000, step, PHASE_UPDATE }));
    }
    calls.windows = (struct windows) { .items = windows, .count = 3 };
    assert_true(eager_pauses(&calls, &scratch, &sum_ns, &longest_ns));
    assert_true(sum_ns == 0 && longest_ns == 0);
    arena_free(&scratch);
}
