/*
 * Processes of the trace are DeviceStepStats ("/device:GPU:0/stream:all Compute"), complete events
 * of category "Op" their records, "args" the name, type and inputs of the op.
 * Upstream: tensorflow/python/client/timeline.py
 */
#include "read/tf/tf_timeline.h"

#include "base/intern.h"
#include "base/sort.h"
#include "base/text.h"
#include "base/wire_out.h"
#include "read/json_scan.h"

#include <stdlib.h>

enum { HEAD_BYTES = 32 << 10 };
/* Fields of RunMetadata, StepStats, DeviceStepStats and NodeExecStats. */
enum { RUN_STEP_STATS = 1, STATS_DEVICE = 1, DEVICE_NAME = 1, DEVICE_NODE = 2 };
enum { NODE_NAME = 1, NODE_START = 2, NODE_END = 4, NODE_ALL_END = 5, NODE_LABEL = 8 };
enum { NODE_THREAD = 10 };

struct event {
    int64_t    pid, tid, start_micros, micros;
    struct str name, type, inputs; /* inputs: "a, b:1, ^c" */
    size_t     index;
    uint32_t   process; /* row of processes; NO_ID: none that is known */
};
struct process {
    int64_t    pid;
    struct str name; /* of the device, or the row of one */
};
struct parse {
    struct arena    *arena;
    struct json_scan scan;
    VEC(struct event) events;
    VEC(struct process) processes;
    bool is_full;
};

bool tf_timeline_is(struct str bytes)
{
    struct str head = str_trim(str_slice(bytes, 0, HEAD_BYTES));

    return head.len && head.data[0] == '{' && str_contains(head, STR("\"traceEvents\"")) &&
           str_contains(head, STR("\"Allocators\"")) && str_contains(head, STR(" Tensors\""));
}

static struct str text_of(struct parse *parse)
{
    struct str text = json_scalar(&parse->scan);

    return str_find(text, '\\') < text.len ? json_unescape(parse->arena, text) : text;
}

static void read_args(struct parse *parse, struct event *event)
{
    struct text inputs = { .arena = parse->arena };
    struct str  key;

    if (json_peek(&parse->scan) != '{') {
        json_skip(&parse->scan);
        return;
    }
    (void)json_open(&parse->scan, '{');
    while (json_member(&parse->scan, &key)) {
        if (str_equal(key, STR("name")))
            event->name = text_of(parse);
        else if (str_equal(key, STR("op")))
            event->type = text_of(parse);
        else if (str_starts(key, STR("input"))) {
            if (inputs.len)
                text_add(&inputs, STR(", "));
            text_add(&inputs, text_of(parse));
        } else {
            json_skip(&parse->scan);
        }
    }
    parse->is_full |= inputs.is_cut;
    event->inputs = text_str(&inputs);
}

static int64_t number_of(struct parse *parse)
{
    int64_t number = -1;

    (void)json_decimal(json_scalar(&parse->scan), 0, &number);
    return number;
}

static void add_event(struct parse *parse, struct str phase, struct str what, struct event event)
{
    static const struct str compute = STR_INIT(" Compute");

    if (str_equal(phase, STR("X"))) {
        event.index = parse->events.count;
        if (event.start_micros > 0 && event.micros >= 0 && event.name.len)
            parse->is_full |= !vec_push(&parse->events, parse->arena, event);
    } else if (str_equal(phase, STR("M")) && str_equal(what, STR("process_name")) &&
               str_ends(event.name, compute)) {
        struct process process = { event.pid,
                                   str_slice(event.name, 0, event.name.len - compute.len) };

        parse->is_full |= !vec_push(&parse->processes, parse->arena, process);
    }
}

static void read_event(struct parse *parse)
{
    struct event event = { .pid = -1, .start_micros = -1 };
    struct str   phase = { 0 }, what = { 0 }, key;

    if (!json_open(&parse->scan, '{'))
        return;
    while (json_member(&parse->scan, &key)) {
        if (str_equal(key, STR("ph")))
            phase = json_scalar(&parse->scan);
        else if (str_equal(key, STR("name")))
            what = text_of(parse);
        else if (str_equal(key, STR("pid")))
            event.pid = number_of(parse);
        else if (str_equal(key, STR("tid")))
            event.tid = number_of(parse);
        else if (str_equal(key, STR("ts")))
            event.start_micros = number_of(parse);
        else if (str_equal(key, STR("dur")))
            event.micros = number_of(parse);
        else if (str_equal(key, STR("args")))
            read_args(parse, &event);
        else
            json_skip(&parse->scan);
    }
    if (parse->scan.state == JSON_FINE)
        add_event(parse, phase, what, event);
}

static void read_trace(struct parse *parse)
{
    struct str key;

    if (!json_open(&parse->scan, '{'))
        return;
    while (json_member(&parse->scan, &key)) {
        if (!str_equal(key, STR("traceEvents"))) {
            json_skip(&parse->scan);
            continue;
        }
        (void)json_open(&parse->scan, '[');
        while (!parse->is_full && json_item(&parse->scan))
            read_event(parse);
    }
}

static int by_start(const void *a, const void *b)
{
    const struct event *x = a, *y = b;

    return IN_ORDER(COMPARE(x->start_micros, y->start_micros), COMPARE(x->index, y->index));
}

static bool is_source(const struct event *event)
{
    return str_equal(event->name, STR("_SOURCE"));
}

/* Gives events their processes; of several of one number the first counts. */
static bool find_processes(struct parse *parse)
{
    struct id_map rows = { .arena = parse->arena };

    for (size_t i = parse->processes.count; i-- > 0;)
        if (!id_map_put(&rows, (uint64_t)parse->processes.items[i].pid, (uint32_t)i))
            return false;
    for (size_t i = 0; i < parse->events.count; i++)
        parse->events.items[i].process = id_map_get(&rows, (uint64_t)parse->events.items[i].pid);
    return true;
}

