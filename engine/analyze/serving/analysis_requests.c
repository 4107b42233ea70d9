/*
 * requests: what asks a batching scheduler for its share of a batch, how long that takes, and how
 * full the batches are. A request is an event that says how many examples it brings; inside of it
 * begins a link to the event that works its batch off.
 */
#include "analyze/analysis.h"
#include "analyze/emit.h"
#include "base/macros.h"
#include "base/sample.h"
#include "base/sort.h"

#include <math.h>
#include <stdlib.h>

enum {
    REQUESTS,
    BATCHES,
    PER_S,
    LATENCY_NS,
    WAIT_NS,
    WAIT_SHARE,
    BATCH_NS,
    EXAMPLES,
    PADDING_SHARE,
    FACT_COUNT
};
static const struct fact_spec produces[] = {
    [REQUESTS] = { "requests.count", UNIT_COUNT, "requests whose batch was recorded" },
    [BATCHES] = { "requests.batches", UNIT_COUNT, "batches that they went into" },
    [PER_S] = { "requests.per_s", UNIT_HZ,
                "requests a second, from the first one's begin to the last one's end" },
    [LATENCY_NS] = { "requests.latency_ns", UNIT_NS,
                     "from a request's begin to its end or its batch's, mean" },
    [WAIT_NS] = { "requests.wait_ns", UNIT_NS, "of that, until its batch begins, mean" },
    [WAIT_SHARE] = { "requests.wait_share", UNIT_SHARE,
                     "the sum of waiting over that of latencies" },
    [BATCH_NS] = { "requests.batch_ns", UNIT_NS, "a batch from begin to end, mean" },
    [EXAMPLES] = { "requests.batch_examples", UNIT_COUNT,
                   "examples in a batch, padding left out, mean" },
    [PADDING_SHARE] = { "requests.padding_share", UNIT_SHARE,
                        "padding over all examples of batches" },
};
enum { PERCENTILE, P_LATENCY, P_WAIT, P_BATCH, P_REST };
static const struct column_spec latency_columns[] = {
    [PERCENTILE] = { "percentile", UNIT_NONE, "so many of a hundred requests take no longer" },
    [P_LATENCY] = { "latency_ns", UNIT_NS, "what that request takes" },
    [P_WAIT] = { "wait_ns", UNIT_NS, "of it, until its batch begins" },
    [P_BATCH] = { "batch_ns", UNIT_NS, "of it, until its last batch ends" },
    [P_REST] = { "rest_ns", UNIT_NS, "of it, behind that" },
};
enum { B_START, B_NS, B_REQUESTS, B_EXAMPLES, B_PADDING, B_WAIT, B_HOST };
static const struct column_spec batch_columns[] = {
    [B_START] = { "start_ns", UNIT_NS, "when it begins, on the clock of the steps" },
    [B_NS] = { "batch_ns", UNIT_NS, "from its begin to its end" },
    [B_REQUESTS] = { "requests", UNIT_COUNT, "requests in it, whole or in part" },
    [B_EXAMPLES] = { "examples", UNIT_COUNT, "examples in it, padding left out" },
    [B_PADDING] = { "padding_share", UNIT_SHARE, "padding over all of its examples" },
    [B_WAIT] = { "wait_ns", UNIT_NS, "from its first request's begin to its own" },
    [B_HOST] = { "host", UNIT_NAME, "host" },
};
static const struct table_spec tables[] = {
    { "latencies", "how long requests take, by percentile", latency_columns,
      ARRAY_COUNT(latency_columns) },
    { "batches", "batches that requests are put together to", batch_columns,
      ARRAY_COUNT(batch_columns) },
};

struct batch {
    uint32_t host, event;
    int64_t  id, start_ns, end_ns, first_ns; /* first_ns: of the request that came first */
    uint32_t requests;
    int64_t  examples, size, padding; /* size: with padding; 0 unknown */
};
struct request {
    uint32_t event;
    int64_t  start_ns, end_ns, batch_start_ns, batch_end_ns;
};
struct job {
    struct study *study;
    struct arena *scratch;
    VEC(struct batch) batches;
    VEC(struct request) requests;
};

