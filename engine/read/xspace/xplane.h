/*
 * xplane: what an XSpace file holds, without its events: planes, lines, and the metadata that
 * events refer to. Texts point into the file's bytes.
 */
#ifndef TFPROF_READ_XPLANE_H
#define TFPROF_READ_XPLANE_H

#include "base/err.h"
#include "base/intern.h"
#include "base/vec.h"
#include "read/proto/wire.h"

/* Field numbers of tensorflow.profiler's messages; test_xplane compares them with
 * proto/xplane.proto. */
enum {
    XSPACE_PLANES = 1,
    XSPACE_ERRORS = 2,
    XSPACE_WARNINGS = 3,
    XSPACE_HOSTNAMES = 4,
    XPLANE_ID = 1,
    XPLANE_NAME = 2,
    XPLANE_LINES = 3,
    XPLANE_EVENT_METADATA = 4,
    XPLANE_STAT_METADATA = 5,
    XPLANE_STATS = 6,
    XLINE_ID = 1,
    XLINE_NAME = 2,
    XLINE_TIMESTAMP_NS = 3,
    XLINE_EVENTS = 4,
    XLINE_DURATION_PS = 9,
    XLINE_DISPLAY_ID = 10,
    XLINE_DISPLAY_NAME = 11,
    XEVENT_METADATA_ID = 1,
    XEVENT_OFFSET_PS = 2,
    XEVENT_DURATION_PS = 3,
    XEVENT_STATS = 4,
    XEVENT_NUM_OCCURRENCES = 5,
    XSTAT_METADATA_ID = 1,
    XSTAT_DOUBLE = 2,
    XSTAT_UINT64 = 3,
    XSTAT_INT64 = 4,
    XSTAT_STR = 5,
    XSTAT_BYTES = 6,
    XSTAT_REF = 7,
    XEVENT_METADATA_NAME = 2,
    XEVENT_METADATA_DISPLAY_NAME = 4,
    XEVENT_METADATA_STATS = 5,
    XSTAT_METADATA_NAME = 2,
    MAP_KEY = 1,
    MAP_VALUE = 2,
};

struct xline {
    int64_t    id, display_id, timestamp_ns;
    struct str name, display_name;
    struct str bytes; /* of the message from its first event on; fields may follow the events */
};

/* What an event's metadata_id refers to. */
struct xevent_type {
    int64_t    id;
    struct str name;  /* display_name where the name is a whole HLO text */
    struct str bytes; /* of the XEventMetadata, for its stats */
};

/* What a stat's metadata_id, or its ref_value, refers to. */
struct xstat_type {
    int64_t    id;
    struct str name;
};

struct xplane {
    int64_t    id;
    struct str name;
    struct str bytes;
    bool       is_cut;
    VEC(struct xline) lines;
    VEC(struct xevent_type) event_types;
    VEC(struct xstat_type) stat_types;
    VEC(struct str) stats;                     /* XStat messages of the plane itself */
    struct id_map event_type_of, stat_type_of; /* id -> index */
};

struct xspace {
    VEC(struct xplane) planes;
    VEC(struct str) hostnames;
    VEC(struct str) errors; /* what the profiler says went wrong */
    VEC(struct str) warnings;
    bool     is_cut;
    uint64_t cut_offset; /* first byte that could not be read */
    uint64_t unknown_fields;
};

/* One stat's value. */
struct xstat {
    int64_t    type_id;
    unsigned   field;  /* XSTAT_DOUBLE …; 0: no value */
    uint64_t   number; /* as on the wire: a double's bits, a varint */
    struct str text;
};

/* Finds planes, lines and metadata; events are not looked at. Damage ends a plane early and is
 * marked. false: ERR_LIMIT, or ERR_FORMAT when not even a plane starts. */
bool xspace_index(struct str bytes, struct arena *arena, struct xspace *space, struct err *err);
/* Takes a field of XLine that is no event; false for others and for wrong types. */
bool xline_field(struct xline *line, const struct wire *field);
/* The end of events that go on from `at`, near `most_bytes` behind it, with at most `most_events`
 * of them; `end` where they are damaged. */
const uint8_t *xline_hop(const uint8_t *at, const uint8_t *end, size_t most_bytes,
                         uint32_t most_events);
struct xstat xstat_read(struct str bytes);
/* A stat's text, also through a reference; empty when it has none. */
struct str xstat_text(const struct xplane *plane, const struct xstat *stat);
double     xstat_number(const struct xstat *stat); /* 0 for texts */
struct str xplane_stat_name(const struct xplane *plane, int64_t type_id);

#endif
