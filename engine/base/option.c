#include "base/option.h"

#include "base/text.h"
#include "base/unit.h"

#include <math.h>
#include <string.h>

enum { LONGEST_NAME = 64 };

struct parser {
    const struct option *options;
    size_t               count;
    struct arena        *arena;
    void                *values;
    bool                *was_given; /* by option; NULL while presets are filled in */
};

/* Underscores and dashes are the same. */
static bool is_named(struct str word, const char *name)
{
    struct str wanted = str_from(name);

    if (!name || word.len != wanted.len)
        return false;
    for (size_t i = 0; i < word.len; i++) {
        char byte = word.data[i] == '_' ? '-' : word.data[i];

        if (byte != (wanted.data[i] == '_' ? '-' : wanted.data[i]))
            return false;
    }
    return true;
}

static const struct option *find_option(const struct parser *parser, struct str name)
{
    for (size_t i = 0; i < parser->count; i++)
        if (is_named(name, parser->options[i].name) ||
            is_named(name, parser->options[i].short_name))
            return &parser->options[i];
    return NULL;
}

static bool scan_flag(struct str text, bool *value)
{
    static const struct {
        struct str word;
        bool       value;
    } words[] = {
        { STR_INIT("true"), true }, { STR_INIT("false"), false }, { STR_INIT("1"), true },
        { STR_INIT("0"), false },   { STR_INIT("yes"), true },    { STR_INIT("no"), false },
        { STR_INIT("on"), true },   { STR_INIT("off"), false },
    };

    for (size_t i = 0; i < ARRAY_COUNT(words); i++) {
        if (!str_equal(text, words[i].word))
            continue;
        *value = words[i].value;
        return true;
    }
    return false;
}

/* Whole words only: "-flag 0" is a flag and an operand, "-flag false" a flag with its value. */
static bool is_flag_word(const char *word)
{
    return word && (strcmp(word, "true") == 0 || strcmp(word, "false") == 0 ||
                    strcmp(word, "yes") == 0 || strcmp(word, "no") == 0);
}

static bool set_flag(const struct option *option, const char *text, void *field, struct err *err)
{
    if (scan_flag(str_from(text), field))
        return true;
    return err_set(err, ERR_USAGE, "--%s is true or false, not '%s'", option->name, text);
}

static bool set_count(const struct option *option, const char *text, void *field, struct err *err)
{
    int64_t number;

    if (!str_to_int64(str_from(text), &number) || number < 0)
        return err_set(err, ERR_USAGE, "--%s needs a whole number from 0 on, not '%s'",
                       option->name, text);
    *(int64_t *)field = number;
    return true;
}

/* "64KB", "1.5ms" where the option counts bytes or microseconds. */
static bool scan_amount(const struct option *option, struct str text, int64_t *number)
{
    struct str choices = str_from(option->choices);
    bool       is_micros = str_equal(choices, STR("unit:us"));
    bool       has_unit = text.len && (text.data[text.len - 1] | 0x20) >= 'a';
    double     amount;

    if (!has_unit || (!is_micros && !str_equal(choices, STR("unit:bytes"))) ||
        !unit_scan(text, is_micros ? UNIT_NS : UNIT_BYTES, &amount))
        return false;
    amount /= is_micros ? 1000 : 1;
    *number = fabs(amount) < 0x1p62 ? llround(amount) : 0;
    return fabs(amount) < 0x1p62;
}

static bool set_integer(const struct option *option, const char *text, void *field, struct err *err)
{
    struct str digits = str_from(text);

    if (str_starts(digits, STR("+")) && !str_starts(digits, STR("+-")))
        digits = str_slice(digits, 1, digits.len);
    if (str_to_int64(digits, field) || scan_amount(option, digits, field))
        return true;
    err_set(err, ERR_USAGE, "--%s needs a whole number, not '%s'", option->name, text);
    if (option->choices && strcmp(option->choices, "unit:us") == 0)
        err_advise(err, "microseconds, or a time such as 1.5ms");
    else if (option->choices && strcmp(option->choices, "unit:bytes") == 0)
        err_advise(err, "bytes, or a size such as 64KB");
    return false;
}

static bool set_number(const struct option *option, const char *text, void *field, struct err *err)
{
    enum unit  unit = UNIT_NONE;
    struct str choices = str_from(option->choices);

    if (str_starts(choices, STR("unit:")))
        unit_from_name(str_slice(choices, 5, choices.len), &unit);
    if (unit_scan(str_from(text), unit, field))
        return true;
    err_set(err, ERR_USAGE, "--%s needs a number, not '%s'", option->name, text);
    if (unit == UNIT_NS)
        err_advise(err, "write a time such as 50us or 1.5ms");
    else if (unit == UNIT_SHARE)
        err_advise(err, "write a share such as 5%% or 0.05");
    else if (unit == UNIT_BYTES)
        err_advise(err, "write a size such as 64KiB or 1.5GB");
    return false;
}

