#include "bench_process.h"

#include "base/trace.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { LOOK_NS = 2000000 };

/* 0 when the process is gone. */
static uint64_t anonymous_bytes(pid_t child)
{
    char     path[64], line[256];
    uint64_t kib = 0;
    FILE    *status;

    snprintf(path, sizeof path, "/proc/%d/status", (int)child);
    status = fopen(path, "r");
    if (!status)
        return 0;
    while (fgets(line, sizeof line, status))
        if (strncmp(line, "RssAnon:", 8) == 0)
            kib = strtoull(line + 8, NULL, 10);
    fclose(status);
    return kib * 1024;
}

static void start(char *const *arguments)
{
    int null = open("/dev/null", O_WRONLY);

    if (null >= 0)
        dup2(null, STDOUT_FILENO);
    execvp(arguments[0], arguments);
    perror(arguments[0]);
    _exit(127);
}

struct process_cost process_run(char *const *arguments)
{
    struct process_cost cost = { 0 };
    int64_t             start_ns = trace_now_ns();
    pid_t               child = fork();
    int                 status = 0;

    if (child < 0) {
        perror("fork");
        exit(1);
    }
    if (child == 0)
        start(arguments);
    while (waitpid(child, &status, WNOHANG) == 0) {
        struct timespec pause = { .tv_nsec = LOOK_NS };
        uint64_t        bytes = anonymous_bytes(child);

        if (bytes > cost.anonymous_bytes)
            cost.anonymous_bytes = bytes;
        nanosleep(&pause, NULL);
    }
    cost.wall_s = (double)(trace_now_ns() - start_ns) / 1e9;
    cost.status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    return cost;
}
