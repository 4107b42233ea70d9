/*
 * tf_model: TensorFlow's graphs and run records on their way into the profile. The decoders below
 * add what they find in any order; tf_model_finish puts tensors, attributes, edges, events and
 * steps in the profile's order. Names are interned once; an op is found by its name and function.
 */
#ifndef TFPROF_READ_TF_MODEL_H
#define TFPROF_READ_TF_MODEL_H

#include "base/intern.h"
#include "base/vec.h"
#include "model/op_graph.h"
#include "model/profile.h"
#include "read/proto/message.h"
#include "read/tf/tf_shape.h"

enum { TF_INPUT_INDEX_BITS = 29 };
struct tf_input {  /* "name:2" or "^name" of a node, in the order of its inputs */
    uint32_t op;   /* consumer's row */
    uint32_t from; /* producer's name; once is_resolved its row, NO_ID where no op has the name */
    uint32_t slot;
    uint32_t index : TF_INPUT_INDEX_BITS; /* among the inputs of its op */
    uint32_t is_control : 1, is_resolved : 1;
    uint32_t may_lack : 1; /* told by a run, which leaves out ops that take no time */
};
struct tf_output {
    uint32_t op, slot, shape; /* shape: row of tf_model.shapes */
    uint8_t  dtype;
};
struct tf_attr {
    uint32_t    op;
    struct attr attr;
};
struct tf_wish { /* where the graph wants an op, perhaps in part: "/device:GPU:0" */
    uint32_t op, device_name;
};
struct tf_seen {          /* rows + 1, 0 none, by name: most names are those of main graph's ops */
    uint32_t op;          /* of the main graph */
    uint32_t activity[2]; /* on a device's stream, on a thread */
};
struct tf_op_state {
    uint32_t memory_row;  /* + 1: the last of op_memory, 0 none */
    uint32_t last_step;   /* + 1: the last in which it ran, 0 none */
    uint8_t  dtype;       /* enum dtype of its results */
    bool     is_measured; /* a run told the shapes of its results */
    bool     is_defined;  /* by the graph, which tells its type and inputs */
};
/* Where the graph of ops comes from. */
enum tf_graph_source { TF_GRAPH_NONE, TF_GRAPH_GIVEN, TF_GRAPH_PARTITIONS, TF_GRAPH_COSTS };
enum { TF_TRACE_FRAMES = 64 };
struct tf_trace { /* the outer frames of the code read last, outermost first */
    uint32_t count;
    struct {
        struct str bytes;
        uint32_t   source; /* row of the profile's sources */
    } frames[TF_TRACE_FRAMES];
};
struct tf_told { /* bytes of a result in one run of its op, which allocated nothing else */
    uint32_t op, slot;
    int64_t  bytes;
};
struct tf_step_start {                  /* earliest of its ops; 0 unknown */
    int64_t first_micros, again_micros; /* as first read; in a later ProfileProto that repeats it */
};
struct tf_event {
    uint32_t timeline, activity, sequence;
    int64_t  start_ns, duration_ns;
};
struct tf_model {
    struct profile *profile;
    struct arena    scratch;        /* freed by tf_model_free */
    struct id_map   op_of_name;     /* function << 32 | name -> row of ops, not of the main graph */
    VEC(struct tf_seen) seen;       /* by name */
    VEC(struct tf_op_state) states; /* by op */
    struct id_map timeline_of_row;  /* name << 32 | thread -> row of timelines */
    struct intern frames;           /* packed source lines, for unique rows */
    VEC(struct tf_input) inputs;
    VEC(struct tf_output) outputs;
    VEC(struct tf_attr) attrs;
    VEC(struct tf_event) events;
    VEC(struct tf_wish) wishes;
    struct tf_trace  last_trace;
    struct tf_shapes shapes;
    struct id_map    strings;   /* of OpLogProto and ProfileProto: id -> interned name */
    struct id_map    op_of_id;  /* of one ProfileProto */
    struct id_map    step_rows; /* step number -> row of recorded_steps */
    VEC(struct tf_told) told;
    VEC(struct tf_step_start) step_starts; /* by row of recorded_steps, of ProfileProtos */
    uint32_t host;
    uint32_t first_new_op, first_new_step; /* rows before were in an earlier ProfileProto */
    uint64_t block_count;                  /* addresses given to recorded allocations */
    enum tf_graph_source graph_source;
    bool                 has_gpu, has_stream_all;
    struct tf_classic   *classic; /* NULL: the classic views are not asked for */
};

bool tf_model_init(struct tf_model *model, struct profile *profile, const char *host_name);
void tf_model_free(struct tf_model *model);
bool tf_model_full(struct err *err); /* says that the budget is exhausted; false */

/* Numbers that files claim: 142 years of microseconds, and sums of nanoseconds stay in range. */
enum { TF_SANE_BITS = 52 };
static inline bool tf_is_sane(int64_t number)
{
    return number >= 0 && number >> TF_SANE_BITS == 0;
}
/* Adds a number of sane size, negative or not; others change nothing, sums end at the limit. */
void tf_add(int64_t *sum, int64_t number);

