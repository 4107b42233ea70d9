#include "analyze/replay/replay.h"

#include "analyze/input/pipeline.h"
#include "analyze/path/work.h"
#include "analyze/replay/replay_select.h"
#include "analyze/replay/segment_groups.h"
#include "analyze/study.h"
#include "base/sample.h"

#include <math.h>

static const double HOLD_SHARE = 0.5; /* a pipeline twice as fast as the steps does not hold them */
static const double WAIT_SHARE =
    0.05; /* a step that waits less for its pipeline is not held by it */
static const double SECOND_THREAD = 0.3; /* work that a core does more with its second thread */

struct replay {
    struct study                *study;
    const struct path           *path;
    const struct pipeline       *pipeline; /* NULL: none */
    const struct segment_groups *groups;
    struct arena                 arena;
    double                      *weights; /* by group of segments: what is left of it */
    struct replay_select         selection;
    double                      *factors, *threads; /* by stage */
    double                       aside_ns;     /* longest of what runs beside the step, all steps */
    double                       beside_ns;    /* what processors do of that */
    double                       removed_ns;   /* EDIT_STEP, a step */
    double                       freed_cpu_ns; /* all steps */
    bool                         has_stage_edits;
};

bool edits_change_calls(const struct edit *edits, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (edits[i].kind == EDIT_OMIT || edits[i].kind == EDIT_UNBLOCK)
            return true;
    return false;
}

static double selected_ns(const struct replay *replay)
{
    double sum_ns = 0;

    for (size_t i = 0; i < replay->groups->groups.count; i++)
        if (replay->selection.is_selected[i])
            sum_ns += replay->weights[i] * replay->groups->groups.items[i].length_ns;
    return sum_ns;
}

/* Leaves `factor` of the selected time. Work that disappears no longer needs its cores. */
static void scale_selected(struct replay *replay, double factor, bool frees_cores)
{
    for (size_t i = 0; i < replay->groups->groups.count; i++) {
        if (!replay->selection.is_selected[i])
            continue;
        if (frees_cores)
            replay->freed_cpu_ns +=
                (1 - factor) * replay->weights[i] * replay->groups->groups.items[i].threads_ns;
        replay->weights[i] *= factor;
    }
}

/* What is selected, as recorded. */
static double recorded_ns(const struct replay *replay)
{
    double sum_ns = 0;

    for (size_t i = 0; i < replay->groups->groups.count; i++)
        if (replay->selection.is_selected[i])
            sum_ns += replay->weights[i] * replay->groups->groups.items[i].recorded_ns;
    return sum_ns;
}

static bool edit_stages(struct replay *replay, const struct edit *edit, struct err *err)
{
    const char *text = edit->select.stage ? edit->select.stage : ".*";
    const bool *is_stage = replay_select_stages(&replay->selection, text, err);

    if (!is_stage)
        return false;
    if (!replay->pipeline->stages.count)
        return err_set(err, ERR_INCONCLUSIVE, "the profile has no input pipeline to edit");
    for (size_t s = 0; s < replay->pipeline->stages.count; s++) {
        const struct stage *stage = &replay->pipeline->stages.items[s];

        if (!is_stage[s])
            continue;
        if (edit->kind == EDIT_STAGE_SCALE) {
            replay->factors[s] *= edit->factor;
            continue;
        }
        double threads = edit->factor > 0 ? edit->factor : replay->path->core_count;

        /* No more calls at once than there are in a step. */
        if (stage->calls >= 1 && threads > stage->calls)
            threads = stage->calls;
        if (threads > replay->threads[s])
            replay->threads[s] = threads;
    }
    replay->has_stage_edits = true;
    return true;
}

