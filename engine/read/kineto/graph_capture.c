#include "read/kineto/graph_capture.h"

#include "base/intern.h"
#include "base/macros.h"
#include "base/sort.h"
#include "model/names.h"
#include "model/nesting.h"

#include <stdlib.h>

#include <string.h>

enum { LOOK_AHEAD = 16 };
static const double LEAST_FIT = 0.95; /* of the larger of both */

struct node {            /* a kernel or copy, captured or replayed */
    uint32_t name;       /* of the kernel, in the profile of the replays; 0: not told */
    bool     is_copy;    /* or sets memory */
    uint32_t op, source; /* captured: rows of the capture, or NO_ID */
    uint32_t event;      /* replayed */
};
struct nodes {
    uint32_t first, count;
};
struct join {
    struct profile       *profile;
    const struct profile *capture;
    struct arena          scratch;
    VEC(struct node) captured, replayed;
    VEC(struct nodes) graphs, replays;
    bool                has_names;                /* some captured call tells its kernel */
    struct id_map       ops, sources, activities; /* of the capture -> rows of the profile */
    uint32_t            chosen;                   /* graph of the replay before */
    const struct node **match;                    /* by replayed node of one replay */
    uint32_t            fitted, unclear;
    uint64_t            joined;
};

static bool is_call(const struct profile *profile, uint32_t event, const char *part)
{
    return str_contains(profile_str(profile, event_activity(profile, event)->name), str_from(part));
}

static bool is_op(const struct profile *profile, const struct activity *activity)
{
    (void)profile;
    return activity->kind == ACTIVITY_OP && activity->op != NO_ID;
}

/* Code that a compiler made is nobody's own. */
static bool is_own_frame(const struct profile *profile, const struct activity *activity)
{
    return activity->kind == ACTIVITY_PYTHON && profile_is_user_source(profile, activity->source) &&
           !str_contains(profile_str(profile, profile->sources.items[activity->source].file),
                         STR("/torchinductor_"));
}

/* Engines that serve are installed packages, so that no frame is the user's: the innermost one that
 * is of no framework or library of kernels stands for it. */
static bool is_frame(const struct profile *profile, const struct activity *activity)
{
    struct str file, package;
    size_t     at;

    if (activity->kind != ACTIVITY_PYTHON || activity->source >= profile->sources.count)
        return false;
    file = profile_str(profile, profile->sources.items[activity->source].file);
    at = str_search(file, STR("-packages/"));
    package = at < file.len ? str_slice(file, at + 10, file.len) : file;
    at = str_find(package, '/');
    return at < package.len && file.data[0] != '<' &&
           !name_is(str_slice(package, 0, at), NAMES_KERNEL_PACKAGE);
}

struct around { /* by event of the capture: rows of activities */
    uint32_t *op, *own, *frame;
};

static bool find_around(struct join *join, struct around *around)
{
    uint32_t *outer = nesting_find(join->capture, &join->scratch);

    if (!outer)
        return false;
    around->op = nesting_innermost(join->capture, outer, is_op, &join->scratch);
    around->own = nesting_innermost(join->capture, outer, is_own_frame, &join->scratch);
    around->frame = nesting_innermost(join->capture, outer, is_frame, &join->scratch);
    return around->op && around->own && around->frame;
}

/* Host calls that put work of a device into the graph. */
static bool adds_node(const struct profile *capture, uint32_t event)
{
    uint8_t kind = event_activity(capture, event)->kind;

    return (kind == ACTIVITY_LAUNCH || kind == ACTIVITY_TRANSFER) &&
           !is_call(capture, event, "HostFunc") && !is_call(capture, event, "GraphLaunch");
}

static bool add_captured(struct join *join, const struct around *around, uint32_t event)
{
    const struct profile *capture = join->capture;
    struct node           node = { .op = NO_ID, .source = NO_ID, .event = event };
    uint32_t frame = around->own[event] != NO_ID ? around->own[event] : around->frame[event];
    int64_t  name;

    node.is_copy = event_activity(capture, event)->kind == ACTIVITY_TRANSFER ||
                   is_call(capture, event, "emset");
    if (around->op[event] != NO_ID)
        node.op = capture->activities.items[around->op[event]].op;
    if (frame != NO_ID)
        node.source = capture->activities.items[frame].source;
    if (profile_stat(capture, STAT_LAUNCHED, event, &name))
        node.name = profile_intern(join->profile, profile_str(capture, (uint32_t)name));
    join->has_names |= node.name != 0;
    return node.name != NO_ID && vec_push(&join->captured, &join->scratch, node);
}

