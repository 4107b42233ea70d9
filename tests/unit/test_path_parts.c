/* path_parts: which segment a time lies in, from wherever it is looked for. */
#include "analyze/path/path.h"

#include "base/macros.h"
#include "testing.h"

/* Segments of 1, 2, 3 … with a pause of 5 behind the tenth: the first that ends behind a time, by a
 * walk over all. */
TEST(looked_for_from_anywhere)
{
    enum { SEGMENTS = 40 };
    static struct segment segments[SEGMENTS];
    struct path           path = { 0 };
    int64_t               end_ns = 0;

    for (int i = 0; i < SEGMENTS; i++) {
        segments[i].start_ns = end_ns + (i == 10 ? 5 : 0);
        segments[i].end_ns = end_ns = segments[i].start_ns + i + 1;
    }
    path.segments.items = segments;
    path.segments.count = SEGMENTS;
    for (int64_t time_ns = -1; time_ns <= end_ns + 1; time_ns++) {
        size_t first = 0;

        while (first < SEGMENTS && segments[first].end_ns <= time_ns)
            first++;
        assert_int_equal(path_segment_behind(&path, time_ns), first);
        for (size_t near = 0; near <= SEGMENTS + 1; near++)
            assert_int_equal(path_segment_near(&path, time_ns, near), first);
    }
    path.segments.count = 0;
    assert_int_equal(path_segment_near(&path, 7, 3), 0);
}
