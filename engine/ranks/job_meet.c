/* job_meet: which parts of ranks are one collective, whose clock has to be moved, and who came
 * late. */
#include "base/macros.h"
#include "base/sample.h"
#include "base/sort.h"
#include "model/names.h"
#include "ranks/job.h"

#include <math.h>
#include <stdlib.h>

enum {
    LEAST_MEETINGS = 4,
    CLOSE_NS = 200000, /* collectives of ranks on one clock end within as much */
    DEVIATIONS = 4,    /* a shift is as many times what the differences deviate from it */
    ROUNDS = 3,        /* over all ranks, after the first one */
};

static int compare_parts(const void *a, const void *b)
{
    const struct job_part *left = a, *right = b;

    return IN_ORDER(COMPARE(left->key, right->key), COMPARE(left->rank, right->rank),
                    COMPARE(left->come_ns, right->come_ns));
}

static bool index_ranks(struct job *job)
{
    size_t *at = arena_new_array(job->arena, size_t, job->ranks.count + 1);

    job->by_rank = arena_new_array(job->arena, uint32_t, job->parts.count + 1);
    if (!at || !job->by_rank)
        return false;
    for (size_t i = 0; i < job->parts.count; i++)
        job->ranks.items[job->parts.items[i].rank].part_count++;
    for (size_t i = 0, sum = 0; i < job->ranks.count; i++) {
        job->ranks.items[i].first_part = (uint32_t)sum;
        at[i] = sum;
        sum += job->ranks.items[i].part_count;
    }
    for (size_t i = 0; i < job->parts.count; i++)
        job->by_rank[at[job->parts.items[i].rank]++] = (uint32_t)i;
    return true;
}

static bool find_meetings(struct job *job)
{
    const struct job_part *parts = job->parts.items;
    size_t                 end;

    for (size_t first = 0; first < job->parts.count; first = end) {
        struct job_meeting meeting = { .first = (uint32_t)first, .group = parts[first].group };

        for (end = first + 1; end < job->parts.count && parts[end].key == parts[first].key;)
            end++;
        meeting.count = (uint32_t)(end - first);
        if (parts[first].rank == parts[end - 1].rank)
            job->alone_count++;
        else if (!vec_push(&job->meetings, job->arena, meeting))
            return false;
    }
    return true;
}

struct aligning {
    struct job *job;
    double     *ends_ns;   /* by part: when its collective ended, on the first rank's clock */
    bool       *is_known;  /* the same: it has been told */
    bool       *is_placed; /* by rank */
    uint32_t   *queue;
    double     *apart_ns; /* for one rank */
    size_t      queued;
};

/* Nobody leaves these before all have come. */
static bool joins_all(const struct job *job, const struct job_meeting *meeting)
{
    struct str type = intern_str(&job->names, job->groups.items[meeting->group].type);

    return name_is(type, NAMES_ALL_RANKS_MEET);
}

/* What a rank's clock has to be moved by: median over its collectives of which the end is known. */
static size_t judge(struct aligning *aligning, uint32_t rank, double *shift_ns, double *off_ns)
{
    const struct job      *job = aligning->job;
    const struct job_rank *row = &job->ranks.items[rank];
    size_t                 count = 0;

    for (uint32_t i = 0; i < row->part_count; i++) {
        uint32_t at = job->by_rank[row->first_part + i];

        if (aligning->is_known[at])
            aligning->apart_ns[count++] =
                aligning->ends_ns[at] - (double)(job->parts.items[at].left_ns - row->origin_ns);
    }
    *shift_ns = sample_middle(aligning->apart_ns, count);
    for (size_t i = 0; i < count; i++)
        aligning->apart_ns[i] = aligning->apart_ns[i] > *shift_ns
                                    ? aligning->apart_ns[i] - *shift_ns
                                    : *shift_ns - aligning->apart_ns[i];
    *off_ns = sample_middle(aligning->apart_ns, count);
    return count;
}

