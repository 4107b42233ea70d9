/* The last step of reading TensorFlow's files: rows in the order that the profile promises. */
#include "base/parallel.h"
#include "base/sort.h"
#include "model/names.h"
#include "read/op_kinds.h"
#include "read/tf/tf_classic.h"
#include "read/tf/tf_model.h"

#include <stdlib.h>

enum { BATCH_EVENTS = 1024 };

/* Results of all ops by slot: those of op are [first[op], first[op + 1]). */
struct result {
    uint32_t shape; /* row of tf_model.shapes, or NO_ID */
    uint32_t dtype;
};
struct results {
    uint32_t      *first;
    struct result *items;
};

static bool is_known(const struct tf_model *model, uint32_t shape)
{
    const struct tensor *tensor = &model->shapes.rows.items[shape];

    for (int i = 0; i < tensor->rank; i++)
        if (tensor->dims[i] < 0)
            return false;
    return tensor->rank >= 0;
}

static bool is_boolean(struct str type)
{
    return name_is(type, NAMES_TF_BOOLEAN);
}

static bool alloc_results(struct tf_model *model, struct results *results)
{
    size_t count = model->profile->ops.count, total = 0;

    results->first = arena_new_array(&model->scratch, uint32_t, count + 1);
    if (!results->first || model->outputs.count >= NO_ID)
        return false;
    /* Slots are claims: no op gets more than one a shape that was told for it. */
    for (size_t i = 0; i < model->outputs.count; i++)
        results->first[model->outputs.items[i].op]++;
    for (size_t op = 0; op <= count; op++) {
        uint32_t slots = results->first[op];

        results->first[op] = (uint32_t)total;
        total += slots;
    }
    results->items = arena_new_array(&model->scratch, struct result, total);
    for (size_t i = 0; results->items && i < total; i++)
        results->items[i].shape = NO_ID;
    return results->items != NULL;
}

static bool group_results(struct tf_model *model, struct results *results)
{
    struct profile *profile = model->profile;

    if (!alloc_results(model, results))
        return false;
    for (size_t i = 0; i < model->outputs.count; i++) {
        const struct tf_output *output = &model->outputs.items[i];
        uint32_t                first = results->first[output->op];
        struct result          *place = &results->items[first] + output->slot;

        if (output->slot >= results->first[output->op + 1] - first)
            continue;
        if (place->shape == NO_ID ||
            (!is_known(model, place->shape) && is_known(model, output->shape)))
            *place = (struct result) { .shape = output->shape, .dtype = output->dtype };
        if (!place->dtype)
            place->dtype = is_boolean(profile_str(profile, profile->ops.items[output->op].type))
                               ? DTYPE_BOOL
                               : model->states.items[output->op].dtype;
    }
    return true;
}

/* How many results an op really has: told ones, without the room that repeats left. */
static uint32_t result_count(const struct results *results, uint32_t op)
{
    uint32_t count = results->first[op + 1] - results->first[op];

    while (count && results->items[results->first[op] + count - 1].shape == NO_ID)
        count--;
    return count;
}

static void resolve_inputs(struct tf_model *model)
{
    struct profile *profile = model->profile;
    uint64_t        lost = 0;

    for (size_t i = 0; i < model->inputs.count; i++) {
        struct tf_input *input = &model->inputs.items[i];

        if (!input->is_resolved)
            input->from = tf_model_find(model, profile->ops.items[input->op].module, input->from);
        input->is_resolved = true;
        /* In functions an input may be an argument, which is no node. */
        lost += input->from == NO_ID && !input->may_lack && !profile->ops.items[input->op].module;
    }
    if (lost)
        profile_note(profile, NULL, lost, "inputs that name no node left out");
}

/* Ops of one type mostly have the same shapes: equal lists of them are one run of tensors. */
struct shape_lists {
    struct intern lists;     /* of struct result */
    VEC(uint32_t) tensors;   /* where each starts, by its id */
    VEC(struct result) list; /* the one in the making */
};

