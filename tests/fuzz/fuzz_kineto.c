/*
 * The Kineto reader on any bytes: no crash, what it gives holds the model's promises, and small
 * parts read by several threads give the same. Bytes behind a NUL are a second rank's, whose clock
 * is aligned.
 */
#include "fuzz.h"

#include "profile_check.h"
#include "read/clocks.h"
#include "read/read.h"

#include <string.h>

extern const struct reader reader_kineto;

enum { BUDGET_BYTES = 64 << 20 };

struct reading {
    struct arena   arena;
    struct profile profile;
    struct err     err;
    bool           is_fine;
};

static void read_ranks(struct reading *reading, struct str bytes, size_t part_bytes)
{
    struct read_options options = { .memory_budget_bytes = BUDGET_BYTES,
                                    .threads = part_bytes ? 2 : 1,
                                    .part_bytes = part_bytes };
    struct read_input   inputs[2] = { { .path = "rank0.json", .source = NO_ID },
                                      { .path = "rank1.json", .source = NO_ID } };
    size_t              first = str_find(bytes, 0);

    inputs[0].file.bytes = str_slice(bytes, 0, first);
    inputs[1].file.bytes = str_slice(bytes, first + 1, bytes.len);
    *reading = (struct reading) { .arena.budget_bytes = BUDGET_BYTES };
    if (!profile_init(&reading->profile, &reading->arena))
        abort();
    reading->is_fine = reader_kineto.read(inputs, first < bytes.len ? 2 : 1, &options,
                                          &reading->profile, &reading->err);
    if (!reading->is_fine && reading->err.code == ERR_NONE)
        abort();
}

/* Names are compared where they are used: a broken event at a part's end may leave one that no row
 * has. */
static void check_same(const struct reading *whole, const struct reading *cut)
{
    if (whole->err.code == ERR_LIMIT || cut->err.code == ERR_LIMIT)
        return;
    if (whole->is_fine != cut->is_fine || whole->profile.event_count != cut->profile.event_count ||
        whole->profile.activities.count != cut->profile.activities.count ||
        whole->profile.ops.count != cut->profile.ops.count ||
        whole->profile.flows.count != cut->profile.flows.count)
        abort();
    for (size_t i = 0; i < whole->profile.activities.count; i++) {
        const struct activity *a = &whole->profile.activities.items[i];
        const struct activity *b = &cut->profile.activities.items[i];

        if (a->kind != b->kind || a->op != b->op ||
            !str_equal(profile_str(&whole->profile, a->name),
                       profile_str(&cut->profile, b->name)) ||
            !str_equal(profile_str(&whole->profile, a->category),
                       profile_str(&cut->profile, b->category)))
            abort();
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
    struct str     text = { (const char *)bytes, len };
    struct arena   scratch = { .budget_bytes = BUDGET_BYTES };
    struct reading whole, cut;

    if (!len || bytes[0] == 0)
        return 0;
    read_ranks(&whole, text, 0);
    read_ranks(&cut, text, 16 + len % 113);
    check_same(&whole, &cut);
    if (whole.is_fine) {
        profile_check(&whole.profile);
        if (clocks_align(&whole.profile, &scratch))
            profile_check(&whole.profile);
    }
    arena_free(&scratch);
    arena_free(&whole.arena);
    arena_free(&cut.arena);
    return 0;
}
