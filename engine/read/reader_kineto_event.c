#include "read/reader_kineto.h"

#include <string.h>

struct field_name {
    struct str        name;
    enum kineto_field field;
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
    { STR_INIT("Seq"), FIELD_COLLECTIVE_SEQUENCE, false },
    { STR_INIT("name"), FIELD_ARG_NAME, false },
    { STR_INIT("grid"), FIELD_GRID, true },
    { STR_INIT("Addr"), FIELD_ADDRESS, false },
    { STR_INIT("block"), FIELD_BLOCK, true },
    { STR_INIT("bytes"), FIELD_BYTES, false },
    { STR_INIT("Bytes"), FIELD_BYTES, false },
    { STR_INIT("dtype"), FIELD_DTYPE, false },
    { STR_INIT("flops"), FIELD_FLOPS, false },
    { STR_INIT("device"), FIELD_DEVICE, false },
    { STR_INIT("stream"), FIELD_STREAM, false },
    { STR_INIT("graph id"), FIELD_GRAPH, false },
    { STR_INIT("Device Id"), FIELD_DEVICE_ID, false },
    { STR_INIT("stream_id"), FIELD_STREAM, false },
    { STR_INIT("Input Dims"), FIELD_DIMS, true },
    { STR_INIT("Input dims"), FIELD_DIMS, true },
    { STR_INIT("Input type"), FIELD_TYPES, true },
    { STR_INIT("Group size"), FIELD_GROUP_SIZE, false },
    { STR_INIT("Call stack"), FIELD_CALL_STACK, false },
    { STR_INIT("correlation"), FIELD_CORRELATION, false },
    { STR_INIT("External id"), FIELD_EXTERNAL, false },
    { STR_INIT("external id"), FIELD_EXTERNAL, false },
    { STR_INIT("Device Type"), FIELD_DEVICE_TYPE, false },
    { STR_INIT("Input Strides"), FIELD_STRIDES, true },
    { STR_INIT("Fwd thread id"), FIELD_FORWARD_THREAD, false },
    { STR_INIT("shared memory"), FIELD_SHARED, false },
    { STR_INIT("In msg nelems"), FIELD_IN_ELEMENTS, false },
    { STR_INIT("Out msg nelems"), FIELD_OUT_ELEMENTS, false },
    { STR_INIT("Total Reserved"), FIELD_RESERVED, false },
    { STR_INIT("cuda_sync_kind"), FIELD_SYNC_KIND, false },
    { STR_INIT("wait_on_stream"), FIELD_WAIT_STREAM, false },
    { STR_INIT("Concrete Inputs"), FIELD_CONCRETE, true },
    { STR_INIT("Sequence number"), FIELD_SEQUENCE, false },
    { STR_INIT("Collective name"), FIELD_COLLECTIVE, false },
    { STR_INIT("Total Allocated"), FIELD_ALLOCATED, false },
    { STR_INIT("Process Group Name"), FIELD_GROUP_NAME, false },
    { STR_INIT("Process Group Ranks"), FIELD_GROUP_RANKS, true },
    { STR_INIT("registers per thread"), FIELD_REGISTERS, false },
    { STR_INIT("est. achieved occupancy %"), FIELD_OCCUPANCY, false },
    { STR_INIT("wait_on_cuda_event_record_corr_id"), FIELD_WAIT_CORRELATION, false },
};

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
    event->fields[field] = is_whole ? json_value(scan) : json_scalar(scan);
    event->present |= UINT64_C(1) << field;
}

static void scan_args(const struct kineto *kineto, struct json_scan *scan,
                      struct kineto_event *event)
{
    struct str key;

    if (json_peek(scan) != '{') {
        json_skip(scan);
        return;
    }
    json_open(scan, '{');
    while (json_member(scan, &key)) {
        const struct field_name *field = find_arg(kineto, key);

        if (field)
            take(event, field->field, field->is_whole, scan);
        else
            json_skip(scan);
    }
}

static bool wants_args(enum kineto_class class)
{
    return class != KINETO_PYTHON && class != KINETO_LAUNCH && class != KINETO_FLOW;
}

void kineto_scan_event(const struct kineto *kineto, struct json_scan *scan,
                       struct kineto_event *event)
{
    struct str key;

    event->present = 0;
    event->class = KINETO_UNKNOWN;
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
}

bool kineto_has(const struct kineto_event *event, enum kineto_field field)
{
    return event->present >> field & 1;
}

