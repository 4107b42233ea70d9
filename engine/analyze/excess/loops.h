/*
 * loops: what a loop of a compiled program carries from round to round. Its body takes a tuple and
 * gives one of the same elements back.
 */
#ifndef TFPROF_ANALYZE_EXCESS_LOOPS_H
#define TFPROF_ANALYZE_EXCESS_LOOPS_H

#include "analyze/excess/axes.h"

struct loop {
    uint32_t op;        /* the while */
    uint32_t parameter; /* of its body */
    uint32_t root;      /* the tuple that its body gives */
    uint32_t elements;
};
enum carried {
    CARRIED_SAME,    /* comes out as it came in */
    CARRIED_COUNTED, /* plus a number */
    CARRIED_WRITTEN, /* a part of it is written, in an array that the round does not read */
    CARRIED_SUMMED,  /* something is added, to an array that the round does not read */
    CARRIED_CHANGED  /* anything else */
};

/* What detectors that look at one loop after another have. */
struct loops {
    struct waste waste;
    struct axes  axes;
    struct loop  loop; /* the one looked at */
};
/* Calls `look` for each loop, which marks what is not needed, and claims that as waste_claim does.
 * false: out of memory. */
bool loops_claim(struct ledger *ledger, const struct detector *self, double least_share,
                 const char *detail, void (*look)(struct loops *loops, void *context),
                 void       *context);

/* The loop that a while is; false: its body cannot be made out. */
bool loop_open(struct loop *loop, const struct axes *axes, uint32_t op);
/* The instruction's time is of the loop's body, not of another loop in it. */
bool loop_holds(const struct loop *loop, const struct waste *waste, uint32_t op);
/* Whether a result is element `element` as it came into the round, handed on. */
bool loop_is_carried(const struct loop *loop, const struct axes *axes, uint32_t op,
                     uint32_t element);
/* What makes the element that goes into the next round: through fusions and what hands on. */
uint32_t loop_maker(const struct loop *loop, const struct axes *axes, uint32_t element);
/* Nothing in the round reads element `element`, as it came in, but `reader`. */
bool         loop_is_private(const struct loop *loop, const struct axes *axes, uint32_t element,
                             uint32_t reader);
enum carried loop_carries(const struct loop *loop, const struct axes *axes, uint32_t element);
/* Rounds of the loop that is looked at, a step. */
double loops_rounds(const struct loops *loops);

#endif