/* The graphs that a thread captured, one after the other. */
static bool add_graphs(struct join *join, const struct around *around, const struct timeline *line)
{
    struct nodes graph = { 0 };
    bool         is_open = false;
    int64_t call_end_ns = INT64_MIN; /* a call of a driver inside of the runtime's is the same */

    for (uint32_t i = 0; i < line->event_count; i++) {
        uint32_t event = line->first_event + i;

        if (is_call(join->capture, event, "StreamBeginCapture")) {
            is_open = true;
            graph.first = (uint32_t)join->captured.count;
        } else if (is_open && is_call(join->capture, event, "StreamEndCapture")) {
            is_open = false;
            graph.count = (uint32_t)join->captured.count - graph.first;
            if (graph.count && !vec_push(&join->graphs, &join->scratch, graph))
                return false;
        } else if (is_open && adds_node(join->capture, event) &&
                   event_start_ns(join->capture, event) >= call_end_ns) {
            call_end_ns = event_end_ns(join->capture, event);
            if (!add_captured(join, around, event))
                return false;
        }
    }
    return true;
}

static bool collect_captured(struct join *join)
{
    struct around around = { 0 };

    if (!find_around(join, &around))
        return false;
    for (size_t t = 0; t < join->capture->timelines.count; t++)
        if (join->capture->timelines.items[t].kind == TIMELINE_THREAD &&
            !add_graphs(join, &around, &join->capture->timelines.items[t]))
            return false;
    return true;
}

struct replayed_work {
    uint32_t launch, event;
    int64_t  start_ns;
};

static int compare_work(const void *left, const void *right)
{
    const struct replayed_work *a = left, *b = right;

    return IN_ORDER(COMPARE(a->launch, b->launch),
                    IN_ORDER(COMPARE(a->start_ns, b->start_ns), COMPARE(a->event, b->event)));
}

static bool is_work(const struct profile *profile, uint32_t event)
{
    uint8_t kind = event_activity(profile, event)->kind;

    return kind == ACTIVITY_KERNEL || kind == ACTIVITY_COLLECTIVE || kind == ACTIVITY_MEMCPY ||
           kind == ACTIVITY_MEMSET;
}

static bool collect_replayed(struct join *join)
{
    struct profile       *profile = join->profile;
    struct replayed_work *work =
        arena_new_array(&join->scratch, struct replayed_work, profile->flows.count + 1);
    size_t count = 0;

    if (!work)
        return false;
    for (size_t i = 0; i < profile->flows.count; i++) {
        const struct flow *flow = &profile->flows.items[i];

        if (flow->kind == FLOW_LAUNCH && is_work(profile, flow->to) &&
            is_call(profile, flow->from, "GraphLaunch"))
            work[count++] =
                (struct replayed_work) { flow->from, flow->to, event_start_ns(profile, flow->to) };
    }
    if (count)
        qsort(work, count, sizeof *work, compare_work);
    for (size_t i = 0; i < count; i++) {
        const struct activity *activity = event_activity(profile, work[i].event);
        struct node            node = { .op = NO_ID, .source = NO_ID, .event = work[i].event };

        node.is_copy = activity->kind == ACTIVITY_MEMCPY || activity->kind == ACTIVITY_MEMSET;
        node.name = node.is_copy ? 0 : activity->name;
        if ((i == 0 || work[i].launch != work[i - 1].launch) &&
            !vec_push(&join->replays, &join->scratch, (struct nodes) { .first = (uint32_t)i }))
            return false;
        join->replays.items[join->replays.count - 1].count++;
        if (!vec_push(&join->replayed, &join->scratch, node))
            return false;
    }
    join->match = arena_new_array(&join->scratch, const struct node *, count + 1);
    return join->match != NULL;
}

/* What calls do not tell fits whatever is of the same kind. */
static bool is_same(const struct node *captured, const struct node *replayed)
{
    return captured->is_copy == replayed->is_copy &&
           (captured->name == 0 || captured->name == replayed->name);
}

/* How many of a replay's nodes a captured graph has, in order; where a few are missing on either
 * side it goes on behind them, but without names only a graph of the same kinds throughout fits.
 * Sets the matches where asked for. */
