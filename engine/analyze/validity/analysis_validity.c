/*
 * validity: what a recording cannot tell: work on the device that is missing, or whose launch is,
 * the capture of a graph, which runs nothing, and waits for work from before the recording. Rules
 * of the category validity judge by it.
 */
#include "analyze/analysis.h"
#include "analyze/device/device_activity.h"
#include "analyze/emit.h"
#include "analyze/step/start_up.h"
#include "model/name_class.h"

#include <math.h>

enum validity_fact {
    MISSING,
    MISSING_SHARE,
    UNLAUNCHED_SHARE,
    CAPTURE_SHARE,
    EARLIER_NS,
    EARLIER_SHARE,
    HOST_EVENTS,
    FACT_COUNT
};
static const struct fact_spec produces[] = {
    [MISSING] = { "validity.missing_launches", UNIT_COUNT,
                  "launches of kernels, all of the recording, whose work was not recorded" },
    [MISSING_SHARE] = { "validity.missing_share", UNIT_SHARE, "share of such launches" },
    [UNLAUNCHED_SHARE] = { "validity.unlaunched_share", UNIT_SHARE,
                           "share of device work whose launch was not recorded" },
    [CAPTURE_SHARE] = { "validity.capture_share", UNIT_SHARE,
                        "share of the used steps in which a graph was captured" },
    [EARLIER_NS] = { "validity.earlier_wait_ns", UNIT_NS,
                     "waits for work from before the recording, all of it" },
    [EARLIER_SHARE] = { "validity.earlier_wait_share", UNIT_SHARE, "share of the recording" },
    [HOST_EVENTS] = { "validity.host_events", UNIT_COUNT,
                      "events a step on the thread that leads the steps, each of which it wrote" },
};
enum { FEWEST_LINKED = 10 }; /* fewer launches with their work do not tell that links are there */

struct checking {
    struct study       *study;
    struct windows      windows;
    struct name_classes names;
    uint8_t            *is_answered; /* by event: a launch whose work is there */
    int64_t             last_ns;     /* the last launch whose work is there */
    double              launches, missing, work, unlaunched, capture_ns, host_events;
    double              values[FACT_COUNT];
};

static bool is_work(uint8_t kind)
{
    return kind == ACTIVITY_KERNEL || kind == ACTIVITY_COLLECTIVE;
}

/* Which launches have work, and how much work has none. */
static void link_work(struct checking *checking, const struct timeline *line)
{
    const struct profile *profile = checking->study->profile;

    for (uint32_t i = line->first_event; i < line->first_event + line->event_count; i++) {
        uint32_t launch = checking->study->devices->launch_of[i];

        if (launch != NO_ID) {
            int64_t start_ns = event_start_ns(profile, launch);

            checking->is_answered[launch] = 1;
            checking->last_ns = start_ns > checking->last_ns ? start_ns : checking->last_ns;
        }
        if (!is_work(event_activity(profile, i)->kind))
            continue;
        checking->work++;
        checking->unlaunched += launch == NO_ID;
    }
}

enum { CALL_OTHER, CALL_STARTS_KERNEL, CALL_BEGINS_CAPTURE, CALL_ENDS_CAPTURE };

/* Calls that start a kernel or a graph; what is set, copied or called back may be nothing. */
static uint8_t call_of(struct str name)
{
    if (str_contains(name, STR("StreamBeginCapture")))
        return CALL_BEGINS_CAPTURE;
    if (str_contains(name, STR("StreamEndCapture")))
        return CALL_ENDS_CAPTURE;
    return str_contains(name, STR("Launch")) && !str_contains(name, STR("HostFunc"))
               ? CALL_STARTS_KERNEL
               : CALL_OTHER;
}

/* The launches of a thread, less those that a graph's capture takes note of; and the captures. */
static void count_launches(struct checking *checking, const struct timeline *line)
{
    const struct profile *profile = checking->study->profile;
    int64_t               capture_ns = INT64_MIN; /* when the open capture began */

    for (uint32_t i = line->first_event; i < line->first_event + line->event_count; i++) {
        const struct activity *activity = event_activity(profile, i);
        uint8_t                call = name_class(&checking->names, activity->name);

        if (call == CALL_BEGINS_CAPTURE) {
            capture_ns = event_start_ns(profile, i);
        } else if (call == CALL_ENDS_CAPTURE && capture_ns != INT64_MIN) {
            checking->capture_ns += (double)windows_overlap_ns(&checking->windows, capture_ns,
                                                               event_end_ns(profile, i));
            capture_ns = INT64_MIN;
        } else if (capture_ns == INT64_MIN && call == CALL_STARTS_KERNEL &&
                   activity->kind == ACTIVITY_LAUNCH &&
                   event_start_ns(profile, i) <= checking->last_ns) {
            checking->launches++;
            checking->missing += !checking->is_answered[i];
        }
    }
}

