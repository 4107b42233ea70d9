/*
 * path: each looked-at step of the reference host cut into segments that exclude each other and sum
 * to the step. A segment says what the step waited for during that time: what ran on the thread
 * that leads the step, or, while that thread waited, what it waited for. With an accelerator it is
 * what the accelerator did, and, while it was idle, what it waited for. Result of analysis_path.
 */
#ifndef TFPROF_ANALYZE_PATH_H
#define TFPROF_ANALYZE_PATH_H

#include "base/vec.h"

#include <stdbool.h>
#include <stdint.h>

enum part { /* the fixed names of the advice contract */
#define PART(id, name, fact, title, verdict, column, help) PART_##id,
#include "analyze/path/part.def"
            PART_COUNT
};
const char *part_name(enum part part);       /* "idle.launch" */
const char *part_title(enum part part);      /* for people: "idle, launch" */
const char *part_ns_fact(enum part part);    /* "part.idle_launch_ns" */
const char *part_share_fact(enum part part); /* "part.idle_launch_share" */
bool        part_is_of_host(enum part part); /* the step waits for the host and its calls */

/* An open event with its ancestors; kinds has a bit 1 << enum activity_kind for it and each of
 * them. */
struct frame {
    uint32_t event;
    uint32_t parent; /* row of path->frames, or NO_ID */
    uint32_t kinds;
    uint32_t timeline;
};

struct leaf { /* the innermost open event of a timeline during a time */
    int64_t  start_ns, end_ns;
    uint32_t frame;
};
struct path_line { /* a timeline of the reference host, flattened inside the looked-at steps */
    uint32_t timeline;
    bool     is_leader, is_device;
    VEC(struct leaf) leaves; /* by time, disjoint */
};

struct segment {
    int64_t  start_ns, end_ns;
    uint32_t step;      /* row of steps->list */
    uint32_t frame;     /* innermost event that ran, row of path->frames, or NO_ID */
    uint32_t owner;     /* frame of the leading thread while it waited for `frame`, or NO_ID */
    uint32_t cell;      /* cell of the ledger that claims of it (excess/) plus 1; 0: none */
    uint8_t  part;      /* enum part */
    bool     is_python; /* the leading thread ran outside any event: Python, unless traced */
    bool     on_device; /* an accelerator's time: it needs no processor of the host */
    float    input_threads, other_threads; /* host threads at work meanwhile, on average */
    float    compute_threads;              /* of these, those that compute */
};
/* Waits for an accelerator that no event shows, in the looked-at steps together (unseen_waits.h). */
struct unseen_waits {
    double count, ns;
    double steps; /* that have one */
};
struct path {
    VEC(struct frame) frames;
    uint8_t *frame_work;    /* enum work (work.h), by frame */
    int64_t *frame_self_ns; /* by frame: of its timeline's leaves */
    VEC(struct segment) segments; /* by step, then time */
    VEC(uint32_t) step_rows;      /* the steps looked at: rows of steps->list, ascending */
    uint32_t leader;              /* timeline that leads the steps, or NO_ID */
    uint32_t core_count;          /* of the reference host; from the file or seen at work */
    bool     lacks_device;        /* one was given work, and none of it was recorded */
    bool     lacks_names;         /* of most events */
    bool     has_device;          /* an accelerator's work stands for compute */
    bool     shows_copies;        /* … and its timelines show its copies */
    bool     shows_collectives;   /* … and its collectives */
    bool     is_fed_by_queue;     /* runs of a session beside the leader's fill a queue for them */
    VEC(double) cpu_ns;           /* by step row: host thread time at work, all threads */
    VEC(double) input_cpu_ns;     /* of that, work for input */
    struct unseen_waits unseen;
};

/* The first segment that ends behind a time. */
size_t path_segment_behind(const struct path *path, int64_t time_ns);
/* The same, looked for around `near`: one step away it is found at once. */
size_t path_segment_near(const struct path *path, int64_t time_ns, size_t near);
/* What the composition charges [from, to) to, and the sum of it. */
int64_t path_parts(const struct path *path, int64_t from_ns, int64_t to_ns,
                   int64_t part_ns[PART_COUNT]);

#endif
