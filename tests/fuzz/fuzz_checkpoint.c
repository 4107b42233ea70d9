/* Tables of checkpoints without their checksums, which no mutation keeps: every entry is read as an
 * entry of version 2, as a slice and as values of both versions of a type that its bytes choose. */
#include "fuzz.h"

#include "read/checkpoint/checkpoint.h"

#include <stdlib.h>

static bool take_entry(void *context, struct str key, struct str value, bool *stop, struct err *err)
{
    struct arena           *arena = context;
    struct err              ignored = { 0 };
    struct checkpoint_entry entry = { 0 };
    struct checkpoint_slice slice;
    struct classic_tensor   tensor = { 0 };

    (void)stop;
    (void)err;
    if (checkpoint_slice_read(message_of(value), &slice, &ignored)) {
        struct text text = { .arena = arena };

        checkpoint_slice_key(key, &slice, &text);
    }
    ignored = (struct err) { 0 };
    if (!checkpoint_entry_read(message_of(value), &entry, &ignored))
        return true;
    tensor.type = entry.type;
    tensor.shape = entry.shape;
    checkpoint_decode(key, entry.shard & 1, arena, &tensor, &ignored);
    ignored = (struct err) { 0 };
    checkpoint_unpack(message_of(value), arena, &tensor, &ignored);
    return true;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
    struct arena arena = { .budget_bytes = (size_t)256 << 20 };
    struct table table = { .is_unchecked = true };
    struct str   whole = { (const char *)bytes, len }, value;
    struct err   err = { 0 };

    if (table_open(&table, whole, &arena, &err)) {
        if (!table_each(&table, take_entry, &arena, &err) && err.code == ERR_NONE)
            abort();
        err = (struct err) { 0 };
        if (!table_find(&table, STR("Variable"), &value, &err) && err.code == ERR_NONE)
            abort();
    }
    arena_free(&arena);
    return 0;
}
