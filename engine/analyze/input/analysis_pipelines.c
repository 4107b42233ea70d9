/*
 * pipelines: each input pipeline of each host with how long a batch of it takes, and what its
 * slowest batches were made of, as the tf.data bottleneck analysis of TensorFlow's profiler tells
 * it. in    stage events of tf.data in the used steps of each host, or all where none is used out
 * tables "pipelines" and "slow_batches" A pipeline is an iterator that nothing but the program asks
 * for a batch ("Iterator::Root"); a batch is a call of it. A stage at work during that call on any
 * thread of the host is part of it; its own time is that less the calls of the stages below it, on
 * its thread or, behind a buffer, on others.
 */
#include "analyze/analysis.h"
#include "analyze/emit.h"
#include "analyze/input/pipeline.h"
#include "base/macros.h"
#include "base/sort.h"

#include <stdlib.h>

enum {
    P_HOST,
    P_NAME,
    P_KIND,
    P_CALLS,
    P_MEAN,
    P_MIN,
    P_MAX,
    P_SLOW,
    P_STEP,
    P_BOTTLENECK,
    P_BOTTLENECK_NS
};
static const struct column_spec pipeline_columns[] = {
    [P_HOST] = { "host", UNIT_NAME, "host" },
    [P_NAME] = { "pipeline", UNIT_NAME, "its outermost stage" },
    [P_KIND] = { "kind", UNIT_NAME, "host: makes batches; device: hands them on to accelerators" },
    [P_CALLS] = { "calls", UNIT_COUNT, "batches in the looked-at steps, all of them" },
    [P_MEAN] = { "mean_ns", UNIT_NS, "mean time of a batch" },
    [P_MIN] = { "min_ns", UNIT_NS, "of the quickest" },
    [P_MAX] = { "max_ns", UNIT_NS, "of the slowest" },
    [P_SLOW] = { "slow_calls", UNIT_COUNT, "batches that took more than 50 us" },
    [P_STEP] = { "slowest_step", UNIT_COUNT, "number of the step that the slowest began in" },
    [P_BOTTLENECK] = { "bottleneck", UNIT_NAME, "stage with most time of its own in the slowest" },
    [P_BOTTLENECK_NS] = { "bottleneck_ns", UNIT_NS, "that time" },
};
enum { B_HOST, B_PIPELINE, B_RANK, B_DURATION, B_STAGE, B_START, B_TOTAL, B_SELF, B_CALLS, B_MOST };
static const struct column_spec batch_columns[] = {
    [B_HOST] = { "host", UNIT_NAME, "host" },
    [B_PIPELINE] = { "pipeline", UNIT_NAME, "its outermost stage" },
    [B_RANK] = { "rank", UNIT_COUNT, "1: the slowest batch of the pipeline" },
    [B_DURATION] = { "duration_ns", UNIT_NS, "that the batch took" },
    [B_STAGE] = { "stage", UNIT_NAME, "stage with those that consume it" },
    [B_START] = { "start_ns", UNIT_NS,
                  "when it was first at work for it, on the clock of the steps" },
    [B_TOTAL] = { "total_ns", UNIT_NS, "inside its calls meanwhile" },
    [B_SELF] = { "self_ns", UNIT_NS, "less the stages below" },
    [B_CALLS] = { "calls", UNIT_COUNT, "calls" },
    [B_MOST] = { "is_bottleneck", UNIT_BOOL, "no stage has more time of its own" },
};
static const struct table_spec tables[] = {
    { "pipelines", "input pipelines of all hosts and how long a batch takes", pipeline_columns,
      ARRAY_COUNT(pipeline_columns) },
    { "slow_batches", "what the slowest batches of each pipeline were made of", batch_columns,
      ARRAY_COUNT(batch_columns) },
};

enum { SLOWEST = 3, MOST_PIPELINES = 16 }; /* batches of each that are looked into; of how many */

