/* builtin: what the build compiles in: the rules of checkers/ and the prelude (compile_rules). */
#ifndef TFPROF_RULES_BUILTIN_H
#define TFPROF_RULES_BUILTIN_H

#include "rules/rule.h"

struct builtin_rule {
    struct rule_info info;     /* without pack */
    struct str       bytecode; /* of the script, without its examples */
};
extern const struct builtin_rule builtin_rules[];
extern const size_t              builtin_rule_count;

struct str builtin_prelude(void); /* a chunk */

#endif
