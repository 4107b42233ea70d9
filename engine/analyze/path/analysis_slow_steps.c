/*
 * slow_steps: what the few steps that take far longer than the others do that the others do not.
 * The events of the leading thread that begin in a step are added up by activity, for each slow
 * step and on average for the others. What holds half and more of a slow step's excess stands for
 * it: the outermost of those that the others do not have, else the innermost; where no event has
 * it, the pause in which nothing was recorded. cost  O(events of the leading thread in at most 116
 * steps)
 */
#include "analyze/analysis.h"
#include "analyze/emit.h"
#include "analyze/path/work.h"

enum {
    MOST_SLOW = 16,   /* rows of the table */
    MOST_OTHERS = 100 /* other steps that are looked at */
};
static const double EXPLAINS = 0.5; /* of the excess, from which something stands for it */
static const double ELSEWHERE =
    0.05; /* of its time, up to which the others are said not to have it */

enum { C_NUMBER, C_NS, C_EXCESS, C_NAME, C_KIND, C_FILE, C_LINE, C_EXTRA, C_USUAL, C_ONLY };
static const struct column_spec slow_columns[] = {
    [C_NUMBER] = { "number", UNIT_COUNT, "step number as recorded" },
    [C_NS] = { "ns", UNIT_NS, "its length" },
    [C_EXCESS] = { "excess_ns", UNIT_NS, "above the median step" },
    [C_NAME] = { "name", UNIT_NAME,
                 "what the leading thread does for most of that; of a pause, what it did before" },
    [C_KIND] = { "kind", UNIT_NAME, "what that is; pause: no event was recorded" },
    [C_FILE] = { "file", UNIT_NAME, "source file of the program's own line" },
    [C_LINE] = { "line", UNIT_COUNT, "source line" },
    [C_EXTRA] = { "extra_ns", UNIT_NS, "its time beyond that in the others" },
    [C_USUAL] = { "usual_ns", UNIT_NS, "its time in the others, on average" },
    [C_ONLY] = { "is_only", UNIT_BOOL, "the others hardly have it" },
};
static const struct table_spec tables[] = {
    { "slow_steps", "steps that take far longer than the others, and what they do then",
      slow_columns, ARRAY_COUNT(slow_columns) },
};

struct did { /* what the leading thread did in a step, by activity */
    double   ns;
    int64_t  until_ns; /* end of its last outermost event, cut at the step's end */
    uint32_t event;    /* the first one */
};
struct in_step {
    struct did *did;
    double      pause_ns, longest_pause_ns;
    uint32_t    before_pause; /* the event in front of the longest pause, or NO_ID */
};

static size_t activity_count(const struct study *study)
{
    return study->profile->activities.count;
}

