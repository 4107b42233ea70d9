#include "analyze/schedule/whatif_select.h"

#include "analyze/path/work.h"
#include "base/pattern.h"

#include <stdlib.h>

const char *const whatif_targets[TARGET_COUNT] = {
#define TARGET(id, word, bearers) word,
#include "analyze/schedule/whatif_targets.def"
};
static const uint32_t target_bearers[TARGET_COUNT] = {
#define TARGET(id, word, bearers) bearers,
#include "analyze/schedule/whatif_targets.def"
};

struct selection {
    const struct event_graph *graph;
    const struct profile     *profile;
    int                       target;
    bool                     *is_match; /* by frame: it or an ancestor bears the name; NULL: all */
};

static enum activity_kind kind_of(const struct selection *selection, uint32_t frame)
{
    return (enum activity_kind)event_activity(selection->profile,
                                              selection->graph->path.frames.items[frame].event)
        ->kind;
}

static bool names_match(const struct selection *selection, uint32_t frame)
{
    return !selection->is_match || (frame != NO_ID && selection->is_match[frame]);
}

/* Frames that can bear the name of a target. */
static bool can_bear(const struct selection *selection, uint32_t frame)
{
    uint32_t bearers = selection->target >= 0 ? target_bearers[selection->target] : 0;

    return !bearers || (bearers & KIND_BIT(kind_of(selection, frame)));
}

/* The op that a device's work belongs to, as the recording says it on the work itself. */
static bool op_matches(const struct selection *selection, const struct pattern *pattern,
                       uint32_t frame)
{
    const struct profile *profile = selection->profile;
    uint32_t op = event_activity(profile, selection->graph->path.frames.items[frame].event)->op;

    if (selection->target != TARGET_OP || op >= profile->ops.count)
        return false;
    return pattern_matches(pattern, profile_str(profile, profile->ops.items[op].type)) ==
               PATTERN_YES ||
           pattern_matches(pattern, profile_str(profile, profile->ops.items[op].name)) ==
               PATTERN_YES;
}

/* One match for each activity: names repeat. */
static bool match_frames(struct selection *selection, const char *text, struct arena *scratch,
                         struct err *err)
{
    enum { UNSEEN, NO, YES };
    const struct path    *path = &selection->graph->path;
    const struct profile *profile = selection->profile;
    struct pattern       *pattern = pattern_new(str_from(text), PATTERN_SEARCH, false, err);
    uint8_t              *seen = arena_new_array(scratch, uint8_t, profile->activities.count + 1);
    bool                  is_settled;

    if (!pattern)
        return false;
    selection->is_match = arena_new_array(scratch, bool, path->frames.count + 1);
    if (!seen || !selection->is_match) {
        pattern_free(pattern);
        return err_set(err, ERR_LIMIT, "the selection does not fit the memory budget");
    }
    for (uint32_t f = 0; f < path->frames.count; f++) {
        const struct frame *frame = &path->frames.items[f];
        uint32_t            activity = event_activity_id(profile, frame->event);

        if (seen[activity] == UNSEEN)
            seen[activity] =
                pattern_matches(pattern,
                                profile_str(profile, profile->activities.items[activity].name)) ==
                            PATTERN_YES ||
                        op_matches(selection, pattern, f)
                    ? YES
                    : NO;
        selection->is_match[f] = (seen[activity] == YES && can_bear(selection, f)) ||
                                 (frame->parent != NO_ID && selection->is_match[frame->parent]);
    }
    is_settled = pattern_settled(pattern, err);
    pattern_free(pattern);
    return is_settled;
}

static bool is_of(const struct selection *selection, const struct graph_node *node)
{
    bool on_device = selection->graph->lines.items[node->line].is_device;
    bool has_frame = node->frame != NO_ID;

    if (node->role == NODE_STEP)
        return false;
    switch ((enum whatif_target)selection->target) {
    case TARGET_KERNEL:
        return on_device && node->class == PART_COMPUTE;
    case TARGET_OP:
        return has_frame &&
               (selection->is_match ||
                event_graph_has_kind(selection->graph, on_device ? node->launcher : node->frame,
                                     KIND_BIT(ACTIVITY_OP)));
    case TARGET_HOST:
        return !on_device && (has_frame || !selection->is_match);
    case TARGET_COPY:
        return node->class == PART_COPY &&
               (!on_device || kind_of(selection, node->frame) != ACTIVITY_MEMSET);
    case TARGET_MEMSET:
        return on_device && has_frame && kind_of(selection, node->frame) == ACTIVITY_MEMSET;
    case TARGET_COMM:
        return node->class == PART_COMMUNICATION &&
               (on_device || !selection->graph->path.shows_collectives);
    case TARGET_SYNC:
        return !on_device &&
               event_graph_has_kind(selection->graph, node->frame, KIND_BIT(ACTIVITY_SYNC));
    case TARGET_INPUT:
        return !on_device && node->class == PART_INPUT;
    case TARGET_LAUNCH:
        return !on_device && has_frame &&
               event_graph_has_kind(selection->graph, node->frame,
                                    KIND_BIT(ACTIVITY_LAUNCH) | KIND_BIT(ACTIVITY_TRANSFER));
    case TARGET_COUNT:
        break;
    }
    return false;
}

