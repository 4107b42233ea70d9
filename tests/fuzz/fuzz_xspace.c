/* XSpace from bytes to facts: the reader keeps the model's promises, and no analysis of what it
 * gives crashes or runs out of a generous budget. */
#include "fuzz.h"

#include "analyze/analysis.h"
#include "profile_check.h"
#include "read/read.h"

extern const struct reader reader_xspace;

static void analyse(const struct profile *profile)
{
    struct study_options options = { .first_step = INT64_MIN, .last_step = INT64_MAX };
    struct arena         arena = { .budget_bytes = (size_t)512 << 20 };
    struct study         study;
    struct err           err = { 0 };

    if (!study_run(&study, profile, &options, &arena, &err) && err.code == ERR_NONE)
        abort();
    arena_free(&arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
    struct arena        arena = { .budget_bytes = (size_t)64 << 20 };
    struct read_options options = { .threads = 1 };
    struct read_input   input = { .path = "host.xplane.pb",
                                  .source = NO_ID,
                                  .file.bytes = { (const char *)bytes, len } };
    struct profile      profile;
    struct err          err = { 0 };

    if (!len || !profile_init(&profile, &arena))
        return 0;
    if (reader_xspace.read(&input, 1, &options, &profile, &err)) {
        profile_check(&profile);
        analyse(&profile);
    } else if (err.code == ERR_NONE) {
        abort();
    }
    arena_free(&arena);
    return 0;
}
