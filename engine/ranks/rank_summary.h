/*
 * rank_summary: what is kept of a rank's recording for looking at all ranks of a job at once: its
 * steps, the parts of each, its collectives, what took its time, and its facts. Tens of kilobytes,
 * however long the recording. Columns; those of one subject are as long as each other. Times are
 * nanoseconds since origin_ns, the rank's own clock. docs/scale.md and proto/rank_summary.proto say
 * the same field by field.
 */
#ifndef TFPROF_RANKS_RANK_SUMMARY_H
#define TFPROF_RANKS_RANK_SUMMARY_H

#include "analyze/study.h"
#include "base/arena.h"
#include "base/err.h"
#include "base/str.h"
#include "base/text.h"
#include "base/vec.h"

struct numbers { /* VEC(int64_t), with a name */
    int64_t *items;
    size_t   count, capacity;
};
struct reals {
    double *items;
    size_t  count, capacity;
};
struct names {
    struct str *items;
    size_t      count, capacity;
};

/* NUMBER rank, host …; the members of rank_fields.def */
struct rank_summary {
    int64_t rank, world_size; /* -1 and 0 unknown */
    int64_t weight; /* of its own work in a step: where it is most, the rank stands for the job */
    struct str host, name;       /* name: of the file */
    int64_t    cores, origin_ns; /* 0 unknown */
    int64_t    format;           /* enum profile_format */
    struct str framework, framework_version;
    struct str device; /* model of its accelerators; empty: none is there */
    int64_t    device_kind, device_count;
    int64_t    step_source, left_out; /* enum step_source; steps that do not count */
    struct str step_marker;
    double     step_ns, compute_ns, input_ns, comm_ns; /* a step; as the table `ranks` has them */

    struct names   names; /* texts that the columns below name by row */
    struct numbers step_number, step_start, step_length; /* used steps */
    struct numbers part_name, part_step,
        part_ns; /* part_ns: a row a step of part_step, a column a part */
    struct numbers group_name, group_type, group_size,
        group_numbered; /* who meets; -1: size unknown */
    struct numbers meeting_group, meeting_sequence, meeting_start, meeting_length, meeting_bytes;
    struct numbers family_name, family_part, family_count,
        family_ns;                                           /* over the steps of part_step */
    struct numbers bucket_family, bucket_log2, bucket_count; /* lengths of a family's stretches */
    struct numbers damage;

    struct names   detail_names;         /* texts that the columns below name */
    struct numbers fact_name, fact_text; /* fact_text: -1 for a number, which is in fact_value */
    struct reals   fact_value;
    struct numbers table_name, table_rows, column_table, column_name;
    struct numbers cells; /* by column, then row; see rank_cell */
    struct numbers absent_name, absent_reason, absent_capture; /* -1: none */
};

/* A cell of a table as one number: whole ones twice themselves, others twice their bits in single
 * precision plus 1. */
int64_t rank_cell(double value);
double  rank_cell_value(int64_t cell);

/* What `study` has of its reference host. Texts live in `arena`. false: ERR_LIMIT. */
/* What orders ranks by their own work in a step, `own_ns` of it: equal where it differs by a
 * little, so that the first of them stands for the job. */
int64_t rank_weight(double own_ns);
bool    rank_take(struct rank_summary *summary, const struct study *study, struct arena *arena,
                  struct err *err) MUST_USE;

enum rank_half { RANK_WHAT, RANK_DETAILS }; /* DETAILS: facts and tables, with whose they are */
void rank_write(const struct rank_summary *summary, enum rank_half half, struct text *text);
/* Adds the fields that the message has; texts are borrowed from `bytes`. false: damage, or
 * ERR_LIMIT. */
bool rank_read(struct rank_summary *summary, struct str bytes, struct arena *arena,
               struct err *err) MUST_USE;
/* Text of a row of names; empty for -1 and what is not there. */
struct str rank_name(const struct names *names, int64_t row);

#endif
