/* rank_input: summaries of ranks among what a command is given (engine/ranks), and recordings made
 * into some. */
#ifndef TFPROF_CLI_RANK_INPUT_H
#define TFPROF_CLI_RANK_INPUT_H

#include "cli/input.h"
#include "ranks/rank_file.h"

#define RANK_FILE_ENDING                                                                           \
    ".ranks" /* in a directory; files given by name are told by their content */

/* Whether an operand is a summary, or a directory that holds some. */
bool rank_input_is(const struct option_list *operands);
/* Whether the operands are so many recordings of a job's ranks that they do not fit side by side,
 * and nothing is asked that summaries cannot tell. */
bool rank_input_is_large(const struct input_values *values, const struct option_list *operands);
/* Says that a command needs the recordings; false. */
bool rank_input_lacks_events(struct err *err);
struct rank_share { /* what one of several processes reads: each `count`-th file from `index` on */
    size_t index, count;
};
/* The records of all operands, in order (rank_records_settle): of summaries as they are, of
 * recordings one file after the other. Bytes are copied into `arena`. With a share, a file that
 * cannot be read is told on standard error and costs its own rank. */
bool rank_input_collect(const struct input_values *values, const struct option_list *operands,
                        const struct rank_share *share, struct rank_records *records,
                        struct arena *arena, struct err *err) MUST_USE;
/* As a file of summaries; path NULL: standard output. */
bool rank_input_write(const struct rank_records *records, const char *path, struct arena *arena,
                      struct err *err) MUST_USE;
/* Collects, and makes the study of the job. On false the caller frees. */
bool rank_input_load(struct input *input, const struct input_values *values,
                     const struct option_list *operands, struct err *err) MUST_USE;

#endif
