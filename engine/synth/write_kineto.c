/*
 * Kineto JSON, as torch.profiler writes it: one array of events, times in µs since
 * baseTimeNanoseconds. An op and what it launches share "External id", a call and its device work
 * "correlation".
 */
#include "base/json_writer.h"
#include "base/macros.h"
#include "synth/writers.h"

enum { PROCESS = 1000 };

struct kineto_out {
    const struct recording *recording;
    struct json_writer      json;
    struct text             name;
};

/* Exactly three digits behind the point, which no number of json_writer has. */
static void add_us(struct kineto_out *out, const char *key, int64_t ns)
{
    json_key(&out->json, key);
    text_print(out->json.text, "%lld.%03lld", (long long)(ns / 1000), (long long)(ns % 1000));
    out->json.after_key = false;
    out->json.has_items = true;
}

static void add_integer(struct kineto_out *out, const char *key, int64_t number)
{
    json_key(&out->json, key);
    json_integer(&out->json, number);
}

static void add_text(struct kineto_out *out, const char *key, const char *text)
{
    json_key(&out->json, key);
    json_text(&out->json, text);
}

static const char *category(const struct sketch_line *line, enum recorded_role role)
{
    static const struct {
        enum sketch_word   word;
        enum recorded_role role;
        const char        *category;
    } rows[] = {
        { WORD_OP, ROLE_SELF, "cpu_op" },         { WORD_PYTHON, ROLE_SELF, "python_function" },
        { WORD_CALL, ROLE_SELF, "cuda_runtime" }, { WORD_SYNC, ROLE_SELF, "cuda_runtime" },
        { WORD_KERNEL, ROLE_WORK, "kernel" },     { WORD_COLLECTIVE, ROLE_WORK, "kernel" },
        { WORD_COPY, ROLE_WORK, "gpu_memcpy" },   { WORD_MEMSET, ROLE_WORK, "gpu_memset" },
    };

    for (size_t i = 0; i < ARRAY_COUNT(rows); i++)
        if (rows[i].word == line->word && rows[i].role == role)
            return rows[i].category;
    return role == ROLE_LAUNCH ? "cuda_runtime" : "user_annotation";
}

/* "f32" -> "float", as PyTorch prints types; others as they are written. */
static struct str type_name(struct str type)
{
    static const struct {
        struct str type, name;
    } rows[] = {
        { STR_INIT("f64"), STR_INIT("double") },
        { STR_INIT("f32"), STR_INIT("float") },
        { STR_INIT("f16"), STR_INIT("c10::Half") },
        { STR_INIT("bf16"), STR_INIT("c10::BFloat16") },
        { STR_INIT("i64"), STR_INIT("long int") },
        { STR_INIT("i32"), STR_INIT("int") },
        { STR_INIT("i16"), STR_INIT("short int") },
        { STR_INIT("i8"), STR_INIT("signed char") },
        { STR_INIT("u8"), STR_INIT("unsigned char") },
    };

    for (size_t i = 0; i < ARRAY_COUNT(rows); i++)
        if (str_equal(type, rows[i].type))
            return rows[i].name;
    return type;
}

static void add_shapes(struct kineto_out *out, const struct sketch_line *line)
{
    const struct sketch_shape *shapes = out->recording->sketch->shapes.items;

    if (line->shape_count == 0)
        return;
    json_key(&out->json, "Input Dims");
    json_array(&out->json);
    for (uint32_t i = 0; i < line->shape_count; i++) {
        json_array(&out->json);
        for (uint8_t d = 0; d < shapes[line->first_shape + i].rank; d++)
            json_integer(&out->json, shapes[line->first_shape + i].dims[d]);
        json_array_end(&out->json);
    }
    json_array_end(&out->json);
    json_key(&out->json, "Input type");
    json_array(&out->json);
    for (uint32_t i = 0; i < line->shape_count; i++)
        json_str(&out->json, type_name(shapes[line->first_shape + i].type));
    json_array_end(&out->json);
}

/* "64,1,1" as an array of three. */
static void add_extent(struct kineto_out *out, const char *key, struct str extent)
{
    json_key(&out->json, key);
    json_array(&out->json);
    for (int i = 0; i < 3; i++) {
        struct str part = str_cut(&extent, ',');
        int64_t    number = 1;

        if (!str_to_int64(str_trim(part), &number) || number < 1)
            number = 1;
        json_integer(&out->json, number);
    }
    json_array_end(&out->json);
}

