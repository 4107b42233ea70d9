/*
 * summary: what a gate keeps of one or several recordings of a program: numbers by name and run,
 * step times, exact counts, what the time went to, findings, and what identifies hardware and
 * work. A baseline is a summary in a file (docs/baseline.schema.json); the profile under test
 * becomes one too, and the two are compared.
 *
 * Everything lives in the arena it was made in; texts are terminated and never NULL unless said.
 */
#ifndef TFPROF_GATE_SUMMARY_H
#define TFPROF_GATE_SUMMARY_H

#include "analyze/path/path.h"
#include "base/err.h"
#include "base/unit.h"
#include "base/vec.h"
#include "rules/advice.h"

#include <stdbool.h>
#include <stdint.h>

struct study;

#define SUMMARY_SCHEMA "tfprof.baseline/1"

struct series { /* a number a run */
    const char *name; /* of the fact */
    enum unit   unit;
    double     *values; /* [run]; NaN: that run has none */
};
enum count_source { COUNT_BY_STEP, COUNT_FACT };
enum count_cost { COSTS, COSTS_TIME_ALONE };
struct count_spec { /* gate/counts.def */
    const char       *name; /* "launches" */
    const char       *title; /* "launches a step" */
    enum unit         unit;
    enum count_source source;
    const char       *fact; /* COUNT_FACT: where it comes from */
    enum count_cost   cost;
};
struct count_value { /* of one run */
    double value;     /* of nearly all steps, else their mean; NaN: the recording does not show it */
    double low, high; /* over steps */
    bool   is_steady; /* nearly all steps have exactly `value` */
};
enum item_kind {
    ITEM_PATH, /* what lies on the path of a step, by name and part */
    ITEM_OP,
    ITEM_KERNEL,
    ITEM_SYNC,
    ITEM_COPY,
    ITEM_COLLECTIVE,
    ITEM_KIND_COUNT
};
const char *item_kind_name(enum item_kind kind); /* "kernels": a key of the file */
const char *item_kind_noun(enum item_kind kind); /* "kernel" */
struct item {
    const char *name;
    const char *group; /* path: part; op: type; kernel: its op; sync: owner; copy: direction */
    const char *file;  /* of the user's program; "" unknown */
    const char *dtype, *trait; /* kernel: tensor cores yes, no, unknown; op: shapes */
    uint32_t    line;
    double      ns, count; /* a step, mean over runs */
    double      fastest_ns; /* op: in the step of a run in which it took least; 0 unknown */
    double      bytes;     /* a step; 0 unknown */
    double      threads;   /* kernel: of the launches of a step; 0 unknown */
};
struct item_list {
    VEC(struct item) rows; /* by time, then name */
    bool is_complete;      /* nothing was cut off */
};
struct work_item { /* a product, convolution or other op of known arithmetic, by type and shapes */
    const char *what;
    double      flops, calls; /* a step */
};
struct identity { /* what must be alike for times to be compared */
    const char *format, *framework, *framework_version;
    VEC(const char *) devices; /* "8 x NVIDIA H100 SXM5", sorted */
    uint32_t    hosts, cores;  /* cores of the reference host; 0 unknown */
    int64_t     world_size;    /* -1 unknown */
    const char *step_source, *step_marker;
    double      parameters;    /* elements of variables; 0 unknown */
    VEC(struct work_item) work; /* most FLOPs first */
    const char *work_hash;      /* of the work items' types and shapes; "" without */
};
struct run {
    const char *name;
    uint32_t    left_out;  /* steps: warm-up, cut ones */
    size_t      step_count;
    double     *step_ns;   /* used steps in order */
    struct count_value *counts; /* [count_spec_count] */
};
struct known_finding {
    const char   *rule, *title, *fingerprint, *file;
    enum severity severity;
    uint32_t      line;
    double        share; /* of the step; 0 without a price */
};
struct run_note { /* what reading a run found and went on */
    const char *run, *where, *what; /* where "": the whole file */
    uint32_t    count;
    bool        is_damage; /* numbers of the run may be wrong */
};
struct summary {
    const char *name;    /* file or profile, for reports */
    const char *version; /* of the program that made it */
    const char *comment; /* --reason, or "" */
    struct identity identity;
    VEC(struct run) runs;
    VEC(struct series) facts; /* by name */
    struct item_list items[ITEM_KIND_COUNT];
    VEC(struct known_finding) findings; /* by fingerprint */
    VEC(struct run_note) notes;
    VEC(struct failed_rule) failed; /* rules that failed in some run, each once */
    struct advice advice; /* of the last run; empty when read from a file */
};

extern const struct count_spec count_specs[];
extern const size_t            count_spec_count;

/* Adds a run. The summary's texts are copied into `arena`, so that the study can go. The advice
 * is kept as it is: give it the same arena. */
bool summary_add_run(struct summary *summary, const char *name, const struct study *study,
                     const struct advice *advice, struct arena *arena, struct err *err);
/* After the last run: means over runs, orders, limits. */
bool summary_finish(struct summary *summary, struct arena *arena, struct err *err);

/* A rule that failed in some run: this one, or with NULL the first; NULL: none. */
const struct failed_rule *summary_failed(const struct summary *summary, const char *rule);
/* Median over runs; false: no run has it. */
bool summary_fact(const struct summary *summary, const char *name, struct arena *scratch,
                  double *value);
const struct series *summary_series(const struct summary *summary, const char *name);
/* Times of a step this long are shown, and summed, in multiples of that. */
double part_grain_ns(double step_ns);
/* The step in parts, mean over runs, scaled and rounded to multiples of grain_ns so that they sum
 * to `step_ns`, which is one. False: not known. */
bool summary_parts(const struct summary *summary, double step_ns, double grain_ns,
                   double part_ns[PART_COUNT]);
const struct item *item_find(const struct item_list *list, const struct item *like);

struct text;
void summary_write(const struct summary *summary, struct text *text);
/* ERR_FORMAT with line and column; a newer schema is ERR_FORMAT with what to do. */
bool summary_read(struct summary *summary, struct str bytes, const char *name, struct arena *arena,
                  struct err *err);

#endif
