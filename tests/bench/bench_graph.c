/*
 * A graph and one run of it, copied behind each other: the n-th copy's names begin with "block_n/",
 * its nodes without inputs wait for the last node of the copy before, and its run begins where that
 * of the copy before ends. A log says which lines made the nodes.
 */
#include "bench_make.h"

#include "read/proto/textproto.h"

#include <graph.pb-c.h>
#include <run_metadata.pb-c.h>
#include <stdlib.h>
#include <string.h>

typedef Tfprof__Tf__GraphDef        graph_def;
typedef Tfprof__Tf__NodeDef         node_def;
typedef Tfprof__Tf__RunMetadata     run_metadata;
typedef Tfprof__Tf__DeviceStepStats device_stats;
typedef Tfprof__Tf__NodeExecStats   node_stats;

enum { NAME_BYTES = 1024, TRACE_FRAMES = 6 };

/* "block_7/name"; a control input keeps its "^" in front. */
static char *prefixed(char *text, const char *name, uint64_t copy)
{
    int is_control = name[0] == '^';

    snprintf(text, NAME_BYTES, "%sblock_%llu/%s", is_control ? "^" : "", (unsigned long long)copy,
             name + is_control);
    return text;
}

static void write_node(struct sink *sink, const node_def *recorded, const char *last, uint64_t copy)
{
    node_def node = *recorded;
    char     name[NAME_BYTES], *inputs[64], texts[64][NAME_BYTES];

    node.name = prefixed(name, recorded->name, copy);
    node.input = inputs;
    if (node.n_input > 63)
        node.n_input = 63;
    for (size_t i = 0; i < node.n_input; i++)
        inputs[i] = prefixed(texts[i], recorded->input[i], copy);
    if (node.n_input == 0 && copy > 0) {
        snprintf(texts[0], NAME_BYTES, "^block_%llu/%s", (unsigned long long)copy - 1, last);
        inputs[node.n_input++] = texts[0];
    }
    sink_message(sink, 1, &node.base);
}

static graph_def *load_graph(const char *path)
{
    size_t       len;
    uint8_t     *bytes = load_file(path, &len);
    struct arena arena = { 0 };
    struct str   packed;
    struct err   err = { 0 };
    graph_def   *graph = NULL;

    if (textproto_to_bytes(&tfprof__tf__graph_def__descriptor,
                           (struct str) { (const char *)bytes, len }, &arena, &packed, NULL, &err))
        graph = tfprof__tf__graph_def__unpack(NULL, packed.len, (const uint8_t *)packed.data);
    if (!graph || graph->n_node == 0) {
        fprintf(stderr, "%s is no graph in text format: %s\n", path, err.text);
        exit(1);
    }
    arena_free(&arena);
    free(bytes);
    return graph;
}

static int64_t span_micros(const device_stats *device)
{
    int64_t first = INT64_MAX, last = INT64_MIN;

    for (size_t i = 0; i < device->n_node_stats; i++) {
        const node_stats *node = device->node_stats[i];
        int64_t           end = node->all_start_micros + node->all_end_rel_micros;

        first = node->all_start_micros < first ? node->all_start_micros : first;
        last = end > last ? end : last;
    }
    return device->n_node_stats ? last - first : 0;
}

static void write_device(struct sink *sink, const device_stats *device, uint64_t copies)
{
    int64_t span = span_micros(device);

    sink_open(sink, 1, strlen(device->device));
    sink_bytes(sink, device->device, strlen(device->device));
    for (uint64_t copy = 0; copy < copies; copy++)
        for (size_t i = 0; i < device->n_node_stats; i++) {
            node_stats node = *device->node_stats[i];
            char       name[NAME_BYTES];

            node.node_name = prefixed(name, node.node_name, copy);
            node.all_start_micros += (int64_t)copy * span;
            node.all_start_nanos += (int64_t)copy * span * 1000;
            node.scheduled_micros += (int64_t)copy * span;
            node.scheduled_nanos += (int64_t)copy * span * 1000;
            sink_message(sink, 2, &node.base);
        }
}

static void write_step_stats(struct sink *sink, const run_metadata *run, uint64_t copies)
{
    for (size_t i = 0; i < run->step_stats->n_dev_stats; i++) {
        struct sink count = { 0 };

        write_device(&count, run->step_stats->dev_stats[i], copies);
        sink_open(sink, 1, count.bytes);
        write_device(sink, run->step_stats->dev_stats[i], copies);
    }
}

