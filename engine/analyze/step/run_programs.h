/*
 * run_programs: what runs (runs.h) are of which program. Each time that something else than an
 * array changes, or a shape, a compiled function gets a new program: these follow each other, one
 * having gone when the next comes, or take turns, as lengths of inputs do.
 */
#ifndef TFPROF_ANALYZE_RUN_PROGRAMS_H
#define TFPROF_ANALYZE_RUN_PROGRAMS_H

#include "analyze/step/runs.h"
#include "base/intern.h"
#include "base/vec.h"
#include "model/profile.h"

struct run_program {
    uint32_t host;
    int64_t  program, module; /* its module's name, or -1 */
    int64_t  total_ns, first_ns, last_ns;
    uint32_t count;
    size_t   as;    /* the program that it replaces, or itself */
    bool     is_op; /* one op of jax.numpy that nobody compiled */
};
struct run_programs {
    VEC(struct run_program) list; /* by their first runs */
    struct id_map row_of;         /* by host and program */
};

/* Into `arena`, which has to outlive them. false: it is exhausted. O(runs). */
bool run_programs_time(const struct profile *profile, const struct runs *runs, struct arena *arena,
                       struct run_programs *programs);
/* NULL: none of those that were timed. */
struct run_program *run_program_of(const struct run_programs *programs, const struct run *run);
/* Gives the time and the runs of each to the one that it replaces, which has its module's name and
 * ran until then. O(programs^2). */
void run_programs_join_replaced(struct run_programs *programs);
/* How many programs replace one that ran three times and more. false: `arena` is exhausted.
 * O(runs + programs^2). */
bool run_programs_replaced(const struct profile *profile, const struct runs *runs,
                           struct arena *arena, size_t *count);

#endif
