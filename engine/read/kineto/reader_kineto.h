/*
 * reader_kineto: what the parts of the Kineto reader share. Data flow: reader_kineto.c walks a file
 * up to its events; _parts.c cuts these into stretches that several threads take apart, each with
 * tables of its own (_fields.c finds what an event has, _mould.c where it is like one before it,
 * _event.c adds it, _args.c its arguments, _op.c its shapes, kineto_cost.c what they cost); _merge.c adds the stretches'
 * tables to the profile in the order of the file, so that the result does not depend on the
 * threads, and keeps their events sorted and packed; _place.c merges these into timelines;
 * _finish.c joins them. _head.c reads what stands beside the events.
 */
#ifndef TFPROF_READ_READER_KINETO_H
#define TFPROF_READ_READER_KINETO_H

#include "base/text.h"
#include "read/json_scan.h"
#include "read/kineto/kineto_names.h"
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
    FIELD_DIRECTION,
    FIELD_ADDRESS,
    FIELD_DEVICE_TYPE,
    FIELD_DEVICE_ID,
    FIELD_ALLOCATED,
    FIELD_RESERVED,
    FIELD_COLLECTIVE,
    FIELD_IN_ELEMENTS,
    FIELD_OUT_ELEMENTS,
    FIELD_IN_SPLIT,
    FIELD_DTYPE,
    FIELD_GROUP_SIZE,
    FIELD_GROUP_NAME,
    FIELD_GROUP_RANKS,
    FIELD_COLLECTIVE_SEQUENCE,
    FIELD_SYNC_KIND,
    FIELD_WAIT_CORRELATION,
    FIELD_WAIT_STREAM,
    FIELD_CALL_STACK,
    FIELD_KERNEL, /* that a call launches, in traces of ROCm */
    FIELD_TASK,   /* what kind of work it is, in traces of Ascend */
    FIELD_COUNT
};
_Static_assert(FIELD_COUNT <= 64, "fields are bits of kineto_event.present");

enum { MOST_NEW_ARGS = 8 };
struct kineto_event { /* one event as spans of the text */
    uint64_t present; /* 1 << enum kineto_field: only these fields are set */
    enum kineto_class class;
    struct str fields[FIELD_COUNT];
    uint64_t has_number; /* 1 << field: what it is as a number, times in ns, was found already */
    int64_t  numbers[FIELD_COUNT];
    struct kineto_known *known; /* of the mould that it fits, or NULL */
    /* Names of arguments that nothing is known of; the mould's, or its own. */
    const uint32_t *new_args;
    uint32_t        new_arg_count, own_new_args[MOST_NEW_ARGS];
};

/* Moulds of events, see _mould.c. Rows of pieces are 0 for none. */
struct mould_piece {
    const char *text;
    uint32_t    len;
    uint32_t    sibling; /* next in the list of what may stand here */
    uint32_t    child;   /* list of what follows the number; of the last: row of knowns */
    uint8_t     field;   /* enum kineto_field of the number; FIELD_NAME: the name follows */
    bool        is_last; /* the event ends behind the text */
};
struct mould_slot { /* what follows a name */
    uint32_t tag, first; /* 0: free; of pieces */
};
struct mould_text { /* a field that is the same in all events of a mould */
    struct str text;
    uint8_t    field;
};
enum known_name { KNOWN_CONCRETE, KNOWN_STRIDES, KNOWN_NAMES };
struct kineto_known { /* what events of a mould have in common; rows and names once looked up */
    uint64_t present;
    uint32_t first_text, text_count;
    uint32_t first_new_arg, new_arg_count;
    uint8_t  class;
    bool     has_track, has_activity, has_name[KNOWN_NAMES];
    uint32_t host, track, activity;
    uint32_t names[KNOWN_NAMES]; /* NO_ID: it says nothing */
};
struct kineto_moulds {
    struct arena arena;
    VEC(struct mould_piece)  pieces;
    VEC(struct mould_text)   texts;
    VEC(struct kineto_known) knowns;
    VEC(uint32_t)            new_args;
    struct mould_slot *slots;   /* by name */
    uint64_t          *has_met; /* bits by hash of name */
    uint32_t           first_root;
    size_t             kept_bytes;
    bool               has_no_room; /* past the budget: what is there serves on, no more come */
};

