#include "read/xspace/xspace_functions.h"

struct open_call {
    uint32_t event;
    int64_t  end_ns;
    bool     executes; /* it is an EagerKernelExecute */
};

struct functions {
    struct profile *profile;
    struct arena   *scratch;
    const uint8_t  *marks; /* by label */
    VEC(struct open_call) open;
};
enum mark { MARK_NONE, MARK_EXECUTE, MARK_RUN };

/* Marks the labels of activities with this name. false: there is none. */
static bool mark_labels(const struct profile *profile, struct str name, uint8_t mark,
                        uint8_t *marks)
{
    uint32_t id = intern_find(&profile->names, name);
    bool     any = false;

    for (size_t i = 0; id != NO_ID && i < profile->labels.count; i++)
        if (profile->activities.items[profile->labels.items[i]].name == id)
            marks[i] = mark, any = true;
    return any;
}

/* A start that takes more than half of the call is the whole run already. */
static bool extend(const struct functions *functions, uint32_t run, const struct open_call *call)
{
    struct profile *profile = functions->profile;
    int64_t         start_ns = event_start_ns(profile, run);
    int64_t         whole_ns = call->end_ns - event_start_ns(profile, call->event);
    int64_t         id;

    if (2 * event_duration_ns(profile, run) > whole_ns ||
        (!profile_stat(profile, STAT_PRODUCER, run, &id) &&
         !profile_stat(profile, STAT_EXECUTOR_STEP, run, &id)))
        return true;
    profile->lacks_pool_tasks = true;
    return packed_set(&profile->event_durations_ns, profile->arena, run, call->end_ns - start_ns);
}

static bool extend_on_timeline(struct functions *functions, const struct timeline *line)
{
    struct profile *profile = functions->profile;

    functions->open.count = 0;
    for (uint32_t i = 0; i < line->event_count; i++) {
        uint32_t                event = line->first_event + i;
        int64_t                 start_ns = event_start_ns(profile, event);
        uint8_t                 mark = functions->marks[packed_get(&profile->event_labels, event)];
        const struct open_call *around;

        while (functions->open.count &&
               functions->open.items[functions->open.count - 1].end_ns <= start_ns)
            functions->open.count--;
        around = functions->open.count ? &functions->open.items[functions->open.count - 1] : NULL;
        if (mark == MARK_RUN && around && around->executes && !extend(functions, event, around))
            return false;
        if (!vec_push(
                &functions->open, functions->scratch,
                (struct open_call) { event, event_end_ns(profile, event), mark == MARK_EXECUTE }))
            return false;
    }
    return true;
}

bool xspace_extend_functions(struct profile *profile)
{
    struct arena     scratch = { .budget_bytes = profile->arena->budget_bytes };
    uint8_t         *marks = arena_new_array(&scratch, uint8_t, profile->labels.count + 1);
    struct functions functions = { .profile = profile, .scratch = &scratch, .marks = marks };
    bool             ok = marks != NULL;

    if (ok && mark_labels(profile, STR("EagerKernelExecute"), MARK_EXECUTE, marks) &&
        mark_labels(profile, STR("FunctionRun"), MARK_RUN, marks))
        for (size_t t = 0; ok && t < profile->timelines.count; t++)
            if (profile->timelines.items[t].device == NO_ID)
                ok = extend_on_timeline(&functions, &profile->timelines.items[t]);
    arena_free(&scratch);
    return ok;
}
