#define _XOPEN_SOURCE 700 /* realpath */
/* file_write: a reader of the result never sees half of it. */
#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool write_all(int descriptor, struct str bytes, struct err *err)
{
    while (bytes.len) {
        ssize_t count = write(descriptor, bytes.data, bytes.len);

        if (count < 0 && errno != EINTR)
            return err_set(err, ERR_OUTPUT, "cannot be written: %s", strerror(errno));
        if (count > 0)
            bytes = str_slice(bytes, (size_t)count, bytes.len);
    }
    return true;
}

static bool write_standard_output(struct str bytes, struct err *err)
{
    if (fwrite(bytes.data ? bytes.data : "", 1, bytes.len, stdout) == bytes.len &&
        fflush(stdout) == 0)
        return true;
    err_set(err, ERR_OUTPUT, "cannot be written: %s", strerror(errno));
    return err_source(err, "standard output");
}

/* Devices and pipes are written, not replaced. */
static bool write_in_place(const char *path, struct str bytes, struct err *err)
{
    int descriptor = open(path, O_WRONLY | O_CLOEXEC | O_NOCTTY);

    if (descriptor < 0)
        return err_set(err, ERR_OUTPUT, "cannot be opened for writing: %s", strerror(errno));
    bool ok = write_all(descriptor, bytes, err);

    if (close(descriptor) < 0 && ok)
        ok = err_set(err, ERR_OUTPUT, "cannot be written: %s", strerror(errno));
    return ok;
}

/* The permissions that creating the file plainly would have given. */
static mode_t new_file_mode(void)
{
    mode_t mask = umask(0);

    umask(mask);
    return 0666 & ~mask;
}

static bool write_beside(const char *path, mode_t mode, struct str bytes, struct err *err)
{
    struct arena arena = { 0 };
    char        *beside = arena_text(&arena, "%s.XXXXXX", path);
    int          descriptor = beside ? mkstemp(beside) : -1;
    bool         ok = descriptor >= 0;

    if (!ok) {
        err_set(err, ERR_OUTPUT, "cannot be created: %s", strerror(errno));
    } else {
        ok = write_all(descriptor, bytes, err);
        if (ok && (fchmod(descriptor, mode) < 0 || fsync(descriptor) < 0))
            ok = err_set(err, ERR_OUTPUT, "cannot be written: %s", strerror(errno));
        if (close(descriptor) < 0 && ok)
            ok = err_set(err, ERR_OUTPUT, "cannot be written: %s", strerror(errno));
        if (ok && rename(beside, path) < 0)
            ok = err_set(err, ERR_OUTPUT, "cannot be replaced: %s", strerror(errno));
        if (!ok)
            unlink(beside);
    }
    arena_free(&arena);
    return ok;
}

bool file_write(const char *path, struct str bytes, struct err *err)
{
    struct stat status;
    bool        is_there, ok;
    char       *target;

    if (strcmp(path, "-") == 0)
        return write_standard_output(bytes, err);
    is_there = stat(path, &status) == 0;
    target = is_there ? realpath(path, NULL) : NULL; /* a link keeps pointing at what is replaced */
    if (is_there && S_ISDIR(status.st_mode))
        ok = err_set(err, ERR_OUTPUT, "is a directory");
    else if (is_there && !S_ISREG(status.st_mode))
        ok = write_in_place(path, bytes, err);
    else
        ok = write_beside(target ? target : path,
                          is_there ? status.st_mode & 0777 : new_file_mode(), bytes, err);
    free(target);
    return ok || err_source(err, path);
}
