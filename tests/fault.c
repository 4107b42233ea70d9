/*
 * fault: a library for LD_PRELOAD that makes one call fail, so that a test can try them all.
 *     FAULT=malloc FAULT_N=7 LD_PRELOAD=…/libfault.so tfprof …   the seventh allocation gives NULL
 *     FAULT=write FAULT_N=2      the second write fails
 *     FAULT=shrink FAULT_N=1     the first file that is mapped loses its second half
 * When the program ends, FAULT_COUNT names a file that then holds how many calls there were.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

static atomic_long calls;
static long        failing = -1;
static const char *kind;

/* Allocations of the loader itself come before this and are let through. */
__attribute__((constructor)) static void start(void)
{
    const char *number = getenv("FAULT_N");

    kind = getenv("FAULT");
    failing = number ? strtol(number, NULL, 10) : -1;
}

__attribute__((destructor)) static void end(void)
{
    const char *path = getenv("FAULT_COUNT");
    FILE       *file = path ? fopen(path, "w") : NULL;

    if (!file)
        return;
    fprintf(file, "%ld\n", atomic_load(&calls));
    fclose(file);
}

static bool fails(const char *call)
{
    return kind && strcmp(kind, call) == 0 && atomic_fetch_add(&calls, 1) + 1 == failing;
}

#define NEXT(name) ((__typeof__(&(name)))(uintptr_t)dlsym(RTLD_NEXT, #name))

/* The next library's: of the C library, or of a sanitizer. Looking them up allocates itself, from a
 * few bytes that are never freed. */
static struct {
    void *(*malloc)(size_t);
    void *(*calloc)(size_t, size_t);
    void *(*realloc)(void *, size_t);
    bool is_looking;
} next;
static char   first_bytes[4096] __attribute__((aligned(16)));
static size_t first_used;

static void look_up(void)
{
    if (next.realloc || next.is_looking)
        return;
    next.is_looking = true;
    next.malloc = NEXT(malloc);
    next.calloc = NEXT(calloc);
    next.realloc = NEXT(realloc);
    next.is_looking = false;
}

static void *first_memory(size_t bytes)
{
    void *memory = first_bytes + first_used;

    first_used += (bytes + 15) / 16 * 16;
    return first_used <= sizeof first_bytes ? memory : NULL;
}

void *malloc(size_t bytes)
{
    look_up();
    if (!next.malloc)
        return first_memory(bytes);
    if (!fails("malloc"))
        return next.malloc(bytes);
    errno = ENOMEM;
    return NULL;
}

void *calloc(size_t count, size_t bytes)
{
    look_up();
    if (!next.calloc)
        return first_memory(count * bytes);
    if (!fails("malloc"))
        return next.calloc(count, bytes);
    errno = ENOMEM;
    return NULL;
}

void *realloc(void *memory, size_t bytes)
{
    look_up();
    if (!next.realloc)
        return first_memory(bytes);
    if (!fails("malloc"))
        return next.realloc(memory, bytes);
    errno = ENOMEM;
    return NULL;
}

ssize_t write(int descriptor, const void *bytes, size_t count)
{
    if (!fails("write"))
        return NEXT(write)(descriptor, bytes, count);
    errno = ENOSPC;
    return -1;
}

int fsync(int descriptor)
{
    const char *seconds = getenv("FAULT_SLEEP"); /* so that a test can end the program right here */

    if (seconds)
        sleep((unsigned)strtol(seconds, NULL, 10));
    if (!fails("fsync"))
        return NEXT(fsync)(descriptor);
    errno = EIO;
    return -1;
}

int rename(const char *from, const char *to)
{
    if (!fails("rename"))
        return NEXT(rename)(from, to);
    errno = EXDEV;
    return -1;
}

static void shrink(int descriptor)
{
    char        link[64], path[4096];
    struct stat status;
    ssize_t     len;

    snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
    len = readlink(link, path, sizeof path - 1);
    if (len <= 0 || fstat(descriptor, &status) != 0)
        return;
    path[len] = '\0';
    if (truncate(path, status.st_size / 2) != 0)
        return; /* then the test sees that nothing happened */
}

void *mmap(void *address, size_t bytes, int protection, int flags, int descriptor, off_t offset)
{
    long memory = syscall(SYS_mmap, address, bytes, protection, flags, descriptor, offset);

    if (descriptor >= 0 && memory != -1 && fails("shrink"))
        shrink(descriptor);
    return memory == -1 ? MAP_FAILED : (void *)(uintptr_t)memory;
}
