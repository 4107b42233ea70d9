/*
 * file: an input file as bytes. Plain files are mapped read-only; "-" and pipes are read whole.
 * gzip (several members too) is recognised by content and inflated, with isa-l where built in, zlib
 * otherwise. A cut or damaged gzip gives what could be inflated and sets is_damaged.
 */
#ifndef TFPROF_BASE_FILE_H
#define TFPROF_BASE_FILE_H

#include "base/arena.h"
#include "base/err.h"
#include "base/str.h"

#include <stdbool.h>

struct file {
    struct str bytes;       /* unpacked; valid until file_close */
    uint64_t   stored_bytes; /* size as stored */
    bool       is_mapped, is_gzip, is_damaged;
    char       damage[128];  /* what is wrong when is_damaged: "gzip data ends early at byte …" */
};

/* budget_bytes bounds what inflating or reading a pipe may allocate (0: no bound). */
bool file_open(struct file *file, const char *path, size_t budget_bytes, struct err *err) MUST_USE;
void file_close(struct file *file); /* accepts a zeroed file */
/* The first bytes, which stay to be read: of standard input too, unless it is neither file nor pipe. 0: none. */
size_t file_peek(const char *path, char *bytes, size_t most);
/* The first bytes as file_open gives them, of a plain file alone; little more of it is read. 0: none. */
size_t file_head(const char *path, char *bytes, size_t most);
/* Maps the pages of bytes [from, to) at once rather than one fault after the other. */
void file_want(const struct file *file, size_t from, size_t to);
/* Tells the system that bytes [from, to) of a mapped file are not needed again. */
void file_drop(const struct file *file, size_t from, size_t to);

/* Stream for input that is used once front to back (traces of gigabytes): a window of the unpacked
 * bytes, inflated on a second thread when gzipped. */
struct file_stream;
struct file_stream *file_stream_open(const char *path, struct err *err) MUST_USE;
/* The next run of unpacked bytes, valid until the next call; len 0 at the end or on damage. The
 * window is refilled behind the scenes; runs are at most 4 MiB and may end anywhere. */
struct str file_stream_next(struct file_stream *stream);
bool       file_stream_damage(const struct file_stream *stream, char *text, size_t bytes);
void       file_stream_close(struct file_stream *stream);

/* Names in a directory (no "." and ".."), sorted bytewise, in arena. */
bool file_list(const char *path, struct arena *arena, char ***names, size_t *count, struct err *err);
bool file_is_directory(const char *path);
int64_t file_changed_s(const char *path); /* when, in seconds since 1970; 0: nothing is there */
/* Makes it where it is missing, but not what should hold it. false: it is not there. */
bool file_make_directory(const char *path, struct err *err);
bool file_is_plain(const char *path); /* and no pipe or device, which may never end */
bool file_is_inside(const char *path, const char *folder); /* wherever links lead */
bool file_exists(const char *path);
/* Writes whole or not at all: a temporary file beside it, fsync, rename. "-" is standard output.
 * Any thread may call it. */
bool file_write(const char *path, struct str bytes, struct err *err);

#endif
