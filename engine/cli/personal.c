#include "cli/personal.h"

#include "base/file.h"
#include "base/macros.h"
#include "base/toml.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_FILE_BYTES = 1 << 20 };
static const char ALL[] = "all";
/* A project says them, in tfprof.toml, for everyone who runs it. */
static const char *const of_projects[] = { "budget",          "counts",       "damage",
                                           "fail-on",         "inconclusive", "only",
                                           "preset",          "rules",        "set",
                                           "count-tolerance", "config",       "max-regression" };
/* What they say must not depend on who asks. */
static const char *const shared_commands[] = { "gate", "baseline", "verify", "history" };
static const char *const of_anyone[] = { "color", "format", "threads", "memory" };

static bool is_among(const char *name, const char *const *names, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(name, names[i]) == 0)
            return true;
    return false;
}

static bool is_same(const char *a, const char *b)
{
    for (; *a && (*a == *b || (*a == '_' && *b == '-') || (*a == '-' && *b == '_')); a++)
        b++;
    return *a == *b;
}

static const struct option *row_of(const struct command *command, const char *name)
{
    for (size_t i = 0; i < command->option_count; i++)
        if (is_same(name, command->options[i].name))
            return &command->options[i];
    return NULL;
}

/* Texts name what one command is about: a file, a step, a host. */
static bool is_personal(const struct option *option)
{
    return option->kind != OPTION_TEXT && option->kind != OPTION_REPEAT &&
           !strstr(option->name, "-path") && strcmp(option->name, "list") != 0 &&
           !is_among(option->name, of_projects, ARRAY_COUNT(of_projects));
}

static bool unknown_key(const struct toml_entry *entry, const struct command *command,
                        struct arena *arena, struct err *err)
{
    VEC(const char *) names = { 0 };
    const char *near;

    for (size_t i = 0; command && i < command->option_count; i++)
        if (is_personal(&command->options[i]) && !vec_push(&names, arena, command->options[i].name))
            return false;
    near = option_nearest(entry->key, names.items, names.count);
    err_set(err, ERR_USAGE, "[%s] has no key '%s'", entry->table, entry->key);
    if (near)
        err_advise(err, "did you mean %s?", near);
    return toml_fault(entry, err);
}

static bool unknown_table(const struct toml_entry *entry, struct err *err)
{
    const char *near = command_nearest(entry->table);

    if (entry->table[0])
        err_set(err, ERR_USAGE, "there is no command '%s'", entry->table);
    else
        err_set(err, ERR_USAGE, "'%s' stands outside a table", entry->key);
    if (near && entry->table[0])
        err_advise(err, "did you mean [%s]?", near);
    else
        err_advise(err, "a table is a command, or [all]");
    return toml_fault(entry, err);
}

static bool is_in_some_command(const char *name)
{
    for (size_t i = 0; i < command_count; i++)
        if (row_of(commands[i], name))
            return true;
    return false;
}

static bool check(const struct toml_entry *entry, const struct option *option, struct err *err)
{
    if (!is_personal(option)) {
        err_set(err, ERR_USAGE, "%s is not a person's to say", option->name);
        err_advise(err, is_among(option->name, of_projects, ARRAY_COUNT(of_projects))
                            ? "a project's tfprof.toml says it, or the command line"
                            : "it belongs on the command line");
        return toml_fault(entry, err);
    }
    if (entry->kind == TOML_ARRAY && option->kind != OPTION_LIST && option->kind != OPTION_CHOSEN) {
        err_set(err, ERR_USAGE, "%s takes one value", option->name);
        return toml_fault(entry, err);
    }
    return true;
}

static bool add_word(struct personal_words *words, const struct option *option, const char *value,
                     struct arena *arena, struct err *err)
{
    char *word = arena_text(arena, "--%s=%s", option->name, value);

    return (word && vec_push(&words->list, arena, word)) || err_memory(err, "the configuration");
}

