/*
 * tf_shape: the shapes of TensorFlow's tensors, each once. The same few stand in a file again and
 * again: a TensorShapeProto is taken apart only when its bytes were not seen before.
 */
#ifndef TFPROF_READ_TF_SHAPE_H
#define TFPROF_READ_TF_SHAPE_H

#include "base/intern.h"
#include "base/vec.h"
#include "model/profile.h"
#include "read/proto/message.h"

struct tf_shapes {
    struct arena *arena;
    struct intern bytes;       /* TensorShapeProtos as they stand in the files */
    VEC(uint32_t) row_of_bytes;
    struct intern keys;        /* rank and dimensions; their rows + 1 */
    VEC(struct tensor) rows;   /* without dtype; row 0 is the scalar */
};

bool tf_shapes_init(struct tf_shapes *shapes, struct arena *arena);
/* One shape; `tensor` is zeroed by the caller. */
bool tf_shape_read(struct message shape, struct tensor *tensor, struct err *err);
/* Row of a TensorShapeProto, of a tensor's rank and dimensions. NO_ID: damaged or past the budget,
 * and err is filled; past the budget. */
uint32_t tf_shape_of(struct tf_shapes *shapes, struct message shape, struct err *err);
uint32_t tf_shape_add(struct tf_shapes *shapes, const struct tensor *shape);

#endif
