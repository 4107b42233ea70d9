#include "analyze/classic/classic_model.h"

#include "analyze/classic/classic_maker.h"
#include "analyze/ops/op_times.h"
#include "base/macros.h"
#include "base/sort.h"
#include "base/text.h"

#include <stdlib.h>

static bool is_work(const struct activity *activity)
{
    return activity_kind_is_op(activity->kind) &&
           (activity->kind != ACTIVITY_OUTPUT || activity->op != NO_ID);
}

/* Eager executions are ops too, though no event is named after the op itself. */
static bool is_op(const struct profile *profile, uint32_t event)
{
    return is_work(event_activity(profile, event)) || op_times_eager_name(profile, event) != NO_ID;
}

/* "scope/name": what a compiled instruction was made from is its scope. */
static uint32_t name_of(struct maker *maker, const struct activity *activity, uint32_t eager,
                        uint32_t path)
{
    struct profile *profile = maker->profile;
    struct text     text = { .arena = &maker->scratch };
    struct str      scope = profile_str(profile, path);
    struct str      name = profile_str(profile, eager == NO_ID ? activity->name : eager);

    if (activity->op != NO_ID && eager == NO_ID) {
        const struct op *op = &profile->ops.items[activity->op];

        name = profile_str(profile, op->name);
        if (op->origin)
            scope = profile_str(profile, op->origin);
    }
    if (!scope.len)
        return profile_intern(profile, name);
    text_print(&text, "%.*s/%.*s", STR_ARG(scope), STR_ARG(name));
    return profile_intern(profile, text_str(&text));
}

static uint32_t type_of(struct maker *maker, const struct activity *activity)
{
    struct profile *profile = maker->profile;

    if (activity->op != NO_ID && profile->ops.items[activity->op].type)
        return profile->ops.items[activity->op].type;
    if (activity->category && activity->kind != ACTIVITY_OP && activity->kind != ACTIVITY_KERNEL)
        return activity->category;
    return profile_intern(profile, op_times_short_name(profile_str(profile, activity->name)));
}

/* What JAX makes of a function for its gradients is of the lines that ran forward. */
static bool is_transposed(const struct maker *maker, uint32_t op)
{
    const struct profile *profile = maker->profile;

    return str_contains(profile_str(profile, profile->ops.items[op].origin), STR("transpose("));
}

/* eager: interned name of the op that an eager execution runs, or NO_ID. */
static uint32_t add_node(struct maker *maker, const struct activity *activity, uint32_t eager,
                         uint32_t row)
{
    struct classic_context context = maker->contexts.rows.items[row];
    struct made_node       made = { .name = name_of(maker, activity, eager, context.path),
                                    .type = eager == NO_ID ? type_of(maker, activity) : eager,
                                    .source = activity->source,
                                    .op = activity->op,
                                    .is_gradient = context.is_gradient };
    uint32_t               node;
    uint64_t               key;
    bool                   is_full = made.name == NO_ID || made.type == NO_ID;

    if (made.source == NO_ID && activity->op != NO_ID)
        made.source = maker->profile->ops.items[activity->op].source;
    if (activity->op != NO_ID)
        made.is_gradient |= is_transposed(maker, activity->op);
    if (maker->contexts.by_line)
        made.source = contexts_source(&maker->contexts, row, made.source, &is_full);
    key = (uint64_t)made.name << 32;
    if (maker->contexts.by_line)
        key |= (uint32_t)((made.source + 1) << 1 | made.is_gradient);
    node = id_map_get(&maker->node_of_name, key);
    if (node != NO_ID || is_full)
        return is_full ? NO_ID : node;
    node = (uint32_t)maker->nodes.count;
    return id_map_put(&maker->node_of_name, key, node) &&
                   vec_push(&maker->nodes, &maker->scratch, made)
               ? node
               : NO_ID;
}

/* Row of the node that an event is in a context; NO_ID: full. */
static uint32_t node_of(struct maker *maker, uint32_t event, uint32_t context)
{
    uint32_t       activity = event_activity_id(maker->profile, event);
    uint32_t       eager = op_times_eager_name(maker->profile, event);
    struct id_map *map = eager == NO_ID ? &maker->node_of_activity : &maker->node_of_eager;
    uint64_t       key = (uint64_t)context << 32 | (eager == NO_ID ? activity : eager);
    uint32_t       node = id_map_get(map, key);

    if (node != NO_ID)
        return node;
    node = add_node(maker, &maker->profile->activities.items[activity], eager, context);
    return node != NO_ID && id_map_put(map, key, node) ? node : NO_ID;
}

