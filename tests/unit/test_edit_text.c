/* edit_text: edits as text and back, and what is wrong in one. */
#include "analyze/path/path.h"
#include "analyze/replay/edit_text.h"
#include "model/profile.h"
#include "testing.h"

TEST(comes_back_as_it_was)
{
    static const char *const texts[] = {
        "prefetch",
        "scale parts=compute,copy kinds=op name=.*Foo op_type=MatMul|Conv2D host=3 factor=0.25",
        "omit kinds=sync name=aten::item",
        "unblock name=cudaLaunchKernel ns=5000",
        "stage_scale stage=\\QIterator::Root::Map\\E(::.*)? factor=0.1",
        "scale name=\"a \"\"quoted\"\" name\" cell=7",
        "step ns=3500000",
    };
    struct arena arena = { 0 };

    for (size_t i = 0; i < ARRAY_COUNT(texts); i++) {
        struct text text = { .arena = &arena };
        struct edit edit;
        struct err  err = { 0 };

        assert_true(edit_scan(&edit, str_from(texts[i]), &arena, &err));
        edit_print(&edit, &text);
        assert_string_equal(text.data, texts[i]);
    }
    arena_free(&arena);
}

TEST(reads_every_field)
{
    struct arena arena = { 0 };
    struct edit  edit;
    struct err   err = { 0 };

    assert_true(edit_scan(&edit, STR(" scale  parts=host name=\"x \"\"y\" factor=0.5 ns=2 "),
                          &arena, &err));
    assert_int_equal(edit.kind, EDIT_SCALE);
    assert_int_equal(edit.select.part_mask, 1u << PART_HOST);
    assert_int_equal(edit.select.kind_mask, 0);
    assert_int_equal(edit.select.host, NO_ID);
    assert_string_equal(edit.select.name, "x \"y");
    assert_null(edit.select.stage);
    assert_true(edit.factor == 0.5 && edit.ns == 2);
    arena_free(&arena);
}

TEST(says_what_is_wrong)
{
    static const struct {
        const char *text, *message;
    } rows[] = {
        { "", "begins with scale" },
        { "scales factor=1", "not 'scales'" },
        { "scale parts=hosts", "no part of a step is called 'hosts'" },
        { "scale kinds=op,x", "no kind of activity is called 'x'" },
        { "scale factor=-1", "no number of 0 or more is '-1'" },
        { "scale factor=nan", "no number of 0 or more is 'nan'" },
        { "scale host=4294967295", "no number of a row is '4294967295'" },
        { "scale name=\"open", "no quote ends '\"open'" },
        { "scale name=\"", "no quote ends '\"'" },
        { "scale colour=red", "not 'colour'" },
        { "scale factor", "no number of 0 or more is ''" },
    };
    struct arena arena = { 0 };

    for (size_t i = 0; i < ARRAY_COUNT(rows); i++) {
        struct edit edit;
        struct err  err = { 0 };

        assert_false(edit_scan(&edit, str_from(rows[i].text), &arena, &err));
        assert_int_equal(err.code, ERR_USAGE);
        assert_true(str_contains(str_from(err.text), str_from(rows[i].message)));
    }
    arena_free(&arena);
}
