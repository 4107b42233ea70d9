/*
 * reader_graph: GraphDef (bytes or text) with RunMetadata and OpLogProto, alone or together, as the
 * classic tool takes them and ProfileContext leaves them in a folder.
 */
#include "base/parallel.h"
#include "model/names.h"
#include "read/proto/textproto.h"
#include "read/read.h"
#include "read/tf/tf_classic.h"
#include "read/tf/tf_model.h"
#include "read/tf/tf_run.h"
#include "read/tf/tf_timeline.h"

#include <graph.pb-c.h>
#include <run_metadata.pb-c.h>

static int score(struct str bytes, const char *path)
{
    enum tf_kind kind = tf_kind_of(bytes);

    (void)path;
    if (kind == TF_TIMELINE)
        return 95; /* surer than that it is a trace of some profiler */
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

/* Damage in one of several files of a folder, or behind what could be read, is a note; a file that
 * was named and gave nothing is an error. */
static bool tolerate(struct tf_model *model, const struct read_input *input, bool has_some,
                     const struct read_options *options, struct err *err)
{
    char text[ERR_TEXT_BYTES];

    err_source(err, input->path);
    if (options->is_strict || err->code != ERR_FORMAT || !model->profile->ops.count ||
        (input->role && !has_some))
        return false;
    profile_damage(model->profile, input->path, 1, "damaged, read as far as possible: %s",
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

/* One file of the job, of a kind that is read. */
struct part {
    const struct read_input *input;
    enum tf_kind             kind;
    int64_t                  number;  /* of the step, for runs */
    struct message           message; /* packed, where the file has text */
    struct tf_run_scan       scan;    /* of runs */
    bool                     is_packed;
    struct err               err; /* why not */
};
struct job {
    struct tf_model           *model;
    const struct read_options *options;
    VEC(struct part) parts; /* graphs, logs, runs: in the order to be joined */
    bool       is_graph_read;
    struct err graph_err;
};

static bool is_run(enum tf_kind kind)
{
    return kind == TF_RUN || kind == TF_RUN_TEXT || kind == TF_TIMELINE;
}

static bool is_text(enum tf_kind kind)
{
    return kind == TF_RUN_TEXT || kind == TF_GRAPH_TEXT;
}

struct unknown_names {
    struct textproto_unknown heard; /* first: what hears is this */
    struct profile          *profile;
};

/* Values of constants, signatures of functions and what later versions say of types tell nothing of
 * time or memory. */
static void hear_unknown(struct textproto_unknown *heard, struct str name)
{
    struct profile *profile = ((struct unknown_names *)heard)->profile;
    uint32_t        id;

    if (name_is(name, NAMES_TF_UNWANTED))
        return;
    id = profile_intern(profile, name);
    profile_add_unknown(profile, UNKNOWN_FIELD, id == NO_ID ? 0 : id, 1);
}

static void pack(struct job *job, struct part *part)
{
    struct unknown_names names = { .heard.tell = hear_unknown, .profile = job->model->profile };
    struct str           bytes = part->input->file.bytes;

    part->is_packed =
        !is_text(part->kind) ||
        textproto_to_bytes(part->kind == TF_GRAPH_TEXT ? &tfprof__tf__graph_def__descriptor
                                                       : &tfprof__tf__run_metadata__descriptor,
                           bytes, &job->model->scratch, &bytes, &names.heard, &part->err);
    part->message = message_of(bytes);
}

static struct part new_part(const struct job *job, const struct read_input *input,
                            enum tf_kind kind, int64_t number)
{
    struct part   part = { .input = input, .kind = kind, .number = number };
    struct arena *scratch = &job->model->scratch;

    part.scan.is_classic = job->model->classic != NULL;
    part.scan.scratch.budget_bytes = part.scan.kept.budget_bytes = scratch->budget_bytes;
    return part;
}

/* A part for each run that a trace holds, or one that says why there is none. */
static bool add_timeline(struct job *job, const struct read_input *input, int64_t *next)
{
    struct arena      *scratch = &job->model->scratch;
    struct tf_timeline timeline = { 0 };
    struct part        part = new_part(job, input, TF_TIMELINE, *next);

    if (!tf_timeline_read(input->file.bytes, scratch, &timeline, &part.err)) {
        (*next)++;
        return vec_push(&job->parts, scratch, part);
    }
    part.is_packed = true;
    for (size_t i = 0; i < timeline.runs.count; i++) {
        part.number = (*next)++;
        part.message = message_of(timeline.runs.items[i]);
        if (!vec_push(&job->parts, scratch, part))
            return false;
    }
    return !timeline.is_cut ||
           profile_damage(job->model->profile, input->path, 1, "the trace is cut or damaged");
}

static bool add_parts(struct job *job, const struct read_input *inputs, const enum tf_kind *kinds,
                      size_t count, enum tf_kind kind)
{
    struct arena *scratch = &job->model->scratch;
    /* The classic tool counts the run metadata it is given; folders have the steps' numbers. */
    bool    is_listed = job->options->run_meta_paths.values.count > 0;
    bool    is_numbered = !is_listed && are_numbered(inputs, kinds, count, kind, scratch);
    int64_t next = 0;

    for (size_t i = 0; i < count; i++) {
        struct part part =
            new_part(job, &inputs[i], kind, is_numbered ? number_of(inputs[i].path) : next);

        if (kinds[i] != kind)
            continue;
        if (kind == TF_TIMELINE) {
            if (!add_timeline(job, &inputs[i], &next))
                return false;
            continue;
        }
        next++;
        pack(job, &part);
        if (!vec_push(&job->parts, scratch, part))
            return false;
    }
    return true;
}

static bool read_graph_part(struct tf_model *model, const struct part *part, struct err *err)
{
    switch (part->kind) {
    case TF_GRAPH_TEXT:
    case TF_GRAPH:
        return tf_graph_read(model, part->message, err);
    case TF_LOG:
        return tf_log_read(model, part->message, err);
    case TF_RUN:
    case TF_TIMELINE:
    case TF_RUN_TEXT: /* The classic tool looks at step_stats alone. */
        return model->classic || tf_partitions_read(model, part->message, err);
    case TF_PROFILE:
    case TF_META_GRAPH:
    case TF_NONE:
        return err_set(err, ERR_FORMAT, "this is no graph, run metadata or op log of TensorFlow");
    }
    return false;
}

/* The graph names the ops that logs and runs speak of. */
static bool read_graphs(struct job *job, struct err *err)
{
    for (size_t i = 0; i < job->parts.count; i++) {
        const struct part *part = &job->parts.items[i];
        size_t             ops_before = job->model->profile->ops.count;

        if (!part->is_packed) {
            if (is_run(part->kind)) /* said when it is joined */
                continue;
            *err = part->err;
        }
        if ((!part->is_packed || !read_graph_part(job->model, part, err)) &&
            !tolerate(job->model, part->input,
                      part->kind == TF_LOG || job->model->profile->ops.count > ops_before,
                      job->options, err))
            return false;
    }
    return true;
}

/* Graphs on one thread, each run on one of its own. */
static void read_part(void *shared, size_t index)
{
    struct job  *job = shared;
    struct part *part = index ? &job->parts.items[index - 1] : NULL;

    if (!part)
        job->is_graph_read = read_graphs(job, &job->graph_err);
    else if (is_run(part->kind) && part->is_packed)
        tf_run_scan(&part->scan, part->message);
}

static bool read_costs(struct tf_model *model, struct message run, int64_t number, bool *has_any,
                       struct err *err)
{
    struct field field;

    while (message_next(&run, &field, err)) {
        if (!field_is_bytes(&field, 2))
            continue;
        *has_any = true;
        if (!tf_cost_read(model, message_inside(&run, field.bytes), number, err))
            return false;
    }
    return !run.is_damaged;
}

static bool join_run(struct tf_model *model, struct part *part, struct err *err)
{
    bool has_any = part->scan.has_stats;

    if (!part->is_packed) {
        *err = part->err;
        return false;
    }
    if (!tf_run_join(model, &part->scan, part->number, err) ||
        (!model->classic && !read_costs(model, part->message, part->number, &has_any, err)))
        return false;
    return has_any || profile_note(model->profile, NULL, 1,
                                   "run metadata without step_stats: nothing was timed");
}

static bool read_parts(struct job *job, struct err *err)
{
    bool is_read;

    parallel_for(job->parts.count + 1, job->options->threads, read_part, job);
    is_read = job->is_graph_read;
    *err = job->graph_err;
    for (size_t i = 0; i < job->parts.count; i++) {
        struct part *part = &job->parts.items[i];

        is_read =
            is_read && (!is_run(part->kind) || join_run(job->model, part, err) ||
                        tolerate(job->model, part->input, part->scan.has_stats, job->options, err));
        tf_run_free(&part->scan);
    }
    return is_read;
}

static bool read(struct read_input *inputs, size_t count, const struct read_options *options,
                 struct profile *profile, struct err *err)
{
    static const enum tf_kind order[] = { TF_GRAPH, TF_GRAPH_TEXT, TF_LOG,
                                          TF_RUN,   TF_RUN_TEXT,   TF_TIMELINE };
    struct tf_model           model;
    bool                      is_read = true, has_any = false, has_meta = false;
    struct job                job = { .model = &model, .options = options };
    enum tf_kind             *kinds = arena_new_array(profile->arena, enum tf_kind, count);

    profile->format = FORMAT_GRAPH;
    if (!kinds)
        return tf_model_full(err);
    for (size_t i = 0; i < count; i++) {
        enum tf_kind kind = tf_kind_of(inputs[i].file.bytes);

        kinds[i] = kind;
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
        is_read = add_parts(&job, inputs, kinds, count, order[i]) || tf_model_full(err);
    is_read = is_read && read_parts(&job, err) && tf_model_finish(&model, options->threads, err);
    tf_model_free(&model);
    return is_read;
}

const struct reader reader_graph = {
    .name = "graph",
    .summary = "TensorFlow graphs (GraphDef) with run metadata, traces of it and op logs",
    .format = FORMAT_GRAPH,
    .score = score,
    .read = read,
};
