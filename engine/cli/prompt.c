#include "cli/prompt.h"

#include "cli/progress.h"

#include <errno.h>
#include <histedit.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

enum { HISTORY_LINES = 1000, SHOWN_ROWS = 1000, WRITTEN_AT_ONCE = 1 << 16, COLUMNS = 80 };

static volatile sig_atomic_t is_interrupted;

static void interrupt(int number)
{
    (void)number;
    is_interrupted = 1;
}

/* In pieces, so that Ctrl-C ends a long answer. A reader that has gone is no error. */
static void write_text(FILE *file, struct str text)
{
    for (size_t at = 0; at < text.len && !is_interrupted; at += WRITTEN_AT_ONCE) {
        struct str piece = str_slice(text, at, at + WRITTEN_AT_ONCE);

        if (fwrite(piece.data, 1, piece.len, file) < piece.len || fflush(file) != 0)
            break;
    }
    clearerr(file);
}

static void write_answer(const struct session_answer *answer)
{
    /* NOLINTNEXTLINE(cert-env33-c): the user asks for a shell */
    FILE *pipe = answer->pipe ? popen(answer->pipe, "w") : NULL;

    progress_end();
    if (answer->pipe && !pipe)
        fprintf(stderr, "'%s' cannot be run: %s\n", answer->pipe, strerror(errno));
    write_text(pipe ? pipe : stdout, text_str(&answer->text));
    if (pipe)
        pclose(pipe);
    write_text(stderr, text_str(&answer->complaints));
    if (answer->text.is_cut)
        fputs("The answer does not fit the memory limit.\n", stderr);
}

static void answer_line(struct session *session, const char *line, bool is_terminal)
{
    struct session_answer answer = { .arena.budget_bytes = session->arena->budget_bytes };
    struct err            err = { 0 };
    char                  text[2 * (ERR_TEXT_BYTES + ERR_SOURCE_BYTES)];
    bool                  is_done;

    is_interrupted = 0;
    is_done = session_line(session, line, is_terminal, &answer, &err);
    write_answer(&answer);
    if (!is_done)
        fprintf(stderr, "E: %s\n", err_format(&err, text, sizeof text));
    is_interrupted = 0;
    arena_free(&answer.arena);
}

static bool run_pipe(struct session *session, struct err *err)
{
    char   *line = NULL;
    size_t  room = 0;
    ssize_t len = 0;

    while (!session->is_ended && (len = getline(&line, &room, stdin)) >= 0) {
        if (len && line[len - 1] == '\n')
            line[len - 1] = '\0';
        answer_line(session, line, false);
    }
    free(line);
    return len >= 0 || feof(stdin) ||
           err_set(err, ERR_INPUT, "lines cannot be read: %s", strerror(errno));
}

struct editor {
    struct session *session;
    EditLine       *edit;
    History        *history;
    char           *history_path; /* NULL: none is kept */
};

static char *prompt_of(EditLine *edit)
{
    static char text[] = "tfprof> ";

    (void)edit;
    return text;
}

static size_t shared_start(const struct session_words *words)
{
    size_t len = strlen(words->items.items[0]);

    for (size_t i = 1; i < words->items.count; i++)
        for (size_t at = 0; at < len; at++)
            if (words->items.items[i][at] != words->items.items[0][at])
                len = at;
    return len;
}

static unsigned columns(void)
{
    struct winsize size = { 0 };

    return ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col ? size.ws_col : COLUMNS;
}

/* In as many columns as fit. */
static void list_words(const struct session_words *words)
{
    size_t width = 0, across, rows;

    for (size_t i = 0; i < words->items.count; i++)
        if (strlen(words->items.items[i]) + 2 > width)
            width = strlen(words->items.items[i]) + 2;
    across = columns() / width ? columns() / width : 1;
    rows = (words->items.count + across - 1) / across;
    fputc('\n', stdout);
    for (size_t row = 0; row < rows; row++) {
        for (size_t i = row; i < words->items.count; i += rows)
            printf("%-*s", i + rows < words->items.count ? (int)width : 0, words->items.items[i]);
        fputc('\n', stdout);
    }
    fflush(stdout);
}

