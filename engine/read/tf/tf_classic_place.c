/* Runs of nodes in the order of the model: by node, then step; what they hold right behind. */
#include "base/macros.h"
#include "read/tf/tf_classic.h"

#include <stdlib.h>

struct spread { /* where rows go that come one owner behind the other, as collected among those */
    uint32_t *owner_of; /* by row; NO_ID: goes nowhere. Filled before */
    uint32_t *place_of; /* by row */
    uint32_t *first;    /* by owner; the last: how many have one */
    size_t    count;    /* of rows */
    size_t    owner_count;
};

static bool spread_init(struct spread *spread, struct arena *arena, size_t count,
                        size_t owner_count)
{
    spread->count = count;
    spread->owner_count = owner_count;
    spread->owner_of = arena_new_array(arena, uint32_t, count);
    spread->place_of = arena_new_array(arena, uint32_t, count);
    spread->first = arena_new_array(arena, uint32_t, owner_count + 1);
    return spread->owner_of && spread->place_of && spread->first && count < NO_ID;
}

/* Counts, then gives out places; those without an owner get the last ones. */
static void spread_rows(struct spread *spread)
{
    uint32_t total = 0, lost;

    for (size_t i = 0; i < spread->count; i++)
        if (spread->owner_of[i] != NO_ID)
            spread->first[spread->owner_of[i]]++;
    for (size_t owner = 0; owner <= spread->owner_count; owner++) {
        uint32_t count = spread->first[owner];

        spread->first[owner] = total;
        total += count;
    }
    lost = total;
    for (size_t i = 0; i < spread->count; i++)
        spread->place_of[i] =
            spread->owner_of[i] == NO_ID ? lost++ : spread->first[spread->owner_of[i]]++;
    /* Every first is now the next owner's. */
    for (size_t owner = spread->owner_count; owner-- > 1;)
        spread->first[owner] = spread->first[owner - 1];
    if (spread->owner_count)
        spread->first[0] = 0;
}

static uint32_t spread_total(const struct spread *spread)
{
    return spread->first[spread->owner_count];
}

static uint32_t spread_count(const struct spread *spread, size_t owner)
{
    return spread->first[owner + 1] - spread->first[owner];
}

/* Each element goes to its place, of which place_of ends as the identity. */
static void reorder(struct classic_exec *execs, uint32_t *place_of, size_t count)
{
    for (uint32_t i = 0; i < count; i++)
        while (place_of[i] != i) {
            uint32_t            place = place_of[i];
            struct classic_exec moved = execs[place];

            execs[place] = execs[i];
            execs[i] = moved;
            place_of[i] = place_of[place];
            place_of[place] = place;
        }
}

static uint32_t rank_of_step(const struct classic *classic, int64_t step)
{
    return (uint32_t)LOWER_BOUND(classic->steps.count, i, classic->steps.items[i] < step);
}

/* Collected rows by step; NULL: they are so as collected, or *is_full. */
static uint32_t *order_by_step(struct tf_model *model, const struct classic *classic, bool *is_full)
{
    const struct tf_classic *collected = model->classic;
    struct spread            spread;
    bool                     is_ordered = true;
    uint32_t                *order, *rank_of;

    for (size_t i = 1; i < collected->execs.count; i++)
        is_ordered &= classic->execs.items[i - 1].step <= classic->execs.items[i].step;
    if (is_ordered)
        return NULL;
    order = arena_new_array(&model->scratch, uint32_t, collected->execs.count);
    rank_of = arena_new_array(&model->scratch, uint32_t, collected->steps.count);
    *is_full =
        !order || !rank_of ||
        !spread_init(&spread, &model->scratch, collected->execs.count, collected->steps.count);
    if (*is_full)
        return NULL;
    for (size_t row = 0; row < collected->steps.count; row++)
        rank_of[row] = rank_of_step(classic, collected->steps.items[row]);
    for (size_t i = 0; i < collected->execs.count; i++)
        spread.owner_of[i] = rank_of[collected->execs.items[i].step_row];
    spread_rows(&spread);
    for (uint32_t i = 0; i < collected->execs.count; i++)
        order[spread.place_of[i]] = i;
    return order;
}

