#include "analyze/schedule/why.h"

#include "analyze/device/device_activity.h"
#include "analyze/path/work.h"
#include "analyze/schedule/lateness.h"
#include "analyze/schedule/why_walk.h"
#include "base/option.h"
#include "base/pattern.h"
#include "base/sort.h"
#include "base/text.h"
#include "base/unit.h"

#include <math.h>
#include <stdlib.h>

struct asker {
    const struct study *study;
    struct arena       *arena; /* of the answer */
    struct arena        scratch;
    struct event_graph  graph;
    struct why         *why;
};

static const char *const subjects[] = { "gap", "step", "collective", "op", "kernel" };
enum subject { SUBJECT_GAP, SUBJECT_STEP, SUBJECT_COLLECTIVE, SUBJECT_OP, SUBJECT_KERNEL };

static bool no_memory(struct err *err)
{
    return err_set(err, ERR_LIMIT, "the causes do not fit the memory budget");
}

static bool explain_form(struct err *err)
{
    return err_advise(err, "one of gap, gap@step12, step:slowest, step:12, collective:REGEX, "
                           "op:REGEX, kernel:REGEX");
}

/* The row of the sampled step that is meant: "slowest" or a number. */
static bool find_step(const struct asker *asker, struct str text, uint32_t *row, struct err *err)
{
    const struct steps *steps = &asker->study->steps;
    int64_t             number, longest_ns = -1;
    bool                is_slowest = str_equal(text, STR("slowest"));

    *row = NO_ID;
    if (!is_slowest && !str_to_int64(text, &number)) {
        (void)err_set(err, ERR_USAGE, "'%.*s' is no step", STR_ARG(text));
        return err_advise(err, "a number or 'slowest'");
    }
    for (size_t i = 0; i < steps->list.count; i++) {
        const struct step *step = &steps->list.items[i];
        int64_t            length_ns = step->end_ns - step->start_ns;

        if (step->host != steps->host || !step->is_sampled)
            continue;
        if (is_slowest ? length_ns > longest_ns : step->number == number) {
            *row = (uint32_t)i;
            longest_ns = length_ns;
        }
    }
    if (*row != NO_ID)
        return true;
    (void)err_set(err, ERR_INCONCLUSIVE, "no step %.*s among those looked at", STR_ARG(text));
    return err_advise(err, "tfprof info says which there are; --steps A:B looks at others");
}

/* A step of the usual length, other than `beside`. */
static uint32_t usual_step(const struct asker *asker, uint32_t beside)
{
    const struct steps *steps = &asker->study->steps;
    uint32_t            best = NO_ID;
    double              nearest_ns = INFINITY;

    for (size_t i = 0; i < steps->list.count; i++) {
        const struct step *step = &steps->list.items[i];
        double off_ns = fabs((double)(step->end_ns - step->start_ns) - steps->median_ns);

        if (step->host == steps->host && step->is_sampled && i != beside && off_ns < nearest_ns) {
            nearest_ns = off_ns;
            best = (uint32_t)i;
        }
    }
    return best;
}

static bool make_graph(struct asker *asker, uint32_t step, struct err *err)
{
    if (!event_graph_make(&asker->graph, asker->study, step, &asker->scratch, err))
        return false;
    return asker->graph.windows.count ||
           err_set(err, ERR_INCONCLUSIVE, "no step with a timeline to look at");
}

static bool is_device_node(const struct asker *asker, uint32_t node)
{
    return asker->graph.lines.items[asker->graph.nodes.items[node].line].is_device;
}

/* The window of the reference host that holds a time; the first one otherwise. */
static const struct graph_window *window_at(const struct asker *asker, int64_t time_ns)
{
    const struct graph_window *best = &asker->graph.windows.items[0];

    for (size_t i = 0; i < asker->graph.windows.count; i++) {
        const struct graph_window *window = &asker->graph.windows.items[i];

        if (window->host == asker->study->steps.host &&
            asker->study->steps.list.items[window->step].start_ns <= time_ns)
            best = window;
    }
    return best;
}

static void set_place(struct asker *asker, int64_t start_ns, int64_t end_ns)
{
    const struct step *step = &asker->study->steps.list.items[window_at(asker, start_ns)->step];

    asker->why->step = step->number;
    asker->why->start_ns = (double)(start_ns - step->start_ns);
    asker->why->duration_ns = (double)(end_ns - start_ns);
}

