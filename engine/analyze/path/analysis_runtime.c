/*
 * runtime: how the framework gets work under way: eager ops against functions, tracing, compiling,
 * program runs, waits for results, callbacks, logging. Per step, over the looked-at steps, with the
 * part of the step's path that each holds.
 *   cost  O(frames + path segments x nesting depth + runs)
 */
#include "analyze/analysis.h"
#include "analyze/path/eager_rows.h"
#include "analyze/path/held_up.h"
#include "analyze/path/library_calls.h"
#include "analyze/path/work.h"
#include "analyze/step/run_programs.h"
#include "analyze/step/runs.h"
#include "base/macros.h"
#include "base/sample.h"
#include "base/sort.h"
#include "model/names.h"

#include <stdlib.h>

static const struct fact_spec produces[] = {
    { "eager.ops", UNIT_COUNT,
      "ops a step that Python runs one by one (EagerExecute of no function)" },
    { "eager.path_ns", UNIT_NS, "a step's path inside them and between them, less input" },
    { "eager.path_share", UNIT_SHARE, "eager.path_ns of the step" },
    { "eager.function_calls", UNIT_COUNT, "graph functions a step that Python calls" },
    { "eager.row_ops", UNIT_COUNT,
      "most such ops in a row of a step, without a graph function called between them" },
    { "eager.row_host_ns", UNIT_NS,
      "the host's part of a step's path from the first to the last of that row" },
    { "retrace.calls", UNIT_COUNT, "calls a step that traced a tf.function anew" },
    { "retrace.path_ns", UNIT_NS, "a step's path inside calls that traced" },
    { "retrace.steps_share", UNIT_SHARE, "of the looked-at steps, those that traced" },
    { "retrace.function", UNIT_NAME, "function that was traced most" },
    { "retrace.count", UNIT_COUNT, "highest number of traces of one function so far" },
    { "compile.count", UNIT_COUNT, "compilations a step, outermost ones" },
    { "compile.path_ns", UNIT_NS, "a step's path inside compiling and tracing" },
    { "compile.path_share", UNIT_SHARE, "compile.path_ns of the step" },
    { "compile.steps_share", UNIT_SHARE, "of the looked-at steps, those that compile or trace" },
    { "callback.count", UNIT_COUNT, "calls of the host by a device program, a step" },
    { "callback.path_ns", UNIT_NS, "a step's path inside them" },
    { "callback.steps_share", UNIT_SHARE, "of the looked-at steps, those with a callback" },
    { "output.count", UNIT_COUNT, "writes of summaries, logs, checkpoints a step" },
    { "output.path_ns", UNIT_NS, "a step's path inside them" },
    { "output.steps_share", UNIT_SHARE, "of the looked-at steps, those that write" },
    { "sync.count", UNIT_COUNT, "waits for results on the leading thread, a step" },
    { "sync.path_ns", UNIT_NS, "a step's path while the leading thread waits in one" },
    { "sync.steps_share", UNIT_SHARE, "of the looked-at steps, those that wait for results" },
    { "sync.turns", UNIT_COUNT,
      "of those waits, a step, such behind which the thread calls a program before it waits "
      "again" },
    { "sync.library_steps_share", UNIT_SHARE,
      "of the looked-at steps, those with a call of a library that waits for the program that it "
      "starts" },
    { "sync.unseen_count", UNIT_COUNT,
      "waits of the leading thread a step that no event shows: it does nothing, and goes on when "
      "the "
      "accelerator has ended its work" },
    { "sync.unseen_ns", UNIT_NS, "time a step in those" },
    { "sync.unseen_steps_share", UNIT_SHARE, "of the looked-at steps, those with one" },
    { "transfer.count", UNIT_COUNT, "host to device transfers on the leading thread, a step" },
    { "transfer.path_ns", UNIT_NS, "a step's path inside transfers" },
    { "transfer.before_ns", UNIT_NS,
      "a step's path that the leading thread works outside of calls before a transfer" },
    { "transfer.beside_count", UNIT_COUNT,
      "host to device transfers a step that other threads do, the framework's for the leading "
      "one" },
    { "transfer.beside_ns", UNIT_NS, "a step's path inside those" },
    { "gc.count", UNIT_COUNT, "garbage collections a step" },
    { "gc.path_ns", UNIT_NS, "a step's path inside them" },
    { "python.path_ns", UNIT_NS, "a step's path in Python, traced or not" },
    { "host.lead_ns", UNIT_NS, "a step's path that the leading thread works before it waits" },
    { "runs.count", UNIT_COUNT, "program runs a step" },
    { "runs.programs", UNIT_COUNT, "different programs among them" },
    { "runs.replaced", UNIT_COUNT,
      "programs of the recording that take the place of one of their name, which ran until then" },
    { "runs.picks", UNIT_COUNT,
      "of them, such that only take a part out of an array, as x[i] and unpacking do in JAX" },
    { "runs.median_ns", UNIT_NS, "median length of a run" },
    { "runs.total_ns", UNIT_NS, "length of all runs of a step, overlaps counted twice" },
    { "runs.main_count", UNIT_COUNT, "runs a step of the program that runs most often" },
    { "runs.main_program", UNIT_NAME, "name of that program" },
    { "runs.main_median_ns", UNIT_NS, "median length of its runs" },
    { "runs.around_ns", UNIT_NS,
      "a step's path in calls of a library around long programs, as nnx.jit, beside calling them" },
    { "runs.held_up_ns", UNIT_NS,
      "a step's path in calls that get work under way and took twenty times what such a call "
      "usually "
      "takes, beyond that" },
};
enum {
    EAGER_OPS,
    EAGER_PATH,
    EAGER_SHARE,
    EAGER_FUNCTIONS,
    EAGER_ROW_OPS,
    EAGER_ROW_HOST,
    RETRACE_CALLS,
    RETRACE_PATH,
    RETRACE_STEPS,
    RETRACE_FUNCTION,
    RETRACE_COUNT,
    COMPILE_COUNT,
    COMPILE_PATH,
    COMPILE_SHARE,
    COMPILE_STEPS,
    CALLBACK_COUNT,
    CALLBACK_PATH,
    CALLBACK_STEPS,
    OUTPUT_COUNT,
    OUTPUT_PATH,
    OUTPUT_STEPS,
    SYNC_COUNT,
    SYNC_PATH,
    SYNC_STEPS,
    SYNC_TURNS,
    LIBRARY_STEPS,
    UNSEEN_COUNT,
    UNSEEN_NS,
    UNSEEN_STEPS,
    TRANSFER_COUNT,
    TRANSFER_PATH,
    TRANSFER_BEFORE,
    BESIDE_COUNT,
    BESIDE_PATH,
    GC_COUNT,
    GC_PATH,
    PYTHON_PATH,
    HOST_LEAD,
    RUNS_COUNT,
    RUNS_PROGRAMS,
    RUNS_REPLACED,
    RUNS_PICKS,
    RUNS_MEDIAN,
    RUNS_TOTAL,
    RUNS_MAIN,
    RUNS_MAIN_NAME,
    RUNS_MAIN_MEDIAN,
    RUNS_AROUND,
    RUNS_HELD_UP
};