static int by_id(const void *a, const void *b)
{
    const struct batch *x = a, *y = b;

    return IN_ORDER(COMPARE(x->host, y->host), COMPARE(x->id, y->id), COMPARE(x->event, y->event));
}

static int by_latency(const void *a, const void *b)
{
    const struct request *x = a, *y = b;

    return IN_ORDER(COMPARE(x->end_ns - x->start_ns, y->end_ns - y->start_ns),
                    COMPARE(x->event, y->event));
}

/* The event itself or the next one around it that has the stat; NO_ID: none. */
static uint32_t owner(const struct job *job, uint32_t event, enum stat_key key, int64_t *value)
{
    while (event != NO_ID && !profile_stat(job->study->profile, key, event, value))
        event = job->study->around[event];
    return event;
}

/* What of a thread ends a link: batches, if a request begins it. */
static bool add_batches(struct job *job, const struct timeline *line)
{
    const struct profile     *profile = job->study->profile;
    const struct stat_column *ends = &profile->stats[STAT_CONSUMER];
    size_t row = LOWER_BOUND(stat_count(ends), i, stat_event(ends, i) < line->first_event);

    for (; row < stat_count(ends) && stat_event(ends, row) < line->first_event + line->event_count;
         row++) {
        uint32_t event = stat_event(ends, row);

        if (!vec_push(&job->batches, job->scratch,
                      (struct batch) { .host = line->host,
                                       .event = event,
                                       .id = stat_value(ends, row),
                                       .start_ns = event_start_ns(profile, event),
                                       .end_ns = event_end_ns(profile, event),
                                       .first_ns = INT64_MAX }))
            return false;
    }
    return true;
}

static struct batch *find_batch(struct job *job, uint32_t host, int64_t id)
{
    size_t at =
        LOWER_BOUND(job->batches.count, i,
                    job->batches.items[i].host < host ||
                        (job->batches.items[i].host == host && job->batches.items[i].id < id));
    struct batch *batch = &job->batches.items[at];

    return at < job->batches.count && batch->host == host && batch->id == id ? batch : NULL;
}

/* A request waits in the innermost call around it that ends behind its batch; where none does, it
 * is over with the batch. */
static void bound(const struct job *job, struct request *request)
{
    const struct profile *profile = job->study->profile;
    uint32_t              call = request->event;

    while (call != NO_ID && event_end_ns(profile, call) < request->batch_end_ns)
        call = job->study->around[call];
    request->start_ns = event_start_ns(profile, request->event);
    request->end_ns = request->batch_end_ns;
    if (call == NO_ID || activity_kind_class(event_activity(profile, call)->kind) == CLASS_MARK)
        return;
    request->start_ns = event_start_ns(profile, call);
    request->end_ns = event_end_ns(profile, call);
}

static bool join(struct job *job, uint32_t event, int64_t examples, struct batch *batch)
{
    const struct request fresh = { .event = event,
                                   .batch_start_ns = INT64_MAX,
                                   .batch_end_ns = INT64_MIN };
    struct request      *request =
        job->requests.count ? &job->requests.items[job->requests.count - 1] : NULL;
    int64_t start_ns = event_start_ns(job->study->profile, event);

    if (batch->start_ns < start_ns)
        return true;
    if (!request || request->event != event) {
        if (!vec_push(&job->requests, job->scratch, fresh))
            return false;
        request = &job->requests.items[job->requests.count - 1];
    }
    request->batch_start_ns =
        batch->start_ns < request->batch_start_ns ? batch->start_ns : request->batch_start_ns;
    request->batch_end_ns =
        batch->end_ns > request->batch_end_ns ? batch->end_ns : request->batch_end_ns;
    batch->first_ns = start_ns < batch->first_ns ? start_ns : batch->first_ns;
    batch->requests++;
    batch->examples += examples;
    return true;
}