static void settle(struct aligning *aligning, uint32_t rank)
{
    struct job_rank *row = &aligning->job->ranks.items[rank];
    double           shift_ns, off_ns;
    size_t           count = judge(aligning, rank, &shift_ns, &off_ns);

    /* judge() is about times since the rank's own origin: they are small, so that doubles are
     * exact. */
    shift_ns += (double)(aligning->job->ranks.items[0].origin_ns - row->origin_ns);
    if (count < LEAST_MEETINGS)
        return;
    row->deviation_ns = (int64_t)off_ns;
    row->shift_ns = 0;
    if (row->host != aligning->job->ranks.items[0].host && fabs(shift_ns) > CLOSE_NS &&
        off_ns <= fabs(shift_ns) / DEVIATIONS)
        row->shift_ns = (int64_t)shift_ns;
}

/* A part's end on the first rank's clock, since its origin. */
static double end_of(const struct job *job, uint32_t at)
{
    const struct job_part *part = &job->parts.items[at];

    return (double)(part->left_ns + job->ranks.items[part->rank].shift_ns -
                    job->ranks.items[0].origin_ns);
}

/* Tells the others of the rank's collectives when they ended, and lines them up. */
static void spread(struct aligning *aligning, const uint32_t *meeting_of, uint32_t rank)
{
    struct job            *job = aligning->job;
    const struct job_rank *row = &job->ranks.items[rank];

    for (uint32_t i = 0; i < row->part_count; i++) {
        uint32_t                  at = job->by_rank[row->first_part + i];
        const struct job_meeting *meeting;
        double                    end_ns;

        if (meeting_of[at] == NO_ID || aligning->is_known[at])
            continue;
        meeting = &job->meetings.items[meeting_of[at]];
        end_ns = end_of(job, at);
        for (uint32_t j = meeting->first; j < meeting->first + meeting->count; j++) {
            uint32_t other = job->parts.items[j].rank;

            aligning->ends_ns[j] = end_ns;
            aligning->is_known[j] = true;
            if (!aligning->is_placed[other]) {
                aligning->is_placed[other] = true;
                aligning->queue[aligning->queued++] = other;
            }
        }
    }
}

/* Then each collective ended when most of its ranks say it did. */
static void settle_ends(struct aligning *aligning, double *scratch)
{
    struct job *job = aligning->job;

    for (size_t i = 0; i < job->meetings.count; i++) {
        const struct job_meeting *meeting = &job->meetings.items[i];
        double                    end_ns;

        if (!aligning->is_known[meeting->first])
            continue;
        for (uint32_t j = 0; j < meeting->count; j++)
            scratch[j] = end_of(job, meeting->first + j);
        end_ns = sample_middle(scratch, meeting->count);
        for (uint32_t j = 0; j < meeting->count; j++)
            aligning->ends_ns[meeting->first + j] = end_ns;
    }
}

static uint32_t *index_meetings(const struct job *job, struct arena *scratch)
{
    uint32_t *meeting_of = arena_new_array(scratch, uint32_t, job->parts.count + 1);

    for (size_t i = 0; meeting_of && i < job->parts.count; i++)
        meeting_of[i] = NO_ID;
    for (size_t i = 0; meeting_of && i < job->meetings.count; i++) {
        const struct job_meeting *meeting = &job->meetings.items[i];

        for (uint32_t j = 0; joins_all(job, meeting) && j < meeting->count; j++)
            meeting_of[meeting->first + j] = (uint32_t)i;
    }
    return meeting_of;
}

static void align(struct aligning *aligning, const uint32_t *meeting_of, double *scratch)
{
    struct job *job = aligning->job;

    aligning->is_placed[0] = true;
    aligning->queue[aligning->queued++] = 0;
    for (size_t i = 0; i < aligning->queued; i++) {
        if (aligning->queue[i] != 0)
            settle(aligning, aligning->queue[i]);
        spread(aligning, meeting_of, aligning->queue[i]);
    }
    for (int round = 0; round < ROUNDS; round++) {
        settle_ends(aligning, scratch);
        for (uint32_t rank = 1; rank < job->ranks.count; rank++)
            settle(aligning, rank);
    }
}

