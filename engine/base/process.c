#include "base/process.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

/* Between making a pipe and marking its ends, no other thread may start a program: it would keep
 * them open, and their readers would wait for it. */
static pthread_mutex_t starting = PTHREAD_MUTEX_INITIALIZER;

struct pipes {
    int out[2], err[2];
};

static void close_pair(int pair[2])
{
    for (int i = 0; i < 2; i++) {
        if (pair[i] >= 0)
            close(pair[i]);
        pair[i] = -1;
    }
}

static bool open_pair(int pair[2])
{
    pair[0] = pair[1] = -1;
    return pipe(pair) == 0 && fcntl(pair[0], F_SETFD, FD_CLOEXEC) == 0 &&
           fcntl(pair[1], F_SETFD, FD_CLOEXEC) == 0;
}

/* An errno. */
static int spawn(char *const *arguments, const struct pipes *pipes, pid_t *pid)
{
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t          attributes;
    sigset_t                   none;
    int                        error;

    sigemptyset(&none);
    if ((error = posix_spawn_file_actions_init(&actions)) != 0)
        return error;
    if ((error = posix_spawnattr_init(&attributes)) != 0) {
        posix_spawn_file_actions_destroy(&actions);
        return error;
    }
    if ((error = posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)) == 0 &&
        (error = posix_spawn_file_actions_adddup2(&actions, pipes->out[1], 1)) == 0 &&
        (error = posix_spawn_file_actions_adddup2(&actions, pipes->err[1], 2)) == 0 &&
        (error = posix_spawnattr_setsigmask(&attributes, &none)) == 0 &&
        (error = posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK)) == 0)
        error = posix_spawn(pid, arguments[0], &actions, &attributes, arguments, environ);
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&actions);
    return error;
}

static int start(char *const *arguments, struct pipes *pipes, pid_t *pid)
{
    int error;

    pthread_mutex_lock(&starting);
    pipes->err[0] = pipes->err[1] = -1;
    error = open_pair(pipes->out) && open_pair(pipes->err) ? spawn(arguments, pipes, pid) : errno;
    pthread_mutex_unlock(&starting);
    return error;
}

/* What is there now; false at the end. */
static bool take(int file, struct text *into)
{
    char    bytes[16384];
    ssize_t got = read(file, bytes, sizeof bytes);

    if (got > 0)
        text_add(into, (struct str) { bytes, (size_t)got });
    return got > 0 || (got < 0 && errno == EINTR);
}

static void take_all(const struct pipes *pipes, struct process_output *output)
{
    struct pollfd waits[2] = { { .fd = pipes->out[0], .events = POLLIN },
                               { .fd = pipes->err[0], .events = POLLIN } };
    struct text  *texts[2] = { &output->out, &output->err };

    while (waits[0].fd >= 0 || waits[1].fd >= 0) {
        if (poll(waits, 2, -1) < 0 && errno != EINTR)
            return;
        for (int i = 0; i < 2; i++)
            if (waits[i].fd >= 0 && waits[i].revents && !take(waits[i].fd, texts[i]))
                waits[i].fd = -1;
    }
}

bool process_run(char *const *arguments, struct process_output *output, struct err *err)
{
    struct pipes pipes;
    pid_t        pid = -1;
    int          error = start(arguments, &pipes, &pid), status = 0;

    if (error != 0) {
        close_pair(pipes.out);
        close_pair(pipes.err);
        return err_set(err, ERR_LIMIT, "%s cannot be started: %s", arguments[0], strerror(error));
    }
    close(pipes.out[1]);
    close(pipes.err[1]);
    take_all(&pipes, output);
    close(pipes.out[0]);
    close(pipes.err[0]);
    while (waitpid(pid, &status, 0) < 0)
        if (errno != EINTR)
            return err_set(err, ERR_LIMIT, "%s is gone: %s", arguments[0], strerror(errno));
    output->status = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
    return true;
}
