#include <math.h>

#include "testing.h"

#include "analyze/analysis.h"
#include "analyze/input/pipeline.h"
#include "analyze/replay/replay.h"
#include "profile_builder.h"

extern const struct analysis analysis_path, analysis_composition, analysis_pipeline;

static void run_analyses(struct profile_builder *b)
{
    struct err err = { 0 };

    b->study.steps.mean_ns = b->study.steps.median_ns;
    assert_true(path_begin(&b->study) && analysis_path.run(&b->study, &err));
    assert_true(analysis_composition.run(&b->study, &err));
    assert_true(analysis_pipeline.run(&b->study, &err));
}

static double replayed(struct profile_builder *b, struct edit edit)
{
    struct replay_result result;
    struct err           err = { 0 };

    assert_true(replay_run(&b->study, &edit, 1, &result, &err));
    return result.step_ns;
}

/*
 * One step of 100 us. The leading thread works in Python 0..30 us, calls a program 30..32 us and
 * waits for it 32..90 us; a worker computes 33..88 us. 90..100 us the thread is in no event.
 *   host:      30 (python) + 10 (outside events)
 *   dispatch:  counted to host: 30..32, and 32..33 while nothing runs yet is idle.sync
 *   compute:   33..88 = 55 us; 88..90 us idle.sync
 */
static void build_wait(struct profile_builder *b)
{
    uint32_t host, python, worker;

    host = builder_start_host(b, FORMAT_XSPACE);
    b->profile.hosts.items[host].core_count = 2; /* one core could not do two things at once */
    python = builder_timeline(b, host, NO_ID, "python");
    worker = builder_timeline(b, host, NO_ID, "worker");
    builder_slice(b, python, "train", ACTIVITY_STEP, 0, 100000);
    builder_slice(b, python, "prepare", ACTIVITY_OTHER, 0, 30000);
    builder_slice(b, python, "PjitFunction(f)", ACTIVITY_DISPATCH, 30000, 2000);
    builder_slice(b, python, "block_until_ready", ACTIVITY_SYNC, 32000, 58000);
    builder_slice(b, worker, "fusion", ACTIVITY_OP, 33000, 55000);
    builder_step(b, host, 0, 100000);
    builder_finish(b);
    b->study.steps.list.items[0].timeline = python;
    b->study.steps.median_ns = 100000;
    run_analyses(b);
}

TEST(parts_sum_to_the_step)
{
    struct profile_builder b;

    build_wait(&b);
    assert_float_equal(builder_fact(&b, "part.compute_ns"), 55000, 1e-6);
    assert_float_equal(builder_fact(&b, "part.host_ns"), 42000, 1e-6);
    assert_float_equal(builder_fact(&b, "part.idle_sync_ns"), 3000, 1e-6);
    assert_float_equal(builder_fact(&b, "host.python_ns"), 10000, 1e-6);
    builder_free(&b);
}

/*
 * One step of 100 us on two cores: 40 us of Python, then 60 us that two pool threads compute.
 * Beside the computation Python takes one of its two cores: in those 40 us it does 20 us of its
 * work, the other 40 us follow. 80 us in all, where a computation of one thread would leave 60.
 */
TEST(work_beside_needs_a_core)
{
    struct profile_builder b;
    uint32_t               host, python, workers[2];

    host = builder_start_host(&b, FORMAT_XSPACE);
    b.profile.hosts.items[host].core_count = 2;
    python = builder_timeline(&b, host, NO_ID, "python");
    workers[0] = builder_timeline(&b, host, NO_ID, "worker 0");
    workers[1] = builder_timeline(&b, host, NO_ID, "worker 1");
    builder_slice(&b, python, "train", ACTIVITY_STEP, 0, 100000);
    builder_slice(&b, python, "prepare", ACTIVITY_OTHER, 0, 40000);
    builder_slice(&b, python, "block_until_ready", ACTIVITY_SYNC, 40000, 60000);
    builder_slice(&b, workers[0], "fusion", ACTIVITY_OP, 40000, 60000);
    builder_slice(&b, workers[1], "fusion.1", ACTIVITY_OP, 40000, 60000);
    builder_step(&b, host, 0, 100000);
    builder_finish(&b);
    b.study.steps.list.items[0].timeline = python;
    b.study.steps.median_ns = 100000;
    run_analyses(&b);
    assert_float_equal(replayed(&b, (struct edit) { .kind = EDIT_OVERLAP,
                                                    .select = { .part_mask = 1 << PART_HOST } }),
                       80000, 1);
    builder_free(&b);
}

