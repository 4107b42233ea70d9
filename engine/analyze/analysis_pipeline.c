/*
 * pipeline: the input pipeline graph and how much of each step waits for it.
 *   in    path frames and leaves (bounded by the looked-at steps), iterator stats
 *   out   study->pipeline, table "iterators", input.* facts
 *   cost  O(frames + leaves)
 * Iterator events and the identities between threads: tf.data's TraceMes (xprof's bottleneck
 * analysis reads the same ones). A captured function's work on pool threads is found through the
 * executor step it was given.
 */
#include "analyze/analysis.h"
#include "analyze/pipeline.h"
#include "analyze/work.h"

#include <stdlib.h>

static const struct fact_spec produces[] = {
    { "input.wait_ns", UNIT_NS, "a step's time waiting for input" },
    { "input.wait_share", UNIT_SHARE, "input.wait_ns of the step" },
    { "input.stage_count", UNIT_COUNT, "stages of the input pipeline" },
    { "input.inline_ns", UNIT_NS, "stages that run in the consumer, inside the step" },
    { "input.unstaged_ns", UNIT_NS, "input on the path of the step that belongs to no stage" },
    { "input.period_ns", UNIT_NS, "time a batch takes in the slowest asynchronous section" },
    { "input.is_prefetched", UNIT_BOOL, "batches are made ahead, in another thread" },
    { "input.keeps_up", UNIT_BOOL,
      "batches are made ahead in well less than a step: what is waited for is handing them over" },
    { "input.python_ns", UNIT_NS, "a step's time in Python inside the pipeline, all threads" },
    { "input.cpu_share", UNIT_SHARE, "of the cores' time in a step, spent on input" },
    { "input.bottleneck", UNIT_NAME, "stage with most time on the path of the step" },
    { "input.bottleneck_type", UNIT_NAME, "its type" },
    { "input.bottleneck_ns", UNIT_NS, "its time on the path of the step" },
};
enum {
    FACT_WAIT,
    FACT_WAIT_SHARE,
    FACT_STAGES,
    FACT_INLINE,
    FACT_UNSTAGED,
    FACT_PERIOD,
    FACT_PREFETCHED,
    FACT_KEEPS_UP,
    FACT_PYTHON,
    FACT_CPU_SHARE,
    FACT_BOTTLENECK,
    FACT_BOTTLENECK_TYPE,
    FACT_BOTTLENECK_NS
};

static const struct column_spec iterator_columns[] = {
    { "name", UNIT_NAME, "stage with those that consume it, root first" },
    { "type", UNIT_NAME, "kind of stage: Map, BatchV2, TFRecord" },
    { "dataset", UNIT_NAME, "dataset op and number as recorded" },
    { "dtypes", UNIT_NAME, "element types it yields, as recorded" },
    { "parent", UNIT_NAME, "stage that consumes it" },
    { "section", UNIT_NAME, "asynchronous stage whose thread runs it; empty: the consumer" },
    { "is_async", UNIT_BOOL, "hands elements over through a buffer" },
    { "depth", UNIT_COUNT, "stages between it and the root" },
    { "calls", UNIT_COUNT, "calls a step" },
    { "self_ns", UNIT_NS, "a step's time on its own thread, less the stages below" },
    { "wait_ns", UNIT_NS, "a step's time waiting for its buffer" },
    { "cpu_ns", UNIT_NS, "a step's time of its function on pool threads" },
    { "python_ns", UNIT_NS, "a step's time in Python in it" },
    { "path_ns", UNIT_NS, "time charged to it on the path of the step" },
    { "path_share", UNIT_SHARE, "path_ns of the step" },
    { "parallelism", UNIT_COUNT, "calls at once" },
    { "instances", UNIT_COUNT, "iterators seen: epochs, files" },
    { "call_ns", UNIT_NS, "mean time of a call, stages below included" },
    { "max_call_ns", UNIT_NS, "longest call" },
    { "top_op", UNIT_NAME, "op type with most time in its function" },
    { "top_op_ns", UNIT_NS, "that op's time a step" },
    { "below_random", UNIT_BOOL,
      "a shuffle or random op stands between it and the source, itself included" },
    { "random_below", UNIT_BOOL,
      "the same without shuffles: it makes other elements in each epoch" },
};
static const struct table_spec tables[] = {
    { "iterators", "stages of the input pipeline", iterator_columns,
      ARRAY_COUNT(iterator_columns) },
};

