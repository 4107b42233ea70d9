/*
 * tf_classic: collects what the classic views need (model/classic.h) while graphs, run metadata and
 * profiles are read. All hooks do nothing and succeed when model->classic is NULL.
 */
#ifndef TFPROF_READ_TF_CLASSIC_H
#define TFPROF_READ_TF_CLASSIC_H

#include "model/classic.h"
#include "read/tf/tf_model.h"

struct tf_classic;

/* has_times: single runs, points of memory and allocations are asked for. False: full. */
bool tf_classic_start(struct tf_model *model, bool has_times);
/* Attribute "shape"; shapes of results as the graph tells them. */
bool tf_classic_shape(struct tf_model *model, uint32_t op, const struct tensor *shape);
bool tf_classic_output(struct tf_model *model, const struct tf_output *output);
bool tf_classic_float_ops(struct tf_model *model, uint32_t op, int64_t float_ops);
bool tf_classic_device(struct tf_model *model, uint32_t op, struct str name);
bool tf_classic_code(struct tf_model *model, uint32_t op, uint32_t source);
void tf_classic_misses_streams(struct tf_model *model);
/* NodeExecStats of an op on a device, ExecProfile of an op (tf_classic_run.c). */
bool tf_classic_stats(struct tf_model *model, uint32_t op, struct str device, int64_t step,
                      struct message stats, struct err *err);
bool tf_classic_exec(struct tf_model *model, uint32_t op, int64_t step, struct message exec,
                     struct err *err);
bool tf_classic_step(struct tf_model *model, int64_t step);
/* Puts everything into profile->classic; after inputs were resolved. */
bool tf_classic_finish(struct tf_model *model);

/* For tf_classic_run.c: rows as they are collected. */
struct tf_exec { /* beside the model's execs */
    uint32_t op;
    uint32_t step_row; /* of steps */
    uint32_t before;   /* + 1: row of the op's exec before it, 0 none */
};
struct tf_classic_op {     /* rows + 1, 0 none */
    uint32_t device;       /* interned name, 0 none */
    uint32_t float_ops, shape, source;
    uint32_t last_exec;
};
struct tf_exec_time {
    uint32_t            exec; /* row of execs */
    struct classic_time time;
};
struct tf_exec_memory {
    uint32_t              exec;
    struct classic_memory memory;
};
struct tf_allocation {
    uint32_t                  op;
    struct classic_allocation allocation;
};
struct tf_classic {
    VEC(struct tf_classic_op) ops; /* by op, as far as any was told about */
    struct classic *classic;       /* the model in the making; its execs as they were collected */
    struct id_map   row_of_step;
    VEC(int64_t) steps;
    VEC(int64_t) float_ops;
    VEC(struct tensor) shapes;
    VEC(struct tf_output) outputs; /* as the graph tells them */
    VEC(struct tf_exec) execs; /* beside classic->execs */
    VEC(struct tf_exec_time) times;
    VEC(struct tf_exec_memory) memory;
    VEC(struct tf_allocation) allocations;
    bool has_code, misses_streams, has_times;
};
/* Row of the exec of op in a step, made where it is new; NO_ID: full. */
uint32_t tf_classic_exec_row(struct tf_model *model, uint32_t op, int64_t step);
bool     tf_classic_place_execs(struct tf_model *model, struct classic *classic,
                                const uint32_t *node_of);

#endif