/*
 * One step of 100 us: 80 us of the host's own work, beside which a worker computes 40 us, then 20
 * us that the step waits for. Without it what was computed beside it is waited for: 60 us stay on
 * eight hardware threads. On two, which share a core, one and a half thread did 1.15 of a core's
 * work, so that those 40 us are 40 * 1.15 / 1.5 alone. So it is when the 80 us are copies to a
 * device, or a collective for which other devices on the same cores compute.
 */
TEST(computing_beside_the_host_stays)
{
    static const struct {
        uint32_t           cores;
        double             factor, left_ns;
        enum activity_kind kind;
        enum part          part;
    } cases[] = { { 8, 0, 60000, ACTIVITY_OTHER, PART_HOST },
                  { 8, 0.75, 80000, ACTIVITY_OTHER, PART_HOST },
                  { 2, 0, 20000 + 40000 * 1.15 / 1.5, ACTIVITY_OTHER, PART_HOST },
                  { 8, 0, 60000, ACTIVITY_TRANSFER, PART_COPY },
                  { 8, 0, 60000, ACTIVITY_COLLECTIVE, PART_COMMUNICATION } };

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct profile_builder b;
        uint32_t               host, python, worker;

        host = builder_start_host(&b, FORMAT_XSPACE);
        b.profile.hosts.items[host].core_count = cases[i].cores;
        python = builder_timeline(&b, host, NO_ID, "python");
        worker = builder_timeline(&b, host, NO_ID, "worker");
        builder_slice(&b, python, "train", ACTIVITY_STEP, 0, 100000);
        builder_slice(&b, python, "prepare", cases[i].kind, 0, 80000);
        builder_slice(&b, python, "block_until_ready", ACTIVITY_SYNC, 80000, 20000);
        builder_slice(&b, worker, "fusion", ACTIVITY_OP, 10000, 40000);
        builder_slice(&b, worker, "fusion.1", ACTIVITY_OP, 80000, 20000);
        builder_step(&b, host, 0, 100000);
        builder_finish(&b);
        b.study.steps.list.items[0].timeline = python;
        b.study.steps.median_ns = 100000;
        run_analyses(&b);
        assert_float_equal(
            replayed(&b, (struct edit) { .kind = EDIT_SCALE,
                                         .factor = cases[i].factor,
                                         .select = { .part_mask = UINT32_C(1) << cases[i].part } }),
            cases[i].left_ns, 1);
        builder_free(&b);
    }
}

/*
 * Three steps: 60 us of Python each, then an op of 40 us, in the last one of 140. What the op took
 * there counts as twice the usual, so that a step is (100 + 100 + 140) / 3 = 113.3 us, of which the
 * usual one of 100 us stands for. Without Python 160 / 340 of that are left.
 */
TEST(an_op_that_was_held_up_once_counts_as_usual)
{
    struct profile_builder b;
    uint32_t               host, thread;

    host = builder_start_host(&b, FORMAT_KINETO);
    b.profile.hosts.items[host].core_count = 8;
    thread = builder_timeline(&b, host, NO_ID, "python");
    for (int64_t step = 0; step < 3; step++) {
        int64_t t = step * 100000, ns = step == 2 ? 140000 : 40000;

        builder_slice(&b, thread, "step", ACTIVITY_PYTHON, t, 60000);
        builder_slice(&b, thread, "aten::mm", ACTIVITY_OP, t + 60000, ns);
        builder_step(&b, host, t, t + 60000 + ns);
    }
    builder_finish(&b);
    for (size_t i = 0; i < 3; i++)
        b.study.steps.list.items[i].timeline = thread;
    b.study.steps.median_ns = 100000;
    run_analyses(&b);
    assert_float_equal(replayed(&b, (struct edit) { .kind = EDIT_SCALE,
                                                    .factor = 0,
                                                    .select = { .part_mask = 1 << PART_HOST } }),
                       100000.0 * 160 / 340, 1);
    builder_free(&b);
}

