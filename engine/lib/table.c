/* Tables of tfprof.h: columns of report/arrow.h behind the Arrow C data interface. */
#include "cli/answer.h"
#include "cli/table_answer.h"
#include "lib/handle.h"
#include "report/arrow.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

/* The memory of a struct and its children, which may be moved out and released one by one. */
struct held {
    struct arena  arena;
    atomic_size_t users;
};

static struct held *held_new(void)
{
    struct held *held = calloc(1, sizeof *held);

    if (!held)
        arena_out_of_memory(sizeof *held);
    return held;
}

static void held_drop(struct held *held)
{
    if (atomic_fetch_sub(&held->users, 1) != 1)
        return;
    arena_free(&held->arena);
    free(held);
}

static void release_schema(struct ArrowSchema *schema)
{
    struct held *held = schema->private_data;

    for (int64_t i = 0; i < schema->n_children; i++)
        if (schema->children[i]->release)
            schema->children[i]->release(schema->children[i]);
    schema->release = NULL;
    held_drop(held);
}

static void release_array(struct ArrowArray *array)
{
    struct held *held = array->private_data;

    for (int64_t i = 0; i < array->n_children; i++)
        if (array->children[i]->release)
            array->children[i]->release(array->children[i]);
    array->release = NULL;
    held_drop(held);
}

static void begin_schema(struct ArrowSchema *schema, struct held *held)
{
    atomic_fetch_add(&held->users, 1);
    *schema = (struct ArrowSchema) { .name = "", .release = release_schema, .private_data = held };
}

static void begin_array(struct ArrowArray *array, struct held *held, int64_t row_count)
{
    atomic_fetch_add(&held->users, 1);
    *array =
        (struct ArrowArray) { .length = row_count, .release = release_array, .private_data = held };
}

static void add_length(struct text *text, size_t len)
{
    int32_t length = (int32_t)len;

    text_add(text, (struct str) { (const char *)&length, sizeof length });
}

/* Pairs as the interface wants them: how many, then each text behind its length, in native order.
 */
static const char *metadata_of(const struct column_spec *spec, struct arena *arena)
{
    struct str  pairs[][2] = { { STR("unit"), str_from(unit_name(spec->unit)) },
                               { STR("help"), str_from(spec->help) } };
    struct text text = { .arena = arena };

    add_length(&text, sizeof pairs / sizeof *pairs);
    for (size_t i = 0; i < 2 * sizeof pairs / sizeof *pairs; i++) {
        add_length(&text, pairs[i / 2][i % 2].len);
        text_add(&text, pairs[i / 2][i % 2]);
    }
    return text.data;
}

static const char *format_of(enum arrow_type type)
{
    switch (type) {
    case ARROW_NUMBER:
        return "g";
    case ARROW_BOOL:
        return "b";
    case ARROW_TEXT:
        return "u";
    }
    return "";
}

static void *children_of(struct arena *arena, size_t count, size_t bytes, void ***pointers)
{
    char *items = arena_alloc_array(arena, count, bytes);

    *pointers = arena_new_array(arena, void *, count);
    for (size_t i = 0; items && *pointers && i < count; i++)
        (*pointers)[i] = items + i * bytes;
    return items;
}

static bool give_schema(const struct arrow_batch *batch, struct held *held,
                        struct ArrowSchema *schema)
{
    void              **pointers;
    struct ArrowSchema *children =
        children_of(&held->arena, batch->column_count, sizeof *children, &pointers);

    if (!children || !pointers)
        return false;
    begin_schema(schema, held);
    schema->format = "+s";
    schema->n_children = (int64_t)batch->column_count;
    schema->children = (struct ArrowSchema **)pointers;
    for (size_t i = 0; i < batch->column_count; i++) {
        begin_schema(&children[i], held);
        children[i].format = format_of(batch->columns[i].type);
        children[i].name = batch->columns[i].spec->name;
        children[i].metadata = metadata_of(batch->columns[i].spec, &held->arena);
        children[i].flags = ARROW_FLAG_NULLABLE;
    }
    return !held->arena.is_spent;
}

static bool give_array(const struct arrow_batch *batch, struct held *held, struct ArrowArray *array)
{
    int64_t            row_count = (int64_t)batch->row_count;
    void             **pointers;
    struct ArrowArray *children =
        children_of(&held->arena, batch->column_count, sizeof *children, &pointers);
    const void **none = arena_new_array(&held->arena, const void *, 1);

    if (!children || !pointers || !none)
        return false;
    begin_array(array, held, row_count);
    array->n_buffers = 1;
    array->buffers = none;
    array->n_children = (int64_t)batch->column_count;
    array->children = (struct ArrowArray **)pointers;
    for (size_t i = 0; i < batch->column_count; i++) {
        const struct arrow_column *column = &batch->columns[i];
        const void **buffers = arena_new_array(&held->arena, const void *, ARROW_MOST_BUFFERS);

        begin_array(&children[i], held, row_count);
        children[i].null_count = (int64_t)column->null_count;
        children[i].n_buffers = (int64_t)column->buffer_count;
        for (size_t b = 0; buffers && b < column->buffer_count; b++)
            buffers[b] = column->buffers[b].len ? column->buffers[b].data : "";
        if (buffers && column->null_count == 0)
            buffers[0] = NULL;
        children[i].buffers = buffers;
    }
    return !held->arena.is_spent;
}

static bool make(const struct asking *asking, struct call *call, struct held *held,
                 struct arrow_batch *batch, struct err *err)
{
    struct table_view view;
    bool              is_made;

    if (!asking_parse(asking, call, err))
        return false;
    asking_lock(asking);
    call->inputs[0] = &asking->profiles[0]->input;
    call->text.arena = call->arena;
    is_made = answer_prepare(call, err) && table_answer_view(call, &view, err) &&
              arrow_batch_make(batch, &view, &held->arena, err);
    asking_unlock(asking);
    return is_made;
}

bool tfprof_table(tfprof_profile *profile, const char *name, const char *const *options,
                  struct ArrowSchema *schema, struct ArrowArray *array, tfprof_error **error)
{
    struct asking asking = {
        .command = &command_table, .subject = name, .profiles = { profile }, .options = options
    };
    struct arena       arena = { 0 };
    struct call        call = { .command = asking.command, .arena = &arena };
    struct held       *held[2] = { held_new(), held_new() };
    struct arrow_batch batch;
    struct err         err = { 0 };
    bool               is_made;

    for (size_t i = 0; i < 2; i++)
        atomic_fetch_add(&held[i]->users, 1); /* ours, until both structs are whole */
    *schema = (struct ArrowSchema) { 0 };
    *array = (struct ArrowArray) { 0 };
    is_made = make(&asking, &call, held[1], &batch, &err);
    if (is_made && !(give_schema(&batch, held[0], schema) && give_array(&batch, held[1], array)))
        is_made = err_set(&err, ERR_LIMIT, "the table does not fit the memory limit");
    if (!is_made && schema->release)
        schema->release(schema);
    if (!is_made && array->release)
        array->release(array);
    for (size_t i = 0; i < 2; i++)
        held_drop(held[i]);
    arena_free(&arena);
    return is_made || error_give(&err, error);
}
