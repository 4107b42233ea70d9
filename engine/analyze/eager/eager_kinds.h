/*
 * eager_kinds: what an op of an eager program says of the Python loop around it: whether it comes
 * once a round, and what it does.
 */
#ifndef TFPROF_ANALYZE_EAGER_KINDS_H
#define TFPROF_ANALYZE_EAGER_KINDS_H

#include "base/str.h"

#include <stdint.h>

/* Ops that anchor a loop, and how many calls may lie between two of them. A slice says less than
 * an index: networks slice once a layer. Products say nothing of a loop by themselves, since layers
 * follow each other too: only where their results are stacked or each has a loss of its own. */
enum anchor_class {
    ANCHOR_NONE,
    ANCHOR_SLICE,
    ANCHOR_PICK,
    ANCHOR_CELL,
    ANCHOR_CONCAT,
    ANCHOR_PRODUCT
};
enum {
    IS_PRODUCT = 1,
    IS_GATE = 2,
    IS_CONCAT = 4,
    IS_READBACK = 8,
    IS_LOOK = 16,
    IS_CONVERSION = 32,
    IS_LOSS = 64,
    IS_STACK = 128,
    IS_LAYER = 256,
    IS_ATTENTION = 512,
    IS_DRAW = 1024,
    IS_PICK = 2048, /* what it gives decides what is looked up next */
    IS_SLICE = 4096,
    IS_GATHER = 8192,
    IS_WRITE = 16384,
    IS_SPLIT = 32768 /* all of a tensor, to be walked over */
};
struct eager_kind { /* of a type of op */
    uint8_t  is_known, class; /* enum anchor_class */
    uint16_t traits;
    uint32_t most_between;
};

/* By the name without its library. is_known is set. O(names known). */
struct eager_kind eager_kind_of(struct str name);

#endif
