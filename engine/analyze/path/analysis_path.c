/*
 * path: the critical path of each step over the timelines (path.h), and the processor time beside
 * it.
 *
 * At most PATH_STEPS used steps are looked at, evenly spaced, so that the cost of walking does not
 * grow with long captures.
 */
#include "analyze/analysis.h"
#include "analyze/path/path_walk.h"
#include "analyze/path/unseen_waits.h"
#include "analyze/step/runs.h"
#include "analyze/step/start_up.h"
#include "base/macros.h"
#include "base/sample.h"

enum { PATH_STEPS = 100 };

static const struct fact_spec produces[] = {
    { "host.cores", UNIT_COUNT, "cores, as recorded or as many as were seen at work at once" },
    { "host.cpu_ns", UNIT_NS, "host thread time at work a step, all threads" },
    { "host.input_cpu_ns", UNIT_NS, "of host.cpu_ns, work for input" },
    { "path.steps", UNIT_COUNT, "steps whose path was walked" },
    { "host.pool_threads", UNIT_COUNT,
      "threads that did a part of an op for the one that runs it, where TensorFlow computes on the "
      "host" },
};
enum { FACT_CORES, FACT_CPU, FACT_INPUT_CPU, FACT_STEPS, FACT_POOL };

static bool choose_steps(struct study *study)
{
    const struct steps *steps = &study->steps;
    VEC(uint32_t) all = { 0 };

    for (size_t i = 0; i < steps->list.count; i++)
        if (steps->list.items[i].host == steps->host && steps->list.items[i].is_sampled &&
            !step_stands_alone(steps, &steps->list.items[i]) &&
            !vec_push(&all, study->arena, (uint32_t)i))
            return false;
    size_t wanted = all.count < PATH_STEPS ? all.count : PATH_STEPS;

    for (size_t i = 0; i < wanted; i++)
        if (!vec_push(&study->path.step_rows, study->arena, all.items[i * all.count / wanted]))
            return false;
    return true;
}

/* What threads do, to tell which of them leads. */
struct doing {
    const struct profile *profile;
    bool                 *sleeps; /* by activity: Python that only waits to be woken */
};

static double host_work_ns(const struct doing *doing, const struct timeline *line)
{
    const struct profile *profile = doing->profile;
    double                ns = 0;

    for (uint32_t i = 0; i < line->event_count; i++) {
        uint32_t           event = line->first_event + i;
        enum activity_kind kind = event_activity(profile, event)->kind;

        if ((kind == ACTIVITY_PYTHON && !doing->sleeps[event_activity_id(profile, event)]) ||
            kind == ACTIVITY_DISPATCH || kind == ACTIVITY_LAUNCH || kind == ACTIVITY_STEP)
            ns += (double)event_duration_ns(profile, event);
    }
    return ns;
}

/* Ops that the program itself calls, each with those in it: not those of a backward pass, which a
 * thread of the library's runs. */
static double called_ops_ns(const struct doing *doing, const struct timeline *line)
{
    const struct profile *profile = doing->profile;
    double                ns = 0;
    int64_t               reached_ns = INT64_MIN;

    for (uint32_t i = 0; i < line->event_count; i++) {
        uint32_t               event = line->first_event + i;
        const struct activity *activity = event_activity(profile, event);

        if (activity->kind != ACTIVITY_OP || event_start_ns(profile, event) < reached_ns)
            continue;
        reached_ns = event_end_ns(profile, event);
        if (!str_starts(profile_str(profile, activity->name), STR("autograd::engine::")))
            ns += (double)event_duration_ns(profile, event);
    }
    return ns;
}

static uint32_t busiest_thread(const struct study *study, const struct doing *doing,
                               double (*work_ns)(const struct doing *, const struct timeline *))
{
    const struct profile *profile = study->profile;
    uint32_t              best = NO_ID;
    double                most_ns = 0;

    for (uint32_t t = 0; t < profile->timelines.count; t++) {
        const struct timeline *line = &profile->timelines.items[t];
        double                 ns;

        if (line->kind != TIMELINE_THREAD || line->host != study->steps.host)
            continue;
        ns = work_ns(doing, line);
        if (ns > most_ns)
            most_ns = ns, best = t;
    }
    return best;
}

/* The thread that leads the steps: where their markers are, else the one with most host work. Where
 * PyTorch recorded ops alone, the one that calls them: what it does between them is host work.
 * false: out of memory. */
