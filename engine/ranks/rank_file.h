/*
 * rank_file: files of summaries (proto/rank_summary.proto). A record a rank, and one with the facts
 * and tables of the one that stands for the job, each with a checksum. What several files hold is
 * one set: merging sorts it, so that the order of merging does not show, and files put one behind
 * the other are a file, too.
 */
#ifndef TFPROF_RANKS_RANK_FILE_H
#define TFPROF_RANKS_RANK_FILE_H

#include "ranks/rank_summary.h"

enum { RANK_FILE_VERSION = 1 };

struct rank_record {
    int64_t        rank; /* -1 unknown */
    int64_t        weight;
    struct str     host;
    struct str     bytes; /* for rank_read */
    enum rank_half half;
};
struct rank_records {
    VEC(struct rank_record) items;
};

bool rank_file_is(struct str bytes);
/* Adds the records of a file, which must stay. ERR_FORMAT: damaged, or of a newer version. */
bool rank_file_scan(struct str bytes, struct rank_records *records, struct arena *arena,
                    struct err *err) MUST_USE;
/* Adds a summary's two records. */
bool rank_file_add(const struct rank_summary *summary, struct rank_records *records,
                   struct arena *arena, struct err *err) MUST_USE;
/* By rank, then host, then bytes; each once, and the details of the rank with most weight alone. */
void rank_records_settle(struct rank_records *records);
void rank_records_write(const struct rank_records *records, struct text *text);

#endif
