/*
 * profile: what a recording holds, in one shape for every dialect (ProfileProto, GraphDef with
 * RunMetadata, XSpace, Kineto). Filled by readers, constant afterwards. Columns, ids instead of
 * pointers, names interned; all of it lives in profile->arena.
 *
 * An *activity* is a distinct thing that can happen (a kernel, an op with its shapes, a trace
 * annotation); an *event* is one occurrence of it on a timeline. What is constant over occurrences
 * stands on the activity, what varies stands in stat columns, one per key, sparse.
 *
 * Times are int64 nanoseconds since profile->origin_ns; resolution_ns tells what the source can
 * resolve (tfprof 1000, XSpace and Kineto 1). Start and end are both rounded down, so that nesting
 * and adjacency in the source survive.
 */
#ifndef TFPROF_MODEL_PROFILE_H
#define TFPROF_MODEL_PROFILE_H

#include "base/arena.h"
#include "base/intern.h"
#include "base/packed.h"
#include "base/vec.h"

#include <stdbool.h>
#include <stdint.h>

enum profile_format { FORMAT_PROFILE, FORMAT_GRAPH, FORMAT_XSPACE, FORMAT_KINETO, FORMAT_COUNT };
const char *profile_format_name(enum profile_format format); /* "xspace", as --input-format takes it */

struct source_file {
    char    *name; /* as the user gave it */
    uint64_t bytes;
    uint32_t host; /* NO_ID when it is not one host's */
    int32_t  rank; /* -1 unknown */
};

struct host {
    uint32_t name;
    int32_t  rank;            /* -1 unknown */
    int32_t  world_size;      /* ranks of the job that its file tells of; 0 unknown */
    uint32_t core_count;      /* 0 unknown */
    uint32_t device_count;    /* accelerators that its recording lists, used or not; 0 unknown */
    /* Added to this host's events, by collectives that it shares with the first host: how many, how far
     * their ends are apart mostly, and those that one of the two left before the other one had come. */
    int64_t  clock_shift_ns, clock_deviation_ns;
    uint32_t clock_meetings, clock_early;
};

enum device_kind { DEVICE_CPU, DEVICE_GPU, DEVICE_TPU, DEVICE_OTHER };

/* Capabilities are 0 when the file does not tell; analyses fall back on the hardware table. */
struct device {
    uint32_t         name;  /* "/device:GPU:0", "/job:w/replica:0/task:0/device:CPU:0", "GPU 0" */
    uint32_t         model; /* "NVIDIA H100 SXM5"; id 0 unknown */
    uint32_t         host;
    int32_t          ordinal;
    enum device_kind kind;
    uint32_t         unit_of; /* row + 1 of the device that this is a unit of; 0: it is one itself */
    uint32_t         compute_major, compute_minor, sm_count;
    double           peak_flops_per_s, memory_bytes_per_s;
    double           on_chip_bytes_per_s; /* of the fastest memory inside; 0 unknown */
    int64_t          memory_bytes;
    double           clock_hz;
    bool             is_amd; /* the maker, where it is told beside the name */
};

/* What a recorder wrote of a machine, under the recorder's own name. */
struct property {
    uint32_t host, device; /* device: NO_ID for the host's own */
    uint32_t name, text;   /* text: 0 for numbers */
    double   number;
};

/* A stat that no column holds, over all events of one name on a host or device. */
struct event_stat {
    uint32_t host, device; /* device: NO_ID for the host's own events */
    uint32_t event, stat;  /* names */
    uint32_t text;         /* the first one that was written; 0: none */
    bool     is_fixed;     /* written once, of all events of the name */
    uint64_t count;
    double   sum, least, most; /* of numbers */
};

enum timeline_kind {
    TIMELINE_THREAD,  /* a host thread: nested slices */
    TIMELINE_STREAM,  /* kernels and copies in order on a device */
    TIMELINE_OPS,     /* device op level (TPU "XLA Ops"); nested slices */
    TIMELINE_MODULES, /* device programs */
    TIMELINE_STEPS,   /* step markers of a device */
    TIMELINE_DERIVED, /* made from other lines by a tool: analyses skip it */
    TIMELINE_OTHER    /* counters, annotations, units without a meaning for us */
};

