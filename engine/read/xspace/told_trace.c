#include "read/xspace/told_trace.h"

#include "read/json_scan.h"
#include "read/proto/message.h"
#include "read/xspace/told_events.h"

enum { HEAD_BYTES = 4096, MICROS_TO_PS = 6 };
/* Fields of Trace, Device, Resource, TraceEvent and entries of maps. */
enum { TRACE_DEVICES = 1, TRACE_EVENTS = 4, DEVICE_NAME = 1, DEVICE_RESOURCES = 3 };
enum { RESOURCE_NAME = 1, EVENT_DEVICE = 1, EVENT_RESOURCE = 2, EVENT_NAME = 3 };
enum { EVENT_START_PS = 9, EVENT_PS = 10, EVENT_ARGS = 11, ENTRY_KEY = 1, ENTRY_VALUE = 2 };

static const struct str long_names[] = { STR_INIT("long_name"), STR_INIT("long name") };

static bool is_json(struct str bytes)
{
    struct str head = str_trim(str_slice(bytes, 0, HEAD_BYTES));

    return head.len && head.data[0] == '{' && str_contains(head, STR("\"highres-ticks\"")) &&
           str_contains(head, STR("\"displayTimeUnit\""));
}

/* The first field with this number and type of a message. */
static bool find_field(struct str bytes, uint32_t number, enum wire_type type, struct field *field)
{
    struct message message = message_of(bytes);
    struct err     ignored = { 0 };

    while (message_next(&message, field, &ignored))
        if (field->number == number && field->type == type)
            return true;
    return false;
}

/* A map of devices, whose names are paths ("/host:CPU"), comes first. */
static bool is_message(struct str bytes)
{
    struct message message = message_of(bytes);
    struct field   device, key, value, name;
    struct err     ignored = { 0 };

    return message_next(&message, &device, &ignored) && field_is_bytes(&device, TRACE_DEVICES) &&
           find_field(device.bytes, ENTRY_KEY, WIRE_VARINT, &key) &&
           find_field(device.bytes, ENTRY_VALUE, WIRE_BYTES, &value) &&
           find_field(value.bytes, DEVICE_NAME, WIRE_BYTES, &name) &&
           str_fits(name.bytes, "/host:*|/device:*");
}

enum told_kind told_trace_kind(struct str bytes)
{
    return is_json(bytes) ? TOLD_JSON : is_message(bytes) ? TOLD_MESSAGE : TOLD_NONE;
}

static uint32_t intern_of(struct told *told, struct str text)
{
    uint32_t id = intern_add(&told->names, text);

    told->is_full |= id == NO_ID;
    return id;
}

static void add_stat(struct told *told, struct told_event *event, struct str key, struct str value)
{
    if (str_equal(key, long_names[0]) || str_equal(key, long_names[1])) {
        event->long_name = intern_of(told, value);
        return;
    }
    told->is_full |=
        !vec_push(&told->stats, told->arena, (struct told_stat) { intern_of(told, key), value });
    event->stat_count++;
}

/* What an event of the trace's JSON says, beside its stats. */
struct said {
    struct str phase, name, label;
};

static struct str text_of(struct told *told, struct json_scan *scan)
{
    struct str text = json_scalar(scan);

    return str_find(text, '\\') < text.len ? json_unescape(told->arena, text) : text;
}

static void read_args(struct told *told, struct json_scan *scan, struct told_event *event,
                      struct said *said)
{
    struct str key;

    if (json_peek(scan) != '{') {
        json_skip(scan);
        return;
    }
    (void)json_open(scan, '{');
    while (json_member(scan, &key)) {
        char       next = json_peek(scan);
        struct str value;

        if (next == '{' || next == '[') {
            json_skip(scan);
            continue;
        }
        value = text_of(told, scan);
        if (str_equal(key, STR("name")))
            said->label = value;
        add_stat(told, event, key, value);
    }
}

static int64_t number_of(struct json_scan *scan, int power)
{
    int64_t number = 0;

    (void)json_decimal(json_scalar(scan), power, &number);
    return number;
}

static void add_event(struct told *told, struct told_event *event, const struct said *said)
{
    bool is_process = str_equal(said->name, STR("process_name"));

    if (str_equal(said->phase, STR("M")) &&
        (is_process || str_equal(said->name, STR("thread_name")))) {
        struct told_name label = { event->process, event->thread, is_process, said->label, 0 };

        told->is_full |= !vec_push(&told->labels, told->arena, label);
    }
    if (!str_equal(said->phase, STR("X")) || !said->name.len) {
        told->stats.count = event->first_stat;
        return;
    }
    event->name = intern_of(told, said->name);
    told->is_full |= !vec_push(&told->events, told->arena, *event);
}

static void read_event(struct told *told, struct json_scan *scan)
{
    struct told_event event = { .long_name = NO_ID, .first_stat = (uint32_t)told->stats.count };
    struct said       said = { 0 };
    struct str        key;

    if (!json_open(scan, '{'))
        return;
    while (json_member(scan, &key)) {
        if (str_equal(key, STR("ph")))
            said.phase = json_scalar(scan);
        else if (str_equal(key, STR("name")))
            said.name = text_of(told, scan);
        else if (str_equal(key, STR("pid")))
            event.process = number_of(scan, 0);
        else if (str_equal(key, STR("tid")))
            event.thread = number_of(scan, 0);
        else if (str_equal(key, STR("ts")))
            event.start_ps = number_of(scan, MICROS_TO_PS);
        else if (str_equal(key, STR("dur")))
            event.ps = number_of(scan, MICROS_TO_PS);
        else if (str_equal(key, STR("args")))
            read_args(told, scan, &event, &said);
        else
            json_skip(scan);
    }
    if (scan->state == JSON_FINE)
        add_event(told, &event, &said);
}

