#include "ranks/job_replay.h"

#include "base/macros.h"
#include "base/sort.h"

#include <math.h>
#include <stdlib.h>

struct place { /* of a part among those of all ranks */
    int64_t  come_ns;
    uint32_t part;
};

static int compare_places(const void *a, const void *b)
{
    const struct place *left = a, *right = b;

    return IN_ORDER(COMPARE(left->come_ns, right->come_ns), COMPARE(left->part, right->part));
}

/* Row of the parts of a rank's step, or of the nearest one of which they are known; NO_ID: of none.
 */
static uint32_t nearest_row(const struct job_rank *rank, uint32_t step)
{
    uint32_t row = (uint32_t)LOWER_BOUND(rank->step_count, i, rank->step_rows[i] < step);

    return row < rank->step_count ? row : rank->step_count ? rank->step_count - 1 : NO_ID;
}

/* From the first rank's origin on, on its clock. */
static double start_of(const struct job *job, const struct job_rank *rank)
{
    return (double)(rank->step_starts[0] + rank->shift_ns - job->ranks.items[0].origin_ns);
}

static double whole_ns(const float parts[PART_COUNT])
{
    double sum_ns = 0;

    for (int part = 0; part < PART_COUNT; part++)
        sum_ns += (double)parts[part];
    return sum_ns;
}

static double end_of(const struct job *job, const struct job_rank *rank)
{
    uint32_t last = rank->step_count - 1;

    return (double)(rank->step_starts[last] + rank->shift_ns - job->ranks.items[0].origin_ns) +
           whole_ns(rank->parts[last]);
}

static void put(struct job_replay *replay, uint32_t row, uint32_t at)
{
    const struct job      *job = replay->job;
    const struct job_part *part = &job->parts.items[at];
    const struct job_rank *rank = &job->ranks.items[part->rank];
    struct arrival        *arrival = &replay->arrivals[row];
    uint32_t               before = replay->last[part->rank];

    *arrival = (struct arrival) { .length_ns = (float)(part->left_ns - part->come_ns),
                                  .before = before,
                                  .meeting = NO_ID,
                                  .rank = part->rank,
                                  .group = part->group,
                                  .row = nearest_row(rank, part->step) };
    replay->came_ns[row] = (double)(part->come_ns - job->ranks.items[0].origin_ns);
    if (before != NO_ID)
        arrival->gap_ns = (float)(replay->came_ns[row] - replay->came_ns[before]);
    else if (rank->step_count)
        arrival->gap_ns = (float)fmax(0, replay->came_ns[row] - start_of(job, rank));
    replay->last[part->rank] = replay->row_of[at] = row;
}

static bool put_all(struct job_replay *replay)
{
    const struct job *job = replay->job;
    struct arena      scratch = { .budget_bytes = job->arena->budget_bytes };
    struct place     *places = arena_new_array(&scratch, struct place, job->parts.count + 1);

    for (size_t i = 0; places && i < job->parts.count; i++)
        places[i] = (struct place) { job->parts.items[i].come_ns, (uint32_t)i };
    if (places && job->parts.count > 1)
        qsort(places, job->parts.count, sizeof *places, compare_places);
    for (size_t i = 0; i < job->ranks.count; i++)
        replay->last[i] = NO_ID;
    for (uint32_t i = 0; places && i < job->parts.count; i++)
        put(replay, i, places[i].part);
    arena_free(&scratch);
    return places != NULL;
}

static void join_meetings(struct job_replay *replay)
{
    const struct job *job = replay->job;

    for (uint32_t i = 0; i < job->meetings.count; i++) {
        const struct job_meeting *meeting = &job->meetings.items[i];
        int64_t                   latest_ns = INT64_MIN;

        for (uint32_t j = meeting->first; j < meeting->first + meeting->count; j++)
            latest_ns =
                job->parts.items[j].come_ns > latest_ns ? job->parts.items[j].come_ns : latest_ns;
        for (uint32_t j = meeting->first; j < meeting->first + meeting->count; j++) {
            struct arrival *arrival = &replay->arrivals[replay->row_of[j]];

            arrival->meeting = i;
            arrival->since_ns = (float)(job->parts.items[j].left_ns - latest_ns);
        }
    }
}

/* What steps waited for collectives, over what these took: the rest had something beside it. Of
 * both the mean of the steps of which it is known. */
