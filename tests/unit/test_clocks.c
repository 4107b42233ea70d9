/* Clocks of hosts, aligned by the collectives that they share. */

#include "testing.h"

#include "base/macros.h"
#include "profile_builder.h"
#include "read/clocks.h"

#include <string.h>

enum { US = 1000, MS = 1000000 };

struct share { /* in a collective; a sequence of -1: told by its place in the step */
    int64_t start_ns, duration_ns, sequence;
};

static uint32_t add_collective(struct profile_builder *builder, uint32_t timeline, const char *type,
                               const struct share *part)
{
    struct collective row = { .type = builder_name(builder, type), .sequence = part->sequence };
    uint32_t tag = builder_slice(builder, timeline, type, ACTIVITY_COLLECTIVE, part->start_ns,
                                 part->duration_ns);

    assert_true(vec_push(&builder->profile.collectives, &builder->arena, row));
    builder_stat(builder, tag, STAT_COLLECTIVE, (int64_t)builder->profile.collectives.count - 1);
    return tag;
}

/* Two hosts with a thread each and these collectives; their rows are the tags 0 … and count … */
static void build(struct profile_builder *builder, const char *second, const char *type,
                  const struct share *parts, size_t count)
{
    static const char *const names[] = { "a", "b" };

    builder_start(builder, FORMAT_KINETO);
    for (uint32_t host = 0; host < 2; host++) {
        uint32_t row = builder_host(builder, host ? second : names[0]);
        uint32_t timeline = builder_timeline(builder, row, NO_ID, "thread");

        for (size_t i = 0; i < count; i++)
            (void)add_collective(builder, timeline, type, &parts[host * count + i]);
    }
    builder_finish(builder);
}

static void align(struct profile_builder *builder)
{
    struct arena scratch = { 0 };

    assert_true(clocks_align(&builder->profile, &scratch));
    arena_free(&scratch);
}

/* By hand: the first host's ends less the second's are 5000, 4990, 5000, 5010 us. The median (the
 * third of 4990 5000 5000 5010) is 5000 us; from it they deviate by 0, 10, 0, 10, mostly by 10 us
 * (the third of 0 0 10 10), less than a quarter of 5000. So the second host moves by 5 ms. The
 * earliest event is the second host's at 6000 us, at 11000 us by the clock of the first host, whose
 * earliest is at 10000: times stay as they are. */
TEST(a_shift_that_is_the_same_each_time)
{
    static const struct share parts[] = {
        { 10000 * US, 1100 * US, 0 }, { 20000 * US, 1100 * US, 1 }, { 30000 * US, 1150 * US, 2 },
        { 40000 * US, 1100 * US, 3 }, { 6000 * US, 100 * US, 0 },   { 16000 * US, 110 * US, 1 },
        { 26000 * US, 150 * US, 2 },  { 36000 * US, 90 * US, 3 },
    };
    struct profile_builder builder;
    struct profile        *profile = &builder.profile;

    build(&builder, "b", "all-reduce", parts, 4);
    align(&builder);
    assert_int_equal(profile->hosts.items[1].clock_shift_ns, 5 * MS);
    assert_int_equal(profile->hosts.items[1].clock_deviation_ns, 10 * US);
    assert_int_equal(profile->hosts.items[1].clock_meetings, 4);
    assert_int_equal(profile->hosts.items[1].clock_early, 0);
    assert_int_equal(profile->hosts.items[0].clock_shift_ns, 0);
    for (size_t i = 0; i < 4; i++) {
        assert_int_equal(event_start_ns(profile, builder.rows[i]), parts[i].start_ns);
        assert_int_equal(event_start_ns(profile, builder.rows[4 + i]),
                         parts[4 + i].start_ns + 5 * MS);
    }
    assert_int_equal(profile->notes.count, 1);
    builder_free(&builder);
}

/* The second host's clock is ahead by 8 ms: moved back its first event is at 1 - 8 = -7 ms, so that
 * all times grow by 7 ms. Collectives without a number are told by their order. */