static bool find_leader(struct study *study)
{
    const struct profile *profile = study->profile;
    const struct step    *first = &study->steps.list.items[study->path.step_rows.items[0]];
    struct arena          scratch = { .budget_bytes = study->arena->budget_bytes };
    struct doing          doing = { .profile = profile };
    uint32_t             *best = &study->path.leader;

    *best = first->timeline;
    if (*best != NO_ID && profile->timelines.items[*best].kind == TIMELINE_THREAD)
        return true;
    doing.sleeps = arena_new_array(&scratch, bool, profile->activities.count + 1);
    for (uint32_t a = 0; doing.sleeps && a < profile->activities.count; a++)
        doing.sleeps[a] = work_only_sleeps(profile_str(profile, profile->activities.items[a].name));
    *best = doing.sleeps ? busiest_thread(study, &doing, host_work_ns) : NO_ID;
    if (*best == NO_ID && profile->format == FORMAT_KINETO && !profile->devices.count)
        *best = busiest_thread(study, &doing, called_ops_ns);
    arena_free(&scratch);
    return doing.sleeps != NULL;
}

/* Only the accelerator that the path follows counts as a worker; the others of the host do the same
 * work at the same time. */
static bool is_worker(const struct study *study, const struct timeline *line,
                      const struct device_row *device)
{
    if (line->host != study->steps.host || !line->event_count)
        return false;
    if (line->kind == TIMELINE_THREAD)
        return true;
    return (line->kind == TIMELINE_STREAM || line->kind == TIMELINE_OPS) &&
           (!device || line->device == device->device);
}

/* Where nothing of an accelerator was recorded, what the host did says nothing of what the step
 * waited for. */
static bool lacks_device(const struct study *study)
{
    double lacks;

    return !study->path.has_device && facts_get(&study->facts, "coverage.lacks_device", &lacks) &&
           lacks > 0;
}

bool path_begin(struct study *study)
{
    const struct profile    *profile = study->profile;
    const struct device_row *device;

    study->path.leader = NO_ID;
    if (profile->event_count == 0)
        return true;
    if (!choose_steps(study))
        return false;
    if (study->path.step_rows.count == 0)
        return true;
    device = device_activity_leading(study);
    if (!find_leader(study))
        return false;
    study->path.has_device = device != NULL;
    study->path.lacks_device = lacks_device(study);
    study->path.lacks_names = profile->nameless_events > profile->event_count / 2;
    study->path.shows_copies = device && profile->devices.items[device->device].kind == DEVICE_GPU;
    study->path.shows_collectives = device && device->collective_ns > 0;
    return true;
}

static bool add_windows(const struct study *study, struct arena *scratch, struct intervals *windows)
{
    for (size_t i = 0; i < study->path.step_rows.count; i++) {
        const struct step *step = &study->steps.list.items[study->path.step_rows.items[i]];

        if (!intervals_add(windows, scratch, step->start_ns, step->end_ns))
            return false;
    }
    intervals_settle(windows);
    return true;
}

static bool flatten(struct study *study, struct walk *walk, struct arena *scratch)
{
    const struct profile *profile = study->profile;
    struct intervals      windows = { 0 };

    if (!add_windows(study, scratch, &windows))
        return false;
    for (uint32_t t = 0; t < profile->timelines.count; t++) {
        const struct timeline *timeline = &profile->timelines.items[t];
        struct path_line       line = { .timeline = t,
                                        .is_leader = t == study->path.leader,
                                        .is_device = timeline->device != NO_ID };

        if (!is_worker(study, timeline, walk->device))
            continue;
        if (!leaves_build(profile, windows.list.items, windows.list.count, study->arena, scratch,
                          &study->path, &line) ||
            !vec_push(&walk->lines, scratch, line))
            return false;
    }
    start_up_mark(study, &study->path);
    return work_classify(profile, &study->path, study->arena);
}

static bool merge_runs(const struct study *study, struct arena *scratch, struct intervals *merged)
{
    struct runs runs = { 0 };

    if (!runs_find(study->profile, scratch, &runs))
        return false;
    for (size_t i = 0; i < runs.list.count; i++)
        if (runs.list.items[i].host == study->steps.host &&
            !intervals_add(merged, scratch, runs.list.items[i].start_ns, runs.list.items[i].end_ns))
            return false;
    intervals_settle(merged);
    return true;
}

