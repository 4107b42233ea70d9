/* no_replay: for rules that run without a path: what they would save cannot be told. */
#ifndef TFPROF_TESTS_NO_REPLAY_H
#define TFPROF_TESTS_NO_REPLAY_H

#include "rules/rule.h"

static inline bool no_replay(void *context, const struct edit *edits, size_t count,
                      struct replay_result *result, struct err *err)
{
    (void)context;
    (void)edits;
    (void)count;
    (void)result;
    return err_set(err, ERR_INCONCLUSIVE, "no steps");
}

#endif