static unsigned char complete(EditLine *edit, int key)
{
    const LineInfo      *line = el_line(edit);
    struct editor       *editor = NULL;
    struct session_words words = { 0 };
    struct arena         arena = { 0 };
    unsigned char        result = CC_ERROR;
    size_t               from, shared, typed;
    char                *added;

    (void)key;
    el_get(edit, EL_CLIENTDATA, &editor);
    if (session_complete(editor->session,
                         (struct str) { line->buffer, (size_t)(line->cursor - line->buffer) },
                         &arena, &words, &from) &&
        words.items.count) {
        const char *first = words.items.items[0];

        typed = (size_t)(line->cursor - line->buffer) - from;
        shared = shared_start(&words);
        /* A word that is complete has a blank behind it, unless more of it follows. */
        added = arena_text(&arena, "%.*s%s", (int)(shared - typed), first + typed,
                           words.items.count == 1 && !words.is_open && shared &&
                                   !strchr("/=", first[shared - 1])
                               ? " "
                               : "");
        result = CC_REFRESH;
        if (added && *added) {
            el_insertstr(edit, added);
        } else {
            list_words(&words);
            result = CC_REDISPLAY;
        }
    }
    arena_free(&arena);
    return result;
}

/* The original keeps its history in the folder it is called in. */
static char *history_path(const struct session *session)
{
    const char *chosen = getenv("TFPROF_HISTORY"), *home = getenv("HOME");

    if (chosen)
        return *chosen ? arena_text(session->arena, "%s", chosen) : NULL;
    if (session->values.is_compat)
        return arena_text(session->arena, ".tfprof_history.txt");
    return home && *home ? arena_text(session->arena, "%s/.tfprof_history", home) : NULL;
}

static bool editor_open(struct editor *editor, struct err *err)
{
    HistEvent event;

    editor->edit = el_init("tfprof", stdin, stdout, stderr);
    editor->history = history_init();
    if (!editor->edit || !editor->history)
        return err_set(err, ERR_INPUT, "the terminal cannot be used");
    history(editor->history, &event, H_SETSIZE, HISTORY_LINES);
    history(editor->history, &event, H_SETUNIQUE, 1);
    el_set(editor->edit, EL_CLIENTDATA, editor);
    el_set(editor->edit, EL_PROMPT, prompt_of);
    el_set(editor->edit, EL_EDITOR, "emacs");
    el_set(editor->edit, EL_SIGNAL, 1);
    el_set(editor->edit, EL_HIST, history, editor->history);
    el_set(editor->edit, EL_ADDFN, "tfprof-complete", "complete a word", complete);
    el_set(editor->edit, EL_BIND, "^I", "tfprof-complete", NULL);
    el_set(editor->edit, EL_BIND, "^R", "em-inc-search-prev", NULL);
    el_source(editor->edit, NULL);
    editor->history_path = history_path(editor->session);
    if (editor->history_path)
        history(editor->history, &event, H_LOAD, editor->history_path);
    return true;
}

static void editor_close(struct editor *editor)
{
    if (editor->history)
        history_end(editor->history);
    if (editor->edit)
        el_end(editor->edit);
}

static void remember(struct editor *editor, const char *line)
{
    HistEvent event;

    if (!str_trim(str_from(line)).len)
        return;
    history(editor->history, &event, H_ENTER, line);
    if (editor->history_path)
        history(editor->history, &event, H_SAVE, editor->history_path);
}

static bool run_terminal(struct session *session, struct err *err)
{
    struct editor    editor = { .session = session };
    struct sigaction on_interrupt = { .sa_handler = interrupt };
    bool             is_open = editor_open(&editor, err);

    sigemptyset(&on_interrupt.sa_mask);
    sigaction(SIGINT, &on_interrupt, NULL);
    while (is_open && !session->is_ended) {
        int         len = 0;
        const char *got = el_gets(editor.edit, &len);
        char       *line;

        if ((!got || len <= 0) && is_interrupted) { /* Ctrl-C: a new line */
            is_interrupted = 0;
            el_reset(editor.edit);
            fputs("^C\n", stdout);
            continue;
        }
        if (!got || len <= 0)
            break;
        line = strdup(got);
        if (!line)
            break;
        line[strcspn(line, "\n")] = '\0';
        remember(&editor, line);
        answer_line(session, line, isatty(STDOUT_FILENO));
        free(line);
    }
    if (is_open && !session->is_ended)
        fputc('\n', stdout);
    editor_close(&editor);
    return is_open;
}

bool prompt_run(struct session *session, struct err *err)
{
    struct sigaction ignored = { .sa_handler = SIG_IGN };

    sigemptyset(&ignored.sa_mask);
    sigaction(SIGPIPE, &ignored, NULL);
    session->default_rows = SHOWN_ROWS;
    return isatty(STDIN_FILENO) ? run_terminal(session, err) : run_pipe(session, err);
}
