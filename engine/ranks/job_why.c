#include "ranks/job_why.h"

#include "base/sample.h"
#include "base/sort.h"

#include <math.h>
#include <stdlib.h>

struct asker {
    struct why       *why;
    const struct job *job;
    struct arena     *arena;
    bool              is_full;
};

static const char *text_of(struct asker *asker, uint32_t name)
{
    const char *text =
        arena_text(asker->arena, "%.*s", STR_ARG(intern_str(&asker->job->names, name)));

    asker->is_full |= !text;
    return text;
}

static const char *who_is(struct asker *asker, uint32_t row)
{
    const struct job_rank *rank = &asker->job->ranks.items[row];
    const char            *text = rank->rank < 0
                                      ? text_of(asker, rank->host)
                                      : arena_text(asker->arena, "rank %lld", (long long)rank->rank);

    asker->is_full |= !text;
    return text;
}

static double family_ns(const struct job_rank *rank, const struct job_family *family)
{
    for (uint32_t i = 0; rank && i < rank->family_count; i++)
        if (rank->families[i].name == family->name && rank->families[i].part == family->part)
            return rank->families[i].ns;
    return 0;
}

/* What of the part takes the rank most longer than `other`, over all steps; other NO_ID: most of
 * it. */
static const char *main_family(struct asker *asker, uint32_t row, uint32_t other, int part)
{
    const struct job_rank *rank = &asker->job->ranks.items[row];
    const struct job_rank *beside = other == NO_ID ? NULL : &asker->job->ranks.items[other];
    double                 most_ns = 0;
    uint32_t               best = NO_ID;

    for (uint32_t i = 0; i < rank->family_count; i++) {
        double more_ns = rank->families[i].ns - family_ns(beside, &rank->families[i]);

        if (rank->families[i].part != (uint32_t)part || more_ns <= most_ns)
            continue;
        most_ns = more_ns;
        best = i;
    }
    return best == NO_ID || intern_str(&asker->job->names, rank->families[best].name).len == 0
               ? NULL
               : text_of(asker, rank->families[best].name);
}

static int compare_excess(const void *a, const void *b)
{
    const struct why_cause *left = a, *right = b;

    return IN_ORDER(COMPARE(fabs(right->ns - right->usual_ns), fabs(left->ns - left->usual_ns)),
                    COMPARE(left->class, right->class));
}

/* The parts of a rank's step beside those of `other` (NO_ID: what it usually takes); waiting for
 * others is their consequence, not a cause, when `is_own`. */
static void take_causes(struct asker *asker, uint32_t rank, uint32_t other,
                        const float parts[PART_COUNT], const double usual_ns[PART_COUNT],
                        bool is_own)
{
    for (int part = 0; part < PART_COUNT; part++) {
        struct why_cause cause = { .ns = (double)parts[part],
                                   .usual_ns = usual_ns[part],
                                   .count = 1,
                                   .class = (enum part)part };

        if ((cause.ns <= 0 && cause.usual_ns <= 0) || (is_own && part == PART_COMMUNICATION))
            continue;
        cause.name = main_family(asker, rank, other, part);
        cause.place = who_is(asker, rank);
        asker->is_full |= !vec_push(&asker->why->causes, asker->arena, cause);
    }
    asker->why->is_compared = true;
    if (asker->why->causes.count > 1)
        qsort(asker->why->causes.items, asker->why->causes.count, sizeof *asker->why->causes.items,
              compare_excess);
}

static void median_parts(struct asker *asker, const struct job_rank *rank,
                         double usual_ns[PART_COUNT])
{
    double *values = arena_new_array(asker->arena, double, rank->step_count + 1);

    asker->is_full |= !values;
    for (int part = 0; part < PART_COUNT && values; part++) {
        for (uint32_t i = 0; i < rank->step_count; i++)
            values[i] = (double)rank->parts[i][part];
        usual_ns[part] = sample_middle(values, rank->step_count);
    }
}

struct chosen { /* a rank's step */
    uint32_t rank, row;
    double   ns; /* by which it was chosen */
};

static double whole_ns(const float parts[PART_COUNT])
{
    return job_own_ns(parts) + (double)parts[PART_COMMUNICATION];
}

/* The longest step of all, or NO_ID. */
static struct chosen slowest_step(const struct job *job)
{
    struct chosen best = { NO_ID, NO_ID, 0 };

    for (uint32_t i = 0; i < job->ranks.count; i++)
        for (uint32_t row = 0; row < job->ranks.items[i].step_count; row++) {
            double ns = whole_ns(job->ranks.items[i].parts[row]);

            if (best.rank == NO_ID || ns > best.ns)
                best = (struct chosen) { i, row, ns };
        }
    return best;
}

/* Who did most more in a step than it usually does; NO_ID: the step is not known. */
static struct chosen busiest_rank(struct asker *asker, int64_t step)
{
    struct chosen best = { NO_ID, NO_ID, 0 };

    for (uint32_t i = 0; i < asker->job->ranks.count; i++) {
        const struct job_rank *rank = &asker->job->ranks.items[i];
        double                 usual_ns[PART_COUNT] = { 0 }, more_ns = 0;

        median_parts(asker, rank, usual_ns);
        for (uint32_t row = 0; row < rank->step_count; row++) {
            if (rank->step_numbers[row] != step)
                continue;
            more_ns = job_own_ns(rank->parts[row]);
            for (int part = 0; part < PART_COUNT; part++)
                more_ns -= part == PART_COMMUNICATION ? 0 : usual_ns[part];
            if (best.rank == NO_ID || more_ns > best.ns)
                best = (struct chosen) { i, row, more_ns };
        }
    }
    return best;
}

