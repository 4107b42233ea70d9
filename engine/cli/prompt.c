#include "cli/prompt.h"

#include "cli/fold.h"
#include "cli/line_editor.h"
#include "cli/progress.h"
#include "cli/terminal.h"
#include "report/describe.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { SHOWN_ROWS = 1000 };

enum { NOT_FOUND = 127 }; /* what a shell ends with where it cannot run a command */

/* is_paged: the pipe is no wish of the line, so that the answer is not lost where it cannot be run.
 */
static void write_answer(const struct session_answer *answer, bool is_paged)
{
    /* NOLINTNEXTLINE(cert-env33-c): the user asks for a shell */
    FILE *pipe = answer->pipe ? popen(answer->pipe, "w") : NULL;

    progress_end();
    if (answer->pipe && !pipe)
        fprintf(stderr, "'%s' cannot be run: %s\n", answer->pipe, strerror(errno));
    line_editor_write(pipe ? pipe : stdout, text_str(&answer->text));
    if (pipe && WEXITSTATUS(pclose(pipe)) == NOT_FOUND && is_paged)
        line_editor_write(stdout, text_str(&answer->text));
    line_editor_write(stderr, text_str(&answer->complaints));
    if (!text_is_whole(&answer->text))
        fputs("The answer does not fit the memory limit.\n", stderr);
}

/* To the window: terminals break lines in the middle of words. */
static void fold(struct text *text)
{
    struct text folded = { .arena = text->arena };

    fold_text(text_str(text), line_editor_columns(), &folded);
    if (!folded.is_cut)
        *text = folded;
}

static size_t count_lines(struct str text)
{
    size_t count = 0;

    while (text.len) {
        str_cut(&text, '\n');
        count++;
    }
    return count;
}

/* The names of the columns and the root once more: they have left the window. */
static void repeat_head(struct text *text)
{
    struct str rest = text_str(text), line = { 0 };

    while (rest.len && !str_starts(line, STR("node name |")))
        line = str_cut(&rest, '\n');
    if (!rest.len)
        return;
    text_print(text, "\n%.*s\n", STR_ARG(line));
    line = str_cut(&rest, '\n');
    if (str_starts(line, STR(TREE_ROOT)))
        text_print(text, "%.*s\n", STR_ARG(line));
}

/* Answers that are longer than the window: a screen at a time, which is true, or with their head at
 * the end too. */
static bool fit(struct session_answer *answer)
{
    if (count_lines(text_str(&answer->text)) < line_editor_rows())
        return false;
    answer->pipe = terminal_pager(&answer->arena);
    if (!answer->pipe)
        repeat_head(&answer->text);
    return answer->pipe != NULL;
}

static void write_error(const struct err *err, bool is_folded)
{
    char         line[2 * (ERR_TEXT_BYTES + ERR_SOURCE_BYTES)];
    struct arena arena = { 0 };
    struct text  text = { .arena = &arena };

    text_print(&text, "E: %s\n", err_format(err, line, sizeof line));
    if (is_folded)
        fold(&text);
    line_editor_write(stderr, text_str(&text));
    arena_free(&arena);
}

static bool answer_line(void *context, const char *line, bool is_terminal)
{
    struct session       *session = context;
    struct session_answer answer = { .arena.budget_bytes = session->arena->budget_bytes };
    struct err            err = { 0 };
    bool                  is_folded = is_terminal && !session->values.is_compat;
    bool                  is_paged = false;
    bool                  is_done = session_line(session, line, is_terminal, &answer, &err);

    if (is_folded && !answer.pipe) {
        fold(&answer.text);
        is_paged = fit(&answer);
    }
    if (is_folded)
        fold(&answer.complaints);
    write_answer(&answer, is_paged);
    if (!is_done)
        write_error(&err, is_folded);
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

/* What was read, and how to go on. */
static void greet(const struct session *session)
{
    const struct profile *profile = &session->input->profile;
    struct arena          arena = { 0 };
    struct text           text = { .arena = &arena };

    text_add_clean(&text, str_from(profile->name ? profile->name : ""));
    text_print(&text, "%s%s: %zu nodes, %zu steps, %zu devices. help explains, Tab completes.\n",
               profile->name ? " \u00b7 " : "", format_title(profile->format),
               profile->classic->nodes.count, profile->classic->steps.count,
               profile->devices.count);
    fold(&text);
    line_editor_write(stdout, text_str(&text));
    arena_free(&arena);
}

bool prompt_run(struct session *session, struct err *err)
{
    struct line_use use = { .context = session,
                            .prompt = prompt_text,
                            .complete = complete_line,
                            .answer = answer_line,
                            .history_path = history_path(session) };

    session->default_rows = SHOWN_ROWS;
    if (isatty(STDIN_FILENO) && isatty(STDOUT_FILENO) && !session->values.is_compat)
        greet(session);
    return line_editor_run(&use, err);
}
