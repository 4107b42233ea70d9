/* analysis: the list of analyses and the loop that runs them. */
#include "analyze/analysis.h"

#include "analyze/recording/excerpt.h"
#include "base/parallel.h"
#include "base/trace.h"
#include "model/nesting.h"

#include <assert.h>
#include <pthread.h>
#include <string.h>

const struct analysis *const analyses[] = {
#define ANALYSIS(name, after) &analysis_##name,
#include "analyze/analyses.def"
#undef ANALYSIS
};
enum row {
#define ANALYSIS(name, after) ROW_##name,
#include "analyze/analyses.def"
#undef ANALYSIS
    ROW_none, /* also how many there are */
};
static const uint8_t after[] = {
#define ANALYSIS(name, after) ROW_##after,
#include "analyze/analyses.def"
#undef ANALYSIS
};
const size_t analysis_count = ROW_none;

/* Analyses that all others come after, directly or not, run first, one by one. Behind the last of
 * those each that comes right after it begins a lane, with all that come after that one. Of those
 * that come after the path, replay takes longest and needs nothing else: it is a lane that waits.
 */
enum { LANE_FIRST, LANE_PATH, LANE_REPLAY };
struct lanes {
    uint8_t of[ROW_none];
    size_t  count; /* LANE_FIRST is one */
};

/* With fewer events threads cost more than they save. */
enum { THREADS_FROM_EVENTS = 1 << 14 };

/* The study's own names: those of the profile under the same ids, and room for more without
 * touching the profile, which is constant by now. */
static struct intern *study_names(const struct profile *profile, struct arena *arena)
{
    struct intern *names = arena_new(arena, struct intern);

    return names && intern_copy(names, &profile->names, arena) ? names : NULL;
}

static bool run_one(const struct analysis *analysis, struct study *study, struct err *err)
{
    int64_t start_ns = trace_now_ns();

    if (!analysis->run(study, err))
        return err_in(err, "analysis %s", analysis->name);
    if (trace_is_on("analyze", 1))
        trace_print("analyze", "%s %.3f ms", analysis->name,
                    (double)(trace_now_ns() - start_ns) / 1e6);
    return true;
}

static bool comes_after(size_t row, size_t other)
{
    while (after[row] != ROW_none && after[row] != other)
        row = after[row];
    return after[row] == other;
}

static bool is_before_all(size_t row)
{
    for (size_t i = row + 1; i < analysis_count; i++)
        if (!comes_after(i, row))
            return false;
    return true;
}

static struct lanes find_lanes(void)
{
    struct lanes lanes = { .count = 1 };
    size_t       first_count = 0;

    while (first_count < analysis_count && is_before_all(first_count))
        lanes.of[first_count++] = LANE_FIRST;
    for (size_t i = first_count; i < analysis_count; i++) {
        assert(after[i] < i);
        lanes.of[i] = lanes.of[after[i]];
        if (i == ROW_replay)
            lanes.of[i] = LANE_REPLAY;
        else if (lanes.of[i] == LANE_FIRST)
            lanes.of[i] = (uint8_t)lanes.count++;
        if (i == ROW_path)
            lanes.count = LANE_REPLAY + 1;
    }
    assert(lanes.of[ROW_path] == LANE_PATH);
    return lanes;
}

/* The path on its way from the lane that makes it to the one that waits for it. */
struct handing_on {
    pthread_mutex_t lock;
    pthread_cond_t  changed;
    struct path     path;
    bool            is_there, is_over; /* over: the lane has ended, and may have failed before */
};

static void hand_on(struct handing_on *to, const struct path *path)
{
    pthread_mutex_lock(&to->lock);
    if (path)
        to->path = *path, to->is_there = true;
    else
        to->is_over = true;
    pthread_cond_broadcast(&to->changed);
    pthread_mutex_unlock(&to->lock);
}

/* false: there will be none. */
static bool take_path(struct handing_on *from, struct path *path)
{
    pthread_mutex_lock(&from->lock);
    while (!from->is_there && !from->is_over)
        pthread_cond_wait(&from->changed, &from->lock);
    if (from->is_there)
        *path = from->path;
    pthread_mutex_unlock(&from->lock);
    return from->is_there;
}

/* path: NULL in the first lane, which neither makes it nor waits for it. */
static bool run_row(size_t row, struct study *study, struct handing_on *path, struct err *err)
{
    if (row == ROW_replay && path && !take_path(path, &study->path))
        return true; /* the path's lane says why */
    if (!run_one(analyses[row], study, err))
        return false;
    if (row == ROW_path && path)
        hand_on(path, &study->path);
    return row != ROW_steps || excerpt_make(study, 2 * EXCERPT_EVENTS, err);
}

static bool run_lane(const struct lanes *lanes, size_t lane, struct study *study,
                     struct handing_on *path, struct err *err)
{
    for (size_t i = 0; i < analysis_count; i++)
        if (lanes->of[i] == lane && !run_row(i, study, path, err))
            return false;
    return true;
}

struct lane_run { /* a lane with all that it makes */
    const struct lanes *lanes;
    struct handing_on  *path;
    struct study        study;
    struct arena        arena, shared;
    struct intern       names;
    struct err          err;
    bool                is_fine;
};

