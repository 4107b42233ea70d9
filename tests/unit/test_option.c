#include "base/option.h"
#include "testing.h"

#include <string.h>

struct values {
    bool               is_quiet;
    int64_t            max_depth;
    double             share;
    const char        *output, *format;
    struct option_list select, rules, stats;
    int64_t            bytes, micros;
};

static const struct option options[] = {
    { "quiet", OPTION_FLAG, offsetof(struct values, is_quiet), NULL, NULL, "", "q", false },
    { "max-depth", OPTION_COUNT, offsetof(struct values, max_depth), "10", NULL, "", NULL, false },
    { "min-impact", OPTION_NUMBER, offsetof(struct values, share), "0.5%", "unit:share", "", NULL,
      false },
    { "output", OPTION_TEXT, offsetof(struct values, output), NULL, "FILE", "", "o", false },
    { "format", OPTION_ONE_OF, offsetof(struct values, format), "text", "text|json|html", "", NULL,
      false },
    { "select", OPTION_LIST, offsetof(struct values, select), "micros,bytes", "NAME", "", NULL,
      false },
    { "rule", OPTION_REPEAT, offsetof(struct values, rules), NULL, "FILE", "", NULL, false },
    { "stats", OPTION_CHOSEN, offsetof(struct values, stats), "mean,cv", "mean|cv|min", "", NULL,
      false },
    { "bytes", OPTION_INTEGER, offsetof(struct values, bytes), "0", "unit:bytes", "", NULL, false },
    { "micros", OPTION_INTEGER, offsetof(struct values, micros), "0", "unit:us", "", NULL, false },
};

/* One parse; arguments end with NULL. */
struct parse {
    struct arena       arena;
    struct values      values;
    struct option_list operands;
    struct err         err;
    bool               ok;
};

static void parse(struct parse *parse, const char *const *arguments)
{
    char *words[16];
    int   count = 0;

    *parse = (struct parse) { 0 };
    while (arguments[count]) {
        words[count] = (char *)(uintptr_t)arguments[count];
        count++;
    }
    parse->ok = option_parse(options, ARRAY_COUNT(options), count, words, &parse->arena,
                             &parse->values, &parse->operands, &parse->err);
}

TEST(presets_hold_without_arguments)
{
    struct parse got;

    parse(&got, (const char *const[]) { NULL });
    assert_true(got.ok);
    assert_false(got.values.is_quiet);
    assert_int_equal(got.values.max_depth, 10);
    assert_true(got.values.share == 0.005);
    assert_null(got.values.output);
    assert_string_equal(got.values.format, "text");
    assert_int_equal(got.values.select.values.count, 2);
    assert_string_equal(got.values.select.values.items[1], "bytes");
    assert_int_equal(got.values.rules.values.count, 0);
    assert_int_equal(got.operands.values.count, 0);
    arena_free(&got.arena);
}

TEST(every_spelling_is_understood)
{
    /* All must give max_depth 3, output "x", quiet. */
    static const char *const rows[][8] = {
        { "--max-depth=3", "--output=x", "--quiet", NULL },
        { "-max_depth", "3", "-output", "x", "-quiet", NULL },
        { "--max_depth", "3", "-o", "x", "-q", NULL },
        { "-max-depth=3", "-o=x", "-quiet=true", NULL },
        { "--quiet", "true", "--max-depth", "9", "--max-depth", "3", "-o=x", NULL },
        { "--quiet=yes", "--output", "y", "--output=x", "--max-depth=03", NULL },
    };

    for (size_t i = 0; i < ARRAY_COUNT(rows); i++) {
        struct parse got;

        parse(&got, rows[i]);
        assert_true(got.ok);
        assert_true(got.values.is_quiet);
        assert_int_equal(got.values.max_depth, 3);
        assert_string_equal(got.values.output, "x");
        assert_int_equal(got.operands.values.count, 0);
        arena_free(&got.arena);
    }
}

TEST(flags_may_take_the_next_word)
{
    struct parse got;

    parse(&got, (const char *const[]) { "-quiet", "false", "run.pb", NULL });
    assert_true(got.ok && !got.values.is_quiet);
    assert_int_equal(got.operands.values.count, 1);
    arena_free(&got.arena);
    parse(&got, (const char *const[]) { "-quiet", "0", NULL }); /* a file may be called 0 */
    assert_true(got.ok && got.values.is_quiet);
    assert_string_equal(got.operands.values.items[0], "0");
    arena_free(&got.arena);
}

TEST(lists_replace_presets_and_add_up)
{
    struct parse got;

    parse(&got, (const char *const[]) { "--select", "a,,b", "--select=c", "--rule", "x,y.lua",
                                        "--rule=z", NULL });
    assert_true(got.ok);
    assert_int_equal(got.values.select.values.count, 3);
    assert_string_equal(got.values.select.values.items[0], "a");
    assert_string_equal(got.values.select.values.items[2], "c");
    assert_int_equal(got.values.rules.values.count, 2);
    assert_string_equal(got.values.rules.values.items[0], "x,y.lua");
    arena_free(&got.arena);
    parse(&got, (const char *const[]) { "--select=", NULL });
    assert_true(got.ok);
    assert_int_equal(got.values.select.values.count, 0);
    arena_free(&got.arena);
}

