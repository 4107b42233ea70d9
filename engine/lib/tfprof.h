/*
 * tfprof: what to change in a machine-learning program, from a recording of its run.
 * docs/library.md is the guide; this is the whole interface.
 *
 * Ownership    What a function returns as a pointer to tfprof_profile, tfprof_answer or
 *              tfprof_error belongs to the caller, who ends it with _close or _free (NULL is
 *              fine). Texts belong to what they were asked of and live as long.
 * Errors       A function that fails returns NULL or false and, where `error` is not NULL, sets
 *              *error. Nothing is printed, and nothing ends the program but memory that the system
 *              does not have.
 * Threads      Any thread may use any profile. Calls with one profile run one after the other,
 *              calls with different profiles side by side. The library itself keeps nothing but whom a
 *              thread wants told of progress (tfprof_progress).
 * Options      Those of the command of the same name (tfprof help COMMAND), as "name=value", or
 *              "name" for one without a value; a list ends with NULL, and NULL is an empty one.
 *              `output`, `list` and gate's `report` are the command line's alone, and `config` is
 *              "none" unless it is given: no file is looked for.
 * Units        Those of docs/facts.md: "ns", "bytes", "flops", "count", "share" (0 to 1), "ratio"
 *              (times as much), "bool" (0 or 1), "hz", "bytes_per_s", "flops_per_s", "name" (a
 *              text), "none" (a plain number).
 */
#ifndef TFPROF_H
#define TFPROF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tfprof_profile tfprof_profile; /* a recording that was read and analysed */
typedef struct tfprof_answer  tfprof_answer;  /* a text and what goes with it */
typedef struct tfprof_error   tfprof_error;

/* "0.1.0": of the library, which may be newer than this header. */
const char *tfprof_version(void);

/* Errors. Kinds are stable; new ones may come. */
enum tfprof_error_kind {
    TFPROF_ERROR_USAGE = 1,        /* an option, a name or a configuration is wrong */
    TFPROF_ERROR_INPUT = 2,        /* a file is missing or cannot be read */
    TFPROF_ERROR_FORMAT = 3,       /* bytes that break their format's rules */
    TFPROF_ERROR_LIMIT = 4,        /* the option `memory` is too little */
    TFPROF_ERROR_OUTPUT = 5,       /* something could not be written */
    TFPROF_ERROR_SCRIPT = 6,       /* a rule failed, with rule-errors=fail */
    TFPROF_ERROR_INCONCLUSIVE = 7, /* the recording does not have what was asked for */
};
int         tfprof_error_kind(const tfprof_error *error);
const char *tfprof_error_message(const tfprof_error *error); /* one line: where, what, what to do */
void        tfprof_error_free(tfprof_error *error);

/* Progress: from now on calls of this thread that may take long call `tell` each time they come to a
 * stage: "reading", "analysing", "running rules", "replaying steps", "writing" and the like; new ones
 * may come, and with several recordings they come again. tfprof_bisect tells of each recording, too:
 * "run 3: 1a2b3c4  10.0 ms". `tell` runs in the same thread, within the call, and must not call
 * this library. NULL ends it; other threads have their own. */
typedef void (*tfprof_tell)(void *context, const char *stage);
void tfprof_progress(tfprof_tell tell, void *context);

/* Reads files and directories as one recording: several are the hosts or ranks of one job. Options
 * are those that say how to read: host, device, steps, memory, threads, strict, run and the like.
 */
tfprof_profile *tfprof_open(const char *const *paths, size_t path_count, const char *const *options,
                            tfprof_error **error);
void            tfprof_close(tfprof_profile *profile);

/* Answers: JSON by default, as docs/ describes it for each command, or what `format` says. */
tfprof_answer *tfprof_advise(tfprof_profile *profile, const char *const *options,
                             tfprof_error **error);
tfprof_answer *tfprof_info(tfprof_profile *profile, const char *const *options,
                           tfprof_error **error);
/* At least one of whatif's edits, as "scale=kernel:gemm=0.5" or "edit=…" of a finding. */
tfprof_answer *tfprof_whatif(tfprof_profile *profile, const char *const *options,
                             tfprof_error **error);
/* `what` as in `tfprof why`: "gap", "step:slowest", "op:REGEX" …; NULL: what holds most time. */
tfprof_answer *tfprof_why(tfprof_profile *profile, const char *what, const char *const *options,
                          tfprof_error **error);
/* profile NULL: the rule alone. */
tfprof_answer *tfprof_explain(tfprof_profile *profile, const char *rule, const char *const *options,
                              tfprof_error **error);
/* All rules, with what each looks for, needs and can be set to. Takes no options yet. */
tfprof_answer *tfprof_rules(const char *const *options, tfprof_error **error);
/* `tool` is one of the guide's: kernels, memory, overview … (tfprof help). */
tfprof_answer *tfprof_tool(tfprof_profile *profile, const char *tool, const char *const *options,
                           tfprof_error **error);
/* An HTML page. */
tfprof_answer *tfprof_report(tfprof_profile *profile, const char *const *options,
                             tfprof_error **error);
tfprof_answer *tfprof_diff(tfprof_profile *before, tfprof_profile *after,
                           const char *const *options, tfprof_error **error);
/* Programs as they were compiled: modules, or with `module` or `op` instructions. */
tfprof_answer *tfprof_hlo(tfprof_profile *profile, const char *const *options,
                          tfprof_error **error);

/* A trace for viewers: Perfetto's, or with `format` "chrome" or "csv"; `around` and `finding` cut
 * out a part. */
tfprof_answer *tfprof_timeline(tfprof_profile *profile, const char *const *options,
                               tfprof_error **error);

/* Answers of files, which are read for them alone; options also say how to read. */

