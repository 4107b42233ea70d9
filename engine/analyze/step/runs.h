/*
 * runs: executions of whole programs (XLA modules, graph functions), from the identity that the
 * runtime writes on the work it does for one (run_id, executor step id). A run spans from the first
 * to the last piece of its work. Work for input pipelines (captured tf.data functions, runs that
 * fill queues) is no run. Where devices number their own runs, those of the busiest one of a host
 * stand for all.
 */
#ifndef TFPROF_ANALYZE_RUNS_H
#define TFPROF_ANALYZE_RUNS_H

#include "base/vec.h"
#include "model/profile.h"

struct run {
    int64_t  start_ns, end_ns;
    int64_t  program; /* program id, or an interned module name, or 0 */
    uint32_t host;
    uint32_t device; /* whose run it is where devices count their own, else NO_ID */
    uint32_t event;  /* the first piece */
    int64_t  called_start_ns, called_end_ns; /* the host's call, where calls stand for runs; both 0:
                                                none is known */
    uint32_t caller;                         /* timeline of that call */
    uint32_t function; /* its name, interned in facts, where who asks for runs found it; else 0 */
};
struct runs {
    VEC(struct run) list; /* by start */
};

/* true for kinds of work that run on behalf of a program. false: the arena is exhausted. */
bool runs_find(const struct profile *profile, struct arena *arena, struct runs *runs);
/* Where nothing identifies runs, as on GPUs: calls of compiled functions by the host, each with the
 * device work launched during it, which is where its program comes from. Other formats than JAX's
 * have none. false: the arena is exhausted. O(events + flows log flows). */
bool runs_dispatched(const struct profile *profile, struct arena *arena, struct runs *runs);
/* Executor steps of captured tf.data functions, and of runs that fill queues: those are input work.
 * Values are 1. */
bool runs_input_steps(const struct profile *profile, struct id_map *input_steps);
/* The name of a call of a graph function by Python, "EagerLocalExecute: __inference_train_7". */
bool runs_is_call(struct str name);
/* The function's in it, "train_7"; the number tells its graphs apart. */
struct str runs_called(struct str name);

#endif
