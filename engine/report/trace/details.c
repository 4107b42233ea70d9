#include "report/trace/details.h"

#include "report/layout.h"

#include <math.h>

static const struct {
    const char *name;
    enum {
        STAT_HOLDS_NUMBER,
        STAT_HOLDS_ID,
        STAT_HOLDS_NAME,
        STAT_HOLDS_DOUBLE,
        STAT_HOLDS_ROW
    } holds;
} stats[] = {
#define HOLDS_count STAT_HOLDS_NUMBER
#define HOLDS_ns STAT_HOLDS_NUMBER
#define HOLDS_bytes STAT_HOLDS_NUMBER
#define HOLDS_id STAT_HOLDS_ID
#define HOLDS_bool STAT_HOLDS_NUMBER
#define HOLDS_name STAT_HOLDS_NAME
#define HOLDS_double STAT_HOLDS_DOUBLE
#define HOLDS_row STAT_HOLDS_ROW
#define STAT(id, unit, about) { about, HOLDS_##unit },
#include "model/stats.def"
#undef STAT
};

bool details_begin(struct details *details, const struct profile *profile, struct arena *arena)
{
    *details = (struct details) { .profile = profile, .arena = arena };
    details->names = arena_new_array(arena, struct str, profile->activities.count);
    details->shapes = arena_new_array(arena, struct str, profile->ops.count);
    details->sources = arena_new_array(arena, struct str, profile->sources.count);
    return details->names && details->shapes && details->sources;
}

/* Of a name of the recording; viewers want UTF-8. */
static struct str shown(struct details *details, uint32_t name)
{
    struct str clean = layout_clean(details->arena, profile_str(details->profile, name));

    return clean.len > 0 ? clean : STR("(no name)");
}

struct str details_name(struct details *details, uint32_t activity)
{
    struct str *name = &details->names[activity];

    if (!name->data)
        *name = shown(details, details->profile->activities.items[activity].name);
    return *name;
}

static void add_argument(struct trace_slice *slice, struct trace_argument argument)
{
    if (slice->argument_count < TRACE_ARGUMENTS)
        slice->arguments[slice->argument_count++] = argument;
}

static void add_text(struct trace_slice *slice, const char *name, struct str text)
{
    if (text.len > 0)
        add_argument(slice,
                     (struct trace_argument) { .name = name, .kind = ARGUMENT_TEXT, .text = text });
}

static void add_integer(struct trace_slice *slice, const char *name, int64_t integer)
{
    add_argument(slice, (struct trace_argument) {
                            .name = name, .kind = ARGUMENT_INTEGER, .integer = integer });
}

static void print_tensor(struct text *text, const struct tensor *tensor)
{
    text_add(text, str_from(dtype_name((enum dtype)tensor->dtype)));
    if (tensor->rank < 0)
        return;
    for (int i = 0; i < tensor->rank && i < TENSOR_MAX_RANK; i++)
        text_print(text, tensor->dims[i] < 0 ? "%s?" : "%s%lld", i == 0 ? "[" : ",",
                   (long long)tensor->dims[i]);
    text_add(text, tensor->rank == 0 ? STR("[]") : STR("]"));
}

/* "float32[32,128] float32[128,64] -> float32[32,64]" */
static struct str shapes_of(struct details *details, uint32_t row)
{
    const struct op     *op = &details->profile->ops.items[row];
    const struct tensor *tensors = details->profile->tensors.items;
    struct str          *shapes = &details->shapes[row];
    struct text          text = { .arena = details->arena };

    if (shapes->data)
        return *shapes;
    text_add(&text, STR(""));
    for (uint32_t i = 0; i < op->input_count + op->output_count; i++) {
        if (i == op->input_count)
            text_add(&text, i > 0 ? STR(" -> ") : STR("-> "));
        else if (i > 0)
            text_add_byte(&text, ' ');
        print_tensor(&text,
                     &tensors[(i < op->input_count ? op->first_input + i
                                                   : op->first_output + i - op->input_count)]);
    }
    *shapes = text.data ? text_str(&text) : STR("");
    return *shapes;
}

/* "train.py:41 (step)" of the user's own program */
static struct str source_of(struct details *details, uint32_t source)
{
    uint32_t                  row = profile_user_source(details->profile, source);
    const struct source_line *line;
    struct text               text = { .arena = details->arena };

