#include "ranks/job_causes.h"

#include "base/macros.h"
#include "base/sample.h"
#include "base/sort.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* What counts, as shares of the step, and how far above chance, in standard deviations. */
static const double LEAST_SHARE = 0.03, LEAST_PAUSE = 0.10, LEAST_LOSS = 0.02;
static const double DEVIATIONS = 6, PAUSE_DEVIATIONS = 8;
static const double STAGE_RATIO = 1.1; /* own time of a stage over the mean of all */
static const double MOSTLY = 0.6;      /* of what is lost: then it is one rank's */
static const double TO_SIGMA = 1.4826; /* of a median absolute deviation */
enum { LEAST_RANKS = 4, LEAST_PAUSES = 2, LEAST_TURNS = 3, MOST_PEERS = 64 };

const char *cause_kind_name(enum cause_kind kind)
{
    static const char *const names[] = {
        [CAUSE_RANK] = "rank",         [CAUSE_STAGE] = "stage",   [CAUSE_PAUSES] = "pauses",
        [CAUSE_PERIODIC] = "periodic", [CAUSE_UNEVEN] = "uneven", [CAUSE_LINK] = "link",
    };

    return names[kind];
}

struct own {                     /* a rank's own time */
    double step_ns;              /* median over its steps */
    double parts_ns[PART_COUNT]; /* the same of each part */
    double excess_ns;            /* above the ranks of its stage */
    double noise_ns;             /* deviation over steps */
};
struct finding { /* everything that is looked at */
    struct job        *job;
    struct arena      *arena, scratch;
    struct job_causes *causes;
    struct own        *ranks;
    struct own        *stages; /* medians over their ranks; one where there is no pipeline */
    uint32_t           stage_count;
    double            *values;               /* room for a number a rank, or a step */
    double             noise_ns, waiting_ns; /* medians over ranks */
};

double job_own_ns(const float parts[PART_COUNT])
{
    double sum_ns = 0;

    for (int part = 0; part < PART_COUNT; part++)
        if (part != PART_COMMUNICATION)
            sum_ns += (double)parts[part];
    return sum_ns;
}

static void look_at_rank(struct finding *finding, const struct job_rank *rank, struct own *own)
{
    for (int part = 0; part < PART_COUNT; part++) {
        for (uint32_t step = 0; step < rank->step_count; step++)
            finding->values[step] = (double)rank->parts[step][part];
        own->parts_ns[part] = sample_middle(finding->values, rank->step_count);
    }
    for (uint32_t step = 0; step < rank->step_count; step++)
        finding->values[step] = job_own_ns(rank->parts[step]);
    own->step_ns = sample_middle(finding->values, rank->step_count);
    own->noise_ns = TO_SIGMA * sample_mad(finding->values, rank->step_count);
}

/* Median over the ranks of a stage of a number at `offset` in struct own. */
static double stage_middle(struct finding *finding, uint32_t stage, size_t offset)
{
    size_t count = 0;

    for (size_t i = 0; i < finding->job->ranks.count; i++)
        if (finding->job->ranks.items[i].step_count &&
            (finding->stage_count == 1 || finding->job->ranks.items[i].stage == stage))
            memcpy(&finding->values[count++], (const char *)&finding->ranks[i] + offset,
                   sizeof(double));
    return sample_middle(finding->values, count);
}

static uint32_t stage_of(const struct finding *finding, size_t rank)
{
    return finding->stage_count > 1 ? finding->job->ranks.items[rank].stage : 0;
}

