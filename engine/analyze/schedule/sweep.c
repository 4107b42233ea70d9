/* sweep: a step with the same work at factors from 1 down to 0, and where something else takes
 * over. */
#include "analyze/schedule/whatif.h"

#include <math.h>

static const double FLAT_SHARE =
    0.0005;                         /* of the step: an interval that saves less saves nothing */
static const double STRAIGHT = 0.9; /* a last interval that saves so much of the first goes on */

double sweep_factor(size_t point)
{
    return 1 - (double)point / SWEEP_INTERVALS;
}

bool sweep_scan(struct whatif *whatif, const char *what, struct arena *arena, struct err *err)
{
    whatif->sweep = what;
    for (size_t point = 0; point <= SWEEP_INTERVALS; point++) {
        const char        *text = arena_text(arena, "%s=%g", what, sweep_factor(point));
        struct whatif_edit edit;

        if (!text)
            return err_set(err, ERR_LIMIT, "the edits do not fit the memory limit");
        if (!whatif_edit_scan(&edit, WHATIF_SCALE, text, arena, err))
            return false;
        if (!vec_push(&whatif->edits, arena, edit))
            return err_set(err, ERR_LIMIT, "the edits do not fit the memory limit");
    }
    return true;
}

static double saved_by(const struct whatif_result *each, size_t interval)
{
    return each[interval + 1].saved_ns - each[interval].saved_ns;
}

/* A step lies on few lines, each flatter than the one before: where another chain takes over, less
 * work saves less. A bend inside the last interval shows by itself: behind it nothing is saved. */
static double knee_of(const struct whatif_result *each)
{
    double first_ns = saved_by(each, 0), last_ns = saved_by(each, SWEEP_INTERVALS - 1);
    double all_ns = each[SWEEP_INTERVALS].saved_ns - each[0].saved_ns;

    if (last_ns >= STRAIGHT * first_ns)
        return NAN;
    if (saved_by(each, SWEEP_INTERVALS - 2) >= STRAIGHT * first_ns)
        last_ns = 0;
    return 1 - (all_ns - last_ns * SWEEP_INTERVALS) / (first_ns - last_ns) / SWEEP_INTERVALS;
}

struct sweep_shape sweep_shape(const struct whatif *whatif)
{
    double             first_ns = saved_by(whatif->each, 0), work_ns = whatif->each[0].selected_ns;
    struct sweep_shape shape = { .critical_share = 0, .knee = NAN };

    if (first_ns <= FLAT_SHARE * whatif->now.step_ns || work_ns <= 0)
        return shape;
    shape.critical_share = fmin(1, first_ns * SWEEP_INTERVALS / work_ns);
    shape.knee = knee_of(whatif->each);
    return shape;
}