/* Stages with a buffer between them and their consumer. Names may carry a version suffix. */
static const struct str async_types[] = {
    STR_INIT("Prefetch"),    STR_INIT("ParallelMap"),   STR_INIT("ParallelInterleave"),
    STR_INIT("MapAndBatch"), STR_INIT("ParallelBatch"), STR_INIT("LegacyParallelInterleave"),
    STR_INIT("DataService"), STR_INIT("ParseExample"),
};

struct stage_sums {             /* beside struct stage, while counting */
    double        total_ns;     /* calls with what is below them */
    bool          draws_random; /* its function has an op of that name */
    struct id_map iterators;
};
struct op_sum {
    uint32_t stage, op_type;
    double   ns;
};
struct building {
    struct study         *study;
    const struct profile *profile;
    const struct path    *path;
    struct pipeline      *pipeline;
    struct arena         *scratch;
    uint32_t             *stage_of_frame; /* own or nearest stage above; NO_ID */
    struct id_map         stage_by_name, stage_by_step;
    VEC(struct stage_sums) sums;
    VEC(struct op_sum) ops;
};

/* "A::B[2]::C" without its instance numbers. */
static uint32_t logical_name(struct building *building, struct str name)
{
    struct text text = { .arena = building->scratch };

    for (size_t i = 0; i < name.len; i++) {
        if (name.data[i] == '[') {
            while (i < name.len && name.data[i] != ']')
                i++;
            continue;
        }
        text_add_byte(&text, name.data[i]);
    }
    return facts_name(&building->study->facts, text_str(&text));
}

static size_t last_part(struct str name)
{
    size_t at = str_find_last(name, ':');

    return at < name.len ? at + 1 : 0;
}

static bool is_async_type(struct str type)
{
    for (size_t i = 0; i < ARRAY_COUNT(async_types); i++)
        if (str_starts(type, async_types[i]))
            return true;
    return false;
}

static uint32_t stage_for(struct building *building, uint32_t name);

static uint32_t add_stage(struct building *building, uint32_t name)
{
    struct intern *names = building->study->facts.names;
    struct str     whole = intern_str(names, name);
    size_t         at = last_part(whole);
    struct stage   stage = { .name = name, .parent = NO_ID, .section = NO_ID, .parallelism = 1 };
    uint32_t       row;

    if (at >= 2) {
        struct str outer = str_slice(whole, 0, at - 2);

        /* "Iterator" alone is no stage. */
        if (str_find(outer, ':') < outer.len)
            stage.parent = stage_for(building, facts_name(&building->study->facts, outer));
        whole = intern_str(names, name);
    }
    stage.type = facts_name(&building->study->facts, str_slice(whole, at, whole.len));
    stage.is_async = is_async_type(intern_str(names, stage.type));
    if (stage.parent != NO_ID) {
        const struct stage *parent = &building->pipeline->stages.items[stage.parent];

        stage.section = parent->is_async ? stage.parent : parent->section;
    }
    row = (uint32_t)building->pipeline->stages.count;
    if (!vec_push(&building->pipeline->stages, building->study->arena, stage) ||
        !vec_push(&building->sums, building->scratch,
                  (struct stage_sums) { .iterators = { .arena = building->scratch } }) ||
        !id_map_put(&building->stage_by_name, name, row))
        return NO_ID;
    return row;
}

/* Depth is bounded by the parts of one event's name. */
static uint32_t stage_for(struct building *building, uint32_t name)
{
    uint32_t row = id_map_get(&building->stage_by_name, name);

    return row != NO_ID ? row : add_stage(building, name);
}

static bool count_call(struct building *building, uint32_t stage, uint32_t event)
{
    const struct profile *profile = building->profile;
    struct stage         *row = &building->pipeline->stages.items[stage];
    struct stage_sums    *sums = &building->sums.items[stage];
    double                ns = (double)event_duration_ns(profile, event);
    int64_t               value;

    row->calls++;
    sums->total_ns += ns;
    if (ns > row->max_call_ns)
        row->max_call_ns = ns;
    if (profile_stat(profile, STAT_DATASET, event, &value))
        row->dataset = (uint32_t)value;
    if (profile_stat(profile, STAT_DTYPES, event, &value))
        row->dtypes = (uint32_t)value;
    if (profile_stat(profile, STAT_PARALLELISM, event, &value) && (double)value > row->parallelism)
        row->parallelism = (double)value;
    return !profile_stat(profile, STAT_ITERATOR, event, &value) ||
           id_map_put(&sums->iterators, (uint64_t)value, 0);
}

