#include "analyze/path/work.h"

#include "analyze/step/runs.h"
#include "model/names.h"

/* First row whose kinds meet an event or its ancestors decides. */
static const struct {
    uint32_t  kinds;
    enum work work;
} by_ancestors[] = {
    { KIND_BIT(ACTIVITY_OVERHEAD), WORK_PROFILER },
    { KIND_BIT(ACTIVITY_INPUT_STAGE) | KIND_BIT(ACTIVITY_INPUT_BUFFER) |
          KIND_BIT(ACTIVITY_INPUT_WORK) | KIND_BIT(ACTIVITY_INPUT_WAIT),
      WORK_INPUT },
    { KIND_BIT(ACTIVITY_COMPILE) | KIND_BIT(ACTIVITY_TRACING), WORK_COMPILE },
    { KIND_BIT(ACTIVITY_CALLBACK), WORK_CALLBACK },
    { KIND_BIT(ACTIVITY_OUTPUT), WORK_OUTPUT },
    { KIND_BIT(ACTIVITY_COLLECTIVE), WORK_COMMUNICATION },
    { KIND_BIT(ACTIVITY_SYNC), WORK_WAITING },
    { KIND_BIT(ACTIVITY_TRANSFER) | KIND_BIT(ACTIVITY_MEMCPY) | KIND_BIT(ACTIVITY_MEMSET),
      WORK_COPY },
    { KIND_BIT(ACTIVITY_KERNEL), WORK_COMPUTE },
    { KIND_BIT(ACTIVITY_OP), WORK_COMPUTE },
};

struct classifier {
    const struct profile *profile;
    const struct path    *path;
    bool                 *makes_input; /* by timeline */
    bool *serves_input; /* by event: it is in a captured function of tf.data; NULL: none is */
};

static bool find_input(struct classifier *classifier, struct arena *scratch)
{
    const struct profile     *profile = classifier->profile;
    const struct stat_column *column = &profile->stats[STAT_EXECUTOR_STEP];
    struct id_map             input_steps = { .arena = scratch };

    classifier->makes_input = arena_new_array(scratch, bool, profile->timelines.count + 1);
    if (!classifier->makes_input || !runs_input_steps(profile, &input_steps))
        return false;
    for (size_t i = 0; i < profile->timelines.count; i++)
        classifier->makes_input[i] =
            str_starts(profile_str(profile, profile->timelines.items[i].name), STR("tf_data_"));
    if (!input_steps.count)
        return true;
    classifier->serves_input = arena_new_array(scratch, bool, (size_t)profile->event_count + 1);
    for (size_t i = 0; classifier->serves_input && i < stat_count(column); i++)
        classifier->serves_input[stat_event(column, i)] =
            id_map_get(&input_steps, (uint64_t)stat_value(column, i)) != NO_ID;
    return classifier->serves_input != NULL;
}

static bool serves_input(const struct classifier *classifier, const struct frame *frame)
{
    return classifier->makes_input[frame->timeline] ||
           (classifier->serves_input && classifier->serves_input[frame->event]);
}

/* Stages behind a buffer wait for who fills it; so does the call of a captured function for the
 * pool that runs it. */
static bool only_waits(const struct profile *profile, uint32_t event)
{
    const struct activity *activity = event_activity(profile, event);
    struct str             name = profile_str(profile, activity->name);
    size_t                 colon = str_find_last(name, ':');

    if (activity->kind == ACTIVITY_INPUT_WAIT)
        return true;
    if (activity->kind == ACTIVITY_INPUT_WORK)
        return str_starts(name, STR("InstantiatedCapturedFunction::"));
    if (activity->kind == ACTIVITY_INPUT_BUFFER)
        return str_ends(name, STR("Consume"));
    if (activity->kind != ACTIVITY_INPUT_STAGE || colon >= name.len)
        return false;
    name = str_slice(name, colon + 1, name.len);
    return name_is(name, NAMES_TF_BUFFERED_STAGE) || str_fits(name, "Root*|Model*");
}

/* With an accelerator the backward pass has a thread of its own, and the caller waits for it. */
static bool waits_for_backward(const struct classifier *classifier, uint32_t event)
{
    const struct activity *activity = event_activity(classifier->profile, event);
    struct str             name = profile_str(classifier->profile, activity->name);

    return classifier->path->has_device && activity->kind == ACTIVITY_PYTHON &&
           str_starts(name, STR("<built-in method run_backward of torch"));
}

/* Handing a result to NumPy waits for it without an event that says so; conversions of host data
 * look the same: whether some thread computes meanwhile tells them apart. So does the call of a
 * small program, which XLA runs in the calling thread once its inputs are there; calls that are as
 * short as dispatching is do not. */
static bool may_wait(const struct classifier *classifier, uint32_t event)
{
    enum { DISPATCH_NS = 200000 };
    const struct activity *activity = event_activity(classifier->profile, event);
    struct str             name = profile_str(classifier->profile, activity->name);

    return (activity->kind == ACTIVITY_PYTHON &&
            (str_equal(name, STR("$numpy asarray")) || str_equal(name, STR("$numpy array")))) ||
           (activity->kind == ACTIVITY_DISPATCH && !classifier->path->has_device &&
            event_duration_ns(classifier->profile, event) >= DISPATCH_NS &&
            str_fits(name, "*LoadedExecutable::ExecuteHelper*"));
}

/* What torch.compile made for a host runs on the thread that calls it, and only the whole call is
 * recorded. */
static bool runs_here(const struct classifier *classifier, uint32_t event)
{
    const struct activity *activity = event_activity(classifier->profile, event);

    return !classifier->path->has_device && activity->kind == ACTIVITY_RUN &&
           str_starts(profile_str(classifier->profile, activity->name),
                      STR("## Call CompiledFxGraph"));
}

