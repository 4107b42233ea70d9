/*
 * Dimensions that graphs leave open, by the bytes of results: a graph says [-1, 10] of 32 bits, and
 * a run allocated 4000 bytes for it, so that a hundred rows were there. Only where an op allocated
 * its results and nothing else (a slice is told with all that it was cut from), where one dimension
 * is open, and where all runs agree.
 */
#include "read/tf/tf_model.h"

bool tf_told_add(struct tf_model *model, uint32_t op, uint64_t slot, int64_t bytes)
{
    struct tf_told told = { .op = op, .slot = (uint32_t)slot, .bytes = bytes };

    return slot > UINT16_MAX || bytes <= 0 || vec_push(&model->told, &model->scratch, told);
}

/* Fills the open dimension; false: there is none, or several, or bytes of another size. */
static bool close_shape(struct tensor *shape, uint8_t dtype, int64_t bytes)
{
    int64_t unit = (int64_t)dtype_bits(dtype) / 8;
    int     open = -1;

    for (int i = 0; i < shape->rank; i++) {
        if (shape->dims[i] < 0 && open >= 0)
            return false;
        if (shape->dims[i] < 0)
            open = i;
        else if (__builtin_mul_overflow(unit, shape->dims[i], &unit))
            return false;
    }
    if (open < 0 || unit <= 0 || bytes % unit)
        return false;
    shape->dims[open] = bytes / unit;
    return true;
}

static uint64_t key_of(uint32_t op, uint32_t slot)
{
    return (uint64_t)op << 16 | slot;
}

/* Bytes that all runs agree on, by row of told: the first row of each result; 0: they do not. */
static bool agree(struct tf_model *model, struct id_map *first_of)
{
    for (uint32_t i = 0; i < model->told.count; i++) {
        struct tf_told *told = &model->told.items[i];
        uint32_t        first = id_map_get(first_of, key_of(told->op, told->slot));

        if (first == NO_ID && !id_map_put(first_of, key_of(told->op, told->slot), i))
            return false;
        if (first != NO_ID && model->told.items[first].bytes != told->bytes)
            model->told.items[first].bytes = 0;
    }
    return true;
}

bool tf_told_settle(struct tf_model *model)
{
    struct id_map first_of = { .arena = &model->scratch };
    size_t        count = model->outputs.count;

    if (!agree(model, &first_of))
        return false;
    for (size_t i = 0; i < count; i++) {
        struct tf_output output = model->outputs.items[i];
        uint32_t         first = id_map_get(&first_of, key_of(output.op, output.slot));
        struct tensor    shape = model->shapes.rows.items[output.shape];

        if (first == NO_ID || !model->told.items[first].bytes ||
            !close_shape(&shape, model->states.items[output.op].dtype,
                         model->told.items[first].bytes))
            continue;
        output.shape = tf_shape_add(&model->shapes, &shape);
        if (output.shape == NO_ID || !vec_push(&model->outputs, &model->scratch, output))
            return false;
    }
    return true;
}
