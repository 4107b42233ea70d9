/* own_lines.c: see own_lines.h. */
#include "analyze/step/own_lines.h"

static bool is_own(const struct study *study, const bool *is_user, uint32_t event)
{
    uint32_t source = event_activity(study->profile, event)->source;

    return source < study->profile->sources.count && is_user[source];
}

uint32_t own_line(const struct study *study, const bool *is_user, uint32_t event)
{
    while (event != NO_ID && !is_own(study, is_user, event))
        event = study->around[event];
    return event == NO_ID ? NO_ID : event_activity(study->profile, event)->source;
}

static bool is_around(const struct study *study, uint32_t outer, uint32_t event)
{
    while (event != NO_ID && event != outer)
        event = study->around[event];
    return event == outer;
}

uint32_t own_line_apart(const struct study *study, const bool *is_user, uint32_t event,
                        uint32_t other)
{
    uint32_t line = NO_ID;

    for (; event != NO_ID; event = study->around[event]) {
        if (!is_own(study, is_user, event))
            continue;
        if (is_around(study, event, other))
            return line != NO_ID ? line : event_activity(study->profile, event)->source;
        line = event_activity(study->profile, event)->source;
    }
    return line;
}
