#include "base/process.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

/* Between making a pipe and marking its ends, no other thread may start a program: it would keep
 * them open, and their readers would wait for it. */
static pthread_mutex_t starting = PTHREAD_MUTEX_INITIALIZER;

enum { MOST_ANSWER_BYTES = 1 << 30 };

struct pipes {
    int in[2], out[2], err[2]; /* in: -1 for a program that is asked nothing */
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
    error = pipes->in[0] < 0
                ? posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
                : posix_spawn_file_actions_adddup2(&actions, pipes->in[0], 0);
    if (error == 0 && (error = posix_spawn_file_actions_adddup2(&actions, pipes->out[1], 1)) == 0 &&
        (error = posix_spawn_file_actions_adddup2(&actions, pipes->err[1], 2)) == 0 &&
        (error = posix_spawnattr_setsigmask(&attributes, &none)) == 0 &&
        (error = posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK)) == 0)
        error = posix_spawn(pid, arguments[0], &actions, &attributes, arguments, environ);
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&actions);
    return error;
}

/* On failure nothing is left open. */
static bool start(char *const *arguments, bool is_asked, struct pipes *pipes, pid_t *pid,
                  struct err *err)
{
    int error;

    *pipes = (struct pipes) { { -1, -1 }, { -1, -1 }, { -1, -1 } };
    pthread_mutex_lock(&starting);
    error = (!is_asked || open_pair(pipes->in)) && open_pair(pipes->out) && open_pair(pipes->err)
                ? spawn(arguments, pipes, pid)
                : errno;
    pthread_mutex_unlock(&starting);
    if (error == 0) {
        close(pipes->out[1]);
        close(pipes->err[1]);
        if (is_asked)
            close(pipes->in[0]);
        return true;
    }
    close_pair(pipes->in);
    close_pair(pipes->out);
    close_pair(pipes->err);
    return err_set(err, ERR_LIMIT, "%s cannot be started: %s", arguments[0], strerror(error));
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

static void take_all(int out, int errors, struct process_output *output)
{
    struct pollfd waits[2] = { { .fd = out, .events = POLLIN },
                               { .fd = errors, .events = POLLIN } };
    struct text  *texts[2] = { &output->out, &output->err };

    while (waits[0].fd >= 0 || waits[1].fd >= 0) {
        if (poll(waits, 2, -1) < 0 && errno != EINTR)
            return;
        for (int i = 0; i < 2; i++)
            if (waits[i].fd >= 0 && waits[i].revents && !take(waits[i].fd, texts[i]))
                waits[i].fd = -1;
    }
}

/* The exit status as shells count it; -1: the program is gone. */
static int wait_for(pid_t pid)
{
    int status = 0;

    while (waitpid(pid, &status, 0) < 0)
        if (errno != EINTR)
            return -1;
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

bool process_run(char *const *arguments, struct process_output *output, struct err *err)
{
    struct pipes pipes;
    pid_t        pid = -1;

    if (!start(arguments, false, &pipes, &pid, err))
        return false;
    take_all(pipes.out[0], pipes.err[0], output);
    close(pipes.out[0]);
    close(pipes.err[0]);
    output->status = wait_for(pid);
    return output->status >= 0 ||
           err_set(err, ERR_LIMIT, "%s is gone: %s", arguments[0], strerror(errno));
}

bool process_start(char *const *arguments, struct text *said, struct process *process,
                   struct err *err)
{
    struct pipes pipes;
    pid_t        pid = -1;

    if (!start(arguments, true, &pipes, &pid, err))
        return false;
    *process = (struct process) { pipes.in[1], pipes.out[0], pipes.err[0], pid, said };
    return true;
}

/* A program that ended may not end this one by SIGPIPE: it is written to with the signal blocked,
 * and one that came of it is taken. */
static bool write_line(int file, struct str line)
{
    sigset_t        pipe_signal, before;
    struct timespec at_once = { 0 };
    bool            is_written = true;

    sigemptyset(&pipe_signal);
    sigaddset(&pipe_signal, SIGPIPE);
    pthread_sigmask(SIG_BLOCK, &pipe_signal, &before);
    while (line.len > 0 && is_written) {
        ssize_t done = write(file, line.data, line.len);

        is_written = done >= 0 || errno == EINTR;
        if (done > 0)
            line = (struct str) { line.data + done, line.len - (size_t)done };
        if (done < 0 && errno == EPIPE)
            (void)sigtimedwait(&pipe_signal, NULL, &at_once);
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return is_written;
}

/* Something stands on standard output, or it ended; what stands on standard error meanwhile is
 * taken, so that the program does not wait for that. */
static void await_output(struct process *process)
{
    struct pollfd waits[2] = { { .fd = process->out, .events = POLLIN },
                               { .fd = process->err, .events = POLLIN } };

    do {
        waits[0].revents = waits[1].revents = 0;
        if (poll(waits, 2, -1) < 0)
            continue;
        if (waits[1].revents && !take(process->err, process->said))
            waits[1].fd = -1;
    } while (!waits[0].revents);
}

/* The bytes up to a newline; false at the end, or for more than fit. */
static bool read_head(struct process *process, char *head, size_t bytes)
{
    for (size_t len = 0; len < bytes; len++) {
        ssize_t got;

        do {
            await_output(process);
            got = read(process->out, &head[len], 1);
        } while (got < 0 && errno == EINTR);
        if (got <= 0)
            return false;
        if (head[len] == '\n') {
            head[len] = 0;
            return true;
        }
    }
    return false;
}

static bool read_bytes(struct process *process, size_t count, struct text *into)
{
    char bytes[65536];

    while (count > 0) {
        ssize_t got;

        await_output(process);
        got = read(process->out, bytes, count < sizeof bytes ? count : sizeof bytes);
        if (got == 0 || (got < 0 && errno != EINTR))
            return false;
        if (got > 0) {
            text_add(into, (struct str) { bytes, (size_t)got });
            count -= (size_t)got;
        }
    }
    return true;
}

bool process_ask(struct process *process, struct str line, struct process_answer *answer)
{
    char head[64], *space, *end;
    long bytes;

    if (!write_line(process->in, line) || !write_line(process->in, STR("\n")) ||
        !read_head(process, head, sizeof head))
        return false;
    space = strchr(head, ' ');
    if (!space || (size_t)(space - head) >= sizeof answer->word)
        return false;
    *space = 0;
    bytes = strtol(space + 1, &end, 10);
    if (end == space + 1 || *end || bytes < 0 || bytes > MOST_ANSWER_BYTES)
        return false;
    memcpy(answer->word, head, (size_t)(space - head) + 1);
    return read_bytes(process, (size_t)bytes, &answer->bytes);
}

int process_end(struct process *process)
{
    struct text           rest = { .arena = process->said->arena };
    struct process_output output = { .out = rest, .err = *process->said };

    close(process->in);
    take_all(process->out, process->err, &output);
    *process->said = output.err;
    close(process->out);
    close(process->err);
    return wait_for((pid_t)process->pid);
}
