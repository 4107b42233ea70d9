/*
 * session: a loaded profile that is asked line after line, as the original's prompt does it. What
 * `set` leaves holds for all lines behind it; a line that fails changes nothing.
 */
#ifndef TFPROF_CLI_SESSION_H
#define TFPROF_CLI_SESSION_H

#include "cli/input.h"
#include "view/tree.h"
#include "view/view.h"

struct session {
    struct input              *input;
    const struct input_values *read_as;  /* how it was read; NULL: advice has what views need */
    const struct option_list  *operands;
    struct input              *full;     /* read again with what advice needs; NULL: not yet */
    struct arena           *arena;  /* of values */
    struct tree_cache       trees;  /* views' trees, built once */
    struct view_values      values; /* what `set` left */
    int64_t default_rows;           /* -max_rows of lines that give none and go to a terminal */
    bool    is_ended;               /* quit */
    const struct view *explained;   /* the view and the attributes that a terminal was told of */
    unsigned           explained_attributes;
};
struct session_answer {
    struct arena arena; /* of all of it; the caller frees it */
    struct text  text, complaints;
    const char  *pipe;  /* shell command behind "|"; NULL: standard output */
};

/* Commands of a line besides the views, in the order of help. */
extern const char *const session_commands[];
extern const size_t      session_command_count;
extern const struct option session_options[]; /* of the views */
extern const size_t        session_option_count;

/* False: err says what is wrong with the line; complaints may hold more. */
void session_free(struct session *session); /* what lines have read */
bool session_line(struct session *session, const char *line, bool is_terminal,
                  struct session_answer *answer, struct err *err);

/* `help`, `help scope`, `help -select`. */
bool session_help(const char *word, struct session_answer *answer, struct err *err);
/* What may stand where a line ends: whole words, sorted. *from: where the last word begins in it. */
struct session_words {
    VEC(const char *) items;
    bool is_open; /* values of a list: more may follow */
};
bool session_complete(const struct session *session, struct str line, struct arena *arena,
                      struct session_words *words, size_t *from);

#endif
