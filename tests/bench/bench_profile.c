/*
 * A ProfileProto of many nodes: those of a recorded one, copied behind each other. The n-th copy's
 * names begin with "block_n/", and its numbers go on behind those of the copy before.
 */
#include "bench_make.h"

#include "read/proto/wire.h"

#include <stdlib.h>
#include <string.h>

enum { PROFILE_NODES = 1 };
enum { ENTRY_KEY = 1, ENTRY_VALUE = 2 };
enum { NODE_NAME = 1, NODE_INPUTS = 2, NODE_ID = 13, NODE_SOURCES = 14 };

struct copying {
    uint64_t copy, first_id; /* what is added to its nodes' numbers */
};

typedef void write_fn(struct sink *sink, struct str bytes, const struct copying *copying);

/* A field that holds a message, whose length is counted first. */
static void write_inside(struct sink *sink, unsigned field, write_fn *write, struct str bytes,
                         const struct copying *copying)
{
    struct sink count = { 0 };

    write(&count, bytes, copying);
    sink_open(sink, field, count.bytes);
    write(sink, bytes, copying);
}

static void write_number(struct sink *sink, unsigned field, uint64_t value)
{
    sink_key(sink, field, WIRE_VARINT);
    sink_varint(sink, value);
}

static void write_as_is(struct sink *sink, const uint8_t *from, const struct wire *field)
{
    sink_bytes(sink, from, (size_t)(field->at - from));
}

/* From the place of an input to the node that gives it. */
static void write_input(struct sink *sink, struct str bytes, const struct copying *copying)
{
    for (struct wire field = wire_start(bytes); wire_next(&field);)
        write_number(sink, field.number,
                     field.value + (field.number == ENTRY_VALUE ? copying->first_id : 0));
}

/* From a node to the output of it that is taken. */
static void write_source(struct sink *sink, struct str bytes, const struct copying *copying)
{
    for (struct wire field = wire_start(bytes); wire_next(&field);)
        write_number(sink, field.number,
                     field.value + (field.number == ENTRY_KEY ? copying->first_id : 0));
}

static void write_node(struct sink *sink, struct str bytes, const struct copying *copying)
{
    struct wire    field = wire_start(bytes);
    const uint8_t *from = field.at;

    for (; wire_next(&field); from = field.at) {
        char block[32];
        int  len = snprintf(block, sizeof block, "block_%llu/", (unsigned long long)copying->copy);

        if (field.number == NODE_NAME) {
            sink_open(sink, NODE_NAME, (size_t)len + field.bytes.len);
            sink_bytes(sink, block, (size_t)len);
            sink_bytes(sink, field.bytes.data, field.bytes.len);
        } else if (field.number == NODE_INPUTS) {
            write_inside(sink, field.number, write_input, field.bytes, copying);
        } else if (field.number == NODE_SOURCES) {
            write_inside(sink, field.number, write_source, field.bytes, copying);
        } else if (field.number == NODE_ID) {
            write_number(sink, NODE_ID, field.value + copying->first_id);
        } else {
            write_as_is(sink, from, &field);
        }
    }
}

static void write_entry(struct sink *sink, struct str bytes, const struct copying *copying)
{
    for (struct wire field = wire_start(bytes); wire_next(&field);)
        if (field.number == ENTRY_KEY)
            write_number(sink, ENTRY_KEY, field.value + copying->first_id);
        else
            write_inside(sink, field.number, write_node, field.bytes, copying);
}

/* Nodes of the recorded profile, and one more than the greatest number of one. */
static uint64_t count_nodes(struct str bytes, uint64_t *ids)
{
    uint64_t count = 0;

    for (struct wire field = wire_start(bytes); wire_next(&field);) {
        if (field.number != PROFILE_NODES)
            continue;
        count++;
        for (struct wire entry = wire_start(field.bytes); wire_next(&entry);)
            if (entry.number == ENTRY_KEY && entry.value >= *ids)
                *ids = entry.value + 1;
    }
    return count;
}

void make_profile(const char *source, const char *target, uint64_t wanted_nodes)
{
    size_t      len;
    uint8_t    *recorded = load_file(source, &len);
    struct str  bytes = { (const char *)recorded, len };
    uint64_t    ids = 0, nodes = count_nodes(bytes, &ids);
    uint64_t    copies = nodes ? (wanted_nodes + nodes - 1) / nodes : 0;
    struct sink sink = { .file = create_file(target) };

    for (uint64_t copy = 0; copy < copies; copy++) {
        struct copying copying = { copy, copy * ids };
        struct wire    field = wire_start(bytes);
        const uint8_t *from = field.at;

        for (; wire_next(&field); from = field.at)
            if (field.number == PROFILE_NODES)
                write_inside(&sink, PROFILE_NODES, write_entry, field.bytes, &copying);
            else if (copy == 0)
                write_as_is(&sink, from, &field);
    }
    close_file(sink.file, target);
    printf("%s: %llu bytes, %llu nodes\n", target, (unsigned long long)sink.bytes,
           (unsigned long long)(copies * nodes));
    free(recorded);
}
