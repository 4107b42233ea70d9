#include "ranks/job_whatif.h"

#include "analyze/schedule/whatif_select.h"
#include "base/pattern.h"
#include "base/sample.h"
#include "base/sort.h"
#include "ranks/job_replay.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define BIT(part) (1U << PART_##part)

/* Ranks that are looked at one by one, also where a replay takes long. */
enum { MOST_LATE = 8, FEW_LATE = 2, MANY_PARTS = 1000000 };
static const double LEVEL_SHARE = 0.005; /* ranks that cost less of a step are level */

struct editor {
    struct whatif      *whatif;
    const struct job   *job;
    const struct study *study;
    struct job_replay   replay;
    struct job_changes  changes;
    double (*usual_ns)[PART_COUNT]; /* by rank: a step */
    double  *values;                /* room for a number a rank */
    double   scale;                 /* of all steps to one */
    uint32_t first;                 /* row of the rank that stands for the job */
    double   selected_count, selected_ns;
};

static void reset(struct editor *editor)
{
    for (size_t i = 0; i < editor->job->ranks.count; i++)
        for (int part = 0; part < PART_COUNT; part++)
            editor->changes.parts[i][part] = 1;
    for (size_t i = 0; i < editor->job->groups.count; i++)
        editor->changes.groups[i] = 1;
}

/* With the changes so far, what a rank does by itself in a step. */
static double own_ns(const struct editor *editor, uint32_t rank)
{
    double sum_ns = 0;

    for (int part = 0; part < PART_COUNT; part++)
        if (part != PART_COMMUNICATION)
            sum_ns += editor->usual_ns[rank][part] * (double)editor->changes.parts[rank][part];
    return sum_ns;
}

static void scale_rank(struct editor *editor, uint32_t rank, double factor)
{
    editor->selected_count++;
    editor->selected_ns += own_ns(editor, rank);
    for (int part = 0; part < PART_COUNT; part++)
        editor->changes.parts[rank][part] *= (float)factor;
}

static bool lacks_events(const struct whatif_edit *edit, struct err *err)
{
    err_set(err, ERR_USAGE, "%s: summaries of ranks hold no events to change", edit->text);
    return err_advise(err, "give the recording of the rank that you want to see");
}

/* What of a step's parts a target is; 0: they do not tell it from others. */
static unsigned parts_of(const struct editor *editor, int target)
{
    static const unsigned parts[TARGET_COUNT] = {
        [TARGET_KERNEL] = BIT(COMPUTE),     [TARGET_HOST] = BIT(HOST),
        [TARGET_COPY] = BIT(COPY),          [TARGET_SYNC] = BIT(IDLE_SYNC),
        [TARGET_INPUT] = BIT(INPUT),        [TARGET_LAUNCH] = BIT(IDLE_LAUNCH),
        [TARGET_COMM] = BIT(COMMUNICATION),
    };

    if (target == TARGET_OP && editor->job->first.device.len == 0)
        return BIT(COMPUTE);
    return target < 0 ? 0 : parts[target];
}

static bool is_edited(const struct editor *editor, uint32_t rank)
{
    return editor->whatif->on_rank < 0 ||
           editor->job->ranks.items[rank].rank == editor->whatif->on_rank;
}

/* Of a part of a rank's steps, what names that fit hold; NULL fits all. */
static double share_of(struct editor *editor, uint32_t rank, int part,
                       const struct pattern *pattern)
{
    const struct job_rank *row = &editor->job->ranks.items[rank];
    double                 ns = 0, usual_ns = editor->usual_ns[rank][part];

    for (uint32_t i = 0; i < row->family_count; i++) {
        const struct job_family *family = &row->families[i];

        if (family->part != (uint32_t)part ||
            (pattern && pattern_matches(pattern, intern_str(&editor->job->names, family->name)) !=
                            PATTERN_YES))
            continue;
        ns += family->ns;
        editor->selected_count += family->count;
    }
    ns = pattern ? fmin(ns, usual_ns) : usual_ns;
    editor->selected_ns += ns;
    return usual_ns > 0 ? ns / usual_ns : 0;
}

static void scale_parts(struct editor *editor, unsigned parts, const struct pattern *pattern,
                        double factor)
{
    for (uint32_t rank = 0; rank < editor->job->ranks.count; rank++)
        for (int part = 0; part < PART_COUNT; part++)
            if (parts >> part & 1 && is_edited(editor, rank))
                editor->changes.parts[rank][part] *=
                    (float)(1 - share_of(editor, rank, part, pattern) * (1 - factor));
}