/* Events [first_event, first_event + event_count), sorted by start, longest first at equal starts. */
struct timeline {
    uint32_t           name;    /* thread or line name, without a trailing "/<tid>" */
    int64_t            id;      /* tid or stream id as recorded */
    int64_t            process; /* pid, 0 unknown */
    uint32_t           host;    /* NO_ID never */
    uint32_t           device;  /* NO_ID on host timelines */
    enum timeline_kind kind;
    uint32_t           first_event, event_count;
};

/* What an activity is. The reader decides, from names and categories of its dialect; when several
 * fit the most specific one counts. OTHER stays countable. */
enum activity_kind {
#define KIND(id, name, class, is_op) ACTIVITY_##id,
#include "model/activity_kinds.def"
#undef KIND
    ACTIVITY_KIND_COUNT
};
enum kind_class {
    CLASS_MARK, CLASS_HOST, CLASS_WAIT, CLASS_COMPUTE, CLASS_COPY, CLASS_LAUNCH, CLASS_SYNC,
    CLASS_COMPILE, CLASS_INPUT, CLASS_COMMUNICATION, CLASS_OUTPUT, KIND_CLASS_COUNT
};

struct activity {
    uint32_t name;     /* as recorded */
    uint32_t category; /* Kineto "cat", XLA hlo_category, else id 0 */
    uint32_t op;       /* row of profile->ops, or NO_ID */
    uint32_t source;   /* row of profile->sources, or NO_ID: where in the user's program */
    uint8_t  kind;     /* enum activity_kind */
    uint8_t  copy;     /* enum copy_direction for MEMCPY and TRANSFER */
};

enum copy_direction { COPY_NONE, COPY_H2D, COPY_D2H, COPY_D2D, COPY_P2P, COPY_H2H };

/* dtype: one list for all dialects. */
enum dtype {
    DTYPE_UNKNOWN, DTYPE_F64, DTYPE_F32, DTYPE_TF32, DTYPE_F16, DTYPE_BF16, DTYPE_F8, DTYPE_F4,
    DTYPE_C64, DTYPE_C128, DTYPE_I64, DTYPE_I32, DTYPE_I16, DTYPE_I8, DTYPE_I4,
    DTYPE_U64, DTYPE_U32, DTYPE_U16, DTYPE_U8, DTYPE_BOOL, DTYPE_STRING, DTYPE_OTHER,
    DTYPE_COUNT
};
/* Has events, and its own: not what is derived from other timelines. */
bool timeline_is_shown(const struct timeline *timeline);
const char *dtype_name(enum dtype dtype);  /* "float32", "bfloat16" … as users write them */
unsigned    dtype_bits(enum dtype dtype);  /* 0 unknown */

enum { TENSOR_MAX_RANK = 8 };
struct tensor { /* one operand or result */
    uint8_t dtype;
    int8_t  rank; /* -1 unknown */
    int64_t dims[TENSOR_MAX_RANK]; /* -1 unknown */
};
/* Elements, exactly; -1: a dimension is not known, or there are too many. A scalar has one. */
int64_t tensor_count(const struct tensor *tensor);
/* Both are known, with the same dimensions in the same order. */
bool same_dims(const struct tensor *a, const struct tensor *b);
/* The same, but for dimensions of one, which either may have more of. */
bool same_sizes(const struct tensor *a, const struct tensor *b);

