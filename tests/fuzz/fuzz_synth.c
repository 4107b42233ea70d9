/* Sketches from any text: they are refused with a place, or become files that readers take. */
#include "fuzz.h"

#include "profile_check.h"
#include "read/read.h"
#include "synth/write.h"

#include <string.h>

static const struct reader *reader_of(enum sketch_format format)
{
    for (size_t i = 0; i < reader_count; i++)
        if (strcmp(readers[i]->name, write_format_name(format)) == 0)
            return readers[i];
    abort();
}

static void read_back(struct str bytes, enum sketch_format format)
{
    struct arena        arena = { .budget_bytes = (size_t)64 << 20 };
    struct read_options options = { .threads = 1 };
    struct read_input   input = { .path = "synthetic", .source = NO_ID, .file.bytes = bytes };
    struct profile      profile;
    struct err          err = { 0 };

    if (!profile_init(&profile, &arena))
        abort();
    if (reader_of(format)->read(&input, 1, &options, &profile, &err))
        profile_check(&profile);
    else if (err.code != ERR_LIMIT)
        abort();
    arena_free(&arena);
}

static void write_all(const struct recording *recording)
{
    static const enum sketch_format formats[] = { SKETCH_XSPACE, SKETCH_KINETO, SKETCH_PROFILE };

    for (size_t i = 0; i < ARRAY_COUNT(formats); i++) {
        struct arena arena = { .budget_bytes = (size_t)32 << 20 };
        struct text  bytes = { .arena = &arena }, notes = { .arena = &arena };
        struct err   err = { 0 };

        /* A ProfileProto without ops is empty: there is nothing to read. */
        if (write_recording(recording, formats[i], &bytes, &notes, &err)) {
            if (formats[i] != SKETCH_PROFILE || bytes.len > 64)
                read_back(text_str(&bytes), formats[i]);
        } else if (err.code != ERR_LIMIT) {
            abort();
        }
        arena_free(&arena);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
    struct arena             arena = { .budget_bytes = (size_t)4 << 20 };
    struct recording_options options = { .change.factor = 1 };
    struct sketch            sketch;
    struct recording         recording;
    struct err               err = { 0 };

    if (sketch_parse((struct str) { (const char *)bytes, len }, &arena, &sketch, &err)) {
        if (recording_make(&sketch, &options, &arena, &recording, &err))
            write_all(&recording);
        else if (err.code == ERR_NONE)
            abort();
    } else if (err.code != ERR_LIMIT && (err.line == 0 || err.column == 0)) {
        abort();
    }
    arena_free(&arena);
    return 0;
}
