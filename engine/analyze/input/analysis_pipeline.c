/*
 * pipeline: what the stages of the input pipeline cost a step, and how much of it waits for them.
 *   in    study->path; stages are found by pipeline_build
 *   out   study->pipeline, table "iterators", input.* facts
 */
#include "analyze/analysis.h"
#include "analyze/input/pipeline.h"
#include "model/names.h"

static const struct fact_spec produces[] = {
    { "input.wait_ns", UNIT_NS, "a step's time waiting for input; the same as part.input_ns" },
    { "input.wait_share", UNIT_SHARE, "that over the step; the same as part.input_share" },
    { "input.between_ns", UNIT_NS,
      "of input.wait_ns, what is waited for behind a step's marker, before the next one" },
    { "input.stage_count", UNIT_COUNT, "stages of the input pipeline" },
    { "input.inline_ns", UNIT_NS, "stages that run in the consumer, inside the step" },
    { "input.unstaged_ns", UNIT_NS, "input on the path of the step that belongs to no stage" },
    { "input.period_ns", UNIT_NS, "time a batch takes in the slowest asynchronous section" },
    { "input.is_prefetched", UNIT_BOOL, "batches are made ahead, in another thread" },
    { "input.keeps_up", UNIT_BOOL,
      "batches are made ahead in well less than a step, or will be: what is waited for is handing "
      "them "
      "over, or a cache that the first epoch fills" },
    { "input.python_ns", UNIT_NS, "a step's time in Python inside the pipeline, all threads" },
    { "input.cpu_share", UNIT_SHARE, "of the cores' time in a step, spent on input" },
    { "input.bottleneck", UNIT_NAME, "stage with most time on the path of the step" },
    { "input.bottleneck_type", UNIT_NAME, "its type" },
    { "input.bottleneck_ns", UNIT_NS, "its time on the path of the step" },
    { "input.fills_queue", UNIT_BOOL,
      "session runs of other threads fill the queue that the step takes from" },
    { "input.cache_fill_ns", UNIT_NS,
      "a step's wait for stages whose results a cache keeps from now on" },
    { "input.refill_ns", UNIT_NS,
      "time one thread takes to make what a step takes out of the buffer that it fills; where that "
      "is "
      "longer than a step, steps live on what the buffer held" },
    { "input.demanded_ns", UNIT_NS,
      "a step's time of stages that read files on demand, less those below" },
    { "input.advanced_ns", UNIT_NS, "of those that read files in advance" },
    { "input.preprocessing_ns", UNIT_NS, "of the others" },
};
enum {
    FACT_WAIT,
    FACT_WAIT_SHARE,
    FACT_BETWEEN,
    FACT_STAGES,
    FACT_INLINE,
    FACT_UNSTAGED,
    FACT_PERIOD,
    FACT_PREFETCHED,
    FACT_KEEPS_UP,
    FACT_PYTHON,
    FACT_CPU_SHARE,
    FACT_BOTTLENECK,
    FACT_BOTTLENECK_TYPE,
    FACT_BOTTLENECK_NS,
    FACT_QUEUE,
    FACT_CACHE_FILL,
    FACT_REFILL,
    FACT_CATEGORIES
};