/* The first event of the timeline that begins at or after a time. */
static uint32_t first_from(const struct profile *profile, const struct timeline *line,
                           int64_t time_ns)
{
    uint32_t low = line->first_event, high = line->first_event + line->event_count;

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;

        if (event_start_ns(profile, middle) < time_ns)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static void add_event(struct in_step *in, const struct study *study, uint32_t event, int64_t end_ns)
{
    struct did *did = &in->did[event_activity_id(study->profile, event)];
    int64_t     start_ns = event_start_ns(study->profile, event);

    if (did->ns > 0 && start_ns < did->until_ns)
        return; /* called by itself */
    if (did->ns <= 0)
        did->event = event;
    did->ns += (double)(end_ns - start_ns);
    did->until_ns = end_ns;
}

/* Adds up the events that begin in the step; a mark's own is no work. */
static void add_events(struct in_step *in, const struct study *study, const struct step *step)
{
    const struct profile  *profile = study->profile;
    const struct timeline *line = &profile->timelines.items[study->path.leader];
    uint32_t               end = line->first_event + line->event_count;

    for (uint32_t event = first_from(profile, line, step->start_ns); event < end; event++) {
        int64_t start_ns = event_start_ns(profile, event), end_ns = event_end_ns(profile, event);

        if (start_ns >= step->end_ns)
            break;
        if (end_ns > step->end_ns)
            end_ns = step->end_ns;
        if (end_ns > start_ns && event_activity(profile, event)->kind != ACTIVITY_STEP)
            add_event(in, study, event, end_ns);
    }
}

/* Adds up what the step's path has of the leading thread outside of any event. */
static void add_pauses(struct in_step *in, const struct study *study, const struct step *step)
{
    const struct path *path = &study->path;
    uint32_t           last = NO_ID;

    for (size_t i = path_segment_behind(path, step->start_ns); i < path->segments.count; i++) {
        const struct segment *segment = &path->segments.items[i];
        double                ns = (double)(segment->end_ns - segment->start_ns);

        if (segment->start_ns >= step->end_ns)
            break;
        if (!segment->is_python) {
            if (segment->frame != NO_ID &&
                path->frames.items[segment->frame].timeline == path->leader)
                last = path->frames.items[segment->frame].event;
            continue;
        }
        in->pause_ns += ns;
        if (ns > in->longest_pause_ns)
            in->longest_pause_ns = ns, in->before_pause = last;
    }
}

static void add_step(struct in_step *in, const struct study *study, const struct step *step)
{
    add_events(in, study, step);
    add_pauses(in, study, step);
}

static void forget(struct in_step *in, size_t count)
{
    for (size_t i = 0; i < count; i++)
        in->did[i] = (struct did) { 0 };
    in->pause_ns = in->longest_pause_ns = 0;
    in->before_pause = NO_ID;
}

static bool is_looked_at(const struct study *study, const struct step *step, bool is_slow)
{
    return step->is_used && step->is_sampled && step->host == study->steps.host &&
           step->is_outlier == is_slow;
}

/* The others' mean, in `usual`; false: there are none. */
static bool add_others(struct in_step *usual, const struct study *study)
{
    double count = 0;

    for (size_t i = 0; i < study->steps.list.count && count < MOST_OTHERS; i++) {
        if (!is_looked_at(study, &study->steps.list.items[i], false))
            continue;
        add_step(usual, study, &study->steps.list.items[i]);
        count++;
    }
    for (size_t a = 0; count > 0 && a < activity_count(study); a++)
        usual->did[a].ns /= count;
    if (count > 0)
        usual->pause_ns /= count;
    return count > 0;
}

/* What stands for the excess: an activity, or NO_ID. Of two of equal length, the one around the
 * other. */
static uint32_t most_of(const struct in_step *now, const struct in_step *usual, size_t count,
                        double excess_ns, bool only)
{
    uint32_t best = NO_ID;

    for (uint32_t a = 0; a < count; a++) {
        const struct did *did = &now->did[a];
        double            usual_ns = usual->did[a].ns;

        if (did->ns - usual_ns < EXPLAINS * excess_ns || (only && usual_ns > ELSEWHERE * did->ns))
            continue;
        if (best == NO_ID || (only ? did->ns > now->did[best].ns : did->ns < now->did[best].ns) ||
            (did->ns == now->did[best].ns && did->event < now->did[best].event))
            best = a;
    }
    return best;
}

/* The program's own line at or around the event, or NO_ID. */
static uint32_t own_source(const struct study *study, const bool *is_user, uint32_t event)
{
    for (; event != NO_ID; event = study->around[event]) {
        uint32_t source = event_activity(study->profile, event)->source;

        if (source < study->profile->sources.count && is_user[source])
            return source;
    }
    return NO_ID;
}

static bool add_row(struct study *study, struct table *table, const struct step *step,
                    const struct in_step *now, const struct in_step *usual, const bool *is_user)
{
    const struct profile *profile = study->profile;
    double                ns = (double)(step->end_ns - step->start_ns);
    double                excess_ns = ns - study->steps.median_ns;
    size_t                count = activity_count(study), row = table_add(table, study->arena);
    uint32_t              best = most_of(now, usual, count, excess_ns, true), event, source;
    bool is_pause, is_paused = now->pause_ns - usual->pause_ns >= EXPLAINS * excess_ns;

    if (row == SIZE_MAX)
        return false;
    emit_number(table, C_NUMBER, row, (double)step->number);
    emit_number(table, C_NS, row, ns);
    emit_number(table, C_EXCESS, row, excess_ns);
    if (best == NO_ID && !is_paused)
        best = most_of(now, usual, count, excess_ns, false);
    is_pause = best == NO_ID && is_paused;
    event = best != NO_ID ? now->did[best].event : is_pause ? now->before_pause : NO_ID;
    if (best == NO_ID && !is_pause)
        return true;
    if (event != NO_ID)
        emit_name(table, C_NAME, row, event_activity(profile, event)->name);
    emit_name(table, C_KIND, row,
              facts_name(&study->facts, is_pause ? STR("pause")
                                                 : str_from(activity_kind_name(
                                                       event_activity(profile, event)->kind))));
    source = event == NO_ID ? NO_ID : own_source(study, is_user, event);
    if (source != NO_ID) {
        emit_name(table, C_FILE, row, profile->sources.items[source].file);
        emit_number(table, C_LINE, row, profile->sources.items[source].line);
    }
    const double all_ns = is_pause ? now->pause_ns : now->did[best].ns;
    const double usual_ns = is_pause ? usual->pause_ns : usual->did[best].ns;

    emit_number(table, C_EXTRA, row, all_ns - usual_ns);
    emit_number(table, C_USUAL, row, usual_ns);
    emit_number(table, C_ONLY, row, usual_ns <= ELSEWHERE * all_ns);
    return true;
}

static bool fill(struct study *study, struct arena *scratch)
{
    size_t         count = activity_count(study), rows = 0;
    struct in_step usual = { .before_pause = NO_ID }, now = { .before_pause = NO_ID };
    struct table  *table = facts_table(&study->facts, &tables[0]);
    const bool    *is_user = profile_user_sources(study->profile, true, scratch);

    usual.did = arena_new_array(scratch, struct did, count + 1);
    now.did = arena_new_array(scratch, struct did, count + 1);
    if (!table || !is_user || !usual.did || !now.did)
        return false;
    if (!add_others(&usual, study))
        return true;
    for (size_t i = 0; i < study->steps.list.count && rows < MOST_SLOW; i++) {
        const struct step *step = &study->steps.list.items[i];

        if (!is_looked_at(study, step, true))
            continue;
        forget(&now, count);
        add_step(&now, study, step);
        if (!add_row(study, table, step, &now, &usual, is_user))
            return false;
        rows++;
    }
    return true;
}

static bool has_slow(const struct study *study)
{
    for (size_t i = 0; i < study->steps.list.count; i++)
        if (is_looked_at(study, &study->steps.list.items[i], true))
            return true;
    return false;
}

static bool run(struct study *study, struct err *err)
{
    struct arena scratch = { .budget_bytes = study->arena->budget_bytes };
    bool         ok;

    if (!study->path.segments.count || study->path.leader == NO_ID || !has_slow(study))
        return facts_absent(&study->facts, "slow_steps", NULL,
                            "no step takes far longer than the others");
    ok = fill(study, &scratch);
    arena_free(&scratch);
    return ok || emit_limit("slow steps", err);
}

const struct analysis analysis_slow_steps = {
    .name = "slow_steps",
    .summary = "what steps that take far longer than the others do then",
    .tables = tables,
    .table_count = ARRAY_COUNT(tables),
    .run = run,
};
