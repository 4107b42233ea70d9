/* Version 2: PREFIX.index is a table of BundleEntryProto, which say where in the data files
 * tensors lie. A variable in parts has an entry for each under the key of its slice. */
#include "base/crc32c.h"
#include "base/file.h"
#include "base/vec.h"
#include "read/checkpoint/checkpoint.h"
#include "read/tf/tf_model.h"

#include <string.h>

struct bundle {
    const char *prefix;
    int64_t     shard_count;
    bool        is_big_endian;
};
struct listing {
    struct classic_checkpoint *checkpoint;
    struct bundle             *bundle;
    struct arena              *arena;
};

bool checkpoint_entry_read(struct message message, struct checkpoint_entry *entry, struct err *err)
{
    struct field field;

    *entry = (struct checkpoint_entry) { 0 };
    while (message_next(&message, &field, err)) {
        if (field_is_number(&field, 1))
            entry->type = (int)(field.value & 127);
        else if (field_is_bytes(&field, 2) &&
                 !tf_shape_read(message_inside(&message, field.bytes), &entry->shape, err))
            return false;
        else if (field_is_number(&field, 3))
            entry->shard = field_int64(&field);
        else if (field_is_number(&field, 4))
            entry->offset = field_int64(&field);
        else if (field_is_number(&field, 5))
            entry->size = field_int64(&field);
        else if (field.number == 6 && field.type == WIRE_32)
            entry->checksum = (uint32_t)field.value;
        else if (field_is_bytes(&field, 7))
            entry->slice_count++;
    }
    return !message.is_damaged;
}

static bool read_header(struct bundle *bundle, struct message header, struct err *err)
{
    struct field field;

    while (message_next(&header, &field, err)) {
        if (field_is_number(&field, 1))
            bundle->shard_count = field_int64(&field);
        else if (field_is_number(&field, 2))
            bundle->is_big_endian = field.value == 1;
    }
    return !header.is_damaged;
}

static bool take_entry(void *context, struct str key, struct str value, bool *stop, struct err *err)
{
    struct listing         *listing = context;
    struct checkpoint_entry entry;
    struct classic_variable variable = { 0 };

    (void)stop;
    if (key.len == 0)
        return read_header(listing->bundle, message_of(value), err);
    if (key.data[0] == '\0') /* a part of a variable */
        return true;
    if (!checkpoint_entry_read(message_of(value), &entry, err))
        return err_in(err, "%.*s", STR_ARG(str_slice(key, 0, 200)));
    variable.name = arena_str(listing->arena, str_slice(key, 0, CHECKPOINT_NAME_BYTES));
    variable.type = entry.type;
    variable.shape = entry.shape;
    return (variable.name.data &&
            vec_push(&listing->checkpoint->variables, listing->arena, variable)) ||
           err_set(err, ERR_LIMIT, "the checkpoint does not fit into the memory budget");
}

/* Values of an entry that is not in parts, from its data file. */
static bool read_entry(const struct bundle *bundle, const struct checkpoint_entry *entry,
                       struct arena *arena, struct classic_tensor *tensor, struct err *err)
{
    struct file file = { 0 };
    char       *path = arena_text(arena, "%s.data-%05lld-of-%05lld", bundle->prefix,
                                  (long long)entry->shard, (long long)bundle->shard_count);
    struct str  bytes;
    bool        ok = false;

