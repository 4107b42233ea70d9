/*
 * textproto: protobuf text format -> the same message as bytes, along a protobuf-c descriptor, so
 * that one reader serves both forms. Fields the descriptor does not know are skipped and told of,
 * because graphs of other versions carry more than we need. Errors say line and column.
 */
#ifndef TFPROF_READ_TEXTPROTO_H
#define TFPROF_READ_TEXTPROTO_H

#include "base/arena.h"
#include "base/err.h"
#include "base/str.h"

#include <protobuf-c/protobuf-c.h>

enum { TEXTPROTO_MAX_DEPTH = 100 };

/* Hears the name of each field that is not known. */
struct textproto_unknown {
    void (*tell)(struct textproto_unknown *unknown, struct str name);
};
/* *bytes lives in arena; unknown: NULL for nobody. O(text). */
bool textproto_to_bytes(const ProtobufCMessageDescriptor *descriptor, struct str text,
                        struct arena *arena, struct str *bytes, struct textproto_unknown *unknown,
                        struct err *err);

#endif