TEST(times_begin_at_zero)
{
    static const struct share parts[] = {
        { 2 * MS, 1 * MS, -1 },  { 12 * MS, 1 * MS, -1 }, { 22 * MS, 1 * MS, -1 },
        { 32 * MS, 1 * MS, -1 }, { 1 * MS, 10 * MS, -1 }, { 20 * MS, 1 * MS, -1 },
        { 30 * MS, 1 * MS, -1 }, { 40 * MS, 1 * MS, -1 },
    };
    struct profile_builder builder;

    build(&builder, "b", "barrier", parts, 4);
    align(&builder);
    assert_int_equal(builder.profile.hosts.items[1].clock_shift_ns, -8 * MS);
    assert_int_equal(event_start_ns(&builder.profile, builder.rows[4]), 0);
    assert_int_equal(event_start_ns(&builder.profile, builder.rows[0]), 9 * MS);
    assert_int_equal(event_start_ns(&builder.profile, builder.rows[7]), 39 * MS);
    builder_free(&builder);
}

/* Left alone: ends 4.9 ms apart on machines of one name, those of a broadcast (whose sender may
 * leave early), numbers that only one host has, fewer than four, and differences of 5, -7, 14 and
 * 0 ms: their median (the third of -7 0 5 14) is 5, from which they deviate by 0, 12, 9 and 5,
 * mostly (the third of 0 5 9 12) by 9 ms. There one host ends at 31 ms before the other begins at
 * 37, and the other at 49 before the first begins at 50: two that cannot be. */
TEST(what_is_no_shift)
{
    static const struct {
        const char  *second, *type;
        size_t       count;
        uint32_t     meetings, early;
        struct share parts[8];
    } rows[] = {
        { "a",
          "all-reduce",
          4,
          4,
          0,
          { { 10 * MS, 5 * MS, 0 },
            { 20 * MS, 5 * MS, 1 },
            { 30 * MS, 5 * MS, 2 },
            { 40 * MS, 5 * MS, 3 },
            { 10 * MS, 100 * US, 0 },
            { 20 * MS, 100 * US, 1 },
            { 30 * MS, 100 * US, 2 },
            { 40 * MS, 100 * US, 3 } } },
        { "b",
          "broadcast",
          4,
          0,
          0,
          { { 10 * MS, 5 * MS, 0 },
            { 20 * MS, 5 * MS, 1 },
            { 30 * MS, 5 * MS, 2 },
            { 40 * MS, 5 * MS, 3 },
            { 10 * MS, 100 * US, 0 },
            { 20 * MS, 100 * US, 1 },
            { 30 * MS, 100 * US, 2 },
            { 40 * MS, 100 * US, 3 } } },
        { "b",
          "all-reduce",
          4,
          0,
          0,
          { { 10 * MS, 5 * MS, 0 },
            { 20 * MS, 5 * MS, 1 },
            { 30 * MS, 5 * MS, 2 },
            { 40 * MS, 5 * MS, 3 },
            { 10 * MS, 100 * US, 4 },
            { 20 * MS, 100 * US, 5 },
            { 30 * MS, 100 * US, 6 },
            { 40 * MS, 100 * US, 7 } } },
        { "b",
          "all-reduce",
          2,
          0,
          0,
          { { 10 * MS, 5 * MS, 0 },
            { 20 * MS, 5 * MS, 1 },
            { 10 * MS, 100 * US, 0 },
            { 20 * MS, 100 * US, 1 } } },
        { "b",
          "all-reduce",
          4,
          4,
          2,
          { { 10 * MS, 10 * MS, 0 },
            { 30 * MS, 1 * MS, 1 },
            { 50 * MS, 13 * MS, 2 },
            { 70 * MS, 1 * MS, 3 },
            { 10 * MS, 5 * MS, 0 },
            { 37 * MS, 1 * MS, 1 },
            { 47 * MS, 2 * MS, 2 },
            { 70 * MS, 1 * MS, 3 } } },
    };

    for (size_t i = 0; i < ARRAY_COUNT(rows); i++) {
        struct profile_builder builder;
        const struct host     *host;

        build(&builder, rows[i].second, rows[i].type, rows[i].parts, rows[i].count);
        align(&builder);
        host = &builder.profile.hosts.items[1];
        assert_int_equal(host->clock_shift_ns, 0);
        assert_int_equal(host->clock_meetings, rows[i].meetings);
        assert_int_equal(host->clock_early, rows[i].early);
        assert_int_equal(event_start_ns(&builder.profile, builder.rows[0]), 10 * MS);
        builder_free(&builder);
    }
}
