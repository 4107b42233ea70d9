/*
 * xspace_builder: small XSpace files made by hand for tests, and how the reader takes them. What is
 * said of stats belongs to what was added last: a plane, an event type or an event.
 */
#ifndef TFPROF_TESTS_XSPACE_BUILDER_H
#define TFPROF_TESTS_XSPACE_BUILDER_H

#include "model/profile.h"

struct xbytes {
    char   data[1 << 15];
    size_t len;
};
struct xspace_builder {
    struct xbytes space, plane, line, item, stats; /* the last two: not yet in those before */
    char          names[64][48];
    int64_t       name_count, type_count;
    enum { ITEM_NONE, ITEM_TYPE, ITEM_EVENT } kind; /* of what `item` becomes */
};

void xspace_start(struct xspace_builder *builder);
void xspace_plane(struct xspace_builder *builder, const char *name);
void xspace_line(struct xspace_builder *builder, int64_t id, const char *name);
/* An event type of the plane; display NULL: none. Returns its id. Before the plane's lines. */
int64_t xspace_type(struct xspace_builder *builder, const char *name, const char *display);
void    xspace_event(struct xspace_builder *builder, int64_t type, int64_t start_ps, int64_t ps);
/* An event without a time that stands for many. */
void xspace_events(struct xspace_builder *builder, int64_t type, int64_t count, int64_t ps);
void xspace_number(struct xspace_builder *builder, const char *stat, int64_t value);
void xspace_bytes(struct xspace_builder *builder, const char *stat, const void *value, size_t len);
void xspace_text(struct xspace_builder *builder, const char *stat, const char *value);
/* A text of XSpace itself: XSPACE_ERRORS, XSPACE_WARNINGS, XSPACE_HOSTNAMES. */
void xspace_say(struct xspace_builder *builder, int field, const char *text);
/* Ends the file and reads it into `profile`; any failure ends the test. */
void xspace_take(struct xspace_builder *builder, struct arena *arena, struct profile *profile);

#endif
