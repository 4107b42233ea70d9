#include "analyze/diff/charges.h"

#include "analyze/device/device_activity.h"
#include "base/macros.h"
#include "model/names.h"

/* What has no op, but says what is done. */
static const uint32_t NAMED_KINDS = KIND_BIT(ACTIVITY_INPUT_WAIT) | KIND_BIT(ACTIVITY_INPUT_STAGE) |
                                    KIND_BIT(ACTIVITY_INPUT_WORK) | KIND_BIT(ACTIVITY_COMPILE) |
                                    KIND_BIT(ACTIVITY_OUTPUT) | KIND_BIT(ACTIVITY_COLLECTIVE) |
                                    KIND_BIT(ACTIVITY_CALLBACK) | KIND_BIT(ACTIVITY_GC);

const char *charge_by_name(enum charge_by by)
{
    static const char *const names[CHARGE_BY_COUNT] = { "type", "scope", "line" };

    return names[by];
}

bool charges_start(struct charges *charges, const struct study *study, int64_t depth,
                   struct arena *arena)
{
    const struct profile *profile = study->profile;

    *charges = (struct charges) { .study = study, .depth = depth, .label.arena = arena };
    charges->forward_of = arena_new_array(arena, uint32_t, profile->event_count);
    if (!charges->forward_of)
        return false;
    for (uint32_t i = 0; i < profile->event_count; i++)
        charges->forward_of[i] = NO_ID;
    for (size_t i = 0; i < profile->flows.count; i++)
        if (profile->flows.items[i].kind == FLOW_FORWARD_BACKWARD)
            charges->forward_of[profile->flows.items[i].to] = profile->flows.items[i].from;
    return true;
}

static struct str file_name(struct str path)
{
    size_t slash = str_find_last(path, '/');

    return str_slice(path, slash < path.len ? slash + 1 : 0, path.len);
}

/* Functions without the line, which moves when the program is changed. */
static struct str event_name(struct charges *charges, uint32_t event)
{
    const struct profile  *profile = charges->study->profile;
    const struct activity *activity = event_activity(profile, event);
    struct str             name = profile_str(profile, activity->name);

    if (activity->source != NO_ID && profile->sources.items[activity->source].function) {
        const struct source_line *line = &profile->sources.items[activity->source];

        charges->label.len = 0;
        text_print(&charges->label, "%.*s (%.*s)", STR_ARG(profile_str(profile, line->function)),
                   STR_ARG(file_name(profile_str(profile, line->file))));
        return text_str(&charges->label);
    }
    if (activity->kind == ACTIVITY_STEP) /* "ProfilerStep#7" */
        name = str_slice(name, 0, str_find(name, '#'));
    return op_times_short_name(name);
}

/* The innermost event that says what is done; NO_ID: none does. */
static uint32_t named_event(const struct charges *charges, uint32_t event)
{
    const struct profile *profile = charges->study->profile;

    for (; event != NO_ID; event = device_activity_outer(charges->study, event)) {
        const struct activity *activity = event_activity(profile, event);

        if ((activity->op != NO_ID && activity_kind_is_op(activity->kind)) ||
            (NAMED_KINDS & KIND_BIT(activity->kind)) ||
            op_times_eager_name(profile, event) != NO_ID)
            return event;
    }
    return NO_ID;
}

static struct str type_of(struct charges *charges, uint32_t event)
{
    const struct profile  *profile = charges->study->profile;
    uint32_t               named = named_event(charges, event);
    const struct activity *activity;
    uint32_t               eager;

    if (named == NO_ID)
        return event_name(charges, event);
    activity = event_activity(profile, named);
    eager = op_times_eager_name(profile, named);
    if (eager != NO_ID)
        return profile_str(profile, eager);
    if (activity->op == NO_ID || !activity_kind_is_op(activity->kind))
        return event_name(charges, named);
    return profile_str(profile, profile->ops.items[activity->op].type
                                    ? profile->ops.items[activity->op].type
                                    : profile->ops.items[activity->op].name);
}

static struct str cut_scope(struct str name, int64_t depth)
{
    for (size_t i = 0; i < name.len; i++)
        if (name.data[i] == '/' && --depth == 0)
            return str_slice(name, 0, i);
    return name;
}

/* "Net/Block_0/Linear_1" from the modules of PyTorch around an event, outermost first. */
static bool add_modules(struct charges *charges, uint32_t event, uint32_t *module_count)
{
    static const struct str prefix = STR_INIT("nn.Module: ");
    const struct profile   *profile = charges->study->profile;
    uint32_t                modules[32], count = 0;

    for (; event != NO_ID; event = device_activity_outer(charges->study, event))
        if (str_starts(profile_str(profile, event_activity(profile, event)->name), prefix) &&
            count < ARRAY_COUNT(modules))
            modules[count++] = event_activity(profile, event)->name;
    *module_count = count;
    charges->label.len = 0;
    for (int64_t left = charges->depth; count && left; left--) {
        struct str name = profile_str(profile, modules[--count]);

        if (charges->label.len)
            text_add_byte(&charges->label, '/');
        text_add(&charges->label, str_slice(name, prefix.len, name.len));
    }
    return *module_count > 0;
}

