/* csv: a row a slice and a sample of a counter, for databases and data frames; arguments are JSON.
 */
#include "report/trace/trace.h"
#include "report/trace/writer.h"

#include "base/csv.h"
#include "base/json_writer.h"

static void write_begin(struct trace_writer *writer)
{
    text_add(writer->text, STR("start_ns,duration_ns,process,track,category,name,arguments\n"));
}

static void write_process(struct trace_writer *writer, uint64_t id, struct str name, int32_t rank)
{
    (void)rank;
    writer->processes.arena = writer->scratch;
    if (!id_map_put(&writer->processes, id, intern_add(&writer->names, name)))
        writer->text->is_cut = true;
}

static void write_track(struct trace_writer *writer, const struct trace_track *track)
{
    (void)writer;
    (void)track;
}

static void write_start(struct trace_writer *writer, const struct trace_track *track,
                        int64_t start_ns, int64_t duration_ns)
{
    struct text *text = writer->text;

    text_print(text, "%lld,%lld,", (long long)start_ns, (long long)duration_ns);
    csv_text(text, intern_str(&writer->names, id_map_get(&writer->processes, track->process)));
    text_add_byte(text, ',');
    csv_text(text, track->name);
}

static void add_argument(struct json_writer *json, const struct trace_argument *argument)
{
    json_key(json, argument->name);
    switch (argument->kind) {
    case ARGUMENT_INTEGER:
        json_integer(json, argument->integer);
        break;
    case ARGUMENT_NUMBER:
        json_exact(json, argument->number);
        break;
    case ARGUMENT_TEXT:
        json_str(json, argument->text);
        break;
    }
}

static void write_slice(struct trace_writer *writer, const struct trace_slice *slice)
{
    struct text        object = { .arena = writer->scratch };
    struct json_writer json = { .text = &object, .is_compact = true };

    write_start(writer, slice->track, slice->start_ns, slice->duration_ns);
    text_print(writer->text, ",%s,", slice->category);
    csv_text(writer->text, slice->name);
    text_add_byte(writer->text, ',');
    if (slice->argument_count > 0) {
        json_object(&json);
        for (size_t i = 0; i < slice->argument_count; i++)
            add_argument(&json, &slice->arguments[i]);
        json_object_end(&json);
        csv_text(writer->text, text_str(&object));
    }
    text_add_byte(writer->text, '\n');
}

static void write_slice_end(struct trace_writer *writer, const struct trace_track *track,
                            int64_t time_ns)
{
    (void)writer;
    (void)track;
    (void)time_ns;
}

static void write_counter(struct trace_writer *writer, const struct trace_track *track,
                          int64_t time_ns, double value)
{
    write_start(writer, track, time_ns, 0);
    text_add(writer->text, STR(",counter,"));
    csv_text(writer->text, track->name);
    text_add(writer->text, STR(",\"{\"\"value\"\":"));
    text_add_exact(writer->text, value);
    text_add(writer->text, STR("}\"\n"));
}

static void write_end(struct trace_writer *writer)
{
    (void)writer;
}

const struct trace_format trace_csv = {
    .name = "csv",
    .begin = write_begin,
    .process = write_process,
    .track = write_track,
    .counter_track = write_track,
    .slice = write_slice,
    .slice_end = write_slice_end,
    .counter = write_counter,
    .end = write_end,
};
