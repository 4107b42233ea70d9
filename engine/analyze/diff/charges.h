/*
 * charges: names for what the time of a step is charged to. A moment on the path belongs to an op,
 * a scope and a line: those of the innermost event that has one, going out from the event that ran,
 * and from work of a device to the call that launched it.
 */
#ifndef TFPROF_ANALYZE_CHARGES_H
#define TFPROF_ANALYZE_CHARGES_H

#include "analyze/ops/op_times.h"
#include "base/text.h"

enum charge_by { CHARGE_BY_TYPE, CHARGE_BY_SCOPE, CHARGE_BY_LINE, CHARGE_BY_COUNT };
const char *charge_by_name(enum charge_by by); /* "type" */

#define CHARGE_NO_LINE "(line not recorded)"

struct charges {
    const struct study *study;
    int64_t             depth;      /* how many parts of a name make a scope */
    uint32_t           *forward_of; /* by event: what it is the gradient of, or NO_ID */
    struct text         label;      /* of the last name */
};

/* false: the arena is exhausted. O(events). */
bool charges_start(struct charges *charges, const struct study *study, int64_t depth,
                   struct arena *arena);
/* All names are good until the next one is asked for. */
struct str charges_of_segment(struct charges *charges, const struct segment *segment,
                              enum charge_by by);
struct str charges_of_event(struct charges *charges, uint32_t event, enum charge_by by);
/* Of an op without its events. */
struct str charges_of_op(struct charges *charges, const struct op_time *row, enum charge_by by);
/* The part of the step that an event's own work counts for. */
enum part charges_part(const struct charges *charges, uint32_t event);

#endif
