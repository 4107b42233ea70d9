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