/* An op: framework graph node, HLO instruction, aten op with its shapes. -1: unknown. */
struct op {
    uint32_t name;   /* full name with its scope, "model/dense/MatMul" */
    uint32_t type;   /* "MatMul", "dot_general", "aten::mm", HLO opcode */
    uint32_t origin;   /* what a compiled instruction was made from, "jit(f)/while/body/dot"; 0 */
    uint32_t category; /* hlo_category, or 0 */
    uint32_t module; /* HLO module or function it belongs to; 0 the main graph */
    uint32_t program; /* interned; XSpace: which of the modules of that name */
    uint32_t device; /* row of profile->devices, or NO_ID */
    uint32_t source; /* row of profile->sources, or NO_ID */
    uint32_t first_input, input_count;   /* rows of profile->tensors */
    uint32_t first_output, output_count; /* right behind the inputs */
    uint32_t first_attr, attr_count;     /* rows of profile->attrs */
    int64_t  flops, bytes;               /* one execution; as recorded or from shapes */
    int64_t  on_chip_bytes;              /* beside bytes: traffic of memories inside of the chip, as recorded */
    int64_t  parameters;                 /* elements, for variables; -1 otherwise */
    bool     is_fused;    /* inside a fusion: has no time of its own */
    bool     is_eager;    /* known to have run op by op */
    uint32_t graph_node;  /* vertex of profile->graph, or NO_ID */
    uint32_t caller;      /* row + 1 of the fusion, call, loop or branch that it is inside of; 0 none */
};
/* One of which nothing is known yet. */
#define OP_UNKNOWN                                                                                 \
    ((struct op) { .device = NO_ID, .source = NO_ID, .flops = -1, .bytes = -1, .parameters = -1,   \
                   .graph_node = NO_ID })

struct attr { /* small named facts of an op: "data_format"=NHWC, "padding"=SAME, "T"=float */
    uint32_t name, value; /* both interned; numbers as decimal text */
};

struct source_line { /* where in the user's program; frames innermost first */
    uint32_t file, function;
    uint32_t text; /* of the line, where it was recorded */
    uint32_t line;
    int32_t  first_line; /* of its function, as recorded; 0 or less unknown */
    uint32_t caller; /* row of profile->sources, or NO_ID */
    bool     is_packaged; /* of a library, as its callers tell where the file's name alone does not */
};

/* What varies between occurrences: one sparse column a key, sorted by event. */
enum stat_key {
#define STAT(id, unit, text) STAT_##id,
#include "model/stats.def"
#undef STAT
    STAT_KEY_COUNT
};
struct stat_column {
    struct packed events; /* ascending */
    struct packed values; /* integers as they are, names interned, doubles as their bits */
};
double  stat_to_double(int64_t value);

struct kernel_config { /* launch configuration; STAT_KERNEL_CONFIG holds its row */
    uint32_t grid[3], block[3];
    uint32_t registers, static_shared_bytes, dynamic_shared_bytes;
    float    occupancy_pct; /* < 0 unknown */
};

enum flow_kind { FLOW_LAUNCH, FLOW_FORWARD_BACKWARD, FLOW_SYNC };
struct flow { /* happens-before between two events */
    uint32_t from, to;
    uint8_t  kind;
};

/* A step as the source defines it; only formats without a timeline (FORMAT_PROFILE, FORMAT_GRAPH)
 * fill these, for others the steps analysis finds them. */
struct recorded_step {
    int64_t number, start_ns, duration_ns;
};

/* One op's execution in one step as tfprof and RunMetadata record it. */
struct op_run {
    uint32_t op, step; /* row of profile->ops, profile->recorded_steps */
    uint32_t device;
    uint32_t stream;   /* interned stream name of a device:…/stream:… row; 0 none */
    int64_t  start_ns, duration_ns;  /* -1 unknown start */
    int64_t  scheduled_ns;           /* when it became ready; -1 unknown */
    bool     is_accelerator;         /* time on the device rather than on its host */
};

struct op_memory { /* bytes of one op in one step */
    uint32_t op, step;
    int64_t  requested_bytes, peak_bytes, residual_bytes, output_bytes, temporary_bytes,
        persistent_bytes;
};