struct batch {
    int64_t  start_ns, end_ns, step; /* step: number, or INT64_MIN */
    uint32_t bottleneck;             /* name; 0 none */
    int64_t  bottleneck_ns;
};
struct source { /* of batches */
    uint32_t     host, name;
    int64_t      iterator, total_ns, min_ns;
    uint64_t     calls, slow_calls;
    struct batch slowest[SLOWEST]; /* the slowest first */
    size_t       slowest_count;
    bool         is_device;
};
struct stage_name {        /* of an activity */
    uint32_t root, parent; /* names, interned in the profile; root 0: no stage */
};
struct node { /* a stage in a batch */
    uint32_t source, rank, name;
    int64_t  start_ns, total_ns, self_ns;
    uint64_t calls;
};
struct pipelines {
    struct study      *study;
    struct arena      *scratch;
    struct stage_name *stages; /* by activity */
    struct id_map      source_rows, node_rows;
    VEC(struct source) sources;
    VEC(struct node) nodes;
};

/* "Iterator::Root::Map": its root is "Iterator::Root", its parent that too. */
static bool name_stages(struct pipelines *pipelines)
{
    const struct profile *profile = pipelines->study->profile;

    pipelines->stages =
        arena_new_array(pipelines->scratch, struct stage_name, profile->activities.count + 1);
    for (size_t i = 0; pipelines->stages && i < profile->activities.count; i++) {
        const struct activity *activity = &profile->activities.items[i];
        struct str             name = profile_str(profile, activity->name), root, parent;
        size_t                 first;

        pipelines->stages[i] = (struct stage_name) { 0 };
        if (activity->kind != ACTIVITY_INPUT_STAGE || !str_starts(name, STR("Iterator::")))
            continue;
        first = STR("Iterator::").len;
        root = str_slice(name, 0, first + str_find(str_slice(name, first, name.len), ':'));
        parent = str_slice(name, 0, str_find_last(name, ':'));
        parent = str_slice(parent, 0, parent.len - 1);
        pipelines->stages[i].root = facts_name(&pipelines->study->facts, root);
        pipelines->stages[i].parent =
            root.len == name.len ? 0 : facts_name(&pipelines->study->facts, parent);
        if (pipelines->stages[i].root == NO_ID || pipelines->stages[i].parent == NO_ID)
            return false;
    }
    return pipelines->stages != NULL;
}

/* The used step of a host that a time is in, or NULL. */
static const struct step *step_at(const struct steps *steps, uint32_t host, int64_t time_ns)
{
    size_t behind =
        LOWER_BOUND(steps->list.count, i,
                    steps->list.items[i].host < host || (steps->list.items[i].host == host &&
                                                         steps->list.items[i].start_ns <= time_ns));
    const struct step *step = behind > 0 ? &steps->list.items[behind - 1] : NULL;

    return step && step->host == host && step->is_sampled && time_ns < step->end_ns ? step : NULL;
}

static bool *hosts_with_steps(const struct study *study, struct arena *scratch)
{
    bool *has = arena_new_array(scratch, bool, study->profile->hosts.count + 1);

    for (size_t i = 0; has && i < study->profile->hosts.count; i++)
        has[i] = false;
    for (size_t i = 0; has && i < study->steps.list.count; i++)
        has[study->steps.list.items[i].host] |= study->steps.list.items[i].is_sampled;
    return has;
}

static void keep_slowest(struct source *source, struct batch batch)
{
    size_t place = source->slowest_count;

    while (place > 0 && source->slowest[place - 1].end_ns - source->slowest[place - 1].start_ns <
                            batch.end_ns - batch.start_ns)
        place--;
    if (place == SLOWEST)
        return;
    source->slowest_count += source->slowest_count < SLOWEST;
    for (size_t i = source->slowest_count - 1; i > place; i--)
        source->slowest[i] = source->slowest[i - 1];
    source->slowest[place] = batch;
}

