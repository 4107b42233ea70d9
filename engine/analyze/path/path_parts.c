/* path_parts: what the composition says of a time. */
#include "analyze/path/path.h"

#include "base/macros.h"

size_t path_segment_behind(const struct path *path, int64_t time_ns)
{
    return LOWER_BOUND(path->segments.count, i, path->segments.items[i].end_ns <= time_ns);
}

static bool is_before(const struct path *path, size_t row, int64_t time_ns)
{
    return path->segments.items[row].end_ns <= time_ns;
}

size_t path_segment_near(const struct path *path, int64_t time_ns, size_t near)
{
    size_t count = path->segments.count, low = near < count ? near : count, high = low;

    /* Ever farther, until all below `low` are before the time, and none from `high` on. */
    for (size_t by = 1; low > 0 && !is_before(path, low - 1, time_ns); by *= 2) {
        high = low - 1;
        low = low > by ? low - by : 0;
    }
    for (size_t by = 1; high < count && is_before(path, high, time_ns); by *= 2) {
        low = high + 1;
        high = count - high > by ? high + by : count;
    }
    return low + LOWER_BOUND(high - low, i, is_before(path, low + i, time_ns));
}

int64_t path_parts(const struct path *path, int64_t from_ns, int64_t to_ns,
                   int64_t part_ns[PART_COUNT])
{
    int64_t sum_ns = 0;

    for (int part = 0; part < PART_COUNT; part++)
        part_ns[part] = 0;
    for (size_t i = path_segment_behind(path, from_ns);
         i < path->segments.count && path->segments.items[i].start_ns < to_ns; i++) {
        const struct segment *segment = &path->segments.items[i];
        int64_t               start_ns = segment->start_ns > from_ns ? segment->start_ns : from_ns;
        int64_t               end_ns = segment->end_ns < to_ns ? segment->end_ns : to_ns;

        part_ns[segment->part] += end_ns - start_ns;
        sum_ns += end_ns - start_ns;
    }
    return sum_ns;
}
