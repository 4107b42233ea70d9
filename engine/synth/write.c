#include "synth/write.h"

#include "base/macros.h"
#include "base/sort.h"
#include "synth/writers.h"

#include <stdlib.h>

static const struct {
    enum sketch_format format;
    const char        *name;
    void (*write)(const struct recording *recording, struct text *bytes);
} writers[] = {
    { SKETCH_XSPACE, "xspace", write_xspace },
    { SKETCH_KINETO, "kineto", write_kineto },
    { SKETCH_PROFILE, "profile", write_profile },
};

enum sketch_format write_format_of(struct str path, bool *is_gzip)
{
    static const struct {
        struct str         suffix;
        enum sketch_format format;
        bool               is_gzip;
    } suffixes[] = {
        { STR_INIT(".xplane.pb"), SKETCH_XSPACE, false },
        { STR_INIT(".json"), SKETCH_KINETO, false },
        { STR_INIT(".json.gz"), SKETCH_KINETO, true },
        { STR_INIT(".profile"), SKETCH_PROFILE, false },
    };

    for (size_t i = 0; i < ARRAY_COUNT(suffixes); i++)
        if (str_ends(path, suffixes[i].suffix)) {
            *is_gzip = suffixes[i].is_gzip;
            return suffixes[i].format;
        }
    return SKETCH_ANY;
}

const char *write_format_name(enum sketch_format format)
{
    for (size_t i = 0; i < ARRAY_COUNT(writers); i++)
        if (writers[i].format == format)
            return writers[i].name;
    return NULL;
}

bool write_recording(const struct recording *recording, enum sketch_format format,
                     struct text *bytes, struct text *notes, struct err *err)
{
    for (size_t i = 0; i < ARRAY_COUNT(writers); i++)
        if (writers[i].format == format)
            writers[i].write(recording, bytes);
    write_notes(recording, format, notes);
    return !bytes->is_cut || err_memory(err, "the file");
}

/* Outer events before those inside, though these may have been placed first. */
static int by_start(const void *a, const void *b)
{
    const struct recorded_event *x = *(const struct recorded_event *const *)a,
                                *y = *(const struct recorded_event *const *)b;

    return IN_ORDER(COMPARE(x->start_ns, y->start_ns), COMPARE(y->duration_ns, x->duration_ns),
                    COMPARE(x, y));
}

bool track_order_make(const struct recording *recording, struct arena *arena,
                      struct track_order *order)
{
    size_t    count = recording->events.count, tracks = recording->tracks.count;
    uint32_t *next = arena_new_array(arena, uint32_t, tracks + 1);

    order->events = arena_new_array(arena, const struct recorded_event *, count);
    order->starts = arena_new_array(arena, uint32_t, tracks + 1);
    if (!next || !order->events || !order->starts)
        return false;
    for (size_t i = 0; i < count; i++)
        order->starts[recording->events.items[i].track + 1]++;
    for (size_t t = 0; t < tracks; t++)
        next[t + 1] = order->starts[t + 1] += order->starts[t];
    for (size_t i = 0; i < count; i++)
        order->events[next[recording->events.items[i].track]++] = &recording->events.items[i];
    for (size_t t = 0; t < tracks; t++)
        qsort(order->events + order->starts[t], order->starts[t + 1] - order->starts[t],
              sizeof(const struct recorded_event *), by_start);
    return true;
}