static bool add(struct personal_words *words, const struct toml_entry *entry,
                const struct option *option, struct arena *arena, struct err *err)
{
    if (entry->kind != TOML_ARRAY)
        return add_word(words, option,
                        entry->kind != TOML_BOOL ? entry->text
                        : entry->number > 0      ? "true"
                                                 : "false",
                        arena, err);
    for (size_t i = 0; i < entry->items.count; i++)
        if (!add_word(words, option, entry->items.items[i], arena, err))
            return false;
    return true;
}

/* All entries are checked, whichever command runs. */
static bool take(struct personal_words *words, const struct toml_entry *entry,
                 const struct command *command, struct arena *arena, struct err *err)
{
    bool                  is_all = strcmp(entry->table, ALL) == 0;
    const struct command *named = is_all ? command : command_find(entry->table);
    const struct option  *option = named ? row_of(named, entry->key) : NULL;

    if (!named)
        return unknown_table(entry, err);
    if (!option)
        return (is_all && is_in_some_command(entry->key)) ||
               unknown_key(entry, is_all ? &command_advise : named, arena, err);
    if (!check(entry, option, err))
        return false;
    if (named != command ||
        (is_among(command->name, shared_commands, ARRAY_COUNT(shared_commands)) &&
         !is_among(option->name, of_anyone, ARRAY_COUNT(of_anyone))))
        return true;
    return add(words, entry, option, arena, err);
}

/* NULL: no such file. */
static const char *find_file(struct arena *arena)
{
    const char *home = getenv("HOME"), *config = getenv("XDG_CONFIG_HOME");
    const char *path = NULL;

    if (config && config[0] == '/')
        path = arena_text(arena, "%s/tfprof/config.toml", config);
    else if (home && home[0] == '/')
        path = arena_text(arena, "%s/.config/tfprof/config.toml", home);
    return path && file_exists(path) ? path : NULL;
}

static bool does_without(int argument_count, char *const *arguments)
{
    for (int i = 0; i < argument_count && strcmp(arguments[i], "--") != 0; i++)
        if (strcmp(arguments[i], "--config=none") == 0 ||
            (i + 1 < argument_count && strcmp(arguments[i], "--config") == 0 &&
             strcmp(arguments[i + 1], "none") == 0))
            return true;
    return false;
}

/* What is wrong with a value is the file's fault, too. */
static bool try_words(const struct command *command, const struct personal_words *words,
                      size_t from, struct arena *arena, struct err *err)
{
    struct option_list none = { 0 };

    return option_parse(command->options, command->option_count, (int)(words->list.count - from),
                        words->list.items + from, arena, arena_alloc(arena, command->values_bytes),
                        &none, err);
}

static bool read_entries(const struct toml *toml, const struct command *command,
                         struct arena *arena, struct personal_words *words, struct err *err)
{
    for (int pass = 0; pass < 2; pass++) /* a command's own table comes behind [all] */
        for (size_t i = 0; i < toml->entries.count; i++) {
            const struct toml_entry *entry = &toml->entries.items[i];
            size_t                   before = words->list.count;

            if ((strcmp(entry->table, ALL) == 0) != (pass == 0))
                continue;
            if (!take(words, entry, command, arena, err))
                return false;
            if (words->list.count > before && !try_words(command, words, before, arena, err))
                return toml_fault(entry, err);
        }
    return true;
}

bool personal_options(const struct command *command, int argument_count, char *const *arguments,
                      struct arena *arena, struct personal_words *words, struct err *err)
{
    struct file file = { 0 };
    struct toml toml;
    const char *path;
    bool        is_fine;

    if (command->option_count == 0 || command->is_hidden ||
        does_without(argument_count, arguments) || !(path = find_file(arena)))
        return true;
    if (!file_open(&file, path, MOST_FILE_BYTES, err))
        return false;
    is_fine = toml_parse(file.bytes, arena, &toml, err) &&
              read_entries(&toml, command, arena, words, err);
    file_close(&file);
    return is_fine || err_source(err, path);
}
