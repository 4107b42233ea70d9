#include "analyze/path/library_calls.h"

#include "analyze/path/work.h"

static const double LONG_NS = 5e4; /* a run that is more than its own start and end */
enum { FEW = 8 };                  /* runs a step, from which a program is part of a loop */

enum { STARTS = 1, WAITS = 2, BOTH = STARTS | WAITS };

/* The function of a library that an event is called by, or with `outermost` the first one of those
 * that the program's own function calls; NO_ID: there is none between. */
static uint32_t calling_library(const struct study *study, const bool *is_user, uint32_t frame,
                                bool outermost)
{
    const struct path *path = &study->path;
    uint32_t           library = NO_ID;

    while ((frame = path->frames.items[frame].parent) != NO_ID) {
        const struct activity *activity =
            event_activity(study->profile, path->frames.items[frame].event);

        if (activity->kind != ACTIVITY_PYTHON)
            continue;
        if (activity->source != NO_ID && is_user[activity->source])
            break;
        library = frame;
        if (!outermost)
            break;
    }
    return library;
}

/* By frame of a library: whether it starts programs, and waits, by itself. */
static void look_into_calls(const struct study *study, const bool *is_user, uint8_t *does)
{
    const struct path *path = &study->path;

    for (uint32_t f = 0; f < path->frames.count; f++) {
        enum activity_kind kind = event_activity(study->profile, path->frames.items[f].event)->kind;
        uint32_t           caller;

        if ((kind != ACTIVITY_DISPATCH && kind != ACTIVITY_SYNC) ||
            path->frames.items[f].timeline != path->leader)
            continue;
        caller = calling_library(study, is_user, f, false);
        if (caller != NO_ID)
            does[caller] |= kind == ACTIVITY_SYNC ? WAITS : STARTS;
    }
}

bool library_waits_share(const struct study *study, struct arena *scratch, double *share)
{
    const struct profile *profile = study->profile;
    const struct path    *path = &study->path;
    size_t                steps = path->step_rows.count, with = 0;
    bool                 *step_has, *is_user;
    uint8_t              *does;

    *share = 0;
    if (!profile->has_python_frames)
        return true;
    step_has = arena_new_array(scratch, bool, steps + 1);
    does = arena_new_array(scratch, uint8_t, path->frames.count + 1);
    is_user = profile_user_sources(profile, scratch);
    if (!step_has || !does || !is_user)
        return false;
    look_into_calls(study, is_user, does);
    for (uint32_t f = 0; f < path->frames.count; f++) {
        size_t step =
            does[f] == BOTH
                ? path_step_at(study, event_start_ns(profile, path->frames.items[f].event))
                : steps;

        if (step < steps && !step_has[step])
            step_has[step] = true, with++;
    }
    *share = steps ? (double)with / (double)steps : 0;
    return true;
}

/* "train_step" of a call "PjitFunction(train_step)" and of a module "jit_train_step"; "lambda" of
 * "PjitFunction(<lambda>)" and of "jit__lambda_". */
static struct str plain_name(struct str name)
{
    size_t bracket = str_find(name, '(');

    if (bracket < name.len)
        name = str_slice(name, bracket + 1, name.len - 1);
    else if (str_starts(name, STR("jit_")))
        name = str_slice(name, 4, name.len);
    while (name.len > 0 && (name.data[0] == '<' || name.data[0] == '_'))
        name = str_slice(name, 1, name.len);
    while (name.len > 0 && (name.data[name.len - 1] == '>' || name.data[name.len - 1] == '_'))
        name = str_slice(name, 0, name.len - 1);
    return name;
}

/* Names of programs that run long, and not often in a step. */
static bool long_programs(const struct study *study, const struct runs *runs, struct intern *names)
{
    double steps = (double)study->path.step_rows.count;

    for (size_t i = 0, next; i < runs->list.count; i = next) {
        double  total_ns = 0;
        int64_t name;

        for (next = i; next < runs->list.count &&
                       runs->list.items[next].program == runs->list.items[i].program;
             next++)
            total_ns += (double)(runs->list.items[next].end_ns - runs->list.items[next].start_ns);
        if (total_ns >= LONG_NS * (double)(next - i) && (double)(next - i) < FEW * steps &&
            profile_stat(study->profile, STAT_MODULE_NAME, runs->list.items[i].event, &name) &&
            intern_add(names, plain_name(profile_str(study->profile, (uint32_t)name))) == NO_ID)
            return false;
    }
    return true;
}

/* Marks the outermost calls of a library around such programs alone, by frame. */
static void mark_calls(const struct study *study, const bool *is_user, const struct intern *names,
                       uint8_t *holds)
{
    enum { LONG = 1, OTHER = 2 };
    const struct path *path = &study->path;

    for (uint32_t f = 0; f < path->frames.count; f++) {
        const struct frame    *frame = &path->frames.items[f];
        const struct activity *activity = event_activity(study->profile, frame->event);
        uint32_t               call;

        if (activity->kind != ACTIVITY_DISPATCH || frame->timeline != path->leader ||
            (frame->parent != NO_ID &&
             (path->frames.items[frame->parent].kinds & KIND_BIT(ACTIVITY_DISPATCH))))
            continue;
        call = calling_library(study, is_user, f, true);
        if (call != NO_ID)
            holds[call] |=
                intern_find(names, plain_name(profile_str(study->profile, activity->name))) == NO_ID
                    ? OTHER
                    : LONG;
    }
    for (uint32_t f = 0; f < path->frames.count; f++)
        holds[f] = holds[f] == LONG;
}

bool library_work_around(const struct study *study, const struct runs *runs, struct arena *scratch,
                         double *ns)
{
    const struct path *path = &study->path;
    struct intern      names;
    uint8_t           *inside;
    bool              *is_user;

    *ns = 0;
    if (!study->profile->has_python_frames)
        return true;
    inside = arena_new_array(scratch, uint8_t, path->frames.count + 1);
    is_user = profile_user_sources(study->profile, scratch);
    if (!inside || !is_user || !intern_init(&names, scratch) || !long_programs(study, runs, &names))
        return false;
    mark_calls(study, is_user, &names, inside);
    for (uint32_t f = 0; f < path->frames.count; f++) /* a frame stands behind its parent */
        if (path->frames.items[f].parent != NO_ID)
            inside[f] |= inside[path->frames.items[f].parent];
    for (size_t i = 0; i < path->segments.count; i++) {
        const struct segment *segment = &path->segments.items[i];

        if (segment->part == PART_HOST && segment->owner == NO_ID && segment->frame != NO_ID &&
            inside[segment->frame] &&
            !(path->frames.items[segment->frame].kinds & KIND_BIT(ACTIVITY_DISPATCH)))
            *ns += (double)(segment->end_ns - segment->start_ns);
    }
    *ns /= (double)path->step_rows.count;
    return true;
}