/* What is counted alike: outermost frames of the kinds, the steps they are in, path inside them. */
enum theme {
    THEME_EAGER,
    THEME_RETRACE,
    THEME_COMPILE,
    THEME_CALLBACK,
    THEME_OUTPUT,
    THEME_SYNC,
    THEME_TRANSFER,
    THEME_BESIDE, /* as transfers, on threads that do not lead */
    THEME_GC,
    THEME_COUNT
};
static const struct {
    uint32_t kinds;              /* 0: decided by stats */
    bool     on_leader;          /* only there */
    int      count, path, steps; /* rows of produces, -1: not set */
} themes[THEME_COUNT] = {
    [THEME_EAGER] = { 0, true, EAGER_OPS, EAGER_PATH, -1 },
    [THEME_RETRACE] = { 0, false, RETRACE_CALLS, RETRACE_PATH, RETRACE_STEPS },
    [THEME_COMPILE] = { KIND_BIT(ACTIVITY_COMPILE) | KIND_BIT(ACTIVITY_TRACING), false,
                        COMPILE_COUNT, COMPILE_PATH, COMPILE_STEPS },
    [THEME_CALLBACK] = { KIND_BIT(ACTIVITY_CALLBACK), false, CALLBACK_COUNT, CALLBACK_PATH,
                         CALLBACK_STEPS },
    [THEME_OUTPUT] = { KIND_BIT(ACTIVITY_OUTPUT), false, OUTPUT_COUNT, OUTPUT_PATH, OUTPUT_STEPS },
    [THEME_SYNC] = { KIND_BIT(ACTIVITY_SYNC), true, SYNC_COUNT, SYNC_PATH, SYNC_STEPS },
    [THEME_TRANSFER] = { KIND_BIT(ACTIVITY_TRANSFER), true, TRANSFER_COUNT, TRANSFER_PATH, -1 },
    [THEME_BESIDE] = { 0, false, BESIDE_COUNT, BESIDE_PATH, -1 },
    [THEME_GC] = { KIND_BIT(ACTIVITY_GC), false, GC_COUNT, GC_PATH, -1 },
};

