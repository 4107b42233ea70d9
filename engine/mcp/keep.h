/*
 * keep: the part of a JSON text that someone wants, on one line. A shape names members and, in braces,
 * those of their objects: "verdict{text} findings*{rule title}". Without braces a member is kept whole.
 * Behind a name may stand, in this order: "!" (the member is always there), ":" with the type of its
 * values (s text, n number, i integer, o object; otherwise any), and "*": it is an array of them, whose
 * items are bounded, or "+": one that is kept whole. Numbers with fractions have six digits in what is
 * bounded: more are tokens without a meaning.
 */
#ifndef TFPROF_MCP_KEEP_H
#define TFPROF_MCP_KEEP_H

#include "base/json_writer.h"

struct keeping {
    struct arena *arena;
    size_t        most_items; /* of arrays with a star; 0: all */
    size_t        most_bytes; /* of a text; longer ones end in "…"; 0: whole */
};

/* Adds the value that `text` is; shape NULL: all of it. False: it is no JSON. */
bool json_keep(struct json_writer *json, struct str text, const char *shape,
               const struct keeping *how);
/* The same with fewer items, then shorter texts, until it takes at most `budget_bytes`. */
struct str json_keep_within(struct str text, const char *shape, size_t most_items,
                            size_t budget_bytes, struct arena *arena);
/* JSON schema of what a shape keeps; more members may come. */
void json_shape_schema(struct json_writer *json, const char *shape);

/* A text that is JSON, whole. */
void keep_all(struct json_writer *json, const char *text, struct arena *arena);

#endif
