/* Takes an event apart: which of its members and arguments mean something, and where they are. */
#include "read/kineto/reader_kineto.h"

#include <string.h>

struct field_name {
    struct str        name;
    enum kineto_field field;    /* FIELD_NONE: known to mean nothing to us */
    bool              is_whole; /* keep the value as written, quotes and brackets included */
};

/* Up to four letters as one number: the event's own keys are all that short. */
#define KEY2(a, b) ((uint32_t)(a) << 8 | (uint32_t)(b))
#define KEY3(a, b, c) (KEY2(a, b) << 8 | (uint32_t)(c))
#define KEY4(a, b, c, d) (KEY3(a, b, c) << 8 | (uint32_t)(d))
#define KEY_ARGS KEY4('a', 'r', 'g', 's')

static ALWAYS_INLINE enum kineto_field find_member(uint32_t key)
{
    switch (key) {
    case KEY2('p', 'h'):
        return FIELD_PHASE;
    case KEY3('c', 'a', 't'):
        return FIELD_CATEGORY;
    case KEY4('n', 'a', 'm', 'e'):
        return FIELD_NAME;
    case KEY3('p', 'i', 'd'):
        return FIELD_PROCESS;
    case KEY3('t', 'i', 'd'):
        return FIELD_THREAD;
    case KEY2('t', 's'):
        return FIELD_START;
    case KEY3('d', 'u', 'r'):
        return FIELD_DURATION;
    case KEY2('i', 'd'):
        return FIELD_ID;
    case KEY2('b', 'p'):
        return FIELD_BIND;
    }
    return FIELD_NONE;
}

