/*
 * xspace_lines: events of XSpace lines into rows. A line is decoded in chunks, on several threads
 * where that pays: each thread has a sink, which holds the rows of one chunk and what the thread
 * has learned so far (names, variants, details). Sinks share nothing while they decode; chunks are
 * put into the profile one after the other, in the file's order (xspace_commit).
 */
#ifndef TFPROF_READ_XSPACE_LINES_H
#define TFPROF_READ_XSPACE_LINES_H

#include "base/file.h"
#include "read/xspace/xplane.h"
#include "read/xspace/xspace_names.h"

#define NO_TYPE UINT32_MAX

/* How a kept stat goes into its column. */
enum stat_how { HOW_NUMBER, HOW_NAME, HOW_SPECIAL };

/* What a stat's metadata id stands for. */
struct stat_info {
    uint32_t name; /* interned name of the stat type, for references */
    uint16_t seen;
    uint8_t  key;        /* enum stat_key, EXTRA_…, STAT_SUMMED or STAT_UNKNOWN */
    uint8_t  how;        /* on events that columns are for */
    uint8_t  columns[2]; /* of most events, and with TYPE_ITERATOR: enum stat_key or NO_COLUMN */
};
enum { STAT_SUMMED = UINT8_MAX - 1, STAT_UNKNOWN, NO_COLUMN = UINT8_MAX };

/* What an event's metadata id stands for. */
struct type_info {
    uint32_t type; /* counted over all planes; NO_TYPE */
    uint32_t flags;
};
enum {
    TYPE_ITERATOR = 1,
    TYPE_MEMORY = 2,
    TYPE_RELEASE = 4,
    TYPE_KERNEL = 8 /* the start of an asynchronous kernel, whose op stats name */
};

/* A plane's metadata: rows by id where ids are small, by index of the plane's list otherwise. */
struct plane_tables {
    const struct xplane *plane;
    struct stat_info    *stats;
    struct type_info    *types;
    uint64_t             stat_id_count, type_id_count; /* 0: by index */
    uint32_t             first_type;                   /* its event types count from here */
};

/* Names in sinks: interned already, or in the sink's own table. */
#define LOCAL_NAME 0x80000000U
/* Labels of a sink's rows: a type, NO_TYPE, or a row of the sink's variants. */
#define VARIANT_BIT 0x80000000U

/* An event type in a program and for an op, where stats tell. */
struct variant {
    uint32_t type, module, hlo_op, tf_op, shape; /* 0: none */
    uint32_t kernel; /* type of the op that is called tf_op and nothing more; 0: none */
    uint64_t program;                     /* number of the program, tells modules of one name apart */
    bool     is_call; /* of a tf.function, which may have the name of a step's mark */
};

struct stat_buffer {
    int64_t *events, *values; /* room for a chunk's events */
    size_t   count;
};

/* What a text of details says: a launch configuration or a size. */
struct details {
    uint32_t text;
    uint8_t  key;   /* STAT_KERNEL_CONFIG, STAT_BYTES, EXTRA_NONE */
    int64_t  value; /* row of the sink's configs, or bytes */
    int64_t  copy_kind; /* name of the memories of a copy; 0 none */
};

/* Near this many bytes and at most this many events at once: the rows stay in the cache. */
enum { CHUNK_BYTES = 256 << 10, CHUNK_EVENTS = 16 << 10 };

/* A stat without a column: of the event at hand, or over those of a type in the chunk at hand. */
struct loose_stat {
    uint32_t type, name, text; /* text: 0 none */
    bool     is_unknown;
    uint64_t count;
    double   sum, least, most;
};

/* A piece of a line, and what became of it. */
struct chunk {
    struct line_task *task;
    struct str        bytes; /* in: decode no further; out: what was decoded */
    bool              is_last; /* of its line; known when it is decoded */
    uint32_t          count;   /* rows */
    bool              is_unsorted, is_cut, has_head;
    struct xline      head; /* fields of the line behind its events */
    int64_t  start_ns, first_start_ns, first_duration_ns, last_start_ns, last_duration_ns, end_ns;
    uint32_t aggregate_count, nameless_count, negative_count, overflow_count;
};