struct track { /* becomes a timeline */
    int64_t  process, thread; /* a name's id where the trace has a text */
    uint32_t host, device, name;
    uint8_t  kind;  /* enum timeline_kind */
    uint8_t  role;  /* keeps device annotations and syncs apart from the stream they share */
    bool     is_process_name, is_thread_name;
    uint32_t count; /* events */
    struct str category; /* of the event that it is made for; only then */
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
    uint32_t track;
    bool     is_target;
    bool     is_work; /* the target is work of a device, and the start the op that asked for it */
};
struct raw_link { /* device work that waits for a call: correlation or external id */
    uint64_t id;
    uint32_t event;
    uint8_t  kind;
};
enum link_kind {
    LINK_CALL,     /* a runtime call with this correlation id */
    LINK_OP,       /* an op with this external id */
    LINK_WORK,     /* device work with this correlation id */
    LINK_RECORDED, /* a sync waits for the event recorded by the call with it */
    LINK_OP_WORK,  /* device work with this external id, used where no call is known */
};
enum link_list { LINKS_CALLS, LINKS_OPS, LINKS_WAITS, LINK_LISTS }; /* of what waits: the rest */

enum kineto_trouble {
    TROUBLE_TIME,     /* ts or dur is no usable number */
    TROUBLE_NEGATIVE, /* negative duration */
    TROUBLE_SYNTAX,   /* event that is not JSON, stepped over */
    TROUBLE_ZEROS,    /* part with zero bytes, which no writer leaves: a hole, maybe inside a text */
    TROUBLE_PHASE,    /* begin/end, counters: not used */
    TROUBLE_COUNT
};

struct sort_item { /* an event of a stretch */
    int64_t  start_ns, duration_ns;
    uint32_t raw;
};

struct kineto_source { /* one file */
    uint32_t host;
    uint32_t first_memory;
    int64_t  base_ns; /* added to its times */
    bool     has_base;
    uint64_t event_count;
    int64_t  first_ns;            /* start of the event written first */
    int64_t  least_ns, most_ns;   /* extent of its events */
    int64_t  shift_ns;            /* from its times to the profile's */
    uint64_t trouble[TROUBLE_COUNT];
    size_t   first_flow_end, first_stretch;
};

/* Events that one thread keeps from all its stretches, a row each: those of a track in one stretch
 * follow one another, sorted. */
struct kineto_links {
    struct packed ids, rows, kinds;
};
struct kineto_columns {
    struct arena       arena;
    struct packed      starts_ns, durations_ns, activities;
    struct stat_column stats[STAT_KEY_COUNT]; /* rows in the order they were written */
    struct kineto_links links[LINK_LISTS];
};
struct kineto_run { /* sorted events of one track */
    uint32_t thread; /* whose columns */
    uint32_t track, source;
    uint32_t first, count;
};
struct kineto_stretch {
    uint32_t thread;
    size_t   first_link[LINK_LISTS], end_link[LINK_LISTS];
};

/* Rows of the profile for a thread's own rows. */
struct kineto_rows {
    VEC(uint32_t) names, devices, configs, activities, tracks;
};

enum { LENGTH_SLOTS = 40, ARG_SLOTS = 128 };
struct kineto { /* what one thread reads with */
    struct profile  tables;  /* what this thread has met, but its events */
    struct profile *profile; /* tables */
    struct arena    scratch;
    struct arena    brief; /* texts without escapes, for one stretch */
    struct intern   keys;  /* class, name, dims, types -> activity of the same index, less one */
    struct text     key;   /* scratch for building one */
    VEC(struct track) tracks;
    struct id_map   track_map;
    uint32_t        last_track;
    struct id_map   configs;       /* hash of a launch configuration -> row */
    uint8_t  first_field[LENGTH_SLOTS]; /* by length of key, into the table of fields */
    /* Rows of that, less one, that came first and behind a row the last time; 0: none yet. */
    uint8_t  first_arg[KINETO_UNKNOWN + 1], next_arg[ARG_SLOTS];
    uint32_t thread;
    struct kineto_rows rows;
    struct kineto_moulds moulds;

    /* The stretch under way, and the memory events and collectives of its tables. */
    VEC(struct raw_event) raws;
    VEC(struct raw_stat) stats[STAT_KEY_COUNT];
    VEC(struct flow_end) flow_ends;
    VEC(struct raw_link) links;
    VEC(uint32_t) memory_tracks;
    VEC(struct sort_item) items, spare; /* raws sorted by track, and by time */
    VEC(uint32_t) places;               /* by raw: among the items */
    uint32_t host;
    uint64_t trouble[TROUBLE_COUNT];
    bool     has_fractions; /* some time had digits behind the point */
    bool     is_full;       /* the memory budget is spent */
    bool     is_capture;    /* struct read_options */

    struct kineto_columns columns;
};

