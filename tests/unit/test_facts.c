#include <math.h>
#include <string.h>

#include "testing.h"

#include "analyze/analysis.h"
#include "profile_builder.h"

static const struct fact_spec   specs[] = { { "b.two", UNIT_NS, "" },
                                            { "a.one", UNIT_COUNT, "" },
                                            { "b.name", UNIT_NAME, "" } };
static const struct column_spec columns[] = { { "name", UNIT_NAME, "" }, { "ns", UNIT_NS, "" } };
static const struct table_spec  table_spec = { "things", "", columns, 2 };

struct fixture {
    struct arena  arena;
    struct intern names;
    struct facts  facts;
};

static void start(struct fixture *fixture)
{
    *fixture = (struct fixture) { 0 };
    assert_true(intern_init(&fixture->names, &fixture->arena));
    facts_init(&fixture->facts, &fixture->arena, &fixture->names);
}

TEST(facts_are_sorted_and_replaced)
{
    struct fixture f;
    double         value = 0;

    start(&f);
    assert_true(facts_set(&f.facts, &specs[0], 1));
    assert_true(facts_set(&f.facts, &specs[1], 2));
    assert_true(facts_set_text(&f.facts, &specs[2], STR("hello")));
    assert_true(facts_set(&f.facts, &specs[0], 3));
    assert_int_equal(f.facts.list.count, 3);
    assert_string_equal(f.facts.list.items[0].spec->name, "a.one");
    assert_string_equal(f.facts.list.items[1].spec->name, "b.name");
    assert_true(facts_get(&f.facts, "b.two", &value));
    assert_true(value == 3);
    assert_null(facts_find(&f.facts, "b.twos"));
    arena_free(&f.arena);
}

TEST(absences_prefer_the_specific)
{
    static const struct {
        const char *name, *reason;
    } cases[] = {
        { "memory.peak_bytes", "peak" },
        { "memory.growth", "all of memory" },
        { "memory_owners", NULL },
        { "ops", "no ops 3" },
    };
    struct fixture f;

    start(&f);
    assert_true(facts_absent(&f.facts, "memory.", "record memory", "all of memory"));
    assert_true(facts_absent(&f.facts, "memory.peak_bytes", NULL, "peak"));
    assert_true(facts_absent(&f.facts, "ops", NULL, "no ops %d", 3));
    for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
        const struct absence *absence = facts_why_absent(&f.facts, cases[i].name);

        if (cases[i].reason)
            assert_string_equal(absence->reason, cases[i].reason);
        else
            assert_null(absence);
    }
    arena_free(&f.arena);
}

TEST(tables_grow_with_unknown_cells)
{
    struct fixture f;
    struct table  *table;

    start(&f);
    table = facts_table(&f.facts, &table_spec);
    assert_non_null(table);
    for (size_t i = 0; i < 100; i++) {
        assert_int_equal(table_add(table, &f.arena), i);
        table->columns[1][i] = (double)i;
    }
    assert_true(isnan(table->columns[0][99]));
    assert_true(table->columns[1][17] == 17);
    assert_int_equal(table_column(table, "ns"), 1);
    assert_int_equal(table_column(table, "bytes"), -1);
    assert_ptr_equal(facts_find_table(&f.facts, "things"), table);
    arena_free(&f.arena);
}

TEST(coverage_counts_what_is_there)
{
    struct profile_builder builder;
    struct err             err = { 0 };
    uint32_t               host, thread;

    host = builder_start_host(&builder, FORMAT_XSPACE);
    thread = builder_timeline(&builder, host, NO_ID, "main");
    builder_op(&builder, "m/MatMul", "MatMul", "f32[2,3] f32[3,4] -> f32[2,4]");
    builder_slice(&builder, thread, "flush", ACTIVITY_OVERHEAD, 0, 30);
    builder_slice(&builder, thread, "f", ACTIVITY_PYTHON, 40, 10);
    builder_finish(&builder);
    assert_true(analysis_coverage.run(&builder.study, &err));
    assert_true(builder_fact(&builder, "coverage.events") == 2);
    assert_true(builder_fact(&builder, "coverage.overhead_ns") == 30);
    assert_true(builder_fact(&builder, "coverage.ops_with_shapes") == 1);
    assert_true(builder_fact(&builder, "coverage.python_events") == 1);
    assert_true(isnan(builder_fact(&builder, "coverage.world_size")));
    builder_free(&builder);
}

/* Two that know the names "" and "low": each has a name of its own and one that both have. Behind
 * the joined ones' ids stands what each had there. */
TEST(joined_facts_have_their_names)
{
    struct fixture f;
    struct intern  names[2];
    struct facts   others[2];
    struct str     own[2] = { STR("left"), STR("right") };
    uint32_t       low;
    double         value;
    struct table  *table = NULL;

    start(&f);
    low = facts_name(&f.facts, STR("low"));
    for (int i = 0; i < 2; i++) {
        intern_stack(&names[i], &f.names, &f.arena);
        facts_init(&others[i], &f.arena, &names[i]);
        assert_int_equal(facts_name(&others[i], own[i]), 2);
        assert_int_equal(facts_name(&others[i], STR("both")), 3);
    }
    assert_true(facts_set_text(&others[0], &specs[2], STR("left")));
    assert_true(facts_set(&others[0], &specs[0], 2)); /* a number, not the name 2 */
    table = facts_table(&others[1], &table_spec);
    for (uint32_t row = 0; row < 4; row++)
        assert_int_equal(table_add(table, &f.arena), row);
    table->columns[0][0] = 2;
    table->columns[0][1] = 3;
    table->columns[0][2] = low;
    table->columns[1][0] = 3;
    assert_true(facts_absent(&others[1], "memory.", NULL, "none"));
    for (int i = 0; i < 2; i++)
        assert_true(facts_join(&f.facts, &others[i]));
    assert_int_equal(f.names.count, 5);
    assert_true(facts_get(&f.facts, "b.name", &value));
    assert_string_equal(intern_str(&f.names, (uint32_t)value).data, "left");
    assert_true(facts_get(&f.facts, "b.two", &value));
    assert_true(value == 2);
    assert_ptr_equal(facts_find_table(&f.facts, "things"), table);
    assert_string_equal(intern_str(&f.names, (uint32_t)table->columns[0][0]).data, "right");
    assert_string_equal(intern_str(&f.names, (uint32_t)table->columns[0][1]).data, "both");
    assert_string_equal(intern_str(&f.names, (uint32_t)table->columns[0][2]).data, "low");
    assert_true(isnan(table->columns[0][3]));
    assert_true(table->columns[1][0] == 3);
    assert_string_equal(facts_why_absent(&f.facts, "memory.peak")->reason, "none");
    arena_free(&f.arena);
}
