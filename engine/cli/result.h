/* result: what every command that prints a result shares: format, file, colours. */
#ifndef TFPROF_CLI_RESULT_H
#define TFPROF_CLI_RESULT_H

#include "base/err.h"
#include "base/text.h"
#include "cli/notes.h"
#include "report/output.h"

struct result_values { /* filled through cli/result_options.def */
    const char *format, *path, *color;
};

/* How the chosen format should print where the result goes. */
struct output_options result_options(const struct result_values *values);
const struct output  *result_output(const struct result_values *values);
/* For results that hold the notes of reading: what standard error says beside them. */
enum notes_use result_notes(const struct result_values *values);
/* Ends progress and writes; a text that was cut is ERR_LIMIT. */
bool result_write(const struct result_values *values, const struct text *text, struct err *err);

#endif