static uint32_t fit(struct join *join, const struct nodes *graph, const struct nodes *replay,
                    bool is_kept)
{
    const struct node *captured = &join->captured.items[graph->first];
    const struct node *replayed = &join->replayed.items[replay->first];
    uint32_t           c = 0, r = 0, found = 0, skip = join->has_names ? LOOK_AHEAD : 0;

    if (!join->has_names && graph->count != replay->count)
        return 0;
    for (uint32_t i = 0; is_kept && i < replay->count; i++)
        join->match[i] = NULL;
    while (c < graph->count && r < replay->count) {
        uint32_t ahead = 1;

        if (is_same(&captured[c], &replayed[r])) {
            if (is_kept)
                join->match[r] = &captured[c];
            found++, c++, r++;
            continue;
        }
        while (ahead <= skip &&
               !(c + ahead < graph->count && is_same(&captured[c + ahead], &replayed[r])) &&
               !(r + ahead < replay->count && is_same(&captured[c], &replayed[r + ahead])))
            ahead++;
        if (ahead > skip)
            return 0;
        if (c + ahead < graph->count && is_same(&captured[c + ahead], &replayed[r]))
            c += ahead;
        else
            r += ahead;
    }
    return found;
}

static bool are_alike(const struct join *join, const struct nodes *a, const struct nodes *b)
{
    if (a->count != b->count)
        return false;
    for (uint32_t i = 0; i < a->count; i++)
        if (join->captured.items[a->first + i].op != join->captured.items[b->first + i].op)
            return false;
    return true;
}

/* The graph that a replay is of; of several that fit as well, as layers do, the next one. NULL:
 * none, or they differ in what they work on, which sets is_unclear. */
static const struct nodes *choose(struct join *join, const struct nodes *replay, bool *is_unclear)
{
    const struct nodes *best = NULL;
    uint32_t            most = 0, best_row = 0;

    *is_unclear = false;
    for (uint32_t i = 1; i <= join->graphs.count; i++) {
        uint32_t            row = (uint32_t)((join->chosen + i) % join->graphs.count);
        const struct nodes *graph = &join->graphs.items[row];
        uint32_t            larger = graph->count > replay->count ? graph->count : replay->count;
        uint32_t            found = fit(join, graph, replay, false);

        if (found < LEAST_FIT * larger || found < most)
            continue;
        if (found > most || !best) {
            best = graph;
            best_row = row;
            *is_unclear = false;
        } else {
            *is_unclear |= !are_alike(join, best, graph);
        }
        most = found;
    }
    if (!best || *is_unclear)
        return NULL;
    join->chosen = best_row;
    return best;
}

/* A row of the profile like one of the capture; NO_ID past the budget. */
static uint32_t copy_source(struct join *join, uint32_t row)
{
    struct source_line line;
    uint32_t           known = id_map_get(&join->sources, row);
    struct profile    *profile = join->profile;

    if (known != NO_ID)
        return known;
    line = join->capture->sources.items[row];
    line.file = profile_intern(profile, profile_str(join->capture, line.file));
    line.function = profile_intern(profile, profile_str(join->capture, line.function));
    line.text = profile_intern(profile, profile_str(join->capture, line.text));
    line.caller = NO_ID;
    if (line.file == NO_ID || line.function == NO_ID || line.text == NO_ID ||
        !vec_push(&profile->sources, profile->arena, line) ||
        !id_map_put(&join->sources, row, (uint32_t)profile->sources.count - 1))
        return NO_ID;
    return (uint32_t)profile->sources.count - 1;
}

static bool copy_operands(struct join *join, const struct op *from, struct op *to)
{
    struct profile *profile = join->profile;

    to->first_input = (uint32_t)profile->tensors.count;
    for (uint32_t i = 0; i < from->input_count + from->output_count; i++)
        if (!vec_push(&profile->tensors, profile->arena,
                      join->capture->tensors.items[from->first_input + i]))
            return false;
    to->first_output = to->first_input + to->input_count;
    to->first_attr = (uint32_t)profile->attrs.count;
    for (uint32_t i = 0; i < from->attr_count; i++) {
        struct attr attr = join->capture->attrs.items[from->first_attr + i];

        attr.name = profile_intern(profile, profile_str(join->capture, attr.name));
        attr.value = profile_intern(profile, profile_str(join->capture, attr.value));
        if (attr.name == NO_ID || attr.value == NO_ID ||
            !vec_push(&profile->attrs, profile->arena, attr))
            return false;
    }
    return true;
}