/* The op of that name in a function (0: main graph), made where it is new. NO_ID: full. */
uint32_t tf_model_op(struct tf_model *model, uint32_t function, uint32_t name, bool *is_new);
uint32_t tf_model_find(const struct tf_model *model, uint32_t function, uint32_t name);
/* By a device's name, canonical or not. */
enum device_kind tf_device_kind(struct str name);
/* Device of a canonical name ("/job:…/device:GPU:0"), made where it is new. NO_ID: full. */
uint32_t tf_model_device(struct tf_model *model, struct str name);
bool     tf_model_add_attr(struct tf_model *model, uint32_t op, struct str name, struct str value);
bool     tf_model_add_wish(struct tf_model *model, uint32_t op, struct str device_name);
/* Row of the step with that number, made where it is new. NO_ID: full. */
uint32_t tf_model_step(struct tf_model *model, int64_t number);
void tf_model_step_extend(struct tf_model *model, uint32_t step, int64_t start_ns, int64_t end_ns);
/* Room for so many more ops of the main graph, whose names are new, if there is that much. */
void tf_model_expect_ops(struct tf_model *model, size_t count);
/* Behind the inputs of its op, if they were the last to come, and with the next index. */
bool tf_model_push_input(struct tf_model *model, struct tf_input input);
/* "name:2", "^name"; function as in tf_model_op. */
bool tf_model_add_input(struct tf_model *model, uint32_t op, struct str input);
/* Adds to the row of the same op and step. */
bool tf_model_add_memory(struct tf_model *model, const struct op_memory *memory);
void tf_memory_add(struct op_memory *sum, const struct op_memory *memory);
/* What is known of a name, empty where it is new; until the next call. NULL: full. */
struct tf_seen *tf_model_seen(struct tf_model *model, uint32_t name);
/* Row of the timeline with that name and id, made where it is new. NO_ID: full. */
uint32_t tf_model_add_timeline(struct tf_model *model, const struct timeline *timeline);
/* The row of a timeline made so far, by name and id; NO_ID: none. */
uint32_t tf_model_timeline(const struct tf_model *model, uint32_t name, int64_t id);
/* Resolves inputs, sorts everything into the profile, on two threads where `threads` (0: one a
 * core) allows. Once, last. */
bool tf_model_finish(struct tf_model *model, unsigned threads, struct err *err);
/* AttrValue of op's attribute `name` (tf_attr.c). */
bool    tf_attr_read(struct tf_model *model, uint32_t op, struct str name, struct message value,
                     struct err *err);
uint8_t tf_dtype(uint64_t data_type); /* enum dtype of a DataType; references as their values */
/* CodeDef of an op, and id_to_string, field `number` of a message (tf_log.c). */
bool tf_strings_read(struct tf_model *model, struct message outer, uint32_t number,
                     struct err *err);
bool tf_code_read(struct tf_model *model, uint32_t op, struct message code, struct err *err);

/* Whole messages of a file. */
bool tf_graph_read(struct tf_model *model, struct message graph, struct err *err);
/* The graphs that were run, out of RunMetadata, where none is given: a device each, or those of
 * each function. They come before the records, so that these meet ops whose types are known; what
 * they send each other is joined at the end. The records: tf_run.h. */
bool tf_partitions_read(struct tf_model *model, struct message run, struct err *err);
bool tf_partitions_join(struct tf_model *model);
/* CostGraphDef of the run of a step, behind its records (tf_cost.c). */
bool tf_cost_read(struct tf_model *model, struct message graph, int64_t number, struct err *err);
/* What was in use when each memory event happened; once, last (tf_memory.c). */
bool tf_memory_finish(struct profile *profile, struct arena *scratch);
bool tf_log_read(struct tf_model *model, struct message log, struct err *err);
bool tf_profile_read(struct tf_model *model, struct message profile, struct err *err);
/* Dimensions that the graph leaves open, by bytes of results (tf_told.c): add what runs tell,
 * settle once when all shapes of the graph are known. False: full. */
bool tf_told_add(struct tf_model *model, uint32_t op, uint64_t slot, int64_t bytes);
bool tf_told_settle(struct tf_model *model);

/* What a file holds. */
enum tf_kind {
    TF_NONE,
    TF_GRAPH,
    TF_GRAPH_TEXT,
    TF_RUN,
    TF_RUN_TEXT,
    TF_TIMELINE, /* a trace made of run metadata (tf_timeline.h) */
    TF_LOG,
    TF_PROFILE,
    TF_META_GRAPH
};
enum tf_kind tf_kind_of(struct str bytes);

/* Which op of the host launched what is on streams, as flows (tf_launches.c); once all events are
 * in place. O(events log events). false: past the budget. */
bool tf_launches_join(struct tf_model *model);

/* Fills in floating point operations of one execution from shapes where nothing recorded them
 * (tf_flops.c). false: past the budget. */
bool tf_flops_fill(struct profile *profile, struct arena *scratch);

#endif