/* A copy for people: kernels' names are long. */
static const char *short_name(struct asker *asker, uint32_t node)
{
    enum { SHOWN = 80 };
    struct str name = event_graph_name(&asker->graph, node);

    if (name.len > SHOWN)
        return arena_text(asker->arena, "%.*s…", SHOWN, name.data);
    return arena_text(asker->arena, "%.*s", STR_ARG(name));
}

static void take_causes(struct asker *asker, struct why_walk *walk)
{
    asker->why->causes.items = (void *)walk->causes.items;
    asker->why->causes.count = walk->causes.count;
    asker->why->causes.capacity = walk->causes.capacity;
    if (walk->began != NO_ID && asker->graph.nodes.items[walk->began].frame != NO_ID)
        asker->why->began = short_name(asker, walk->began);
}

/* The causes one by one where they are few, else as sums. */
static bool walk_from(struct asker *asker, uint32_t node, uint32_t root, int64_t from_ns,
                      struct err *err)
{
    enum { MOST_CAUSES = 12 };
    struct why_walk walk = {
        .study = asker->study, .graph = &asker->graph, .arena = asker->arena, .root = root
    };

    if (!why_walk_back(&walk, node, root != NO_ID, from_ns))
        return no_memory(err);
    if (walk.causes.count > MOST_CAUSES) {
        asker->why->is_summed = true;
        why_walk_sum(&walk);
        qsort(walk.causes.items, walk.causes.count, sizeof *walk.causes.items, why_compare_ns);
    }
    take_causes(asker, &walk);
    return true;
}

/* The node of device work that starts at an event's start. */
static uint32_t node_of_event(const struct asker *asker, uint32_t event)
{
    for (uint32_t i = 0; i < asker->graph.nodes.count; i++) {
        uint32_t frame = asker->graph.nodes.items[i].frame;

        if (frame != NO_ID && is_device_node(asker, i) &&
            asker->graph.path.frames.items[frame].event == event)
            return i;
    }
    return NO_ID;
}

struct idle { /* gaps of a device over the end of a step are one */
    int64_t  start_ns, end_ns;
    uint32_t after;
};

/* The longest idle time of a device that begins in the step; NULL: in any step. */
static struct idle longest_idle(const struct device_row *row, const struct step *step)
{
    struct idle best = { 0, 0, NO_ID }, idle = best;

    for (size_t i = 0; i < row->gaps.count; i++) {
        const struct device_gap *gap = &row->gaps.items[i];

        if (!i || gap->start_ns != idle.end_ns)
            idle.start_ns = gap->start_ns;
        idle.end_ns = gap->end_ns;
        idle.after = gap->after;
        if (idle.after != NO_ID && idle.end_ns - idle.start_ns > best.end_ns - best.start_ns &&
            (!step || (idle.start_ns >= step->start_ns && idle.start_ns < step->end_ns)))
            best = idle;
    }
    return best;
}

static const struct device_row *busiest_device(const struct study *study)
{
    const struct device_row *best = NULL;

    for (size_t i = 0; study->devices && i < study->devices->rows.count; i++)
        if (!best || study->devices->rows.items[i].busy_ns > best->busy_ns)
            best = &study->devices->rows.items[i];
    return best;
}

static bool why_gap(struct asker *asker, uint32_t step_row, struct err *err)
{
    const struct study      *study = asker->study;
    const struct device_row *row = busiest_device(study);
    struct idle              idle = { 0, 0, NO_ID };
    uint32_t                 node;

    if (row)
        idle = longest_idle(row, step_row == NO_ID ? NULL : &study->steps.list.items[step_row]);
    if (idle.after == NO_ID)
        return err_set(err, ERR_INCONCLUSIVE, "no device was idle %s",
                       step_row != NO_ID ? "in that step" : "in the steps looked at");
    for (size_t i = 0; i < study->steps.list.count; i++) {
        const struct step *other = &study->steps.list.items[i];

        if (other->host == study->steps.host && other->is_sampled &&
            other->start_ns <= idle.start_ns && other->end_ns > idle.start_ns)
            step_row = (uint32_t)i;
    }
    if (!make_graph(asker, step_row, err))
        return false;
    node = node_of_event(asker, idle.after);
    if (node == NO_ID)
        return err_set(err, ERR_INCONCLUSIVE, "what ended the gap is outside of the steps");
    set_place(asker, idle.start_ns, idle.end_ns);
    asker->why->subject = arena_text(
        asker->arena, "the longest idle time of %s, before %s",
        profile_str(study->profile, study->profile->devices.items[row->device].name).data,
        short_name(asker, node));
    return walk_from(asker, node, NO_ID, idle.start_ns, err);
}

