/* pipeline_build: stages, sections and times of small pipelines. */
#include "analyze/analysis.h"
#include "analyze/input/pipeline.h"

#include "profile_builder.h"
#include "testing.h"

#include <math.h>

static const struct stage *find(const struct profile_builder *b, const struct pipeline *pipeline,
                                const char *name)
{
    for (size_t i = 0; i < pipeline->stages.count; i++)
        if (str_equal(intern_str(b->study.facts.names, pipeline->stages.items[i].name),
                      str_from(name)))
            return &pipeline->stages.items[i];
    fail_msg("no stage called %s", name);
    return NULL;
}

static struct pipeline *build(struct profile_builder *b, uint32_t leader, struct arena *scratch)
{
    struct pipeline *pipeline;
    struct err       err = { 0 };

    builder_finish(b);
    for (size_t i = 0; i < b->study.steps.list.count; i++)
        b->study.steps.list.items[i].timeline = leader;
    assert_true(path_begin(&b->study) && analysis_path.run(&b->study, &err));
    pipeline = pipeline_build(&b->study, scratch);
    assert_non_null(pipeline);
    return pipeline;
}

/*
 * Two steps of 100 us. In each the leading thread asks for a batch 0..60: Batch 0..60, in it two
 * calls of Map 0..20 and 20..50; the second Map reads a record 20..40. Nothing is asynchronous:
 * Batch's own time is 10 us a step, Map's 20 + 10 = 30 with 2 calls, TFRecord's 20 with 1 call.
 * Of Map's calls of 20 and 30 none takes more than 50 us, Batch's call of 60 does. The second
 * step's TFRecord is another instance.
 */
TEST(a_serial_pipeline)
{
    struct profile_builder b;
    struct arena           scratch = { 0 };
    struct pipeline       *pipeline;
    const struct stage    *batch, *map, *record;
    uint32_t               host, main;

    host = builder_start_host(&b, FORMAT_XSPACE);
    main = builder_timeline(&b, host, NO_ID, "python");
    for (int64_t step = 0; step < 2; step++) {
        int64_t  at = step * 100000;
        uint32_t tag;

        builder_step(&b, host, at, at + 100000);
        builder_slice(&b, main, "Iterator::Batch", ACTIVITY_INPUT_STAGE, at, 60000);
        tag = builder_slice(&b, main, "Iterator::Batch::Map", ACTIVITY_INPUT_STAGE, at, 20000);
        builder_stat(&b, tag, STAT_ITERATOR, 1);
        tag = builder_slice(&b, main, "Iterator::Batch::Map", ACTIVITY_INPUT_STAGE, at + 20000,
                            30000);
        builder_stat(&b, tag, STAT_ITERATOR, 1);
        tag = builder_slice(&b, main, "Iterator::Batch::Map[0]::TFRecord", ACTIVITY_INPUT_STAGE,
                            at + 20000, 20000);
        builder_stat(&b, tag, STAT_ITERATOR, 10 + step);
        builder_slice(&b, main, "matmul", ACTIVITY_OP, at + 60000, 40000);
    }
    pipeline = build(&b, main, &scratch);
    assert_int_equal(pipeline->stages.count, 3);
    batch = find(&b, pipeline, "Iterator::Batch");
    map = find(&b, pipeline, "Iterator::Batch::Map");
    record = find(&b, pipeline, "Iterator::Batch::Map::TFRecord");
    assert_int_equal(batch->parent, NO_ID);
    assert_ptr_equal(&pipeline->stages.items[map->parent], batch);
    assert_ptr_equal(&pipeline->stages.items[record->parent], map);
    assert_true(batch->self_ns == 10000 && batch->calls == 1 && batch->total_ns == 60000);
    assert_true(map->self_ns == 30000 && map->calls == 2 && map->max_call_ns == 30000);
    assert_true(map->min_call_ns == 20000 && map->slow_calls == 0 && batch->slow_calls == 1);
    assert_true(record->self_ns == 20000 && record->calls == 1);
    assert_int_equal(map->instances, 1);
    assert_int_equal(record->instances, 2);
    assert_int_equal(record->section, NO_ID);
    assert_true(pipeline->inline_ns == 60000);
    assert_true(batch->path_ns + map->path_ns + record->path_ns == 60000);
    arena_free(&scratch);
    builder_free(&b);
}

/*
 * The consumer waits 0..30 in Prefetch; its thread produces: a Map of 0..80 with a function whose
 * executor step 5 runs an op on a pool thread 10..50. The Map stands in Prefetch's section; 80 us
 * of it are on its own thread, 40 us of its function on the pool. Prefetch waited 30.
 */
TEST(a_prefetching_pipeline)
{
    struct profile_builder b;
    struct arena           scratch = { 0 };
    struct pipeline       *pipeline;
    const struct stage    *prefetch, *map;
    uint32_t               host, main, producer, pool, tag;

    host = builder_start_host(&b, FORMAT_XSPACE);
    main = builder_timeline(&b, host, NO_ID, "python");
    producer = builder_timeline(&b, host, NO_ID, "tf_data_prefetch");
    pool = builder_timeline(&b, host, NO_ID, "tf_Compute");
    builder_step(&b, host, 0, 100000);
    builder_slice(&b, main, "Iterator::Prefetch", ACTIVITY_INPUT_STAGE, 0, 30000);
    builder_slice(&b, main, "matmul", ACTIVITY_OP, 30000, 70000);
    builder_slice(&b, producer, "PrefetchProduce", ACTIVITY_INPUT_BUFFER, 0, 80000);
    builder_slice(&b, producer, "Iterator::Prefetch::Map", ACTIVITY_INPUT_STAGE, 0, 80000);
    tag = builder_slice(&b, producer, "InstantiatedCapturedFunction::Run", ACTIVITY_EXECUTOR, 0,
                        70000);
    builder_stat(&b, tag, STAT_EXECUTOR_STEP, 5);
    tag = builder_event(
        &b, pool,
        builder_activity(&b, "decode", ACTIVITY_OP, builder_op(&b, "decode", "DecodeJpeg", NULL)),
        10000, 40000);
    builder_stat(&b, tag, STAT_EXECUTOR_STEP, 5);
    pipeline = build(&b, main, &scratch);
    prefetch = find(&b, pipeline, "Iterator::Prefetch");
    map = find(&b, pipeline, "Iterator::Prefetch::Map");
    assert_true(prefetch->is_async && !map->is_async);
    assert_ptr_equal(&pipeline->stages.items[map->section], prefetch);
    assert_true(prefetch->wait_ns == 30000);
    assert_true(map->self_ns == 80000);
    assert_true(map->cpu_ns == 40000);
    assert_true(map->top_op_ns == 40000);
    assert_string_equal(intern_str(b.study.facts.names, map->top_op).data, "DecodeJpeg");
    arena_free(&scratch);
    builder_free(&b);
}
