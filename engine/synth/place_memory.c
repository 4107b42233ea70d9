/* Memory: blocks by name, the newest of a name freed first, and totals in the order of time. */
#include "base/sort.h"
#include "synth/place.h"

#include <stdlib.h>

enum { ADDRESS_STEP = 512, MAX_GPUS = 64 };
#define FIRST_ADDRESS INT64_C(0x7f0000000000)

/* By name, the row + 1 of its newest live block; NULL: no memory. */
static uint32_t *newest_block(struct making *making, struct str name)
{
    uint32_t id = intern_add(&making->block_names, name);

    while (id != NO_ID && making->newest_blocks.count <= id)
        if (!vec_push(&making->newest_blocks, making->arena, 0))
            return NULL;
    return id == NO_ID ? NULL : &making->newest_blocks.items[id];
}

static bool allocate(struct making *making, const struct sketch_line *line, uint32_t *newest,
                     struct recorded_event *event, struct err *err)
{
    const struct recording_change *change = &making->options->change;
    struct live_block              block = { .bytes = line->bytes, .below = *newest };

    if (change->word == WORD_ALLOC)
        block.bytes = (int64_t)((double)block.bytes * change->factor);
    block.gpu = line->flags & FLAG_ON_HOST ? -1 : line->gpu < 0 ? 0 : line->gpu;
    if (block.gpu >= MAX_GPUS)
        return sketch_fail(err, line, "a host has at most 64 devices");
    block.address = FIRST_ADDRESS + making->next_address;
    making->next_address += block.bytes / ADDRESS_STEP * ADDRESS_STEP + ADDRESS_STEP;
    making->next_address &= INT64_MAX >> 4;
    event->number = block.address;
    event->bytes = block.bytes;
    event->gpu = block.gpu;
    if (!vec_push(&making->blocks, making->arena, block))
        return err_memory(err, "the recording");
    *newest = (uint32_t)making->blocks.count;
    return true;
}

bool place_memory(struct making *making, const struct sketch_line *line, struct place *place,
                  struct err *err)
{
    struct recorded_event event = { .line = (uint32_t)(line - making->sketch->lines.items),
                                    .track = place->track,
                                    .start_ns = place->now_ns,
                                    .owner = place->owner };
    uint32_t             *newest = newest_block(making, line->name);

    if (!newest)
        return err_memory(err, "the recording");
    if (line->word == WORD_ALLOC) {
        if (!allocate(making, line, newest, &event, err))
            return false;
    } else {
        const struct live_block *block;

        if (!*newest)
            return sketch_fail(err, line, "nothing of this name is allocated here");
        block = &making->blocks.items[*newest - 1];
        event.number = block->address;
        event.bytes = block->bytes;
        event.gpu = block->gpu;
        *newest = block->below;
    }
    return place_event(making, &event, err) != NO_EVENT;
}

static int by_time(const void *a, const void *b)
{
    const struct recorded_event *x = *(struct recorded_event *const *)a,
                                *y = *(struct recorded_event *const *)b;

    return IN_ORDER(COMPARE(x->start_ns, y->start_ns), COMPARE(x, y));
}

void place_memory_totals(struct making *making)
{
    struct recording         *recording = making->recording;
    const struct sketch_line *lines = making->sketch->lines.items;
    struct recorded_event   **order;
    int64_t                   in_use[MAX_GPUS + 1] = { 0 }, peak[MAX_GPUS + 1] = { 0 };
    size_t                    count = 0;

    order = arena_new_array(making->arena, struct recorded_event *, recording->events.count);
    for (size_t i = 0; order && i < recording->events.count; i++)
        if (lines[recording->events.items[i].line].word == WORD_ALLOC ||
            lines[recording->events.items[i].line].word == WORD_FREE)
            order[count++] = &recording->events.items[i];
    if (count)
        qsort(order, count, sizeof(struct recorded_event *), by_time);
    for (size_t gpu = 0; making->sketch->gpu != NO_LINE && gpu < MAX_GPUS; gpu++)
        if (lines[making->sketch->gpu].used_bytes > 0)
            in_use[gpu] = peak[gpu] = lines[making->sketch->gpu].used_bytes;
    for (size_t i = 0; i < count; i++) {
        struct recorded_event *event = order[i];
        size_t                 device = event->gpu < 0 ? MAX_GPUS : (size_t)event->gpu;
        int64_t bytes = lines[event->line].word == WORD_ALLOC ? event->bytes : -event->bytes;

        in_use[device] = in_use[device] + bytes < 0 ? 0 : in_use[device] + bytes;
        if (in_use[device] > peak[device])
            peak[device] = in_use[device];
        event->in_use_bytes = in_use[device];
        event->peak_bytes = peak[device];
    }
}
