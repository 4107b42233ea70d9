/*
 * tf_run: RunMetadata in two stages. Scanning looks at nothing but the bytes, so that every file may
 * have a thread of its own while the graph is read on another; joining names what was found by the
 * model's ids and hands the columns over. Until then `op` of every row is a row of records,
 * `device` one of rows, `timeline` one of threads.
 */
#ifndef TFPROF_READ_TF_RUN_H
#define TFPROF_READ_TF_RUN_H

#include "read/tf/tf_model.h"

/* A row of "/device:GPU:0/stream:all" repeats what the single streams show. */
enum tf_row_kind { TF_ROW_OPS, TF_ROW_STREAM, TF_ROW_ALL_STREAMS, TF_ROW_COPIES };
struct tf_run_row { /* DeviceStepStats: a device, or a stream or the copies of one */
    struct str       name;
    enum tf_row_kind kind;
    uint32_t         record_end;         /* its records begin where those of the row before end */
    int64_t          start_ns, end_ns;   /* of its usable records; INT64_MAX, INT64_MIN: none */
    struct message   thread_names;       /* rest of the message with the names of its threads */
};
struct tf_run_record { /* NodeExecStats */
    const char *node;        /* its bytes in the file */
    uint32_t    node_len;
    uint32_t    name_at, name_len, op_name_len; /* of node; no length: belongs to no op */
    uint32_t    op_hash;     /* of the op's name */
};
struct tf_run_thread {
    uint32_t row, id;
};
struct tf_run_scan {
    struct arena     scratch, kept; /* kept: for the columns of the profile */
    struct tf_shapes shapes;
    struct intern    allocators;    /* names that memory_events refer to */
    struct id_map    thread_rows;   /* row << 32 | id -> row of threads */
    VEC(struct tf_run_row) rows;
    VEC(struct tf_run_record) records;
    VEC(struct tf_run_thread) threads;
    VEC(struct tf_output) outputs;
    VEC(struct tf_event) events;     /* activity: row of records */
    VEC(struct op_run) op_runs;
    VEC(struct op_memory) op_memory; /* of single records */
    VEC(struct memory_event) memory_events; /* op_name: row of records */
    uint64_t   block_count;          /* addresses given to recorded allocations */
    uint64_t   unusable;             /* records without a start or length */
    bool       is_classic;           /* only what the classic views need */
    bool       has_stats, has_gpu, has_all_streams, misses_streams;
    bool       is_whole;             /* false: err tells what ended the scan */
    const char *origin;              /* first byte of the file, for offsets in errors */
    struct err err;
};

/* Fills a scan whose is_classic and budgets are set, as far as the bytes are good. */
void tf_run_scan(struct tf_run_scan *scan, struct message run);
/* After the graph, once. false: past the budget, or what the scan's err says. */
bool tf_run_join(struct tf_model *model, struct tf_run_scan *scan, int64_t number, struct err *err);
/* What was not joined. */
void tf_run_free(struct tf_run_scan *scan);

/* Type and inputs of an op that no graph defines, as its record tells them (tf_run_label.c); it must
 * be the last row of ops. false: past the budget. */
bool tf_run_define(struct tf_model *model, uint32_t op, struct message node);

/* Row of the activity of that name on threads or on streams, made where it is new; op: NO_ID where
 * it belongs to none. NO_ID: full. */
uint32_t tf_run_activity(struct tf_model *model, struct str name, uint32_t interned, uint32_t op,
                         bool is_thread);
/* AllocatorMemoryUsed of a record (tf_memory.c): memory events. */
struct tf_allocator {
    uint32_t record, row;
    int64_t  end_ns;  /* of the op's run */
    bool     is_host;
};
bool tf_allocator_read(struct tf_run_scan *scan, const struct tf_allocator *from,
                       struct message allocator, struct err *err);

#endif
