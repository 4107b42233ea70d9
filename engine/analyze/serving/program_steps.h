/*
 * program_steps: steps of a server that marks none but runs a compiled program for each, as servers
 * in JAX do: one reads prompts, another one writes the next token of each request. Their names say
 * which.
 */
#ifndef TFPROF_ANALYZE_PROGRAM_STEPS_H
#define TFPROF_ANALYZE_PROGRAM_STEPS_H

#include "analyze/serving/engine_phases.h"

/* "prefill" or "decode" by the name of a program that JAX compiled, or of its call; or NULL. */
const char *program_phase(struct str name);
/* Whether only servers have such programs. */
bool program_is_server(struct str name);
/* Rows [r] of a product of two matrices, [r,k] x [k,n] -> [r,n] in any layout, that JAX compiled:
 * as many tokens go through it. 0: no such product. */
double program_product_rows(const struct profile *profile, const struct op *op);
/* Adds a step a run, by start, and sets steps->are_programs; none where no program's name tells.
 * Runs behind analysis_devices. false: the arena is exhausted. O(activities), with steps O(events
 * log events). */
bool program_steps_find(const struct study *study, struct arena *arena, struct engine_steps *steps);

#endif
