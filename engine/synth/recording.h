/*
 * recording: a sketch placed in time, as one rank would have recorded it; what the writers turn
 * into files. Times are ns since the recording began. Everything lives in the arena of
 * recording_make and points into the sketch.
 *
 * How lines become times:
 * - A host thread does one line after the other; lines inside a line begin where it begins, and it
 *   is at least as long as they are.
 * - A thread goes on in the next step where it was, or with the step if that is later. A step ends
 *   when its main thread is done, not before its own time.
 * - Device work launched from a thread begins when the call has returned and its stream is free.
 */
#ifndef TFPROF_SYNTH_RECORDING_H
#define TFPROF_SYNTH_RECORDING_H

#include "synth/sketch.h"

#define NO_EVENT UINT32_MAX

enum recorded_role {
    ROLE_SELF,   /* what its line says, on a host thread */
    ROLE_STEP,   /* the marker of a step */
    ROLE_LAUNCH, /* the call that enqueues device work */
    ROLE_WORK,   /* work on a stream */
};
struct recorded_event {
    uint32_t line;  /* row of sketch->lines: names, sizes, shapes */
    uint32_t track; /* row of recording->tracks */
    int64_t  start_ns, duration_ns;
    int64_t  number; /* of a step; the address of an allocation */
    int64_t  bytes;  /* of an allocation or of what is freed */
    int64_t  gpu;    /* of these; -1: host memory */
    int64_t  in_use_bytes, peak_bytes; /* after it */
    uint32_t link;  /* shared by a launch and its work, from 1 on; 0: none */
    uint32_t owner; /* the op around it, or NO_EVENT */
    uint8_t  role;
};
struct recorded_track {
    struct str name;   /* of a thread */
    int64_t    gpu;    /* -1: a host thread */
    int64_t    stream;
};
struct recording {
    const struct sketch *sketch;
    uint32_t             rank, rank_count;
    VEC(struct recorded_track) tracks;
    VEC(struct recorded_event) events; /* in the order of the sketch's lines */
    uint32_t step_count;
    int64_t  end_ns;
};

/* Durations of all lines of one word changed, of allocations their sizes: a mutation of a fixture. */
struct recording_change {
    enum sketch_word word;
    double           factor; /* 1: none */
};
struct recording_options {
    uint32_t                rank;
    bool                    has_seed;
    uint64_t                seed; /* instead of the sketch's */
    struct recording_change change;
};

/* ERR_USAGE with line and column; ERR_LIMIT where the sketch asks for too many events. */
bool recording_make(const struct sketch *sketch, const struct recording_options *options,
                    struct arena *arena, struct recording *recording, struct err *err);

/* Whether a change would reach the line. */
bool recording_can_change(const struct sketch_line *line);

#endif