static bool look_at_ranks(struct finding *finding)
{
    const struct job *job = finding->job;
    size_t            room = job->ranks.count;

    for (size_t i = 0; i < job->ranks.count; i++)
        room = job->ranks.items[i].step_count > room ? job->ranks.items[i].step_count : room;
    finding->stage_count = job->stage_count > 1 ? job->stage_count : 1;
    finding->values = arena_new_array(&finding->scratch, double, room + 1);
    finding->ranks = arena_new_array(&finding->scratch, struct own, job->ranks.count + 1);
    finding->stages = arena_new_array(&finding->scratch, struct own, finding->stage_count);
    if (!finding->values || !finding->ranks || !finding->stages)
        return false;
    for (size_t i = 0; i < job->ranks.count; i++)
        look_at_rank(finding, &job->ranks.items[i], &finding->ranks[i]);
    for (uint32_t stage = 0; stage < finding->stage_count; stage++) {
        struct own *own = &finding->stages[stage];

        own->step_ns = stage_middle(finding, stage, offsetof(struct own, step_ns));
        for (int part = 0; part < PART_COUNT; part++)
            own->parts_ns[part] = stage_middle(
                finding, stage, offsetof(struct own, parts_ns) + (size_t)part * sizeof(double));
    }
    for (size_t i = 0; i < job->ranks.count; i++)
        finding->ranks[i].excess_ns =
            finding->ranks[i].step_ns - finding->stages[stage_of(finding, i)].step_ns;
    for (size_t i = 0; i < job->ranks.count; i++)
        finding->values[i] = finding->ranks[i].noise_ns;
    finding->noise_ns = sample_middle(finding->values, job->ranks.count);
    for (size_t i = 0; i < job->ranks.count; i++)
        finding->values[i] = finding->ranks[i].parts_ns[PART_COMMUNICATION];
    finding->waiting_ns = sample_middle(finding->values, job->ranks.count);
    return true;
}

enum part job_longest_part(const double parts_ns[PART_COUNT])
{
    enum part best = PART_UNKNOWN;

    for (int part = 0; part < PART_COUNT; part++)
        if (part != PART_COMMUNICATION && (best == PART_UNKNOWN || parts_ns[part] > parts_ns[best]))
            best = (enum part)part;
    return best;
}

/* What of the part takes longer than it takes others of its stage. */
static double family_ns(const struct job_rank *rank, uint32_t name, uint32_t part)
{
    for (uint32_t i = 0; i < rank->family_count; i++)
        if (rank->families[i].name == name && rank->families[i].part == part)
            return rank->families[i].ns;
    return 0;
}

static double usual_family_ns(struct finding *finding, uint32_t rank, uint32_t name, uint32_t part)
{
    const struct job *job = finding->job;
    size_t            count = 0, each = job->ranks.count / MOST_PEERS + 1;

    for (size_t i = 0; i < job->ranks.count && count < MOST_PEERS; i += each)
        if (i != rank && stage_of(finding, i) == stage_of(finding, rank))
            finding->values[count++] = family_ns(&job->ranks.items[i], name, part);
    return sample_middle(finding->values, count);
}

static void find_family(struct finding *finding, struct job_cause *cause)
{
    const struct job_rank *rank = &finding->job->ranks.items[cause->rank];
    double                 most_ns = 0;

    for (uint32_t i = 0; i < rank->family_count; i++) {
        const struct job_family *family = &rank->families[i];
        double                   usual_ns;

        if (family->part != cause->part)
            continue;
        usual_ns = usual_family_ns(finding, cause->rank, family->name, family->part);
        if (family->ns - usual_ns <= most_ns)
            continue;
        most_ns = family->ns - usual_ns;
        cause->family = family->name;
        cause->family_ns = family->ns;
        cause->family_usual_ns = usual_ns;
    }
}

struct job_cause job_cause_new(enum cause_kind kind)
{
    return (struct job_cause) { .kind = kind,
                                .rank = NO_ID,
                                .peer = NO_ID,
                                .family = NO_ID,
                                .group = NO_ID,
                                .part = PART_UNKNOWN,
                                .step_share = 1,
                                .stage = -1 };
}

static bool add(struct finding *finding, struct job_cause cause)
{
    return vec_push(&finding->causes->items, finding->arena, cause);
}

/* The part of its own time that a rank has more of than those of its stage. */
static enum part longer_part(const struct finding *finding, uint32_t rank)
{
    const struct own *stage = &finding->stages[stage_of(finding, rank)];
    double            more_ns[PART_COUNT];

    for (int part = 0; part < PART_COUNT; part++)
        more_ns[part] = finding->ranks[rank].parts_ns[part] - stage->parts_ns[part];
    return job_longest_part(more_ns);
}

