#include "base/pattern.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static void lists_match_whole_names(void **state)
{
    static const struct {
        struct str         text, subject;
        enum pattern_match answer;
    } rows[] = {
        { STR_INIT("MatMul"), STR_INIT("MatMul"), PATTERN_YES },
        { STR_INIT("MatMul"), STR_INIT("BatchMatMul"), PATTERN_NO },
        { STR_INIT("MatMul"), STR_INIT("MatMul\n"), PATTERN_NO },
        { STR_INIT("a$"), STR_INIT("a\n"), PATTERN_NO },
        { STR_INIT("a|ab"), STR_INIT("ab"), PATTERN_YES }, /* full match, not the first that fits */
        { STR_INIT("a,b"), STR_INIT("b"), PATTERN_YES },
        { STR_INIT("a,b"), STR_INIT("a,b"), PATTERN_NO },
        { STR_INIT("a\\,b"), STR_INIT("a,b"), PATTERN_YES },
        { STR_INIT("a{1,2}"), STR_INIT("aa"), PATTERN_YES },
        { STR_INIT("[,;]x"), STR_INIT(",x"), PATTERN_YES },
        { STR_INIT("[]),(]x,y"), STR_INIT("y"), PATTERN_YES }, /* brackets in a class are plain */
        { STR_INIT("(a,b)c"), STR_INIT("a,bc"), PATTERN_YES },
        { STR_INIT(",,a,"), STR_INIT("a"), PATTERN_YES },
        { STR_INIT(",,a,"), STR_INIT(""), PATTERN_NO }, /* empty entries count for nothing */
        { STR_INIT(""), STR_INIT(""), PATTERN_NO },
        { STR_INIT(".*"), STR_INIT("a\nb\0c"), PATTERN_YES }, /* everything */
        { STR_INIT("x,.*"), STR_INIT("\n"), PATTERN_YES },
        { STR_INIT("a.b"), STR_INIT("a\0b"), PATTERN_YES },
        { STR_INIT("a.b"),
          STR_INIT("a\xFF"
                   "b"),
          PATTERN_YES }, /* bytes, valid UTF-8 or not */
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_COUNT(rows); i++) {
        struct err      err = { 0 };
        struct pattern *pattern = pattern_new(rows[i].text, PATTERN_WHOLE, true, &err);

        print_message("%s\n", rows[i].text.data);
        assert_non_null(pattern);
        assert_int_equal(pattern_matches(pattern, rows[i].subject), rows[i].answer);
        pattern_free(pattern);
    }
    pattern_free(NULL);
}

static void costly_matches_are_told_apart(void **state)
{
    struct err      err = { 0 };
    struct pattern *pattern = pattern_new(STR("(a+)+$"), PATTERN_SEARCH, false, &err);
    char            subject[64];

    (void)state;
    memset(subject, 'a', sizeof subject);
    subject[sizeof subject - 1] = '!';
    assert_non_null(pattern);
    assert_int_equal(pattern_matches(pattern, (struct str) { subject, sizeof subject }),
                     PATTERN_TOO_COSTLY);
    assert_int_equal(pattern_matches(pattern, STR("aaa")), PATTERN_YES);
    pattern_free(pattern);

    /* Another alternative may still say yes. */
    pattern = pattern_new(STR("(a+)+,a+!"), PATTERN_WHOLE, true, &err);
    assert_int_equal(pattern_matches(pattern, (struct str) { subject, sizeof subject }),
                     PATTERN_YES);
    pattern_free(pattern);
}

static void bad_patterns_are_located(void **state)
{
    static const struct {
        struct str text;
        uint64_t   offset;
    } rows[] = {
        { STR_INIT("(a"), 2 },      { STR_INIT("ok,b("), 5 }, { STR_INIT("*"), 0 },
        { STR_INIT("[z-a]"), 3 },   { STR_INIT("a\\"), 2 },   { STR_INIT("a\\C"), 3 },
        { STR_INIT("(*UTF)a"), 6 },
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_COUNT(rows); i++) {
        struct err err = { 0 };

        print_message("%s\n", rows[i].text.data);
        assert_null(pattern_new(rows[i].text, PATTERN_WHOLE, true, &err));
        assert_int_equal(err.code, ERR_USAGE);
        assert_true(err.has_offset);
        assert_int_equal(err.offset, rows[i].offset);
        assert_int_equal(strncmp(err.text, "bad pattern '", 13), 0);
    }
}

static void endless_patterns_are_refused(void **state)
{
    static char long_text[100000], deep_text[1000];
    struct err  err = { 0 };

    (void)state;
    memset(long_text, 'a', sizeof long_text);
    assert_null(
        pattern_new((struct str) { long_text, sizeof long_text }, PATTERN_WHOLE, false, &err));
    assert_int_equal(err.code, ERR_USAGE);
    memset(deep_text, '(', 500);
    memset(deep_text + 500, ')', 500);
    assert_null(
        pattern_new((struct str) { deep_text, sizeof deep_text }, PATTERN_WHOLE, false, &err));
    memset(long_text, ',', sizeof long_text);
    for (size_t i = 0; i < sizeof long_text; i += 2)
        long_text[i] = 'a';
    assert_null(
        pattern_new((struct str) { long_text, sizeof long_text }, PATTERN_WHOLE, true, &err));
    assert_int_equal(err.code, ERR_LIMIT);
}

static void captures_are_given(void **state)
{
    struct err      err = { 0 };
    struct pattern *pattern = pattern_new(STR("(x)?(\\d+)-(\\d+)"), PATTERN_SEARCH, false, &err);
    size_t          spans[8], count = 99;

    (void)state;
    assert_int_equal(pattern_find(pattern, STR("a 12-345 6-7"), 0, spans, 4, &count), PATTERN_YES);
    assert_int_equal(count, 4);
    assert_int_equal(spans[0], 2);
    assert_int_equal(spans[1], 8);
    assert_true(spans[2] == SIZE_MAX && spans[3] == SIZE_MAX);
    assert_int_equal(spans[4], 2);
    assert_int_equal(spans[5], 4);
    assert_int_equal(pattern_find(pattern, STR("a 12-345 6-7"), 8, spans, 1, &count), PATTERN_YES);
    assert_int_equal(count, 1);
    assert_int_equal(spans[0], 9);
    assert_int_equal(pattern_find(pattern, STR("a"), 1, spans, 4, &count), PATTERN_NO);
    assert_int_equal(pattern_find(pattern, STR("a"), 2, spans, 4, &count), PATTERN_NO);
    assert_int_equal(pattern_find(pattern, (struct str) { 0 }, 0, spans, 4, &count), PATTERN_NO);
    assert_int_equal(count, 0);
    pattern_free(pattern);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lists_match_whole_names),  cmocka_unit_test(costly_matches_are_told_apart),
        cmocka_unit_test(bad_patterns_are_located), cmocka_unit_test(endless_patterns_are_refused),
        cmocka_unit_test(captures_are_given),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
