#include "analyze/kernel/kernel_names.h"

#include "base/macros.h"

#include <string.h>

enum { LONGEST_NAME = 1024 };

struct library_rule {
    const char *part, *library;
};
/* First match wins: specific before general. All parts in lower case. */
static const struct library_rule libraries[] = {
    { "nccl", "nccl" },
    { "rccl", "rccl" },
    { "nvshmem", "nvshmem" },
    { "deep_ep", "deep_ep" },
    { "msccl", "msccl" },
    { "triton_", "triton" },
    { "aiter", "aiter" },
    { "ck_tile", "ck" },
    { "_zn2ck16", "ck" },
    { "void ck::", "ck" },
    { "flash", "flash" },
    { "fmha", "flash" },
    { "matmul_ogs", "triton" },
    { "onednn", "onednn" },
    { "dnnl", "onednn" },
    { "mkldnn", "onednn" },
    { "gen_conv", "onednn" },
    { "transformer_engine", "transformer_engine" },
    { "nvjet", "cublas" },
    { "cutlass", "cutlass" },
    { "cijk_", "hipblaslt" },
    { "miopen", "miopen" },
    { "igemm_fwd_gtc", "miopen" },
    { "igemm_bwd_gtc", "miopen" },
    { "igemm_wrw_gtc", "miopen" },
    { "batched_transpose_", "miopen" },
    { "subtensorop", "miopen" },
    { "cudnn", "cudnn" },
    { "xmma_implicit_gemm", "cudnn" },
    { "xmma", "cublas" },
    { "ampere_", "cublas" },
    { "turing_", "cublas" },
    { "volta_", "cublas" },
    { "maxwell_", "cublas" },
    { "cublas", "cublas" },
    { "gemmk1", "cublas" },
    { "gemv", "cublas" },
    { "at::native", "pytorch" },
    { "at_cuda", "pytorch" },
    { "_fusion", "xla" },
    { "wrapped_", "xla" },
    { "eigen", "tensorflow" },
    { "tensorflow", "tensorflow" },
};

struct category_rule {
    const char          *part;
    enum kernel_category category;
};
static const struct category_rule categories[] = {
    { "nccl", KERNEL_COLLECTIVE },
    { "rccl", KERNEL_COLLECTIVE },
    { "nvshmem", KERNEL_COLLECTIVE },
    { "msccl", KERNEL_COLLECTIVE },
    { "deep_ep", KERNEL_COLLECTIVE },
    { "all-reduce", KERNEL_COLLECTIVE },
    { "allreduce", KERNEL_COLLECTIVE },
    { "all-gather", KERNEL_COLLECTIVE },
    { "reduce-scatter", KERNEL_COLLECTIVE },
    { "all-to-all", KERNEL_COLLECTIVE },
    { "collective-permute", KERNEL_COLLECTIVE },
    /* Named for attention, but beside it. */
    { "triton_poi_fused__scaled_dot_product", KERNEL_ELEMENTWISE },
    { "reshape_and_cache", KERNEL_COPY },
    { "kv_indices", KERNEL_GATHER },
    { "flash", KERNEL_ATTENTION },
    { "fmha", KERNEL_ATTENTION },
    { "attention", KERNEL_ATTENTION },
    { "paged_attn", KERNEL_ATTENTION },
    { "nchwtonhwc", KERNEL_LAYOUT },
    { "nhwctonchw", KERNEL_LAYOUT },
    { "transpose", KERNEL_LAYOUT },
    { "permute", KERNEL_LAYOUT },
    { "layer_norm", KERNEL_NORM },
    { "layernorm", KERNEL_NORM },
    { "rmsnorm", KERNEL_NORM },
    { "rms_norm", KERNEL_NORM },
    { "batch_norm", KERNEL_NORM },
    { "batchnorm", KERNEL_NORM },
    { "bn_fw", KERNEL_NORM },
    { "bn_bw", KERNEL_NORM },
    { "groupnorm", KERNEL_NORM },
    { "gammabeta", KERNEL_NORM },
    { "rowwisemoments", KERNEL_NORM },
    { "softmax", KERNEL_SOFTMAX },
    /* Compilers name kernels after the ops that were fused into them, and after what they do first.
     */
    { "triton_poi", KERNEL_ELEMENTWISE },
    { "triton_red", KERNEL_REDUCE },
    { "triton_per", KERNEL_REDUCE },
    { "reduce_fusion", KERNEL_REDUCE },
    { "convert", KERNEL_ELEMENTWISE },
    { "conversion", KERNEL_ELEMENTWISE },
    { "implicit_gemm", KERNEL_CONV },
    { "igemm_fwd_gtc", KERNEL_CONV },
    { "igemm_bwd_gtc", KERNEL_CONV },
    { "igemm_wrw_gtc", KERNEL_CONV },
    { "scudnn", KERNEL_CONV },
    { "conv", KERNEL_CONV },
    { "winograd", KERNEL_CONV },
    { "fprop", KERNEL_CONV },
    { "wgrad", KERNEL_CONV },
    { "dgrad", KERNEL_CONV },
    { "gemm", KERNEL_GEMM },
    { "nvjet", KERNEL_GEMM },
    { "cijk_", KERNEL_GEMM },
    { "bmm_mxe", KERNEL_GEMM },
    { "bmm_e4m3", KERNEL_GEMM },
    { "bmm_bfloat16", KERNEL_GEMM },
    { "gemv", KERNEL_GEMM },
    { "matmul", KERNEL_GEMM },
    { "multi_tensor", KERNEL_OPTIMIZER },
    { "adam", KERNEL_OPTIMIZER },
    { "sort", KERNEL_SORT },
    { "topk", KERNEL_SORT },
    { "embedding", KERNEL_GATHER },
    { "gather", KERNEL_GATHER },
    { "scatter", KERNEL_GATHER },
    { "index", KERNEL_GATHER },
    { "catarray", KERNEL_COPY },
    { "copy", KERNEL_COPY },
    { "triton_tem", KERNEL_GEMM },
    { "reduce", KERNEL_REDUCE },
    { "philox", KERNEL_RANDOM },
    { "distribution", KERNEL_RANDOM },
    { "dropout", KERNEL_RANDOM },
    { "elementwise", KERNEL_ELEMENTWISE },
    { "loop_", KERNEL_ELEMENTWISE },
    { "pointwise", KERNEL_ELEMENTWISE },
};

