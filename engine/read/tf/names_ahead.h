/*
 * names_ahead: looks at the names of messages that come soon, so that their places in a table too
 * big for the cache are there when the messages are read. Changes nothing; order plays no role.
 *     struct names_ahead ahead = names_ahead_of(names, message, 2);
 *     while (message_next(&message, &field, err)) if (field_is_bytes(&field, 2)) {
 *         names_ahead_step(&ahead); ...
 */
#ifndef TFPROF_READ_NAMES_AHEAD_H
#define TFPROF_READ_NAMES_AHEAD_H

#include "base/intern.h"
#include "read/proto/message.h"

enum { NAMES_AHEAD = 16 };

struct names_ahead {
    const struct intern *names;
    struct message       rest;
    uint32_t             number;              /* of the field that holds the messages */
    uint32_t             hashes[NAMES_AHEAD]; /* of the names last seen, the newest at step - 1 */
    unsigned             step;
};

/* `message` holds the messages in its field `number`; their names are their first fields. */
struct names_ahead names_ahead_of(const struct intern *names, struct message message,
                                  uint32_t number);
/* Hash of the first field of the message that comes next, if that is its name. */
uint32_t           names_ahead_step(struct names_ahead *ahead);

#endif
