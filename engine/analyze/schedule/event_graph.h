/*
 * event_graph: what each moment of a sample of the steps waited for. Nodes are pieces of work (what
 * a host thread did between two moments, a kernel, a copy), edges say what had to happen first:
 * calls one after the other on a thread, a launch before its kernel, kernels one after the other on
 * a stream, waits for events, streams and devices, hand-overs between threads, collectives over
 * ranks. Nodes stand in an order in which all causes come first; edges into a node are one run of
 * rows (CSR). O(events log lines).
 *
 * Short gaps between kernels in the queue of a stream are the device's and stay as recorded; the way
 * from a launch to a free stream enters with its mean, so that scheduling the graph gives the recorded
 * times only as far as the graph is right. A start that no cause explains keeps its distance as the
 * node's delay.
 */
#ifndef TFPROF_ANALYZE_EVENT_GRAPH_H
#define TFPROF_ANALYZE_EVENT_GRAPH_H

#include "analyze/study.h"
#include "base/err.h"
#include "base/intern.h"

enum edge_kind {
    EDGE_ORDER,      /* the same thread did it before */
    EDGE_STREAM,     /* the same stream ran it before */
    EDGE_LAUNCH,     /* the host call that enqueued it */
    EDGE_EVENT,      /* another stream, by an event or as seen from the times */
    EDGE_SYNC,       /* the host waited for the device */
    EDGE_HANDOVER,   /* another host thread */
    EDGE_COLLECTIVE, /* ranks that take part */
    EDGE_STEP,       /* the step before */
    EDGE_KIND_COUNT
};

enum node_role {
    NODE_STEP,   /* a step begins; takes no time */
    NODE_HOST,   /* what a thread did */
    NODE_BLOCK,  /* a thread enters a call that may wait */
    NODE_RESUME, /* … and leaves it */
    NODE_DEVICE, /* a kernel, copy, set or collective */
    NODE_JOIN    /* a collective's transfer, once all ranks have come */
};

struct graph_edge {
    int64_t  lag_ns;
    uint32_t from;
    uint8_t  kind;       /* enum edge_kind */
    bool     from_start; /* counts from the start of `from`, else from its end */
};
struct graph_node {
    int64_t  start_ns, end_ns; /* as recorded */
    int64_t  own_ns;           /* what it takes when it need not wait */
    int64_t  delay_ns;         /* its start later than all known causes allow */
    uint32_t frame;            /* row of graph->path.frames; NO_ID: nothing was recorded */
    uint32_t launcher;         /* device work: frame of the call that enqueued it, or NO_ID */
    uint32_t line;             /* row of graph->lines */
    uint32_t first_edge;
    uint8_t role, class;
};
struct graph_line {
    uint32_t timeline, host;
    bool     is_leader, is_device;
    bool     is_worker; /* of a process that makes input for the leader's, which asks for it */
};
struct graph_window { /* one step of one host */
    uint32_t step;      /* row of steps->list */
    uint32_t host;
    uint32_t group;     /* steps of all hosts at the same time */
    uint32_t base;      /* its NODE_STEP */
    uint32_t last_node; /* of its leading line: where the step ends */
};
struct event_graph {
    VEC(struct graph_node) nodes;
    VEC(struct graph_edge) edges; /* nodes' runs, in order */
    VEC(struct graph_line) lines;
    VEC(struct graph_window) windows; /* by group, then host */
    struct path path; /* frames of all lines, with what work they are */
    uint32_t    group_count;
    uint32_t    joined_count; /* collectives that several ranks take part in */
    int64_t     launch_ns, gap_ns; /* means that the graph goes by */
    bool        has_device;
    const struct study *study;
};

/* In `arena`; of the step `first` (row of steps->list) and the one that follows it, or of a sample of
 * steps for NO_ID. A graph without windows: nothing to replay. false: ERR_LIMIT. */
bool event_graph_make(struct event_graph *graph, const struct study *study, uint32_t first,
                      struct arena *arena, struct err *err);
/* What the time between the two nodes of an edge is charged to. */
enum part graph_edge_class(const struct graph_edge *edge);
/* One past the last edge into a node. */
uint32_t event_graph_edges_end(const struct event_graph *graph, uint32_t node);
/* Name of what a node does; empty for unrecorded host time. */
struct str event_graph_name(const struct event_graph *graph, uint32_t node);
/* A host's rank as recorded, else its place among the hosts. */
int32_t event_graph_rank(const struct event_graph *graph, uint32_t host);
/* The frame's event, its ancestors included, has one of the kinds (KIND_BIT). */
bool event_graph_has_kind(const struct event_graph *graph, uint32_t frame, uint32_t kinds);

#endif
