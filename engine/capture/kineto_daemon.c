#define _GNU_SOURCE /* struct ucred */
#include "capture/kineto_daemon.h"

#include "base/file.h"
#include "base/macros.h"
#include "base/text.h"
#include "base/trace.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

/* Programs ask every 5 s. The recording begins once all have had the time to, and to warm up. */
enum { BEGINS_MS = 8000, WARM_UP_S = 1, LATEST_MS = 2000, LOOK_MS = 100 };
enum { MOST_PIDS = 256, FOR_ACTIVITIES = 2 }; /* of a request: a program and those above it */

struct head {      /* of each datagram */
    uint64_t size; /* of what follows */
    char     type[32];
};
struct request { /* type "req": is there something to do? */
    int32_t kinds, count;
    int64_t job;
    int32_t pids[MOST_PIDS]; /* the program, then its parents */
};
struct datagram {
    struct head head;
    union {
        struct request request;
        int32_t instances; /* answers "ctxt", by which older programs say that they are there */
    } body;
};
struct program {
    pid_t process;
    bool  is_done;
};
struct daemon {
    const struct kineto_options *options;
    struct arena                *arena;
    int                          file;
    int64_t deadline_ns, begin_ms; /* begin: of the recording, 0: nobody asked */
    VEC(struct program) programs;
};