static bool add_tensors(struct tf_model *model, const struct shape_lists *lists)
{
    struct profile *profile = model->profile;

    for (size_t i = 0; i < lists->list.count; i++) {
        const struct result *result = &lists->list.items[i];
        struct tensor        tensor = { .rank = -1 };

        if (result->shape != NO_ID)
            tensor = model->shapes.rows.items[result->shape];
        tensor.dtype = (uint8_t)result->dtype;
        if (!vec_push(&profile->tensors, profile->arena, tensor))
            return false;
    }
    return true;
}

/* The row of the first tensor of the list; NO_ID: past the budget. */
static uint32_t list_row(struct tf_model *model, struct shape_lists *lists)
{
    struct profile *profile = model->profile;
    struct str      bytes = { .data = (const char *)lists->list.items,
                              .len = lists->list.count * sizeof *lists->list.items };
    uint32_t        id = intern_add(&lists->lists, bytes), row;

    if (id < lists->tensors.count)
        return lists->tensors.items[id];
    row = (uint32_t)profile->tensors.count;
    return id != NO_ID && profile->tensors.count + lists->list.count < NO_ID &&
                   vec_push(&lists->tensors, &model->scratch, row) && add_tensors(model, lists)
               ? row
               : NO_ID;
}

/* Inputs of one op stand together and in order, as the files list them. */
static bool place_tensors(struct tf_model *model, const struct results *results)
{
    static const struct result unknown = { .shape = NO_ID };
    struct profile            *profile = model->profile;
    struct shape_lists         lists = { 0 };
    size_t                     next = 0;

    if (!intern_init(&lists.lists, &model->scratch) ||
        !vec_push(&lists.tensors, &model->scratch, 0))
        return false;
    for (uint32_t op = 0; op < profile->ops.count; op++) {
        struct op *row = &profile->ops.items[op];
        uint32_t   outputs = result_count(results, op);

        lists.list.count = 0;
        for (; next < model->inputs.count && model->inputs.items[next].op == op; next++) {
            const struct tf_input *input = &model->inputs.items[next];
            bool                   has_shape =
                input->from != NO_ID && input->slot < result_count(results, input->from);

            if (input->is_control)
                continue;
            if (!vec_push(&lists.list, &model->scratch,
                          has_shape ? results->items[results->first[input->from] + input->slot]
                                    : unknown))
                return false;
            row->input_count++;
        }
        row->output_count = outputs;
        profile->has_shapes |= outputs > 0;
        for (uint32_t i = 0; i < outputs; i++)
            if (!vec_push(&lists.list, &model->scratch, results->items[results->first[op] + i]))
                return false;
        row->first_input = list_row(model, &lists);
        if (row->first_input == NO_ID)
            return false;
        row->first_output = row->first_input + row->input_count;
    }
    return true;
}

/* Stable counting sort of attributes by op. */
static bool place_attrs(struct tf_model *model)
{
    struct profile *profile = model->profile;
    uint32_t        total = 0;

    if (!vec_reserve(&profile->attrs, profile->arena, model->attrs.count))
        return false;
    for (size_t i = 0; i < model->attrs.count; i++)
        profile->ops.items[model->attrs.items[i].op].attr_count++;
    for (size_t op = 0; op < profile->ops.count; op++) {
        profile->ops.items[op].first_attr = total;
        total += profile->ops.items[op].attr_count;
        profile->ops.items[op].attr_count = 0;
    }
    for (size_t i = 0; i < model->attrs.count; i++) {
        struct op *op = &profile->ops.items[model->attrs.items[i].op];

        profile->attrs.items[op->first_attr + op->attr_count++] = model->attrs.items[i].attr;
    }
    profile->attrs.count = total;
    return true;
}

/* `graph`: where the finished graph lives, `scratch` what its making takes. */
static bool make_graph(struct tf_model *model, struct arena *graph, struct arena *scratch,
                       struct err *err)
{
    struct profile *profile = model->profile;
    VEC(struct op_edge) edges = { 0 };

