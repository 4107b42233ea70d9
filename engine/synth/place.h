/* place: what the parts of making a recording share: place.c walks the lines, place_device.c has
 * streams and what runs on them, place_memory.c what is allocated. */
#ifndef TFPROF_SYNTH_PLACE_H
#define TFPROF_SYNTH_PLACE_H

#include "base/intern.h"
#include "synth/recording.h"

struct live_block { /* allocated and not yet freed */
    int64_t  bytes, address, gpu; /* gpu -1: host memory */
    uint32_t below; /* an older one of that name + 1; 0: none */
};
struct making {
    struct recording               *recording;
    const struct sketch            *sketch;
    const struct recording_options *options;
    struct arena                   *arena;
    VEC(int64_t) track_ends_ns; /* beside recording->tracks: how far each is filled */
    uint32_t     *draws;        /* by line: numbers drawn for it */
    uint64_t      seed;
    double        pace;         /* of the whole recording */
    uint64_t      visits;       /* lines done, repeats counted */
    uint32_t      main_track;
    uint32_t      link_count;
    struct intern block_names;
    VEC(uint32_t) newest_blocks; /* by name: row of blocks + 1 */
    VEC(struct live_block) blocks;
    int64_t       next_address;
};

/* Where the next line goes. */
struct place {
    uint32_t track;
    int64_t  block_ns; /* start of the block it stands in: what "at" counts from */
    int64_t  now_ns;
    uint32_t owner;    /* the op around it, or NO_EVENT */
    double   scale;    /* of all durations in this step */
};

/* The duration of a line this time: as written, changed, noisy. */
int64_t place_duration(struct making *making, const struct sketch_line *line, double scale);
/* Moves on to where "at" says. */
bool place_at(const struct making *making, const struct sketch_line *line, struct place *place,
              struct err *err);
/* NO_EVENT: *err is filled. */
uint32_t place_event(struct making *making, const struct recorded_event *event, struct err *err);
/* The track of a thread, or of a stream of a device; NO_EVENT: *err is filled. */
uint32_t place_track(struct making *making, const struct recorded_track *track, struct err *err);

/* place_device.c: kernels, copies, sets, collectives; and waiting for them */
bool place_work(struct making *making, const struct sketch_line *line, struct place *place,
                struct err *err);
bool place_sync(struct making *making, const struct sketch_line *line, struct place *place,
                struct err *err);

/* place_memory.c */
bool place_memory(struct making *making, const struct sketch_line *line, struct place *place,
                  struct err *err);
void place_memory_totals(struct making *making); /* after the last event */

#endif
