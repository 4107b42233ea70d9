#include "model/profile.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

bool profile_init(struct profile *profile, struct arena *arena)
{
    *profile = (struct profile) { .arena = arena, .resolution_ns = 1, .world_size = -1 };
    /* An op without operands has its first one behind the last of all: a place in an array, even
     * where no op has any, since C adds nothing to NULL, not 0 either. */
    return intern_init(&profile->names, arena) && vec_reserve(&profile->tensors, arena, 1);
}

bool profile_add_events(struct profile *profile, const struct event_rows *rows, uint32_t count)
{
    if (!packed_append(&profile->event_starts_ns, profile->arena, rows->starts_ns, count) ||
        !packed_append(&profile->event_durations_ns, profile->arena, rows->durations_ns, count) ||
        !packed_append(&profile->event_labels, profile->arena, rows->labels, count))
        return false;
    profile->event_count += count;
    return true;
}

bool profile_write_events(struct profile *profile, uint32_t first, const struct event_rows *rows,
                          uint32_t count)
{
    return packed_write(&profile->event_starts_ns, profile->arena, first, rows->starts_ns, count) &&
           packed_write(&profile->event_durations_ns, profile->arena, first, rows->durations_ns,
                        count) &&
           packed_write(&profile->event_labels, profile->arena, first, rows->labels, count);
}

bool profile_add_stats(struct profile *profile, enum stat_key key, const int64_t *events,
                       const int64_t *values, size_t count)
{
    return packed_append(&profile->stats[key].values, profile->arena, values, count) &&
           packed_append(&profile->stats[key].events, profile->arena, events, count);
}

bool profile_label_activities(struct profile *profile)
{
    for (size_t i = profile->labels.count; i < profile->activities.count; i++)
        if (!vec_push(&profile->labels, profile->arena, (uint32_t)i))
            return false;
    return true;
}

void profile_fit(struct profile *profile)
{
    packed_fit(&profile->event_starts_ns, profile->arena);
    packed_fit(&profile->event_durations_ns, profile->arena);
    packed_fit(&profile->event_labels, profile->arena);
    for (int key = 0; key < STAT_KEY_COUNT; key++) {
        packed_fit(&profile->stats[key].events, profile->arena);
        packed_fit(&profile->stats[key].values, profile->arena);
    }
}

uint8_t *profile_label_kinds(const struct profile *profile, struct arena *arena)
{
    uint8_t *kinds = arena_new_array(arena, uint8_t, profile->labels.count);

    for (size_t i = 0; kinds && i < profile->labels.count; i++)
        kinds[i] = profile->activities.items[profile->labels.items[i]].kind;
    return kinds;
}

static bool add_note(struct profile *profile, struct note note, const char *where, const char *what)
{
    for (size_t i = 0; i < profile->notes.count; i++) {
        struct note *same = &profile->notes.items[i];

        if (strcmp(same->what, what) == 0 &&
            strcmp(same->where ? same->where : "", where ? where : "") == 0) {
            same->count += note.count;
            return true;
        }
    }
    note.what = arena_text(profile->arena, "%s", what);
    note.where = where ? arena_text(profile->arena, "%s", where) : NULL;
    return note.what && vec_push(&profile->notes, profile->arena, note);
}

enum { NOTE_BYTES = 512 };

bool profile_note(struct profile *profile, const char *where, uint64_t count, const char *format,
                  ...)
{
    char    what[NOTE_BYTES];
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(what, sizeof what, format, arguments);
    va_end(arguments);
    return add_note(profile, (struct note) { .count = count }, where, what);
}

bool profile_damage(struct profile *profile, const char *where, uint64_t count, const char *format,
                    ...)
{
    char    what[NOTE_BYTES];
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(what, sizeof what, format, arguments);
    va_end(arguments);
    return add_note(profile, (struct note) { .count = count, .is_damage = true }, where, what);
}

/* As many names are kept apart. */
enum { MOST_UNKNOWNS = 1000 };

bool profile_add_unknown(struct profile *profile, enum unknown_kind kind, uint32_t name,
                         uint64_t count)
{
    struct unknown fresh = { .name = name, .kind = (uint8_t)kind, .count = count };

    if (kind == UNKNOWN_FIELD || kind == UNKNOWN_ARGUMENT)
        profile->unknown_fields += count;
    else
        profile->unknown_stats += count;
    if (profile->unknowns.count >= MOST_UNKNOWNS)
        fresh.name = 0;
    for (size_t i = 0; i < profile->unknowns.count; i++) {
        struct unknown *known = &profile->unknowns.items[i];

        if (known->kind == kind && (known->name == name || known->name == fresh.name)) {
            known->count += count;
            return true;
        }
    }
    return vec_push(&profile->unknowns, profile->arena, fresh);
}

const char *profile_format_name(enum profile_format format)
{
    static const char *const names[] = { "profile", "graph", "xspace", "kineto" };

    return names[format];
}

const char *unknown_kind_name(enum unknown_kind kind)
{
    static const char *const names[] = { "stat", "field", "category", "argument" };

    return names[kind];
}

const struct note *profile_first_damage(const struct profile *profile)
{
    for (size_t i = 0; i < profile->notes.count; i++)
        if (profile->notes.items[i].is_damage)
            return &profile->notes.items[i];
    return NULL;
}

uint32_t profile_intern(struct profile *profile, struct str name)
{
    return intern_add(&profile->names, name);
}

struct str profile_str(const struct profile *profile, uint32_t name)
{
    return intern_str(&profile->names, name);
}

