/*
 * serving: steps of engines that serve language models, by the ranges that they mark them with and
 * the work launched in each; and whether the program trains at all, since much advice is for
 * programs that do.
 */
#include "analyze/analysis.h"
#include "analyze/device/device_activity.h"
#include "analyze/emit.h"
#include "analyze/serving/engine_phases.h"
#include "analyze/serving/program_steps.h"
#include "base/macros.h"
#include "base/sample.h"
#include "base/sort.h"
#include "model/hardware.h"
#include "model/name_class.h"
#include "model/names.h"

#include <math.h>
#include <stdlib.h>

enum serving_fact {
    STEPS,
    PHASE,
    REQUESTS,
    TOKENS,
    KV_TOKENS,
    STEP_NS,
    GAP_NS,
    TOKENS_PER_S,
    GRAPH_SHARE,
    MEMORY_BOUND,
    TRAINS,
    FACT_COUNT
};
static const struct fact_spec produces[] = {
    [STEPS] = { "serving.steps", UNIT_COUNT,
                "steps of an engine, marked or told by its calls or by names of its programs, that "
                "did "
                "work" },
    [PHASE] = { "serving.phase", UNIT_NAME,
                "what most of their time goes to: prefill, decode or mixed" },
    [REQUESTS] = { "serving.requests", UNIT_COUNT, "requests in a step of that phase, mean" },
    [TOKENS] = { "serving.tokens", UNIT_COUNT,
                 "tokens through the model in such a step, mean, where told" },
    [KV_TOKENS] = { "serving.kv_tokens", UNIT_COUNT,
                    "tokens that attention looks back at, mean, where told" },
    [STEP_NS] = { "serving.step_ns", UNIT_NS,
                  "from a step's first work on the device to its last, median" },
    [GAP_NS] = { "serving.gap_ns", UNIT_NS, "without work from one step to the next, mean" },
    [TOKENS_PER_S] = { "serving.tokens_per_s", UNIT_NONE,
                       "new tokens a second: one a request and step" },
    [GRAPH_SHARE] = { "serving.graph_share", UNIT_SHARE,
                      "share of kernels that a replayed graph launched" },
    [MEMORY_BOUND] = { "serving.memory_bound_share", UNIT_SHARE,
                       "of the engine's time on the device, in steps whose tokens are fewer than "
                       "the "
                       "operations that the device does while it reads a byte" },
    [TRAINS] = { "serving.trains", UNIT_BOOL,
                 "a backward pass or an optimizer is in the recording" },
};
enum step_column {
    NAME,
    STEP_PHASE,
    PREFILLS,
    DECODES,
    STEP_TOKENS,
    STEP_KV,
    HOST_NS,
    DEVICE_NS,
    KERNEL_NS,
    KERNELS,
    GRAPH_KERNELS,
    GAP
};
static const struct column_spec columns[] = {
    [NAME] = { "name", UNIT_NAME, "the range, or the program" },
    [STEP_PHASE] = { "phase", UNIT_NAME, "prefill, decode, mixed or unknown" },
    [PREFILLS] = { "prefills", UNIT_COUNT, "requests whose prompts are read" },
    [DECODES] = { "decodes", UNIT_COUNT, "requests that get their next token" },
    [STEP_TOKENS] = { "tokens", UNIT_COUNT, "tokens through the model" },
    [STEP_KV] = { "kv_tokens", UNIT_COUNT, "tokens that attention looks back at" },
    [HOST_NS] = { "host_ns", UNIT_NS, "the range on the host" },
    [DEVICE_NS] = { "device_ns", UNIT_NS,
                    "from the first work launched in it to the end of the last" },
    [KERNEL_NS] = { "kernel_ns", UNIT_NS, "time of that work" },
    [KERNELS] = { "kernels", UNIT_COUNT, "kernels launched in it" },
    [GRAPH_KERNELS] = { "graph_kernels", UNIT_COUNT, "of them, by a replayed graph" },
    [GAP] = { "gap_ns", UNIT_NS, "without work since the step before" },
};
static const struct column_spec phase_columns[PHASE_COLUMN_COUNT] = {
    [PHASE_NAME] = { "phase", UNIT_NAME, "prefill, decode, mixed or unknown" },
    [PHASE_STEPS] = { "steps", UNIT_COUNT, "steps of it that did work" },
    [PHASE_REQUESTS] = { "requests", UNIT_COUNT, "requests in a step, mean" },
    [PHASE_TOKENS] = { "tokens", UNIT_COUNT, "tokens through the model in a step, mean" },
    [PHASE_KV_TOKENS] = { "kv_tokens", UNIT_COUNT, "tokens that attention looks back at, mean" },
    [PHASE_STEP_NS] = { "step_ns", UNIT_NS,
                        "from a step's first work on the device to its last, median" },
    [PHASE_KERNEL_NS] = { "kernel_ns", UNIT_NS, "time of that work, mean" },
    [PHASE_KERNELS] = { "kernels", UNIT_COUNT, "kernels a step" },
    [PHASE_LAUNCHES] = { "launches", UNIT_COUNT, "calls that launched a step's work" },
    [PHASE_GRAPH_SHARE] = { "graph_share", UNIT_SHARE, "kernels that a replayed graph launched" },
    [PHASE_GAP_NS] = { "gap_ns", UNIT_NS, "without work since the step before, mean" },
    [PHASE_HOST_NS] = { "host_ns", UNIT_NS, "the range on the host, mean" },
    [PHASE_BETWEEN_NS] = { "between_ns", UNIT_NS,
                           "in ops and calls of the host between the range and the next one: "
                           "scheduling, choosing tokens" },
    [PHASE_SAMPLING_NS] = { "sampling_ns", UNIT_NS, "on the host in ops that choose tokens" },
    [PHASE_WAIT_NS] = { "wait_ns", UNIT_NS, "the host waits for the device, a step" },
    [PHASE_READ_BACKS] = { "read_backs", UNIT_COUNT, "copies to the host a step" },
    [PHASE_READ_BACK_BYTES] = { "read_back_bytes", UNIT_BYTES, "their bytes" },
    [PHASE_TOKENS_PER_S] = { "tokens_per_s", UNIT_NONE,
                             "new tokens a second: one a request and step" },
    [PHASE_BANDWIDTH_SHARE] = { "bandwidth_share", UNIT_SHARE,
                                "of the memory's bandwidth, in kernels whose op's bytes are "
                                "known; not told where those take less than four fifths of kernel "
                                "time, as beside replayed graphs whose capture is not given" },
};
static const struct table_spec tables[] = {
    { "engine_steps", "steps of an engine that serves language models", columns,
      ARRAY_COUNT(columns) },
    { "engine_phases", "what steps of a serving engine take, by what they do", phase_columns,
      ARRAY_COUNT(phase_columns) },
};

