/* replay_select: which groups of the path's segments, and which stages of the input pipeline, an
 * edit is about. */
#ifndef TFPROF_ANALYZE_REPLAY_SELECT_H
#define TFPROF_ANALYZE_REPLAY_SELECT_H

#include "analyze/replay/replay.h"

struct replay_select {
    struct study                *study;
    const struct path           *path;
    const struct pipeline       *pipeline; /* NULL: none */
    const struct segment_groups *groups;
    struct arena                *arena;
    bool                        *is_selected; /* by group of segments */
    uint8_t                     *is_match;    /* by group of frames, for one pattern */
};

/* Makes room; the other fields are set. */
bool replay_select_begin(struct replay_select *selection, struct err *err);
/* Fills is_selected. ERR_USAGE for a bad pattern. */
bool replay_select_run(struct replay_select *selection, const struct edit_select *select,
                       struct err *err);
/* Which stages match, in the selection's arena. NULL: ERR_USAGE for a bad pattern, ERR_INCONCLUSIVE
 * where there are none. */
const bool *replay_select_stages(const struct replay_select *selection, const char *text,
                                 struct err *err);

#endif
