/* Upstream: tensorflow/core/framework/tensor_shape.proto */
#include "read/tf/tf_shape.h"

bool tf_shapes_init(struct tf_shapes *shapes, struct arena *arena)
{
    struct err ignored = { 0 };

    *shapes = (struct tf_shapes) { .arena = arena };
    return intern_init(&shapes->bytes, arena) && intern_init(&shapes->keys, arena) &&
           tf_shape_of(shapes, message_of((struct str) { 0 }), &ignored) != NO_ID;
}

static bool read_dim(struct message dim, int64_t *size, struct err *err)
{
    struct field field;

    *size = 0;
    while (message_next(&dim, &field, err))
        if (field_is_number(&field, 1))
            *size = field_int64(&field) < 0 ? -1 : field_int64(&field);
    return !dim.is_damaged;
}

bool tf_shape_read(struct message shape, struct tensor *tensor, struct err *err)
{
    struct field field;
    int          rank = 0;
    bool         is_unknown = false;

    while (message_next(&shape, &field, err)) {
        int64_t size;

        if (field_is_number(&field, 3))
            is_unknown = field.value != 0;
        if (!field_is_bytes(&field, 2))
            continue;
        if (!read_dim(message_inside(&shape, field.bytes), &size, err))
            return err_in(err, "dim[%d]", rank);
        if (rank < TENSOR_MAX_RANK)
            tensor->dims[rank] = size;
        rank++;
    }
    tensor->rank = (int8_t)(is_unknown || rank > TENSOR_MAX_RANK ? -1 : rank);
    return !shape.is_damaged;
}

uint32_t tf_shape_add(struct tf_shapes *shapes, const struct tensor *shape)
{
    int64_t       key[TENSOR_MAX_RANK + 1] = { shape->rank };
    struct tensor row = { .rank = shape->rank };
    uint32_t      known = shapes->keys.count, id;
    size_t        rank = shape->rank > 0 ? (size_t)shape->rank : 0;

    for (size_t i = 0; i < rank; i++)
        key[i + 1] = row.dims[i] = shape->dims[i];
    id = intern_add(&shapes->keys,
                    (struct str) { .data = (const char *)key, .len = (rank + 1) * sizeof *key });
    if (id == NO_ID || (id == known && !vec_push(&shapes->rows, shapes->arena, row)))
        return NO_ID;
    return id - 1;
}

uint32_t tf_shape_of(struct tf_shapes *shapes, struct message shape, struct err *err)
{
    struct str    bytes = { .data = shape.at, .len = (size_t)(shape.end - shape.at) };
    uint32_t      id = intern_add(&shapes->bytes, bytes), row;
    struct tensor tensor = { 0 };

    if (id < shapes->row_of_bytes.count && shapes->row_of_bytes.items[id] != NO_ID)
        return shapes->row_of_bytes.items[id];
    if (id == shapes->row_of_bytes.count && !vec_push(&shapes->row_of_bytes, shapes->arena, NO_ID))
        id = NO_ID;
    if (id != NO_ID && !tf_shape_read(shape, &tensor, err))
        return NO_ID;
    row = id == NO_ID ? NO_ID : tf_shape_add(shapes, &tensor);
    if (row == NO_ID)
        err_set(err, ERR_LIMIT, "the profile does not fit into the memory budget");
    else
        shapes->row_of_bytes.items[id] = row;
    return row;
}