/* Names of plain multiplications stand first: the same libraries make both. Other "no" rows stand
 * behind all "yes" rows: a name with both is an accumulator's type at most. */
static const struct {
    const char      *part;
    enum tensor_core use;
} tensor_core_rules[] = {
    { "_ffma", TENSOR_CORE_NO },         { "_dfma", TENSOR_CORE_NO },
    { "884", TENSOR_CORE_YES },          { "1688", TENSOR_CORE_YES },
    { "16816", TENSOR_CORE_YES },        { "16832", TENSOR_CORE_YES },
    { "hmma", TENSOR_CORE_YES },         { "imma", TENSOR_CORE_YES },
    { "dmma", TENSOR_CORE_YES },         { "wgmma", TENSOR_CORE_YES },
    { "xmma_gemm", TENSOR_CORE_YES },    { "xmma_implicit_gemm", TENSOR_CORE_YES },
    { "tensorop", TENSOR_CORE_YES },     { "tensor_op", TENSOR_CORE_YES },
    { "nvjet", TENSOR_CORE_YES },        { "flash_fwd", TENSOR_CORE_YES },
    { "flash_bwd", TENSOR_CORE_YES },    { "fmha", TENSOR_CORE_YES },
    { "mfma", TENSOR_CORE_YES },         { "_mi16x16", TENSOR_CORE_YES },
    { "_mi32x32", TENSOR_CORE_YES },     { "_xdl", TENSOR_CORE_YES },
    { "_gtcx", TENSOR_CORE_YES },        { "gmma", TENSOR_CORE_YES },
    { "tcgen05", TENSOR_CORE_YES },      { "flashattnfwd", TENSOR_CORE_YES },
    { "flashattnbwd", TENSOR_CORE_YES }, { "bmm_mxe", TENSOR_CORE_YES },
    { "bmm_e4m3", TENSOR_CORE_YES },     { "sgemm", TENSOR_CORE_NO },
    { "simt", TENSOR_CORE_NO },          { "dgemm", TENSOR_CORE_NO },
    { "gemv", TENSOR_CORE_NO },          { "scudnn", TENSOR_CORE_NO },
};

static const struct {
    const char *part;
    enum dtype  dtype;
} dtype_rules[] = {
    { "bf16", DTYPE_BF16 },  { "bfloat16", DTYPE_BF16 }, { "__half", DTYPE_F16 },
    { "::half", DTYPE_F16 }, { "fp16", DTYPE_F16 },      { "hgemm", DTYPE_F16 },
    { "h884", DTYPE_F16 },   { "h1688", DTYPE_F16 },     { "h16816", DTYPE_F16 },
    { "s16816", DTYPE_F16 }, { "e4m3", DTYPE_F8 },       { "fp8", DTYPE_F8 },
    { "double", DTYPE_F64 }, { "dgemm", DTYPE_F64 },     { "d884", DTYPE_F64 },
    { "f64", DTYPE_F64 },    { "tf32", DTYPE_TF32 },     { "sgemm", DTYPE_F32 },
    { "float", DTYPE_F32 },  { "f32f32", DTYPE_F32 },    { "signed char", DTYPE_I8 },
    { "long", DTYPE_I64 },   { "nvjet_t", DTYPE_BF16 },  { "nvjet_h", DTYPE_F16 },
    { "nvjet_q", DTYPE_F8 }, { "_bbs_bh", DTYPE_BF16 },  { "_hhs_bh", DTYPE_F16 },
    { "_sb_mt", DTYPE_F32 }, { "scudnn", DTYPE_F32 },
};

