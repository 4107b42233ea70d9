/*
 * option: rows that say what a command takes; parsing, help, man page and completion all come from
 * them. Both "-name value" and "--name=value", one dash or two; a flag's value is optional and may
 * be the next word ("-account_displayed_op_only false"), that of OPTION_CHOSEN stands behind "=". Underscores and dashes are the same. No
 * abbreviations; an unknown name suggests the nearest.
 */
#ifndef TFPROF_BASE_OPTION_H
#define TFPROF_BASE_OPTION_H

#include "base/arena.h"
#include "base/err.h"
#include "base/vec.h"

#include <stdbool.h>
#include <stddef.h>

enum option_kind {
    OPTION_FLAG,   /* bool */
    OPTION_COUNT,  /* int64_t >= 0 */
    OPTION_INTEGER, /* int64_t, negative ones too; "unit:bytes" and "unit:us": "64KB", "1.5ms" too */
    OPTION_NUMBER, /* double; `choices` may name a unit ("unit:share"): "0.5%", "50us" */
    OPTION_TEXT,   /* const char * */
    OPTION_ONE_OF, /* const char *, one of choices "a|b|c" */
    OPTION_LIST,   /* struct option_list: the option may repeat and each value may be a comma list */
    OPTION_CHOSEN, /* struct option_list of some of choices "a|b|c"; alone it is what preset names */
    OPTION_REPEAT, /* struct option_list: the option may repeat; commas do not split */
};
struct option_list {
    VEC(const char *) values;
};
struct option {
    const char      *name;     /* with dashes: "min-impact" */
    enum option_kind kind;
    size_t           offset;   /* of the field it fills */
    const char      *preset;   /* default as text; NULL: zero */
    const char      *choices;  /* ONE_OF: "a|b|c"; NUMBER: "unit:ns"; else a word for the value: "FILE" */
    const char      *help;     /* one sentence, no full stop */
    const char      *short_name; /* "o", or NULL */
    bool             is_legacy;  /* understood, but neither in help nor in completion */
};

/* Fills *values (a struct the offsets refer to) with presets, then from the arguments; operands in
 * order. "--" ends options. Values point into arguments or arena. */
bool option_parse(const struct option *options, size_t count, int argument_count,
                  char *const *arguments, struct arena *arena, void *values,
                  struct option_list *operands, struct err *err);
/* The same on top of what *values holds. */
bool option_update(const struct option *options, size_t count, int argument_count,
                   char *const *arguments, struct arena *arena, void *values,
                   struct option_list *operands, struct err *err);
bool option_presets(const struct option *options, size_t count, struct arena *arena, void *values,
                    struct err *err);
/* Size of the field that the option fills. */
size_t option_bytes(const struct option *option);
/* The candidate nearest to `name` by edit distance, or NULL when none is near. */
const char *option_nearest(const char *name, const char *const *candidates, size_t count);

#endif
