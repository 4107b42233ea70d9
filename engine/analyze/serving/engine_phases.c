#include "analyze/serving/engine_phases.h"

#include "analyze/device/device_activity.h"
#include "analyze/emit.h"
#include "analyze/ops/op_cost.h"
#include "base/macros.h"
#include "base/sample.h"
#include "model/names.h"

#include <math.h>

static const double MOST_USE = 1.05;
/* Kernels' time whose bytes are known, from which they speak for all. */
static const double      LEAST_KNOWN = 0.8;
static const char *const phases[] = { "prefill", "decode", "mixed", "unknown" };

/* What the steps of one phase take together. */
struct phase {
    double  steps, requests, tokens, token_steps, kv, kv_steps, gap_ns, gaps;
    double  kernel_ns, kernels, graph_kernels, launches, host_ns;
    double  between_ns, sampling_ns, wait_ns, rounds, read_backs, read_back_bytes;
    double  traffic, traffic_ns, run_ns; /* of kernels whose op's bytes are known; of all */
    double *device_ns;                   /* by step of the phase */
};
struct phaser {
    struct study              *study;
    const struct engine_steps *steps;
    double                     memory_bytes_per_s;
    struct arena               scratch;
    bool                      *is_counted; /* by event: the launch, or the bytes of the op, are */
    struct phase               list[ARRAY_COUNT(phases)];
};

double engine_gap_ns(const struct engine_steps *steps, size_t step)
{
    const struct engine_step *list = steps->list.items;

    return step > 0 && list[step].first_ns > list[step - 1].last_ns
               ? fmax(0,
                      (double)(list[step].first_ns - list[step - 1].last_ns) - list[step].other_ns)
               : 0;
}

static void add_other(const struct profile *profile, uint32_t event, struct engine_steps *steps)
{
    int64_t start_ns = event_start_ns(profile, event), end_ns = event_end_ns(profile, event);
    size_t  next = LOWER_BOUND(steps->list.count, i, steps->list.items[i].first_ns <= start_ns);

    if (next == 0 || next == steps->list.count || start_ns < steps->list.items[next - 1].last_ns)
        return;
    if (end_ns > steps->list.items[next].first_ns)
        end_ns = steps->list.items[next].first_ns;
    steps->list.items[next].other_ns += (double)(end_ns - start_ns);
}

void engine_steps_add_others(const struct profile *profile, uint32_t host,
                             struct engine_steps *steps)
{
    for (size_t i = 0; i < profile->timelines.count; i++) {
        const struct timeline *line = &profile->timelines.items[i];

        for (uint32_t j = 0;
             line->kind == TIMELINE_STREAM && line->host == host && j < line->event_count; j++)
            add_other(profile, line->first_event + j, steps);
    }
}

static struct phase *phase_of(struct phaser *phaser, const struct engine_step *step)
{
    size_t i = 0;

    while (i + 1 < ARRAY_COUNT(phases) &&
           !str_equal(str_from(engine_mark_phase(&step->mark)), str_from(phases[i])))
        i++;
    return &phaser->list[i];
}

static bool make(struct phaser *phaser)
{
    const struct profile *profile = phaser->study->profile;
    bool                  is_made = true;

    phaser->is_counted = arena_new_array(&phaser->scratch, bool, (size_t)profile->event_count + 1);
    for (size_t i = 0; i < ARRAY_COUNT(phases); i++) {
        phaser->list[i].device_ns =
            arena_new_array(&phaser->scratch, double, phaser->steps->list.count + 1);
        is_made = is_made && phaser->list[i].device_ns;
    }
    return is_made && phaser->is_counted;
}

static void add_mark(struct phaser *phaser, size_t i)
{
    const struct engine_step *step = &phaser->steps->list.items[i];
    struct phase             *phase = phase_of(phaser, step);

    phase->device_ns[(size_t)phase->steps++] = (double)(step->last_ns - step->first_ns);
    phase->requests += fmax(0, step->mark.prefills) + fmax(0, step->mark.decodes);
    phase->tokens += fmax(0, step->mark.tokens);
    phase->token_steps += step->mark.tokens >= 0;
    phase->kv += fmax(0, step->mark.kv_tokens);
    phase->kv_steps += step->mark.kv_tokens >= 0;
    phase->kernel_ns += step->kernel_ns;
    phase->kernels += step->kernels;
    phase->graph_kernels += step->graph_kernels;
    phase->host_ns += phaser->steps->are_programs ? NAN : (double)(step->end_ns - step->start_ns);
    if (i > 0) {
        phase->gap_ns += engine_gap_ns(phaser->steps, i);
        phase->gaps++;
    }
}

