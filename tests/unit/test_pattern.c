#include "base/pattern.h"
#include "testing.h"

#include <string.h>

TEST(lists_match_whole_names)
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
          PATTERN_YES }, /* valid UTF-8 or not */
    };

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

/* Each would take backtracking 2 to the power of its length, or as good as that. */
TEST(no_name_takes_long)
{
    static const struct {
        struct str         text;
        enum pattern_kind  kind;
        enum pattern_match answer; /* of 100 "a" and a "!" */
    } rows[] = {
        { STR_INIT("(a+)+$"), PATTERN_SEARCH, PATTERN_NO },
        { STR_INIT("(a+)+"), PATTERN_WHOLE, PATTERN_NO },
        { STR_INIT("(a+)+!"), PATTERN_WHOLE, PATTERN_YES },
        { STR_INIT("(a|aa)+$"), PATTERN_SEARCH, PATTERN_NO },
        { STR_INIT("(.*)*x"), PATTERN_WHOLE, PATTERN_NO },
        { STR_INIT("(.*a){20}b"), PATTERN_WHOLE, PATTERN_NO },
        { STR_INIT("(a?){100}a{100}!"), PATTERN_WHOLE, PATTERN_YES },
        { STR_INIT("(a?){100}a{101}!"), PATTERN_WHOLE, PATTERN_NO },
        { STR_INIT("(a+)+,(a|aa)+!"), PATTERN_WHOLE, PATTERN_YES },
        { STR_INIT("(.{1,50}){10}!!"), PATTERN_WHOLE, PATTERN_NO }, /* many states at once */
    };
    char subject[101];

    memset(subject, 'a', sizeof subject);
    subject[sizeof subject - 1] = '!';
    for (size_t i = 0; i < ARRAY_COUNT(rows); i++) {
        struct err      err = { 0 };
        struct pattern *pattern = pattern_new(rows[i].text, rows[i].kind, true, &err);

        print_message("%s\n", rows[i].text.data);
        assert_non_null(pattern);
        for (int turn = 0; turn < 20; turn++) /* the first ones backtrack a little */
            assert_int_equal(pattern_matches(pattern, (struct str) { subject, sizeof subject }),
                             rows[i].answer);
        assert_true(pattern_settled(pattern, &err));
        pattern_free(pattern);
    }
}

/* Back references are for backtracking alone. */
TEST(costly_matches_are_told_apart)
{
    struct err      err = { 0 };
    struct pattern *pattern = pattern_new(STR("(a*)*\\1[bc]"), PATTERN_WHOLE, false, &err);
    char            subject[64];
    size_t          spans[2], count;

    memset(subject, 'a', sizeof subject);
    subject[sizeof subject - 1] = '!';
    assert_non_null(pattern);
    assert_int_equal(pattern_matches(pattern, STR("aab")), PATTERN_YES);
    assert_true(pattern_settled(pattern, &err));
    assert_int_equal(pattern_matches(pattern, (struct str) { subject, sizeof subject }),
                     PATTERN_TOO_COSTLY);
    assert_int_equal(pattern_matches(pattern, STR("aab")), PATTERN_TOO_COSTLY); /* once for all */
    assert_false(pattern_settled(pattern, &err));
    assert_int_equal(err.code, ERR_USAGE);
    assert_string_equal(err.text,
                        "the pattern '(a*)*\\1[bc]' is too costly for the name "
                        "'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa!'");
    pattern_free(pattern);

    /* Captures come of backtracking too; each call is of its own. */
    pattern = pattern_new(STR("(a+)+$"), PATTERN_SEARCH, false, &err);
    assert_int_equal(
        pattern_find(pattern, (struct str) { subject, sizeof subject }, 0, spans, 1, &count),
        PATTERN_TOO_COSTLY);
    assert_int_equal(pattern_find(pattern, STR("aaa"), 0, spans, 1, &count), PATTERN_YES);
    pattern_free(pattern);
}

