/*
 * work: how many batches a step works through, so that programs with several a step (a loop in the
 * graph, steps_per_execution, several updates by an optimizer) compare with others batch by batch.
 * Two signs of a batch are counted a step: calls for the next one, and updates of the model. The
 * lesser counts: validation fetches more than it trains on, and programs with two models update
 * more than once a batch. Rounds of a loop with a whole gradient inside are told apart: they may be
 * batches, or the examples of one.
 */
#include "analyze/analysis.h"
#include "analyze/emit.h"
#include "analyze/ops/op_times.h"
#include "base/sample.h"
#include "base/sort.h"
#include "model/names.h"

#include <math.h>
#include <stdlib.h>

enum work_fact { PER_STEP, SIGN, BATCH_NS, LOOP_ROUNDS, FACT_COUNT };
static const struct fact_spec produces[] = {
    [PER_STEP] = { "work.per_step", UNIT_COUNT, "batches that a step works through" },
    [SIGN] = { "work.sign", UNIT_NAME, "what tells them: fetches or updates" },
    [BATCH_NS] = { "work.batch_ns", UNIT_NS, "time of a batch: the step over work.per_step" },
    [LOOP_ROUNDS] = { "work.loop_rounds", UNIT_COUNT,
                      "rounds a step of a loop in the program, each with a whole gradient" },
};

/* A call that stands for a batch, or for one of several equal ones. */
struct call {
    uint32_t name;
    size_t   window;
};
struct calls {
    VEC(struct call) list;
};
struct counting {
    const struct study *study;
    struct windows      windows;
    struct arena       *scratch;
    struct calls        fetches, updates;
    VEC(int64_t) nodes; /* starts of the backward pass's nodes, in order */
};

static bool is_update(const struct profile *profile, const struct activity *activity)
{
    return activity->kind == ACTIVITY_ANNOTATION &&
           str_starts(profile_str(profile, activity->name), STR("Optimizer.step#"));
}

static bool is_host_thread(const struct counting *counting, const struct timeline *line)
{
    return line->kind == TIMELINE_THREAD && line->host == counting->windows.host;
}

static int compare_times(const void *a, const void *b)
{
    return COMPARE(*(const int64_t *)a, *(const int64_t *)b);
}

/* The backward pass has a thread of its own where it feeds an accelerator. */
static bool find_nodes(struct counting *counting)
{
    const struct profile *profile = counting->study->profile;

    for (size_t i = 0; i < profile->timelines.count; i++) {
        const struct timeline *line = &profile->timelines.items[i];

        for (uint32_t j = 0; is_host_thread(counting, line) && j < line->event_count; j++)
            if (event_activity(profile, line->first_event + j)->kind == ACTIVITY_EXECUTOR &&
                !vec_push(&counting->nodes, counting->scratch,
                          event_start_ns(profile, line->first_event + j)))
                return false;
    }
    if (counting->nodes.count > 1)
        qsort(counting->nodes.items, counting->nodes.count, sizeof *counting->nodes.items,
              compare_times);
    return true;
}

/* Whether gradients were computed in [start, end); where no backward pass is recorded, that is not
 * known, and each update stands for itself. */
static bool has_gradients(const struct counting *counting, int64_t start_ns, int64_t end_ns)
{
    size_t first = LOWER_BOUND(counting->nodes.count, i, counting->nodes.items[i] < start_ns);

    return counting->nodes.count == 0 ||
           (first < counting->nodes.count && counting->nodes.items[first] < end_ns);
}

/* Several optimizers that share a batch follow each other: one of them counts. */
static bool add_thread(struct counting *counting, const struct timeline *line)
{
    const struct profile *profile = counting->study->profile;
    int64_t               updated_ns = INT64_MIN;

    for (uint32_t event = line->first_event; event < line->first_event + line->event_count;
         event++) {
        const struct activity *activity = event_activity(profile, event);
        bool                   is_fetch = activity->kind == ACTIVITY_INPUT_WAIT;
        struct call            call = { .name = activity->name };

        if (!is_fetch && !is_update(profile, activity))
            continue;
        if (!is_fetch) {
            bool is_new = has_gradients(counting, updated_ns, event_start_ns(profile, event));

            updated_ns = event_start_ns(profile, event);
            if (!is_new)
                continue;
        }
        call.window = windows_find(&counting->windows, event_start_ns(profile, event));
        if (call.window == SIZE_MAX)
            continue;
        if (!vec_push(is_fetch ? &counting->fetches.list : &counting->updates.list,
                      counting->scratch, call))
            return false;
    }
    return true;
}

static bool collect(struct counting *counting)
{
    const struct profile *profile = counting->study->profile;

    if (!find_nodes(counting))
        return false;
    for (size_t i = 0; i < profile->timelines.count; i++) {
        const struct timeline *line = &profile->timelines.items[i];

        if (is_host_thread(counting, line) && !add_thread(counting, line))
            return false;
    }
    return true;
}

static int by_name_and_window(const void *a, const void *b)
{
    const struct call *x = a, *y = b;

    return IN_ORDER(COMPARE(x->name, y->name), COMPARE(x->window, y->window));
}

/* Calls of the most frequent name in the usual window; 0: most windows have none. Several names
 * stand for one batch where a call is recorded on several levels. */
