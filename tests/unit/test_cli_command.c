
#include "testing.h"

#include "base/macros.h"
#include "cli/command.h"
#include "cli/generate.h"
#include "cli/input.h"
#include "cli/result.h"

#include <string.h>

TEST(arguments_choose_a_command)
{
    static const struct {
        const char *first, *expected; /* NULL: refused */
        int         used;
        const char *said;
    } cases[] = {
        { "advise", "advise", 1, NULL },
        { "info", "info", 1, NULL },
        { "--help", "help", 1, NULL },
        { "-h", "help", 1, NULL },
        { "--version", "version", 1, NULL },
        { "--generate", "--generate", 1, NULL },
        { "-", "advise", 0, NULL },
        { "--graph_path=x", "prompt", 0, NULL },
        { "--graph-path", "advise", 0, NULL },
        { "-format=json", "advise", 0, NULL },
        { TESTS_DIR, "advise", 0, NULL },
        { "advice", NULL, 0, "did you mean 'advise'?" },
        { "explian", NULL, 0, "did you mean 'explain'?" },
        { "qqqqqqqqqq", NULL, 0, "tfprof help" },
        { "missing.xplane.pb", NULL, 0, "no such file" },
    };

    for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
        char                 *arguments[] = { (char *)(uintptr_t)cases[i].first };
        struct err            err = { 0 };
        int                   used = 0;
        const struct command *command = command_choose(1, arguments, &used, &err);

        print_message("%s\n", cases[i].first);
        if (!cases[i].expected) {
            assert_null(command);
            assert_non_null(strstr(err.text, cases[i].said));
            continue;
        }
        assert_non_null(command);
        assert_string_equal(command->name, cases[i].expected);
        assert_int_equal(used, cases[i].used);
    }
}

TEST(steps_are_ranges)
{
    static const struct {
        const char *text;
        bool        is_good;
        int64_t     first, last;
    } cases[] = {
        { "4:13", true, 4, 13 },
        { "7", true, 7, 7 },
        { "4:", true, 4, INT64_MAX },
        { ":9", true, INT64_MIN, 9 },
        { ":", true, INT64_MIN, INT64_MAX },
        { "5:5", true, 5, 5 },
        { "", false, 0, 0 },
        { "9:4", false, 0, 0 },
        { "a:b", false, 0, 0 },
        { "1:2:3", false, 0, 0 },
        { "4-13", false, 0, 0 },
        { "99999999999999999999", false, 0, 0 },
    };

    for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
        struct err err = { 0 };
        int64_t    first = 0, last = 0;

        print_message("'%s'\n", cases[i].text);
        assert_int_equal(input_steps_scan(cases[i].text, &first, &last, &err), cases[i].is_good);
        assert_int_equal(err.code, cases[i].is_good ? ERR_NONE : ERR_USAGE);
        if (cases[i].is_good) {
            assert_true(first == cases[i].first);
            assert_true(last == cases[i].last);
        }
    }
}

static bool is_word_in(struct arena *arena, const struct text *text, const char *format,
                       const char *name)
{
    struct text word = { .arena = arena };
    struct str  rest = str_from(format);

    while (rest.len > 0) {
        struct str part = str_cut(&rest, '%');

        text_add(&word, part);
        if (rest.len > 0)
            text_add(&word, str_from(name));
    }
    return str_contains(text_str(text), text_str(&word));
}

/* Every option of every command is in each completion. */
TEST(completions_know_every_option)
{
    static const struct {
        void (*write)(struct text *text);
        const char *flag;
    } shells[] = {
        { generate_bash, " --%" },
        { generate_zsh, "'--%" },
        { generate_fish, " -l %" },
    };
    struct arena arena = { 0 };

    for (size_t shell = 0; shell < ARRAY_COUNT(shells); shell++) {
        struct text text = { .arena = &arena };

        shells[shell].write(&text);
        for (size_t i = 0; i < command_count; i++) {
            for (size_t j = 0; !commands[i]->is_hidden && j < commands[i]->option_count; j++)
                assert_true(
                    is_word_in(&arena, &text, shells[shell].flag, commands[i]->options[j].name));
        }
    }
    arena_free(&arena);
}

TEST(man_pages_are_roff)
{
    struct arena arena = { 0 };
    struct text  all = { .arena = &arena }, advise = { .arena = &arena },
                explain = { .arena = &arena };

    generate_man(&all);
    assert_non_null(strstr(all.data, ".TP\n.BR tfprof\\-explain (1)\n"));
    assert_null(strstr(all.data, "generate"));
    generate_man_of(&advise, command_find("advise"));
    assert_non_null(strstr(advise.data, "\\fB\\-\\-min\\-impact\\fR=\\fISHARE\\fR\n"));
    generate_man_of(&explain, command_find("explain"));
    assert_non_null(
        strstr(explain.data, ".B tfprof explain\n[\\fIoptions\\fR]\nRULE [PROFILE...]\n"));
    arena_free(&arena);
}

static const char *formats_of(const char *command_name)
{
    const struct command *command = command_find(command_name);

    for (size_t i = 0; i < command->option_count; i++)
        if (strcmp(command->options[i].name, "format") == 0)
            return command->options[i].choices;
    return "";
}

/* --format offers what there is; advise has the original's words as well. */
TEST(formats_are_the_outputs)
{
    struct arena arena = { 0 };
    struct text  advise = { .arena = &arena }, gate = { .arena = &arena };

    for (size_t i = 0; i < output_count; i++) {
        if (outputs[i]->advice)
            text_print(&advise, "%s|", outputs[i]->name);
        if (outputs[i]->gate)
            text_print(&gate, "%s%s", i > 0 ? "|" : "", outputs[i]->name);
    }
    text_print(&advise, "classic|adviceproto");
    assert_string_equal(formats_of("advise"), advise.data);
    assert_string_equal(formats_of("gate"), gate.data);
    arena_free(&arena);
}

/* Presets of every command parse, and help for each can be had. */
TEST(presets_are_valid)
{
    for (size_t i = 0; i < command_count; i++) {
        struct arena arena = { 0 };
        struct err   err = { 0 };
        void        *values = arena_alloc(&arena, commands[i]->values_bytes);

        assert_true(
            option_presets(commands[i]->options, commands[i]->option_count, &arena, values, &err));
        arena_free(&arena);
    }
}