/* 64-bit ids beyond the signed range keep their bits: only equality means something. */
int64_t kineto_integer(const struct kineto_event *event, enum kineto_field field, int64_t preset)
{
    int64_t  number;
    uint64_t bits;

    if (!kineto_has(event, field))
        return preset;
    if (str_to_int64(event->fields[field], &number))
        return number;
    if (str_to_uint64(event->fields[field], &bits))
        return (int64_t)bits;
    return json_decimal(event->fields[field], 0, &number) ? number : preset;
}

uint32_t kineto_intern(struct kineto *kineto, struct str raw)
{
    uint32_t id = profile_intern(kineto->profile, json_unescape(&kineto->brief, raw));

    kineto->is_full |= id == NO_ID;
    return id == NO_ID ? 0 : id;
}

/* pid and tid are numbers mostly; a text ("Spans", "stream 7 ") is its number in it, or its id.
 * True for an id. */
static bool process_number(struct kineto *kineto, const struct kineto_event *event,
                           enum kineto_field field, int64_t *number)
{
    struct str text;

    *number = 0;
    if (!kineto_has(event, field))
        return false;
    text = event->fields[field];
    if (str_to_int64(text, number))
        return false;
    if (text.len >= 2 && text.data[0] == '"')
        text = str_slice(text, 1, text.len - 1);
    text = str_trim(text);
    if (str_starts(text, STR("stream ")))
        text = str_slice(text, 7, text.len);
    if (str_to_int64(text, number))
        return false;
    *number = (int64_t)kineto_intern(kineto, text);
    return true;
}

enum track_role { ROLE_HOST, ROLE_STREAM, ROLE_ANNOTATIONS, ROLE_SYNCS, ROLE_COUNTERS, ROLE_OTHER };

static enum track_role track_role(const struct kineto_event *event)
{
    static const uint8_t roles[KINETO_UNKNOWN + 1] = {
        [KINETO_KERNEL] = ROLE_STREAM,
        [KINETO_MEMCPY] = ROLE_STREAM,
        [KINETO_MEMSET] = ROLE_STREAM,
        [KINETO_ACCELERATOR] = ROLE_STREAM,
        [KINETO_DEVICE_ANNOTATION] = ROLE_ANNOTATIONS,
        [KINETO_DEVICE_SYNC] = ROLE_SYNCS,
        [KINETO_COUNTERS] = ROLE_COUNTERS,
        [KINETO_FRAME] = ROLE_OTHER,
        [KINETO_OVERHEAD] = ROLE_OTHER,
    };

    return roles[event->class];
}

static bool fill_track(struct kineto *kineto, struct track *track)
{
    bool is_device =
        track->role != ROLE_HOST && track->role != ROLE_OTHER && !track->is_process_name;

    track->device = is_device ? kineto_device(kineto->profile, track->host, track->process) : NO_ID;
    track->kind = track->role == ROLE_HOST     ? TIMELINE_THREAD
                  : track->role == ROLE_STREAM ? TIMELINE_STREAM
                                               : TIMELINE_OTHER;
    return vec_push(&kineto->tracks, &kineto->scratch, *track);
}

bool kineto_same_track(const struct track *a, const struct track *b)
{
    return a->process == b->process && a->thread == b->thread && a->role == b->role &&
           a->host == b->host && a->is_process_name == b->is_process_name &&
           a->is_thread_name == b->is_thread_name;
}

uint64_t kineto_track_hash(const struct track *track)
{
    uint64_t words[4] = { (uint64_t)track->process, (uint64_t)track->thread, track->role,
                          track->host };

    return str_hash((struct str) { (const char *)words, sizeof words });
}

static uint32_t find_track(struct kineto *kineto, struct track *wanted)
{
    uint64_t key;
    uint32_t row;

    wanted->host = kineto->host;
    if (kineto->last_track < kineto->tracks.count &&
        kineto_same_track(&kineto->tracks.items[kineto->last_track], wanted))
        return kineto->last_track;
    key = kineto_track_hash(wanted);
    while ((row = id_map_get(&kineto->track_map, key)) != NO_ID &&
           !kineto_same_track(&kineto->tracks.items[row], wanted))
        key++;
    if (row == NO_ID) {
        row = (uint32_t)kineto->tracks.count;
        if (!fill_track(kineto, wanted) || !id_map_put(&kineto->track_map, key, row)) {
            kineto->is_full = true;
            return NO_ID;
        }
    }
    return kineto->last_track = row;
}

