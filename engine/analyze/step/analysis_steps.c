/*
 * steps: the windows that per-step numbers are about, best source first:
 *   marker       annotated steps on a host thread (train/step_num, ProfilerStep#N, Steps lines)
 *   session      runs of a session or of a graph function on one thread
 *   inferred     calls for the next batch, updates by an optimizer, or repeated runs of the program
 *                that takes most time (beside GPUs, whose work names no runs, calls of it)
 *   whole-trace  none of these: one window; with accelerators from their first work to their last,
 *                without the capture's own start and end
 *
 * A window reaches from one step's start to the next one's, so that what lies between two markers
 * counts. Where the host only enqueues and runs far ahead, its markers say nothing about time: the
 * program's own runs are the steps then.
 *
 * Left out of averages: the first step if it took more than twice the median of the rest and no
 * other is like it or something was compiled in it, a step before a pause that does not come again
 * after as many steps, those in which whatever the host calls takes longer (step_pace.h), and those
 * outside --steps.
 */
#include "analyze/analysis.h"
#include "analyze/step/step_find.h"
#include "analyze/step/step_pace.h"
#include "analyze/step/step_whole.h"
#include "base/sample.h"

#include <math.h>

enum {
    WARM_UP_FACTOR = 2, /* a first step over this many medians is warm-up */
    DRIFT_STEPS = 10,   /* a trend needs so many steps */
    VARIANCE_STEPS = 5,
};
static const char   WARM_UP[] = "warm-up"; /* why a first step is left out */
static const double AS_LONG = 0.5;         /* of a first step, from which another is as long */
static const double UNEVEN_FACTOR = 1.5;   /* a mean over this many medians */
static const double OUTLIER_Z = 3.5;       /* modified z score, Iglewicz and Hoaglin */
static const double MAD_TO_Z = 0.6745;

static const struct fact_spec produces[] = {
    { "step.count", UNIT_COUNT, "steps found on the reference host" },
    { "step.used", UNIT_COUNT, "steps that count for averages" },
    { "step.median_ns", UNIT_NS, "median time of a step" },
    { "step.mean_ns", UNIT_NS, "mean time of a step" },
    { "step.min_ns", UNIT_NS, "shortest step" },
    { "step.max_ns", UNIT_NS, "longest step" },
    { "step.ns", UNIT_NS, "what a step takes: the median, or the mean where they are uneven" },
    { "step.is_uneven", UNIT_BOOL, "the mean is more than half above the median" },
    { "step.cov", UNIT_RATIO, "standard deviation of step times over their mean" },
    { "step.source", UNIT_NAME, "how steps were found: marker, session, inferred, whole-trace" },
    { "step.marker_name", UNIT_NAME, "name of the markers" },
    { "step.meaning", UNIT_NAME, "what a step was taken to be, where nothing marks one" },
    { "step.rounds", UNIT_COUNT,
      "rounds of the same ops, in a recording on a CPU that nothing divides into steps" },
    { "step.warmup_ns", UNIT_NS, "time of the first step, left out as warm-up" },
    { "step.between_ns", UNIT_NS, "median time between the end of a marker and the next one" },
    { "step.pause_ns", UNIT_NS,
      "a step's time between session runs that were recorded one by one, less what recording "
      "takes" },
    { "step.slow_count", UNIT_COUNT, "used steps slower than the median by a modified z over 3.5" },
    { "step.slow_excess_ns", UNIT_NS,
      "time of slow steps above the median, spread over all steps" },
    { "step.drift_share", UNIT_SHARE, "growth of the step time over the window (Theil-Sen)" },
    { "step.p90_ns", UNIT_NS, "nine in ten steps take no longer" },
    { "step.p99_ns", UNIT_NS, "99 in a hundred steps take no longer" },
};
enum {
    FACT_COUNT,
    FACT_USED,
    FACT_MEDIAN,
    FACT_MEAN,
    FACT_MIN,
    FACT_MAX,
    FACT_NS,
    FACT_IS_UNEVEN,
    FACT_COV,
    FACT_SOURCE,
    FACT_MARKER_NAME,
    FACT_MEANING,
    FACT_ROUNDS,
    FACT_WARM_UP,
    FACT_BETWEEN,
    FACT_PAUSE,
    FACT_SLOW_COUNT,
    FACT_SLOW_EXCESS,
    FACT_DRIFT,
    FACT_P90,
    FACT_P99
};

