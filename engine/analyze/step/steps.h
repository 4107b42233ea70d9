/* steps: the windows that per-step numbers are about. Result of analysis_steps. */
#ifndef TFPROF_ANALYZE_STEPS_H
#define TFPROF_ANALYZE_STEPS_H

#include "base/str.h"
#include "base/vec.h"

#include <stdbool.h>
#include <stdint.h>

enum step_source { STEPS_MARKER, STEPS_SESSION, STEPS_INFERRED, STEPS_WHOLE_TRACE };

struct step {
    int64_t number;           /* as the marker says, else counted from 0 */
    int64_t start_ns, end_ns; /* start of this step to start of the next where they follow on */
    int64_t marker_end_ns;    /* end of the marker itself */
    int64_t called_start_ns, called_end_ns; /* when a host that runs ahead called for the work
                                               of it; both 0: between start and end */
    uint32_t    host;
    uint32_t    timeline;   /* whose marker it is; NO_ID without a timeline */
    uint32_t    event;      /* marker; NO_ID when inferred */
    bool        is_used;    /* counts for averages */
    bool        is_slow;    /* used, and far longer than the usual one */
    bool        is_outlier; /* used, and longer than the spread of the others explains */
    bool        is_sampled; /* used, and its events are looked at: see excerpt.h */
    const char *left_out;   /* why not: "warm-up", "cut by the capture", … */
};
struct steps {
    VEC(struct step) list; /* by host, then time */
    enum step_source source;
    uint32_t         used_count; /* steps of the reference host that are used */
    uint32_t         total_count;
    uint32_t         slow_count; /* slow ones of that host */
    uint32_t         host;       /* the reference host: the one whose steps are the job's */
    double           median_ns, mean_ns, min_ns, max_ns, cov; /* over used steps of that host */
    bool             is_uneven; /* the mean is far above the median: steps_ns is the mean */
    double      pause_ns;    /* a step's time between session runs that were recorded one by one */
    const char *marker_name; /* "train", "ProfilerStep" … or NULL */
    uint32_t    rounds;      /* of the same ops, in a recording on processors without steps; 0: none */
    struct str  meaning;     /* "a call of predict": where nothing marks steps; else empty */
};

const char *step_source_name(enum step_source source); /* "marker" */
/* What a step takes, as everything said of one means it: the median of the used steps, or their
 * mean where a few long ones take so much of the time that the median tells little. 0: no step is
 * used. */
static inline double steps_ns(const struct steps *steps)
{
    return steps->is_uneven ? steps->mean_ns : steps->median_ns;
}

/* A single slow step says nothing of the others: what it waits for is not what a step does. Where
 * it is so long that the mean is what a step takes, it has part in that. */
bool step_stands_alone(const struct steps *steps, const struct step *step);

#endif
