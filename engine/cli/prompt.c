#include "cli/prompt.h"

#include "cli/fold.h"
#include "cli/line_editor.h"
#include "cli/progress.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SHOWN_ROWS = 1000 };

static void write_answer(const struct session_answer *answer)
{
    /* NOLINTNEXTLINE(cert-env33-c): the user asks for a shell */
    FILE *pipe = answer->pipe ? popen(answer->pipe, "w") : NULL;

    progress_end();
    if (answer->pipe && !pipe)
        fprintf(stderr, "'%s' cannot be run: %s\n", answer->pipe, strerror(errno));
    line_editor_write(pipe ? pipe : stdout, text_str(&answer->text));
    if (pipe)
        pclose(pipe);
    line_editor_write(stderr, text_str(&answer->complaints));
    if (answer->text.is_cut)
        fputs("The answer does not fit the memory limit.\n", stderr);
}

/* To the window: terminals break lines in the middle of words. */
static void fold(struct session_answer *answer)
{
    struct text folded = { .arena = &answer->arena };

    fold_text(text_str(&answer->text), line_editor_columns(), &folded);
    if (!folded.is_cut)
        answer->text = folded;
}

static bool answer_line(void *context, const char *line, bool is_terminal)
{
    struct session       *session = context;
    struct session_answer answer = { .arena.budget_bytes = session->arena->budget_bytes };
    struct err            err = { 0 };
    char                  text[2 * (ERR_TEXT_BYTES + ERR_SOURCE_BYTES)];
    bool                  is_done;

    is_done = session_line(session, line, is_terminal, &answer, &err);
    if (is_terminal && !answer.pipe && !session->values.is_compat)
        fold(&answer);
    write_answer(&answer);
    if (!is_done)
        fprintf(stderr, "E: %s\n", err_format(&err, text, sizeof text));
    arena_free(&answer.arena);
    return !session->is_ended;
}

static const char *prompt_text(void *context)
{
    (void)context;
    return "tfprof> ";
}

static bool complete_line(void *context, struct str line, struct arena *arena,
                          struct line_words *words, size_t *from)
{
    struct session_words found = { 0 };
    bool                 is_done = session_complete(context, line, arena, &found, from);

    memcpy(&words->items, &found.items, sizeof words->items);
    words->is_open = found.is_open;
    return is_done;
}

/* The original keeps its history in the folder it is called in. */
static const char *history_path(const struct session *session)
{
    return session->values.is_compat && !getenv("TFPROF_HISTORY")
               ? ".tfprof_history.txt"
               : line_editor_history(".tfprof_history", session->arena);
}

bool prompt_run(struct session *session, struct err *err)
{
    struct line_use use = { .context = session,
                            .prompt = prompt_text,
                            .complete = complete_line,
                            .answer = answer_line,
                            .history_path = history_path(session) };

    session->default_rows = SHOWN_ROWS;
    return line_editor_run(&use, err);
}