/* `source`: a row of the profile, or NO_ID. */
static uint32_t copy_op(struct join *join, uint32_t row, uint32_t source)
{
    struct profile  *profile = join->profile;
    const struct op *from = &join->capture->ops.items[row];
    struct op        to = *from;
    uint64_t         key = (uint64_t)source << 32 | row;
    uint32_t         known = id_map_get(&join->ops, key);

    if (known != NO_ID)
        return known;
    to.name = profile_intern(profile, profile_str(join->capture, from->name));
    to.type = profile_intern(profile, profile_str(join->capture, from->type));
    to.category = profile_intern(profile, profile_str(join->capture, from->category));
    to.origin = to.module = to.program = to.caller = 0;
    to.device = to.graph_node = NO_ID;
    to.source = source;
    if (to.name == NO_ID || to.type == NO_ID || to.category == NO_ID ||
        !copy_operands(join, from, &to) || !vec_push(&profile->ops, profile->arena, to) ||
        !id_map_put(&join->ops, key, (uint32_t)profile->ops.count - 1))
        return NO_ID;
    return (uint32_t)profile->ops.count - 1;
}

/* The label of work that is as `event` and belongs to the captured op and line; NO_ID past the
 * budget. */
static uint32_t label_of(struct join *join, uint32_t event, const struct node *captured)
{
    struct profile *profile = join->profile;
    uint32_t        id = event_activity_id(profile, event), source = NO_ID, op = NO_ID;
    struct activity activity = profile->activities.items[id];
    uint32_t        label;
    uint64_t        key;

    if (captured->source != NO_ID && (source = copy_source(join, captured->source)) == NO_ID)
        return NO_ID;
    if (captured->op != NO_ID && (op = copy_op(join, captured->op, source)) == NO_ID)
        return NO_ID;
    /* a copied op has its line */
    key = (uint64_t)id << 32 | (op != NO_ID ? op : UINT32_C(0x80000000) | source);
    label = id_map_get(&join->activities, key);
    if (label != NO_ID)
        return label;
    activity.op = op;
    activity.source = source;
    label = (uint32_t)profile->labels.count;
    if (!vec_push(&profile->activities, profile->arena, activity) ||
        !vec_push(&profile->labels, profile->arena, (uint32_t)profile->activities.count - 1) ||
        !id_map_put(&join->activities, key, label))
        return NO_ID;
    return label;
}

static bool apply(struct join *join, const struct nodes *replay)
{
    struct profile *profile = join->profile;

    for (uint32_t i = 0; i < replay->count; i++) {
        const struct node *captured = join->match[i];
        uint32_t           event = join->replayed.items[replay->first + i].event, label;

        if (!captured || (captured->op == NO_ID && captured->source == NO_ID))
            continue;
        label = label_of(join, event, captured);
        if (label == NO_ID || !packed_set(&profile->event_labels, profile->arena, event, label))
            return false;
        join->joined++;
    }
    return true;
}

static bool join_replays(struct join *join)
{
    for (size_t i = 0; i < join->replays.count; i++) {
        const struct nodes *replay = &join->replays.items[i], *graph;
        bool                is_unclear;

        graph = choose(join, replay, &is_unclear);
        join->unclear += is_unclear;
        if (!graph)
            continue;
        join->fitted++;
        (void)fit(join, graph, replay, true);
        if (!apply(join, replay))
            return false;
    }
    return true;
}

static bool tell(const struct join *join)
{
    struct profile *profile = join->profile;
    size_t          replays = join->replays.count;

    if (join->graphs.count == 0)
        return profile_note(profile, NULL, 1, "the capture holds no captured graph");
    if (replays == 0)
        return profile_note(profile, NULL, 1,
                            "no graph is replayed that the capture could tell of");
    if (join->unclear &&
        !profile_note(profile, NULL, 1,
                      "%u of %zu replayed graphs fit captures of several shapes: name the file of "
                      "the one that ran",
                      join->unclear, replays))
        return false;
    if (join->fitted == 0)
        return join->unclear > 0 ||
               profile_note(profile, NULL, 1,
                            "no captured graph fits a replayed one: %u launches were captured "
                            "first, %u pieces of work replayed",
                            join->graphs.items[0].count, join->replays.items[0].count);
    return profile_note(
        profile, NULL, 1,
        "%llu of %zu kernels and copies of %zu replayed graph%s have the ops and lines that they "
        "were captured with, by %s",
        (unsigned long long)join->joined, join->replayed.count, replays, replays == 1 ? "" : "s",
        join->has_names ? "their names and order" : "their order alone: names were not captured");
}

bool graph_capture_join(struct profile *profile, const struct profile *capture, struct err *err)
{
    struct join join = { .profile = profile, .capture = capture };
    bool        is_done;

    join.ops.arena = join.sources.arena = join.activities.arena = &join.scratch;
    is_done = collect_captured(&join) && collect_replayed(&join) &&
              (join.graphs.count == 0 || join_replays(&join)) && tell(&join);
    arena_free(&join.scratch);
    return is_done || err_memory(err, "what the capture tells");
}
