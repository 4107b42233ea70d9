/* What a process for rules of others cannot do, whatever code runs in it, and how its end is told.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "testing.h"

#include "base/macros.h"
#include "base/text.h"
#include "rules/child.h"

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

static const struct child_limits limits = { (size_t)16 << 20, 3000000000 };

static void say(struct child_pipe *pipe, bool is_done)
{
    child_send(pipe, is_done ? STR("done") : STR("refused"));
}

static void open_a_file(void *context, struct child_pipe *pipe)
{
    (void)context;
    say(pipe, open("/etc/passwd", O_RDONLY) >= 0);
}

static void write_a_file(void *context, struct child_pipe *pipe)
{
    (void)context;
    say(pipe, open("/tmp/tfprof-child-was-here", O_WRONLY | O_CREAT, 0600) >= 0);
}

static void open_a_socket(void *context, struct child_pipe *pipe)
{
    (void)context;
    say(pipe, socket(AF_INET, SOCK_STREAM, 0) >= 0);
}

static void begin_a_process(void *context, struct child_pipe *pipe)
{
    pid_t pid = fork();

    (void)context;
    if (pid == 0)
        _exit(0);
    say(pipe, pid > 0);
}

static void run_a_program(void *context, struct child_pipe *pipe)
{
    char *const arguments[] = { (char[]) { "true" }, NULL };

    (void)context;
    execv("/bin/true", arguments);
    say(pipe, false);
}

static void signal_the_parent(void *context, struct child_pipe *pipe)
{
    (void)pipe;
    say(pipe, kill(*(pid_t *)context, 0) == 0);
}

static void make_code(void *context, struct child_pipe *pipe)
{
    void *memory = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | 0x20, -1, 0);

    (void)context;
    say(pipe, memory != MAP_FAILED && mprotect(memory, 4096, PROT_READ | PROT_EXEC) == 0);
}

/* Standard output is closed, and no other file takes its number. */
static void print_a_line(void *context, struct child_pipe *pipe)
{
    (void)context;
    say(pipe, write(STDOUT_FILENO, "leak\n", 5) == 5);
}

static char *taken[256]; /* 64 MiB each: 16 GiB */

static void take_all_memory(void *context, struct child_pipe *pipe)
{
    size_t count = 0;

    (void)context;
    while (count < ARRAY_COUNT(taken) && (taken[count] = malloc((size_t)64 << 20)))
        *(volatile char *)taken[count++] = 1;
    say(pipe, count == ARRAY_COUNT(taken));
}

static void loop_forever(void *context, struct child_pipe *pipe)
{
    (void)pipe;
    for (volatile int *turn = context;; (*turn)++)
        ;
}

static void crash(void *context, struct child_pipe *pipe)
{
    (void)context;
    (void)pipe;
    signal(SIGSEGV, SIG_DFL);
    raise(SIGSEGV);
    abort();
}

static void leave(void *context, struct child_pipe *pipe)
{
    (void)context;
    (void)pipe;
    _exit(7);
}

/* Bytes that are no frame: the pipe is the one file that takes them. */
static void send_nonsense(void *context, struct child_pipe *pipe)
{
    (void)context;
    (void)pipe;
    for (int file = 3; file < 64; file++)
        if (write(file, "zzzzzzzzzz", 10) > 0)
            break;
}

static void send_too_much(void *context, struct child_pipe *pipe)
{
    static char bytes[CHILD_MESSAGE_BYTES + 1];

    (void)context;
    child_send(pipe, (struct str) { bytes, sizeof bytes });
}

TEST(attempts_are_refused)
{
    static const struct {
        const char *name;
        child_work *work;
        bool        needs_filter, needs_limits;
    } rows[] = {
        { "open", open_a_file, false, false },      { "write", write_a_file, false, false },
        { "socket", open_a_socket, false, false },  { "fork", begin_a_process, true, false },
        { "exec", run_a_program, true, false },     { "kill", signal_the_parent, true, false },
        { "code", make_code, true, false },         { "print", print_a_line, false, false },
        { "memory", take_all_memory, false, true },
    };
    pid_t self = getpid();

    for (size_t i = 0; i < ARRAY_COUNT(rows); i++) {
        struct arena arena = { 0 };
        struct child child;
        struct err   err = { 0 };
        struct str   message;

        if (rows[i].needs_limits && HAS_SANITIZER)
            continue;
        assert_true(child_start(&child, &limits, rows[i].work, &self, &err));
        enum child_event event = child_next(&child, &arena, &message);
        if (i == 0)
            print_message("system calls are%s filtered here\n", child.has_filter ? "" : " not");
        if (event != CHILD_MESSAGE)
            fail_msg("%s: %.*s", rows[i].name, STR_ARG(message));
        if (!str_equal(message, STR("refused")) && (child.has_filter || !rows[i].needs_filter))
            fail_msg("%s was not refused", rows[i].name);
        assert_int_equal(child_next(&child, &arena, &message), CHILD_DONE);
        child_end(&child);
        arena_free(&arena);
    }
}

TEST(ends_are_told)
{
    static const struct {
        child_work *work;
        const char *said;
    } rows[] = {
        { loop_forever, "ran for too long" },     { crash, "ended by signal 11" },
        { leave, "ended with status 7" },         { send_nonsense, "sent" },
        { send_too_much, "ended with status 1" },
    };
    static const struct child_limits brief = { (size_t)16 << 20, 500000000 };

    for (size_t i = 0; i < ARRAY_COUNT(rows); i++) {
        struct arena arena = { 0 };
        struct child child;
        struct err   err = { 0 };
        struct str   message;
        int          turn = 0;

        assert_true(child_start(&child, i == 0 ? &brief : &limits, rows[i].work, &turn, &err));
        assert_int_equal(child_next(&child, &arena, &message), CHILD_DEAD);
        if (!str_contains(message, str_from(rows[i].said)))
            fail_msg("%zu: %.*s", i, STR_ARG(message));
        assert_int_equal(child.pid, -1);
        child_end(&child);
        arena_free(&arena);
    }
}
