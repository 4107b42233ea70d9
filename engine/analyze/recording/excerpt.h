/*
 * excerpt: a long recording cut down to an even sample of its steps, so that the cost of analyses
 * does not grow with its length. Steps are found in the whole recording; what is counted a step is
 * counted over the sampled ones. Kinds of events that are rare are kept over the whole length, and
 * so are memory events and counters.
 */
#ifndef TFPROF_ANALYZE_EXCERPT_H
#define TFPROF_ANALYZE_EXCERPT_H

#include "analyze/study.h"
#include "base/err.h"

enum {
    EXCERPT_EVENTS = 1 << 19,  /* about as many are kept */
    EXCERPT_STRETCHES = 8,     /* runs of consecutive steps */
    EXCERPT_RARE_PART = 256    /* kinds with at most this part of the limit are kept whole */
};

/* Marks the steps that are looked at, and where the recording has more than `most_events` puts an
 * excerpt in the place of study->profile. Runs behind analysis_steps. false: ERR_LIMIT. */
bool excerpt_make(struct study *study, uint32_t most_events, struct err *err);

#endif