static int by_process(const void *a, const void *b)
{
    const struct event *x = a, *y = b;

    return IN_ORDER(COMPARE(x->process, y->process), by_start(a, b));
}

static bool is_stream(const struct process *process)
{
    return str_contains(process->name, STR("stream:")) || str_ends(process->name, STR("/memcpy"));
}

/* Each executor of a session run begins with its node "_SOURCE". Where one process has as many of
 * them as each op has records, the trace holds so many runs: begins gets when each of them does. */
struct begins {
    VEC(int64_t) micros;
};

/* What puts several traces into one keeps the names of the first one's processes, whose numbers are
 * others' in the next: an op counts as the same on any. */
static uint64_t identity(const struct event *event)
{
    return hash_mix(str_hash(event->name), is_source(event) ? (uint64_t)event->pid : 0);
}

static bool find_begins(struct parse *parse, struct begins *begins)
{
    struct id_map counts = { .arena = parse->arena };
    size_t        distinct = 0, records = 0;
    uint32_t      most = 0;

    for (size_t i = 0; i < parse->events.count; i++) {
        const struct event *event = &parse->events.items[i];
        uint32_t            count = id_map_get(&counts, identity(event));

        if (event->process != NO_ID && is_stream(&parse->processes.items[event->process]))
            continue;
        records++;
        count = count == NO_ID ? 1 : count + 1;
        distinct += count == 1;
        if (!id_map_put(&counts, identity(event), count))
            return false;
        if (!is_source(event) || count <= most)
            continue;
        most = count; /* in order of time: the first process whose run so many begins */
        if (!vec_push(&begins->micros, parse->arena, event->start_micros))
            return false;
    }
    /* Functions that ops call begin with such a node, too: then most ops have run once. */
    if (begins->micros.count > 1 && 4 * records < 3 * begins->micros.count * distinct)
        begins->micros.count = 1;
    return true;
}

/* Records of streams are called "op:Type", those of ops have "op = Type(inputs)" as their label. */
static void add_node(struct text *device, struct text *node, struct text *words,
                     const struct event *event, bool is_of_stream)
{
    node->len = words->len = 0;
    if (is_of_stream)
        text_print(words, "%.*s:%.*s", STR_ARG(event->name), STR_ARG(event->type));
    wire_out_bytes(node, NODE_NAME, is_of_stream ? text_str(words) : event->name);
    wire_out_number(node, NODE_START, (uint64_t)event->start_micros);
    wire_out_number(node, NODE_END, (uint64_t)event->micros);
    wire_out_number(node, NODE_ALL_END, (uint64_t)event->micros);
    if (!is_of_stream) {
        text_print(words, "%.*s = %.*s(%.*s)", STR_ARG(event->name), STR_ARG(event->type),
                   STR_ARG(event->inputs));
        wire_out_bytes(node, NODE_LABEL, text_str(words));
    }
    wire_out_nonzero(node, NODE_THREAD, event->tid);
    wire_out_bytes(device, DEVICE_NODE, text_str(node));
}

/* RunMetadata of the events [from, to). */
static bool add_run(struct parse *parse, size_t from, size_t to, struct tf_timeline *timeline)
{
    struct text stats = { .arena = parse->arena }, run = { .arena = parse->arena };
    struct text node = { .arena = parse->arena }, words = { .arena = parse->arena };

    if (to > from)
        qsort(&parse->events.items[from], to - from, sizeof *parse->events.items, by_process);
    while (from < to && parse->events.items[from].process != NO_ID) {
        const struct process *process = &parse->processes.items[parse->events.items[from].process];
        uint32_t              row = parse->events.items[from].process;
        struct text           device = { .arena = parse->arena };

        wire_out_bytes(&device, DEVICE_NAME, process->name);
        for (; from < to && parse->events.items[from].process == row; from++)
            add_node(&device, &node, &words, &parse->events.items[from], is_stream(process));
        wire_out_bytes(&stats, STATS_DEVICE, text_str(&device));
        if (device.is_cut)
            return false;
    }
    wire_out_bytes(&run, RUN_STEP_STATS, text_str(&stats));
    return !stats.is_cut && !run.is_cut && !node.is_cut && !words.is_cut &&
           vec_push(&timeline->runs, parse->arena, text_str(&run));
}

static bool add_runs(struct parse *parse, struct tf_timeline *timeline)
{
    struct begins begins = { 0 };
    size_t        from = 0;

    if (!find_processes(parse) || !find_begins(parse, &begins))
        return false;
    for (size_t r = 1; r <= begins.micros.count || r == 1; r++) {
        size_t to = from;

        while (to < parse->events.count &&
               (r >= begins.micros.count ||
                parse->events.items[to].start_micros < begins.micros.items[r]))
            to++;
        if (!add_run(parse, from, to, timeline))
            return false;
        from = to;
    }
    return true;
}

bool tf_timeline_read(struct str json, struct arena *arena, struct tf_timeline *timeline,
                      struct err *err)
{
    struct parse parse = { .arena = arena,
                           .scan = { .at = json.data, .end = json.data + json.len } };

    read_trace(&parse);
    timeline->is_cut = parse.scan.state != JSON_FINE;
    if (!parse.is_full && !parse.processes.count)
        return err_set(err, ERR_FORMAT, "this trace names no device of TensorFlow");
    if (parse.events.count)
        qsort(parse.events.items, parse.events.count, sizeof *parse.events.items, by_start);
    return (!parse.is_full && add_runs(&parse, timeline)) ||
           err_set(err, ERR_LIMIT, "does not fit into the memory budget");
}
