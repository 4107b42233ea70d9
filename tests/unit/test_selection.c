/* What stays of a profile when one host or device is looked at. */
#include "model/selection.h"
#include "profile_builder.h"
#include "testing.h"

/* Two hosts with a thread and two GPUs each: a call of 1 us launches a kernel on each. */
static void build(struct profile_builder *builder)
{
    static const char *const gpus[] = { "/device:GPU:0", "/device:GPU:1" };

    builder_start(builder, FORMAT_XSPACE);
    for (int h = 0; h < 2; h++) {
        uint32_t host = builder_host(builder, h ? "worker1" : "worker0");
        uint32_t thread = builder_timeline(builder, host, NO_ID, "python");

        builder->profile.hosts.items[host].rank = h;
        for (int g = 0; g < 2; g++) {
            uint32_t device = builder_device(builder, host, gpus[g], "NVIDIA H100", DEVICE_GPU);
            uint32_t stream = builder_timeline(builder, host, device, "Stream #1");
            uint32_t call = builder_slice(builder, thread, "cudaLaunchKernel", ACTIVITY_LAUNCH,
                                          10000 * g, 1000);
            uint32_t kernel =
                builder_slice(builder, stream, "gemm", ACTIVITY_KERNEL, 10000 * g + 2000, 5000);

            builder_stat(builder, kernel, STAT_BYTES, 100 * h + g);
            builder_flow(builder, call, kernel, FLOW_LAUNCH);
        }
    }
    builder_finish(builder);
}

static struct memory_event memory_on(uint32_t device, uint32_t event)
{
    return (struct memory_event) { .device = device, .event = event, .bytes = 1 };
}

/* Of host 1 alone: its thread and streams, its kernels with their bytes, and what they are tied to.
 */
TEST(a_host_stays_whole)
{
    struct profile_builder builder;
    struct profile        *profile = &builder.profile;
    struct err             err = { 0 };
    int64_t                bytes;

    build(&builder);
    assert_true(selection_host(profile, "1", &err)); /* by rank */
    assert_int_equal(profile->hosts.count, 1);
    assert_string_equal(profile_str(profile, profile->hosts.items[0].name).data, "worker1");
    assert_int_equal(profile->devices.count, 2);
    assert_int_equal(profile->devices.items[0].host, 0);
    assert_int_equal(profile->timelines.count, 3);
    assert_int_equal(profile->event_count, 4);
    assert_int_equal(profile->flows.count, 2);
    for (size_t i = 0; i < profile->timelines.count; i++)
        assert_int_equal(profile->timelines.items[i].host, 0);
    for (uint32_t g = 0; g < 2; g++) {
        const struct timeline *stream = &profile->timelines.items[1 + g];

        assert_int_equal(stream->device, g);
        assert_int_equal(stream->event_count, 1);
        assert_int_equal(event_start_ns(profile, stream->first_event), 10000 * g + 2000);
        assert_true(profile_stat(profile, STAT_BYTES, stream->first_event, &bytes));
        assert_int_equal(bytes, 100 + g);
        assert_int_equal(profile->flows.items[g].to, stream->first_event);
    }
    builder_free(&builder);
}

/* The second GPU of both hosts: both calls of a host stay, as its thread does, one launch of each.
 */
TEST(a_device_stays_with_all_threads)
{
    struct profile_builder builder;
    struct profile        *profile = &builder.profile;
    struct err             err = { 0 };

    build(&builder);
    assert_true(vec_push(&profile->memory_events, profile->arena, memory_on(0, NO_ID)));
    assert_true(vec_push(&profile->memory_events, profile->arena, memory_on(3, NO_ID)));
    assert_true(vec_push(&profile->memory_events, profile->arena, memory_on(NO_ID, NO_ID)));
    assert_true(selection_device(profile, "gpu:1", &err));
    assert_int_equal(profile->hosts.count, 2);
    assert_int_equal(profile->devices.count, 2);
    assert_int_equal(profile->timelines.count, 4);
    assert_int_equal(profile->event_count, 6);
    assert_int_equal(profile->flows.count, 2);
    assert_int_equal(profile->memory_events.count, 2);
    assert_int_equal(profile->memory_events.items[0].device, 1);
    assert_int_equal(profile->memory_events.items[1].device, NO_ID);
    builder_free(&builder);
}

TEST(names_are_whole_words)
{
    static const struct {
        const char *name;
        size_t      devices; /* 0: refused */
    } rows[] = { { "/device:GPU:1", 2 }, { "GPU 1", 2 }, { "1", 2 },  { "/device:gpu:1", 2 },
                 { "PU:1", 0 },          { ":1", 0 },    { "11", 0 }, { "", 0 } };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct profile_builder builder;
        struct err             err = { 0 };
        bool                   is_there;

        build(&builder);
        is_there = selection_device(&builder.profile, rows[i].name, &err);
        assert_int_equal(is_there, rows[i].devices > 0);
        if (is_there)
            assert_int_equal(builder.profile.devices.count, rows[i].devices);
        else
            assert_int_equal(err.code, ERR_INPUT);
        builder_free(&builder);
    }
}

TEST(what_is_there_is_said)
{
    struct profile_builder builder;
    struct err             err = { 0 };

    build(&builder);
    assert_false(selection_host(&builder.profile, "worker7", &err));
    assert_string_equal(err.text, "no host 'worker7' is there");
    assert_string_equal(err.advice, "there are worker0 (rank 0), worker1 (rank 1)");
    assert_int_equal(builder.profile.event_count, 8);
    builder_free(&builder);
}