/* Ranks that take longer in every step. Those who wait lose what these take more than the next. */
static bool find_slow_ranks(struct finding *finding)
{
    const struct job *job = finding->job;
    struct job_cause  cause = job_cause_new(CAUSE_RANK);
    double            least_ns, next_ns = 0;

    for (size_t i = 0; i < job->ranks.count; i++)
        finding->values[i] = finding->ranks[i].excess_ns;
    least_ns = fmax(LEAST_SHARE * job->step_ns,
                    DEVIATIONS * TO_SIGMA * sample_mad(finding->values, job->ranks.count));
    for (uint32_t i = 0; i < job->ranks.count; i++) {
        double excess_ns = finding->ranks[i].excess_ns;

        if (excess_ns <= least_ns) {
            next_ns = fmax(next_ns, excess_ns);
            continue;
        }
        cause.count++;
        if (cause.rank == NO_ID || excess_ns > finding->ranks[cause.rank].excess_ns)
            cause.rank = i;
    }
    if (cause.rank == NO_ID || job->ranks.count < LEAST_RANKS)
        return true;
    cause.ns = finding->ranks[cause.rank].excess_ns - next_ns;
    cause.ns = fmin(cause.ns, finding->waiting_ns);
    if (cause.ns < LEAST_LOSS * job->step_ns)
        return true;
    cause.own_ns = finding->ranks[cause.rank].step_ns;
    cause.usual_ns = finding->stages[stage_of(finding, cause.rank)].step_ns;
    cause.part = longer_part(finding, cause.rank);
    find_family(finding, &cause);
    return add(finding, cause);
}

/* A pipeline goes at the pace of its longest stage. */
static bool find_slow_stage(struct finding *finding)
{
    const struct job *job = finding->job;
    struct job_cause  cause = job_cause_new(CAUSE_STAGE);
    double            mean_ns = 0, more_ns[PART_COUNT];
    uint32_t          slowest = 0;

    for (uint32_t i = 0; i < finding->stage_count; i++) {
        mean_ns += finding->stages[i].step_ns / finding->stage_count;
        slowest = finding->stages[i].step_ns > finding->stages[slowest].step_ns ? i : slowest;
    }
    cause.own_ns = finding->stages[slowest].step_ns;
    cause.usual_ns = mean_ns;
    cause.ns = cause.own_ns - mean_ns;
    if (finding->stage_count < 2 || cause.own_ns < STAGE_RATIO * mean_ns ||
        cause.ns < LEAST_SHARE * job->step_ns)
        return true;
    for (uint32_t i = 0; i < job->ranks.count; i++)
        if (job->ranks.items[i].stage == slowest) {
            cause.rank = cause.rank == NO_ID ? i : cause.rank;
            cause.count++;
        }
    for (int part = 0; part < PART_COUNT; part++) {
        more_ns[part] = finding->stages[slowest].parts_ns[part];
        for (uint32_t i = 0; i < finding->stage_count; i++)
            more_ns[part] -= finding->stages[i].parts_ns[part] / finding->stage_count;
    }
    cause.part = job_longest_part(more_ns);
    cause.stage = slowest;
    return add(finding, cause);
}

struct moment {                  /* a step in which a rank took far longer than it usually does */
    uint32_t  step, rank, count; /* row of the first rank's steps; count: ranks that did */
    double    ns;
    enum part part;
};
struct moments {
    VEC(struct moment) items;
    double sum_ns;
};

/* Row of a rank's step of the same number as the first rank's; where numbers differ, as far along.
 */
static uint32_t same_step(const struct job *job, const struct job_rank *rank, uint32_t step)
{
    const struct job_rank *first = &job->ranks.items[0];
    int64_t                number = first->step_numbers[step];
    uint32_t               row;

    if (step < rank->step_count && rank->step_numbers[step] == number)
        return step;
    row = (uint32_t)LOWER_BOUND(rank->step_count, i, rank->step_numbers[i] < number);
    if (row < rank->step_count && rank->step_numbers[row] == number)
        return row;
    return rank->step_count == first->step_count ? step : NO_ID;
}