    if (!vec_reserve(&edges, scratch, model->inputs.count))
        return tf_model_full(err);
    for (size_t i = 0; i < model->inputs.count; i++) {
        const struct tf_input *input = &model->inputs.items[i];

        if (input->from != NO_ID)
            edges.items[edges.count++] = (struct op_edge) {
                input->from, input->op, input->is_control,
                (uint16_t)(input->index < UINT16_MAX ? input->index : UINT16_MAX)
            };
    }
    profile->graph =
        op_graph_new(graph, (uint32_t)profile->ops.count, edges.items, edges.count, err);
    return profile->graph != NULL;
}

static int compare_events(const void *left, const void *right)
{
    const struct tf_event *a = left, *b = right;

    return IN_ORDER(COMPARE(a->start_ns, b->start_ns), COMPARE(b->duration_ns, a->duration_ns),
                    COMPARE(a->sequence, b->sequence));
}

/* Records come as they ended, which mostly is as they began. */
static void sort_timeline(struct tf_event *events, uint32_t count)
{
    sort_nearly_sorted(events, count, sizeof *events, compare_events);
}

/* Events by timeline, each in order; NULL: past the budget. */
static struct tf_event *sort_events(struct tf_model *model)
{
    struct profile  *profile = model->profile;
    size_t           count = model->events.count;
    struct tf_event *sorted = arena_new_array(&model->scratch, struct tf_event, count);
    uint32_t         first = 0;

    if (!sorted)
        return NULL;
    for (size_t i = 0; i < count; i++)
        profile->timelines.items[model->events.items[i].timeline].event_count++;
    for (size_t i = 0; i < profile->timelines.count; i++) {
        struct timeline *timeline = &profile->timelines.items[i];

        timeline->first_event = first;
        first += timeline->event_count;
        timeline->event_count = 0;
    }
    for (size_t i = 0; i < count; i++) {
        struct timeline *timeline = &profile->timelines.items[model->events.items[i].timeline];

        sorted[timeline->first_event + timeline->event_count++] = model->events.items[i];
    }
    for (size_t i = 0; i < profile->timelines.count; i++)
        sort_timeline(sorted + profile->timelines.items[i].first_event,
                      profile->timelines.items[i].event_count);
    return sorted;
}

/* What an op is beside computing goes by its type, which may stand in another file than its runs.
 */
static void name_kinds(struct profile *profile)
{
    for (size_t i = 0; i < profile->activities.count; i++) {
        struct activity *activity = &profile->activities.items[i];

        if (activity->kind == ACTIVITY_OP && activity->op != NO_ID)
            activity->kind = (uint8_t)op_type_kind(
                profile_str(profile, profile->ops.items[activity->op].type), ACTIVITY_OP);
    }
}

static bool place_events(struct tf_model *model)
{
    struct profile *profile = model->profile;
    uint32_t        count = (uint32_t)model->events.count, some;
    int64_t         starts_ns[BATCH_EVENTS], durations_ns[BATCH_EVENTS], labels[BATCH_EVENTS];
    const struct tf_event *events;

    if (model->events.count >= NO_ID || !profile_label_activities(profile))
        return false;
    name_kinds(profile);
    events = sort_events(model);
    for (uint32_t i = 0; events && i < count; i += some) {
        some = count - i < BATCH_EVENTS ? count - i : BATCH_EVENTS;
        for (uint32_t row = 0; row < some; row++) {
            starts_ns[row] = events[i + row].start_ns - profile->origin_ns;
            durations_ns[row] = events[i + row].duration_ns;
            labels[row] = events[i + row].activity;
        }
        if (!profile_add_events(profile, &(struct event_rows) { starts_ns, durations_ns, labels },
                                some))
            return false;
    }
    return events != NULL;
}