struct counting {
    struct study      *study;
    const struct path *path;
    uint16_t          *themes_of; /* by frame: bit 1 << theme for it or an ancestor */
    bool              *step_has;  /* [theme][step] */
    double             count[THEME_COUNT], path_ns[THEME_COUNT];
    double             function_calls, python_ns, lead_ns, before_transfer_ns, turns;
    bool               has_waited; /* the leading thread, since it last called a program */
    uint32_t           traced_name;
    int64_t            traced_count;
};

/* An argument of one of jax.numpy's own functions that Python calls on an array that is there, as
 * the numbers in x[i]: no batch on its way. */
static bool is_index(const struct counting *counting, uint32_t frame)
{
    const struct profile *profile = counting->study->profile;
    uint32_t              parent = counting->path->frames.items[frame].parent;
    struct str            name;

    if (parent == NO_ID ||
        event_activity(profile, counting->path->frames.items[parent].event)->kind !=
            ACTIVITY_DISPATCH)
        return false;
    name = profile_str(profile,
                       event_activity(profile, counting->path->frames.items[parent].event)->name);
    return name_is(name, NAMES_JIT_CALL) &&
           name_is(str_slice(name, 13, name.len - 1), NAMES_JAX_FUNCTION);
}

/* The theme that the event of a frame itself belongs to, or THEME_COUNT. */
static enum theme theme_of(struct counting *counting, uint32_t frame)
{
    const struct profile  *profile = counting->study->profile;
    uint32_t               event = counting->path->frames.items[frame].event;
    const struct activity *activity = event_activity(profile, event);
    int64_t                value;

    if (profile_stat(profile, STAT_FUNCTION_CALL, event, &value) &&
        str_starts(profile_str(profile, (uint32_t)value), STR("traced"))) {
        if (profile_stat(profile, STAT_TRACING_COUNT, event, &value) &&
            value > counting->traced_count)
            counting->traced_count = value, counting->traced_name = activity->name;
        return THEME_RETRACE;
    }
    if (profile_stat(profile, STAT_IS_FUNCTION, event, &value)) {
        if (value == 0)
            return THEME_EAGER;
        counting->function_calls++;
        return THEME_COUNT;
    }
    if (activity->kind == ACTIVITY_TRANSFER && activity->copy == COPY_D2H)
        return THEME_COUNT; /* results, which the host waits for */
    if (activity->kind == ACTIVITY_TRANSFER && is_index(counting, frame))
        return THEME_COUNT;
    for (int theme = 0; theme < THEME_COUNT; theme++)
        if (themes[theme].kinds & KIND_BIT(activity->kind))
            return (enum theme)theme;
    return THEME_COUNT;
}

static bool in_dispatch(const struct counting *counting, uint32_t frame)
{
    return frame != NO_ID &&
           (counting->path->frames.items[frame].kinds & KIND_BIT(ACTIVITY_DISPATCH)) != 0;
}