static bool apply(struct replay *replay, const struct edit *edit, double *selected,
                  double *recorded, struct err *err)
{
    struct edit_select select = edit->select;

    *selected = *recorded = 0;
    if (edit->kind == EDIT_STEP) {
        replay->removed_ns += edit->ns;
        *selected = *recorded = edit->ns * (double)replay->path->step_rows.count;
        return true;
    }
    if (edit->kind == EDIT_PREFETCH || edit->kind == EDIT_STAGE_PARALLEL ||
        edit->kind == EDIT_STAGE_SCALE)
        select.part_mask = UINT32_C(1) << PART_INPUT;
    if (!replay_select_run(&replay->selection, &select, err))
        return false;
    *selected = selected_ns(replay);
    *recorded = recorded_ns(replay);
    switch (edit->kind) {
    case EDIT_SCALE:
        scale_selected(replay, edit->factor, true);
        return true;
    case EDIT_OMIT:
    case EDIT_UNBLOCK:
        scale_selected(replay, 0, true);
        return true;
    case EDIT_SUBTRACT: {
        double all_ns = edit->ns * (double)replay->path->step_rows.count;

        if (*selected > 0)
            scale_selected(replay, all_ns < *selected ? 1 - all_ns / *selected : 0, true);
        return true;
    }
    case EDIT_OVERLAP:
    case EDIT_PREFETCH:
        if (*selected > replay->aside_ns)
            replay->aside_ns = *selected;
        if (edit->kind == EDIT_OVERLAP && *selected > replay->beside_ns)
            replay->beside_ns = *selected;
        scale_selected(replay, 0, false);
        return true;
    case EDIT_STAGE_PARALLEL:
    case EDIT_STAGE_SCALE:
        return edit_stages(replay, edit, err);
    case EDIT_STEP:
    case EDIT_KIND_COUNT:
        break;
    }
    return true;
}

static bool prepare(struct replay *replay, struct err *err)
{
    size_t groups = replay->groups->groups.count;
    size_t stages = replay->pipeline ? replay->pipeline->stages.count : 0;

    replay->weights = arena_new_array(&replay->arena, double, groups);
    replay->factors = arena_new_array(&replay->arena, double, stages);
    replay->threads = arena_new_array(&replay->arena, double, stages);
    if (!replay->weights || !replay->factors || !replay->threads)
        return err_set(err, ERR_LIMIT, "replay does not fit the memory budget");
    replay->selection = (struct replay_select) { .study = replay->study,
                                                 .path = replay->path,
                                                 .pipeline = replay->pipeline,
                                                 .groups = replay->groups,
                                                 .arena = &replay->arena };
    if (!replay_select_begin(&replay->selection, err))
        return false;
    for (size_t i = 0; i < groups; i++)
        replay->weights[i] = 1;
    for (size_t s = 0; s < stages; s++)
        replay->factors[s] = 1;
    return true;
}

/* Share of the input work on processors that is left after stage edits. */
static double input_work_left(const struct replay *replay)
{
    double before_ns = 0, after_ns = 0;

    for (size_t s = 0; replay->pipeline && s < replay->pipeline->stages.count; s++) {
        const struct stage *stage = &replay->pipeline->stages.items[s];
        double work_ns = stage->self_ns > stage->cpu_ns ? stage->self_ns : stage->cpu_ns;

        before_ns += work_ns;
        after_ns += work_ns * replay->factors[s];
    }
    return before_ns > 0 ? after_ns / before_ns : 1;
}

/* Share of the input work that holds the interpreter lock. */
static double python_share(const struct pipeline *pipeline)
{
    double python_ns = 0, work_ns = 0;

    for (size_t s = 0; pipeline && s < pipeline->stages.count; s++) {
        const struct stage *stage = &pipeline->stages.items[s];

        python_ns += stage->python_ns;
        work_ns += stage->self_ns + stage->cpu_ns;
    }
    return work_ns > 0 ? fmin(1, python_ns / work_ns) : 0;
}

/* How fast each of `threads` runs: two hardware threads share a core, as most machines have it, and
 * what is more than that waits its turn. */
static double thread_speed(double threads, double hardware_threads)
{
    double cores = fmax(1, hardware_threads / 2);
    double second = fmin(threads, hardware_threads) - cores; /* those that share a core */

    return threads > cores ? (cores + SECOND_THREAD * fmax(0, second)) / threads : 1;
}

/* How much longer a segment takes than alone, with `input_left` of the input work beside it: all
 * share the cores, and Python shares its lock. */
