/* Runs of nodes in the order of the model: by node, then step; what they hold right behind. */
#include "read/tf_classic.h"

#include <stdlib.h>

struct place { /* where a collected row goes */
    uint64_t major, minor;
    uint32_t row;
};

static int compare_places(const void *left, const void *right)
{
    const struct place *a = left, *b = right;

    if (a->major != b->major)
        return a->major < b->major ? -1 : 1;
    if (a->minor != b->minor)
        return a->minor < b->minor ? -1 : 1;
    return (a->row > b->row) - (a->row < b->row);
}

static void sort(struct place *places, size_t count)
{
    if (count)
        qsort(places, count, sizeof *places, compare_places);
}

/* Rows of collected execs by node and step; places[i].major is the node. */
static bool place_execs(struct tf_model *model, struct classic *classic, const uint32_t *node_of,
                        uint32_t *row_of)
{
    struct tf_classic *collected = model->classic;
    size_t             count = collected->execs.count;
    struct place      *places = arena_new_array(&model->scratch, struct place, count);

    if (!places || !vec_reserve(&classic->execs, model->profile->arena, count))
        return false;
    for (uint32_t i = 0; i < count; i++)
        places[i] = (struct place) {
            node_of[collected->execs.items[i].op],
            (uint64_t)collected->execs.items[i].exec.step ^ (uint64_t)1 << 63, /* as signed */
            i,
        };
    sort(places, count);
    for (size_t i = 0; i < count; i++) {
        struct classic_node *node;

        row_of[places[i].row] = NO_ID;
        if (places[i].major == NO_ID)
            continue;
        node = &classic->nodes.items[places[i].major];
        row_of[places[i].row] = (uint32_t)classic->execs.count;
        if (node->exec_count++ == 0)
            node->first_exec = (uint32_t)classic->execs.count;
        classic->execs.items[classic->execs.count++] = collected->execs.items[places[i].row].exec;
    }
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
        places[i] = (struct place) { row_of[collected->times.items[i].exec],
                                     collected->times.items[i].sequence, i };
    sort(places, count);
    for (size_t i = 0; i < count; i++) {
        struct classic_exec *exec;

        if (places[i].major == NO_ID)
            continue;
        exec = &classic->execs.items[places[i].major];
        if (exec->time_count++ == 0)
            exec->first_time = (uint32_t)classic->times.count;
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
        places[i] = (struct place) { row_of[collected->memory.items[i].exec],
                                     collected->memory.items[i].sequence, i };
    sort(places, count);
    for (size_t i = 0; i < count; i++) {
        struct classic_exec *exec;

        if (places[i].major == NO_ID)
            continue;
        exec = &classic->execs.items[places[i].major];
        if (exec->memory_count++ == 0)
            exec->first_memory = (uint32_t)classic->memory.count;
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
        places[i] = (struct place) { node_of[collected->allocations.items[i].op],
                                     collected->allocations.items[i].sequence, i };
    sort(places, count);
    for (size_t i = 0; i < count; i++) {
        struct classic_node *node;

        if (places[i].major == NO_ID)
            continue;
        node = &classic->nodes.items[places[i].major];
        if (node->allocation_count++ == 0)
            node->first_allocation = (uint32_t)classic->allocations.count;
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
