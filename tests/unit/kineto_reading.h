/* kineto_reading: what the Kineto reader made of a trace. */
#ifndef TFPROF_TESTS_KINETO_READING_H
#define TFPROF_TESTS_KINETO_READING_H

#include "read/read.h"

#include <string.h>

extern const struct reader reader_kineto;

struct reading {
    struct arena   arena;
    struct profile profile;
    struct err     err;
    bool           is_fine;
};

static inline bool has_note(const struct profile *profile, const char *part)
{
    for (size_t i = 0; i < profile->notes.count; i++)
        if (strstr(profile->notes.items[i].what, part))
            return true;
    return false;
}

#endif
