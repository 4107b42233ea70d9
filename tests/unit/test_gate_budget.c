#include "gate/budget.h"

#include "base/macros.h"
#include "base/text.h"
#include "testing.h"

#include <math.h>
#include <string.h>

TEST(budgets_are_read)
{
    static const struct {
        const char     *text, *quantity;
        enum comparison comparison;
        double          limit;
        const char     *fact;
    } rows[] = {
        { "step_ms.p50 <= 210", "step_ms.p50", AT_MOST, 210e6, NULL },
        { "step_ms.p95<0.5s", "step_ms.p95", LESS, 5e8, NULL },
        { "launches_per_step <= 4000", "launches_per_step", AT_MOST, 4000,
          "launch.count_per_step" },
        { "input_wait_share <= 5%", "input_wait_share", AT_MOST, 0.05, "input.wait_share" },
        { "input.wait_share <= 0.05", "input.wait_share", AT_MOST, 0.05, "input.wait_share" },
        { "input_wait_ms <= 3", "input_wait_ms", AT_MOST, 3e6, "input.wait_ns" },
        { "memory.peak_bytes < 70GiB", "memory.peak_bytes", LESS, 70 * 1073741824.0,
          "memory.peak_bytes" },
        { "mfu >= 0.38", "mfu", AT_LEAST, 0.38, "flops.mfu" },
        { "findings.error == 0", "findings.error", EQUAL, 0, NULL },
        { "count.copies = 2", "count.copies", EQUAL, 2, NULL },
    };

    for (size_t i = 0; i < ARRAY_COUNT(rows); i++) {
        struct arena  arena = { 0 };
        struct budget budget;
        struct err    err = { 0 };

        assert_true(budget_parse(rows[i].text, &arena, &budget, &err));
        assert_string_equal(budget.quantity, rows[i].quantity);
        assert_int_equal(budget.comparison, rows[i].comparison);
        assert_true(fabs(budget.limit - (rows[i].limit)) <= 1e-6 * rows[i].limit);
        if (rows[i].fact)
            assert_string_equal(budget.fact, rows[i].fact);
        else
            assert_null(budget.fact);
        arena_free(&arena);
    }
}

TEST(bad_budgets_are_refused)
{
    static const struct {
        const char *text, *says;
    } rows[] = {
        { "launchs_per_step <= 1", "did you mean launches_per_step?" },
        { "step_ms.p51 <= 1", "did you mean step_ms.p50?" },
        { "step_ms.p50", "is no budget" },
        { "<= 5", "is no budget" },
        { "input_wait_share <= 5 apples", "'5 apples' in the budget" },
    };

    for (size_t i = 0; i < ARRAY_COUNT(rows); i++) {
        struct arena  arena = { 0 };
        struct budget budget;
        struct err    err = { 0 };
        char          line[2048];

        assert_false(budget_parse(rows[i].text, &arena, &budget, &err));
        assert_int_equal(err.code, ERR_USAGE);
        assert_non_null(strstr(err_format(&err, line, sizeof line), rows[i].says));
        arena_free(&arena);
    }
}

