#define _XOPEN_SOURCE 700 /* realpath */
/* file_write: a reader of the result never sees half of it. */
#include "base/file.h"

#include "base/macros.h"
#include "base/opened.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
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

/* The file beside the result, while there is one: what ends the program takes it away. One thread
 * writes at a time, since the file mask and what signals do are the whole program's. */
static char            temporary[PATH_MAX];
static pthread_mutex_t one_at_a_time = PTHREAD_MUTEX_INITIALIZER;

static void end_writing(int number)
{
    unlink(temporary);
    signal(number, SIG_DFL);
    raise(number);
}

/* Signals that are ignored or somebody else's stay so. */
static void on_end(void (*from)(int), void (*to)(int))
{
    static const int numbers[] = { SIGTERM, SIGINT, SIGHUP };

    for (size_t i = 0; i < ARRAY_COUNT(numbers); i++) {
        struct sigaction now, next = { .sa_handler = to };

        sigemptyset(&next.sa_mask);
        if (sigaction(numbers[i], NULL, &now) == 0 && now.sa_handler == from)
            sigaction(numbers[i], &next, NULL);
    }
}

/* "DIR/.NAME.XXXXXX": hidden from whoever reads the folder meanwhile. */
static bool name_temporary(const char *path)
{
    const char *slash = strrchr(path, '/');
    int         folder = slash ? (int)(slash - path) + 1 : 0;
    int         len =
        snprintf(temporary, sizeof temporary, "%.*s.%.200s.XXXXXX", folder, path, path + folder);

    return len > 0 && (size_t)len < sizeof temporary;
}

static bool fill_temporary(int descriptor, mode_t mode, struct str bytes, struct err *err)
{
    bool ok = write_all(descriptor, bytes, err);

    if (ok && (fchmod(descriptor, mode) < 0 || fsync(descriptor) < 0))
        ok = err_set(err, ERR_OUTPUT, "cannot be written: %s", strerror(errno));
    if (close(descriptor) < 0 && ok)
        ok = err_set(err, ERR_OUTPUT, "cannot be written: %s", strerror(errno));
    return ok;
}

static bool write_beside(const char *path, mode_t mode, struct str bytes, struct err *err)
{
    int  descriptor;
    bool ok;

    if (!name_temporary(path))
        return err_set(err, ERR_OUTPUT, "cannot be created: its name is too long");
    /* Before there is one: mkstemp sets its name first and opens it then. */
    on_end(SIG_DFL, end_writing);
    descriptor = mkstemp(temporary);
    if (descriptor < 0) {
        on_end(end_writing, SIG_DFL);
        return err_set(err, ERR_OUTPUT, "cannot be created: %s", strerror(errno));
    }
    ok = fill_temporary(descriptor, mode, bytes, err);
    if (ok && rename(temporary, path) < 0)
        ok = err_set(err, ERR_OUTPUT, "cannot be replaced: %s", strerror(errno));
    if (!ok)
        unlink(temporary);
    on_end(end_writing, SIG_DFL);
    return ok;
}

/* A link that leads nowhere yet is written through: what it names comes to be. */
static bool make_target(const char *path, struct err *err)
{
    struct stat status;
    int         descriptor;

    if (lstat(path, &status) != 0 || !S_ISLNK(status.st_mode))
        return true;
    descriptor = open(path, O_WRONLY | O_CREAT | O_CLOEXEC | O_NOCTTY, 0666);
    if (descriptor < 0)
        return err_set(err, ERR_OUTPUT, "cannot be created: %s", strerror(errno));
    close(descriptor);
    return true;
}

static bool may_replace(const struct stat *status, struct err *err)
{
    if (S_ISDIR(status->st_mode))
        return err_set(err, ERR_OUTPUT, "is a directory");
    if (S_ISREG(status->st_mode) && !(status->st_mode & 0222))
        return err_set(err, ERR_OUTPUT, "cannot be replaced: it may not be written");
    if (opened_has(status)) {
        err_set(err, ERR_USAGE, "was read: the result would replace it");
        return err_advise(err, "name another file");
    }
    return true;
}

static bool write_file(const char *path, struct str bytes, struct err *err)
{
    struct stat status;
    bool        is_there = stat(path, &status) == 0, ok;
    char       *target;

    if (!is_there && !make_target(path, err))
        return false;
    if (is_there && !may_replace(&status, err))
        return false;
    if (is_there && !S_ISREG(status.st_mode))
        return write_in_place(path, bytes, err);
    target = realpath(path, NULL); /* a link keeps pointing at what is replaced */
    ok = write_beside(target ? target : path, is_there ? status.st_mode & 0777 : new_file_mode(),
                      bytes, err);
    if (!ok && !is_there && target)
        unlink(target); /* as it was: a link that leads nowhere */
    free(target);
    return ok;
}

bool file_write(const char *path, struct str bytes, struct err *err)
{
    bool ok;

    if (strcmp(path, "-") == 0)
        return write_standard_output(bytes, err);
    pthread_mutex_lock(&one_at_a_time);
    ok = write_file(path, bytes, err);
    pthread_mutex_unlock(&one_at_a_time);
    return ok || err_source(err, path);
}
