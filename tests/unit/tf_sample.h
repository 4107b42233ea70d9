/* tf_sample: reads files of TensorFlow's profiler with one reader, and looks ops up by name. */
#ifndef TFPROF_TESTS_TF_SAMPLE_H
#define TFPROF_TESTS_TF_SAMPLE_H

#include "read/read.h"
#include "testing.h"

#include <string.h>

enum { SAMPLE_MAX_FILES = 16 };
struct tf_sample {
    struct arena      arena;
    struct profile    profile;
    struct read_input inputs[SAMPLE_MAX_FILES];
    size_t            input_count;
    struct err        err;
};

static inline void sample_file(struct tf_sample *sample, const char *path)
{
    struct read_input *input = &sample->inputs[sample->input_count++];

    input->path = path;
    assert_true(file_open(&input->file, path, 0, &sample->err));
}

static inline void sample_bytes(struct tf_sample *sample, const char *path, struct str bytes)
{
    struct read_input *input = &sample->inputs[sample->input_count++];

    input->path = path;
    input->file.bytes = bytes;
}

static inline bool sample_read(struct tf_sample *sample, const struct reader *reader)
{
    struct read_options options = { 0 };

    assert_true(profile_init(&sample->profile, &sample->arena));
    return reader->read(sample->inputs, sample->input_count, &options, &sample->profile,
                        &sample->err);
}

static inline void sample_free(struct tf_sample *sample)
{
    for (size_t i = 0; i < sample->input_count; i++)
        if (sample->inputs[i].file.is_mapped)
            file_close(&sample->inputs[i].file);
    arena_free(&sample->arena);
}

static inline uint32_t sample_op(const struct tf_sample *sample, const char *name)
{
    uint32_t interned = intern_find(&sample->profile.names, str_from(name));

    for (uint32_t i = 0; i < sample->profile.ops.count; i++)
        if (sample->profile.ops.items[i].name == interned && !sample->profile.ops.items[i].module)
            return i;
    fail_msg("no op %s", name);
    return 0;
}

/* As the classic tool averages: truncated mean over the steps in which the op ran, in us. */
static inline int64_t sample_micros(const struct tf_sample *sample, uint32_t op)
{
    bool    has_step[64] = { false };
    int64_t sum = 0, steps = 0;

    for (size_t i = 0; i < sample->profile.op_runs.count; i++) {
        const struct op_run *run = &sample->profile.op_runs.items[i];

        if (run->op != op)
            continue;
        sum += run->duration_ns / 1000;
        steps += !has_step[run->step];
        has_step[run->step] = true;
    }
    return steps ? sum / steps : 0;
}

#endif
