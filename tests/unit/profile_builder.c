#include "profile_builder.h"

#include "model/nesting.h"
#include "testing.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void builder_start(struct profile_builder *builder, enum profile_format format)
{
    memset(builder, 0, sizeof *builder);
    assert_true(profile_init(&builder->profile, &builder->arena));
    builder->profile.format = format;
    builder->profile.resolution_ns = 1;
    builder->profile.world_size = -1;
}

uint32_t builder_name(struct profile_builder *builder, const char *name)
{
    uint32_t id = profile_intern(&builder->profile, str_from(name));

    assert_int_not_equal(id, NO_ID);
    return id;
}

uint32_t builder_host(struct profile_builder *builder, const char *name)
{
    struct host host = { .name = builder_name(builder, name),
                         .rank = (int32_t)builder->profile.hosts.count };

    assert_true(vec_push(&builder->profile.hosts, &builder->arena, host));
    return (uint32_t)builder->profile.hosts.count - 1;
}

uint32_t builder_start_host(struct profile_builder *builder, enum profile_format format)
{
    builder_start(builder, format);
    return builder_host(builder, "h");
}

uint32_t builder_device(struct profile_builder *builder, uint32_t host, const char *name,
                        const char *model, enum device_kind kind)
{
    struct device device = { .name = builder_name(builder, name),
                             .model = builder_name(builder, model),
                             .host = host,
                             .kind = kind };

    assert_true(vec_push(&builder->profile.devices, &builder->arena, device));
    return (uint32_t)builder->profile.devices.count - 1;
}

uint32_t builder_timeline(struct profile_builder *builder, uint32_t host, uint32_t device,
                          const char *name)
{
    struct timeline timeline = { .name = builder_name(builder, name),
                                 .id = (int64_t)builder->profile.timelines.count + 1,
                                 .host = host,
                                 .device = device,
                                 .kind = device == NO_ID ? TIMELINE_THREAD : TIMELINE_STREAM };

    assert_true(vec_push(&builder->profile.timelines, &builder->arena, timeline));
    return (uint32_t)builder->profile.timelines.count - 1;
}

static enum dtype scan_dtype(struct str text)
{
    static const struct {
        const char *name;
        enum dtype  dtype;
    } names[] = {
        { "f64", DTYPE_F64 }, { "f32", DTYPE_F32 },   { "f16", DTYPE_F16 }, { "bf16", DTYPE_BF16 },
        { "i64", DTYPE_I64 }, { "i32", DTYPE_I32 },   { "i8", DTYPE_I8 },   { "f8", DTYPE_F8 },
        { "c64", DTYPE_C64 }, { "pred", DTYPE_BOOL }, { "u32", DTYPE_U32 },
    };

    for (size_t i = 0; i < ARRAY_COUNT(names); i++)
        if (str_equal(text, str_from(names[i].name)))
            return names[i].dtype;
    return DTYPE_UNKNOWN;
}

static void add_tensor(struct profile_builder *builder, struct str text)
{
    struct str    name = str_cut(&text, '[');
    struct str    dims = str_cut(&text, ']');
    struct tensor tensor = { .dtype = (uint8_t)scan_dtype(name) };

    while (dims.len > 0) {
        assert_true(tensor.rank < TENSOR_MAX_RANK);
        assert_true(str_to_int64(str_cut(&dims, ','), &tensor.dims[tensor.rank++]));
    }
    assert_true(vec_push(&builder->profile.tensors, &builder->arena, tensor));
}

uint32_t builder_op(struct profile_builder *builder, const char *name, const char *type,
                    const char *tensors)
{
    struct str rest = str_from(tensors);
    bool       is_output = false;
    struct op  op = { .name = builder_name(builder, name),
                      .type = builder_name(builder, type),
                      .device = NO_ID,
                      .source = NO_ID,
                      .first_input = (uint32_t)builder->profile.tensors.count,
                      .flops = -1,
                      .bytes = -1,
                      .parameters = -1,
                      .graph_node = NO_ID };

    while (rest.len > 0) {
        struct str word = str_cut(&rest, ' ');

        if (str_equal(word, STR("->"))) {
            is_output = true;
            continue;
        }
        add_tensor(builder, word);
        *(is_output ? &op.output_count : &op.input_count) += 1;
    }
    op.first_output = op.first_input + op.input_count;
    assert_true(vec_push(&builder->profile.ops, &builder->arena, op));
    return (uint32_t)builder->profile.ops.count - 1;
}

uint32_t builder_activity(struct profile_builder *builder, const char *name,
                          enum activity_kind kind, uint32_t op)
{
    struct activity activity = {
        .name = builder_name(builder, name), .op = op, .source = NO_ID, .kind = (uint8_t)kind
    };

    assert_true(vec_push(&builder->profile.activities, &builder->arena, activity));
    return (uint32_t)builder->profile.activities.count - 1;
}

uint32_t builder_event(struct profile_builder *builder, uint32_t timeline, uint32_t activity,
                       int64_t start_ns, int64_t duration_ns)
{
    struct built_event event = { .start_ns = start_ns,
                                 .duration_ns = duration_ns,
                                 .timeline = timeline,
                                 .activity = activity,
                                 .tag = (uint32_t)builder->events.count };

    assert_true(vec_push(&builder->events, &builder->arena, event));
    return event.tag;
}

uint32_t builder_slice(struct profile_builder *builder, uint32_t timeline, const char *name,
                       enum activity_kind kind, int64_t start_ns, int64_t duration_ns)
{
    struct profile *profile = &builder->profile;
    uint32_t        id = builder_name(builder, name);

    for (uint32_t i = 0; i < profile->activities.count; i++)
        if (profile->activities.items[i].name == id && profile->activities.items[i].kind == kind)
            return builder_event(builder, timeline, i, start_ns, duration_ns);
    return builder_event(builder, timeline, builder_activity(builder, name, kind, NO_ID), start_ns,
                         duration_ns);
}