static bool is_meant(const struct job *job, uint32_t group, const struct pattern *pattern)
{
    const struct job_group *row = &job->groups.items[group];

    return !pattern ||
           pattern_matches(pattern, intern_str(&job->names, row->type)) == PATTERN_YES ||
           pattern_matches(pattern, intern_str(&job->names, row->name)) == PATTERN_YES;
}

static void scale_groups(struct editor *editor, const struct pattern *pattern, double factor)
{
    const struct job *job = editor->job;
    double            per_step = (double)job->stride / fmax(1, editor->whatif->step_count);

    for (uint32_t group = 0; group < job->groups.count; group++)
        if (is_meant(job, group, pattern))
            editor->changes.groups[group] *= (float)factor;
    for (size_t i = 0; i < job->parts.count; i++) {
        const struct job_part *part = &job->parts.items[i];

        if (!is_meant(job, part->group, pattern))
            continue;
        editor->selected_count += per_step;
        editor->selected_ns += (double)(part->left_ns - part->come_ns) * per_step;
    }
}

static bool scale_target(struct editor *editor, const struct whatif_edit *edit, double factor,
                         struct err *err)
{
    unsigned        parts = parts_of(editor, edit->target);
    struct pattern *pattern = NULL;
    bool            is_done = true;

    if (!parts)
        return lacks_events(edit, err);
    if (parts == BIT(COMMUNICATION) && editor->whatif->on_rank >= 0)
        return err_set(err, ERR_USAGE, "%s: collectives are of all ranks", edit->text);
    if (edit->pattern) {
        pattern = pattern_new(str_from(edit->pattern), PATTERN_SEARCH, false, err);
        if (!pattern)
            return err_in(err, "%s", edit->text);
    }
    if (parts == BIT(COMMUNICATION))
        scale_groups(editor, pattern, factor);
    else
        scale_parts(editor, parts, pattern, factor);
    if (pattern && !pattern_settled(pattern, err))
        is_done = false;
    else if (pattern && editor->selected_count <= 0) {
        err_set(err, ERR_USAGE, "%s: selects nothing", edit->text);
        is_done = err_advise(err, "summaries hold the names that took most of the steps");
    }
    pattern_free(pattern);
    return is_done;
}

/* What the ranks but one do by themselves in a step, the one in the middle; of two the faster one.
 */
static double median_ns(struct editor *editor, uint32_t without)
{
    size_t count = 0;

    for (uint32_t rank = 0; rank < editor->job->ranks.count; rank++)
        if (rank != without && editor->job->ranks.items[rank].step_count)
            editor->values[count++] = own_ns(editor, rank);
    return count ? sample_kth(editor->values, count, (count - 1) / 2) : 0;
}

static bool apply_rank(struct editor *editor, const struct whatif_edit *edit, struct err *err)
{
    uint32_t rank = 0;

    while (rank < editor->job->ranks.count &&
           (editor->job->ranks.items[rank].rank != edit->rank || own_ns(editor, rank) <= 0))
        rank++;
    if (rank == editor->job->ranks.count) {
        err_set(err, ERR_USAGE, "%s: no steps of rank %d in the summaries", edit->text, edit->rank);
        return err_advise(err, "tfprof info lists the ranks");
    }
    if (editor->job->ranks.count < 2)
        return err_set(err, ERR_USAGE, "%s: the summaries hold one rank alone", edit->text);
    scale_rank(editor, rank, median_ns(editor, rank) / own_ns(editor, rank));
    return true;
}

/* Ranks, or one, or all but one, no slower than the median. */
static void level(struct editor *editor, double pace_ns, uint32_t chosen, bool is_alone)
{
    for (uint32_t rank = 0; rank < editor->job->ranks.count; rank++)
        if ((rank == chosen) == is_alone && own_ns(editor, rank) > pace_ns)
            scale_rank(editor, rank, pace_ns / own_ns(editor, rank));
}

