#include "read/kineto/reader_kineto.h"

#include <string.h>

static void add_stat(struct kineto *kineto, enum stat_key key, uint32_t row, int64_t value)
{
    struct raw_stat stat = { .event = row, .value = value };

    kineto->is_full |= !vec_push(&kineto->stats[key], &kineto->scratch, stat);
}

static void add_link(struct kineto *kineto, const struct kineto_event *event,
                     enum kineto_field field, enum link_kind kind, uint32_t row)
{
    struct raw_link link = { .event = row, .kind = (uint8_t)kind };

    if (!kineto_has(event, field))
        return;
    link.id = (uint64_t)kineto_integer(event, field, 0);
    if (link.id && link.id < UINT64_MAX)
        kineto->is_full |= !vec_push(&kineto->links, &kineto->scratch, link);
}

/* Numbers between brackets: "[8, 1, 1]"; also as a text of them. Missing ones stay as they are. */
static void scan_three(struct str text, uint32_t numbers[3])
{
    size_t at = 0;

    for (int i = 0; i < 3; i++) {
        uint64_t number = 0;
        size_t   first;

        while (at < text.len && (text.data[at] < '0' || text.data[at] > '9'))
            at++;
        for (first = at; at < text.len && text.data[at] >= '0' && text.data[at] <= '9'; at++)
            if (number <= UINT32_MAX)
                number = number * 10 + (uint64_t)(text.data[at] - '0');
        if (at == first)
            return;
        numbers[i] = number > UINT32_MAX ? UINT32_MAX : (uint32_t)number;
    }
}

static uint32_t clip_count(int64_t number)
{
    return number < 0 ? 0 : number > UINT32_MAX ? UINT32_MAX : (uint32_t)number;
}

static void add_kernel_config(struct kineto *kineto, const struct kineto_event *event, uint32_t row)
{
    struct kernel_config config;
    double               occupancy;
    uint64_t             hash;
    uint32_t             index;
    struct profile      *profile = kineto->profile;

    memset(&config, 0, sizeof config);
    if (!kineto_has(event, FIELD_GRID) || !kineto_has(event, FIELD_BLOCK))
        return;
    scan_three(event->fields[FIELD_GRID], config.grid);
    scan_three(event->fields[FIELD_BLOCK], config.block);
    config.registers = clip_count(kineto_integer(event, FIELD_REGISTERS, 0));
    config.static_shared_bytes = clip_count(kineto_integer(event, FIELD_SHARED, 0));
    config.occupancy_pct = -1;
    if (kineto_has(event, FIELD_OCCUPANCY) &&
        str_to_double(event->fields[FIELD_OCCUPANCY], &occupancy) && occupancy >= 0 &&
        occupancy <= 1000)
        config.occupancy_pct = (float)occupancy;
    hash = str_hash((struct str) { (const char *)&config, sizeof config });
    while ((index = id_map_get(&kineto->configs, hash)) != NO_ID &&
           memcmp(&profile->kernel_configs.items[index], &config, sizeof config) != 0)
        hash++;
    if (index == NO_ID) {
        index = (uint32_t)profile->kernel_configs.count;
        if (!vec_push(&profile->kernel_configs, profile->arena, config) ||
            !id_map_put(&kineto->configs, hash, index))
            kineto->is_full = true;
    }
    add_stat(kineto, STAT_KERNEL_CONFIG, row, index);
}

static int64_t message_bytes(const struct kineto_event *event, enum kineto_field field,
                             enum dtype dtype)
{
    int64_t elements = kineto_integer(event, field, -1), bits;

    if (elements < 0 || !dtype_bits(dtype) ||
        __builtin_mul_overflow(elements, (int64_t)dtype_bits(dtype), &bits))
        return -1;
    return bits / 8;
}

