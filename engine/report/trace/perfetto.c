/* perfetto: packets of one sequence, names written where they first stand and by number afterwards.
 */
#include "base/wire_out.h"
#include "report/trace/trace.h"
#include "report/trace/writer.h"

#include "perfetto.pb-c.h"

enum { SEQUENCE = 1, NAMES_BEGIN = 1, NAMES_ARE_NEEDED = 2 };
enum { BEGINS = 1, ENDS = 2, COUNTS = 4 }; /* type of an event */
enum { UNIT_SIZE_BYTES = 3, ORDER_EXPLICIT = 3 };

typedef Tfprof__Perfetto__TracePacket  packet_message;
typedef Tfprof__Perfetto__TrackEvent   event_message;
typedef Tfprof__Perfetto__InternedName name_message;

struct buffer { /* packs into a text */
    ProtobufCBuffer base;
    struct text    *text;
};

static void append(ProtobufCBuffer *buffer, size_t len, const uint8_t *data)
{
    text_add(((struct buffer *)(void *)buffer)->text, (struct str) { (const char *)data, len });
}

/* As the next item of Trace.packet: field 1, bytes. */
static void add_packet(struct trace_writer *writer, packet_message *packet)
{
    struct buffer buffer = { .base = { .append = append }, .text = writer->text };

    packet->has_trusted_packet_sequence_id = true;
    packet->trusted_packet_sequence_id = SEQUENCE;
    packet->has_sequence_flags = true;
    packet->sequence_flags = writer->count++ == 0 ? NAMES_BEGIN : NAMES_ARE_NEEDED;
    wire_out_head(writer->text, 1, tfprof__perfetto__trace_packet__get_packed_size(packet));
    tfprof__perfetto__trace_packet__pack_to_buffer(packet, &buffer.base);
}

static packet_message packet_at(int64_t time_ns)
{
    packet_message packet = TFPROF__PERFETTO__TRACE_PACKET__INIT;

    packet.has_timestamp = true;
    packet.timestamp = time_ns < 0 ? 0 : (uint64_t)time_ns;
    return packet;
}

/* Numbers count from 1. The name is written with the packet when `name` is filled. */
static uint64_t number_of(struct intern *names, struct str text, name_message *name)
{
    uint32_t before = names->count, id = intern_add(names, text);

    if (id == NO_ID || names->count == before)
        return (uint64_t)id + 1;
    name->has_iid = true;
    name->iid = (uint64_t)id + 1;
    name->name = (char *)intern_str(names, id).data;
    return name->iid;
}

struct new_names { /* of a packet */
    Tfprof__Perfetto__InternedData data;
    name_message                   category, name, arguments[TRACE_ARGUMENTS];
    name_message                  *category_list[1], *name_list[1], *argument_list[TRACE_ARGUMENTS];
};

static void init_names(struct new_names *names)
{
    names->data = (Tfprof__Perfetto__InternedData)TFPROF__PERFETTO__INTERNED_DATA__INIT;
    names->category = names->name = (name_message)TFPROF__PERFETTO__INTERNED_NAME__INIT;
    for (size_t i = 0; i < TRACE_ARGUMENTS; i++)
        names->arguments[i] = names->name;
    names->category_list[0] = &names->category;
    names->name_list[0] = &names->name;
    names->data.event_categories = names->category_list;
    names->data.event_names = names->name_list;
    names->data.debug_annotation_names = names->argument_list;
}

static void settle_names(struct new_names *names, packet_message *packet)
{
    names->data.n_event_categories = names->category.has_iid ? 1 : 0;
    names->data.n_event_names = names->name.has_iid ? 1 : 0;
    if (names->category.has_iid || names->name.has_iid || names->data.n_debug_annotation_names > 0)
        packet->interned_data = &names->data;
}

static void fill_argument(Tfprof__Perfetto__DebugAnnotation *annotation,
                          const struct trace_argument       *argument)
{
    *annotation = (Tfprof__Perfetto__DebugAnnotation)TFPROF__PERFETTO__DEBUG_ANNOTATION__INIT;
    annotation->has_int_value = argument->kind == ARGUMENT_INTEGER;
    annotation->int_value = argument->integer;
    annotation->has_double_value = argument->kind == ARGUMENT_NUMBER;
    annotation->double_value = argument->number;
    if (argument->kind == ARGUMENT_TEXT)
        annotation->string_value = (char *)argument->text.data;
}

/* The arguments as annotations; texts are terminated. */
static void fill_arguments(struct trace_writer *writer, const struct trace_slice *slice,
                           struct new_names *names, Tfprof__Perfetto__DebugAnnotation *annotations,
                           Tfprof__Perfetto__DebugAnnotation **list)
{
    for (size_t i = 0; i < slice->argument_count; i++) {
        size_t *count = &names->data.n_debug_annotation_names;

        fill_argument(&annotations[i], &slice->arguments[i]);
        annotations[i].has_name_iid = true;
        annotations[i].name_iid = number_of(
            &writer->argument_names, str_from(slice->arguments[i].name), &names->arguments[*count]);
        if (names->arguments[*count].has_iid) {
            names->argument_list[*count] = &names->arguments[*count];
            (*count)++;
        }
        list[i] = &annotations[i];
    }
}

