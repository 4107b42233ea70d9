/* job_links: whose collectives take longer than those of groups that should take as long. */
#include "base/macros.h"
#include "base/sample.h"
#include "base/sort.h"
#include "ranks/job_causes.h"

#include <math.h>
#include <stdlib.h>

/* Of the step; of a collective over what it takes others; above chance, in standard deviations. */
static const double LEAST_LOSS = 0.02, LINK_RATIO = 1.25, DEVIATIONS = 6;
static const double TO_SIGMA = 1.4826; /* of a median absolute deviation */
enum { LEAST_GROUPS = 3 };

struct traffic { /* collectives of one type, size and number of ranks and hosts in one group */
    uint32_t kind, group;
    double   ns, count; /* median of one; all */
    bool     is_slow;
};
struct one_transfer {
    uint32_t kind, group;
    float    ns;
};
struct link_finding {
    const struct job *job;
    struct arena      scratch;
    VEC(struct one_transfer) all;
    VEC(struct traffic) groups;
    struct intern kinds;     /* as bytes */
    uint32_t     *last_seen; /* by host: the meeting that it was last in, and 1 */
    double       *values;    /* room for a number a group */
    bool         *is_slow;   /* by group */
};

static int compare_transfers(const void *a, const void *b)
{
    const struct one_transfer *left = a, *right = b;

    return IN_ORDER(COMPARE(left->kind, right->kind), COMPARE(left->group, right->group),
                    COMPARE(left->ns, right->ns));
}

/* What stays inside of a machine is faster than what leaves it. */
static uint32_t count_hosts(struct link_finding *links, uint32_t row)
{
    const struct job_meeting *meeting = &links->job->meetings.items[row];
    uint32_t                  hosts = 0;

    for (uint32_t i = 0; i < meeting->count; i++) {
        uint32_t rank = links->job->parts.items[meeting->first + i].rank;
        uint32_t host = links->job->ranks.items[rank].host;

        hosts += links->last_seen[host] != row + 1;
        links->last_seen[host] = row + 1;
    }
    return hosts;
}

static bool find_transfers(struct link_finding *links)
{
    const struct job *job = links->job;

    for (uint32_t i = 0; i < job->meetings.count; i++) {
        const struct job_meeting *meeting = &job->meetings.items[i];
        float                     bytes = job->parts.items[meeting->first].bytes;
        /* Collectives of one kind should take as long. */
        const uint32_t kind[] = { job->groups.items[meeting->group].type, meeting->count,
                                  count_hosts(links, i),
                                  bytes > 0 ? (uint32_t)ilogb((double)bytes) + 1 : 0 };
        uint32_t row = intern_add(&links->kinds, (struct str) { (const char *)kind, sizeof kind });

        if (row == NO_ID ||
            !vec_push(&links->all, &links->scratch,
                      (struct one_transfer) { row, meeting->group, meeting->transfer_ns }))
            return false;
    }
    if (links->all.count > 1)
        qsort(links->all.items, links->all.count, sizeof *links->all.items, compare_transfers);
    return true;
}

static bool find_traffic(struct link_finding *links)
{
    size_t end;

    for (size_t first = 0; first < links->all.count; first = end) {
        const struct one_transfer *one = &links->all.items[first];
        struct traffic             traffic = { .kind = one->kind, .group = one->group };

        for (end = first + 1; end < links->all.count && links->all.items[end].kind == one->kind &&
                              links->all.items[end].group == one->group;)
            end++;
        traffic.count = (double)(end - first);
        traffic.ns = (double)links->all.items[first + (end - first) / 2].ns;
        if (!vec_push(&links->groups, &links->scratch, traffic))
            return false;
    }
    links->values = arena_new_array(&links->scratch, double, links->groups.count + 1);
    return links->values != NULL;
}

