/*
 * waste: which share of each instruction's work in compiled programs is not needed, and the units
 * that ran them. A detector marks instructions; what they are of a fusion is claimed of the
 * fusion's time.
 */
#ifndef TFPROF_ANALYZE_EXCESS_WASTE_H
#define TFPROF_ANALYZE_EXCESS_WASTE_H

#include "analyze/excess/ledger.h"
#include "model/op_graph.h"

struct waste {
    struct ledger         *ledger;
    const struct compiled *compiled;
    const struct profile  *profile;
    const struct op_graph *graph;
    double                *share; /* by op: of its work, not needed */
    double                *calls; /* by op with time of its own: in all looked-at steps */
    double                *ns;    /* the same: left of it */
    bool                  *adds;  /* by op: a reduction that adds up */
};

/* graph is NULL where the recording has no compiled programs. false: out of memory. */
bool waste_open(struct waste *waste, struct ledger *ledger);
/* Whether an instruction is of a type, "dot". */
bool waste_is(const struct waste *waste, uint32_t op, const char *types); /* str_fits */
/* It is made of constants alone. false also of NO_ID. */
bool waste_is_constant(const struct waste *waste, uint32_t op);
/* The larger share counts. */
void waste_mark(struct waste *waste, uint32_t op, double share);
/* How often what holds the instruction ran. */
double waste_calls(const struct waste *waste, uint32_t op);
/* Claims what is marked as one cell, at the unit that it takes most of; nothing below `least_share`
 * of the steps. `detail`: what shows it. false: out of memory. */
bool waste_claim(struct waste *waste, const struct detector *self, double least_share,
                 const char *detail);

#endif