/* Payload of a collective that tells only the shapes it was called with ("gloo:all_reduce"). */
static int64_t shape_bytes(const struct kineto_event *event)
{
    struct str types = kineto_has(event, FIELD_TYPES) ? event->fields[FIELD_TYPES] : STR("");
    struct str dims = kineto_has(event, FIELD_DIMS) ? event->fields[FIELD_DIMS] : STR("");
    int64_t    elements = 1, number = -1;
    size_t     first, last;

    first = str_find(types, '"') + 1;
    last = first < types.len ? first + str_find(str_slice(types, first, types.len), '"') : first;
    for (size_t i = 0; i < dims.len; i++) {
        char byte = dims.data[i];

        if (byte >= '0' && byte <= '9') {
            if (number < 0)
                number = 0;
            if (__builtin_mul_overflow(number, 10, &number) ||
                __builtin_add_overflow(number, byte - '0', &number))
                return -1;
            continue;
        }
        if (number >= 0 && __builtin_mul_overflow(elements, number, &elements))
            return -1;
        number = -1;
        if (byte == ']' && elements != 1)
            break;
    }
    if (last <= first ||
        __builtin_mul_overflow(
            elements, (int64_t)dtype_bits(kineto_dtype(str_slice(types, first, last))), &elements))
        return -1;
    return elements ? elements / 8 : -1;
}

/* Of "[512, 96, 128, 32]", what goes to each rank, the most over the mean: 2.67. 0: nothing goes,
 * or not all is told. */
static float unevenness(struct str sizes)
{
    double most = 0, sum = 0, count = 0;
    size_t at = 0;

    if (str_contains(sizes, STR("...")))
        return 0;
    while (at < sizes.len) {
        double number = 0;
        size_t first = at;

        for (; at < sizes.len && sizes.data[at] >= '0' && sizes.data[at] <= '9'; at++)
            number = 10 * number + (sizes.data[at] - '0');
        if (at == first) {
            at++;
            continue;
        }
        most = number > most ? number : most;
        sum += number;
        count++;
    }
    return sum > 0 && count > 1 ? (float)(most * count / sum) : 0;
}

static void add_collective(struct kineto *kineto, const struct kineto_event *event, uint32_t row)
{
    struct profile   *profile = kineto->profile;
    struct collective collective = { 0 };
    struct str        type;
    int64_t           size = kineto_integer(event, FIELD_GROUP_SIZE, -1);

    type = kineto_collective(
        event->fields[kineto_has(event, FIELD_COLLECTIVE) ? FIELD_COLLECTIVE : FIELD_NAME]);
    if (!type.len)
        return;
    collective.type = kineto_intern(kineto, type);
    if (kineto_has(event, FIELD_GROUP_RANKS) &&
        event->fields[FIELD_GROUP_RANKS].len > 4) /* not just "[]" */
        collective.group = kineto_intern(kineto, event->fields[FIELD_GROUP_RANKS]);
    else if (kineto_has(event, FIELD_GROUP_NAME))
        collective.group = kineto_intern(kineto, event->fields[FIELD_GROUP_NAME]);
    if (kineto_has(event, FIELD_DTYPE))
        collective.dtype = (uint8_t)kineto_dtype(event->fields[FIELD_DTYPE]);
    collective.bytes_in = message_bytes(event, FIELD_IN_ELEMENTS, collective.dtype);
    collective.bytes_out = message_bytes(event, FIELD_OUT_ELEMENTS, collective.dtype);
    if (collective.bytes_in < 0 && event->class == KINETO_ANNOTATION)
        collective.bytes_in = shape_bytes(event);
    if (kineto_has(event, FIELD_IN_SPLIT))
        collective.unevenness = unevenness(event->fields[FIELD_IN_SPLIT]);
    collective.group_size = size > INT32_MAX || size < 0 ? -1 : (int32_t)size;
    collective.sequence = kineto_integer(event, FIELD_COLLECTIVE_SEQUENCE, -1);
    if (!vec_push(&profile->collectives, profile->arena, collective))
        kineto->is_full = true;
    add_stat(kineto, STAT_COLLECTIVE, row, (int64_t)profile->collectives.count - 1);
}

static void add_integer(struct kineto *kineto, const struct kineto_event *event,
                        enum kineto_field field, enum stat_key key, uint32_t row)
{
    if (kineto_has(event, field))
        add_stat(kineto, key, row, kineto_integer(event, field, 0));
}

/* A text's name; NO_ID where it says nothing: "[]" and "[[], []]" do not, at least one digit or
 * letter must be there. */
