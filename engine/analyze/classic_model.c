#include "analyze/classic_model.h"

#include "base/text.h"
#include "model/classic.h"

#include <stdlib.h>

enum { NS_PER_MICRO = 1000 };

struct made_exec { /* a node in a step */
    uint32_t node, step;
    int64_t  cpu_ns, accelerator_ns, runs, allocated_bytes, kept_bytes;
    int64_t  start_ns, end_ns;
};
struct made_node {
    uint32_t name, device; /* interned */
    uint32_t type, source, op;
};
struct open_event { /* around what comes next on a timeline */
    int64_t  end_ns;
    uint32_t node, exec; /* NO_ID: no op, but a scope */
    uint32_t path;       /* interned: scopes around it and its own */
};
struct maker {
    const struct study *study;
    struct profile     *profile;
    struct arena        scratch;
    struct id_map       node_of_name, node_of_activity, exec_of; /* path << 32 | activity */
    VEC(struct made_node) nodes;
    VEC(struct made_exec) execs;
    VEC(struct open_event) stack;
    uint32_t *node_of_event; /* the op around an event on the host; NO_ID none */
    uint32_t *launcher_of;   /* of an event on a device: the host event that launched it */
    uint32_t  host_device;   /* interned */
};

static bool is_work(uint8_t kind)
{
    return kind == ACTIVITY_OP || kind == ACTIVITY_KERNEL || kind == ACTIVITY_MEMCPY ||
           kind == ACTIVITY_MEMSET || kind == ACTIVITY_COLLECTIVE;
}

static struct str short_name(struct str name)
{
    struct str rest = str_starts(name, STR("void ")) ? str_slice(name, 5, name.len) : name;
    size_t     end = str_find(rest, '<');

    end = end < str_find(rest, '(') ? end : str_find(rest, '(');
    return end ? str_slice(rest, 0, end) : rest;
}

