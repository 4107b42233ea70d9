/* HLO instructions as text: shapes, types, memory spaces, which way copies go. */
#include "read/hlo/hlo_text.h"
#include "testing.h"

TEST(reads_results_and_operands)
{
    struct hlo_text text;

    assert_true(hlo_text_read(
        STR("%fusion.2 = (bf16[5,1024]{1,0:T(8,128)(2,1)}, s32[]{:S(2)}) fusion(bf16[5,1024]{1,0} "
            "%copy-done.2, /*index=1*/pred[<=7]{0:S(5)} %p), kind=kLoop, calls=%fused"),
        &text));
    assert_true(str_equal(text.opcode, STR("fusion")));
    assert_int_equal(text.result_count, 2);
    assert_int_equal(text.results[0].tensor.dtype, DTYPE_BF16);
    assert_int_equal(text.results[0].tensor.rank, 2);
    assert_int_equal(text.results[0].tensor.dims[0], 5);
    assert_int_equal(text.results[0].tensor.dims[1], 1024);
    assert_int_equal(text.results[0].space, 0);
    assert_int_equal(text.results[1].tensor.rank, 0);
    assert_int_equal(text.results[1].space, 2);
    assert_int_equal(text.operand_count, 2);
    assert_int_equal(text.operands[1].tensor.dtype, DTYPE_BOOL);
    assert_int_equal(text.operands[1].space, 5);
}

TEST(copies_have_a_direction)
{
    static const struct {
        const char         *text;
        enum copy_direction copy;
    } rows[] = {
        { "%copy-start = (f32[5]{0:T(8)}, f32[5]{0:T(8)S(5)}, u32[]{:S(2)}) "
          "copy-start(f32[5]{0:T(8)S(5)} %param)",
          COPY_H2D },
        { "%copy-start.1 = (f32[5]{0:S(5)}, f32[5]{0}, u32[]) copy-start(f32[5]{0} %a)", COPY_D2H },
        { "%copy-done = f32[5]{0} copy-done((f32[5]{0}, f32[5]{0:S(5)}, u32[]) %copy-start)",
          COPY_H2D },
        { "%copy-done.1 = f32[5]{0:S(5)} copy-done((f32[5]{0:S(5)}, f32[5]{0}, u32[]) %copy-start)",
          COPY_D2H },
        { "%copy-start.2 = (f32[5]{0:S(1)}, f32[5]{0}, u32[]) copy-start(f32[5]{0} %a)", COPY_D2D },
        { "%copy-start.3 = (f32[5", COPY_D2D },
    };
    struct hlo_text text;

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        (void)hlo_text_read(str_from(rows[i].text), &text);
        assert_int_equal(hlo_text_direction(&text), rows[i].copy);
    }
}

/* Cut anywhere, or no HLO at all: nothing is read behind the end. */
TEST(survives_cuts)
{
    static const struct str whole = STR_INIT("%a = ((f32[1,2]{1,0:S(5)}, /*index=1*/u8[<=3]), "
                                             "s4[]) all-reduce(f32[1]{0} %b, f32[2] %c)");
    struct hlo_text         text;

    for (size_t len = 0; len <= whole.len; len++)
        (void)hlo_text_read(str_slice(whole, 0, len), &text);
    assert_int_equal(text.result_count, 3);
    assert_int_equal(text.operand_count, 2);
    assert_false(hlo_text_read(STR("jit_f(7)"), &text));
    assert_false(hlo_text_read(STR("a = ((((("), &text));
    assert_false(hlo_text_read(STR("a = /*"), &text));
}