/* Grouped by length: first_field finds the group. */
static const struct field_name args[] = {
    { STR_INIT("op"), FIELD_NONE, false },
    { STR_INIT("id"), FIELD_NONE, false },
    { STR_INIT("Seq"), FIELD_COLLECTIVE_SEQUENCE, false },
    { STR_INIT("cid"), FIELD_NONE, false },
    { STR_INIT("src"), FIELD_NONE, false },
    { STR_INIT("dst"), FIELD_NONE, false },
    { STR_INIT("ptr"), FIELD_NONE, false },
    { STR_INIT("row"), FIELD_NONE, false },
    { STR_INIT("uid"), FIELD_NONE, false },
    { STR_INIT("name"), FIELD_ARG_NAME, false },
    { STR_INIT("grid"), FIELD_GRID, true },
    { STR_INIT("Addr"), FIELD_ADDRESS, false },
    { STR_INIT("size"), FIELD_BYTES, false },
    { STR_INIT("cbid"), FIELD_NONE, false },
    { STR_INIT("kind"), FIELD_NONE, false },
    { STR_INIT("Mode"), FIELD_NONE, false },
    { STR_INIT("Rank"), FIELD_NONE, false },
    { STR_INIT("sqid"), FIELD_NONE, false },
    { STR_INIT("block"), FIELD_BLOCK, true },
    { STR_INIT("bytes"), FIELD_BYTES, false },
    { STR_INIT("Bytes"), FIELD_BYTES, false },
    { STR_INIT("dtype"), FIELD_DTYPE, false },
    { STR_INIT("flops"), FIELD_FLOPS, false },
    { STR_INIT("level"), FIELD_NONE, false },
    { STR_INIT("scope"), FIELD_NONE, false },
    { STR_INIT("device"), FIELD_DEVICE, false },
    { STR_INIT("Ev Idx"), FIELD_NONE, false },
    { STR_INIT("stream"), FIELD_STREAM, false },
    { STR_INIT("kernel"), FIELD_KERNEL, false },
    { STR_INIT("Kernel"), FIELD_NONE, false },
    { STR_INIT("queued"), FIELD_NONE, false },
    { STR_INIT("Device"), FIELD_NONE, false },
    { STR_INIT("column"), FIELD_NONE, false },
    { STR_INIT("Task Id"), FIELD_NONE, false },
    { STR_INIT("item_id"), FIELD_NONE, false },
    { STR_INIT("context"), FIELD_NONE, false },
    { STR_INIT("seq_num"), FIELD_NONE, false },
    { STR_INIT("graph id"), FIELD_GRAPH, false },
    { STR_INIT("grid dim"), FIELD_NONE, false },
    { STR_INIT("finished"), FIELD_NONE, false },
    { STR_INIT("Model Id"), FIELD_NONE, false },
    { STR_INIT("Batch Id"), FIELD_NONE, false },
    { STR_INIT("Comms Id"), FIELD_NONE, false },
    { STR_INIT("host_ctx"), FIELD_NONE, false },
    { STR_INIT("cmd_name"), FIELD_NONE, false },
    { STR_INIT("mem size"), FIELD_NONE, false },
    { STR_INIT("Op count"), FIELD_NONE, false },
    { STR_INIT("Device Id"), FIELD_DEVICE_ID, false },
    { STR_INIT("Stream Id"), FIELD_STREAM, false },
    { STR_INIT("Task Type"), FIELD_TASK, false },
    { STR_INIT("Thread Id"), FIELD_NONE, false },
    { STR_INIT("stream_id"), FIELD_STREAM, false },
    { STR_INIT("direction"), FIELD_DIRECTION, false },
    { STR_INIT("block dim"), FIELD_NONE, false },
    { STR_INIT("num_warps"), FIELD_NONE, false },
    { STR_INIT("Subtask Id"), FIELD_NONE, false },
    { STR_INIT("Input Dims"), FIELD_DIMS, true },
    { STR_INIT("Input dims"), FIELD_DIMS, true },
    { STR_INIT("Input type"), FIELD_TYPES, true },
    { STR_INIT("Group size"), FIELD_GROUP_SIZE, false },
    { STR_INIT("Call stack"), FIELD_CALL_STACK, false },
    { STR_INIT("Trace name"), FIELD_NONE, false },
    { STR_INIT("num_stages"), FIELD_NONE, false },
    { STR_INIT("k_work_ptr"), FIELD_NONE, false },
    { STR_INIT("packet_ptr"), FIELD_NONE, false },
    { STR_INIT("correlation"), FIELD_CORRELATION, false },
    { STR_INIT("External id"), FIELD_EXTERNAL, false },
    { STR_INIT("external id"), FIELD_EXTERNAL, false },
    { STR_INIT("Device Type"), FIELD_DEVICE_TYPE, false },
    { STR_INIT("shared size"), FIELD_NONE, false },
    { STR_INIT("external ts"), FIELD_NONE, false },
    { STR_INIT("Input names"), FIELD_NONE, false },
    { STR_INIT("Output dims"), FIELD_NONE, false },
    { STR_INIT("Output type"), FIELD_NONE, false },
    { STR_INIT("kernel_file"), FIELD_NONE, false },
    { STR_INIT("kernel_hash"), FIELD_NONE, false },
    { STR_INIT("kernel_name"), FIELD_NONE, false },
    { STR_INIT("warps per SM"), FIELD_NONE, false },
    { STR_INIT("Output names"), FIELD_NONE, false },
    { STR_INIT("connection_id"), FIELD_NONE, false },
    { STR_INIT("Input Strides"), FIELD_STRIDES, true },
    { STR_INIT("Fwd thread id"), FIELD_FORWARD_THREAD, false },
    { STR_INIT("shared memory"), FIELD_SHARED, false },
    { STR_INIT("In msg nelems"), FIELD_IN_ELEMENTS, false },
    { STR_INIT("In split size"), FIELD_IN_SPLIT, false },
    { STR_INIT("blocks per SM"), FIELD_NONE, false },
    { STR_INIT("kernel_kwargs"), FIELD_NONE, false },
    { STR_INIT("Out msg nelems"), FIELD_OUT_ELEMENTS, false },
    { STR_INIT("Total Reserved"), FIELD_RESERVED, false },
    { STR_INIT("correlation_id"), FIELD_NONE, false },
    { STR_INIT("cuda_sync_kind"), FIELD_SYNC_KIND, false },
    { STR_INIT("wait_on_stream"), FIELD_WAIT_STREAM, false },
    { STR_INIT("Out split size"), FIELD_NONE, false },
    { STR_INIT("kernel_backend"), FIELD_NONE, false },
    { STR_INIT("Concrete Inputs"), FIELD_CONCRETE, true },
    { STR_INIT("Sequence number"), FIELD_SEQUENCE, false },
    { STR_INIT("Collective name"), FIELD_COLLECTIVE, false },
    { STR_INIT("Total Allocated"), FIELD_ALLOCATED, false },
    { STR_INIT("Trace iteration"), FIELD_NONE, false },
    { STR_INIT("Extra arguments"), FIELD_NONE, false },
    { STR_INIT("executable_name"), FIELD_NONE, false },
    { STR_INIT("Module Hierarchy"), FIELD_NONE, false },
    { STR_INIT("Process Group ID"), FIELD_NONE, false },
    { STR_INIT("Global rank start"), FIELD_NONE, false },
    { STR_INIT("Process Group Name"), FIELD_GROUP_NAME, false },
    { STR_INIT("Record function id"), FIELD_NONE, false },
    { STR_INIT("Global rank stride"), FIELD_NONE, false },
    { STR_INIT("Process Group Ranks"), FIELD_GROUP_RANKS, true },
    { STR_INIT("registers per thread"), FIELD_REGISTERS, false },
    { STR_INIT("Profiler Event Index"), FIELD_NONE, false },
    { STR_INIT("wait_on_cuda_event_id"), FIELD_NONE, false },
    { STR_INIT("memory bandwidth (GB/s)"), FIELD_NONE, false },
    { STR_INIT("est. achieved occupancy %"), FIELD_OCCUPANCY, false },
    { STR_INIT("Process Group Description"), FIELD_NONE, false },
    { STR_INIT("wait_on_cuda_event_record_corr_id"), FIELD_WAIT_CORRELATION, false },
};

