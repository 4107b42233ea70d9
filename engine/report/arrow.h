/*
 * arrow: rows of a table as columns in the memory layout of Apache Arrow, for files and for programs
 * in the same process. Texts are utf8, yes and no boolean, all other numbers float64.
 */
#ifndef TFPROF_REPORT_ARROW_H
#define TFPROF_REPORT_ARROW_H

#include "analyze/facts.h"
#include "base/err.h"
#include "base/text.h"

struct output_options;
struct table_view;

enum arrow_type { ARROW_NUMBER, ARROW_BOOL, ARROW_TEXT };
enum { ARROW_MOST_BUFFERS = 3 };

struct arrow_column {
    const struct column_spec *spec;
    enum arrow_type           type;
    size_t                    null_count;
    size_t                    buffer_count;
    /* A bit a row that has a value; then numbers, bits, or where each text begins and their bytes. Each
     * begins at a multiple of 16. */
    struct str                buffers[ARROW_MOST_BUFFERS];
};
struct arrow_batch {
    size_t               row_count, column_count;
    struct arrow_column *columns;
};

/* Lives in the arena. ERR_LIMIT: no memory, or a column holds more than 2 GiB of text. */
bool arrow_batch_make(struct arrow_batch *batch, const struct table_view *view, struct arena *arena,
                      struct err *err) MUST_USE;
/* An Arrow file (the IPC file format) of one batch. */
void arrow_file(const struct table_view *view, const struct output_options *options,
                struct text *text);

#endif
