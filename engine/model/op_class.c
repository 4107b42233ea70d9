#include "model/op_class.h"

#include "base/macros.h"
#include "base/words.h"

#include <ctype.h>
#include <pthread.h>
#include <string.h>

/* The first row that fits (str_fits) decides. Names are in small letters, without library, dashes
 * and underscores. */
static const struct {
    const char *words;
    uint8_t     op_class;
} rows[] = {
    { "*allreduce*|*allgather*|*alltoall*|*reducescatter*|*collective*|c10d*|gloo*|nccl*",
      OP_COLLECTIVE },
    { "*pyfunc*|*callback*", OP_CALLBACK },
    { "*summary*|print*|savev2*|save*|*writefile*|stringformat*|*encodepng*|*encodejpeg*", OP_LOG },
    { "*decode*|parse*", OP_DECODE },
    { "*isnonzero*", OP_READBACK },
    { "*iterator*|*dataset|*queuedequeue*|*readerread*", OP_INPUT },
    { "*onehot*|*sparsetodense*", OP_ONE_HOT },
    { "*fusedadam*|*fusedsgd*|*fusedadagrad*|*fusedrmsprop*|foreach*|apply*|resourceapply*|"
      "resourcesparseapply*",
      OP_UPDATE },
    { "*assign*|*readvariable*|*variable*", OP_VARIABLE },
    { "to|tocopy|cast|*convertelement*|convert*|typeas", OP_CAST },
    { "*scaleddotproduct*|*attention*|*transformerencoderlayer*|*mhafwd*", OP_ATTENTION },
    { "*prepack*", OP_COPY }, /* weights, for a quantised layer */
    { "*convolution*|conv*|*conv1d*|*conv2d*|*conv3d*", OP_CONVOLUTION },
    { "*lstmcell*|*grucell*|*rnntanhcell*|*rnnrelucell*|lstm|gru|rnntanh|rnnrelu|"
      "*mkldnnrnn*",
      OP_CELL },
    { "*matmul*|linear|linearrelu|lineardynamic*|linearreludynamic*|*linearpointwise*|mm|addmm|bmm|"
      "addmmactivation|baddbmm|mv|addmv|*packmm*|"
      "outer|dot*|*gemm*|"
      "*scaledmm*|*groupedmm*|*experts*",
      OP_PRODUCT },
    { "ynn*", OP_PRODUCT }, /* XLA's fusions for YNNPACK */
    { "*einsum*", OP_PRODUCT },
    { "*eigh|eigh*|*linalgeig*|eig|*selfadjointeig*|*svd*|*cholesky*|qr|lu|*householder*|*"
      "matrixinverse*|"
      "linalginv*|linalgpinv*|linalgsolve*|linalglu*|linalgqr*|linalgmatrixexp*|inverse|pinverse|"
      "*triangularsolve*",
      OP_DECOMPOSITION },
    { "*layernorm*|*batchnorm*|*groupnorm*|*rmsnorm*|*instancenorm*", OP_NORMALISATION },
    { "*crossentropy*|*mseloss*|*nllloss*|*l1loss*|*huberloss*", OP_LOSS },
    { "*softmax*", OP_SOFTMAX },
    { "*softplus*|*relu*|*gelu*|*silu*|*tanh*|*sigmoid*|elu", OP_ACTIVATION },
    { "*argsort*|sort|*topk*|unique|*nonmaxsuppression*", OP_SORT },
    { "*embedding*", OP_EMBEDDING },
    { "*scatter*|*indexput*|*indexadd*|*segmentsum*", OP_SCATTER },
    { "*gather*|index|*indexselect*|take|*nonzero*|*maskedselect*", OP_GATHER },
    { "select|*slice*|narrow|unbind|*split*|chunk|*unstack*|unpack", OP_SLICE },
    { "cat|*concat*|stack|pack|pad|tile|repeat", OP_CONCAT },
    { "*cumsum*|*cumprod*", OP_SCAN },
    { "*pool*", OP_POOL },
    { "*random*|rng*|*threefry*|randn|rand|*dropout*|*multinomial*|*bernoulli*|uniform|"
      "normal",
      OP_RANDOM },
    { "transpose|permute|t|*view*|*reshape*|*squeeze*|expand|expandas|*expanddims*|"
      "*asstrided*|detach|alias|empty|*emptylike*|identity|shape|const|*bitcast*",
      OP_VIEW },
    { "*contiguous*|*clone*|*copy*", OP_COPY },
    { "item|*localscalardense*", OP_READBACK },
    { "while|conditional|call|*partitionedcall*|merge*|switch*|enter*|exit*|*noop*", OP_CONTROL },
    { "sum|mean|*reduce*|max|min|amax|prod|*argm*|*norm*|*logsumexp*|any|all", OP_REDUCE },
    { "*add*|*mul*|*sub*|*div*|*square*|*sqrt*|*pow*|exp|*log*|neg|*abs*|where|*masked*|"
      "*clamp*|*fill*|*zero*|*lerp*|eq|ne|gt|ge|lt|le|sin|cos|tan|atan*|erf|erfc|floor|ceil|round|"
      "trunc|sign|reciprocal|maximum|minimum|remainder|*fusion*",
      OP_ELEMENTWISE },
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

static struct word    items[512];
static struct words   words = { .items = items, .room = ARRAY_COUNT(items) };
static pthread_once_t words_made = PTHREAD_ONCE_INIT;

static void make_words(void)
{
    for (size_t i = 0; i < ARRAY_COUNT(rows); i++)
        words_add(&words, rows[i].words, (uint16_t)i);
}

enum op_class op_class_of(struct str type)
{
    char   text[96];
    size_t row;

    pthread_once(&words_made, make_words);
    row = words_first_row(&words, plain(type, text, sizeof text), ARRAY_COUNT(rows));
    return row < ARRAY_COUNT(rows) ? (enum op_class)rows[row].op_class : OP_OTHER;
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