struct sink {
    struct arena arena;
    const struct str *known; /* texts of names below LOCAL_NAME, as before decoding */
    uint32_t          known_count;
    int64_t          *starts_ns, *durations_ns, *labels; /* CHUNK_EVENTS */
    uint32_t          row;                               /* that the next event becomes */
    struct stat_buffer columns[STAT_KEY_COUNT];
    VEC(struct memory_event) memory_events;
    VEC(struct aggregate) aggregates; /* label: their type */

    struct intern  names;
    uint16_t      *seen;         /* by type: SEEN_… of all its events here */
    uint32_t      *last_variant; /* by type: row + 1 */
    VEC(struct variant) variants;
    VEC(struct details) details;
    VEC(struct kernel_config) configs;
    VEC(uint32_t) config_texts;
    struct id_map variant_of, details_of;
    /* What these rows became when they were put into the profile, + 1; see xspace_commit. */
    VEC(uint32_t) name_ids, config_rows;
    VEC(uint32_t) variant_labels; /* by variant and line class */

    struct variant      variant; /* of the event at hand */
    struct memory_event memory; /* device: the ordinal, until rows are put into the profile */
    int64_t             memory_size;
    bool                has_memory;
    VEC(struct loose_stat) loose_now, loose;
    struct id_map loose_of; /* type << 32 | name -> row of loose */
    bool                has_local_names, is_full;
};

struct xhost;

struct line_task {
    const struct plane_tables *tables;
    const struct xhost        *host;
    struct xline               line;
    const struct file         *file;
    int64_t                    base_ns;  /* added to each event's offset */
    uint32_t                   timeline; /* row */
    /* Of its chunks that are in the profile: */
    bool     is_unsorted, is_cut, has_head;
    int64_t  last_start_ns, last_duration_ns, start_ns, end_ns;
    uint32_t aggregate_count, nameless_count, negative_count, overflow_count;
};

bool sink_init(struct sink *sink, const struct profile *profile, uint32_t type_count);
void sink_free(struct sink *sink);
void sink_clear(struct sink *sink); /* of rows, for the next chunk */
/* Decodes events of the chunk into the sink's rows until its end or CHUNK_EVENTS. */
void xspace_chunk_decode(struct chunk *chunk, struct sink *sink);

/* One stat of the event that becomes sink->row. */
void sink_add_loose(struct sink *sink, const struct plane_tables *tables,
                    const struct stat_info *info, uint32_t type, const struct xstat *stat);
void sink_sum_loose(struct sink *sink); /* the event at hand is kept */
void sink_keep(struct sink *sink, const struct plane_tables *tables, const struct stat_info *info,
               uint32_t flags, const struct xstat *stat);
/* The column of stats whose name means different things on different events; EXTRA_NONE: none. */
unsigned sink_key_for(unsigned key, uint32_t flags);
void sink_undo(struct sink *sink); /* forgets the stats kept for that event */
bool sink_column_start(struct sink *sink, struct stat_buffer *column);
/* Row of the event's variant, with VARIANT_BIT. */
uint32_t sink_variant(struct sink *sink, uint32_t type);

static ALWAYS_INLINE void sink_push(struct sink *sink, unsigned key, int64_t value)
{
    struct stat_buffer *column = &sink->columns[key];
    size_t              count = column->count;

    if (count && column->events[count - 1] == sink->row)
        count--; /* said twice: the last one counts */
    if (UNLIKELY(!column->events) && !sink_column_start(sink, column))
        return;
    column->events[count] = sink->row;
    column->values[count] = value;
    column->count = count + 1;
}

const struct stat_info *xspace_stat_slow(const struct plane_tables *tables, uint64_t id);
struct type_info        xspace_type_slow(const struct plane_tables *tables, uint64_t id);

static ALWAYS_INLINE const struct stat_info *xspace_stat_info(const struct plane_tables *tables,
                                                              uint64_t                   id)
{
    return LIKELY(id < tables->stat_id_count) ? &tables->stats[id] : xspace_stat_slow(tables, id);
}

static ALWAYS_INLINE struct type_info xspace_type_info(const struct plane_tables *tables,
                                                       uint64_t                   id)
{
    return LIKELY(id < tables->type_id_count) ? tables->types[id] : xspace_type_slow(tables, id);
}

#endif