static struct str lower(struct str name, char text[LONGEST_NAME])
{
    struct str copy = { text, name.len < LONGEST_NAME ? name.len : LONGEST_NAME };

    for (size_t i = 0; i < copy.len; i++)
        text[i] = name.data[i] >= 'A' && name.data[i] <= 'Z' ? (char)(name.data[i] - 'A' + 'a')
                                                             : name.data[i];
    return copy;
}

/* Eigen's and TensorFlow's kernels name the type that they count in beside that of elements. */
static bool counts_in_long(struct str small)
{
    return str_contains(small, STR("eigen")) || str_contains(small, STR("tensorflow")) ||
           str_contains(small, STR("unsigned long long"));
}

struct kernel_name kernel_name_parse(struct str name)
{
    struct kernel_name result = { 0 };
    char               text[LONGEST_NAME];
    struct str         small = lower(name, text);

    for (size_t i = 0; i < ARRAY_COUNT(libraries) && !result.library; i++)
        if (str_contains(small, str_from(libraries[i].part)))
            result.library = libraries[i].library;
    for (size_t i = 0; i < ARRAY_COUNT(categories) && result.category == KERNEL_OTHER; i++)
        if (str_contains(small, str_from(categories[i].part)))
            result.category = categories[i].category;
    if (result.category == KERNEL_GEMM || result.category == KERNEL_CONV ||
        result.category == KERNEL_ATTENTION)
        for (size_t i = 0;
             i < ARRAY_COUNT(tensor_core_rules) && result.tensor_core == TENSOR_CORE_UNKNOWN; i++)
            if (str_contains(small, str_from(tensor_core_rules[i].part)))
                result.tensor_core = tensor_core_rules[i].use;
    for (size_t i = 0; i < ARRAY_COUNT(dtype_rules) && result.dtype == DTYPE_UNKNOWN; i++)
        if (str_contains(small, str_from(dtype_rules[i].part)))
            result.dtype = dtype_rules[i].dtype;
    if (result.dtype == DTYPE_I64 && counts_in_long(small))
        result.dtype = DTYPE_UNKNOWN;
    return result;
}

struct str kernel_name_family(struct str name)
{
    struct str family = name;
    size_t     cut;

    if (str_starts(family, STR("void ")))
        family = str_slice(family, 5, family.len);
    cut = str_find(family, '<');
    if (cut > 0)
        family = str_slice(family, 0, cut);
    cut = str_find(family, '(');
    if (cut > 0)
        family = str_slice(family, 0, cut);
    while (family.len > 1 &&
           (family.data[family.len - 1] == '_' || family.data[family.len - 1] == '.' ||
            (family.data[family.len - 1] >= '0' && family.data[family.len - 1] <= '9')))
        family.len--;
    return family;
}

const char *kernel_category_name(enum kernel_category category)
{
    static const char *const names[KERNEL_CATEGORY_COUNT] = {
        [KERNEL_OTHER] = "other",
        [KERNEL_GEMM] = "gemm",
        [KERNEL_CONV] = "conv",
        [KERNEL_ATTENTION] = "attention",
        [KERNEL_NORM] = "norm",
        [KERNEL_SOFTMAX] = "softmax",
        [KERNEL_REDUCE] = "reduce",
        [KERNEL_ELEMENTWISE] = "elementwise",
        [KERNEL_LAYOUT] = "layout",
        [KERNEL_GATHER] = "gather",
        [KERNEL_SORT] = "sort",
        [KERNEL_OPTIMIZER] = "optimizer",
        [KERNEL_RANDOM] = "random",
        [KERNEL_COPY] = "copy",
        [KERNEL_COLLECTIVE] = "collective",
    };

    return category < KERNEL_CATEGORY_COUNT ? names[category] : "other";
}

const char *tensor_core_name(enum tensor_core use)
{
    switch (use) {
    case TENSOR_CORE_UNKNOWN:
        return "unknown";
    case TENSOR_CORE_NO:
        return "no";
    case TENSOR_CORE_YES:
        return "yes";
    }
    return "unknown";
}

bool op_is_product(struct str type)
{
    static const char *const parts[] = { "matmul",      "conv2d",     "conv3d",   "conv1d",
                                         "convolution", "einsum",     "dot",      "aten::mm",
                                         "aten::bmm",   "addmm",      "baddbmm",  "aten::linear",
                                         "gemm",        "cudnn_conv", "scaled_mm" };
    char                     text[LONGEST_NAME];
    struct str               small = lower(type, text);

    for (size_t i = 0; i < ARRAY_COUNT(parts); i++)
        if (str_contains(small, str_from(parts[i])))
            return true;
    return false;
}

bool op_is_cast(struct str type)
{
    static const char *const names[] = {
        "Cast",         "convert", "aten::_to_copy", "convert_element_type", "wrapped_convert",
        "aten::type_as"
    };

    for (size_t i = 0; i < ARRAY_COUNT(names); i++)
        if (str_equal(type, str_from(names[i])))
            return true;
    return false;
}
