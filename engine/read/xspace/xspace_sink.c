/* What a run of lines leaves beside its events: stats by key, variants of types, memory events. */
#include "read/tf/tf_model.h"
#include "read/xspace/xspace_details.h"
#include "read/xspace/xspace_lines.h"

#include <stdio.h>

bool sink_init(struct sink *sink, const struct profile *profile, uint32_t type_count)
{
    sink->arena.budget_bytes = profile->arena->budget_bytes;
    sink->starts_ns = arena_new_array(&sink->arena, int64_t, CHUNK_EVENTS);
    sink->durations_ns = arena_new_array(&sink->arena, int64_t, CHUNK_EVENTS);
    sink->labels = arena_new_array(&sink->arena, int64_t, CHUNK_EVENTS);
    sink->seen = arena_new_array(&sink->arena, uint16_t, type_count);
    sink->last_variant = arena_new_array(&sink->arena, uint32_t, type_count);
    sink->variant_of.arena = sink->details_of.arena = sink->loose_of.arena = &sink->arena;
    sink->memory_size = -1;
    return sink->starts_ns && sink->durations_ns && sink->labels && sink->seen &&
           sink->last_variant && intern_init(&sink->names, &sink->arena);
}

void sink_free(struct sink *sink)
{
    arena_free(&sink->arena);
}

void sink_clear(struct sink *sink)
{
    for (int key = 0; key < STAT_KEY_COUNT; key++)
        sink->columns[key].count = 0;
    sink->memory_events.count = 0;
    sink->aggregates.count = 0;
    sink->row = 0;
}

bool sink_column_start(struct sink *sink, struct stat_buffer *column)
{
    int64_t *events = arena_new_array(&sink->arena, int64_t, CHUNK_EVENTS);

    column->values = arena_new_array(&sink->arena, int64_t, CHUNK_EVENTS);
    if (column->values)
        column->events = events;
    sink->is_full |= !column->events;
    return column->events != NULL;
}

void sink_undo(struct sink *sink)
{
    for (int key = 0; key < STAT_KEY_COUNT; key++) {
        struct stat_buffer *column = &sink->columns[key];

        column->count -= column->count && column->events[column->count - 1] == sink->row;
    }
    sink->variant = (struct variant) { 0 };
    sink->has_memory = false;
    sink->memory_size = -1;
    sink->loose_now.count = 0;
}

unsigned sink_key_for(unsigned key, uint32_t flags)
{
    if (key == EXTRA_ID)
        return flags & TYPE_ITERATOR ? STAT_ITERATOR : STAT_EXECUTOR_STEP;
    if (key == EXTRA_NAME && flags & TYPE_ITERATOR)
        return STAT_DATASET;
    if ((key == EXTRA_NAME || key == EXTRA_KERNEL) && !(flags & TYPE_KERNEL))
        return EXTRA_NONE;
    if (key == EXTRA_REQUESTED && !(flags & TYPE_MEMORY))
        return STAT_BYTES;
    if (key >= EXTRA_ALLOCATOR && key <= EXTRA_REGION && !(flags & TYPE_MEMORY))
        return EXTRA_NONE;
    return key;
}

/* A text as a name: interned already when it is a reference. */
static uint32_t name_of(struct sink *sink, const struct plane_tables *tables,
                        const struct xstat *stat)
{
    uint32_t name;

    if (stat->field == XSTAT_REF)
        return xspace_stat_info(tables, stat->number)->name;
    name = intern_add(&sink->names, stat->text);
    if (name >= LOCAL_NAME) {
        sink->is_full = true;
        return 0;
    }
    sink->has_local_names = true;
    return name | LOCAL_NAME;
}

static uint64_t loose_key(const struct loose_stat *loose)
{
    return (uint64_t)loose->type << 32 | loose->name;
}

void sink_add_loose(struct sink *sink, const struct plane_tables *tables,
                    const struct stat_info *info, uint32_t type, const struct xstat *stat)
{
    double            number = xstat_number(stat);
    struct loose_stat now = { .type = type,
                              .name = info->name,
                              .is_unknown = info->key == STAT_UNKNOWN,
                              .count = 1,
                              .sum = number,
                              .least = number,
                              .most = number };

    if ((stat->field == XSTAT_REF || stat->field == XSTAT_STR) &&
        id_map_get(&sink->loose_of, loose_key(&now)) == NO_ID)
        now.text = name_of(sink, tables, stat);
    sink->is_full |= !vec_push(&sink->loose_now, &sink->arena, now);
}

