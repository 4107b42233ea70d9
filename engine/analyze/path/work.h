/*
 * work: what a moment on a timeline counts as, from the kinds of the open event and its ancestors.
 */
#ifndef TFPROF_ANALYZE_WORK_H
#define TFPROF_ANALYZE_WORK_H

#include "analyze/path/path.h"
#include "base/intern.h"
#include "model/profile.h"

enum work {
#define WORK(id, part, is_active, on_threads, on_streams) WORK_##id,
#include "analyze/path/work.def"
};

/* Fills path->frame_work. Where path->has_device, ops on host threads only feed the device; so do
 * their copies where path->shows_copies, and their collectives where path->shows_collectives.
 * O(frames log stats). false: the arena is exhausted. */
bool      work_classify(const struct profile *profile, struct path *path, struct arena *arena);
enum part work_part(enum work work);
/* Whether a function of Python only waits for somebody to wake its thread. */
bool      work_only_sleeps(struct str name);
bool      work_is_active(enum work work); /* a processor is at it */
/* The step is charged to the highest rank of what goes on at once. */
int       work_rank_on_threads(enum work work);
int       work_rank_on_streams(enum work work);

#endif
