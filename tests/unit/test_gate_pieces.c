/* What the change of a step is made of, on steps made by hand. */
#include "gate_program.h"

struct line {
    const char *name, *group, *file, *dtype;
    unsigned    number;
    double      ms;
    const char *kind;
};

static void add_rows(struct summary *summary, const struct line *lines, size_t count,
                     struct arena *arena)
{
    for (size_t i = 0; i < count; i++) {
        struct item item = row(lines[i].name, lines[i].group, "", "", 1e6 * lines[i].ms);
        struct item op = row(lines[i].name, "", lines[i].dtype, "", 1e6 * lines[i].ms);

        item.trait = lines[i].kind;
        item.file = lines[i].file;
        item.line = lines[i].number;
        assert_true(vec_push(&summary->items[ITEM_PATH].rows, arena, item));
        assert_true(vec_push(&summary->items[ITEM_OP].rows, arena, op));
    }
    summary->items[ITEM_PATH].is_complete = summary->items[ITEM_OP].is_complete = true;
}

static void set_step(struct summary *summary, double ms)
{
    for (size_t i = 0; i < summary->runs.items[0].step_count; i++)
        summary->runs.items[0].step_ns[i] = 1e6 * ms;
}

/*
 * 20 ms become 32: a product in a wider type and by another kernel (+6), a line that runs another
 * op (+3), a host function as before, time below nothing but the step's mark that is gone (-2) and
 * an op that is new (+4.95); a relu takes 0.05 ms more, less than a half per cent of the step, and
 * is the rest.
 */
TEST(a_change_is_said_once_and_sums_up)
{
    static const struct line before[] = {
        { "mm:Mkl", "compute", "", "float32", 0, 8, "" },
        { "cat", "compute", "a.py", "float32", 3, 6, "" },
        { "load", "host", "", "", 0, 3, "" },
        { "ProfilerStep", "host", "", "", 0, 2, "step" },
        { "relu", "compute", "", "", 0, 1, "" },
    };
    static const struct line after[] = {
        { "mm:Plain", "compute", "", "float64", 0, 14, "" },
        { "index", "compute", "a.py", "float32", 3, 9, "" },
        { "load", "host", "", "", 0, 3, "" },
        { "draw", "compute", "", "", 0, 4.95, "" },
        { "relu", "compute", "", "", 0, 1.05, "" },
    };
    static const struct {
        const char *title;
        double      change_ms;
    } expected[] = {
        { "mm:Mkl float32 \xe2\x86\x92 mm:Plain float64", 6 },
        { "new: draw", 4.95 },
        { "cat \xe2\x86\x92 index", 3 },
        { "gone: Python between events", -2 },
    };
    static const struct gate_limits limits = { .max_regression = 0.05 };
    struct summary                  sides[2];
    struct random                   random = { .state = 5 };
    struct arena                    arena = { 0 };
    struct err                      err = { 0 };
    struct gate_result              result;

    for (int side = 0; side < 2; side++) {
        make(&sides[side], &usual, 1, &random, &arena);
        set_step(&sides[side], side ? 32 : 20);
        add_rows(&sides[side], side ? after : before, 5, &arena);
    }
    assert_true(gate_run(&sides[0], &sides[1], &limits, &arena, &result, &err));
    assert_int_equal(result.pieces.count, 4);
    for (size_t i = 0; i < result.pieces.count; i++) {
        const struct piece *piece = &result.pieces.items[i];

        assert_string_equal(piece->title, expected[i].title);
        assert_true(fabs(piece->after_ns - piece->before_ns - 1e6 * expected[i].change_ms) < 1);
    }
    for (size_t i = 0; i < result.changes.count; i++) /* no op again that a piece is about */
        assert_true(result.changes.items[i].rule || result.changes.items[i].name[0] == 'r');
    arena_free(&arena);
}