    if (row == NO_ID)
        return STR("");
    if (details->sources[row].data)
        return details->sources[row];
    line = &details->profile->sources.items[row];
    text_print(&text, "%.*s:%u", STR_ARG(shown(details, line->file)), line->line);
    if (line->function)
        text_print(&text, " (%.*s)", STR_ARG(shown(details, line->function)));
    details->sources[row] = text_str(&text);
    return details->sources[row];
}

static struct str three(struct details *details, const uint32_t numbers[3])
{
    return str_from(arena_text(details->arena, "%u,%u,%u", numbers[0], numbers[1], numbers[2]));
}

static void add_config(struct details *details, const struct kernel_config *config,
                       struct trace_slice *slice)
{
    add_text(slice, "grid", three(details, config->grid));
    add_text(slice, "block", three(details, config->block));
    add_integer(slice, "registers a thread", config->registers);
    add_integer(slice, "static shared bytes", config->static_shared_bytes);
    add_integer(slice, "dynamic shared bytes", config->dynamic_shared_bytes);
    if (config->occupancy_pct >= 0)
        add_argument(slice, (struct trace_argument) { .name = "occupancy %",
                                                      .kind = ARGUMENT_NUMBER,
                                                      .number = (double)config->occupancy_pct });
}

static void add_collective(struct details *details, const struct collective *collective,
                           struct trace_slice *slice)
{
    add_text(slice, "collective", shown(details, collective->type));
    if (collective->bytes_in >= 0)
        add_integer(slice, "bytes in", collective->bytes_in);
    if (collective->bytes_out >= 0)
        add_integer(slice, "bytes out", collective->bytes_out);
    if (collective->group_size > 0)
        add_integer(slice, "group size", collective->group_size);
    if (collective->sequence >= 0)
        add_integer(slice, "sequence", collective->sequence);
}

static void add_stat(struct details *details, enum stat_key key, int64_t value,
                     struct trace_slice *slice)
{
    const struct profile *profile = details->profile;
    double                number;

    switch (stats[key].holds) {
    case STAT_HOLDS_NAME:
        add_text(slice, stats[key].name, shown(details, (uint32_t)value));
        break;
    case STAT_HOLDS_DOUBLE:
        number = stat_to_double(value);
        if (isfinite(number))
            add_argument(slice, (struct trace_argument) { .name = stats[key].name,
                                                          .kind = ARGUMENT_NUMBER,
                                                          .number = number });
        break;
    case STAT_HOLDS_ROW:
        if (key == STAT_KERNEL_CONFIG && (size_t)value < profile->kernel_configs.count)
            add_config(details, &profile->kernel_configs.items[value], slice);
        else if (key == STAT_COLLECTIVE && (size_t)value < profile->collectives.count)
            add_collective(details, &profile->collectives.items[value], slice);
        break;
    case STAT_HOLDS_ID:
        if (details->no_ids)
            break;
        /* fallthrough */
    case STAT_HOLDS_NUMBER:
        add_integer(slice, stats[key].name, value);
        break;
    }
}

static void add_stats(struct details *details, uint32_t event, struct trace_slice *slice)
{
    for (int key = 0; key < STAT_KEY_COUNT; key++) {
        const struct stat_column *column = &details->profile->stats[key];
        size_t                   *at = &details->stat_at[key];

        while (*at < stat_count(column) && stat_event(column, *at) < event)
            (*at)++;
        if (*at < stat_count(column) && stat_event(column, *at) == event)
            add_stat(details, (enum stat_key)key, stat_value(column, *at), slice);
    }
}

void details_add(struct details *details, uint32_t event, struct trace_slice *slice)
{
    const struct profile  *profile = details->profile;
    const struct activity *activity = event_activity(profile, event);

    add_text(slice, "line", source_of(details, activity->source));
    if (activity->op != NO_ID) {
        const struct op *op = &profile->ops.items[activity->op];

        if (op->name != activity->name)
            add_text(slice, "op", shown(details, op->name));
        add_text(slice, "shapes", shapes_of(details, activity->op));
        if (op->origin)
            add_text(slice, "made from", shown(details, op->origin));
    }
    add_stats(details, event, slice);
}
