/*
 * checkpoint: variables of a TensorFlow checkpoint, version 1 (tables that hold everything) and
 * version 2 (PREFIX.index, PREFIX.data-00000-of-00001). Names, types and shapes are read at once,
 * values when a view shows them. The bytes are hostile: sizes count only as far as the files reach.
 */
#ifndef TFPROF_READ_CHECKPOINT_H
#define TFPROF_READ_CHECKPOINT_H

#include "base/text.h"
#include "model/classic.h"
#include "read/checkpoint/table.h"
#include "read/proto/message.h"

enum checkpoint_use {
    CHECKPOINT_VALUES, /* values can be shown */
    CHECKPOINT_TYPES,  /* and nodes are known to be variables */
    CHECKPOINT_SHAPES, /* and have the shapes that the graph lacks */
};
/* Fills classic->checkpoint. path: a prefix, or a pattern of files of version 1. */
bool checkpoint_read(struct classic *classic, struct profile *profile, const char *path,
                     enum checkpoint_use use, struct err *err);

/* Parts, for the versions' files, tests and fuzzing. */
enum { CHECKPOINT_NAME_BYTES = 4096, CHECKPOINT_PARTS = 4096 };

struct checkpoint_slice { /* a box of a tensor; length -1: all of the dimension */
    int     rank;
    int64_t start[TENSOR_MAX_RANK], length[TENSOR_MAX_RANK];
};
bool checkpoint_slice_read(struct message message, struct checkpoint_slice *slice, struct err *err);
/* The key under which a table holds a box: past the budget, text->is_cut. */
void checkpoint_slice_key(struct str name, const struct checkpoint_slice *slice, struct text *key);

struct checkpoint_entry { /* BundleEntryProto: where version 2 holds a tensor */
    int           type;
    struct tensor shape;
    int64_t       shard, offset, size;
    uint32_t      checksum;
    size_t        slice_count;
};
bool checkpoint_entry_read(struct message message, struct checkpoint_entry *entry,
                           struct err *err);

/* Elements of a shape; false: a dimension is unknown, or they are too many to count. */
bool checkpoint_count(const struct tensor *shape, size_t *count);
/* type and shape are filled: room for that many values, from the arena. */
bool checkpoint_room(struct classic_tensor *tensor, struct arena *arena, struct err *err);
/* type and shape are filled: values from raw bytes of version 2, from TensorProto of version 1. */
bool checkpoint_decode(struct str bytes, bool is_big_endian, struct arena *arena,
                       struct classic_tensor *tensor, struct err *err);
bool checkpoint_unpack(struct message proto, struct arena *arena, struct classic_tensor *tensor,
                       struct err *err);

/* Fill variables, reader and read. */
bool checkpoint_open_v1(struct classic_checkpoint *checkpoint, const char *pattern,
                        struct arena *arena, struct err *err);
bool checkpoint_open_v2(struct classic_checkpoint *checkpoint, const char *prefix,
                        struct arena *arena, struct err *err);

#endif
