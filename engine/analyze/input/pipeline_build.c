/*
 * pipeline_build: stages of the input pipeline from iterator events inside the looked-at steps.
 * Iterator events and the identities between threads: tf.data's TraceMes (xprof's bottleneck
 * analysis reads the same ones). A captured function's work on pool threads is found through the
 * executor step it was given. O(frames).
 */
#include "analyze/input/pipeline.h"

#include "analyze/path/work.h"
#include "analyze/study.h"
#include "model/names.h"

/* Stages with a buffer between them and their consumer. Names may carry a version suffix. */
struct stage_sums { /* beside struct stage, while counting */
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
    return name_is(type, NAMES_TF_BUFFERED_STAGE);
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

    if (row->calls == 0 || ns < row->min_call_ns)
        row->min_call_ns = ns;
    row->calls++;
    row->slow_calls += ns > SLOW_CALL_NS;
    row->total_ns += ns;
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

        if (building->stage_of_frame[f] != NO_ID &&
            str_starts(profile_str(building->profile, frame_activity(building, f)->name),
                       STR("InstantiatedCapturedFunction::")) &&
            profile_stat(building->profile, STAT_EXECUTOR_STEP, path->frames.items[f].event,
                         &step) &&
            !id_map_put(&building->stage_by_step, (uint64_t)step, building->stage_of_frame[f]))
            return false;
    }
    /* Frames on pool threads get their stage from the executor step they run. */
    for (uint32_t f = 0; f < path->frames.count; f++) {
        uint32_t parent = path->frames.items[f].parent;
        int64_t  step;

        if (building->stage_of_frame[f] != NO_ID)
            continue;
        if (building->stage_by_step.count > 0 &&
            profile_stat(building->profile, STAT_EXECUTOR_STEP, path->frames.items[f].event, &step))
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
    return str_fits(type, "*PyFunc*|*Generator*|*PyCall*");
}

/* Cheap ops are not always recorded; their names appear in the paths of those beside them. */
static bool has_random_name(const struct building *building, uint32_t frame)
{
    for (; frame != NO_ID; frame = building->path->frames.items[frame].parent) {
        const struct activity *activity = frame_activity(building, frame);
        struct str             name = profile_str(building->profile, activity->name);

        if (activity->op != NO_ID)
            return str_fits(name, "*random*|*Random*");
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

/* What a frame does itself. */
static bool add_frame(struct building *building, uint32_t frame)
{
    uint32_t           stage = building->stage_of_frame[frame];
    double             ns = (double)building->path->frame_self_ns[frame];
    enum activity_kind own;
    uint32_t           op_type;
    struct stage      *row;

    if (stage == NO_ID || ns <= 0)
        return true;
    own = frame_activity(building, frame)->kind;
    row = &building->pipeline->stages.items[stage];
    op_type = op_around(building, frame);
    if (op_type != NO_ID) {
        if (has_random_name(building, frame))
            building->pipeline->stages.items[stage].draws_random = true;
        if (is_python_op(profile_str(building->profile, op_type)))
            row->python_ns += ns;
        if (!add_op_time(building, stage, op_type, ns))
            return false;
    }
    if (!has_stage_frame(building, frame)) {
        if (work_is_active(building->path->frame_work[frame]))
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

static bool add_frames(struct building *building)
{
    bool is_done = true;

    for (uint32_t f = 0; is_done && f < building->path->frames.count; f++)
        is_done = add_frame(building, f);
    return is_done;
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
        stage->slow_calls /= steps;
        stage->self_ns /= steps;
        stage->wait_ns /= steps;
        stage->cpu_ns /= steps;
        stage->python_ns /= steps;
        /* A generator is Python from end to end, also where no op of it shows. */
        if (str_equal(intern_str(building->study->facts.names, stage->type), STR("Generator")) &&
            stage->self_ns > stage->python_ns)
            stage->python_ns = stage->self_ns;
        stage->path_ns /= steps;
        stage->total_ns /= steps;
    }
    pipeline->unstaged_ns /= steps;
    pipeline->inline_ns = pipeline_section_ns(pipeline, NO_ID, NULL, NULL);
}

struct pipeline *pipeline_build(struct study *study, struct arena *scratch)
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
        return NULL;
    assign_producers(&building);
    if (!map_functions(&building) || !add_frames(&building))
        return NULL;
    add_path(&building);
    average(&building);
    building.pipeline->stage_of_frame = building.stage_of_frame;
    building.pipeline->core_count = study->path.core_count;
    return building.pipeline;
}
