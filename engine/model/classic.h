/*
 * classic: what TensorFlow's own profiler keeps of a program, by its rules: nodes of the main graph
 * with their types, shapes and inputs, and for each step in which one ran its times and memory.
 * Views sum these; analyses use the profile's own rows. Filled by the TensorFlow readers when asked
 * for, constant afterwards, in the profile's arena. Times in microseconds as recorded.
 */
#ifndef TFPROF_MODEL_CLASSIC_H
#define TFPROF_MODEL_CLASSIC_H

#include "base/err.h"
#include "base/vec.h"
#include "model/profile.h"

enum classic_measure {
    MEASURE_RUNS, /* scheduling records: once an iteration of a loop */
    MEASURE_EXEC_MICROS,
    MEASURE_ACCELERATOR_MICROS,
    MEASURE_CPU_MICROS,
    MEASURE_REQUESTED_BYTES,
    MEASURE_PEAK_BYTES,
    MEASURE_RESIDUAL_BYTES,
    MEASURE_OUTPUT_BYTES,
    MEASURE_COUNT
};

struct classic_input { /* data and control inputs, by index */
    uint32_t node;     /* row of nodes, or NO_ID: names none */
    uint32_t index, slot;
    bool     is_control;
};
struct classic_time { /* one run on one device */
    uint32_t device;  /* interned, lower case */
    bool     is_accelerator;
    int64_t  start_micros, duration_micros;
};
struct classic_memory { /* what a GPU's allocator had in use when a run ended */
    int64_t time_micros, in_use_bytes;
};
struct classic_allocation { /* negative bytes: freed */
    int64_t time_micros, bytes;
};
struct classic_exec { /* a node in one step */
    int64_t  step;
    int64_t  sums[MEASURE_COUNT];
    int64_t  start_micros, end_micros; /* earliest and latest; 0 unknown */
    int64_t  accelerator_persistent_bytes;
    uint32_t first_time, time_count;
    uint32_t first_memory, memory_count;
};
struct classic_node {
    uint32_t op;        /* row of profile->ops: name, type, attributes */
    uint32_t source;    /* row of profile->sources: the innermost line that made it; NO_ID none */
    uint32_t device;    /* interned canonical name, lower case; 0: never ran on one */
    int64_t  float_ops; /* one run, as the log tells it, else by formula; FLOAT_OPS_UNKNOWN */
    uint32_t shape;     /* row of shapes: attribute "shape"; NO_ID none */
    uint32_t first_output, output_count; /* rows of shapes, by slot */
    uint32_t first_input, input_count;   /* rows of inputs */
    uint32_t first_exec, exec_count;     /* rows of execs, by step */
    uint32_t first_allocation, allocation_count;
    bool     is_gradient; /* of what its source made; TensorFlow's have names that tell it */
};
enum { FLOAT_OPS_UNKNOWN = -1 };
enum tensor_kind {  /* how a variable's values are held */
    TENSOR_UNKNOWN, /* of a type that has no numbers and no text */
    TENSOR_NUMBERS,
    TENSOR_INTEGERS,
    TENSOR_STRINGS,
};
struct classic_tensor { /* values of a variable, row-major */
    int              type; /* TensorFlow's DataType */
    struct tensor    shape;
    enum tensor_kind kind;
    size_t           count;
    double          *numbers; /* the one of its kind */
    int64_t         *integers;
    struct str      *strings;
};
struct classic_variable { /* of a checkpoint */
    struct str    name;
    int           type; /* TensorFlow's DataType */
    struct tensor shape; /* rank -1: more dimensions than a tensor holds */
    uint32_t      row;   /* the reader's own */
};
struct classic_checkpoint {
    VEC(struct classic_variable) variables; /* by name, bytewise */
    bool  is_v1;
    void *reader; /* what `read` needs */
    /* Values are read when they are asked for, into the arena. */
    bool (*read)(const struct classic_checkpoint *checkpoint,
                 const struct classic_variable *variable, struct arena *arena,
                 struct classic_tensor *tensor, struct err *err);
};
struct classic {
    const struct profile *profile;
    VEC(struct classic_node) nodes; /* by name, bytewise */
    VEC(struct tensor) shapes;      /* rank -1 unknown */
    VEC(struct classic_input) inputs;
    VEC(struct classic_exec) execs;
    VEC(struct classic_time) times; /* of one exec: as recorded */
    VEC(struct classic_memory) memory;
    VEC(struct classic_allocation) allocations;
    VEC(int64_t) steps;  /* ascending */
    bool is_of_all_steps; /* means are over all steps, not over those in which a node ran */
    const struct classic_checkpoint *checkpoint; /* NULL: none was given */
    uint32_t *variable_of;   /* by node: row of the checkpoint's variables; NULL: no checkpoint */
    uint32_t  variable_type; /* interned type of nodes that are variables of the checkpoint */
    struct classic *lines; /* the same for views of lines, where one node has several; or NULL */
    bool has_code;       /* some node had a trace, or a log said so */
    bool misses_streams; /* a GPU ran, but no row of all its streams was recorded */
};

/* What a node did in one step; where step is negative the mean, truncated, over those in which it
 * ran, or with is_of_all_steps over all: then runs are at least 1 where it ran at all. */
int64_t    classic_value(const struct classic *classic, uint32_t node, enum classic_measure measure,
                         int64_t step);
/* What is unknown counts as 0. */
int64_t    classic_float_ops(const struct classic *classic, uint32_t node, int64_t step);
int64_t    classic_parameters(const struct classic *classic, uint32_t node);
struct str classic_name(const struct classic *classic, uint32_t node);
struct str classic_type(const struct classic *classic, uint32_t node);
struct str classic_device(const struct classic *classic, uint32_t node); /* empty: none */
/* Row of the node of that name, or NO_ID. O(log n). */
uint32_t classic_find(const struct classic *classic, struct str name);
bool     classic_has_step(const struct classic *classic, int64_t step);
/* NULL: the node did not run in that step. */
const struct classic_exec *classic_exec_of(const struct classic *classic, uint32_t node,
                                           int64_t step);
/* Whether the node is a variable of the checkpoint. */
bool classic_is_variable(const struct classic *classic, uint32_t node);
/* NULL: the checkpoint has none of that name. O(log n). */
const struct classic_variable *classic_variable_find(const struct classic_checkpoint *checkpoint,
                                                     struct str name);
/* Whether a device is one that the classic tool places nodes on: "…/gpu:0", "…/device:cpu:1". */
bool classic_is_canonical(struct str lower_case_device);

#endif
