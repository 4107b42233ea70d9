/* Version 1: tables of SavedTensorSlices. The empty key holds the list of tensors of the file. */
#include "base/file.h"
#include "base/vec.h"
#include "read/checkpoint/checkpoint.h"
#include "read/tf/tf_model.h"

#include <glob.h>

struct saved { /* a variable */
    const char             *path;
    size_t                  slice_count;
    struct checkpoint_slice slice; /* of a variable in one piece */
};
struct saved_list {
    VEC(struct saved) items;
};
struct listing { /* of one file */
    struct classic_checkpoint *checkpoint;
    struct saved_list         *saved;
    struct arena              *arena;
    const char                *path;
};

/* SavedSliceMeta */
static bool read_meta(struct listing *listing, struct message meta, struct err *err)
{
    struct classic_variable variable = { .row = (uint32_t)listing->saved->items.count };
    struct saved            saved = { .path = listing->path };
    struct field            field;

    while (message_next(&meta, &field, err)) {
        bool ok = true;

        if (field_is_bytes(&field, 1))
            variable.name = str_slice(field.bytes, 0, CHECKPOINT_NAME_BYTES);
        else if (field_is_bytes(&field, 2))
            ok = tf_shape_read(message_inside(&meta, field.bytes), &variable.shape, err);
        else if (field_is_number(&field, 3))
            variable.type = (int)(field.value & 127);
        else if (field_is_bytes(&field, 4) && saved.slice_count++ == 0)
            ok = checkpoint_slice_read(message_inside(&meta, field.bytes), &saved.slice, err);
        if (!ok)
            return false;
    }
    if (meta.is_damaged)
        return false;
    variable.name = arena_str(listing->arena, variable.name);
    return (variable.name.data &&
            vec_push(&listing->checkpoint->variables, listing->arena, variable) &&
            vec_push(&listing->saved->items, listing->arena, saved)) ||
           err_set(err, ERR_LIMIT, "the checkpoint does not fit into the memory budget");
}

static bool read_metas(struct listing *listing, struct message slices, struct err *err)
{
    struct field field;

    while (message_next(&slices, &field, err)) {
        struct message list = message_inside(&slices, field.bytes);

        if (!field_is_bytes(&field, 1))
            continue;
        while (message_next(&list, &field, err))
            if (field_is_bytes(&field, 1) &&
                !read_meta(listing, message_inside(&list, field.bytes), err))
                return false;
        if (list.is_damaged)
            return false;
    }
    return !slices.is_damaged;
}

static bool list_file(struct listing *listing, struct err *err)
{
    struct table table = { 0 };
    struct file  file = { 0 };
    struct arena scratch = { .budget_bytes = listing->arena->budget_bytes };
    struct str   value = { 0 };
    bool         ok;

    if (!file_open(&file, listing->path, listing->arena->budget_bytes, err))
        return false;
    ok = table_open(&table, file.bytes, &scratch, err) &&
         table_find(&table, (struct str) { "", 0 }, &value, err) &&
         (value.data || err_set(err, ERR_FORMAT, "is no checkpoint: it lists no tensors")) &&
         read_metas(listing, message_of(value), err);
    arena_free(&scratch);
    file_close(&file);
    return ok || err_source(err, listing->path);
}

/* SavedTensorSlices with the data of a slice. */
static bool read_data(struct message slices, struct arena *arena, struct classic_tensor *tensor,
                      struct err *err)
{
    static const uint32_t path[] = { 2, 3 }; /* data, its TensorProto */
    struct field          field;

    for (size_t i = 0; i < sizeof path / sizeof *path; i++) {
        struct message inner = { 0 };

        while (message_next(&slices, &field, err))
            if (field_is_bytes(&field, path[i]))
                inner = message_inside(&slices, field.bytes);
        if (slices.is_damaged)
            return false;
        slices = inner;
    }
    return checkpoint_unpack(slices, arena, tensor, err);
}

/* Strings point into the file, which is closed again. */
static bool keep_strings(struct classic_tensor *tensor, struct arena *arena, struct err *err)
{
    for (size_t i = 0; tensor->kind == TENSOR_STRINGS && i < tensor->count; i++) {
        tensor->strings[i] = arena_str(arena, tensor->strings[i]);
        if (!tensor->strings[i].data)
            return err_set(err, ERR_LIMIT, "the values do not fit into the memory budget");
    }
    return true;
}

static bool read_values(const struct classic_checkpoint *checkpoint,
                        const struct classic_variable *variable, struct arena *arena,
                        struct classic_tensor *tensor, struct err *err)
{
    const struct saved_list *list = checkpoint->reader;
    const struct saved      *saved = &list->items.items[variable->row];
    struct arena             scratch = { .budget_bytes = arena->budget_bytes };
    struct text              key = { .arena = &scratch };
    struct table             table = { 0 };
    struct file              file = { 0 };
    struct str               value = { 0 };
    bool                     ok;

    if (saved->slice_count != 1)
        return err_set(err, ERR_FORMAT, "Sliced checkpoints are not supported");
    if (!file_open(&file, saved->path, arena->budget_bytes, err))
        return false;
    *tensor = (struct classic_tensor) { .type = variable->type, .shape = variable->shape };
    checkpoint_slice_key(variable->name, &saved->slice, &key);
    ok = table_open(&table, file.bytes, &scratch, err) &&
         table_find(&table, text_str(&key), &value, err) &&
         (value.data ||
          err_set(err, ERR_FORMAT, "%.*s not found in checkpoint file", STR_ARG(variable->name))) &&
         read_data(message_of(value), arena, tensor, err) && keep_strings(tensor, arena, err);
    arena_free(&scratch);
    file_close(&file);
    return ok || err_source(err, saved->path);
}

bool checkpoint_open_v1(struct classic_checkpoint *checkpoint, const char *pattern,
                        struct arena *arena, struct err *err)
{
    struct saved_list *list = arena_new(arena, struct saved_list);
    struct listing     listing = { .checkpoint = checkpoint, .saved = list, .arena = arena };
    glob_t             found = { 0 };
    bool               ok = list != NULL;

    if (!ok)
        return err_set(err, ERR_LIMIT, "the checkpoint does not fit into the memory budget");
    if (glob(pattern, 0, NULL, &found) != 0 || found.gl_pathc == 0)
        ok = err_set(err, ERR_INPUT,
                     "Unsuccessful TensorSliceReader constructor: Failed to find any matching "
                     "files for %s",
                     pattern);
    for (size_t i = 0; ok && i < found.gl_pathc; i++) {
        listing.path = arena_text(arena, "%s", found.gl_pathv[i]);
        ok = listing.path
                 ? list_file(&listing, err)
                 : err_set(err, ERR_LIMIT, "the checkpoint does not fit into the memory budget");
    }
    globfree(&found);
    checkpoint->is_v1 = true;
    checkpoint->reader = list;
    checkpoint->read = read_values;
    return ok;
}