static bool set_one_of(const struct option *option, const char *text, void *field, struct err *err)
{
    struct str rest = str_from(option->choices);
    char       list[ERR_TEXT_BYTES / 2];
    size_t     len = 0;

    while (rest.len) {
        struct str choice = str_cut(&rest, '|');

        if (str_equal(choice, str_from(text))) {
            *(const char **)field = text;
            return true;
        }
        if (len + choice.len + 5 < sizeof list) {
            const char *glue = len == 0 ? "" : rest.len ? ", " : " or ";

            memcpy(list + len, glue, strlen(glue));
            len += strlen(glue);
            memcpy(list + len, choice.data, choice.len);
            len += choice.len;
        }
    }
    return err_set(err, ERR_USAGE, "--%s is one of %.*s, not '%s'", option->name, (int)len, list,
                   text);
}

static bool add_value(struct parser *parser, struct option_list *list, struct str value,
                      struct err *err)
{
    struct str copy = arena_str(parser->arena, value);

    if (!copy.data || !vec_push(&list->values, parser->arena, copy.data))
        return err_set(err, ERR_LIMIT, "the options do not fit %zu bytes",
                       parser->arena->budget_bytes);
    return true;
}

static bool set_list(struct parser *parser, const struct option *option, const char *text,
                     struct err *err)
{
    struct option_list *list = (void *)((char *)parser->values + option->offset);
    struct str          rest = str_from(text);
    size_t              index = (size_t)(option - parser->options);

    if (parser->was_given && !parser->was_given[index])
        *list = (struct option_list) { 0 }; /* what is asked for replaces the preset */
    if (option->kind == OPTION_REPEAT)
        return add_value(parser, list, rest, err);
    while (rest.len) {
        struct str value = str_cut(&rest, ',');

        if (value.len && !add_value(parser, list, value, err))
            return false;
    }
    return true;
}

static bool set_chosen(struct parser *parser, const struct option *option, const char *text,
                       struct err *err)
{
    const struct option_list *list = (void *)((char *)parser->values + option->offset);
    const char               *choice;

    if (!set_list(parser, option, text, err))
        return false;
    for (size_t i = 0; i < list->values.count; i++)
        if (!set_one_of(option, list->values.items[i], &choice, err))
            return false;
    return true;
}

static bool set_value(struct parser *parser, const struct option *option, const char *text,
                      struct err *err)
{
    void *field = (char *)parser->values + option->offset;

    switch (option->kind) {
    case OPTION_FLAG:
        return set_flag(option, text, field, err);
    case OPTION_COUNT:
        return set_count(option, text, field, err);
    case OPTION_INTEGER:
        return set_integer(option, text, field, err);
    case OPTION_NUMBER:
        return set_number(option, text, field, err);
    case OPTION_TEXT:
        *(const char **)field = text;
        return true;
    case OPTION_ONE_OF:
        return set_one_of(option, text, field, err);
    case OPTION_CHOSEN:
        return set_chosen(parser, option, text, err);
    case OPTION_LIST:
    case OPTION_REPEAT:
        return set_list(parser, option, text, err);
    }
    return false;
}

size_t option_bytes(const struct option *option)
{
    switch (option->kind) {
    case OPTION_FLAG:
        return sizeof(bool);
    case OPTION_COUNT:
    case OPTION_INTEGER:
        return sizeof(int64_t);
    case OPTION_NUMBER:
        return sizeof(double);
    case OPTION_TEXT:
    case OPTION_ONE_OF:
        return sizeof(const char *);
    case OPTION_LIST:
    case OPTION_CHOSEN:
    case OPTION_REPEAT:
        return sizeof(struct option_list);
    }
    return 0;
}

bool option_presets(const struct option *options, size_t count, struct arena *arena, void *values,
                    struct err *err)
{
    struct parser parser = { options, count, arena, values, NULL };

    for (size_t i = 0; i < count; i++) {
        memset((char *)values + options[i].offset, 0, option_bytes(&options[i]));
        if (options[i].preset && options[i].kind != OPTION_CHOSEN &&
            !set_value(&parser, &options[i], options[i].preset, err))
            return false;
    }
    return true;
}

/* The option that takes this word for its value, as --format takes json; NULL: none. */
static const struct option *takes_word(const struct parser *parser, struct str word)
{
    for (size_t i = 0; i < parser->count; i++) {
        struct str left = str_from(parser->options[i].choices ? parser->options[i].choices : "");

        while (parser->options[i].kind == OPTION_ONE_OF && left.len)
            if (str_equal(str_cut(&left, '|'), word))
                return &parser->options[i];
    }
    return NULL;
}