#define NO_ITEMS(kind) "\"" kind "\": {\"complete\": true, \"rows\": []}, "
/* A summary as a file has it, so that reading and writing are tested along the way. */
static const char file[] =
    "{\"schema\": \"tfprof.baseline/1\", \"version\": \"0\", \"later\": {\"a\": [1, {}]},\n"
    " \"identity\": {\"format\": \"xspace\", \"devices\": [\"2 x A\"], \"hosts\": 1, "
    "\"step_source\": "
    "\"marker\", \"work\": [{\"what\": \"dot\", \"flops\": 1000000007, \"calls\": 1}]},\n"
    " \"runs\": [{\"name\": \"a\", \"steps_left_out\": 1, \"step_ms\": [1, 2, 3, 4], \"counts\": "
    "[{\"name\": \"copies\", \"value\": 2}, {\"name\": \"ops\", \"value\": 7, \"low\": 5, "
    "\"high\": 9}]},\n"
    "  {\"name\": \"b\", \"step_ms\": [10], \"counts\": [{\"name\": \"copies\", \"value\": 3}]}],\n"
    " \"facts\": {\"input.wait_share\": [0.25, null], \"no.such_fact\": [1, 2]},\n"
    " \"items\": {" NO_ITEMS("path") NO_ITEMS("ops") NO_ITEMS("kernels") NO_ITEMS("syncs") NO_ITEMS(
        "collectives") "\"copies\": {\"complete\": true, \"rows\": [{\"name\": \"c\", \"group\": "
                       "\"h2d\", "
                       "\"ms\": 0.5, \"count\": 2, \"bytes\": 64, \"file\": \"a.py\", \"line\": "
                       "3}]}},\n"
                       " \"findings\": [{\"rule\": \"hot-op\", \"severity\": \"error\", "
                       "\"fingerprint\": "
                       "\"0123456789abcdef\", \"title\": \"t\"}, {\"rule\": \"x\", \"severity\": "
                       "\"warn\", "
                       "\"fingerprint\": \"0123456789abcde0\", \"title\": \"u\"}]}";

/* p50 of 1 2 3 4 10 is 3; p95 by nearest rank is the fifth; counts are the most of any run. */
TEST(quantities_have_values)
{
    static const struct {
        const char *name;
        double      value;
    } rows[] = {
        { "step_ms.p50", 3e6 },       { "step_ms.p95", 10e6 }, { "step_ms.mean", 4e6 },
        { "step_ms.min", 1e6 },       { "count.copies", 3 },   { "count.ops", 7 },
        { "input_wait_share", 0.25 }, { "findings.error", 1 }, { "findings.total", 2 },
        { "findings.hot-op", 1 },     { "findings.info", 0 },  { "mfu", NAN },
        { "count.launches", NAN },
    };
    struct arena   arena = { 0 };
    struct summary summary;
    struct err     err = { 0 };

    assert_true(summary_read(&summary, STR(file), "f", &arena, &err));
    for (size_t i = 0; i < ARRAY_COUNT(rows); i++) {
        struct budget budget;
        double        value = NAN;

        assert_true(budget_quantity(rows[i].name, &arena, &budget, &err));
        assert_int_equal(budget_value(&budget, &summary, &arena, &value), isfinite(rows[i].value));
        if (isfinite(rows[i].value))
            assert_true(fabs(value - (rows[i].value)) <= 1e-6);
    }
    arena_free(&arena);
}

TEST(baselines_survive_writing)
{
    struct arena   arena = { 0 };
    struct summary summary, again;
    struct err     err = { 0 };
    struct text    first = { .arena = &arena }, second = { .arena = &arena };

    assert_true(summary_read(&summary, STR(file), "f", &arena, &err));
    summary_write(&summary, &first);
    assert_true(summary_read(&again, text_str(&first), "f", &arena, &err));
    summary_write(&again, &second);
    assert_string_equal(first.data, second.data);
    assert_true(again.identity.work.items[0].flops == 1000000007);
    assert_true(again.runs.items[0].counts[13].low == 5 &&
                !again.runs.items[0].counts[13].is_steady);
    assert_int_equal(again.items[ITEM_COPY].rows.items[0].line, 3);
    arena_free(&arena);
}

/* Every prefix is refused or read, and says where it ends. */
TEST(cut_baselines_are_refused)
{
    for (size_t len = 0; len + 1 < sizeof file - 1; len++) {
        struct arena   arena = { 0 };
        struct summary summary;
        struct err     err = { 0 };

        assert_false(summary_read(&summary, (struct str) { file, len }, "f", &arena, &err));
        assert_int_equal(err.code, ERR_FORMAT);
        arena_free(&arena);
    }
}
