/* eager_kinds.c: see eager_kinds.h. */
#include "analyze/eager/eager_kinds.h"

#include "base/macros.h"

static const struct {
    const char *names; /* str_fits */
    enum anchor_class class;
    uint32_t most_between;
} anchors[] = {
    { "select", ANCHOR_SLICE, 64 },
    { "index|index_select|masked_select|nonzero", ANCHOR_PICK, 64 },
    { "slice|narrow", ANCHOR_SLICE, 12 },
    { "lstm_cell|gru_cell|rnn_tanh_cell|rnn_relu_cell", ANCHOR_CELL, 64 },
    { "cat|concat", ANCHOR_CONCAT, 24 },
    { "linear|matmul|mm|mv|addmm|conv1d|conv2d|embedding", ANCHOR_PRODUCT, 24 },
};
static const struct {
    const char *names;
    uint16_t    traits;
} traits[] = {
    { "linear|matmul|mm|addmm|bmm|mv|dot|baddbmm|addmv", IS_PRODUCT },
    { "sigmoid|tanh", IS_GATE },
    { "lstm_cell|gru_cell|rnn_tanh_cell|rnn_relu_cell", IS_GATE | IS_PRODUCT },
    { "cat|concat", IS_CONCAT | IS_STACK },
    { "item|is_nonzero", IS_READBACK },
    { "select|slice|narrow", IS_LOOK | IS_SLICE },
    { "view|unsqueeze|squeeze|t|transpose|reshape|expand", IS_LOOK },
    { "index", IS_LOOK | IS_GATHER },
    { "gather|index_select|embedding", IS_GATHER },
    { "copy|index_put|scatter|fill", IS_WRITE },
    { "stack", IS_LOOK | IS_STACK },
    { "mse_loss|l1_loss|cross_entropy_loss|smooth_l1_loss|binary_cross_entropy|"
      "binary_cross_entropy_with_logits|nll_loss|huber_loss",
      IS_LOSS },
    { "layer_norm|batch_norm|rms_norm|group_norm", IS_LAYER },
    { "scaled_dot_product_attention", IS_LAYER | IS_ATTENTION },
    { "to|type_as", IS_CONVERSION },
    { "argmax|max|topk", IS_PICK },
    { "multinomial", IS_DRAW | IS_PICK },
    { "bernoulli|normal|randn|randn_like", IS_DRAW },
    { "unbind|split|split_with_sizes|tensor_split|chunk", IS_SPLIT },
};

struct eager_kind eager_kind_of(struct str name)
{
    struct eager_kind kind = { .is_known = 1 };

    for (size_t i = 0; i < ARRAY_COUNT(anchors); i++)
        if (str_fits(name, anchors[i].names)) {
            kind.class = (uint8_t)anchors[i].class;
            kind.most_between = anchors[i].most_between;
        }
    for (size_t i = 0; i < ARRAY_COUNT(traits); i++)
        if (str_fits(name, traits[i].names))
            kind.traits = traits[i].traits;
    return kind;
}