static uint32_t event_track(struct kineto *kineto, const struct kineto_event *event)
{
    struct track track = { .role = (uint8_t)track_role(event) };
    bool         is_device = kineto_is_device(event->class);

    if (is_device && kineto_has(event, FIELD_DEVICE))
        track.process = kineto_integer(event, FIELD_DEVICE, 0);
    else
        track.is_process_name = process_number(kineto, event, FIELD_PROCESS, &track.process);
    if (is_device && kineto_has(event, FIELD_STREAM) && track.role != ROLE_ANNOTATIONS)
        track.thread = kineto_integer(event, FIELD_STREAM, 0);
    else
        track.is_thread_name = process_number(kineto, event, FIELD_THREAD, &track.thread);
    return find_track(kineto, &track);
}

static uint32_t host_track(struct kineto *kineto, const struct kineto_event *event)
{
    struct track track = { .role = ROLE_HOST };

    track.is_process_name = process_number(kineto, event, FIELD_PROCESS, &track.process);
    track.is_thread_name = process_number(kineto, event, FIELD_THREAD, &track.thread);
    return find_track(kineto, &track);
}

/* "dir/file.py(12): function" -> a row of sources; NO_ID for what has no file. */
static uint32_t python_source(struct kineto *kineto, struct str name)
{
    struct source_line line = { .caller = NO_ID };
    struct profile    *profile = kineto->profile;
    size_t             close = str_search(name, STR("): ")), open;
    uint64_t           number;

    if (close == name.len)
        return NO_ID;
    open = str_find_last(str_slice(name, 0, close), '(');
    if (open >= close || !str_to_uint64(str_slice(name, open + 1, close), &number) ||
        number > UINT32_MAX)
        return NO_ID;
    line.file = profile_intern(profile, str_slice(name, 0, open));
    line.function = profile_intern(profile, str_slice(name, close + 3, name.len));
    line.line = (uint32_t)number;
    if (line.file == NO_ID || line.function == NO_ID ||
        !vec_push(&profile->sources, profile->arena, line)) {
        kineto->is_full = true;
        return NO_ID;
    }
    return (uint32_t)profile->sources.count - 1;
}

/* Addresses make every bound method its own name: "<built-in method add of set object at 0x7f1>".
 */
static struct str without_address(struct str name)
{
    size_t at = str_search(name, STR(" at 0x"));

    return at < name.len && str_starts(name, STR("<")) ? str_slice(name, 0, at) : name;
}

static uint32_t new_activity(struct kineto *kineto, const struct kineto_event *event,
                             struct str raw_name)
{
    struct profile *profile = kineto->profile;
    struct str      name = json_unescape(&kineto->brief, raw_name);
    struct activity activity = { .op = NO_ID, .source = NO_ID };

    activity.name = kineto_intern(kineto, raw_name);
    if (kineto_has(event, FIELD_CATEGORY))
        activity.category = kineto_intern(kineto, event->fields[FIELD_CATEGORY]);
    activity.kind = (uint8_t)kineto_kind(event->class, name);
    if (activity.kind == ACTIVITY_MEMCPY || activity.kind == ACTIVITY_TRANSFER)
        activity.copy = (uint8_t)kineto_copy(name);
    if (activity.kind == ACTIVITY_OP)
        activity.op = kineto_add_op(kineto, event, activity.name);
    if (event->class == KINETO_PYTHON)
        activity.source = python_source(kineto, name);
    if (!vec_push(&profile->activities, profile->arena, activity))
        kineto->is_full = true;
    return (uint32_t)profile->activities.count - 1;
}

static void key_part(struct kineto *kineto, const struct kineto_event *event,
                     enum kineto_field field)
{
    text_add_byte(&kineto->key, 0);
    if (kineto_has(event, field))
        text_add(&kineto->key, event->fields[field]);
}

/* One activity for each distinct name, and for ops for each distinct name with its shapes. */
static uint32_t event_activity_row(struct kineto *kineto, const struct kineto_event *event)
{
    struct str name = kineto_has(event, FIELD_NAME) ? event->fields[FIELD_NAME] : STR("");
    uint32_t   id;

    if (event->class == KINETO_PYTHON)
        name = without_address(name);
    kineto->key.len = 0;
    text_add_byte(&kineto->key, (char)('A' + event->class));
    text_add(&kineto->key, name);
    if (event->class == KINETO_OP) {
        key_part(kineto, event, FIELD_DIMS);
        key_part(kineto, event, FIELD_TYPES);
        key_part(kineto, event, FIELD_FLOPS);
    } else if (event->class == KINETO_UNKNOWN) {
        key_part(kineto, event, FIELD_CATEGORY);
    }
    id = intern_add(&kineto->keys, text_str(&kineto->key));
    if (id == NO_ID || kineto->key.is_cut) {
        kineto->is_full = true;
        return NO_ID;
    }
    if (id <= kineto->profile->activities.count) /* id 0 is the empty key, which no event has */
        return id - 1;
    return new_activity(kineto, event, name);
}