/* Groups of one kind that take far longer than most do. *usual_ns: what those take. */
static size_t mark_slow(struct link_finding *links, size_t first, size_t end, double *usual_ns)
{
    size_t slow = 0;
    double off_ns;

    for (size_t i = first; i < end; i++)
        links->values[i - first] = links->groups.items[i].ns;
    *usual_ns = sample_median(links->values, end - first);
    off_ns = TO_SIGMA * sample_mad(links->values, end - first);
    for (size_t i = first; i < end; i++) {
        struct traffic *traffic = &links->groups.items[i];

        traffic->is_slow =
            traffic->ns > LINK_RATIO * *usual_ns && traffic->ns > *usual_ns + DEVIATIONS * off_ns;
        slow += traffic->is_slow;
    }
    return slow;
}

/* Takes those of one kind into the cause, which costs what the worst group loses a step. */
static void look_at_kind(struct link_finding *links, size_t first, size_t end,
                         struct job_cause *cause)
{
    const struct job *job = links->job;
    double            steps = fmax(1, job->ranks.items[0].step_count), usual_ns;

    if (end - first < LEAST_GROUPS || !mark_slow(links, first, end, &usual_ns))
        return;
    for (size_t i = first; i < end; i++) {
        const struct traffic *traffic = &links->groups.items[i];
        double lost_ns = (traffic->ns - usual_ns) * traffic->count * (double)job->stride / steps;

        if (!traffic->is_slow || lost_ns < LEAST_LOSS * job->step_ns / 2)
            continue;
        cause->count += !links->is_slow[traffic->group];
        links->is_slow[traffic->group] = true;
        if (lost_ns < cause->ns)
            continue;
        cause->ns = lost_ns;
        cause->group = traffic->group;
        cause->own_ns = traffic->ns;
        cause->usual_ns = usual_ns;
    }
}

/* Who is in most of the slow groups, and the second of those in as many. */
static bool blame(struct link_finding *links, struct job_cause *cause)
{
    const struct job *job = links->job;
    uint32_t *slow_of = arena_new_array(&links->scratch, uint32_t, job->ranks.count + 1), most = 0;

    for (size_t i = 0; slow_of && i < job->meetings.count; i++) {
        const struct job_meeting *meeting = &job->meetings.items[i];

        for (uint32_t j = 0; links->is_slow[meeting->group] && j < meeting->count; j++)
            slow_of[job->parts.items[meeting->first + j].rank]++;
    }
    for (uint32_t i = 0; slow_of && i < job->ranks.count; i++)
        most = slow_of[i] > most ? slow_of[i] : most;
    for (uint32_t i = 0; slow_of && i < job->ranks.count; i++) {
        if (slow_of[i] < most)
            continue;
        if (cause->rank == NO_ID)
            cause->rank = i;
        else if (cause->peer == NO_ID)
            cause->peer = i;
    }
    return slow_of != NULL;
}

static bool find(struct link_finding *links, struct job_cause *cause)
{
    size_t end;

    links->last_seen = arena_new_array(&links->scratch, uint32_t, links->job->names.count + 1);
    links->is_slow = arena_new_array(&links->scratch, bool, links->job->groups.count + 1);
    if (!links->last_seen || !links->is_slow || !intern_init(&links->kinds, &links->scratch) ||
        !find_transfers(links) || !find_traffic(links))
        return false;
    for (size_t first = 0; first < links->groups.count; first = end) {
        for (end = first + 1; end < links->groups.count &&
                              links->groups.items[end].kind == links->groups.items[first].kind;)
            end++;
        look_at_kind(links, first, end, cause);
    }
    return cause->ns < LEAST_LOSS * links->job->step_ns || blame(links, cause);
}

bool job_links_find(const struct job *job, struct arena *arena, struct job_causes *causes)
{
    struct link_finding links = { .job = job, .scratch.budget_bytes = arena->budget_bytes };
    struct job_cause    cause = job_cause_new(CAUSE_LINK);
    bool                is_done;

    cause.part = PART_COMMUNICATION;
    is_done = find(&links, &cause);
    arena_free(&links.scratch);
    if (cause.count > 1)
        cause.group = NO_ID;
    return is_done &&
           (cause.ns < LEAST_LOSS * job->step_ns || vec_push(&causes->items, arena, cause));
}
