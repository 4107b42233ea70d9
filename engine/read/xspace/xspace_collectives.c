#include "read/xspace/xspace_collectives.h"

#include "read/kineto/kineto_names.h"

static int64_t known_bytes(const struct tensor *tensor)
{
    int64_t bits = dtype_bits((enum dtype)tensor->dtype);

    if (tensor->rank < 0 || bits == 0)
        return -1;
    for (int i = 0; i < tensor->rank; i++)
        if (tensor->dims[i] < 0 || __builtin_mul_overflow(bits, tensor->dims[i], &bits))
            return -1;
    return bits / 8;
}

static int64_t sum_bytes(const struct profile *profile, uint32_t first, uint32_t count)
{
    int64_t sum = 0;

    for (uint32_t i = 0; i < count; i++) {
        int64_t bytes = known_bytes(&profile->tensors.items[first + i]);

        if (bytes < 0 || __builtin_add_overflow(sum, bytes, &sum))
            return -1;
    }
    return count ? sum : -1;
}

/* What begins an asynchronous collective yields its operands again, before its results. */
static int64_t result_bytes(const struct profile *profile, const struct op *op, int64_t bytes_in)
{
    int64_t    sum = sum_bytes(profile, op->first_output, op->output_count);
    struct str type = profile_str(profile, op->type);
    bool       is_start = str_ends(type, STR("-start"));

    return is_start && op->output_count > op->input_count && sum >= bytes_in && bytes_in >= 0
               ? sum - bytes_in
               : sum;
}

static struct str find_attr(const struct profile *profile, const struct op *op, struct str name)
{
    for (uint32_t i = 0; i < op->attr_count; i++) {
        const struct attr *attr = &profile->attrs.items[op->first_attr + i];

        if (str_equal(profile_str(profile, attr->name), name))
            return profile_str(profile, attr->value);
    }
    return (struct str) { 0 };
}

#define AMBIGUOUS (NO_ID - 1)

/* Instructions with a group, by name; where programs share a name none of them. */
static bool index_groups(const struct profile *profile, struct id_map *by_name)
{
    for (uint32_t i = 0; i < profile->ops.count; i++) {
        const struct op *op = &profile->ops.items[i];
        bool             is_first = id_map_get(by_name, op->name) == NO_ID;

        if (find_attr(profile, op, STR("group_size")).len > 0 &&
            !id_map_put(by_name, op->name, is_first ? i : AMBIGUOUS))
            return false;
    }
    return true;
}

/* The instruction behind an activity; device lines of a TPU name it without its program. */
static const struct op *find_instruction(const struct profile  *profile,
                                         const struct activity *activity,
                                         const struct id_map   *by_name)
{
    const struct op *op;
    uint32_t         other;

    if (activity->op >= profile->ops.count)
        return NULL;
    op = &profile->ops.items[activity->op];
    other = id_map_get(by_name, op->name);
    return op->output_count == 0 && other < profile->ops.count ? &profile->ops.items[other] : op;
}

static bool add_row(struct profile *profile, const struct activity *activity,
                    const struct id_map *by_name)
{
    struct str        name = profile_str(profile, activity->name), type, size;
    struct collective row = { .bytes_in = -1, .bytes_out = -1, .group_size = -1, .sequence = -1 };
    const struct op  *op = find_instruction(profile, activity, by_name);
    int64_t           group_size;

    type = kineto_collective(name);
    if (type.len == 0 && op)
        type = kineto_collective(profile_str(profile, op->type));
    row.type = profile_intern(profile, type);
    /* The end of an asynchronous collective moves nothing that its beginning did not. */
    if (op && !str_ends(profile_str(profile, op->type), STR("-done"))) {
        row.bytes_in = sum_bytes(profile, op->first_input, op->input_count);
        row.bytes_out = result_bytes(profile, op, row.bytes_in);
        if (op->input_count)
            row.dtype = profile->tensors.items[op->first_input].dtype;
        size = find_attr(profile, op, STR("group_size"));
        if (str_to_int64(size, &group_size) && group_size > 0 && group_size <= INT32_MAX)
            row.group_size = (int32_t)group_size;
        row.group = profile_intern(profile, find_attr(profile, op, STR("group")));
    }
    return row.type != NO_ID && row.group != NO_ID &&
           vec_push(&profile->collectives, profile->arena, row);
}

/* Rows of profile->collectives by label, + 1; 0 for other labels. */
static uint32_t *add_rows(struct profile *profile, const uint8_t *kinds,
                          const struct id_map *by_name)
{
    uint32_t *rows = arena_new_array(profile->arena, uint32_t, profile->labels.count);
    uint32_t *row_of = arena_new_array(profile->arena, uint32_t, profile->activities.count);

    for (size_t i = 0; rows && row_of && i < profile->labels.count; i++) {
        uint32_t activity = profile->labels.items[i];

        if (kinds[i] != ACTIVITY_COLLECTIVE)
            continue;
        if (!row_of[activity]) {
            if (!add_row(profile, &profile->activities.items[activity], by_name))
                return NULL;
            row_of[activity] = (uint32_t)profile->collectives.count;
        }
        rows[i] = row_of[activity];
    }
    return row_of ? rows : NULL;
}

static bool fill_column(struct profile *profile, const uint32_t *rows)
{
    int64_t  labels[EVENT_BATCH], events[EVENT_BATCH], values[EVENT_BATCH];
    uint32_t count;

    for (uint32_t first = 0; first < profile->event_count; first += count) {
        size_t found = 0;

        count = profile->event_count - first;
        count = count < EVENT_BATCH ? count : EVENT_BATCH;
        packed_read(&profile->event_labels, first, count, labels);
        for (uint32_t i = 0; i < count; i++) {
            if (!rows[labels[i]])
                continue;
            events[found] = first + i;
            values[found++] = rows[labels[i]] - 1;
        }
        if (!profile_add_stats(profile, STAT_COLLECTIVE, events, values, found))
            return false;
    }
    return true;
}

bool xspace_collectives(struct profile *profile)
{
    const uint8_t *kinds = profile_label_kinds(profile, profile->arena);
    struct id_map  by_name = { .arena = profile->arena };
    uint32_t      *rows;
    size_t         count = 0;

    for (size_t i = 0; kinds && i < profile->labels.count; i++)
        count += kinds[i] == ACTIVITY_COLLECTIVE;
    if (!kinds || count == 0 || stat_count(&profile->stats[STAT_COLLECTIVE]) > 0)
        return kinds != NULL;
    if (!index_groups(profile, &by_name))
        return false;
    rows = add_rows(profile, kinds, &by_name);
    return rows && fill_column(profile, rows);
}