static uint32_t exec_of(struct maker *maker, uint32_t node, uint32_t step)
{
    uint64_t         key = (uint64_t)node << 32 | step;
    uint32_t         exec = id_map_get(&maker->exec_of, key);
    struct made_exec made = { .node = node, .step = step, .start_ns = INT64_MAX };

    if (exec != NO_ID)
        return exec;
    exec = (uint32_t)maker->execs.count;
    return id_map_put(&maker->exec_of, key, exec) && vec_push(&maker->execs, &maker->scratch, made)
               ? exec
               : NO_ID;
}

/* Whether a step ends before a time of a host: steps stand by host and time. */
static bool is_before(const struct step *step, uint32_t host, int64_t time_ns)
{
    return step->host < host || (step->host == host && step->end_ns <= time_ns);
}

/* The row itself if it is a used step that holds a time. */
static uint32_t used_step(const struct steps *steps, uint32_t row, uint32_t host, int64_t time_ns)
{
    const struct step *step;

    if (row == steps->list.count)
        return NO_ID;
    step = &steps->list.items[row];
    return step->host == host && step->start_ns <= time_ns && step->is_used ? row : NO_ID;
}

/* The used step of a host that holds a time; NO_ID: none. For times that ascend: *from is where the
 * one before was. */
static uint32_t step_at(const struct maker *maker, uint32_t host, int64_t time_ns, uint32_t *from)
{
    const struct steps *steps = &maker->study->steps;

    while (*from < steps->list.count && is_before(&steps->list.items[*from], host, time_ns))
        ++*from;
    return used_step(steps, *from, host, time_ns);
}

/* The same for times in any order. */
static uint32_t find_step(const struct maker *maker, uint32_t host, int64_t time_ns)
{
    const struct steps *steps = &maker->study->steps;
    uint32_t            low = (uint32_t)LOWER_BOUND(steps->list.count, i,
                                                    is_before(&steps->list.items[i], host, time_ns));

    return used_step(steps, low, host, time_ns);
}

static uint32_t device_name(struct maker *maker, const struct timeline *timeline)
{
    struct text text = { .arena = &maker->scratch };

    if (timeline->device == NO_ID)
        return maker->host_device;
    text_print(&text, "/device:%s:%d",
               maker->profile->devices.items[timeline->device].kind == DEVICE_GPU   ? "gpu"
               : maker->profile->devices.items[timeline->device].kind == DEVICE_TPU ? "tpu"
                                                                                    : "accelerator",
               maker->profile->devices.items[timeline->device].ordinal);
    return profile_intern(maker->profile, text_str(&text));
}

struct place { /* an event that counts */
    uint32_t event, node, step, device;
    bool     is_accelerator;
};

static bool count_event(struct maker *maker, const struct place *place, uint32_t *row)
{
    int64_t           duration_ns = event_duration_ns(maker->profile, place->event);
    int64_t           start_ns = event_start_ns(maker->profile, place->event);
    struct made_exec *exec;
    struct made_node *node = &maker->nodes.items[place->node];

    *row = exec_of(maker, place->node, place->step);
    if (*row == NO_ID)
        return false;
    exec = &maker->execs.items[*row];
    if (place->is_accelerator)
        exec->accelerator_ns += duration_ns;
    else
        exec->cpu_ns += duration_ns;
    exec->runs += !place->is_accelerator || node->device == place->device || !node->device;
    exec->start_ns = start_ns < exec->start_ns ? start_ns : exec->start_ns;
    exec->end_ns = start_ns + duration_ns > exec->end_ns ? start_ns + duration_ns : exec->end_ns;
    if (!node->device)
        node->device = place->device;
    return true;
}

/* What is nested in an op is taken off its time. */
static void take_off(struct maker *maker, uint32_t event, bool is_accelerator)
{
    const struct open_event *around = NULL;
    int64_t                  start_ns = event_start_ns(maker->profile, event);
    int64_t                  duration_ns = event_duration_ns(maker->profile, event);

    for (size_t i = maker->stack.count; i-- > 0 && !around;)
        if (maker->stack.items[i].exec != NO_ID)
            around = &maker->stack.items[i];
    if (!around)
        return;
    if (start_ns + duration_ns > around->end_ns)
        duration_ns = around->end_ns - start_ns;
    if (is_accelerator)
        maker->execs.items[around->exec].accelerator_ns -= duration_ns;
    else
        maker->execs.items[around->exec].cpu_ns -= duration_ns;
}

/* The context inside of an event; NO_ID: full. Gradients run on threads of their own; they are of
 * the line that ran forward. */
static uint32_t context_inside(struct maker *maker, uint32_t event, uint32_t around)
{
    const struct activity *activity = event_activity(maker->profile, event);
    uint32_t               forward = maker->forward_of ? maker->forward_of[event] : NO_ID;
    uint32_t               node = forward != NO_ID ? maker->node_of_event[forward] : NO_ID;

    if (node != NO_ID)
        around = contexts_gradient(&maker->contexts, around, maker->nodes.items[node].source);
    return around == NO_ID || is_work(activity)
               ? around
               : contexts_enter(&maker->contexts, around, activity);
}