/* Beyond this a sum of start and duration might not fit. */
#define LARGEST_NS (INT64_MAX / 4)

static bool take_time(struct kineto *kineto, const struct kineto_event *event,
                      enum kineto_field field, int64_t *time_ns)
{
    struct str text = event->fields[field];

    *time_ns = 0;
    if (!kineto_has(event, field))
        return field == FIELD_DURATION;
    if (!json_decimal(text, 3, time_ns) || *time_ns > LARGEST_NS || *time_ns < -LARGEST_NS)
        return false;
    kineto->has_fractions |= *time_ns % 1000 != 0;
    return true;
}

static void add_slice(struct kineto *kineto, const struct kineto_event *event)
{
    struct raw_event raw = { 0 };

    if (event->class == KINETO_FRAME)
        return;
    if (!take_time(kineto, event, FIELD_START, &raw.start_ns) ||
        !take_time(kineto, event, FIELD_DURATION, &raw.duration_ns)) {
        kineto->trouble[TROUBLE_TIME]++;
        return;
    }
    if (raw.duration_ns < 0) {
        kineto->trouble[TROUBLE_NEGATIVE]++;
        return;
    }
    raw.track = event_track(kineto, event);
    raw.activity = event_activity_row(kineto, event);
    if (kineto->is_full || kineto->raws.count >= UINT32_MAX - 1 ||
        !vec_push(&kineto->raws, &kineto->scratch, raw)) {
        kineto->is_full = true;
        return;
    }
    kineto->tracks.items[raw.track].count++;
    kineto->profile->unknown_stats += event->class == KINETO_UNKNOWN;
    kineto->profile->has_python_frames |= event->class == KINETO_PYTHON;
    kineto_add_args(kineto, event, (uint32_t)kineto->raws.count - 1);
}

static void add_flow_end(struct kineto *kineto, const struct kineto_event *event, bool is_target)
{
    struct flow_end end = { .is_target = is_target,
                            .id = (uint64_t)kineto_integer(event, FIELD_ID, 0) };

    if (event->class != KINETO_FLOW)
        return;
    if (!take_time(kineto, event, FIELD_START, &end.time_ns)) {
        kineto->trouble[TROUBLE_TIME]++;
        return;
    }
    end.track = host_track(kineto, event);
    if (end.track == NO_ID || !vec_push(&kineto->flow_ends, &kineto->scratch, end))
        kineto->is_full = true;
}

static void add_instant(struct kineto *kineto, const struct kineto_event *event)
{
    int64_t  time_ns;
    uint32_t track;

    if (!kineto_has(event, FIELD_NAME) || !str_equal(event->fields[FIELD_NAME], STR("[memory]")))
        return;
    if (!take_time(kineto, event, FIELD_START, &time_ns)) {
        kineto->trouble[TROUBLE_TIME]++;
        return;
    }
    track = host_track(kineto, event);
    if (track == NO_ID || !kineto_add_memory(kineto, event, track, time_ns))
        kineto->is_full = true;
}

/* "thread 1234 (python)" -> "python"; the number is the timeline's id anyway. */
static struct str thread_name(struct str name)
{
    size_t open = str_find(name, '(');

    if (str_starts(name, STR("thread ")) && open < name.len && str_ends(name, STR(")")))
        return str_slice(name, open + 1, name.len - 1);
    return str_trim(name);
}

static void add_metadata(struct kineto *kineto, const struct kineto_event *event)
{
    struct str name = kineto_has(event, FIELD_NAME) ? event->fields[FIELD_NAME] : STR("");
    uint32_t   track, text;

    if (!str_equal(name, STR("thread_name")) || !kineto_has(event, FIELD_ARG_NAME))
        return;
    text = kineto_intern(kineto, thread_name(event->fields[FIELD_ARG_NAME]));
    track = host_track(kineto, event);
    if (track != NO_ID)
        kineto->tracks.items[track].name = text;
}

void kineto_add_event(struct kineto *kineto, const struct kineto_event *event)
{
    struct str phase = kineto_has(event, FIELD_PHASE) ? event->fields[FIELD_PHASE] : STR("");

    switch (phase.len == 1 ? phase.data[0] : 0) {
    case 'X':
        add_slice(kineto, event);
        break;
    case 's':
    case 'f':
        add_flow_end(kineto, event, phase.data[0] == 'f');
        break;
    case 'i':
    case 'I':
        add_instant(kineto, event);
        break;
    case 'M':
        add_metadata(kineto, event);
        break;
    default:
        kineto->trouble[TROUBLE_PHASE]++;
        break;
    }
}