static const struct column_spec iterator_columns[] = {
    { "name", UNIT_NAME, "stage with those that consume it, root first" },
    { "type", UNIT_NAME, "kind of stage: Map, BatchV2, TFRecord" },
    { "dataset", UNIT_NAME, "dataset op and number as recorded" },
    { "dtypes", UNIT_NAME, "element types it yields, as recorded" },
    { "parent", UNIT_NAME, "stage that consumes it" },
    { "section", UNIT_NAME, "asynchronous stage whose thread runs it; empty: the consumer" },
    { "is_async", UNIT_BOOL, "hands elements over through a buffer" },
    { "depth", UNIT_COUNT, "stages between it and the root" },
    { "calls", UNIT_COUNT, "calls a step" },
    { "self_ns", UNIT_NS, "a step's time on its own thread, less the stages below" },
    { "wait_ns", UNIT_NS, "a step's time waiting for its buffer" },
    { "cpu_ns", UNIT_NS, "a step's time of its function on pool threads" },
    { "python_ns", UNIT_NS, "a step's time in Python in it" },
    { "path_ns", UNIT_NS, "time charged to it on the path of the step" },
    { "path_share", UNIT_SHARE, "path_ns of the step" },
    { "parallelism", UNIT_COUNT, "calls at once" },
    { "instances", UNIT_COUNT, "iterators seen: epochs, files" },
    { "call_ns", UNIT_NS, "mean time of a call, stages below included" },
    { "min_call_ns", UNIT_NS, "shortest call" },
    { "max_call_ns", UNIT_NS, "longest call" },
    { "slow_calls", UNIT_COUNT, "calls a step that took more than 50 us" },
    { "total_ns", UNIT_NS, "a step's time in its calls, stages below included" },
    { "total_share", UNIT_RATIO,
      "total_ns over self_ns of all stages; above 1 where they are nested" },
    { "self_share", UNIT_SHARE, "self_ns of that of all stages" },
    { "category", UNIT_NAME,
      "reading files on demand, reading files in advance, or preprocessing" },
    { "top_op", UNIT_NAME, "op type with most time in its function" },
    { "top_op_ns", UNIT_NS, "that op's time a step" },
    { "below_random", UNIT_BOOL,
      "a shuffle or random op stands between it and the source, itself included" },
    { "random_below", UNIT_BOOL,
      "the same without shuffles: it makes other elements in each epoch" },
};
static const struct table_spec tables[] = {
    { "iterators", "stages of the input pipeline", iterator_columns,
      ARRAY_COUNT(iterator_columns) },
};

static bool is_shuffle(const struct study *study, uint32_t stage)
{
    uint32_t type = study->pipeline->stages.items[stage].type;

    return str_contains(intern_str(study->facts.names, type), STR("Shuffle"));
}

/* The stage's function, or a source of random numbers, makes other elements in each epoch. */
static bool draws_random(const struct study *study, uint32_t stage)
{
    uint32_t type = study->pipeline->stages.items[stage].type;

    return str_starts(intern_str(study->facts.names, type), STR("Random")) ||
           study->pipeline->stages.items[stage].draws_random;
}

static bool is_random_below(const struct study *study, uint32_t stage, bool or_shuffled)
{

    /* Children stand behind parents: look at every stage that has `stage` above it. */
    for (uint32_t i = stage; i < study->pipeline->stages.count; i++) {
        uint32_t up = i;

        while (up != NO_ID && up != stage)
            up = study->pipeline->stages.items[up].parent;
        if (up == stage && (draws_random(study, i) || (or_shuffled && is_shuffle(study, i))))
            return true;
    }
    return false;
}

enum category { DEMANDED, ADVANCED, PREPROCESSING, CATEGORY_COUNT };
static const char *const category_names[CATEGORY_COUNT] = { "reading files on demand",
                                                            "reading files in advance",
                                                            "preprocessing" };

/* As TensorFlow's input pipeline analyzer sorts stages. */
static enum category category_of(const struct study *study, const struct stage *stage)
{
    if (!name_is(intern_str(study->facts.names, stage->type), NAMES_TF_FILE_READER))
        return PREPROCESSING;
    return name_is(intern_str(study->facts.names, stage->name), NAMES_TF_READ_AHEAD) ? ADVANCED
                                                                                     : DEMANDED;
}

static bool set_categories(struct study *study)
{
    double self_ns[CATEGORY_COUNT] = { 0 };
    bool   ok = true;

    for (size_t i = 0; i < study->pipeline->stages.count; i++)
        self_ns[category_of(study, &study->pipeline->stages.items[i])] +=
            study->pipeline->stages.items[i].self_ns;
    for (int i = 0; ok && i < CATEGORY_COUNT; i++)
        ok = facts_set(&study->facts, &produces[FACT_CATEGORIES + i], self_ns[i]);
    return ok;
}

