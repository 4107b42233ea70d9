#include "analyze/step/step_markers.h"

#include "analyze/step/engine_mark.h"
#include "analyze/step/run_programs.h"
#include "base/sample.h"
#include "base/sort.h"
#include "model/names.h"

#include <stdlib.h>

enum {
    MIN_RUNS = 3,       /* fewer repeats are no steps */
    MIN_UPDATES = 2,    /* an update ends a step, whatever else is known */
    WARM_UP_FACTOR = 2, /* a first one over this many of the others is warm-up */
};

/* "ProfilerStep#12", "train 7" and "7" belong to the families "ProfilerStep", "train" and "": a
 * device plane names steps by their number alone. */
static struct str family_of(struct str name)
{
    size_t end = str_find(name, '#');

    while (end > 0 &&
           (name.data[end - 1] == ' ' || (name.data[end - 1] >= '0' && name.data[end - 1] <= '9')))
        end--;
    return str_slice(name, 0, end);
}

/* As a stat says, else as the name ends: "ProfilerStep#12", "7"; -1: neither does. */
static int64_t number_of(const struct profile *profile, uint32_t event, struct str name)
{
    size_t  digits = name.len;
    int64_t number;

    if (profile_stat(profile, STAT_STEP_NUMBER, event, &number))
        return number;
    while (digits > 0 && name.data[digits - 1] >= '0' && name.data[digits - 1] <= '9')
        digits--;
    return str_to_int64(str_slice(name, digits, name.len), &number) ? number : -1;
}

static int by_host_and_start(const void *a, const void *b)
{
    const struct marker *x = a, *y = b;

    /* Of two that begin together the outer one first. */
    return IN_ORDER(COMPARE(x->host, y->host), COMPARE(x->start_ns, y->start_ns),
                    COMPARE(y->end_ns, x->end_ns), COMPARE(x->event, y->event));
}

static void sort_markers(struct markers *markers)
{
    if (markers->list.count)
        qsort(markers->list.items, markers->list.count, sizeof *markers->list.items,
              by_host_and_start);
}

/* Time of one (host, timeline, family), nested repeats counted once. */
struct group {
    uint32_t host, timeline, family;
    int64_t  total_ns, first_ns, reached_ns;
    uint32_t count;
};
struct groups {
    VEC(struct group) list;
};

static struct group *group_for(struct groups *groups, struct arena *scratch,
                               const struct marker *marker)
{
    for (size_t i = groups->list.count; i > 0; i--) {
        struct group *group = &groups->list.items[i - 1];

        if (group->host == marker->host && group->timeline == marker->timeline &&
            group->family == marker->family)
            return group;
    }
    return vec_push(&groups->list, scratch,
                    (struct group) { .host = marker->host,
                                     .timeline = marker->timeline,
                                     .family = marker->family,
                                     .reached_ns = INT64_MIN })
               ? &groups->list.items[groups->list.count - 1]
               : NULL;
}

/* Where a marker begins behind another that began before it and ends earlier: markers of a thread
 * follow each other or are nested, and rounded times let one seem to begin inside the one before.
 */
static int64_t begin_behind(const struct marker *marker, int64_t end_ns)
{
    return marker->start_ns > end_ns ? marker->start_ns : end_ns;
}

static bool count_groups(const struct markers *markers, struct arena *scratch,
                         struct groups *groups)
{
    for (size_t i = 0; i < markers->list.count; i++) {
        const struct marker *marker = &markers->list.items[i];
        struct group        *group = group_for(groups, scratch, marker);
        int64_t              length_ns;

        if (!group)
            return false;
        if (marker->end_ns <= group->reached_ns)
            continue;
        length_ns = marker->end_ns - begin_behind(marker, group->reached_ns);
        group->total_ns += length_ns;
        if (group->count == 0)
            group->first_ns = length_ns;
        group->reached_ns = marker->end_ns;
        group->count++;
    }
    return true;
}

