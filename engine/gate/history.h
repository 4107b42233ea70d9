/*
 * history: where in a series of measurements its level changed. Windows of the series are split
 * where the energy distance between the two sides is largest, as long as a t-test finds them
 * different; then the weakest splits are undone until all pass a stricter test (E-divisive means
 * with the test, windows and two passes of the Hunter paper, as Apache Otava does it).
 */
#ifndef TFPROF_GATE_HISTORY_H
#define TFPROF_GATE_HISTORY_H

#include "base/arena.h"
#include "base/unit.h"
#include "base/vec.h"

#include <stdbool.h>
#include <stddef.h>

struct change_point {
    size_t index; /* first value of the new level */
    double before, after; /* means of the levels on both sides */
    double p_value;
};
struct change_options {
    size_t window;     /* at least 2 */
    double p_value;    /* largest accepted */
    double magnitude;  /* smallest relative change */
};
struct change_points {
    VEC(struct change_point) list; /* by index */
};

/* values: without gaps. false: the arena is exhausted. O(count * window^2). */
bool change_points_find(const double *values, size_t count, const struct change_options *options,
                        struct arena *arena, struct change_points *points);

struct history_point {
    const char *name; /* of the file */
    double      value;
};
struct history {
    const char *metric; /* as asked for */
    enum unit   unit;
    VEC(struct history_point) points; /* oldest first */
    struct change_points changes;
    size_t skipped_count; /* files without the metric */
};

#endif
