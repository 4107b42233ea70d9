/*
 * slow_steps: what the few steps that take far longer than the others do that the others do not.
 * The events of the leading thread that begin in a step are added up by activity, for each slow
 * step and on average for the others. What holds half and more of a slow step's excess stands for
 * it: the outermost event that the others do not have, else pauses that the step waits for, what
 * other threads do that it waits for, or the innermost event that takes longer.
 *   cost  O(events of the leading thread and segments of the path in at most 116 steps)
 */
#include "analyze/analysis.h"
#include "analyze/emit.h"
#include "analyze/path/work.h"
#include "analyze/step/own_lines.h"

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
                 "what takes most of that, on the leading thread or awaited; of a pause, what was "
                 "before" },
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
    struct did *did;     /* of the leading thread */
    struct did *awaited; /* of other threads, as far as the step waits for it */
    double      pause_ns, longest_pause_ns;
    uint32_t    before_pause; /* the event in front of the longest pause, or NO_ID */
};

static size_t activity_count(const struct study *study)
{
    return study->profile->activities.count;
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

static bool is_work(enum activity_kind kind)
{
    return kind != ACTIVITY_STEP && activity_kind_class(kind) != CLASS_WAIT;
}

/* Adds up the events that begin in the step. */
static void add_events(struct in_step *in, const struct study *study, const struct step *step)
{
    const struct profile  *profile = study->profile;
    const struct timeline *line = &profile->timelines.items[study->path.leader];
    uint32_t               end = line->first_event + line->event_count;

    for (uint32_t event = profile_first_event(profile, line, step->start_ns); event < end;
         event++) {
        int64_t start_ns = event_start_ns(profile, event), end_ns = event_end_ns(profile, event);

        if (start_ns >= step->end_ns)
            break;
        if (end_ns > step->end_ns)
            end_ns = step->end_ns;
        if (end_ns > start_ns && is_work(event_activity(profile, event)->kind))
            add_event(in, study, event, end_ns);
    }
}

static bool is_of_leader(const struct study *study, const struct frame *frame)
{
    enum activity_kind kind = event_activity(study->profile, frame->event)->kind;

    return frame->timeline == study->path.leader && activity_kind_class(kind) != CLASS_MARK;
}

/* What the leading thread did last before a segment, or NO_ID. */
static uint32_t last_before(const struct study *study, size_t row)
{
    enum { LOOK_BACK = 256 };
    const struct path *path = &study->path;

    for (size_t i = row; i > 0 && row - i < LOOK_BACK; i--) {
        uint32_t frame = path->segments.items[i - 1].frame;

        if (frame != NO_ID && is_of_leader(study, &path->frames.items[frame]))
            return path->frames.items[frame].event;
    }
    return NO_ID;
}

/* What the leading thread did last, given what it did before the segment. */
static uint32_t add_segment(struct in_step *in, const struct study *study,
                            const struct segment *segment, uint32_t last)
{
    const struct frame *frame = &study->path.frames.items[segment->frame];
    struct did         *awaited = &in->awaited[event_activity_id(study->profile, frame->event)];

    if (frame->timeline == study->path.leader)
        return is_of_leader(study, frame) ? frame->event : last;
    if (awaited->ns <= 0)
        awaited->event = frame->event;
    awaited->ns += (double)(segment->end_ns - segment->start_ns);
    return last;
}

/* Adds up what the step's path has of other threads, and of the leading one outside of any event.
 */
static void add_path(struct in_step *in, const struct study *study, const struct step *step)
{
    const struct path *path = &study->path;
    size_t             first = path_segment_behind(path, step->start_ns);
    uint32_t           last = last_before(study, first);

    for (size_t i = first; i < path->segments.count; i++) {
        const struct segment *segment = &path->segments.items[i];
        double                ns = (double)(segment->end_ns - segment->start_ns);

        if (segment->start_ns >= step->end_ns)
            break;
        if (!segment->is_python) {
            if (segment->frame != NO_ID)
                last = add_segment(in, study, segment, last);
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
    add_path(in, study, step);
}

static void forget(struct in_step *in, size_t count)
{
    for (size_t i = 0; i < count; i++)
        in->did[i] = in->awaited[i] = (struct did) { 0 };
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
        usual->did[a].ns /= count, usual->awaited[a].ns /= count;
    if (count > 0)
        usual->pause_ns /= count;
    return count > 0;
}

/* What stands for the excess: an activity, or NO_ID. Of two of equal length, the one around the
 * other. */
static uint32_t most_of(const struct did *now, const struct did *usual, size_t count,
                        double excess_ns, bool only)
{
    uint32_t best = NO_ID;

    for (uint32_t a = 0; a < count; a++) {
        const struct did *did = &now[a];
        double            usual_ns = usual[a].ns;

        if (did->ns - usual_ns < EXPLAINS * excess_ns || (only && usual_ns > ELSEWHERE * did->ns))
            continue;
        if (best == NO_ID || (only ? did->ns > now[best].ns : did->ns < now[best].ns) ||
            (did->ns == now[best].ns && did->event < now[best].event))
            best = a;
    }
    return best;
}

struct standing {   /* for a slow step's excess */
    uint32_t event; /* of a pause, the one in front; NO_ID: none */
    bool     is_pause, is_found;
    double   ns, usual_ns;
};

static struct standing standing_of(const struct did *now, const struct did *usual,
                                   uint32_t activity)
{
    return (struct standing) { .event = now[activity].event,
                               .is_found = true,
                               .ns = now[activity].ns,
                               .usual_ns = usual[activity].ns };
}

static struct standing what_stands(const struct in_step *now, const struct in_step *usual,
                                   size_t count, double excess_ns)
{
    uint32_t best = most_of(now->did, usual->did, count, excess_ns, true);

    if (best != NO_ID)
        return standing_of(now->did, usual->did, best);
    if (now->pause_ns - usual->pause_ns >= EXPLAINS * excess_ns)
        return (struct standing) { .event = now->before_pause,
                                   .is_pause = true,
                                   .is_found = true,
                                   .ns = now->pause_ns,
                                   .usual_ns = usual->pause_ns };
    best = most_of(now->awaited, usual->awaited, count, excess_ns, false);
    if (best != NO_ID)
        return standing_of(now->awaited, usual->awaited, best);
    best = most_of(now->did, usual->did, count, excess_ns, false);
    return best != NO_ID ? standing_of(now->did, usual->did, best) : (struct standing) { 0 };
}

static void set_standing(struct study *study, struct table *table, size_t row,
                         const struct standing *what, const bool *is_user)
{
    const struct profile *profile = study->profile;
    uint32_t              source = own_line(study, is_user, what->event);
    const char           *kind = "pause";

    if (!what->is_pause)
        kind = activity_kind_name(event_activity(profile, what->event)->kind);
    if (what->event != NO_ID)
        emit_name(table, C_NAME, row, event_activity(profile, what->event)->name);
    emit_name(table, C_KIND, row, facts_name(&study->facts, str_from(kind)));
    emit_source(profile, table, C_FILE, row, source);
    emit_number(table, C_EXTRA, row, what->ns - what->usual_ns);
    emit_number(table, C_USUAL, row, what->usual_ns);
    emit_number(table, C_ONLY, row, what->usual_ns <= ELSEWHERE * what->ns);
}

static bool add_row(struct study *study, struct table *table, const struct step *step,
                    const struct in_step *now, const struct in_step *usual, const bool *is_user)
{
    double          ns = (double)(step->end_ns - step->start_ns);
    double          excess_ns = ns - study->steps.median_ns;
    size_t          row = table_add(table, study->arena);
    struct standing what = what_stands(now, usual, activity_count(study), excess_ns);

    if (row == SIZE_MAX)
        return false;
    emit_number(table, C_NUMBER, row, (double)step->number);
    emit_number(table, C_NS, row, ns);
    emit_number(table, C_EXCESS, row, excess_ns);
    if (what.is_found)
        set_standing(study, table, row, &what, is_user);
    return true;
}

static bool fill(struct study *study, struct arena *scratch)
{
    size_t         count = activity_count(study), rows = 0;
    struct in_step usual = { .before_pause = NO_ID }, now = { .before_pause = NO_ID };
    struct table  *table = facts_table(&study->facts, &tables[0]);
    const bool    *is_user = profile_user_sources(study->profile, scratch);

    usual.did = arena_new_array(scratch, struct did, count + 1);
    usual.awaited = arena_new_array(scratch, struct did, count + 1);
    now.did = arena_new_array(scratch, struct did, count + 1);
    now.awaited = arena_new_array(scratch, struct did, count + 1);
    if (!table || !is_user || !usual.did || !usual.awaited || !now.did || !now.awaited)
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
