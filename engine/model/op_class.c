#include "model/op_class.h"

#include "base/macros.h"

#include <ctype.h>
#include <string.h>

/* The first row that fits decides. '=' the whole name, '^' its start, else anywhere in it. Names
 * are in small letters, without library, dashes and underscores. */
static const struct {
    const char *pattern;
    uint8_t     op_class;
} rows[] = {
    { "allreduce", OP_COLLECTIVE },
    { "allgather", OP_COLLECTIVE },
    { "alltoall", OP_COLLECTIVE },
    { "reducescatter", OP_COLLECTIVE },
    { "collective", OP_COLLECTIVE },
    { "^c10d", OP_COLLECTIVE },
    { "^gloo", OP_COLLECTIVE },
    { "^nccl", OP_COLLECTIVE },
    { "pyfunc", OP_CALLBACK },
    { "callback", OP_CALLBACK },
    { "summary", OP_LOG },
    { "^print", OP_LOG },
    { "^savev2", OP_LOG },
    { "^save", OP_LOG },
    { "writefile", OP_LOG },
    { "^stringformat", OP_LOG },
    { "encodepng", OP_LOG },
    { "encodejpeg", OP_LOG },
    { "decode", OP_DECODE },
    { "^parse", OP_DECODE },
    { "isnonzero", OP_READBACK },
    { "iteratorgetnext", OP_INPUT },
    { "queuedequeue", OP_INPUT },
    { "readerread", OP_INPUT },
    { "onehot", OP_ONE_HOT },
    { "sparsetodense", OP_ONE_HOT },
    { "fusedadam", OP_UPDATE },
    { "fusedsgd", OP_UPDATE },
    { "fusedadagrad", OP_UPDATE },
    { "fusedrmsprop", OP_UPDATE },
    { "^foreach", OP_UPDATE },
    { "^apply", OP_UPDATE },
    { "^resourceapply", OP_UPDATE },
    { "^resourcesparseapply", OP_UPDATE },
    { "assign", OP_VARIABLE },
    { "readvariable", OP_VARIABLE },
    { "variable", OP_VARIABLE },
    { "=to", OP_CAST },
    { "=tocopy", OP_CAST },
    { "=cast", OP_CAST },
    { "convertelement", OP_CAST },
    { "^convert", OP_CAST },
    { "=typeas", OP_CAST },
    { "scaleddotproduct", OP_ATTENTION },
    { "attention", OP_ATTENTION },
    { "transformerencoderlayer", OP_ATTENTION },
    { "mhafwd", OP_ATTENTION },
    { "convolution", OP_CONVOLUTION },
    { "^conv", OP_CONVOLUTION },
    { "conv1d", OP_CONVOLUTION },
    { "conv2d", OP_CONVOLUTION },
    { "conv3d", OP_CONVOLUTION },
    { "lstmcell", OP_CELL },
    { "grucell", OP_CELL },
    { "rnntanhcell", OP_CELL },
    { "=lstm", OP_CELL },
    { "=gru", OP_CELL },
    { "mkldnnrnn", OP_CELL },
    { "matmul", OP_PRODUCT },
    { "=linear", OP_PRODUCT },
    { "linearpointwise", OP_PRODUCT },
    { "=mm", OP_PRODUCT },
    { "=addmm", OP_PRODUCT },
    { "=bmm", OP_PRODUCT },
    { "=baddbmm", OP_PRODUCT },
    { "=mv", OP_PRODUCT },
    { "=addmv", OP_PRODUCT },
    { "=outer", OP_PRODUCT },
    { "^dot", OP_PRODUCT },
    { "gemm", OP_PRODUCT },
    { "scaledmm", OP_PRODUCT },
    { "groupedmm", OP_PRODUCT },
    { "experts", OP_PRODUCT },
    { "^ynn", OP_PRODUCT }, /* XLA's fusions for YNNPACK */
    { "einsum", OP_PRODUCT },
    { "eigh", OP_DECOMPOSITION },
    { "=eig", OP_DECOMPOSITION },
    { "selfadjointeig", OP_DECOMPOSITION },
    { "svd", OP_DECOMPOSITION },
    { "cholesky", OP_DECOMPOSITION },
    { "=qr", OP_DECOMPOSITION },
    { "=lu", OP_DECOMPOSITION },
    { "householder", OP_DECOMPOSITION },
    { "matrixinverse", OP_DECOMPOSITION },
    { "^linalginv", OP_DECOMPOSITION },
    { "^linalgpinv", OP_DECOMPOSITION },
    { "^linalgsolve", OP_DECOMPOSITION },
    { "^linalglu", OP_DECOMPOSITION },
    { "^linalgqr", OP_DECOMPOSITION },
    { "^linalgmatrixexp", OP_DECOMPOSITION },
    { "=pinverse", OP_DECOMPOSITION },
    { "triangularsolve", OP_DECOMPOSITION },
    { "layernorm", OP_NORMALISATION },
    { "batchnorm", OP_NORMALISATION },
    { "groupnorm", OP_NORMALISATION },
    { "rmsnorm", OP_NORMALISATION },
    { "instancenorm", OP_NORMALISATION },
    { "crossentropy", OP_LOSS },
    { "mseloss", OP_LOSS },
    { "nllloss", OP_LOSS },
    { "l1loss", OP_LOSS },
    { "softmax", OP_SOFTMAX },
    { "softplus", OP_ACTIVATION },
    { "relu", OP_ACTIVATION },
    { "gelu", OP_ACTIVATION },
    { "silu", OP_ACTIVATION },
    { "tanh", OP_ACTIVATION },
    { "sigmoid", OP_ACTIVATION },
    { "=elu", OP_ACTIVATION },
    { "argsort", OP_SORT },
    { "=sort", OP_SORT },
    { "topk", OP_SORT },
    { "=unique", OP_SORT },
    { "nonmaxsuppression", OP_SORT },
    { "embedding", OP_EMBEDDING },
    { "scatter", OP_SCATTER },
    { "indexput", OP_SCATTER },
    { "indexadd", OP_SCATTER },
    { "segmentsum", OP_SCATTER },
    { "gather", OP_GATHER },
    { "=index", OP_GATHER },
    { "indexselect", OP_GATHER },
    { "=take", OP_GATHER },
    { "nonzero", OP_GATHER },
    { "maskedselect", OP_GATHER },
    { "=select", OP_SLICE },
    { "slice", OP_SLICE },
    { "=narrow", OP_SLICE },
    { "=unbind", OP_SLICE },
    { "split", OP_SLICE },
    { "=chunk", OP_SLICE },
    { "unstack", OP_SLICE },
    { "=unpack", OP_SLICE },
    { "=cat", OP_CONCAT },
    { "concat", OP_CONCAT },
    { "=stack", OP_CONCAT },
    { "=pack", OP_CONCAT },
    { "=pad", OP_CONCAT },
    { "=tile", OP_CONCAT },
    { "=repeat", OP_CONCAT },
    { "cumsum", OP_SCAN },
    { "cumprod", OP_SCAN },
    { "pool", OP_POOL },
    { "random", OP_RANDOM },
    { "^rng", OP_RANDOM },
    { "threefry", OP_RANDOM },
    { "=randn", OP_RANDOM },
    { "=rand", OP_RANDOM },
    { "dropout", OP_RANDOM },
    { "multinomial", OP_RANDOM },
    { "bernoulli", OP_RANDOM },
    { "=uniform", OP_RANDOM },
    { "=normal", OP_RANDOM },
    { "=transpose", OP_VIEW },
    { "=permute", OP_VIEW },
    { "=t", OP_VIEW },
    { "view", OP_VIEW },
    { "reshape", OP_VIEW },
    { "squeeze", OP_VIEW },
    { "=expand", OP_VIEW },
    { "=expandas", OP_VIEW },
    { "expanddims", OP_VIEW },
    { "asstrided", OP_VIEW },
    { "=detach", OP_VIEW },
    { "=alias", OP_VIEW },
    { "=empty", OP_VIEW },
    { "emptylike", OP_VIEW },
    { "=identity", OP_VIEW },
    { "=shape", OP_VIEW },
    { "=const", OP_VIEW },
    { "bitcast", OP_VIEW },
    { "contiguous", OP_COPY },
    { "clone", OP_COPY },
    { "copy", OP_COPY },
    { "=item", OP_READBACK },
    { "localscalardense", OP_READBACK },
    { "=while", OP_CONTROL },
    { "=conditional", OP_CONTROL },
    { "=call", OP_CONTROL },
    { "partitionedcall", OP_CONTROL },
    { "^merge", OP_CONTROL },
    { "^switch", OP_CONTROL },
    { "^enter", OP_CONTROL },
    { "^exit", OP_CONTROL },
    { "noop", OP_CONTROL },
    { "=sum", OP_REDUCE },
    { "=mean", OP_REDUCE },
    { "reduce", OP_REDUCE },
    { "=max", OP_REDUCE },
    { "=min", OP_REDUCE },
    { "=amax", OP_REDUCE },
    { "=prod", OP_REDUCE },
    { "argm", OP_REDUCE },
    { "norm", OP_REDUCE },
    { "logsumexp", OP_REDUCE },
    { "=any", OP_REDUCE },
    { "=all", OP_REDUCE },
    { "add", OP_ELEMENTWISE },
    { "mul", OP_ELEMENTWISE },
    { "sub", OP_ELEMENTWISE },
    { "div", OP_ELEMENTWISE },
    { "square", OP_ELEMENTWISE },
    { "sqrt", OP_ELEMENTWISE },
    { "pow", OP_ELEMENTWISE },
    { "=exp", OP_ELEMENTWISE },
    { "log", OP_ELEMENTWISE },
    { "=neg", OP_ELEMENTWISE },
    { "abs", OP_ELEMENTWISE },
    { "=where", OP_ELEMENTWISE },
    { "masked", OP_ELEMENTWISE },
    { "clamp", OP_ELEMENTWISE },
    { "fill", OP_ELEMENTWISE },
    { "zero", OP_ELEMENTWISE },
    { "lerp", OP_ELEMENTWISE },
    { "=eq", OP_ELEMENTWISE },
    { "=ne", OP_ELEMENTWISE },
    { "=gt", OP_ELEMENTWISE },
    { "=ge", OP_ELEMENTWISE },
    { "=lt", OP_ELEMENTWISE },
    { "=le", OP_ELEMENTWISE },
    { "fusion", OP_ELEMENTWISE },
};