/* What a thread wrote down while it led the steps. */
static void count_events(struct checking *checking, const struct timeline *line)
{
    for (uint32_t i = line->first_event; i < line->first_event + line->event_count; i++)
        checking->host_events +=
            windows_find(&checking->windows, event_start_ns(checking->study->profile, i)) !=
            SIZE_MAX;
}

static double earlier_wait_ns(const struct study *study)
{
    double ns = 0;

    if (study->steps.source != STEPS_WHOLE_TRACE || !study->start_up)
        return 0;
    for (size_t i = 0; i < study->start_up->calls.count; i++) {
        const struct start_up_call *call = &study->start_up->calls.items[i];

        if (call->is_blocking && study->steps.list.count > 0 &&
            call->end_ns <= study->steps.list.items[0].start_ns)
            ns += (double)(call->end_ns - call->start_ns);
    }
    return ns;
}

static bool look(struct checking *checking, struct arena *scratch)
{
    const struct study   *study = checking->study;
    const struct profile *profile = study->profile;

    checking->is_answered = arena_new_array(scratch, uint8_t, (size_t)profile->event_count + 1);
    checking->last_ns = INT64_MIN;
    if (!checking->is_answered || !windows_make(study, scratch, &checking->windows) ||
        !name_classes_open(&checking->names, profile, call_of, scratch))
        return false;
    for (size_t i = 0; i < profile->timelines.count; i++)
        if (profile->timelines.items[i].kind == TIMELINE_STREAM)
            link_work(checking, &profile->timelines.items[i]);
    for (size_t i = 0; i < profile->timelines.count; i++)
        if (profile->timelines.items[i].kind == TIMELINE_THREAD)
            count_launches(checking, &profile->timelines.items[i]);
    if (study->path.leader != NO_ID && study->path.leader < profile->timelines.count)
        count_events(checking, &profile->timelines.items[study->path.leader]);
    return true;
}

/* Launches without work beside work without launches are links that are missing, not work. */
static void weigh(struct checking *checking)
{
    double *values = checking->values, linked = checking->launches - checking->missing;
    double  span_ns =
        (double)(checking->study->profile->end_ns - checking->study->profile->start_ns);

    values[MISSING] =
        linked >= FEWEST_LINKED ? fmax(0, checking->missing - checking->unlaunched) : 0;
    values[MISSING_SHARE] = checking->launches > 0 ? values[MISSING] / checking->launches : 0;
    values[UNLAUNCHED_SHARE] =
        linked >= FEWEST_LINKED && checking->work > 0 ? checking->unlaunched / checking->work : 0;
    values[CAPTURE_SHARE] = checking->capture_ns / (double)checking->windows.total_ns;
    values[HOST_EVENTS] = checking->host_events / (double)checking->windows.count;
    values[EARLIER_NS] = earlier_wait_ns(checking->study);
    values[EARLIER_SHARE] = span_ns > 0 ? fmin(1, values[EARLIER_NS] / span_ns) : 0;
}

static bool run(struct study *study, struct err *err)
{
    struct arena    scratch = { 0 };
    struct checking checking = { .study = study };
    bool            has_devices = study->devices && study->devices->launch_of;
    bool            is_done = !has_devices || look(&checking, &scratch);

    if (is_done && has_devices)
        weigh(&checking);
    for (size_t i = 0; i < FACT_COUNT && is_done; i++)
        is_done = has_devices ? facts_set(&study->facts, &produces[i], checking.values[i])
                              : facts_absent(&study->facts, produces[i].name, NULL,
                                             "no accelerator's work is in the recording");
    arena_free(&scratch);
    return is_done || emit_limit("what the recording cannot tell", err);
}

const struct analysis analysis_validity = {
    .name = "validity",
    .summary = "what is missing between host and device",
    .produces = produces,
    .produces_count = ARRAY_COUNT(produces),
    .run = run,
};
