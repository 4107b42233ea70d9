
#include "testing.h"

#include "model/interval.h"

static void fill(struct intervals *set, struct arena *arena, const struct interval *items,
                 size_t count)
{
    *set = (struct intervals) { 0 };
    for (size_t i = 0; i < count; i++)
        assert_true(intervals_add(set, arena, items[i].start_ns, items[i].end_ns));
    intervals_settle(set);
}

static void expect(const struct intervals *set, const struct interval *items, size_t count)
{
    assert_int_equal(set->list.count, count);
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(set->list.items[i].start_ns, items[i].start_ns);
        assert_int_equal(set->list.items[i].end_ns, items[i].end_ns);
    }
}
#define EXPECT(set, ...)                                                                           \
    do {                                                                                           \
        static const struct interval items_[] = { __VA_ARGS__ };                                   \
        expect(&(set), items_, sizeof items_ / sizeof *items_);                                    \
    } while (0)

/* a: 0-10, 20-30 (two touching halves), 40-50; b: 5-25, 44-46, 60-70. */
TEST(sets_combine)
{
    static const struct interval a_items[] = {
        { 40, 50 }, { 0, 10 }, { 20, 25 }, { 25, 30 }, { 3, 3 }
    };
    static const struct interval b_items[] = { { 5, 25 }, { 44, 46 }, { 60, 70 } };
    struct arena                 arena = { 0 };
    struct intervals             a, b, result;
    int64_t                     *sums;

    fill(&a, &arena, a_items, 5);
    fill(&b, &arena, b_items, 3);
    EXPECT(a, { 0, 10 }, { 20, 30 }, { 40, 50 });
    assert_int_equal(intervals_total_ns(&a), 30);
    assert_int_equal(intervals_overlap_ns(&a, 5, 45), 5 + 10 + 5);
    assert_int_equal(intervals_overlap_ns(&a, 10, 20), 0);
    sums = intervals_sums(&a, &arena);
    for (int64_t start = -1; start < 60; start++) /* by sums it is the same, whatever the range */
        for (int64_t end = start; end < 60; end++)
            assert_int_equal(intervals_overlap_by(&a, sums, start, end),
                             intervals_overlap_ns(&a, start, end));
    assert_true(intervals_intersect(&a, &b, &arena, &result));
    EXPECT(result, { 5, 10 }, { 20, 25 }, { 44, 46 });
    assert_true(intervals_subtract(&a, &b, &arena, &result));
    EXPECT(result, { 0, 5 }, { 25, 30 }, { 40, 44 }, { 46, 50 });
    arena_free(&arena);
}