static void start_lane(struct lane_run *run, const struct lanes *lanes, struct handing_on *path,
                       const struct study *study)
{
    *run = (struct lane_run) { .lanes = lanes,
                               .path = path,
                               .study = *study,
                               .arena.budget_bytes = study->arena->budget_bytes,
                               .shared.budget_bytes = study->arena->budget_bytes };
    run->study.arena = &run->arena;
    run->study.lane_arena = &run->shared;
    intern_stack(&run->names, study->facts.names, &run->arena);
    facts_init(&run->study.facts, &run->arena, &run->names);
}

/* The path's lane is begun first, and the one that waits for it last. */
static void work_lane(void *shared, size_t index)
{
    struct lane_run    *runs = shared, *run;
    const struct lanes *lanes = runs->lanes;
    size_t              lane = LANE_FIRST + 1 + index;

    if (lane >= LANE_REPLAY)
        lane = lane + 1 < lanes->count ? lane + 1 : LANE_REPLAY;
    run = &runs[lane - LANE_FIRST - 1];
    run->is_fine = run_lane(lanes, lane, &run->study, run->path, &run->err);
    if (lane == LANE_PATH)
        hand_on(run->path, NULL);
    arena_free(&run->shared);
}

/* Takes over what a lane found, and what it made for those behind the analyses. Names of the path's
 * lane keep their ids, as it is the first: its stages hold some. */
static bool join_lane(struct study *study, struct lane_run *run, size_t lane, struct err *err)
{
    bool is_fine = run->is_fine;

    if (is_fine) {
        is_fine = facts_join(&study->facts, &run->study.facts) ||
                  err_set(err, ERR_LIMIT, "what was found does not fit the memory budget");
    } else if (err->code == ERR_NONE) {
        *err = run->err;
    }
    if (lane == LANE_PATH)
        study->path = run->study.path;
    if (run->study.pipeline)
        study->pipeline = run->study.pipeline;
    if (run->study.op_times)
        study->op_times = run->study.op_times;
    if (run->study.schedule)
        study->schedule = run->study.schedule;
    arena_join(study->arena, &run->arena);
    return is_fine;
}

/* The same whatever the number of threads: lanes are joined in their order. */
static bool run_lanes(const struct lanes *lanes, struct study *study, struct err *err)
{
    struct lane_run   runs[ROW_none];
    struct handing_on path = { .lock = PTHREAD_MUTEX_INITIALIZER,
                               .changed = PTHREAD_COND_INITIALIZER };
    size_t            run_count = lanes->count - 1;
    bool              is_fine = true;

    for (size_t i = 0; i < run_count; i++)
        start_lane(&runs[i], lanes, &path, study);
    parallel_for(run_count,
                 study->profile->event_count < THREADS_FROM_EVENTS ? 1 : study->options.threads,
                 work_lane, runs);
    for (size_t i = 0; i < run_count; i++)
        is_fine = join_lane(study, &runs[i], LANE_FIRST + 1 + i, err) && is_fine;
    return is_fine;
}

bool study_run(struct study *study, const struct profile *profile,
               const struct study_options *options, struct arena *arena, struct err *err)
{
    struct intern *names = study_names(profile, arena);
    struct lanes   lanes = find_lanes();

    *study = (struct study) {
        .recording = profile, .profile = profile, .arena = arena, .options = *options
    };
    if (!names)
        return err_memory(err, "the names of the profile");
    facts_init(&study->facts, arena, names);
    if (!run_lane(&lanes, LANE_FIRST, study, NULL, err))
        return false;
    study->around = nesting_find(study->profile, arena);
    if (!study->around)
        return err_set(err, ERR_LIMIT, "the nesting of events does not fit the memory budget");
    if (!path_begin(study))
        return err_set(err, ERR_LIMIT, "the steps do not fit the memory budget");
    if (!run_lanes(&lanes, study, err))
        return false;
    if (study->steps.list.count && !study->steps.used_count && !facts_drop_step(&study->facts))
        return err_set(err, ERR_LIMIT, "what was found does not fit the memory budget");
    facts_settle(&study->facts);
    return true;
}

/* By hash of their names; twice as many places as there are facts at most. */
enum { FACT_PLACES = 4096 };
static const struct fact_spec *fact_places[FACT_PLACES];
static pthread_once_t          facts_placed = PTHREAD_ONCE_INIT;

/* Where a fact is, or belongs. */
static const struct fact_spec **fact_place(const char *name)
{
    size_t place = str_hash(str_from(name)) % FACT_PLACES;

    while (fact_places[place] && strcmp(fact_places[place]->name, name) != 0)
        place = (place + 1) % FACT_PLACES;
    return &fact_places[place];
}

/* Of a name given twice the first one counts. */
static void place_facts(void)
{
    size_t count = 0;

    for (size_t i = 0; i < analysis_count; i++)
        for (size_t j = 0; j < analyses[i]->produces_count && count++ < FACT_PLACES / 2; j++) {
            const struct fact_spec **place = fact_place(analyses[i]->produces[j].name);

            *place = *place ? *place : &analyses[i]->produces[j];
        }
    assert(count <= FACT_PLACES / 2);
}

const struct fact_spec *analysis_fact(const char *name)
{
    pthread_once(&facts_placed, place_facts);
    return *fact_place(name);
}

const struct table_spec *analysis_table(const char *name)
{
    for (size_t i = 0; i < analysis_count; i++)
        for (size_t j = 0; j < analyses[i]->table_count; j++)
            if (strcmp(analyses[i]->tables[j].name, name) == 0)
                return &analyses[i]->tables[j];
    return NULL;
}
