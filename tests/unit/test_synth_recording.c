/* When things happen: times calculated by hand from the rules in recording.h. */

#include "testing.h"

#include "base/macros.h"
#include "synth/recording.h"

#include <string.h>

struct made {
    struct arena     arena;
    struct sketch    sketch;
    struct recording recording;
};

static void make(struct made *made, const char *text, const struct recording_options *options)
{
    struct err err = { 0 };

    *made = (struct made) { .arena.budget_bytes = 1 << 24 };
    assert_true(sketch_parse(str_from(text), &made->arena, &made->sketch, &err));
    assert_true(recording_make(&made->sketch, options, &made->arena, &made->recording, &err));
}

static const struct recording_options as_it_is = { .change.factor = 1 };

/* The n-th event of a word and role. */
static const struct recorded_event *event(const struct made *made, enum sketch_word word,
                                          enum recorded_role role, int n)
{
    for (size_t i = 0; i < made->recording.events.count; i++) {
        const struct recorded_event *row = &made->recording.events.items[i];

        if (made->sketch.lines.items[row->line].word == word && row->role == role && n-- == 0)
            return row;
    }
    fail();
    return NULL;
}

#define assert_span(row, from_ns, length_ns)                                                       \
    do {                                                                                           \
        assert_int_equal((row)->start_ns, from_ns);                                                \
        assert_int_equal((row)->duration_ns, length_ns);                                           \
    } while (0)

TEST(a_thread_does_one_line_after_the_other)
{
    struct made made;

    make(&made,
         "step 10ms x2\n"
         "  op A 2ms\n"
         "    op B 500us\n" /* begins with A, which goes on for 1.5 ms */
         "  gap 1ms\n"
         "  op C\n" /* as long as what it holds: 3 ms */
         "    op D 1ms x3\n"
         "  op E 1ms at 8ms\n",
         &as_it_is);
    assert_span(event(&made, WORD_STEP, ROLE_STEP, 0), 0, 10000000);
    assert_span(event(&made, WORD_STEP, ROLE_STEP, 1), 10000000, 10000000);
    assert_span(event(&made, WORD_OP, ROLE_SELF, 0), 0, 2000000);        /* A */
    assert_span(event(&made, WORD_OP, ROLE_SELF, 1), 0, 500000);         /* B */
    assert_span(event(&made, WORD_OP, ROLE_SELF, 2), 3000000, 3000000);  /* C */
    assert_span(event(&made, WORD_OP, ROLE_SELF, 5), 5000000, 1000000);  /* the third D */
    assert_span(event(&made, WORD_OP, ROLE_SELF, 6), 8000000, 1000000);  /* E */
    assert_span(event(&made, WORD_OP, ROLE_SELF, 7), 10000000, 2000000); /* A again */
    arena_free(&made.arena);
}

TEST(threads_go_on_where_they_were)
{
    struct made made;

    /* The loader needs 6 ms a step of 4 ms: its second element begins at 6, not at 4; main waits
     * for it, so that the first step ends at 6 and the second at 12. */
    make(&made,
         "step 4ms x2\n"
         "  thread loader\n"
         "    range read 6ms\n"
         "  wait loader\n",
         &as_it_is);
    assert_span(event(&made, WORD_RANGE, ROLE_SELF, 1), 6000000, 6000000);
    assert_span(event(&made, WORD_STEP, ROLE_STEP, 0), 0, 6000000);
    assert_span(event(&made, WORD_STEP, ROLE_STEP, 1), 6000000, 6000000);
    arena_free(&made.arena);
}

TEST(device_work_waits_for_call_and_stream)
{
    const struct recorded_event *first, *second;
    struct made                  made;

    /* Calls take 5 us each. The first kernel runs from 5 to 2005 us, the second behind it. The
     * blocking copy on another stream begins at 15 us and holds its call until 1015. The sync
     * waits for stream 7. */
    make(&made,
         "step\n"
         "  kernel a 2ms\n"
         "  kernel b 1ms\n"
         "  copy d2h 1ms stream 9 blocking\n"
         "  sync stream 7\n",
         &as_it_is);
    first = event(&made, WORD_KERNEL, ROLE_WORK, 0);
    second = event(&made, WORD_KERNEL, ROLE_WORK, 1);
    assert_span(event(&made, WORD_KERNEL, ROLE_LAUNCH, 1), 5000, 5000);
    assert_span(first, 5000, 2000000);
    assert_span(second, 2005000, 1000000);
    assert_span(event(&made, WORD_COPY, ROLE_WORK, 0), 15000, 1000000);
    assert_span(event(&made, WORD_COPY, ROLE_LAUNCH, 0), 10000, 1005000);
    assert_span(event(&made, WORD_SYNC, ROLE_SELF, 0), 1015000, 1990000);
    assert_span(event(&made, WORD_STEP, ROLE_STEP, 0), 0, 3005000);
    assert_int_equal(first->link, event(&made, WORD_KERNEL, ROLE_LAUNCH, 0)->link);
    assert_int_not_equal(first->link, second->link);
    arena_free(&made.arena);
}

