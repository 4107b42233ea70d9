#include "analyze/step/step_whole.h"

#include "analyze/step/start_up.h"

/* A launch longer before the accelerator's first work than this of all is not the step's. */
static const double LAUNCH_SHARE = 0.05;
/* Less work than this of all, before a wait ends, is no reason to keep the wait. */
static const double EARLIER_SHARE = 0.05;
static const double SILENT_SHARE = 0.05;
static const double MOST_SHARE = 0.5;
enum { PAUSE_NS = 10000000 };
/* Fewer pieces of work, that fill less of the recording, are a try-out: pauses between them are no
 * cost of a step. Nor does a step of a few more tell of others where most of it is start-up. */
enum { FEWEST_WORK = 5, FEW_WORK = 10 };
static const double LEAST_BUSY = 0.10;
/* Start-up that is most of a recording leaves the rest of it for a step where accelerators fill
 * that. */
static const double NEARLY_ALL_SHARE = 0.8, FILLED_SHARE = 0.5;
/* What a call that is made once takes at least of a step, or of a recording that stands for one;
 * what is long for any call, and what is long for one however much there is beside it. */
static const double START_UP_SHARE = 0.20;
enum { MOST_FEW = 2, LEAST_START_UP_NS = 1000000, MOST_START_UP_NS = 10000000 };

static bool is_accelerators(const struct profile *profile, const struct timeline *line,
                            uint32_t host)
{
    return (line->kind == TIMELINE_STREAM || line->kind == TIMELINE_OPS) && line->event_count &&
           line->host == host && line->device != NO_ID &&
           profile->devices.items[line->device].kind != DEVICE_CPU;
}

/* What the accelerators of a host did, and in how many pieces; of it what is no collective, which
 * may do nothing but wait for a rank that has just started. false: scratch is exhausted. */
static bool find_busy(const struct profile *profile, uint32_t host, struct arena *scratch,
                      struct intervals *busy, struct intervals *working, size_t *count)
{
    *count = 0;
    for (size_t t = 0; t < profile->timelines.count; t++) {
        const struct timeline *line = &profile->timelines.items[t];

        if (!is_accelerators(profile, line, host))
            continue;
        *count += line->event_count;
        for (uint32_t i = line->first_event; i < line->first_event + line->event_count; i++)
            if (!intervals_add(busy, scratch, event_start_ns(profile, i),
                               event_end_ns(profile, i)) ||
                (event_activity(profile, i)->kind != ACTIVITY_COLLECTIVE &&
                 !intervals_add(working, scratch, event_start_ns(profile, i),
                                event_end_ns(profile, i))))
                return false;
    }
    intervals_settle(busy);
    intervals_settle(working);
    return true;
}

/* Behind waits for work that was launched before the recording: the next thing that ran. */
static int64_t behind_waits(const struct intervals *busy, const struct start_up *start_up,
                            size_t from, const struct interval *span)
{
    int64_t start_ns = span->start_ns;
    double  total_ns = (double)intervals_total_ns(busy);

    for (size_t i = from; i < start_up->calls.count; i++) {
        const struct start_up_call *call = &start_up->calls.items[i];
        int64_t                     half_ns = call->start_ns + (call->end_ns - call->start_ns) / 2;
        size_t                      next = 0;

        if (!call->is_blocking || call->end_ns <= start_ns ||
            (double)intervals_overlap_ns(busy, span->start_ns, call->end_ns) >
                EARLIER_SHARE * total_ns)
            continue;
        while (next < busy->list.count && busy->list.items[next].start_ns < half_ns)
            next++;
        if (next < busy->list.count && busy->list.items[next].start_ns > start_ns)
            start_ns = busy->list.items[next].start_ns;
    }
    return start_ns;
}

/* The outermost op of a thread that is open at a time; where none is, the time itself. */
static int64_t op_start(const struct profile *profile, const struct timeline *line, int64_t time_ns)
{
    for (uint32_t i = line->first_event; i < line->first_event + line->event_count; i++) {
        int64_t start_ns = event_start_ns(profile, i);

        if (start_ns > time_ns)
            break;
        if (event_activity(profile, i)->kind == ACTIVITY_OP && event_end_ns(profile, i) > time_ns)
            return start_ns;
    }
    return time_ns;
}

static const struct timeline *line_of(const struct profile *profile, uint32_t event)
{
    for (size_t t = 0; t < profile->timelines.count; t++) {
        const struct timeline *line = &profile->timelines.items[t];

        if (event >= line->first_event && event - line->first_event < line->event_count)
            return line;
    }
    return NULL;
}

/* When the work that begins at a time was asked for: its op's start, or its launch's. */
static int64_t asked_for(const struct profile *profile, int64_t time_ns)
{
    int64_t asked_ns = time_ns;

    for (size_t i = 0; i < profile->flows.count; i++) {
        const struct flow     *flow = &profile->flows.items[i];
        const struct timeline *line;
        int64_t                launch_ns;

        if (flow->kind != FLOW_LAUNCH || flow->to >= profile->event_count ||
            flow->from >= profile->event_count || event_start_ns(profile, flow->to) != time_ns)
            continue;
        launch_ns = event_start_ns(profile, flow->from);
        line = line_of(profile, flow->from);
        if (line)
            launch_ns = op_start(profile, line, launch_ns);
        asked_ns = launch_ns < asked_ns ? launch_ns : asked_ns;
    }
    return asked_ns;
}

