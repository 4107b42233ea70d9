/*
 * XSpace, as TensorFlow's, JAX's and PyTorch/XLA's profilers write it: a plane for the host with a
 * line a thread, a plane for each device with a line a stream. Names of events and stats stand once
 * a plane, as metadata; a call and its device work share a correlation_id. Field numbers:
 * proto/xplane.proto.
 */
#include "base/intern.h"
#include "base/wire_out.h"
#include "synth/writers.h"

enum {
    SPACE_PLANES = 1,
    SPACE_HOSTNAMES = 4,
    PLANE_ID = 1,
    PLANE_NAME = 2,
    PLANE_LINES = 3,
    PLANE_EVENT_METADATA = 4,
    PLANE_STAT_METADATA = 5,
    PLANE_STATS = 6,
    LINE_ID = 1,
    LINE_NAME = 2,
    LINE_EVENTS = 4,
    EVENT_METADATA_ID = 1,
    EVENT_OFFSET_PS = 2,
    EVENT_DURATION_PS = 3,
    EVENT_STATS = 4,
    STAT_METADATA_ID = 1,
    STAT_DOUBLE = 2,
    STAT_UINT64 = 3,
    STAT_STR = 5,
    METADATA_ID = 1,
    METADATA_NAME = 2,
    METADATA_STATS = 5,
};
enum { PS_IN_NS = 1000, FIRST_THREAD = 1000 };

/* A plane while it is written. */
struct plane {
    const struct recording *recording;
    struct arena           *arena;
    struct intern           events, stats;            /* name -> metadata id */
    VEC(double) flops;                                /* by event metadata id; below 0: not said */
    struct text lines, line, event, stat, name, part; /* part: what a stat's text is made in */
    struct text own_stats;
};

static bool plane_start(struct plane *plane, const struct recording *recording, struct arena *arena)
{
    *plane = (struct plane) { .recording = recording,
                              .arena = arena,
                              .lines.arena = arena,
                              .line.arena = arena,
                              .event.arena = arena,
                              .stat.arena = arena,
                              .name.arena = arena,
                              .part.arena = arena,
                              .own_stats.arena = arena };
    return intern_init(&plane->events, arena) && intern_init(&plane->stats, arena);
}

static void start_stat(struct plane *plane, const char *name)
{
    plane->stat.len = 0;
    wire_out_number(&plane->stat, STAT_METADATA_ID, intern_add(&plane->stats, str_from(name)));
}

static void add_number(struct plane *plane, const char *name, uint64_t number)
{
    start_stat(plane, name);
    wire_out_number(&plane->stat, STAT_UINT64, number);
    wire_out_bytes(&plane->event, EVENT_STATS, text_str(&plane->stat));
}

static void add_text(struct plane *plane, const char *name, struct str text)
{
    start_stat(plane, name);
    wire_out_bytes(&plane->stat, STAT_STR, text);
    wire_out_bytes(&plane->event, EVENT_STATS, text_str(&plane->stat));
}

/* The op a kernel was launched by: "scope/name:Type" of TensorFlow, the instruction of XLA. */
static void add_op(struct plane *plane, uint32_t op)
{
    const struct recorded_event *owner;

    if (op == NO_EVENT)
        return;
    owner = &plane->recording->events.items[op];
    write_name(plane->recording, owner, SKETCH_XSPACE, &plane->name);
    if (plane->recording->sketch->framework == FRAMEWORK_JAX) {
        add_text(plane, "hlo_op", text_str(&plane->name));
        add_text(plane, "hlo_module", STR("jit_step"));
    } else {
        add_text(plane, "tf_op", text_str(&plane->name));
    }
}

static void add_iterator(struct plane *plane, const struct sketch_line *line)
{
    plane->part.len = 0;
    text_print(&plane->part, "%.*sDataset:%u", STR_ARG(line->name), line->number);
    add_text(plane, "name", text_str(&plane->part));
    add_number(plane, "id", str_hash(line->path) >> 1);
    if (line->iterator != NO_LINE)
        add_number(plane, "parent_id",
                   str_hash(plane->recording->sketch->lines.items[line->iterator].path) >> 1);
    if (line->parallel >= 0)
        add_number(plane, "parallelism", (uint64_t)line->parallel);
    if (plane->recording->sketch->core_count)
        add_number(plane, "cpu_budget", plane->recording->sketch->core_count);
}