TEST(memory_is_counted_in_the_order_of_time)
{
    struct made made;

    /* In use: 1 kB before; +4 kB, +2 kB, then the newest "a" (2 kB) goes, then the other. */
    make(&made,
         "gpu G used 1KB\n"
         "step\n"
         "  alloc a 4KB\n"
         "  gap 1ms\n"
         "  alloc a 2KB\n"
         "  gap 1ms\n"
         "  free a x2\n",
         &as_it_is);
    assert_int_equal(event(&made, WORD_ALLOC, ROLE_SELF, 0)->in_use_bytes, 5000);
    assert_int_equal(event(&made, WORD_ALLOC, ROLE_SELF, 1)->in_use_bytes, 7000);
    assert_int_equal(event(&made, WORD_FREE, ROLE_SELF, 0)->in_use_bytes, 5000);
    assert_int_equal(event(&made, WORD_FREE, ROLE_SELF, 0)->bytes, 2000);
    assert_int_equal(event(&made, WORD_FREE, ROLE_SELF, 1)->in_use_bytes, 1000);
    assert_int_equal(event(&made, WORD_FREE, ROLE_SELF, 1)->peak_bytes, 7000);
    assert_int_equal(event(&made, WORD_FREE, ROLE_SELF, 1)->number,
                     event(&made, WORD_ALLOC, ROLE_SELF, 0)->number);
    arena_free(&made.arena);
}

TEST(ranks_have_lines_of_their_own)
{
    static const char text[] = "ranks 4\nstep\n  op A 1ms\n  rank 2 to 3\n    op A 1ms\n";
    /* Two ops on ranks 2 and 3, one on the others. */
    static const int64_t lengths_ns[] = { 1000000, 1000000, 2000000, 2000000 };

    for (uint32_t rank = 0; rank < 4; rank++) {
        struct recording_options options = { .rank = rank, .change.factor = 1 };
        struct made              made;

        make(&made, text, &options);
        assert_span(event(&made, WORD_STEP, ROLE_STEP, 0), 0, lengths_ns[rank]);
        arena_free(&made.arena);
    }
}

TEST(a_change_reaches_all_lines_of_its_word)
{
    const struct recording_options doubled = { .change = { WORD_OP, 2 } };
    struct made                    made;

    /* Ops of 1 and 2 ms become 2 and 4; the range of 3 ms stays, and so does the step, which has
     * room: 2 + 4 + 3 = 9. */
    make(&made, "step 10ms\n  op A 1ms\n  op B 2ms\n  range r 3ms\n", &doubled);
    assert_span(event(&made, WORD_OP, ROLE_SELF, 1), 2000000, 4000000);
    assert_span(event(&made, WORD_RANGE, ROLE_SELF, 0), 6000000, 3000000);
    assert_span(event(&made, WORD_STEP, ROLE_STEP, 0), 0, 10000000);
    arena_free(&made.arena);
}

/* Allocations of 2 and 3 kB become 1 and 1.5 kB. */
TEST(a_change_reaches_sizes)
{
    const struct recording_options halved = { .change = { WORD_ALLOC, 0.5 } };
    struct made                    made;

    make(&made, "step\n  alloc a 2KB\n  alloc b 3KB\n  op A 1ms\n", &halved);
    assert_int_equal(event(&made, WORD_ALLOC, ROLE_SELF, 0)->bytes, 1000);
    assert_int_equal(event(&made, WORD_ALLOC, ROLE_SELF, 1)->in_use_bytes, 2500);
    assert_span(event(&made, WORD_OP, ROLE_SELF, 0), 0, 1000000);
    arena_free(&made.arena);
}

TEST(noise_is_the_same_for_the_same_seed)
{
    static const char        text[] = "noise 2%\nseed 7\nstep x400\n  op A 1ms\n";
    struct recording_options other = { .change.factor = 1, .has_seed = true, .seed = 8 };
    struct made              one, again, third;
    double                   sum = 0, squares = 0;
    int                      differences = 0;

    make(&one, text, &as_it_is);
    make(&again, text, &as_it_is);
    make(&third, text, &other);
    for (int i = 0; i < 400; i++) {
        int64_t ns = event(&one, WORD_OP, ROLE_SELF, i)->duration_ns;
        double  share = (double)ns / 1e6 - 1;

        assert_int_equal(ns, event(&again, WORD_OP, ROLE_SELF, i)->duration_ns);
        differences += ns != event(&third, WORD_OP, ROLE_SELF, i)->duration_ns;
        sum += share;
        squares += share * share;
    }
    /* 400 draws: the mean is within 4 * 0.02 / 20 of 0, the deviation near 0.02. */
    assert_true(sum / 400 < 0.004 && sum / 400 > -0.004);
    assert_true(squares / 400 > 0.018 * 0.018 && squares / 400 < 0.022 * 0.022);
    assert_true(differences > 390);
    arena_free(&one.arena);
    arena_free(&again.arena);
    arena_free(&third.arena);
}

/* Pace is one factor for all of a recording, another one for each seed. */
TEST(pace_changes_all_alike)
{
    static const char text[] = "pace 10%\nstep x2\n  op A 1ms\n  op B 4ms\n";
    struct made       made;
    int64_t           last_ns = 0;

    for (uint64_t seed = 0; seed < 5; seed++) {
        struct recording_options options = { .change.factor = 1, .has_seed = true, .seed = seed };
        int64_t                  a_ns, b_ns;

        make(&made, text, &options);
        a_ns = event(&made, WORD_OP, ROLE_SELF, 0)->duration_ns;
        b_ns = event(&made, WORD_OP, ROLE_SELF, 3)->duration_ns;
        assert_true(b_ns >= 4 * a_ns - 2 && b_ns <= 4 * a_ns + 2);
        assert_int_not_equal(a_ns, last_ns);
        last_ns = a_ns;
        arena_free(&made.arena);
    }
}
