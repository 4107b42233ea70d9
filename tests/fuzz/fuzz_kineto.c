/* The Kineto reader on any bytes: no crash, and what it gives holds the model's promises. */
#include "fuzz.h"

#include "profile_check.h"
#include "read/read.h"

extern const struct reader reader_kineto;

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
    struct arena        arena = { .budget_bytes = 64 << 20 };
    struct read_options options = { .memory_budget_bytes = 64 << 20 };
    struct read_input   input = { .path = "rank0.json",
                                  .source = NO_ID,
                                  .file.bytes = { (const char *)bytes, len } };
    struct profile      profile;
    struct err          err = { 0 };

    if (!len || !profile_init(&profile, &arena))
        return 0;
    if (reader_kineto.read(&input, 1, &options, &profile, &err))
        profile_check(&profile);
    else if (err.code == ERR_NONE)
        abort();
    arena_free(&arena);
    return 0;
}