/*
 * One step of 1 ms. The leading thread is in one Python function that calls a program at 300..310
 * us and then waits for it in a call without an event; a worker runs the program 320..990 us.
 * Python ends 10 us behind it: host: 300 (before the call) + 10 + 10 (until the program starts) +
 * 10 (behind it), compute: 670
 */
TEST(python_waits_unseen)
{
    struct profile_builder b;
    uint32_t               host, python, worker, op;

    host = builder_start_host(&b, FORMAT_XSPACE);
    b.profile.hosts.items[host].core_count = 2;
    python = builder_timeline(&b, host, NO_ID, "python");
    worker = builder_timeline(&b, host, NO_ID, "worker");
    builder_slice(&b, python, "train", ACTIVITY_STEP, 0, 1000000);
    builder_slice(&b, python, "$train.py:3 step", ACTIVITY_PYTHON, 0, 1000000);
    builder_slice(&b, python, "PjitFunction(f)", ACTIVITY_DISPATCH, 300000, 10000);
    op = builder_slice(&b, worker, "fusion", ACTIVITY_OP, 320000, 670000);
    builder_stat(&b, op, STAT_RUN_ID, 9);
    builder_step(&b, host, 0, 1000000);
    builder_finish(&b);
    b.study.steps.list.items[0].timeline = python;
    b.study.steps.median_ns = 1000000;
    run_analyses(&b);
    assert_float_equal(builder_fact(&b, "part.compute_ns"), 670000, 1e-6);
    assert_float_equal(builder_fact(&b, "part.host_ns"), 330000, 1e-6);
    builder_free(&b);
}

TEST(edits_change_what_they_select)
{
    struct profile_builder b;

    build_wait(&b);
    /* Nothing edited: the measured step. */
    assert_float_equal(replayed(&b, (struct edit) { .kind = EDIT_STEP, .ns = 0 }), 100000, 1e-3);
    /* Compute at half its time: 55 us become 27.5. */
    assert_float_equal(replayed(&b, (struct edit) { .kind = EDIT_SCALE,
                                                    .select = { .name = "fusion" },
                                                    .factor = 0.5 }),
                       72500, 1);
    /* Host work (42 us) beside the rest: 58 us remain. */
    assert_float_equal(replayed(&b, (struct edit) { .kind = EDIT_OVERLAP,
                                                    .select = { .part_mask = 1 << PART_HOST } }),
                       58000, 1);
    /* No more than the selected 30 us can be subtracted. */
    assert_float_equal(replayed(&b, (struct edit) { .kind = EDIT_SUBTRACT,
                                                    .select = { .name = "prepare" },
                                                    .ns = 50000 }),
                       70000, 1);
    builder_free(&b);
}

/*
 * Input: ten steps of 100 us. Each waits for input 0..60 us, then computes 60..100 us on the
 * leading thread. A producer thread runs Batch > Map all the time, 100 us a batch: Map's own 80 us
 * of it. The pipeline's period is 100 us (Batch 20 + Map 80).
 */
static void start_input(struct profile_builder *b, uint32_t core_count)
{
    uint32_t host, python, producer;

    host = builder_start_host(b, FORMAT_XSPACE);
    b->profile.hosts.items[host].core_count = core_count;
    python = builder_timeline(b, host, NO_ID, "python");
    producer = builder_timeline(b, host, NO_ID, "tf_data_iterator_resource");
    for (int64_t t = 0; t < 1000000; t += 100000) {
        builder_slice(b, python, "IteratorGetNextOp::DoCompute", ACTIVITY_INPUT_WAIT, t, 60000);
        builder_slice(b, python, "Iterator::Root::Prefetch", ACTIVITY_INPUT_STAGE, t, 60000);
        builder_slice(b, python, "dense/MatMul:MatMul", ACTIVITY_OP, t + 60000, 40000);
        builder_slice(b, producer, "PrefetchProduce", ACTIVITY_INPUT_BUFFER, t, 100000);
        builder_slice(b, producer, "Iterator::Root::Prefetch::Batch", ACTIVITY_INPUT_STAGE, t,
                      100000);
        builder_slice(b, producer, "Iterator::Root::Prefetch::Batch::Map", ACTIVITY_INPUT_STAGE,
                      t + 10000, 80000);
        builder_step(b, host, t, t + 100000);
    }
}

static void finish_input(struct profile_builder *b)
{
    builder_finish(b);
    for (size_t i = 0; i < b->study.steps.list.count; i++)
        b->study.steps.list.items[i].timeline = 0; /* python */
    b->study.steps.median_ns = 100000;
    run_analyses(b);
}

