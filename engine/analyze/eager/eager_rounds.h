/*
 * eager_rounds: what calls that come again and again in a step of an eager program are: rounds of a
 * Python loop, layers of a network, draws of a sampler, or steps of a solver.
 */
#ifndef TFPROF_ANALYZE_EAGER_ROUNDS_H
#define TFPROF_ANALYZE_EAGER_ROUNDS_H

#include "analyze/eager/eager_calls.h"
#include "analyze/eager/eager_kinds.h"

struct eager_cluster { /* anchors with the same key that follow each other */
    uint32_t key, first, last, count;
};
struct eager_rounds {
    const struct profile    *profile;
    const struct eager_call *calls;
    struct eager_kind       *kinds; /* by name, each found when first asked for */
};

/* Of calls of this type. */
const struct eager_kind *eager_round_kind(const struct eager_rounds *seen, uint32_t type);
/* What calls have in common that anchor the same loop: their type, for some classes also their
 * shapes. */
uint32_t eager_round_key(const struct eager_call *call, enum anchor_class class);
/* Whether the calls from the cluster's first one up to `end` are a Python loop whose rounds could
 * be one call; run_end is where the forward calls of the step end. O(calls). */
bool eager_rounds_are_loop(const struct eager_rounds *seen, const struct eager_cluster *cluster,
                           uint32_t end, uint32_t run_end);
bool eager_rounds_grow(const struct eager_rounds *seen, uint32_t first, uint32_t end);
/* Rounds in which what is picked is written down before the next one gathers: each needs the one
 * before. */
uint32_t eager_rounds_fed_back(const struct eager_rounds *seen, uint32_t first, uint32_t end);
/* Rounds over slices leave nothing but what the next one takes: nothing is stacked, written, read
 * or summed up, in them or in the calls up to run_end, where the forward calls of the step end; or
 * they are a recurrent cell's, by the sum of two products in each.
 * Without shapes that is not known. O(calls). */
bool eager_rounds_hand_on(const struct eager_rounds *seen, const struct eager_cluster *cluster,
                          uint32_t end, uint32_t run_end);
/* Rounds take no slice of anything: the one of each is where it writes down a state, which the next
 * round adds to. Without shapes any sum counts. O(calls). */
bool eager_rounds_note_state(const struct eager_rounds *seen, const struct eager_cluster *cluster,
                             uint32_t run_end);

#endif
