/* units: the path of the steps cut into what one op, or one pause, took of it. */
#include "analyze/device/device_activity.h"
#include "analyze/excess/ledger.h"
#include "analyze/path/work.h"
#include "base/macros.h"
#include "base/sample.h"
#include "base/sort.h"

#include <stdlib.h>

/* What a frame is to the units, found once for each. */
enum { FRAME_PLAIN, FRAME_OP, FRAME_NODE, FRAME_UPDATE };

struct builder {
    struct ledger *ledger;
    uint8_t       *role;   /* by name of the profile: FRAME_… + 1; 0 unknown */
    uint32_t      *owner;  /* by frame: the frame of its unit's op, or NO_ID */
    uint32_t      *node;   /* by frame: event of the backward node around it, or NO_ID */
    uint32_t      *update; /* by frame: the frame of the optimizer's step that it is in, or NO_ID */
    int64_t       *update_ns; /* by frame of such a step: from when on it is one, see below */
    uint32_t      *place; /* by frame: name of the program's own function that it is in; 0 none */
    uint32_t      *frame_of;   /* by event: its frame, NO_ID none; NULL: the host holds the step */
    double         longest_ns; /* of the last unit's segments */
};

/* Nodes of the backward pass are ops in recordings of PyTorch, and hold those that work. */
static uint8_t role_of(const struct profile *profile, const struct activity *activity,
                       bool is_torch)
{
    struct str name = profile_str(profile, activity->name);

    if (str_starts(name, STR("autograd::engine::evaluate_function")))
        return FRAME_NODE;
    if (str_starts(name, STR("Optimizer.step")))
        return FRAME_UPDATE;
    if (activity->kind != ACTIVITY_OP)
        return FRAME_PLAIN;
    if (is_torch && !str_fits(name, "*::*|autograd::*"))
        return FRAME_PLAIN;
    return FRAME_OP;
}

/* PyTorch's pauses are judged by the ops around them. */
static bool is_own(const struct ledger *ledger, const struct activity *activity)
{
    return !ledger->is_torch && activity->kind == ACTIVITY_PYTHON && activity->source != NO_ID &&
           ledger->is_user[activity->source];
}

/* An optimizer that is given a closure, as Lightning's are, runs the forward and the backward pass
 * within its step: the update is what comes behind the last node. */
static void keep_closure(struct builder *builder, uint32_t node)
{
    const struct profile *profile = builder->ledger->study->profile;
    uint32_t              event = builder->ledger->path->frames.items[node].event;
    uint32_t              update = builder->update[node];
    int64_t               end_ns = event_end_ns(profile, event);

    if (update != NO_ID && builder->update_ns[update] < end_ns)
        builder->update_ns[update] = end_ns;
}

static bool look_at_frames(struct builder *builder)
{
    const struct path    *path = builder->ledger->path;
    const struct profile *profile = builder->ledger->study->profile;
    struct arena         *scratch = builder->ledger->scratch;

    builder->role = arena_new_array(scratch, uint8_t, profile->names.count + 1);
    builder->owner = arena_new_array(scratch, uint32_t, path->frames.count + 1);
    builder->node = arena_new_array(scratch, uint32_t, path->frames.count + 1);
    builder->update = arena_new_array(scratch, uint32_t, path->frames.count + 1);
    builder->update_ns = arena_new_array(scratch, int64_t, path->frames.count + 1);
    builder->place = arena_new_array(scratch, uint32_t, path->frames.count + 1);
    if (!builder->role || !builder->owner || !builder->node || !builder->update ||
        !builder->update_ns || !builder->place)
        return false;
    for (uint32_t f = 0; f < path->frames.count; f++) {
        const struct frame    *frame = &path->frames.items[f];
        const struct activity *activity = event_activity(profile, frame->event);
        uint32_t               parent = frame->parent;
        uint8_t               *role = &builder->role[activity->name];

        if (!*role)
            *role = (uint8_t)(role_of(profile, activity, builder->ledger->is_torch) + 1);
        builder->owner[f] = parent == NO_ID ? NO_ID : builder->owner[parent];
        builder->node[f] = parent == NO_ID ? NO_ID : builder->node[parent];
        builder->place[f] = is_own(builder->ledger, activity) ? activity->name
                            : parent == NO_ID                 ? 0
                                                              : builder->place[parent];
        builder->update[f] = *role == FRAME_UPDATE + 1 ? f
                             : parent == NO_ID         ? NO_ID
                                                       : builder->update[parent];
        if (*role == FRAME_NODE + 1) {
            builder->node[f] = frame->event;
            keep_closure(builder, f);
        }
        /* Compiled programs nest their instructions; eager ones their wrappers. */
        if (*role == FRAME_OP + 1 && (!builder->ledger->is_torch || builder->owner[f] == NO_ID))
            builder->owner[f] = f;
    }
    return true;
}