struct serving {
    struct study       *study;
    struct arena       *scratch;
    struct windows      windows;
    uint32_t            host;
    struct engine_steps steps;
    struct name_classes names;
};

enum { NAMES_NOTHING, NAMES_STEP, NAMES_CALL, NAMES_PHASE, NAMES_PROGRAM, NAMES_CACHE };

/* Calls of the engine tell where a step is, and not for whom; a server's own ranges, and calls of
 * compiled programs, which phase it is. */
static uint8_t name_tells(struct str name)
{
    struct engine_mark mark;

    return engine_mark_parse(name, &mark)                         ? NAMES_STEP
           : engine_call(name)                                    ? NAMES_CALL
           : name_is(name, NAMES_CACHES_TOKENS)                   ? NAMES_CACHE
           : engine_phase(name)                                   ? NAMES_PHASE
           : name_is(name, NAMES_JIT_CALL) && program_phase(name) ? NAMES_PROGRAM
                                                                  : NAMES_NOTHING;
}

static bool add_marks(struct serving *serving, const struct timeline *line, uint8_t wanted)
{
    const struct profile *profile = serving->study->profile;
    int64_t               free_ns = INT64_MIN; /* ranges inside a range are the same step */

    for (uint32_t i = line->first_event; i < line->first_event + line->event_count; i++) {
        uint32_t           name = event_activity(profile, i)->name;
        struct engine_step step = { .name = name,
                                    .timeline = (uint32_t)(line - profile->timelines.items) };

        if (name_class(&serving->names, name) != wanted || event_start_ns(profile, i) < free_ns)
            continue;
        step.start_ns = event_start_ns(profile, i);
        step.end_ns = event_end_ns(profile, i);
        engine_mark_parse(profile_str(profile, name), &step.mark);
        step.mark.guess = wanted == NAMES_PHASE     ? engine_phase(profile_str(profile, name))
                          : wanted == NAMES_PROGRAM ? program_phase(profile_str(profile, name))
                                                    : NULL;
        free_ns = step.end_ns;
        if (!vec_push(&serving->steps.list, serving->scratch, step))
            return false;
    }
    return true;
}