static double slowdown(const struct replay *replay, const struct segment *segment,
                       double python_input, double input_left)
{
    double cores = replay->path->core_count;
    double input = segment->input_threads * input_left;
    double own = segment->other_threads > 0 ? fmin(segment->other_threads, cores) : 1;
    double factor = 1 / thread_speed(own + input, cores);

    return segment->part == PART_HOST ? fmax(factor, 1 + python_input * input) : factor;
}

static void add_cost(struct path_costs *costs, int part, double ns)
{
    costs->part_ns[part] += ns;
    if (part == PART_INPUT)
        costs->input_ns += ns;
    else
        costs->rest_ns += ns;
    costs->step_ns += ns;
}

/* What edits leave of computing. */
static double compute_left(const struct replay *replay)
{
    double before_ns = 0, after_ns = 0;

    for (size_t i = 0; i < replay->groups->groups.count; i++) {
        const struct segment_group *group = &replay->groups->groups.items[i];

        if (group->part != PART_COMPUTE)
            continue;
        before_ns += group->length_ns;
        after_ns += replay->weights[i] * group->length_ns;
    }
    return before_ns > 0 ? after_ns / before_ns : 1;
}

/* What another thread computes while the host prepares what comes next is waited for once the host
 * is faster; by itself it has the cores that the host took. */
static double beside_ns(const struct replay *replay, const struct segment_group *group)
{
    double cores = replay->path->core_count;
    double threads = group->recorded_ns > 0 ? group->threads_ns / group->recorded_ns : 1;

    if (group->beside_ns <= 0)
        return 0;
    return group->beside_ns * thread_speed(threads, cores) /
           thread_speed(fmax(1, threads - 1), cores);
}

static struct path_costs cost_of_groups(const struct replay *replay, bool is_edited)
{
    double            steps = (double)replay->path->step_rows.count;
    double            beside_left = is_edited ? compute_left(replay) : 0;
    struct path_costs costs = { 0 };

    for (size_t i = 0; i < replay->groups->groups.count; i++) {
        const struct segment_group *group = &replay->groups->groups.items[i];
        double left_ns = group->length_ns * (is_edited ? replay->weights[i] : 1);
        double hidden_ns = (is_edited ? beside_left * beside_ns(replay, group) : 0) - left_ns;

        add_cost(&costs, group->part, left_ns / steps);
        if (hidden_ns > 0)
            add_cost(&costs, PART_COMPUTE, hidden_ns / steps);
    }
    return costs;
}

/* What is left of recorded time without the recorder's. */
static double left_of_recorded(const struct segment_group *group)
{
    return group->recorded_ns > 0 ? group->length_ns / group->recorded_ns : 1;
}

/* What is left when `input_left` of the input work that competed for cores is: how much faster a
 * segment then runs depends on what ran beside it. */
static struct path_costs cost_with_less_input(const struct replay *replay, double input_left)
{
    const struct path *path = replay->path;
    double             steps = (double)path->step_rows.count;
    double             python_input = python_share(replay->pipeline);
    struct path_costs  costs = { 0 };

    for (size_t i = 0; i < path->segments.count; i++) {
        const struct segment *segment = &path->segments.items[i];
        uint32_t              row = replay->groups->group_of_segment[i];
        double weight = replay->weights[row] * left_of_recorded(&replay->groups->groups.items[row]);
        double ns = (double)(segment->end_ns - segment->start_ns) * weight / steps;

        if (segment->part != PART_INPUT && !segment->on_device)
            ns *= slowdown(replay, segment, python_input, input_left) /
                  slowdown(replay, segment, python_input, 1);
        add_cost(&costs, segment->part, ns);
    }
    return costs;
}

/* What work beside the step costs it a step: the core that it takes is one less for computation
 * that keeps them all busy. */