static void reverse(struct path *path)
{
    size_t count = path->segments.count;

    for (size_t i = 0; i < count / 2; i++) {
        struct segment other = path->segments.items[i];

        path->segments.items[i] = path->segments.items[count - 1 - i];
        path->segments.items[count - 1 - i] = other;
    }
}

/* What threads at work count as in a segment. Pool tasks do not say whose they are; while the step
 * waits for input, they are input's. */
enum { OF_INPUT, OF_POOL, OF_COMPUTE, OF_OTHERS, KINDS_OF_WORK };

struct thread_counts {
    struct path *path;
    int32_t *whole[KINDS_OF_WORK]; /* by segment: leaves that begin to cover it whole, less those
                                      that do no more */
};

static void add_share(struct segment *segment, int kind, float share)
{
    if (kind == OF_INPUT || (kind == OF_POOL && segment->part == PART_INPUT))
        segment->input_threads += share;
    else
        segment->other_threads += share;
    if (kind == OF_COMPUTE)
        segment->compute_threads += share;
}

static void add_part(struct segment *segment, int kind, const struct leaf *leaf)
{
    int64_t from_ns = leaf->start_ns > segment->start_ns ? leaf->start_ns : segment->start_ns;
    int64_t to_ns = leaf->end_ns < segment->end_ns ? leaf->end_ns : segment->end_ns;

    if (from_ns < to_ns)
        add_share(segment, kind,
                  (float)(to_ns - from_ns) / (float)(segment->end_ns - segment->start_ns));
}

/* Adds a leaf's thread to the segments it lies in: to the first and the last its share of them, to
 * those between whole. */
static void add_thread(struct thread_counts *counts, const struct leaf *leaf, size_t *place)
{
    struct path *path = counts->path;
    enum work    work = path->frame_work[leaf->frame];
    int          kind = work == WORK_INPUT     ? OF_INPUT
                        : work == WORK_POOL    ? OF_POOL
                        : work == WORK_COMPUTE ? OF_COMPUTE
                                               : OF_OTHERS;
    size_t       first = path_segment_near(path, leaf->start_ns, *place);
    size_t       last = path_segment_near(path, leaf->end_ns - 1, first);

    *place = first;
    if (first >= path->segments.count)
        return;
    add_part(&path->segments.items[first], kind, leaf);
    if (last <= first)
        return;
    counts->whole[kind][first + 1]++;
    counts->whole[kind][last]--;
    if (last < path->segments.count)
        add_part(&path->segments.items[last], kind, leaf);
}

/* How many host threads were at work during each segment, on average. */
static bool count_threads(const struct walk *walk, struct arena *scratch)
{
    struct path         *path = walk->path;
    struct thread_counts counts = { .path = path };
    int32_t              around[KINDS_OF_WORK] = { 0 };

    for (int kind = 0; kind < KINDS_OF_WORK; kind++) {
        counts.whole[kind] = arena_new_array(scratch, int32_t, path->segments.count + 1);
        if (!counts.whole[kind])
            return false;
    }
    for (size_t i = 0; i < path->segments.count; i++) {
        struct segment *segment = &path->segments.items[i];

        segment->input_threads = segment->compute_threads = 0;
        segment->other_threads = segment->is_python ? 1 : 0; /* Python itself leaves no event */
    }
    for (size_t l = 0; l < walk->lines.count; l++) {
        const struct path_line *line = &walk->lines.items[l];

        for (size_t i = 0, place = 0; i < line->leaves.count && !line->is_device; i++)
            if (work_is_active(path->frame_work[line->leaves.items[i].frame]))
                add_thread(&counts, &line->leaves.items[i], &place);
    }
    for (size_t i = 0; i < path->segments.count; i++)
        for (int kind = 0; kind < KINDS_OF_WORK; kind++) {
            around[kind] += counts.whole[kind][i];
            add_share(&path->segments.items[i], kind, (float)around[kind]);
        }
    return true;
}

/* Processor time of host threads in each looked-at step. Threads at work beyond the cores share
 * them, so that no more than all cores are used. */
