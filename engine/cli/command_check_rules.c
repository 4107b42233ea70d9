/* check-rules: runs the examples that rule files carry. */
#include "base/file.h"
#include "base/macros.h"
#include "cli/command.h"
#include "rules/catalogue.h"

static bool run(struct call *call, struct err *err)
{
    struct text text = { .arena = call->arena };
    uint32_t    rule_count = 0, fault_count = 0;

    if (call->operands.values.count == 0)
        return err_set(err, ERR_USAGE, "no directory of rules given");
    for (size_t i = 0; i < call->operands.values.count; i++) {
        uint32_t rules = 0, faults = 0;

        if (!rules_check(call->operands.values.items[i], call->arena, &text, &rules, &faults, err))
            return false;
        rule_count += rules;
        fault_count += faults;
    }
    text_print(&text, "%u rule%s checked, %u fault%s\n", rule_count, rule_count == 1 ? "" : "s",
               fault_count, fault_count == 1 ? "" : "s");
    if (fault_count > 0)
        call->status = 1;
    return file_write("-", text_str(&text), err);
}

const struct command command_check_rules = {
    .name = "check-rules",
    .summary = "run the examples in a directory of rules",
    .operands = "DIR...",
    .description = "Loads every rule of a directory, runs its examples and says which do not hold. "
                   "Each rule must have an example that fires and one that is quiet. Exits with 1 "
                   "when there is a fault.",
    .takes_files = true,
    .run = run,
};