static bool fill_table(struct study *study)
{
    struct pipeline *pipeline = study->pipeline;
    struct table    *table = facts_table(&study->facts, &tables[0]);
    double           step_ns = study->steps.mean_ns > 0 ? study->steps.mean_ns : 1;
    double           all_self_ns = 0;

    for (uint32_t i = 0; i < pipeline->stages.count; i++)
        all_self_ns += pipeline->stages.items[i].self_ns;
    for (uint32_t i = 0; table && i < pipeline->stages.count; i++) {
        const struct stage *stage = &pipeline->stages.items[i];
        size_t              row = table_add(table, study->arena);
        double              depth = 0;

        if (row == SIZE_MAX)
            return false;
        for (uint32_t up = stage->parent; up != NO_ID; up = pipeline->stages.items[up].parent)
            depth++;
        const double values[] = {
            stage->name,
            stage->type,
            stage->dataset,
            stage->dtypes,
            stage->parent == NO_ID ? 0 : pipeline->stages.items[stage->parent].name,
            stage->section == NO_ID ? 0 : pipeline->stages.items[stage->section].name,
            stage->is_async,
            depth,
            stage->calls,
            stage->self_ns,
            stage->wait_ns,
            stage->cpu_ns,
            stage->python_ns,
            stage->path_ns,
            stage->path_ns / step_ns,
            stage->parallelism,
            stage->instances,
            stage->calls > 0 ? stage->total_ns / stage->calls : 0,
            stage->min_call_ns,
            stage->max_call_ns,
            stage->slow_calls,
            stage->total_ns,
            all_self_ns > 0 ? stage->total_ns / all_self_ns : 0,
            all_self_ns > 0 ? stage->self_ns / all_self_ns : 0,
            facts_name(&study->facts, str_from(category_names[category_of(study, stage)])),
            stage->top_op,
            stage->top_op_ns,
            is_random_below(study, i, true),
            is_random_below(study, i, false),
        };
        for (size_t c = 0; c < ARRAY_COUNT(values); c++)
            table->columns[c][row] = values[c];
    }
    return table != NULL;
}

static bool set_bottleneck(struct study *study)
{
    struct facts       *facts = &study->facts;
    const struct stage *worst = NULL;

    for (size_t i = 0; i < study->pipeline->stages.count; i++) {
        const struct stage *stage = &study->pipeline->stages.items[i];

        if (stage->path_ns > 0 && (!worst || stage->path_ns > worst->path_ns))
            worst = stage;
    }
    if (!worst)
        return facts_absent(facts, "input.bottleneck", NULL, "no step waits for a stage");
    return facts_set(facts, &produces[FACT_BOTTLENECK], worst->name) &&
           facts_set(facts, &produces[FACT_BOTTLENECK_TYPE], worst->type) &&
           facts_set(facts, &produces[FACT_BOTTLENECK_NS], worst->path_ns);
}

static bool is_cache(const struct study *study, uint32_t stage)
{
    uint32_t type = study->pipeline->stages.items[stage].type;

    return str_starts(intern_str(study->facts.names, type), STR("MemoryCache"));
}

/* Stages below a cache in memory run in the first epoch alone: that they run shows that it is being
 * filled. On the path of a step, with the cache's own time to keep what they make. */
static double cache_fill_ns(const struct study *study)
{
    const struct pipeline *pipeline = study->pipeline;
    double                 below_ns = 0, own_ns = 0;

    for (uint32_t i = 0; i < pipeline->stages.count; i++) {
        uint32_t up = pipeline->stages.items[i].parent;

        while (up != NO_ID && !is_cache(study, up))
            up = pipeline->stages.items[up].parent;
        below_ns += up == NO_ID ? 0 : pipeline->stages.items[i].path_ns;
        own_ns += up == NO_ID && is_cache(study, i) ? pipeline->stages.items[i].path_ns : 0;
    }
    return below_ns > 0 ? below_ns + own_ns : 0;
}

