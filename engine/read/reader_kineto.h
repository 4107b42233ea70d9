/*
 * reader_kineto: what the parts of the Kineto reader share. Data flow: reader_kineto.c walks a file
 * and finds events; _event.c takes one apart; _op.c gives ops their shapes and FLOPs; _head.c reads
 * what stands beside the events; _finish.c sorts all files' events into timelines and joins them.
 */
#ifndef TFPROF_READ_READER_KINETO_H
#define TFPROF_READ_READER_KINETO_H

#include "base/text.h"
#include "read/json_scan.h"
#include "read/kineto_names.h"
#include "read/read.h"

/* Members of an event and of its args that mean something to us. */
enum kineto_field {
    FIELD_NONE,
    FIELD_PHASE,
    FIELD_CATEGORY,
    FIELD_NAME,
    FIELD_PROCESS,
    FIELD_THREAD,
    FIELD_START,
    FIELD_DURATION,
    FIELD_ID,
    FIELD_BIND,
    FIELD_ARG_NAME,

    FIELD_DIMS,
    FIELD_TYPES,
    FIELD_STRIDES,
    FIELD_CONCRETE,
    FIELD_EXTERNAL,
    FIELD_SEQUENCE,
    FIELD_FORWARD_THREAD,
    FIELD_FLOPS,
    FIELD_CORRELATION,
    FIELD_DEVICE,
    FIELD_STREAM,
    FIELD_GRID,
    FIELD_BLOCK,
    FIELD_REGISTERS,
    FIELD_SHARED,
    FIELD_OCCUPANCY,
    FIELD_GRAPH,
    FIELD_BYTES,
    FIELD_ADDRESS,
    FIELD_DEVICE_TYPE,
    FIELD_DEVICE_ID,
    FIELD_ALLOCATED,
    FIELD_RESERVED,
    FIELD_COLLECTIVE,
    FIELD_IN_ELEMENTS,
    FIELD_OUT_ELEMENTS,
    FIELD_DTYPE,
    FIELD_GROUP_SIZE,
    FIELD_GROUP_NAME,
    FIELD_GROUP_RANKS,
    FIELD_COLLECTIVE_SEQUENCE,
    FIELD_SYNC_KIND,
    FIELD_WAIT_CORRELATION,
    FIELD_WAIT_STREAM,
    FIELD_CALL_STACK,
    FIELD_COUNT
};
_Static_assert(FIELD_COUNT <= 64, "fields are bits of kineto_event.present");

struct kineto_event { /* one event as spans of the text */
    uint64_t present; /* 1 << enum kineto_field: only these fields are set */
    enum kineto_class class;
    struct str fields[FIELD_COUNT];
};

struct track { /* becomes a timeline */
    int64_t  process, thread;
    uint32_t host, device, name;
    uint8_t  kind;  /* enum timeline_kind */
    uint8_t  role;  /* keeps device annotations and syncs apart from the stream they share */
    uint32_t count; /* events */
};
struct raw_event {
    int64_t  start_ns, duration_ns;
    uint32_t activity, track;
};
struct raw_stat {
    uint32_t event;
    int64_t  value;
};
struct flow_end { /* one end of a flow event, to be bound to an event of its track */
    uint64_t id;
    int64_t  time_ns;
    uint32_t track, source;
    bool     is_target;
};
struct raw_link { /* device work that waits for a call: correlation or external id */
    uint64_t id;
    uint32_t event;
    uint8_t  kind;
};
enum link_kind {
    LINK_CALL,     /* a runtime call with this correlation id */
    LINK_WORK,     /* device work with it */
    LINK_RECORDED, /* a sync waits for the event recorded by the call with it */
    LINK_OP,       /* an op with this external id */
    LINK_OP_WORK,  /* device work with this external id, used where no call is known */
};

enum kineto_trouble {
    TROUBLE_TIME,     /* ts or dur is no usable number */
    TROUBLE_NEGATIVE, /* negative duration */
    TROUBLE_SYNTAX,   /* event that is not JSON, stepped over */
    TROUBLE_PHASE,    /* begin/end, counters: not used */
    TROUBLE_COUNT
};

struct kineto_source { /* one file */
    uint32_t host;
    uint32_t first_raw, first_memory;
    int64_t  base_ns; /* added to its times */
    bool     has_base;
    bool     is_cut;
    uint64_t trouble[TROUBLE_COUNT];
    size_t   first_flow_end, first_link;
};

enum { LENGTH_SLOTS = 40 };
struct kineto {
    struct profile *profile;
    struct arena    scratch;
    struct intern   keys; /* class, name, dims, types -> activity of the same index */
    VEC(uint32_t) key_activities;
    struct text key; /* scratch for building one */
    VEC(struct raw_event) raws;
    VEC(struct track) tracks;
    struct id_map track_map;
    uint32_t      last_track;
    VEC(struct raw_stat) stats[STAT_KEY_COUNT];
    VEC(struct flow_end) flow_ends;
    VEC(struct raw_link) links;
    VEC(uint32_t) memory_tracks; /* beside profile->memory_events */
    VEC(struct kineto_source) sources;
    struct kineto_source *source;        /* the file being read */
    struct id_map         configs;       /* hash of a launch configuration -> row */
    bool                  has_fractions; /* some time had digits behind the point */
    bool                  is_full;       /* the memory budget is spent */
    uint8_t first_field[LENGTH_SLOTS];   /* by length of key, into the table of fields */
};

/* _event.c */
void kineto_prepare_fields(struct kineto *kineto);
/* Takes one event object apart; scan->state tells whether it was whole. */
void kineto_scan_event(const struct kineto *kineto, struct json_scan *scan,
                       struct kineto_event *event);
/* Adds what it means. Sets is_full past the budget. */
void kineto_add_event(struct kineto *kineto, const struct kineto_event *event);
bool kineto_has(const struct kineto_event *event, enum kineto_field field);
/* The field as an integer; `preset` when it is absent or none. */
int64_t  kineto_integer(const struct kineto_event *event, enum kineto_field field, int64_t preset);
uint32_t kineto_intern(struct kineto *kineto, struct str raw); /* resolves escapes */

/* _args.c */
void kineto_add_args(struct kineto *kineto, const struct kineto_event *event, uint32_t row);
bool kineto_add_memory(struct kineto *kineto, const struct kineto_event *event, uint32_t track,
                       int64_t time_ns);

/* _op.c: a row of profile->ops, or NO_ID past the budget */
uint32_t kineto_add_op(struct kineto *kineto, const struct kineto_event *event, uint32_t name);

/* _head.c: a member of the top level other than traceEvents; true when it was one known */
bool     kineto_scan_head(struct kineto *kineto, struct str key, struct json_scan *scan);
uint32_t kineto_device(struct kineto *kineto, int64_t ordinal); /* of the source being read */

/* _finish.c */
bool kineto_finish(struct kineto *kineto);

#endif
