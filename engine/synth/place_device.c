/* Work of devices: what launches it, where it goes, and who waits for it. */
#include "synth/place.h"

enum { PRESET_STREAM = 7 };
static const int64_t SYNC_NS = 1000;

static int64_t or_preset(int64_t number, int64_t preset)
{
    return number < 0 ? preset : number;
}

/* Collectives of CPUs run where they are called. */
static bool place_on_host(struct making *making, const struct sketch_line *line,
                          struct recorded_event event, struct place *place, struct err *err)
{
    event.duration_ns = place_duration(making, line, place->scale);
    place->now_ns += event.duration_ns;
    return place_event(making, &event, err) != NO_EVENT;
}

/* The launching call's length is not noisy: a call of a few microseconds is no measure. */
static int64_t launch_ns(const struct making *making, const struct sketch_line *line)
{
    return or_preset(line->launch_ns, making->sketch->launch_ns);
}

/* The work, on its stream, from `ready_ns` on; gives its end, or -1. */
static int64_t place_on_stream(struct making *making, const struct sketch_line *line,
                               struct recorded_event work, int64_t ready_ns, double scale,
                               struct err *err)
{
    int64_t *end_ns = &making->track_ends_ns.items[work.track];

    work.role = ROLE_WORK;
    work.start_ns = ready_ns > *end_ns ? ready_ns : *end_ns;
    work.duration_ns = place_duration(making, line, scale);
    *end_ns = work.start_ns + work.duration_ns;
    return place_event(making, &work, err) == NO_EVENT ? -1 : *end_ns;
}

bool place_work(struct making *making, const struct sketch_line *line, struct place *place,
                struct err *err)
{
    struct recorded_event event = { .line = (uint32_t)(line - making->sketch->lines.items),
                                    .track = place->track,
                                    .owner = place->owner };
    struct recorded_event work;
    struct recorded_track stream = { .gpu = or_preset(line->gpu, 0),
                                     .stream = or_preset(line->stream, PRESET_STREAM) };
    uint32_t              row;
    int64_t               late_ns = or_preset(line->late_ns, 0), end_ns;

    if (!place_at(making, line, place, err))
        return false;
    event.start_ns = place->now_ns;
    if (making->recording->tracks.items[place->track].gpu >= 0) { /* in a block of its stream */
        making->track_ends_ns.items[place->track] = place->now_ns;
        end_ns = place_on_stream(making, line, event, place->now_ns, place->scale, err);
        place->now_ns = end_ns;
        return end_ns >= 0;
    }
    if (line->flags & FLAG_ON_HOST)
        return place_on_host(making, line, event, place, err);
    event.role = ROLE_LAUNCH;
    event.link = ++making->link_count;
    event.duration_ns = launch_ns(making, line);
    row = place_event(making, &event, err);
    work = event;
    work.track = row == NO_EVENT ? NO_EVENT : place_track(making, &stream, err);
    if (work.track == NO_EVENT)
        return false;
    end_ns = place_on_stream(making, line, work, place->now_ns + event.duration_ns + late_ns,
                             place->scale, err);
    if (end_ns < 0)
        return false;
    place->now_ns += event.duration_ns;
    if ((line->flags & FLAG_BLOCKING) && end_ns > place->now_ns) {
        making->recording->events.items[row].duration_ns = end_ns - event.start_ns;
        place->now_ns = end_ns;
    }
    return true;
}

bool place_sync(struct making *making, const struct sketch_line *line, struct place *place,
                struct err *err)
{
    const struct recording *recording = making->recording;
    struct recorded_event   event = { .line = (uint32_t)(line - making->sketch->lines.items),
                                      .track = place->track,
                                      .owner = place->owner };
    int64_t                 end_ns;

    if (!place_at(making, line, place, err))
        return false;
    event.start_ns = place->now_ns;
    end_ns = place->now_ns +
             (line->duration_ns < 0 ? SYNC_NS : place_duration(making, line, place->scale));
    for (uint32_t i = 0; i < recording->tracks.count; i++) {
        const struct recorded_track *track = &recording->tracks.items[i];

        if (track->gpu >= 0 && (line->gpu < 0 || track->gpu == line->gpu) &&
            (line->stream < 0 || track->stream == line->stream) &&
            making->track_ends_ns.items[i] > end_ns)
            end_ns = making->track_ends_ns.items[i];
    }
    event.duration_ns = end_ns - event.start_ns;
    place->now_ns = end_ns;
    return place_event(making, &event, err) != NO_EVENT;
}
