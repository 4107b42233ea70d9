/* --generate: the man page, shell completions and docs/facts.md, for the build. */
#include "base/file.h"
#include "base/macros.h"
#include "cli/command.h"
#include "cli/generate.h"

#include <string.h>

static const struct {
    const char *name;
    void (*write)(struct text *text);
} kinds[] = {
    { "man", generate_man },           { "bash", generate_bash },
    { "zsh", generate_zsh },           { "fish", generate_fish },
    { "facts", generate_facts },       { "annotations", generate_annotations },
    { "rule-api", generate_rule_api },
};

static bool run(struct call *call, struct err *err)
{
    const struct option_list *operands = &call->operands;

    for (size_t i = 0; operands->values.count == 1 && i < ARRAY_COUNT(kinds); i++) {
        struct text text = { .arena = call->arena };

        if (strcmp(operands->values.items[0], kinds[i].name) != 0)
            continue;
        kinds[i].write(&text);
        return file_write("-", text_str(&text), err);
    }
    return err_set(err, ERR_USAGE,
                   "--generate takes man, bash, zsh, fish, facts, annotations or rule-api");
}

const struct command command_generate = {
    .name = "--generate",
    .summary = "print the man page, a shell completion, annotations for editors or a page of docs",
    .operands = "man|bash|zsh|fish|facts|annotations|rule-api",
    .description = "Prints what cmake --install installs beside the program, docs/facts.md and "
                   "docs/rule-api.md.",
    .is_hidden = true,
    .run = run,
};
