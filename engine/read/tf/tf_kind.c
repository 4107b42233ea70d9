/*
 * Which TensorFlow message a file holds. Protobuf has no magic number, so this looks how far the
 * first fields fit what each message must have: node names, device names, map entries.
 */
#include "read/tf/tf_model.h"
#include "read/tf/tf_timeline.h"

static bool is_plain(struct str text)
{
    for (size_t i = 0; i < text.len; i++)
        if ((uint8_t)text.data[i] < 0x20 || (uint8_t)text.data[i] == 0x7f)
            return false;
    return text.len > 0;
}

/* First occurrences of fields 1 to 15 of a message. */
struct glance {
    struct field fields[16];
    bool         is_damaged;
};

static struct glance look(struct str bytes)
{
    struct glance  glance = { 0 };
    struct message message = message_of(bytes);
    struct field   field;
    struct err     err = { 0 };

    for (int i = 0; i < 64 && message_next(&message, &field, &err); i++)
        if (field.number < ARRAY_COUNT(glance.fields) && !glance.fields[field.number].number)
            glance.fields[field.number] = field;
    glance.is_damaged = message.is_damaged;
    return glance;
}

static bool has(const struct glance *glance, uint32_t number, enum wire_type type)
{
    return glance->fields[number].number == number && glance->fields[number].type == type;
}

static bool has_name(const struct glance *glance, uint32_t number)
{
    return has(glance, number, WIRE_BYTES) && is_plain(glance->fields[number].bytes);
}

/* Bytes of the first submessage, cut where the file is: damaged files are still what they are. */
static struct str first_submessage(struct str bytes)
{
    uint64_t length = 0;
    size_t   at = 1;

    for (unsigned shift = 0; at < bytes.len && at < 11; at++, shift += 7) {
        length |= shift < 64 ? (uint64_t)((uint8_t)bytes.data[at] & 0x7f) << shift : 0;
        if (!((uint8_t)bytes.data[at] & 0x80)) {
            at++;
            break;
        }
    }
    return str_slice(bytes, at, length < bytes.len - at ? at + (size_t)length : bytes.len);
}

/* Of the first field 1 of the file. */
static enum tf_kind kind_of_first(struct str bytes)
{
    struct glance first = look(bytes), inner;

    if (has_name(&first, 1) && has_name(&first, 2)) /* a damaged one is still what it is */
        return TF_GRAPH;
    if (first.is_damaged && !first.fields[1].number) { /* steps of which the first is cut */
        inner = look(first_submessage(bytes));
        return has_name(&inner, 1) && inner.fields[1].bytes.data[0] == '/' ? TF_RUN : TF_NONE;
    }
    if (first.is_damaged)
        return TF_NONE;
    if (has(&first, 1, WIRE_VARINT) && has(&first, 2, WIRE_BYTES)) {
        inner = look(first.fields[2].bytes);
        return !first.fields[3].number && !inner.is_damaged && has_name(&inner, 1) &&
                       inner.fields[1].bytes.data[0] != '/' /* a device of a trace */
                   ? TF_PROFILE
                   : TF_NONE;
    }
    if (has(&first, 1, WIRE_BYTES)) {
        inner = look(first.fields[1].bytes);
        if (!inner.is_damaged && has_name(&inner, 1) && inner.fields[1].bytes.data[0] == '/')
            return TF_RUN;
    }
    return has_name(&first, 1) && (has(&first, 2, WIRE_VARINT) || has(&first, 3, WIRE_BYTES) ||
                                   has(&first, 4, WIRE_BYTES))
               ? TF_LOG
               : TF_NONE;
}

static enum tf_kind kind_of_text(struct str text)
{
    static const struct {
        const char  *word;
        enum tf_kind kind;
    } words[] = {
        { "node", TF_GRAPH_TEXT },     { "library", TF_GRAPH_TEXT },
        { "versions", TF_GRAPH_TEXT }, { "version", TF_GRAPH_TEXT },
        { "step_stats", TF_RUN_TEXT }, { "partition_graphs", TF_RUN_TEXT },
        { "cost_graph", TF_RUN_TEXT }, { "function_graphs", TF_RUN_TEXT },
    };

    text = str_slice(text, 0, 4096);
    while (text.len && (text.data[0] == '#' || text.data[0] <= ' ')) {
        if (text.data[0] == '#')
            str_cut(&text, '\n');
        else
            text = str_slice(text, 1, text.len);
    }
    for (size_t i = 0; i < ARRAY_COUNT(words); i++) {
        struct str word = str_from(words[i].word);
        char       next = text.len > word.len ? text.data[word.len] : '\0';

        if (str_starts(text, word) && (next == ' ' || next == '{' || next == ':' || next == '\n'))
            return words[i].kind;
    }
    return TF_NONE;
}

/* MetaGraphDef: what it is (1), then a GraphDef (2). */
static bool is_meta_graph(struct str bytes)
{
    struct message message = message_of(bytes);
    struct field   field = { 0 };
    struct err     err = { 0 };

    return message_next(&message, &field, &err) && field_is_bytes(&field, 1) &&
           message_next(&message, &field, &err) && field_is_bytes(&field, 2) &&
           field.bytes.len > 2 && field.bytes.data[0] == 0x0a &&
           kind_of_first(first_submessage(field.bytes)) == TF_GRAPH;
}

/* RunMetadata without step_stats begins with a cost graph (2) or a graph that was run (3, 4). */
static bool is_run_of_graphs(struct str bytes)
{
    struct message message = message_of(bytes);
    struct field   field = { 0 };
    struct err     err = { 0 };
    struct glance  node;
    struct str     graph;

    if (!message_next(&message, &field, &err) || field.type != WIRE_BYTES || !field.bytes.len ||
        field.bytes.data[0] != 0x0a)
        return false;
    if (field.number == 2) {
        node = look(first_submessage(field.bytes));
        return !node.is_damaged && has_name(&node, 1) &&
               (has_name(&node, 2) || has(&node, 3, WIRE_VARINT) || has(&node, 9, WIRE_VARINT));
    }
    graph = field.number == 4 ? first_submessage(field.bytes) : field.bytes;
    return (field.number == 3 || field.number == 4) && graph.len &&
           kind_of_first(first_submessage(graph)) == TF_GRAPH;
}

enum tf_kind tf_kind_of(struct str bytes)
{
    enum tf_kind   kind = kind_of_text(bytes);
    struct message message;
    struct field   field;
    struct err     err = { 0 };

    if (kind != TF_NONE || bytes.len < 2)
        return kind;
    if (tf_timeline_is(bytes))
        return TF_TIMELINE;
    if (bytes.data[0] == 0x0a) {
        kind = kind_of_first(first_submessage(bytes));
        return kind != TF_GRAPH && is_meta_graph(bytes) ? TF_META_GRAPH : kind;
    }
    if (is_run_of_graphs(bytes))
        return TF_RUN;
    /* Writers of maps may put others first: ids of strings, or the versions of a graph. */
    message = message_of(bytes);
    for (int i = 0; i < 100000 && message_next(&message, &field, &err); i++) {
        if (field_is_bytes(&field, 1))
            return kind_of_first(field.bytes);
        if (field.number > 5 || (field.number == 1))
            return TF_NONE;
    }
    return TF_NONE;
}
