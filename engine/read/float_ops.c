#include "read/float_ops.h"

#include "base/intern.h"

static const char *const still_types[] = {
    "Const",
    "Identity",
    "IdentityN",
    "Placeholder",
    "PlaceholderWithDefault",
    "Variable",
    "VariableV2",
    "VarHandleOp",
    "VarIsInitializedOp",
    "ReadVariableOp",
    "AssignVariableOp",
    "Assign",
    "NoOp",
    "Reshape",
    "Transpose",
    "Shape",
    "ShapeN",
    "Size",
    "Rank",
    "Squeeze",
    "ExpandDims",
    "Concat",
    "ConcatV2",
    "ConcatOffset",
    "Split",
    "SplitV",
    "Slice",
    "StridedSlice",
    "Pack",
    "Unpack",
    "Gather",
    "GatherV2",
    "GatherNd",
    "Tile",
    "Pad",
    "PadV2",
    "Fill",
    "ZerosLike",
    "OnesLike",
    "OneHot",
    "StopGradient",
    "PreventGradient",
    "Enter",
    "Exit",
    "Merge",
    "Switch",
    "NextIteration",
    "LoopCond",
    "ControlTrigger",
    "BroadcastGradientArgs",
    "TensorArrayV3",
    "TensorArrayReadV3",
    "TensorArrayWriteV3",
    "TensorArraySizeV3",
    "TensorArrayGatherV3",
    "TensorArrayScatterV3",
    "TensorArrayGradV3",
    "StackV2",
    "StackPushV2",
    "StackPopV2",
    "SaveV2",
    "RestoreV2",
    "ShardedFilename",
    "MergeV2Checkpoints",
    "StringJoin",
    "RefSwitch",
    "RefIdentity",
    "_Arg",
    "_Retval",
    "_Send",
    "_Recv",
    "_HostSend",
    "_HostRecv",
};

void float_ops_fill(struct classic *classic)
{
    const struct profile *profile = classic->profile;
    uint32_t              still[sizeof still_types / sizeof *still_types];
    size_t                still_count = 0;

    for (size_t i = 0; i < sizeof still_types / sizeof *still_types; i++) {
        uint32_t name = intern_find(&profile->names, str_from(still_types[i]));

        if (name != NO_ID)
            still[still_count++] = name;
    }
    for (size_t i = 0; i < classic->nodes.count; i++) {
        struct classic_node *node = &classic->nodes.items[i];
        const struct op     *op = &profile->ops.items[node->op];
        bool                 is_still = false;

        if (node->float_ops)
            continue;
        for (size_t n = 0; n < still_count && !is_still; n++)
            is_still = still[n] == op->type;
        node->float_ops = is_still ? 0 : op->flops >= 0 ? op->flops : FLOAT_OPS_UNKNOWN;
    }
}
