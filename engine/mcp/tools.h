/* tools: what agents may ask, through tfprof.h alone; nothing is written or changed. */
#ifndef TFPROF_MCP_TOOLS_H
#define TFPROF_MCP_TOOLS_H

#include "base/json_writer.h"
#include "lib/tfprof.h"

#include <sys/stat.h>

enum { OPENED_FILES = 4, OPENED_PATH_BYTES = 4096 };

struct opened_recording { /* a plain file that was read, while it is as it was then */
    char            path[OPENED_PATH_BYTES];
    struct stat     status;
    tfprof_profile *profile; /* NULL: none */
};
struct tools {
    struct opened_recording opened[OPENED_FILES]; /* newest first */
};
struct tool_call {
    struct tools *tools;
    struct str    arguments; /* an object as written; empty: none */
    struct arena *arena;     /* of one message */
};

/* The key "tools" with name, purpose and schemas of each. */
void tools_list(struct json_writer *json, struct arena *arena);
/* Fills `result`, an object on one line; false: *why says what is wrong, for the agent to mend.
 * *is_known is false where there is no such tool. */
bool tools_call(struct tool_call *call, struct str name, bool *is_known, struct str *result,
                const char **why);
void tools_free(struct tools *tools);

#endif