static bool apply(struct editor *editor, const struct whatif_edit *edit, struct err *err)
{
    editor->selected_count = editor->selected_ns = 0;
    switch (edit->kind) {
    case WHATIF_SCALE:
        return scale_target(editor, edit, edit->factor, err);
    case WHATIF_DROP:
    case WHATIF_NO_INPUT_WAIT:
        return scale_target(editor, edit, 0, err);
    case WHATIF_PARALLEL:
    case WHATIF_NETWORK:
        return scale_target(editor, edit, 1 / edit->factor, err);
    case WHATIF_FREE_HOST:
        scale_parts(editor, BIT(HOST) | BIT(COMPILE) | BIT(OUTPUT) | BIT(IDLE_SYNC), NULL, 0);
        return true;
    case WHATIF_RANK:
        return apply_rank(editor, edit, err);
    case WHATIF_LEVEL:
        level(editor, median_ns(editor, NO_ID), NO_ID, false);
        return true;
    case WHATIF_NO_DELAYS:
        if (editor->whatif->is_efficiency) /* no piece of work is known, nor its delay */
            return true;
        return lacks_events(edit, err);
    default:
        return lacks_events(edit, err);
    }
}

/* The composition of the rank that stands for the job, with its parts as they are now; collectives
 * take the rest. */
static void set_parts(const struct editor *editor, struct whatif_result *result)
{
    double sum_ns = 0, comm_ns = 0;

    for (int part = 0; part < PART_COUNT; part++) {
        if (!facts_get(&editor->study->facts, part_ns_fact((enum part)part),
                       &result->part_ns[part]))
            return;
        if (part == PART_COMMUNICATION)
            comm_ns = result->part_ns[part];
        else
            result->part_ns[part] *= (double)editor->changes.parts[editor->first][part];
        sum_ns += part == PART_COMMUNICATION ? 0 : result->part_ns[part];
    }
    if (comm_ns > 0 && result->step_ns > sum_ns)
        result->part_ns[PART_COMMUNICATION] = result->step_ns - sum_ns;
    else
        for (int part = 0; part < PART_COUNT; part++)
            result->part_ns[part] *=
                part == PART_COMMUNICATION || sum_ns <= 0 ? 0 : result->step_ns / sum_ns;
    result->bottleneck = (enum part)0;
    for (int part = 0; part < PART_COUNT; part++)
        if (result->part_ns[part] > result->part_ns[result->bottleneck])
            result->bottleneck = (enum part)part;
}

static void replay(struct editor *editor, struct whatif_result *result)
{
    result->step_ns = job_replay_run(&editor->replay, &editor->changes) * editor->scale;
    result->saved_ns = editor->whatif->now.step_ns - result->step_ns;
    result->selected_count = editor->selected_count;
    result->selected_ns = editor->selected_ns;
    if (!editor->whatif->is_bare)
        set_parts(editor, result);
}

static bool run_edits(struct editor *editor, struct err *err)
{
    struct whatif *whatif = editor->whatif;

    for (size_t i = 0; i < whatif->edits.count; i++) {
        if (!whatif->is_efficiency)
            reset(editor);
        if (!apply(editor, &whatif->edits.items[i], err))
            return false;
        if (whatif->is_efficiency && editor->selected_ns <= 0) {
            whatif->each[i] = i ? whatif->each[i - 1] : whatif->now;
            whatif->each[i].selected_count = whatif->each[i].selected_ns = 0;
        } else {
            replay(editor, &whatif->each[i]);
        }
    }
    if (whatif->is_efficiency) {
        whatif->together = whatif->each[whatif->edits.count - 1];
        return true;
    }
    reset(editor);
    for (size_t i = 0; i < whatif->edits.count; i++)
        if (!apply(editor, &whatif->edits.items[i], err))
            return false;
    replay(editor, &whatif->together);
    return true;
}

static int by_contribution(const void *left, const void *right)
{
    const struct rank_delay *a = left, *b = right;

    return IN_ORDER(COMPARE(b->contribution, a->contribution), COMPARE(a->host, b->host));
}

static double levelled_ns(struct editor *editor, double pace_ns, uint32_t chosen, bool is_alone)
{
    reset(editor);
    level(editor, pace_ns, chosen, is_alone);
    return job_replay_run(&editor->replay, &editor->changes) * editor->scale;
}

