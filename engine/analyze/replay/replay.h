/*
 * replay: what a step would cost after an edit. An edit names a cause by what lies on the path
 * (see path.h) or by a stage of the input pipeline, and what becomes of it; the engine applies it
 * to each used step, re-runs input against the rest (a prefetching pipeline hides behind the step,
 * up to its own rate and the cores there are). Times are means over the looked-at steps, scaled to
 * the median step. Edits are applied in order, so "together" is the same call with more of them.
 *
 * The model, per step: rest (path less input), inline input, a period P of the pipeline's slowest
 * asynchronous section, and processor time C on n cores; step = max(rest + inline, P, C / n). P is
 * calibrated so that the unedited model gives the measured step where the step waits for input.
 * Work that competed with input for cores runs faster once input needs less (processor sharing).
 */
#ifndef TFPROF_ANALYZE_REPLAY_H
#define TFPROF_ANALYZE_REPLAY_H

#include "base/arena.h"
#include "base/err.h"
#include "base/text.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct study;

enum edit_kind {
#define EDIT(id, word, help) EDIT_##id,
#include "analyze/replay/edit.def"
#undef EDIT
    EDIT_KIND_COUNT
};

/* Which time: all given conditions must hold; NO_ID, NULL and 0 mean "any". */
struct edit_select {
    uint32_t    part_mask; /* 1 << enum part */
    uint32_t    kind_mask; /* 1 << enum activity_kind, of the segment's event or its owner */
    const char *name;      /* whole-match regex list on the event's or an ancestor's name */
    const char *op_type;   /* whole-match regex list on the op's type */
    const char *stage;     /* whole-match regex list on the input stage's long name */
    uint32_t    host;
    uint32_t    cell; /* number of a cell of the ledger (excess/); 0: any */
};
struct edit {
    enum edit_kind     kind;
    struct edit_select select;
    double             factor;
    double             ns;
};
/* Calls that are not made or do not wait: what that frees lies beside them, too. */
bool edits_change_calls(const struct edit *edits, size_t count);

struct replay_result {
    double step_ns;     /* median after the edits */
    double selected_ns; /* median time a step that the last edit selected, on the path */
    double recorded_ns; /* the same as recorded; selected_ns is of a step without what recording
                           took of the host, in the length of the recorded one */
    int bound;          /* enum part that then takes most of the step */
};
/* Adds to a text what tells edits from others. */
void edits_key(const struct edit *edits, size_t count, struct text *key);
/* ERR_USAGE for a bad pattern. Without usable steps: ERR_INCONCLUSIVE. */
bool replay_run(struct study *study, const struct edit *edits, size_t count,
                struct replay_result *result, struct err *err);

#endif