/* A loop reads a result and goes on by it; many results that are read at the end are no turns. */
static void count_turn(struct counting *counting, uint32_t f)
{
    const struct frame *frame = &counting->path->frames.items[f];
    enum activity_kind  kind = event_activity(counting->study->profile, frame->event)->kind;

    if (frame->timeline != counting->path->leader)
        return;
    if (kind == ACTIVITY_SYNC && !in_dispatch(counting, f))
        counting->has_waited = true;
    if (kind == ACTIVITY_DISPATCH && counting->has_waited)
        counting->turns++, counting->has_waited = false;
}

static void count_frames(struct counting *counting)
{
    const struct profile *profile = counting->study->profile;
    size_t                steps = counting->path->step_rows.count;

    for (uint32_t f = 0; f < counting->path->frames.count; f++) {
        const struct frame *frame = &counting->path->frames.items[f];
        uint16_t            outer = frame->parent != NO_ID ? counting->themes_of[frame->parent] : 0;
        enum theme          theme = theme_of(counting, f);

        count_turn(counting, f);
        if (theme == THEME_TRANSFER && frame->timeline != counting->path->leader &&
            counting->path->has_device)
            theme = THEME_BESIDE;
        counting->themes_of[f] = outer;
        if (theme == THEME_COUNT || (outer & (1U << theme)) ||
            (themes[theme].on_leader && frame->timeline != counting->path->leader))
            continue;
        counting->themes_of[f] = (uint16_t)(outer | (1U << theme));
        counting->count[theme]++;
        size_t step = path_step_at(counting->study, event_start_ns(profile, frame->event));

        if (step < steps)
            counting->step_has[theme * steps + step] = true;
    }
}

static uint16_t themes_around(const struct counting *counting, const struct segment *segment)
{
    uint16_t inside = 0;

    if (segment->frame != NO_ID)
        inside |= counting->themes_of[segment->frame];
    if (segment->owner != NO_ID)
        inside |= counting->themes_of[segment->owner];
    return inside;
}

/* Eager ops and Python functions that fetch or make input are the input rules' matter. */
static bool leaves_input(int theme)
{
    return theme == THEME_EAGER || theme == THEME_CALLBACK;
}

/* What the leading thread does itself before it hands an array over is what makes the array;
 * calls of programs, and what a step does after its last transfer, are not. */
static void sum_before_transfers(struct counting *counting)
{
    double   pending_ns = 0;
    uint32_t step = NO_ID;

    for (size_t i = 0; i < counting->path->segments.count; i++) {
        const struct segment *segment = &counting->path->segments.items[i];

        if (segment->step != step)
            pending_ns = 0, step = segment->step;
        if (segment->owner != NO_ID)
            continue;
        if (themes_around(counting, segment) & (1U << THEME_TRANSFER))
            counting->before_transfer_ns += pending_ns, pending_ns = 0;
        else if (segment->part == PART_HOST && !in_dispatch(counting, segment->frame))
            pending_ns += (double)(segment->end_ns - segment->start_ns);
    }
}

/* TensorFlow's pool launches for the leading thread, in time of the path that is not its own. */
static bool is_of_pool(const struct counting *counting, const struct segment *segment)
{
    const struct profile *profile = counting->study->profile;
    uint32_t              line =
        segment->frame == NO_ID ? NO_ID : counting->path->frames.items[segment->frame].timeline;

    return line != NO_ID && line != counting->path->leader &&
           str_starts(profile_str(profile, profile->timelines.items[line].name), STR("tf_"));
}

static void sum_path(struct counting *counting)
{
    for (size_t i = 0; i < counting->path->segments.count; i++) {
        const struct segment *segment = &counting->path->segments.items[i];
        double                ns = (double)(segment->end_ns - segment->start_ns);
        uint16_t              inside = themes_around(counting, segment);
        bool                  is_leading =
            segment->owner == NO_ID && segment->part == PART_HOST && !is_of_pool(counting, segment);

        for (int theme = 0; theme < THEME_COUNT; theme++)
            if ((inside & (1U << theme)) && !(segment->part == PART_INPUT && leaves_input(theme)))
                counting->path_ns[theme] += ns;
        if (segment->part == PART_HOST &&
            (segment->is_python ||
             (segment->frame != NO_ID &&
              event_activity(counting->study->profile,
                             counting->path->frames.items[segment->frame].event)
                      ->kind == ACTIVITY_PYTHON)))
            counting->python_ns += ns;
        if (is_leading)
            counting->lead_ns += ns;
    }
}

