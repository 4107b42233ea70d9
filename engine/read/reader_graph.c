/*
 * reader_graph: GraphDef (bytes or text) with RunMetadata and OpLogProto, alone or together, as the
 * classic tool takes them and ProfileContext leaves them in a folder.
 */
#include "read/read.h"
#include "read/textproto.h"
#include "read/tf_classic.h"
#include "read/tf_model.h"

#include <graph.pb-c.h>
#include <run_metadata.pb-c.h>

static int score(struct str bytes, const char *path)
{
    enum tf_kind kind = tf_kind_of(bytes);

    (void)path;
    return kind == TF_NONE || kind == TF_PROFILE ? 0 : 80;
}

/* "…/run_meta_12" -> 12; -1 without a number. */
static int64_t number_of(const char *path)
{
    struct str name = str_from(path);
    size_t     start = name.len;
    int64_t    number;

    while (start > 0 && name.data[start - 1] >= '0' && name.data[start - 1] <= '9')
        start--;
    return start < name.len && start > 0 && name.data[start - 1] == '_' &&
                   str_to_int64(str_slice(name, start, name.len), &number)
               ? number
               : -1;
}

static bool read_one(struct tf_model *model, const struct read_input *input, enum tf_kind kind,
                     int64_t step, struct err *err)
{
    struct str bytes = input->file.bytes;

    switch (kind) {
    case TF_GRAPH_TEXT:
    case TF_RUN_TEXT:
        if (!textproto_to_bytes(kind == TF_GRAPH_TEXT ? &tfprof__tf__graph_def__descriptor
                                                      : &tfprof__tf__run_metadata__descriptor,
                                bytes, &model->scratch, &bytes, &model->profile->unknown_fields,
                                err))
            return false;
        return kind == TF_GRAPH_TEXT ? tf_graph_read(model, message_of(bytes), err)
                                     : tf_run_read(model, message_of(bytes), step, err);
    case TF_GRAPH:
        return tf_graph_read(model, message_of(bytes), err);
    case TF_RUN:
        return tf_run_read(model, message_of(bytes), step, err);
    case TF_LOG:
        return tf_log_read(model, message_of(bytes), err);
    case TF_PROFILE:
        return tf_profile_read(model, message_of(bytes), err);
    case TF_META_GRAPH:
    case TF_NONE:
        return err_set(err, ERR_FORMAT, "this is no graph, run metadata or op log of TensorFlow");
    }
    return false;
}

/* Damage in one of several files, or behind what could be read, is a note. */
static bool tolerate(struct tf_model *model, const struct read_input *input,
                     const struct read_options *options, struct err *err)
{
    char text[ERR_TEXT_BYTES];

    err_source(err, input->path);
    if (options->is_strict || err->code != ERR_FORMAT || !model->profile->ops.count)
        return false;
    profile_note(model->profile, input->path, 1, "damaged, read as far as possible: %s",
                 err_format(err, text, sizeof text));
    *err = (struct err) { 0 };
    return true;
}

/* Whether the files of a kind are numbered by their names, each number once. */
static bool are_numbered(const struct read_input *inputs, const enum tf_kind *kinds, size_t count,
                         enum tf_kind kind, struct arena *scratch)
{
    struct id_map numbers = { .arena = scratch };

    for (size_t i = 0; i < count; i++) {
        int64_t number = number_of(inputs[i].path);

        if (kinds[i] != kind)
            continue;
        if (number < 0 || id_map_get(&numbers, (uint64_t)number) != NO_ID ||
            !id_map_put(&numbers, (uint64_t)number, 1))
            return false;
    }
    return true;
}

struct job {
    struct read_input         *inputs;
    enum tf_kind              *kinds; /* beside inputs */
    size_t                     count;
    const struct read_options *options;
};

static bool read_kind(struct tf_model *model, const struct job *job, enum tf_kind kind,
                      struct err *err)
{
    /* The classic tool counts the run metadata it is given; folders have the steps' numbers. */
    bool is_listed = job->options->run_meta_paths.values.count > 0;
    bool is_numbered =
        !is_listed && are_numbered(job->inputs, job->kinds, job->count, kind, &model->scratch);
    int64_t next = 0;

    for (size_t i = 0; i < job->count; i++) {
        const struct read_input *input = &job->inputs[i];

        if (job->kinds[i] != kind)
            continue;
        if (!read_one(model, input, kind, is_numbered ? number_of(input->path) : next, err) &&
            !tolerate(model, input, job->options, err))
            return false;
        next++;
    }
    return true;
}

static bool read(struct read_input *inputs, size_t count, const struct read_options *options,
                 struct profile *profile, struct err *err)
{
    /* The graph names the ops that logs and runs speak of. */
    static const enum tf_kind order[] = { TF_GRAPH, TF_GRAPH_TEXT, TF_LOG, TF_RUN, TF_RUN_TEXT };
    struct tf_model           model;
    bool                      is_read = true, has_any = false, has_meta = false;
    struct job                job = { .inputs = inputs, .count = count, .options = options };

    profile->format = FORMAT_GRAPH;
    job.kinds = arena_new_array(profile->arena, enum tf_kind, count);
    if (!job.kinds)
        return tf_model_full(err);
    for (size_t i = 0; i < count; i++) {
        enum tf_kind kind = tf_kind_of(inputs[i].file.bytes);

        job.kinds[i] = kind;
        has_any |= kind != TF_NONE && kind != TF_PROFILE && kind != TF_META_GRAPH;
        has_meta |= kind == TF_META_GRAPH;
        if (kind == TF_PROFILE)
            profile_note(profile, inputs[i].path, 1,
                         "left out: the graph and run metadata beside it say the same and more");
        else if (kind == TF_NONE || kind == TF_META_GRAPH)
            profile_note(profile, inputs[i].path, 1, "is no file of TensorFlow's profiler");
    }
    if (!has_any && has_meta) {
        err_set(err, ERR_FORMAT, "is a MetaGraphDef");
        return err_advise(
            err, "a model holds no times; give its GraphDef with the RunMetadata of a session run");
    }
    if (!has_any)
        return err_set(err, ERR_FORMAT, "this is no graph, run metadata or op log of TensorFlow");
    if (!tf_model_init(&model, profile, inputs[0].host_name) ||
        (options->is_classic && !tf_classic_start(&model, options->has_classic_times)))
        is_read = tf_model_full(err);
    for (size_t i = 0; i < ARRAY_COUNT(order) && is_read; i++)
        is_read = read_kind(&model, &job, order[i], err);
    is_read = is_read && tf_model_finish(&model, err);
    tf_model_free(&model);
    return is_read;
}

const struct reader reader_graph = {
    .name = "graph",
    .summary = "TensorFlow graphs (GraphDef) with run metadata and op logs",
    .format = FORMAT_GRAPH,
    .score = score,
    .read = read,
};