static bool add_batch(struct pipelines *pipelines, uint32_t host, uint32_t event,
                      const struct step *step)
{
    const struct profile *profile = pipelines->study->profile;
    uint32_t              name = pipelines->stages[event_activity_id(profile, event)].root;
    struct batch          batch = { .start_ns = event_start_ns(profile, event),
                                    .end_ns = event_end_ns(profile, event),
                                    .step = step ? step->number : INT64_MIN };
    int64_t               iterator = 0, ns = batch.end_ns - batch.start_ns;
    uint64_t              key;
    uint32_t              row;
    struct source        *source;

    profile_stat(profile, STAT_ITERATOR, event, &iterator);
    key = ((uint64_t)iterator * UINT64_C(0x9e3779b97f4a7c15)) ^ ((uint64_t)host << 32 | name);
    row = id_map_get(&pipelines->source_rows, key);
    if (row == NO_ID) {
        row = (uint32_t)pipelines->sources.count;
        if (!id_map_put(&pipelines->source_rows, key, row) ||
            !vec_push(
                &pipelines->sources, pipelines->scratch,
                (struct source) { .host = host, .name = name, .iterator = iterator, .min_ns = ns }))
            return false;
    }
    source = &pipelines->sources.items[row];
    source->calls++;
    source->total_ns += ns;
    source->min_ns = ns < source->min_ns ? ns : source->min_ns;
    source->slow_calls += ns > SLOW_CALL_NS;
    keep_slowest(source, batch);
    return true;
}

/* Calls of outermost stages in the used steps of their host. */
static bool find_batches(struct pipelines *pipelines)
{
    const struct study   *study = pipelines->study;
    const struct profile *profile = study->profile;
    const bool           *has_steps = hosts_with_steps(study, pipelines->scratch);

    for (size_t i = 0; has_steps && i < profile->timelines.count; i++) {
        const struct timeline *line = &profile->timelines.items[i];

        if (line->kind != TIMELINE_THREAD)
            continue;
        for (uint32_t event = line->first_event; event < line->first_event + line->event_count;
             event++) {
            const struct stage_name *stage = &pipelines->stages[event_activity_id(profile, event)];
            const struct step       *step;

            if (!stage->root || stage->parent)
                continue;
            step = step_at(&study->steps, line->host, event_start_ns(profile, event));
            if ((step || !has_steps[line->host]) && !add_batch(pipelines, line->host, event, step))
                return false;
        }
    }
    return has_steps != NULL;
}

static int64_t longest_ns(const struct source *source)
{
    return source->slowest[0].end_ns - source->slowest[0].start_ns;
}

static int by_latency(const void *a, const void *b)
{
    const struct source *left = a, *right = b;

    return IN_ORDER(COMPARE(longest_ns(right), longest_ns(left)), COMPARE(left->host, right->host),
                    COMPARE(left->slowest[0].start_ns, right->slowest[0].start_ns),
                    COMPARE(left->iterator, right->iterator));
}

/* What stands above this generator is what accelerators take their batches from. */
static void mark_devices(struct pipelines *pipelines)
{
    const struct profile *profile = pipelines->study->profile;
    bool                  has_generator = false;

    for (size_t i = 0; i < profile->activities.count && !has_generator; i++)
        has_generator = str_equal(profile_str(profile, profile->activities.items[i].name),
                                  STR("Iterator::Prefetch::Generator"));
    for (size_t i = 0; i < pipelines->sources.count && has_generator; i++)
        pipelines->sources.items[i].is_device =
            str_equal(intern_str(pipelines->study->facts.names, pipelines->sources.items[i].name),
                      STR("Iterator::Prefetch"));
}

/* The stage `name` in a batch; NULL: scratch is exhausted. */
static struct node *node_of(struct pipelines *pipelines, uint32_t source, uint32_t rank,
                            uint32_t name)
{
    uint64_t key = (uint64_t)(source * SLOWEST + rank) << 32 | name;
    uint32_t row = id_map_get(&pipelines->node_rows, key);

    if (row == NO_ID) {
        row = (uint32_t)pipelines->nodes.count;
        if (!id_map_put(&pipelines->node_rows, key, row) ||
            !vec_push(&pipelines->nodes, pipelines->scratch,
                      (struct node) { .source = source, .rank = rank, .name = name }))
            return NULL;
    }
    return &pipelines->nodes.items[row];
}

/* The stage that a stage's call is made for: around it on its thread, else as its name says; 0:
 * none. */