bool work_only_sleeps(struct str name)
{
    return (name_is(name, NAMES_PYTHON_QUEUES) && name_is(name, NAMES_PYTHON_WAITS)) ||
           name_is(name, NAMES_PYTHON_SLEEPS);
}

/* Python of a thread that has nothing to do, as those of progress bars and pools: it waits for
 * somebody to wake it. The leading thread's waits are the program's own. */
static bool is_asleep(const struct classifier *classifier, const struct frame *frame)
{
    const struct activity *activity = event_activity(classifier->profile, frame->event);

    return activity->kind == ACTIVITY_PYTHON && classifier->path->leader != NO_ID &&
           frame->timeline != classifier->path->leader &&
           work_only_sleeps(profile_str(classifier->profile, activity->name));
}

/* Building a pipeline, its datasets and functions, which happens before it makes anything: the
 * program's own doing, as often as it asks for an iterator. */
static bool builds_pipeline(const struct classifier *classifier, uint32_t row)
{
    while (row != NO_ID) {
        const struct frame *frame = &classifier->path->frames.items[row];
        struct str          name = profile_str(classifier->profile,
                                               event_activity(classifier->profile, frame->event)->name);

        if (str_starts(name, STR("MakeIterator::")))
            return true;
        row = frame->parent;
    }
    return false;
}

/* A host's result that is printed or saved may be on its way still when it is read. */
static enum work of_output(const struct path *path, const struct frame *frame, enum work work)
{
    bool is_read = work == WORK_OUTPUT && (frame->kinds & KIND_BIT(ACTIVITY_SYNC));

    return is_read && !path->has_device ? WORK_OUTPUT_WAIT : work;
}

static enum work classify(const struct classifier *classifier, uint32_t row)
{
    const struct path  *path = classifier->path;
    const struct frame *frame = &path->frames.items[row];
    enum activity_kind  own = event_activity(classifier->profile, frame->event)->kind;
    enum work outer = frame->parent == NO_ID ? WORK_NONE : path->frame_work[frame->parent];

    if (own == ACTIVITY_WAIT || waits_for_backward(classifier, frame->event))
        return WORK_WAITING;
    if ((frame->kinds & KIND_BIT(ACTIVITY_INPUT_WORK)) && builds_pipeline(classifier, row))
        return WORK_HOST;
    if (outer == WORK_INPUT || outer == WORK_INPUT_WAIT || serves_input(classifier, frame))
        return only_waits(classifier->profile, frame->event) ? WORK_INPUT_WAIT : WORK_INPUT;
    for (size_t i = 0; i < ARRAY_COUNT(by_ancestors); i++) {
        if (!(frame->kinds & by_ancestors[i].kinds))
            continue;
        bool is_shown = (path->has_device && by_ancestors[i].work == WORK_COMPUTE) ||
                        (path->shows_copies && by_ancestors[i].work == WORK_COPY) ||
                        (path->shows_collectives && by_ancestors[i].work == WORK_COMMUNICATION);
        bool is_feeding =
            is_shown && classifier->profile->timelines.items[frame->timeline].device == NO_ID;

        if (by_ancestors[i].work == WORK_INPUT && only_waits(classifier->profile, frame->event))
            return WORK_INPUT_WAIT;
        return is_feeding ? WORK_HOST : of_output(path, frame, by_ancestors[i].work);
    }
    if (runs_here(classifier, frame->event))
        return WORK_COMPUTE;
    if (own == ACTIVITY_RUN || may_wait(classifier, frame->event))
        return WORK_RUNNING;
    if (is_asleep(classifier, frame))
        return WORK_WAITING;
    if (own == ACTIVITY_EXECUTOR &&
        str_starts(profile_str(classifier->profile,
                               event_activity(classifier->profile, frame->event)->name),
                   STR("ThreadpoolListener::")))
        return WORK_POOL;
    return own == ACTIVITY_STEP || own == ACTIVITY_ANNOTATION ? outer : WORK_HOST;
}

/* Pool threads call FunctionRun for functions of tf.data; sessions are run by threads that fill a
 * queue. */
static bool fills_queue(const struct profile *profile, const struct path *path, uint32_t row)
{
    return path->frame_work[row] == WORK_INPUT &&
           str_equal(
               profile_str(profile, event_activity(profile, path->frames.items[row].event)->name),
               STR("SessionRun"));
}

bool work_classify(const struct profile *profile, struct path *path, struct arena *arena)
{
    struct arena      scratch = { .budget_bytes = arena->budget_bytes };
    struct classifier classifier = { .profile = profile, .path = path };
    bool              ok = find_input(&classifier, &scratch);

    path->frame_work = arena_new_array(arena, uint8_t, path->frames.count);
    ok = ok && path->frame_work;
    for (uint32_t row = 0; ok && row < path->frames.count; row++) { /* parents before children */
        path->frame_work[row] = (uint8_t)classify(&classifier, row);
        path->is_fed_by_queue |= fills_queue(profile, path, row);
    }
    arena_free(&scratch);
    return ok;
}

static const struct {
    uint8_t part;
    bool    is_active;
    int8_t  on_threads, on_streams;
} works[] = {
#define WORK(id, part, is_active, on_threads, on_streams)                                          \
    { PART_##part, is_active, on_threads, on_streams },
#include "analyze/path/work.def"
};

enum part work_part(enum work work)
{
    return (enum part)works[work].part;
}

bool work_is_active(enum work work)
{
    return works[work].is_active;
}

int work_rank_on_threads(enum work work)
{
    return works[work].on_threads;
}

int work_rank_on_streams(enum work work)
{
    return works[work].on_streams;
}
