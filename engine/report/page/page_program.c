#include "report/page/page_program.h"

#include "analyze/program/program_view.h"
#include "base/json_fields.h"
#include "base/macros.h"
#include "base/sort.h"

#include <stdlib.h>

enum { MOST_OPS = 1500, AROUND = 2 }; /* those with most time, and so many edges around each */

struct chosen {
    const struct program_view *view;
    uint32_t                  *rows; /* by row of profile->ops: its row in view->ops, plus 1 */
    uint32_t                  *told; /* by row of view->ops: its number on the page, plus 1 */
    size_t                     count;
};

static int by_time(const void *a, const void *b)
{
    const struct program_op *x = *(const struct program_op *const *)a,
                            *y = *(const struct program_op *const *)b;

    return IN_ORDER(COMPARE(y->ns, x->ns), COMPARE(x->op, y->op));
}

/* An op, and those around it; each once. */
static void choose(struct chosen *chosen, size_t row, int edges)
{
    const struct program_op *op = &chosen->view->ops[row];
    const struct program_ids around[] = { op->needs, op->needed_by };

    if (chosen->count == MOST_OPS) /* nothing around it would be told, however many they are */
        return;
    if (!chosen->told[row])
        chosen->told[row] = (uint32_t)++chosen->count;
    for (size_t side = 0; side < ARRAY_COUNT(around) && edges > 0; side++)
        for (size_t i = 0; i < around[side].count; i++) {
            uint32_t other = chosen->rows[around[side].ids[i]];

            if (other)
                choose(chosen, other - 1, edges - 1);
        }
}

static bool choose_all(struct chosen *chosen, struct arena *arena)
{
    const struct program_view *view = chosen->view;
    const struct program_op  **order =
        arena_new_array(arena, const struct program_op *, view->op_count);

    chosen->rows = arena_new_array(arena, uint32_t, view->study->profile->ops.count);
    chosen->told = arena_new_array(arena, uint32_t, view->op_count);
    if (!order || !chosen->rows || !chosen->told)
        return false;
    for (size_t i = 0; i < view->op_count; i++) {
        chosen->rows[view->ops[i].op] = (uint32_t)i + 1;
        order[i] = &view->ops[i];
    }
    qsort(order, view->op_count, sizeof(const struct program_op *), by_time);
    for (size_t i = 0; i < view->op_count; i++)
        choose(chosen, (size_t)(order[i] - view->ops), order[i]->ns > 0 ? AROUND : 0);
    return true;
}

static void put_place(struct json_writer *json, const struct profile *profile, const struct op *op)
{
    const struct source_line *source = &profile->sources.items[op->source];
    struct str                file = profile_str(profile, source->file);
    size_t                    slash = str_find_last(file, '/');
    const char               *text;

    file = str_slice(file, slash < file.len ? slash + 1 : 0, file.len);
    text = arena_text(json->text->arena, "%.*s:%u", STR_ARG(file), source->line);
    put_text(json, "place", text);
}

/* Neighbours that are not on the page. */
static void put_left(struct json_writer *json, const struct chosen *chosen, const char *key,
                     struct program_ids ids)
{
    int64_t left = 0;

    for (size_t i = 0; i < ids.count; i++) {
        uint32_t row = chosen->rows[ids.ids[i]];

        left += row && !chosen->told[row - 1];
    }
    if (left > 0)
        put_integer(json, key, left);
}

static void put_op(struct json_writer *json, const struct chosen *chosen,
                   const struct program_op *item)
{
    const struct profile *profile = chosen->view->study->profile;
    const struct op      *op = &profile->ops.items[item->op];

    json_object(json);
    put_str(json, "name", profile_str(profile, op->name));
    put_str(json, "type", profile_str(profile, op->type));
    if (item->ns > 0)
        put_number(json, "ns", item->ns);
    if (op->flops > 0)
        put_integer(json, "flops", op->flops);
    if (op->source < profile->sources.count)
        put_place(json, profile, op);
    put_array(json, "needs");
    for (size_t i = 0; i < item->needs.count; i++) {
        uint32_t row = chosen->rows[item->needs.ids[i]];

        if (row && chosen->told[row - 1])
            json_integer(json, (int64_t)chosen->told[row - 1] - 1);
    }
    json_array_end(json);
    put_left(json, chosen, "more_needs", item->needs);
    put_left(json, chosen, "more_needed_by", item->needed_by);
    json_object_end(json);
}

/* In the order of their numbers. */
static bool put_ops(struct json_writer *json, const struct chosen *chosen)
{
    size_t *order = arena_new_array(json->text->arena, size_t, chosen->count);

    if (!order)
        return false;
    for (size_t i = 0; i < chosen->view->op_count; i++)
        if (chosen->told[i])
            order[chosen->told[i] - 1] = i;
    put_array(json, "ops");
    for (size_t i = 0; i < chosen->count; i++)
        put_op(json, chosen, &chosen->view->ops[order[i]]);
    json_array_end(json);
    return true;
}

bool page_put_program(struct json_writer *json, const struct study *study)
{
    struct arena           *arena = json->text->arena;
    struct program_question question = { 0 };
    struct program_view     view;
    struct chosen           chosen = { .view = &view };
    struct err              why = { 0 };

    if (!program_view_make(study, &question, arena, &view, &why) || view.module_count == 0)
        return why.code != ERR_LIMIT;
    question.module =
        arena_text(arena, "%.*s", STR_ARG(program_module_name(&view, view.modules[0].name)));
    if (!question.module || !program_view_make(study, &question, arena, &view, &why))
        return question.module && why.code != ERR_LIMIT;
    if (!choose_all(&chosen, arena))
        return false;
    put_object(json, "program");
    put_text(json, "module", question.module);
    put_integer(json, "instructions", (int64_t)view.op_count);
    if (!put_ops(json, &chosen))
        return false;
    json_object_end(json);
    return true;
}