static bool sum_cpu(struct study *study)
{
    struct path *path = &study->path;
    size_t       count = path->step_rows.count, k = 0;

    if (!vec_reserve(&path->cpu_ns, study->arena, count) ||
        !vec_reserve(&path->input_cpu_ns, study->arena, count))
        return false;
    path->cpu_ns.count = path->input_cpu_ns.count = count;
    for (size_t i = 0; i < path->segments.count; i++) {
        const struct segment *segment = &path->segments.items[i];
        double                threads = segment->input_threads + segment->other_threads;
        double                share = threads > path->core_count ? path->core_count / threads : 1;
        double                ns = (double)(segment->end_ns - segment->start_ns) * share;

        while (path->step_rows.items[k] != segment->step)
            k++;
        path->cpu_ns.items[k] += ns * threads;
        path->input_cpu_ns.items[k] += ns * segment->input_threads;
    }
    return true;
}

/* As recorded, else as many as threads were at work at once for a good part of the time: moments
 * with more of them are threads that take turns. */
static uint32_t count_cores(const struct study *study)
{
    enum { MOST = 256, FEWEST = 2 }; /* machines with less are rare */
    static const double GOOD_PART = 0.1;
    double              at_work_ns[MOST + 1] = { 0 }, all_ns = 0, more_ns = 0;
    uint32_t            cores = MOST;

    if (study->steps.host < study->profile->hosts.count &&
        study->profile->hosts.items[study->steps.host].core_count)
        return study->profile->hosts.items[study->steps.host].core_count;
    for (size_t i = 0; i < study->path.segments.count; i++) {
        const struct segment *segment = &study->path.segments.items[i];
        double                threads = segment->input_threads + segment->other_threads + 0.5;
        double                ns = (double)(segment->end_ns - segment->start_ns);

        at_work_ns[threads < MOST ? (size_t)threads : MOST] += ns;
        all_ns += ns;
    }
    while (cores > FEWEST && (more_ns += at_work_ns[cores]) < GOOD_PART * all_ns)
        cores--;
    return cores;
}

/* For each gap of the device the thread that launches what follows it. */
static bool find_launchers(const struct study *study, struct arena *scratch, struct walk *walk)
{
    struct timeline_index index;
    size_t                count = walk->device->gaps.count;
    uint32_t             *launchers = arena_new_array(scratch, uint32_t, count + 1);

    if (!launchers || !timeline_index_make(study->profile, scratch, &index))
        return false;
    for (size_t i = 0; i < count; i++) {
        uint32_t launch = walk->device->gaps.items[i].launch;

        launchers[i] =
            launch == NO_ID ? NO_ID : timeline_index_find(study->profile, &index, launch);
    }
    walk->launchers = launchers;
    walk->gaps_left = count;
    return true;
}

static bool find_workers(const struct study *study, struct arena *scratch, struct walk *walk)
{
    size_t timelines = study->profile->timelines.count;

    walk->workers.workers = arena_new_array(scratch, struct worker, walk->lines.count);
    walk->streams.workers = arena_new_array(scratch, struct worker, walk->lines.count);
    walk->worker_of = arena_new_array(scratch, uint32_t, timelines + 1);
    if (!walk->workers.workers || !walk->streams.workers || !walk->worker_of)
        return false;
    for (size_t i = 0; i < timelines; i++)
        walk->worker_of[i] = NO_ID;
    for (size_t i = 0; i < walk->lines.count; i++) {
        const struct path_line *line = &walk->lines.items[i];
        bool                    is_stream = walk->device && line->is_device;
        struct crew            *crew = is_stream ? &walk->streams : &walk->workers;

        if (!is_stream)
            walk->worker_of[line->timeline] = (uint32_t)crew->count;
        crew->workers[crew->count++] = (struct worker) { line, line->leaves.count };
    }
    return crew_make(&walk->workers, scratch) && crew_make(&walk->streams, scratch);
}

static bool prepare(struct study *study, struct arena *scratch, struct walk *walk)
{
    const struct path *path = &study->path;

    walk->device = device_activity_leading(study);
    if (!flatten(study, walk, scratch))
        return false;
    walk->leader = walk->led = path->leader;
    if (!find_workers(study, scratch, walk))
        return false;
    return path_find_async_ops(walk, scratch) &&
           (!walk->device || find_launchers(study, scratch, walk));
}

/* Known where the host computes: Eigen's pool has threads of its own name, and no other that do
 * parts of ops. */