/* Time in [start, end) of calls that a program makes once, from the one given on. */
static bool start_up_ns(const struct start_up *start_up, size_t from, const struct interval *span,
                        struct arena *scratch, int64_t *ns)
{
    struct intervals calls = { 0 };

    for (size_t i = from; i < start_up->calls.count; i++) {
        const struct start_up_call *call = &start_up->calls.items[i];

        if (!call->is_blocking && !intervals_add(&calls, scratch, call->start_ns, call->end_ns))
            return false;
    }
    intervals_settle(&calls);
    *ns = intervals_overlap_ns(&calls, span->start_ns, span->end_ns);
    return true;
}

/* A range that the program or the profiler set: not what was done in it. */
static bool says_nothing(const struct profile *profile, uint32_t event)
{
    enum activity_kind kind = event_activity(profile, event)->kind;

    return kind == ACTIVITY_STEP || kind == ACTIVITY_ANNOTATION;
}

/* Whether threads of the host did nothing recorded for nearly all of a time. Without any thread
 * that is not known. */
static bool is_silent(const struct profile *profile, uint32_t host, const struct interval *time)
{
    int64_t ns = time->end_ns - time->start_ns, heard_ns = 0;
    bool    has_threads = false;

    for (size_t t = 0; t < profile->timelines.count; t++) {
        const struct timeline *line = &profile->timelines.items[t];

        if (line->kind != TIMELINE_THREAD || line->host != host || !line->event_count)
            continue;
        has_threads = true;
        for (uint32_t i = line->first_event; i < line->first_event + line->event_count; i++) {
            int64_t from_ns = event_start_ns(profile, i), to_ns = event_end_ns(profile, i);

            if (says_nothing(profile, i))
                continue;
            from_ns = from_ns > time->start_ns ? from_ns : time->start_ns;
            to_ns = to_ns < time->end_ns ? to_ns : time->end_ns;
            heard_ns += to_ns > from_ns ? to_ns - from_ns : 0;
        }
    }
    return has_threads && (double)heard_ns < SILENT_SHARE * (double)ns;
}

/* Whether one pause, in which nothing was recorded, takes most of the span. */
static bool has_pause(const struct profile *profile, uint32_t host, const struct intervals *busy,
                      const struct interval *span)
{
    struct interval gap = { .start_ns = span->start_ns };

    for (size_t i = 0; i <= busy->list.count && gap.start_ns < span->end_ns; i++) {
        gap.end_ns = i < busy->list.count && busy->list.items[i].start_ns < span->end_ns
                         ? busy->list.items[i].start_ns
                         : span->end_ns;
        if ((double)(gap.end_ns - gap.start_ns) >
                MOST_SHARE * (double)(span->end_ns - span->start_ns) &&
            gap.end_ns - gap.start_ns >= PAUSE_NS)
            return is_silent(profile, host, &gap);
        if (i < busy->list.count && busy->list.items[i].end_ns > gap.start_ns)
            gap.start_ns = busy->list.items[i].end_ns;
    }
    return false;
}

static int64_t long_call_ns(int64_t span_ns)
{
    double ns = START_UP_SHARE * (double)span_ns;

    return ns < LEAST_START_UP_NS  ? LEAST_START_UP_NS
           : ns > MOST_START_UP_NS ? MOST_START_UP_NS
                                   : (int64_t)ns;
}

/* A single piece of work beside which more was recorded than it, or a handful and nothing recorded
 * that says what the host did meanwhile. One that is most of the recording is what was to be
 * measured, as where a benchmark calls one op. */
static bool is_scarce(const struct profile *profile, uint32_t host, const struct intervals *busy,
                      size_t count, const struct interval *span)
{
    double busy_ns = (double)intervals_overlap_ns(busy, span->start_ns, span->end_ns);

    if (count == 1)
        return busy_ns < MOST_SHARE * (double)(profile->end_ns - profile->start_ns);
    return count < FEWEST_WORK && busy_ns < LEAST_BUSY * (double)(span->end_ns - span->start_ns) &&
           is_silent(profile, host, span);
}

/* Whether what is left beside start-up tells nothing of a step. */
static bool is_start_up(const struct intervals *working, const struct interval *span,
                        int64_t once_ns)
{
    double ns = (double)(span->end_ns - span->start_ns), rest_ns = ns - (double)once_ns;

    return (double)once_ns > NEARLY_ALL_SHARE * ns ||
           ((double)once_ns > MOST_SHARE * ns &&
            (double)intervals_overlap_ns(working, span->start_ns, span->end_ns) <
                FILLED_SHARE * rest_ns);
}

