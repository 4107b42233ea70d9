/* op_class: what an op does, the same words for the names of all frameworks. */
#ifndef TFPROF_MODEL_OP_CLASS_H
#define TFPROF_MODEL_OP_CLASS_H

#include "base/str.h"

enum op_class {
#define OP_CLASS(id, name) OP_##id,
#include "model/op_classes.def"
#undef OP_CLASS
    OP_CLASS_COUNT
};
/* By the type's name: "aten::addmm", "_MklMatMul", "dot_general". */
enum op_class op_class_of(struct str type);
const char   *op_class_name(enum op_class op_class); /* "product" */
int           op_class_find(struct str name); /* -1: no class has this name */

#endif
