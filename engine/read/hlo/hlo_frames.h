/* hlo_frames: the lines that made a program's instructions, with the lines that called them, as newer
 * compilers tell them once a program (StackFrameIndexProto of its HloModuleProto). */
#ifndef TFPROF_READ_HLO_FRAMES_H
#define TFPROF_READ_HLO_FRAMES_H

#include "base/vec.h"
#include "model/profile.h"

struct hlo_location {
    uint64_t file, function, line; /* names by number, from 1 */
};
struct hlo_frame {
    uint64_t location, parent; /* by number, from 1 */
    uint32_t source;           /* row of the profile's sources, or NO_ID */
    bool     is_made;          /* or in the making: frames that call themselves end there */
};
struct hlo_frames { /* zeroed: none */
    VEC(struct str) files;
    VEC(struct str) functions;
    VEC(struct hlo_location) locations;
    VEC(struct hlo_frame) frames;
    VEC(struct hlo_frame *) chain; /* of one look-up, innermost first */
};

/* False: past the budget. Damage ends it early. */
bool hlo_frames_read(struct hlo_frames *frames, struct str bytes, struct arena *arena);
/* Row of sources of a frame by its number, made with its callers when first asked for; NO_ID: there
 * is none, or *is_full. */
uint32_t hlo_frames_source(struct hlo_frames *frames, uint64_t number, struct profile *profile,
                           struct arena *arena, bool *is_full);

#endif