static enum part paused_part(const struct finding *finding, const struct moment *moment)
{
    const struct job_rank *rank = &finding->job->ranks.items[moment->rank];
    uint32_t               row = same_step(finding->job, rank, moment->step);
    double                 more_ns[PART_COUNT];

    for (int part = 0; part < PART_COUNT; part++)
        more_ns[part] =
            (double)rank->parts[row][part] - finding->ranks[moment->rank].parts_ns[part];
    return job_longest_part(more_ns);
}

static bool find_moments(struct finding *finding, struct moments *moments)
{
    const struct job      *job = finding->job;
    const struct job_rank *first = &job->ranks.items[0];
    double least_ns = fmax(LEAST_PAUSE * job->step_ns, PAUSE_DEVIATIONS * finding->noise_ns);

    for (uint32_t step = 0; step < first->step_count; step++) {
        struct moment moment = { .step = step };

        for (uint32_t i = 0; i < job->ranks.count; i++) {
            const struct job_rank *rank = &job->ranks.items[i];
            uint32_t               row = same_step(job, rank, step);
            double                 ns;

            if (row == NO_ID)
                continue;
            ns = job_own_ns(rank->parts[row]) - finding->ranks[i].step_ns;
            moment.count += ns > least_ns;
            if (ns > moment.ns) {
                moment.ns = ns;
                moment.rank = i;
            }
        }
        if (moment.ns <= least_ns)
            continue;
        moment.part = paused_part(finding, &moment);
        moments->sum_ns += moment.ns;
        if (!vec_push(&moments->items, &finding->scratch, moment))
            return false;
    }
    return true;
}

/* Steps from one to the next, where that is always the same and more than one; else 0. */
static double period_of(const struct finding *finding, const struct moments *moments)
{
    const int64_t *numbers = finding->job->ranks.items[0].step_numbers;
    int64_t        period = 0;

    for (size_t i = 1; i < moments->items.count; i++) {
        int64_t apart =
            numbers[moments->items.items[i].step] - numbers[moments->items.items[i - 1].step];

        if (i > 1 && apart != period)
            return 0;
        period = apart;
    }
    return moments->items.count >= LEAST_TURNS && period > 1 ? (double)period : 0;
}

/* The rank, or the part, that most of the lost time is of; *share of it. */
static uint32_t mostly(const struct moments *moments, bool is_part, double *share)
{
    uint32_t best = NO_ID;
    double   best_ns = 0;

    for (size_t i = 0; i < moments->items.count; i++) {
        const struct moment *at = &moments->items.items[i];
        uint32_t             key = is_part ? (uint32_t)at->part : at->rank;
        double               ns = 0;

        for (size_t j = 0; j < moments->items.count; j++)
            if ((is_part ? (uint32_t)moments->items.items[j].part : moments->items.items[j].rank) ==
                key)
                ns += moments->items.items[j].ns;
        if (ns > best_ns) {
            best_ns = ns;
            best = key;
        }
    }
    *share = best_ns / moments->sum_ns;
    return best;
}

static bool is_wide(const struct finding *finding, const struct moments *moments)
{
    size_t wide = 0;

    for (size_t i = 0; i < moments->items.count; i++)
        wide += moments->items.items[i].count * 2 > finding->job->ranks.count;
    return wide * 2 > moments->items.count;
}

/* What takes longer now and then: by turns, of one rank, of all in every so many steps. */
static bool find_pauses(struct finding *finding)
{
    const struct job *job = finding->job;
    struct moments    moments = { 0 };
    struct job_cause  cause = job_cause_new(CAUSE_UNEVEN);
    double            share, steps = job->ranks.items[0].step_count;

    if (!find_moments(finding, &moments))
        return false;
    if (moments.items.count < LEAST_PAUSES || moments.sum_ns / steps < LEAST_LOSS * job->step_ns)
        return true;
    cause.part = (enum part)mostly(&moments, true, &share);
    cause.rank = mostly(&moments, false, &share);
    cause.period = period_of(finding, &moments);
    cause.step_share = (double)moments.items.count / steps;
    cause.ns = moments.sum_ns / steps;
    cause.own_ns = moments.sum_ns / (double)moments.items.count;
    cause.count = 1;
    if (is_wide(finding, &moments)) {
        cause.kind = CAUSE_PERIODIC;
        cause.count = (uint32_t)job->ranks.count;
    } else if (share >= MOSTLY) {
        cause.kind = cause.period > 0 ? CAUSE_PERIODIC : CAUSE_PAUSES;
    } else {
        cause.count = 0;
        for (size_t i = 0; i < moments.items.count; i++) {
            bool is_new = true;

            for (size_t j = 0; j < i; j++)
                is_new &= moments.items.items[j].rank != moments.items.items[i].rank;
            cause.count += is_new;
        }
    }
    if (cause.kind == CAUSE_UNEVEN)
        cause.rank = NO_ID;
    else if (cause.count == 1)
        find_family(finding, &cause);
    return add(finding, cause);
}