/* Times so far are since 1970; the profile's start at its origin. */
static void shift_times(struct tf_model *model)
{
    struct profile *profile = model->profile;
    int64_t         start_ns = INT64_MAX, end_ns = 0;

    for (size_t i = 0; i < profile->recorded_steps.count; i++) {
        struct recorded_step *step = &profile->recorded_steps.items[i];

        if (step->start_ns < start_ns)
            start_ns = step->start_ns;
        if (step->start_ns != INT64_MAX && step->start_ns + step->duration_ns > end_ns)
            end_ns = step->start_ns + step->duration_ns;
    }
    for (size_t i = 0; i < model->events.count; i++)
        if (model->events.items[i].start_ns < start_ns)
            start_ns = model->events.items[i].start_ns;
    if (start_ns == INT64_MAX)
        start_ns = 0;
    profile->origin_ns = start_ns;
    profile->end_ns = end_ns > start_ns ? end_ns - start_ns : 0;
    for (size_t i = 0; i < profile->recorded_steps.count; i++) {
        struct recorded_step *step = &profile->recorded_steps.items[i];

        step->start_ns = step->start_ns == INT64_MAX ? 0 : step->start_ns - start_ns;
    }
    for (size_t i = 0; i < profile->op_runs.count; i++) {
        struct op_run *run = &profile->op_runs.items[i];

        run->start_ns -= run->start_ns >= 0 ? start_ns : 0;
        run->scheduled_ns -= run->scheduled_ns >= 0 ? start_ns : 0;
    }
    for (size_t i = 0; i < profile->memory_events.count; i++)
        profile->memory_events.items[i].time_ns -= start_ns;
}

static int compare_steps(const void *left, const void *right)
{
    const struct recorded_step *a = left, *b = right;

    return COMPARE(a->number, b->number);
}

/* Steps by number: files and maps have them in any order. */
static bool sort_steps(struct tf_model *model)
{
    struct profile *profile = model->profile;
    size_t          count = profile->recorded_steps.count;
    int64_t        *numbers = arena_new_array(&model->scratch, int64_t, count + 1);
    uint32_t       *place = arena_new_array(&model->scratch, uint32_t, count + 1);

    if (!numbers || !place)
        return false;
    for (size_t i = 0; i < count; i++)
        numbers[i] = profile->recorded_steps.items[i].number;
    if (count)
        qsort(profile->recorded_steps.items, count, sizeof *profile->recorded_steps.items,
              compare_steps);
    model->step_rows = (struct id_map) { .arena = &model->scratch };
    for (size_t i = 0; i < count; i++)
        if (!id_map_put(&model->step_rows, (uint64_t)profile->recorded_steps.items[i].number,
                        (uint32_t)i))
            return false;
    for (size_t i = 0; i < count; i++)
        place[i] = id_map_get(&model->step_rows, (uint64_t)numbers[i]);
    for (size_t i = 0; i < profile->op_runs.count; i++)
        profile->op_runs.items[i].step = place[profile->op_runs.items[i].step];
    for (size_t i = 0; i < profile->op_memory.count; i++)
        profile->op_memory.items[i].step = place[profile->op_memory.items[i].step];
    return true;
}

static int compare_inputs(const void *left, const void *right)
{
    const struct tf_input *a = left, *b = right;

    /* Damaged: two inputs of one index. */
    return IN_ORDER(COMPARE(a->op, b->op), COMPARE(a->index, b->index), COMPARE(a->from, b->from),
                    COMPARE(a->slot, b->slot));
}

static bool are_inputs_sorted(const struct tf_model *model)
{
    for (size_t i = 1; i < model->inputs.count; i++)
        if (compare_inputs(&model->inputs.items[i - 1], &model->inputs.items[i]) > 0)
            return false;
    return true;
}

/* Inputs of each op in their order: those of a ProfileProto are a map, which has none. */
static void sort_each(struct tf_input *inputs, size_t count)
{
    for (size_t first = 0, end; first < count; first = end) {
        for (end = first + 1; end < count && inputs[end].op == inputs[first].op;)
            end++;
        sort_nearly_sorted(inputs + first, end - first, sizeof *inputs, compare_inputs);
    }
}

/* By op and index. Ops come in the order of their rows but for graphs that were given in several
 * files: a counting sort by op. */
