/* Operations and bytes of ops by the shapes of their arguments; what is right stands as the
 * calculation by hand. */
#include <stdio.h>
#include <string.h>

#include "testing.h"

#include "read/read.h"

extern const struct reader reader_kineto;

struct row {
    const char *name, *dims, *types, *concrete;
    int64_t     flops, bytes;
};

static void check(const struct row *row)
{
    struct arena   arena = { 0 };
    struct profile profile = { 0 };
    struct err     err = { 0 };
    char           text[2048];
    int            len =
        snprintf(text, sizeof text,
                 "[{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"%s\",\"ts\":1,\"dur\":2,\"args\":{"
                 "\"Input Dims\":[%s],\"Input type\":[%s],\"Concrete Inputs\":[%s]}}]",
                 row->name, row->dims, row->types, row->concrete ? row->concrete : "");
    struct read_options options = { 0 };
    struct read_input   input = { .path = "t.json",
                                  .source = NO_ID,
                                  .file.bytes = { text, (size_t)len } };

    assert_true(profile_init(&profile, &arena));
    assert_true(reader_kineto.read(&input, 1, &options, &profile, &err));
    if (profile.ops.items[0].flops != row->flops || profile.ops.items[0].bytes != row->bytes)
        print_message("%s %s: %lld operations, %lld bytes\n", row->name, row->dims,
                      (long long)profile.ops.items[0].flops, (long long)profile.ops.items[0].bytes);
    assert_true(profile.ops.items[0].flops == row->flops);
    assert_true(profile.ops.items[0].bytes == row->bytes);
    arena_free(&arena);
}

#define B "\"c10::BFloat16\""
#define F "\"float\""
#define I "\"signed char\""
#define L "\"long int\""
#define O "\"ScalarList\""
#define S "\"Scalar\""

/* 2 sequences, 4 heads, 10 queries, 20 keys of 8: scores 2·4·10·20·8·2, the sum of values the same.
 */