static bool set_themes(struct counting *counting)
{
    struct facts *facts = &counting->study->facts;
    double        steps = (double)counting->path->step_rows.count;
    size_t        step_count = counting->path->step_rows.count;
    double        scale = counting->study->steps.mean_ns > 0
                              ? steps_ns(&counting->study->steps) / counting->study->steps.mean_ns
                              : 1;
    bool          ok = true;

    for (int theme = 0; ok && theme < THEME_COUNT; theme++) {
        double with = 0;

        for (size_t s = 0; s < step_count; s++)
            with += counting->step_has[(size_t)theme * step_count + s];
        ok = facts_set(facts, &produces[themes[theme].count], counting->count[theme] / steps) &&
             facts_set(facts, &produces[themes[theme].path],
                       counting->path_ns[theme] / steps * scale) &&
             (themes[theme].steps < 0 ||
              facts_set(facts, &produces[themes[theme].steps], with / steps));
    }
    double mean_ns = counting->study->steps.mean_ns > 0 ? counting->study->steps.mean_ns : 1;

    return ok &&
           facts_set(facts, &produces[EAGER_SHARE],
                     counting->path_ns[THEME_EAGER] / steps / mean_ns) &&
           facts_set(facts, &produces[COMPILE_SHARE],
                     counting->path_ns[THEME_COMPILE] / steps / mean_ns) &&
           facts_set(facts, &produces[EAGER_FUNCTIONS], counting->function_calls / steps) &&
           facts_set(facts, &produces[PYTHON_PATH], counting->python_ns / steps * scale) &&
           facts_set(facts, &produces[HOST_LEAD], counting->lead_ns / steps * scale) &&
           facts_set(facts, &produces[TRANSFER_BEFORE],
                     counting->before_transfer_ns / steps * scale) &&
           facts_set(facts, &produces[SYNC_TURNS], counting->turns / steps) &&
           (!counting->traced_count ||
            (facts_set(facts, &produces[RETRACE_FUNCTION], counting->traced_name) &&
             facts_set(facts, &produces[RETRACE_COUNT], (double)counting->traced_count)));
}

static int by_program(const void *a, const void *b)
{
    const struct run *x = a, *y = b;

    return IN_ORDER(COMPARE(x->program, y->program), COMPARE(x->event, y->event));
}

/* Without the identity that a device's line puts behind it: "jit_f(1219)". */
static struct str program_text(const struct profile *profile, const struct run *run)
{
    int64_t    name, number;
    uint64_t   identity;
    struct str text, inside;
    size_t     bracket;

    if (profile_stat(profile, STAT_MODULE_NAME, run->event, &name))
        return profile_str(profile, (uint32_t)name);
    text = profile_str(profile, event_activity(profile, run->event)->name);
    bracket = str_find_last(text, '(');
    if (bracket >= text.len || !str_ends(text, STR(")")))
        return text;
    inside = str_slice(text, bracket + 1, text.len - 1);
    return str_to_int64(inside, &number) || str_to_uint64(inside, &identity)
               ? str_slice(text, 0, bracket)
               : text;
}

static uint32_t program_name(struct study *study, const struct run *run)
{
    return run->function ? run->function
                         : facts_name(&study->facts, program_text(study->profile, run));
}

/* Of runs that are sorted by program, such that only take a part out of an array. */
static size_t count_picks(const struct profile *profile, const struct runs *runs)
{
    size_t count = 0;
    bool   is_pick = false;

    for (size_t i = 0; i < runs->list.count; i++) {
        const struct run *run = &runs->list.items[i];

        if (i == 0 || run->program != runs->list.items[i - 1].program)
            is_pick = !run->function && name_is(program_text(profile, run), NAMES_JAX_PICK);
        count += is_pick;
    }
    return count;
}

/* Runs that start inside looked-at steps on the reference host; of all runs, how many programs were
 * compiled again. */
