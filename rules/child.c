/* child: frames over a pipe: four bytes of length, then the message. */
#include "rules/child.h"

#include "base/trace.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { HELLO_FILTERED = 'f', HELLO_BARE = 'b', DONE = 'd' };

struct child_pipe {
    int file;
};

static void write_all(int file, const void *bytes, size_t count)
{
    const char *at = bytes;

    while (count > 0) {
        ssize_t written = write(file, at, count);

        if (written < 0 && errno == EINTR)
            continue;
        if (written <= 0)
            _exit(1); /* nobody listens */
        at += written;
        count -= (size_t)written;
    }
}

static void send_frame(int file, char kind, struct str message)
{
    unsigned char head[5] = { (unsigned char)kind, (unsigned char)(message.len & 0xff),
                              (unsigned char)(message.len >> 8 & 0xff),
                              (unsigned char)(message.len >> 16 & 0xff),
                              (unsigned char)(message.len >> 24 & 0xff) };

    write_all(file, head, sizeof head);
    write_all(file, message.data, message.len);
}

void child_send(struct child_pipe *pipe, struct str message)
{
    if (message.len > CHILD_MESSAGE_BYTES)
        _exit(1);
    send_frame(pipe->file, 'm', message);
}

/* Does not return. */
static void be_child(int file, const struct child_limits *limits, child_work *work, void *context)
{
    struct child_pipe pipe = { file };
    bool              is_filtered = child_lock(limits, file);

    send_frame(file, is_filtered ? HELLO_FILTERED : HELLO_BARE, STR(""));
    work(context, &pipe);
    send_frame(file, DONE, STR(""));
    _exit(0); /* what the parent wants done at its end is not the child's to do */
}

bool child_start(struct child *child, const struct child_limits *limits, child_work *work,
                 void *context, struct err *err)
{
    int files[2];

    *child = (struct child) { .pid = -1, .file = -1, .wall_ns = limits->wall_ns };
    if (pipe(files) != 0)
        return err_set(err, ERR_LIMIT, "no pipe to a process for rules: %s", strerror(errno));
    child->pid = fork();
    if (child->pid < 0) {
        close(files[0]);
        close(files[1]);
        return err_set(err, ERR_LIMIT, "no process for rules: %s", strerror(errno));
    }
    if (child->pid == 0) {
        close(files[0]);
        be_child(files[1], limits, work, context);
    }
    close(files[1]);
    child->file = files[0];
    return true;
}

enum reading { READ_WHOLE, READ_END, READ_LATE };

/* Exactly `count` bytes before the deadline. */
static enum reading read_all(const struct child *child, void *bytes, size_t count,
                             int64_t deadline_ns)
{
    char *at = bytes;

    while (count > 0) {
        struct pollfd wait = { .fd = child->file, .events = POLLIN };
        int64_t       left_ms = (deadline_ns - trace_now_ns()) / 1000000;
        int           ready;
        ssize_t       got;

        if (left_ms <= 0)
            return READ_LATE;
        ready = poll(&wait, 1, left_ms > INT_MAX ? INT_MAX : (int)left_ms);
        if (ready <= 0)
            continue;
        got = read(child->file, at, count);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return READ_END;
        at += got;
        count -= (size_t)got;
    }
    return READ_WHOLE;
}

static pid_t reap(struct child *child, int *status)
{
    pid_t pid;

    do
        pid = waitpid(child->pid, status, 0);
    while (pid < 0 && errno == EINTR);
    child->pid = -1;
    return pid;
}

/* Why there is no more to read; the child is gone afterwards. */
static struct str cause_of_death(struct child *child, const char *known, struct arena *arena)
{
    const char *text = known;
    int         status = 0;

    if (known)
        kill(child->pid, SIGKILL);
    reap(child, &status);
    if (!known && WIFSIGNALED(status))
        text = arena_text(arena, "its process was ended by signal %d (%s)", WTERMSIG(status),
                          strsignal(WTERMSIG(status)));
    else if (!known)
        text = arena_text(arena, "its process ended with status %d",
                          WIFEXITED(status) ? WEXITSTATUS(status) : -1);
    return str_from(text ? text : "its process ended");
}

static enum child_event dead(struct child *child, const char *known, struct arena *arena,
                             struct str *message)
{
    *message = cause_of_death(child, known, arena);
    return CHILD_DEAD;
}

static enum child_event next_frame(struct child *child, struct arena *arena, char *kind,
                                   struct str *message)
{
    static const char late[] = "its process ran for too long and was ended";
    int64_t           deadline_ns = trace_now_ns() + child->wall_ns;
    unsigned char     head[5];
    enum reading      reading = read_all(child, head, sizeof head, deadline_ns);
    size_t            len;
    char             *bytes;

    if (reading != READ_WHOLE)
        return dead(child, reading == READ_LATE ? late : NULL, arena, message);
    *kind = (char)head[0];
    len = head[1] | (size_t)head[2] << 8 | (size_t)head[3] << 16 | (size_t)head[4] << 24;
    bytes = len <= CHILD_MESSAGE_BYTES ? arena_alloc(arena, len + 1) : NULL;
    if (!bytes)
        return dead(child, "its process sent too much and was ended", arena, message);
    reading = read_all(child, bytes, len, deadline_ns);
    if (reading != READ_WHOLE)
        return dead(child, reading == READ_LATE ? late : NULL, arena, message);
    *message = (struct str) { bytes, len };
    return CHILD_MESSAGE;
}

enum child_event child_next(struct child *child, struct arena *arena, struct str *message)
{
    char             kind = 0;
    enum child_event event = next_frame(child, arena, &kind, message);

    if (event == CHILD_MESSAGE && !child->has_begun) {
        child->has_begun = true;
        child->has_filter = kind == HELLO_FILTERED;
        if (kind != HELLO_FILTERED && kind != HELLO_BARE)
            return dead(child, "its process sent nonsense and was ended", arena, message);
        event = next_frame(child, arena, &kind, message);
    }
    if (event == CHILD_MESSAGE && kind == DONE)
        return CHILD_DONE;
    if (event == CHILD_MESSAGE && kind != 'm')
        return dead(child, "its process sent nonsense and was ended", arena, message);
    return event;
}

void child_end(struct child *child)
{
    int status;

    if (child->file >= 0)
        close(child->file);
    child->file = -1;
    if (child->pid > 0) {
        kill(child->pid, SIGKILL);
        reap(child, &status);
    }
}