static bool find_exposed(struct job_replay *replay)
{
    const struct job *job = replay->job;
    struct arena      scratch = { .budget_bytes = job->arena->budget_bytes };
    double           *taken_ns = arena_new_array(&scratch, double, job->ranks.count + 1);
    double           *steps = arena_new_array(&scratch, double, job->ranks.count + 1);

    for (size_t i = 0; taken_ns && steps && i < job->parts.count; i++) {
        const struct arrival *arrival = &replay->arrivals[i], *before = NULL;

        if (arrival->before != NO_ID)
            before = &replay->arrivals[arrival->before];
        taken_ns[arrival->rank] += (double)arrival->length_ns;
        if (before) /* what both take at once counts once */
            taken_ns[arrival->rank] -= fmax(0, (double)(before->length_ns - arrival->gap_ns));
        steps[arrival->rank] += !before || before->row != arrival->row;
    }
    for (size_t i = 0; taken_ns && steps && i < job->ranks.count; i++) {
        const struct job_rank *rank = &job->ranks.items[i];
        double                 waited_ns = 0, took_ns;

        for (uint32_t row = 0; row < rank->step_count; row++)
            waited_ns += (double)rank->parts[row][PART_COMMUNICATION] / rank->step_count;
        took_ns = taken_ns[i] * (double)job->stride / fmax(1, steps[i]);
        replay->exposed[i] = took_ns > 0 ? (float)fmin(1, waited_ns / took_ns) : 1;
    }
    arena_free(&scratch);
    return taken_ns && steps;
}

static bool has_room(struct job_replay *replay, const struct job *job, struct arena *arena)
{
    size_t parts = job->parts.count + 1, ranks = job->ranks.count + 1, steps = 1;

    replay->first_step = arena_new_array(arena, uint32_t, ranks);
    for (size_t i = 0; replay->first_step && i < job->ranks.count; i++) {
        replay->first_step[i] = (uint32_t)steps;
        steps += job->ranks.items[i].step_count;
    }
    replay->arrivals = arena_new_array(arena, struct arrival, parts);
    replay->row_of = arena_new_array(arena, uint32_t, parts);
    replay->came_ns = arena_new_array(arena, double, parts);
    replay->took_ns = arena_new_array(arena, float, parts);
    replay->last = arena_new_array(arena, uint32_t, ranks);
    replay->tail_ns = arena_new_array(arena, float, ranks);
    replay->exposed = arena_new_array(arena, float, ranks);
    replay->factors = arena_new_array(arena, float, steps);
    replay->latest_ns = arena_new_array(arena, double, job->meetings.count + 1);
    replay->missing = arena_new_array(arena, uint32_t, job->meetings.count + 1);
    return replay->first_step && replay->arrivals && replay->row_of && replay->came_ns &&
           replay->took_ns && replay->last && replay->tail_ns && replay->exposed &&
           replay->factors && replay->latest_ns && replay->missing;
}

bool job_replay_make(struct job_replay *replay, const struct job *job, struct arena *arena)
{
    double counted = 0;

    *replay = (struct job_replay) { .job = job };
    if (!has_room(replay, job, arena) || !put_all(replay))
        return false;
    join_meetings(replay);
    for (size_t i = 0; i < job->ranks.count; i++) {
        const struct job_rank *rank = &job->ranks.items[i];
        double                 start_ns, end_ns;

        if (!rank->step_count)
            continue;
        start_ns = start_of(job, rank);
        end_ns = end_of(job, rank);
        replay->recorded_ns += end_ns - start_ns;
        if (replay->last[i] != NO_ID)
            start_ns = replay->came_ns[replay->last[i]];
        replay->tail_ns[i] = (float)fmax(0, end_ns - start_ns);
        counted++;
    }
    replay->recorded_ns /= fmax(1, counted);
    return find_exposed(replay);
}

