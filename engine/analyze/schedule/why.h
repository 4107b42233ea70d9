/*
 * why: causes of something in a profile, walked backwards over the event graph: of an idle range of
 * a device, a slow step, a late collective, an op or a kernel.
 */
#ifndef TFPROF_ANALYZE_WHY_H
#define TFPROF_ANALYZE_WHY_H

#include "analyze/study.h"
#include "base/err.h"

struct why_cause {
    double          ns;       /* of the time asked about */
    double          usual_ns; /* in the step or on the rank it is compared with; < 0: none is */
    uint32_t        count;    /* pieces of work */
    enum part class;
    const char     *name;     /* what was done; NULL: nothing was recorded */
    const char     *owner;    /* op or annotation around it, or NULL */
    const char     *place;    /* thread or stream */
    const char     *file, *function; /* in the user's program, or NULL */
    uint32_t        line;
};
struct why_late { /* a collective that a rank came last to */
    int64_t          step;
    int              rank;
    const char      *who;      /* "rank 3", or the name of a host, device or thread */
    double           late_ns, share; /* after the first one; of the step */
    const char      *name;
    double           class_ns; /* what the rank did longer than the first one; 0: nothing … */
    struct why_cause cause;    /* … most of it this */
};
struct why {
    const char *what;    /* as asked */
    const char *subject; /* one sentence: what it is about */
    bool        is_step; /* … and it is all of a step */
    const char *began;   /* what came before the first cause, or NULL */
    int64_t     step;
    double      start_ns, duration_ns; /* since the step's begin */
    bool        is_compared;           /* causes have usual_ns and stand by their excess */
    bool        is_summed;             /* too many to tell one by one: most time first */
    VEC(struct why_cause) causes;      /* otherwise the latest first */
    VEC(struct why_late) late;         /* of a collective: each time, the latest first */
};

/* what: "gap", "gap@step12", "step:slowest", "step:12", "collective:REGEX", "op:REGEX",
 * "kernel:REGEX"; NULL: the slowest step or the largest gap, whichever holds more time. ERR_USAGE
 * with a suggestion; ERR_INCONCLUSIVE where the profile has no such. */
bool why_run(struct why *why, const struct study *study, const char *what, struct arena *arena,
             struct err *err);
/* Whether a text begins as such a question does. */
bool why_is_question(const char *text);

#endif
