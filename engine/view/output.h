/* output: where a view goes: standard output, a file, a trace, a pprof profile, folded stacks,
 * nowhere. */
#ifndef TFPROF_VIEW_OUTPUT_H
#define TFPROF_VIEW_OUTPUT_H

#include "base/arena.h"
#include "base/err.h"
#include "base/str.h"
#include "base/text.h"

enum view_output_kind {
    OUTPUT_STDOUT,
    OUTPUT_FILE,
    OUTPUT_TIMELINE,
    OUTPUT_PPROF,
    OUTPUT_FOLDED,
    OUTPUT_NONE
};
struct view_output {
    enum view_output_kind kind;
    const char           *outfile; /* all but STDOUT, NONE */
};

/* As the original lists it: "stdout:", "file:outfile=FILE". */
void view_output_print(const struct view_output *output, struct text *text);
/* "timeline:outfile=FILE"; NULL or empty: standard output. */
bool view_output_scan(const char *text, struct arena *arena, struct view_output *output,
                      struct err *err);

#endif