/* Each path is a run of its own. The answer's status is the verdict: 0 passed, 1 failed, 4 cannot
 * be told. */
tfprof_answer *tfprof_gate(const char *const *paths, size_t path_count, const char *const *options,
                           tfprof_error **error);
/* What gates compare with: the bytes of a .tfbase file. Each path is a run of its own. */
tfprof_answer *tfprof_baseline(const char *const *paths, size_t path_count,
                               const char *const *options, tfprof_error **error);
/* Whether the fix of the finding that the option `claimed` names saved what was promised. The
 * answer's status: 0 at least the low end of it, 1 surely less, 4 cannot be told. */
tfprof_answer *tfprof_verify(const char *before, const char *after, const char *const *options,
                             tfprof_error **error);
/* When numbers changed their level, over the measurements in a directory. */
tfprof_answer *tfprof_history(const char *directory, const char *const *options,
                              tfprof_error **error);
/* A classic view, "scope", "graph", "op" or "code": JSON, or as `format` says; "proto" is the
 * GraphNodeProto (scope, graph) or MultiGraphNodeProto (op, code) of TensorFlow's profiler.
 * `output` may name files of timelines and pprof profiles beside the answer. */
tfprof_answer *tfprof_view(const char *const *paths, size_t path_count, const char *view,
                           const char *const *options, tfprof_error **error);
/* What TensorFlow's profiler advises: its text, or with `format=proto` an AdviceProto; `only` names
 * its checkers. */
tfprof_answer *tfprof_classic_advice(const char *const *paths, size_t path_count,
                                     const char *const *options, tfprof_error **error);
/* An OpLogProto of what is known of the ops of a graph; no bytes where that is nothing. */
tfprof_answer *tfprof_oplog(const char *const *paths, size_t path_count, const char *const *options,
                            tfprof_error **error);

/* The bytes of a file of summaries of ranks, which tfprof_open reads: of recordings, each file a
 * rank, and of summaries, which are merged. */
tfprof_answer *tfprof_summarize(const char *const *paths, size_t path_count,
                                const char *const *options, tfprof_error **error);
/* Which revision of a git repository made a program slower: runs the command of the option `record`
 * for revisions between `good` and `bad`. The answer's status: 0 found, 4 not sure. */
tfprof_answer *tfprof_bisect(const char *const *options, tfprof_error **error);

const char *tfprof_answer_text(const tfprof_answer *answer);     /* ends with a zero byte */
size_t      tfprof_answer_bytes(const tfprof_answer *answer);    /* without it */
int         tfprof_answer_status(const tfprof_answer *answer);   /* the command's exit status */
const char *tfprof_answer_warnings(const tfprof_answer *answer); /* lines, mostly none: "" */
void        tfprof_answer_free(tfprof_answer *answer);

/* Facts: named numbers and texts, sorted by name. */
typedef struct tfprof_fact {
    const char *name, *unit, *help; /* live as long as the profile */
    double      number;             /* 0 where it is a text */
    const char *text;               /* NULL where it is a number */
} tfprof_fact;
size_t tfprof_fact_count(tfprof_profile *profile);
bool   tfprof_fact_at(tfprof_profile *profile, size_t index, tfprof_fact *fact);
bool   tfprof_fact_find(tfprof_profile *profile, const char *name, tfprof_fact *fact);

/* Tables: names of those that the recording has, sorted. */
size_t      tfprof_table_count(tfprof_profile *profile);
const char *tfprof_table_name(tfprof_profile *profile, size_t index); /* NULL: past the last */

/* A table as a text: JSON with exact numbers, or `format=csv` and the like. Options are columns,
 * where, sort and top of `tfprof table`. */
tfprof_answer *tfprof_table_text(tfprof_profile *profile, const char *name,
                                 const char *const *options, tfprof_error **error);

/* The Arrow C data interface (arrow.apache.org/docs/format/CDataInterface.html). */
#ifndef ARROW_C_DATA_INTERFACE
#define ARROW_C_DATA_INTERFACE
#define ARROW_FLAG_DICTIONARY_ORDERED 1
#define ARROW_FLAG_NULLABLE 2
#define ARROW_FLAG_MAP_KEYS_SORTED 4
struct ArrowSchema {
    const char          *format;
    const char          *name;
    const char          *metadata;
    int64_t              flags;
    int64_t              n_children;
    struct ArrowSchema **children;
    struct ArrowSchema  *dictionary;
    void (*release)(struct ArrowSchema *);
    void *private_data;
};
struct ArrowArray {
    int64_t             length;
    int64_t             null_count;
    int64_t             offset;
    int64_t             n_buffers;
    int64_t             n_children;
    const void        **buffers;
    struct ArrowArray **children;
    struct ArrowArray  *dictionary;
    void (*release)(struct ArrowArray *);
    void *private_data;
};
#endif

/* A table as a struct array, a child a column: texts are utf8, yes and no boolean, all other
 * numbers float64; a cell without a value is null. Metadata of a field: "unit" and "help". Both
 * structs live until their release is called, also after tfprof_close; a child may be moved out of
 * them. Options are those of tfprof_table_text. */
bool tfprof_table(tfprof_profile *profile, const char *name, const char *const *options,
                  struct ArrowSchema *schema, struct ArrowArray *array, tfprof_error **error);

/* The command line, without the program's name: the program `tfprof` is a main() that calls this
 * alone. It has the commands that are no answers, too: serve, watch, capture, prompt, repl, mcp,
 * synth. Unlike all other functions it is for a process of its own: it prints on standard output
 * and error, reads tfprof.toml and the environment, handles signals. Returns the exit status. */
int tfprof_main(int argument_count, char *const *arguments);

#ifdef __cplusplus
}
#endif
#endif
