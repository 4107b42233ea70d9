/*
 * describe: names and sums that every format of a report shows alike, so that no two formats can
 * disagree: format and kind names, the composition of the step, what --coverage groups.
 */
#ifndef TFPROF_REPORT_DESCRIBE_H
#define TFPROF_REPORT_DESCRIBE_H

#include "analyze/path/path.h"
#include "analyze/step/steps.h"
#include "base/vec.h"
#include "model/profile.h"

struct impact;
struct advice;
struct finding;
struct study;

const char *format_title(enum profile_format format); /* "XSpace" */
const char *device_kind_name(enum device_kind kind);
const char *timeline_kind_name(enum timeline_kind kind);
enum part   part_from_name(struct str name); /* of part_name; PART_UNKNOWN: none of them */

/* Time of each part in a step (the facts part.*_ns), which sum to what a step takes (steps_ns).
 * False: the composition is not known, and all is zero. */
bool study_composition(const struct study *study, double part_ns[PART_COUNT]);

/* "file: what was lost (3 times)" */
struct str note_words(struct arena *arena, const struct note *note);

/* Takes part in the ranking by saving; others are facts. */
bool finding_is_priced(const struct finding *finding);
/* Counts for advice->together: it saves step time. */
bool finding_is_fixable(const struct finding *finding);
/* Worth less of the step than texts show (--min-impact). */
bool finding_is_small(const struct finding *finding, double min_share);
/* Has a number in texts: neither small nor claimed by another. */
bool finding_is_shown(const struct finding *finding, double min_share);

/* "saves 52 … 61 ms a step (28.8 %)", or "may save up to 61 ms a step" where it is known of an
 * unknown share alone; empty without a price. */
struct str finding_saving(struct arena *arena, const struct impact *impact);
/* "title; fixing it saves 1.20 … 1.80 ms a step (15.0 %)": what stands alone beside a line of code.
 * NULL: no memory. */
const char *finding_message(const struct finding *finding, struct arena *arena);

struct step_range { /* of the reference host */
    uint32_t count, used, left_out;
    int64_t  first, last; /* numbers of the first and last used one */
};
struct step_range study_step_range(const struct study *study);

/* Rules that could not look, by reason: most rules first, then by reason. */
struct skip_group {
    const char *reason;
    uint32_t    count;
};
struct skip_groups {
    VEC(struct skip_group) list;
};
bool skip_groups_collect(const struct advice *advice, struct arena *scratch,
                         struct skip_groups *groups);

#endif