/* With a first one that compiles or traces as long as the others are. */
static double warm_ns(const struct group *group)
{
    double rest_ns = (double)(group->total_ns - group->first_ns);
    double mean_ns = group->count > 1 ? rest_ns / (group->count - 1) : (double)group->first_ns;

    return (double)group->first_ns > WARM_UP_FACTOR * mean_ns ? rest_ns + mean_ns
                                                              : (double)group->total_ns;
}

/* Of a thread that trains and evaluates the one that does so for longer, as the first step of each
 * is no measure of it. */
static bool is_better(const struct group *group, const struct group *best)
{
    return group->timeline == best->timeline ? warm_ns(group) > warm_ns(best)
                                             : group->total_ns > best->total_ns;
}

static const struct group *best_group(const struct groups *groups, uint32_t host)
{
    const struct group *best = NULL;

    for (size_t i = 0; i < groups->list.count; i++) {
        const struct group *group = &groups->list.items[i];

        if (group->host == host && (!best || is_better(group, best)))
            best = group;
    }
    return best;
}

/* Keeps the best group of each host, outermost markers only. */
static bool keep_best(struct markers *markers, struct arena *arena)
{
    struct arena  scratch = { .budget_bytes = arena->budget_bytes };
    struct groups groups = { 0 };
    size_t        kept = 0;
    bool          ok;

    sort_markers(markers);
    ok = count_groups(markers, &scratch, &groups);
    for (size_t i = 0; ok && i < markers->list.count; i++) {
        struct marker        marker = markers->list.items[i];
        const struct group  *best = best_group(&groups, marker.host);
        const struct marker *last = kept ? &markers->list.items[kept - 1] : NULL;

        if (marker.timeline != best->timeline || marker.family != best->family ||
            (last && last->host == marker.host && marker.end_ns <= last->end_ns))
            continue;
        if (last && last->host == marker.host)
            marker.start_ns = begin_behind(&marker, last->end_ns);
        markers->list.items[kept++] = marker;
    }
    markers->list.count = kept;
    arena_free(&scratch);
    return ok;
}

/* Which events are markers: of one kind, and more than that. */
struct marker_test {
    enum activity_kind kind;
    bool (*is_wanted)(const struct profile *, const struct timeline *, uint32_t);
};

static bool add_marker(const struct profile *profile, struct intern *names, struct arena *arena,
                       struct marker marker, struct markers *markers)
{
    struct str name = profile_str(profile, event_activity(profile, marker.event)->name);
    int64_t    family;

    marker.start_ns = event_start_ns(profile, marker.event);
    marker.end_ns = event_end_ns(profile, marker.event);
    marker.family = intern_add(names, profile_stat(profile, STAT_STEP_FAMILY, marker.event, &family)
                                          ? profile_str(profile, (uint32_t)family)
                                          : family_of(name));
    marker.number = number_of(profile, marker.event, name);
    return marker.end_ns <= marker.start_ns || vec_push(&markers->list, arena, marker);
}

/* All events are looked at: their kinds are read in batches. */
static bool collect(const struct profile *profile, struct intern *names, struct arena *arena,
                    struct marker_test test, struct markers *markers)
{
    const uint8_t *kinds = profile_label_kinds(profile, arena);
    int64_t        labels[EVENT_BATCH];

    for (uint32_t t = 0; kinds && t < profile->timelines.count; t++) {
        const struct timeline *line = &profile->timelines.items[t];

        for (uint32_t i = 0; i < line->event_count; i++) {
            struct marker marker = { .event = line->first_event + i,
                                     .timeline = t,
                                     .host = line->host };
            uint32_t      left = line->event_count - i;

            if (i % EVENT_BATCH == 0)
                packed_read(&profile->event_labels, marker.event,
                            left < EVENT_BATCH ? left : EVENT_BATCH, labels);
            if (kinds[labels[i % EVENT_BATCH]] == test.kind &&
                test.is_wanted(profile, line, marker.event) &&
                !add_marker(profile, names, arena, marker, markers))
                return false;
        }
    }
    return kinds != NULL;
}

