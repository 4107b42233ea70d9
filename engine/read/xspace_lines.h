/*
 * xspace_lines: events of XSpace lines straight into the profile's event columns. A line, or a
 * piece of a long one, is one task. Tasks that follow each other share a sink, which gathers their
 * stats by key; sinks share nothing, so they can be filled side by side, and what needs the shared
 * tables (names, activities) is left for the merge afterwards (xspace_merge).
 */
#ifndef TFPROF_READ_XSPACE_LINES_H
#define TFPROF_READ_XSPACE_LINES_H

#include "base/file.h"
#include "read/xplane.h"
#include "read/xspace_names.h"

#define NO_TYPE UINT32_MAX

/* How a kept stat goes into its column. */
enum stat_how { HOW_NUMBER, HOW_NAME, HOW_SPECIAL };

/* What a stat's metadata id stands for. */
struct stat_info {
    uint32_t name; /* interned name of the stat type, for references */
    uint16_t seen;
    uint8_t  key; /* enum stat_key, EXTRA_… or STAT_UNKNOWN */
    uint8_t  how;
};
enum { STAT_UNKNOWN = UINT8_MAX };

/* What an event's metadata id stands for. */
struct type_info {
    uint32_t type; /* counted over all planes; NO_TYPE */
    uint32_t flags;
};
enum { TYPE_ITERATOR = 1, TYPE_MEMORY = 2, TYPE_RELEASE = 4 };

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
/* Rows of event_activity before the merge: a type, NO_TYPE, or a row of the sink's variants. */
#define VARIANT_BIT 0x80000000U

/* An event type in a program and for an op, where stats tell. */
struct variant {
    uint32_t type, module, hlo_op, tf_op; /* 0: none */
    uint64_t program;                     /* number of the program, tells modules of one name apart */
};

struct stat_buffer {
    uint32_t *events;
    int64_t  *values;
    size_t    count, capacity;
};

/* What a text of details says: a launch configuration or a size. */
struct details {
    uint32_t text;
    uint8_t  key;   /* STAT_KERNEL_CONFIG, STAT_BYTES, EXTRA_NONE */
    int64_t  value; /* row of the sink's configs, or bytes */
};

struct sink {
    struct arena       arena, own_columns;
    struct arena      *columns_arena; /* the profile's for a single sink */
    struct profile    *profile;
    uint32_t           first_event, next_event, end_event;
    size_t             first_task, end_task;
    struct intern      names;
    struct stat_buffer columns[STAT_KEY_COUNT];
    uint16_t          *seen;         /* by type: SEEN_… of all its events here */
    uint32_t          *last_variant; /* by type: row + 1 */
    VEC(struct variant) variants;
    VEC(struct details) details;
    VEC(struct kernel_config) configs;
    VEC(uint32_t) config_texts;
    VEC(struct memory_event) memory_events;
    VEC(struct long_duration) longs;
    struct id_map variant_of, details_of;

    struct variant      variant; /* of the event at hand */
    struct memory_event memory;
    int64_t             memory_size;
    bool                has_memory;
    uint64_t            unknown_stats;
    bool                has_local_names, is_full;
};

struct line_task {
    const struct plane_tables *tables;
    const struct xline        *line;
    struct xline_piece         piece;
    const struct file         *file;
    int64_t                    base_ns;     /* added to each event's offset */
    uint32_t                   timeline;    /* row */
    uint32_t                   first_event; /* where its columns begin */
    uint32_t                   event_count; /* decoded */
    bool                       has_ops;     /* stats may tell which op and program an event is of */
    bool                       is_first, is_last; /* of its line's pieces */
    bool                       is_unsorted, is_cut;
    int64_t  start_ns, first_start_ns, first_duration_ns, last_start_ns, last_duration_ns, end_ns;
    uint32_t aggregate_count, nameless_count, negative_count, overflow_count;
};

bool sink_init(struct sink *sink, struct profile *profile, uint32_t type_count);
void sink_free(struct sink *sink);
/* Decodes the task into the profile's columns from sink->next_event on. */
void xspace_line_decode(struct line_task *task, struct sink *sink);

/* One stat of the event that becomes row sink->next_event. */
void sink_keep(struct sink *sink, const struct plane_tables *tables, const struct stat_info *info,
               uint32_t flags, const struct xstat *stat);
void sink_undo(struct sink *sink); /* forgets the stats kept for that event */
bool sink_column_grow(struct sink *sink, struct stat_buffer *column);
/* Row of the event's variant, with VARIANT_BIT. */
uint32_t sink_variant(struct sink *sink, uint32_t type);

static ALWAYS_INLINE void sink_push(struct sink *sink, unsigned key, int64_t value)
{
    struct stat_buffer *column = &sink->columns[key];
    size_t              count = column->count;

    if (count && column->events[count - 1] == sink->next_event)
        count--; /* said twice: the last one counts */
    if (UNLIKELY(count == column->capacity) && !sink_column_grow(sink, column))
        return;
    column->events[count] = sink->next_event;
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
