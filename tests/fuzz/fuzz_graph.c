/* GraphDef, RunMetadata, OpLogProto in bytes or text: read or refused with a reason. */
#include "fuzz.h"

#include "read/read.h"

#include <stdlib.h>

extern const struct reader reader_graph;

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
    struct arena        arena = { .budget_bytes = (size_t)256 << 20 };
    struct read_options options = { 0 };
    struct read_input   input = { .path = "fuzz_1", .file.bytes = { (const char *)bytes, len } };
    struct profile      profile;
    struct err          err = { 0 };

    if (profile_init(&profile, &arena) &&
        reader_graph.read(&input, 1, &options, &profile, &err) == (err.code != ERR_NONE))
        abort();
    arena_free(&arena);
    return 0;
}