    if (!path)
        return err_set(err, ERR_LIMIT, "the values do not fit into the memory budget");
    if (!file_open(&file, path, arena->budget_bytes, err))
        return false;
    if (entry->offset < 0 || entry->size < 0 || (uint64_t)entry->offset > file.bytes.len ||
        (uint64_t)entry->size > file.bytes.len - (uint64_t)entry->offset) {
        err_set(err, ERR_FORMAT, "its values reach past the end of the file");
    } else {
        bytes = str_slice(file.bytes, (size_t)entry->offset,
                          (size_t)entry->offset + (size_t)entry->size);
        *tensor = (struct classic_tensor) { .type = entry->type, .shape = entry->shape };
        ok = checkpoint_decode(bytes, bundle->is_big_endian, arena, tensor, err);
        /* The checksum of strings is over their lengths as numbers, not over these bytes. */
        if (ok && tensor->kind != TENSOR_STRINGS &&
            crc32c(0, bytes) != crc32c_unmask(entry->checksum))
            ok = err_set(err, ERR_FORMAT, "the checksum of its values is wrong");
        for (size_t i = 0; ok && tensor->kind == TENSOR_STRINGS && i < tensor->count; i++) {
            tensor->strings[i] = arena_str(arena, tensor->strings[i]);
            if (!tensor->strings[i].data)
                ok = err_set(err, ERR_LIMIT, "the values do not fit into the memory budget");
        }
    }
    file_close(&file);
    return ok || err_source(err, path);
}

static bool fits(const struct checkpoint_slice *slice, const struct tensor *whole,
                 struct checkpoint_slice *box)
{
    *box = *slice;
    if (slice->rank != whole->rank)
        return false;
    for (int i = 0; i < slice->rank; i++) {
        if (slice->length[i] < 0)
            box->length[i] = whole->dims[i];
        if (box->start[i] < 0 || box->length[i] < 0 || box->start[i] > whole->dims[i] ||
            box->length[i] > whole->dims[i] - box->start[i])
            return false;
    }
    return true;
}

static void copy_value(struct classic_tensor *to, size_t at, const struct classic_tensor *from,
                       size_t i)
{
    if (to->kind == TENSOR_NUMBERS)
        to->numbers[at] = from->numbers[i];
    else if (to->kind == TENSOR_INTEGERS)
        to->integers[at] = from->integers[i];
    else
        to->strings[at] = from->strings[i];
}

/* box is inside of `whole` and has as many elements as the part. */
static void place_part(struct classic_tensor *whole, const struct checkpoint_slice *box,
                       const struct classic_tensor *part)
{
    int64_t position[TENSOR_MAX_RANK] = { 0 };

    for (size_t i = 0; i < part->count; i++) {
        size_t at = 0;

        for (int dim = 0; dim < box->rank; dim++)
            at = at * (size_t)whole->shape.dims[dim] + (size_t)(box->start[dim] + position[dim]);
        copy_value(whole, at, part, i);
        for (int dim = box->rank; dim-- > 0 && ++position[dim] == box->length[dim];)
            position[dim] = 0;
    }
}

struct part {
    struct checkpoint_slice box;
    struct classic_tensor   values;
};
struct parts { /* reading a variable in parts */
    const struct bundle   *bundle;
    const struct table    *table;
    struct arena          *arena;
    struct str             name;
    struct classic_tensor *whole;
    VEC(struct part) list;
    size_t placed; /* elements of all parts */
};

static bool read_part(struct parts *parts, struct message message, struct err *err)
{
    struct checkpoint_slice slice;
    struct checkpoint_entry entry;
    struct part             part = { 0 };
    struct text             key = { .arena = parts->arena };
    struct tensor           shape = { 0 };
    struct str              value;
    size_t                  count;

    if (!checkpoint_slice_read(message, &slice, err))
        return false;
    if (!fits(&slice, &parts->whole->shape, &part.box) || parts->list.count == CHECKPOINT_PARTS)
        return err_set(err, ERR_FORMAT, "a part is outside of the tensor");
    checkpoint_slice_key(parts->name, &slice, &key);
    if (!table_find(parts->table, text_str(&key), &value, err))
        return false;
    if (!value.data)
        return err_set(err, ERR_FORMAT, "a part is missing");
    if (!checkpoint_entry_read(message_of(value), &entry, err) ||
        !read_entry(parts->bundle, &entry, parts->arena, &part.values, err))
        return false;
    shape.rank = (int8_t)part.box.rank;
    memcpy(shape.dims, part.box.length, sizeof shape.dims);
    if (entry.type != parts->whole->type || !checkpoint_count(&shape, &count) ||
        (part.values.kind != TENSOR_UNKNOWN && part.values.count != count))
        return err_set(err, ERR_FORMAT, "a part is not as large as its place");
    parts->placed += part.values.count;
    return vec_push(&parts->list, parts->arena, part) ||
           err_set(err, ERR_LIMIT, "the values do not fit into the memory budget");
}