enum memory_event_kind { MEMORY_ALLOCATE, MEMORY_FREE, MEMORY_SNAPSHOT };
struct memory_event {
    uint32_t event;     /* on whose timeline, or NO_ID */
    uint32_t allocator; /* interned: "GPU_0_bfc", "cpu" */
    uint32_t device;    /* or NO_ID for host memory */
    uint8_t  kind;
    int64_t  time_ns, bytes;             /* signed for SNAPSHOT deltas */
    int64_t  in_use_bytes, reserved_bytes, available_bytes, peak_bytes; /* after it; -1 unknown */
    int64_t  stack_bytes;                /* of those in use, held for running programs */
    double   fragmentation;              /* 1 - largest free / free; < 0 unknown */
    uint64_t address;
    int64_t  requested_bytes;            /* of an allocation; -1 unknown */
    uint32_t op_name, region, shape;     /* interned, 0 unknown */
    uint8_t  dtype;                      /* enum dtype, of what is held */
};

/* Memory of compiled programs as the compiler laid it out. A program is `module`, one of struct op's; its
 * allocations, and the events of its buffers, stand one behind the other. */
enum program_memory_kind {
    PROGRAM_TEMPORARY, PROGRAM_PARAMETER, PROGRAM_OUTPUT, PROGRAM_CONSTANT, PROGRAM_THREAD
};
struct program_allocation {
    uint32_t module, number; /* number: in its program */
    uint32_t space;          /* of memory: 0 the device's main one */
    uint8_t  kind;           /* enum program_memory_kind */
    int64_t  bytes;
};
struct program_buffer { /* a value, in a part of an allocation */
    uint32_t op;          /* row of ops that makes it, or NO_ID */
    uint32_t allocation;  /* row of program_allocations, or NO_ID */
    int64_t  bytes, offset;
    int64_t  value_bytes; /* without padding; -1 unknown */
};
enum program_event_kind { PROGRAM_TAKE, PROGRAM_GIVE_BACK, PROGRAM_SHARE };
struct program_event { /* in the order that the program runs in */
    uint32_t buffer, shares_with; /* rows of program_buffers; NO_ID: of none */
    uint8_t  kind;
};

struct aggregate { /* what ran so often, without a time of its own; of no event */
    uint32_t label, timeline;
    int64_t  count, total_ns;
};

struct collective { /* STAT_COLLECTIVE holds its row */
    uint32_t type;       /* "all-reduce", "all-gather" … lower case, dashes */
    uint32_t group;      /* interned group description, 0 unknown */
    int64_t  bytes_in, bytes_out; /* -1 unknown */
    int32_t  group_size; /* -1 unknown */
    int64_t  sequence;   /* -1 unknown */
    float    unevenness; /* the most that goes to one rank over the mean; 0 unknown */
    uint8_t  dtype;
};

struct counter_sample {
    uint32_t name, host, device;
    int64_t  time_ns;
    double   value;
};

struct note { /* what a reader found and went on: an oddity, or damage */
    char    *where; /* NULL: the whole file */
    char    *what;
    uint64_t count;
    bool     is_damage; /* part of what was recorded is lost, so any number may be wrong */
};

/* What was read past without being understood, by its name in the file. */
enum unknown_kind { UNKNOWN_STAT, UNKNOWN_FIELD, UNKNOWN_CATEGORY, UNKNOWN_ARGUMENT };
struct unknown {
    uint32_t name; /* 0: none, or those beyond the most that are kept */
    uint8_t  kind; /* enum unknown_kind */
    uint64_t count;
};

struct classic;
struct hardware;
struct op_graph;

struct profile {
    struct arena       *arena;
    struct intern       names;
    enum profile_format format;
    char               *name;      /* short, for the head of a report */
    uint32_t            framework; /* interned "tensorflow", "jax", "pytorch", "torch-xla"; 0 */
    uint32_t            framework_version;
    uint32_t            capture_error; /* the first the profiler wrote down, interned; 0 none */
    int64_t             origin_ns; /* unix time of time 0; 0 unknown */
    int64_t             start_ns, end_ns; /* extent of the capture */
    int64_t             resolution_ns;
    int32_t             world_size; /* ranks the job had; -1 unknown */