static uint32_t consumer_of(const struct pipelines *pipelines, uint32_t event)
{
    const struct profile *profile = pipelines->study->profile;

    for (uint32_t at = pipelines->study->around[event]; at != NO_ID;
         at = pipelines->study->around[at])
        if (pipelines->stages[event_activity_id(profile, at)].root)
            return event_activity(profile, at)->name;
    return pipelines->stages[event_activity_id(profile, event)].parent;
}

static bool add_call(struct pipelines *pipelines, uint32_t event, uint32_t source, uint32_t rank)
{
    const struct profile *profile = pipelines->study->profile;
    const struct batch   *batch = &pipelines->sources.items[source].slowest[rank];
    int64_t      start_ns = event_start_ns(profile, event), end_ns = event_end_ns(profile, event);
    uint32_t     consumer = consumer_of(pipelines, event);
    struct node *node = node_of(pipelines, source, rank, event_activity(profile, event)->name);

    start_ns = start_ns > batch->start_ns ? start_ns : batch->start_ns;
    end_ns = end_ns < batch->end_ns ? end_ns : batch->end_ns;
    if (!node)
        return false;
    if (!node->calls++ || start_ns < node->start_ns)
        node->start_ns = start_ns;
    node->total_ns += end_ns - start_ns;
    node->self_ns += end_ns - start_ns;
    if (!consumer)
        return true;
    node = node_of(pipelines, source, rank, consumer);
    if (node)
        node->self_ns -= end_ns - start_ns;
    return node != NULL;
}

/* A call counts for the slow batches of its pipeline that it reaches into. */
static bool look_into(struct pipelines *pipelines, uint32_t host, uint32_t event)
{
    const struct profile *profile = pipelines->study->profile;
    uint32_t              root = pipelines->stages[event_activity_id(profile, event)].root;
    int64_t start_ns = event_start_ns(profile, event), end_ns = event_end_ns(profile, event);

    for (uint32_t i = 0; i < pipelines->sources.count && i < MOST_PIPELINES; i++) {
        const struct source *source = &pipelines->sources.items[i];

        if (source->host != host || source->name != root)
            continue;
        for (uint32_t rank = 0; rank < source->slowest_count; rank++)
            if (start_ns < source->slowest[rank].end_ns &&
                end_ns > source->slowest[rank].start_ns && !add_call(pipelines, event, i, rank))
                return false;
    }
    return true;
}

static bool find_nodes(struct pipelines *pipelines)
{
    const struct profile *profile = pipelines->study->profile;

    for (size_t i = 0; i < profile->timelines.count; i++) {
        const struct timeline *line = &profile->timelines.items[i];

        for (uint32_t event = line->first_event;
             line->kind == TIMELINE_THREAD && event < line->first_event + line->event_count;
             event++)
            if (pipelines->stages[event_activity_id(profile, event)].root &&
                !look_into(pipelines, line->host, event))
                return false;
    }
    return true;
}

static void find_bottlenecks(struct pipelines *pipelines)
{
    for (size_t i = 0; i < pipelines->nodes.count; i++) {
        const struct node *node = &pipelines->nodes.items[i];
        struct batch      *batch = &pipelines->sources.items[node->source].slowest[node->rank];

        if (node->calls && node->self_ns > batch->bottleneck_ns) {
            batch->bottleneck = node->name;
            batch->bottleneck_ns = node->self_ns;
        }
    }
}

static bool fill_pipelines(struct pipelines *pipelines)
{
    struct study *study = pipelines->study;
    struct table *table = facts_table(&study->facts, &tables[0]);

    for (size_t i = 0; table && i < pipelines->sources.count; i++) {
        const struct source *source = &pipelines->sources.items[i];
        const struct batch  *slowest = &source->slowest[0];
        size_t               row = table_add(table, study->arena);

        if (row == SIZE_MAX)
            return false;
        emit_name(table, P_HOST, row, study->profile->hosts.items[source->host].name);
        emit_name(table, P_NAME, row, source->name);
        emit_name(table, P_KIND, row,
                  facts_name(&study->facts, source->is_device ? STR("device") : STR("host")));
        emit_number(table, P_CALLS, row, (double)source->calls);
        emit_number(table, P_MEAN, row, (double)source->total_ns / (double)source->calls);
        emit_number(table, P_MIN, row, (double)source->min_ns);
        emit_number(table, P_MAX, row, (double)longest_ns(source));
        emit_number(table, P_SLOW, row, (double)source->slow_calls);
        if (slowest->step != INT64_MIN)
            emit_number(table, P_STEP, row, (double)slowest->step);
        if (!slowest->bottleneck)
            continue;
        emit_name(table, P_BOTTLENECK, row, slowest->bottleneck);
        emit_number(table, P_BOTTLENECK_NS, row, (double)slowest->bottleneck_ns);
    }
    return table != NULL;
}

