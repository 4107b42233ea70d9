/*
 * classic_contexts: what is around an event when it runs: modules, which are its scope, and with
 * by_line the frames of the program, which are rows of the profile's sources with their callers.
 * Equal ones are one row; row 0 is nothing around it.
 */
#ifndef TFPROF_ANALYZE_CLASSIC_CONTEXTS_H
#define TFPROF_ANALYZE_CLASSIC_CONTEXTS_H

#include "base/intern.h"
#include "base/vec.h"
#include "model/profile.h"

struct classic_context {
    uint32_t path;        /* interned: "Net_0/Linear_0" */
    uint32_t source;      /* row of sources, or NO_ID */
    bool     is_gradient; /* of what the source made */
};
struct classic_contexts {
    struct profile *profile;
    struct arena   *arena;
    bool            by_line;
    struct id_map   row_of_parts; /* path << 32 | source + 1 << 1 | is_gradient */
    struct id_map   frames;       /* caller + 1 << 32 | line -> row of sources */
    VEC(struct classic_context) rows;
};

bool contexts_init(struct classic_contexts *contexts, struct profile *profile, struct arena *arena,
                   bool by_line);
/* Row inside of what runs around. NO_ID: full. */
uint32_t contexts_enter(struct classic_contexts *contexts, uint32_t around,
                        const struct activity *activity);
/* Row for the gradients of what was made at a line. NO_ID: full. */
uint32_t contexts_gradient(struct classic_contexts *contexts, uint32_t around, uint32_t source);
/* The line of an op in a context that may know its own; *is_full: past the budget. */
uint32_t contexts_source(struct classic_contexts *contexts, uint32_t context, uint32_t own,
                         bool *is_full);
/* Whether frames of the program were recorded. */
bool contexts_has_frames(const struct profile *profile);

#endif