TEST(some_of_a_list_may_be_chosen)
{
    struct parse got;

    parse(&got, (const char *const[]) { "run", NULL });
    assert_true(got.ok);
    assert_int_equal(got.values.stats.values.count, 0);
    arena_free(&got.arena);
    parse(&got, (const char *const[]) { "--stats", "run", NULL }); /* alone: what it is preset to */
    assert_true(got.ok);
    assert_int_equal(got.operands.values.count, 1);
    assert_int_equal(got.values.stats.values.count, 2);
    assert_string_equal(got.values.stats.values.items[1], "cv");
    arena_free(&got.arena);
    parse(&got, (const char *const[]) { "--stats=min", NULL });
    assert_true(got.ok);
    assert_int_equal(got.values.stats.values.count, 1);
    assert_string_equal(got.values.stats.values.items[0], "min");
    arena_free(&got.arena);
    parse(&got, (const char *const[]) { "--stats=min,max", NULL });
    assert_false(got.ok);
    assert_string_equal(got.err.text, "--stats is one of mean, cv or min, not 'max'");
    arena_free(&got.arena);
}

TEST(whole_numbers_may_have_units)
{
    static const struct {
        const char *bytes, *micros;
        bool        ok;
        int64_t     is_bytes, is_micros;
    } rows[] = {
        { "--bytes=-7", "--micros=+3", true, -7, 3 },
        { "--bytes=1KB", "--micros=1.5ms", true, 1000, 1500 },
        { "--bytes=64KiB", "--micros=1.37sec", true, 65536, 1370000 },
        { "--bytes=1.5", "--micros=0", false, 0, 0 },
        { "--bytes=1", "--micros=1e3", false, 0, 0 },
        { "--bytes=1ms", "--micros=0", false, 0, 0 },
        { "--bytes=+-1", "--micros=0", false, 0, 0 },
        { "--bytes=99999999999TB", "--micros=0", false, 0, 0 },
    };

    for (size_t i = 0; i < ARRAY_COUNT(rows); i++) {
        struct parse got;

        parse(&got, (const char *const[]) { rows[i].bytes, rows[i].micros, NULL });
        assert_int_equal(got.ok, rows[i].ok);
        if (rows[i].ok) {
            assert_int_equal(got.values.bytes, rows[i].is_bytes);
            assert_int_equal(got.values.micros, rows[i].is_micros);
        }
        arena_free(&got.arena);
    }
}

TEST(operands_keep_their_order)
{
    struct parse got;

    parse(&got, (const char *const[]) { "b", "-", "--quiet", "a", "--", "--quiet", "-x", NULL });
    assert_true(got.ok);
    assert_int_equal(got.operands.values.count, 5);
    assert_string_equal(got.operands.values.items[1], "-");
    assert_string_equal(got.operands.values.items[3], "--quiet");
    assert_string_equal(got.operands.values.items[4], "-x");
    arena_free(&got.arena);
}

TEST(mistakes_are_explained)
{
    static const struct {
        const char *const arguments[4];
        const char       *text, *advice;
    } rows[] = {
        { { "--ouptut", "x" }, "unknown option --ouptut", "did you mean --output?" },
        { { "-max_deph=3" }, "unknown option --max_deph", "did you mean --max-depth?" },
        { { "--json", "x" }, "unknown option --json", "did you mean --format=json?" },
        { { "--zzzzzzzzzz" }, "unknown option --zzzzzzzzzz", "" },
        { { "--out", "x" }, "unknown option --out", "" }, /* no abbreviations */
        { { "--output" }, "--output needs a value", "" },
        { { "--output", "--quiet" }, "--output needs a value", "" },
        { { "--max-depth", "-1" }, "--max-depth needs a whole number from 0 on, not '-1'", "" },
        { { "--max-depth=1.5" }, "--max-depth needs a whole number from 0 on, not '1.5'", "" },
        { { "--min-impact=5ms" },
          "--min-impact needs a number, not '5ms'",
          "write a share such as 5% or 0.05" },
        { { "--format=xml" }, "--format is one of text, json or html, not 'xml'", "" },
        { { "--quiet=perhaps" }, "--quiet is true or false, not 'perhaps'", "" },
    };

    for (size_t i = 0; i < ARRAY_COUNT(rows); i++) {
        struct parse got;

        parse(&got, rows[i].arguments);
        assert_false(got.ok);
        assert_int_equal(got.err.code, ERR_USAGE);
        assert_string_equal(got.err.text, rows[i].text);
        assert_string_equal(got.err.advice, rows[i].advice);
        arena_free(&got.arena);
    }
}

TEST(small_budgets_are_limits)
{
    char  *words[] = { (char *)(uintptr_t) "--select=a,b,c,d", (char *)(uintptr_t) "x" };
    size_t passed = 0;

    for (size_t budget = 16; budget <= 1024; budget += 16) {
        struct arena       arena = { .budget_bytes = budget };
        struct values      values;
        struct option_list operands = { 0 };
        struct err         err = { 0 };
        bool               ok =
            option_parse(options, ARRAY_COUNT(options), 2, words, &arena, &values, &operands, &err);

        assert_int_equal(err.code, ok ? ERR_NONE : ERR_LIMIT);
        passed += ok;
        arena_free(&arena);
    }
    assert_true(passed > 0 && passed < 64);
}

TEST(the_nearest_name_is_near)
{
    static const char *const names[] = { "advise", "info", NULL, "version", "rules" };
    static const struct {
        const char *word, *nearest;
    } rows[] = {
        { "advice", "advise" }, { "inof", "info" },     { "versoin", "version" },
        { "rule", "rules" },    { "completely", NULL }, { "", NULL },
        { "a", NULL }, /* everything is one letter away from it */
    };

    for (size_t i = 0; i < ARRAY_COUNT(rows); i++) {
        const char *nearest = option_nearest(rows[i].word, names, ARRAY_COUNT(names));

        if (rows[i].nearest)
            assert_string_equal(nearest, rows[i].nearest);
        else
            assert_null(nearest);
    }
}