const struct tensor *profile_op_input(const struct profile *profile, uint32_t op, uint32_t number)
{
    const struct op *row = op != NO_ID ? &profile->ops.items[op] : NULL;

    return row && number < row->input_count ? &profile->tensors.items[row->first_input + number]
                                            : NULL;
}

bool profile_stat(const struct profile *profile, enum stat_key key, uint32_t event, int64_t *value)
{
    const struct stat_column *column = &profile->stats[key];
    size_t                    row = packed_find(&column->events, event);

    if (row == stat_count(column) || stat_event(column, row) != event)
        return false;
    *value = stat_value(column, row);
    return true;
}

int profile_numbers(const struct profile *profile, uint32_t event, size_t place, int64_t *numbers,
                    int most)
{
    struct str text, argument = { 0 };
    int64_t    name;
    int        count = 0;

    if (!profile_stat(profile, STAT_CONCRETE_INPUTS, event, &name))
        return 0;
    text = profile_str(profile, (uint32_t)name);
    for (size_t i = 0; i <= place; i++) {
        (void)str_cut(&text, '"');
        argument = str_cut(&text, '"');
    }
    if (str_starts(argument, STR("[")) && str_ends(argument, STR("]")))
        argument = str_slice(argument, 1, argument.len - 1);
    while (argument.len && count < most) {
        if (!str_to_int64(str_trim(str_cut(&argument, ',')), &numbers[count]))
            return 0;
        count++;
    }
    return count;
}

double tensor_elements(const struct tensor *tensor)
{
    double count = tensor->rank < 0 ? 0 : 1;

    for (int i = 0; i < tensor->rank; i++)
        count *= tensor->dims[i] > 0 ? (double)tensor->dims[i] : 0;
    return count;
}

double tensor_bytes(const struct tensor *tensor)
{
    return tensor_elements(tensor) * dtype_bits((enum dtype)tensor->dtype) / 8.0;
}

double stat_to_double(int64_t value)
{
    double number;

    memcpy(&number, &value, sizeof number);
    return number;
}

static const struct {
    const char *name;
    enum kind_class class;
    bool is_op;
} kinds[ACTIVITY_KIND_COUNT] = {
#define KIND(id, name, class, is_op) { name, CLASS_##class, is_op },
#include "model/activity_kinds.def"
#undef KIND
};

const char *activity_kind_name(enum activity_kind kind)
{
    return kinds[kind].name;
}

enum kind_class activity_kind_class(enum activity_kind kind)
{
    return kinds[kind].class;
}

bool activity_kind_is_op(enum activity_kind kind)
{
    return kinds[kind].is_op;
}

static const struct {
    const char *name;
    unsigned    bits;
} dtypes[DTYPE_COUNT] = {
    [DTYPE_UNKNOWN] = { "unknown", 0 }, [DTYPE_F64] = { "float64", 64 },
    [DTYPE_F32] = { "float32", 32 },    [DTYPE_TF32] = { "tf32", 32 },
    [DTYPE_F16] = { "float16", 16 },    [DTYPE_BF16] = { "bfloat16", 16 },
    [DTYPE_F8] = { "float8", 8 },       [DTYPE_F4] = { "float4", 4 },
    [DTYPE_C64] = { "complex64", 64 },  [DTYPE_C128] = { "complex128", 128 },
    [DTYPE_I64] = { "int64", 64 },      [DTYPE_I32] = { "int32", 32 },
    [DTYPE_I16] = { "int16", 16 },      [DTYPE_I8] = { "int8", 8 },
    [DTYPE_I4] = { "int4", 4 },         [DTYPE_U64] = { "uint64", 64 },
    [DTYPE_U32] = { "uint32", 32 },     [DTYPE_U16] = { "uint16", 16 },
    [DTYPE_U8] = { "uint8", 8 },        [DTYPE_BOOL] = { "bool", 8 },
    [DTYPE_STRING] = { "string", 0 },   [DTYPE_OTHER] = { "other", 0 },
};

const char *dtype_name(enum dtype dtype)
{
    return dtypes[dtype].name;
}

unsigned dtype_bits(enum dtype dtype)
{
    return dtypes[dtype].bits;
}

int64_t tensor_count(const struct tensor *tensor)
{
    int64_t count = 1;

    if (tensor->rank < 0)
        return -1;
    for (int i = 0; i < tensor->rank; i++)
        if (tensor->dims[i] < 0 || __builtin_mul_overflow(count, tensor->dims[i], &count))
            return -1;
    return count;
}

bool same_dims(const struct tensor *a, const struct tensor *b)
{
    if (!a || !b || a->rank < 0 || a->rank != b->rank)
        return false;
    for (int8_t i = 0; i < a->rank; i++)
        if (a->dims[i] != b->dims[i])
            return false;
    return true;
}

bool same_sizes(const struct tensor *a, const struct tensor *b)
{
    int8_t j = 0;

    if (!a || !b || a->rank < 0 || b->rank < 0)
        return false;
    for (int8_t i = 0; i < a->rank; i++) {
        if (a->dims[i] == 1)
            continue;
        while (j < b->rank && b->dims[j] == 1)
            j++;
        if (j == b->rank || a->dims[i] != b->dims[j++])
            return false;
    }
    while (j < b->rank && b->dims[j] == 1)
        j++;
    return j == b->rank;
}

bool timeline_is_shown(const struct timeline *timeline)
{
    return timeline->event_count > 0 && timeline->kind != TIMELINE_DERIVED;
}

uint32_t profile_first_event(const struct profile *profile, const struct timeline *timeline,
                             int64_t from_ns)
{
    return timeline->first_event +
           (uint32_t)LOWER_BOUND(timeline->event_count, i,
                                 event_start_ns(profile, timeline->first_event + (uint32_t)i) <
                                     from_ns);
}
