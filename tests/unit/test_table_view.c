/* table_view: rows, columns and order of a table of four ops, worked out by hand. */
#include "analyze/table_view.h"

#include "base/macros.h"
#include "testing.h"

#include <stdlib.h>
#include <string.h>

enum { NAME, CALLS, TOTAL_NS };
static const struct column_spec columns[] = {
    [NAME] = { "name", UNIT_NAME, "of the op" },
    [CALLS] = { "calls", UNIT_COUNT, "a step" },
    [TOTAL_NS] = { "total_ns", UNIT_NS, "a step" },
};
static const struct table_spec spec = { "things", "of a test", columns, ARRAY_COUNT(columns) };

struct fixture {
    struct arena  arena;
    struct intern names;
    struct facts  facts;
    struct table *table;
};

static void add_row(struct fixture *fixture, const char *name, double calls, double total_ns)
{
    size_t row = table_add(fixture->table, &fixture->arena);

    assert_true(row != SIZE_MAX);
    fixture->table->columns[NAME][row] = facts_name(&fixture->facts, str_from(name));
    fixture->table->columns[CALLS][row] = calls;
    if (total_ns >= 0)
        fixture->table->columns[TOTAL_NS][row] = total_ns;
}

static int setup(void **state)
{
    struct fixture *fixture = calloc(1, sizeof *fixture);

    intern_init(&fixture->names, &fixture->arena);
    facts_init(&fixture->facts, &fixture->arena, &fixture->names);
    fixture->table = facts_table(&fixture->facts, &spec);
    add_row(fixture, "MatMul", 2, 5e6);
    add_row(fixture, "Conv2D", 1, 9e6);
    add_row(fixture, "Relu", 7, -1); /* no time */
    add_row(fixture, "Add", 2, 1e6);
    *state = fixture;
    return 0;
}

static int teardown(void **state)
{
    struct fixture *fixture = *state;

    arena_free(&fixture->arena);
    free(fixture);
    return 0;
}

/* Names of the rows, as "MatMul Add". */
static const char *shown(struct fixture *fixture, const struct table_query *query)
{
    struct table_view view;
    struct err        err = { 0 };
    struct text       text = { .arena = &fixture->arena };

    if (!table_view_make(&view, &fixture->facts, fixture->table, query, &fixture->arena, &err))
        return arena_text(&fixture->arena, "%s; %s", err.text, err.advice);
    text_add(&text, STR(""));
    for (size_t row = 0; row < view.row_count; row++) {
        double value = fixture->table->columns[NAME][view.rows[row]];

        text_print(&text, "%s%.*s", row ? " " : "",
                   STR_ARG(intern_str(fixture->facts.names, (uint32_t)value)));
    }
    return text_str(&text).data;
}

static const char *where(struct fixture *fixture, const char *condition)
{
    struct table_query query = { 0 };

    assert_true(vec_push(&query.where.values, &fixture->arena, condition));
    return shown(fixture, &query);
}

TEST(conditions_choose_rows)
{
    assert_string_equal(where(*state, "total_ns>1ms"), "MatMul Conv2D");
    assert_string_equal(where(*state, "total_ns >= 1ms"), "MatMul Conv2D Add");
    assert_string_equal(where(*state, "calls=2"), "MatMul Add");
    assert_string_equal(where(*state, "calls != 2"), "Conv2D Relu");
    assert_string_equal(where(*state, "name~^(Mat|Con)"), "MatMul Conv2D");
    assert_string_equal(where(*state, "name !~ u"), "Conv2D Add");
    assert_string_equal(where(*state, "name=Relu"), "Relu");
    /* A row without the value fits no condition on it. */
    assert_string_equal(where(*state, "total_ns<1"), "");
    assert_string_equal(where(*state, "total_ns!=0"), "MatMul Conv2D Add");
}

TEST(order_is_largest_first)
{
    assert_string_equal(shown(*state, &(struct table_query) { 0 }), "MatMul Conv2D Relu Add");
    assert_string_equal(shown(*state, &(struct table_query) { .sort = "total_ns" }),
                        "Conv2D MatMul Add Relu");
    assert_string_equal(shown(*state, &(struct table_query) { .sort = "-total_ns" }),
                        "Add MatMul Conv2D Relu");
    assert_string_equal(shown(*state, &(struct table_query) { .sort = "calls", .top = 3 }),
                        "Relu MatMul Add"); /* equal ones as they were */
    assert_string_equal(shown(*state, &(struct table_query) { .sort = "name" }),
                        "Add Conv2D MatMul Relu");
}

TEST(mistakes_are_named)
{
    assert_string_equal(where(*state, "tota>1"),
                        "table things has no column 'tota'; its columns are name, calls, total_ns");
    assert_string_equal(
        where(*state, "calls"),
        "'calls' is no condition; write COLUMN, one of < <= = != >= > ~ !~, and a value");
    assert_string_equal(where(*state, "calls~2"), "calls holds numbers; ~ is for texts; ");
    assert_string_equal(where(*state, "name<b"), "name holds texts; compare with =, !=, ~ or !~; ");
    assert_string_equal(where(*state, "total_ns>fast"),
                        "'fast' is no value of total_ns; it is in ns");
    assert_string_equal(shown(*state, &(struct table_query) { .sort = "size" }),
                        "table things has no column 'size'; its columns are name, calls, total_ns");
}

TEST(columns_come_as_asked)
{
    struct fixture    *fixture = *state;
    struct table_query query = { .sort = "total_ns", .top = 1 };
    struct table_view  view;
    struct err         err = { 0 };

    assert_true(vec_push(&query.columns.values, &fixture->arena, "total_ns"));
    assert_true(vec_push(&query.columns.values, &fixture->arena, "name"));
    assert_true(
        table_view_make(&view, &fixture->facts, fixture->table, &query, &fixture->arena, &err));
    assert_int_equal(view.column_count, 2);
    assert_int_equal(view.matched_count, 4);
    assert_true(table_view_number(&view, 0, 0) == 9e6);
    assert_true(str_equal(table_view_text(&view, 0, 1), STR("Conv2D")));
}

AROUND_TESTS(setup, teardown)