void sink_sum_loose(struct sink *sink)
{
    for (size_t i = 0; i < sink->loose_now.count; i++) {
        struct loose_stat *now = &sink->loose_now.items[i], *sum;
        uint64_t           key = loose_key(now);
        uint32_t           row = id_map_get(&sink->loose_of, key);

        if (row == NO_ID) {
            if (!vec_push(&sink->loose, &sink->arena, *now) ||
                !id_map_put(&sink->loose_of, key, (uint32_t)sink->loose.count - 1))
                sink->is_full = true;
            continue;
        }
        sum = &sink->loose.items[row];
        if (sum->count == 0) { /* the first one since the chunk before */
            *sum = *now;
            continue;
        }
        sum->count++;
        sum->sum += now->sum;
        sum->least = now->least < sum->least ? now->least : sum->least;
        sum->most = now->most > sum->most ? now->most : sum->most;
    }
    sink->loose_now.count = 0;
}

static struct str name_text(const struct sink *sink, uint32_t name)
{
    if (name & LOCAL_NAME)
        return intern_str(&sink->names, name & ~LOCAL_NAME);
    return name < sink->known_count ? sink->known[name] : (struct str) { "", 0 };
}

/* Numbers, and texts where a column holds numbers: "true", "12"; others ("unavailable") are not
 * kept. */
static bool number_of(struct sink *sink, const struct plane_tables *tables, unsigned key,
                      const struct xstat *stat, int64_t *number)
{
    struct str text = stat->text;

    *number = (int64_t)stat->number;
    if (stat->field == XSTAT_DOUBLE && key != EXTRA_FRAGMENTATION) {
        double real = xstat_number(stat);

        *number = real > -9e18 && real < 9e18 ? (int64_t)real : 0;
    }
    if (stat->field >= XSTAT_DOUBLE && stat->field <= XSTAT_INT64) {
        if (key == STAT_IDLE_NS)
            *number /= 1000;
        return true;
    }
    if (stat->field == XSTAT_REF)
        text = name_text(sink, xspace_stat_info(tables, stat->number)->name);
    *number = str_equal(text, STR("true"));
    return *number || str_equal(text, STR("false")) || str_to_int64(text, number);
}

/* Stats of allocations and releases, which make up one row together. */
static void keep_memory(struct sink *sink, unsigned key, int64_t value)
{
    struct memory_event *memory = &sink->memory;
    uint32_t             name = value > 0 ? (uint32_t)value : 0;

    if (!sink->has_memory) {
        *memory = (struct memory_event) { .device = NO_ID,
                                          .bytes = -1,
                                          .in_use_bytes = -1,
                                          .reserved_bytes = -1,
                                          .available_bytes = -1,
                                          .peak_bytes = -1,
                                          .fragmentation = -1,
                                          .requested_bytes = -1,
                                          .address = UINT64_MAX };
        sink->has_memory = true;
    }
    if (key == EXTRA_ALLOCATOR)
        memory->allocator = name;
    else if (key == EXTRA_ORDINAL)
        memory->device = value >= 0 && value < NO_ID ? (uint32_t)value : NO_ID;
    else if (key == EXTRA_REGION)
        memory->region = name;
    else if (key == EXTRA_ALLOCATED)
        memory->in_use_bytes = value;
    else if (key == EXTRA_RESERVED)
        memory->reserved_bytes = value;
    else if (key == EXTRA_AVAILABLE)
        memory->available_bytes = value;
    else if (key == EXTRA_PEAK)
        memory->peak_bytes = value;
    else if (key == EXTRA_FRAGMENTATION)
        memory->fragmentation = value == -1 ? -1 : stat_to_double(value);
    else if (key == EXTRA_ALLOCATION_BYTES)
        memory->bytes = value;
    else if (key == EXTRA_ADDRESS)
        memory->address = (uint64_t)value;
    else if (key == EXTRA_REQUESTED)
        sink_push(sink, STAT_BYTES, memory->requested_bytes = value);
    else if (key == EXTRA_DATA_TYPE)
        memory->dtype = tf_dtype((uint64_t)value);
}

/* "pageable -> device"; 0: not told. */
static int64_t copy_kind(struct sink *sink, struct str details)
{
    char       text[64];
    struct str from, to;
    int        len;
    uint32_t   name;

    if (!xspace_details_kinds(details, &from, &to))
        return 0;
    len = snprintf(text, sizeof text, "%.*s -> %.*s", STR_ARG(str_slice(from, 0, 24)),
                   STR_ARG(str_slice(to, 0, 24)));
    name = intern_add(&sink->names, (struct str) { text, (size_t)len });
    if (name >= LOCAL_NAME) {
        sink->is_full = true;
        return 0;
    }
    sink->has_local_names = true;
    return name | LOCAL_NAME;
}

/* Details are a kernel's launch configuration, or the size of a copy, a set or an allocation.
 * Equal texts are looked at once. */
