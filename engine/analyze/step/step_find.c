#include "analyze/step/step_find.h"

#include "analyze/step/step_ahead.h"
#include "analyze/step/step_device.h"
#include "analyze/step/step_markers.h"
#include "analyze/step/step_meaning.h"
#include "analyze/step/step_sessions.h"
#include "analyze/step/step_trim.h"
#include "analyze/step/step_whole.h"
#include "base/sample.h"

enum {
    PAUSE_FACTOR = 4, /* a gap of so many steps is a pause, not part of the step before it */
    FEWEST_PAUSES =
        3, /* that follow each other after as many steps, until they are the program's */
};

/* Median distance from a marker's end to the next marker's start on the same host; -1: no pair. */
static double median_between(const struct markers *markers, struct arena *scratch)
{
    double *gaps = arena_new_array(scratch, double, markers->list.count + 1);
    size_t  count = 0;

    for (size_t i = 1; gaps && i < markers->list.count; i++)
        if (markers->list.items[i].host == markers->list.items[i - 1].host)
            gaps[count++] =
                (double)(markers->list.items[i].start_ns - markers->list.items[i - 1].end_ns);
    return count ? sample_median(gaps, count) : -1;
}

static double median_length(const struct markers *markers, struct arena *scratch)
{
    double *lengths = arena_new_array(scratch, double, markers->list.count + 1);

    for (size_t i = 0; lengths && i < markers->list.count; i++)
        lengths[i] = (double)(markers->list.items[i].end_ns - markers->list.items[i].start_ns);
    return lengths ? sample_median(lengths, markers->list.count) : 0;
}

/* From where a marker's work ends to the next marker; 0: there is none on its host. */
static int64_t gap_behind(const struct markers *markers, size_t i)
{
    const struct marker *marker = &markers->list.items[i];
    int64_t until_ns = marker->until_ns > marker->end_ns ? marker->until_ns : marker->end_ns;

    return i + 1 < markers->list.count && marker[1].host == marker->host
               ? marker[1].start_ns - until_ns
               : 0;
}

/* Pauses that come again after the same number of steps, two at least, are what the program does at
 * the end of each of its epochs: time of the steps. */
static bool pauses_come_again(const struct markers *markers, double pause_ns)
{
    size_t last = SIZE_MAX, distance = 0, count = 0;

    for (size_t i = 0; i < markers->list.count; i++) {
        if ((double)gap_behind(markers, i) <= pause_ns)
            continue;
        if (count > 0 && (i - last < 2 || (distance && i - last != distance)))
            return false;
        distance = count++ > 0 ? i - last : 0;
        last = i;
    }
    return count >= FEWEST_PAUSES;
}

/* Windows from markers: to the next marker, unless a pause follows that does not come again. The
 * last one of a host ends with its marker; where work follows markers, what follows the last one is
 * not known. */
static bool make_windows(struct study *study, const struct markers *markers, struct arena *scratch)
{
    struct steps *steps = &study->steps;
    double        between_ns = median_between(markers, scratch);
    double        length_ns = median_length(markers, scratch);
    double        pause_ns = PAUSE_FACTOR * (length_ns + (between_ns > 0 ? between_ns : 0));
    bool          is_again = pauses_come_again(markers, pause_ns);

    for (size_t i = 0; i < markers->list.count; i++) {
        const struct marker *marker = &markers->list.items[i];
        const struct marker *next = i + 1 < markers->list.count ? marker + 1 : NULL;
        struct step          step = { .number = marker->number >= 0 ? marker->number : (int64_t)i,
                                      .start_ns = marker->start_ns,
                                      .end_ns = marker->end_ns,
                                      .marker_end_ns = marker->end_ns,
                                      .host = marker->host,
                                      .timeline = marker->timeline,
                                      .event = marker->event,
                                      .is_used = true };

        if (next && next->host == marker->host) {
            if (is_again || (double)gap_behind(markers, i) <= pause_ns)
                step.end_ns = next->start_ns;
            else if (marker->until_ns > marker->end_ns)
                step.end_ns = marker->until_ns; /* the pause begins behind that */
            else
                step.is_used = false, step.left_out = "a pause follows it";
        } else if (between_ns > 0.02 * length_ns && i > 0) {
            step.is_used = false, step.left_out = "cut by the end of the capture";
        }
        if (!vec_push(&steps->list, study->arena, step))
            return false;
    }
    return true;
}