static int64_t now_ms(void)
{
    struct timespec now;

    clock_gettime(CLOCK_REALTIME, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* An abstract name, which ends in a zero byte that counts; below KINETO_IPC_SOCKET_DIR where set.
 */
static socklen_t address_of(struct sockaddr_un *address)
{
    const char *folder = getenv("KINETO_IPC_SOCKET_DIR");
    int         len;

    *address = (struct sockaddr_un) { .sun_family = AF_UNIX };
    len = folder && *folder
              ? snprintf(address->sun_path, sizeof address->sun_path, "%s/dynolog", folder)
              : 1 + snprintf(address->sun_path + 1, sizeof address->sun_path - 1, "dynolog");
    return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + (size_t)len + 1);
}

static bool listen_here(struct daemon *daemon, struct err *err)
{
    struct sockaddr_un address;
    socklen_t          size = address_of(&address);
    int                yes = 1;

    daemon->file = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (daemon->file >= 0 &&
        setsockopt(daemon->file, SOL_SOCKET, SO_PASSCRED, &yes, sizeof yes) == 0 &&
        bind(daemon->file, (struct sockaddr *)&address, size) == 0)
        return true;
    if (errno == EADDRINUSE) {
        err_set(err, ERR_INPUT, "another daemon answers PyTorch programs on this machine");
        err_advise(err, "ask that one for a recording, or end it");
    } else {
        err_set(err, ERR_INPUT, "no socket for PyTorch programs: %s", strerror(errno));
    }
    if (daemon->file >= 0)
        close(daemon->file);
    return false;
}

/* Who sent it, as the kernel says; -1: unknown. */
static uid_t sender(struct msghdr *message)
{
    struct ucred who = { .uid = (uid_t)-1 };

    for (struct cmsghdr *at = CMSG_FIRSTHDR(message); at; at = CMSG_NXTHDR(message, at))
        if (at->cmsg_level == SOL_SOCKET && at->cmsg_type == SCM_CREDENTIALS)
            memcpy(&who, CMSG_DATA(at), sizeof who);
    return who.uid;
}

static bool is_type(const struct head *head, const char *type)
{
    return strncmp(head->type, type, sizeof head->type) == 0;
}

static bool is_wanted(const struct daemon *daemon, const struct request *request)
{
    bool is_chosen = daemon->options->process == 0;

    for (int32_t i = 0; i < request->count; i++)
        is_chosen |= request->pids[i] == daemon->options->process;
    for (size_t i = 0; i < daemon->programs.count; i++)
        if (daemon->programs.items[i].process == request->pids[0])
            return false;
    return is_chosen && (request->kinds & FOR_ACTIVITIES);
}

/* What to record; the program puts its number before the ending of the file's name. */
static void configure(const struct daemon *daemon, struct text *text)
{
    const struct kineto_options *options = daemon->options;

    text_print(text,
               "ACTIVITIES_LOG_FILE=%s/host.json\nPROFILE_START_TIME=%" PRId64
               "\nACTIVITIES_DURATION_MSECS=%" PRId64 "\nACTIVITIES_WARMUP_PERIOD_SECS=%d\n"
               "PROFILE_REPORT_INPUT_SHAPES=true\nPROFILE_WITH_STACK=%s\n",
               options->directory, daemon->begin_ms, options->duration_ms, WARM_UP_S,
               options->has_python ? "true" : "false");
}

/* The answer to a request: a configuration, or nothing to do. */
static bool answer_request(struct daemon *daemon, const struct request *request, struct text *text)
{
    if (!is_wanted(daemon, request))
        return true;
    if (daemon->begin_ms == 0) {
        daemon->begin_ms = now_ms() + BEGINS_MS;
        daemon->deadline_ns =
            trace_now_ns() +
            (BEGINS_MS + daemon->options->duration_ms + daemon->options->wait_ms) * 1000000;
    }
    if (now_ms() + LATEST_MS > daemon->begin_ms)
        return true;
    configure(daemon, text);
    return vec_push(&daemon->programs, daemon->arena,
                    (struct program) { .process = (pid_t)request->pids[0] });
}

/* Requests are as long as they say; others, and other users' programs, get no answer. */
static bool is_sound(const struct datagram *datagram, size_t bytes, struct msghdr *message)
{
    const struct request *request = &datagram->body.request;
    size_t                body = bytes - sizeof datagram->head;

    if (bytes < sizeof datagram->head || datagram->head.size != body ||
        sender(message) != geteuid())
        return false;
    return !is_type(&datagram->head, "req") ||
           (body >= offsetof(struct request, pids) && request->count > 0 &&
            request->count <= MOST_PIDS &&
            body ==
                offsetof(struct request, pids) + (size_t)request->count * sizeof request->pids[0]);
}

static bool answer(struct daemon *daemon, struct err *err)
{
    struct datagram               datagram = { 0 };
    struct sockaddr_un            from;
    _Alignas(struct cmsghdr) char control[CMSG_SPACE(sizeof(struct ucred))];
    struct iovec                  parts[] = { { &datagram, sizeof datagram }, { NULL, 0 } };
    struct msghdr                 message = { .msg_name = &from,
                                              .msg_namelen = sizeof from,
                                              .msg_iov = parts,
                                              .msg_iovlen = 1,
                                              .msg_control = control,
                                              .msg_controllen = sizeof control };
    ssize_t                       count = recvmsg(daemon->file, &message, MSG_DONTWAIT);
    struct arena                  scratch = { 0 };
    struct text                   text = { .arena = &scratch };
    int32_t                       instances = 1;
    bool                          is_done = true;

    if (count < 0 || !is_sound(&datagram, (size_t)count, &message))
        return true;
    if (is_type(&datagram.head, "ctxt"))
        text_add(&text, (struct str) { (const char *)&instances, sizeof instances });
    else if (is_type(&datagram.head, "req"))
        is_done = answer_request(daemon, &datagram.body.request, &text);
    is_done = is_done && !text.is_cut;
    datagram.head.size = text.len;
    parts[0] = (struct iovec) { &datagram.head, sizeof datagram.head };
    parts[1] = (struct iovec) { text.data, text.len };
    message.msg_iovlen = ARRAY_COUNT(parts);
    message.msg_control = NULL;
    message.msg_controllen = 0;
    (void)!sendmsg(daemon->file, &message,
                   MSG_DONTWAIT | MSG_NOSIGNAL); /* gone, or it asks again */
    arena_free(&scratch);
    return is_done || err_memory(err, "the programs");
}

/* Programs give a recording its name when it is whole. */
static bool look_for_recordings(struct daemon *daemon, struct kineto_results *results)
{
    bool is_full = false;

    for (size_t i = 0; i < daemon->programs.count && !is_full; i++) {
        struct program *program = &daemon->programs.items[i];
        char *path = arena_text(daemon->arena, "%s/host_%ld.json", daemon->options->directory,
                                (long)program->process);

        is_full = !path;
        if (is_full || program->is_done || !file_exists(path))
            continue;
        program->is_done = true;
        is_full = !vec_push(&results->paths, daemon->arena, path);
    }
    return !is_full;
}

static bool is_complete(const struct daemon *daemon, const struct kineto_results *results)
{
    return daemon->begin_ms > 0 && now_ms() > daemon->begin_ms &&
           results->paths.count == daemon->programs.count;
}

static bool serve(struct daemon *daemon, struct kineto_results *results, struct err *err)
{
    while (!is_complete(daemon, results) && trace_now_ns() < daemon->deadline_ns) {
        struct pollfd wait = { .fd = daemon->file, .events = POLLIN };

        if (poll(&wait, 1, LOOK_MS) > 0 && !answer(daemon, err))
            return false;
        if (!look_for_recordings(daemon, results))
            return err_memory(err, "the programs");
    }
    return true;
}

static bool conclude(const struct daemon *daemon, struct kineto_results *results, struct err *err)
{
    for (size_t i = 0; i < daemon->programs.count; i++)
        if (!daemon->programs.items[i].is_done &&
            !vec_push(&results->missing, daemon->arena, daemon->programs.items[i].process))
            return err_memory(err, "the programs");
    if (results->paths.count > 0)
        return true;
    if (daemon->programs.count == 0) {
        err_set(err, ERR_INPUT, "no PyTorch program asked for something to do in %lld s",
                (long long)(daemon->options->wait_ms / 1000));
        return err_advise(err, "start it with KINETO_USE_DAEMON=1, as this user on this machine");
    }
    err_set(err, ERR_INPUT, "process %ld was asked to record, but wrote nothing into %s",
            (long)daemon->programs.items[0].process, daemon->options->directory);
    return err_advise(err, "look at what it printed, with KINETO_LOG_LEVEL=0 set for it");
}

bool kineto_capture(const struct kineto_options *options, struct arena *arena,
                    struct kineto_results *results, struct err *err)
{
    struct daemon daemon = {
        .options = options,
        .arena = arena,
        .deadline_ns = trace_now_ns() + options->wait_ms * 1000000,
    };
    bool is_done;

    *results = (struct kineto_results) { 0 };
    if (!listen_here(&daemon, err))
        return false;
    is_done = serve(&daemon, results, err) && conclude(&daemon, results, err);
    close(daemon.file);
    return is_done;
}
