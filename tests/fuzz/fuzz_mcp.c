/* Each line is a message: it is understood or refused, and what is answered is one line of JSON.
 * What a message holds is kept whole and by a shape, which never takes more than the whole does. */
#include "fuzz.h"

#include "base/macros.h"
#include "mcp/keep.h"
#include "mcp/protocol.h"
#include "read/json_scan.h"

#include <stdlib.h>
#include <string.h>

static void expect_line(struct str text)
{
    struct json_scan scan = { .at = text.data, .end = text.data + text.len };

    if (memchr(text.data, '\n', text.len))
        abort();
    json_skip(&scan);
    if (scan.state != JSON_FINE || scan.at != scan.end)
        abort();
}

static void keep_both(struct str line, struct arena *arena)
{
    struct text        whole = { .arena = arena }, part = { .arena = arena };
    struct json_writer all = { .text = &whole, .is_compact = true };
    struct json_writer some = { .text = &part, .is_compact = true };
    struct keeping     how = { .arena = arena };

    if (!json_keep(&all, line, NULL, &how))
        return;
    expect_line(text_str(&whole));
    if (!json_keep(&some, line, "id params{arguments* name}", &how) || part.len > whole.len)
        abort();
    expect_line(text_str(&part));
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
    struct arena arena = { .budget_bytes = 64 << 20 };
    struct str   rest = { (const char *)bytes, len };

    while (rest.len) {
        struct str         line = str_cut(&rest, '\n');
        struct text        text = { .arena = &arena };
        struct rpc_request request;
        enum rpc_error     error;
        const char        *why;

        if (!rpc_parse(&request, line, &arena, &error, &why)) {
            rpc_fail(&request, error, why, &text);
            expect_line(text_str(&text));
            continue;
        }
        rpc_fail(&request, RPC_NO_METHOD, "", &text);
        expect_line(text_str(&text));
        rpc_text(request.params, "path", &arena);
        keep_both(line, &arena);
    }
    arena_free(&arena);
    return 0;
}