static int compare_steps(const void *a, const void *b)
{
    const struct engine_step *left = a, *right = b;

    return COMPARE(left->start_ns, right->start_ns);
}

/* The step whose range holds a time, or NULL. */
static struct engine_step *step_at(struct serving *serving, int64_t time_ns)
{
    size_t low =
        LOWER_BOUND(serving->steps.list.count, i, serving->steps.list.items[i].start_ns <= time_ns);

    return low > 0 && serving->steps.list.items[low - 1].end_ns > time_ns
               ? &serving->steps.list.items[low - 1]
               : NULL;
}

/* As many as the kernel that caches their keys and values has blocks. */
static void count_tokens(const struct serving *serving, uint32_t event, struct engine_step *step)
{
    const struct profile *profile = serving->study->profile;
    int64_t               row;

    if (name_class(&serving->names, event_activity(profile, event)->name) == NAMES_CACHE &&
        profile_stat(profile, STAT_KERNEL_CONFIG, event, &row) && row >= 0 &&
        (uint64_t)row < profile->kernel_configs.count)
        step->cached_tokens = fmax(step->cached_tokens, profile->kernel_configs.items[row].grid[0]);
}

/* As many tokens as most of the time of products has rows. */
static void count_rows(const struct profile *profile, uint32_t event, struct engine_step *step)
{
    uint32_t op = event_activity(profile, event)->op;
    double   rows = op == NO_ID ? 0 : program_product_rows(profile, &profile->ops.items[op]);
    double   ns = (double)event_duration_ns(profile, event);

    if (rows <= 0)
        return;
    step->product_ns += rows == step->product_rows ? ns : -ns;
    if (step->product_ns < 0) {
        step->product_ns = -step->product_ns;
        step->product_rows = rows;
    }
}

static void add_work(struct serving *serving, uint32_t event)
{
    const struct profile *profile = serving->study->profile;
    uint32_t              launch = serving->study->devices->launch_of[event];
    uint8_t               kind = event_activity(profile, event)->kind;
    struct engine_step   *step =
        launch == NO_ID ? NULL : step_at(serving, event_start_ns(profile, launch));
    int64_t start_ns = event_start_ns(profile, event), end_ns = event_end_ns(profile, event);

    /* A recording that counts as one step begins behind waits for work from before it. */
    if (!step || (serving->study->steps.source == STEPS_WHOLE_TRACE &&
                  windows_find(&serving->windows, start_ns) == SIZE_MAX))
        return;
    if (step->last_ns == 0 || start_ns < step->first_ns)
        step->first_ns = start_ns;
    if (step->last_ns == 0 || end_ns > step->last_ns)
        step->last_ns = end_ns;
    step->kernel_ns += (double)(end_ns - start_ns);
    if (kind != ACTIVITY_KERNEL && kind != ACTIVITY_COLLECTIVE)
        return;
    count_tokens(serving, event, step);
    count_rows(profile, event, step);
    step->kernels++;
    step->graph_kernels += str_contains(profile_str(profile, event_activity(profile, launch)->name),
                                        STR("GraphLaunch"));
}

static bool is_replayed(const struct engine_step *step)
{
    return step->graph_kernels * 2 > step->kernels;
}

/* Engines replay graphs, again and again of as much work, for steps that write tokens; one that
 * launches kernel by kernel beside them, and is much longer, reads prompts. */
static bool guess_phases(struct serving *serving)
{
    static const double LONGER = 2;
    enum { FEWEST = 3 };
    struct engine_steps *steps = &serving->steps;
    double              *lengths = arena_new_array(serving->scratch, double, steps->list.count + 1);
    double               usual_ns;
    size_t               count = 0;

    for (size_t i = 0; lengths && i < steps->list.count; i++)
        if (is_replayed(&steps->list.items[i]))
            lengths[count++] = steps->list.items[i].kernel_ns;
    if (!lengths || count < FEWEST)
        return lengths != NULL;
    usual_ns = sample_middle(lengths, count);
    for (size_t i = 0; i < steps->list.count; i++) {
        struct engine_step *step = &steps->list.items[i];

        if (step->kernel_ns < LONGER * usual_ns)
            step->mark.guess = is_replayed(step) ? "decode" : NULL;
        else
            step->mark.guess = step->graph_kernels == 0 ? "prefill" : NULL;
    }
    return true;
}