_Static_assert(ARRAY_COUNT(args) <= ARG_SLOTS, "kineto.next_arg has room for all");

void kineto_prepare_fields(struct kineto *kineto)
{
    for (size_t i = ARRAY_COUNT(args); i-- > 0;)
        kineto->first_field[args[i].name.len] = (uint8_t)i;
}

static const struct field_name *find_arg(const struct kineto *kineto, struct str key)
{
    if (key.len >= LENGTH_SLOTS)
        return NULL;
    for (size_t i = kineto->first_field[key.len];
         i < ARRAY_COUNT(args) && args[i].name.len == key.len; i++)
        if (args[i].name.data[0] == key.data[0] &&
            memcmp(args[i].name.data, key.data, key.len) == 0)
            return &args[i];
    return NULL;
}

static ALWAYS_INLINE uint32_t short_key(struct str key)
{
    const unsigned char *at = (const unsigned char *)key.data;

    switch (key.len) {
    case 2:
        return KEY2(at[0], at[1]);
    case 3:
        return KEY3(at[0], at[1], at[2]);
    case 4:
        return KEY4(at[0], at[1], at[2], at[3]);
    }
    return 0;
}

/* A key that comes twice: the last one counts, as in every other reader of such files. */
static void take(struct kineto_event *event, enum kineto_field field, bool is_whole,
                 struct json_scan *scan)
{
    if (field == FIELD_NONE) {
        json_skip(scan);
        return;
    }
    event->fields[field] = is_whole ? json_value(scan) : json_scalar(scan);
    event->present |= UINT64_C(1) << field;
}

/* The argument that came behind the one before the last time, where it comes again: most events
 * have those of the event before them in the same order. NULL: something else comes. */