TEST(attention)
{
    static const struct row rows[] = {
        { "aten::_scaled_dot_product_flash_attention",
          "[2,4,10,8],[2,4,20,8],[2,4,20,8],[],[],[],[]", B "," B "," B "," S "," S "," S "," S,
          "\"\",\"\",\"\",\"0.\",\"False\",\"False\",\"0.35\"", 2 * 2 * (2 * 4 * 10 * 20 * 8),
          2 * (2 * 4 * 8 * (10 + 20 + 20 + 10)) },
        /* length before heads, values of 6 instead of 8 */
        { "aten::_flash_attention_forward",
          "[2,10,4,8],[2,20,4,8],[2,20,4,6],[],[],[],[],[],[],[],[],[],[],[]",
          B "," B "," B ",\"\",\"\"," S "," S "," S "," S "," S "," S ",\"\",\"\",\"\"",
          "\"\",\"\",\"\",\"\",\"\",\"10\",\"20\",\"0.\",\"False\",\"False\",\"\",\"\",\"\",\"\"",
          2 * (2 * 4 * 10 * 20) * (8 + 6), 2 * 2 * 4 * (10 * 8 + 20 * 8 + 20 * 6 + 10 * 6) },
        /* causal: query i of 10 sees 10 + i of 20 keys (i from 1), 10·10 + 55 pairs */
        { "aten::_flash_attention_forward",
          "[2,10,4,8],[2,20,4,8],[2,20,4,8],[],[],[],[],[],[],[],[],[],[],[]",
          B "," B "," B ",\"\",\"\"," S "," S "," S "," S "," S "," S ",\"\",\"\",\"\"",
          "\"\",\"\",\"\",\"\",\"\",\"10\",\"20\",\"0.\",\"True\",\"False\",\"\",\"\",\"\",\"\"",
          2 * (2 * 4 * 155) * (8 + 8), 2 * 2 * 4 * 8 * (10 + 20 + 20 + 10) },
        /* 3 sequences behind one another, 12 queries and 12 keys: 4 of each */
        { "aten::_flash_attention_forward",
          "[12,4,8],[12,4,8],[12,4,8],[4],[4],[],[],[],[],[],[],[],[],[]",
          B "," B "," B ",\"int\",\"int\"," S "," S "," S "," S "," S "," S ",\"\",\"\",\"\"",
          "\"\",\"\",\"\",\"\",\"\",\"4\",\"4\",\"0.\",\"False\",\"False\",\"\",\"\",\"\",\"\"",
          2 * (3 * 4 * 4 * 4) * (8 + 8), 2 * 4 * 8 * 12 * 4 + 2 * 4 * 4 },
        /* 8 heads of queries share 2 of keys */
        { "aten::_efficient_attention_forward",
          "[1,16,8,64],[1,16,2,64],[1,16,2,64],[],[],[],[],[],[],[],[]",
          F "," F "," F ",\"\",\"\",\"\",\"\",\"\"," S "," S "," S,
          "\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"0.\",\"0\",\"True\"", 4 * (8 * 16 * 16) * 64,
          4 * 16 * 64 * (8 + 2 + 2 + 8) },
        /* backward: five products */
        { "aten::_scaled_dot_product_flash_attention_backward",
          "[1,2,4,8],[1,2,4,8],[1,2,4,8],[1,2,4,8],[1,2,4,8],[1,2,4],[],[],[],[],[],[]",
          B "," B "," B "," B "," B "," F ",\"\",\"\"," S "," S "," S "," S,
          "\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"4\",\"4\",\"0.\",\"False\"",
          5 * 2 * (2 * 4 * 4 * 8), 2 * 64 * 5 + 4 * 8 + 2 * 64 * 3 },
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        check(&rows[i]);
}

/* One sequence, 2 heads, 4 queries and keys of 8, causal: 1 + 2 + 3 + 4 pairs a head, 20 in all;
 * each two products of 8. Backward has five: scores again, and gradients of scores, values, queries
 * and keys. Where an op's arguments say so differs. */
TEST(masks)
{
    static const struct row rows[] = {
        { "aten::_scaled_dot_product_flash_attention_for_cpu",
          "[1,2,4,8],[1,2,4,8],[1,2,4,8],[],[]", B "," B "," B "," S "," S,
          "\"\",\"\",\"\",\"\",\"True\"", 20 * (2 * 8 + 2 * 8), 2 * 64 * 4 },
        { "aten::_scaled_dot_product_efficient_attention",
          "[1,2,4,8],[1,2,4,8],[1,2,4,8],[],[],[],[]", B "," B "," B "," S "," S "," S "," S,
          "\"\",\"\",\"\",\"\",\"\",\"\",\"True\"", 20 * (2 * 8 + 2 * 8), 2 * 64 * 4 },
        { "aten::_scaled_dot_product_cudnn_attention", "[1,2,4,8],[1,2,4,8],[1,2,4,8],[],[],[],[]",
          B "," B "," B "," S "," S "," S "," S, "\"\",\"\",\"\",\"\",\"\",\"\",\"True\"",
          20 * (2 * 8 + 2 * 8), 2 * 64 * 4 },
        { "aten::_scaled_dot_product_fused_attention_overrideable",
          "[1,2,4,8],[1,2,4,8],[1,2,4,8],[],[],[]", B "," B "," B "," S "," S "," S,
          "\"\",\"\",\"\",\"\",\"\",\"True\"", 20 * (2 * 8 + 2 * 8), 2 * 64 * 4 },
        { "aten::_cudnn_attention_forward", "[1,2,4,8],[1,2,4,8],[1,2,4,8],[],[],[],[],[],[],[],[]",
          B "," B "," B "," S "," S "," S "," S "," S "," S "," S "," S,
          "\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"True\"", 20 * (2 * 8 + 2 * 8),
          2 * 64 * 4 },
        { "flash_attn::_flash_attn_forward", "[1,4,2,8],[1,4,2,8],[1,4,2,8],[],[],[]",
          B "," B "," B "," S "," S "," S, "\"\",\"\",\"\",\"\",\"\",\"True\"",
          20 * (2 * 8 + 2 * 8), 2 * 64 * 4 },
        { "aiter::mha_fwd", "[1,4,2,8],[1,4,2,8],[1,4,2,8],[],[],[]",
          B "," B "," B "," S "," S "," S, "\"\",\"\",\"\",\"\",\"\",\"True\"",
          20 * (2 * 8 + 2 * 8), 2 * 64 * 4 },
        { "aiter::fmha_v3_fwd", "[1,4,2,8],[1,4,2,8],[1,4,2,8],[],[],[]",
          B "," B "," B "," S "," S "," S, "\"\",\"\",\"\",\"\",\"\",\"True\"",
          20 * (2 * 8 + 2 * 8), 2 * 64 * 4 },
        { "aten::_scaled_dot_product_flash_attention_for_cpu_backward",
          "[1,2,4,8],[1,2,4,8],[1,2,4,8],[1,2,4,8],[],[],[],[]",
          B "," B "," B "," B "," S "," S "," S "," S,
          "\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"True\"", 20 * (6 * 8 + 4 * 8), 2 * 64 * (4 + 3) },
        { "aten::_scaled_dot_product_efficient_attention_backward",
          "[1,2,4,8],[1,2,4,8],[1,2,4,8],[1,2,4,8],[],[],[],[],[],[],[],[]",
          B "," B "," B "," B "," S "," S "," S "," S "," S "," S "," S "," S,
          "\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"True\"", 20 * (6 * 8 + 4 * 8),
          2 * 64 * (4 + 3) },
        { "aten::_scaled_dot_product_cudnn_attention_backward",
          "[1,2,4,8],[1,2,4,8],[1,2,4,8],[1,2,4,8],[],[],[],[],[],[],[],[],[],[],[]",
          B "," B "," B "," B "," S "," S "," S "," S "," S "," S "," S "," S "," S "," S "," S,
          "\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"True\"",
          20 * (6 * 8 + 4 * 8), 2 * 64 * (4 + 3) },
        { "aten::_flash_attention_backward",
          "[1,4,2,8],[1,4,2,8],[1,4,2,8],[1,4,2,8],[],[],[],[],[],[],[],[]",
          B "," B "," B "," B "," S "," S "," S "," S "," S "," S "," S "," S,
          "\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"True\"", 20 * (6 * 8 + 4 * 8),
          2 * 64 * (4 + 3) },
        { "aten::_efficient_attention_backward",
          "[1,4,2,8],[1,4,2,8],[1,4,2,8],[1,4,2,8],[],[],[],[],[],[],[],[],[],[],[]",
          B "," B "," B "," B "," S "," S "," S "," S "," S "," S "," S "," S "," S "," S "," S,
          "\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"True\"",
          20 * (6 * 8 + 4 * 8), 2 * 64 * (4 + 3) },
        { "flash_attn::_flash_attn_backward",
          "[1,4,2,8],[1,4,2,8],[1,4,2,8],[1,4,2,8],[],[],[],[],[],[],[],[]",
          B "," B "," B "," B "," S "," S "," S "," S "," S "," S "," S "," S,
          "\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"True\"", 20 * (6 * 8 + 4 * 8),
          2 * 64 * (4 + 3) },
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        check(&rows[i]);
}

TEST(products)
{
    static const struct row rows[] = {
        { "aten::mm", "[4,3],[3,5]", F "," F, NULL, 2 * 4 * 3 * 5, 4 * (12 + 15 + 20) },
        /* what is added is read, too */
        { "aten::addmm", "[5],[4,3],[3,5],[],[]", F "," F "," F "," S "," S, NULL, 2 * 4 * 3 * 5,
          4 * (5 + 12 + 15 + 20) },
        { "aten::_addmm_activation", "[5],[4,3],[3,5],[],[],[]", F "," F "," F "," S "," S "," S,
          NULL, 2 * 4 * 3 * 5, 4 * (5 + 12 + 15 + 20) },
        { "aten::bmm", "[2,4,3],[2,3,5]", F "," F, NULL, 2 * 2 * 4 * 3 * 5,
          4 * 2 * (12 + 15 + 20) },
        { "aten::baddbmm", "[2,4,5],[2,4,3],[2,3,5],[],[]", F "," F "," F "," S "," S, NULL,
          2 * 2 * 4 * 3 * 5, 4 * 2 * (20 + 12 + 15 + 20) },
        /* whole numbers of eight bits, sums of 32 */
        { "aten::_int_mm", "[4,3],[3,5]", I "," I, NULL, 2 * 4 * 3 * 5, 12 + 15 + 4 * 20 },
        /* weights of eight bits stand by rows, with a scale each */
        { "aten::_weight_int8pack_mm", "[4,3],[5,3],[5]", B "," I "," B, NULL, 2 * 4 * 3 * 5,
          2 * 12 + 15 + 2 * 5 + 2 * 20 },
        { "mkldnn::_linear_pointwise", "[4,3],[5,3],[5],[],[],[]", F "," F "," F ",\"\",\"\",\"\"",
          NULL, 2 * 4 * 3 * 5, 4 * (12 + 15 + 5 + 20) },
        { "aten::mkldnn_linear", "[4,3],[5,3],[5]", F "," F "," F, NULL, 2 * 4 * 3 * 5,
          4 * (12 + 15 + 5 + 20) },
        /* eight bits in, sixteen out */
        { "aten::_scaled_mm", "[16,32],[32,64],[],[]",
          "\"c10::Float8_e4m3fn\",\"c10::Float8_e4m3fn\",\"\",\"\"", NULL, 2 * 16 * 32 * 64,
          16 * 32 + 32 * 64 + 2 * 16 * 64 },
        /* 4 x 16 of which half are kept: 4 * 16 * 9 / 16 = 36 with their places; 8 columns */
        { "aten::_cslt_sparse_mm", "[36],[16,8]", B "," B, NULL, 2 * 4 * 16 * 8,
          2 * (36 + 16 * 8 + 4 * 8) },
        { "aten::_sparse_semi_structured_mm", "[4,8],[4,1],[16,8]", B ",\"short int\"," B, NULL,
          2 * 4 * 16 * 8, 2 * (4 * 8 + 4 + 16 * 8 + 4 * 8) },
        { "aten::_sparse_semi_structured_linear", "[8,16],[4,8],[4,1]", B "," B ",\"short int\"",
          NULL, 2 * 4 * 16 * 8, 2 * (8 * 16 + 4 * 8 + 4 + 4 * 8) },
        /* bytes of two values each along what is summed: 16 x 32 by 32 x 64, sixteen bits out */
        { "aten::_scaled_mm", "[16,16],[16,64],[],[]",
          "\"c10::Float4_e2m1fn_x2\",\"c10::Float4_e2m1fn_x2\",\"\",\"\"", NULL, 2 * 16 * 32 * 64,
          16 * 32 / 2 + 32 * 64 / 2 + 2 * 16 * 64 },
        /* four groups of experts: each row meets one of them */
        { "aten::_grouped_mm", "[128,32],[4,32,64]", B "," B, NULL, 2 * 128 * 32 * 64,
          2 * (128 * 32 + 4 * 32 * 64 + 128 * 64) },
        /* 10 tokens, 2 of 8 experts each, hidden 16, 32 inside: 64 = gate and up together, back
           from 32 */
        { "vllm::inplace_fused_experts", "[10,16],[8,64,16],[8,16,32],[10,2],[10,2]",
          B "," B "," B "," F ",\"int\"", NULL, 2 * (10 * 2) * (64 * 16 + 16 * 32),
          2 * (10 * 16 + 8 * 64 * 16 + 8 * 16 * 32) + 4 * 20 + 4 * 20 + 2 * 10 * 16 },
        /* 2 tokens, 2 of 8 experts each: weights of no more than 4 experts are read */
        { "vllm::rocm_aiter_fused_moe", "[2,16],[8,64,16],[8,16,32],[2,2],[2,2]",
          B "," B "," B "," F ",\"int\"", NULL, 2 * (2 * 2) * (64 * 16 + 16 * 32),
          2 * (2 * 16 + 4 * 64 * 16 + 4 * 16 * 32) + 4 * 4 + 4 * 4 + 2 * 2 * 16 },
        /* convolution in 4 groups: 8 filters of 2 channels, output 8 x 8 */
        { "aten::cudnn_convolution", "[1,8,8,8],[8,2,3,3],[],[],[],[],[],[],[]",
          F "," F ",\"ScalarList\",\"ScalarList\",\"ScalarList\"," S "," S "," S "," S,
          "\"\",\"\",\"[1, 1]\",\"[1, 1]\",\"[1, 1]\",\"4\",\"False\",\"False\",\"True\"",
          2 * (8 * 8 * 8) * (2 * 3 * 3), 4 * (8 * 8 * 8 + 8 * 2 * 9 + 8 * 8 * 8) },
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        check(&rows[i]);
}

/* Two images of 4 channels, 6 x 6, by 3 x 3 filters with a border of one, every second place:
 * (6 + 2 - 3) / 2 + 1 = 3 rows and columns; 8 filters give 2·8·3·3 = 144 outputs of 4·3·3 products.
 */
TEST(convolutions)
{
    static const int outputs = 144, input = 2 * 4 * 6 * 6, weight = 8 * 4 * 3 * 3;
    const struct row rows[] = {
        { "aten::mkldnn_convolution", "[2,4,6,6],[8,4,3,3],[],[],[],[],[]",
          F "," F ",\"\"," O "," O "," O "," S,
          "\"\",\"\",\"\",\"[1, 1]\",\"[2, 2]\",\"[1, 1]\",\"1\"", 2 * outputs * 36,
          4 * (input + weight + outputs) },
        { "aten::miopen_convolution", "[2,4,6,6],[8,4,3,3],[],[],[],[],[],[],[]",
          F "," F ",\"\"," O "," O "," O "," S "," S "," S,
          "\"\",\"\",\"\",\"[1, 1]\",\"[2, 2]\",\"[1, 1]\",\"1\",\"False\",\"False\"",
          2 * outputs * 36, 4 * (input + weight + outputs) },
        /* strides stand before borders */
        { "aten::convolution_overrideable", "[2,4,6,6],[8,4,3,3],[],[],[],[],[],[],[]",
          F "," F ",\"\"," O "," O "," O "," S "," O "," S,
          "\"\",\"\",\"\",\"[2, 2]\",\"[1, 1]\",\"[1, 1]\",\"False\",\"[0, 0]\",\"1\"",
          2 * outputs * 36, 4 * (input + weight + outputs) },
        { "aten::_slow_conv2d_forward", "[2,4,6,6],[8,4,3,3],[],[],[],[]",
          F "," F "," O ",\"\"," O "," O, "\"\",\"\",\"[3, 3]\",\"\",\"[2, 2]\",\"[1, 1]\"",
          2 * outputs * 36, 4 * (input + weight + outputs) },
        /* a filter a channel: 2·4·3·3 = 72 outputs of 9 products */
        { "aten::_conv_depthwise2d", "[2,4,6,6],[4,1,3,3],[],[],[],[],[]",
          F "," F "," O ",\"\"," O "," O "," O,
          "\"\",\"\",\"[3, 3]\",\"\",\"[2, 2]\",\"[1, 1]\",\"[1, 1]\"", 2 * 72 * 9,
          4 * (input + 4 * 9 + 72) },
        /* gradients of input and weights, then of the weights alone */
        { "aten::convolution_backward", "[2,8,3,3],[2,4,6,6],[8,4,3,3],[],[],[],[],[],[],[],[]",
          F "," F "," F "," O "," O "," O "," O "," S "," O "," S "," O,
          "\"\",\"\",\"\",\"[0]\",\"[2, 2]\",\"[1, 1]\",\"[1, 1]\",\"False\",\"[0, 0]\",\"1\","
          "\"[True, True, False]\"",
          2 * 2 * outputs * 36, 4 * (outputs + input + weight) },
        { "aten::convolution_backward", "[2,8,3,3],[2,4,6,6],[8,4,3,3],[],[],[],[],[],[],[],[]",
          F "," F "," F "," O "," O "," O "," O "," S "," O "," S "," O,
          "\"\",\"\",\"\",\"[0]\",\"[2, 2]\",\"[1, 1]\",\"[1, 1]\",\"False\",\"[0, 0]\",\"1\","
          "\"[False, True, False]\"",
          2 * outputs * 36, 4 * (outputs + input + weight) },
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        check(&rows[i]);
}

TEST(passes_over_memory)
{
    static const struct row rows[] = {
        /* two read, one written */
        { "aten::add", "[8192,8192],[8192,8192],[]", F "," F "," S, NULL, -1,
          INT64_C(3) * 8192 * 8192 * 4 },
        /* outer: 100 and 200 read, 100 x 200 written */
        { "aten::mul", "[100,1],[1,200]", F "," F, NULL, -1, 4 * (100 + 200 + 100 * 200) },
        /* in place: the first is read and written */
        { "aten::add_", "[1000],[1000],[]", F "," F "," S, NULL, -1, 4 * 3000 },
        { "aten::copy_", "[1000],[1000],[]", F "," B "," S, NULL, -1, 4 * 1000 + 2 * 1000 },
        { "aten::fill_", "[1000],[]", F "," S, NULL, -1, 4 * 1000 },
        { "aten::gt", "[1000],[]", F "," S, NULL, -1, 4 * 1000 + 1000 },
        { "aten::native_layer_norm", "[64,512],[],[512],[512],[]",
          B ",\"ScalarList\"," B "," B "," S, NULL, -1, 2 * (64 * 512 * 2 + 512 * 2) },
        { "aten::_fused_rms_norm", "[64,512],[],[512],[]", B ",\"ScalarList\"," B "," S, NULL, -1,
          2 * (64 * 512 * 2 + 512) },
        /* a byte an element says what was kept */
        { "aten::native_dropout", "[1000],[],[]", F "," S "," S, NULL, -1, 4 * 2000 + 1000 },
        { "aten::_softmax", "[4,128,128],[],[]", F "," S "," S, NULL, -1, 4 * 2 * (4 * 128 * 128) },
        { "aten::cat", "[[10,4],[20,4]],[]", "\"TensorList\"," S, NULL, -1,
          -1 }, /* of unknown types */
        { "aten::view", "[1000],[]", F ",\"ScalarList\"", NULL, -1, 0 },
        /* 32 of a million rows of 64: read and written, the indices read */
        { "aten::embedding", "[1000000,64],[32],[],[],[]", F "," L "," S "," S "," S,
          "\"\",\"\",\"-1\",\"False\",\"False\"", -1, 2 * 32 * 64 * 4 + 32 * 8 },
        { "aten::index_select", "[100,50],[],[7]", F "," S "," L, "\"\",\"0\",\"\"", -1,
          2 * 7 * 50 * 4 + 7 * 8 },
        { "aten::gather", "[100,50],[],[10,3],[]", F "," S "," L "," S, NULL, -1,
          2 * 30 * 4 + 30 * 8 },
        /* which rows, and how many, the list of indices would tell */
        { "aten::index", "[8,1024,2048],[]", B ",\"\"", NULL, -1, -1 },
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        check(&rows[i]);
}