static double cost_beside(const struct replay *replay)
{
    double steps = (double)replay->path->step_rows.count, cores = replay->path->core_count;
    double threads_ns = 0, length_ns = 0;

    for (size_t i = 0; replay->beside_ns > 0 && i < replay->groups->groups.count; i++) {
        const struct segment_group *group = &replay->groups->groups.items[i];

        if (group->part != PART_COMPUTE)
            continue;
        length_ns += replay->weights[i] * group->length_ns;
        threads_ns += replay->weights[i] * group->threads_ns;
    }
    if (length_ns <= 0 || cores < 2 || replay->path->has_device)
        return 0;
    double threads = fmin(cores, fmax(1, threads_ns / length_ns));

    return fmin(replay->beside_ns, length_ns) / steps * fmax(0, 1 - (cores - 1) / threads);
}

/* The step after the edits, from the model in the header; also what then holds it. */
static double model(const struct replay *replay, const struct path_costs *before,
                    struct path_costs *after, int *bound)
{
    const struct path     *path = replay->path;
    const struct pipeline *pipeline = replay->pipeline;
    double                 inline_ns = 0, period_ns = 0, inline_after_ns = 0;
    double                 steps = (double)path->step_rows.count;
    double                 cpu_ns = sample_mean(path->cpu_ns.items, path->cpu_ns.count);
    double input_cpu_ns = sample_mean(path->input_cpu_ns.items, path->input_cpu_ns.count);
    double input_left = input_work_left(replay);
    double input_after_ns = after->input_ns; /* edits of the path may have taken some away */
    double step_ns, floor_ns, cores = path->core_count ? path->core_count : 1;

    if (pipeline && pipeline->stages.count) {
        inline_ns = fmin(pipeline->inline_ns, before->input_ns);
        period_ns = pipeline_period_ns(pipeline, NULL, NULL, NULL);
        if (pipeline->inline_ns > 0)
            inline_after_ns =
                inline_ns * pipeline_section_ns(pipeline, NO_ID, replay->factors, replay->threads) /
                pipeline->inline_ns;
    }
    double waited_ns = before->input_ns - inline_ns;

    if (replay->has_stage_edits && period_ns > 0) {
        /* The pipeline holds a step that waits for it: its slowest section takes that long. */
        double scale = waited_ns > WAIT_SHARE * before->step_ns
                           ? before->step_ns / period_ns
                           : fmin(1, before->step_ns / period_ns);

        step_ns = fmax(
            after->rest_ns + inline_after_ns,
            scale > 1
                ? pipeline_scaled_period_ns(pipeline, replay->factors, replay->threads, scale)
                : scale * pipeline_period_ns(pipeline, replay->factors, replay->threads, NULL));
    } else if (replay->has_stage_edits) {
        step_ns = after->rest_ns + inline_after_ns + (input_after_ns - inline_ns);
    } else {
        /* Where the step waits for the pipeline, and no edit is about input, it waits as long as
         * before. */
        bool is_held = period_ns > HOLD_SHARE * before->step_ns &&
                       waited_ns > WAIT_SHARE * before->step_ns &&
                       input_after_ns > 0.999 * before->input_ns;
        double hold_ns = is_held ? before->step_ns : 0;

        step_ns = fmax(after->rest_ns + input_after_ns, hold_ns);
    }
    step_ns = fmax(step_ns + cost_beside(replay), replay->aside_ns / steps);
    cpu_ns -= input_cpu_ns * (1 - input_left) + replay->freed_cpu_ns / steps;
    floor_ns = fmin(cpu_ns / cores, before->step_ns);
    *bound = PART_COMPUTE;
    for (int part = 0; part < PART_COUNT; part++)
        if (after->part_ns[part] > after->part_ns[*bound])
            *bound = part;
    if (step_ns > after->rest_ns * 1.05 && step_ns > floor_ns && step_ns < before->step_ns &&
        step_ns - after->rest_ns > after->part_ns[*bound])
        *bound = PART_INPUT;
    return fmax(step_ns, floor_ns);
}

/* From the mean of the path, as recorded, to a step. */
static double recorded_scale(const struct replay *replay)
{
    double sum_ns = 0, steps = (double)replay->path->step_rows.count;

    for (size_t i = 0; i < replay->groups->groups.count; i++)
        sum_ns += replay->groups->groups.items[i].recorded_ns;
    return sum_ns > 0 ? steps_ns(&replay->study->steps) * steps / sum_ns : 1;
}

