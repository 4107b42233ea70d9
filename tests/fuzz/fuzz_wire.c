/* wire_unpack with the descriptor that the first byte chooses: what the check lets pass, the
 * library unpacks as well; what it refuses has an offset inside the bytes. */
#include "fuzz.h"

#include "read/proto/wire.h"

#include <graph.pb-c.h>
#include <run_metadata.pb-c.h>
#include <stdlib.h>
#include <xplane.pb-c.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
    static const ProtobufCMessageDescriptor *const types[] = {
        &tfprof__tf__graph_def__descriptor,
        &tfprof__tf__run_metadata__descriptor,
        &tensorflow__profiler__xspace__descriptor,
        &tensorflow__profiler__xevent_metadata__descriptor,
    };
    struct arena arena = { .budget_bytes = (size_t)256 << 20 };
    struct err   err = { 0 };

    if (!len)
        return 0;
    if (wire_unpack(types[bytes[0] % ARRAY_COUNT(types)],
                    (struct str) { (const char *)bytes + 1, len - 1 }, &arena, &err)) {
        if (err.code != ERR_NONE)
            abort();
    } else if (err.code != ERR_LIMIT && (!err.has_offset || err.offset > len)) {
        abort(); /* refused by the library alone: a gap in the check */
    }
    arena_free(&arena);
    return 0;
}