static void add_memory(struct plane *plane, const struct recorded_event *event)
{
    const struct sketch *sketch = plane->recording->sketch;
    int64_t limit = sketch->gpu == NO_LINE ? -1 : sketch->lines.items[sketch->gpu].bytes;

    plane->part.len = 0;
    if (event->gpu < 0)
        text_add(&plane->part, STR("cpu"));
    else
        text_print(&plane->part, "GPU_%lld_bfc", (long long)event->gpu);
    add_text(plane, "allocator_name", text_str(&plane->part));
    add_number(plane, "bytes_reserved", 0);
    add_number(plane, "bytes_allocated", (uint64_t)event->in_use_bytes);
    if (event->gpu >= 0 && limit >= 0)
        add_number(plane, "bytes_available",
                   limit > event->in_use_bytes ? (uint64_t)(limit - event->in_use_bytes) : 0);
    add_number(plane, "peak_bytes_in_use", (uint64_t)event->peak_bytes);
    add_number(plane, "requested_bytes", (uint64_t)event->bytes);
    add_number(plane, "allocation_bytes", (uint64_t)event->bytes);
    add_number(plane, "addr", (uint64_t)event->number);
    if (event->owner != NO_EVENT) {
        write_name(plane->recording, &plane->recording->events.items[event->owner], SKETCH_XSPACE,
                   &plane->name);
        add_text(plane, "tf_op", text_str(&plane->name));
    }
}

/* "(f32[128,256];f32[256,512])" */
static void add_shapes(struct plane *plane, const struct sketch_line *line)
{
    struct text *text = &plane->part;

    if (line->shape_count == 0)
        return;
    text->len = 0;
    for (uint32_t i = 0; i < line->shape_count; i++) {
        const struct sketch_shape *shape =
            &plane->recording->sketch->shapes.items[line->first_shape + i];

        text_print(text, "%s%.*s[", i ? ";" : "(", STR_ARG(shape->type));
        for (uint8_t d = 0; d < shape->rank; d++)
            text_print(text, "%s%lld", d ? "," : "", (long long)shape->dims[d]);
        text_add_byte(text, ']');
    }
    text_add_byte(text, ')');
    add_text(plane, "shape", text_str(text));
}

static void add_host_stats(struct plane *plane, const struct recorded_event *event)
{
    const struct sketch_line *line = recorded_line(plane->recording, event);

    if (event->link)
        add_number(plane, "correlation_id", event->link);
    if (event->role == ROLE_STEP) {
        add_number(plane, "step_num", (uint64_t)event->number);
        add_number(plane, "_r", 1);
    } else if (line->word == WORD_ITERATOR) {
        add_iterator(plane, line);
    } else if (line->word == WORD_ALLOC || line->word == WORD_FREE) {
        add_memory(plane, event);
    } else if (line->word == WORD_OP) {
        if (plane->recording->sketch->framework == FRAMEWORK_JAX)
            add_op(plane, (uint32_t)(event - plane->recording->events.items));
        add_shapes(plane, line);
    } else if (line->word == WORD_COLLECTIVE && event->role == ROLE_SELF) {
        write_name(plane->recording, event, SKETCH_XSPACE, &plane->name);
        add_text(plane, "hlo_op", text_str(&plane->name));
        add_text(plane, "hlo_module", STR("jit_step"));
    }
}

static void add_device_stats(struct plane *plane, const struct recorded_event *event)
{
    const struct sketch_line *line = recorded_line(plane->recording, event);
    struct text              *details = &plane->part;

    details->len = 0;
    if (event->link)
        add_number(plane, "correlation_id", event->link);
    if (line->word == WORD_COPY || line->word == WORD_MEMSET) {
        if (line->flags & FLAG_PAGEABLE)
            text_add(details, STR("kind_src:pageable kind_dst:device "));
        text_print(details, "size:%lld dest:0 async:%d",
                   (long long)(line->bytes < 0 ? 0 : line->bytes), !(line->flags & FLAG_BLOCKING));
        add_text(plane, line->word == WORD_COPY ? "memcpy_details" : "memset_details",
                 text_str(details));
        return;
    }
    text_add(details, STR("static_shared:0 dynamic_shared:0"));
    if (line->grid.len)
        text_print(details, " grid:%.*s", STR_ARG(line->grid));
    if (line->grid.len && line->block.len)
        text_print(details, " block:%.*s", STR_ARG(line->block));
    add_text(plane, "kernel_details", text_str(details));
    add_op(plane, event->owner);
}

