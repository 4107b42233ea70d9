/*
 * calls: a network, or the round of a loop, that comes several times in a step, told by the names of ops
 * alone: the same row of ops again at one distance.
 */
#ifndef TFPROF_ANALYZE_EXCESS_CALLS_H
#define TFPROF_ANALYZE_EXCESS_CALLS_H

#include "analyze/excess/ledger.h"

enum { FEWEST_CALLS = 4, SHORTEST_CALL = 6, MOST_DISTANCES = 64 };

struct call_rows { /* one step's */
    struct ledger *ledger;
    uint32_t      *ops; /* units that are ops and no views */
    uint32_t       count;
};
struct stretch {
    uint32_t first, distance, calls; /* rows of ops */
};
struct call_traits {
    uint32_t products, attentions, cells, softmaxes;
    uint32_t joined, kept; /* all; in layers, joined or written, between the products */
    bool     looks_up, picks, picks_words, draws, reads, is_handed, ends_in_sums;
    bool     takes_parts; /* of an array that is split before and joined behind */
    bool     is_placed;   /* in an array: what comes out; a convolution comes next */
};

bool calls_open(struct call_rows *rows, struct ledger *ledger); /* false: out of memory */
void calls_of_step(struct call_rows *rows, size_t step);
const struct work_unit *call_op(const struct call_rows *rows, uint32_t row);
bool                    call_is_product(const struct work_unit *unit);
bool call_is_pick(const struct ledger *ledger, const struct work_unit *unit);
/* What is picked at `row` can be looked up next: no layer lies between. */
bool call_is_looked_up(const struct call_rows *rows, uint32_t row);

/* Distances between ops that are done once for a call, of which it is one of those found here; of
 * pairs: between two ops in a row, where each alone comes often. false: out of memory. */
bool calls_distances(struct call_rows *rows, bool of_pairs, uint32_t distances[MOST_DISTANCES],
                     uint32_t *count);
/* The next stretch of enough calls at that distance, from `row` on. false: there is none. */
bool calls_next(const struct call_rows *rows, uint32_t row, uint32_t distance,
                struct stretch *stretch);

/* The one that covers most ops; no calls: there is none. false: out of memory. */
bool calls_longest(struct call_rows *rows, struct stretch *best);

struct call_traits calls_look_at(const struct call_rows *rows, const struct stretch *stretch);
/* Words are picked of what comes out, by the program where a cell carries its state on. */
bool calls_write_text(const struct call_traits *is);
/* Each call takes what the one before made: steps of a solver, of a sampler of pictures; or what
 * somebody does with what was drawn. */
bool calls_feed_themselves(const struct call_traits *is);

#endif
