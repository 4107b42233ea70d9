#include "model/profile.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

bool profile_init(struct profile *profile, struct arena *arena)
{
    *profile = (struct profile) { .arena = arena, .resolution_ns = 1, .world_size = -1 };
    return intern_init(&profile->names, arena);
}

bool profile_reserve_events(struct profile *profile, uint32_t count)
{
    profile->event_start_ns = arena_new_array(profile->arena, int64_t, count);
    profile->event_duration_ = arena_new_array(profile->arena, uint32_t, count);
    profile->event_activity = arena_new_array(profile->arena, uint32_t, count);
    profile->event_count = count;
    return profile->event_start_ns && profile->event_duration_ && profile->event_activity;
}

bool profile_note(struct profile *profile, const char *where, uint64_t count, const char *format,
                  ...)
{
    char        what[512];
    va_list     arguments;
    struct note note = { .count = count };

    va_start(arguments, format);
    vsnprintf(what, sizeof what, format, arguments);
    va_end(arguments);
    for (size_t i = 0; i < profile->notes.count; i++) {
        struct note *same = &profile->notes.items[i];

        if (strcmp(same->what, what) == 0 &&
            strcmp(same->where ? same->where : "", where ? where : "") == 0) {
            same->count += count;
            return true;
        }
    }
    note.what = arena_text(profile->arena, "%s", what);
    note.where = where ? arena_text(profile->arena, "%s", where) : NULL;
    return note.what && vec_push(&profile->notes, profile->arena, note);
}

uint32_t profile_intern(struct profile *profile, struct str name)
{
    return intern_add(&profile->names, name);
}

struct str profile_str(const struct profile *profile, uint32_t name)
{
    return intern_str(&profile->names, name);
}

int64_t profile_long_duration(const struct profile *profile, uint32_t event)
{
    size_t low = 0, high = profile->long_durations.count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (profile->long_durations.items[middle].event < event)
            low = middle + 1;
        else
            high = middle;
    }
    return low < profile->long_durations.count && profile->long_durations.items[low].event == event
               ? profile->long_durations.items[low].duration_ns
               : EVENT_DURATION_LONG;
}

bool profile_stat(const struct profile *profile, enum stat_key key, uint32_t event, int64_t *value)
{
    const struct stat_column *column = &profile->stats[key];
    size_t                    low = 0, high = column->count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (column->events[middle] < event)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == column->count || column->events[low] != event)
        return false;
    *value = column->values[low];
    return true;
}

uint32_t profile_user_source(const struct profile *profile, uint32_t source)
{
    static const struct str libraries[] = {
        STR_INIT("/tensorflow/python/"),
        STR_INIT("/tensorflow_core/python/"),
        STR_INIT("/tf_keras/"),
        STR_INIT("/keras/src/"),
    };

    /* No stack is deeper than there are frames, whatever the file says of callers. */
    for (uint32_t frame = source, depth = 0;
         frame < profile->sources.count && depth < profile->sources.count;
         frame = profile->sources.items[frame].caller, depth++) {
        struct str file = profile_str(profile, profile->sources.items[frame].file);
        bool       is_library = false;

        for (size_t i = 0; i < ARRAY_COUNT(libraries); i++)
            is_library = is_library || str_contains(file, libraries[i]);
        if (!is_library)
            return frame;
    }
    return source;
}

int64_t stat_from_double(double value)
{
    int64_t bits;

    memcpy(&bits, &value, sizeof bits);
    return bits;
}

double stat_to_double(int64_t value)
{
    double number;

    memcpy(&number, &value, sizeof number);
    return number;
}

const char *activity_kind_name(enum activity_kind kind)
{
    static const char *const names[ACTIVITY_KIND_COUNT] = {
        [ACTIVITY_OTHER] = "other",
        [ACTIVITY_STEP] = "step",
        [ACTIVITY_OP] = "op",
        [ACTIVITY_KERNEL] = "kernel",
        [ACTIVITY_MEMCPY] = "memcpy",
        [ACTIVITY_MEMSET] = "memset",
        [ACTIVITY_LAUNCH] = "launch",
        [ACTIVITY_SYNC] = "sync",
        [ACTIVITY_ALLOC] = "alloc",
        [ACTIVITY_COMPILE] = "compile",
        [ACTIVITY_TRACING] = "tracing",
        [ACTIVITY_DISPATCH] = "dispatch",
        [ACTIVITY_RUN] = "run",
        [ACTIVITY_EXECUTOR] = "executor",
        [ACTIVITY_INPUT_WAIT] = "input-wait",
        [ACTIVITY_INPUT_STAGE] = "input-stage",
        [ACTIVITY_INPUT_BUFFER] = "input-buffer",
        [ACTIVITY_INPUT_WORK] = "input-work",
        [ACTIVITY_TRANSFER] = "transfer",
        [ACTIVITY_PYTHON] = "python",
        [ACTIVITY_CALLBACK] = "callback",
        [ACTIVITY_COLLECTIVE] = "collective",
        [ACTIVITY_OUTPUT] = "output",
        [ACTIVITY_GC] = "gc",
        [ACTIVITY_OVERHEAD] = "overhead",
        [ACTIVITY_ANNOTATION] = "annotation",
        [ACTIVITY_WAIT] = "wait",
    };

    return names[kind];
}

const char *stat_key_name(enum stat_key key)
{
    static const char *const names[] = {
#define STAT(id, unit, text) #id,
#include "model/stats.def"
#undef STAT
    };

    return names[key];
}

static const struct {
    const char *name;
    unsigned    bits;
} dtypes[DTYPE_COUNT] = {
    [DTYPE_UNKNOWN] = { "unknown", 0 },   [DTYPE_F64] = { "float64", 64 },
    [DTYPE_F32] = { "float32", 32 },      [DTYPE_TF32] = { "tf32", 32 },
    [DTYPE_F16] = { "float16", 16 },      [DTYPE_BF16] = { "bfloat16", 16 },
    [DTYPE_F8] = { "float8", 8 },         [DTYPE_C64] = { "complex64", 64 },
    [DTYPE_C128] = { "complex128", 128 }, [DTYPE_I64] = { "int64", 64 },
    [DTYPE_I32] = { "int32", 32 },        [DTYPE_I16] = { "int16", 16 },
    [DTYPE_I8] = { "int8", 8 },           [DTYPE_I4] = { "int4", 4 },
    [DTYPE_U64] = { "uint64", 64 },       [DTYPE_U32] = { "uint32", 32 },
    [DTYPE_U16] = { "uint16", 16 },       [DTYPE_U8] = { "uint8", 8 },
    [DTYPE_BOOL] = { "bool", 8 },         [DTYPE_STRING] = { "string", 0 },
    [DTYPE_OTHER] = { "other", 0 },
};

const char *dtype_name(enum dtype dtype)
{
    return dtypes[dtype].name;
}

unsigned dtype_bits(enum dtype dtype)
{
    return dtypes[dtype].bits;
}
