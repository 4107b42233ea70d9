/* read_paths: the files that a user's paths stand for. Names select among files of a log directory;
 * what a file is, its content says. */
#ifndef TFPROF_READ_READ_PATHS_H
#define TFPROF_READ_READ_PATHS_H

#include "read/read.h"

struct read_path {
    char *path;
    char *host_name; /* NULL unless the layout says so */
    char *run;       /* NULL outside a log directory */
    const struct named_role *role; /* of the option that names it (named.h); NULL: an operand */
};
struct read_paths {
    VEC(struct read_path) list;
    VEC(char *) left_out; /* recordings beside them that were not chosen, in words */
    const char *chosen; /* the run of the last log directory that is read */
    bool has_runs, has_choice; /* a path is a log directory; it holds several runs */
};
struct read_paths_how {
    const char *run;     /* NULL: the newest */
    bool is_every_run;   /* for a listing */
    bool (*is_recording)(const char *path); /* by content */
};

bool read_paths_find(const char *path, const struct read_paths_how *how, struct arena *arena,
                     struct read_paths *paths, struct err *err);

#endif
