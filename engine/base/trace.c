#include "base/trace.h"

#include "base/str.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>

static pthread_once_t started = PTHREAD_ONCE_INIT;
static const char    *categories; /* TFPROF_TRACE, or NULL */
static int64_t        start_ns;

static void start(void)
{
    categories = getenv("TFPROF_TRACE");
    start_ns = trace_now_ns();
}

int64_t trace_now_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

int64_t trace_cpu_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

bool trace_is_on(const char *category, int level)
{
    struct str rest;

    pthread_once(&started, start);
    if (!categories)
        return false;
    rest = str_from(categories);
    while (rest.len) {
        struct str part = str_cut(&rest, ',');
        struct str name = str_cut(&part, ':');
        int64_t    wanted = 1;

        if (part.len && !str_to_int64(part, &wanted))
            continue;
        if (wanted >= level && (str_equal(name, str_from(category)) || str_equal(name, STR("all"))))
            return true;
    }
    return false;
}

void trace_print(const char *category, const char *format, ...)
{
    char          message[512];
    struct rusage usage = { 0 };
    va_list       arguments;

    pthread_once(&started, start);
    va_start(arguments, format);
    vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    getrusage(RUSAGE_SELF, &usage);
    fprintf(stderr, "%8.3f s %6.0f MB %s: %s\n", (double)(trace_now_ns() - start_ns) / 1e9,
            (double)usage.ru_maxrss * 1024 / 1e6, category, message);
}
