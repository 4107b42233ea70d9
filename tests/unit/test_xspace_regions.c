
#include "testing.h"

#include "profile_builder.h"
#include "read/xspace/xspace_regions.h"

/* Two tasks on a pool thread, 10..40 and 50..60 ns, each between two instants; a start without a
 * stop at 70 ns stays an instant. */
TEST(pairs_become_one_event)
{
    static const struct {
        const char *name;
        int64_t     at_ns;
        int64_t     duration_ns; /* expected */
    } marks[] = {
        { "ThreadpoolListener::StartRegion", 10, 30 }, { "ThreadpoolListener::StopRegion", 40, 0 },
        { "ThreadpoolListener::StartRegion", 50, 10 }, { "ThreadpoolListener::StopRegion", 60, 0 },
        { "ThreadpoolListener::StartRegion", 70, 0 },
    };
    struct profile_builder b;
    uint32_t               thread, tags[ARRAY_COUNT(marks)], start, stop;

    builder_start(&b, FORMAT_XSPACE);
    thread = builder_timeline(&b, builder_host(&b, "h"), NO_ID, "tf_XLAEigen");
    start = builder_activity(&b, "ThreadpoolListener::StartRegion", ACTIVITY_EXECUTOR, NO_ID);
    stop = builder_activity(&b, "ThreadpoolListener::StopRegion", ACTIVITY_EXECUTOR, NO_ID);
    for (size_t i = 0; i < ARRAY_COUNT(marks); i++)
        tags[i] = builder_event(&b, thread, i % 2 ? stop : start, marks[i].at_ns, 0);
    builder_finish(&b);
    assert_true(xspace_join_regions(&b.profile));
    for (size_t i = 0; i < ARRAY_COUNT(marks); i++)
        assert_int_equal(event_duration_ns(&b.profile, b.rows[tags[i]]), marks[i].duration_ns);
    assert_true(
        str_equal(profile_str(&b.profile, event_activity(&b.profile, b.rows[tags[0]])->name),
                  STR("ThreadpoolListener::Region")));
    builder_free(&b);
}