/* They are many and wide, so they were collected where they stay. */
static bool place_execs(struct tf_model *model, struct classic *classic, const uint32_t *node_of,
                        uint32_t *row_of)
{
    const struct tf_exec *collected = model->classic->execs.items;
    size_t                count = model->classic->execs.count;
    uint32_t             *place_of = arena_new_array(&model->scratch, uint32_t, count), *order;
    struct spread         spread;
    bool                  is_full = false;

    order = order_by_step(model, classic, &is_full);
    if (is_full || !place_of || !spread_init(&spread, &model->scratch, count, classic->nodes.count))
        return false;
    for (size_t i = 0; i < count; i++)
        spread.owner_of[i] = node_of[collected[order ? order[i] : i].op];
    spread_rows(&spread);
    for (size_t i = 0; i < count; i++) {
        uint32_t row = order ? order[i] : (uint32_t)i;

        place_of[row] = spread.place_of[i];
        row_of[row] = spread.owner_of[i] == NO_ID ? NO_ID : spread.place_of[i];
    }
    for (size_t i = 0; i < classic->nodes.count; i++) {
        classic->nodes.items[i].first_exec = spread.first[i];
        classic->nodes.items[i].exec_count = spread_count(&spread, i);
    }
    reorder(classic->execs.items, place_of, count);
    classic->execs.count = spread_total(&spread);
    return true;
}

static bool place_times(struct tf_model *model, struct classic *classic, const uint32_t *row_of)
{
    struct tf_classic *collected = model->classic;
    size_t             count = collected->times.count;
    struct spread      spread;

    if (!count)
        return true;
    if (!spread_init(&spread, &model->scratch, count, classic->execs.count) ||
        !vec_reserve(&classic->times, model->profile->arena, count))
        return false;
    for (size_t i = 0; i < count; i++)
        spread.owner_of[i] = row_of[collected->times.items[i].exec];
    spread_rows(&spread);
    for (size_t i = 0; i < count; i++)
        classic->times.items[spread.place_of[i]] = collected->times.items[i].time;
    classic->times.count = spread_total(&spread);
    for (size_t i = 0; i < classic->execs.count; i++) {
        classic->execs.items[i].first_time = spread.first[i];
        classic->execs.items[i].time_count = spread_count(&spread, i);
    }
    return true;
}

static bool place_memory(struct tf_model *model, struct classic *classic, const uint32_t *row_of)
{
    struct tf_classic *collected = model->classic;
    size_t             count = collected->memory.count;
    struct spread      spread;

    if (!count)
        return true;
    if (!spread_init(&spread, &model->scratch, count, classic->execs.count) ||
        !vec_reserve(&classic->memory, model->profile->arena, count))
        return false;
    for (size_t i = 0; i < count; i++)
        spread.owner_of[i] = row_of[collected->memory.items[i].exec];
    spread_rows(&spread);
    for (size_t i = 0; i < count; i++)
        classic->memory.items[spread.place_of[i]] = collected->memory.items[i].memory;
    classic->memory.count = spread_total(&spread);
    for (size_t i = 0; i < classic->execs.count; i++) {
        classic->execs.items[i].first_memory = spread.first[i];
        classic->execs.items[i].memory_count = spread_count(&spread, i);
    }
    return true;
}

static bool place_allocations(struct tf_model *model, struct classic *classic,
                              const uint32_t *node_of)
{
    struct tf_classic *collected = model->classic;
    size_t             count = collected->allocations.count;
    struct spread      spread;

    if (!count)
        return true;
    if (!spread_init(&spread, &model->scratch, count, classic->nodes.count) ||
        !vec_reserve(&classic->allocations, model->profile->arena, count))
        return false;
    for (size_t i = 0; i < count; i++)
        spread.owner_of[i] = node_of[collected->allocations.items[i].op];
    spread_rows(&spread);
    for (size_t i = 0; i < count; i++)
        classic->allocations.items[spread.place_of[i]] = collected->allocations.items[i].allocation;
    classic->allocations.count = spread_total(&spread);
    for (size_t i = 0; i < classic->nodes.count; i++) {
        classic->nodes.items[i].first_allocation = spread.first[i];
        classic->nodes.items[i].allocation_count = spread_count(&spread, i);
    }
    return true;
}

bool tf_classic_place_execs(struct tf_model *model, struct classic *classic,
                            const uint32_t *node_of)
{
    uint32_t *row_of = arena_new_array(&model->scratch, uint32_t, model->classic->execs.count);

    return row_of && place_execs(model, classic, node_of, row_of) &&
           place_times(model, classic, row_of) && place_memory(model, classic, row_of) &&
           place_allocations(model, classic, node_of);
}
