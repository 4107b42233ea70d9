/* Runs a fuzz target over every file of the folders (or the files) that are named. */
#include "fuzz.h"

#include "base/file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A copy of exactly the input's size, so that ASan sees a read past its end. */
static bool replay_file(const char *path, struct err *err)
{
    struct file stored;
    uint8_t    *exact;

    if (!file_open(&stored, path, 0, err))
        return false;
    /* file_open inflates; the targets want the bytes as stored. */
    FILE *raw = stored.is_gzip ? fopen(path, "rb") : NULL;

    exact = malloc(stored.stored_bytes ? stored.stored_bytes : 1);
    if (raw) {
        if (fread(exact, 1, stored.stored_bytes, raw) != stored.stored_bytes)
            err_set(err, ERR_INPUT, "%s: cannot be read", path);
        fclose(raw);
    } else if (stored.bytes.len) {
        memcpy(exact, stored.bytes.data, stored.bytes.len);
    }
    LLVMFuzzerTestOneInput(exact, stored.stored_bytes);
    free(exact);
    file_close(&stored);
    return err->code == ERR_NONE;
}

static bool replay_folder(const char *path, size_t *files, struct err *err)
{
    struct arena arena = { 0 };
    char       **names;
    size_t       count;
    bool         ok = file_list(path, &arena, &names, &count, err);

    for (size_t i = 0; ok && i < count; i++) {
        ok = replay_file(arena_text(&arena, "%s/%s", path, names[i]), err);
        *files += ok;
    }
    arena_free(&arena);
    return ok;
}

int main(int argument_count, char **arguments)
{
    struct err err = { 0 };
    char       message[2048];
    size_t     files = 0;
    bool       ok = true;

    for (int i = 1; ok && i < argument_count; i++) {
        if (file_is_directory(arguments[i])) {
            ok = replay_folder(arguments[i], &files, &err);
        } else {
            ok = replay_file(arguments[i], &err);
            files += ok;
        }
    }
    if (!ok)
        fprintf(stderr, "%s\n", err_format(&err, message, sizeof message));
    printf("%zu inputs replayed\n", files);
    return ok && files ? EXIT_SUCCESS : EXIT_FAILURE;
}
