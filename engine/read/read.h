/*
 * read: bytes -> model. Finds out what the user's path holds, picks the reader that is surest of
 * the first bytes (names never count), and fills one profile from all files of one job. To add a
 * format: reader_X.c with one `const struct reader reader_X`, one line in readers.def.
 */
#ifndef TFPROF_READ_READ_H
#define TFPROF_READ_READ_H

#include "base/arena.h"
#include "base/err.h"
#include "base/file.h"
#include "base/option.h"
#include "model/profile.h"

struct read_options {
    const char        *input_format; /* reader name, or NULL: by content */
    const char        *run;          /* run of a log directory; NULL: the newest */
    const char        *host;         /* keep only this host */
    const struct hardware *hardware; /* of such devices, of that name */
    const char        *accelerator;  /* what devices are whose model was not recorded; or NULL */
    struct option_list graph_paths, run_meta_paths, op_log_paths, profile_paths, checkpoint_paths;
    size_t             memory_budget_bytes; /* 0: none but the machine's */
    unsigned           threads;             /* 0: one a core */
    size_t             part_bytes;          /* text that a thread takes at once; 0: by itself */
    bool               is_capture;          /* of a graph, for graph_capture_join */
    bool               is_strict;           /* damage is an error, not a note */
    bool               is_classic;          /* also fill profile->classic */
    bool               has_classic_times;   /* with what timelines need: single runs, memory */
    bool               is_compat;           /* of a checkpoint: only what the original takes */
};

struct named_role;
/* One input of a job as handed to a reader. */
struct read_input {
    const char              *path;      /* as shown to the user */
    const char              *host_name; /* from the file's name where the layout says so, or NULL */
    struct file              file;      /* open; the reader may drop pages behind itself */
    uint32_t                 source;    /* row of profile->files */
    const struct named_role *role;      /* of the option that names it; NULL: an operand */
};

struct reader {
    const char         *name;    /* "xspace", "profile", "graph", "kineto" */
    const char         *summary; /* for --help: what writes it */
    enum profile_format format;
    bool streams; /* reads input->path by itself when file.bytes.data is NULL: for large .gz */
    bool is_substitute; /* what it reads is made of files of another reader, which come before it */
    /* How sure it is that these are its bytes: 0 no, 1..100. `bytes` is the whole file (mapped), so
     * look at little of it. */
    int (*score)(struct str bytes, const char *path);
    /* Adds the inputs (all of one job) to the profile. Damage that leaves something usable is a
     * note; false only when nothing can be used. */
    bool (*read)(struct read_input *inputs, size_t count, const struct read_options *options,
                 struct profile *profile, struct err *err);
};
extern const struct reader *const readers[];
extern const size_t               reader_count;
const struct reader              *reader_find(const char *name); /* NULL: none is called so */

/* Reads all paths (files, directories, "-") as one job. */
bool read_profile(const char *const *paths, size_t count, const struct read_options *options,
                  struct profile *profile, struct err *err) MUST_USE;

/* What a profile of that path is called: its last part. NULL: no memory. */
char *read_short_name(struct arena *arena, const char *path);
bool  read_is_recording(const char *path); /* by content, looking at little of it */
/* Whether the file is a recording of a format of which a job has one a rank. */
bool read_is_of_rank(const char *path);

/* --list: what a directory holds. One line each: run, host, bytes, format; runs of a folder from
 * the oldest to the newest. */
struct read_listing_row {
    char    *run, *name, *format, *path;
    uint64_t bytes;
};
struct read_listing {
    VEC(struct read_listing_row) rows;
};
bool read_list(const char *path, struct arena *arena, struct read_listing *listing,
               struct err *err);

#endif
