/* asking: options of tfprof.h as the arguments of a command. */
#include "base/macros.h"
#include "lib/handle.h"

#include <string.h>

/* Of the command line alone: where things go, and how they look there. The first one is also of
 * answers with files. */
static const char *const command_line_options[] = { "output", "list", "report", "color",
                                                    "against" };

struct words {
    VEC(char *) list;
};

static bool add_word(struct words *words, const char *option, struct arena *arena, struct err *err)
{
    char *word = arena_text(arena, "--%s", option);

    return (word && vec_push(&words->list, arena, word)) ||
           err_set(err, ERR_LIMIT, "the options do not fit the memory limit");
}

static const struct option *find_row(const struct command *command, const char *name)
{
    for (size_t i = 0; i < command->option_count; i++)
        if (strcmp(command->options[i].name, name) == 0)
            return &command->options[i];
    return NULL;
}

static bool is_named(const char *option, const char *name)
{
    size_t len = strlen(name);

    for (size_t i = 0; i < len; i++)
        if (option[i] != name[i] && !(option[i] == '_' && name[i] == '-'))
            return false;
    return option[len] == '\0' || option[len] == '=';
}

/* How to read: what has been read can't be read otherwise. */
static bool is_of_reading(const struct command *command, const char *option)
{
    size_t from = command->answer->input_offset;

    for (size_t i = 0; i < command->option_count; i++) {
        const struct option *row = &command->options[i];

        if (row->offset >= from && row->offset < from + sizeof(struct input_values) &&
            is_named(option, row->name))
            return true;
    }
    return false;
}

static bool check_option(const struct asking *asking, const char *option, struct err *err)
{
    for (size_t i = asking->command->answer->has_files; i < ARRAY_COUNT(command_line_options); i++)
        if (is_named(option, command_line_options[i]))
            return err_set(err, ERR_USAGE, "%s is an option of the command line alone",
                           command_line_options[i]);
    if (!asking->paths && is_of_reading(asking->command, option))
        return err_set(err, ERR_USAGE, "%s is said when a recording is opened", option);
    return true;
}

/* What is not asked for: JSON, and no configuration of wherever the program runs. */
static bool add_defaults(struct words *words, const struct command *command, struct arena *arena,
                         struct err *err)
{
    const struct option *format = find_row(command, "format");

    return (!format || !strstr(format->choices, "json") ||
            add_word(words, "format=json", arena, err)) &&
           (!find_row(command, "config") || add_word(words, "config=none", arena, err));
}

bool asking_parse(const struct asking *asking, struct call *call, struct err *err)
{
    const struct command *command = asking->command;
    struct words          words = { 0 };
    struct option_list    none;

    if (!add_defaults(&words, command, call->arena, err))
        return false;
    for (size_t i = 0; asking->options && asking->options[i]; i++)
        if (!check_option(asking, asking->options[i], err) ||
            !add_word(&words, asking->options[i], call->arena, err))
            return false;
    for (size_t i = 0; i < asking->path_count; i++)
        if (!vec_push(&call->operands.values, call->arena, asking->paths[i]))
            return err_set(err, ERR_LIMIT, "the paths do not fit the memory limit");
    call->values = arena_alloc(call->arena, command->values_bytes);
    call->subject = asking->subject;
    return option_parse(command->options, command->option_count, (int)words.list.count,
                        words.list.items, call->arena, call->values, &none, err);
}

/* By address; one profile may be both. */
void asking_lock(const struct asking *asking)
{
    tfprof_profile *first = asking->profiles[0], *second = asking->profiles[1];

    if (second && first > second) {
        first = asking->profiles[1];
        second = asking->profiles[0];
    }
    if (first)
        pthread_mutex_lock(&first->mutex);
    if (second && second != first)
        pthread_mutex_lock(&second->mutex);
}

void asking_unlock(const struct asking *asking)
{
    tfprof_profile *first = asking->profiles[0], *second = asking->profiles[1];

    if (second && second != first)
        pthread_mutex_unlock(&second->mutex);
    if (first)
        pthread_mutex_unlock(&first->mutex);
}