bool job_align(struct job *job)
{
    struct arena    scratch = { .budget_bytes = job->arena->budget_bytes };
    size_t          parts = job->parts.count + 1, ranks = job->ranks.count + 1;
    uint32_t       *meeting_of;
    double         *middle;
    struct aligning aligning = { .job = job };

    if (job->parts.count > 1)
        qsort(job->parts.items, job->parts.count, sizeof *job->parts.items, compare_parts);
    if (!index_ranks(job) || !find_meetings(job))
        return false;
    meeting_of = index_meetings(job, &scratch);
    middle = arena_new_array(&scratch, double, ranks);
    aligning.ends_ns = arena_new_array(&scratch, double, parts);
    aligning.is_known = arena_new_array(&scratch, bool, parts);
    aligning.is_placed = arena_new_array(&scratch, bool, ranks);
    aligning.queue = arena_new_array(&scratch, uint32_t, ranks);
    aligning.apart_ns = arena_new_array(&scratch, double, parts);
    if (!meeting_of || !middle || !aligning.ends_ns || !aligning.is_known || !aligning.is_placed ||
        !aligning.queue || !aligning.apart_ns) {
        arena_free(&scratch);
        return false;
    }
    align(&aligning, meeting_of, middle);
    arena_free(&scratch);
    for (size_t i = 0; i < job->parts.count; i++) {
        int64_t shift_ns = job->ranks.items[job->parts.items[i].rank].shift_ns;

        job->parts.items[i].come_ns += shift_ns;
        job->parts.items[i].left_ns += shift_ns;
    }
    for (size_t i = 0; i < job->ranks.count; i++)
        job->moved_count += job->ranks.items[i].shift_ns != 0;
    return true;
}

static void meet(struct job *job, struct job_meeting *meeting)
{
    const struct job_part *parts = &job->parts.items[meeting->first];
    int64_t                earliest_ns = INT64_MAX, latest_ns = INT64_MIN, least_ns = INT64_MAX;

    for (uint32_t i = 0; i < meeting->count; i++) {
        int64_t ns = parts[i].left_ns - parts[i].come_ns;

        earliest_ns = parts[i].come_ns < earliest_ns ? parts[i].come_ns : earliest_ns;
        least_ns = ns < least_ns ? ns : least_ns;
        if (parts[i].come_ns > latest_ns) {
            latest_ns = parts[i].come_ns;
            meeting->last = parts[i].rank;
        }
    }
    meeting->transfer_ns = (float)(least_ns > 0 ? least_ns : 0);
    for (uint32_t i = 0; i < meeting->count; i++) {
        struct job_rank *rank = &job->ranks.items[parts[i].rank];

        rank->meetings++;
        rank->late_ns += (double)(parts[i].come_ns - earliest_ns);
        rank->wait_ns +=
            (double)(parts[i].left_ns - parts[i].come_ns) - (double)meeting->transfer_ns;
    }
    job->ranks.items[meeting->last].last_meetings++;
    job->skew_ns += (double)(latest_ns - earliest_ns);
    if (job->groups.items[meeting->group].is_numbered)
        job->numbered_count++;
    else
        job->counted_count++;
}

bool job_meet(struct job *job)
{
    double *steps_ns = arena_new_array(job->arena, double, job->ranks.count + 1);
    size_t  count = 0;

    if (!steps_ns)
        return false;
    for (size_t i = 0; i < job->meetings.count; i++)
        meet(job, &job->meetings.items[i]);
    for (size_t i = 0; i < job->ranks.count; i++)
        if (job->ranks.items[i].step_ns > 0)
            steps_ns[count++] = job->ranks.items[i].step_ns;
    job->step_ns = sample_middle(steps_ns, count);
    return true;
}

static uint32_t root_of(uint32_t *above, uint32_t rank)
{
    while (above[rank] != rank) {
        above[rank] = above[above[rank]];
        rank = above[rank];
    }
    return rank;
}

/* The lowest of two is the root, so that stages are in the order of their first ranks. */
static void join(uint32_t *above, uint32_t a, uint32_t b)
{
    a = root_of(above, a);
    b = root_of(above, b);
    if (a < b)
        above[b] = a;
    else
        above[a] = b;
}

struct link { /* two ranks that send to one another */
    uint32_t low, high;
};
struct staging {
    struct job   *job;
    struct arena *scratch;
    VEC(struct link) links;
    struct id_map is_linked, is_member; /* low and high; rank and group */
    VEC(uint32_t) groups;               /* that each rank reduces and gathers with, rank by rank */
    uint32_t *first_group;              /* of groups, by rank, and behind the last */
    bool     *is_mixed;                 /* by group: two of it are linked, so it is no stage */
};