static bool is_on_rank(const struct event_graph *graph, const struct graph_node *node, int32_t rank)
{
    uint32_t host = graph->lines.items[node->line].host;

    return rank < 0 || event_graph_rank(graph, host) == rank;
}

/* A name of the target that is near to what was asked for, for the message. */
static struct str suggest(const struct selection *selection)
{
    const struct event_graph *graph = selection->graph;
    double                    most_ns = 0;
    struct str                best = { 0 };

    for (uint32_t i = 0; i < graph->nodes.count; i++) {
        const struct graph_node *node = &graph->nodes.items[i];

        if (is_of(selection, node) && node->frame != NO_ID && can_bear(selection, node->frame) &&
            (double)node->own_ns > most_ns) {
            most_ns = (double)node->own_ns;
            best = event_graph_name(graph, i);
        }
    }
    return best;
}

static bool say_nothing_matches(const struct selection *selection, const struct whatif_edit *edit,
                                struct err *err)
{
    struct str  name = suggest(selection);
    const char *what =
        edit->target >= 0 && edit->target < TARGET_COUNT ? whatif_targets[edit->target] : "work";

    if (!name.len)
        return err_set(err, ERR_USAGE, "%s selects nothing: the steps hold no %s", edit->text,
                       what);
    (void)err_set(err, ERR_USAGE, "%s selects nothing: no %s of the steps has such a name",
                  edit->text, what);
    return err_advise(err, "the longest is '%.*s'", name.len > 60 ? 60 : (int)name.len, name.data);
}

/* Pieces of an op on pool threads, which bear no name of their own: those that it handed over, and
 * what follows them on their thread. */
static size_t add_pool_work(const struct event_graph *graph, bool *is_selected)
{
    size_t count = 0;

    for (uint32_t i = 0; i < graph->nodes.count; i++) {
        const struct graph_node *node = &graph->nodes.items[i];
        uint32_t                 end = event_graph_edges_end(graph, i);
        bool                     is_handed = false, is_given = false;

        if (is_selected[i] || node->frame == NO_ID ||
            graph->path.frame_work[node->frame] != WORK_POOL)
            continue;
        for (uint32_t e = node->first_edge; e < end; e++) {
            const struct graph_edge *edge = &graph->edges.items[e];

            if (edge->kind == EDGE_HANDOVER) {
                is_handed = true;
                is_given = is_selected[edge->from];
            } else if (edge->kind == EDGE_ORDER && !is_handed) {
                is_given = is_selected[edge->from];
            }
        }
        is_selected[i] = is_given;
        count += is_given;
    }
    return count;
}

bool whatif_select(const struct event_graph *graph, const struct whatif_edit *edit, int32_t rank,
                   struct arena *scratch, bool *is_selected, struct err *err)
{
    struct selection selection = { .graph = graph,
                                   .profile = graph->study->profile,
                                   .target = edit->target };
    size_t           count = 0;

    if (edit->pattern && !match_frames(&selection, edit->pattern, scratch, err))
        return err_in(err, "%s", edit->text);
    for (uint32_t i = 0; i < graph->nodes.count; i++) {
        const struct graph_node *node = &graph->nodes.items[i];

        is_selected[i] = is_of(&selection, node) && is_on_rank(graph, node, rank) &&
                         (names_match(&selection, node->frame) ||
                          (edit->target == TARGET_OP && names_match(&selection, node->launcher)));
        count += is_selected[i];
    }
    if (edit->target == TARGET_OP && count)
        count += add_pool_work(graph, is_selected);
    return count || !edit->pattern || say_nothing_matches(&selection, edit, err);
}

bool whatif_select_launches(const struct event_graph *graph, struct arena *scratch,
                            bool *is_selected)
{
    /* By frame of a call: how much work it enqueues, and how much of it is selected. */
    uint32_t *work = arena_new_array(scratch, uint32_t, graph->path.frames.count + 1);
    uint32_t *selected = arena_new_array(scratch, uint32_t, graph->path.frames.count + 1);

    if (!work || !selected)
        return false;
    for (uint32_t i = 0; i < graph->nodes.count; i++) {
        const struct graph_node *node = &graph->nodes.items[i];

        if (node->launcher == NO_ID)
            continue;
        work[node->launcher]++;
        selected[node->launcher] += is_selected[i];
    }
    for (uint32_t i = 0; i < graph->nodes.count; i++) {
        uint32_t frame = graph->nodes.items[i].frame;

        if (frame != NO_ID && work[frame] && work[frame] == selected[frame])
            is_selected[i] = true;
    }
    return true;
}
