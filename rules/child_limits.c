/*
 * child_limits: what a process gives up before it runs rules that are not ours. Limits of resources
 * hold everywhere; on Linux a filter lets through the few system calls that memory, time and the
 * pipe need, and answers all others with EPERM, so that what the C library does without still
 * works.
 */
#include "rules/child.h"

#include "base/macros.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#ifdef __linux__
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#endif

#if defined(__SANITIZE_ADDRESS__)
#define HAS_SANITIZER 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define HAS_SANITIZER 1
#endif
#endif
#ifndef HAS_SANITIZER
#define HAS_SANITIZER 0
#endif

/* Replay looks at much of what the parent has and makes its own notes of it. */
#define SLACK_BYTES ((size_t)1 << 30)
enum { MOST_FILES = 4096, CPU_SECONDS = 60 };

/* Pages of this process, as the system counts them for RLIMIT_AS; 0: it does not say. */
static size_t address_space_bytes(void)
{
    char   text[64] = "";
    int    file = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
    size_t pages = 0;

    if (file < 0)
        return 0;
    if (read(file, text, sizeof text - 1) > 0)
        for (const char *at = text; *at >= '0' && *at <= '9'; at++)
            pages = pages * 10 + (size_t)(*at - '0');
    close(file);
    return pages * (size_t)sysconf(_SC_PAGESIZE);
}

static void limit(int resource, size_t value)
{
    struct rlimit bounds = { (rlim_t)value, (rlim_t)value };

    (void)setrlimit(resource, &bounds); /* one that is lower already stays */
}

/* AddressSanitizer maps terabytes of shadow: a limit on addresses would end it at once. */
static void limit_memory(const struct child_limits *limits)
{
    if (HAS_SANITIZER)
        return;
    size_t used_bytes = address_space_bytes();
    if (used_bytes > 0)
        limit(RLIMIT_AS, used_bytes + limits->memory_bytes + SLACK_BYTES);
}

static void limit_resources(const struct child_limits *limits)
{
    limit_memory(limits);
    limit(RLIMIT_CORE, 0);
    limit(RLIMIT_FSIZE, 0);
    limit(RLIMIT_CPU, CPU_SECONDS); /* should the parent not be there to end it */
    limit(RLIMIT_NOFILE, 0);        /* those that are open stay */
#ifdef RLIMIT_NPROC
    limit(RLIMIT_NPROC, 0);
#endif
}

/* All but the pipe; reports of sanitizers go to standard error. */
static void close_files(int kept)
{
    for (int file = 0; file < MOST_FILES; file++)
        if (file != kept && !(HAS_SANITIZER && file == STDERR_FILENO))
            close(file);
}

#if defined(__linux__) && defined(__x86_64__)
#define OUR_ARCHITECTURE AUDIT_ARCH_X86_64
#elif defined(__linux__) && defined(__aarch64__)
#define OUR_ARCHITECTURE AUDIT_ARCH_AARCH64
#endif

#ifdef OUR_ARCHITECTURE

/* System calls that are let through whatever their arguments. */
static const unsigned calls[] = {
    SYS_exit,           SYS_exit_group,      SYS_brk,          SYS_munmap,       SYS_mremap,
    SYS_madvise,        SYS_clock_gettime,   SYS_futex,        SYS_rt_sigreturn, SYS_rt_sigaction,
    SYS_rt_sigprocmask, SYS_sigaltstack,     SYS_getpid,       SYS_gettid,       SYS_getrandom,
    SYS_sched_yield,    SYS_restart_syscall, SYS_gettimeofday,
};

struct filter {
    struct sock_filter steps[96];
    unsigned short     count;
};

static void add(struct filter *filter, unsigned code, unsigned k, unsigned if_true,
                unsigned if_false)
{
    if (filter->count < ARRAY_COUNT(filter->steps))
        filter->steps[filter->count++] =
            (struct sock_filter) { (unsigned short)code, (unsigned char)if_true,
                                   (unsigned char)if_false, k };
}

static void load(struct filter *filter, size_t offset)
{
    add(filter, BPF_LD | BPF_W | BPF_ABS, (unsigned)offset, 0, 0);
}

static void answer(struct filter *filter, unsigned result)
{
    add(filter, BPF_RET | BPF_K, result, 0, 0);
}

/* The low half of an argument: what flags and file numbers fit into. */
static size_t argument(unsigned number)
{
    return offsetof(struct seccomp_data, args) + number * sizeof(uint64_t);
}

/* Lets a call through when its argument is this number. */
static void allow_equal(struct filter *filter, unsigned call, unsigned number, unsigned wanted)
{
    add(filter, BPF_JMP | BPF_JEQ | BPF_K, call, 0, 4);
    load(filter, argument(number));
    add(filter, BPF_JMP | BPF_JEQ | BPF_K, wanted, 0, 1);
    answer(filter, SECCOMP_RET_ALLOW);
    answer(filter, SECCOMP_RET_ERRNO | EPERM);
}

/* Memory that can run is for compiled patterns, which do without, and for intruders. */
static void allow_without_exec(struct filter *filter, unsigned call)
{
    add(filter, BPF_JMP | BPF_JEQ | BPF_K, call, 0, 4);
    load(filter, argument(2));
    add(filter, BPF_JMP | BPF_JSET | BPF_K, PROT_EXEC, 1, 0);
    answer(filter, SECCOMP_RET_ALLOW);
    answer(filter, SECCOMP_RET_ERRNO | EPERM);
}

static bool filter_calls(int file)
{
    struct filter filter = { .count = 0 };

    load(&filter, offsetof(struct seccomp_data, arch));
    add(&filter, BPF_JMP | BPF_JEQ | BPF_K, OUR_ARCHITECTURE, 1, 0);
    answer(&filter, SECCOMP_RET_KILL_PROCESS);
    load(&filter, offsetof(struct seccomp_data, nr));
    for (size_t i = 0; i < ARRAY_COUNT(calls); i++) {
        add(&filter, BPF_JMP | BPF_JEQ | BPF_K, calls[i], 0, 1);
        answer(&filter, SECCOMP_RET_ALLOW);
    }
    allow_equal(&filter, SYS_write, 0, (unsigned)file);
    allow_equal(&filter, SYS_tgkill, 0, (unsigned)getpid()); /* abort() */
    allow_without_exec(&filter, SYS_mmap);
    allow_without_exec(&filter, SYS_mprotect);
    answer(&filter, SECCOMP_RET_ERRNO | EPERM);

    struct sock_fprog program = { filter.count, filter.steps };
    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
           prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0) == 0;
}

#else

static bool filter_calls(int file)
{
    (void)file;
    return false;
}

#endif

bool child_lock(const struct child_limits *limits, int file)
{
#ifdef __linux__
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
    (void)prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
#endif
    close_files(file);
    limit_resources(limits);
    return filter_calls(file);
}