/* Where a gradient goes on outwards: at what ran forward. */
static uint32_t forward_from(const struct charges *charges, uint32_t event)
{
    for (; event != NO_ID; event = device_activity_outer(charges->study, event))
        if (charges->forward_of[event] != NO_ID)
            return charges->forward_of[event];
    return NO_ID;
}

static struct str scope_of(struct charges *charges, uint32_t event)
{
    const struct profile  *profile = charges->study->profile;
    uint32_t               named = named_event(charges, event), modules;
    const struct activity *activity;
    struct str             name = { 0 };

    if (add_modules(charges, event, &modules) ||
        add_modules(charges, forward_from(charges, event), &modules))
        return text_str(&charges->label);
    if (named == NO_ID)
        return type_of(charges, event);
    activity = event_activity(profile, named);
    if (activity->op != NO_ID && activity_kind_is_op(activity->kind)) {
        const struct op *op = &profile->ops.items[activity->op];

        name = profile_str(profile, op->origin ? op->origin : op->name);
    }
    return name.len ? cut_scope(name, charges->depth) : type_of(charges, event);
}

static bool is_library(struct str file)
{
    return !file.len || name_is(file, NAMES_LIBRARY_FOLDER) || str_fits(file, "torch/*|<*");
}

/* The innermost line of the user's around an event, else the innermost at all; NO_ID: none. */
static uint32_t source_from(const struct charges *charges, uint32_t event)
{
    const struct profile *profile = charges->study->profile;
    uint32_t              first = NO_ID;

    for (; event != NO_ID; event = device_activity_outer(charges->study, event)) {
        const struct activity *activity = event_activity(profile, event);
        uint32_t               source = activity->source;

        if (source == NO_ID && activity->op != NO_ID)
            source = profile->ops.items[activity->op].source;
        if (source == NO_ID)
            continue;
        source = profile_user_source(profile, source);
        if (!is_library(profile_str(profile, profile->sources.items[source].file)))
            return source;
        if (first == NO_ID)
            first = source;
    }
    return first;
}

static struct str line_name(struct charges *charges, uint32_t source)
{
    const struct profile     *profile = charges->study->profile;
    const struct source_line *line;

    if (source == NO_ID)
        return STR(CHARGE_NO_LINE);
    line = &profile->sources.items[source];
    charges->label.len = 0;
    text_print(&charges->label, "%.*s:%u %.*s",
               STR_ARG(file_name(profile_str(profile, line->file))), line->line,
               STR_ARG(profile_str(profile, line->function)));
    return str_trim(text_str(&charges->label));
}

static uint32_t source_of(const struct charges *charges, uint32_t event)
{
    uint32_t source = source_from(charges, event);

    return source == NO_ID ? source_from(charges, forward_from(charges, event)) : source;
}

struct str charges_of_event(struct charges *charges, uint32_t event, enum charge_by by)
{
    if (by == CHARGE_BY_LINE)
        return line_name(charges, source_of(charges, event));
    return by == CHARGE_BY_SCOPE ? scope_of(charges, event) : type_of(charges, event);
}

struct str charges_of_segment(struct charges *charges, const struct segment *segment,
                              enum charge_by by)
{
    const struct frame *frames = charges->study->path.frames.items;
    uint32_t            event = segment->frame == NO_ID ? NO_ID : frames[segment->frame].event;
    uint32_t            owner = segment->owner == NO_ID ? NO_ID : frames[segment->owner].event;
    uint32_t            source;

    if (by == CHARGE_BY_LINE) {
        source = event == NO_ID ? NO_ID : source_of(charges, event);
        if (source == NO_ID && owner != NO_ID)
            source = source_of(charges, owner);
        return line_name(charges, source);
    }
    if (segment->is_python && (event == NO_ID || named_event(charges, event) == NO_ID))
        return STR("Python between events");
    if (event == NO_ID)
        event = owner;
    return event == NO_ID ? STR("no event") : charges_of_event(charges, event, by);
}

struct str charges_of_op(struct charges *charges, const struct op_time *row, enum charge_by by)
{
    const struct profile *profile = charges->study->profile;
    struct str            name = profile_str(profile, row->name);

    if (by == CHARGE_BY_LINE)
        return line_name(charges,
                         row->source == NO_ID ? NO_ID : profile_user_source(profile, row->source));
    if (by == CHARGE_BY_SCOPE && row->op != NO_ID && profile->ops.items[row->op].origin)
        name = profile_str(profile, profile->ops.items[row->op].origin);
    return by == CHARGE_BY_SCOPE ? cut_scope(name, charges->depth)
                                 : profile_str(profile, row->type ? row->type : row->name);
}

enum part charges_part(const struct charges *charges, uint32_t event)
{
    const struct profile *profile = charges->study->profile;

    for (; event != NO_ID; event = device_activity_outer(charges->study, event)) {
        enum activity_kind kind = event_activity(profile, event)->kind;

        if (op_times_eager_name(profile, event) != NO_ID)
            return PART_HOST;
        if (kind == ACTIVITY_COLLECTIVE)
            return PART_COMMUNICATION;
        if (kind == ACTIVITY_OUTPUT)
            return PART_OUTPUT;
        if (activity_kind_is_op(kind))
            return PART_COMPUTE;
    }
    return PART_HOST;
}
