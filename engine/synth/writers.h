/* writers: the writers themselves, and what they share. */
#ifndef TFPROF_SYNTH_WRITERS_H
#define TFPROF_SYNTH_WRITERS_H

#include "synth/write.h"

/* When every synthetic recording began: 2023-11-14, in ns since 1970. */
#define RECORDING_ORIGIN_NS INT64_C(1700000000000000000)

void write_xspace(const struct recording *recording, struct text *bytes);
void write_kineto(const struct recording *recording, struct text *bytes);
void write_profile(const struct recording *recording, struct text *bytes);
void write_notes(const struct recording *recording, enum sketch_format format, struct text *notes);

/* What the recorder of a format calls the event; replaces the text. */
void write_name(const struct recording *recording, const struct recorded_event *event,
                enum sketch_format format, struct text *name);

static inline const struct sketch_line *recorded_line(const struct recording      *recording,
                                                      const struct recorded_event *event)
{
    return &recording->sketch->lines.items[event->line];
}

/* The events of each track by start, outer ones first, one track after the other: those of track t
 * stand from starts[t] to starts[t + 1]. false: no memory. */
struct track_order {
    const struct recorded_event **events;
    uint32_t                     *starts;
};
bool track_order_make(const struct recording *recording, struct arena *arena,
                      struct track_order *order);

#endif