static bool find_links(struct staging *staging)
{
    const struct job *job = staging->job;

    for (size_t i = 0; i < job->meetings.count; i++) {
        const struct job_meeting *meeting = &job->meetings.items[i];
        struct link               link = { job->parts.items[meeting->first].rank,
                                           job->parts.items[meeting->first + meeting->count - 1].rank };
        uint64_t                  key = (uint64_t)link.low << 32 | link.high;

        if (job->groups.items[meeting->group].is_link && meeting->count == 2 &&
            id_map_get(&staging->is_linked, key) == NO_ID &&
            (!id_map_put(&staging->is_linked, key, 1) ||
             !vec_push(&staging->links, staging->scratch, link)))
            return false;
    }
    return true;
}

static bool find_members(struct staging *staging)
{
    const struct job *job = staging->job;

    for (uint32_t rank = 0; rank < job->ranks.count; rank++) {
        const struct job_rank *row = &job->ranks.items[rank];

        staging->first_group[rank] = (uint32_t)staging->groups.count;
        for (uint32_t i = 0; i < row->part_count; i++) {
            uint32_t group = job->parts.items[job->by_rank[row->first_part + i]].group;
            uint64_t key = (uint64_t)rank << 32 | group;

            if (!job->groups.items[group].is_link &&
                id_map_get(&staging->is_member, key) == NO_ID &&
                (!id_map_put(&staging->is_member, key, 1) ||
                 !vec_push(&staging->groups, staging->scratch, group)))
                return false;
        }
    }
    staging->first_group[job->ranks.count] = (uint32_t)staging->groups.count;
    return true;
}

static void mark_mixed(struct staging *staging)
{
    for (size_t i = 0; i < staging->links.count; i++) {
        const struct link *link = &staging->links.items[i];

        for (uint32_t j = staging->first_group[link->low]; j < staging->first_group[link->low + 1];
             j++)
            staging->is_mixed[staging->groups.items[j]] |=
                id_map_get(&staging->is_member,
                           (uint64_t)link->high << 32 | staging->groups.items[j]) != NO_ID;
    }
}

static void number_stages(struct job *job, uint32_t *above, uint32_t *stage_of)
{
    for (uint32_t i = 0; i < job->ranks.count; i++) {
        uint32_t root = root_of(above, i);

        if (root == i)
            stage_of[i] = job->stage_count++;
        job->ranks.items[i].stage = stage_of[root];
    }
}

static void join_stages(const struct staging *staging, uint32_t *above)
{
    const struct job *job = staging->job;

    for (uint32_t i = 0; i < job->ranks.count; i++)
        above[i] = i;
    for (size_t i = 0; i < job->meetings.count; i++) {
        const struct job_meeting *meeting = &job->meetings.items[i];

        for (uint32_t j = 1; !job->groups.items[meeting->group].is_link &&
                             !staging->is_mixed[meeting->group] && j < meeting->count;
             j++)
            join(above, job->parts.items[meeting->first].rank,
                 job->parts.items[meeting->first + j].rank);
    }
}

bool job_find_stages(struct job *job)
{
    struct arena   scratch = { .budget_bytes = job->arena->budget_bytes };
    size_t         ranks = job->ranks.count + 1;
    uint32_t      *above = arena_new_array(&scratch, uint32_t, ranks);
    uint32_t      *stage_of = arena_new_array(&scratch, uint32_t, ranks);
    struct staging staging = { .job = job,
                               .scratch = &scratch,
                               .is_linked.arena = &scratch,
                               .is_member.arena = &scratch,
                               .first_group = arena_new_array(&scratch, uint32_t, ranks),
                               .is_mixed = arena_new_array(&scratch, bool, job->groups.count + 1) };
    bool           is_done = above && stage_of && staging.first_group && staging.is_mixed &&
                   find_links(&staging) && find_members(&staging);

    if (is_done && staging.links.count) {
        mark_mixed(&staging);
        join_stages(&staging, above);
        number_stages(job, above, stage_of);
    }
    arena_free(&scratch);
    return is_done;
}