/* The consumer finds its batches ready: it hardly waits in the first buffer below it. */
static bool finds_batches_ready(const struct study *study)
{
    static const double READY = 0.03;

    for (size_t i = 0; i < study->pipeline->stages.count; i++) {
        const struct stage *stage = &study->pipeline->stages.items[i];

        if (stage->is_async && stage->section == NO_ID)
            return str_starts(intern_str(study->facts.names, stage->type), STR("Prefetch")) &&
                   stage->calls > 0 && stage->wait_ns < READY * study->steps.mean_ns;
    }
    return false;
}

/* What one thread takes to put back into its buffer what a step takes out: whole calls of the stage
 * below the buffer, also where they began before the looked-at steps or end behind them. */
static double refill_ns(const struct study *study)
{
    static const double FEWEST_CALLS = 2;
    const struct stage *stages = study->pipeline->stages.items;
    double              longest_ns = 0;

    for (size_t i = 0; i < study->pipeline->stages.count; i++) {
        const struct stage *buffer = stages[i].parent == NO_ID ? NULL : &stages[stages[i].parent];
        double              ns;

        if (!buffer || !buffer->is_async || buffer->parallelism > 1 || stages[i].instances > 1 ||
            stages[i].calls * (double)study->path.step_rows.count < FEWEST_CALLS)
            continue;
        ns = buffer->calls * stages[i].total_ns / stages[i].calls;
        longest_ns = ns > longest_ns ? ns : longest_ns;
    }
    return longest_ns;
}

/* A pipeline in other threads that needs half a step for a batch, or whose batches lie ready, does
 * not hold the step, unless they lie there from before and new ones take longer than steps; or a
 * thread that makes them never rests while the step waits, as where many small elements are handed
 * from thread to thread, which no stage's own time shows. */
static bool set_pace(struct study *study, double period_ns)
{
    static const double PACE = 0.5, INLINE = 0.1, INLINE_OF_STEP = 0.03, MOST_FILLS = 0.5,
                        RUNS_DRY = 1.15, NEVER_RESTS = 0.85, WAITS = 0.1;
    struct facts *facts = &study->facts;
    double        step_ns = study->steps.mean_ns, inline_ns = study->pipeline->inline_ns;
    bool          is_prefetched =
        period_ns > 0 && (inline_ns < INLINE * period_ns || inline_ns < INLINE_OF_STEP * step_ns);
    double wait_share = 0, wait_ns = 0, fill_ns = cache_fill_ns(study), made_ns = refill_ns(study);
    bool   fills_cache, runs_dry;

    facts_get(facts, "input.wait_share", &wait_share);
    facts_get(facts, "input.wait_ns", &wait_ns);
    runs_dry = made_ns >= (wait_share >= WAITS ? NEVER_RESTS : RUNS_DRY) * step_ns;
    fills_cache = fill_ns > 0 && fill_ns >= MOST_FILLS * wait_ns;
    return facts_set(facts, &produces[FACT_PREFETCHED], is_prefetched) &&
           facts_set(facts, &produces[FACT_CACHE_FILL], fill_ns) &&
           facts_set(facts, &produces[FACT_REFILL], made_ns) &&
           facts_set(facts, &produces[FACT_KEEPS_UP],
                     fills_cache || (is_prefetched && wait_share < PACE && !runs_dry &&
                                     (period_ns < PACE * step_ns || finds_batches_ready(study))));
}

/* Graphs tell of stages that no event shows: with both, batches are made ahead by several threads.
 */
static bool graph_makes_ahead(const struct profile *profile)
{
    bool ahead = false, in_parallel = false;

    for (size_t op = 0; profile->format == FORMAT_GRAPH && op < profile->ops.count; op++) {
        struct str type = profile_str(profile, profile->ops.items[op].type);

        ahead |= str_starts(type, STR("PrefetchDataset"));
        in_parallel |= str_fits(type, "ParallelMapDataset*|MapAndBatchDataset*");
    }
    return ahead && in_parallel;
}

