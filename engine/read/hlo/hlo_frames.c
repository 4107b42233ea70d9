#include "read/hlo/hlo_frames.h"

#include "read/proto/wire.h"

/* Field numbers of xla's hlo.proto. */
enum { INDEX_FILE = 1, INDEX_FUNCTION = 2, INDEX_LOCATION = 3, INDEX_FRAME = 4, MAX_FIELD = 3 };

/* Small numbers of a message by field: values[1] is field 1. */
static void read_numbers(struct str bytes, uint64_t values[MAX_FIELD + 1])
{
    for (struct wire field = wire_start(bytes); wire_next(&field);)
        if (field.type == WIRE_VARINT && field.number <= MAX_FIELD)
            values[field.number] = field.value;
}

bool hlo_frames_read(struct hlo_frames *frames, struct str bytes, struct arena *arena)
{
    for (struct wire field = wire_start(bytes); wire_next(&field);) {
        uint64_t values[MAX_FIELD + 1] = { 0 };
        bool     is_kept = true;

        if (field.type != WIRE_BYTES)
            continue;
        if (field.number == INDEX_LOCATION || field.number == INDEX_FRAME)
            read_numbers(field.bytes, values);
        if (field.number == INDEX_FILE)
            is_kept = vec_push(&frames->files, arena, field.bytes);
        else if (field.number == INDEX_FUNCTION)
            is_kept = vec_push(&frames->functions, arena, field.bytes);
        else if (field.number == INDEX_LOCATION)
            is_kept = vec_push(&frames->locations, arena,
                               (struct hlo_location) { values[1], values[2], values[3] });
        else if (field.number == INDEX_FRAME)
            is_kept = vec_push(&frames->frames, arena,
                               (struct hlo_frame) { .location = values[1], .parent = values[2] });
        if (!is_kept)
            return false;
    }
    return true;
}

static struct hlo_frame *frame_of(struct hlo_frames *frames, uint64_t number)
{
    return number >= 1 && number <= frames->frames.count ? &frames->frames.items[number - 1] : NULL;
}

/* False: past the budget. Frames without a file are passed over: their caller stands for them. */
static bool make_source(const struct hlo_frames *frames, struct hlo_frame *frame, uint32_t caller,
                        struct profile *profile)
{
    struct source_line  line = { .caller = caller };
    struct hlo_location location = { 0 };

    frame->source = caller;
    if (frame->location >= 1 && frame->location <= frames->locations.count)
        location = frames->locations.items[frame->location - 1];
    if (location.file < 1 || location.file > frames->files.count)
        return true;
    line.file = profile_intern(profile, frames->files.items[location.file - 1]);
    if (location.function >= 1 && location.function <= frames->functions.count)
        line.function = profile_intern(profile, frames->functions.items[location.function - 1]);
    line.line = location.line <= UINT32_MAX ? (uint32_t)location.line : 0;
    frame->source = (uint32_t)profile->sources.count;
    return line.file != NO_ID && line.function != NO_ID && profile->sources.count < NO_ID - 1 &&
           vec_push(&profile->sources, profile->arena, line);
}

uint32_t hlo_frames_source(struct hlo_frames *frames, uint64_t number, struct profile *profile,
                           struct arena *arena, bool *is_full)
{
    struct hlo_frame *frame = frame_of(frames, number);
    uint32_t          source = NO_ID;

    frames->chain.count = 0;
    for (; frame && !frame->is_made; frame = frame_of(frames, frame->parent)) {
        frame->is_made = true;
        frame->source = NO_ID;
        if (!vec_push(&frames->chain, arena, frame)) {
            *is_full = true;
            return NO_ID;
        }
    }
    if (frame)
        source = frame->source;
    for (size_t i = frames->chain.count; i-- > 0;) {
        if (!make_source(frames, frames->chain.items[i], source, profile)) {
            *is_full = true;
            return NO_ID;
        }
        source = frames->chain.items[i]->source;
    }
    return source;
}
