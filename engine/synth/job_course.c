#include "synth/job_course.h"

#include "base/macros.h"
#include "synth/noise.h"

#include <math.h>

enum { ON_MACHINE = 5 };   /* how much faster neighbours on a machine meet */
enum { STAGE_SLOWER = 2 }; /* how much longer a stage with a FAULT_SLOW_LINK reduces */
enum { DRAW_WORK = 1, DRAW_CLOCK, DRAW_UNEVEN, DRAW_PAUSE, DRAW_MEETING };
static const int64_t FIRST_NS = 1000000;

struct running {
    const struct job_sketch *sketch;
    struct job_course       *course;
    int64_t                 *at; /* where each rank is in time */
    int64_t                  step;
    uint64_t                 meeting; /* how many were there */
};

static double draw(const struct running *running, uint64_t what, uint64_t count)
{
    return noise_draw((uint64_t)running->sketch->seed, what, count);
}

/* Uniform over 0 … below: the sum of bell-shaped draws folded is not, its low bits are. */
static int64_t choose(const struct running *running, uint64_t what, uint64_t count, int64_t below)
{
    double value = draw(running, what, count) * 65536;

    return (int64_t)((value - floor(value)) * (double)below) % below;
}

static size_t cell(const struct running *running, int64_t rank)
{
    return (size_t)(rank * running->course->step_count + running->step);
}

static void plant_in_work(const struct running *running, const struct job_fault *fault)
{
    const struct job_sketch *sketch = running->sketch;
    int64_t                  rank = fault->rank;

    switch (fault->kind) {
    case FAULT_SLOW_RANK:
        running->course->work[cell(running, rank)][WORK_COMPUTE] +=
            (int64_t)(fault->share * (double)sketch->compute_ns);
        return;
    case FAULT_SLOW_STAGE:
        for (rank = fault->stage; rank < sketch->rank_count; rank += sketch->stage_count)
            running->course->work[cell(running, rank)][WORK_COMPUTE] +=
                (int64_t)(fault->share * (double)sketch->compute_ns);
        return;
    case FAULT_UNEVEN:
        rank = choose(running, DRAW_UNEVEN, (uint64_t)running->step, sketch->rank_count);
        running->course->work[cell(running, rank)][WORK_COMPUTE] += fault->ns;
        return;
    case FAULT_PAUSES:
        if (choose(running, DRAW_PAUSE, (uint64_t)running->step, fault->every) == 0)
            running->course->work[cell(running, rank)][WORK_HOST] += fault->ns;
        return;
    case FAULT_SAVES:
        if (running->step % fault->every == fault->every / 3)
            running->course->work[cell(running, 0)][WORK_OUTPUT] += fault->ns;
        return;
    default:
        return;
    }
}

static void do_work(const struct running *running, int64_t now)
{
    const struct job_sketch *sketch = running->sketch;

    for (int64_t rank = 0; rank < sketch->rank_count; rank++) {
        int64_t *work = running->course->work[cell(running, rank)];
        double   noise = draw(running, DRAW_WORK, (uint64_t)cell(running, rank));

        work[WORK_COMPUTE] =
            (int64_t)((double)sketch->compute_ns * fmax(0, 1 + sketch->noise_share * noise));
        work[WORK_HOST] = sketch->host_ns;
    }
    for (uint32_t i = 0; i < sketch->fault_count; i++)
        plant_in_work(running, &sketch->faults[i]);
    for (int64_t rank = 0; rank < sketch->rank_count; rank++) {
        const int64_t *work = running->course->work[cell(running, rank)];

        running->at[rank] = now + work[WORK_COMPUTE] + work[WORK_HOST] + work[WORK_OUTPUT];
    }
}

/* Every `stride`th rank from `first` to before `end`: they go on when the last one has come, and as
 * much later as it takes. */