    VEC(struct source_file)   files;
    VEC(struct host)          hosts;
    VEC(struct device)        devices;
    struct id_map             device_rows; /* host and ordinal -> row, for readers that number them */
    VEC(struct property)      properties;
    VEC(struct event_stat)    event_stats;
    VEC(struct timeline)      timelines;
    const struct hardware    *said_hardware; /* of devices of this model: what the user said; NULL */
    uint32_t                  said_model;
    VEC(struct activity)      activities;
    VEC(struct op)            ops;
    VEC(struct tensor)        tensors;
    VEC(struct attr)          attrs;
    VEC(struct source_line)   sources;
    VEC(struct kernel_config) kernel_configs;
    VEC(struct flow)          flows;
    VEC(struct recorded_step) recorded_steps;
    VEC(struct op_run)        op_runs;
    VEC(struct op_memory)     op_memory;
    VEC(struct memory_event)  memory_events;
    VEC(struct collective)    collectives;
    VEC(struct program_allocation) program_allocations;
    VEC(struct program_buffer)     program_buffers;
    VEC(struct program_event)      program_events;
    VEC(struct aggregate)     aggregates;
    VEC(struct counter_sample) counters;
    VEC(struct note)          notes;
    VEC(struct unknown)       unknowns;

    /* Events: columns of event_count rows; timelines own consecutive runs of them. Read through
     * the functions below. An event holds a label: what the reader told events apart by, before it
     * knew which of them are one activity. */
    uint32_t      event_count;
    struct packed event_starts_ns, event_durations_ns, event_labels;
    VEC(uint32_t) labels; /* row of activities */
    struct stat_column stats[STAT_KEY_COUNT];

    struct op_graph *graph; /* NULL when the source has none */
    struct classic  *classic; /* for the classic views; NULL unless asked for and there */

    bool     has_python_frames, has_shapes, has_stacks; /* what the capture was asked to record */
    uint32_t idle_accelerators;  /* named, and nothing of them recorded */
    bool     lacks_pool_tasks;   /* the recorder does not see what pool threads do for an op */
    uint32_t failed_allocations; /* for want of memory */
    int64_t  failed_bytes;       /* the most that one of them asked for */
    uint64_t nameless_events; /* whose names are not in the file, as where its end is missing */
    uint64_t unknown_fields, unknown_stats; /* sums of unknowns, for coverage */
};

/* Rows of events that a reader adds or writes; labels are rows of profile->labels. */
enum { EVENT_BATCH = 1024 };
struct event_rows {
    const int64_t *starts_ns, *durations_ns, *labels;
};

bool            profile_init(struct profile *profile, struct arena *arena);
/* Rows are added with vec_push; these do more than that. All false or NO_ID past the budget. */
bool            profile_add_events(struct profile *profile, const struct event_rows *rows,
                                   uint32_t count);
bool            profile_write_events(struct profile *profile, uint32_t first,
                                     const struct event_rows *rows, uint32_t count);
bool            profile_add_stats(struct profile *profile, enum stat_key key, const int64_t *events,
                                  const int64_t *values, size_t count);
/* For readers whose labels are rows of activities themselves: after the last of these. */
bool            profile_label_activities(struct profile *profile);
void            profile_fit(struct profile *profile); /* after the last event */
/* For walks over all events, which read a column EVENT_BATCH rows at a time: by label, the kind of
 * its activity. NULL past the budget. */
uint8_t        *profile_label_kinds(const struct profile *profile, struct arena *arena);
/* For a remark: something was assumed, repaired or left out as foreign. */
bool            profile_note(struct profile *profile, const char *where, uint64_t count,
                             const char *format, ...) CHECK_PRINTF(4, 5);
/* For damage: every command says it, `baseline` and --strict refuse it, a gate does not pass. */
bool            profile_damage(struct profile *profile, const char *where, uint64_t count,
                               const char *format, ...) CHECK_PRINTF(4, 5);
