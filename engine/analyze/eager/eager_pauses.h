/*
 * eager_pauses: Python between the calls of an eager program. Every call leaves a short pause; what
 * counts here are long ones that come at the same place of every step. A pause in one step alone is
 * the machine's or the collector's, and waiting for a batch or inside an optimizer has its own
 * name.
 */
#ifndef TFPROF_ANALYZE_EAGER_PAUSES_H
#define TFPROF_ANALYZE_EAGER_PAUSES_H

#include "analyze/eager/eager_calls.h"

/* Long pauses a step, those at the edges of the step included; *longest_ns is the longest of them.
 * Both are 0 for fewer than three steps that are not like the median one. false: scratch is exhausted. O(calls log calls). */
bool eager_pauses(const struct eager_calls *calls, struct arena *scratch, double *sum_ns,
                  double *longest_ns);

#endif