static uint32_t text_name(struct kineto *kineto, const struct kineto_event *event,
                          enum kineto_field field)
{
    struct str text = kineto_has(event, field) ? event->fields[field] : STR("");
    bool       says_something = false;

    for (size_t i = 0; i < text.len && !says_something; i++)
        says_something = (text.data[i] >= '0' && text.data[i] <= '9') ||
                         ((text.data[i] | 0x20) >= 'a' && (text.data[i] | 0x20) <= 'z');
    return says_something ? kineto_intern(kineto, text) : NO_ID;
}

static void add_text(struct kineto *kineto, const struct kineto_event *event, enum known_name which,
                     uint32_t row)
{
    static const struct {
        enum kineto_field field;
        enum stat_key     key;
    } of[] = {
        [KNOWN_CONCRETE] = { FIELD_CONCRETE, STAT_CONCRETE_INPUTS },
        [KNOWN_STRIDES] = { FIELD_STRIDES, STAT_STRIDES },
    };
    struct kineto_known *known = event->known;
    uint32_t             name = known && known->has_name[which] ? known->names[which]
                                                                : text_name(kineto, event, of[which].field);

    if (known) {
        known->names[which] = name;
        known->has_name[which] = !kineto->is_full;
    }
    if (name != NO_ID)
        add_stat(kineto, of[which].key, row, name);
}

static void add_op_args(struct kineto *kineto, const struct kineto_event *event, uint32_t row)
{
    add_text(kineto, event, KNOWN_CONCRETE, row);
    add_text(kineto, event, KNOWN_STRIDES, row);
    add_integer(kineto, event, FIELD_SEQUENCE, STAT_SEQUENCE, row);
    /* 0: the op is no backward op. */
    if (kineto_integer(event, FIELD_FORWARD_THREAD, 0))
        add_integer(kineto, event, FIELD_FORWARD_THREAD, STAT_THREAD_FORWARD, row);
    add_integer(kineto, event, FIELD_FLOPS, STAT_FLOPS, row);
    add_link(kineto, event, FIELD_EXTERNAL, LINK_OP, row);
    kineto->profile->has_stacks |= kineto_has(event, FIELD_CALL_STACK);
}

/* "Memcpy HtoD (Pageable -> Device)": the memory kinds stand in the brackets. */
static void add_copy_kind(struct kineto *kineto, const struct kineto_event *event, uint32_t row)
{
    struct str name = kineto_has(event, FIELD_NAME) ? event->fields[FIELD_NAME] : STR("");
    size_t     open = str_find(name, '(');

    if (open < name.len && str_ends(name, STR(")")))
        add_stat(kineto, STAT_COPY_KIND, row,
                 kineto_intern(kineto, str_slice(name, open + 1, name.len - 1)));
}

static void add_step_number(struct kineto *kineto, const struct kineto_event *event, uint32_t row)
{
    struct str name = event->fields[FIELD_NAME];
    int64_t    number;

    if (str_to_int64(str_slice(name, str_find(name, '#') + 1, name.len), &number))
        add_stat(kineto, STAT_STEP_NUMBER, row, number);
}

/* What a call and the work it started share: older traces of ROCm write it as their external id and
 * have no correlation. Ids of ops are others than these. */
static enum kineto_field shared_id(const struct kineto_event *event)
{
    return kineto_has(event, FIELD_CORRELATION) ? FIELD_CORRELATION : FIELD_EXTERNAL;
}

static void add_call_args(struct kineto *kineto, const struct kineto_event *event,
                          enum activity_kind kind, uint32_t row)
{
    add_integer(kineto, event, shared_id(event), STAT_CORRELATION, row);
    add_link(kineto, event, shared_id(event), LINK_CALL, row);
    if (kineto->is_capture && kineto_has(event, FIELD_KERNEL))
        add_stat(kineto, STAT_LAUNCHED, row, kineto_intern(kineto, event->fields[FIELD_KERNEL]));
    if (kind == ACTIVITY_TRANSFER && kineto_has(event, FIELD_NAME))
        add_stat(kineto, STAT_IS_ASYNC, row, str_contains(event->fields[FIELD_NAME], STR("Async")));
}