static bool collect_ranges(struct serving *serving, uint8_t wanted)
{
    const struct profile *profile = serving->study->profile;

    for (size_t i = 0; i < profile->timelines.count; i++)
        if (profile->timelines.items[i].kind == TIMELINE_THREAD &&
            profile->timelines.items[i].host == serving->host &&
            !add_marks(serving, &profile->timelines.items[i], wanted))
            return false;
    return true;
}

/* Pictures are decoded, too: without a name that only servers use there are no steps. */
static void keep_server(struct serving *serving, uint8_t by)
{
    const struct profile *profile = serving->study->profile;
    size_t                i = 0;

    if (by == NAMES_PHASE)
        while (i < serving->steps.list.count &&
               !engine_phase_is_server(profile_str(profile, serving->steps.list.items[i].name)))
            i++;
    else if (by == NAMES_PROGRAM)
        while (i < serving->steps.list.count &&
               !program_is_server(profile_str(profile, serving->steps.list.items[i].name)))
            i++;
    if (i == serving->steps.list.count)
        serving->steps.list.count = 0;
}

static bool collect(struct serving *serving)
{
    const struct profile *profile = serving->study->profile;
    size_t                kept = 0;
    uint8_t               by = NAMES_STEP;

    if (!name_classes_open(&serving->names, profile, name_tells, serving->scratch) ||
        !collect_ranges(serving, by))
        return false;
    while (serving->steps.list.count == 0 && by < NAMES_PROGRAM) {
        if (!collect_ranges(serving, ++by))
            return false;
        keep_server(serving, by);
    }
    if (serving->steps.list.count > 1)
        qsort(serving->steps.list.items, serving->steps.list.count,
              sizeof *serving->steps.list.items, compare_steps);
    for (size_t i = 0; serving->steps.list.count && i < profile->timelines.count; i++) {
        const struct timeline *line = &profile->timelines.items[i];

        for (uint32_t j = 0;
             line->kind == TIMELINE_STREAM && line->host == serving->host && j < line->event_count;
             j++)
            add_work(serving, line->first_event + j);
    }
    for (size_t i = 0; i < serving->steps.list.count; i++) {
        struct engine_step *step = &serving->steps.list.items[i];

        if (step->mark.tokens < 0 && step->cached_tokens > 0)
            step->mark.tokens = step->cached_tokens;
        else if (step->mark.tokens < 0 && step->product_rows > 0)
            step->mark.tokens = step->product_rows;
        if (step->kernels > 0)
            serving->steps.list.items[kept++] = *step;
    }
    serving->steps.list.count = kept;
    engine_steps_add_others(profile, serving->host, &serving->steps);
    return by != NAMES_CALL || guess_phases(serving);
}

static bool fill(struct serving *serving)
{
    struct facts *facts = &serving->study->facts;
    struct table *table = facts_table(facts, &tables[0]);

    for (size_t i = 0; table && i < serving->steps.list.count; i++) {
        const struct engine_step *step = &serving->steps.list.items[i];
        const struct engine_mark *mark = &step->mark;
        size_t                    row = table_add(table, serving->study->arena);

        if (row == SIZE_MAX)
            return false;
        emit_name(table, NAME, row, step->name);
        emit_name(table, STEP_PHASE, row, facts_name(facts, str_from(engine_mark_phase(mark))));
        if (mark->prefills >= 0)
            emit_number(table, PREFILLS, row, mark->prefills);
        if (mark->decodes >= 0)
            emit_number(table, DECODES, row, mark->decodes);
        if (mark->tokens >= 0)
            emit_number(table, STEP_TOKENS, row, mark->tokens);
        if (mark->kv_tokens >= 0)
            emit_number(table, STEP_KV, row, mark->kv_tokens);
        if (!serving->steps.are_programs)
            emit_number(table, HOST_NS, row, (double)(step->end_ns - step->start_ns));
        emit_number(table, DEVICE_NS, row, (double)(step->last_ns - step->first_ns));
        if (isfinite(step->kernel_ns))
            emit_number(table, KERNEL_NS, row, step->kernel_ns);
        if (isfinite(step->kernels)) {
            emit_number(table, KERNELS, row, step->kernels);
            emit_number(table, GRAPH_KERNELS, row, step->graph_kernels);
        }
        emit_number(table, GAP, row, engine_gap_ns(&serving->steps, i));
    }
    return table != NULL;
}