static bool set_pool(struct study *study)
{
    const struct profile *profile = study->profile;
    uint32_t              threads = 0;

    if (profile->format != FORMAT_XSPACE || study->path.has_device || study->path.lacks_device ||
        !str_equal(profile_str(profile, profile->framework), STR("tensorflow")))
        return true;
    for (size_t i = 0; i < profile->timelines.count; i++) {
        const struct timeline *timeline = &profile->timelines.items[i];

        threads += timeline->host == study->steps.host && timeline->event_count > 0 &&
                   str_contains(profile_str(profile, timeline->name), STR("_Eigen"));
    }
    return (threads == 0 && profile->lacks_pool_tasks) ||
           facts_set(&study->facts, &produces[FACT_POOL], threads);
}

static bool set_facts(struct study *study)
{
    const struct path *path = &study->path;
    struct facts      *facts = &study->facts;

    return set_pool(study) && facts_set(facts, &produces[FACT_CORES], path->core_count) &&
           facts_set(facts, &produces[FACT_CPU],
                     sample_mean(path->cpu_ns.items, path->cpu_ns.count)) &&
           facts_set(facts, &produces[FACT_INPUT_CPU],
                     sample_mean(path->input_cpu_ns.items, path->input_cpu_ns.count)) &&
           facts_set(facts, &produces[FACT_STEPS], (double)path->step_rows.count);
}

/* What others ask leaves for; all of them take as much memory as the segments. */
static bool sum_leaves(struct study *study, const struct walk *walk)
{
    struct path *path = &study->path;

    path->frame_self_ns = arena_new_array(study->arena, int64_t, path->frames.count + 1);
    for (size_t l = 0; path->frame_self_ns && l < walk->lines.count; l++) {
        const struct path_line *line = &walk->lines.items[l];

        for (size_t i = 0; i < line->leaves.count; i++)
            path->frame_self_ns[line->leaves.items[i].frame] +=
                line->leaves.items[i].end_ns - line->leaves.items[i].start_ns;
        if (line->is_leader)
            path->unseen = unseen_waits_find(study, line);
    }
    return path->frame_self_ns != NULL;
}

static bool walk_steps(struct study *study, struct arena *scratch)
{
    struct intervals runs = { 0 };
    struct walk      walk = {
             .profile = study->profile, .path = &study->path, .runs = &runs, .arena = study->arena
    };

    if (!prepare(study, scratch, &walk) || !merge_runs(study, scratch, &runs))
        return false;
    for (size_t i = study->path.step_rows.count; i > 0; i--) {
        uint32_t           row = study->path.step_rows.items[i - 1];
        const struct step *step = &study->steps.list.items[row];

        if (!(walk.device ? path_walk_device : path_walk)(&walk, row, step->start_ns, step->end_ns))
            return false;
    }
    reverse(&study->path);
    if (!count_threads(&walk, scratch) || !sum_leaves(study, &walk))
        return false;
    study->path.core_count = count_cores(study);
    return sum_cpu(study);
}

bool path_of_step(const struct study *study, uint32_t step, struct arena *arena, struct path *path)
{
    const struct path *of = &study->path;
    struct study       alone = *study;
    struct arena       scratch = { .budget_bytes = arena->budget_bytes };
    bool               ok;

    *path = *of;
    for (size_t i = 0; i < of->step_rows.count; i++)
        if (of->step_rows.items[i] == step)
            return true;
    alone.arena = arena;
    alone.path = (struct path) { .leader = of->leader,
                                 .lacks_device = of->lacks_device,
                                 .lacks_names = of->lacks_names,
                                 .has_device = of->has_device,
                                 .shows_copies = of->shows_copies,
                                 .shows_collectives = of->shows_collectives };
    ok = vec_push(&alone.path.step_rows, arena, step) && walk_steps(&alone, &scratch);
    arena_free(&scratch);
    *path = alone.path;
    return ok;
}

static bool run(struct study *study, struct err *err)
{
    struct arena scratch = { .budget_bytes = study->arena->budget_bytes };
    bool         ok;

    if (study->profile->event_count == 0)
        return facts_absent(&study->facts, "path.", "a timeline of events",
                            "the profile has no timeline of events");
    if (study->path.step_rows.count == 0)
        ok = facts_absent(&study->facts, "path.", "at least one whole step",
                          "no whole step in the trace");
    else
        ok = walk_steps(study, &scratch) && set_facts(study);
    arena_free(&scratch);
    return ok || err_set(err, ERR_LIMIT, "the paths of the steps do not fit the memory budget");
}

const struct analysis analysis_path = {
    .name = "path",
    .summary = "what each step waits for: critical path over the timelines",
    .produces = produces,
    .produces_count = ARRAY_COUNT(produces),
    .run = run,
};
