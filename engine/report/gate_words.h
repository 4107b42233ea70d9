/* gate_words: sentences about a gate that all formats share. */
#ifndef TFPROF_REPORT_GATE_WORDS_H
#define TFPROF_REPORT_GATE_WORDS_H

#include "gate/gate.h"

/* "PROFILE against BASELINE · 5 and 5 runs · 150 and 150 steps" */
const char *gate_words_subject(const struct gate_result *result, struct arena *arena);
/* A time of the step's parts: all of them with the same decimals, so that columns sum. */
const char *gate_words_time(const struct gate_result *result, double ns, bool is_change,
                            struct arena *arena);
/* What times and counts are of: "step" or "batch". */
const char *gate_words_unit(const struct gate_result *result);
/* The sum of the parts' rows. */
/* What the first `count` pieces leave of the step's change, in ns. */
double gate_words_rest(const struct gate_result *result, size_t count);
struct part_change gate_words_total(const struct gate_result *result);
/* "in train.py:41", or "" */
const char *gate_words_place(const char *file, uint32_t line, struct arena *arena);

#endif