static const struct activity *frame_activity(const struct building *building, uint32_t frame)
{
    return event_activity(building->profile, building->path->frames.items[frame].event);
}

/* Stage events in frames, and for each frame the stage it works for. */
static bool find_stages(struct building *building)
{
    const struct path *path = building->path;

    for (uint32_t f = 0; f < path->frames.count; f++) {
        const struct frame    *frame = &path->frames.items[f];
        const struct activity *activity = frame_activity(building, f);

        building->stage_of_frame[f] =
            frame->parent != NO_ID ? building->stage_of_frame[frame->parent] : NO_ID;
        if (activity->kind != ACTIVITY_INPUT_STAGE)
            continue;
        struct str name = profile_str(building->profile, activity->name);

        if (!str_starts(name, STR("Iterator::")))
            continue;
        uint32_t stage = stage_for(building, logical_name(building, name));

        if (stage == NO_ID || !count_call(building, stage, frame->event))
            return false;
        building->stage_of_frame[f] = stage;
    }
    return true;
}

/* A producer's event works for the stage that consumes what it calls: "XProduce" around stage S
 * belongs to S's consumer. */
static void assign_producers(struct building *building)
{
    const struct path *path = building->path;

    for (uint32_t f = 0; f < path->frames.count; f++) {
        uint32_t parent = path->frames.items[f].parent;

        if (parent == NO_ID || building->stage_of_frame[f] == NO_ID ||
            building->stage_of_frame[parent] != NO_ID ||
            frame_activity(building, parent)->kind != ACTIVITY_INPUT_BUFFER)
            continue;
        building->stage_of_frame[parent] =
            building->pipeline->stages.items[building->stage_of_frame[f]].parent;
    }
    /* What else the producer holds belongs to it too: children stand behind parents. */
    for (uint32_t f = 0; f < path->frames.count; f++) {
        uint32_t parent = path->frames.items[f].parent;

        if (parent != NO_ID && building->stage_of_frame[f] == NO_ID)
            building->stage_of_frame[f] = building->stage_of_frame[parent];
    }
}

static bool map_functions(struct building *building)
{
    const struct path *path = building->path;

    for (uint32_t f = 0; f < path->frames.count; f++) {
        int64_t step;

        if (building->stage_of_frame[f] == NO_ID ||
            !profile_stat(building->profile, STAT_EXECUTOR_STEP, path->frames.items[f].event,
                          &step))
            continue;
        if (str_starts(profile_str(building->profile, frame_activity(building, f)->name),
                       STR("InstantiatedCapturedFunction::")) &&
            !id_map_put(&building->stage_by_step, (uint64_t)step, building->stage_of_frame[f]))
            return false;
    }
    /* Frames on pool threads get their stage from the executor step they run. */
    for (uint32_t f = 0; f < path->frames.count; f++) {
        uint32_t parent = path->frames.items[f].parent;
        int64_t  step;

        if (building->stage_of_frame[f] != NO_ID)
            continue;
        if (profile_stat(building->profile, STAT_EXECUTOR_STEP, path->frames.items[f].event, &step))
            building->stage_of_frame[f] = id_map_get(&building->stage_by_step, (uint64_t)step);
        if (building->stage_of_frame[f] == NO_ID && parent != NO_ID)
            building->stage_of_frame[f] = building->stage_of_frame[parent];
    }
    return true;
}

/* The innermost op around a frame, or NO_ID. */
static uint32_t op_around(const struct building *building, uint32_t frame)
{
    for (; frame != NO_ID; frame = building->path->frames.items[frame].parent) {
        const struct activity *activity = frame_activity(building, frame);

        if (activity->op != NO_ID)
            return building->profile->ops.items[activity->op].type;
        if (activity->kind == ACTIVITY_INPUT_STAGE)
            break;
    }
    return NO_ID;
}

static bool is_python_op(struct str type)
{
    return str_contains(type, STR("PyFunc")) || str_contains(type, STR("Generator")) ||
           str_contains(type, STR("PyCall"));
}

