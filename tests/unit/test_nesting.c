/* nesting: parents and self times of slices drawn by hand. */
#include "model/nesting.h"

#include "base/macros.h"
#include "profile_builder.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static void parents_and_self_times(void **state)
{
    /* in order of start, longest first */
    static const struct {
        int64_t  start_ns, duration_ns;
        uint32_t parent;
        int64_t  self_ns;
    } rows[] = {
        { 0, 100, NO_ID, 50 },                   /* 100 - 40 - 10 */
        { 10, 40, 0, 25 },                       /* 40 - 15 - 0 */
        { 10, 15, 1, 15 },      { 30, 0, 1, 0 }, /* an instant */
        { 50, 10, 0, 10 },                       /* touches row 1, not in it */
        { 100, 20, NO_ID, 20 },                  /* touches row 0 */
        { 110, 30, NO_ID, 25 },                  /* overlaps row 5 only */
        { 115, 5, 6, 5 },                        /* in both: the nearest earlier one */
        { 140, 0, NO_ID, 0 },                    /* an instant at the end of row 6 */
    };
    struct profile_builder builder;
    struct nesting         nesting;
    uint32_t               timeline;

    (void)state;
    builder_start(&builder, FORMAT_XSPACE);
    timeline = builder_timeline(&builder, builder_host(&builder, "h"), NO_ID, "main");
    for (size_t i = 0; i < ARRAY_COUNT(rows); i++)
        builder_slice(&builder, timeline, "slice", ACTIVITY_OTHER, rows[i].start_ns,
                      rows[i].duration_ns);
    builder_finish(&builder);
    assert_true(nesting_build(&builder.profile, &builder.profile.timelines.items[timeline],
                              &builder.arena, &nesting));
    assert_int_equal(nesting.count, ARRAY_COUNT(rows));
    for (size_t i = 0; i < ARRAY_COUNT(rows); i++) {
        assert_int_equal(nesting.parent[i], rows[i].parent);
        assert_int_equal(nesting.self_ns[i], rows[i].self_ns);
    }
    builder_free(&builder);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(parents_and_self_times) };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
