/*
 * segment_groups: the path's segments summed by what an edit can tell apart (what ran, inside what,
 * as which part), so that pricing costs no more for a long recording than for a short one.
 */
#ifndef TFPROF_ANALYZE_SEGMENT_GROUPS_H
#define TFPROF_ANALYZE_SEGMENT_GROUPS_H

#include "analyze/path/path.h"
#include "analyze/replay/replay.h"
#include "base/err.h"
#include "base/intern.h"
#include "base/vec.h"

#include <stdbool.h>
#include <stdint.h>

struct study;

struct frame_group { /* frames of one activity inside the same ancestors and pipeline stage */
    uint32_t frame;  /* one of them; the others select alike */
    uint32_t parent; /* group of its parent, or NO_ID; always before this one */
    uint32_t stage;  /* row of pipeline->stages, or NO_ID */
};
struct segment_group {
    uint32_t frame, owner; /* rows of frames, or NO_ID */
    uint32_t cell;         /* as of a segment */
    uint8_t  part;         /* enum part */
    bool     on_device;
    double   length_ns;   /* all looked-at steps, less what recording took of the host */
    double   recorded_ns; /* with that */
    double   threads_ns;  /* as recorded: of the host threads at work in it, one at least */
    double   beside_ns;   /* of what goes beside: in which another computes */
};
struct path_costs { /* means over the looked-at steps */
    double step_ns, rest_ns, input_ns;
    double part_ns[PART_COUNT];
};
struct segment_groups {
    struct path_costs unchanged; /* replay's, of the path as it is; step_ns 0: not asked yet */
    struct intern     asked;     /* keys of edits that were replayed before */
    VEC(struct replay_result) answers; /* by key, from the first one on, which is 1 */
    VEC(struct frame_group) frames;
    VEC(struct segment_group) groups;
    uint32_t *group_of_segment;
    bool     *is_user; /* by row of profile->sources: the program's own; NULL: not asked yet */
};

/* Of study->path and study->pipeline, which are to be finished; lives in study->arena. NULL past
 * the budget. */
struct segment_groups *segment_groups_make(struct study *study, struct err *err);

#endif
