/*
 * completion_lists: names that the program knows and completions offer: rules, tables, attributes of
 * views, recipes, what `why` can be asked. Help says by one word where one of a list stands, as RULE
 * in "--only=RULE" and in "explain RULE".
 */
#ifndef TFPROF_CLI_COMPLETION_LISTS_H
#define TFPROF_CLI_COMPLETION_LISTS_H

#include "base/option.h"
#include "base/text.h"
#include "cli/command.h"

struct completion_list {
    const char *name;             /* "rules": of the variable that holds it in a script */
    const char *option, *operand; /* the word for one of it in help, or NULL */
    bool        is_last;          /* the operand stands behind the others, not before them */
    void (*add)(struct text *text); /* each name with a blank before it */
};
extern const struct completion_list completion_lists[];
extern const size_t                 completion_list_count;

/* NULL: the values of the option are in no list. */
const struct completion_list *completion_of_option(const struct option *option);
const struct completion_list *completion_of_operand(const struct command *command);

#endif
