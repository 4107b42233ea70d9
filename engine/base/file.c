#define _GNU_SOURCE /* tee; madvise: posix_madvise(DONTNEED) does nothing in glibc */
#include "base/file.h"
#include "base/sort.h"

#include "base/gzip.h"
#include "base/opened.h"
#include "base/vec.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { FIRST_BUFFER_BYTES = 64 << 10, MOST_UNCLAIMED_BYTES = 1 << 20 };
enum { MOST_INFLATED = 1032, HUGE_PAGE_BYTES = 2 << 20 }; /* by DEFLATE, of a byte */

/* Bytes that grow, outside of any arena: the file owns them and its budget bounds them. */
struct buffer {
    char  *data;
    size_t len, capacity, budget_bytes;
};

static bool is_standard(const char *path)
{
    return strcmp(path, "-") == 0;
}

/* Room for at least one more byte; one byte past the budget, so that exceeding it is noticed. */
static bool buffer_grow(struct buffer *buffer, struct err *err)
{
    size_t capacity = buffer->capacity ? buffer->capacity * 2 : FIRST_BUFFER_BYTES;
    char  *moved;

    if (buffer->budget_bytes && buffer->len > buffer->budget_bytes)
        return err_set(err, ERR_LIMIT, "holds more than the %zu bytes it may",
                       buffer->budget_bytes);
    if (buffer->len < buffer->capacity)
        return true;
    if (buffer->budget_bytes && capacity > buffer->budget_bytes + 1)
        capacity = buffer->budget_bytes + 1;
    moved = realloc(buffer->data, capacity);
    if (!moved)
        return err_set(err, ERR_LIMIT, "no memory for %zu bytes", capacity);
    buffer->data = moved;
    buffer->capacity = capacity;
    return true;
}

/* Room for so many bytes, and one by which to see that there are no more. What is written from
 * front to back takes huge pages well, which cost a third. */
static void buffer_expect(struct buffer *buffer, size_t bytes)
{
    size_t page = HUGE_PAGE_BYTES;

    if (buffer->budget_bytes && bytes > buffer->budget_bytes)
        bytes = buffer->budget_bytes;
    if (bytes < FIRST_BUFFER_BYTES)
        return;
    buffer->data = malloc(bytes + 1);
    buffer->capacity = buffer->data ? bytes + 1 : 0;
    if (buffer->capacity > 2 * page) {
        uintptr_t first = ((uintptr_t)buffer->data + page - 1) / page * page;

        (void)madvise((void *)first, buffer->capacity - page, MADV_HUGEPAGE);
    }
}

static bool read_all(int descriptor, struct buffer *buffer, struct err *err)
{
    for (;;) {
        ssize_t count;

        if (!buffer_grow(buffer, err))
            return false;
        count = read(descriptor, buffer->data + buffer->len, buffer->capacity - buffer->len);
        if (count == 0)
            return true;
        if (count < 0 && errno != EINTR)
            return err_set(err, ERR_INPUT, "cannot be read: %s", strerror(errno));
        if (count > 0)
            buffer->len += (size_t)count;
    }
}

static void release(struct str bytes, bool is_mapped)
{
    if (is_mapped) {
        opened_unmap(bytes);
        munmap((void *)(uintptr_t)bytes.data, bytes.len);
    } else {
        free((void *)(uintptr_t)bytes.data);
    }
}

static bool inflate_all(struct gzip *gzip, struct str stored, struct buffer *buffer,
                        struct err *err)
{
    for (;;) {
        size_t room;

        if (!buffer_grow(buffer, err))
            return false;
        room = buffer->capacity - buffer->len;
        size_t count = gzip_inflate(gzip, &stored, buffer->data + buffer->len, room);

        buffer->len += count;
        if (count < room)
            return true;
    }
}

/* What gzip data say at their end that they hold: of several members that of the last. 0: they
 * cannot hold so much. */
static size_t claimed_bytes(struct str stored)
{
    const uint8_t *end = (const uint8_t *)stored.data + stored.len;
    size_t         bytes = 0;

    for (int i = 1; i <= 4 && stored.len > 4; i++)
        bytes = bytes << 8 | end[-i];
    return bytes / MOST_INFLATED <= stored.len ? bytes : 0;
}