/* The last step that began by a time: what it does between two ranges is the former's. */
static const struct engine_step *round_at(const struct engine_steps *steps, int64_t time_ns)
{
    size_t low = LOWER_BOUND(steps->list.count, i, steps->list.items[i].start_ns <= time_ns);

    return low > 0 ? &steps->list.items[low - 1] : NULL;
}

/* The bytes of an op's call count once, however many kernels it launches. What is more than the
 * memory moves in that time is not read whole: operands are caches of pages, or stand in caches. */
static void add_traffic(struct phaser *phaser, struct phase *phase, uint32_t event, uint32_t launch)
{
    const struct profile *profile = phaser->study->profile;
    uint32_t              call = event, op = event_activity(profile, event)->op;

    for (uint32_t at = launch; op == NO_ID && at != NO_ID; at = phaser->study->around[at])
        if (event_activity(profile, at)->kind == ACTIVITY_OP) {
            call = at;
            op = event_activity(profile, at)->op;
        }
    double bytes = op == NO_ID ? -1 : op_bytes(profile, &profile->ops.items[op]);
    double ns = (double)event_duration_ns(profile, event);

    phase->run_ns += ns;
    if (bytes <= 0 || bytes * 1e9 > MOST_USE * phaser->memory_bytes_per_s * ns)
        return;
    phase->traffic_ns += ns;
    phase->traffic += phaser->is_counted[call] ? 0 : bytes;
    phaser->is_counted[call] = true;
}

static void add_work(struct phaser *phaser, uint32_t event)
{
    const struct profile     *profile = phaser->study->profile;
    const struct activity    *activity = event_activity(profile, event);
    uint32_t                  launch = phaser->study->devices->launch_of[event];
    const struct engine_step *step =
        launch == NO_ID ? NULL : round_at(phaser->steps, event_start_ns(profile, launch));
    struct phase *phase = step ? phase_of(phaser, step) : NULL;
    int64_t       bytes = 0;

    if (!phase)
        return;
    if (activity->kind == ACTIVITY_MEMCPY && activity->copy == COPY_D2H) {
        phase->read_backs++;
        if (profile_stat(profile, STAT_BYTES, event, &bytes))
            phase->read_back_bytes += (double)bytes;
    }
    if (event_start_ns(profile, launch) >= step->end_ns)
        return;
    phase->launches += !phaser->is_counted[launch];
    phaser->is_counted[launch] = true;
    if (activity->kind == ACTIVITY_KERNEL)
        add_traffic(phaser, phase, event, launch);
}

/* Ranges and frames say nothing of what is done in them. */
static bool is_work(const struct activity *activity)
{
    return activity->kind != ACTIVITY_PYTHON && activity->kind != ACTIVITY_SYNC &&
           activity->kind != ACTIVITY_WAIT && activity_kind_class(activity->kind) != CLASS_MARK;
}

/* What adds to a sum: the outermost events of a kind, up to the next step. */
struct outermost {
    int64_t from_ns, until_ns, reached_ns;
    double  sum_ns;
};

static void add_outermost(const struct profile *profile, uint32_t event, struct outermost *sum)
{
    int64_t start_ns = event_start_ns(profile, event), end_ns = event_end_ns(profile, event);

    if (start_ns < sum->from_ns || start_ns < sum->reached_ns)
        return;
    sum->reached_ns = end_ns;
    sum->sum_ns += (double)((end_ns < sum->until_ns ? end_ns : sum->until_ns) - start_ns);
}

/* Of a step that another one follows on its thread: until that begins, what the thread waits, what
 * it does to choose tokens, and what it does between the two. */
static void add_round(struct phaser *phaser, size_t i)
{
    const struct profile     *profile = phaser->study->profile;
    const struct engine_step *step = &phaser->steps->list.items[i], *next = step + 1;
    const struct timeline    *line = &profile->timelines.items[step->timeline];
    struct phase             *phase = phase_of(phaser, step);

    if (i + 1 == phaser->steps->list.count || next->timeline != step->timeline)
        return;
    struct outermost waits = { step->start_ns, next->start_ns, INT64_MIN, 0 };
    struct outermost chooses = waits, between = { step->end_ns, next->start_ns, INT64_MIN, 0 };

    for (uint32_t event = line->first_event; event < line->first_event + line->event_count;
         event++) {
        const struct activity *activity = event_activity(profile, event);

        if (event_start_ns(profile, event) >= next->start_ns)
            break;
        if (activity->kind == ACTIVITY_SYNC)
            add_outermost(profile, event, &waits);
        if (name_is(profile_str(profile, activity->name), NAMES_CHOOSES_TOKENS))
            add_outermost(profile, event, &chooses);
        if (is_work(activity))
            add_outermost(profile, event, &between);
    }
    phase->rounds++;
    phase->wait_ns += waits.sum_ns;
    phase->sampling_ns += chooses.sum_ns;
    phase->between_ns += between.sum_ns;
}