static uint8_t class_of(struct ledger *ledger, uint32_t type)
{
    if (!ledger->type_class[type])
        ledger->type_class[type] =
            (uint8_t)(op_class_of(profile_str(ledger->study->profile, type)) + 1);
    return (uint8_t)(ledger->type_class[type] - 1);
}

/* An accelerator's work stands at the call that launched it, where it is what holds the step. */
static uint32_t frame_at(const struct builder *builder, const struct segment *segment)
{
    const struct study *study = builder->ledger->study;
    uint32_t            event, launch;

    if (!segment->on_device || !builder->frame_of || segment->frame == NO_ID)
        return segment->frame;
    event = builder->ledger->path->frames.items[segment->frame].event;
    launch = study->devices->launch_of[event];
    return launch < study->profile->event_count ? builder->frame_of[launch] : NO_ID;
}

static bool add_unit(struct builder *builder, const struct segment *segment, uint32_t owner)
{
    uint32_t              frame = frame_at(builder, segment);
    struct ledger        *ledger = builder->ledger;
    const struct path    *path = ledger->path;
    const struct profile *profile = ledger->study->profile;
    struct work_unit      unit = { .start_ns = segment->start_ns,
                                   .step = 0,
                                   .frame = owner != NO_ID ? owner : frame,
                                   .node = NO_ID,
                                   .op = NO_ID,
                                   .cell = NO_ID,
                                   .part = segment->part };

    if (frame != NO_ID) {
        uint32_t update = builder->update[frame];
        int64_t  at_ns = frame == segment->frame
                             ? segment->start_ns
                             : event_start_ns(profile, path->frames.items[frame].event);

        unit.node = builder->node[frame];
        unit.phase = unit.node != NO_ID                                       ? UNIT_BACKWARD
                     : update != NO_ID && at_ns >= builder->update_ns[update] ? UNIT_UPDATE
                                                                              : UNIT_FORWARD;
    }
    if (segment->part == PART_INPUT)
        unit.phase = UNIT_INPUT;
    unit.kind = !builder->frame_of && (segment->part == PART_HOST || segment->part == PART_UNKNOWN)
                    ? UNIT_PAUSE
                    : UNIT_OTHER;
    if (owner != NO_ID) {
        const struct activity *activity = event_activity(profile, path->frames.items[owner].event);

        unit.kind = UNIT_OP;
        if (builder->frame_of)
            unit.start_ns = event_start_ns(profile, path->frames.items[owner].event);
        unit.op = activity->op;
        unit.type = ledger->is_torch || unit.op == NO_ID ? activity->name
                                                         : profile->ops.items[unit.op].type;
        unit.op_class = ledger->is_torch || unit.op == NO_ID ? class_of(ledger, unit.type)
                                                             : ledger->compiled.op_class[unit.op];
    }
    builder->longest_ns = 0;
    return vec_push(&ledger->units, ledger->scratch, unit);
}

static uint32_t place_of(const struct builder *builder, uint32_t frame)
{
    return frame == NO_ID ? 0 : builder->place[frame];
}

static bool is_op_at(const struct work_unit *unit, uint32_t owner)
{
    return unit->kind == UNIT_OP && unit->frame == owner;
}

/* In the order of an accelerator's work: an op goes on behind a gap between its kernels. */
static uint32_t unit_on_device(const struct builder *builder, const struct segment *segment,
                               uint32_t owner, uint32_t first)
{
    const struct work_unit *units = builder->ledger->units.items;
    uint32_t                count = (uint32_t)builder->ledger->units.count;

    if (owner == NO_ID)
        return units[count - 1].kind != UNIT_OP && units[count - 1].part == segment->part
                   ? count - 1
                   : NO_ID;
    if (is_op_at(&units[count - 1], owner))
        return count - 1;
    return units[count - 1].kind != UNIT_OP && count > first + 1 &&
                   is_op_at(&units[count - 2], owner)
               ? count - 2
               : NO_ID;
}

/* The unit that a segment goes on with, or NO_ID. A pause ends where another function of the
 * program goes on. */