static bool add_host(struct study *study, uint32_t host, struct arena *scratch)
{
    const struct profile *profile = study->profile;
    struct interval       span = { profile->start_ns, profile->end_ns };
    struct intervals      busy = { 0 }, working = { 0 };
    const char           *left_out = NULL;
    size_t                count;

    if (!find_busy(profile, host, scratch, &busy, &working, &count))
        return false;
    if (busy.list.count) {
        size_t  others = study->start_up->calls.count; /* of hosts before */
        int64_t asked_ns, once_ns;

        span = (struct interval) { busy.list.items[0].start_ns,
                                   busy.list.items[busy.list.count - 1].end_ns };
        study->start_up->long_ns = long_call_ns(span.end_ns - span.start_ns);
        if (!start_up_find(profile, host, &busy, &working, study->arena, study->start_up))
            return false;
        span.start_ns = behind_waits(&busy, study->start_up, others, &span);
        asked_ns = asked_for(profile, span.start_ns);
        if ((double)(span.start_ns - asked_ns) < LAUNCH_SHARE * (double)(span.end_ns - asked_ns))
            span.start_ns = asked_ns;
        if (!start_up_ns(study->start_up, others, &span, scratch, &once_ns))
            return false;
        if (is_start_up(&working, &span, once_ns))
            left_out = "most of the recording is start-up: loading, compiling, first use";
        else if (has_pause(profile, host, &busy, &span))
            left_out = "for most of the recording nothing was recorded";
        else if (is_scarce(profile, host, &busy, count, &span))
            left_out = "a few pieces of work with long pauses tell nothing of a step";
    }
    return vec_push(&study->steps.list, study->arena,
                    (struct step) { .start_ns = span.start_ns,
                                    .end_ns = span.end_ns,
                                    .marker_end_ns = span.end_ns,
                                    .host = host,
                                    .timeline = NO_ID,
                                    .event = NO_ID,
                                    .is_used = span.end_ns > span.start_ns && !left_out,
                                    .left_out = left_out });
}

bool steps_whole_trace(struct study *study, struct arena *scratch)
{
    study->steps.source = STEPS_WHOLE_TRACE;
    study->start_up = arena_new(study->arena, struct start_up);
    if (!study->start_up)
        return false;
    study->start_up->profile = study->profile;
    for (uint32_t host = 0; host < study->profile->hosts.count; host++)
        if (!add_host(study, host, scratch))
            return false;
    return true;
}

/* The shortest used step of the reference host, where there are one or two; NULL otherwise. */
static struct step *few_steps(struct steps *steps)
{
    struct step *shortest = NULL;

    for (size_t i = 0; i < steps->list.count; i++) {
        struct step *step = &steps->list.items[i];

        if (step->is_used && step->host == steps->host &&
            (!shortest || step->end_ns - step->start_ns < shortest->end_ns - shortest->start_ns))
            shortest = step;
    }
    return steps->used_count > 0 && steps->used_count <= MOST_FEW ? shortest : NULL;
}

/* Why the only step tells nothing of others; NULL: it does. `count`: pieces of work. A run of a
 * session is one, however little it does and however long it waits. */
static bool why_no_step(const struct study *study, const struct intervals *busy, size_t count,
                        const struct step *step, struct arena *scratch, const char **why)
{
    struct interval span = { step->start_ns, step->end_ns };
    bool            is_run = study->steps.source == STEPS_SESSION;
    int64_t         once_ns;

    *why = NULL;
    if (!start_up_ns(study->start_up, 0, &span, scratch, &once_ns))
        return false;
    if (!is_run && has_pause(study->profile, step->host, busy, &span))
        *why = "for most of the only step nothing was recorded";
    else if ((count < FEW_WORK &&
              (double)once_ns > MOST_SHARE * (double)(span.end_ns - span.start_ns)) ||
             (!is_run && is_scarce(study->profile, step->host, busy, count, &span)))
        *why = "a few pieces of work, mostly start-up or pauses";
    return true;
}

bool steps_few_marked(struct study *study, struct arena *scratch)
{
    struct intervals busy = { 0 }, working = { 0 };
    struct steps    *steps = &study->steps;
    bool             is_told = steps->source == STEPS_MARKER || steps->source == STEPS_SESSION;
    struct step     *step = is_told ? few_steps(steps) : NULL;
    const char      *why;
    size_t           count;

    if (!step)
        return true;
    if (!find_busy(study->profile, steps->host, scratch, &busy, &working, &count))
        return false;
    study->start_up = count ? arena_new(study->arena, struct start_up) : NULL;
    if (!study->start_up)
        return count == 0;
    *study->start_up = (struct start_up) { .profile = study->profile };
    study->start_up->long_ns = (int64_t)(START_UP_SHARE * (double)(step->end_ns - step->start_ns));
    if (study->start_up->long_ns < LEAST_START_UP_NS)
        study->start_up->long_ns = LEAST_START_UP_NS;
    if (!start_up_find(study->profile, steps->host, &busy, &working, study->arena,
                       study->start_up) ||
        !why_no_step(study, &busy, count, step, scratch, &why))
        return false;
    if (why && steps->used_count == 1) {
        step->is_used = false;
        step->left_out = why;
        steps->used_count = 0;
    }
    return true;
}
