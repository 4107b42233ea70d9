/*
 * xspace_lines: events of XSpace lines straight into the profile's event columns. One line is one
 * piece of work, so lines can be decoded side by side; what needs the shared tables (names,
 * activities) is left for the merge afterwards (xspace_merge).
 */
#ifndef TFPROF_READ_XSPACE_LINES_H
#define TFPROF_READ_XSPACE_LINES_H

#include "read/xplane.h"
#include "read/xspace_names.h"

#include <stdatomic.h>

enum stat_form { FORM_NUMBER, FORM_NAME, FORM_TEXT };

/* A stat worth keeping: number, interned name, or a place in the file (offset << 20 | length). */
struct kept_stat {
    uint32_t event; /* inside the line */
    uint8_t  key;   /* enum stat_key or EXTRA_… */
    uint8_t  form;
    int64_t  value;
};
enum { TEXT_LENGTH_BITS = 20 };

/* What the decoder needs to know of a plane's metadata, by index. */
struct plane_tables {
    const struct xplane *plane;
    struct str           file;     /* bytes that offsets count from */
    uint8_t             *stat_key; /* by stat type */
    uint16_t            *stat_seen;
    uint32_t            *stat_name; /* interned name of the stat type, for references */
    atomic_uint         *seen;      /* by event type: SEEN_… of all its events */
    bool                *is_iterator;
    bool                *is_memory;  /* allocation or release: its memory stats are kept */
    uint32_t             first_type; /* its event types count from here over all planes */
    uint64_t             unknown_stats;
};

struct line_task {
    const struct plane_tables *tables;
    const struct xline        *line;
    int64_t                    base_ns;     /* added to each event's offset */
    uint32_t                   timeline;    /* row */
    uint32_t                   first_event; /* where its columns begin */
    uint32_t                   event_count; /* decoded */
    struct arena               arena;
    VEC(struct kept_stat) stats; /* by event */
    VEC(struct long_duration) longs;
    uint32_t aggregate_count, nameless_count, negative_count, overflow_count;
    uint64_t unknown_stats;
    bool     is_unsorted, is_full, is_cut;
};

#define NO_TYPE UINT32_MAX

/* Fills the task's share of the columns: event_activity gets first_type + index of the event's
 * type, or NO_TYPE. Safe side by side for different tasks. */
void xspace_line_decode(struct line_task *task, struct profile *profile);

#endif
