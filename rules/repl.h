/*
 * repl: the rule API line by line over one study: what rules call, with the limits of a rule for each
 * line. Names that a line sets without `local` stay for those behind it.
 */
#ifndef TFPROF_RULES_REPL_H
#define TFPROF_RULES_REPL_H

#include "base/arena.h"
#include "base/err.h"
#include "base/text.h"
#include "rules/advice.h"

struct study;
struct repl;

struct repl_shape {
    size_t   row_count; /* of a table, at most; 0: all there are, up to a thousand */
    unsigned width;     /* columns of text; 0: no limit */
};
/* NULL: ERR_LIMIT. Lives in the arena, but for repl_free. */
struct repl *repl_new(struct study *study, const struct repl_shape *shape, struct arena *arena,
                      struct err *err);
void         repl_free(struct repl *repl); /* accepts NULL */

enum repl_outcome {
    REPL_DONE,
    REPL_MORE,  /* the statement goes on in the next line */
    REPL_FAULT,
};
struct repl_answer { /* in an arena of the caller's */
    struct text  text;              /* what the values look like */
    VEC(struct finding) findings;   /* of finding { … } and rule { … }, priced and ranked */
    const char  *fault;
};
/* Runs a line, with those before it that wait for more: statements, or an expression. */
enum repl_outcome repl_line(struct repl *repl, const char *line, struct arena *arena,
                            struct repl_answer *answer);

/* What the API is: "" for an overview, a class ("query") or a name ("where"). False: no such topic. */
bool repl_help(const char *topic, struct text *text);

/* Words that may stand at the end of a line: names of the API, facts, tables, columns. */
struct repl_words {
    VEC(const char *) items; /* sorted */
};
bool repl_complete(struct str line, struct arena *arena, struct repl_words *words, size_t *from);

#endif
