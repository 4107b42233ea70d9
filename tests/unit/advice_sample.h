/*
 * advice_sample: a study and its advice built by hand, for the tests of renderers. Two used steps
 * of 190 and 210 ms after a warm-up; input takes 50 ms of each, compute the rest: of the 400 ms
 * together input has 25 %, so 50 ms of the median 200 ms step.
 */
#ifndef ADVICE_SAMPLE_H
#define ADVICE_SAMPLE_H

#include "analyze/study.h"
#include "rules/advice.h"

#include <math.h>

static const struct fact_spec sample_facts[] = {
    {"part.input_ns",    UNIT_NS, ""},
    { "part.compute_ns", UNIT_NS, ""},
};

struct sample {
    struct arena   arena;
    struct profile profile;
    struct study   study;
    struct advice  advice;
};

#define PUSH(vec, ...) assert_true(vec_push(&(vec), &sample->arena, __VA_ARGS__))

static void sample_profile(struct sample *sample)
{
    struct profile *profile = &sample->profile;

    assert_true(profile_init(profile, &sample->arena));
    profile->format = FORMAT_XSPACE;
    profile->name = arena_text(&sample->arena, "resnet50");
    profile->framework = profile_intern(profile, STR("tensorflow"));
    PUSH(profile->files, (struct source_file) { .name = arena_text(&sample->arena, "a.xplane.pb"),
                                                .bytes = 1500000,
                                                .host = 0,
                                                .rank = -1 });
    PUSH(profile->hosts,
         (struct host) { .name = profile_intern(profile, STR("worker-0")), .rank = -1 });
    PUSH(profile->devices,
         (struct device) { .name = profile_intern(profile, STR("/host:CPU")), .kind = DEVICE_CPU });
    for (int i = 0; i < 2; i++)
        PUSH(
            profile->devices,
            (struct device) { .name = profile_intern(profile, i == 0 ? STR("GPU 0") : STR("GPU 1")),
                              .model = profile_intern(profile, STR("NVIDIA H100")),
                              .kind = DEVICE_GPU });
    assert_true(profile_note(profile, "planes[1]", 3, "events without a name"));
}

static void sample_steps(struct sample *sample)
{
    struct study *study = &sample->study;

    study->recording = &sample->profile;
    study->profile = &sample->profile;
    study->arena = &sample->arena;
    study->steps.source = STEPS_MARKER;
    study->steps.used_count = 2;
    study->steps.total_count = 3;
    study->steps.median_ns = 200e6;
    study->steps.mean_ns = 200e6;
    study->steps.min_ns = 190e6;
    study->steps.max_ns = 210e6;
    study->steps.cov = 0.05;
    PUSH(study->steps.list, (struct step) { .number = 3, .left_out = "warm-up" });
    PUSH(study->steps.list, (struct step) { .number = 4, .is_used = true });
    PUSH(study->steps.list, (struct step) { .number = 5, .is_used = true });
    facts_init(&study->facts, &sample->arena, &sample->profile.names);
    assert_true(facts_set(&study->facts, &sample_facts[0], 50e6));
    assert_true(facts_set(&study->facts, &sample_facts[1], 150e6));
}

static void sample_findings(struct sample *sample)
{
    struct finding priced = {
        .rank = 1,
        .rule = "tfdata-sequential-map",
        .title = "The input pipeline runs one element at a time",
        .severity = SEVERITY_WARN,
        .category = "input",
        .subject = {.op = "ParallelMapV2 > Map", .rank = -1, .step = -1},
        .impact = { .has_saving = true,
                    .low_ns = 40e6,
                    .mid_ns = 45e6,
                    .high_ns = 50e6,
                    .share = 0.225,
                    .model_ns = 48e6,
                    .method = METHOD_REPLAY,
                    .confidence = CONFIDENCE_HIGH },
        .condition = "the map runs on 1 thread and takes 48 ms a step, more than 5 % of it",
        .remedy_text = "Let the map use all cores",
        .remedy_code = "ds.map(decode, num_parallel_calls=tf.data.AUTOTUNE)",
        .fingerprint = "0123456789abcdef",
    };
    struct finding fact = {
        .rank = 2,
        .rule = "rank-set-incomplete",
        .title = "Only 1 of 4 hosts was recorded",
        .severity = SEVERITY_INFO,
        .category = "validity",
        .subject = {.rank = -1, .step = 4 },
        .impact = { .confidence = CONFIDENCE_HIGH        },
        .remedy_text = "Record all hosts",
        .fingerprint = "fedcba9876543210",
    };

    PUSH(priced.locations,
         (struct location) { .file = "input.py", .function = "load", .line = 41 });
    PUSH(priced.evidence,
         (struct evidence) { .what = "map time", .value = 48e6, .unit = UNIT_NS, .share = 0.24 });
    PUSH(priced.children, "input-bound-step");
    PUSH(fact.evidence,
         (struct evidence) { .what = "hosts", .value = 1, .unit = UNIT_COUNT, .share = NAN });
    PUSH(sample->advice.findings, priced);
    PUSH(sample->advice.findings, fact);
}

static void sample_advice(struct sample *sample)
{
    struct advice *advice = &sample->advice;

    advice->verdict = (struct verdict) {
        .class_name = "input-bound",
        .share = 0.25,
        .text = "Input-bound: the device waits 50.0 ms of each 200.0 ms step for data.",
    };
    PUSH(advice->verdict.evidence,
         (struct evidence) { .what = "input wait", .value = 50e6, .unit = UNIT_NS, .share = 0.25 });
    sample_findings(sample);
    PUSH(advice->together,
         (struct together) {
             .count = 1, .step_ns = 155e6, .speedup = 200.0 / 155, .then_class = "compute-bound" });
    PUSH(advice->skipped, (struct skipped_rule) { "low-occupancy", "no kernels", NULL, false });
    PUSH(advice->skipped,
         (struct skipped_rule) { "alloc-growth", "no memory events", "record memory events", false });
    PUSH(advice->skipped, (struct skipped_rule) { "small-copies", "no kernels", NULL, false });
    PUSH(advice->failed, (struct failed_rule) { "my/rule", "line 3: nil", NULL });
    PUSH(advice->suppressed, (struct suppressed_rule) { "no-step-markers", "baseline", 2 });
    PUSH(advice->packs, (struct pack) { "tfprof", "1", 8 });
    advice->rule_count = 8;
    advice->looked_count = 4;
    advice->found_count = 2;
    advice->quiet_count = 2;
}

static void sample_make(struct sample *sample)
{
    *sample = (struct sample) { 0 };
    sample_profile(sample);
    sample_steps(sample);
    sample_advice(sample);
}

#endif