static uint32_t unit_of(const struct builder *builder, const struct segment *segment,
                        uint32_t owner, uint32_t first)
{
    const struct ledger    *ledger = builder->ledger;
    uint32_t                count = (uint32_t)ledger->units.count;
    const struct work_unit *last;
    bool                    goes_on;

    if (count <= first)
        return NO_ID;
    if (builder->frame_of)
        return unit_on_device(builder, segment, owner, first);
    /* Where the host holds the step, what an accelerator does meanwhile, and what is on its way to
     * it, is no op of its own. */
    if (ledger->is_torch && ledger->path->has_device &&
        (segment->on_device || segment->part == PART_IDLE_LAUNCH))
        return count - 1;
    last = &ledger->units.items[count - 1];
    goes_on = owner != NO_ID
                  ? is_op_at(last, owner)
                  : last->kind != UNIT_OP && last->part == segment->part &&
                        last->end_ns == segment->start_ns &&
                        place_of(builder, last->frame) == place_of(builder, segment->frame);
    return goes_on ? count - 1 : NO_ID;
}

/* What an accelerator does of a compiled program is an instruction of it; of others only the kernel
 * is known, and the op on the host is what calls it. */
static uint32_t owner_on_device(const struct builder *builder, const struct segment *segment)
{
    const struct ledger  *ledger = builder->ledger;
    const struct profile *profile = ledger->study->profile;
    uint32_t              event = ledger->path->frames.items[segment->frame].event;
    uint32_t              op = event_activity(profile, event)->op;

    return segment->part == PART_COMPUTE && op != NO_ID && profile->graph &&
                   profile->ops.items[op].program
               ? segment->frame
               : NO_ID;
}

/* A communication of the host is an op too; where an op's part is not computing, the part counts.
 */
static uint32_t owner_of(const struct builder *builder, const struct segment *segment)
{
    if (segment->frame == NO_ID || segment->part == PART_INPUT)
        return NO_ID;
    if (builder->frame_of) {
        uint32_t frame = frame_at(builder, segment);

        return segment->on_device && frame != NO_ID ? builder->owner[frame] : NO_ID;
    }
    return segment->on_device ? owner_on_device(builder, segment) : builder->owner[segment->frame];
}

static bool cut(struct builder *builder)
{
    struct ledger     *ledger = builder->ledger;
    const struct path *path = ledger->path;
    uint32_t           row = 0;

    ledger->first_unit[0] = 0;
    for (size_t s = 0; s < path->segments.count; s++) {
        const struct segment *segment = &path->segments.items[s];
        uint32_t              owner = owner_of(builder, segment), at;
        double                ns = (double)(segment->end_ns - segment->start_ns);
        struct work_unit     *unit;

        while (path->step_rows.items[row] != segment->step)
            ledger->first_unit[++row] = (uint32_t)ledger->units.count;
        at = unit_of(builder, segment, owner, ledger->first_unit[row]);
        if (at == NO_ID && !add_unit(builder, segment, owner))
            return false;
        at = at == NO_ID ? (uint32_t)ledger->units.count - 1 : at;
        unit = &ledger->units.items[at];
        unit->step = row;
        unit->end_ns =
            builder->frame_of && unit->kind == UNIT_OP
                ? event_end_ns(ledger->study->profile, path->frames.items[unit->frame].event)
                : segment->end_ns;
        unit->ns += ns;
        if (unit->kind != UNIT_OP && !(ledger->is_torch && segment->on_device) &&
            ns > builder->longest_ns)
            builder->longest_ns = ns, unit->frame = segment->frame;
        ledger->unit_of_segment[s] = at;
        ledger->total_ns += ns;
    }
    while (row < ledger->step_count)
        ledger->first_unit[++row] = (uint32_t)ledger->units.count;
    return true;
}

/* Ops of the forward pass from which the recording leads to a node of the backward pass. */
static bool mark_trained(struct ledger *ledger)
{
    const struct profile *profile = ledger->study->profile;
    VEC(int64_t) starts = { 0 };
    size_t next = 0;

    for (size_t i = 0; i < profile->flows.count; i++) {
        const struct flow *flow = &profile->flows.items[i];

        if (flow->kind == FLOW_FORWARD_BACKWARD && flow->from < profile->event_count &&
            !vec_push(&starts, ledger->scratch, event_start_ns(profile, flow->from)))
            return false;
    }
    if (starts.count)
        qsort(starts.items, starts.count, sizeof *starts.items, sort_by_int64);
    ledger->has_backward = starts.count > 0;
    for (size_t u = 0; u < ledger->units.count; u++) {
        struct work_unit *unit = &ledger->units.items[u];

        while (next < starts.count && starts.items[next] < unit->start_ns)
            next++;
        unit->is_trained = unit->kind == UNIT_OP && unit->phase == UNIT_FORWARD &&
                           next < starts.count && starts.items[next] < unit->end_ns;
    }
    return true;
}

