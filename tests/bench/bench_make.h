/* bench_make: large inputs made from small recordings, written as they are made. */
#ifndef TFPROF_BENCH_MAKE_H
#define TFPROF_BENCH_MAKE_H

#include <protobuf-c/protobuf-c.h>
#include <stdint.h>
#include <stdio.h>

struct sink { /* with file NULL only counts, to know a length before its bytes */
    FILE    *file;
    uint64_t bytes;
};

void sink_bytes(struct sink *sink, const void *bytes, size_t len);
void sink_varint(struct sink *sink, uint64_t value);
void sink_key(struct sink *sink, unsigned field, unsigned wire_type);
void sink_message(struct sink *sink, unsigned field, const ProtobufCMessage *message);
/* Key and length of a message field whose bytes follow. */
void sink_open(struct sink *sink, unsigned field, uint64_t len);

/* The recording's lines, each `repeats` times one after the other. 0 means: as often as it takes to
 * reach wanted_bytes, or wanted_events where that is not 0. */
void make_xspace(const char *source, const char *target, uint64_t wanted_bytes,
                 uint64_t wanted_events);
/* The trace's events, repeated until the file has wanted_bytes; gzip is inflated. */
void make_kineto(const char *source, const char *target, uint64_t wanted_bytes);
/* The recording's graph and one of its runs, copied behind each other until there are that many
 * nodes: graph.pb, run_meta and op_log in the folder. */
void make_graph(const char *graph, const char *run_metadata, const char *folder,
                uint64_t wanted_nodes);
/* The recorded ProfileProto's nodes, copied behind each other until there are that many. */
void make_profile(const char *source, const char *target, uint64_t wanted_nodes);

/* The file's bytes; ends the program when it cannot be read. */
uint8_t *load_file(const char *path, size_t *len);
FILE    *create_file(const char *path);
void     close_file(FILE *file, const char *path);

#endif