static void build_input(struct profile_builder *b, uint32_t core_count)
{
    start_input(b, core_count);
    finish_input(b);
}

TEST(stages_are_told_apart)
{
    struct profile_builder b;

    build_input(&b, 4);
    assert_float_equal(builder_fact(&b, "input.wait_share"), 0.6, 1e-9);
    assert_float_equal(builder_fact(&b, "input.period_ns"), 100000, 1);
    assert_float_equal(builder_fact(&b, "input.keeps_up"), 0, 0);
    assert_float_equal(builder_cell(&b, "iterators", "type", "Map", "self_ns"), 80000, 1);
    assert_float_equal(builder_cell(&b, "iterators", "type", "Batch", "self_ns"), 20000, 1);
    assert_float_equal(builder_cell(&b, "iterators", "type", "Prefetch", "wait_ns"), 60000, 1);
    assert_float_equal(builder_cell(&b, "iterators", "type", "Map", "calls"), 1, 0);
    builder_free(&b);
}

TEST(the_pipeline_sets_the_pace)
{
    struct profile_builder b;

    build_input(&b, 4);
    /* Map four times as fast: 20 + 20 = 40 us a batch, the step's own 40 us remain. */
    assert_float_equal(replayed(&b, (struct edit) { .kind = EDIT_STAGE_SCALE,
                                                    .select = { .stage = ".*::Map" },
                                                    .factor = 0.25 }),
                       40000, 1);
    /* Half of Map: 20 + 40 = 60 us: the pipeline still sets the pace. */
    assert_float_equal(replayed(&b, (struct edit) { .kind = EDIT_STAGE_SCALE,
                                                    .select = { .stage = ".*::Map" },
                                                    .factor = 0.5 }),
                       60000, 1);
    /* Faster compute does not help: the step goes on waiting for the pipeline. */
    assert_float_equal(replayed(&b, (struct edit) { .kind = EDIT_SCALE,
                                                    .select = { .name = ".*MatMul.*" },
                                                    .factor = 0.5 }),
                       100000, 1);
    builder_free(&b);
}

/* Two hardware threads share one core, and two at work there do 1.3 times the work of one: the
 * step's 40 us of computing beside the producer ran at 0.65 of full speed and need 26 us without
 * it. */
TEST(input_leaves_its_core)
{
    struct profile_builder b;

    build_input(&b, 2);
    assert_float_equal(replayed(&b, (struct edit) { .kind = EDIT_STAGE_SCALE,
                                                    .select = { .stage = ".*" },
                                                    .factor = 0 }),
                       26000, 1);
    builder_free(&b);
}

/* A pool task that says nothing of its purpose: 50 us of each step's wait for input. It counts as
 * work for input, 100 + 50 us a step of the producer and the pool. */
TEST(pool_tasks_follow_the_step)
{
    struct profile_builder b;
    uint32_t               pool;

    start_input(&b, 4);
    pool = builder_timeline(&b, 0, NO_ID, "tf_Compute");
    for (int64_t t = 0; t < 1000000; t += 100000)
        builder_slice(&b, pool, "ThreadpoolListener::Region", ACTIVITY_EXECUTOR, t + 5000, 50000);
    finish_input(&b);
    assert_float_equal(builder_fact(&b, "host.input_cpu_ns"), 150000, 1);
    builder_free(&b);
}

/* One producer thread: Batch over a shuffle over a map whose function flips at random, 20 us of
 * each 100 us step. The pipeline keeps up, and only what is below the map is the same each epoch.
 */