static const struct field_name *take_likely(const uint8_t *likely, struct json_scan *scan)
{
    const struct field_name *arg = &args[*likely ? *likely - 1 : 0];

    return *likely && json_take_key(scan, arg->name) ? arg : NULL;
}

static void add_new_arg(struct kineto *kineto, struct kineto_event *event, struct str key)
{
    if (event->new_arg_count < MOST_NEW_ARGS)
        event->own_new_args[event->new_arg_count++] = kineto_intern(kineto, key);
}

static void scan_args(struct kineto *kineto, struct json_scan *scan, struct kineto_event *event)
{
    uint8_t   *likely = &kineto->first_arg[event->class];
    struct str key;

    if (json_peek(scan) != '{') {
        json_skip(scan);
        return;
    }
    json_open(scan, '{');
    for (;;) {
        const struct field_name *arg = take_likely(likely, scan);

        if (!arg) {
            if (!json_member(scan, &key))
                return;
            arg = find_arg(kineto, key);
            if (!arg) {
                add_new_arg(kineto, event, key);
                json_skip(scan);
                continue;
            }
            *likely = (uint8_t)(arg - args + 1);
        }
        take(event, arg->field, arg->is_whole, scan);
        likely = &kineto->next_arg[arg - args];
    }
}

static bool wants_args(enum kineto_class class)
{
    return class != KINETO_PYTHON && class != KINETO_LAUNCH && class != KINETO_FLOW;
}

/* Some devices tell of a wait a second time, at their own process: "device" is its number. */
static bool is_wait_on_device(const struct kineto_event *event)
{
    uint64_t wanted =
        UINT64_C(1) << FIELD_DEVICE | UINT64_C(1) << FIELD_PROCESS | UINT64_C(1) << FIELD_NAME;

    return event->class == KINETO_RUNTIME && (event->present & wanted) == wanted &&
           str_equal(event->fields[FIELD_DEVICE], event->fields[FIELD_PROCESS]) &&
           kineto_kind(event->class, event->fields[FIELD_NAME]) == ACTIVITY_SYNC;
}

static const uint64_t slice_fields = UINT64_C(1) << FIELD_PHASE | UINT64_C(1) << FIELD_NAME |
                                     UINT64_C(1) << FIELD_PROCESS | UINT64_C(1) << FIELD_THREAD |
                                     UINT64_C(1) << FIELD_START | UINT64_C(1) << FIELD_DURATION;

void kineto_scan_event(struct kineto *kineto, struct json_scan *scan, struct kineto_event *event)
{
    const char *begin = scan->at;
    struct str  key;

    event->has_number = 0;
    event->known = NULL;
    if (kineto_fit_event(&kineto->moulds, scan, event))
        return;
    event->present = event->has_number = 0;
    event->class = KINETO_UNKNOWN;
    event->new_args = event->own_new_args;
    event->new_arg_count = 0;
    if (!json_open(scan, '{'))
        return;
    while (json_member(scan, &key)) {
        uint32_t          packed = short_key(key);
        enum kineto_field field = find_member(packed);

        if (field != FIELD_NONE) {
            take(event, field, field == FIELD_PROCESS || field == FIELD_THREAD, scan);
            if (field == FIELD_CATEGORY)
                event->class = kineto_class(event->fields[FIELD_CATEGORY]);
        } else if (packed == KEY_ARGS && wants_args(event->class)) {
            scan_args(kineto, scan, event);
        } else {
            json_skip(scan);
        }
    }
    if (is_wait_on_device(event))
        event->class = KINETO_DEVICE_SYNC;
    if (!(event->present >> FIELD_CATEGORY & 1) && event->present >> FIELD_NAME & 1)
        event->class = kineto_class_without_category(
            event->fields[FIELD_NAME], event->present >> FIELD_TASK & 1,
            (event->present & ~slice_fields) == 0 && event->new_arg_count == 0);
    if (scan->state == JSON_FINE)
        kineto_learn_event(&kineto->moulds, begin, scan->at, event);
}
