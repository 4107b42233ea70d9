/*
 * verify: was the saving that a finding promised achieved? Two recordings of a program, before and
 * after its fix, are compared as a gate does, and what the step became shorter by is held against
 * what the finding said.
 */
#ifndef TFPROF_GATE_VERIFY_H
#define TFPROF_GATE_VERIFY_H

#include "gate/gate.h"

enum kept {
    KEPT,        /* as much as promised, or more */
    KEPT_LESS,   /* surely less than promised, or nothing */
    KEPT_UNTOLD, /* other work, too few steps, or within what chance makes */
};
const char *kept_name(enum kept kept); /* "achieved", "missed", "untold" */

struct verification {
    const struct finding *claimed;  /* of the recording before */
    const struct finding *left;     /* of the same rule after; NULL: gone */
    struct gate_result    compared; /* all of it, as a gate sees it */
    enum kept             kept;
    const char           *headline;           /* one sentence */
    const char           *why;                /* what decided it */
    double low_ns, mid_ns, high_ns;           /* promised, of what is compared: a step or a batch */
    double achieved_ns;                       /* negative: it became slower */
    double achieved_low_ns, achieved_high_ns; /* NaN: not known */
    double left_ns;                           /* what the finding after it is worth; 0 none */
    const struct summary *before;
};

/* A finding by its rule ("pack/rule"), or by its number in the advice, from 1. ERR_USAGE with what
 * there is where it is not found or promises no time. */
const struct finding *verify_find(const struct advice *advice, const char *claimed,
                                  struct arena *arena, struct err *err);
bool                  verify_make(struct verification *verification, const struct summary *before,
                                  const struct summary *after, const struct finding *claimed, struct arena *arena,
                                  struct err *err);
/* 0, 1 or 4. */
int verify_status(const struct verification *verification);

#endif
