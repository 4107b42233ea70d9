/* The text of a table: which columns a narrow terminal shows. */
#include "report/table_report.h"

#include "analyze/table_view.h"
#include "base/macros.h"
#include "report/output.h"
#include "testing.h"

#include <string.h>

enum { NAME, FAMILY, OP, CALLS, SOURCE_LINE, TOTAL_NS, START_NS };
static const struct column_spec columns[] = {
    [NAME] = { "name", UNIT_NAME, "" },
    [FAMILY] = { "family", UNIT_NAME, "" },
    [OP] = { "op", UNIT_NAME, "" },
    [CALLS] = { "calls", UNIT_COUNT, "" },
    [SOURCE_LINE] = { "source_line", UNIT_COUNT, "" },
    [TOTAL_NS] = { "total_ns", UNIT_NS, "" },
    [START_NS] = { "start_ns", UNIT_NS, "" },
};
static const struct table_spec spec = { "things", "of a test", columns, ARRAY_COUNT(columns) };

struct fixture {
    struct arena  arena;
    struct intern names;
    struct facts  facts;
    struct table *table;
};

static void begin(struct fixture *fixture)
{
    *fixture = (struct fixture) { 0 };
    intern_init(&fixture->names, &fixture->arena);
    facts_init(&fixture->facts, &fixture->arena, &fixture->names);
    fixture->table = facts_table(&fixture->facts, &spec);
}

static void add(struct fixture *fixture, const char *name, const char *op, double start_ns)
{
    size_t   row = table_add(fixture->table, &fixture->arena);
    double **cells = fixture->table->columns;

    cells[NAME][row] = facts_name(&fixture->facts, str_from(name));
    cells[FAMILY][row] = facts_name(&fixture->facts, STR("all of them are of one family"));
    cells[OP][row] = facts_name(&fixture->facts, str_from(op));
    cells[CALLS][row] = 1;
    cells[SOURCE_LINE][row] = 7;
    cells[TOTAL_NS][row] = 2e6;
    cells[START_NS][row] = start_ns;
}

static const char *shown(struct fixture *fixture, unsigned width)
{
    struct table_view     view;
    struct err            err = { 0 };
    struct text           text = { .arena = &fixture->arena };
    struct output_options options = { .width = width };

    assert_true(table_view_make(&view, &fixture->facts, fixture->table, &(struct table_query) { 0 },
                                &fixture->arena, &err));
    table_rows_text(&view, &options, &text);
    text_add_byte(&text, '\0');
    return text.data;
}

/* The op is what tells these kernels apart, so it is shown, and the family, which all share, is
 * not; two times that differ by 2 ms of 2.5 s are not the same text. */
TEST(what_tells_rows_apart_is_shown)
{
    static const char name[] = "void a_kernel_with_a_long_name_for_which_there_is_no_room";
    struct fixture    fixture;

    begin(&fixture);
    add(&fixture, name, "model/layer_1/attention/query/MatMul", 2.501e9);
    add(&fixture, name, "model/layer_2/attention/query/MatMul", 2.503e9);
    add(&fixture, "memset", "model/layer_2/attention/query/MatMul", 2.504e9);
    assert_string_equal(shown(&fixture, 80),
                        "name                  op                    calls  total_ns     start_ns\n"
                        "void a_ke…is_no_room  model/lay…ery/MatMul      1   2.00 ms  2501.000 ms\n"
                        "void a_ke…is_no_room  model/lay…ery/MatMul      1   2.00 ms  2503.000 ms\n"
                        "memset                model/lay…ery/MatMul      1   2.00 ms  2504.000 ms\n"
                        "--wide or --columns: family, source_line\n");
    arena_free(&fixture.arena);
}

/* Names that differ need no op beside them; numbers come before other texts, and a line without its
 * file where there is room. */
TEST(names_that_differ_are_enough)
{
    struct fixture fixture;

    begin(&fixture);
    add(&fixture, "first", "model/layer_1/attention/query/MatMul", 0);
    add(&fixture, "second", "model/layer_2/attention/query/MatMul", 0);
    assert_string_equal(shown(&fixture, 40), "name    calls  source_line  total_ns\n"
                                             "first       1            7   2.00 ms\n"
                                             "second      1            7   2.00 ms\n"
                                             "--wide or --columns: family, op,\n"
                                             "  start_ns\n");
    arena_free(&fixture.arena);
}