/* Groups smaller than the job hold neighbours: of two, ranks 0 and 1, 2 and 3, and so on. */
static void add_group(struct kineto_out *out, int64_t size)
{
    int64_t     rank = out->recording->rank, first = size > 0 ? rank - rank % size : 0;
    bool        is_part = size > 0 && size < out->recording->rank_count;
    struct text text = { .arena = out->name.arena };

    add_integer(out, "Group size", size);
    text_print(&text, "%lld", (long long)(is_part ? 1 + first / size : 0));
    json_key(&out->json, "Process Group Name");
    json_str(&out->json, text_str(&text));
    if (!is_part)
        return;
    text = (struct text) { .arena = out->name.arena };
    for (int64_t i = first; i < first + size; i++)
        text_print(&text, "%s%lld", i > first ? ", " : "[", (long long)i);
    text_add_byte(&text, ']');
    json_key(&out->json, "Process Group Ranks");
    json_str(&out->json, text_str(&text));
}

static void add_collective(struct kineto_out *out, const struct sketch_line *line)
{
    struct text name = { .arena = out->name.arena };

    for (size_t i = 0; i < line->name.len; i++)
        if (line->name.data[i] != '-')
            text_add_byte(&name, line->name.data[i]);
    json_key(&out->json, "Collective name");
    json_str(&out->json, text_str(&name));
    if (line->bytes >= 0) {
        add_integer(out, "In msg nelems", line->bytes / 4);
        add_integer(out, "Out msg nelems", line->bytes / 4);
        add_text(out, "dtype", "Float");
    }
    add_group(out, line->group >= 0 ? line->group : out->recording->rank_count);
}

static void add_work_args(struct kineto_out *out, const struct recorded_event *event)
{
    const struct sketch_line    *line = recorded_line(out->recording, event);
    const struct recorded_track *track = &out->recording->tracks.items[event->track];

    add_integer(out, "device", track->gpu);
    add_integer(out, "stream", track->stream);
    if (event->link)
        add_integer(out, "correlation", event->link);
    if (event->owner != NO_EVENT)
        add_integer(out, "External id", (int64_t)event->owner + 1);
    if ((line->word == WORD_COPY || line->word == WORD_MEMSET) && line->bytes >= 0)
        add_integer(out, "bytes", line->bytes);
    if (line->grid.len) {
        add_extent(out, "grid", line->grid);
        add_extent(out, "block", line->block);
    }
    if (line->word == WORD_COLLECTIVE)
        add_collective(out, line);
}

static void add_args(struct kineto_out *out, const struct recorded_event *event)
{
    const struct sketch_line *line = recorded_line(out->recording, event);

    json_key(&out->json, "args");
    json_object(&out->json);
    if (event->role == ROLE_WORK) {
        add_work_args(out, event);
    } else if (event->link) {
        add_integer(out, "correlation", event->link);
        if (event->owner != NO_EVENT)
            add_integer(out, "External id", (int64_t)event->owner + 1);
    } else if (line->word == WORD_OP) {
        add_integer(out, "External id", event - out->recording->events.items + 1);
        add_shapes(out, line);
        if (line->flops >= 0)
            add_integer(out, "flops", (int64_t)line->flops);
    } else if (line->word == WORD_COLLECTIVE) {
        add_collective(out, line);
    }
    json_object_end(&out->json);
}

static void add_place(struct kineto_out *out, const struct recorded_event *event)
{
    const struct recorded_track *track = &out->recording->tracks.items[event->track];
    bool                         is_work = event->role == ROLE_WORK;

    add_integer(out, "pid", is_work ? track->gpu : PROCESS);
    add_integer(out, "tid", is_work ? track->stream : PROCESS + event->track);
    add_us(out, "ts", event->start_ns);
}

static void add_memory(struct kineto_out *out, const struct recorded_event *event)
{
    bool is_free = recorded_line(out->recording, event)->word == WORD_FREE;

    add_text(out, "ph", "i");
    add_text(out, "s", "t");
    add_text(out, "cat", "cpu_instant_event");
    add_text(out, "name", "[memory]");
    add_place(out, event);
    json_key(&out->json, "args");
    json_object(&out->json);
    add_integer(out, "Total Reserved", event->peak_bytes);
    add_integer(out, "Total Allocated", event->in_use_bytes);
    add_integer(out, "Bytes", is_free ? -event->bytes : event->bytes);
    add_integer(out, "Device Type", event->gpu >= 0);
    add_integer(out, "Device Id", event->gpu);
    add_integer(out, "Addr", event->number);
    json_object_end(&out->json);
}

