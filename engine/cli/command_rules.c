/* rules: the list of rules, and what their authors do with them. */
#include "base/macros.h"
#include "cli/command.h"
#include "cli/project.h"
#include "cli/rules_verbs.h"
#include "rules/catalogue.h"

#include <string.h>

#define RESULT(field) offsetof(struct rules_values, result.field)
/* clang-format off */
static const struct option options[] = {
#include "cli/result_options.def"
    { .name = "severity", .kind = OPTION_ONE_OF, .offset = offsetof(struct rules_values, severity),
      .choices = "info|warn|error|veto", .help = "list rules of this severity alone" },
    { .name = "rules", .kind = OPTION_REPEAT, .offset = offsetof(struct rules_values, directories),
      .choices = "DIR", .help = "add the rules of a directory" },
    { .name = "config", .kind = OPTION_TEXT, .offset = offsetof(struct rules_values, config),
      .choices = "FILE",
      .help = "read this tfprof.toml instead of looking for one; none: do without" },
};
/* clang-format on */

static bool is_named(const struct rule_info *rule, const char *name)
{
    if (strcmp(rule->id, name) == 0 || (rule->pack && strcmp(rule->pack, name) == 0) ||
        strcmp(rule->category, name) == 0)
        return true;
    for (size_t i = 0; i < rule->tags.count; i++) {
        if (strcmp(rule->tags.items[i], name) == 0)
            return true;
    }
    return false;
}

static bool is_wanted(const struct rule_info *rule, const struct call *call)
{
    const struct rules_values *values = call->values;

    if (values->severity && strcmp(severity_name(rule->severity), values->severity) != 0)
        return false;
    for (size_t i = 0; i < call->operands.values.count; i++) {
        if (is_named(rule, call->operands.values.items[i]))
            return true;
    }
    return call->operands.values.count == 0;
}

static bool list(struct call *call, struct err *err)
{
    const struct rules_values *values = call->values;
    struct output_options      shape = result_options(&values->result);
    struct rule_list           found = { 0 };
    struct text                text = { .arena = call->arena };
    struct advise_options      settings = { .rule_directories = values->directories };
    size_t                     kept = 0;

    if (!project_load_into(values->config, &settings, call->arena, err) ||
        !rules_list(&settings, call->arena, &found, err))
        return false;
    for (size_t i = 0; i < found.rules.count; i++) {
        if (is_wanted(&found.rules.items[i], call))
            found.rules.items[kept++] = found.rules.items[i];
    }
    if (kept == 0 && call->operands.values.count > 0)
        return err_set(err, ERR_USAGE, "no rule, category or tag '%s'",
                       call->operands.values.items[0]);
    found.rules.count = kept;
    result_output(&values->result)->rules(&found, &shape, &text);
    project_warn_unfiltered(found.is_unfiltered);
    return result_write(&values->result, &text, err);
}

static bool run(struct call *call, struct err *err)
{
    const struct rules_verb *verb =
        call->operands.values.count ? rules_verb_find(call->operands.values.items[0]) : NULL;

    if (!verb)
        return list(call, err);
    call->operands.values.items++;
    call->operands.values.count--;
    return verb->run(call, err);
}

const struct command command_rules = {
    .name = "rules",
    .summary = "list the rules; write, test and document your own",
    .operands =
        "[RULE|CATEGORY|TAG... | new ID [DIR] | test PATH... | lint PATH... | docs PATH... | "
        "bench PROFILE...]",
    .description =
        "Prints id, severity and title of every rule by category, or of those named.\n\n"
        "new writes a commented rule with examples that pass. test runs the examples in a "
        "directory, and the fixtures (*.synth) below it: each must do what it says, one must fire "
        "and one must be quiet; then it halves and doubles parameters, facts, tables and the "
        "times of fixtures one by one and names those that no example notices. lint says what a "
        "reviewer would. docs writes a page in Markdown. bench says what "
        "each rule costs on a profile. test, lint and docs exit with 1 when something is wrong.",
    .options = options,
    .option_count = ARRAY_COUNT(options),
    .values_bytes = sizeof(struct rules_values),
    .run = run,
};