static const struct column_spec step_columns[] = {
    { "number", UNIT_COUNT, "step number as recorded" },
    { "host", UNIT_NAME, "host" },
    { "start_ns", UNIT_NS, "start since the capture's origin" },
    { "duration_ns", UNIT_NS, "to the start of the next step" },
    { "marker_ns", UNIT_NS, "time inside the marker" },
    { "used", UNIT_BOOL, "counts for averages" },
    { "left_out", UNIT_NAME, "why it does not" },
    { "rank", UNIT_COUNT, "rank of the host's process, where its recording tells" },
};
static const struct table_spec tables[] = {
    { "steps", "one row a step and host", step_columns, ARRAY_COUNT(step_columns) },
};
static const char *const source_names[] = { "marker", "session", "inferred", "whole-trace" };

static int64_t length_of(const struct step *step)
{
    return step->end_ns - step->start_ns;
}

/* Lengths of the used steps of one host, in order. */
static size_t used_lengths(const struct steps *steps, uint32_t host, double *lengths)
{
    size_t count = 0;

    for (size_t i = 0; i < steps->list.count; i++)
        if (steps->list.items[i].host == host && steps->list.items[i].is_used)
            lengths[count++] = (double)length_of(&steps->list.items[i]);
    return count;
}

/* Whether something is compiled, traced or loaded in a step. */
static bool compiles(const struct study *study, const struct step *step)
{
    const struct profile *profile = study->profile;

    for (size_t t = 0; t < profile->timelines.count; t++) {
        const struct timeline *line = &profile->timelines.items[t];
        uint32_t               end = line->first_event + line->event_count;

        if (line->kind != TIMELINE_THREAD || line->host != step->host)
            continue;
        for (uint32_t event = line->first_event;
             event < end && event_start_ns(profile, event) < step->end_ns; event++) {
            enum activity_kind kind = event_activity(profile, event)->kind;

            if (activity_kind_class(kind) == CLASS_COMPILE &&
                event_start_ns(profile, event) >= step->start_ns)
                return true;
        }
    }
    return false;
}

/* A first step that is far slower than the others is warm-up, unless one behind it is about as long
 * and nothing was compiled in it: then long steps are the program's. */
static void leave_out(struct study *study, double *scratch_ns)
{
    struct steps *steps = &study->steps;

    for (size_t i = 0; i < steps->list.count; i++) {
        struct step *step = &steps->list.items[i];

        if (step->is_used &&
            (step->number < study->options.first_step || step->number > study->options.last_step))
            step->is_used = false, step->left_out = "outside --steps";
    }
    for (size_t i = 0; i < steps->list.count; i++) {
        struct step *first = &steps->list.items[i];

        if ((i > 0 && steps->list.items[i - 1].host == first->host) || !first->is_used)
            continue;
        first->is_used = false; /* compare it with the rest */
        size_t rest = used_lengths(steps, first->host, scratch_ns);
        double median_ns = sample_median(scratch_ns, rest);

        double like_it_ns = fmax(WARM_UP_FACTOR * median_ns, AS_LONG * (double)length_of(first));

        if (rest >= 2 && (double)length_of(first) > WARM_UP_FACTOR * median_ns &&
            (scratch_ns[rest - 1] < like_it_ns || compiles(study, first))) {
            first->left_out = WARM_UP;
        } else {
            first->is_used = true;
        }
    }
}

/* Time of the reference host's first step, where it is left out as warm-up; 0: it is not. */
static double warm_up_ns(const struct steps *steps)
{
    for (size_t i = 0; i < steps->list.count; i++) {
        const struct step *step = &steps->list.items[i];

        if (step->host == steps->host && step->left_out == WARM_UP)
            return (double)length_of(step);
    }
    return 0;
}

/* Time in collectives on the threads of a host, per step. */
static double collective_ns(const struct study *study, uint32_t host)
{
    const struct profile *profile = study->profile;
    double                sum_ns = 0, steps = 0;

    for (size_t t = 0; t < profile->timelines.count; t++) {
        const struct timeline *line = &profile->timelines.items[t];

        for (uint32_t i = 0; line->host == host && i < line->event_count; i++)
            if (event_activity(profile, line->first_event + i)->kind == ACTIVITY_COLLECTIVE)
                sum_ns += (double)event_duration_ns(profile, line->first_event + i);
    }
    for (size_t i = 0; i < study->steps.list.count; i++)
        steps += study->steps.list.items[i].host == host;
    return steps > 0 ? sum_ns / steps : 0;
}

/* What a host needs for a step beside waiting in collectives; -INFINITY: it has no used step. */
static double own_ns(const struct study *study, uint32_t host, double *scratch_ns)
{
    size_t count = used_lengths(&study->steps, host, scratch_ns);
    bool   waits = study->profile->hosts.count > 1;

    return count ? sample_median(scratch_ns, count) - (waits ? collective_ns(study, host) : 0)
                 : -INFINITY;
}

