/* Runs a fuzz target over every file of the folders (or the files) that are named. */
#include "fuzz.h"

#include "base/file.h"

#include <stdio.h>
#include <stdlib.h>

/* The bytes as stored, which file_open would inflate, in exactly as much memory, so that ASan sees
 * a read past their end. */
static bool replay_file(const char *path, struct err *err)
{
    FILE    *stored = fopen(path, "rb");
    long     len = stored && fseek(stored, 0, SEEK_END) == 0 ? ftell(stored) : -1;
    uint8_t *exact = len < 0 ? NULL : malloc(len ? (size_t)len : 1);
    bool     is_read = exact && fseek(stored, 0, SEEK_SET) == 0 &&
                   fread(exact, 1, (size_t)len, stored) == (size_t)len;

    if (stored)
        fclose(stored);
    if (is_read)
        LLVMFuzzerTestOneInput(exact, (size_t)len);
    free(exact);
    return is_read || err_set(err, ERR_INPUT, "%s: cannot be read", path);
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
