/* builtin: what the build compiles in: the rules of checkers/, as bytecode, and the prelude (embed.cmake). */
#ifndef TFPROF_RULES_BUILTIN_H
#define TFPROF_RULES_BUILTIN_H

#include "base/str.h"

struct builtin_rule {
    const char *file; /* "hot-op.lua" */
    struct str  first_line; /* of the script: the comment it begins with */
    struct str  bytecode;
};
extern const struct builtin_rule builtin_rules[];
extern const size_t              builtin_rule_count;
extern const struct str          builtin_prelude;

#endif