/* The id of an event's name; what is known of all events of that name stands beside it. */
static uint32_t metadata_id(struct plane *plane, struct str name, double flops)
{
    uint32_t id = intern_add(&plane->events, name);

    while (id != NO_ID && plane->flops.count <= id)
        if (!vec_push(&plane->flops, plane->arena, -1))
            return 0;
    if (id != NO_ID && flops >= 0)
        plane->flops.items[id] = flops;
    return id == NO_ID ? 0 : id;
}

static void add_event(struct plane *plane, const struct recorded_event *event)
{
    const struct sketch_line *line = recorded_line(plane->recording, event);

    plane->event.len = 0;
    write_name(plane->recording, event, SKETCH_XSPACE, &plane->name);
    wire_out_number(
        &plane->event, EVENT_METADATA_ID,
        metadata_id(plane, text_str(&plane->name), event->role == ROLE_SELF ? line->flops : -1));
    wire_out_number(&plane->event, EVENT_OFFSET_PS, (uint64_t)event->start_ns * PS_IN_NS);
    wire_out_number(&plane->event, EVENT_DURATION_PS, (uint64_t)event->duration_ns * PS_IN_NS);
    if (event->role == ROLE_WORK)
        add_device_stats(plane, event);
    else
        add_host_stats(plane, event);
    wire_out_bytes(&plane->line, LINE_EVENTS, text_str(&plane->event));
}

/* What tells readers that TensorFlow recorded this: its executor, done with the last step. */
static void add_executor(struct plane *plane)
{
    plane->event.len = 0;
    wire_out_number(&plane->event, EVENT_METADATA_ID,
                    metadata_id(plane, STR("ExecutorState::Process"), -1));
    wire_out_number(&plane->event, EVENT_OFFSET_PS, (uint64_t)plane->recording->end_ns * PS_IN_NS);
    wire_out_bytes(&plane->line, LINE_EVENTS, text_str(&plane->event));
}

static void add_line(struct plane *plane, uint32_t track, const struct track_order *order)
{
    const struct recorded_track *about = &plane->recording->tracks.items[track];
    bool                         is_main = about->gpu < 0 && str_equal(about->name, STR("main"));

    plane->line.len = 0;
    plane->name.len = 0;
    if (about->gpu >= 0)
        text_print(&plane->name, "Stream #%lld", (long long)about->stream);
    else
        text_add(&plane->name, is_main ? STR("python") : about->name);
    wire_out_number(&plane->line, LINE_ID,
                    about->gpu >= 0 ? (uint64_t)about->stream : FIRST_THREAD + track);
    wire_out_bytes(&plane->line, LINE_NAME, text_str(&plane->name));
    for (uint32_t i = order->starts[track]; i < order->starts[track + 1]; i++)
        add_event(plane, order->events[i]);
    if (is_main && plane->recording->sketch->framework == FRAMEWORK_TENSORFLOW)
        add_executor(plane);
    wire_out_bytes(&plane->lines, PLANE_LINES, text_str(&plane->line));
}

static void add_metadata(struct plane *plane, struct text *message)
{
    for (uint32_t id = 1; id < plane->events.count; id++) {
        plane->event.len = 0;
        wire_out_number(&plane->event, METADATA_ID, id);
        wire_out_bytes(&plane->event, METADATA_NAME, intern_str(&plane->events, id));
        if (id < plane->flops.count && plane->flops.items[id] >= 0) {
            start_stat(plane, "flops");
            wire_out_number(&plane->stat, STAT_UINT64, (uint64_t)plane->flops.items[id]);
            wire_out_bytes(&plane->event, METADATA_STATS, text_str(&plane->stat));
        }
        wire_out_entry(message, PLANE_EVENT_METADATA, id, text_str(&plane->event));
    }
    for (uint32_t id = 1; id < plane->stats.count; id++) {
        plane->event.len = 0;
        wire_out_number(&plane->event, METADATA_ID, id);
        wire_out_bytes(&plane->event, METADATA_NAME, intern_str(&plane->stats, id));
        wire_out_entry(message, PLANE_STAT_METADATA, id, text_str(&plane->event));
    }
}

/* Puts the plane together behind the planes before it. */
static void finish_plane(struct plane *plane, uint64_t id, struct str name, struct text *bytes)
{
    struct text message = { .arena = plane->arena };

    wire_out_number(&message, PLANE_ID, id);
    wire_out_bytes(&message, PLANE_NAME, name);
    text_add(&message, text_str(&plane->lines));
    add_metadata(plane, &message);
    text_add(&message, text_str(&plane->own_stats));
    bytes->is_cut |= message.is_cut | plane->lines.is_cut | plane->line.is_cut |
                     plane->event.is_cut | plane->stat.is_cut | plane->part.is_cut;
    wire_out_bytes(bytes, SPACE_PLANES, text_str(&message));
}