static const struct details *details_of(struct sink *sink, uint32_t text)
{
    uint32_t             row = id_map_get(&sink->details_of, text);
    struct details       details = { .text = text, .key = EXTRA_NONE };
    struct kernel_config config;

    if (row != NO_ID)
        return &sink->details.items[row];
    if (xspace_kernel_config(name_text(sink, text), &config)) {
        details.key = STAT_KERNEL_CONFIG;
        details.value = (int64_t)sink->configs.count;
        if (!vec_push(&sink->configs, &sink->arena, config) ||
            !vec_push(&sink->config_texts, &sink->arena, text))
            sink->is_full = true;
    } else if (xspace_details_bytes(name_text(sink, text), &details.value)) {
        details.key = STAT_BYTES;
        details.copy_kind = copy_kind(sink, name_text(sink, text));
    }
    if (!vec_push(&sink->details, &sink->arena, details) ||
        !id_map_put(&sink->details_of, text, (uint32_t)sink->details.count - 1)) {
        sink->is_full = true;
        return NULL;
    }
    return &sink->details.items[sink->details.count - 1];
}

static void keep_extra(struct sink *sink, unsigned key, int64_t value)
{
    const struct details *details;

    if (key == EXTRA_HLO_OP) {
        sink->variant.hlo_op = (uint32_t)value;
    } else if (key == EXTRA_TF_OP || key == EXTRA_NAME) {
        sink->variant.tf_op = (uint32_t)value;
    } else if (key == EXTRA_KERNEL) {
        sink->variant.kernel = (uint32_t)value;
    } else if (key == EXTRA_SHAPE) {
        sink->variant.shape = (uint32_t)value;
    } else if (key == EXTRA_DETAILS) {
        details = details_of(sink, (uint32_t)value);
        if (details && details->key < STAT_KEY_COUNT)
            sink_push(sink, details->key, details->value);
        if (details && details->copy_kind)
            sink_push(sink, STAT_COPY_KIND, details->copy_kind);
        if (details && details->key == STAT_BYTES)
            sink->memory_size = details->value;
    } else {
        keep_memory(sink, key, value);
    }
}

void sink_keep(struct sink *sink, const struct plane_tables *tables, const struct stat_info *info,
               uint32_t flags, const struct xstat *stat)
{
    unsigned key = sink_key_for(info->key, flags);
    bool     is_number = stat->field >= XSTAT_DOUBLE && stat->field <= XSTAT_INT64;
    int64_t  value;

    if (key >= EXTRA_NONE)
        return;
    if (xspace_stat_is_name(key)) {
        if (is_number)
            return;
        value = name_of(sink, tables, stat);
    } else if (!number_of(sink, tables, key, stat, &value)) {
        return;
    }
    if (key >= STAT_KEY_COUNT) {
        keep_extra(sink, key, value);
        return;
    }
    sink_push(sink, key, value);
    if (key == STAT_MODULE_NAME)
        sink->variant.module = (uint32_t)value;
    else if (key == STAT_PROGRAM)
        sink->variant.program = (uint64_t)value;
    else if (key == STAT_BYTES)
        sink->memory_size = value; /* set back behind memory events, unused by others */
}

static bool is_same(const struct variant *a, const struct variant *b)
{
    return a->type == b->type && a->module == b->module && a->hlo_op == b->hlo_op &&
           a->tf_op == b->tf_op && a->shape == b->shape && a->kernel == b->kernel &&
           a->program == b->program && a->is_call == b->is_call;
}

static uint64_t mix(uint64_t a, uint64_t b)
{
    uint64_t hash = (a ^ b * UINT64_C(0x9E3779B97F4A7C15)) * UINT64_C(0xFF51AFD7ED558CCD);

    return hash ^ hash >> 29;
}

uint32_t sink_variant(struct sink *sink, uint32_t type)
{
    struct variant *variant = &sink->variant;
    uint32_t        last = type == NO_TYPE ? 0 : sink->last_variant[type], row;
    uint64_t        key;

    variant->type = type;
    if (last && is_same(&sink->variants.items[last - 1], variant))
        return (last - 1) | VARIANT_BIT;
    key = mix((uint64_t)type << 32 | variant->module,
              (uint64_t)variant->hlo_op << 32 | variant->tf_op);
    key = mix(mix(key, variant->program), variant->shape);
    while ((row = id_map_get(&sink->variant_of, key)) != NO_ID &&
           !is_same(&sink->variants.items[row], variant))
        key++;
    if (row == NO_ID) {
        row = (uint32_t)sink->variants.count;
        if (!vec_push(&sink->variants, &sink->arena, *variant) ||
            !id_map_put(&sink->variant_of, key, row)) {
            sink->is_full = true;
            return type;
        }
    }
    if (type != NO_TYPE)
        sink->last_variant[type] = row + 1;
    return row | VARIANT_BIT;
}