static int by_batch(const void *a, const void *b)
{
    const struct node *left = a, *right = b;

    return IN_ORDER(COMPARE(left->source, right->source), COMPARE(left->rank, right->rank),
                    COMPARE(right->self_ns, left->self_ns), COMPARE(left->name, right->name));
}

static bool fill_batches(struct pipelines *pipelines)
{
    struct study *study = pipelines->study;
    struct table *table = facts_table(&study->facts, &tables[1]);

    if (pipelines->nodes.count > 1)
        qsort(pipelines->nodes.items, pipelines->nodes.count, sizeof *pipelines->nodes.items,
              by_batch);
    for (size_t i = 0; table && i < pipelines->nodes.count; i++) {
        const struct node   *node = &pipelines->nodes.items[i];
        const struct source *source = &pipelines->sources.items[node->source];
        const struct batch  *batch = &source->slowest[node->rank];
        size_t               row = node->calls ? table_add(table, study->arena) : 0;

        if (row == SIZE_MAX)
            return false;
        if (!node->calls) /* its own calls ended before the batch was asked for */
            continue;
        emit_name(table, B_HOST, row, study->profile->hosts.items[source->host].name);
        emit_name(table, B_PIPELINE, row, source->name);
        emit_number(table, B_RANK, row, node->rank + 1);
        emit_number(table, B_DURATION, row, (double)(batch->end_ns - batch->start_ns));
        emit_name(table, B_STAGE, row, node->name);
        emit_number(table, B_START, row, (double)node->start_ns);
        emit_number(table, B_TOTAL, row, (double)node->total_ns);
        emit_number(table, B_SELF, row, (double)(node->self_ns > 0 ? node->self_ns : 0));
        emit_number(table, B_CALLS, row, (double)node->calls);
        emit_number(table, B_MOST, row, node->name == batch->bottleneck);
    }
    return table != NULL;
}

static bool make(struct pipelines *pipelines)
{
    static const char reason[] = "no tf.data iterator events in the steps";
    static const char capture[] = "host_tracer_level=2 or higher";
    struct facts     *facts = &pipelines->study->facts;

    if (!name_stages(pipelines) || !find_batches(pipelines))
        return false;
    if (!pipelines->sources.count)
        return facts_absent(facts, tables[0].name, capture, reason) &&
               facts_absent(facts, tables[1].name, capture, reason);
    qsort(pipelines->sources.items, pipelines->sources.count, sizeof *pipelines->sources.items,
          by_latency);
    mark_devices(pipelines);
    if (!find_nodes(pipelines))
        return false;
    find_bottlenecks(pipelines);
    return fill_pipelines(pipelines) && fill_batches(pipelines);
}

static bool run(struct study *study, struct err *err)
{
    struct arena     scratch = { .budget_bytes = study->arena->budget_bytes };
    struct pipelines pipelines = { .study = study, .scratch = &scratch };
    bool             is_done;

    pipelines.source_rows.arena = &scratch;
    pipelines.node_rows.arena = &scratch;
    is_done = make(&pipelines);
    arena_free(&scratch);
    return is_done || emit_limit("the tables of input pipelines", err);
}

const struct analysis analysis_pipelines = {
    .name = "pipelines",
    .summary = "input pipelines of all hosts, and what their slowest batches were made of",
    .tables = tables,
    .table_count = ARRAY_COUNT(tables),
    .run = run,
};
