/* What a profiler's service answered: its first byte says which part of it the others are. A
 * message lies in its frame and a recording in its message; words only get shorter when they are
 * decoded. */
#include "fuzz.h"

#include "capture/grpc.h"
#include "capture/profiler_service.h"

#include <stdlib.h>

enum { PREFIX = 5 };

static void expect_inside(struct str part, struct str whole)
{
    if (part.len > whole.len ||
        (part.len > 0 && (part.data < whole.data || part.data + part.len > whole.data + whole.len)))
        abort();
}

static void read_response(struct str message)
{
    struct str xspace;
    bool       is_empty;

    if (capture_response_read(message, &xspace, &is_empty))
        expect_inside(xspace, message);
}

static void read_frame(struct str bytes)
{
    struct str message;

    if (!grpc_unframe(bytes, &message))
        return;
    if (message.len != bytes.len - PREFIX)
        abort();
    expect_inside(message, bytes);
    read_response(message);
}

static void read_words(struct str encoded)
{
    struct arena arena = { .budget_bytes = 64 << 20 };
    struct text  words = { .arena = &arena };

    grpc_decode_words(encoded, &words);
    if (!text_is_whole(&words) || words.len > encoded.len || words.len < encoded.len / 3)
        abort();
    arena_free(&arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
    struct str rest = { (const char *)bytes, len };

    if (len == 0)
        return 0;
    rest = str_slice(rest, 1, len);
    if (bytes[0] == 'f')
        read_frame(rest);
    else if (bytes[0] == 'r')
        read_response(rest);
    else
        read_words(rest);
    return 0;
}