/* Which ranks hold the others up: those whose own work takes longest. */
static bool find_ranks(struct editor *editor, struct arena *arena)
{
    struct whatif *whatif = editor->whatif;
    size_t         most = editor->job->parts.count > MANY_PARTS ? FEW_LATE : MOST_LATE;
    double         pace_ns, ideal_ns, least_ns;

    reset(editor);
    pace_ns = median_ns(editor, NO_ID);
    ideal_ns = levelled_ns(editor, pace_ns, NO_ID, false);
    if (editor->job->ranks.count < 2 || ideal_ns <= 0 ||
        whatif->now.step_ns < ideal_ns * (1 + LEVEL_SHARE))
        return true;
    whatif->imbalance = whatif->now.step_ns / ideal_ns;
    reset(editor);
    for (uint32_t rank = 0; rank < editor->job->ranks.count; rank++)
        editor->values[rank] = own_ns(editor, rank);
    least_ns =
        editor->job->ranks.count <= most
            ? 0
            : sample_kth(editor->values, editor->job->ranks.count, editor->job->ranks.count - most);
    for (uint32_t rank = 0; rank < editor->job->ranks.count; rank++) {
        struct rank_delay delay = { .host = rank,
                                    .rank = (int32_t)editor->job->ranks.items[rank].rank };

        if (own_ns(editor, rank) < least_ns || own_ns(editor, rank) <= 0 ||
            whatif->ranks.count >= most)
            continue;
        delay.contribution = (whatif->now.step_ns - levelled_ns(editor, pace_ns, rank, true)) /
                             (whatif->now.step_ns - ideal_ns);
        delay.slowdown = levelled_ns(editor, pace_ns, rank, false) / ideal_ns;
        reset(editor);
        if (!vec_push(&whatif->ranks, arena, delay))
            return false;
    }
    if (whatif->ranks.count)
        qsort(whatif->ranks.items, whatif->ranks.count, sizeof *whatif->ranks.items,
              by_contribution);
    return true;
}

static void find_usual(struct editor *editor)
{
    const struct job *job = editor->job;

    for (uint32_t i = 0; i < job->ranks.count; i++) {
        const struct job_rank *rank = &job->ranks.items[i];

        if (rank->rank == job->first.rank && rank->host != NO_ID &&
            str_equal(intern_str(&job->names, rank->host), job->first.host))
            editor->first = i;
        for (uint32_t row = 0; row < rank->step_count; row++)
            for (int part = 0; part < PART_COUNT; part++)
                editor->usual_ns[i][part] += (double)rank->parts[row][part] / rank->step_count;
    }
    editor->whatif->step_count = job->ranks.items[editor->first].step_count;
}

static bool make(struct editor *editor, struct arena *arena, struct arena *scratch)
{
    size_t ranks = editor->job->ranks.count + 1;

    editor->whatif->each =
        arena_new_array(arena, struct whatif_result, editor->whatif->edits.count + 1);
    editor->changes.parts = arena_alloc_array(scratch, ranks, sizeof *editor->changes.parts);
    editor->changes.groups = arena_new_array(scratch, float, editor->job->groups.count + 1);
    editor->usual_ns = arena_alloc_array(scratch, ranks, sizeof *editor->usual_ns);
    editor->values = arena_new_array(scratch, double, ranks);
    return editor->whatif->each && editor->changes.parts && editor->changes.groups &&
           editor->usual_ns && editor->values &&
           job_replay_make(&editor->replay, editor->job, scratch);
}

static bool run(struct editor *editor, struct arena *arena, struct err *err)
{
    struct whatif *whatif = editor->whatif;
    double         now_ns;

    find_usual(editor);
    reset(editor);
    now_ns = job_replay_run(&editor->replay, NULL);
    if (now_ns <= 0 || whatif->step_count == 0)
        return err_set(err, ERR_INCONCLUSIVE, "no step whose parts the summaries hold");
    whatif->is_of_summaries = true;
    whatif->error = fabs(now_ns / editor->replay.recorded_ns - 1);
    whatif->now.step_ns = steps_ns(&editor->study->steps);
    editor->scale = whatif->now.step_ns / now_ns;
    if (!whatif->is_bare)
        set_parts(editor, &whatif->now);
    return run_edits(editor, err) &&
           (!whatif->is_efficiency || find_ranks(editor, arena) ||
            err_set(err, ERR_LIMIT, "the ranks do not fit the memory limit"));
}

bool job_whatif(struct whatif *whatif, const struct job *job, const struct study *study,
                struct arena *arena, struct err *err)
{
    struct arena  scratch = { .budget_bytes = arena->budget_bytes };
    struct editor editor = { .whatif = whatif, .job = job, .study = study };
    bool          ok = make(&editor, arena, &scratch)
                           ? run(&editor, arena, err)
                           : err_set(err, ERR_LIMIT, "the replay does not fit the memory limit");

    arena_free(&scratch);
    return ok;
}