/* Cheap ops are not always recorded; their names appear in the paths of those beside them. */
static bool has_random_name(const struct building *building, uint32_t frame)
{
    for (; frame != NO_ID; frame = building->path->frames.items[frame].parent) {
        const struct activity *activity = frame_activity(building, frame);
        struct str             name = profile_str(building->profile, activity->name);

        if (activity->op != NO_ID)
            return str_contains(name, STR("random")) || str_contains(name, STR("Random"));
        if (activity->kind == ACTIVITY_INPUT_STAGE)
            break;
    }
    return false;
}

static bool add_op_time(struct building *building, uint32_t stage, uint32_t op_type, double ns)
{
    for (size_t i = 0; i < building->ops.count; i++)
        if (building->ops.items[i].stage == stage && building->ops.items[i].op_type == op_type) {
            building->ops.items[i].ns += ns;
            return true;
        }
    return vec_push(&building->ops, building->scratch, (struct op_sum) { stage, op_type, ns });
}

static bool has_stage_frame(const struct building *building, uint32_t frame)
{
    for (; frame != NO_ID; frame = building->path->frames.items[frame].parent) {
        enum activity_kind kind = frame_activity(building, frame)->kind;

        if (kind == ACTIVITY_INPUT_STAGE || kind == ACTIVITY_INPUT_BUFFER)
            return true;
    }
    return false;
}

static bool add_leaf(struct building *building, const struct leaf *leaf)
{
    uint32_t           stage = building->stage_of_frame[leaf->frame];
    double             ns = (double)(leaf->end_ns - leaf->start_ns);
    enum activity_kind own = frame_activity(building, leaf->frame)->kind;
    uint32_t           op_type;
    struct stage      *row;

    if (stage == NO_ID)
        return true;
    row = &building->pipeline->stages.items[stage];
    op_type = op_around(building, leaf->frame);
    if (op_type != NO_ID) {
        if (has_random_name(building, leaf->frame))
            building->sums.items[stage].draws_random = true;
        if (is_python_op(profile_str(building->profile, op_type)))
            row->python_ns += ns;
        if (!add_op_time(building, stage, op_type, ns))
            return false;
    }
    if (!has_stage_frame(building, leaf->frame)) {
        if (work_is_active(building->path->frame_work[leaf->frame]))
            row->cpu_ns += ns;
    } else if (row->is_async && op_type == NO_ID &&
               (own == ACTIVITY_INPUT_STAGE || own == ACTIVITY_INPUT_BUFFER ||
                own == ACTIVITY_WAIT)) {
        row->wait_ns += ns;
    } else {
        row->self_ns += ns;
    }
    return true;
}

static bool add_leaves(struct building *building)
{
    for (size_t l = 0; l < building->path->lines.count; l++) {
        const struct path_line *line = &building->path->lines.items[l];

        for (size_t i = 0; i < line->leaves.count; i++)
            if (!add_leaf(building, &line->leaves.items[i]))
                return false;
    }
    return true;
}

static void add_path(struct building *building)
{
    const struct path *path = building->path;

    for (size_t i = 0; i < path->segments.count; i++) {
        const struct segment *segment = &path->segments.items[i];
        double                ns = (double)(segment->end_ns - segment->start_ns);
        uint32_t              stage = NO_ID;

        if (segment->part != PART_INPUT)
            continue;
        if (segment->frame != NO_ID)
            stage = building->stage_of_frame[segment->frame];
        if (stage == NO_ID && segment->owner != NO_ID)
            stage = building->stage_of_frame[segment->owner];
        if (stage == NO_ID)
            building->pipeline->unstaged_ns += ns;
        else
            building->pipeline->stages.items[stage].path_ns += ns;
    }
}

/* Sums over the looked-at steps become per step. */
static void average(struct building *building)
{
    struct pipeline *pipeline = building->pipeline;
    double           steps = (double)building->path->step_rows.count;

    for (size_t i = 0; i < building->ops.count; i++) {
        const struct op_sum *op = &building->ops.items[i];
        struct stage        *stage = &pipeline->stages.items[op->stage];

        if (op->ns / steps > stage->top_op_ns)
            stage->top_op = op->op_type, stage->top_op_ns = op->ns / steps;
    }
    for (size_t i = 0; i < pipeline->stages.count; i++) {
        struct stage *stage = &pipeline->stages.items[i];

        stage->instances = building->sums.items[i].iterators.count;
        stage->calls /= steps;
        stage->self_ns /= steps;
        stage->wait_ns /= steps;
        stage->cpu_ns /= steps;
        stage->python_ns /= steps;
        /* A generator is Python from end to end, also where no op of it shows. */
        if (str_equal(intern_str(building->study->facts.names, stage->type), STR("Generator")) &&
            stage->self_ns > stage->python_ns)
            stage->python_ns = stage->self_ns;
        stage->path_ns /= steps;
        building->sums.items[i].total_ns /= steps;
    }
    pipeline->unstaged_ns /= steps;
    pipeline->inline_ns = pipeline_section_ns(pipeline, NO_ID, NULL, NULL);
}

