/* units: the path of the steps cut into what one op, or one pause, took of it. */
#include "analyze/device/device_activity.h"
#include "analyze/excess/launchers.h"
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
    uint32_t      *place;  /* by frame: name of the program's own function that it is in; 0 none */
    uint32_t      *callee; /* by frame: name of the function right below that one; 0 none */
    uint32_t *launcher;    /* of eager programs on an accelerator, see launchers.h; NULL: others */
    double    longest_ns;  /* of the last unit's segments */
};

/* Nodes of the backward pass are ops in recordings of PyTorch, and hold those that work. */
static uint8_t role_of(const struct profile *profile, const struct activity *activity,
                       bool is_torch, bool launches)
{
    struct str name = profile_str(profile, activity->name);

    if (str_starts(name, STR("autograd::engine::evaluate_function")))
        return FRAME_NODE;
    if (str_starts(name, STR("Optimizer.step")))
        return FRAME_UPDATE;
    if (launches && str_fits(name, "Torch-Compiled Region*|CompiledFunction*|## Call CompiledFx*"))
        return FRAME_OP;
    if (activity->kind != ACTIVITY_OP)
        return FRAME_PLAIN;
    if (is_torch && !str_fits(name, "*::*|autograd::*|<built-in function kernel>"))
        return FRAME_PLAIN;
    return FRAME_OP;
}

/* PyTorch's pauses are judged by the ops around them. */
static bool is_own(const struct ledger *ledger, const struct activity *activity)
{
    return !ledger->is_torch && activity->kind == ACTIVITY_PYTHON && activity->source != NO_ID &&
           ledger->is_user[activity->source];
}

