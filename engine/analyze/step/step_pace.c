#include "analyze/step/step_pace.h"

#include "analyze/study.h"
#include "base/sample.h"
#include "base/sort.h"

#include <math.h>
#include <stdlib.h>

/* Beyond what steps of one program differ by on a quiet machine. */
static const double LONGER = 1.3, SLOWER = 1.4, AS_MANY = 0.1;
/* Few steps are an exception, and enough are left to tell what is usual. */
static const double MOST_SHARE = 0.34;
enum { LEAST_LAUNCHES = 20, LEAST_LEFT = 3 };

struct call {
    uint32_t step; /* row of steps->list */
    double   ns;
};
struct pace { /* of a step */
    uint32_t step;
    double   count, ns; /* of its launches: how many, and the median */
};
struct pacing {
    struct study *study;
    struct arena *scratch;
    VEC(struct call) calls;
    VEC(struct pace) paces;
};

static int compare_calls(const void *a, const void *b)
{
    const struct call *left = a, *right = b;

    return IN_ORDER(COMPARE(left->step, right->step), COMPARE(left->ns, right->ns));
}

static int64_t begin_ns(const struct step *step)
{
    return step->called_end_ns > 0 ? step->called_start_ns : step->start_ns;
}

static int64_t end_ns(const struct step *step)
{
    return step->called_end_ns > 0 ? step->called_end_ns : step->end_ns;
}

/* Launches of a thread by the step of the reference host that they were made in. */
static bool add_calls(struct pacing *pacing, const struct timeline *timeline)
{
    const struct profile *profile = pacing->study->profile;
    const struct steps   *steps = &pacing->study->steps;
    uint32_t              step = 0;

    for (uint32_t i = 0; i < timeline->event_count; i++) {
        uint32_t event = timeline->first_event + i;
        int64_t  at_ns = event_start_ns(profile, event);

        if (event_activity(profile, event)->kind != ACTIVITY_LAUNCH)
            continue;
        while (step < steps->list.count && (steps->list.items[step].host != steps->host ||
                                            end_ns(&steps->list.items[step]) <= at_ns))
            step++;
        if (step < steps->list.count && begin_ns(&steps->list.items[step]) <= at_ns &&
            steps->list.items[step].is_used &&
            !vec_push(&pacing->calls, pacing->scratch,
                      (struct call) { step, (double)event_duration_ns(profile, event) }))
            return false;
    }
    return true;
}

static bool find_paces(struct pacing *pacing)
{
    const struct profile *profile = pacing->study->profile;
    size_t                end;

    for (size_t i = 0; i < profile->timelines.count; i++)
        if (profile->timelines.items[i].kind == TIMELINE_THREAD &&
            profile->timelines.items[i].host == pacing->study->steps.host &&
            !add_calls(pacing, &profile->timelines.items[i]))
            return false;
    if (pacing->calls.count > 1)
        qsort(pacing->calls.items, pacing->calls.count, sizeof *pacing->calls.items, compare_calls);
    for (size_t i = 0; i < pacing->calls.count; i = end) {
        struct pace pace = { .step = pacing->calls.items[i].step };

        for (end = i; end < pacing->calls.count && pacing->calls.items[end].step == pace.step;)
            end++;
        pace.count = (double)(end - i);
        pace.ns = pacing->calls.items[i + (end - i) / 2].ns;
        if (end - i >= LEAST_LAUNCHES && !vec_push(&pacing->paces, pacing->scratch, pace))
            return false;
    }
    return true;
}

static double length_ns(const struct pacing *pacing, const struct pace *pace)
{
    const struct step *step = &pacing->study->steps.list.items[pace->step];

    return (double)(step->end_ns - step->start_ns);
}

static bool is_held_up(const struct pacing *pacing, const struct pace *pace,
                       const struct pace *usual, double usual_ns)
{
    return pace->ns > SLOWER * usual->ns && length_ns(pacing, pace) > LONGER * usual_ns &&
           fabs(pace->count - usual->count) <= AS_MANY * usual->count;
}

static void leave_out(struct pacing *pacing, const struct pace *usual, double usual_ns)
{
    size_t held_up = 0, count = pacing->paces.count;

    for (size_t i = 0; i < count; i++)
        held_up += is_held_up(pacing, &pacing->paces.items[i], usual, usual_ns);
    if ((double)held_up > MOST_SHARE * (double)count || count - held_up < LEAST_LEFT)
        return;
    for (size_t i = 0; i < count; i++) {
        const struct pace *pace = &pacing->paces.items[i];
        struct step       *step = &pacing->study->steps.list.items[pace->step];

        if (is_held_up(pacing, pace, usual, usual_ns)) {
            step->is_used = false;
            step->left_out = "whatever the host called took longer: something else ran beside it";
        }
    }
}

bool step_pace_leave_out(struct study *study, struct arena *scratch)
{
    struct pacing pacing = { .study = study, .scratch = scratch };
    struct pace   usual = { 0 };
    double       *values;
    double        usual_ns;
    size_t        count;

    if (study->steps.source == STEPS_WHOLE_TRACE || study->steps.list.count < LEAST_LEFT + 1)
        return true;
    if (!find_paces(&pacing))
        return false;
    count = pacing.paces.count;
    values = arena_new_array(scratch, double, count + 1);
    if (!values)
        return false;
    if (count <= LEAST_LEFT)
        return true;
    for (size_t i = 0; i < count; i++)
        values[i] = pacing.paces.items[i].ns;
    usual.ns = sample_median(values, count);
    for (size_t i = 0; i < count; i++)
        values[i] = pacing.paces.items[i].count;
    usual.count = sample_median(values, count);
    for (size_t i = 0; i < count; i++)
        values[i] = length_ns(&pacing, &pacing.paces.items[i]);
    usual_ns = sample_median(values, count);
    leave_out(&pacing, &usual, usual_ns);
    return true;
}