static void make_run(const char *source, const char *target, uint64_t copies)
{
    size_t        len;
    uint8_t      *bytes = load_file(source, &len);
    run_metadata *run = tfprof__tf__run_metadata__unpack(NULL, len, bytes);
    struct sink   count = { 0 }, sink = { .file = create_file(target) };

    if (!run || !run->step_stats) {
        fprintf(stderr, "%s is no RunMetadata\n", source);
        exit(1);
    }
    write_step_stats(&count, run, copies);
    sink_open(&sink, 1, count.bytes);
    write_step_stats(&sink, run, copies);
    close_file(sink.file, target);
    tfprof__tf__run_metadata__free_unpacked(run, NULL);
    free(bytes);
}

/* One of the six frames of the trace of a node: lines of six files, more the further in. */
static void write_frame(struct sink *sink, uint64_t copy, uint64_t node, uint64_t depth)
{
    enum { LINENO = 2, FILE_ID = 6, FUNCTION_ID = 7 };
    uint64_t    call = copy % (1ULL << depth);
    struct sink count = { 0 };

    for (int is_counted = 0; is_counted < 2; is_counted++) {
        struct sink *into = is_counted ? sink : &count;

        if (is_counted)
            sink_open(sink, 1, count.bytes);
        sink_key(into, LINENO, 0);
        sink_varint(into, depth + 1 < TRACE_FRAMES ? 10 + call : 100 + node);
        sink_key(into, FILE_ID, 0);
        sink_varint(into, depth);
        sink_key(into, FUNCTION_ID, 0);
        sink_varint(into, TRACE_FRAMES + call % 8);
    }
}

static void write_entry(struct sink *sink, const char *name, uint64_t copy, uint64_t node)
{
    struct sink code = { 0 };

    for (uint64_t depth = 0; depth < TRACE_FRAMES; depth++)
        write_frame(&code, copy, node, depth);
    sink_open(sink, 1, strlen(name));
    sink_bytes(sink, name, strlen(name));
    sink_open(sink, 4, code.bytes);
    for (uint64_t depth = 0; depth < TRACE_FRAMES; depth++)
        write_frame(sink, copy, node, depth);
}

static void write_string(struct sink *sink, uint64_t id)
{
    char text[NAME_BYTES];

    if (id < TRACE_FRAMES)
        snprintf(text, sizeof text, "/program/file_%llu.py", (unsigned long long)id);
    else
        snprintf(text, sizeof text, "function_%llu", (unsigned long long)id);
    sink_key(sink, 1, 0);
    sink_varint(sink, id);
    sink_open(sink, 2, strlen(text));
    sink_bytes(sink, text, strlen(text));
}

/* OpLogProto: entries of nodes with the code that made them (1), names of files and functions (2).
 */
static void make_log(const graph_def *graph, const char *target, uint64_t copies)
{
    struct sink sink = { .file = create_file(target) };

    for (uint64_t copy = 0; copy < copies; copy++)
        for (size_t i = 0; i < graph->n_node; i++) {
            struct sink count = { 0 };
            char        name[NAME_BYTES];

            prefixed(name, graph->node[i]->name, copy);
            write_entry(&count, name, copy, i);
            sink_open(&sink, 1, count.bytes);
            write_entry(&sink, name, copy, i);
        }
    for (uint64_t id = 0; id < TRACE_FRAMES + 8; id++) {
        struct sink count = { 0 };

        write_string(&count, id);
        sink_open(&sink, 2, count.bytes);
        write_string(&sink, id);
    }
    close_file(sink.file, target);
}

void make_graph(const char *graph_path, const char *run_path, const char *folder,
                uint64_t wanted_nodes)
{
    graph_def  *graph = load_graph(graph_path);
    uint64_t    copies = (wanted_nodes + graph->n_node - 1) / graph->n_node;
    const char *last = graph->node[graph->n_node - 1]->name;
    char        path[NAME_BYTES];
    struct sink sink;

    snprintf(path, sizeof path, "%s/graph.pb", folder);
    sink = (struct sink) { .file = create_file(path) };
    for (uint64_t copy = 0; copy < copies; copy++)
        for (size_t i = 0; i < graph->n_node; i++)
            write_node(&sink, graph->node[i], last, copy);
    close_file(sink.file, path);
    printf("%s: %llu bytes, %llu nodes\n", path, (unsigned long long)sink.bytes,
           (unsigned long long)(copies * graph->n_node));
    snprintf(path, sizeof path, "%s/run_meta", folder);
    make_run(run_path, path, copies);
    snprintf(path, sizeof path, "%s/op_log", folder);
    make_log(graph, path, copies);
    tfprof__tf__graph_def__free_unpacked(graph, NULL);
}