static bool keep_runs(const struct counting *counting, struct arena *scratch, struct runs *kept,
                      size_t *replaced)
{
    const struct study *study = counting->study;
    struct runs         runs = { 0 };

    if (!runs_find(study->profile, scratch, &runs) ||
        (!runs.list.count && !runs_dispatched(study->profile, scratch, &runs)) ||
        !run_programs_replaced(study->profile, &runs, scratch, replaced))
        return false;
    for (size_t i = 0; i < runs.list.count; i++) {
        const struct run *run = &runs.list.items[i];
        size_t            step = path_step_at(counting->study, run->start_ns);

        if (run->host != study->steps.host || step == counting->path->step_rows.count ||
            study->steps.list.items[counting->path->step_rows.items[step]].start_ns > run->start_ns)
            continue;
        if (!vec_push(&kept->list, scratch, *run))
            return false;
    }
    return true;
}

struct function_call { /* of a graph function by Python */
    int64_t  start_ns, end_ns;
    uint32_t host, name; /* interned in facts, as the program tells functions: without the number
                            that tells their graphs apart */
};
struct function_calls {
    VEC(struct function_call) list; /* by host, then start */
};

static int by_call(const void *a, const void *b)
{
    const struct function_call *x = a, *y = b;

    return IN_ORDER(COMPARE(x->host, y->host), COMPARE(x->start_ns, y->start_ns));
}

static bool list_calls(struct counting *counting, struct arena *scratch,
                       struct function_calls *calls)
{
    const struct profile *profile = counting->study->profile;

    for (size_t f = 0; f < counting->path->frames.count; f++) {
        const struct frame *frame = &counting->path->frames.items[f];
        struct str name = profile_str(profile, event_activity(profile, frame->event)->name);

        if (!runs_is_call(name))
            continue;
        if (!vec_push(
                &calls->list, scratch,
                (struct function_call) {
                    event_start_ns(profile, frame->event), event_end_ns(profile, frame->event),
                    profile->timelines.items[frame->timeline].host,
                    facts_name(&counting->study->facts, str_without_number(runs_called(name))) }) ||
            calls->list.items[calls->list.count - 1].name == NO_ID)
            return false;
    }
    if (calls->list.count)
        qsort(calls->list.items, calls->list.count, sizeof *calls->list.items, by_call);
    return true;
}

/* Runs of graph functions say nothing of their program: the calls that they are made by do. A run
 * that has no such call leaves all without. */
static bool name_functions(struct counting *counting, struct arena *scratch, struct runs *runs)
{
    struct function_calls calls = { 0 };
    uint32_t             *names = arena_new_array(scratch, uint32_t, runs->list.count);

    if (!names || !list_calls(counting, scratch, &calls))
        return false;
    for (size_t i = 0; i < runs->list.count; i++) {
        const struct run           *run = &runs->list.items[i];
        const struct function_call *list = calls.list.items;
        size_t                      low = LOWER_BOUND(calls.list.count, c,
                                                      list[c].host < run->host || (list[c].host == run->host &&
                                                              list[c].start_ns <= run->start_ns));

        if (run->program || !low || list[low - 1].host != run->host ||
            run->start_ns >= list[low - 1].end_ns)
            return true;
        names[i] = list[low - 1].name;
    }
    for (size_t i = 0; i < runs->list.count; i++)
        runs->list.items[i].program = runs->list.items[i].function = names[i];
    return true;
}

