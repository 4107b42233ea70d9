/* line_editor: lines from a terminal, with history and completion, or from a pipe. */
#ifndef TFPROF_CLI_LINE_EDITOR_H
#define TFPROF_CLI_LINE_EDITOR_H

#include "base/arena.h"
#include "base/err.h"
#include "base/text.h"
#include "base/vec.h"

#include <stdbool.h>
#include <stdio.h>

/* What may stand where a line ends: whole words, sorted. */
struct line_words {
    VEC(const char *) items;
    bool is_open; /* more may follow a complete word */
};

/* Who asks for lines, and what becomes of them. */
struct line_use {
    void       *context;
    const char *(*prompt)(void *context);
    /* *from: where the last word begins in the line up to the cursor. */
    bool (*complete)(void *context, struct str line, struct arena *arena, struct line_words *words,
                     size_t *from);
    /* Answers a line; false: it was the last. */
    bool (*answer)(void *context, const char *line, bool is_terminal);
    const char *history_path; /* NULL: none is kept */
};

/* Until the end of input, or an answer that says so. */
bool line_editor_run(const struct line_use *use, struct err *err);
/* TFPROF_HISTORY, or this name in the home directory; NULL: nowhere. */
const char *line_editor_history(const char *name, struct arena *arena);
/* Of the terminal on standard output; 80 and 24 where it does not say. */
unsigned line_editor_columns(void);
unsigned line_editor_rows(void);
/* In pieces, so that Ctrl-C ends a long answer. A reader that has gone is no error. */
void line_editor_write(FILE *file, struct str text);

#endif