/* The phase that most of the steps' time on the device goes to. */
static const char *leading_phase(const struct serving *serving)
{
    static const char *const phases[] = { "prefill", "decode", "mixed", "unknown" };
    double                   ns[ARRAY_COUNT(phases)] = { 0 };
    size_t                   best = 0;

    for (size_t i = 0; i < serving->steps.list.count; i++)
        for (size_t j = 0; j < ARRAY_COUNT(phases); j++)
            if (str_equal(str_from(engine_mark_phase(&serving->steps.list.items[i].mark)),
                          str_from(phases[j])))
                ns[j] += (double)(serving->steps.list.items[i].last_ns -
                                  serving->steps.list.items[i].first_ns);
    for (size_t j = 1; j < ARRAY_COUNT(phases); j++)
        if (ns[j] > ns[best])
            best = j;
    return phases[best];
}

/* Of the device that works most; NULL: its model is not known. */
static const struct hardware *leading_hardware(const struct serving *serving, struct hardware *made)
{
    const struct profile    *profile = serving->study->profile;
    const struct device_row *row = device_activity_leading(serving->study);
    const struct device     *device = row ? &profile->devices.items[row->device] : NULL;

    return device ? hardware_of(profile, device, made) : NULL;
}

static double memory_bytes_per_s(const struct serving *serving)
{
    struct hardware        made;
    const struct hardware *hardware = leading_hardware(serving, &made);

    return hardware ? hardware->memory_bytes_per_s : 0;
}

/* Operations in 16 bits that the device does in the time that a byte takes; 0: not known. */
static double balance(const struct serving *serving)
{
    struct hardware        made;
    const struct hardware *hardware = leading_hardware(serving, &made);

    return hardware && hardware->memory_bytes_per_s > 0
               ? hardware->f16_flops_per_s / hardware->memory_bytes_per_s
               : 0;
}

/* A weight of two bytes is two operations for each token that goes through: as many operations a
 * byte as tokens. Narrower weights come with as much faster arithmetic. NaN: what is in the steps
 * is not told. */
static double memory_bound_share(const struct serving *serving)
{
    double bound_ns = 0, known_ns = 0, most = balance(serving);
    bool   are_shown = false; /* steps, and not only those that the verdict leaves out */

    for (size_t i = 0; i < serving->steps.list.count; i++) {
        const struct engine_step *step = &serving->steps.list.items[i];
        double                    tokens = step->mark.tokens;
        bool is_shown = windows_find(&serving->windows, step->first_ns) != SIZE_MAX;

        if (tokens < 0 && step->mark.prefills == 0)
            tokens = step->mark.decodes;
        if (tokens < 0 || (are_shown && !is_shown))
            continue;
        if (is_shown && !are_shown)
            bound_ns = known_ns = 0;
        are_shown = are_shown || is_shown;
        known_ns += step->kernel_ns;
        bound_ns += tokens < most ? step->kernel_ns : 0;
    }
    return known_ns > 0 && most > 0 ? bound_ns / known_ns : NAN;
}

struct sums {
    double count, requests, tokens, token_steps, kv, kv_steps, gap_ns, gaps, kernels, graph_kernels;
};

static void add_step(const struct serving *serving, size_t i, struct sums *sums)
{
    const struct engine_step *step = &serving->steps.list.items[i];

    sums->count++;
    sums->requests += fmax(0, step->mark.prefills) + fmax(0, step->mark.decodes);
    if (step->mark.tokens >= 0) {
        sums->tokens += step->mark.tokens;
        sums->token_steps++;
    }
    if (step->mark.kv_tokens >= 0) {
        sums->kv += step->mark.kv_tokens;
        sums->kv_steps++;
    }
    if (i > 0) {
        sums->gap_ns += engine_gap_ns(&serving->steps, i);
        sums->gaps++;
    }
    sums->kernels += step->kernels;
    sums->graph_kernels += step->graph_kernels;
}