static bool add_requests(struct job *job, const struct timeline *line)
{
    const struct profile     *profile = job->study->profile;
    const struct stat_column *begins = &profile->stats[STAT_PRODUCER];
    size_t row = LOWER_BOUND(stat_count(begins), i, stat_event(begins, i) < line->first_event);

    for (; row < stat_count(begins) &&
           stat_event(begins, row) < line->first_event + line->event_count;
         row++) {
        uint32_t      from = stat_event(begins, row);
        int64_t       all, part;
        uint32_t      request = owner(job, from, STAT_TASK_SIZE, &all);
        struct batch *batch =
            request == NO_ID ? NULL : find_batch(job, line->host, stat_value(begins, row));

        /* What is split says how much goes into each batch. */
        if (batch &&
            !join(job, request, profile_stat(profile, STAT_BYTES, from, &part) ? part : all, batch))
            return false;
    }
    return true;
}

/* Sizes stand at what joins the requests' inputs, inside of the batch. */
static void add_sizes(struct job *job, const struct timeline *line)
{
    const struct profile     *profile = job->study->profile;
    const struct stat_column *sizes = &profile->stats[STAT_BATCH_SIZE];
    size_t row = LOWER_BOUND(stat_count(sizes), i, stat_event(sizes, i) < line->first_event);

    for (;
         row < stat_count(sizes) && stat_event(sizes, row) < line->first_event + line->event_count;
         row++) {
        int64_t       id = 0;
        bool          is_in = owner(job, stat_event(sizes, row), STAT_CONSUMER, &id) != NO_ID;
        struct batch *batch = is_in ? find_batch(job, line->host, id) : NULL;

        if (!batch)
            continue;
        batch->size = stat_value(sizes, row);
        profile_stat(profile, STAT_PADDING, stat_event(sizes, row), &batch->padding);
    }
}

static bool collect(struct job *job)
{
    const struct profile *profile = job->study->profile;
    size_t                kept = 0;

    for (size_t i = 0; i < profile->timelines.count; i++)
        if (profile->timelines.items[i].kind == TIMELINE_THREAD &&
            !add_batches(job, &profile->timelines.items[i]))
            return false;
    if (job->batches.count > 1)
        qsort(job->batches.items, job->batches.count, sizeof *job->batches.items, by_id);
    for (size_t i = 0; i < profile->timelines.count; i++) {
        const struct timeline *line = &profile->timelines.items[i];

        if (line->kind != TIMELINE_THREAD)
            continue;
        if (!add_requests(job, line))
            return false;
        add_sizes(job, line);
    }
    for (size_t i = 0; i < job->batches.count; i++)
        if (job->batches.items[i].requests > 0)
            job->batches.items[kept++] = job->batches.items[i];
    job->batches.count = kept;
    for (size_t i = 0; i < job->requests.count; i++)
        bound(job, &job->requests.items[i]);
    if (job->requests.count > 1)
        qsort(job->requests.items, job->requests.count, sizeof *job->requests.items, by_latency);
    return true;
}

static bool fill_latencies(struct job *job)
{
    static const double percentiles[] = { 50, 75, 90, 95, 99, 99.9 };
    struct table       *table = facts_table(&job->study->facts, &tables[0]);

    for (size_t i = 0; table && i < ARRAY_COUNT(percentiles); i++) {
        size_t rank = (size_t)ceil(percentiles[i] / 100 * (double)job->requests.count - 1e-9);
        const struct request *request = &job->requests.items[rank ? rank - 1 : 0];
        size_t                row = table_add(table, job->study->arena);

        if (row == SIZE_MAX)
            return false;
        emit_number(table, PERCENTILE, row, percentiles[i]);
        emit_number(table, P_LATENCY, row, (double)(request->end_ns - request->start_ns));
        emit_number(table, P_WAIT, row, (double)(request->batch_start_ns - request->start_ns));
        emit_number(table, P_BATCH, row, (double)(request->batch_end_ns - request->batch_start_ns));
        emit_number(table, P_REST, row, (double)(request->end_ns - request->batch_end_ns));
    }
    return table != NULL;
}

