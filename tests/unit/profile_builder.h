/*
 * profile_builder: profiles made by hand for tests. Start, add rows, then builder_finish, which
 * sorts the events into their timelines. Any failure ends the test through cmocka.
 */
#ifndef TFPROF_TESTS_PROFILE_BUILDER_H
#define TFPROF_TESTS_PROFILE_BUILDER_H

#include "analyze/study.h"

struct built_event {
    int64_t  start_ns, duration_ns;
    uint32_t timeline, activity;
    uint32_t tag; /* order of addition; events move when they are sorted */
};
struct built_stat {
    uint32_t tag;
    uint8_t  key;
    int64_t  value;
};
struct profile_builder {
    struct arena   arena; /* freed by builder_free; the profile and the study live in it */
    struct profile profile;
    struct study   study;
    VEC(struct built_event) events;
    VEC(struct built_stat) stats;
    uint32_t *rows; /* after builder_finish: event of each tag */
};

void     builder_start(struct profile_builder *builder, enum profile_format format);
uint32_t builder_name(struct profile_builder *builder, const char *name);
uint32_t builder_host(struct profile_builder *builder, const char *name);
/* Begins with one host, "h". */
uint32_t builder_start_host(struct profile_builder *builder, enum profile_format format);
uint32_t builder_device(struct profile_builder *builder, uint32_t host, const char *name,
                        const char *model, enum device_kind kind);
/* device NO_ID: a host thread, else a stream of it. */
uint32_t builder_timeline(struct profile_builder *builder, uint32_t host, uint32_t device,
                          const char *name);
/* `tensors`: "f32[32,128] f32[128,64] -> f32[32,64]"; NULL: none known. flops and bytes -1. */
uint32_t builder_op(struct profile_builder *builder, const char *name, const char *type,
                    const char *tensors);
uint32_t builder_activity(struct profile_builder *builder, const char *name,
                          enum activity_kind kind, uint32_t op);
/* Returns the event's tag. The second form makes an activity without an op. */
uint32_t builder_event(struct profile_builder *builder, uint32_t timeline, uint32_t activity,
                       int64_t start_ns, int64_t duration_ns);
uint32_t builder_slice(struct profile_builder *builder, uint32_t timeline, const char *name,
                       enum activity_kind kind, int64_t start_ns, int64_t duration_ns);
void builder_stat(struct profile_builder *builder, uint32_t tag, enum stat_key key, int64_t value);
/* A link between two events, given by their tags. */
void builder_flow(struct profile_builder *builder, uint32_t from, uint32_t to, enum flow_kind kind);
/* A used step of the study, on the given host. */
void builder_step(struct profile_builder *builder, uint32_t host, int64_t start_ns, int64_t end_ns);
/* Sorts events and makes the study ready for an analysis to run. */
void builder_finish(struct profile_builder *builder);
void builder_free(struct profile_builder *builder);

double builder_fact(const struct profile_builder *builder, const char *name); /* NaN: absent */
/* Value in the first row whose text column `key_column` is `key`; a NULL column: row 0. */
double builder_cell(const struct profile_builder *builder, const char *table,
                    const char *key_column, const char *key, const char *column);

#endif