static bool unknown_option(const struct parser *parser, struct str name, struct err *err)
{
    char        word[LONGEST_NAME];
    const char *nearest = NULL;
    VEC(const char *) names = { 0 };
    const struct option *takes = takes_word(parser, name);

    err_set(err, ERR_USAGE, "unknown option --%.*s", STR_ARG(name));
    if (takes)
        return err_advise(err, "did you mean --%s=%.*s?", takes->name, STR_ARG(name));
    if (name.len >= sizeof word || !vec_reserve(&names, parser->arena, parser->count))
        return false;
    for (size_t i = 0; i < parser->count; i++)
        names.items[names.count++] = parser->options[i].name;
    for (size_t i = 0; i < name.len; i++)
        word[i] = name.data[i] == '_' ? '-' : name.data[i];
    word[name.len] = '\0';
    nearest = option_nearest(word, names.items, names.count);
    if (nearest)
        err_advise(err, "did you mean --%s?", nearest);
    return false;
}

/* Name of the option that a word spells, without dashes and value; empty when it spells none. */
static struct str option_name(const char *word)
{
    struct str name = str_from(word);

    if (name.len < 2 || name.data[0] != '-')
        return (struct str) { "", 0 };
    name = str_slice(name, name.data[1] == '-' ? 2 : 1, name.len);
    return str_slice(name, 0, str_find(name, '='));
}

/* Takes the option at arguments[*at] and, if it is there, its value; moves *at behind them. */
static bool take_option(struct parser *parser, int argument_count, char *const *arguments, int *at,
                        struct err *err)
{
    const char          *word = arguments[(*at)++];
    struct str           name = option_name(word);
    const char          *value = name.data[name.len] == '=' ? name.data + name.len + 1 : NULL;
    const struct option *option = find_option(parser, name);
    const char          *next = *at < argument_count ? arguments[*at] : NULL;

    if (!option)
        return unknown_option(parser, name, err);
    if (!value && option->kind == OPTION_CHOSEN) {
        value = option->preset;
    } else if (!value && option->kind == OPTION_FLAG) {
        value = is_flag_word(next) ? next : "true";
        *at += value == next;
    } else if (!value) {
        struct str other = next ? option_name(next) : (struct str) { "", 0 };

        if (!next || (other.len && find_option(parser, other)))
            return err_set(err, ERR_USAGE, "--%s needs a value", option->name);
        value = next;
        (*at)++;
    }
    if (!set_value(parser, option, value, err))
        return false;
    parser->was_given[option - parser->options] = true;
    return true;
}

/* NOLINTNEXTLINE(readability-function-size): the one interface of all commands */
bool option_parse(const struct option *options, size_t count, int argument_count,
                  char *const *arguments, struct arena *arena, void *values,
                  struct option_list *operands, struct err *err)
{
    return option_presets(options, count, arena, values, err) &&
           option_update(options, count, argument_count, arguments, arena, values, operands, err);
}

/* NOLINTNEXTLINE(readability-function-size): as option_parse */
bool option_update(const struct option *options, size_t count, int argument_count,
                   char *const *arguments, struct arena *arena, void *values,
                   struct option_list *operands, struct err *err)
{
    struct parser parser = { options, count, arena, values, arena_new_array(arena, bool, count) };
    bool          is_past_options = false;

    if (!parser.was_given)
        return err_set(err, ERR_LIMIT, "the options do not fit %zu bytes", arena->budget_bytes);
    for (int at = 0; at < argument_count;) {
        const char *word = arguments[at];

        if (!is_past_options && strcmp(word, "--") == 0) {
            is_past_options = true;
            at++;
        } else if (!is_past_options && word[0] == '-' && word[1]) {
            if (!take_option(&parser, argument_count, arguments, &at, err))
                return false;
        } else {
            if (!vec_push(&operands->values, arena, word))
                return err_set(err, ERR_LIMIT, "the operands do not fit %zu bytes",
                               arena->budget_bytes);
            at++;
        }
    }
    return true;
}

static size_t smaller(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* Insertions, deletions and replacements that turn one word into the other, two rows at a time. */
static size_t edit_distance(const char *a, size_t a_len, const char *b, size_t b_len)
{
    size_t above[LONGEST_NAME + 1], row[LONGEST_NAME + 1];

    memset(row, 0, sizeof row);
    for (size_t j = 0; j <= LONGEST_NAME; j++)
        above[j] = j;
    for (size_t i = 0; i < a_len; i++) {
        row[0] = i + 1;
        for (size_t j = 0; j < b_len; j++)
            row[j + 1] = smaller(smaller(above[j + 1], row[j]) + 1, above[j] + (a[i] != b[j]));
        memcpy(above, row, (b_len + 1) * sizeof *row);
    }
    return above[b_len];
}

const char *option_nearest(const char *name, const char *const *candidates, size_t count)
{
    size_t      len = strlen(name);
    size_t      best = len / 3 + 2; /* first distance that is too far */
    const char *nearest = NULL;

    if (len == 0 || len > LONGEST_NAME)
        return NULL;
    for (size_t i = 0; i < count; i++) {
        size_t other_len = candidates[i] ? strlen(candidates[i]) : 0;

        if (other_len == 0 || other_len > LONGEST_NAME)
            continue;
        size_t distance = edit_distance(name, len, candidates[i], other_len);

        if (distance >= best || distance >= len)
            continue;
        best = distance;
        nearest = candidates[i];
    }
    return nearest;
}