static bool is_shuffle(const struct building *building, uint32_t stage)
{
    uint32_t type = building->pipeline->stages.items[stage].type;

    return str_contains(intern_str(building->study->facts.names, type), STR("Shuffle"));
}

/* The stage's function, or a source of random numbers, makes other elements in each epoch. */
static bool draws_random(const struct building *building, uint32_t stage)
{
    uint32_t type = building->pipeline->stages.items[stage].type;

    return str_starts(intern_str(building->study->facts.names, type), STR("Random")) ||
           building->sums.items[stage].draws_random;
}

static bool is_random_below(const struct building *building, uint32_t stage, bool or_shuffled)
{

    /* Children stand behind parents: look at every stage that has `stage` above it. */
    for (uint32_t i = stage; i < building->pipeline->stages.count; i++) {
        uint32_t up = i;

        while (up != NO_ID && up != stage)
            up = building->pipeline->stages.items[up].parent;
        if (up == stage && (draws_random(building, i) || (or_shuffled && is_shuffle(building, i))))
            return true;
    }
    return false;
}

static bool fill_table(struct building *building)
{
    struct study    *study = building->study;
    struct pipeline *pipeline = building->pipeline;
    struct table    *table = facts_table(&study->facts, &tables[0]);
    double           step_ns = study->steps.mean_ns > 0 ? study->steps.mean_ns : 1;

    for (uint32_t i = 0; table && i < pipeline->stages.count; i++) {
        const struct stage *stage = &pipeline->stages.items[i];
        size_t              row = table_add(table, study->arena);
        double              depth = 0;

        if (row == SIZE_MAX)
            return false;
        for (uint32_t up = stage->parent; up != NO_ID; up = pipeline->stages.items[up].parent)
            depth++;
        const double values[] = {
            stage->name,
            stage->type,
            stage->dataset,
            stage->dtypes,
            stage->parent == NO_ID ? 0 : pipeline->stages.items[stage->parent].name,
            stage->section == NO_ID ? 0 : pipeline->stages.items[stage->section].name,
            stage->is_async,
            depth,
            stage->calls,
            stage->self_ns,
            stage->wait_ns,
            stage->cpu_ns,
            stage->python_ns,
            stage->path_ns,
            stage->path_ns / step_ns,
            stage->parallelism,
            stage->instances,
            stage->calls > 0 ? building->sums.items[i].total_ns / stage->calls : 0,
            stage->max_call_ns,
            stage->top_op,
            stage->top_op_ns,
            is_random_below(building, i, true),
            is_random_below(building, i, false),
        };
        for (size_t c = 0; c < ARRAY_COUNT(values); c++)
            table->columns[c][row] = values[c];
    }
    return table != NULL;
}

static bool set_bottleneck(struct building *building)
{
    struct facts       *facts = &building->study->facts;
    const struct stage *worst = NULL;

    for (size_t i = 0; i < building->pipeline->stages.count; i++) {
        const struct stage *stage = &building->pipeline->stages.items[i];

        if (stage->path_ns > 0 && (!worst || stage->path_ns > worst->path_ns))
            worst = stage;
    }
    if (!worst)
        return facts_absent(facts, "input.bottleneck", NULL, "no step waits for a stage");
    return facts_set(facts, &produces[FACT_BOTTLENECK], worst->name) &&
           facts_set(facts, &produces[FACT_BOTTLENECK_TYPE], worst->type) &&
           facts_set(facts, &produces[FACT_BOTTLENECK_NS], worst->path_ns);
}

