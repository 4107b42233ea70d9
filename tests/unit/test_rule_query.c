/* Queries as rules ask them: small tables, answers as texts. */
#include "analyze/analysis.h"
#include "base/macros.h"
#include "no_replay.h"
#include "rules/rule.h"
#include "testing.h"

#include <stdio.h>

static void fill(struct facts *facts)
{
    /* time, direction, file and line; a file of NULL is unknown */
    static const struct {
        double      ns;
        const char *direction, *file;
        double      line;
    } rows[] = {
        { 30, "h2d", "load.py", 12 }, { 50, "h2d", NULL, 0 },       { 20, "d2h", "log.py", 7 },
        { 10, "h2d", "", 3 },         { 40, "h2d", "train.py", 9 },
    };
    const struct table_spec *spec = analysis_table("copies");
    struct table            *table = facts_table(facts, spec);

    assert_non_null(table);
    for (size_t i = 0; i < ARRAY_COUNT(rows); i++) {
        size_t row = table_add(table, facts->arena);

        table->columns[table_column(table, "exposed_ns")][row] = rows[i].ns;
        table->columns[table_column(table, "direction")][row] =
            facts_name(facts, str_from(rows[i].direction));
        if (!rows[i].file)
            continue;
        table->columns[table_column(table, "source_file")][row] =
            facts_name(facts, str_from(rows[i].file));
        table->columns[table_column(table, "source_line")][row] = rows[i].line;
    }
    facts_settle(facts);
}

/* Each expression's value, as a rule gives it for its reason to skip. */
TEST(answers)
{
    static const char *const cases[][2] = {
        { "t:count()", "5" },
        { "t:where { direction = 'h2d' }:sum('exposed_ns')", "130" },
        { "t:where { direction = 'h2d', exposed_ns = { min = 30, max = 40 } }:count()", "2" },
        { "t:max('exposed_ns') - t:min('exposed_ns')", "40" },
        { "t:top('exposed_ns', 2):sum('exposed_ns')", "90" },
        { "t:group('direction', 'exposed_ns')[1].key", "h2d" },
        { "#t:places()", "3" },
        /* most time first, 50 (unknown) is passed over */
        { "t:top('exposed_ns', 3):places()[1].file", "train.py" },
        { "t:top('exposed_ns', 3):places()[2].line", "12" },
        { "#t:where { direction = 'd2d' }:places()", "0" },
    };

    for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
        struct arena     arena = { 0 };
        struct intern    names;
        struct facts     facts;
        struct rule      rule;
        struct rule_run  run;
        struct err       err = { 0 };
        struct rule_view view = {
            .facts = &facts, .format = "kineto", .framework = "pytorch", .replay = no_replay
        };
        char script[512];

        snprintf(script, sizeof script,
                 "return rule { id = 'x', api = 1, version = '1', title = 't', category = 'c', "
                 "severity = 'warn', check = function(p, cfg) local t = p:table('copies') "
                 "local v = %s return skip { reason = type(v) == 'number' and "
                 "string.format('%%g', v) or tostring(v) } end }",
                 cases[i][0]);
        assert_true(intern_init(&names, &arena));
        facts_init(&facts, &arena, &names);
        fill(&facts);
        assert_true(
            rule_load(&rule, "x.lua", str_from(script), &rule_default_limits, &arena, &err));
        assert_null(rule.error);
        assert_true(rule_run(&rule, &view, &arena, &run, &err));
        print_message("%s\n", cases[i][0]);
        assert_string_equal(run.reason, cases[i][1]);
        assert_int_equal(run.outcome, RULE_SKIPPED);
        rule_free(&rule);
        arena_free(&arena);
    }
}