/* All of one step, by cause. */
static bool sum_step(const struct asker *asker, uint32_t step_row, struct why_walk *walk)
{
    *walk = (struct why_walk) {
        .study = asker->study, .arena = asker->arena, .root = NO_ID, .began = NO_ID
    };
    if (!why_walk_step(walk, step_row))
        return false;
    why_walk_sum(walk);
    return true;
}

static bool why_step(struct asker *asker, uint32_t step_row, struct err *err)
{
    const struct step *step = &asker->study->steps.list.items[step_row];
    uint32_t           usual_row = usual_step(asker, step_row);
    struct why_walk    usual = { 0 }, walk;

    if ((usual_row != NO_ID && !sum_step(asker, usual_row, &usual)) ||
        !sum_step(asker, step_row, &walk))
        return no_memory(err);
    asker->why->step = step->number;
    asker->why->duration_ns = (double)(step->end_ns - step->start_ns);
    if (usual_row != NO_ID)
        why_walk_compare(&walk, &usual);
    take_causes(asker, &walk);
    asker->why->is_step = true;
    if (usual_row == NO_ID) {
        asker->why->is_summed = true;
        if (asker->why->causes.count > 1)
            qsort(asker->why->causes.items, asker->why->causes.count,
                  sizeof *asker->why->causes.items, why_compare_ns);
        asker->why->subject =
            asker->study->steps.source == STEPS_WHOLE_TRACE
                ? "all of the recording, which has no steps"
                : arena_text(asker->arena, "step %lld, the only one", (long long)step->number);
        return true;
    }
    asker->why->is_compared = true;
    asker->why->subject = arena_text(
        asker->arena, "step %lld beside step %lld, which is of usual length",
        (long long)step->number, (long long)asker->study->steps.list.items[usual_row].number);
    return true;
}

/* Who takes part in a collective with a node, told apart from `other`: the rank, or, where ranks
 * are not recorded, the host; of one host the device or thread. */
static const char *who_is(const struct asker *asker, uint32_t node, uint32_t other)
{
    const struct profile *profile = asker->study->profile;
    uint32_t              host = lateness_host(&asker->graph, node);
    uint32_t timeline = asker->graph.lines.items[asker->graph.nodes.items[node].line].timeline;
    uint32_t device = profile->timelines.items[timeline].device;

    if (lateness_host(&asker->graph, other) == host)
        return profile_str(profile, device != NO_ID ? profile->devices.items[device].name
                                                    : profile->timelines.items[timeline].name)
            .data;
    if (profile->hosts.items[host].rank < 0)
        return profile_str(profile, profile->hosts.items[host].name).data;
    return arena_text(asker->arena, "rank %d", (int)profile->hosts.items[host].rank);
}

/* Each collective of the name that a rank came late to. */
static bool list_late(struct asker *asker, const struct pattern *pattern, struct late_list *list)
{
    size_t kept = 0;

    if (!lateness_make(&asker->graph, SIZE_MAX, asker->arena, list))
        return false;
    for (size_t i = 0; i < list->items.count; i++)
        if (pattern_matches(pattern, event_graph_name(&asker->graph, list->items.items[i].last)) ==
            PATTERN_YES)
            list->items.items[kept++] = list->items.items[i];
    list->items.count = kept;
    return true;
}

static bool take_late(struct asker *asker, const struct late_list *list)
{
    for (size_t i = 0; i < list->items.count; i++) {
        const struct late_arrival *late = &list->items.items[i];
        const struct step         *step = &asker->study->steps.list.items[late->step];
        struct why_late            row = { .step = step->number,
                                           .rank = event_graph_rank(&asker->graph,
                                                                    lateness_host(&asker->graph, late->last)),
                                           .who = who_is(asker, late->last, late->first),
                                           .late_ns = (double)late->late_ns,
                                           .name = short_name(asker, late->last),
                                           .class_ns = late->class_ns,
                                           .cause = late->cause };

        row.share = row.late_ns / (double)(step->end_ns - step->start_ns);
        if (!row.name || !row.who || !vec_push(&asker->why->late, asker->arena, row))
            return false;
    }
    return true;
}

