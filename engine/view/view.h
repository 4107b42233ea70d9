/*
 * view: a program's nodes as TensorFlow's profiler shows them: by name (scope), by inputs (graph),
 * by type (op), by the line that made them (code). Account -> start -> filter -> sort -> print.
 * To add a view: view_X.c with `const struct view view_X`, one line in views.def.
 */
#ifndef TFPROF_VIEW_VIEW_H
#define TFPROF_VIEW_VIEW_H

#include "base/err.h"
#include "base/text.h"
#include "model/classic.h"
#include "view/attributes.h"
#include "view/options.h"

struct profile;
struct view_rows;
struct sources;
struct tree;
struct tree_cache;

struct view_call { /* one showing of a view */
    const struct classic      *classic;
    const struct view_options *options;
    const struct classic      *other;         /* a profile to compare with, or NULL */
    const struct profile      *recordings[2]; /* whose notes JSON holds; NULL: none */
    struct tree_cache         *trees;         /* kept between calls on one profile; or NULL */
    struct sources            *sources;       /* of the user's program; NULL: not asked for */
    struct columns             columns;
    unsigned                   wanted;         /* a bit a value that is asked for; 0: all */
    bool                       is_unexplained; /* no words on the view and its columns */
    bool                       is_streamed;    /* rows go to standard output as they are made */
    struct arena              *arena;
    struct text               *text;       /* the report */
    struct text               *complaints; /* lines for standard error */
    enum err_code              refusal;    /* filled: nothing could be shown, as complaints say */
};

struct view {
    const char           *name, *doc;
    enum attribute_layout layout;
    bool                  needs_code; /* code that made the nodes must be recorded */
    /* Adds the rows below the header. */
    bool (*show)(const struct view_call *call, struct err *err);
    /* The same as rows (view/rows.h). False: full. */
    bool (*rows)(const struct view_call *call, struct view_rows *rows);
    /* The same as a trace; NULL: it has none. is_of_step: it shows one step, never their mean. */
    bool (*timeline)(const struct view_call *call, struct text *json, struct err *err);
    bool is_of_step;
    /* Its rows as a tree, arranged, for pprof and folded stacks; NULL: it has none. False: full. */
    bool (*stacks)(const struct view_call *call, struct tree *tree);
};
#define VIEW(name) extern const struct view view_##name;
#include "view/views.def"
#undef VIEW
extern const struct view *const views[];

/* -max_rows: whether row `at` (from 0) is shown; a last line that says how many were not. */
bool view_row_fits(const struct view_call *call, uint64_t at);
void view_rows_end(const struct view_call *call, uint64_t count);
/* Behind every row: writes what has gathered if the report is streamed. */
bool               view_row_end(const struct view_call *call, struct err *err);
const struct view *view_find(const char *name); /* NULL: unknown */
/* The whole report, or what -output asks for instead: explanation, header, rows. What the program
 * or the recording lacks is told in complaints, in the original's words, with no report; err is for
 * what the user cannot see in them.
 */
bool view_report(const struct view *view, struct view_call *call, struct err *err);

#endif