static bool set_runs(struct counting *counting, struct arena *scratch)
{
    struct study *study = counting->study;
    struct runs   runs = { 0 };
    double        steps = (double)counting->path->step_rows.count, total_ns = 0, around_ns, held_ns;
    size_t        programs = 0, best_first = 0, best_count = 0, replaced;
    double       *lengths;

    if (!keep_runs(counting, scratch, &runs, &replaced))
        return false;
    if (runs.list.count == 0)
        return facts_absent(&study->facts, "runs.", NULL,
                            "no run of a compiled program or graph function in the steps");
    lengths = arena_new_array(scratch, double, runs.list.count);
    if (!lengths || !name_functions(counting, scratch, &runs))
        return false;
    qsort(runs.list.items, runs.list.count, sizeof *runs.list.items, by_program);
    for (size_t i = 0, first = 0; i < runs.list.count; i++) {
        lengths[i] = (double)(runs.list.items[i].end_ns - runs.list.items[i].start_ns);
        total_ns += lengths[i];
        if (i == 0 || runs.list.items[i].program != runs.list.items[i - 1].program)
            programs++, first = i;
        if (i + 1 - first > best_count)
            best_count = i + 1 - first, best_first = first;
    }
    double main_median_ns = sample_median(lengths + best_first, best_count);

    return library_work_around(study, &runs, scratch, &around_ns) &&
           facts_set(&study->facts, &produces[RUNS_AROUND], around_ns) &&
           held_up_find(study, &runs, scratch, &held_ns) &&
           facts_set(&study->facts, &produces[RUNS_HELD_UP], held_ns) &&
           facts_set(&study->facts, &produces[RUNS_COUNT], (double)runs.list.count / steps) &&
           facts_set(&study->facts, &produces[RUNS_PROGRAMS], (double)programs) &&
           facts_set(&study->facts, &produces[RUNS_REPLACED], (double)replaced) &&
           facts_set(&study->facts, &produces[RUNS_PICKS],
                     (double)count_picks(study->profile, &runs) / steps) &&
           facts_set(&study->facts, &produces[RUNS_TOTAL], total_ns / steps) &&
           facts_set(&study->facts, &produces[RUNS_MAIN], (double)best_count / steps) &&
           facts_set(&study->facts, &produces[RUNS_MAIN_NAME],
                     program_name(study, &runs.list.items[best_first])) &&
           facts_set(&study->facts, &produces[RUNS_MAIN_MEDIAN], main_median_ns) &&
           facts_set(&study->facts, &produces[RUNS_MEDIAN],
                     sample_median(lengths, runs.list.count));
}

static bool set_unseen(struct study *study)
{
    struct unseen_waits waits = study->path.unseen;
    double              steps = (double)study->path.step_rows.count;
    struct facts       *facts = &study->facts;

    return facts_set(facts, &produces[UNSEEN_COUNT], waits.count / steps) &&
           facts_set(facts, &produces[UNSEEN_NS], waits.ns / steps) &&
           facts_set(facts, &produces[UNSEEN_STEPS], waits.steps / steps);
}

static bool set_eager_row(struct study *study, struct arena *scratch)
{
    struct eager_row row;

    return eager_rows_find(study, scratch, &row) &&
           facts_set(&study->facts, &produces[EAGER_ROW_OPS], row.ops) &&
           facts_set(&study->facts, &produces[EAGER_ROW_HOST], row.host_ns);
}

static bool set_library_waits(struct study *study, struct arena *scratch)
{
    double share;

    return library_waits_share(study, scratch, &share) &&
           facts_set(&study->facts, &produces[LIBRARY_STEPS], share);
}

static bool count_all(struct study *study, struct arena *scratch)
{
    struct counting counting = { .study = study, .path = &study->path };

    counting.themes_of = arena_new_array(scratch, uint16_t, study->path.frames.count);
    counting.step_has = arena_new_array(scratch, bool, THEME_COUNT * study->path.step_rows.count);
    if (!counting.themes_of || !counting.step_has)
        return false;
    count_frames(&counting);
    sum_path(&counting);
    sum_before_transfers(&counting);
    return set_themes(&counting) && set_eager_row(study, scratch) && set_unseen(study) &&
           set_library_waits(study, scratch) && set_runs(&counting, scratch);
}

static bool run(struct study *study, struct err *err)
{
    static const char families[] = "eager.|retrace.|compile.|callback.|output.|sync.|transfer.|gc.|"
                                   "python.|runs.|host.lead_ns";
    struct arena      scratch = { .budget_bytes = study->arena->budget_bytes };
    bool              ok;

    if (study->path.segments.count)
        ok = count_all(study, &scratch);
    else
        ok = facts_absent(&study->facts, families, "at least one whole step",
                          "no step with a timeline of events");
    arena_free(&scratch);
    return ok || err_set(err, ERR_LIMIT, "counts of the runtime do not fit the memory budget");
}

const struct analysis analysis_runtime = {
    .name = "runtime",
    .summary = "eager ops, tracing, compiling, program runs, waits, callbacks, logging",
    .produces = produces,
    .produces_count = ARRAY_COUNT(produces),
    .run = run,
};