static bool why_collective(struct asker *asker, const struct pattern *pattern, struct err *err)
{
    const struct late_arrival *worst;
    struct late_list           list;
    struct why_walk            walk;

    if (!make_graph(asker, NO_ID, err))
        return false;
    if (!list_late(asker, pattern, &list))
        return no_memory(err);
    if (!list.items.count) {
        (void)err_set(err, ERR_INCONCLUSIVE, "no such collective that several ranks take part in");
        return err_advise(err, "give the files of all ranks");
    }
    worst = &list.items.items[0];
    if (!lateness_walk(&asker->graph, worst, &walk, asker->arena) || !take_late(asker, &list))
        return no_memory(err);
    take_causes(asker, &walk);
    asker->why->began = NULL;
    asker->why->is_compared = true;
    set_place(asker, asker->graph.nodes.items[worst->first].start_ns,
              asker->graph.nodes.items[worst->last].start_ns);
    asker->why->subject = arena_text(
        asker->arena, "%s comes later than %s to %s", who_is(asker, worst->last, worst->first),
        who_is(asker, worst->first, worst->last), short_name(asker, worst->last));
    return true;
}

/* Whether a node is, or was launched from, something of the asked kind and name. */
static uint32_t named_frame(const struct asker *asker, const struct pattern *pattern,
                            uint32_t frame, uint32_t kinds)
{
    const struct event_graph *graph = &asker->graph;
    uint32_t                  found = NO_ID;

    for (uint32_t f = frame; f != NO_ID; f = graph->path.frames.items[f].parent) {
        const struct activity *activity =
            event_activity(asker->study->profile, graph->path.frames.items[f].event);

        if ((KIND_BIT(activity->kind) & kinds) &&
            pattern_matches(pattern, profile_str(asker->study->profile, activity->name)) ==
                PATTERN_YES)
            found = f;
    }
    return found;
}

/* The node with most time that bears the name, and the frame that bears it. */
static uint32_t longest_named(const struct asker *asker, const struct pattern *pattern,
                              enum subject subject, uint32_t *frame)
{
    const struct event_graph *graph = &asker->graph;
    uint32_t                  best = NO_ID;
    int64_t                   most_ns = -1;

    for (uint32_t i = 0; i < graph->nodes.count; i++) {
        const struct graph_node *node = &graph->nodes.items[i];
        uint32_t                 found = NO_ID;
        bool                     on_device = is_device_node(asker, i);

        if (node->frame == NO_ID || node->end_ns - node->start_ns <= most_ns)
            continue;
        if (subject == SUBJECT_KERNEL && on_device)
            found = named_frame(asker, pattern, node->frame, UINT32_MAX);
        else if (subject == SUBJECT_OP)
            found = named_frame(asker, pattern,
                                on_device && node->launcher != NO_ID ? node->launcher : node->frame,
                                KIND_BIT(ACTIVITY_OP) | KIND_BIT(ACTIVITY_COLLECTIVE));
        if (found == NO_ID)
            continue;
        most_ns = node->end_ns - node->start_ns;
        best = i;
        *frame = found;
    }
    return best;
}

static bool why_work(struct asker *asker, const struct pattern *pattern, enum subject subject,
                     struct err *err)
{
    uint32_t    frame = NO_ID, node, event;
    int64_t     from_ns, end_ns;
    struct text length = { .arena = asker->arena };

    if (!make_graph(asker, NO_ID, err))
        return false;
    node = longest_named(asker, pattern, subject, &frame);
    if (node == NO_ID) {
        (void)err_set(err, ERR_INCONCLUSIVE, "no %s of such a name in the steps looked at",
                      subjects[subject]);
        return err_advise(err, "tfprof op lists names; patterns are searched in them");
    }
    event = asker->graph.path.frames.items[frame].event;
    from_ns = event_start_ns(asker->study->profile, event);
    end_ns = asker->graph.nodes.items[node].end_ns;
    if (is_device_node(asker, node) && subject == SUBJECT_KERNEL) {
        uint32_t before = window_at(asker, from_ns)->base;

        from_ns = asker->graph.nodes.items[before].start_ns;
        unit_print(&length, (double)asker->graph.nodes.items[node].own_ns, UNIT_NS);
        asker->why->subject = arena_text(
            asker->arena, "from its step's begin to the end of the longest %s, itself %s",
            short_name(asker, node), text_str(&length).data);
    } else {
        bool on_host = !is_device_node(asker, node);

        asker->why->subject = arena_text(
            asker->arena, "the longest %s, %s",
            profile_str(asker->study->profile, event_activity(asker->study->profile, event)->name)
                .data,
            on_host ? "its call" : "from its call to the end of its work");
        if (on_host)
            end_ns = event_end_ns(asker->study->profile, event);
    }
    while (!is_device_node(asker, node) && node + 1 < asker->graph.nodes.count &&
           asker->graph.nodes.items[node].end_ns < end_ns) {
        uint32_t next = node + 1;

        while (next < asker->graph.nodes.count &&
               asker->graph.nodes.items[next].line != asker->graph.nodes.items[node].line)
            next++;
        if (next >= asker->graph.nodes.count || asker->graph.nodes.items[next].end_ns > end_ns)
            break;
        node = next;
    }
    set_place(asker, from_ns, end_ns);
    return walk_from(asker, node, event, from_ns, err);
}

