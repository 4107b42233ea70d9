#include "analyze/emit.h"

#include <stdio.h>

#include <math.h>

void emit_name(struct table *table, int column, size_t row, uint32_t name)
{
    if (name != NO_ID && name != 0)
        table->columns[column][row] = name;
}

void emit_number(struct table *table, int column, size_t row, double value)
{
    if (isfinite(value))
        table->columns[column][row] = value;
}

void emit_source(const struct profile *profile, struct table *table, int column, size_t row,
                 uint32_t source)
{
    if (source >= profile->sources.count)
        return;
    emit_name(table, column, row, profile->sources.items[source].file);
    emit_number(table, column + 1, row, profile->sources.items[source].line);
}

uint32_t emit_scope(struct study *study, uint32_t name)
{
    struct str text = intern_str(study->facts.names, name);
    size_t     slash = str_find_last(text, '/');

    if (slash >= text.len)
        return 0;
    return facts_name(&study->facts, str_slice(text, 0, slash));
}

enum {
    SHOWN_OPERANDS = 8, /* and as many results */
    NUMBER_BYTES = 20,
    SHAPE_BYTES = TENSOR_MAX_RANK * (NUMBER_BYTES + 1) + 2,
    SHAPES_BYTES = 2 * SHOWN_OPERANDS * (SHAPE_BYTES + 2) + 8
};

static char *put(char *at, const char *text)
{
    while (*text)
        *at++ = *text++;
    return at;
}

static char *put_size(char *at, int64_t size)
{
    char digits[NUMBER_BYTES];
    int  count = 0;

    do
        digits[count++] = (char)('0' + size % 10);
    while (size /= 10);
    while (count)
        *at++ = digits[--count];
    return at;
}

static char *put_shape(char *at, const struct tensor *tensor)
{
    if (tensor->rank < 0)
        return put(at, "[?]");
    *at++ = '[';
    for (int i = 0; i < tensor->rank && i < TENSOR_MAX_RANK; i++) {
        if (i > 0)
            *at++ = ',';
        at = tensor->dims[i] < 0 ? put(at, "?") : put_size(at, tensor->dims[i]);
    }
    return put(at, "]");
}

/* For every op of a recording: no printf, no memory of its own. */
uint32_t emit_shapes(struct study *study, const struct op *op)
{
    const struct tensor *tensors = study->profile->tensors.items;
    char                 text[SHAPES_BYTES], *at = text;

    if (op->input_count + op->output_count == 0)
        return 0;
    for (uint32_t i = 0; i < op->input_count && i < SHOWN_OPERANDS; i++) {
        if (i > 0)
            *at++ = 'x';
        at = put_shape(at, &tensors[op->first_input + i]);
    }
    if (op->input_count > SHOWN_OPERANDS)
        at = put(at, "x...");
    for (uint32_t i = 0; i < op->output_count && i < SHOWN_OPERANDS; i++) {
        at = put(at, i == 0 ? "->" : ",");
        at = put_shape(at, &tensors[op->first_output + i]);
    }
    return facts_name(&study->facts, (struct str) { .data = text, .len = (size_t)(at - text) });
}

bool emit_limit(const char *what, struct err *err)
{
    return err_memory(err, what);
}

uint32_t emit_devices(struct study *study, uint32_t count)
{
    char name[32];

    snprintf(name, sizeof name, "%u devices", count);
    return facts_name(&study->facts, str_from(name));
}

const char *emit_other_ranks(const struct study *study)
{
    const struct profile *profile = study->profile;
    bool                  has_collectives = false;

    for (size_t i = 0; i < profile->activities.count && !has_collectives; i++)
        has_collectives = profile->activities.items[i].kind == ACTIVITY_COLLECTIVE;
    return profile->world_size > 1 || (profile->world_size < 0 && has_collectives)
               ? "the other ranks' files"
               : NULL;
}