static void collect(struct phaser *phaser)
{
    const struct profile *profile = phaser->study->profile;

    for (size_t i = 0; i < phaser->steps->list.count; i++) {
        add_mark(phaser, i);
        if (!phaser->steps->are_programs)
            add_round(phaser, i);
    }
    for (size_t t = 0; !phaser->steps->are_programs && t < profile->timelines.count; t++) {
        const struct timeline *line = &profile->timelines.items[t];

        for (uint32_t i = 0; line->kind == TIMELINE_STREAM &&
                             line->host == phaser->study->steps.host && i < line->event_count;
             i++)
            add_work(phaser, line->first_event + i);
    }
}

/* NaN, which a table shows as nothing, where nothing was counted. */
static double mean(double sum, double count)
{
    return count > 0 ? sum / count : NAN;
}

/* NaN where most kernels' bytes are not known, as those of replayed graphs without their capture:
 * the few that are launched beside a graph say nothing of what the graph reads. */
static double bandwidth_share(const struct phaser *phaser, const struct phase *phase)
{
    return phase->traffic_ns >= LEAST_KNOWN * phase->run_ns
               ? mean(phase->traffic * 1e9, phase->traffic_ns * phaser->memory_bytes_per_s)
               : NAN;
}

static bool emit_phase(struct phaser *phaser, struct phase *phase, const char *name,
                       struct table *table)
{
    size_t       row = table_add(table, phaser->study->arena);
    double       step_ns = sample_middle(phase->device_ns, (size_t)phase->steps);
    double       told = phaser->steps->are_programs ? 0 : phase->steps; /* of what the host does */
    double       round_ns = step_ns + (phase->gaps > 0 ? phase->gap_ns / phase->gaps : 0);
    const double values[PHASE_COLUMN_COUNT] = {
        [PHASE_STEPS] = phase->steps,
        [PHASE_REQUESTS] = mean(phase->requests, phase->requests > 0 ? phase->steps : 0),
        [PHASE_TOKENS] = mean(phase->tokens, phase->token_steps),
        [PHASE_KV_TOKENS] = mean(phase->kv, phase->kv_steps),
        [PHASE_STEP_NS] = step_ns,
        [PHASE_KERNEL_NS] = mean(phase->kernel_ns, phase->steps),
        [PHASE_KERNELS] = mean(phase->kernels, phase->steps),
        [PHASE_LAUNCHES] = mean(phase->launches, told),
        [PHASE_GRAPH_SHARE] = mean(phase->graph_kernels, phase->kernels),
        [PHASE_GAP_NS] = mean(phase->gap_ns, phase->gaps),
        [PHASE_HOST_NS] = mean(phase->host_ns, phase->steps),
        [PHASE_BETWEEN_NS] = mean(phase->between_ns, phase->rounds),
        [PHASE_SAMPLING_NS] = mean(phase->sampling_ns, phase->rounds),
        [PHASE_WAIT_NS] = mean(phase->wait_ns, phase->rounds),
        [PHASE_READ_BACKS] = mean(phase->read_backs, told),
        [PHASE_READ_BACK_BYTES] = mean(phase->read_back_bytes, told),
        [PHASE_TOKENS_PER_S] =
            phase->requests > 0 ? phase->requests / phase->steps / round_ns * 1e9 : NAN,
        [PHASE_BANDWIDTH_SHARE] = bandwidth_share(phaser, phase),
    };

    if (row == SIZE_MAX)
        return false;
    emit_name(table, PHASE_NAME, row, facts_name(&phaser->study->facts, str_from(name)));
    for (int i = PHASE_STEPS; i < PHASE_COLUMN_COUNT; i++)
        if (isfinite(values[i]))
            emit_number(table, i, row, values[i]);
    return true;
}

bool engine_phases_fill(struct study *study, const struct engine_steps *steps,
                        double memory_bytes_per_s, struct table *table)
{
    struct phaser phaser = { .study = study,
                             .steps = steps,
                             .memory_bytes_per_s = memory_bytes_per_s };
    bool          is_done = make(&phaser);

    if (is_done)
        collect(&phaser);
    for (size_t i = 0; i < ARRAY_COUNT(phases) && is_done; i++)
        if (phaser.list[i].steps > 0)
            is_done = emit_phase(&phaser, &phaser.list[i], phases[i], table);
    arena_free(&phaser.scratch);
    return is_done;
}