/* Of what each rank does by itself in each step, what is left. */
static void set_factors(struct job_replay *replay, const struct job_changes *changes)
{
    const struct job *job = replay->job;

    for (size_t rank = 0; rank < job->ranks.count; rank++)
        for (uint32_t row = 0; row < job->ranks.items[rank].step_count; row++) {
            const float *parts = job->ranks.items[rank].parts[row];
            double       before_ns = 0, after_ns = 0;

            for (int part = 0; part < PART_COUNT; part++) {
                double ns = part == PART_COMMUNICATION ? 0 : (double)parts[part];

                before_ns += ns;
                after_ns += changes ? ns * (double)changes->parts[rank][part] : ns;
            }
            replay->factors[replay->first_step[rank] + row] =
                before_ns > 0 ? (float)(after_ns / before_ns) : 1;
        }
}

static double factor_of(const struct job_replay *replay, uint32_t rank, uint32_t row)
{
    return row == NO_ID ? 1 : (double)replay->factors[replay->first_step[rank] + row];
}

/* When a rank is where it was `gap_ns` after an arrival. */
static double behind(const struct job_replay *replay, uint32_t row, double gap_ns, double factor)
{
    const struct arrival *arrival = &replay->arrivals[row];
    double exposed = (double)replay->exposed[arrival->rank], length_ns = (double)arrival->length_ns;
    double held_ns = fmin(length_ns, gap_ns), own_ns = fmax(0, gap_ns - exposed * held_ns);
    double then_ns = fmax(0, held_ns + (double)replay->took_ns[row] - length_ns);

    return replay->came_ns[row] + exposed * then_ns + own_ns * factor;
}

static void arrive(struct job_replay *replay, uint32_t row)
{
    const struct arrival  *arrival = &replay->arrivals[row];
    const struct job_rank *rank = &replay->job->ranks.items[arrival->rank];
    double                 factor = factor_of(replay, arrival->rank, arrival->row);
    double                 gap_ns = (double)arrival->gap_ns;

    if (arrival->before != NO_ID)
        replay->came_ns[row] = behind(replay, arrival->before, gap_ns, factor);
    else if (rank->step_count) /* else it stays where it was */
        replay->came_ns[row] = start_of(replay->job, rank) + gap_ns * factor;
}

/* All ranks are there. Who left before the last one came did not wait for it. */
static void leave(struct job_replay *replay, uint32_t meeting, double factor)
{
    const struct job_meeting *whole = &replay->job->meetings.items[meeting];

    for (uint32_t i = whole->first; i < whole->first + whole->count; i++) {
        uint32_t row = replay->row_of[i];
        double   since_ns = (double)replay->arrivals[row].since_ns;

        if (since_ns >= 0)
            replay->took_ns[row] = (float)fmax(0, replay->latest_ns[meeting] + since_ns * factor -
                                                      replay->came_ns[row]);
    }
}

/* A rank that has steps, from the begin of the first to the end of the last one. */
static double rank_took(const struct job_replay *replay, uint32_t rank)
{
    const struct job      *job = replay->job;
    const struct job_rank *of = &job->ranks.items[rank];
    double                 tail_ns = (double)replay->tail_ns[rank];
    double                 factor = factor_of(replay, rank, of->step_count - 1);
    uint32_t               last = replay->last[rank];

    return last == NO_ID ? tail_ns * factor
                         : behind(replay, last, tail_ns, factor) - start_of(job, of);
}

double job_replay_run(struct job_replay *replay, const struct job_changes *changes)
{
    const struct job *job = replay->job;
    double            sum_ns = 0, counted = 0;

    for (size_t i = 0; i < job->meetings.count; i++) {
        replay->latest_ns[i] = -INFINITY;
        replay->missing[i] = job->meetings.items[i].count;
    }
    set_factors(replay, changes);
    for (uint32_t row = 0; row < job->parts.count; row++) {
        const struct arrival *arrival = &replay->arrivals[row];
        uint32_t              meeting = arrival->meeting;
        double                factor = changes ? (double)changes->groups[arrival->group] : 1;

        arrive(replay, row);
        replay->took_ns[row] = arrival->length_ns * (float)factor;
        if (meeting == NO_ID)
            continue;
        replay->latest_ns[meeting] = fmax(replay->latest_ns[meeting], replay->came_ns[row]);
        if (--replay->missing[meeting] == 0)
            leave(replay, meeting, factor);
    }
    for (uint32_t rank = 0; rank < job->ranks.count; rank++) {
        if (!job->ranks.items[rank].step_count)
            continue;
        sum_ns += rank_took(replay, rank);
        counted++;
    }
    return counted > 0 ? sum_ns / counted : 0;
}