/* Replaces the stored bytes by what they inflate to. */
static bool inflate_file(struct file *file, size_t budget_bytes, struct err *err)
{
    struct buffer buffer = { .budget_bytes = budget_bytes };
    struct gzip  *gzip = gzip_new();
    bool          ok;

    if (!gzip)
        return err_set(err, ERR_LIMIT, "no memory to inflate it");
    buffer_expect(&buffer, claimed_bytes(file->bytes));
    ok = inflate_all(gzip, file->bytes, &buffer, err);
    if (ok) {
        const char *damage = gzip_damage(gzip, true);

        release(file->bytes, file->is_mapped);
        file->bytes = (struct str) { buffer.data, buffer.len };
        file->is_mapped = false;
        file->is_gzip = true;
        file->is_damaged = damage != NULL;
        snprintf(file->damage, sizeof file->damage, "%s", damage ? damage : "");
        if (damage && buffer.len == 0) {
            err_set(err, ERR_FORMAT, "%s, and nothing whole is before that", damage);
            ok = err_advise(err, "copy the file again, or record again");
        }
    } else {
        free(buffer.data);
    }
    gzip_free(gzip);
    return ok;
}

static bool open_descriptor(const char *path, int *descriptor, struct stat *status, bool is_bounded,
                            struct err *err)
{
    /* Some files of /proc are plain, and reading them waits for what the kernel has to say. */
    int flags = O_RDONLY | O_CLOEXEC | O_NOCTTY | (file_is_plain(path) ? O_NONBLOCK : 0);

    *descriptor = is_standard(path) ? STDIN_FILENO : open(path, flags);
    if (*descriptor < 0)
        return err_set(err, ERR_INPUT, "cannot be opened: %s", strerror(errno));
    if (fstat(*descriptor, status) < 0)
        err_set(err, ERR_INPUT, "cannot be read: %s", strerror(errno));
    else if (S_ISDIR(status->st_mode))
        err_set(err, ERR_INPUT, "is a directory");
    else if (S_ISCHR(status->st_mode) && !is_bounded && !is_standard(path))
        err_set(err, ERR_INPUT, "is a device, which may never end");
    else
        return true;
    if (*descriptor != STDIN_FILENO)
        close(*descriptor);
    return false;
}

static bool load(struct file *file, const char *path, int descriptor, const struct stat *status,
                 size_t budget_bytes, struct err *err)
{
    struct buffer buffer = { .budget_bytes = budget_bytes };

    /* A regular file that claims no bytes may still have some: /proc, where it may not end.
     * Standard input may have been read in part by someone else. Both are read, not mapped. */
    if (S_ISREG(status->st_mode) && status->st_size == 0 && descriptor != STDIN_FILENO)
        buffer.budget_bytes = MOST_UNCLAIMED_BYTES;
    if (S_ISREG(status->st_mode) && status->st_size > 0 && descriptor != STDIN_FILENO) {
        size_t len = (size_t)status->st_size;
        void  *bytes = mmap(NULL, len, PROT_READ, MAP_PRIVATE, descriptor, 0);

        if (bytes != MAP_FAILED) {
            file->bytes = (struct str) { bytes, len };
            file->is_mapped = true;
            opened_map(path, file->bytes);
            return true;
        }
        if (len / (size_t)sysconf(_SC_PAGESIZE) > (size_t)sysconf(_SC_PHYS_PAGES))
            return err_set(err, ERR_INPUT, "cannot be mapped: %s", strerror(errno));
    }
    if (!read_all(descriptor, &buffer, err)) {
        free(buffer.data);
        return false;
    }
    file->bytes = (struct str) { buffer.data, buffer.len };
    return true;
}

bool file_open(struct file *file, const char *path, size_t budget_bytes, struct err *err)
{
    struct stat status = { 0 };
    int         descriptor = -1;
    bool        ok;

    *file = (struct file) { 0 };
    ok = open_descriptor(path, &descriptor, &status, budget_bytes > 0, err);
    if (ok) {
        opened_add(path, &status);
        ok = load(file, path, descriptor, &status, budget_bytes, err);
        if (descriptor != STDIN_FILENO)
            close(descriptor);
    }
    if (ok) {
        file->stored_bytes = file->bytes.len;
        if (gzip_is_magic(file->bytes))
            ok = inflate_file(file, budget_bytes, err);
    }
    if (ok)
        return true;
    file_close(file);
    return err_source(err, is_standard(path) ? "standard input" : path);
}

/* What a pipe holds is copied into another one, so that it stays. */
static size_t peek_pipe(int descriptor, char *bytes, size_t most)
{
    int     ends[2];
    ssize_t copied, got = 0;

    if (pipe(ends) < 0)
        return 0;
    copied = tee(descriptor, ends[1], most, 0);
    if (copied > 0)
        got = read(ends[0], bytes, (size_t)copied);
    close(ends[0]);
    close(ends[1]);
    return got > 0 ? (size_t)got : 0;
}

