/*
 * path: each used step of the reference host cut into segments that exclude each other and sum to
 * the step. A segment says what the step waited for during that time: what ran on the thread that
 * leads the step, or, while that thread waited, what it waited for. Result of analysis_path.
 */
#ifndef TFPROF_ANALYZE_PATH_H
#define TFPROF_ANALYZE_PATH_H

#include "base/vec.h"

#include <stdint.h>

enum part { /* the fixed names of the advice contract */
    PART_INPUT, PART_COMPUTE, PART_COMMUNICATION, PART_COPY, PART_COMPILE, PART_HOST,
    PART_IDLE_LAUNCH, PART_IDLE_SYNC, PART_IDLE_DEPENDENCY, PART_IDLE_OTHER, PART_OUTPUT,
    PART_UNKNOWN, PART_COUNT
};
const char *part_name(enum part part); /* "idle.launch" */

struct segment {
    int64_t  start_ns, end_ns;
    uint32_t step;     /* row of steps->list */
    uint32_t event;    /* what ran (or was waited for), or NO_ID */
    uint32_t owner;    /* event on the leading thread that covers it (e.g. the waiting call), or NO_ID */
    uint8_t  part;     /* enum part */
    uint8_t  kind;     /* enum activity_kind of `event`, ACTIVITY_OTHER without one */
};
struct path {
    VEC(struct segment) segments; /* by step, then time */
};

#endif