TEST(randomness_and_pace_are_seen)
{
    struct profile_builder b;
    uint32_t               host, python, producer, flip;

    host = builder_start_host(&b, FORMAT_XSPACE);
    python = builder_timeline(&b, host, NO_ID, "python");
    producer = builder_timeline(&b, host, NO_ID, "tf_data_iterator_resource");
    flip = builder_activity(&b, "random_flip/Reverse:ReverseV2", ACTIVITY_OP,
                            builder_op(&b, "random_flip/Reverse", "ReverseV2", NULL));
    for (int64_t t = 0; t < 1000000; t += 100000) {
        builder_slice(&b, python, "IteratorGetNextOp::DoCompute", ACTIVITY_INPUT_WAIT, t, 10000);
        builder_slice(&b, python, "Iterator::Root::Prefetch", ACTIVITY_INPUT_STAGE, t, 10000);
        builder_slice(&b, python, "dense/MatMul:MatMul", ACTIVITY_OP, t + 10000, 90000);
        builder_slice(&b, producer, "Iterator::Root::Prefetch::Batch", ACTIVITY_INPUT_STAGE, t,
                      20000);
        builder_slice(&b, producer, "Iterator::Root::Prefetch::Batch::Shuffle",
                      ACTIVITY_INPUT_STAGE, t + 1000, 18000);
        builder_slice(&b, producer, "Iterator::Root::Prefetch::Batch::Shuffle::Map",
                      ACTIVITY_INPUT_STAGE, t + 2000, 16000);
        builder_event(&b, producer, flip, t + 3000, 5000);
        builder_slice(&b, producer, "Iterator::Root::Prefetch::Batch::Shuffle::Map::Range",
                      ACTIVITY_INPUT_STAGE, t + 9000, 2000);
        builder_step(&b, host, t, t + 100000);
    }
    builder_finish(&b);
    for (size_t i = 0; i < b.study.steps.list.count; i++)
        b.study.steps.list.items[i].timeline = python;
    b.study.steps.median_ns = b.study.steps.mean_ns = 100000;
    run_analyses(&b);
    assert_float_equal(builder_fact(&b, "input.is_prefetched"), 1, 0);
    assert_float_equal(builder_fact(&b, "input.keeps_up"), 1, 0);
    assert_float_equal(builder_cell(&b, "iterators", "type", "Map", "random_below"), 1, 0);
    assert_float_equal(builder_cell(&b, "iterators", "type", "Range", "random_below"), 0, 0);
    assert_float_equal(builder_cell(&b, "iterators", "type", "Range", "below_random"), 0, 0);
    assert_float_equal(builder_cell(&b, "iterators", "type", "Shuffle", "below_random"), 1, 0);
    builder_free(&b);
}

/* A producer that is at work for 80 us of each 100 us step, more than half of it. Whether it holds
 * the step is whether the consumer waits in the buffer: 2 us, ready; 60 us, not. Where it is at
 * work for 290 us of each 300, the buffer runs dry, though nobody waits yet. */
TEST(ready_batches_keep_up)
{
    static const struct {
        int64_t wait_ns, made_ns, each_ns;
        double  keeps_up;
    } rows[] = { { 2000, 80000, 100000, 1 },
                 { 60000, 80000, 100000, 0 },
                 { 2000, 290000, 300000, 0 } };

    for (size_t i = 0; i < ARRAY_COUNT(rows); i++) {
        struct profile_builder b;
        uint32_t               host, python, producer;

        host = builder_start_host(&b, FORMAT_XSPACE);
        b.profile.hosts.items[host].core_count = 4;
        python = builder_timeline(&b, host, NO_ID, "python");
        producer = builder_timeline(&b, host, NO_ID, "tf_data_iterator_resource");
        for (int64_t t = 0; t < 1000000; t += 100000) {
            builder_slice(&b, python, "IteratorGetNextOp::DoCompute", ACTIVITY_INPUT_WAIT, t,
                          rows[i].wait_ns);
            builder_slice(&b, python, "Iterator::Root::Prefetch", ACTIVITY_INPUT_STAGE, t,
                          rows[i].wait_ns);
            builder_slice(&b, python, "dense/MatMul:MatMul", ACTIVITY_OP, t + rows[i].wait_ns,
                          100000 - rows[i].wait_ns);
            if (t % rows[i].each_ns == 0 && t + rows[i].each_ns <= 1000000)
                builder_slice(&b, producer, "Iterator::Root::Prefetch::Batch", ACTIVITY_INPUT_STAGE,
                              t + 10000, rows[i].made_ns);
            builder_step(&b, host, t, t + 100000);
        }
        finish_input(&b);
        assert_true(rows[i].made_ns > 80000 ||
                    fabs(builder_fact(&b, "input.period_ns") - 80000) < 1);
        assert_float_equal(builder_fact(&b, "input.refill_ns"), (double)rows[i].made_ns, 1);
        assert_float_equal(builder_fact(&b, "input.keeps_up"), rows[i].keeps_up, 0);
        builder_free(&b);
    }
}

