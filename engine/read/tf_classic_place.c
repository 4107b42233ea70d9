/* Runs of nodes in the order of the model: by node, then step; what they hold right behind. */
#include "read/tf_classic.h"

#include <stdlib.h>

struct place { /* where a collected row goes */
    uint32_t owner, row;
    int64_t  order; /* among those of one owner; equal ones stay as they were collected */
};

static int compare_places(const void *left, const void *right)
{
    const struct place *a = left, *b = right;

    if (a->owner != b->owner)
        return a->owner < b->owner ? -1 : 1;
    if (a->order != b->order)
        return a->order < b->order ? -1 : 1;
    return (a->row > b->row) - (a->row < b->row);
}

/* Rows by owner; how many have one. */
static size_t sort_by_owner(struct place *places, size_t count)
{
    if (count)
        qsort(places, count, sizeof *places, compare_places);
    while (count && places[count - 1].owner == NO_ID)
        count--;
    return count;
}

/* Counts a row to its owner, whose rows come one behind the other. */
static void claim(uint32_t *first, uint32_t *count, size_t row)
{
    if ((*count)++ == 0)
        *first = (uint32_t)row;
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

/* They are many and wide, so they were collected where they stay. */
static bool place_execs(struct tf_model *model, struct classic *classic, const uint32_t *node_of,
                        uint32_t *row_of)
{
    const struct tf_exec *collected = model->classic->execs.items;
    size_t                count = model->classic->execs.count, owned;
    struct place         *places = arena_new_array(&model->scratch, struct place, count);
    uint32_t             *place_of = arena_new_array(&model->scratch, uint32_t, count);

    if (!places || !place_of)
        return false;
    for (uint32_t i = 0; i < count; i++)
        places[i] = (struct place) { node_of[collected[i].op], i, classic->execs.items[i].step };
    owned = sort_by_owner(places, count);
    for (uint32_t i = 0; i < count; i++) {
        place_of[places[i].row] = i;
        row_of[places[i].row] = i < owned ? i : NO_ID;
    }
    for (uint32_t i = 0; i < owned; i++) {
        struct classic_node *node = &classic->nodes.items[places[i].owner];

        claim(&node->first_exec, &node->exec_count, i);
    }
    reorder(classic->execs.items, place_of, count);
    classic->execs.count = owned;
    return true;
}

static bool place_times(struct tf_model *model, struct classic *classic, const uint32_t *row_of)
{
    struct tf_classic *collected = model->classic;
    size_t             count = collected->times.count;
    struct place      *places = arena_new_array(&model->scratch, struct place, count);

    if (!places || !vec_reserve(&classic->times, model->profile->arena, count))
        return false;
    for (uint32_t i = 0; i < count; i++)
        places[i] = (struct place) { row_of[collected->times.items[i].exec], i, 0 };
    count = sort_by_owner(places, count);
    for (size_t i = 0; i < count; i++) {
        struct classic_exec *exec = &classic->execs.items[places[i].owner];

        claim(&exec->first_time, &exec->time_count, i);
        classic->times.items[classic->times.count++] = collected->times.items[places[i].row].time;
    }
    return true;
}

static bool place_memory(struct tf_model *model, struct classic *classic, const uint32_t *row_of)
{
    struct tf_classic *collected = model->classic;
    size_t             count = collected->memory.count;
    struct place      *places = arena_new_array(&model->scratch, struct place, count);

    if (!places || !vec_reserve(&classic->memory, model->profile->arena, count))
        return false;
    for (uint32_t i = 0; i < count; i++)
        places[i] = (struct place) { row_of[collected->memory.items[i].exec], i, 0 };
    count = sort_by_owner(places, count);
    for (size_t i = 0; i < count; i++) {
        struct classic_exec *exec = &classic->execs.items[places[i].owner];

        claim(&exec->first_memory, &exec->memory_count, i);
        classic->memory.items[classic->memory.count++] =
            collected->memory.items[places[i].row].memory;
    }
    return true;
}

static bool place_allocations(struct tf_model *model, struct classic *classic,
                              const uint32_t *node_of)
{
    struct tf_classic *collected = model->classic;
    size_t             count = collected->allocations.count;
    struct place      *places = arena_new_array(&model->scratch, struct place, count);

    if (!places || !vec_reserve(&classic->allocations, model->profile->arena, count))
        return false;
    for (uint32_t i = 0; i < count; i++)
        places[i] = (struct place) { node_of[collected->allocations.items[i].op], i, 0 };
    count = sort_by_owner(places, count);
    for (size_t i = 0; i < count; i++) {
        struct classic_node *node = &classic->nodes.items[places[i].owner];

        claim(&node->first_allocation, &node->allocation_count, i);
        classic->allocations.items[classic->allocations.count++] =
            collected->allocations.items[places[i].row].allocation;
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
