/* chrome: the JSON of chrome://tracing: complete events in microseconds with three decimals, one a
 * line. */
#include "report/trace/trace.h"
#include "report/trace/writer.h"

#include "base/json_writer.h"

/* A JSON value on the current line. */
static void add_json_text(struct text *text, struct str s)
{
    struct json_writer json = { .text = text, .is_compact = true };

    json_str(&json, s);
}

static void add_us(struct text *text, const char *key, int64_t ns)
{
    uint64_t value = ns < 0 ? 0 : (uint64_t)ns;

    text_print(text, ",\"%s\":%llu.%03llu", key, (unsigned long long)(value / 1000),
               (unsigned long long)(value % 1000));
}

static void next_line(struct trace_writer *writer)
{
    text_add(writer->text, writer->count++ ? STR(",\n") : STR("\n"));
}

static void write_begin(struct trace_writer *writer)
{
    text_add(writer->text, STR("{\"displayTimeUnit\":\"ns\",\"traceEvents\":["));
}

static void write_end(struct trace_writer *writer)
{
    text_add(writer->text, STR("\n]}\n"));
}

static void write_meta(struct trace_writer *writer, const char *kind, uint64_t process,
                       uint64_t track, struct str name)
{
    next_line(writer);
    text_print(writer->text,
               "{\"ph\":\"M\",\"name\":\"%s\",\"pid\":%llu,\"tid\":%llu,\"args\":{\"name\":", kind,
               (unsigned long long)process, (unsigned long long)track);
    add_json_text(writer->text, name);
    text_add(writer->text, STR("}}"));
}

static void write_rank(struct trace_writer *writer, const char *kind, uint64_t process,
                       uint64_t track, int32_t rank)
{
    next_line(writer);
    text_print(
        writer->text,
        "{\"ph\":\"M\",\"name\":\"%s\",\"pid\":%llu,\"tid\":%llu,\"args\":{\"sort_index\":%d}}",
        kind, (unsigned long long)process, (unsigned long long)track, rank);
}

static void write_process(struct trace_writer *writer, uint64_t id, struct str name, int32_t rank)
{
    write_meta(writer, "process_name", id, 0, name);
    write_rank(writer, "process_sort_index", id, 0, rank);
}

static void write_track(struct trace_writer *writer, const struct trace_track *track)
{
    write_meta(writer, "thread_name", track->process, track->id, track->name);
    write_rank(writer, "thread_sort_index", track->process, track->id, track->rank);
}

static void write_head(struct trace_writer *writer, char phase, const struct trace_track *track,
                       struct str name)
{
    next_line(writer);
    text_print(writer->text, "{\"ph\":\"%c\",\"pid\":%llu,\"tid\":%llu,\"name\":", phase,
               (unsigned long long)track->process, (unsigned long long)track->id);
    add_json_text(writer->text, name);
}

static void write_argument(struct text *text, const struct trace_argument *argument)
{
    text_print(text, "\"%s\":", argument->name);
    switch (argument->kind) {
    case ARGUMENT_INTEGER:
        text_print(text, "%lld", (long long)argument->integer);
        break;
    case ARGUMENT_NUMBER:
        text_add_exact(text, argument->number);
        break;
    case ARGUMENT_TEXT:
        add_json_text(text, argument->text);
        break;
    }
}

/* An arrow begins and ends inside the slice that it is of. */
static void write_flow(struct trace_writer *writer, const struct trace_slice *slice, char phase,
                       uint64_t id)
{
    write_head(writer, phase, slice->track, STR("flow"));
    add_us(writer->text, "ts", slice->start_ns);
    text_print(writer->text, ",\"cat\":\"flow\",\"id\":%llu%s}", (unsigned long long)id,
               phase == 'f' ? ",\"bp\":\"e\"" : "");
}

static void write_slice(struct trace_writer *writer, const struct trace_slice *slice)
{
    struct text *text = writer->text;

    write_head(writer, 'X', slice->track, slice->name);
    add_us(text, "ts", slice->start_ns);
    add_us(text, "dur", slice->duration_ns);
    text_print(text, ",\"cat\":\"%s\"", slice->category);
    for (size_t i = 0; i < slice->argument_count; i++) {
        text_add(text, i == 0 ? STR(",\"args\":{") : STR(","));
        write_argument(text, &slice->arguments[i]);
    }
    text_add(text, slice->argument_count > 0 ? STR("}}") : STR("}"));
    for (size_t i = 0; i < slice->flows_from_count; i++)
        write_flow(writer, slice, 's', slice->flows_from[i]);
    for (size_t i = 0; i < slice->flows_to_count; i++)
        write_flow(writer, slice, 'f', slice->flows_to[i]);
}

/* Complete events hold their end. */
static void write_slice_end(struct trace_writer *writer, const struct trace_track *track,
                            int64_t time_ns)
{
    (void)writer;
    (void)track;
    (void)time_ns;
}

/* A counter is named by its events. */
static void write_counter_track(struct trace_writer *writer, const struct trace_track *track)
{
    (void)writer;
    (void)track;
}

static void write_counter(struct trace_writer *writer, const struct trace_track *track,
                          int64_t time_ns, double value)
{
    write_head(writer, 'C', track, track->name);
    add_us(writer->text, "ts", time_ns);
    text_add(writer->text, STR(",\"args\":{\"value\":"));
    text_add_exact(writer->text, value);
    text_add(writer->text, STR("}}"));
}

const struct trace_format trace_chrome = {
    .name = "chrome",
    .begin = write_begin,
    .process = write_process,
    .track = write_track,
    .counter_track = write_counter_track,
    .slice = write_slice,
    .slice_end = write_slice_end,
    .counter = write_counter,
    .end = write_end,
};
