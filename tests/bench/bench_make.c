/*
 * Makes large inputs out of a recording.
 *   usage: bench_make xspace SOURCE TARGET MEGABYTES
 *          bench_make events SOURCE TARGET EVENTS
 *          bench_make kineto SOURCE TARGET MEGABYTES
 *          bench_make graph GRAPH RUN_METADATA FOLDER NODES
 *          bench_make profile SOURCE TARGET NODES
 */
#include "bench_make.h"

#include <stdlib.h>
#include <string.h>

void sink_bytes(struct sink *sink, const void *bytes, size_t len)
{
    sink->bytes += len;
    if (sink->file)
        fwrite(bytes, 1, len, sink->file);
}

void sink_varint(struct sink *sink, uint64_t value)
{
    uint8_t bytes[10];
    size_t  len = 0;

    for (; value >= 0x80; value >>= 7)
        bytes[len++] = (uint8_t)(value | 0x80);
    bytes[len++] = (uint8_t)value;
    sink_bytes(sink, bytes, len);
}

void sink_key(struct sink *sink, unsigned field, unsigned wire_type)
{
    sink_varint(sink, field << 3 | wire_type);
}

void sink_open(struct sink *sink, unsigned field, uint64_t len)
{
    sink_key(sink, field, 2);
    sink_varint(sink, len);
}

void sink_message(struct sink *sink, unsigned field, const ProtobufCMessage *message)
{
    static uint8_t *buffer;
    static size_t   capacity;
    size_t          len = protobuf_c_message_get_packed_size(message);

    sink_open(sink, field, len);
    if (!sink->file) {
        sink->bytes += len;
        return;
    }
    if (len > capacity) {
        capacity = 2 * len;
        buffer = realloc(buffer, capacity);
        if (!buffer)
            abort();
    }
    protobuf_c_message_pack(message, buffer);
    sink_bytes(sink, buffer, len);
}

uint8_t *load_file(const char *path, size_t *len)
{
    FILE    *file = fopen(path, "rb");
    uint8_t *bytes = NULL;
    size_t   capacity = 0;

    *len = 0;
    while (file) {
        if (*len == capacity) {
            capacity = capacity ? 2 * capacity : 1 << 20;
            bytes = realloc(bytes, capacity);
            if (!bytes)
                abort();
        }
        size_t count = fread(bytes + *len, 1, capacity - *len, file);
        if (count == 0)
            break;
        *len += count;
    }
    if (!file || ferror(file)) {
        perror(path);
        exit(1);
    }
    fclose(file);
    return bytes;
}

FILE *create_file(const char *path)
{
    FILE *file = fopen(path, "wb");

    if (!file) {
        perror(path);
        exit(1);
    }
    setvbuf(file, NULL, _IOFBF, 1 << 20);
    return file;
}

void close_file(FILE *file, const char *path)
{
    if (fflush(file) != 0 || ferror(file)) {
        perror(path);
        exit(1);
    }
    fclose(file);
}

int main(int argument_count, char **arguments)
{
    const char *kind = argument_count > 1 ? arguments[1] : "";

    if (strcmp(kind, "xspace") == 0 && argument_count == 5)
        make_xspace(arguments[2], arguments[3], strtoull(arguments[4], NULL, 10) * 1000000, 0);
    else if (strcmp(kind, "events") == 0 && argument_count == 5)
        make_xspace(arguments[2], arguments[3], 0, strtoull(arguments[4], NULL, 10));
    else if (strcmp(kind, "kineto") == 0 && argument_count == 5)
        make_kineto(arguments[2], arguments[3], strtoull(arguments[4], NULL, 10) * 1000000);
    else if (strcmp(kind, "graph") == 0 && argument_count == 6)
        make_graph(arguments[2], arguments[3], arguments[4], strtoull(arguments[5], NULL, 10));
    else if (strcmp(kind, "profile") == 0 && argument_count == 5)
        make_profile(arguments[2], arguments[3], strtoull(arguments[4], NULL, 10));
    else {
        fprintf(stderr, "usage: bench_make xspace SOURCE TARGET MEGABYTES\n"
                        "       bench_make events SOURCE TARGET EVENTS\n"
                        "       bench_make kineto SOURCE TARGET MEGABYTES\n"
                        "       bench_make graph GRAPH RUN_METADATA FOLDER NODES\n"
                        "       bench_make profile SOURCE TARGET NODES\n");
        return 2;
    }
    return 0;
}
