#include "cli/line_editor.h"

#include "base/library.h"
#include "base/macros.h"

#include <errno.h>
#include <histedit.h>
#include <langinfo.h>
#include <locale.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/select.h>
#include <unistd.h>
#include <wchar.h>

enum { HISTORY_LINES = 1000, WRITTEN_AT_ONCE = 1 << 16, COLUMNS = 80, ROWS = 24 };

/* libedit brings a terminal library along: only prompts need it. */
#define LIBEDIT(FUNCTION, table)                                                                   \
    FUNCTION(el_init, table)                                                                       \
    FUNCTION(el_end, table)                                                                        \
    FUNCTION(el_reset, table)                                                                      \
    FUNCTION(el_gets, table)                                                                       \
    FUNCTION(el_set, table)                                                                        \
    FUNCTION(el_wset, table)                                                                       \
    FUNCTION(el_get, table)                                                                        \
    FUNCTION(el_line, table)                                                                       \
    FUNCTION(el_insertstr, table)                                                                  \
    FUNCTION(el_source, table)                                                                     \
    FUNCTION(history_init, table)                                                                  \
    FUNCTION(history_end, table)                                                                   \
    FUNCTION(history, table)
LIBRARY(libedit, TFPROF_LIBEDIT, "to edit lines at a terminal", LIBEDIT);

static volatile sig_atomic_t is_interrupted;

static void interrupt(int number)
{
    (void)number;
    is_interrupted = 1;
}

/* SIGINT is held back (SIG_BLOCK) or let through (SIG_UNBLOCK). */
static void hold_interrupts(int how)
{
    sigset_t interrupts;

    sigemptyset(&interrupts);
    sigaddset(&interrupts, SIGINT);
    sigprocmask(how, &interrupts, NULL);
}

/* The next letter: 1; 0 at the end of input; -1 at an error or once interrupted. SIGINT is held
   back but while this waits: one that came just before a plain read would be seen with the next
   letter only, and the line that it drops would stay. */
static int read_letter(EditLine *edit, wchar_t *letter)
{
    mbstate_t state = { 0 };
    sigset_t  waiting;
    fd_set    input;

    (void)edit;
    sigprocmask(SIG_BLOCK, NULL, &waiting);
    sigdelset(&waiting, SIGINT);
    for (;;) {
        char    byte;
        ssize_t got = -1;
        size_t  len;

        FD_ZERO(&input);
        FD_SET(STDIN_FILENO, &input);
        if (pselect(STDIN_FILENO + 1, &input, NULL, NULL, NULL, &waiting) >= 0)
            got = read(STDIN_FILENO, &byte, 1);
        if (got == 0 || (got < 0 && (errno != EINTR || is_interrupted)))
            return (int)got;
        if (got < 0)
            continue;
        len = mbrtowc(letter, &byte, 1, &state);
        if (len == (size_t)-1) /* no letter of this locale: the next byte may begin one */
            state = (mbstate_t) { 0 };
        else if (len != (size_t)-2)
            return 1;
    }
}

void line_editor_write(FILE *file, struct str text)
{
    for (size_t at = 0; at < text.len && !is_interrupted; at += WRITTEN_AT_ONCE) {
        struct str piece = str_slice(text, at, at + WRITTEN_AT_ONCE);

        if (fwrite(piece.data, 1, piece.len, file) < piece.len || fflush(file) != 0)
            break;
    }
    if (is_interrupted) /* the next answer is for the next line */
        clearerr(file);
}

static bool run_pipe(const struct line_use *use, struct err *err)
{
    char   *line = NULL;
    size_t  room = 0;
    ssize_t len = 0;
    bool    goes_on = true;

    while (goes_on && (len = getline(&line, &room, stdin)) >= 0) {
        if (len && line[len - 1] == '\n')
            line[len - 1] = '\0';
        goes_on = use->answer(use->context, line, false);
    }
    free(line);
    return len >= 0 || feof(stdin) ||
           err_set(err, ERR_INPUT, "lines cannot be read: %s", strerror(errno));
}

struct editor {
    const struct line_use *use;
    EditLine              *edit;
    History               *history;
    char                  *listed; /* the line whose words stand above it; NULL: none */
    char                   prompt[32];
};

static char *prompt_of(EditLine *edit)
{
    struct editor *editor = NULL;

    libedit.el_get(edit, EL_CLIENTDATA, &editor);
    snprintf(editor->prompt, sizeof editor->prompt, "%s",
             editor->use->prompt(editor->use->context));
    return editor->prompt;
}

static size_t shared_start(const struct line_words *words)
{
    size_t len = strlen(words->items.items[0]);

    for (size_t i = 1; i < words->items.count; i++)
        for (size_t at = 0; at < len; at++)
            if (words->items.items[i][at] != words->items.items[0][at])
                len = at;
    return len;
}

unsigned line_editor_columns(void)
{
    struct winsize size = { 0 };

    return ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col ? size.ws_col : COLUMNS;
}

unsigned line_editor_rows(void)
{
    struct winsize size = { 0 };

    return ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_row ? size.ws_row : ROWS;
}

static void forget_listed(struct editor *editor)
{
    free(editor->listed);
    editor->listed = NULL;
}

/* Whether the words of this line were listed just now; from here on they were. */
static bool was_listed(struct editor *editor, const LineInfo *line)
{
    size_t len = (size_t)(line->lastchar - line->buffer);
    bool   was = editor->listed && strlen(editor->listed) == len &&
               memcmp(editor->listed, line->buffer, len) == 0;

    forget_listed(editor);
    editor->listed = strndup(line->buffer, len);
    return was;
}