static double calls_a_window(struct calls *calls, size_t windows, double *a_window)
{
    const struct call *list = calls->list.items;
    double             most = 0;

    if (calls->list.count)
        qsort(calls->list.items, calls->list.count, sizeof *list, by_name_and_window);
    for (size_t first = 0, end; first < calls->list.count; first = end) {
        for (size_t i = 0; i < windows; i++)
            a_window[i] = 0;
        for (end = first; end < calls->list.count && list[end].name == list[first].name; end++)
            a_window[list[end].window]++;
        most = fmax(most, floor(sample_middle(a_window, windows)));
    }
    return most;
}

/* Variables change in ops of these types. */
static bool is_assignment(const struct profile *profile, const struct op_time *row)
{
    struct str type = profile_str(profile, row->type);

    if (row->is_eager || row->name == row->type)
        return false;
    return name_is(type, NAMES_TF_ASSIGNMENT);
}

/* How often a step changes a variable of a graph: as often as it does most of them. */
static double graph_updates(const struct profile *profile, const struct op_times *ops,
                            struct arena *scratch)
{
    double *counts = arena_new_array(scratch, double, ops->count + 1);
    size_t  count = 0;

    for (size_t i = 0; counts && i < ops->count; i++)
        if (is_assignment(profile, &ops->rows[i]))
            counts[count++] = round(ops->rows[i].calls / ops->step_count);
    return count ? sample_middle(counts, count) : 0;
}

/* Whether a path is of a gradient that is whole inside one loop: the loop stands before the
 * transposition, and none behind it. The gradient of a loop has them the other way round. */
static bool has_gradient_in_loop(struct str path)
{
    size_t     loop = str_search(path, STR("/while/body/"));
    size_t     gradient = str_search(path, STR("transpose("));
    struct str behind = str_slice(path, gradient, path.len);

    return loop < gradient && gradient < path.len && !str_contains(behind, STR("while"));
}

/* Rounds of such a loop for each run of its program: calls of what takes most time in it over those
 * of the op that is called least, which is outside. 0: there is none. */
static double loop_rounds(const struct profile *profile, const struct op_times *ops)
{
    const struct op_time *body = NULL;
    double                least = INFINITY;

    for (size_t i = 0; i < ops->count && !body; i++)
        if (ops->rows[i].op != NO_ID &&
            has_gradient_in_loop(profile_str(profile, profile->ops.items[ops->rows[i].op].origin)))
            body = &ops->rows[i];
    for (size_t i = 0; body && i < ops->count; i++)
        if (ops->rows[i].op != NO_ID && ops->rows[i].device == body->device &&
            profile->ops.items[ops->rows[i].op].program == profile->ops.items[body->op].program &&
            ops->rows[i].calls < least)
            least = ops->rows[i].calls;
    return body && least > 0 ? round(body->calls / least) : 0;
}

static bool set_facts(struct study *study, const struct windows *windows, double fetches,
                      double updates)
{
    struct facts *facts = &study->facts;
    bool          is_fetches = fetches > 0 && (updates <= 0 || fetches <= updates);
    double        count = is_fetches ? fetches : updates;

    if (count < 1)
        return facts_absent(facts, produces[PER_STEP].name, NULL,
                            "neither calls for batches nor updates of a model are recorded") &&
               facts_absent(facts, produces[SIGN].name, NULL, "batches are not told") &&
               facts_absent(facts, produces[BATCH_NS].name, NULL, "batches are not told");
    return facts_set(facts, &produces[PER_STEP], count) &&
           facts_set_text(facts, &produces[SIGN], is_fetches ? STR("fetches") : STR("updates")) &&
           facts_set(facts, &produces[BATCH_NS], windows->step_ns / count);
}

static bool count_work(struct counting *counting, struct study *study)
{
    struct op_times ops;
    double         *a_window;
    double          rounds, fetches, updates;

    if (!windows_make_called(study, counting->scratch, &counting->windows) || !collect(counting) ||
        !op_times_make(study, counting->scratch, &ops))
        return false;
    a_window = arena_new_array(counting->scratch, double, counting->windows.count);
    if (!a_window)
        return false;
    fetches = calls_a_window(&counting->fetches, counting->windows.count, a_window);
    updates = calls_a_window(&counting->updates, counting->windows.count, a_window);
    if (updates <= 0)
        updates = graph_updates(study->profile, &ops, counting->scratch);
    rounds = loop_rounds(study->profile, &ops);
    return set_facts(study, &counting->windows, fetches, updates) &&
           (rounds >= 2 ? facts_set(&study->facts, &produces[LOOP_ROUNDS], rounds)
                        : facts_absent(&study->facts, produces[LOOP_ROUNDS].name, NULL,
                                       "no loop with a gradient inside is recorded"));
}

static bool run(struct study *study, struct err *err)
{
    struct arena    scratch = { .budget_bytes = study->arena->budget_bytes };
    struct counting counting = { .study = study, .scratch = &scratch };
    bool            is_done;

    if (study->steps.used_count == 0 || study->steps.source == STEPS_WHOLE_TRACE)
        is_done = facts_absent(&study->facts, "work.", "steps", "no steps are marked or found");
    else
        is_done = count_work(&counting, study);
    arena_free(&scratch);
    return is_done || emit_limit("the work of a step", err);
}

const struct analysis analysis_work = {
    .name = "work",
    .summary = "batches that a step works through",
    .produces = produces,
    .produces_count = ARRAY_COUNT(produces),
    .run = run,
};