static event_message event_on(const struct trace_track *track, int32_t type)
{
    event_message event = TFPROF__PERFETTO__TRACK_EVENT__INIT;

    event.has_track_uuid = true;
    event.track_uuid = track->id;
    event.has_type = true;
    event.type = type;
    return event;
}

static void write_slice(struct trace_writer *writer, const struct trace_slice *slice)
{
    Tfprof__Perfetto__DebugAnnotation annotations[TRACE_ARGUMENTS], *list[TRACE_ARGUMENTS];
    packet_message                    packet = packet_at(slice->start_ns);
    event_message                     event = event_on(slice->track, BEGINS);
    struct new_names                  names;
    uint64_t                          category;

    init_names(&names);
    category = number_of(&writer->categories, str_from(slice->category), &names.category);
    event.n_category_iids = 1;
    event.category_iids = &category;
    event.has_name_iid = true;
    event.name_iid = number_of(&writer->names, slice->name, &names.name);
    fill_arguments(writer, slice, &names, annotations, list);
    event.n_debug_annotations = slice->argument_count;
    event.debug_annotations = list;
    event.n_flow_ids = slice->flows_from_count;
    event.flow_ids = (uint64_t *)slice->flows_from;
    event.n_terminating_flow_ids = slice->flows_to_count;
    event.terminating_flow_ids = (uint64_t *)slice->flows_to;
    packet.track_event = &event;
    settle_names(&names, &packet);
    add_packet(writer, &packet);
}

static void write_slice_end(struct trace_writer *writer, const struct trace_track *track,
                            int64_t time_ns)
{
    packet_message packet = packet_at(time_ns);
    event_message  event = event_on(track, ENDS);

    packet.track_event = &event;
    add_packet(writer, &packet);
}

static void write_counter(struct trace_writer *writer, const struct trace_track *track,
                          int64_t time_ns, double value)
{
    packet_message packet = packet_at(time_ns);
    event_message  event = event_on(track, COUNTS);

    event.has_double_counter_value = true;
    event.double_counter_value = value;
    packet.track_event = &event;
    add_packet(writer, &packet);
}

static void add_descriptor(struct trace_writer *writer, Tfprof__Perfetto__TrackDescriptor *track)
{
    packet_message packet = TFPROF__PERFETTO__TRACE_PACKET__INIT;

    packet.track_descriptor = track;
    add_packet(writer, &packet);
}

static Tfprof__Perfetto__TrackDescriptor describe(uint64_t id, int32_t rank)
{
    Tfprof__Perfetto__TrackDescriptor track = TFPROF__PERFETTO__TRACK_DESCRIPTOR__INIT;

    track.has_uuid = true;
    track.uuid = id;
    track.has_sibling_order_rank = true;
    track.sibling_order_rank = rank;
    return track;
}

static void write_process(struct trace_writer *writer, uint64_t id, struct str name, int32_t rank)
{
    Tfprof__Perfetto__ProcessDescriptor process = TFPROF__PERFETTO__PROCESS_DESCRIPTOR__INIT;
    Tfprof__Perfetto__TrackDescriptor   track = describe(id, rank);

    process.has_pid = true;
    process.pid = (int32_t)id;
    process.process_name = (char *)name.data;
    track.process = &process;
    track.has_child_ordering = true;
    track.child_ordering = ORDER_EXPLICIT;
    add_descriptor(writer, &track);
}

static void write_track(struct trace_writer *writer, const struct trace_track *track)
{
    Tfprof__Perfetto__TrackDescriptor descriptor = describe(track->id, track->rank);

    descriptor.has_parent_uuid = true;
    descriptor.parent_uuid = track->process;
    descriptor.name = (char *)track->name.data;
    add_descriptor(writer, &descriptor);
}

static void write_counter_track(struct trace_writer *writer, const struct trace_track *track)
{
    Tfprof__Perfetto__TrackDescriptor   descriptor = describe(track->id, track->rank);
    Tfprof__Perfetto__CounterDescriptor counter = TFPROF__PERFETTO__COUNTER_DESCRIPTOR__INIT;

    counter.has_unit = track->is_bytes;
    counter.unit = UNIT_SIZE_BYTES;
    descriptor.has_parent_uuid = true;
    descriptor.parent_uuid = track->process;
    descriptor.name = (char *)track->name.data;
    descriptor.counter = &counter;
    add_descriptor(writer, &descriptor);
}

static void do_nothing(struct trace_writer *writer)
{
    (void)writer;
}

const struct trace_format trace_perfetto = {
    .name = "perfetto",
    .begin = do_nothing,
    .process = write_process,
    .track = write_track,
    .counter_track = write_counter_track,
    .slice = write_slice,
    .slice_end = write_slice_end,
    .counter = write_counter,
    .end = do_nothing,
};
