/* Files named by options belong to one job; large gzip traces are read as a stream. */
#include "read/read.h"
#include "testing.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MNIST CASES_DIR "/recordings/tf1-mnist-softmax/profile/"

/* A graph with two of its runs and the op log: four files of one profile, two steps. */
TEST(options_name_inputs)
{
    struct read_options options = { 0 };
    struct arena        arena = { 0 };
    struct profile      profile;
    struct err          err = { 0 };

    assert_true(vec_push(&options.graph_paths.values, &arena, MNIST "graph.pbtxt"));
    assert_true(vec_push(&options.run_meta_paths.values, &arena, MNIST "run_meta_0"));
    assert_true(vec_push(&options.run_meta_paths.values, &arena, MNIST "run_meta_1"));
    assert_true(vec_push(&options.op_log_paths.values, &arena, MNIST "tfprof_log"));
    assert_true(profile_init(&profile, &arena));
    assert_true(read_profile(NULL, 0, &options, &profile, &err));
    assert_int_equal(profile.format, FORMAT_GRAPH);
    assert_int_equal(profile.files.count, 4);
    assert_int_equal(profile.recorded_steps.count, 2);
    assert_true(profile.op_runs.count > 0);
    arena_free(&arena);
}

/* gzip with stored blocks (RFC 1952, 1951), so that it is as large as its contents. */
static void write_stored_gzip(FILE *out, const char *bytes, size_t len)
{
    static const unsigned char head[10] = { 0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 255 };
    uint32_t                   crc = UINT32_MAX;
    unsigned char              tail[8];

    fwrite(head, 1, sizeof head, out);
    for (size_t at = 0; at < len;) {
        size_t        run = len - at < 65535 ? len - at : 65535;
        unsigned char block[5] = { at + run == len, (unsigned char)run, (unsigned char)(run >> 8),
                                   (unsigned char)~run, (unsigned char)(~run >> 8) };

        fwrite(block, 1, sizeof block, out);
        fwrite(bytes + at, 1, run, out);
        at += run;
    }
    for (size_t i = 0; i < len; i++) {
        crc ^= (unsigned char)bytes[i];
        for (int bit = 0; bit < 8; bit++)
            crc = crc >> 1 ^ (crc & 1 ? 0xEDB88320U : 0);
    }
    for (int i = 0; i < 4; i++) {
        tail[i] = (unsigned char)(~crc >> (8 * i));
        tail[4 + i] = (unsigned char)(len >> (8 * i));
    }
    fwrite(tail, 1, sizeof tail, out);
}

/* Two events behind five million bytes of a member that says nothing. */
TEST(streams_large_gzip)
{
    static const char start[] = "{\"schemaVersion\": 1, \"padding\": \"";
    static const char end[] =
        "\", \"traceEvents\": ["
        "{\"ph\": \"X\", \"cat\": \"cpu_op\", \"name\": \"aten::mm\", \"pid\": 1, "
        "\"tid\": 1, \"ts\": 10, \"dur\": 5},"
        "{\"ph\": \"X\", \"cat\": \"cpu_op\", \"name\": \"aten::add\", \"pid\": 1, "
        "\"tid\": 1, \"ts\": 20, \"dur\": 2}]}";
    size_t              padding = 5000000, len = sizeof start + sizeof end - 2 + padding;
    char                path[] = "/tmp/tfprof-test-XXXXXX";
    const char         *paths[] = { path };
    char               *bytes = malloc(len);
    int                 descriptor = mkstemp(path);
    FILE               *out = fdopen(descriptor, "wb");
    struct read_options options = { .input_format = "kineto" };
    struct arena        arena = { 0 };
    struct profile      profile;
    struct err          err = { 0 };

    assert_true(bytes && out);
    memcpy(bytes, start, sizeof start - 1);
    memset(bytes + sizeof start - 1, 'x', padding);
    memcpy(bytes + sizeof start - 1 + padding, end, sizeof end - 1);
    write_stored_gzip(out, bytes, len);
    assert_int_equal(fclose(out), 0);
    assert_true(profile_init(&profile, &arena));
    assert_true(read_profile(paths, 1, &options, &profile, &err));
    assert_int_equal(profile.event_count, 2);
    assert_string_equal(profile_str(&profile, event_activity(&profile, 1)->name).data, "aten::add");
    assert_int_equal(profile.notes.count, 0);
    unlink(path);
    free(bytes);
    arena_free(&arena);
}