static bool fill_batches(struct job *job)
{
    const struct profile *profile = job->study->profile;
    struct table         *table = facts_table(&job->study->facts, &tables[1]);

    for (size_t i = 0; table && i < job->batches.count; i++) {
        const struct batch *batch = &job->batches.items[i];
        size_t              row = table_add(table, job->study->arena);

        if (row == SIZE_MAX)
            return false;
        emit_number(table, B_START, row, (double)batch->start_ns);
        emit_number(table, B_NS, row, (double)(batch->end_ns - batch->start_ns));
        emit_number(table, B_REQUESTS, row, batch->requests);
        emit_number(table, B_EXAMPLES, row, (double)batch->examples);
        if (batch->size > 0)
            emit_number(table, B_PADDING, row, (double)batch->padding / (double)batch->size);
        emit_number(table, B_WAIT, row, (double)(batch->start_ns - batch->first_ns));
        emit_name(table, B_HOST, row, profile->hosts.items[batch->host].name);
    }
    return table != NULL;
}

static bool set_facts(struct job *job)
{
    struct facts *facts = &job->study->facts;
    double values[FACT_COUNT] = { 0 }, latency_ns = 0, wait_ns = 0, batch_ns = 0, examples = 0,
           size = 0, padding = 0;
    int64_t first_ns = INT64_MAX, last_ns = INT64_MIN;
    bool    is_set = true;

    for (size_t i = 0; i < job->requests.count; i++) {
        const struct request *request = &job->requests.items[i];

        latency_ns += (double)(request->end_ns - request->start_ns);
        wait_ns += (double)(request->batch_start_ns - request->start_ns);
        first_ns = request->start_ns < first_ns ? request->start_ns : first_ns;
        last_ns = request->end_ns > last_ns ? request->end_ns : last_ns;
    }
    for (size_t i = 0; i < job->batches.count; i++) {
        const struct batch *batch = &job->batches.items[i];

        batch_ns += (double)(batch->end_ns - batch->start_ns);
        examples += (double)batch->examples;
        size += (double)batch->size;
        padding += (double)batch->padding;
    }
    values[REQUESTS] = (double)job->requests.count;
    values[BATCHES] = (double)job->batches.count;
    values[PER_S] =
        last_ns > first_ns ? values[REQUESTS] / (double)(last_ns - first_ns) * 1e9 : NAN;
    values[LATENCY_NS] = latency_ns / values[REQUESTS];
    values[WAIT_NS] = wait_ns / values[REQUESTS];
    values[WAIT_SHARE] = latency_ns > 0 ? wait_ns / latency_ns : NAN;
    values[BATCH_NS] = batch_ns / values[BATCHES];
    values[EXAMPLES] = examples / values[BATCHES];
    values[PADDING_SHARE] = size > 0 ? padding / size : NAN;
    for (size_t i = 0; i < FACT_COUNT && is_set; i++)
        is_set = isfinite(values[i]) ? facts_set(facts, &produces[i], values[i])
                                     : facts_absent(facts, produces[i].name, NULL,
                                                    "the events of batches do not tell it");
    return is_set;
}

static bool say_absent(struct study *study)
{
    static const char reason[] = "no request for a batch is in the recording";

    for (size_t i = 0; i < FACT_COUNT; i++)
        if (!facts_absent(&study->facts, produces[i].name, NULL, reason))
            return false;
    return facts_absent(&study->facts, tables[0].name, NULL, reason) &&
           facts_absent(&study->facts, tables[1].name, NULL, reason);
}

static bool run(struct study *study, struct err *err)
{
    struct arena scratch = { 0 };
    struct job   job = { .study = study, .scratch = &scratch };
    bool         is_done = stat_count(&study->profile->stats[STAT_TASK_SIZE]) == 0 || collect(&job);

    if (is_done && job.requests.count > 0)
        is_done = fill_latencies(&job) && fill_batches(&job) && set_facts(&job);
    else
        is_done = is_done && say_absent(study);
    arena_free(&scratch);
    return is_done || emit_limit("requests", err);
}

const struct analysis analysis_requests = {
    .name = "requests",
    .summary = "requests that are put together to batches",
    .produces = produces,
    .produces_count = ARRAY_COUNT(produces),
    .tables = tables,
    .table_count = ARRAY_COUNT(tables),
    .run = run,
};
