/* rules_verbs: what `tfprof rules VERB` can be besides the list of rules. */
#ifndef TFPROF_CLI_RULES_VERBS_H
#define TFPROF_CLI_RULES_VERBS_H

#include "cli/command.h"
#include "cli/result.h"

struct rules_values {
    struct result_values result;
    struct option_list   directories;
    const char          *severity, *config;
};

struct rules_verb {
    const char *name;
    bool (*run)(struct call *call, struct err *err); /* operands without the verb */
};
const struct rules_verb *rules_verb_find(const char *name); /* NULL: no verb */

#endif