TEST(letters_are_letters)
{
    static const struct {
        struct str         text, subject;
        enum pattern_match answer;
    } rows[] = {
        { STR_INIT("."), STR_INIT("\u00e9"), PATTERN_YES },
        { STR_INIT(".."), STR_INIT("\u00e9"), PATTERN_NO },
        { STR_INIT("\\pL+"), STR_INIT("\u6a21\u578b"), PATTERN_YES },
        { STR_INIT("(?i)\u00c9"), STR_INIT("\u00e9"), PATTERN_YES },
        { STR_INIT("\\x{e9}"), STR_INIT("\u00e9"), PATTERN_YES },
        { STR_INIT("\\w"), STR_INIT("\u00e9"), PATTERN_NO }, /* of ASCII, as \d and \b */
        { STR_INIT("[\u6a21-\u6a2f]b"),
          STR_INIT("\u6a21"
                   "b"),
          PATTERN_YES },
        { STR_INIT("........a..b"),
          STR_INIT("aaaaaaaaa\xE6\xA8" /* a cut letter: two bytes */
                   "b"),
          PATTERN_YES },
        { STR_INIT("a\\x1Ab"),
          STR_INIT("a\xFF"
                   "b"),
          PATTERN_YES },
        { STR_INIT("\\pL+"), STR_INIT("a\xFF"), PATTERN_NO },
    };
    struct err      err = { 0 };
    struct pattern *pattern;
    size_t          spans[4], count;

    for (size_t i = 0; i < ARRAY_COUNT(rows); i++) {
        pattern = pattern_new(rows[i].text, PATTERN_WHOLE, false, &err);
        print_message("%s\n", rows[i].text.data);
        assert_non_null(pattern);
        assert_int_equal(pattern_matches(pattern, rows[i].subject), rows[i].answer);
        pattern_free(pattern);
    }
    /* Places are bytes of the subject as it is; a start inside of a letter moves behind it. */
    pattern = pattern_new(STR("(.)z"), PATTERN_SEARCH, false, &err);
    assert_int_equal(pattern_find(pattern, STR("\xFF\u00e9z"), 2, spans, 2, &count), PATTERN_NO);
    assert_int_equal(pattern_find(pattern, STR("\xFF\u00e9z"), 1, spans, 2, &count), PATTERN_YES);
    assert_int_equal(spans[0], 1);
    assert_int_equal(spans[1], 4);
    pattern_free(pattern);
    assert_null(pattern_new(STR("a\xFF"), PATTERN_WHOLE, false, &err));
}

TEST(bad_patterns_are_located)
{
    static const struct {
        struct str text;
        uint64_t   offset;
    } rows[] = {
        { STR_INIT("(a"), 2 },      { STR_INIT("ok,b("), 5 }, { STR_INIT("*"), 0 },
        { STR_INIT("[z-a]"), 3 },   { STR_INIT("a\\"), 2 },   { STR_INIT("a\\C"), 3 },
        { STR_INIT("(*UCP)a"), 6 },
    };

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

TEST(endless_patterns_are_refused)
{
    static char long_text[100000], deep_text[1000];
    struct err  err = { 0 };

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

TEST(captures_are_given)
{
    struct err      err = { 0 };
    struct pattern *pattern = pattern_new(STR("(x)?(\\d+)-(\\d+)"), PATTERN_SEARCH, false, &err);
    size_t          spans[8], count = 99;

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

/* Before and after machine code is made: after 64 uses, or for a long subject at once. */
TEST(a_pattern_of_one_thread_says_the_same_each_time)
{
    enum { LONG = 5000 };
    static char     text[LONG];
    struct err      err = { 0 };
    struct pattern *often = pattern_new(STR("(\\d+)-b$"), PATTERN_OF_ONE, false, &err);
    struct pattern *once = pattern_new(STR("a.*b$"), PATTERN_OF_ONE, false, &err);
    size_t          spans[4], count;

    for (int use = 0; use < 200; use++) {
        assert_int_equal(pattern_find(often, STR("x 42-b"), 0, spans, 2, &count), PATTERN_YES);
        assert_int_equal(count, 2);
        assert_int_equal(spans[2], 2);
        assert_int_equal(spans[3], 4);
        assert_int_equal(pattern_matches(often, STR("x 42-c")), PATTERN_NO);
    }
    memset(text, 'a', sizeof text);
    assert_int_equal(pattern_matches(once, (struct str) { text, LONG }), PATTERN_NO);
    text[LONG - 1] = 'b';
    assert_int_equal(pattern_matches(once, (struct str) { text, LONG }), PATTERN_YES);
    pattern_free(often);
    pattern_free(once);
}