/* The order of hosts, whichever order their files came in. */
static bool stands_before(const struct profile *profile, uint32_t a, uint32_t b)
{
    const struct host *x = &profile->hosts.items[a], *y = &profile->hosts.items[b];

    if (x->rank != y->rank)
        return x->rank < y->rank;
    return str_compare(profile_str(profile, x->name), profile_str(profile, y->name)) < 0;
}

/* The host that holds the job up: hosts of one job step together, so it is the one that spends
 * least time waiting for the others in collectives; among equals the first one. */
static bool choose_host(struct study *study, struct arena *scratch, double *scratch_ns)
{
    static const double EQUAL_SHARE = 0.02;
    uint32_t            count = (uint32_t)study->profile->hosts.count, chosen = NO_ID;
    double             *needs_ns = arena_new_array(scratch, double, count + 1);
    double              longest_ns = -INFINITY;

    for (uint32_t host = 0; needs_ns && host < (count ? count : 1); host++) {
        needs_ns[host] = own_ns(study, host, scratch_ns);
        longest_ns = fmax(longest_ns, needs_ns[host]);
    }
    for (uint32_t host = 0; needs_ns && host < count; host++)
        if (needs_ns[host] >= longest_ns - EQUAL_SHARE * fabs(longest_ns) &&
            isfinite(needs_ns[host]) &&
            (chosen == NO_ID || stands_before(study->profile, host, chosen)))
            chosen = host;
    if (chosen != NO_ID)
        study->steps.host = chosen;
    return needs_ns != NULL;
}

bool step_stands_alone(const struct steps *steps, const struct step *step)
{
    return step->is_slow && steps->slow_count == 1 && !steps->is_uneven;
}

static double modified_z(const struct steps *steps, double length_ns, double mad_ns)
{
    return MAD_TO_Z * (length_ns - steps->median_ns) / mad_ns;
}

/* Used steps of the reference host that are far longer than the others. */
static void mark_slow(struct steps *steps, double mad_ns)
{
    for (size_t i = 0; i < steps->list.count; i++) {
        struct step *step = &steps->list.items[i];
        double       ns = (double)length_of(step);
        bool         stands_out =
            step->is_used && step->host == steps->host && modified_z(steps, ns, mad_ns) > OUTLIER_Z;

        step->is_outlier = stands_out && steps->used_count >= VARIANCE_STEPS;
        step->is_slow =
            stands_out && steps->used_count > 2 && ns > UNEVEN_FACTOR * steps->median_ns;
        steps->slow_count += step->is_slow;
    }
}

static bool set_distribution(struct study *study, double *lengths, double *sorted, size_t count)
{
    struct steps *steps = &study->steps;
    struct facts *facts = &study->facts;
    size_t        slow = 0;
    double        excess_ns = 0, mad_ns;

    for (size_t i = 0; i < count; i++)
        sorted[i] = lengths[i];
    steps->median_ns = sample_median(sorted, count);
    if (!facts_set(facts, &produces[FACT_P90], sample_quantile(sorted, count, 0.90)) ||
        !facts_set(facts, &produces[FACT_P99], sample_quantile(sorted, count, 0.99)))
        return false;
    steps->min_ns = sorted[0];
    steps->max_ns = sorted[count - 1];
    steps->mean_ns = sample_mean(lengths, count);
    steps->cov = steps->mean_ns > 0 ? sample_deviation(lengths, count) / steps->mean_ns : 0;
    steps->is_uneven = steps->mean_ns > UNEVEN_FACTOR * steps->median_ns;
    mad_ns = fmax(sample_mad(sorted, count), 0.001 * steps->median_ns);
    mark_slow(steps, mad_ns);
    if (count >= VARIANCE_STEPS) {
        for (size_t i = 0; i < count; i++)
            if (modified_z(steps, lengths[i], mad_ns) > OUTLIER_Z)
                slow++, excess_ns += lengths[i] - steps->median_ns;
        if (!facts_set(facts, &produces[FACT_SLOW_COUNT], (double)slow) ||
            !facts_set(facts, &produces[FACT_SLOW_EXCESS], excess_ns / (double)count))
            return false;
    }
    if (count >= DRIFT_STEPS && steps->median_ns > 0 &&
        !facts_set(facts, &produces[FACT_DRIFT],
                   sample_slope(lengths, count) * (double)(count - 1) / steps->median_ns))
        return false;
    return facts_set(facts, &produces[FACT_MEDIAN], steps->median_ns) &&
           facts_set(facts, &produces[FACT_MEAN], steps->mean_ns) &&
           facts_set(facts, &produces[FACT_NS], steps_ns(steps)) &&
           facts_set(facts, &produces[FACT_IS_UNEVEN], steps->is_uneven) &&
           facts_set(facts, &produces[FACT_MIN], steps->min_ns) &&
           facts_set(facts, &produces[FACT_MAX], steps->max_ns) &&
           facts_set(facts, &produces[FACT_COV], steps->cov);
}

