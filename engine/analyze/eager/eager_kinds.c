/* eager_kinds.c: see eager_kinds.h. */
#include "analyze/eager/eager_kinds.h"

#include "base/macros.h"

static const struct {
    const char *name;
    enum anchor_class class;
    uint32_t most_between;
} anchors[] = {
    { "select", ANCHOR_SLICE, 64 },       { "index", ANCHOR_PICK, 64 },
    { "index_select", ANCHOR_PICK, 64 },  { "masked_select", ANCHOR_PICK, 64 },
    { "nonzero", ANCHOR_PICK, 64 },       { "slice", ANCHOR_SLICE, 12 },
    { "narrow", ANCHOR_SLICE, 12 },       { "lstm_cell", ANCHOR_CELL, 64 },
    { "gru_cell", ANCHOR_CELL, 64 },      { "rnn_tanh_cell", ANCHOR_CELL, 64 },
    { "rnn_relu_cell", ANCHOR_CELL, 64 }, { "cat", ANCHOR_CONCAT, 24 },
    { "concat", ANCHOR_CONCAT, 24 },      { "linear", ANCHOR_PRODUCT, 24 },
    { "matmul", ANCHOR_PRODUCT, 24 },     { "mm", ANCHOR_PRODUCT, 24 },
    { "mv", ANCHOR_PRODUCT, 24 },         { "addmm", ANCHOR_PRODUCT, 24 },
    { "conv1d", ANCHOR_PRODUCT, 24 },     { "conv2d", ANCHOR_PRODUCT, 24 },
    { "embedding", ANCHOR_PRODUCT, 24 },
};
static const struct {
    const char *name;
    uint16_t    traits;
} traits[] = {
    { "linear", IS_PRODUCT },
    { "matmul", IS_PRODUCT },
    { "mm", IS_PRODUCT },
    { "addmm", IS_PRODUCT },
    { "bmm", IS_PRODUCT },
    { "mv", IS_PRODUCT },
    { "dot", IS_PRODUCT },
    { "baddbmm", IS_PRODUCT },
    { "addmv", IS_PRODUCT },
    { "sigmoid", IS_GATE },
    { "tanh", IS_GATE },
    { "lstm_cell", IS_GATE | IS_PRODUCT },
    { "gru_cell", IS_GATE | IS_PRODUCT },
    { "rnn_tanh_cell", IS_GATE | IS_PRODUCT },
    { "rnn_relu_cell", IS_GATE | IS_PRODUCT },
    { "cat", IS_CONCAT | IS_STACK },
    { "concat", IS_CONCAT | IS_STACK },
    { "item", IS_READBACK },
    { "is_nonzero", IS_READBACK },
    { "select", IS_LOOK | IS_SLICE },
    { "slice", IS_LOOK | IS_SLICE },
    { "view", IS_LOOK },
    { "narrow", IS_LOOK | IS_SLICE },
    { "index", IS_LOOK },
    { "unsqueeze", IS_LOOK },
    { "squeeze", IS_LOOK },
    { "t", IS_LOOK },
    { "transpose", IS_LOOK },
    { "reshape", IS_LOOK },
    { "expand", IS_LOOK },
    { "stack", IS_LOOK | IS_STACK },
    { "mse_loss", IS_LOSS },
    { "l1_loss", IS_LOSS },
    { "cross_entropy_loss", IS_LOSS },
    { "smooth_l1_loss", IS_LOSS },
    { "binary_cross_entropy", IS_LOSS },
    { "binary_cross_entropy_with_logits", IS_LOSS },
    { "nll_loss", IS_LOSS },
    { "huber_loss", IS_LOSS },
    { "layer_norm", IS_LAYER },
    { "batch_norm", IS_LAYER },
    { "rms_norm", IS_LAYER },
    { "group_norm", IS_LAYER },
    { "scaled_dot_product_attention", IS_LAYER | IS_ATTENTION },
    { "to", IS_CONVERSION },
    { "type_as", IS_CONVERSION },
    { "argmax", IS_PICK },
    { "max", IS_PICK },
    { "topk", IS_PICK },
    { "multinomial", IS_DRAW | IS_PICK },
    { "bernoulli", IS_DRAW },
    { "normal", IS_DRAW },
    { "randn", IS_DRAW },
    { "randn_like", IS_DRAW },
};

struct eager_kind eager_kind_of(struct str name)
{
    struct eager_kind kind = { .is_known = 1 };

    for (size_t i = 0; i < ARRAY_COUNT(anchors); i++)
        if (str_equal(name, str_from(anchors[i].name))) {
            kind.class = (uint8_t)anchors[i].class;
            kind.most_between = anchors[i].most_between;
        }
    for (size_t i = 0; i < ARRAY_COUNT(traits); i++)
        if (str_equal(name, str_from(traits[i].name)))
            kind.traits = traits[i].traits;
    return kind;
}
