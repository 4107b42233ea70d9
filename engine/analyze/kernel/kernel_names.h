/*
 * kernel_names: what a device kernel's name gives away. Weak evidence: names are conventions of
 * libraries, so tensor core use is yes, no or unknown, and unknown must never count as no.
 */
#ifndef TFPROF_ANALYZE_KERNEL_NAMES_H
#define TFPROF_ANALYZE_KERNEL_NAMES_H

#include "base/str.h"
#include "model/profile.h"

enum tensor_core { TENSOR_CORE_UNKNOWN, TENSOR_CORE_NO, TENSOR_CORE_YES };
enum kernel_category {
    KERNEL_OTHER,
    KERNEL_GEMM,
    KERNEL_CONV,
    KERNEL_ATTENTION,
    KERNEL_NORM,
    KERNEL_SOFTMAX,
    KERNEL_REDUCE,
    KERNEL_ELEMENTWISE,
    KERNEL_LAYOUT,
    KERNEL_GATHER,
    KERNEL_SORT,
    KERNEL_OPTIMIZER,
    KERNEL_RANDOM,
    KERNEL_COPY,
    KERNEL_COLLECTIVE,
    KERNEL_CAST, /* from one element type to another, quantising too */
    KERNEL_FILL,
    KERNEL_POOL,
    KERNEL_SCAN,
    KERNEL_LOSS,
    KERNEL_ROUTING,  /* which expert takes which token */
    KERNEL_SAMPLING, /* which token comes next */
    KERNEL_HELPER,   /* offsets, tables of pages: what a library needs to begin */
    KERNEL_CATEGORY_COUNT
};
struct kernel_name {
    const char          *library; /* "cublas", "triton" … or NULL */
    enum kernel_category category;
    enum tensor_core     tensor_core;
    enum dtype           dtype; /* DTYPE_UNKNOWN when the name does not tell */
};
struct kernel_name kernel_name_parse(struct str name);
/* These and whatever else passes once over its operands: norms, reductions, optimizers. */
bool kernel_is_product(enum kernel_category category); /* made of products: convolutions, attention too */
bool kernel_is_streaming(enum kernel_category category);
/* The name without what it returns, templates, arguments and trailing numbers: "void at::native::f<…>(…)"
 * gives "at::native::f"; of kernels of CUTLASS the name of what they run; of mangled names the last one.
 * A part of `name`. */
struct str  kernel_name_family(struct str name);
const char *kernel_category_name(enum kernel_category category);
const char *tensor_core_name(enum tensor_core use); /* "yes", "no", "unknown" */
/* Matrix products and convolutions by op type: where tensor cores could work. */
bool op_is_product(struct str type);
/* Changes of element type by op type: Cast, convert, aten::_to_copy … */
bool op_is_cast(struct str type);

#endif