static bool set_facts(struct serving *serving)
{
    struct facts *facts = &serving->study->facts;
    const char   *phase = leading_phase(serving);
    double       *lengths = arena_new_array(serving->scratch, double, serving->steps.list.count);
    double        values[FACT_COUNT] = { 0 };
    struct sums   sums = { 0 };
    bool          is_set = lengths != NULL;

    for (size_t i = 0; is_set && i < serving->steps.list.count; i++) {
        const struct engine_step *step = &serving->steps.list.items[i];

        if (!str_equal(str_from(engine_mark_phase(&step->mark)), str_from(phase)))
            continue;
        lengths[(size_t)sums.count] = (double)(step->last_ns - step->first_ns);
        add_step(serving, i, &sums);
    }
    if (!is_set)
        return false;
    values[STEPS] = (double)serving->steps.list.count;
    values[PHASE] = facts_name(facts, str_from(phase));
    values[REQUESTS] = sums.requests > 0 ? sums.requests / sums.count : NAN;
    values[STEP_NS] = sample_middle(lengths, (size_t)sums.count);
    values[GAP_NS] = sums.gaps > 0 ? sums.gap_ns / sums.gaps : NAN;
    values[TOKENS] = sums.token_steps > 0 ? sums.tokens / sums.token_steps : NAN;
    values[KV_TOKENS] = sums.kv_steps > 0 ? sums.kv / sums.kv_steps : NAN;
    values[TOKENS_PER_S] =
        values[REQUESTS] / (values[STEP_NS] + (sums.gaps > 0 ? values[GAP_NS] : 0)) * 1e9;
    values[GRAPH_SHARE] = sums.graph_kernels / sums.kernels;
    values[MEMORY_BOUND] = memory_bound_share(serving);
    for (size_t i = 0; i < TRAINS && is_set; i++)
        is_set = isfinite(values[i])
                     ? facts_set(facts, &produces[i], values[i])
                     : facts_absent(facts, produces[i].name, NULL,
                                    "the engine's marks, or its device's name, do not tell it");
    return is_set;
}

/* Backward passes and optimizers have names of their own in PyTorch; where ops are recorded and
 * none has one, nothing trains. */
static bool set_trains(struct study *study)
{
    const struct profile *profile = study->profile;
    bool                  has_ops = false, trains = false;

    for (size_t i = 0; i < profile->activities.count && !trains; i++) {
        const struct activity *activity = &profile->activities.items[i];
        struct str             name = profile_str(profile, activity->name);

        if (activity->kind == ACTIVITY_KERNEL)
            continue;
        has_ops = has_ops || str_starts(name, STR("aten::"));
        trains = name_is(name, NAMES_TORCH_TRAINING);
    }
    if (!has_ops)
        return facts_absent(&study->facts, produces[TRAINS].name, "a timeline of ops",
                            "no op of PyTorch is recorded");
    return facts_set(&study->facts, &produces[TRAINS], trains);
}

static bool say_absent(struct study *study)
{
    static const char reason[] =
        "no range or program of a serving engine's step is in the recording";

    for (size_t i = 0; i < TRAINS; i++)
        if (!facts_absent(&study->facts, produces[i].name, NULL, reason))
            return false;
    return facts_absent(&study->facts, tables[0].name, NULL, reason) &&
           facts_absent(&study->facts, tables[1].name, NULL, reason);
}

static bool fill_phases(struct serving *serving)
{
    struct table *table = facts_table(&serving->study->facts, &tables[1]);

    return table &&
           engine_phases_fill(serving->study, &serving->steps, memory_bytes_per_s(serving), table);
}

static bool run(struct study *study, struct err *err)
{
    struct arena   scratch = { 0 };
    struct serving serving = { .study = study, .scratch = &scratch, .host = study->steps.host };
    bool           is_done = set_trains(study);

    if (is_done && study->devices && study->devices->launch_of)
        is_done = windows_make(study, &scratch, &serving.windows) && collect(&serving);
    if (is_done && serving.steps.list.count == 0 && study->profile->format == FORMAT_XSPACE)
        is_done = program_steps_find(study, &scratch, &serving.steps);
    if (is_done && serving.steps.list.count > 0)
        is_done = fill(&serving) && fill_phases(&serving) && set_facts(&serving);
    else
        is_done = is_done && say_absent(study);
    arena_free(&scratch);
    return is_done || emit_limit("steps of a serving engine", err);
}

const struct analysis analysis_serving = {
    .name = "serving",
    .summary = "steps of engines that serve language models",
    .produces = produces,
    .produces_count = ARRAY_COUNT(produces),
    .tables = tables,
    .table_count = ARRAY_COUNT(tables),
    .run = run,
};
