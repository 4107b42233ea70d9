/*
 * flatbuffer: writes messages of FlatBuffers (flatbuffers.dev/internals) front to back: a table first,
 * then what its fields point to. Positions are bytes from where the message begins, which is at a
 * multiple of 8 of the text.
 */
#ifndef TFPROF_REPORT_FLATBUFFER_H
#define TFPROF_REPORT_FLATBUFFER_H

#include "base/text.h"

#include <stdint.h>

enum { FLAT_MOST_FIELDS = 8 };

struct flat {
    struct text *text;
    size_t       begin; /* of the message, in text */
};
struct flat_table {
    size_t at;                       /* where a field that means it points to */
    size_t fields[FLAT_MOST_FIELDS]; /* where each field is */
};

/* Begins a message with the field that points to its root. */
struct flat flat_begin(struct text *text, size_t *root);
size_t      flat_bytes(const struct flat *flat);
void        flat_pad(struct flat *flat, size_t multiple);
/* `bytes` has the size of each field, a digit a slot: '1', '2', '4', '8', '0' for one that is absent. */
struct flat_table flat_table(struct flat *flat, const char *bytes);
void              flat_set(struct flat *flat, size_t at, int64_t number, size_t bytes);
/* Makes the field at `field` point to `to`, which is behind it. */
void   flat_point(struct flat *flat, size_t field, size_t to);
/* These add something and give where it is. */
size_t flat_str(struct flat *flat, struct str s);
/* A vector of zeros to fill: *items is where the first one is. */
size_t flat_vector(struct flat *flat, size_t count, size_t item_bytes, size_t *items);

#endif
