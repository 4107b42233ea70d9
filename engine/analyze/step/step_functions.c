/* step_functions: where runs of several graph functions follow one another on a thread, what makes
 * the step: the function that trains, with what runs between two of its calls (evaluation, say).
 * Runs of a session have no names: what they update tells them apart. */
#include "analyze/step/step_markers.h"
#include "base/macros.h"
#include "model/op_class.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MIN_CALLS = 3 }; /* fewer are no steps */

struct function {
    uint32_t name; /* interned: what a call's event has behind the words for a call; of a session's
                    * run a number that its updates give, 0: none */
    uint32_t calls;
    uint32_t first, last; /* of its calls, by row of the markers */
    int64_t  total_ns;
    bool     trains;
};
struct search {
    const struct profile *profile;
    struct intern        *names;
    struct markers       *markers;
    struct arena         *scratch;
    VEC(struct function) functions;
    uint32_t *function_of, *call_of; /* by row of the markers */
};

static bool is_call(const struct profile *profile, uint32_t event)
{
    return runs_is_call(profile_str(profile, event_activity(profile, event)->name));
}

/* The call around a run, on its own thread; NO_ID: none is recorded. */
static uint32_t call_around(const struct profile *profile, const struct marker *marker)
{
    uint32_t first = profile->timelines.items[marker->timeline].first_event;

    for (uint32_t event = marker->event; event > first; event--)
        if (event_end_ns(profile, event - 1) >= marker->end_ns && is_call(profile, event - 1))
            return event - 1;
        else if (event_end_ns(profile, event - 1) < marker->start_ns && is_call(profile, event - 1))
            return NO_ID;
    return NO_ID;
}

static uint32_t function_for(struct search *search, uint32_t name)
{
    for (uint32_t f = 0; f < search->functions.count; f++)
        if (search->functions.items[f].name == name)
            return f;
    return vec_push(&search->functions, search->scratch, (struct function) { .name = name })
               ? (uint32_t)search->functions.count - 1
               : NO_ID;
}

static void count_call(struct function *function, uint32_t row, int64_t ns)
{
    if (!function->calls++)
        function->first = row;
    function->last = row;
    function->total_ns += ns;
}

/* Keeps the runs that are called, one for each call: a function that several devices share runs in
 * parts, and iterators that go run functions of their own. false: most runs have no call. */
static bool keep_called(struct search *search)
{
    struct markers *markers = search->markers;
    uint32_t        last = NO_ID;
    size_t          called = 0, kept = 0;

    for (size_t i = 0; i < markers->list.count; i++) {
        search->call_of[i] = call_around(search->profile, &markers->list.items[i]);
        called += search->call_of[i] != NO_ID;
    }
    if (called < MIN_CALLS || 2 * called < markers->list.count)
        return false;
    for (size_t i = 0; i < markers->list.count; i++) {
        struct marker marker = markers->list.items[i];
        uint32_t      call = search->call_of[i];

        if (call == NO_ID)
            continue;
        if (call == last) {
            markers->list.items[kept - 1].end_ns = marker.end_ns;
            continue;
        }
        markers->list.items[kept] = marker;
        search->call_of[kept++] = last = call;
    }
    markers->list.count = kept;
    return true;
}

/* false: runs have no calls around them, or out of memory. */
static bool name_runs(struct search *search)
{
    if (!keep_called(search))
        return false;
    for (size_t i = 0; i < search->markers->list.count; i++) {
        uint32_t call = search->call_of[i];
        uint32_t function = function_for(search, event_activity(search->profile, call)->name);

        if (function == NO_ID)
            return false;
        search->function_of[i] = function;
        count_call(&search->functions.items[function], (uint32_t)i,
                   event_duration_ns(search->profile, call));
    }
    return true;
}

static bool is_gradient(const struct profile *profile, const struct activity *activity)
{
    const struct op *op;
    struct str       name;

    if (activity->kind != ACTIVITY_OP || activity->op == NO_ID)
        return false;
    op = &profile->ops.items[activity->op];
    name = profile_str(profile, op->name);
    return str_fits(name, "gradient*|*/gradient_tape/*") ||
           str_contains(profile_str(profile, op->type), STR("Backprop"));
}