static void own_number(struct plane *plane, const char *name, uint64_t number)
{
    start_stat(plane, name);
    wire_out_number(&plane->stat, STAT_UINT64, number);
    wire_out_bytes(&plane->own_stats, PLANE_STATS, text_str(&plane->stat));
}

static void own_text(struct plane *plane, const char *name, struct str text)
{
    start_stat(plane, name);
    wire_out_bytes(&plane->stat, STAT_STR, text);
    wire_out_bytes(&plane->own_stats, PLANE_STATS, text_str(&plane->stat));
}

static void describe_gpu(struct plane *plane)
{
    const struct sketch      *sketch = plane->recording->sketch;
    const struct sketch_line *gpu;

    if (sketch->gpu == NO_LINE)
        return;
    gpu = &sketch->lines.items[sketch->gpu];
    own_text(plane, "gpu_device_name", gpu->name);
    if (gpu->bytes >= 0)
        own_number(plane, "memory_size", (uint64_t)gpu->bytes);
    if (gpu->sms >= 0)
        own_number(plane, "core_count", (uint64_t)gpu->sms);
    if (gpu->compute >= 0 && gpu->compute < 100) {
        uint64_t tenths = (uint64_t)(gpu->compute * 10 + 0.5);

        own_number(plane, "compute_cap_major", tenths / 10);
        own_number(plane, "compute_cap_minor", tenths % 10);
    }
}

/* A plane for the host (gpu -1) or a device, with its tracks; nothing when it has none. */
static bool add_plane(const struct recording *recording, int64_t gpu,
                      const struct track_order *order, struct arena *arena, struct text *bytes)
{
    struct plane plane;
    struct text  name = { .arena = arena };

    if (!plane_start(&plane, recording, arena))
        return false;
    for (uint32_t t = 0; t < recording->tracks.count; t++)
        if (recording->tracks.items[t].gpu == gpu)
            add_line(&plane, t, order);
    if (gpu >= 0) {
        text_print(&name, "/device:GPU:%lld", (long long)gpu);
        describe_gpu(&plane);
    } else {
        text_add(&name, STR("/host:CPU"));
    }
    finish_plane(&plane, (uint64_t)(gpu + 2), text_str(&name), bytes);
    return !bytes->is_cut;
}

/* When the recording began, and who recorded it. */
static bool add_environment(const struct recording *recording, struct arena *arena,
                            struct text *bytes)
{
    struct plane plane;

    if (!plane_start(&plane, recording, arena))
        return false;
    own_number(&plane, "profile_start_time", (uint64_t)RECORDING_ORIGIN_NS);
    own_number(&plane, "profile_stop_time", (uint64_t)(RECORDING_ORIGIN_NS + recording->end_ns));
    finish_plane(&plane, 0, STR("Task Environment"), bytes);
    if (recording->sketch->framework != FRAMEWORK_JAX)
        return true;
    if (!plane_start(&plane, recording, arena))
        return false;
    own_text(&plane, "jax_version", STR("0.4.30"));
    finish_plane(&plane, 1, STR("/host:metadata"), bytes);
    return true;
}

/* Whether a track before this one is of the same device. */
static bool is_first_of_gpu(const struct recording *recording, size_t track)
{
    for (size_t t = 0; t < track; t++)
        if (recording->tracks.items[t].gpu == recording->tracks.items[track].gpu)
            return false;
    return true;
}

static bool add_planes(const struct recording *recording, struct arena *scratch, struct text *bytes)
{
    struct track_order order;

    if (!track_order_make(recording, scratch, &order) ||
        !add_plane(recording, -1, &order, scratch, bytes))
        return false;
    for (size_t t = 0; t < recording->tracks.count; t++)
        if (recording->tracks.items[t].gpu >= 0 && is_first_of_gpu(recording, t) &&
            !add_plane(recording, recording->tracks.items[t].gpu, &order, scratch, bytes))
            return false;
    return add_environment(recording, scratch, bytes);
}

void write_xspace(const struct recording *recording, struct text *bytes)
{
    struct arena scratch = { .budget_bytes = bytes->arena->budget_bytes };
    struct text  host = { .arena = &scratch };

    if (!add_planes(recording, &scratch, bytes))
        bytes->is_cut = true;
    text_print(&host, "host%u", recording->rank);
    wire_out_bytes(bytes, SPACE_HOSTNAMES, text_str(&host));
    arena_free(&scratch);
}
