/*
 * op_times: how long each distinct op (a row: what ran, of which kind, on the host or on an
 * accelerator) took in the used steps; on accelerators of which several work, in the mean of them. Several analyses weigh ops by these times, so they are summed in one place.
 */
#ifndef TFPROF_ANALYZE_OP_TIMES_H
#define TFPROF_ANALYZE_OP_TIMES_H

#include "analyze/step/window.h"

struct op_time {
    uint32_t name, type; /* interned in the profile; type equals name where there is no op */
    uint32_t op;         /* row of profile->ops, or NO_ID */
    uint32_t device;     /* row of profile->devices, the first of several; NO_ID: a host thread */
    uint32_t last_device, device_count; /* how many devices share the row */
    uint32_t source;     /* row of profile->sources, or NO_ID */
    uint32_t category;   /* interned; 0 none */
    uint8_t  kind;       /* enum activity_kind */
    uint8_t  dtype;      /* enum dtype: what it computes in */
    bool     is_eager;
    bool     is_counted_inside; /* its operations are those of ops that it calls */
    double   flops;             /* of one call; < 0 unknown */
    double   calls; /* over all used steps, like the rest; on accelerators the mean of them */
    double   total_ns;
    double   self_ns;   /* less the ops nested in it */
    double   input_ns;  /* of that, what ran on threads of a tf.data pipeline */
    double   median_ns; /* of one call */
    double   fastest_ns; /* self time in the step in which that is least; 0: not in all steps */
};
struct op_times {
    struct op_time *rows; /* most self time first */
    size_t          count;
    double          step_count; /* used steps */
    double          step_ns;
    double          gap_ns;     /* between consecutive ops of one thread inside one run */
    uint64_t        tiny_count; /* calls of host ops below OP_TINY_NS */
    double          tiny_self_ns;
    uint64_t        call_count; /* of host ops */
    double          median_ns;  /* of one call of a host op */
};
enum { OP_TINY_NS = 10000 };

/* Rows live in scratch, or are those that op_times_keep kept. false: it is exhausted. O(events +
 * rows log rows). */
bool op_times_make(const struct study *study, struct arena *scratch, struct op_times *times);
/* A host op: whatever it is for, also for output, but no collective or callback, which mostly waits. */
bool op_time_is_host_op(const struct profile *profile, const struct op_time *time);
/* It ran on a unit beside a device, as a SparseCore is. */
bool op_time_is_of_unit(const struct profile *profile, const struct op_time *time);
/* Keeps a copy in the study, so that they are summed once. */
bool op_times_keep(struct study *study, const struct op_times *times);
/* Interned name of the op that an eager execution on a host thread runs; NO_ID: it is none. */
uint32_t op_times_eager_name(const struct profile *profile, uint32_t event);
/* A kernel's name without its template's and its own arguments, and without what it returns. */
struct str op_times_short_name(struct str name);
/* The widest type an op computes in: floats before integers; DTYPE_UNKNOWN without shapes. */
enum dtype op_dtype(const struct profile *profile, const struct op *op);

#endif