/* A pipeline in other threads that needs half a step for a batch does not hold the step. */
static bool set_pace(struct building *building, double period_ns)
{
    static const double PACE = 0.5, INLINE = 0.1, INLINE_OF_STEP = 0.03;
    struct facts       *facts = &building->study->facts;
    double step_ns = building->study->steps.mean_ns, inline_ns = building->pipeline->inline_ns;
    bool   is_prefetched =
        period_ns > 0 && (inline_ns < INLINE * period_ns || inline_ns < INLINE_OF_STEP * step_ns);
    double wait_share = 0;

    facts_get(facts, "input.wait_share", &wait_share);
    return facts_set(facts, &produces[FACT_PREFETCHED], is_prefetched) &&
           facts_set(facts, &produces[FACT_KEEPS_UP],
                     is_prefetched && period_ns < PACE * step_ns && wait_share < PACE);
}

static bool set_facts(struct building *building)
{
    struct study          *study = building->study;
    struct facts          *facts = &study->facts;
    const struct pipeline *pipeline = building->pipeline;
    double                 python_ns = 0;
    double                 period_ns = pipeline_period_ns(pipeline, NULL, NULL, NULL);

    for (size_t i = 0; i < pipeline->stages.count; i++)
        python_ns += pipeline->stages.items[i].python_ns;
    if (pipeline->stages.count == 0)
        return facts_absent(facts, "iterators", "host_tracer_level=2 or higher",
                            "no tf.data iterator events in the steps") &&
               facts_set(facts, &produces[FACT_UNSTAGED], pipeline->unstaged_ns);
    return facts_set(facts, &produces[FACT_STAGES], (double)pipeline->stages.count) &&
           facts_set(facts, &produces[FACT_INLINE], pipeline->inline_ns) &&
           facts_set(facts, &produces[FACT_UNSTAGED], pipeline->unstaged_ns) &&
           facts_set(facts, &produces[FACT_PERIOD], period_ns) && set_pace(building, period_ns) &&
           facts_set(facts, &produces[FACT_PYTHON], python_ns) && set_bottleneck(building) &&
           fill_table(building);
}

static bool set_wait(struct study *study)
{
    double wait_ns = 0, share = 0, cpu_ns = 0, input_cpu_ns = 0;

    if (!facts_get(&study->facts, "part.input_ns", &wait_ns) ||
        !facts_get(&study->facts, "part.input_share", &share))
        return true;
    facts_get(&study->facts, "host.cpu_ns", &cpu_ns);
    facts_get(&study->facts, "host.input_cpu_ns", &input_cpu_ns);
    return facts_set(&study->facts, &produces[FACT_WAIT], wait_ns) &&
           facts_set(&study->facts, &produces[FACT_WAIT_SHARE], share) &&
           facts_set(&study->facts, &produces[FACT_CPU_SHARE],
                     study->steps.mean_ns > 0
                         ? input_cpu_ns / (study->path.core_count * study->steps.mean_ns)
                         : 0);
}

static bool build(struct study *study, struct arena *scratch)
{
    struct building building = { .study = study,
                                 .profile = study->profile,
                                 .path = &study->path,
                                 .scratch = scratch,
                                 .pipeline = arena_new(study->arena, struct pipeline),
                                 .stage_by_name = { .arena = scratch },
                                 .stage_by_step = { .arena = scratch } };

    building.stage_of_frame = arena_new_array(study->arena, uint32_t, study->path.frames.count);
    if (!building.pipeline || !building.stage_of_frame || !find_stages(&building))
        return false;
    assign_producers(&building);
    if (!map_functions(&building) || !add_leaves(&building))
        return false;
    add_path(&building);
    average(&building);
    building.pipeline->stage_of_frame = building.stage_of_frame;
    building.pipeline->core_count = study->path.core_count;
    study->pipeline = building.pipeline;
    return set_wait(study) && set_facts(&building);
}

static bool run(struct study *study, struct err *err)
{
    struct arena scratch = { .budget_bytes = study->arena->budget_bytes };
    bool         ok = study->path.segments.count
                          ? build(study, &scratch)
                          : facts_absent(&study->facts, "input.", "at least one whole step",
                                         "no step with a timeline of events") &&
                        facts_absent(&study->facts, "iterators", "at least one whole step",
                                             "no step with a timeline of events");

    arena_free(&scratch);
    return ok || err_set(err, ERR_LIMIT, "the input pipeline does not fit the memory budget");
}

const struct analysis analysis_pipeline = {
    .name = "pipeline",
    .summary = "stages of the input pipeline and the step's wait for them",
    .produces = produces,
    .produces_count = ARRAY_COUNT(produces),
    .tables = tables,
    .table_count = ARRAY_COUNT(tables),
    .run = run,
};
