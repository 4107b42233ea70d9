/* nesting: what events drawn by hand are inside of. */
#include "model/nesting.h"

#include "base/macros.h"
#include "profile_builder.h"
#include "testing.h"

static bool is_op(const struct profile *profile, const struct activity *activity)
{
    (void)profile;
    return activity->kind == ACTIVITY_OP;
}

TEST(events_are_inside_of_what_they_began_in)
{
    /* in order of start, longest first */
    static const struct {
        int64_t            start_ns, duration_ns;
        enum activity_kind kind;
        uint32_t           around, op; /* rows */
    } rows[] = {
        { 0, 100, ACTIVITY_OTHER, NO_ID, NO_ID }, { 10, 40, ACTIVITY_OP, 0, 1 },
        { 10, 15, ACTIVITY_OTHER, 1, 1 },         { 30, 0, ACTIVITY_OP, 1, 3 }, /* an instant */
        { 50, 10, ACTIVITY_OTHER, 0, NO_ID },     /* touches row 1, not in it */
        { 100, 20, ACTIVITY_OP, NO_ID, 5 },       /* touches row 0 */
        { 110, 30, ACTIVITY_OTHER, 5, 5 },        /* ends behind row 5 */
        { 115, 5, ACTIVITY_OTHER, 6, 5 },         /* in both: the later one */
        { 125, 5, ACTIVITY_OTHER, 6, 5 },         /* row 6 is still of row 5, which has ended */
        { 140, 0, ACTIVITY_OTHER, NO_ID, NO_ID }, /* an instant at the end of row 6 */
    };
    struct profile_builder builder;
    uint32_t               timeline, first, *around, *op;

    builder_start(&builder, FORMAT_XSPACE);
    timeline = builder_timeline(&builder, builder_host(&builder, "h"), NO_ID, "main");
    for (size_t i = 0; i < ARRAY_COUNT(rows); i++)
        builder_slice(&builder, timeline, (const char[]) { (char)('a' + i), 0 }, rows[i].kind,
                      rows[i].start_ns, rows[i].duration_ns);
    builder_finish(&builder);
    first = builder.profile.timelines.items[timeline].first_event;
    around = nesting_find(&builder.profile, &builder.arena);
    op = nesting_innermost(&builder.profile, around, is_op, &builder.arena);
    assert_true(around && op);
    for (uint32_t i = 0; i < ARRAY_COUNT(rows); i++) {
        assert_int_equal(around[first + i],
                         rows[i].around == NO_ID ? NO_ID : first + rows[i].around);
        assert_int_equal(
            op[first + i],
            rows[i].op == NO_ID ? NO_ID : event_activity_id(&builder.profile, first + rows[i].op));
    }
    builder_free(&builder);
}