/* Without a path only what edits say outright. */
static bool run_without_path(const struct edit *edits, size_t count, struct replay_result *result,
                             struct err *err)
{
    for (size_t i = 0; i < count; i++) {
        if (edits[i].kind != EDIT_STEP)
            return err_set(err, ERR_INCONCLUSIVE, "no step with a timeline to replay");
        result->step_ns = fmax(0, result->step_ns - edits[i].ns);
        result->selected_ns = result->recorded_ns = edits[i].ns;
    }
    return true;
}

static bool run(struct study *study, const struct edit *edits, size_t count,
                struct replay_result *result, struct err *err)
{
    struct replay replay = { .study = study,
                             .path = &study->path,
                             .pipeline = study->pipeline,
                             .groups = study->groups,
                             .arena = { .budget_bytes = study->arena->budget_bytes } };
    double        selected = 0, recorded = 0;
    bool          ok;

    if (study->groups->unchanged.step_ns == 0)
        study->groups->unchanged = cost_of_groups(&replay, false);
    ok = prepare(&replay, err);
    for (size_t i = 0; ok && i < count; i++)
        ok = apply(&replay, &edits[i], &selected, &recorded, err);
    if (ok) {
        double            input_left = input_work_left(&replay);
        struct path_costs before = study->groups->unchanged;
        struct path_costs after = input_left < 1 ? cost_with_less_input(&replay, input_left)
                                                 : cost_of_groups(&replay, true);
        double            scale = before.step_ns > 0 ? steps_ns(&study->steps) / before.step_ns : 1;
        double            step_ns = model(&replay, &before, &after, &result->bound);

        result->step_ns = fmax(0, fmin(step_ns, before.step_ns) * scale - replay.removed_ns);
        result->selected_ns = selected * scale / (double)study->path.step_rows.count;
        result->recorded_ns =
            recorded * recorded_scale(&replay) / (double)study->path.step_rows.count;
    }
    arena_free(&replay.arena);
    return ok;
}

void edits_key(const struct edit *edits, size_t count, struct text *key)
{
    for (size_t i = 0; i < count; i++) {
        const struct edit_select *select = &edits[i].select;
        const char *const         names[] = { select->name, select->op_type, select->stage };

        text_print(key, "%d %x %x %x %x %a %a", edits[i].kind, select->part_mask, select->kind_mask,
                   select->host, select->cell, edits[i].factor, edits[i].ns);
        for (size_t n = 0; n < ARRAY_COUNT(names); n++) {
            text_add_byte(key, names[n] ? '=' : '-');
            text_add(key, str_from(names[n] ? names[n] : ""));
            text_add_byte(key, '\0');
        }
    }
}

/* What rules ask for is asked again when their findings are priced. */
bool replay_run(struct study *study, const struct edit *edits, size_t count,
                struct replay_result *result, struct err *err)
{
    struct arena           scratch = { .budget_bytes = study->arena->budget_bytes };
    struct text            key = { .arena = &scratch };
    struct segment_groups *groups;
    uint32_t               known;
    bool                   ok = true;

    *result = (struct replay_result) { .step_ns = steps_ns(&study->steps), .bound = PART_UNKNOWN };
    if (study->path.segments.count == 0)
        return run_without_path(edits, count, result, err);
    groups = study->groups = study->groups ? study->groups : segment_groups_make(study, err);
    if (!groups)
        return false;
    text_add_byte(&key, '>');
    edits_key(edits, count, &key);
    known = text_is_whole(&key) ? intern_find(&groups->asked, text_str(&key)) : NO_ID;
    if (known != NO_ID)
        *result = groups->answers.items[known - 1];
    else
        ok = run(study, edits, count, result, err);
    if (ok && known == NO_ID && vec_push(&groups->answers, study->arena, *result) &&
        intern_add(&groups->asked, text_str(&key)) == NO_ID)
        groups->answers.count--;
    arena_free(&scratch);
    return ok;
}
