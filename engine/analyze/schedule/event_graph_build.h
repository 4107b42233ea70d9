/*
 * event_graph_build: what the files that build an event_graph share. Lines give pieces (a stretch
 * of time with the innermost event in it) in the order of their keys; each piece becomes a node
 * whose causes are nodes already there.
 */
#ifndef TFPROF_ANALYZE_EVENT_GRAPH_BUILD_H
#define TFPROF_ANALYZE_EVENT_GRAPH_BUILD_H

#include "analyze/comm/collective_list.h"
#include "analyze/path/work.h"
#include "analyze/schedule/event_graph.h"

enum piece_phase {
    PIECE_NONE, /* the line has no more in this group of steps */
    PIECE_WHOLE,
    PIECE_ENTER, /* it may wait: the node where it begins … */
    PIECE_LEAVE  /* … and the one where it ends */
};
struct piece {
    int64_t  start_ns, end_ns, key_ns;
    uint32_t frame; /* NO_ID: a thread between events */
    uint8_t  phase;
};
struct build_line {
    struct path_line flat;
    struct piece     piece; /* the next one */
    size_t           next_leaf;
    int64_t          reached_ns;     /* end of what was taken */
    int64_t          window_end_ns;  /* of the current step of its host */
    uint32_t         last;           /* node, or NO_ID */
    uint32_t         enter;          /* node of PIECE_ENTER until PIECE_LEAVE */
    int64_t          burst_start_ns; /* since when the thread has been at work without a pause */
    uint32_t         wait;           /* row of waits: what its next kernel has to wait for; NO_ID */
};
struct call_wait { /* what a host call or a stream waits for, where the recording says so */
    uint32_t stream_line; /* row of lines, or NO_ID: the whole device */
    int64_t  before_ns;   /* work enqueued up to this time counts; INT64_MAX: all so far */
    int64_t  from_ns;     /* of a stream's wait: work enqueued from this time on waits */
    uint32_t next;        /* older row of the same line, or NO_ID */
};
struct others {
    uint32_t any, elsewhere; /* the one before it, and the last before it on another thread; NO_ID */
};
struct build {
    struct event_graph    *graph;
    const struct study    *study;
    const struct profile  *profile;
    struct arena          *arena;   /* of the graph */
    struct arena          *scratch;
    VEC(struct build_line) lines;   /* beside graph->lines */
    uint32_t *line_of_timeline;
    uint32_t *launch_of;            /* by event: the host call that enqueued it, or NO_ID */
    uint32_t *node_of_call;         /* by event: first node of a host call, or NO_ID */
    uint32_t *timeline_of_call;     /* by event that enqueues: its timeline */
    VEC(uint32_t) previous;         /* by node: the one before on its line, or NO_ID */
    VEC(struct others) others;      /* by node: those before it on threads of its host */
    uint32_t              *last_on_host; /* by host: the last node of a thread, or NO_ID */
    VEC(struct call_wait) waits;
    struct id_map wait_of_call;     /* host call -> row of waits */
    struct collective_list collectives;
    struct id_map          collective_of; /* event that ends it -> row of collectives.items */
    struct id_map          begun_by;      /* event that begins it, where another ends it -> row */
    uint32_t              *arrival;       /* by row of collectives.items: its node, or NO_ID */
    uint32_t              *base_of_host;  /* the current NODE_STEP */
    uint32_t              *leader_of_host;
    uint32_t               first_step; /* it and the next one are wanted; NO_ID: a sample */
};

/* event_graph_lines.c: windows, lines, frames, launches, waits, means. false: out of memory. */
bool build_windows(struct build *build);
bool build_lines(struct build *build);
bool build_launches(struct build *build);
bool build_waits(struct build *build);
void build_means(struct build *build);
bool build_collectives(struct build *build);

enum {
    PAUSE_NS = 5000,       /* a thread that did nothing for longer was given its next work */
    CLOCK_NS = 5000,       /* clocks of device and host differ by as much */
    LOOK_BACK = 64,        /* kernels back to the one that a call waited for */
};
static inline const struct graph_node *node_at(const struct build *build, uint32_t node)
{
    return &build->graph->nodes.items[node];
}
/* Makes input beside the steps: only who asks for input waits for it. */
static inline bool makes_input(const struct build *build, const struct graph_node *node)
{
    return node->class == PART_INPUT &&
           !event_graph_has_kind(build->graph, node->frame, KIND_BIT(ACTIVITY_INPUT_WAIT));
}

/* event_graph_waits.c. What a thread waited for inside a piece; *edge tells how. NO_ID: for nothing
 * that is known. */
uint32_t build_awaited(const struct build *build, uint32_t line, const struct piece *piece,
                       enum edge_kind *edge);
/* The last node of a device line that ended by `time_ns`, enqueued by `before_ns`; or NO_ID. */
uint32_t build_ended_on(const struct build *build, uint32_t line, int64_t time_ns,
                        int64_t before_ns);

/* event_graph_causes.c: one node with its causes. false: out of memory. */
bool build_step(struct build *build, struct graph_window *window, uint32_t window_row);
bool build_host(struct build *build, uint32_t line);
bool build_device(struct build *build, uint32_t line);

#endif