static void read_json(struct told *told, struct str bytes)
{
    struct json_scan scan = { .at = bytes.data, .end = bytes.data + bytes.len };
    struct str       key;

    if (!json_open(&scan, '{'))
        return;
    while (!told->is_full && json_member(&scan, &key)) {
        if (!str_equal(key, STR("traceEvents"))) {
            json_skip(&scan);
            continue;
        }
        (void)json_open(&scan, '[');
        while (!told->is_full && told->stats.count < NO_ID && json_item(&scan))
            read_event(told, &scan);
    }
    told->is_cut = scan.state != JSON_FINE;
}

static void read_device(struct told *told, struct str entry)
{
    struct field     key, value, name, resource;
    struct message   resources;
    struct err       ignored = { 0 };
    struct told_name label = { .is_process = true };

    if (!find_field(entry, ENTRY_VALUE, WIRE_BYTES, &value))
        return;
    label.process = find_field(entry, ENTRY_KEY, WIRE_VARINT, &key) ? (int64_t)key.value : 0;
    if (find_field(value.bytes, DEVICE_NAME, WIRE_BYTES, &name))
        label.name = name.bytes;
    told->is_full |= !vec_push(&told->labels, told->arena, label);
    label.is_process = false;
    resources = message_of(value.bytes);
    while (message_next(&resources, &resource, &ignored)) {
        struct field id;

        if (!field_is_bytes(&resource, DEVICE_RESOURCES) ||
            !find_field(resource.bytes, ENTRY_VALUE, WIRE_BYTES, &value) ||
            !find_field(value.bytes, RESOURCE_NAME, WIRE_BYTES, &name))
            continue;
        label.thread =
            find_field(resource.bytes, ENTRY_KEY, WIRE_VARINT, &id) ? (int64_t)id.value : 0;
        label.name = name.bytes;
        told->is_full |= !vec_push(&told->labels, told->arena, label);
    }
}

/* "id=12,device=…": stats in one text. */
static void add_label(struct told *told, struct told_event *event, struct str label)
{
    while (label.len) {
        struct str value = str_cut(&label, ','), key = str_cut(&value, '=');

        if (key.len && value.len && str_find(key, ' ') == key.len)
            add_stat(told, event, key, value);
    }
}

/* TensorFlow 2.0 calls an op that is run one by one " MatMul", later versions "MatMul:MatMul". */
static void name_event(struct told *told, struct told_event *event, struct str name)
{
    struct str  type = str_trim(name);
    struct text text = { .arena = told->arena };

    event->name = intern_of(told, type);
    if (name.len > type.len && event->long_name == NO_ID) {
        text_print(&text, "%.*s:%.*s", STR_ARG(type), STR_ARG(type));
        event->long_name = intern_of(told, text_str(&text));
    }
}

static void read_trace_event(struct told *told, struct str bytes)
{
    struct told_event event = { .long_name = NO_ID, .first_stat = (uint32_t)told->stats.count };
    struct message    message = message_of(bytes);
    struct field      field, key, value;
    struct str        name = { 0 };
    struct err        ignored = { 0 };

    while (message_next(&message, &field, &ignored)) {
        if (field_is_number(&field, EVENT_DEVICE))
            event.process = (int64_t)field.value;
        else if (field_is_number(&field, EVENT_RESOURCE))
            event.thread = (int64_t)field.value;
        else if (field_is_bytes(&field, EVENT_NAME))
            name = field.bytes;
        else if (field_is_number(&field, EVENT_START_PS))
            event.start_ps = field_int64(&field);
        else if (field_is_number(&field, EVENT_PS))
            event.ps = field_int64(&field);
        else if (field_is_bytes(&field, EVENT_ARGS) &&
                 find_field(field.bytes, ENTRY_KEY, WIRE_BYTES, &key) &&
                 find_field(field.bytes, ENTRY_VALUE, WIRE_BYTES, &value)) {
            if (str_equal(key.bytes, STR("label")))
                add_label(told, &event, value.bytes);
            else
                add_stat(told, &event, key.bytes, value.bytes);
        }
    }
    name_event(told, &event, name);
    told->is_full |= !vec_push(&told->events, told->arena, event);
}

static void read_message(struct told *told, struct str bytes)
{
    struct message message = message_of(bytes);
    struct field   field;
    struct err     ignored = { 0 };

    while (!told->is_full && message_next(&message, &field, &ignored)) {
        if (field_is_bytes(&field, TRACE_DEVICES))
            read_device(told, field.bytes);
        else if (field_is_bytes(&field, TRACE_EVENTS))
            read_trace_event(told, field.bytes);
    }
    told->is_cut = message.is_damaged;
}

bool told_trace_read(struct str bytes, struct arena *arena, struct str *xspace, bool *is_cut,
                     struct err *err)
{
    struct arena scratch = { .budget_bytes = arena->budget_bytes };
    struct told  told = { .arena = &scratch };
    struct text  out = { .arena = arena };

    told.is_full = !intern_init(&told.names, &scratch);
    if (!told.is_full && told_trace_kind(bytes) == TOLD_JSON)
        read_json(&told, bytes);
    else if (!told.is_full)
        read_message(&told, bytes);
    if (!told.is_full)
        told_write(&told, &out);
    *xspace = text_str(&out);
    *is_cut = told.is_cut;
    arena_free(&scratch);
    if (told.is_full || out.is_cut)
        return err_set(err, ERR_LIMIT, "does not fit into the memory budget");
    return out.len > 0 || err_set(err, ERR_FORMAT, "this trace holds no event");
}