static bool holds_one(const struct profile *profile, uint32_t node, const int64_t *starts,
                      size_t count)
{
    int64_t from = event_start_ns(profile, node), to = from + event_duration_ns(profile, node);
    size_t  first = LOWER_BOUND(count, i, starts[i] < from);

    return first < count && starts[first] < to;
}

bool units_mark_backward(const struct ledger *ledger, uint32_t first, uint32_t last, bool *marks)
{
    const struct profile   *profile = ledger->study->profile;
    const struct work_unit *units = ledger->units.items;
    VEC(int64_t) starts = { 0 };

    for (size_t i = 0; i < profile->flows.count; i++) {
        const struct flow *flow = &profile->flows.items[i];

        if (flow->kind != FLOW_FORWARD_BACKWARD || flow->from >= profile->event_count ||
            flow->to >= profile->event_count ||
            event_start_ns(profile, flow->from) < units[first].start_ns ||
            event_start_ns(profile, flow->from) >= units[last].end_ns)
            continue;
        if (!vec_push(&starts, ledger->scratch, event_start_ns(profile, flow->to)))
            return false;
    }
    if (starts.count)
        qsort(starts.items, starts.count, sizeof *starts.items, sort_by_int64);
    for (uint32_t u = last + 1; u < ledger->first_unit[units[first].step + 1]; u++)
        marks[u] |= units[u].phase == UNIT_BACKWARD && units[u].node != NO_ID &&
                    holds_one(profile, units[u].node, starts.items, starts.count);
    return true;
}

/* The cheapest ops show what starting one costs; few large ops or many fragments would mislead. */
static bool measure_start(struct ledger *ledger)
{
    static const double LEAST_NS = 2000, MOST_NS = 10000, QUANTILE = 0.1;
    VEC(double) times = { 0 };

    for (size_t u = 0; u < ledger->units.count; u++)
        if (ledger->units.items[u].kind == UNIT_OP && ledger->units.items[u].op_class != OP_VIEW &&
            !vec_push(&times, ledger->scratch, ledger->units.items[u].ns))
            return false;
    ledger->start_ns = times.count ? sample_quantile(times.items, times.count, QUANTILE) : LEAST_NS;
    if (ledger->start_ns < LEAST_NS)
        ledger->start_ns = LEAST_NS;
    if (ledger->start_ns > MOST_NS)
        ledger->start_ns = MOST_NS;
    return true;
}

/* Units alike are calls of one op in one phase, and pauses between the same two ops. */
struct alike {
    uint32_t unit, op, next;
    double   ns;
};

static int compare_alike(const void *a, const void *b)
{
    const struct alike *left = a, *right = b;

    return IN_ORDER(COMPARE(left->op, right->op), COMPARE(left->next, right->next),
                    COMPARE(left->ns, right->ns), COMPARE(left->unit, right->unit));
}

/* Ops by row and phase; 0: none before or behind. */
static uint32_t op_key(const struct ledger *ledger, size_t u)
{
    const struct work_unit *unit = &ledger->units.items[u];

    return u >= ledger->units.count || unit->kind != UNIT_OP || unit->op == NO_ID
               ? 0
               : 1 + 2 * unit->op + (unit->phase == UNIT_BACKWARD);
}

/* The median of those alike; of two, the shorter. */
static bool find_typical(struct ledger *ledger)
{
    size_t        count = ledger->units.count;
    struct alike *list = arena_new_array(ledger->scratch, struct alike, count + 1);

    if (!list)
        return false;
    for (size_t u = 0; u < count; u++) {
        const struct work_unit *unit = &ledger->units.items[u];
        bool                    is_op = unit->kind == UNIT_OP;

        list[u] = (struct alike) { .unit = (uint32_t)u,
                                   .op = is_op ? op_key(ledger, u)
                                         : u   ? op_key(ledger, u - 1)
                                               : 0,
                                   .next = is_op ? 0 : 1 + op_key(ledger, u + 1),
                                   .ns = unit->ns };
    }
    if (count > 1)
        qsort(list, count, sizeof *list, compare_alike);
    for (size_t from = 0, end; from < count; from = end) {
        for (end = from;
             end < count && list[end].op == list[from].op && list[end].next == list[from].next;)
            end++;
        for (size_t i = from; i < end; i++)
            ledger->units.items[list[i].unit].typical_ns = list[from + (end - from - 1) / 2].ns;
    }
    return true;
}

