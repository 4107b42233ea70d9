#include "analyze/step/step_sessions.h"

#include "base/intern.h"
#include "base/macros.h"
#include "base/sort.h"

#include <stdlib.h>

static const double ALIKE = 0.03; /* runs of one kind differ in their number of ops by no more */

static int compare_starts(const void *a, const void *b)
{
    const struct session *left = a, *right = b;

    return IN_ORDER(COMPARE(left->start_ns, right->start_ns), COMPARE(left->step, right->step));
}

/* Numbers without a hole: between others the program ran without being recorded. */
static bool follow_each_other(const struct profile *profile, struct arena *arena)
{
    size_t   count = profile->recorded_steps.count;
    int64_t *numbers = arena_new_array(arena, int64_t, count + 1);

    if (!numbers)
        return false;
    for (size_t i = 0; i < count; i++)
        numbers[i] = profile->recorded_steps.items[i].number;
    qsort(numbers, count, sizeof *numbers, sort_by_int64);
    for (size_t i = 1; i < count; i++)
        if (numbers[i] != numbers[i - 1] + 1)
            return false;
    return true;
}

/* Records of each row of recorded_steps; NULL: out of memory. */
static uint32_t *count_records(const struct profile *profile, struct arena *arena)
{
    uint32_t *records = arena_new_array(arena, uint32_t, profile->recorded_steps.count + 1);

    for (size_t i = 0; records && i < profile->op_runs.count; i++)
        records[profile->op_runs.items[i].step]++;
    return records;
}

/* What lies between two runs, less what recording the first takes. */
static int64_t own_pause_ns(int64_t pause_ns, uint32_t records)
{
    int64_t recording_ns = SESSION_RECORD_NS * (int64_t)records;

    if (recording_ns < SESSION_RECORDING_NS)
        recording_ns = SESSION_RECORDING_NS;
    return pause_ns > recording_ns ? pause_ns - recording_ns : 0;
}

static bool list_runs(const struct profile *profile, struct arena *arena, struct sessions *sessions)
{
    uint32_t *records = count_records(profile, arena);

    if (!records)
        return false;
    for (size_t i = 0; i < profile->recorded_steps.count; i++) {
        const struct recorded_step *step = &profile->recorded_steps.items[i];

        if (step->duration_ns > 0 &&
            !vec_push(&sessions->list, arena,
                      (struct session) { .start_ns = step->start_ns,
                                         .end_ns = step->start_ns + step->duration_ns,
                                         .step = (uint32_t)i }))
            return false;
    }
    if (sessions->list.count)
        qsort(sessions->list.items, sessions->list.count, sizeof *sessions->list.items,
              compare_starts);
    for (size_t i = 1; i < sessions->list.count; i++) {
        struct session       *run = &sessions->list.items[i];
        const struct session *before = &run[-1];

        run->pause_ns = own_pause_ns(run->start_ns - before->end_ns, records[before->step]);
    }
    return true;
}

static bool is_update(struct str type)
{
    return str_fits(type, "*Apply*|Assign*|Scatter*");
}

/* Layers stand in scopes, as what saves and initialises does: these come of calls in a loop. */
static bool count_copies(const struct profile *profile, struct arena *arena, const uint32_t *first,
                         struct sessions *sessions)
{
    size_t        ops = profile->ops.count;
    uint32_t     *copies = arena_new_array(arena, uint32_t, ops + 1); /* by id of names */
    struct intern names;

    if (!copies || !intern_init(&names, arena))
        return false;
    for (size_t op = 0; op < ops; op++) {
        struct str name = profile_str(profile, profile->ops.items[op].name);
        size_t     end = name.len;
        uint32_t   id;

        while (end > 0 && name.data[end - 1] >= '0' && name.data[end - 1] <= '9')
            end--;
        if (end > 1 && end < name.len && name.data[end - 1] == '_')
            name = str_slice(name, 0, end - 1);
        if (first[op] || str_find(name, '/') < name.len)
            continue;
        id = intern_add(&names, name);
        if (id == NO_ID)
            return false;
        if (id <= ops && ++copies[id] > sessions->idle_copies)
            sessions->idle_copies = copies[id];
    }
    return true;
}

static bool count_ops(const struct profile *profile, struct arena *arena, struct sessions *sessions)
{
    size_t    ops = profile->ops.count, steps = profile->recorded_steps.count;
    uint32_t *of_step = arena_new_array(arena, uint32_t, steps + 1);
    uint32_t *first = arena_new_array(arena, uint32_t, ops + 1); /* run + 1 */
    bool     *again = arena_new_array(arena, bool, ops + 1);

    if (!of_step || !first || !again)
        return false;
    for (size_t i = 0; i < sessions->list.count; i++)
        of_step[sessions->list.items[i].step] = (uint32_t)i + 1;
    for (size_t i = 0; i < profile->op_runs.count; i++) {
        const struct op_run *run = &profile->op_runs.items[i];
        struct str           name = profile_str(profile, profile->ops.items[run->op].name);
        struct str           type = profile_str(profile, profile->ops.items[run->op].type);
        uint32_t             at = of_step[run->step];

        if (!at)
            continue;
        struct session *session = &sessions->list.items[at - 1];

        session->op_count++;
        session->reads_input |= str_starts(type, STR("IteratorGetNext"));
        session->is_fed |= str_starts(name, STR("_arg_")) || str_equal(type, STR("_Arg"));
        session->updates |= is_update(type);
        session->saves |= str_starts(type, STR("Save"));
        again[run->op] |= first[run->op] && first[run->op] != at;
        first[run->op] = first[run->op] ? first[run->op] : at;
    }
    for (size_t op = 0; op < ops; op++)
        if (first[op] && !again[op])
            sessions->list.items[first[op] - 1].own_ops++;
    return count_copies(profile, arena, first, sessions);
}

static bool are_alike(const struct session *a, const struct session *b)
{
    double most = a->op_count > b->op_count ? a->op_count : b->op_count;
    double least = a->op_count > b->op_count ? b->op_count : a->op_count;

    return most - least <= ALIKE * most;
}

static size_t period_of(const struct sessions *sessions)
{
    for (size_t period = 1; 2 * period <= sessions->list.count; period++) {
        size_t i = period;

        while (i < sessions->list.count &&
               are_alike(&sessions->list.items[i], &sessions->list.items[i - period]))
            i++;
        if (i == sessions->list.count)
            return period;
    }
    return 1;
}

bool sessions_find(const struct profile *profile, struct arena *arena, struct sessions *sessions)
{
    *sessions = (struct sessions) { .period = 1 };
    if (profile->format != FORMAT_GRAPH || profile->event_count == 0 ||
        profile->recorded_steps.count < 2 || !follow_each_other(profile, arena))
        return true;
    if (!list_runs(profile, arena, sessions) || !count_ops(profile, arena, sessions))
        return false;
    sessions->period = period_of(sessions);
    return true;
}

size_t sessions_behind(const struct sessions *sessions, int64_t time_ns)
{
    return LOWER_BOUND(sessions->list.count, i, sessions->list.items[i].start_ns < time_ns);
}
