/*
 * parts: which part of each result of a compiled program something takes in the end: what slices
 * leave along an axis, and what masks pick that are zero but for one number along an axis. What is
 * only multiplied with the gradient of a cut is needed where that is not zero.
 */
#ifndef TFPROF_ANALYZE_EXCESS_PARTS_H
#define TFPROF_ANALYZE_EXCESS_PARTS_H

#include "analyze/excess/gaps.h"

struct taken {
    double   of[TENSOR_MAX_RANK]; /* by axis: slabs that are taken */
    uint32_t cut_key;    /* equal where the same cut leaves the same; 0: several, or none */
    double   picked;     /* of the elements, by masks; 1 where none picks */
    uint32_t picked_key; /* of the masks, as struct one_hot has it; equal masks pick the same */
    uint8_t  picked_by;  /* bit by axis: which elements masks pick goes by their numbers here */
};
struct parts {
    struct axes        axes;
    struct taken      *part; /* by op */
    const struct gaps *gaps;
};

/* `waste`: with a graph. false: out of memory. */
bool parts_open(struct parts *parts, const struct waste *waste);
/* Of a result's elements, those that cuts leave. */
double parts_cut(const struct parts *parts, uint32_t op);
/* Of an instruction's work, what is not done on zeros that stand for what a cut left out. */
double parts_filled(const struct parts *parts, uint32_t op);
/* Of an instruction's work, what masks pick of its result, or leave of what it multiplies. */
double parts_picked(const struct parts *parts, uint32_t op);

#endif