/* Without library and separators, in small letters; long names are cut. */
static struct str plain(struct str type, char *text, size_t room)
{
    size_t colon = str_find_last(type, ':'), used = 0;

    if (colon < type.len)
        type = str_slice(type, colon + 1, type.len);
    for (size_t i = 0; i < type.len && used < room; i++)
        if (isalnum((unsigned char)type.data[i]))
            text[used++] = (char)tolower((unsigned char)type.data[i]);
    return (struct str) { text, used };
}

enum op_class op_class_of(struct str type)
{
    char       text[96];
    struct str name = plain(type, text, sizeof text);

    for (size_t i = 0; i < ARRAY_COUNT(rows); i++) {
        const char *pattern = rows[i].pattern;
        bool        fits;

        if (*pattern == '=')
            fits = str_equal(name, str_from(pattern + 1));
        else if (*pattern == '^')
            fits = str_starts(name, str_from(pattern + 1));
        else
            fits = str_contains(name, str_from(pattern));
        if (fits)
            return (enum op_class)rows[i].op_class;
    }
    return OP_OTHER;
}

static const char *const names[OP_CLASS_COUNT] = {
#define OP_CLASS(id, name) name,
#include "model/op_classes.def"
#undef OP_CLASS
};

const char *op_class_name(enum op_class op_class)
{
    return names[op_class];
}

int op_class_find(struct str name)
{
    for (int i = 0; i < OP_CLASS_COUNT; i++)
        if (str_equal(name, str_from(names[i])))
            return i;
    return -1;
}