/* Small elements go from thread to thread: a stage of each takes 20 us of a step of 100 us, but the
 * one that makes batches waits for the other, 95 us for a batch, while the step waits 30 us: it
 * never rests, and holds the step. With batches of 60 us it rests, and is ahead. */
TEST(a_thread_that_never_rests)
{
    static const struct {
        int64_t batch_ns;
        double  keeps_up;
    } rows[] = { { 95000, 0 }, { 60000, 1 } };

    for (size_t i = 0; i < ARRAY_COUNT(rows); i++) {
        struct profile_builder b;
        uint32_t               host, python, producer, reader;

        host = builder_start_host(&b, FORMAT_XSPACE);
        b.profile.hosts.items[host].core_count = 4;
        python = builder_timeline(&b, host, NO_ID, "python");
        producer = builder_timeline(&b, host, NO_ID, "tf_data_iterator_resource");
        reader = builder_timeline(&b, host, NO_ID, "tf_data_parallel_interleave");
        for (int64_t t = 0; t < 1000000; t += 100000) {
            builder_slice(&b, python, "IteratorGetNextOp::DoCompute", ACTIVITY_INPUT_WAIT, t,
                          30000);
            builder_slice(&b, python, "Iterator::Root::Prefetch", ACTIVITY_INPUT_STAGE, t, 30000);
            builder_slice(&b, python, "dense/MatMul:MatMul", ACTIVITY_OP, t + 30000, 70000);
            builder_slice(&b, producer, "Iterator::Root::Prefetch::Batch", ACTIVITY_INPUT_STAGE, t,
                          rows[i].batch_ns);
            builder_slice(&b, producer, "Iterator::Root::Prefetch::Batch::ParallelInterleaveV4",
                          ACTIVITY_INPUT_STAGE, t + 10000, rows[i].batch_ns - 20000);
            builder_slice(&b, reader, "Iterator::Root::Prefetch::Batch::ParallelInterleaveV4::CSV",
                          ACTIVITY_INPUT_STAGE, t + 10000, 20000);
            builder_step(&b, host, t, t + 100000);
        }
        finish_input(&b);
        assert_float_equal(builder_fact(&b, "input.wait_share"), 0.3, 1e-9);
        assert_float_equal(builder_fact(&b, "input.period_ns"), 20000, 1);
        assert_float_equal(builder_fact(&b, "input.keeps_up"), rows[i].keeps_up, 0);
        builder_free(&b);
    }
}

TEST(bad_patterns_are_usage_errors)
{
    struct profile_builder b;
    struct replay_result   result;
    struct err             err = { 0 };
    struct edit            edit = { .kind = EDIT_SCALE, .select = { .name = "(" } };

    build_wait(&b);
    assert_false(replay_run(&b.study, &edit, 1, &result, &err));
    assert_int_equal(err.code, ERR_USAGE);
    builder_free(&b);
}

/* The thread that leads a step of 100 us waits 60 us for a batch from a cache, of which a Map below
 * it takes 50: the cache is being filled, all 60 us are gone in the next epoch, and the input keeps
 * up then. A cache that is read has nothing below it. */
TEST(a_cache_that_is_being_filled)
{
    for (int fills = 0; fills < 2; fills++) {
        struct profile_builder b;
        uint32_t               host, python;

        host = builder_start_host(&b, FORMAT_XSPACE);
        python = builder_timeline(&b, host, NO_ID, "python");
        builder_slice(&b, python, "Iterator::Root::MemoryCacheImpl", ACTIVITY_INPUT_STAGE, 0,
                      60000);
        if (fills)
            builder_slice(&b, python, "Iterator::Root::MemoryCacheImpl::Map", ACTIVITY_INPUT_STAGE,
                          0, 50000);
        builder_slice(&b, python, "matmul", ACTIVITY_OP, 60000, 40000);
        builder_step(&b, host, 0, 100000);
        builder_finish(&b);
        b.study.steps.list.items[0].timeline = python;
        b.study.steps.median_ns = 100000;
        run_analyses(&b);
        assert_true(fabs(builder_fact(&b, "input.cache_fill_ns") - (fills ? 60000 : 0)) < 1);
        assert_int_equal((int)builder_fact(&b, "input.keeps_up"), fills);
        builder_free(&b);
    }
}
