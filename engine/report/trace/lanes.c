#include "report/trace/lanes.h"

static void close_ended(struct lanes *lanes, struct lane *lane, int64_t until_ns)
{
    while (lane->open.count > 0 && lane->open.items[lane->open.count - 1] <= until_ns)
        lanes->writer->format->slice_end(lanes->writer, &lane->track,
                                         lane->open.items[--lane->open.count]);
}

static struct lane *new_lane(struct lanes *lanes)
{
    struct lane *lane = &lanes->list[lanes->count++];
    struct text  name = { .arena = lanes->arena };

    lane->track = lanes->first;
    lane->track.id = (*lanes->next_id)++;
    text_add(&name, lanes->first.name);
    if (lanes->count > 1)
        text_print(&name, " (%zu)", lanes->count);
    lane->track.name = text_str(&name);
    lanes->writer->format->track(lanes->writer, &lane->track);
    return lane;
}

static struct lane *lane_for(struct lanes *lanes, int64_t start_ns, int64_t end_ns)
{
    for (size_t i = 0; i < lanes->count; i++) {
        struct lane *lane = &lanes->list[i];

        close_ended(lanes, lane, start_ns);
        if (lane->open.count == 0 || lane->open.items[lane->open.count - 1] >= end_ns)
            return lane;
    }
    return lanes->count < MOST_LANES ? new_lane(lanes) : NULL;
}

void lanes_add(struct lanes *lanes, struct trace_slice *slice)
{
    int64_t      end_ns = slice->start_ns + slice->duration_ns;
    struct lane *lane = lane_for(lanes, slice->start_ns, end_ns);

    if (!lane || !vec_push(&lane->open, lanes->arena, end_ns)) {
        lanes->left_out++;
        return;
    }
    slice->track = &lane->track;
    lanes->writer->format->slice(lanes->writer, slice);
}

void lanes_end(struct lanes *lanes)
{
    for (size_t i = 0; i < lanes->count; i++)
        close_ended(lanes, &lanes->list[i], INT64_MAX);
}