static bool fill_table(struct study *study)
{
    struct table *table = facts_table(&study->facts, &tables[0]);

    for (size_t i = 0; table && i < study->steps.list.count; i++) {
        const struct step *step = &study->steps.list.items[i];
        size_t             row = table_add(table, study->arena);

        if (row == SIZE_MAX)
            return false;
        table->columns[0][row] = (double)step->number;
        if (step->host < study->profile->hosts.count)
            table->columns[1][row] = study->profile->hosts.items[step->host].name;
        table->columns[2][row] = (double)step->start_ns;
        table->columns[3][row] = (double)length_of(step);
        table->columns[4][row] = (double)(step->marker_end_ns - step->start_ns);
        table->columns[5][row] = step->is_used;
        if (step->left_out)
            table->columns[6][row] = facts_name(&study->facts, str_from(step->left_out));
        if (step->host < study->profile->hosts.count &&
            study->profile->hosts.items[step->host].rank >= 0)
            table->columns[7][row] = study->profile->hosts.items[step->host].rank;
    }
    return table != NULL;
}

/* Median time from a marker's end to the next step on the reference host. */
static bool set_between(struct study *study, double *gaps)
{
    size_t count = 0;

    for (size_t i = 0; i < study->steps.list.count; i++) {
        const struct step *step = &study->steps.list.items[i];

        if (step->host == study->steps.host && step->is_used)
            gaps[count++] = (double)(step->end_ns - step->marker_end_ns);
    }
    return study->steps.source != STEPS_MARKER || count == 0 ||
           facts_set(&study->facts, &produces[FACT_BETWEEN], sample_median(gaps, count));
}

static const char *why_none(const struct steps *steps)
{
    if (steps->source == STEPS_WHOLE_TRACE || steps->list.count == 1)
        for (size_t i = 0; i < steps->list.count; i++)
            if (steps->list.items[i].left_out)
                return steps->list.items[i].left_out;
    return "no step counts: each one was left out or took no time";
}

static bool set_facts(struct study *study, struct arena *scratch)
{
    struct steps *steps = &study->steps;
    struct facts *facts = &study->facts;
    double       *lengths = arena_new_array(scratch, double, steps->list.count + 1);
    double       *sorted = arena_new_array(scratch, double, steps->list.count + 1);

    if (!lengths || !sorted)
        return false;
    leave_out(study, lengths);
    if (!choose_host(study, scratch, lengths))
        return false;
    if (!step_pace_leave_out(study, scratch))
        return false;
    steps->used_count = (uint32_t)used_lengths(steps, steps->host, lengths);
    if (!steps_few_marked(study, scratch))
        return false;
    for (size_t i = 0; i < steps->list.count; i++)
        steps->total_count += steps->list.items[i].host == steps->host;
    if (!facts_set_text(facts, &produces[FACT_SOURCE], str_from(source_names[steps->source])) ||
        !facts_set(facts, &produces[FACT_COUNT], steps->total_count) ||
        !facts_set(facts, &produces[FACT_USED], steps->used_count) || !fill_table(study))
        return false;
    if (steps->marker_name &&
        !facts_set_text(facts, &produces[FACT_MARKER_NAME], str_from(steps->marker_name)))
        return false;
    if (steps->meaning.len && !facts_set_text(facts, &produces[FACT_MEANING], steps->meaning))
        return false;
    if (steps->rounds && !facts_set(facts, &produces[FACT_ROUNDS], steps->rounds))
        return false;
    double first_ns = warm_up_ns(steps);

    if (first_ns > 0 && !facts_set(facts, &produces[FACT_WARM_UP], first_ns))
        return false;
    if (steps->used_count == 0)
        return facts_absent(facts, "step.", "at least one whole step", "%s", why_none(steps));
    return set_distribution(study, lengths, sorted, steps->used_count) &&
           (steps->pause_ns <= 0 || facts_set(facts, &produces[FACT_PAUSE], steps->pause_ns)) &&
           set_between(study, sorted);
}

static bool run(struct study *study, struct err *err)
{
    struct arena scratch = { .budget_bytes = study->arena->budget_bytes };
    bool         ok = steps_find(study, &scratch) && set_facts(study, &scratch);

    arena_free(&scratch);
    return ok || err_set(err, ERR_LIMIT, "the steps do not fit the memory budget");
}

const struct analysis analysis_steps = {
    .name = "steps",
    .summary = "step windows, their length and variation",
    .produces = produces,
    .produces_count = ARRAY_COUNT(produces),
    .tables = tables,
    .table_count = ARRAY_COUNT(tables),
    .run = run,
};