static bool is_annotation(const struct profile *profile, const struct timeline *line,
                          uint32_t event)
{
    (void)profile;
    (void)event;
    return line->kind == TIMELINE_THREAD || line->kind == TIMELINE_STEPS;
}

bool markers_annotated(struct profile const *profile, struct intern *names, struct arena *arena,
                       struct markers *markers)
{
    return collect(profile, names, arena, (struct marker_test) { ACTIVITY_STEP, is_annotation },
                   markers) &&
           keep_best(markers, arena);
}

static bool is_session(const struct profile *profile, const struct timeline *line, uint32_t event)
{
    struct str name;
    int64_t    step;

    if (line->kind != TIMELINE_THREAD)
        return false;
    name = profile_str(profile, event_activity(profile, event)->name);
    if (!str_equal(name, STR("FunctionRun")) && !str_equal(name, STR("SessionRun")))
        return false;
    /* A captured tf.data function runs too, but on a pool thread inside a stage. */
    return !profile_stat(profile, STAT_EXECUTOR_STEP, event, &step) ||
           !str_starts(profile_str(profile, line->name), STR("tf_data_"));
}

static bool is_input_call(const struct profile *profile, const struct timeline *line,
                          uint32_t event)
{
    (void)event;
    return line->kind == TIMELINE_THREAD &&
           !str_starts(profile_str(profile, line->name), STR("tf_data_"));
}

/* Loops and branches that are not lowered, and functions that ops hold, run on pool threads under
 * the number of the run that they are part of: only what begins first under it is a call. */
static bool drop_parts_of_runs(const struct profile *profile, struct arena *arena,
                               struct markers *markers)
{
    struct arena  scratch = { .budget_bytes = arena->budget_bytes };
    struct id_map caller_of = { .arena = &scratch }; /* by host and run: row of timelines */
    size_t        kept = 0;
    bool          ok = true;

    sort_markers(markers);
    for (size_t i = 0; ok && i < markers->list.count; i++) {
        struct marker marker = markers->list.items[i];
        uint32_t      caller = marker.timeline;
        int64_t       run;

        if (profile_stat(profile, STAT_EXECUTOR_STEP, marker.event, &run)) {
            uint64_t key = (uint64_t)run * UINT64_C(0x9e3779b97f4a7c15) ^ marker.host;

            caller = id_map_get(&caller_of, key);
            if (caller == NO_ID) {
                caller = marker.timeline;
                ok = id_map_put(&caller_of, key, caller);
            }
        }
        if (caller == marker.timeline)
            markers->list.items[kept++] = marker;
    }
    markers->list.count = kept;
    arena_free(&scratch);
    return ok;
}

/* Those of the thread with the best ones; none where they are fewer. */
static bool keep_most(struct arena *arena, size_t fewest, struct markers *markers)
{
    if (!keep_best(markers, arena))
        return false;
    if (markers->list.count < fewest)
        markers->list.count = 0;
    return true;
}

static bool keep_runs(struct arena *arena, struct markers *markers)
{
    return keep_most(arena, MIN_RUNS, markers);
}

/* Batches that are fetched one behind the other, as those of one update are where gradients
 * accumulate, begin one step: next to nothing is done between them. */
static void join_batches(struct markers *markers)
{
    static const double MUCH_SHORTER = 0.05; /* than what lies between two calls in the mean */
    struct marker      *list = markers->list.items;
    double              between_ns = 0;
    size_t              gaps = 0, kept = 0;

    for (size_t i = 1; i < markers->list.count; i++)
        if (list[i].host == list[i - 1].host)
            between_ns += (double)(list[i].start_ns - list[i - 1].end_ns), gaps++;
    for (size_t i = 0; i < markers->list.count; i++) {
        struct marker *last = kept ? &list[kept - 1] : NULL;

        if (last && last->host == list[i].host &&
            (double)(list[i].start_ns - last->end_ns) * (double)gaps < MUCH_SHORTER * between_ns)
            last->end_ns = list[i].end_ns;
        else
            list[kept++] = list[i];
    }
    markers->list.count = kept;
}