static void sum_efficiency(struct finding *finding)
{
    const struct job      *job = finding->job;
    struct job_efficiency *sum = &finding->causes->efficiency;
    double                 mean_ns = 0, most_ns = 0, count = 0;

    for (size_t i = 0; i < job->ranks.count; i++) {
        if (!job->ranks.items[i].step_count)
            continue;
        count++;
        mean_ns += finding->ranks[i].step_ns;
        most_ns = fmax(most_ns, finding->ranks[i].step_ns);
    }
    sum->bubble_share = -1;
    if (count <= 0 || most_ns <= 0 || job->step_ns <= 0)
        return;
    sum->load_balance = mean_ns / count / most_ns;
    sum->transfer = fmin(1, most_ns / job->step_ns);
    sum->parallel = sum->load_balance * sum->transfer;
}

static bool sum_bubble(struct finding *finding)
{
    const struct job *job = finding->job;
    struct id_map     links = { .arena = &finding->scratch };
    double            wait_ns = 0, messages = 0, link_count = 0;
    double            weight = (double)job->stride / fmax(1, job->ranks.items[0].step_count);

    if (finding->stage_count < 2)
        return true;
    for (size_t i = 0; i < job->meetings.count; i++) {
        const struct job_meeting *meeting = &job->meetings.items[i];
        const struct job_part    *parts = &job->parts.items[meeting->first];
        uint64_t key = (uint64_t)parts[0].rank << 32 | parts[meeting->count - 1].rank;

        if (!job->groups.items[meeting->group].is_link)
            continue;
        messages++;
        link_count += id_map_get(&links, key) == NO_ID;
        if (!id_map_put(&links, key, 1))
            return false;
        for (uint32_t j = 0; j < meeting->count; j++)
            wait_ns += (double)(parts[j].left_ns - parts[j].come_ns) - (double)meeting->transfer_ns;
    }
    wait_ns *= weight / (double)job->ranks.count;
    finding->causes->efficiency.bubble_share = fmin(1, wait_ns / job->step_ns);
    finding->causes->efficiency.stage_messages = messages * weight / fmax(1, link_count);
    return true;
}

static int compare_causes(const void *a, const void *b)
{
    const struct job_cause *left = a, *right = b;

    return IN_ORDER(COMPARE(right->ns, left->ns), COMPARE(left->kind, right->kind));
}

bool job_causes_find(struct job *job, struct arena *arena, struct job_causes *causes)
{
    struct finding finding = {
        .job = job, .arena = arena, .scratch.budget_bytes = arena->budget_bytes, .causes = causes
    };
    bool is_done;

    *causes = (struct job_causes) { 0 };
    is_done = look_at_ranks(&finding);
    if (is_done && job->step_ns > 0 && job->ranks.items[0].step_count)
        is_done = find_slow_ranks(&finding) && find_slow_stage(&finding) && find_pauses(&finding) &&
                  job_links_find(job, arena, causes);
    if (is_done) {
        sum_efficiency(&finding);
        is_done = sum_bubble(&finding) && job_late_find(job, NULL, arena, &causes->late);
    }
    if (causes->items.count > 1)
        qsort(causes->items.items, causes->items.count, sizeof *causes->items.items,
              compare_causes);
    arena_free(&finding.scratch);
    return is_done;
}
