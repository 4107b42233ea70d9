/*
 * recorder: steps without what recording them took of the host. Each event of a thread is written
 * by that thread, and calls of the device are watched; where the device waits for the host,
 * recorded steps are that much longer.
 */
#ifndef TFPROF_ANALYZE_RECORDER_H
#define TFPROF_ANALYZE_RECORDER_H

#include "analyze/schedule/event_schedule.h"

/* What recording took of a stretch of a host's thread between two of its events, about. */
double recorder_of_ns(double ns);
/* The same where JAX's or TensorFlow's tracer of Python is called at each call and return: of a
 * stretch between two of these. */
double recorder_of_python_ns(double ns);
/* Sets recorder_ns and without_recorder_ns of `steps`, where the recorder is known to take that
 * much and devices worked. false: `arena` is exhausted. O(nodes + edges). */
bool recorder_take_off(struct steps_schedule *steps, struct arena *arena);

#endif