/* "scope/name": what a compiled instruction was made from is its scope. */
static uint32_t name_of(struct maker *maker, const struct activity *activity, uint32_t path)
{
    struct profile *profile = maker->profile;
    struct text     text = { .arena = &maker->scratch };
    struct str      scope = profile_str(profile, path);
    struct str      name = profile_str(profile, activity->name);

    if (activity->op != NO_ID) {
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
    return profile_intern(profile, short_name(profile_str(profile, activity->name)));
}

static uint32_t add_node(struct maker *maker, const struct activity *activity, uint32_t path)
{
    uint32_t         name = name_of(maker, activity, path);
    uint32_t         node = id_map_get(&maker->node_of_name, name);
    struct made_node made = { .name = name,
                              .type = type_of(maker, activity),
                              .source = activity->source,
                              .op = activity->op };

    if (node != NO_ID || name == NO_ID || made.type == NO_ID)
        return node;
    if (made.source == NO_ID && activity->op != NO_ID)
        made.source = maker->profile->ops.items[activity->op].source;
    node = (uint32_t)maker->nodes.count;
    return id_map_put(&maker->node_of_name, name, node) &&
                   vec_push(&maker->nodes, &maker->scratch, made)
               ? node
               : NO_ID;
}

/* Row of the node that an activity is below these scopes; NO_ID: full. */
static uint32_t node_of(struct maker *maker, uint32_t activity, uint32_t path)
{
    uint64_t key = (uint64_t)path << 32 | activity;
    uint32_t node = id_map_get(&maker->node_of_activity, key);

    if (node != NO_ID)
        return node;
    node = add_node(maker, &maker->profile->activities.items[activity], path);
    return node != NO_ID && id_map_put(&maker->node_of_activity, key, node) ? node : NO_ID;
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
    uint32_t            low = 0, high = (uint32_t)steps->list.count;

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;

        if (is_before(&steps->list.items[middle], host, time_ns))
            low = middle + 1;
        else
            high = middle;
    }
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

/* Modules of PyTorch are scopes: "nn.Module: Linear_0". */
static uint32_t inner_path(struct maker *maker, const struct activity *activity, uint32_t path)
{
    static const struct str module = STR_INIT("nn.Module: ");
    struct str              name = profile_str(maker->profile, activity->name);
    struct text             text = { .arena = &maker->scratch };

    if (activity->kind != ACTIVITY_PYTHON || !str_starts(name, module))
        return path;
    name = str_slice(name, module.len, name.len);
    text_print(&text, "%.*s%s%.*s", STR_ARG(profile_str(maker->profile, path)), path ? "/" : "",
               STR_ARG(name));
    return profile_intern(maker->profile, text_str(&text));
}

static bool walk_event(struct maker *maker, const struct timeline *timeline, uint32_t event,
                       struct place *place)
{
    struct profile        *profile = maker->profile;
    const struct activity *activity = event_activity(profile, event);
    struct open_event      open = { .end_ns = event_end_ns(profile, event),
                                    .node = NO_ID,
                                    .exec = NO_ID };
    uint32_t               launcher =
        timeline->device != NO_ID && maker->launcher_of ? maker->launcher_of[event] : NO_ID;

    while (maker->stack.count &&
           maker->stack.items[maker->stack.count - 1].end_ns <= event_start_ns(profile, event))
        maker->stack.count--;
    if (maker->stack.count) {
        open.path = maker->stack.items[maker->stack.count - 1].path;
        open.node = maker->stack.items[maker->stack.count - 1].node;
    }
    if (is_work(activity->kind)) {
        place->event = event;
        place->node = launcher != NO_ID ? maker->node_of_event[launcher] : NO_ID;
        if (place->node == NO_ID)
            place->node = node_of(maker, event_activity_id(profile, event), open.path);
        if (place->node == NO_ID)
            return false;
        open.node = place->node;
        if (place->step != NO_ID) {
            take_off(maker, event, place->is_accelerator);
            if (!count_event(maker, place, &open.exec))
                return false;
        }
    } else {
        open.path = inner_path(maker, activity, open.path);
    }
    if (timeline->device == NO_ID)
        maker->node_of_event[event] = open.node;
    return open.path != NO_ID && vec_push(&maker->stack, &maker->scratch, open);
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

/* Hosts first: devices ask which op launched their work. */
static bool walk_all(struct maker *maker)
{
    struct profile *profile = maker->profile;

    for (int is_device = 0; is_device < 2; is_device++)
        for (size_t i = 0; i < profile->timelines.count; i++)
            if (is_walked(&profile->timelines.items[i], is_device) &&
                !walk_timeline(maker, &profile->timelines.items[i]))
                return false;
    return true;
}

static bool prepare(struct maker *maker)
{
    struct profile *profile = maker->profile;

    maker->node_of_name.arena = maker->node_of_activity.arena = &maker->scratch;
    maker->exec_of.arena = &maker->scratch;
    maker->node_of_event = arena_new_array(&maker->scratch, uint32_t, profile->event_count);
    maker->launcher_of = arena_new_array(&maker->scratch, uint32_t, profile->event_count);
    maker->host_device = profile_intern(profile, STR("/device:cpu:0"));
    if (!maker->node_of_event || !maker->launcher_of || maker->host_device == NO_ID)
        return false;
    for (uint32_t i = 0; i < profile->event_count; i++)
        maker->node_of_event[i] = maker->launcher_of[i] = NO_ID;
    for (size_t i = 0; i < profile->flows.count; i++)
        if (profile->flows.items[i].kind == FLOW_LAUNCH)
            maker->launcher_of[profile->flows.items[i].to] = profile->flows.items[i].from;
    return true;
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

struct ordered {
    struct str name;
    uint32_t   row;
};

static int compare_names(const void *left, const void *right)
{
    const struct ordered *a = left, *b = right;
    int                   order = str_compare(a->name, b->name);

    return order ? order : (a->row > b->row) - (a->row < b->row);
}

static int compare_execs(const void *left, const void *right)
{
    const struct made_exec *a = left, *b = right;

    if (a->node != b->node)
        return a->node < b->node ? -1 : 1;
    return (a->step > b->step) - (a->step < b->step);
}

/* Nodes by name, each with an op of its own; place_of[row] is where a made node went. */
static bool place_nodes(struct maker *maker, struct classic *classic, uint32_t *place_of)
{
    struct profile *profile = maker->profile;
    size_t          count = maker->nodes.count;
    struct ordered *order = arena_new_array(&maker->scratch, struct ordered, count);

    if (!order || !vec_reserve(&classic->nodes, profile->arena, count) ||
        !vec_reserve(&profile->ops, profile->arena, count))
        return false;
    for (uint32_t i = 0; i < count; i++)
        order[i] = (struct ordered) { profile_str(profile, maker->nodes.items[i].name), i };
    if (count)
        qsort(order, count, sizeof *order, compare_names);
    for (uint32_t i = 0; i < count; i++) {
        const struct made_node *made = &maker->nodes.items[order[i].row];
        struct op               op = { .device = NO_ID,
                                       .source = made->source,
                                       .flops = -1,
                                       .bytes = -1,
                                       .parameters = -1,
                                       .graph_node = NO_ID };
        struct classic_node     node = { .op = (uint32_t)profile->ops.count,
                                         .source = made->source,
                                         .device = made->device,
                                         .shape = NO_ID };

        if (made->op != NO_ID)
            op = profile->ops.items[made->op];
        op.name = made->name;
        op.type = made->type;
        op.module = 0;
        node.float_ops = op.flops >= 0 ? op.flops : FLOAT_OPS_UNKNOWN;
        classic->has_code |= made->source != NO_ID;
        place_of[order[i].row] = i;
        profile->ops.items[profile->ops.count++] = op;
        classic->nodes.items[classic->nodes.count++] = node;
    }
    return true;
}

static int64_t micros(int64_t ns)
{
    return ns > 0 ? (ns + NS_PER_MICRO / 2) / NS_PER_MICRO : 0;
}

static bool place_execs(struct maker *maker, struct classic *classic, const uint32_t *place_of)
{
    struct arena *arena = maker->profile->arena;

    if (!vec_reserve(&classic->execs, arena, maker->execs.count))
        return false;
    for (size_t i = 0; i < maker->execs.count; i++)
        maker->execs.items[i].node = place_of[maker->execs.items[i].node];
    if (maker->execs.count)
        qsort(maker->execs.items, maker->execs.count, sizeof *maker->execs.items, compare_execs);
    for (size_t i = 0; i < maker->execs.count; i++) {
        const struct made_exec *made = &maker->execs.items[i];
        struct classic_node    *node = &classic->nodes.items[made->node];
        struct classic_exec     exec = { .step = made->step };

        exec.sums[MEASURE_RUNS] = made->runs;
        exec.sums[MEASURE_CPU_MICROS] = micros(made->cpu_ns);
        exec.sums[MEASURE_ACCELERATOR_MICROS] = micros(made->accelerator_ns);
        exec.sums[MEASURE_EXEC_MICROS] =
            exec.sums[MEASURE_CPU_MICROS] + exec.sums[MEASURE_ACCELERATOR_MICROS];
        exec.sums[MEASURE_REQUESTED_BYTES] = made->allocated_bytes;
        exec.sums[MEASURE_RESIDUAL_BYTES] = made->kept_bytes;
        exec.start_micros = made->start_ns / NS_PER_MICRO;
        exec.end_micros = made->end_ns / NS_PER_MICRO;
        if (node->exec_count++ == 0)
            node->first_exec = (uint32_t)classic->execs.count;
        classic->execs.items[classic->execs.count++] = exec;
    }
    return true;
}

/* Steps by their numbers where those ascend, else by their place. Several hosts' steps of one
 * number are one. */
static bool place_steps(struct maker *maker, struct classic *classic)
{
    const struct steps *steps = &maker->study->steps;
    uint32_t *number_of = arena_new_array(&maker->scratch, uint32_t, steps->list.count + 1);
    int64_t   last = INT64_MIN;
    bool      is_numbered = true;
    uint32_t  count = 0, host = NO_ID;

    if (!number_of)
        return false;
    for (size_t i = 0; i < steps->list.count; i++) {
        const struct step *step = &steps->list.items[i];

        if (step->host != host)
            last = INT64_MIN;
        host = step->host;
        is_numbered &= step->number > last && step->number >= 0 && step->number < UINT32_MAX;
        last = step->number;
    }
    host = NO_ID;
    for (size_t i = 0; i < steps->list.count; i++) {
        const struct step *step = &steps->list.items[i];

        count = step->host == host ? count + 1 : 0;
        host = step->host;
        number_of[i] = is_numbered ? (uint32_t)step->number : count;
        if (step->is_used && !classic_has_step(classic, number_of[i]) &&
            !vec_push(&classic->steps, maker->profile->arena, number_of[i]))
            return false;
    }
    for (size_t i = 0; i < maker->execs.count; i++)
        maker->execs.items[i].step = number_of[maker->execs.items[i].step];
    return true;
}

/* Several hosts' execs of one node and step are summed. */
static void merge_execs(struct maker *maker)
{
    struct made_exec *execs = maker->execs.items;
    size_t            kept = 0;

    if (maker->execs.count)
        qsort(execs, maker->execs.count, sizeof *execs, compare_execs);
    for (size_t i = 0; i < maker->execs.count; i++) {
        struct made_exec *into = kept ? &execs[kept - 1] : NULL;

        if (!into || into->node != execs[i].node || into->step != execs[i].step) {
            execs[kept++] = execs[i];
            continue;
        }
        into->cpu_ns += execs[i].cpu_ns;
        into->accelerator_ns += execs[i].accelerator_ns;
        into->runs += execs[i].runs;
        into->allocated_bytes += execs[i].allocated_bytes;
        into->kept_bytes += execs[i].kept_bytes;
    }
    maker->execs.count = kept;
}

bool classic_model_make(const struct study *study, struct profile *recording)
{
    struct maker    maker = { .study = study, .profile = recording };
    struct classic *classic = arena_new(recording->arena, struct classic);
    uint32_t       *place_of;
    bool            is_made = false;

    maker.scratch.budget_bytes = recording->arena->budget_bytes;
    if (classic && prepare(&maker) && walk_all(&maker)) {
        count_memory(&maker);
        place_of = arena_new_array(&maker.scratch, uint32_t, maker.nodes.count);
        classic->profile = recording;
        is_made = place_of && place_steps(&maker, classic);
        if (is_made)
            merge_execs(&maker);
        is_made = is_made && place_nodes(&maker, classic, place_of) &&
                  place_execs(&maker, classic, place_of);
    }
    if (is_made)
        recording->classic = classic;
    arena_free(&maker.scratch);
    return is_made;
}