static void meet(struct running *running, enum job_group_kind kind, int64_t first, int64_t end,
                 int64_t stride, int64_t takes_ns)
{
    double  noise = draw(running, DRAW_MEETING, running->meeting++);
    int64_t left_ns = 0;

    for (int64_t rank = first; rank < end; rank += stride)
        left_ns = running->at[rank] > left_ns ? running->at[rank] : left_ns;
    left_ns += (int64_t)((double)takes_ns * fmax(0, 1 + running->sketch->link_noise_share * noise));
    for (int64_t rank = first; rank < end; rank += stride) {
        running->course->meetings[cell(running, rank)][kind] =
            (struct job_meeting) { running->at[rank], left_ns };
        running->at[rank] = left_ns;
    }
}

/* What a rank and the next one take to meet. */
static int64_t pair_ns(const struct job_sketch *sketch, int64_t rank)
{
    int64_t ns = rank / sketch->machine_size == (rank + 1) / sketch->machine_size
                     ? sketch->link_ns / ON_MACHINE
                     : sketch->link_ns;

    for (uint32_t i = 0; i < sketch->fault_count; i++) {
        const struct job_fault *fault = &sketch->faults[i];

        if ((fault->kind == FAULT_SLOW_LINK && (fault->rank == rank || fault->rank == rank + 1)) ||
            (fault->kind == FAULT_SLOW_PAIR && fault->rank == rank))
            ns += fault->ns;
    }
    return ns;
}

static int64_t stage_ns(const struct job_sketch *sketch, int64_t stage)
{
    int64_t ns = sketch->reduce_ns;

    for (uint32_t i = 0; i < sketch->fault_count; i++)
        if (sketch->faults[i].kind == FAULT_SLOW_LINK &&
            sketch->faults[i].rank % sketch->stage_count == stage)
            ns *= STAGE_SLOWER;
    return ns;
}

/* Gives the end of the step. */
static int64_t run_step(struct running *running, int64_t now)
{
    const struct job_sketch *sketch = running->sketch;
    int64_t                  stages = sketch->stage_count;

    do_work(running, now);
    for (int kind = GROUP_EVEN; kind <= GROUP_ODD; kind++)
        for (int64_t rank = 0; rank < sketch->rank_count; rank++)
            if (rank % stages % 2 == kind && rank % stages != stages - 1)
                meet(running, (enum job_group_kind)kind, rank, rank + 2, 1, pair_ns(sketch, rank));
    for (int64_t stage = 0; stage < stages && sketch->rank_count > stages; stage++)
        meet(running, GROUP_STAGE, stage, sketch->rank_count, stages, stage_ns(sketch, stage));
    meet(running, GROUP_ALL, 0, sketch->rank_count, 1, sketch->meet_ns);
    for (int64_t rank = 0; rank < sketch->rank_count; rank++) {
        int64_t *work = running->course->work[cell(running, rank)];

        work[WORK_WAIT] =
            running->at[rank] - now - work[WORK_COMPUTE] - work[WORK_HOST] - work[WORK_OUTPUT];
    }
    return running->at[0];
}

bool job_course_make(const struct job_sketch *sketch, struct arena *arena,
                     struct job_course *course, struct err *err)
{
    struct running running = { .sketch = sketch, .course = course };
    size_t         ranks = (size_t)sketch->rank_count, steps = (size_t)sketch->step_count;
    size_t         machines = ranks / (size_t)sketch->machine_size + 1;

    *course = (struct job_course) {
        .rank_count = sketch->rank_count,
        .step_count = sketch->step_count,
        .starts = arena_new_array(arena, int64_t, steps + 1),
        .work = arena_alloc_array(arena, ranks * steps, sizeof *course->work),
        .meetings = arena_alloc_array(arena, ranks * steps, sizeof *course->meetings),
        .clock_ns = arena_new_array(arena, int64_t, machines),
    };
    running.at = arena_new_array(arena, int64_t, ranks);
    if (!course->starts || !course->work || !course->meetings || !course->clock_ns || !running.at)
        return err_memory(err, "the job");
    for (size_t i = 0; i < machines && sketch->clocks_ns > 0; i++)
        course->clock_ns[i] =
            choose(&running, DRAW_CLOCK, i, 2 * sketch->clocks_ns) - sketch->clocks_ns;
    course->starts[0] = FIRST_NS;
    for (running.step = 0; running.step < sketch->step_count; running.step++)
        course->starts[running.step + 1] = run_step(&running, course->starts[running.step]);
    return true;
}