static double share_on_device(const struct path *path)
{
    double ns = 0, on_device_ns = 0;

    for (size_t s = 0; s < path->segments.count; s++) {
        const struct segment *segment = &path->segments.items[s];
        double                length = (double)(segment->end_ns - segment->start_ns);

        ns += length;
        on_device_ns += segment->on_device ? length : 0;
    }
    return ns > 0 ? on_device_ns / ns : 0;
}

/* An accelerator works for so little of the steps that they take what the host takes, or for so
 * much that they take what it takes itself. In between neither order is that of the step. */
static const double MOST_OF_HOST = 0.25, LEAST_OF_DEVICE = 0.5;

static bool find_frames(struct builder *builder)
{
    struct ledger     *ledger = builder->ledger;
    const struct path *path = ledger->path;
    size_t             count = ledger->study->profile->event_count;

    if (!ledger->is_torch || !path->has_device || share_on_device(path) < LEAST_OF_DEVICE)
        return true;
    builder->frame_of = arena_new_array(ledger->scratch, uint32_t, count + 1);
    if (!builder->frame_of)
        return false;
    for (size_t event = 0; event < count; event++)
        builder->frame_of[event] = NO_ID;
    ledger->is_of_device = true;
    for (uint32_t f = 0; f < path->frames.count; f++)
        builder->frame_of[path->frames.items[f].event] = f;
    return true;
}

/* Its ops are the host's own work, not what only feeds an accelerator. */
static bool is_torch_on_host(const struct study *study)
{
    const struct profile *profile = study->profile;

    if (!str_equal(profile_str(profile, profile->framework), STR("pytorch")))
        return false;
    if (study->path.has_device) {
        double share = share_on_device(&study->path);

        return share <= MOST_OF_HOST || (share >= LEAST_OF_DEVICE && study->devices->launch_of);
    }
    for (size_t i = 0; i < profile->devices.count; i++)
        if (profile->devices.items[i].kind != DEVICE_CPU)
            return false;
    return true;
}

bool ledger_open(struct ledger *ledger, struct study *study, struct arena *scratch)
{
    struct builder builder = { .ledger = ledger };

    *ledger = (struct ledger) { .study = study,
                                .path = &study->path,
                                .scratch = scratch,
                                .step_count = study->path.step_rows.count,
                                .is_torch = is_torch_on_host(study) };
    ledger->unit_of_segment = arena_new_array(scratch, uint32_t, study->path.segments.count + 1);
    ledger->first_unit = arena_new_array(scratch, uint32_t, ledger->step_count + 1);
    ledger->type_class = arena_new_array(scratch, uint8_t, study->profile->names.count + 1);
    ledger->name_waits = arena_new_array(scratch, uint8_t, study->profile->names.count + 1);
    ledger->is_user = profile_user_sources(study->profile, !ledger->is_torch, scratch);
    if (!ledger->unit_of_segment || !ledger->first_unit || !ledger->type_class ||
        !ledger->is_user || !ledger->name_waits ||
        !compiled_open(&ledger->compiled, study->profile, scratch) || !look_at_frames(&builder) ||
        !find_frames(&builder) || !cut(&builder))
        return false;
    for (size_t u = 0; u < ledger->units.count; u++)
        ledger->units.items[u].left_ns = ledger->units.items[u].ns;
    return mark_trained(ledger) && measure_start(ledger) &&
           (!ledger->is_torch || find_typical(ledger));
}

double unit_start_ns(const struct ledger *ledger, uint32_t row)
{
    static const double     LONGEST_NS = 1e6; /* more is work of its own */
    const struct work_unit *unit = &ledger->units.items[row], *next;
    uint32_t                end = ledger->first_unit[unit->step + 1];
    double                  ns = (double)(unit->end_ns - unit->start_ns);

    if (!ledger->is_of_device || unit->kind != UNIT_OP)
        return 0;
    for (uint32_t u = row + 1; u < end; u++) {
        next = &ledger->units.items[u];
        if (next->kind != UNIT_OP)
            continue;
        if (next->start_ns > unit->end_ns && (double)(next->start_ns - unit->start_ns) < LONGEST_NS)
            ns = (double)(next->start_ns - unit->start_ns);
        break;
    }
    return ns;
}
