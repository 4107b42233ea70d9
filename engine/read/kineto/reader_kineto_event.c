#include "read/kineto/reader_kineto.h"

#include <string.h>

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
    if (event->has_number >> field & 1)
        return event->numbers[field];
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

/* Without a category: one of Ascend, whose files are of one device each and number its process. */
static uint32_t track_device(struct kineto *kineto, const struct track *track)
{
    bool is_counted = track->category.len > 0 || track->role != ROLE_STREAM;

    if (track->role == ROLE_HOST || track->role == ROLE_OTHER || track->is_process_name)
        return NO_ID;
    return kineto_device(kineto->profile, track->host, is_counted ? track->process : 0);
}

static bool fill_track(struct kineto *kineto, struct track *track)
{
    track->device = track_device(kineto, track);
    if (track->role == ROLE_STREAM &&
        !kineto_name_device(kineto->profile, track->device,
                            track->category.len ? kineto_backend(track->category) : STR("npu")))
        return false;
    track->kind = track->role == ROLE_HOST     ? TIMELINE_THREAD
                  : track->role == ROLE_STREAM ? TIMELINE_STREAM
                                               : TIMELINE_OTHER;
    track->category = (struct str) { 0 };
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

static uint32_t look_up_event_track(struct kineto *kineto, const struct kineto_event *event)
{
    struct track track = { .role = (uint8_t)track_role(event) };
    bool         is_device = kineto_is_device(event->class);

    if (kineto_has(event, FIELD_CATEGORY))
        track.category = event->fields[FIELD_CATEGORY];
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

static uint32_t look_up_host_track(struct kineto *kineto, const struct kineto_event *event)
{
    struct track track = { .role = ROLE_HOST };

    track.is_process_name = process_number(kineto, event, FIELD_PROCESS, &track.process);
    track.is_thread_name = process_number(kineto, event, FIELD_THREAD, &track.thread);
    return find_track(kineto, &track);
}

/* Where a flow ends at work of a device. */
static uint32_t look_up_work_track(struct kineto *kineto, const struct kineto_event *event)
{
    struct track track = { .role = ROLE_STREAM };

    track.is_process_name = process_number(kineto, event, FIELD_PROCESS, &track.process);
    track.is_thread_name = process_number(kineto, event, FIELD_THREAD, &track.thread);
    return find_track(kineto, &track);
}

/* Events of a mould have one track, which their phase tells how to look up. */
static uint32_t known_track(struct kineto *kineto, const struct kineto_event *event,
                            uint32_t (*look_up)(struct kineto             *kineto,
                                                const struct kineto_event *event))
{
    struct kineto_known *known = event->known;
    uint32_t             track;

    if (known && known->has_track && known->host == kineto->host)
        return known->track;
    track = look_up(kineto, event);
    if (known) {
        known->track = track;
        known->host = kineto->host;
        known->has_track = track != NO_ID;
    }
    return track;
}

static uint32_t event_track(struct kineto *kineto, const struct kineto_event *event)
{
    return known_track(kineto, event, look_up_event_track);
}

static uint32_t host_track(struct kineto *kineto, const struct kineto_event *event)
{
    return known_track(kineto, event, look_up_host_track);
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
        activity.copy = (uint8_t)kineto_copy(
            kineto_has(event, FIELD_DIRECTION) ? event->fields[FIELD_DIRECTION] : name);
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
static uint32_t look_up_activity(struct kineto *kineto, const struct kineto_event *event)
{
    struct str name = kineto_has(event, FIELD_NAME) ? event->fields[FIELD_NAME] : STR("");
    uint32_t   id;

    if (name.len == 0)
        name = STR("(no name)");
    if (event->class == KINETO_PYTHON)
        name = without_address(name);
    kineto->key.len = 0;
    text_add_byte(&kineto->key, (char)('A' + event->class));
    text_add(&kineto->key, name);
    if (event->class == KINETO_OP) {
        key_part(kineto, event, FIELD_DIMS);
        key_part(kineto, event, FIELD_TYPES);
        key_part(kineto, event, FIELD_FLOPS);
    } else if (event->class == KINETO_ACCELERATOR) {
        key_part(kineto, event, FIELD_DIRECTION);
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

static uint32_t event_activity_row(struct kineto *kineto, const struct kineto_event *event)
{
    struct kineto_known *known = event->known;
    uint32_t             row;

    if (known && known->has_activity)
        return known->activity;
    row = look_up_activity(kineto, event);
    if (known) {
        known->activity = row;
        known->has_activity = row != NO_ID;
    }
    return row;
}

/* Beyond this a sum of start and duration might not fit. */
#define LARGEST_NS (INT64_MAX / 4)
/* Two weeks: nobody records for as long, and the durations of 8000 such events add up to no more
 * than fits. */
#define LONGEST_NS (INT64_C(1) << 50)

static bool take_time(struct kineto *kineto, const struct kineto_event *event,
                      enum kineto_field field, int64_t *time_ns)
{
    struct str text = event->fields[field];

    *time_ns = 0;
    if (!kineto_has(event, field))
        return field == FIELD_DURATION;
    if (event->has_number >> field & 1)
        *time_ns = event->numbers[field];
    else if (!json_decimal(text, 3, time_ns))
        return false;
    if (*time_ns > LARGEST_NS || *time_ns < -LARGEST_NS)
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
        !take_time(kineto, event, FIELD_DURATION, &raw.duration_ns) ||
        raw.duration_ns > LONGEST_NS) {
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
    if (event->class == KINETO_UNKNOWN)
        kineto->is_full |=
            !profile_add_unknown(kineto->profile, UNKNOWN_CATEGORY,
                                 kineto->profile->activities.items[raw.activity].category, 1);
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
    end.is_work = str_equal(event->fields[FIELD_CATEGORY], STR("async_npu"));
    end.track = end.is_work && is_target ? known_track(kineto, event, look_up_work_track)
                                         : host_track(kineto, event);
    if (end.track == NO_ID || !vec_push(&kineto->flow_ends, &kineto->scratch, end))
        kineto->is_full = true;
}

/* An allocation that failed: the program went on without it, or the recording would not be there.
 */
static void add_failure(struct kineto *kineto, const struct kineto_event *event)
{
    int64_t bytes = kineto_integer(event, FIELD_BYTES, 0);

    kineto->profile->failed_allocations++;
    if (bytes > kineto->profile->failed_bytes)
        kineto->profile->failed_bytes = bytes;
}

static void add_instant(struct kineto *kineto, const struct kineto_event *event)
{
    struct str name = kineto_has(event, FIELD_NAME) ? event->fields[FIELD_NAME] : STR("");
    int64_t    time_ns;
    uint32_t   track;

    if (str_equal(name, STR("[OutOfMemory]")))
        add_failure(kineto, event);
    if (!str_equal(name, STR("[memory]")))
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

/* Of a category that is new itself, and of counters, whose names are what they count, no argument
 * is asked for. */
static void tell_new_args(struct kineto *kineto, const struct kineto_event *event)
{
    if (event->class == KINETO_UNKNOWN || event->class == KINETO_COUNTERS)
        return;
    for (uint32_t i = 0; i < event->new_arg_count; i++)
        kineto->is_full |=
            !profile_add_unknown(kineto->profile, UNKNOWN_ARGUMENT, event->new_args[i], 1);
}

void kineto_add_event(struct kineto *kineto, const struct kineto_event *event)
{
    struct str phase = kineto_has(event, FIELD_PHASE) ? event->fields[FIELD_PHASE] : STR("");

    if (event->new_arg_count)
        tell_new_args(kineto, event);

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