static bool set_facts(struct study *study)
{
    struct facts          *facts = &study->facts;
    const struct pipeline *pipeline = study->pipeline;
    double                 python_ns = 0;
    double                 period_ns = pipeline_period_ns(pipeline, NULL, NULL, NULL);

    for (size_t i = 0; i < pipeline->stages.count; i++)
        python_ns += pipeline->stages.items[i].python_ns;
    if (pipeline->stages.count == 0)
        return facts_absent(facts, "iterators", "host_tracer_level=2 or higher",
                            "no tf.data iterator events in the steps") &&
               (!study->path.is_fed_by_queue || facts_set(facts, &produces[FACT_QUEUE], true)) &&
               (!graph_makes_ahead(study->profile) ||
                facts_set(facts, &produces[FACT_PREFETCHED], true)) &&
               facts_set(facts, &produces[FACT_UNSTAGED], pipeline->unstaged_ns);
    return facts_set(facts, &produces[FACT_STAGES], (double)pipeline->stages.count) &&
           facts_set(facts, &produces[FACT_INLINE], pipeline->inline_ns) &&
           facts_set(facts, &produces[FACT_UNSTAGED], pipeline->unstaged_ns) &&
           facts_set(facts, &produces[FACT_PERIOD], period_ns) && set_pace(study, period_ns) &&
           facts_set(facts, &produces[FACT_PYTHON], python_ns) && set_categories(study) &&
           set_bottleneck(study) && fill_table(study);
}

/* Waits for input behind the marker of their step. */
static double wait_between_ns(const struct study *study)
{
    const struct path *path = &study->path;
    double             sum_ns = 0;

    for (size_t i = 0; i < path->segments.count; i++) {
        const struct segment *segment = &path->segments.items[i];
        int64_t               end_ns = study->steps.list.items[segment->step].marker_end_ns;

        if (segment->part == PART_INPUT && segment->end_ns > end_ns)
            sum_ns += (double)(segment->end_ns -
                               (segment->start_ns > end_ns ? segment->start_ns : end_ns));
    }
    return path->step_rows.count ? sum_ns / (double)path->step_rows.count : 0;
}

static bool set_wait(struct study *study)
{
    double wait_ns = 0, share = 0, cpu_ns = 0, input_cpu_ns = 0;

    if (!facts_get(&study->facts, "part.input_ns", &wait_ns) ||
        !facts_get(&study->facts, "part.input_share", &share))
        return true;
    facts_get(&study->facts, "host.cpu_ns", &cpu_ns);
    facts_get(&study->facts, "host.input_cpu_ns", &input_cpu_ns);
    return facts_set(&study->facts, &produces[FACT_WAIT], wait_ns) &&
           facts_set(&study->facts, &produces[FACT_WAIT_SHARE], share) &&
           (study->steps.source != STEPS_MARKER ||
            facts_set(&study->facts, &produces[FACT_BETWEEN], wait_between_ns(study))) &&
           facts_set(&study->facts, &produces[FACT_CPU_SHARE],
                     study->steps.mean_ns > 0
                         ? input_cpu_ns / (study->path.core_count * study->steps.mean_ns)
                         : 0);
}

static bool build(struct study *study, struct arena *scratch)
{
    study->pipeline = pipeline_build(study, scratch);
    return study->pipeline && set_wait(study) && set_facts(study);
}

static bool run(struct study *study, struct err *err)
{
    struct arena scratch = { .budget_bytes = study->arena->budget_bytes };
    bool         ok = study->path.segments.count
                          ? build(study, &scratch)
                          : facts_absent(&study->facts, "input.|iterators", "at least one whole step",
                                         "no step with a timeline of events");

    arena_free(&scratch);
    return ok || err_set(err, ERR_LIMIT, "the input pipeline does not fit the memory budget");
}

const struct analysis analysis_pipeline = {
    .name = "pipeline",
    .summary = "stages of the input pipeline and the step's wait for them",
    .produces = produces,
    .produces_count = ARRAY_COUNT(produces),
    .tables = tables,
    .table_count = ARRAY_COUNT(tables),
    .run = run,
};