/* The run whose call is under way at a time on the host; NO_ID: none. */
static uint32_t run_at(const struct search *search, uint32_t host, int64_t at_ns)
{
    const struct marker *markers = search->markers->list.items;
    size_t               low = LOWER_BOUND(search->markers->list.count, i,
                                           markers[i].host < host ||
                                               (markers[i].host == host && markers[i].start_ns <= at_ns));

    return low > 0 && markers[low - 1].host == host &&
                   at_ns < event_end_ns(search->profile, search->call_of[low - 1])
               ? (uint32_t)low - 1
               : NO_ID;
}

/* Ops of gradients run on any thread while the function that holds them is called. */
static bool find_training(struct search *search)
{
    const struct profile *profile = search->profile;
    bool *trains = arena_new_array(search->scratch, bool, profile->activities.count + 1);

    for (size_t a = 0; trains && a < profile->activities.count; a++)
        trains[a] = is_gradient(profile, &profile->activities.items[a]);
    for (size_t t = 0; trains && t < profile->timelines.count; t++) {
        const struct timeline *line = &profile->timelines.items[t];

        for (uint32_t i = 0; line->kind == TIMELINE_THREAD && i < line->event_count; i++) {
            uint32_t event = line->first_event + i, run;

            if (!trains[event_activity_id(profile, event)])
                continue;
            run = run_at(search, line->host, event_start_ns(profile, event));
            if (run != NO_ID)
                search->functions.items[search->function_of[run]].trains = true;
        }
    }
    return trains != NULL;
}

static bool are_sessions(const struct search *search)
{
    for (size_t i = 0; i < search->markers->list.count; i++) {
        uint32_t event = search->markers->list.items[i].event;

        if (!str_equal(profile_str(search->profile, event_activity(search->profile, event)->name),
                       STR("SessionRun")))
            return false;
        search->call_of[i] = event;
    }
    return true;
}

/* Each run gets the sum of what its updates are, in whatever order they come. */
static bool add_updates(struct search *search, uint32_t *updates)
{
    const struct profile *profile = search->profile;
    bool *is_update = arena_new_array(search->scratch, bool, profile->activities.count + 1);

    for (size_t a = 0; is_update && a < profile->activities.count; a++) {
        const struct activity *activity = &profile->activities.items[a];

        is_update[a] =
            activity->kind == ACTIVITY_OP && activity->op != NO_ID &&
            op_class_of(profile_str(profile, profile->ops.items[activity->op].type)) == OP_UPDATE;
    }
    for (size_t t = 0; is_update && t < profile->timelines.count; t++) {
        const struct timeline *line = &profile->timelines.items[t];

        for (uint32_t i = 0; line->kind == TIMELINE_THREAD && i < line->event_count; i++) {
            uint32_t event = line->first_event + i, run;

            if (!is_update[event_activity_id(profile, event)])
                continue;
            run = run_at(search, line->host, event_start_ns(profile, event));
            if (run != NO_ID)
                updates[run] += 2654435761U * (event_activity_id(profile, event) + 1);
        }
    }
    return is_update != NULL;
}

/* false: no runs of sessions, or out of memory. */
static bool name_sessions(struct search *search)
{
    uint32_t *updates = arena_new_array(search->scratch, uint32_t, search->markers->list.count + 1);

    if (!updates || !are_sessions(search) || !add_updates(search, updates))
        return false;
    for (size_t i = 0; i < search->markers->list.count; i++) {
        const struct marker *marker = &search->markers->list.items[i];
        uint32_t             function = function_for(search, updates[i]);

        if (function == NO_ID)
            return false;
        search->function_of[i] = function;
        search->functions.items[function].trains = updates[i] != 0;
        count_call(&search->functions.items[function], (uint32_t)i,
                   marker->end_ns - marker->start_ns);
    }
    return true;
}

/* A function that was traced anew has a new number, and the graph before it does not run again. */
static bool is_new_trace(const struct profile *profile, const struct function *old,
                         const struct function *later)
{
    return old->trains && later->trains && old->last < later->first &&
           str_equal(str_without_number(profile_str(profile, old->name)),
                     str_without_number(profile_str(profile, later->name)));
}

