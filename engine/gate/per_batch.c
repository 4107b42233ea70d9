/* per_batch: where a step of one side works through more batches than one of the other (a loop in
 * the graph, steps_per_execution, several updates), both are compared a batch. */
#include "analyze/diff/diff.h"
#include "base/macros.h"
#include "gate/judge.h"

#include <string.h>

/* Facts of a step that rules on totals read. */
static bool is_of_step(const char *name)
{
    static const char *const facts[] = { "step.ns",
                                         "step.median_ns",
                                         "comm.exposed_ns",
                                         "launch.count_per_step",
                                         "kernels.count_per_step",
                                         "ops.count_per_step",
                                         "comm.bytes_per_step",
                                         "flops.per_step" };

    for (size_t i = 0; i < ARRAY_COUNT(facts); i++)
        if (strcmp(facts[i], name) == 0)
            return true;
    return strncmp(name, "part.", 5) == 0 && strstr(name, "_ns");
}

static bool is_of_graph(const struct count_spec *spec)
{
    return spec->source == COUNT_FACT && !is_of_step(spec->fact);
}

static bool scale_runs(struct summary *summary, double batches, struct arena *arena)
{
    const struct run *runs = summary->runs.items;
    size_t            count = summary->runs.count;

    memset(&summary->runs, 0, sizeof summary->runs);
    for (size_t i = 0; i < count; i++) {
        struct run run = runs[i];

        run.step_ns = arena_new_array(arena, double, run.step_count + 1);
        run.counts = arena_new_array(arena, struct count_value, count_spec_count);
        if (!run.step_ns || !run.counts)
            return false;
        for (size_t step = 0; step < run.step_count; step++)
            run.step_ns[step] = runs[i].step_ns[step] / batches;
        for (size_t spec = 0; spec < count_spec_count; spec++) {
            const struct count_value *value = &runs[i].counts[spec];
            double                    divisor = is_of_graph(&count_specs[spec]) ? 1 : batches;

            run.counts[spec] = (struct count_value) { value->value / divisor, value->low / divisor,
                                                      value->high / divisor, value->is_steady };
        }
        if (!vec_push(&summary->runs, arena, run))
            return false;
    }
    return true;
}

static bool scale_facts(struct summary *summary, double batches, struct arena *arena)
{
    const struct series *facts = summary->facts.items;
    size_t               count = summary->facts.count;

    memset(&summary->facts, 0, sizeof summary->facts);
    for (size_t i = 0; i < count; i++) {
        struct series series = facts[i];

        if (is_of_step(series.name)) {
            series.values = arena_new_array(arena, double, summary->runs.count + 1);
            for (size_t run = 0; series.values && run < summary->runs.count; run++)
                series.values[run] = facts[i].values[run] / batches;
        }
        if (!series.values || !vec_push(&summary->facts, arena, series))
            return false;
    }
    return true;
}

static bool scale_items(struct item_list *list, double batches, struct arena *arena)
{
    const struct item *items = list->rows.items;
    size_t             count = list->rows.count;

    memset(&list->rows, 0, sizeof list->rows);
    for (size_t i = 0; i < count; i++) {
        struct item item = items[i];

        item.ns /= batches;
        item.count /= batches;
        item.bytes /= batches;
        item.threads /= batches;
        if (!vec_push(&list->rows, arena, item))
            return false;
    }
    return true;
}

static bool scale_work(struct identity *identity, double batches, struct arena *arena)
{
    const struct work_item *items = identity->work.items;
    size_t                  count = identity->work.count;

    memset(&identity->work, 0, sizeof identity->work);
    for (size_t i = 0; i < count; i++) {
        struct work_item item = { items[i].what, items[i].flops / batches,
                                  items[i].calls / batches };

        if (!vec_push(&identity->work, arena, item))
            return false;
    }
    return true;
}

/* A copy whose numbers of a step are those of a batch; NULL: the arena is exhausted. */
static const struct summary *batch_of(const struct summary *summary, double batches,
                                      struct arena *arena)
{
    struct summary *copy = arena_new(arena, struct summary);

    if (!copy)
        return NULL;
    *copy = *summary;
    if (!scale_runs(copy, batches, arena) || !scale_facts(copy, batches, arena) ||
        !scale_work(&copy->identity, batches, arena))
        return NULL;
    for (int kind = 0; kind < ITEM_KIND_COUNT; kind++)
        if (!scale_items(&copy->items[kind], batches, arena))
            return NULL;
    return copy;
}

bool judge_unit(struct judging *judging)
{
    struct gate_result *result = judging->result;
    struct difference   difference = { .what = "batches a step" };
    double              before, after;

    if (!summary_fact(judging->before, "work.per_step", judging->scratch, &before) ||
        !summary_fact(judging->after, "work.per_step", judging->scratch, &after) ||
        !diff_is_per_batch(before, after))
        return true;
    result->is_per_batch = true;
    result->batches_before = before;
    result->batches_after = after;
    difference.before = judge_value(judging->arena, before, UNIT_COUNT);
    difference.after = arena_text(judging->arena, "%s, so that times and counts are of a batch",
                                  judge_value(judging->arena, after, UNIT_COUNT));
    judging->before = batch_of(judging->before, before, judging->arena);
    judging->after = batch_of(judging->after, after, judging->arena);
    return judging->before && judging->after && difference.after &&
           vec_push(&result->differences, judging->arena, difference);
}

const char *judge_in_unit(const struct judging *judging, const char *title)
{
    static const struct str a_step = STR_INIT(" a step");
    struct str              whole = str_from(title);
    size_t                  at = str_search(whole, a_step);

    if (!judging->result->is_per_batch || at == whole.len)
        return title;
    return arena_text(judging->arena, "%.*s a batch%s", (int)at, title, title + at + a_step.len);
}