static bool sort_inputs(struct tf_model *model)
{
    size_t           count = model->inputs.count, ops = model->profile->ops.count;
    struct tf_input *sorted;
    uint32_t        *next;

    if (are_inputs_sorted(model))
        return true;
    sorted = arena_new_array(&model->scratch, struct tf_input, count);
    next = arena_new_array(&model->scratch, uint32_t, ops + 1);
    if (!sorted || !next || count >= NO_ID)
        return false;
    for (size_t i = 0; i < count; i++)
        next[model->inputs.items[i].op + 1]++;
    for (size_t op = 0; op < ops; op++)
        next[op + 1] += next[op];
    for (size_t i = 0; i < count; i++)
        sorted[next[model->inputs.items[i].op]++] = model->inputs.items[i];
    sort_each(sorted, count);
    model->inputs.items = sorted;
    model->inputs.capacity = count;
    return true;
}

/* Ops that never ran are on the device that the graph wants; one that ran may be what it means. */
static bool place_wishes(struct tf_model *model)
{
    struct profile *profile = model->profile;

    for (size_t i = 0; i < model->wishes.count; i++) {
        const struct tf_wish *wish = &model->wishes.items[i];
        struct op            *op = &profile->ops.items[wish->op];
        struct str            name = profile_str(profile, wish->device_name);

        for (uint32_t row = 0; row < profile->devices.count && op->device == NO_ID; row++)
            if (str_ends(profile_str(profile, profile->devices.items[row].name), name))
                op->device = row;
        if (op->device == NO_ID)
            op->device = tf_model_device(model, name);
        if (op->device == NO_ID)
            return false;
    }
    return true;
}

/* Two halves that write nothing both look at, and each into arenas of its own. */
enum { HALF_COLUMNS, HALF_RELATIONS, HALF_COUNT };
struct finish {
    struct tf_model *model;
    struct arena     kept; /* of HALF_RELATIONS, for the profile */
    bool             is_done[HALF_COUNT];
    struct err       errs[HALF_COUNT];
};

static bool place_columns(struct tf_model *model, struct err *err)
{
    struct profile *profile = model->profile;
    struct results  results;

    for (uint32_t op = 0; op < profile->ops.count && model->graph_source != TF_GRAPH_NONE; op++)
        profile->ops.items[op].graph_node = op;
    return (group_results(model, &results) && place_tensors(model, &results) &&
            place_attrs(model) && tf_classic_finish(model) &&
            tf_flops_fill(profile, &model->scratch) && place_events(model) &&
            tf_launches_join(model)) ||
           tf_model_full(err);
}

static bool place_relations(struct tf_model *model, struct arena *kept, struct err *err)
{
    struct arena scratch = { .budget_bytes = model->scratch.budget_bytes };
    bool         has_graph = model->graph_source != TF_GRAPH_NONE && !model->classic;
    bool         is_placed = tf_memory_finish(model->profile, &scratch) || tf_model_full(err);

    is_placed = is_placed && (!has_graph || make_graph(model, kept, &scratch, err));
    arena_free(&scratch);
    return is_placed;
}

static void finish_half(void *shared, size_t half)
{
    struct finish *finish = shared;

    finish->is_done[half] =
        half == HALF_COLUMNS ? place_columns(finish->model, &finish->errs[half])
                             : place_relations(finish->model, &finish->kept, &finish->errs[half]);
}

bool tf_model_finish(struct tf_model *model, unsigned threads, struct err *err)
{
    struct profile *profile = model->profile;
    struct finish   finish = { .model = model, .kept.budget_bytes = profile->arena->budget_bytes };

    if (model->has_gpu && !model->has_stream_all && model->events.count)
        profile_note(profile, NULL, 1,
                     "ops ran on an accelerator, but its streams were not recorded: accelerator "
                     "times are missing");
    if (!tf_partitions_join(model) || !sort_inputs(model) || !sort_steps(model))
        return tf_model_full(err);
    resolve_inputs(model);
    if (!place_wishes(model))
        return tf_model_full(err);
    shift_times(model);
    parallel_for(HALF_COUNT, threads, finish_half, &finish);
    arena_join(profile->arena, &finish.kept);
    for (size_t half = 0; half < HALF_COUNT; half++)
        if (!finish.is_done[half]) {
            *err = finish.errs[half];
            return false;
        }
    return true;
}
