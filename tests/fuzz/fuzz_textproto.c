/* Text format of a graph: bytes, or an error with a line. */
#include "fuzz.h"

#include "read/proto/textproto.h"

#include <graph.pb-c.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
    struct arena arena = { .budget_bytes = (size_t)256 << 20 };
    struct str   made = { 0 };
    struct err   err = { 0 };
    bool         is_read =
        textproto_to_bytes(&tfprof__tf__graph_def__descriptor,
                           (struct str) { (const char *)bytes, len }, &arena, &made, NULL, &err);

    if (is_read == (err.code != ERR_NONE) || (err.code == ERR_FORMAT && !err.line))
        abort();
    arena_free(&arena);
    return 0;
}