struct kineto_job {
    struct profile *profile;
    struct arena    scratch;
    struct kineto  *threads;
    unsigned        thread_count;
    size_t          part_bytes;
    struct intern   keys; /* as those of the threads */
    struct id_map   configs;
    struct id_map   track_map;
    VEC(struct track) tracks;
    VEC(struct kineto_source) sources;
    struct kineto_source *source; /* the file being read */
    VEC(struct kineto_run) runs;
    VEC(struct kineto_stretch) stretches;
    VEC(struct flow_end) flow_ends;
    VEC(uint32_t) memory_tracks; /* beside profile->memory_events */
    bool has_fractions, is_full;
};

/* The text under the scanner: a whole file in memory, or a window of a stream. */
struct kineto_window {
    struct json_scan    scan;
    const struct file  *file;
    struct file_stream *stream; /* NULL: all of it is here */
    char               *data;   /* of a stream */
    size_t              capacity;
    const char         *begin;  /* of what is here */
    uint64_t            offset; /* of begin in the unpacked file */
    struct arena       *arena;
};
enum { LARGEST_VALUE_BYTES = 256 << 20 }; /* one event or one member of the head */

/* _parts.c: scan is behind the bracket of the array. False when the text ends before it does. */
bool kineto_walk_events(struct kineto_job *job, struct kineto_window *window);

/* _merge.c */
bool kineto_prepare(struct kineto *kineto, const struct kineto_job *job); /* empty tables */
void kineto_begin_stretch(struct kineto *kineto, uint32_t host);
void kineto_sort_stretch(struct kineto *kineto);
/* Adds what the stretch has that is new; stretches in the order of the file. */
void kineto_merge_stretch(struct kineto_job *job, struct kineto *kineto);
/* Keeps its events; after merging. */
void kineto_pack_stretch(struct kineto *kineto);

/* _sort.c: by start, then longest first, then as written. spare: as long. */
void kineto_sort(struct sort_item *items, struct sort_item *spare, size_t count);

/* _fields.c */
void kineto_prepare_fields(struct kineto *kineto);
/* Takes one event object apart; scan->state tells whether it was whole. */
void kineto_scan_event(struct kineto *kineto, struct json_scan *scan,
                       struct kineto_event *event);
/* _mould.c: takes an event that is like one before it; false: it is none, or not quite whole. */
bool kineto_fit_event(struct kineto_moulds *moulds, struct json_scan *scan,
                      struct kineto_event *event);
/* Makes a mould of an event that was taken apart, where it may come again. */
void kineto_learn_event(struct kineto_moulds *moulds, const char *begin, const char *end,
                        const struct kineto_event *event);
/* _event.c: adds what it means. Sets is_full past the budget. */
void kineto_add_event(struct kineto *kineto, const struct kineto_event *event);
bool kineto_has(const struct kineto_event *event, enum kineto_field field);
/* The field as an integer; `preset` when it is absent or none. */
int64_t  kineto_integer(const struct kineto_event *event, enum kineto_field field, int64_t preset);
uint32_t kineto_intern(struct kineto *kineto, struct str raw); /* resolves escapes */
/* A track of the host; a role tells kinds of tracks with the same numbers apart. */
bool     kineto_same_track(const struct track *a, const struct track *b);
uint64_t kineto_track_hash(const struct track *track);

/* _args.c */
void kineto_add_args(struct kineto *kineto, const struct kineto_event *event, uint32_t row);
bool kineto_add_memory(struct kineto *kineto, const struct kineto_event *event, uint32_t track,
                       int64_t time_ns);

/* _op.c: a row of profile->ops, or NO_ID past the budget */
uint32_t kineto_add_op(struct kineto *kineto, const struct kineto_event *event, uint32_t name);

/* _head.c: a member of the top level other than traceEvents; true when it was one known */
bool     kineto_scan_head(struct kineto_job *job, struct str key, struct json_scan *scan);
uint32_t kineto_job_intern(struct kineto_job *job, struct str raw);
/* The row of a host's device, added where it is new; NO_ID when it cannot be. */
uint32_t kineto_device(struct profile *profile, uint32_t host, int64_t ordinal);
/* Calls a device by its backend, "NPU 0", where it is none of a GPU ("npu"; empty: it is one). false: no memory. */
bool     kineto_name_device(struct profile *profile, uint32_t row, struct str backend);
/* A process that sees some devices alone (CUDA_VISIBLE_DEVICES) lists them from 0, and kernels may
 * name them as the machine does: where all that a host lists are alike, so are those not listed. */
void kineto_share_properties(struct profile *profile);

/* _place.c */
struct placing {
    struct kineto_job *job;
    uint32_t          *timeline; /* by track; NO_ID for empty ones */
    uint32_t         **event;    /* by thread and row of its columns */
    uint32_t          *under;    /* by event: the one begun last and still under way, or NO_ID */
};
bool kineto_place_events(struct placing *placing);

/* _finish.c */
bool kineto_finish(struct kineto_job *job);

#endif