/* Puts an event on the stack: it is inside of what is there. */
static bool open_event(struct maker *maker, struct open_event *event)
{
    const struct open_event *around =
        maker->stack.count ? &maker->stack.items[maker->stack.count - 1] : NULL;

    event->least_end_ns = around ? int64_least(event->end_ns, around->least_end_ns) : event->end_ns;
    if (!is_op(maker->profile, event->event))
        event->node = around ? around->node : NO_ID;
    event->context = context_inside(maker, event->event, around ? around->context : 0);
    return event->context != NO_ID && vec_push(&maker->stack, &maker->scratch, *event);
}

/* Annotations may begin inside of a function and end behind it: what has ended is taken out from
 * under them. */
static bool close_events(struct maker *maker, int64_t now_ns)
{
    size_t count;

    while (maker->stack.count && maker->stack.items[maker->stack.count - 1].end_ns <= now_ns)
        maker->stack.count--;
    count = maker->stack.count;
    if (!count || maker->stack.items[count - 1].least_end_ns > now_ns)
        return true;
    maker->stack.count = 0;
    for (size_t i = 0; i < count; i++) {
        struct open_event again = maker->stack.items[i];

        if (again.end_ns > now_ns && !open_event(maker, &again))
            return false;
    }
    return true;
}

/* Which node a kernel, copy or op counts for, and itself becomes around what it calls. */
static uint32_t node_of_work(struct maker *maker, const struct timeline *timeline, uint32_t event,
                             uint32_t context)
{
    uint32_t launcher =
        timeline->device != NO_ID && maker->launcher_of ? maker->launcher_of[event] : NO_ID;

    if (launcher != NO_ID && maker->node_of_event[launcher] != NO_ID)
        return maker->node_of_event[launcher];
    if (launcher != NO_ID && maker->context_of_event)
        context = maker->context_of_event[launcher];
    return node_of(maker, event, context);
}

static bool walk_event(struct maker *maker, const struct timeline *timeline, uint32_t event,
                       struct place *place)
{
    struct profile   *profile = maker->profile;
    struct open_event open = {
        .event = event, .end_ns = event_end_ns(profile, event), .node = NO_ID, .exec = NO_ID
    };
    size_t depth;

    if (!close_events(maker, event_start_ns(profile, event)))
        return false;
    depth = maker->stack.count;
    if (!open_event(maker, &open))
        return false;
    if (is_op(profile, event)) {
        maker->stack.count = depth; /* it is not around itself */
        place->event = event;
        place->node = open.node = node_of_work(maker, timeline, event, open.context);
        if (place->node == NO_ID)
            return false;
        if (place->step != NO_ID) {
            take_off(maker, event, place->is_accelerator);
            if (!count_event(maker, place, &open.exec))
                return false;
        }
        maker->stack.items[maker->stack.count++] = open;
    }
    if (timeline->device == NO_ID) {
        maker->node_of_event[event] = open.node;
        if (maker->context_of_event)
            maker->context_of_event[event] = open.context;
    }
    return true;
}

static bool walk_timeline(struct maker *maker, const struct timeline *timeline)
{
    uint32_t     from = 0;
    struct place place = { .device = device_name(maker, timeline),
                           .is_accelerator = timeline->device != NO_ID };

    maker->stack.count = 0;
    if (place.device == NO_ID)
        return false;
    for (uint32_t i = 0; i < timeline->event_count; i++) {
        uint32_t event = timeline->first_event + i;

        place.step = step_at(maker, timeline->host, event_start_ns(maker->profile, event), &from);
        if (!walk_event(maker, timeline, event, &place))
            return false;
    }
    return true;
}

static bool is_walked(const struct timeline *timeline, bool is_device)
{
    if ((timeline->device != NO_ID) != is_device)
        return false;
    return timeline->kind == TIMELINE_THREAD || timeline->kind == TIMELINE_STREAM ||
           timeline->kind == TIMELINE_OPS;
}

/* Threads that run the program, rather than what it only called. */
static bool has_frames(const struct profile *profile, const struct timeline *timeline)
{
    for (uint32_t i = 0; i < timeline->event_count; i++) {
        const struct activity *activity = event_activity(profile, timeline->first_event + i);

        if (activity->kind == ACTIVITY_PYTHON && activity->source != NO_ID)
            return true;
    }
    return false;
}

/* Devices ask which op launched their work, and gradients which line ran forward: hosts come before
 * devices, and with lines the threads that have them before the others. */