bool markers_inputs(struct profile const *profile, struct intern *names, struct arena *arena,
                    struct markers *markers)
{
    if (!collect(profile, names, arena, (struct marker_test) { ACTIVITY_INPUT_WAIT, is_input_call },
                 markers) ||
        !keep_runs(arena, markers))
        return false;
    join_batches(markers);
    return true;
}

bool markers_sessions(struct profile const *profile, struct intern *names, struct arena *arena,
                      struct markers *markers)
{
    return collect(profile, names, arena, (struct marker_test) { ACTIVITY_RUN, is_session },
                   markers) &&
           drop_parts_of_runs(profile, arena, markers) && keep_runs(arena, markers);
}

/* "torch/profiler/profiler.py(843): step", behind the folder of the packages in some recordings. */
static bool is_profiler_call(const struct profile *profile, const struct timeline *line,
                             uint32_t event)
{
    struct str name = profile_str(profile, event_activity(profile, event)->name);

    return line->kind == TIMELINE_THREAD && str_ends(name, STR("): step")) &&
           str_contains(name, STR("torch/profiler/profiler.py("));
}

bool markers_profiler(struct profile const *profile, struct intern *names, struct arena *arena,
                      struct markers *markers)
{
    if (!collect(profile, names, arena, (struct marker_test) { ACTIVITY_PYTHON, is_profiler_call },
                 markers) ||
        !keep_most(arena, MIN_UPDATES, markers))
        return false;
    for (size_t i = markers->list.count; i-- > 0;) {
        struct marker         *marker = &markers->list.items[i];
        const struct timeline *line = &profile->timelines.items[marker->timeline];

        marker->start_ns = i && marker[-1].host == marker->host
                               ? marker[-1].end_ns
                               : event_start_ns(profile, line->first_event);
    }
    return true;
}

static bool is_update(const struct profile *profile, const struct timeline *line, uint32_t event)
{
    return line->kind == TIMELINE_THREAD &&
           str_starts(profile_str(profile, event_activity(profile, event)->name),
                      STR("Optimizer.step#"));
}

bool markers_are_alike(const struct markers *markers, struct arena *scratch)
{
    static const double MOST_VARIATION = 0.3;
    size_t              count = markers->list.count - 1;
    double             *lengths = arena_new_array(scratch, double, count + 1);

    for (size_t i = 0; lengths && i < count; i++)
        lengths[i] =
            (double)(markers->list.items[i + 1].end_ns - markers->list.items[i + 1].start_ns);
    return lengths &&
           sample_deviation(lengths, count) <= MOST_VARIATION * sample_mean(lengths, count);
}

bool markers_updates(struct profile const *profile, struct intern *names, struct arena *arena,
                     struct markers *markers)
{
    bool are_told;

    if (!collect(profile, names, arena, (struct marker_test) { ACTIVITY_ANNOTATION, is_update },
                 markers) ||
        !keep_most(arena, MIN_UPDATES, markers) ||
        !markers_take_turns(profile, arena, markers, &are_told))
        return false;
    if (markers->list.count && !are_told &&
        (markers->list.count < MIN_RUNS || !markers_are_alike(markers, arena)))
        markers->list.count = 0;
    return true;
}

static bool is_engine_step(const struct profile *profile, const struct timeline *line,
                           uint32_t event)
{
    struct engine_mark mark;

    return line->kind == TIMELINE_THREAD &&
           engine_mark_parse(profile_str(profile, event_activity(profile, event)->name), &mark);
}

static bool is_engine_call(const struct profile *profile, const struct timeline *line,
                           uint32_t event)
{
    return line->kind == TIMELINE_THREAD &&
           engine_call(profile_str(profile, event_activity(profile, event)->name));
}

/* Names of steps differ by what is in them: they are of one family all the same. Fewer than two
 * are none. */
static bool collect_engine(struct profile const *profile, struct intern *names, struct arena *arena,
                           bool (*fits)(const struct profile *, const struct timeline *, uint32_t),
                           struct markers *markers)
{
    static const enum activity_kind kinds[] = { ACTIVITY_ANNOTATION, ACTIVITY_OTHER,
                                                ACTIVITY_PYTHON };
    uint32_t                        family = intern_add(names, STR("engine step"));