static uint32_t callee_of(const struct builder *builder, const struct activity *activity,
                          uint32_t parent)
{
    if (parent == NO_ID || is_own(builder->ledger, activity))
        return 0;
    if (builder->callee[parent])
        return builder->callee[parent];
    return builder->place[parent] && activity->kind == ACTIVITY_PYTHON ? activity->name : 0;
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
    builder->callee = arena_new_array(scratch, uint32_t, path->frames.count + 1);
    if (!builder->role || !builder->owner || !builder->node || !builder->update ||
        !builder->update_ns || !builder->place || !builder->callee)
        return false;
    for (uint32_t f = 0; f < path->frames.count; f++) {
        const struct frame    *frame = &path->frames.items[f];
        const struct activity *activity = event_activity(profile, frame->event);
        uint32_t               parent = frame->parent;
        uint8_t               *role = &builder->role[activity->name];

        if (!*role)
            *role = (uint8_t)(role_of(profile, activity, builder->ledger->is_torch,
                                      builder->launcher != NULL) +
                              1);
        builder->owner[f] = parent == NO_ID ? NO_ID : builder->owner[parent];
        builder->node[f] = parent == NO_ID ? NO_ID : builder->node[parent];
        builder->place[f] = is_own(builder->ledger, activity) ? activity->name
                            : parent == NO_ID                 ? 0
                                                              : builder->place[parent];
        builder->callee[f] = callee_of(builder, activity, parent);
        builder->update[f] = *role == FRAME_UPDATE + 1 ? f
                             : parent == NO_ID         ? NO_ID
                                                       : builder->update[parent];
        if (*role == FRAME_NODE + 1) {
            builder->node[f] = frame->event;
            keep_closure(builder, f);
        }
        /* Compiled programs nest their instructions; eager ones their wrappers, and what the
         * compiler made of a function is one for an accelerator. */
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

/* The host's event that a segment is for. */
static uint32_t host_frame(const struct builder *builder, const struct segment *segment)
{
    return segment->on_device && builder->launcher && segment->frame != NO_ID &&
                   builder->launcher[segment->frame] != NO_ID
               ? builder->launcher[segment->frame]
               : segment->frame;
}

/* When the host was at it. */
static int64_t host_ns(const struct builder *builder, const struct segment *segment)
{
    uint32_t frame = host_frame(builder, segment);

    return frame == segment->frame
               ? segment->start_ns
               : event_start_ns(builder->ledger->study->profile,
                                builder->ledger->path->frames.items[frame].event);
}

static bool add_unit(struct builder *builder, const struct segment *segment, uint32_t owner)
{
    struct ledger        *ledger = builder->ledger;
    const struct path    *path = ledger->path;
    const struct profile *profile = ledger->study->profile;
    uint32_t              frame = host_frame(builder, segment);
    struct work_unit      unit = { .start_ns = segment->start_ns,
                                   .step = 0,
                                   .frame = owner != NO_ID ? owner : segment->frame,
                                   .node = NO_ID,
                                   .op = NO_ID,
                                   .cell = NO_ID,
                                   .part = segment->part };

    if (frame != NO_ID) {
        uint32_t update = builder->update[frame];

        unit.node = builder->node[frame];
        unit.phase = unit.node != NO_ID ? UNIT_BACKWARD
                     : update != NO_ID && host_ns(builder, segment) >= builder->update_ns[update]
                         ? UNIT_UPDATE
                         : UNIT_FORWARD;
    }
    if (segment->part == PART_INPUT)
        unit.phase = UNIT_INPUT;
    unit.kind =
        segment->part == PART_HOST || segment->part == PART_UNKNOWN ? UNIT_PAUSE : UNIT_OTHER;
    if (owner != NO_ID) {
        const struct activity *activity = event_activity(profile, path->frames.items[owner].event);

        unit.kind = UNIT_OP;
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

/* A pause ends where another function of the program goes on. */
static bool continues(const struct builder *builder, const struct segment *segment, uint32_t owner,
                      uint32_t first)
{
    const struct ledger    *ledger = builder->ledger;
    const struct work_unit *last;

    if (ledger->units.count <= first)
        return false;
    last = &ledger->units.items[ledger->units.count - 1];
    if (owner != NO_ID)
        return last->kind == UNIT_OP && last->frame == owner;
    return last->kind != UNIT_OP && last->part == segment->part &&
           last->end_ns == segment->start_ns &&
           place_of(builder, last->frame) == place_of(builder, segment->frame);
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
    if (host_frame(builder, segment) != segment->frame)
        return builder->owner[host_frame(builder, segment)];
    return segment->on_device ? owner_on_device(builder, segment) : builder->owner[segment->frame];
}

/* What a unit is made of, in the order of the host's work: a segment of the path, of which what an
 * accelerator does for an op goes with the op; or an op that took nothing of it. */
struct piece {
    int64_t  at_ns;
    uint32_t segment, owner; /* rows, or NO_ID */
    uint32_t step;           /* row of path->step_rows */
};
struct pieces {
    VEC(struct piece) list;
};

static int compare_times(const void *a, const void *b)
{
    const struct piece *left = a, *right = b;

    return IN_ORDER(COMPARE(left->at_ns, right->at_ns), COMPARE(left->owner, right->owner),
                    COMPARE(left->segment, right->segment));
}

static int compare_pieces(const void *a, const void *b)
{
    const struct piece *left = a, *right = b;
    int                 order = COMPARE(left->step, right->step);

    return order ? order : compare_times(a, b);
}

static bool list_segments(const struct builder *builder, struct pieces *pieces)
{
    const struct path    *path = builder->ledger->path;
    const struct profile *profile = builder->ledger->study->profile;
    uint32_t              row = 0;

    for (uint32_t s = 0; s < path->segments.count; s++) {
        const struct segment *segment = &path->segments.items[s];
        uint32_t              owner = owner_of(builder, segment);
        struct piece          piece = { .segment = s, .owner = owner };

        while (path->step_rows.items[row] != segment->step)
            row++;
        piece.step = row;
        piece.at_ns = host_ns(builder, segment);
        if (owner != NO_ID && builder->launcher)
            piece.at_ns = event_start_ns(profile, path->frames.items[owner].event);
        if (!vec_push(&pieces->list, builder->ledger->scratch, piece))
            return false;
    }
    return true;
}

/* Ops of threads that launch, beside those that the path already tells of. */
static bool list_hidden(const struct builder *builder, struct pieces *pieces)
{
    const struct ledger  *ledger = builder->ledger;
    const struct path    *path = ledger->path;
    const struct profile *profile = ledger->study->profile;
    size_t                segments = pieces->list.count;
    bool                 *is_told = arena_new_array(ledger->scratch, bool, path->frames.count + 1);
    bool *launches = arena_new_array(ledger->scratch, bool, profile->timelines.count + 1);

    if (!is_told || !launches)
        return false;
    for (size_t i = 0; i < segments; i++)
        if (pieces->list.items[i].owner != NO_ID) {
            is_told[pieces->list.items[i].owner] = true;
            launches[path->frames.items[pieces->list.items[i].owner].timeline] = true;
        }
    for (uint32_t f = 0; f < path->frames.count; f++) {
        struct piece piece = { .at_ns = event_start_ns(profile, path->frames.items[f].event),
                               .segment = NO_ID,
                               .owner = f,
                               .step = NO_ID };

        if (builder->owner[f] == f && !is_told[f] && launches[path->frames.items[f].timeline] &&
            !vec_push(&pieces->list, ledger->scratch, piece))
            return false;
    }
    return true;
}

/* A hidden op is of the step of the op before it that the path tells of: a host that runs ahead is
 * in a later step than its accelerator. The first are of that behind them. */
static void place_hidden(struct pieces *pieces)
{
    struct piece *list = pieces->list.items;
    size_t        count = pieces->list.count;
    uint32_t      step = 0;

    sort_stretches(list, count, sizeof *list, compare_times);
    for (size_t i = count; i-- > 0;)
        if (list[i].step != NO_ID && list[i].owner != NO_ID)
            step = list[i].step;
    for (size_t i = 0; i < count; i++)
        if (list[i].step == NO_ID)
            list[i].step = step;
        else if (list[i].owner != NO_ID)
            step = list[i].step;
    sort_stretches(list, count, sizeof *list, compare_pieces);
}

/* An op of which nothing is on the path. */
static bool add_hidden(struct builder *builder, const struct piece *piece)
{
    struct segment segment = { .start_ns = piece->at_ns,
                               .end_ns = piece->at_ns,
                               .frame = piece->owner,
                               .part = PART_COMPUTE };

    return add_unit(builder, &segment, piece->owner);
}

static bool add_segment(struct builder *builder, const struct piece *piece)
{
    struct ledger        *ledger = builder->ledger;
    const struct segment *segment = &ledger->path->segments.items[piece->segment];
    double                ns = (double)(segment->end_ns - segment->start_ns);
    struct work_unit     *unit;

    if (!continues(builder, segment, piece->owner, ledger->first_unit[piece->step]) &&
        !add_unit(builder, segment, piece->owner))
        return false;
    unit = &ledger->units.items[ledger->units.count - 1];
    unit->end_ns = segment->end_ns;
    unit->ns += ns;
    if (unit->kind != UNIT_OP && ns > builder->longest_ns)
        builder->longest_ns = ns, unit->frame = segment->frame;
    ledger->unit_of_segment[piece->segment] = (uint32_t)ledger->units.count - 1;
    ledger->total_ns += ns;
    return true;
}

static bool cut(struct builder *builder)
{
    struct ledger *ledger = builder->ledger;
    struct pieces  pieces = { 0 };
    uint32_t       row = 0;

    if (!list_segments(builder, &pieces) || (builder->launcher && !list_hidden(builder, &pieces)))
        return false;
    if (builder->launcher)
        place_hidden(&pieces);
    ledger->first_unit[0] = 0;
    for (size_t i = 0; i < pieces.list.count; i++) {
        const struct piece *piece = &pieces.list.items[i];

        while (row < piece->step)
            ledger->first_unit[++row] = (uint32_t)ledger->units.count;
        if (!(piece->segment == NO_ID ? add_hidden(builder, piece) : add_segment(builder, piece)))
            return false;
        ledger->units.items[ledger->units.count - 1].step = row;
    }
    while (row < ledger->step_count)
        ledger->first_unit[++row] = (uint32_t)ledger->units.count;
    return true;
}

/* What a function of the program calls in one pause: all calls of a name together. */
struct callees {
    double   *ns;      /* by name of the profile */
    double   *most_ns; /* the same: of its segments */
    uint32_t *frame;   /* of the longest of those */
    VEC(uint32_t) names;
};

/* Where one of them takes a good part of the pause, that is what the pause is for, though another
 * one's single call may be longer. Forgets them. */
static void name_pause(struct callees *callees, struct work_unit *unit)
{
    static const double LEAST_PART = 1.0 / 3, LEAST_NS = 1e6; /* less is no work of many calls */
    uint32_t            most = 0;

    for (size_t i = 0; i < callees->names.count; i++) {
        uint32_t name = callees->names.items[i];

        most = callees->ns[name] > callees->ns[most] ? name : most;
    }
    if (most && unit->ns >= LEAST_NS && callees->ns[most] >= LEAST_PART * unit->ns)
        unit->frame = callees->frame[most];
    for (size_t i = 0; i < callees->names.count; i++)
        callees->ns[callees->names.items[i]] = callees->most_ns[callees->names.items[i]] = 0;
    callees->names.count = 0;
}

static bool add_callee(const struct builder *builder, struct callees *callees,
                       const struct segment *segment)
{
    double   ns = (double)(segment->end_ns - segment->start_ns);
    uint32_t name = segment->frame == NO_ID ? 0 : builder->callee[segment->frame];

    if (!name || ns <= 0)
        return true;
    if (callees->ns[name] <= 0 && !vec_push(&callees->names, builder->ledger->scratch, name))
        return false;
    callees->ns[name] += ns;
    if (ns > callees->most_ns[name])
        callees->most_ns[name] = ns, callees->frame[name] = segment->frame;
    return true;
}

static bool name_pauses(struct builder *builder)
{
    struct ledger     *ledger = builder->ledger;
    const struct path *path = ledger->path;
    size_t             names = ledger->study->profile->names.count + 1;
    struct callees     callees = { .ns = arena_new_array(ledger->scratch, double, names),
                                   .most_ns = arena_new_array(ledger->scratch, double, names),
                                   .frame = arena_new_array(ledger->scratch, uint32_t, names) };
    struct work_unit  *unit = NULL;

    if (!callees.ns || !callees.most_ns || !callees.frame)
        return false;
    for (size_t s = 0; s < path->segments.count && ledger->units.count; s++) {
        struct work_unit *next = &ledger->units.items[ledger->unit_of_segment[s]];

        if (unit && unit != next)
            name_pause(&callees, unit);
        unit = next->kind == UNIT_OP ? NULL : next;
        if (unit && !add_callee(builder, &callees, &path->segments.items[s]))
            return false;
    }
    if (unit)
        name_pause(&callees, unit);
    return true;
}

/* An op with an accelerator's work is where its call is. */
static void place_at_calls(struct builder *builder)
{
    struct ledger        *ledger = builder->ledger;
    const struct profile *profile = ledger->study->profile;

    for (size_t u = 0; builder->launcher && u < ledger->units.count; u++) {
        struct work_unit *unit = &ledger->units.items[u];
        uint32_t          event;

        if (unit->kind != UNIT_OP)
            continue;
        event = ledger->path->frames.items[unit->frame].event;
        unit->start_ns = event_start_ns(profile, event);
        unit->end_ns = event_end_ns(profile, event);
    }
}

bool ledger_sequence(const struct ledger *ledger, uint32_t event, int64_t *number)
{
    return profile_stat(ledger->study->profile, STAT_SEQUENCE, event, number) && *number >= 0;
}

static bool starts_within(const int64_t *starts, size_t count, int64_t from, int64_t to)
{
    size_t first = LOWER_BOUND(count, i, starts[i] < from);

    return first < count && starts[first] < to;
}

static int compare_ways(const void *a, const void *b)
{
    const struct way_back *left = a, *right = b;

    return IN_ORDER(COMPARE(left->from_ns, right->from_ns), COMPARE(left->to_ns, right->to_ns));
}

static size_t first_way(const struct ledger *ledger, int64_t from_ns)
{
    return LOWER_BOUND(ledger->ways_back.count, i, ledger->ways_back.items[i].from_ns < from_ns);
}

/* Ops of the forward pass from which the recording leads to a node of the backward pass. */
static bool mark_trained(struct ledger *ledger)
{
    const struct profile *profile = ledger->study->profile;

    for (size_t i = 0; i < profile->flows.count; i++) {
        const struct flow *flow = &profile->flows.items[i];
        struct way_back    way;

        if (flow->kind != FLOW_FORWARD_BACKWARD || flow->from >= profile->event_count)
            continue;
        way.from_ns = event_start_ns(profile, flow->from);
        way.to_ns = flow->to < profile->event_count ? event_start_ns(profile, flow->to) : INT64_MIN;
        if (!vec_push(&ledger->ways_back, ledger->scratch, way))
            return false;
    }
    if (ledger->ways_back.count)
        qsort(ledger->ways_back.items, ledger->ways_back.count, sizeof *ledger->ways_back.items,
              compare_ways);
    ledger->has_backward = ledger->ways_back.count > 0;
    for (size_t u = 0; u < ledger->units.count; u++) {
        struct work_unit *unit = &ledger->units.items[u];
        size_t            way = first_way(ledger, unit->start_ns);

        unit->is_trained = unit->kind == UNIT_OP && unit->phase == UNIT_FORWARD &&
                           way < ledger->ways_back.count &&
                           ledger->ways_back.items[way].from_ns < unit->end_ns;
    }
    return true;
}

/* When the nodes start that are for an op of units [first, last], in order. */
static bool find_ways(const struct ledger *ledger, uint32_t first, uint32_t last, int64_t **starts,
                      size_t *count)
{
    const struct work_unit *units = ledger->units.items;
    VEC(int64_t) ways = { 0 };

    for (size_t way = first_way(ledger, units[first].start_ns);
         way < ledger->ways_back.count && ledger->ways_back.items[way].from_ns < units[last].end_ns;
         way++)
        if (!vec_push(&ways, ledger->scratch, ledger->ways_back.items[way].to_ns))
            return false;
    if (ways.count)
        qsort(ways.items, ways.count, sizeof *ways.items, sort_by_int64);
    *starts = ways.items;
    *count = ways.count;
    return true;
}

static bool is_way_back(const struct ledger *ledger, const struct work_unit *unit,
                        const int64_t *starts, size_t count)
{
    const struct profile *profile = ledger->study->profile;

    return unit->phase == UNIT_BACKWARD && unit->node != NO_ID &&
           starts_within(starts, count, event_start_ns(profile, unit->node),
                         event_end_ns(profile, unit->node));
}

bool units_mark_backward(const struct ledger *ledger, uint32_t first, uint32_t last, bool *marks)
{
    const struct work_unit *units = ledger->units.items;
    int64_t                *starts;
    size_t                  count;

    if (!find_ways(ledger, first, last, &starts, &count))
        return false;
    for (uint32_t u = last + 1; count && u < ledger->first_unit[units[first].step + 1]; u++)
        marks[u] |= is_way_back(ledger, &units[u], starts, count);
    return true;
}

bool ledger_claim_way_back(struct ledger *ledger, uint32_t cell, uint32_t first, uint32_t last,
                           double share)
{
    struct work_unit *units = ledger->units.items;
    int64_t          *starts;
    size_t            count;

    if (!find_ways(ledger, first, last, &starts, &count))
        return false;
    for (uint32_t u = last + 1; count && u < ledger->first_unit[units[first].step + 1]; u++)
        if (is_way_back(ledger, &units[u], starts, count))
            ledger_claim(ledger, cell, &units[u], share);
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

static bool link_ops(struct ledger *ledger)
{
    size_t count = ledger->units.count;

    ledger->op_before = arena_new_array(ledger->scratch, uint32_t, count + 1);
    ledger->op_behind = arena_new_array(ledger->scratch, uint32_t, count + 1);
    if (!ledger->op_before || !ledger->op_behind)
        return false;
    for (size_t step = 0; step < ledger->step_count; step++) {
        uint32_t first = ledger->first_unit[step], end = ledger->first_unit[step + 1], op = NO_ID;

        for (uint32_t u = first; u < end; u++) {
            ledger->op_before[u] = op;
            op = ledger->units.items[u].kind == UNIT_OP ? u : op;
        }
        op = NO_ID;
        for (uint32_t u = end; u-- > first;) {
            ledger->op_behind[u] = op;
            op = ledger->units.items[u].kind == UNIT_OP ? u : op;
        }
    }
    return true;
}

/* Most of the steps is an accelerator's work. */
static bool is_of_device(const struct path *path)
{
    double ns = 0, on_device_ns = 0;

    for (size_t s = 0; s < path->segments.count; s++) {
        const struct segment *segment = &path->segments.items[s];
        double                length = (double)(segment->end_ns - segment->start_ns);

        ns += length;
        on_device_ns += segment->on_device ? length : 0;
    }
    return 2 * on_device_ns >= ns;
}

bool ledger_open(struct ledger *ledger, struct study *study, struct arena *scratch)
{
    const struct profile *profile = study->profile;
    struct builder        builder = { .ledger = ledger };

    *ledger =
        (struct ledger) { .study = study,
                          .path = &study->path,
                          .scratch = scratch,
                          .step_count = study->path.step_rows.count,
                          .is_torch =
                              str_equal(profile_str(profile, profile->framework), STR("pytorch")),
                          .is_of_device = study->path.has_device && is_of_device(&study->path) };
    ledger->unit_of_segment = arena_new_array(scratch, uint32_t, study->path.segments.count + 1);
    ledger->first_unit = arena_new_array(scratch, uint32_t, ledger->step_count + 1);
    ledger->type_class = arena_new_array(scratch, uint8_t, study->profile->names.count + 1);
    ledger->name_waits = arena_new_array(scratch, uint8_t, study->profile->names.count + 1);
    ledger->is_user = profile_user_sources(profile, scratch);
    ledger->user_line = arena_new_array(scratch, uint32_t, profile->sources.count + 1);
    if (ledger->is_torch && study->path.has_device && study->devices->launch_of &&
        !(builder.launcher = launchers_find(study, scratch)))
        return false;
    if (!ledger->unit_of_segment || !ledger->first_unit || !ledger->type_class ||
        !ledger->is_user || !ledger->user_line || !ledger->name_waits ||
        !compiled_open(&ledger->compiled, profile, scratch) || !look_at_frames(&builder) ||
        !cut(&builder))
        return false;
    if (!name_pauses(&builder))
        return false;
    place_at_calls(&builder);
    for (size_t u = 0; u < ledger->units.count; u++)
        ledger->units.items[u].left_ns = ledger->units.items[u].ns;
    return link_ops(ledger) && mark_trained(ledger) && measure_start(ledger) &&
           (!ledger->is_torch || find_typical(ledger));
}

double unit_start_ns(const struct ledger *ledger, uint32_t row)
{
    static const double     LONGEST_NS = 1e6; /* more is work of its own */
    const struct work_unit *unit = &ledger->units.items[row], *next;
    uint32_t                behind = ledger->op_behind[row];
    double                  ns = (double)(unit->end_ns - unit->start_ns);

    if (!ledger->path->has_device || unit->kind != UNIT_OP)
        return 0;
    if (behind == NO_ID)
        return ns;
    next = &ledger->units.items[behind];
    if (next->start_ns > unit->end_ns && (double)(next->start_ns - unit->start_ns) < LONGEST_NS)
        ns = (double)(next->start_ns - unit->start_ns);
    return ns;
}
