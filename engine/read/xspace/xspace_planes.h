/* xspace_planes: hosts, devices and timelines of XSpace planes. */
#ifndef TFPROF_READ_XSPACE_PLANES_H
#define TFPROF_READ_XSPACE_PLANES_H

#include "read/read.h"
#include "read/xspace/xspace_commit.h"

struct xhost { /* one file: one host */
    struct read_input *input;
    struct xspace      space;
    uint32_t           host;     /* row */
    int64_t            start_ns; /* unix time of the capture's start, 0 unknown */
    int64_t            shift_ns; /* brings it onto the first host's clock */
};

/* Reads start time, framework and core count from the planes that hold no events. */
void xspace_environment(struct xhost *host, struct profile *profile);
/* The line's clock, and its timeline's name, id and kind, from what is known of the line. */
bool xspace_settle_line(struct line_task *task, struct profile *profile);
/* Adds devices, timelines and one task a line. false: the budget. */
bool xspace_plan(struct xhost *host, struct xspace_tasks *tasks, struct profile *profile,
                 struct arena *scratch);
/* What planes without events say of devices that other events name, as allocations do. */
void xspace_describe(const struct xhost *host, struct profile *profile);
/* What planes say of hosts, of devices that did something, and of their events. False: the budget. */
bool xspace_properties(const struct xhost *host, struct profile *profile);

#endif
