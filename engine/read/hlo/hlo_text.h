/*
 * hlo_text: an HLO instruction as text, which device timelines name their ops by:
 * "%add.1 = f32[8]{0} add(f32[8]{0} %a, f32[8]{0:S(5)} %b), metadata…".
 */
#ifndef TFPROF_READ_HLO_TEXT_H
#define TFPROF_READ_HLO_TEXT_H

#include "base/str.h"
#include "model/profile.h"

enum { HLO_TEXT_TENSORS = 32, HLO_SPACE_HOST = 5 };

struct hlo_text_tensor {
    struct tensor tensor;
    int64_t       space; /* memory that its layout names; 0: the device's own */
};
struct hlo_text {
    struct str             opcode;
    struct hlo_text_tensor results[HLO_TEXT_TENSORS], operands[HLO_TEXT_TENSORS];
    size_t                 result_count, operand_count; /* tuples count by their arrays */
};

/* What can be made out, to where the text ends or is no HLO; false: not even a result. */
bool hlo_text_read(struct str text, struct hlo_text *result);
/* Which way a copy-start or copy-done goes: to or from the host's memory, or inside the device. */
enum copy_direction hlo_text_direction(const struct hlo_text *text);

#endif
