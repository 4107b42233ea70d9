/*
 * graph_capture: what the recording of a graph's capture tells of the graph's replays. While a program captures, each
 * kernel is launched by its own call, inside of its op, module and line; a replay has one call for all of them.
 */
#ifndef TFPROF_READ_GRAPH_CAPTURE_H
#define TFPROF_READ_GRAPH_CAPTURE_H

#include "base/err.h"
#include "model/profile.h"

/* Device work of replayed graphs becomes work of the ops and lines that it was captured in; a note tells how much and how
 * sure. Work is matched in order: by the names of kernels where captured calls tell them, as ROCm's do, else by number and
 * kind alone. Graphs that fit captures of several shapes stay as they are. O(events + replays x captured launches).
 * false: ERR_LIMIT. */
bool graph_capture_join(struct profile *profile, const struct profile *capture, struct err *err);

#endif