size_t file_peek(const char *path, char *bytes, size_t most)
{
    struct stat status = { 0 };
    struct err  ignored = { 0 };
    int         descriptor;
    off_t       at = 0;
    ssize_t     got = -1;

    if (!open_descriptor(path, &descriptor, &status, false, &ignored))
        return 0;
    if (descriptor == STDIN_FILENO)
        at = lseek(descriptor, 0, SEEK_CUR);
    if (S_ISREG(status.st_mode) && at >= 0)
        got = pread(descriptor, bytes, most, at);
    else if (S_ISFIFO(status.st_mode) && descriptor == STDIN_FILENO)
        got = (ssize_t)peek_pipe(descriptor, bytes, most);
    if (descriptor != STDIN_FILENO)
        close(descriptor);
    return got > 0 ? (size_t)got : 0;
}

static size_t inflate_head(struct str stored, char *bytes, size_t most)
{
    struct gzip *gzip = gzip_new();
    size_t       count = gzip ? gzip_inflate(gzip, &stored, bytes, most) : 0;

    gzip_free(gzip);
    return count;
}

size_t file_head(const char *path, char *bytes, size_t most)
{
    char  *stored = file_is_plain(path) ? malloc(most) : NULL;
    size_t count = stored ? file_peek(path, stored, most) : 0;

    if (gzip_is_magic((struct str) { stored, count }))
        count = inflate_head((struct str) { stored, count }, bytes, most);
    else if (count)
        memcpy(bytes, stored, count);
    free(stored);
    return count;
}

void file_close(struct file *file)
{
    release(file->bytes, file->is_mapped);
    *file = (struct file) { 0 };
}

void file_want(const struct file *file, size_t from, size_t to)
{
#ifdef MADV_POPULATE_READ
    size_t page = (size_t)sysconf(_SC_PAGESIZE);

    from = from / page * page;
    if (file->is_mapped && from < to && to <= file->bytes.len)
        (void)madvise((void *)((uintptr_t)file->bytes.data + from), to - from, MADV_POPULATE_READ);
#else
    (void)file;
    (void)from;
    (void)to;
#endif
}

void file_drop(const struct file *file, size_t from, size_t to)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);

    if (!file->is_mapped)
        return;
    if (to > file->bytes.len)
        to = file->bytes.len;
    from = (from + page - 1) / page * page; /* whole pages only */
    to = to == file->bytes.len ? to : to / page * page;
    if (from < to)
        madvise((void *)((uintptr_t)file->bytes.data + from), to - from, MADV_DONTNEED);
}

bool file_list(const char *path, struct arena *arena, char ***names, size_t *count, struct err *err)
{
    VEC(char *) found = { 0 };
    DIR           *directory = opendir(path);
    struct dirent *entry;
    bool           ok = true;

    if (!directory) {
        err_set(err, ERR_INPUT, "cannot be listed: %s", strerror(errno));
        return err_source(err, path);
    }
    while (ok && (entry = readdir(directory))) {
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
            continue;
        char *name = arena_text(arena, "%s", entry->d_name);

        ok = name && vec_push(&found, arena, name);
        if (!ok)
            err_set(err, ERR_LIMIT, "more than %zu names do not fit", found.count);
    }
    closedir(directory);
    if (!ok)
        return err_source(err, path);
    if (found.count)
        qsort(found.items, found.count, sizeof *found.items, sort_by_text);
    *names = found.items;
    *count = found.count;
    return true;
}

bool file_is_directory(const char *path)
{
    struct stat status;

    return stat(path, &status) == 0 && S_ISDIR(status.st_mode);
}

int64_t file_changed_s(const char *path)
{
    struct stat status;

    return stat(path, &status) == 0 ? (int64_t)status.st_mtime : 0;
}

bool file_make_directory(const char *path, struct err *err)
{
    if (mkdir(path, 0777) == 0 || file_is_directory(path))
        return true;
    return err_set(err, ERR_OUTPUT, "%s cannot be made: %s", path,
                   file_exists(path) ? "it is no directory" : strerror(errno));
}

bool file_is_plain(const char *path)
{
    struct stat status;

    return stat(path, &status) == 0 && S_ISREG(status.st_mode);
}

bool file_is_inside(const char *path, const char *folder)
{
    char  *real_path = realpath(path, NULL), *real_folder = realpath(folder, NULL);
    size_t len = real_folder ? strlen(real_folder) : 0;
    bool   is_inside = real_path && real_folder && strncmp(real_path, real_folder, len) == 0 &&
                     (real_path[len] == '/' || real_folder[len - 1] == '/');

    free(real_path);
    free(real_folder);
    return is_inside;
}

bool file_exists(const char *path)
{
    return access(path, F_OK) == 0;
}