/* In as many columns as fit. */
static void list_words(const struct line_words *words)
{
    size_t width = 0, across, rows;

    for (size_t i = 0; i < words->items.count; i++)
        if (strlen(words->items.items[i]) + 2 > width)
            width = strlen(words->items.items[i]) + 2;
    across = line_editor_columns() / width ? line_editor_columns() / width : 1;
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
    const LineInfo   *line = libedit.el_line(edit);
    struct editor    *editor = NULL;
    struct line_words words = { 0 };
    struct arena      arena = { 0 };
    unsigned char     result = CC_ERROR;
    size_t            from, shared, typed;
    char             *added;

    (void)key;
    libedit.el_get(edit, EL_CLIENTDATA, &editor);
    if (editor->use->complete(editor->use->context,
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
            libedit.el_insertstr(edit, added);
        } else if (was_listed(editor, line)) {
            result = CC_NORM;
        } else {
            list_words(&words);
            result = CC_REDISPLAY;
        }
    }
    arena_free(&arena);
    return result;
}

static bool editor_open(struct editor *editor, struct err *err)
{
    HistEvent event;

    if (!library_need(&libedit_library, err))
        return false;
    /* Letters of UTF-8 whatever the locale; numbers stay as the C locale writes them. */
    if (!setlocale(LC_CTYPE, "") || strcmp(nl_langinfo(CODESET), "UTF-8") != 0)
        setlocale(LC_CTYPE, "C.UTF-8");
    editor->edit = libedit.el_init("tfprof", stdin, stdout, stderr);
    editor->history = libedit.history_init();
    if (!editor->edit || !editor->history)
        return err_set(err, ERR_INPUT, "the terminal cannot be used");
    libedit.history(editor->history, &event, H_SETSIZE, HISTORY_LINES);
    libedit.history(editor->history, &event, H_SETUNIQUE, 1);
    libedit.el_set(editor->edit, EL_CLIENTDATA, editor);
    libedit.el_set(editor->edit, EL_PROMPT, prompt_of);
    libedit.el_set(editor->edit, EL_EDITOR, "emacs");
    libedit.el_set(editor->edit, EL_SIGNAL, 1);
    libedit.el_wset(editor->edit, EL_GETCFN, read_letter);
    libedit.el_set(editor->edit, EL_HIST, libedit.history, editor->history);
    /* el_set copies both names and never frees them; el_wset keeps what it is given. */
    libedit.el_wset(editor->edit, EL_ADDFN, L"tfprof-complete", L"complete a word", complete);
    libedit.el_set(editor->edit, EL_BIND, "^I", "tfprof-complete", NULL);
    libedit.el_set(editor->edit, EL_BIND, "^R", "em-inc-search-prev", NULL);
    libedit.el_source(editor->edit, NULL);
    if (editor->use->history_path)
        libedit.history(editor->history, &event, H_LOAD, editor->use->history_path);
    return true;
}

static void editor_close(struct editor *editor)
{
    forget_listed(editor);
    if (editor->history)
        libedit.history_end(editor->history);
    if (editor->edit)
        libedit.el_end(editor->edit);
}

static void remember(struct editor *editor, const char *line)
{
    HistEvent event;

    if (!str_trim(str_from(line)).len)
        return;
    libedit.history(editor->history, &event, H_ENTER, line);
    if (editor->use->history_path)
        libedit.history(editor->history, &event, H_SAVE, editor->use->history_path);
}

static bool run_terminal(const struct line_use *use, struct err *err)
{
    struct editor    editor = { .use = use };
    struct sigaction on_interrupt = { .sa_handler = interrupt };
    bool             is_open = editor_open(&editor, err), goes_on = true;

    sigemptyset(&on_interrupt.sa_mask);
    sigaction(SIGINT, &on_interrupt, NULL);
    while (is_open && goes_on) {
        int         len = 0;
        const char *got;
        char       *line;

        hold_interrupts(SIG_BLOCK);
        got = libedit.el_gets(editor.edit, &len);
        hold_interrupts(SIG_UNBLOCK);
        forget_listed(&editor);
        if ((!got || len <= 0) && is_interrupted) { /* Ctrl-C: a new line */
            is_interrupted = 0;
            libedit.el_reset(editor.edit);
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
        is_interrupted = 0;
        goes_on = use->answer(use->context, line, isatty(STDOUT_FILENO));
        if (is_interrupted) /* the terminal has shown ^C where the answer stopped */
            fputc('\n', stdout);
        is_interrupted = 0;
        free(line);
    }
    if (is_open && goes_on)
        fputc('\n', stdout);
    editor_close(&editor);
    return is_open;
}

const char *line_editor_history(const char *name, struct arena *arena)
{
    const char *chosen = getenv("TFPROF_HISTORY"), *home = getenv("HOME");

    if (chosen)
        return *chosen ? arena_text(arena, "%s", chosen) : NULL;
    return home && *home ? arena_text(arena, "%s/%s", home, name) : NULL;
}

bool line_editor_run(const struct line_use *use, struct err *err)
{
    struct sigaction ignored = { .sa_handler = SIG_IGN };

    sigemptyset(&ignored.sa_mask);
    sigaction(SIGPIPE, &ignored, NULL);
    return isatty(STDIN_FILENO) ? run_terminal(use, err) : run_pipe(use, err);
}
