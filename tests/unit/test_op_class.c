/* op_class: names that frameworks, compilers and libraries give ops, and what those do by their
 * documentation. */
#include "model/op_class.h"

#include "base/macros.h"
#include "testing.h"

TEST(names_tell_what_ops_do)
{
    static const struct {
        const char *name, *op_class;
    } cases[] = {
        { "aten::addmm", "product" },
        { "aten::_scaled_mm", "product" },
        { "_MklNativeFusedMatMul", "product" },
        { "dot_general", "product" },
        { "dot.7", "product" },
        { "ynn_fusion.3", "product" },
        { "__onednn$matmul", "product" },
        { "Conv2DBackpropFilter", "convolution" },
        { "aten::mkldnn_convolution", "convolution" },
        { "aten::_scaled_dot_product_flash_attention", "attention" },
        { "aten::rnn_tanh", "cell" },
        { "aten::gru", "cell" },
        { "convert_fusion", "cast" },
        { "convert_element_type", "cast" },
        { "quantized::linear_dynamic", "product" },
        { "quantized::conv2d_prepack", "copy" },
        { "aten::index_select", "gather" },
        { "UnsortedSegmentSum", "scatter" },
        { "OneHot", "one-hot" },
        { "TopKV2", "sort" },
        { "FusedBatchNormV3", "normalisation" },
        { "loop_fusion.1", "elementwise" },
        { "aten::cos", "elementwise" },
        { "aten::maximum", "elementwise" },
        { "HistogramSummary", "log" },
        { "IteratorGetNext", "input" },
        { "MakeIterator", "input" },
        { "TensorSliceDataset", "input" },
        { "lu", "decomposition" }, /* jax.lax.linalg.lu */
        { "aten::_linalg_eigh", "decomposition" },
        { "aten::linalg_eigvals", "decomposition" },
        { "aten::_weight_norm", "reduce" },
        { "aten::_weight_int8pack_mm", "product" },
        { "custom-call", "other" },
    };

    for (size_t i = 0; i < ARRAY_COUNT(cases); i++)
        assert_string_equal(op_class_name(op_class_of(str_from(cases[i].name))), cases[i].op_class);
}

TEST(words_name_classes)
{
    for (int i = 0; i < OP_CLASS_COUNT; i++)
        assert_int_equal(op_class_find(str_from(op_class_name((enum op_class)i))), i);
    assert_int_equal(op_class_find(STR("products")), -1);
    assert_int_equal(op_class_find((struct str) { 0 }), -1);
}