/* The first note of damage; NULL: none. */
const struct note *profile_first_damage(const struct profile *profile);
/* Adds to what was not understood; false past the budget. */
bool            profile_add_unknown(struct profile *profile, enum unknown_kind kind, uint32_t name,
                                    uint64_t count);
const char     *unknown_kind_name(enum unknown_kind kind); /* "stat", "field", "category", "argument" */
uint32_t        profile_intern(struct profile *profile, struct str name);
struct str      profile_str(const struct profile *profile, uint32_t name);
/* Operand `number` of a row of profile->ops; NULL: no row (NO_ID), or it has fewer. */
const struct tensor *profile_op_input(const struct profile *profile, uint32_t op, uint32_t number);
bool            profile_stat(const struct profile *profile, enum stat_key key, uint32_t event,
                             int64_t *value); /* O(log n); false: the event has none */
/* The numbers of an op's scalar or list argument, by position: ["", "[2, 3]", "False"] has two at 1.
 * Returns how many, up to `most`; 0: none were recorded there. */
int profile_numbers(const struct profile *profile, uint32_t event, size_t place, int64_t *numbers,
                    int most);
/* Of a shape; 0 where it is unknown, in part or whole. */
double          tensor_elements(const struct tensor *tensor);
double          tensor_bytes(const struct tensor *tensor); /* the same of its bytes */
/* The innermost frame of the user's own program at or above `source` (a row of sources, or NO_ID):
 * frames inside installed packages say nothing about it. `source` itself when there is none. */
/* The first event of a timeline that begins at `from_ns` or later; behind its last one: none does.
 * O(log events). */
uint32_t        profile_first_event(const struct profile *profile, const struct timeline *timeline,
                                    int64_t from_ns);
uint32_t        profile_user_source(const struct profile *profile, uint32_t source);
/* A row of sources that is the user's own: a file of no installed package nor of Python itself. */
bool            profile_is_user_source(const struct profile *profile, uint32_t source);
/* The same by row of sources, in `arena`. XSpace names files of frames without folders: they are the
 * program's own where something compiled comes from that file. NULL: the arena is exhausted. */
bool           *profile_user_sources(const struct profile *profile, struct arena *arena);
/* Where files have names without folders: of the lines that have callers, the program's own are those
 * in files from which calls begin. For readers, once the stacks of programs are there. */
bool            profile_mark_packaged(struct profile *profile, struct arena *scratch);
#define KIND_BIT(kind) (UINT32_C(1) << (kind)) /* in sets of enum activity_kind */
enum kind_class activity_kind_class(enum activity_kind kind);
bool            activity_kind_is_op(enum activity_kind kind); /* where the activity has one */
const char     *activity_kind_name(enum activity_kind kind); /* "op", "input-stage" … */

static inline int64_t event_start_ns(const struct profile *profile, uint32_t event)
{
    return packed_get(&profile->event_starts_ns, event);
}
static inline int64_t event_duration_ns(const struct profile *profile, uint32_t event)
{
    return packed_get(&profile->event_durations_ns, event);
}
static inline int64_t event_end_ns(const struct profile *profile, uint32_t event)
{
    return event_start_ns(profile, event) + event_duration_ns(profile, event);
}
static inline uint32_t event_activity_id(const struct profile *profile, uint32_t event)
{
    return profile->labels.items[packed_get(&profile->event_labels, event)];
}
static inline const struct activity *event_activity(const struct profile *profile, uint32_t event)
{
    return &profile->activities.items[event_activity_id(profile, event)];
}
static inline size_t stat_count(const struct stat_column *column)
{
    return column->events.count;
}
static inline uint32_t stat_event(const struct stat_column *column, size_t row)
{
    return (uint32_t)packed_get(&column->events, row);
}
static inline int64_t stat_value(const struct stat_column *column, size_t row)
{
    return packed_get(&column->values, row);
}

#endif