/* Graphs of one function count as the first of them. */
static void join_traces(struct search *search)
{
    struct function *list = search->functions.items;

    for (uint32_t later = 1; later < search->functions.count; later++)
        for (uint32_t f = 0; f < later; f++)
            if (list[f].calls && is_new_trace(search->profile, &list[f], &list[later])) {
                for (size_t i = list[later].first; i <= list[later].last; i++)
                    if (search->function_of[i] == later)
                        search->function_of[i] = f;
                list[f].calls += list[later].calls;
                list[f].total_ns += list[later].total_ns;
                list[f].last = list[later].last;
                list[later].calls = 0;
                break;
            }
}

/* Of those that train the one that takes most; else the one called least, which begins each round.
 * NO_ID: one function, or none that comes again. */
static uint32_t choose(const struct search *search)
{
    const struct function *best = NULL, *list = search->functions.items;

    for (size_t f = 0; search->functions.count > 1 && f < search->functions.count; f++) {
        if (list[f].calls < MIN_CALLS || (best && best->trains && !list[f].trains))
            continue;
        if (!best || (list[f].trains && !best->trains) ||
            (best->trains ? list[f].total_ns > best->total_ns : list[f].calls < best->calls))
            best = &list[f];
    }
    return best ? (uint32_t)(best - list) : NO_ID;
}

static uint32_t graph_of(const struct search *search, size_t run)
{
    return event_activity(search->profile, search->call_of[run])->name;
}

/* Calls of the others belong to the step before them, and so does tracing the function anew. */
static void keep(struct search *search, uint32_t chosen)
{
    struct markers *markers = search->markers;
    size_t          kept = 0, last = 0;

    for (size_t i = 0; i < markers->list.count; i++) {
        struct marker marker = markers->list.items[i];

        /* A run lasts as long as the call around it. */
        marker.end_ns = event_end_ns(search->profile, search->call_of[i]);
        if (search->function_of[i] == chosen) {
            if (kept && markers->list.items[kept - 1].host == marker.host &&
                graph_of(search, i) != graph_of(search, last))
                markers->list.items[kept - 1].until_ns = marker.start_ns;
            marker.until_ns = marker.end_ns;
            markers->list.items[kept++] = marker;
            last = i;
        } else if (kept && markers->list.items[kept - 1].host == marker.host) {
            markers->list.items[kept - 1].until_ns = marker.end_ns;
        }
    }
    markers->list.count = kept;
}

static bool give_name(struct search *search, struct str name)
{
    uint32_t family = intern_add(search->names, name);

    for (size_t i = 0; family != NO_ID && i < search->markers->list.count; i++)
        search->markers->list.items[i].family = family;
    return family != NO_ID;
}

/* One that does not train may be called on a data set of its own again and again. */
static bool name_calls(struct search *search, const struct function *function)
{
    struct str name = runs_called(profile_str(search->profile, function->name));
    char       text[200];
    bool       are_joined = false;

    if (!function->trains &&
        !markers_join_sets(search->profile, search->scratch, search->markers, &are_joined))
        return false;
    if (!are_joined)
        return give_name(search, name);
    name = str_without_number(name);
    snprintf(text, sizeof text, "%.*s, with those on the same data set", STR_ARG(name));
    return give_name(search, str_from(text));
}

/* The function's calls are the steps: of a session's runs only some, if they are of several kinds.
 */
static bool keep_chosen(struct search *search, bool is_session)
{
    uint32_t chosen = choose(search);

    if (chosen != NO_ID && (!is_session || search->functions.items[chosen].trains))
        keep(search, chosen);
    else if (is_session)
        return true;
    if (is_session)
        return give_name(search, STR("SessionRun that trains, with those up to the next one"));
    return name_calls(search, &search->functions.items[chosen == NO_ID ? 0 : chosen]);
}

bool markers_functions(const struct profile *profile, struct intern *names, struct arena *arena,
                       struct markers *markers)
{
    struct arena  scratch = { .budget_bytes = arena->budget_bytes };
    struct search search = {
        .profile = profile, .names = names, .markers = markers, .scratch = &scratch
    };
    bool ok = true;

    search.function_of = arena_new_array(&scratch, uint32_t, markers->list.count + 1);
    search.call_of = arena_new_array(&scratch, uint32_t, markers->list.count + 1);
    if (markers->list.count && search.function_of && search.call_of) {
        if (name_runs(&search)) {
            ok = find_training(&search);
            join_traces(&search);
            ok = ok && keep_chosen(&search, false);
        } else if (name_sessions(&search)) {
            ok = keep_chosen(&search, true);
        }
    }
    arena_free(&scratch);
    return ok;
}