/* The first run of all has none before it. */
static double pause_a_step(const struct sessions *runs)
{
    double sum_ns = 0;

    for (size_t i = 1; i < runs->list.count; i++)
        sum_ns += (double)runs->list.items[i].pause_ns;
    return runs->list.count > 1 ? sum_ns / (double)(runs->list.count - 1) * (double)runs->period
                                : 0;
}

/* Runs that make a step together, from the pause before them on. The first step has none: it is
 * left out where pauses are much of the others. */
static bool sessions(struct study *study, const struct sessions *runs)
{
    static const double MUCH = 0.2;
    size_t              period = runs->period;
    double              pauses_ns = 0, all_ns = 0;

    study->steps.meaning = step_is_sessions(study, period);
    for (size_t i = 0; i + period <= runs->list.count; i += period) {
        const struct session *first = &runs->list.items[i];
        int64_t               end_ns = runs->list.items[i + period - 1].end_ns;
        int64_t               start_ns = first->start_ns - first->pause_ns;

        pauses_ns += (double)first->pause_ns;
        all_ns += (double)(end_ns - start_ns);
        if (!vec_push(
                &study->steps.list, study->arena,
                (struct step) { .number = study->profile->recorded_steps.items[first->step].number,
                                .start_ns = start_ns,
                                .end_ns = end_ns,
                                .marker_end_ns = end_ns,
                                .timeline = NO_ID,
                                .event = NO_ID,
                                .is_used = true }))
            return false;
    }
    study->steps.pause_ns = pause_a_step(runs);
    if (study->steps.list.count > 2 && pauses_ns > MUCH * all_ns) {
        study->steps.list.items[0].is_used = false;
        study->steps.list.items[0].left_out = "cut by the capture";
    }
    return true;
}

static bool recorded(struct study *study, struct arena *scratch)
{
    const struct profile *profile = study->profile;
    struct sessions       runs;

    study->steps.source = STEPS_SESSION;
    if (!sessions_find(profile, scratch, &runs))
        return false;
    if (runs.list.count)
        return sessions(study, &runs);
    study->steps.meaning = step_is_sessions(study, 1);
    for (size_t i = 0; i < profile->recorded_steps.count; i++) {
        const struct recorded_step *step = &profile->recorded_steps.items[i];
        int64_t                     end_ns = step->start_ns + step->duration_ns;

        if (!vec_push(&study->steps.list, study->arena,
                      (struct step) { .number = step->number,
                                      .start_ns = step->start_ns,
                                      .end_ns = end_ns,
                                      .marker_end_ns = end_ns,
                                      .timeline = NO_ID,
                                      .event = NO_ID,
                                      .is_used = step->duration_ns > 0 }))
            return false;
    }
    return true;
}

/* By the batches that are fetched, or by updates, where several batches lie between two of them:
 * those of a validation set, or of one update. */
static bool infer_training(const struct profile *profile, struct intern *names,
                           struct arena *scratch, struct markers *markers)
{
    static const double SEVERAL = 1.5;
    struct markers      updates = { 0 };

    if (!markers_inputs(profile, names, scratch, markers) ||
        !markers_updates(profile, names, scratch, &updates))
        return false;
    if (!markers->list.count ||
        (updates.list.count && (double)markers->list.count > SEVERAL * (double)updates.list.count))
        *markers = updates;
    return true;
}

/* By rows of compiled programs, or the program that takes most. GPUs write no runs: there calls of
 * the host stand for them, each with the work that it launched. */