static void add_event(struct kineto_out *out, const struct recorded_event *event)
{
    const struct sketch_line *line = recorded_line(out->recording, event);

    json_object(&out->json);
    if (line->word == WORD_ALLOC || line->word == WORD_FREE) {
        add_memory(out, event);
    } else {
        write_name(out->recording, event, SKETCH_KINETO, &out->name);
        add_text(out, "ph", "X");
        add_text(out, "cat", category(line, (enum recorded_role)event->role));
        json_key(&out->json, "name");
        json_str(&out->json, text_str(&out->name));
        add_place(out, event);
        add_us(out, "dur", event->duration_ns);
        add_args(out, event);
    }
    json_object_end(&out->json);
    text_add_byte(out->json.text, '\n');
}

static void add_thread_name(struct kineto_out *out, uint32_t track)
{
    const struct recorded_track *about = &out->recording->tracks.items[track];
    bool                         is_main = str_equal(about->name, STR("main"));

    out->name.len = 0;
    text_print(&out->name, "thread %u (%.*s)", PROCESS + track,
               STR_ARG(is_main ? STR("python") : about->name));
    json_object(&out->json);
    add_text(out, "ph", "M");
    add_text(out, "name", "thread_name");
    add_integer(out, "pid", PROCESS);
    add_integer(out, "tid", PROCESS + track);
    add_us(out, "ts", 0);
    json_key(&out->json, "args");
    json_object(&out->json);
    json_key(&out->json, "name");
    json_str(&out->json, text_str(&out->name));
    json_object_end(&out->json);
    json_object_end(&out->json);
    text_add_byte(out->json.text, '\n');
}

static void add_device(struct kineto_out *out, int64_t id)
{
    const struct sketch_line *gpu =
        &out->recording->sketch->lines.items[out->recording->sketch->gpu];

    json_object(&out->json);
    add_integer(out, "id", id);
    json_key(&out->json, "name");
    json_str(&out->json, gpu->name);
    if (gpu->bytes >= 0)
        add_integer(out, "totalGlobalMem", gpu->bytes);
    if (gpu->compute >= 0 && gpu->compute < 100) {
        int64_t tenths = (int64_t)(gpu->compute * 10 + 0.5);

        add_integer(out, "computeMajor", tenths / 10);
        add_integer(out, "computeMinor", tenths % 10);
    }
    if (gpu->sms >= 0)
        add_integer(out, "numSms", gpu->sms);
    json_object_end(&out->json);
}

/* One entry a device, up to the highest that did something. */
static void add_devices(struct kineto_out *out)
{
    enum { MAX_DEVICES = 64 };
    int64_t count = 1;

    if (out->recording->sketch->gpu == NO_LINE)
        return;
    for (size_t t = 0; t < out->recording->tracks.count; t++)
        if (out->recording->tracks.items[t].gpu >= count)
            count = out->recording->tracks.items[t].gpu + 1;
    json_key(&out->json, "deviceProperties");
    json_array(&out->json);
    for (int64_t id = 0; id < count && id < MAX_DEVICES; id++)
        add_device(out, id);
    json_array_end(&out->json);
}

static void add_head(struct kineto_out *out)
{
    const struct recording *recording = out->recording;

    add_integer(out, "schemaVersion", 1);
    add_devices(out);
    if (recording->sketch->has_ranks) {
        json_key(&out->json, "distributedInfo");
        json_object(&out->json);
        add_text(out, "backend", "nccl");
        add_integer(out, "rank", recording->rank);
        add_integer(out, "world_size", recording->rank_count);
        json_object_end(&out->json);
        out->name.len = 0;
        text_print(&out->name, "host%u", recording->rank);
        json_key(&out->json, "host_name");
        json_str(&out->json, text_str(&out->name));
    }
    if (recording->sketch->shapes.count)
        add_integer(out, "record_shapes", 1);
    add_integer(out, "baseTimeNanoseconds", RECORDING_ORIGIN_NS);
}

void write_kineto(const struct recording *recording, struct text *bytes)
{
    struct arena      scratch = { .budget_bytes = bytes->arena->budget_bytes };
    struct kineto_out out = { .recording = recording,
                              .json = { .text = bytes, .is_compact = true },
                              .name.arena = &scratch };

    json_object(&out.json);
    add_head(&out);
    json_key(&out.json, "traceEvents");
    json_array(&out.json);
    text_add_byte(bytes, '\n');
    for (uint32_t t = 0; t < recording->tracks.count; t++)
        if (recording->tracks.items[t].gpu < 0)
            add_thread_name(&out, t);
    for (size_t i = 0; i < recording->events.count; i++)
        add_event(&out, &recording->events.items[i]);
    json_array_end(&out.json);
    add_text(&out, "traceName", "synthetic.json");
    json_object_end(&out.json);
    text_add_byte(bytes, '\n');
    bytes->is_cut |= out.name.is_cut;
    arena_free(&scratch);
}
