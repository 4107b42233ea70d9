/* part: the names of parts, from their rows. */
#include "analyze/path/path.h"

const char *part_name(enum part part)
{
    static const char *const names[PART_COUNT] = {
#define PART(id, name, fact, title, verdict, column, help) [PART_##id] = name,
#include "analyze/path/part.def"
    };

    return names[part];
}

const char *part_title(enum part part)
{
    static const char *const titles[PART_COUNT] = {
#define PART(id, name, fact, title, verdict, column, help) [PART_##id] = title,
#include "analyze/path/part.def"
    };

    return part < PART_COUNT ? titles[part] : "unknown";
}

const char *part_ns_fact(enum part part)
{
    static const char *const facts[PART_COUNT] = {
#define PART(id, name, fact, title, verdict, column, help) [PART_##id] = "part." fact "_ns",
#include "analyze/path/part.def"
    };

    return facts[part];
}

const char *part_share_fact(enum part part)
{
    static const char *const facts[PART_COUNT] = {
#define PART(id, name, fact, title, verdict, column, help) [PART_##id] = "part." fact "_share",
#include "analyze/path/part.def"
    };

    return facts[part];
}

/* Those of which the verdict says that the host is the limit. */
bool part_is_of_host(enum part part)
{
    enum verdict { INPUT, COMPUTE, COMMUNICATION, COPY, COMPILE, HOST, IDLE, UNKNOWN };
    static const uint8_t verdicts[PART_COUNT] = {
#define PART(id, name, fact, title, verdict, column, help) [PART_##id] = verdict,
#include "analyze/path/part.def"
    };

    return verdicts[part] == HOST;
}