static bool why_step(struct asker *asker, struct str which, struct err *err)
{
    struct chosen slowest = slowest_step(asker->job), busiest;
    int64_t       number;
    double        usual_ns[PART_COUNT] = { 0 };

    if (slowest.rank == NO_ID)
        return err_set(err, ERR_INCONCLUSIVE, "no step was recorded");
    if (str_equal(which, STR("slowest")))
        number = asker->job->ranks.items[slowest.rank].step_numbers[slowest.row];
    else if (!str_to_int64(which, &number))
        return err_set(err, ERR_USAGE, "which step is '%.*s'?", STR_ARG(which));
    busiest = busiest_rank(asker, number);
    if (busiest.rank == NO_ID) {
        err_set(err, ERR_USAGE, "the summaries hold no parts of step %lld", (long long)number);
        return err_advise(err, "give the recording of the rank that you want to see");
    }
    median_parts(asker, &asker->job->ranks.items[busiest.rank], usual_ns);
    asker->why->step = number;
    asker->why->is_step = true;
    asker->why->duration_ns = whole_ns(asker->job->ranks.items[busiest.rank].parts[busiest.row]);
    asker->why->subject = arena_text(
        asker->arena, "step %lld on %s, whose own work differs most from what it usually takes",
        (long long)number, who_is(asker, busiest.rank));
    take_causes(asker, busiest.rank, NO_ID,
                asker->job->ranks.items[busiest.rank].parts[busiest.row], usual_ns, false);
    return true;
}

static int compare_late(const void *a, const void *b)
{
    const struct job_late *left = a, *right = b;

    return IN_ORDER(COMPARE(right->late_ns, left->late_ns), COMPARE(left->step, right->step));
}

static void take_late(struct asker *asker, const struct job_late_list *list)
{
    for (size_t i = 0; i < list->items.count; i++) {
        const struct job_late *late = &list->items.items[i];
        const struct job_rank *rank = &asker->job->ranks.items[late->rank];
        struct why_late        row = { .step = late->step,
                                       .rank = (int)rank->rank,
                                       .who = who_is(asker, late->rank),
                                       .late_ns = late->late_ns,
                                       .share = asker->job->step_ns > 0
                                                    ? late->late_ns / asker->job->step_ns
                                                    : 0,
                                       .name = text_of(asker, asker->job->groups.items[late->group].type),
                                       .class_ns = late->why_ns };

        row.cause.class = late->why;
        if (late->why_ns > 0)
            row.cause.name = main_family(asker, late->rank, late->first, (int)late->why);
        asker->is_full |= !vec_push(&asker->why->late, asker->arena, row);
    }
}

static bool why_collective(struct asker *asker, const struct pattern *pattern, struct err *err)
{
    struct job_late_list   list = { 0 };
    const struct job_late *worst;
    const struct job_rank *first;
    double                 usual_ns[PART_COUNT];

    if (!job_late_find(asker->job, pattern, asker->arena, &list))
        asker->is_full = true;
    if (!list.items.count && !asker->is_full) {
        err_set(err, ERR_INCONCLUSIVE, "no such collective that several ranks take part in");
        return err_advise(err, "give the summaries of all ranks");
    }
    if (asker->is_full)
        return true;
    qsort(list.items.items, list.items.count, sizeof *list.items.items, compare_late);
    worst = &list.items.items[0];
    take_late(asker, &list);
    asker->why->step = worst->step;
    asker->why->duration_ns = worst->late_ns;
    asker->why->subject = arena_text(asker->arena, "%s comes later than %s to %s",
                                     who_is(asker, worst->rank), who_is(asker, worst->first),
                                     text_of(asker, asker->job->groups.items[worst->group].type));
    if (worst->row == NO_ID || worst->first_row == NO_ID)
        return true;
    first = &asker->job->ranks.items[worst->first];
    asker->why->start_ns =
        (double)(worst->first_ns - first->step_starts[worst->first_row] - first->shift_ns);
    for (int part = 0; part < PART_COUNT; part++)
        usual_ns[part] = (double)first->parts[worst->first_row][part];
    take_causes(asker, worst->rank, worst->first,
                asker->job->ranks.items[worst->rank].parts[worst->row], usual_ns, true);
    return true;
}

static bool ask(struct asker *asker, struct str what, struct err *err)
{
    struct str      rest = what, word = str_cut(&rest, ':');
    struct pattern *pattern;
    bool            is_done;

    if (str_equal(word, STR("step")))
        return why_step(asker, rest, err);
    if (!str_equal(word, STR("collective"))) {
        err_set(err, ERR_USAGE, "summaries of ranks hold no events to explain %.*s by",
                STR_ARG(word));
        return err_advise(err, "give the recording of the rank that you want to see");
    }
    pattern = pattern_new(rest, PATTERN_SEARCH, false, err);
    if (!pattern)
        return err_in(err, "%.*s", STR_ARG(what));
    is_done = why_collective(asker, pattern, err) && pattern_settled(pattern, err);
    pattern_free(pattern);
    return is_done;
}

bool job_why(struct why *why, const struct job *job, const char *what, struct arena *arena,
             struct err *err)
{
    struct asker asker = { .why = why, .job = job, .arena = arena };

    *why = (struct why) { .what = what ? what : "step:slowest" };
    if (!ask(&asker, str_from(why->what), err))
        return false;
    return (!asker.is_full && why->subject) ||
           err_set(err, ERR_LIMIT, "the explanation does not fit the memory limit");
}
