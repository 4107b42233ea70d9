/* eager_kinds: what names of ops say of the loop around them. */

#include "testing.h"

#include "analyze/eager/eager_kinds.h"
#include "base/macros.h"

/* A slice in each round looks at memory; an index picks; a cell is a product with gates; ops of the
 * optimizer and of no loop at all say nothing. */
TEST(names)
{
    static const struct {
        const char *name;
        enum anchor_class class;
        unsigned traits, without;
    } rows[] = {
        { "select", ANCHOR_SLICE, IS_LOOK | IS_SLICE, IS_PRODUCT },
        { "slice", ANCHOR_SLICE, IS_LOOK | IS_SLICE, IS_PRODUCT },
        { "index", ANCHOR_PICK, IS_LOOK, IS_SLICE },
        { "lstm_cell", ANCHOR_CELL, IS_GATE | IS_PRODUCT, IS_LOSS },
        { "cat", ANCHOR_CONCAT, IS_CONCAT | IS_STACK, IS_LOOK },
        { "mm", ANCHOR_PRODUCT, IS_PRODUCT, IS_GATE },
        { "bmm", ANCHOR_NONE, IS_PRODUCT, 0 },
        { "item", ANCHOR_NONE, IS_READBACK, 0 },
        { "cross_entropy_loss", ANCHOR_NONE, IS_LOSS, 0 },
        { "layer_norm", ANCHOR_NONE, IS_LAYER, IS_ATTENTION },
        { "scaled_dot_product_attention", ANCHOR_NONE, IS_LAYER | IS_ATTENTION, 0 },
        { "multinomial", ANCHOR_NONE, IS_DRAW | IS_PICK, 0 },
        { "selects", ANCHOR_NONE, 0, 0xFFFF },
        { "", ANCHOR_NONE, 0, 0xFFFF },
    };

    for (size_t i = 0; i < ARRAY_COUNT(rows); i++) {
        struct eager_kind kind = eager_kind_of(str_from(rows[i].name));

        assert_true(kind.is_known);
        assert_int_equal(kind.class, rows[i].class);
        assert_int_equal(kind.traits & rows[i].traits, rows[i].traits);
        assert_int_equal(kind.traits & rows[i].without, 0);
        /* Between two anchors lies a bounded number of calls. */
        assert_int_equal(kind.most_between > 0, rows[i].class != ANCHOR_NONE);
    }
}