/* What the slowest of the steps looked at takes beyond the usual one; 0: no two to compare. */
static int64_t slowest_excess_ns(const struct asker *asker)
{
    const struct steps *steps = &asker->study->steps;
    uint32_t            row;
    struct err          err = { 0 };

    if (!find_step(asker, STR("slowest"), &row, &err))
        return 0;
    return steps->list.items[row].end_ns - steps->list.items[row].start_ns -
           (int64_t)steps->median_ns;
}

/* Where nothing is asked: the slowest step or the largest gap, whichever holds more time. */
static const char *usual_question(const struct asker *asker)
{
    const struct device_row *row = busiest_device(asker->study);
    struct idle              idle = { 0, 0, NO_ID };

    if (row)
        idle = longest_idle(row, NULL);
    return idle.after != NO_ID && idle.end_ns - idle.start_ns > slowest_excess_ns(asker)
               ? "gap"
               : "step:slowest";
}

static bool ask(struct asker *asker, struct str what, struct err *err)
{
    struct str head = str_slice(what, 0, str_find(what, ':'));
    struct str rest = str_slice(what, head.len + 1, what.len);
    size_t     at = str_find(head, '@'), subject = 0;
    struct str place = str_slice(head, at + 1, head.len), word = str_slice(head, 0, at);
    uint32_t   step = NO_ID;
    bool       is_answered;

    while (subject < ARRAY_COUNT(subjects) && !str_equal(word, str_from(subjects[subject])))
        subject++;
    if (subject == ARRAY_COUNT(subjects)) {
        struct str  copy = arena_str(&asker->scratch, word);
        const char *nearest =
            copy.data ? option_nearest(copy.data, subjects, ARRAY_COUNT(subjects)) : NULL;

        (void)err_set(err, ERR_USAGE, "'%.*s' is nothing to ask about", STR_ARG(what));
        return nearest ? err_advise(err, "did you mean '%s'?", nearest) : explain_form(err);
    }
    if (subject == SUBJECT_GAP) {
        if (str_starts(place, STR("step")))
            place = str_slice(place, 4, place.len);
        if (place.len ? !find_step(asker, place, &step, err)
                      : rest.len && !find_step(asker, rest, &step, err))
            return false;
        return why_gap(asker, step, err);
    }
    if (!rest.len) {
        (void)err_set(err, ERR_USAGE, "which %.*s?", STR_ARG(word));
        return explain_form(err);
    }
    if (subject == SUBJECT_STEP)
        return find_step(asker, rest, &step, err) && why_step(asker, step, err);

    struct err      costly = { 0 };
    struct pattern *pattern = pattern_new(rest, PATTERN_SEARCH, false, err);

    if (!pattern)
        return err_in(err, "%.*s", STR_ARG(what));
    is_answered = subject == SUBJECT_COLLECTIVE
                      ? why_collective(asker, pattern, err)
                      : why_work(asker, pattern, (enum subject)subject, err);
    if (!pattern_settled(pattern, &costly)) { /* nothing of such a name: that is not known */
        *err = costly;
        is_answered = false;
    }
    pattern_free(pattern);
    return is_answered;
}

bool why_is_question(const char *text)
{
    struct str whole = str_from(text), word = str_slice(whole, 0, str_find(whole, ':'));

    word = str_slice(word, 0, str_find(word, '@'));
    for (size_t i = 0; i < ARRAY_COUNT(subjects); i++)
        if (str_equal(word, str_from(subjects[i])))
            return true;
    return false;
}

bool why_run(struct why *why, const struct study *study, const char *what, struct arena *arena,
             struct err *err)
{
    struct asker asker = { .study = study,
                           .arena = arena,
                           .scratch = { .budget_bytes = arena->budget_bytes },
                           .why = why };
    bool         is_answered;

    *why = (struct why) { .what = what ? what : usual_question(&asker) };
    is_answered = ask(&asker, str_from(why->what), err);
    arena_free(&asker.scratch);
    return is_answered;
}