void builder_stat(struct profile_builder *builder, uint32_t tag, enum stat_key key, int64_t value)
{
    struct built_stat stat = { .tag = tag, .key = (uint8_t)key, .value = value };

    assert_true(vec_push(&builder->stats, &builder->arena, stat));
}

void builder_flow(struct profile_builder *builder, uint32_t from, uint32_t to, enum flow_kind kind)
{
    struct flow flow = { .from = from, .to = to, .kind = (uint8_t)kind };

    assert_true(vec_push(&builder->profile.flows, &builder->arena, flow));
}

void builder_step(struct profile_builder *builder, uint32_t host, int64_t start_ns, int64_t end_ns)
{
    struct steps *steps = &builder->study.steps;
    struct step   step = { .number = (int64_t)steps->list.count,
                           .start_ns = start_ns,
                           .end_ns = end_ns,
                           .marker_end_ns = end_ns,
                           .host = host,
                           .timeline = NO_ID,
                           .event = NO_ID,
                           .is_used = true,
                           .is_sampled = true };

    assert_true(vec_push(&steps->list, &builder->arena, step));
    steps->used_count++;
    steps->total_count++;
    steps->mean_ns = (steps->mean_ns * (steps->used_count - 1) + (double)(end_ns - start_ns)) /
                     steps->used_count;
    steps->median_ns = steps->mean_ns;
}

static int compare_events(const void *a, const void *b)
{
    const struct built_event *left = a, *right = b;

    if (left->timeline != right->timeline)
        return left->timeline < right->timeline ? -1 : 1;
    if (left->start_ns != right->start_ns)
        return left->start_ns < right->start_ns ? -1 : 1;
    if (left->duration_ns != right->duration_ns)
        return left->duration_ns > right->duration_ns ? -1 : 1;
    return left->tag < right->tag ? -1 : 1;
}

static void fill_stats(struct profile_builder *builder)
{
    struct profile *profile = &builder->profile;

    for (int key = 0; key < STAT_KEY_COUNT; key++) {
        for (uint32_t row = 0; row < profile->event_count; row++)
            for (size_t i = 0; i < builder->stats.count; i++) {
                const struct built_stat *stat = &builder->stats.items[i];

                if (stat->key != key || builder->rows[stat->tag] != row)
                    continue;
                assert_true(profile_add_stats(profile, (enum stat_key)key, &(int64_t) { row },
                                              &stat->value, 1));
            }
    }
}

static void fill_events(struct profile_builder *builder)
{
    struct profile *profile = &builder->profile;
    uint32_t        count = (uint32_t)builder->events.count;

    if (count > 1)
        qsort(builder->events.items, count, sizeof *builder->events.items, compare_events);
    assert_true(profile_label_activities(profile));
    builder->rows = arena_new_array(&builder->arena, uint32_t, count);
    assert_non_null(builder->rows);
    for (uint32_t i = 0; i < count; i++) {
        const struct built_event *event = &builder->events.items[i];
        struct timeline          *timeline = &profile->timelines.items[event->timeline];

        if (timeline->event_count++ == 0)
            timeline->first_event = i;
        assert_true(profile_add_events(profile,
                                       &(struct event_rows) { &event->start_ns, &event->duration_ns,
                                                              &(int64_t) { event->activity } },
                                       1));
        builder->rows[event->tag] = i;
        if (event->start_ns + event->duration_ns > profile->end_ns)
            profile->end_ns = event->start_ns + event->duration_ns;
    }
}

void builder_finish(struct profile_builder *builder)
{
    struct profile *profile = &builder->profile;
    struct intern  *names = arena_new(&builder->arena, struct intern);

    fill_events(builder);
    fill_stats(builder);
    for (size_t i = 0; i < profile->flows.count; i++) {
        profile->flows.items[i].from = builder->rows[profile->flows.items[i].from];
        profile->flows.items[i].to = builder->rows[profile->flows.items[i].to];
    }
    builder->study.recording = profile;
    builder->study.profile = profile;
    builder->study.arena = &builder->arena;
    builder->study.around = nesting_find(profile, &builder->arena);
    builder->study.options =
        (struct study_options) { .first_step = INT64_MIN, .last_step = INT64_MAX };
    assert_true(names && intern_init(names, &builder->arena));
    for (uint32_t id = 1; id < profile->names.count; id++)
        assert_int_equal(intern_add(names, intern_str(&profile->names, id)), id);
    facts_init(&builder->study.facts, &builder->arena, names);
}

void builder_free(struct profile_builder *builder)
{
    struct arena arena = builder->arena; /* the builder's vectors live in it */

    arena_free(&arena);
    memset(builder, 0, sizeof *builder);
}

double builder_fact(const struct profile_builder *builder, const char *name)
{
    double value = NAN;

    facts_get(&builder->study.facts, name, &value);
    return value;
}

double builder_cell(const struct profile_builder *builder, const char *table_name,
                    const char *key_column, const char *key, const char *column_name)
{
    const struct table *table = facts_find_table(&builder->study.facts, table_name);
    int                 column, key_index;

    assert_non_null(table);
    column = table_column(table, column_name);
    assert_true(column >= 0);
    if (!key_column)
        return table->row_count > 0 ? table->columns[column][0] : NAN;
    key_index = table_column(table, key_column);
    assert_true(key_index >= 0);
    for (size_t row = 0; row < table->row_count; row++) {
        double name = table->columns[key_index][row];

        if (!isnan(name) &&
            str_equal(intern_str(builder->study.facts.names, (uint32_t)name), str_from(key)))
            return table->columns[column][row];
    }
    return NAN;
}
