#include "read/tf/names_ahead.h"

/* How many messages before it is read a name's slot, record and text are fetched. */
enum { RECORD_AHEAD = 10, TEXT_AHEAD = 5 };

/* The name of the next message; empty when it does not begin with one. */
static struct str next_name(struct names_ahead *ahead)
{
    struct field field, name;
    struct err   ignored = { 0 };

    while (message_next(&ahead->rest, &field, &ignored)) {
        struct message message = message_inside(&ahead->rest, field.bytes);

        if (!field_is_bytes(&field, ahead->number))
            continue;
        return message_next(&message, &name, &ignored) && field_is_bytes(&name, 1)
                   ? name.bytes
                   : (struct str) { 0 };
    }
    return (struct str) { 0 };
}

uint32_t names_ahead_step(struct names_ahead *ahead)
{
    uint32_t hash = intern_hash(next_name(ahead));
    unsigned newest = ahead->step++ % NAMES_AHEAD; /* which is the place of the one read next */
    uint32_t current = ahead->hashes[newest];

    ahead->hashes[newest] = hash;
    intern_fetch_slot(ahead->names, hash);
    intern_fetch_record(ahead->names, ahead->hashes[(newest + RECORD_AHEAD) % NAMES_AHEAD]);
    intern_fetch_text(ahead->names, ahead->hashes[(newest + TEXT_AHEAD) % NAMES_AHEAD]);
    return current;
}

struct names_ahead names_ahead_of(const struct intern *names, struct message message,
                                  uint32_t number)
{
    struct names_ahead ahead = { .names = names, .rest = message, .number = number };

    for (int i = 0; i < NAMES_AHEAD; i++)
        names_ahead_step(&ahead);
    return ahead;
}
