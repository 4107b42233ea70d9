/*
 * eager untracked: in a program that trains, calls of the forward pass that no backward pass goes
 * through, by type: data that are prepared in the loop, metrics, previews, rollouts, networks whose
 * weights stay. What they take is the step's, and none of it moves a weight by itself.
 */
#include "analyze/analysis.h"
#include "analyze/eager/eager_calls.h"
#include "analyze/emit.h"
#include "model/op_class.h"

enum untracked_column { TYPE, COUNT, NS };
static const struct column_spec columns[] = {
    [TYPE] = { "type", UNIT_NAME, "type of op" },
    [COUNT] = { "count", UNIT_COUNT, "calls a step" },
    [NS] = { "ns", UNIT_NS, "their time a step" },
};
static const struct table_spec tables[] = {
    { "eager_untracked",
      "calls beside the forward pass that no backward pass goes through, by type", columns,
      ARRAY_COUNT(columns) },
};

struct group {
    uint32_t type; /* interned */
    double   count, ns;
};
struct counter {
    struct arena *scratch;
    struct id_map rows; /* of groups, by type */
    VEC(struct group) groups;
};

static bool count_call(struct counter *counter, const struct eager_call *call)
{
    uint32_t     row = id_map_get(&counter->rows, call->type);
    struct group fresh = { call->type, 1, call->work_ns };

    if (row == NO_ID)
        return id_map_put(&counter->rows, call->type, (uint32_t)counter->groups.count) &&
               vec_push(&counter->groups, counter->scratch, fresh);
    counter->groups.items[row].count++;
    counter->groups.items[row].ns += fresh.ns;
    return true;
}

static bool add_row(struct study *study, struct table *table, const struct group *group,
                    double steps)
{
    size_t row = table_add(table, study->arena);

    if (row == SIZE_MAX)
        return false;
    emit_name(table, TYPE, row,
              facts_name(&study->facts, profile_str(study->profile, group->type)));
    emit_number(table, COUNT, row, group->count / steps);
    emit_number(table, NS, row, group->ns / steps);
    return true;
}

/* Ops of compiled code have no nodes of their own. */
static bool is_compiled(const struct profile *profile, const struct eager_calls *calls)
{
    for (size_t i = 0; i < calls->nodes.count; i++)
        if (str_contains(
                profile_str(profile, event_activity(profile, calls->nodes.items[i].event)->name),
                STR("CompiledFunction")))
            return true;
    return false;
}

/* An update of many tensors at once is the optimizer's, as Keras' own, whose step no range shows.
 */
static bool is_untracked(const struct profile *profile, const struct eager_call *call)
{
    return eager_is_unrecorded(call) && op_class_of(profile_str(profile, call->type)) != OP_UPDATE;
}

/* Without nodes of a backward pass nothing is beside it. */
static bool count_all(struct study *study, struct counter *counter)
{
    struct table      *table = facts_table(&study->facts, &tables[0]);
    struct eager_calls calls = { 0 };
    size_t             end;

    if (!table || !eager_calls_get(study, counter->scratch, &calls))
        return false;
    end = calls.nodes.count && !is_compiled(study->profile, &calls) ? calls.list.count : 0;
    for (size_t i = 0; i < end; i++)
        if (is_untracked(study->profile, &calls.list.items[i]) &&
            !count_call(counter, &calls.list.items[i]))
            return false;
    for (size_t i = 0; i < counter->groups.count; i++)
        if (!add_row(study, table, &counter->groups.items[i], (double)calls.windows.count))
            return false;
    return true;
}

static bool run(struct study *study, struct err *err)
{
    struct arena   scratch = { 0 };
    struct counter counter = { .scratch = &scratch, .rows = { .arena = &scratch } };
    bool           is_done;

    if (!eager_applies(study, "eager_untracked"))
        return true;
    is_done = count_all(study, &counter);
    arena_free(&scratch);
    return is_done || emit_limit("calls beside the backward pass", err);
}

const struct analysis analysis_eager_untracked = {
    .name = "eager_untracked",
    .summary = "calls of a program that trains which no backward pass goes through",
    .tables = tables,
    .table_count = ARRAY_COUNT(tables),
    .run = run,
};