/* Room for the whole is taken when all its elements were read. */
static bool read_parts(struct parts *parts, struct message entry, struct err *err)
{
    struct classic_tensor *whole = parts->whole;
    struct field           field;

    while (message_next(&entry, &field, err))
        if (field_is_bytes(&field, 7) &&
            !read_part(parts, message_inside(&entry, field.bytes), err))
            return false;
    if (entry.is_damaged)
        return false;
    whole->kind = parts->list.items[0].values.kind;
    if (whole->kind == TENSOR_UNKNOWN)
        return true;
    if (!checkpoint_count(&whole->shape, &whole->count) || whole->count != parts->placed)
        return err_set(err, ERR_FORMAT, "its parts are not the whole tensor");
    if (!checkpoint_room(whole, parts->arena, err))
        return false;
    for (size_t i = 0; i < parts->list.count; i++)
        place_part(whole, &parts->list.items[i].box, &parts->list.items[i].values);
    return true;
}

static bool read_found(struct parts *parts, struct str value, struct err *err)
{
    struct checkpoint_entry entry;

    if (!checkpoint_entry_read(message_of(value), &entry, err))
        return false;
    if (entry.slice_count == 0)
        return read_entry(parts->bundle, &entry, parts->arena, parts->whole, err);
    *parts->whole = (struct classic_tensor) { .type = entry.type, .shape = entry.shape };
    return read_parts(parts, message_of(value), err);
}

static bool read_values(const struct classic_checkpoint *checkpoint,
                        const struct classic_variable *variable, struct arena *arena,
                        struct classic_tensor *tensor, struct err *err)
{
    const struct bundle *bundle = checkpoint->reader;
    struct arena         scratch = { .budget_bytes = arena->budget_bytes };
    struct table         table = { 0 };
    struct file          file = { 0 };
    struct str           value = { 0 };
    char                *path = arena_text(arena, "%s.index", bundle->prefix);
    struct parts         parts = {
                .bundle = bundle, .table = &table, .arena = arena, .name = variable->name, .whole = tensor
    };
    bool ok;

    if (!path)
        return err_set(err, ERR_LIMIT, "the values do not fit into the memory budget");
    if (!file_open(&file, path, arena->budget_bytes, err))
        return false;
    ok = table_open(&table, file.bytes, &scratch, err) &&
         table_find(&table, variable->name, &value, err) &&
         (value.data ||
          err_set(err, ERR_FORMAT, "Key %.*s not found in checkpoint", STR_ARG(variable->name))) &&
         read_found(&parts, value, err);
    arena_free(&scratch);
    file_close(&file);
    return ok || err_source(err, path);
}

bool checkpoint_open_v2(struct classic_checkpoint *checkpoint, const char *prefix,
                        struct arena *arena, struct err *err)
{
    struct bundle *bundle = arena_new(arena, struct bundle);
    char          *path = arena_text(arena, "%s.index", prefix);
    struct arena   scratch = { .budget_bytes = arena->budget_bytes };
    struct table   table = { 0 };
    struct file    file = { 0 };
    bool           ok;

    if (!bundle || !path)
        return err_set(err, ERR_LIMIT, "the checkpoint does not fit into the memory budget");
    bundle->prefix = arena_text(arena, "%s", prefix);
    bundle->shard_count = 1;
    checkpoint->reader = bundle;
    checkpoint->read = read_values;
    if (!file_open(&file, path, arena->budget_bytes, err))
        return false;
    ok = table_open(&table, file.bytes, &scratch, err) &&
         table_each(&table, take_entry, &(struct listing) { checkpoint, bundle, arena }, err);
    arena_free(&scratch);
    file_close(&file);
    return ok || err_source(err, path);
}