    markers->list.count = 0;
    for (size_t i = 0; i < ARRAY_COUNT(kinds); i++)
        if (!collect(profile, names, arena, (struct marker_test) { kinds[i], fits }, markers))
            return false;
    for (size_t i = 0; i < markers->list.count; i++)
        markers->list.items[i].family = family;
    if (!keep_best(markers, arena))
        return false;
    if (markers->list.count < 2)
        markers->list.count = 0;
    return true;
}

bool markers_engine(struct profile const *profile, struct intern *names, struct arena *arena,
                    struct markers *markers)
{
    return collect_engine(profile, names, arena, is_engine_step, markers) &&
           (markers->list.count > 0 ||
            collect_engine(profile, names, arena, is_engine_call, markers));
}

/* Ops that a loop runs one by one are no steps where a program that was compiled takes more than
 * all calls of one of them, though it runs once. */
static bool is_main_program(const struct run_programs *programs, const struct run *run,
                            size_t fewest)
{
    const struct run_program *best = NULL;
    int64_t                   longest_ns = 0;

    for (size_t p = 0; p < programs->list.count; p++) {
        const struct run_program *program = &programs->list.items[p];

        if (program->host == run->host && !program->is_op && program->total_ns > longest_ns)
            longest_ns = program->total_ns;
        if (program->host == run->host && program->count >= fewest &&
            (!best || program->total_ns > best->total_ns))
            best = program;
    }
    return best && best == &programs->list.items[run_program_of(programs, run)->as] &&
           !(best->is_op && longest_ns > best->total_ns);
}

static int by_host_and_end(const void *a, const void *b)
{
    const struct marker *x = a, *y = b;

    return IN_ORDER(COMPARE(x->host, y->host), COMPARE(x->end_ns, y->end_ns),
                    COMPARE(x->event, y->event));
}

/* Programs that run beside each other: each takes from the completion before it to its own. */
static void serialize(struct markers *markers)
{
    struct marker *list = markers->list.items;
    size_t         overlaps = 0;

    for (size_t i = 1; i < markers->list.count; i++)
        overlaps += list[i].host == list[i - 1].host && list[i].start_ns < list[i - 1].end_ns;
    if (overlaps * 4 < markers->list.count || overlaps == 0)
        return;
    qsort(list, markers->list.count, sizeof *list, by_host_and_end);
    for (size_t i = 1; i < markers->list.count; i++)
        if (list[i].host == list[i - 1].host)
            list[i].start_ns = list[i - 1].end_ns;
}

struct marker marker_of_runs(const struct run *first, const struct run *last)
{
    bool is_called = first->called_end_ns > 0 && last->called_end_ns > 0;

    return (struct marker) { .start_ns = is_called ? first->called_start_ns : first->start_ns,
                             .end_ns = is_called ? last->called_end_ns : last->end_ns,
                             .number = -1,
                             .event = first->event,
                             .timeline = is_called ? first->caller : NO_ID,
                             .host = first->host };
}

bool markers_runs(const struct profile *profile, const struct runs *runs, size_t marked,
                  struct arena *arena, struct markers *markers)
{
    size_t              fewest = marked > 1 && marked < MIN_RUNS ? marked : MIN_RUNS;
    struct arena        scratch = { .budget_bytes = arena->budget_bytes };
    struct run_programs programs = { 0 };
    bool                ok = run_programs_time(profile, runs, &scratch, &programs);

    if (ok)
        run_programs_join_replaced(&programs);
    for (size_t i = 0; ok && i < runs->list.count; i++) {
        const struct run *run = &runs->list.items[i];

        if (!is_main_program(&programs, run, fewest))
            continue;
        ok = vec_push(&markers->list, arena, marker_of_runs(run, run));
    }
    if (ok) {
        sort_markers(markers);
        serialize(markers);
    }
    arena_free(&scratch);
    return ok;
}
