/*
 * charge: what a scheduled step waits for, by part, as the composition tells of recorded ones: with
 * an accelerator what it does while it works, else what kept it, or the step's end, from coming
 * earlier.
 */
#ifndef TFPROF_ANALYZE_SCHEDULE_CHARGE_H
#define TFPROF_ANALYZE_SCHEDULE_CHARGE_H

#include "analyze/schedule/event_schedule.h"

/* Sums to the schedule's step_ns. false: the arena is exhausted. O(nodes log nodes). */
bool charge_schedule(const struct schedule *schedule, struct arena *arena,
                     double part_ns[PART_COUNT]);

#endif
