/* read_paths: the files that a user's paths stand for. Names select among files of a log directory;
 * what a file is, its content says. */
#ifndef TFPROF_READ_READ_PATHS_H
#define TFPROF_READ_READ_PATHS_H

#include "read/read.h"

struct read_path {
    char *path;
    char *host_name; /* NULL unless the layout says so */
    char *run;       /* NULL outside a log directory */
};
struct read_paths {
    VEC(struct read_path) list;
    size_t other_run_count; /* runs of the log directory that were not chosen */
};

/* run: NULL for the newest; is_every_run for a listing. */
bool read_paths_find(const char *path, const char *run, bool is_every_run, struct arena *arena,
                     struct read_paths *paths, struct err *err);

#endif
