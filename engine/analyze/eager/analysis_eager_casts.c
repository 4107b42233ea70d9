/*
 * eager casts: tensors that an eager program converts to another element type, by shape: the same
 * conversion many times a step is usually one that could be made once. On a host whose recording
 * has no shapes, those that take about as long count as the same.
 */
#include "analyze/analysis.h"
#include "analyze/eager/eager_calls.h"
#include "analyze/eager/eager_kinds.h"
#include "analyze/emit.h"

#include <math.h>

enum casts_column { COUNT, NS, FROM, SHAPES, SOURCE_FILE, SOURCE_LINE };
static const struct column_spec columns[] = {
    [COUNT] = { "count", UNIT_COUNT, "times a step" },
    [NS] = { "ns", UNIT_NS, "time a step" },
    [FROM] = { "from", UNIT_NAME, "element type before" },
    [SHAPES] = { "shapes", UNIT_NAME, "of the tensor, where recorded" },
    [SOURCE_FILE] = { "source_file", UNIT_NAME, "file of the first one, where recorded" },
    [SOURCE_LINE] = { "source_line", UNIT_COUNT, "line in it" },
};
static const struct table_spec tables[] = {
    { "eager_casts", "conversions of tensors in the forward pass, by shape", columns,
      ARRAY_COUNT(columns) },
};

struct cast {
    uint32_t op, source; /* rows of profile->ops and profile->sources, or NO_ID */
    double   count, ns;
};
struct counter {
    struct study *study;
    bool is_inference; /* no gradients: nothing keeps what was converted inside a product */
    struct arena *scratch;
    struct id_map rows; /* by op; without shapes by how long it takes */
    VEC(struct cast) casts;
};

static bool is_cast(const struct profile *profile, const struct eager_call *call)
{
    struct str name = eager_base_name(profile_str(profile, call->type));

    return call->phase == PHASE_FORWARD && call->conversion_ns > 0 && call->op != NO_ID &&
           str_fits(name, "to|to_copy|type_as");
}

/* A product that converts its weight itself, as under autocast, does so each time. Where both
 * operands have one type both may be converted: it is mostly the weight where that is far larger.
 */
static bool converts_weight(const struct profile *profile, const struct eager_call *call)
{
    enum { FAR_LARGER = 4 };
    struct str           name = eager_base_name(profile_str(profile, call->type));
    const struct op     *op = call->op != NO_ID ? &profile->ops.items[call->op] : NULL;
    const struct tensor *operands = op ? &profile->tensors.items[op->first_input] : NULL;

    return call->phase == PHASE_FORWARD && call->conversion_ns > 0 && op && op->input_count >= 2 &&
           (operands[0].dtype != operands[1].dtype ||
            tensor_count(&operands[1]) >= FAR_LARGER * tensor_count(&operands[0])) &&
           (eager_kind_of(name).traits & IS_PRODUCT);
}

/* To a factor of two. */
static uint32_t length_of(double ns)
{
    int exponent = 0;

    frexp(ns, &exponent);
    return exponent > 0 ? (uint32_t)exponent : 0;
}

static bool count_cast(struct counter *counter, uint32_t key, const struct cast *fresh)
{
    uint32_t row = id_map_get(&counter->rows, key);

    if (row == NO_ID)
        return id_map_put(&counter->rows, key, (uint32_t)counter->casts.count) &&
               vec_push(&counter->casts, counter->scratch, *fresh);
    counter->casts.items[row].count++;
    counter->casts.items[row].ns += fresh->ns;
    return true;
}

static bool look_at(struct counter *counter, const struct eager_call *call)
{
    const struct profile *profile = counter->study->profile;
    struct cast           cast = { call->op, call->source, 1, call->work_ns };
    bool                  is_inside;

    if (!profile->has_shapes) {
        cast = (struct cast) { NO_ID, call->source, 1, call->cast_ns };
        return call->phase != PHASE_FORWARD || call->cast_ns <= 0 ||
               count_cast(counter, length_of(cast.ns), &cast);
    }
    is_inside = counter->is_inference && converts_weight(profile, call);
    if (is_inside)
        cast.ns = call->conversion_ns;
    return (!is_inside && !is_cast(profile, call)) || count_cast(counter, call->op, &cast);
}

static bool add_row(struct counter *counter, struct table *table, const struct cast *cast,
                    double steps)
{
    struct study         *study = counter->study;
    const struct profile *profile = study->profile;
    const struct op      *op = cast->op != NO_ID ? &profile->ops.items[cast->op] : NULL;
    size_t                row = table_add(table, study->arena);

    if (row == SIZE_MAX)
        return false;
    emit_number(table, COUNT, row, cast->count / steps);
    emit_number(table, NS, row, cast->ns / steps);
    if (op)
        emit_name(table, SHAPES, row, emit_shapes(study, op));
    if (op && op->input_count > 0)
        emit_name(table, FROM, row,
                  facts_name(&study->facts,
                             str_from(dtype_name(
                                 (enum dtype)profile->tensors.items[op->first_input].dtype))));
    emit_source(profile, table, SOURCE_FILE, row, cast->source);
    return true;
}

static bool count_all(struct counter *counter)
{
    struct study      *study = counter->study;
    struct table      *table = facts_table(&study->facts, &tables[0]);
    struct eager_calls calls = { 0 };

    if (!table || !eager_calls_get(study, counter->scratch, &calls))
        return false;
    counter->is_inference = calls.nodes.count == 0 && calls.accumulated.count == 0;
    for (size_t i = 0; i < calls.list.count; i++)
        if (!look_at(counter, &calls.list.items[i]))
            return false;
    for (size_t i = 0; i < counter->casts.count; i++)
        if (!add_row(counter, table, &counter->casts.items[i], (double)calls.windows.count))
            return false;
    return true;
}

static bool run(struct study *study, struct err *err)
{
    struct arena   scratch = { 0 };
    struct counter counter = { .study = study, .scratch = &scratch, .rows = { .arena = &scratch } };
    bool           is_done;

    if (!eager_applies(study, "eager_casts"))
        return true;
    is_done = count_all(&counter);
    arena_free(&scratch);
    return is_done || emit_limit("conversions of tensors", err);
}

const struct analysis analysis_eager_casts = {
    .name = "eager_casts",
    .summary = "tensors that an eager program converts to another element type",
    .tables = tables,
    .table_count = ARRAY_COUNT(tables),
    .run = run,
};
