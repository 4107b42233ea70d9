/* eager_kinds.c: see eager_kinds.h. */
#include "analyze/eager/eager_kinds.h"

#include "base/macros.h"
#include "model/op_class.h"

static const struct {
    const char *names; /* str_fits */
    enum anchor_class class;
    uint32_t most_between;
} anchors[] = {
    { "select", ANCHOR_SLICE, 64 },
    { "index|index_select|masked_select|nonzero", ANCHOR_PICK, 64 },
    { "slice|narrow", ANCHOR_SLICE, 12 },
    { "*_cell", ANCHOR_CELL, 64 },
    { "cat|concat", ANCHOR_CONCAT, 24 },
    { "linear|matmul|mm|mv|addmm|conv1d|conv2d|embedding", ANCHOR_PRODUCT, 24 },
};
static const struct {
    const char *names;
    uint16_t    traits;
} traits[] = {
    { "sigmoid|tanh", IS_GATE },
    { "*_cell", IS_GATE | IS_PRODUCT },
    { "cat|concat", IS_CONCAT | IS_STACK },
    { "item|is_nonzero", IS_READBACK },
    { "select|slice|narrow", IS_LOOK | IS_SLICE },
    { "view|unsqueeze|squeeze|t|transpose|reshape|expand", IS_LOOK },
    { "index", IS_LOOK | IS_GATHER },
    { "gather|index_select|embedding", IS_GATHER },
    { "copy|index_put|scatter|fill", IS_WRITE },
    { "stack", IS_LOOK | IS_STACK },
    { "scaled_dot_product_attention", IS_LAYER | IS_ATTENTION },
    { "to|type_as", IS_CONVERSION },
    { "argmax|max|topk", IS_PICK },
    { "multinomial", IS_DRAW | IS_PICK },
    { "bernoulli|normal|randn|randn_like", IS_DRAW },
    { "unbind|split|split_with_sizes|tensor_split|chunk", IS_SPLIT },
};

static const uint16_t class_traits[OP_CLASS_COUNT] = {
    [OP_PRODUCT] = IS_PRODUCT,
    [OP_LOSS] = IS_LOSS,
    [OP_NORMALISATION] = IS_LAYER,
};

struct eager_kind eager_kind_of(struct str name)
{
    struct eager_kind kind = { .is_known = 1, .traits = class_traits[op_class_of(name)] };

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