static bool infer_programs(struct study *study, struct runs *runs, struct markers *program,
                           struct arena *scratch, struct markers *markers)
{
    const struct profile *profile = study->profile;

    if (profile->format == FORMAT_XSPACE && !runs->list.count &&
        (!runs_dispatched(profile, scratch, runs) ||
         !markers_runs(profile, runs, 0, scratch, program)))
        return false;
    if (!markers_rows(profile, runs, scratch, markers))
        return false;
    study->steps.meaning = STR("a row of programs that comes again");
    if (!markers->list.count) {
        *markers = *program;
        study->steps.meaning = step_is_run(study, program);
    }
    return true;
}

/* Where nothing marks steps and no session runs: by calls of the profiler, batches, updates,
 * compiled programs or ops that come again. */
static bool infer(struct study *study, struct runs *runs, struct markers *program,
                  struct arena *scratch, struct markers *markers)
{
    const struct profile *profile = study->profile;
    struct intern        *names = study->facts.names;

    study->steps.source = STEPS_INFERRED;
    if (profile->format == FORMAT_KINETO && !markers_profiler(profile, names, scratch, markers))
        return false;
    study->steps.meaning = STR("from one call of the profiler's step to the next");
    if (markers->list.count)
        return true;
    if (!infer_training(profile, names, scratch, markers))
        return false;
    study->steps.meaning = STR("from one batch or update to the next");
    if (!markers->list.count && !infer_programs(study, runs, program, scratch, markers))
        return false;
    if (!markers->list.count && profile->format == FORMAT_KINETO) {
        if (!markers_repeats(profile, true, scratch, markers))
            return false;
        study->steps.meaning = STR("a row of ops that comes again");
    }
    return true;
}

/* On processors a row of ops that comes again is told, and makes no steps: it may be the waste
 * itself, the same work for each part of a batch. */
static bool whole_trace(struct study *study, struct arena *scratch)
{
    struct markers rounds = { 0 };

    if (study->profile->format == FORMAT_KINETO &&
        !markers_repeats(study->profile, false, scratch, &rounds))
        return false;
    study->steps.rounds = (uint32_t)rounds.list.count;
    study->steps.meaning = step_is_whole(study, &rounds, scratch);
    return steps_whole_trace(study, scratch);
}

bool steps_find(struct study *study, struct arena *scratch)
{
    const struct profile *profile = study->profile;
    struct intern        *names = study->facts.names;
    struct markers        markers = { 0 }, program = { 0 };
    struct runs           runs = { 0 };

    if (profile->recorded_steps.count)
        return recorded(study, scratch);
    if (!runs_find(profile, scratch, &runs) ||
        !markers_annotated(profile, names, scratch, &markers) ||
        (!markers.list.count && !markers_engine(profile, names, scratch, &markers)) ||
        !markers_runs(profile, &runs, markers.list.count, scratch, &program))
        return false;
    study->steps.source = STEPS_MARKER;
    if (markers.list.count && markers_only_enqueue(&markers, &program, scratch)) {
        markers_name_runs(&markers, &program);
        markers_await_transfers(profile, &program);
        markers = program;
        study->steps.meaning = step_is_run(study, &program);
    } else if (!markers.list.count) {
        study->steps.source = STEPS_SESSION;
        if (!markers_sessions(profile, names, scratch, &markers) ||
            !markers_functions(profile, names, scratch, &markers))
            return false;
        study->steps.meaning = step_is_call(study, &markers);
    }
    if (!markers.list.count && !infer(study, &runs, &program, scratch, &markers))
        return false;
    if (!markers.list.count)
        return whole_trace(study, scratch);
    if (markers.list.items[0].family)
        study->steps.marker_name = intern_str(names, markers.list.items[0].family).data;
    return make_windows(study, &markers, scratch) && steps_follow_device(study, scratch) &&
           steps_trim(study, scratch);
}