static void add_work_args(struct kineto *kineto, const struct kineto_event *event, uint32_t row)
{
    add_integer(kineto, event, shared_id(event), STAT_CORRELATION, row);
    add_integer(kineto, event, FIELD_BYTES, STAT_BYTES, row);
    if (kineto_integer(event, FIELD_GRAPH, 0))
        add_integer(kineto, event, FIELD_GRAPH, STAT_GRAPH, row);
    add_link(kineto, event, shared_id(event), LINK_WORK, row);
    add_link(kineto, event, FIELD_EXTERNAL, LINK_OP_WORK, row);
}

void kineto_add_args(struct kineto *kineto, const struct kineto_event *event, uint32_t row)
{
    const struct raw_event *raw = &kineto->raws.items[row];
    enum activity_kind      kind = kineto->profile->activities.items[raw->activity].kind;

    if (kind == ACTIVITY_COLLECTIVE)
        add_collective(kineto, event, row);
    if (kind == ACTIVITY_STEP)
        add_step_number(kineto, event, row);
    switch (event->class) {
    case KINETO_OP:
        add_op_args(kineto, event, row);
        break;
    case KINETO_RUNTIME:
        add_call_args(kineto, event, kind, row);
        break;
    case KINETO_KERNEL:
    case KINETO_ACCELERATOR:
        add_work_args(kineto, event, row);
        add_kernel_config(kineto, event, row);
        break;
    case KINETO_MEMCPY:
        add_work_args(kineto, event, row);
        add_copy_kind(kineto, event, row);
        break;
    case KINETO_MEMSET:
        add_work_args(kineto, event, row);
        break;
    case KINETO_DEVICE_SYNC:
        add_integer(kineto, event, FIELD_CORRELATION, STAT_CORRELATION, row);
        add_link(kineto, event, FIELD_CORRELATION, LINK_WORK, row);
        add_link(kineto, event, FIELD_WAIT_CORRELATION, LINK_RECORDED, row);
        add_integer(kineto, event, FIELD_WAIT_STREAM, STAT_WAIT_ON, row);
        break;
    case KINETO_ANNOTATION:
    case KINETO_PYTHON:
    case KINETO_DEVICE_ANNOTATION:
    case KINETO_OVERHEAD:
    case KINETO_COUNTERS:
    case KINETO_FLOW:
    case KINETO_LAUNCH:
    case KINETO_FRAME:
    case KINETO_UNKNOWN:
        break;
    }
}

bool kineto_add_memory(struct kineto *kineto, const struct kineto_event *event, uint32_t track,
                       int64_t time_ns)
{
    struct profile     *profile = kineto->profile;
    struct memory_event memory = { .event = NO_ID,
                                   .device = NO_ID,
                                   .time_ns = time_ns,
                                   .available_bytes = -1,
                                   .peak_bytes = -1,
                                   .requested_bytes = -1,
                                   .fragmentation = -1 };
    /* c10's list of device types begins with the CPU. */
    bool is_host = kineto_integer(event, FIELD_DEVICE_TYPE, 0) == 0;

    memory.bytes = kineto_integer(event, FIELD_BYTES, 0);
    memory.kind = memory.bytes < 0 ? MEMORY_FREE : MEMORY_ALLOCATE;
    if (memory.bytes == INT64_MIN)
        return true;
    if (memory.bytes < 0)
        memory.bytes = -memory.bytes;
    memory.address = (uint64_t)kineto_integer(event, FIELD_ADDRESS, 0);
    memory.in_use_bytes = kineto_integer(event, FIELD_ALLOCATED, -1);
    memory.reserved_bytes = kineto_integer(event, FIELD_RESERVED, -1);
    memory.allocator = kineto_intern(kineto, is_host ? STR("cpu") : STR("device"));
    if (!is_host)
        memory.device =
            kineto_device(profile, kineto->host, kineto_integer(event, FIELD_DEVICE_ID, 0));
    return vec_push(&kineto->memory_tracks, &kineto->scratch, track) &&
           vec_push(&profile->memory_events, profile->arena, memory);
}
