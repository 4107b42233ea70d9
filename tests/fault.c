/*
 * fault: a library for LD_PRELOAD that makes one call fail, so that a test can try them all.
 *     FAULT=malloc FAULT_N=7 LD_PRELOAD=…/libfault.so tfprof …   the seventh allocation gives NULL
 *     FAULT=write FAULT_N=2      the second write fails
 *     FAULT=shrink FAULT_N=1     the first file that is mapped loses its second half
 *     FAULT=malloc FAULT_EACH=d  each allocation in turn: where it comes, a copy of the program
 * goes on without it, and once that has ended the program itself goes on with it. Of calls of
 * realloc, which Lua makes by the thousand and tries again after collecting garbage, one in
 * FAULT_STRIDE.
 *     FAULT_SITES=1              with FAULT_EACH: the first call of each place, that is of each way
 * through functions; in its copy the place gets no memory any more, so that Lua, which collects
 * garbage and asks again, has to do without.
 * When the program ends, FAULT_COUNT names a file that then holds how many calls there
 * were. With FAULT_EACH copies that end with status 3 and a reason leave nothing behind; of the
 * others the folder d has what they wrote, N.out and N.err, and N.status: what they ended with, or
 * -1 for a signal.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <execinfo.h>
#include <fcntl.h>
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
#include <sys/wait.h>
#include <unistd.h>

static atomic_long calls;
static long        failing = -1;
static const char *kind, *folder, *step;
static bool        by_site;
static pid_t       program;

/* Allocations of the loader itself come before this and are let through. */
__attribute__((constructor)) static void start(void)
{
    const char *number = getenv("FAULT_N");
    void       *frame;

    backtrace(&frame, 1); /* loads what it needs, which allocates */
    kind = getenv("FAULT");
    folder = getenv("FAULT_EACH");
    step = getenv("FAULT_STEP");
    by_site = getenv("FAULT_SITES") != NULL;
    program = getpid();
    failing = number ? strtol(number, NULL, 10) : -1;
}

__attribute__((destructor)) static void end(void)
{
    const char *path = getpid() == program ? getenv("FAULT_COUNT") : NULL;
    FILE       *file;

    kind = NULL;
    file = path ? fopen(path, "w") : NULL;

    if (!file)
        return;
    fprintf(file, "%ld\n", atomic_load(&calls));
    fclose(file);
}

enum { COPY_SECONDS = 60, REFUSED = 3, PATH_BYTES = 512 };

static const char *path_of(long number, const char *ending)
{
    static char path[PATH_BYTES];

    snprintf(path, sizeof path, "%s/%ld.%s", folder, number, ending);
    return path;
}

/* The file takes over as a standard stream, with what the program has written there so far. */
static void divert(int stream, const char *path)
{
    static char bytes[1 << 14];
    int         file = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);
    ssize_t     len;

    for (off_t at = 0; (len = pread(stream, bytes, sizeof bytes, at)) > 0; at += len)
        syscall(SYS_write, file, bytes, (size_t)len);
    dup2(file, stream);
    close(file);
}

static bool begins_with_reason(const char *path)
{
    char bytes[8] = { 0 };
    int  file = open(path, O_RDONLY);
    bool begins = read(file, bytes, sizeof bytes) == sizeof bytes &&
                  memcmp(bytes, "tfprof: ", sizeof bytes) == 0;

    close(file);
    return begins;
}

static void judge(long number, int status)
{
    char text[16];
    int  file, len;

    if (WIFEXITED(status) && WEXITSTATUS(status) == REFUSED &&
        begins_with_reason(path_of(number, "err"))) {
        unlink(path_of(number, "out"));
        unlink(path_of(number, "err"));
        return;
    }
    file = open(path_of(number, "status"), O_WRONLY | O_CREAT | O_TRUNC, 0600);
    len = snprintf(text, sizeof text, "%d", WIFEXITED(status) ? WEXITSTATUS(status) : -1);
    syscall(SYS_write, file, text, (size_t)len);
    close(file);
}

/* Places that calls come from, by a hash of the functions that they come through. */
enum { SITES = 1 << 16, SITE_DEPTH = 12 };
static uint64_t sites[SITES];
static uint64_t without; /* in a copy: the place that gets no memory any more */

static uint64_t site_here(void)
{
    void    *frames[SITE_DEPTH];
    int      count = backtrace(frames, SITE_DEPTH);
    uint64_t hash = 14695981039346656037u;

    for (int i = 0; i < count; i++)
        hash = (hash ^ (uintptr_t)frames[i]) * 1099511628211u;
    return hash | 1;
}

static bool is_known_site(uint64_t site)
{
    size_t at = site % SITES;

    while (sites[at] && sites[at] != site)
        at = (at + 1) % SITES;
    if (sites[at] == site)
        return true;
    sites[at] = site;
    return false;
}

/* True in a copy of the program, false in the program once the copy has ended. Threads and other
 * processes of the program are left alone. */
static bool fails_in_copy(void)
{
    uint64_t site;
    long     number;
    int      status = 0;
    pid_t    copy;

    if (without)
        return site_here() == without;
    if (getpid() != program || (pid_t)syscall(SYS_gettid) != program)
        return false;
    number = atomic_fetch_add(&calls, 1) + 1;
    if (step && number % strtol(step, NULL, 10) != 0)
        return false;
    site = by_site ? site_here() : 0;
    if (by_site && is_known_site(site))
        return false;
    copy = fork();
    if (copy != 0) {
        waitpid(copy, &status, 0);
        judge(number, status);
        return false;
    }
    without = site;
    alarm(COPY_SECONDS);
    divert(STDOUT_FILENO, path_of(number, "out"));
    divert(STDERR_FILENO, path_of(number, "err"));
    return true;
}

static bool is_skipped(void)
{
    static atomic_long grown;
    const char        *stride = folder ? getenv("FAULT_STRIDE") : NULL;

    return stride && atomic_fetch_add(&grown, 1) % strtol(stride, NULL, 10) != 0;
}

static bool fails(const char *call)
{
    if (!kind || strcmp(kind, call) != 0)
        return false;
    return folder ? fails_in_copy() : atomic_fetch_add(&calls, 1) + 1 == failing;
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
    if (is_skipped() || !fails("malloc"))
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
