/* --generate: man pages, shell completions and docs/facts.md, for the build. */
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

/* tfprof.1 and a page a command, in a folder. */
static bool write_pages(struct arena *arena, const char *folder, struct err *err)
{
    struct text all = { .arena = arena };

    generate_man(&all);
    if (!file_write(arena_text(arena, "%s/tfprof.1", folder), text_str(&all), err))
        return false;
    for (size_t i = 0; i < command_count; i++) {
        struct text page = { .arena = arena };
        const char *path = arena_text(arena, "%s/tfprof-%s.1", folder, commands[i]->name);

        if (commands[i]->is_hidden)
            continue;
        generate_man_of(&page, commands[i]);
        if (!file_write(path, text_str(&page), err))
            return false;
    }
    return true;
}

static bool run(struct call *call, struct err *err)
{
    const struct option_list *operands = &call->operands;

    if (operands->values.count == 2 && strcmp(operands->values.items[0], "man") == 0)
        return write_pages(call->arena, operands->values.items[1], err);

    for (size_t i = 0; operands->values.count == 1 && i < ARRAY_COUNT(kinds); i++) {
        struct text text = { .arena = call->arena };

        if (strcmp(operands->values.items[0], kinds[i].name) != 0)
            continue;
        kinds[i].write(&text);
        return file_write("-", text_str(&text), err);
    }
    return err_set(
        err, ERR_USAGE,
        "--generate takes man (and a folder, for a page a command), bash, zsh, fish, facts, "
        "annotations or rule-api");
}

const struct command command_generate = {
    .name = "--generate",
    .summary = "print the man page, a shell completion, annotations for editors or a page of docs",
    .operands = "man [FOLDER]|bash|zsh|fish|facts|annotations|rule-api",
    .description = "Prints what cmake --install installs beside the program, docs/facts.md and "
                   "docs/rule-api.md.",
    .is_hidden = true,
    .run = run,
};