static bool walk_all(struct maker *maker)
{
    enum { LINES, HOSTS, DEVICES, ROUNDS };
    struct profile *profile = maker->profile;

    for (int round = maker->contexts.by_line ? LINES : HOSTS; round < ROUNDS; round++)
        for (size_t i = 0; i < profile->timelines.count; i++) {
            const struct timeline *timeline = &profile->timelines.items[i];

            if (!is_walked(timeline, round == DEVICES) ||
                (round < DEVICES && maker->contexts.by_line &&
                 has_frames(profile, timeline) != (round == LINES)))
                continue;
            if (!walk_timeline(maker, timeline))
                return false;
        }
    return true;
}

/* By event, NO_ID each; NULL: full. */
static uint32_t *new_links(struct maker *maker)
{
    uint32_t *links = arena_new_array(&maker->scratch, uint32_t, maker->profile->event_count);

    for (uint32_t i = 0; links && i < maker->profile->event_count; i++)
        links[i] = NO_ID;
    return links;
}

static bool prepare_lines(struct maker *maker)
{
    struct profile *profile = maker->profile;

    if (!maker->contexts.by_line)
        return true;
    maker->context_of_event =
        arena_new_array(&maker->scratch, uint32_t, maker->profile->event_count);
    maker->forward_of = new_links(maker);
    if (!maker->context_of_event || !maker->forward_of)
        return false;
    for (size_t i = 0; i < profile->flows.count; i++)
        if (profile->flows.items[i].kind == FLOW_FORWARD_BACKWARD)
            maker->forward_of[profile->flows.items[i].to] = profile->flows.items[i].from;
    return true;
}

static bool prepare(struct maker *maker, bool by_line)
{
    struct profile *profile = maker->profile;

    maker->node_of_name.arena = maker->node_of_activity.arena = &maker->scratch;
    maker->node_of_eager.arena = &maker->scratch;
    maker->exec_of.arena = &maker->scratch;
    maker->node_of_event = new_links(maker);
    maker->launcher_of = new_links(maker);
    maker->host_device = profile_intern(profile, STR("/device:cpu:0"));
    if (!maker->node_of_event || !maker->launcher_of || maker->host_device == NO_ID ||
        !contexts_init(&maker->contexts, profile, &maker->scratch, by_line))
        return false;
    for (size_t i = 0; i < profile->flows.count; i++)
        if (profile->flows.items[i].kind == FLOW_LAUNCH)
            maker->launcher_of[profile->flows.items[i].to] = profile->flows.items[i].from;
    return prepare_lines(maker);
}

/* What was allocated and not freed again inside an op. */
static void count_memory(struct maker *maker)
{
    const struct profile *profile = maker->profile;

    for (size_t i = 0; i < profile->memory_events.count; i++) {
        const struct memory_event *memory = &profile->memory_events.items[i];
        uint32_t node = memory->event == NO_ID ? NO_ID : maker->node_of_event[memory->event];
        uint32_t step, exec;

        if (node == NO_ID || memory->kind == MEMORY_SNAPSHOT)
            continue;
        step = find_step(maker, maker->study->steps.host, memory->time_ns);
        exec = step == NO_ID ? NO_ID : id_map_get(&maker->exec_of, (uint64_t)node << 32 | step);
        if (exec == NO_ID)
            continue;
        if (memory->kind == MEMORY_ALLOCATE)
            maker->execs.items[exec].allocated_bytes += llabs(memory->bytes);
        maker->execs.items[exec].kept_bytes +=
            memory->kind == MEMORY_ALLOCATE ? llabs(memory->bytes) : -llabs(memory->bytes);
    }
}

/* NULL: past the budget. */
static struct classic *make(const struct study *study, struct profile *recording, bool by_line)
{
    struct maker    maker = { .study = study, .profile = recording };
    struct classic *classic = arena_new(recording->arena, struct classic);
    bool            is_made = false;

    maker.scratch.budget_bytes = recording->arena->budget_bytes;
    if (classic && prepare(&maker, by_line) && walk_all(&maker)) {
        count_memory(&maker);
        is_made = classic_place(&maker, classic);
        classic->is_of_all_steps = true;
    }
    arena_free(&maker.scratch);
    return is_made ? classic : NULL;
}

bool classic_model_make(const struct study *study, struct profile *recording)
{
    struct classic *classic = make(study, recording, false);

    if (classic)
        recording->classic = classic;
    return classic != NULL;
}

bool classic_model_add_lines(const struct study *study, struct profile *recording)
{
    struct classic *classic;

    if (recording->classic->lines || !contexts_has_frames(recording))
        return true;
    classic = make(study, recording, true);
    recording->classic->lines = classic;
    return classic != NULL;
}
