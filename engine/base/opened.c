#define _DEFAULT_SOURCE /* SA_SIGINFO */
#include "base/opened.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Entries stay until the program ends, because the signal's handler walks the lists. */
struct opened_file {
    struct opened_file *next;
    dev_t               device;
    ino_t               inode;
    char                path[]; /* as it was named; "-" of standard input */
};
struct mapping {
    struct mapping *next;
    _Atomic(size_t) from, to; /* addresses; equal: free for another file */
    char            path[512];
};

static pthread_mutex_t           lock = PTHREAD_MUTEX_INITIALIZER;
static struct opened_file       *files;
static _Atomic(struct mapping *) mappings;

static bool is_same(const struct opened_file *file, const struct stat *status)
{
    return file->device == status->st_dev && file->inode == status->st_ino;
}

void opened_add(const char *path, const struct stat *status)
{
    size_t              bytes = strlen(path) + 1;
    struct opened_file *file = S_ISREG(status->st_mode) ? malloc(sizeof *file + bytes) : NULL;

    if (!file)
        return;
    file->device = status->st_dev;
    file->inode = status->st_ino;
    memcpy(file->path, path, bytes);
    pthread_mutex_lock(&lock);
    file->next = files;
    files = file;
    pthread_mutex_unlock(&lock);
}

/* Numbers of files that are gone are given to others. */
static bool is_still_there(const struct opened_file *file)
{
    struct stat now;

    return strcmp(file->path, "-") == 0 || (stat(file->path, &now) == 0 && is_same(file, &now));
}

bool opened_has(const struct stat *status)
{
    bool is_there = false;

    pthread_mutex_lock(&lock);
    for (const struct opened_file *file = files; file && !is_there; file = file->next)
        is_there = is_same(file, status) && is_still_there(file);
    pthread_mutex_unlock(&lock);
    return is_there;
}

static void say(const char *text)
{
    if (write(STDERR_FILENO, text, strlen(text)) < 0)
        return; /* nobody hears it */
}

/* Another's fault happens again, without this handler. */
static void end_reading(int number, siginfo_t *info, void *context)
{
    size_t at = (size_t)(uintptr_t)info->si_addr;

    (void)context;
    for (struct mapping *mapping = mappings; mapping; mapping = mapping->next) {
        if (at < mapping->from || at >= mapping->to)
            continue;
        say("tfprof: ");
        say(mapping->path);
        say(": cannot be read to its end: it became shorter while it was read, or its disk "
            "failed\n");
        _exit(3);
    }
    signal(number, SIG_DFL);
}

void opened_watch(void)
{
    struct sigaction action = { .sa_sigaction = end_reading, .sa_flags = SA_SIGINFO };

    sigemptyset(&action.sa_mask);
    sigaction(SIGBUS, &action, NULL);
}

static struct mapping *free_mapping(void)
{
    struct mapping *mapping = mappings;

    while (mapping && mapping->from != mapping->to)
        mapping = mapping->next;
    if (mapping)
        return mapping;
    mapping = calloc(1, sizeof *mapping);
    if (mapping) {
        mapping->next = mappings;
        mappings = mapping;
    }
    return mapping;
}

void opened_map(const char *path, struct str bytes)
{
    struct mapping *mapping;
    size_t          from = (size_t)(uintptr_t)bytes.data, len = strlen(path);

    pthread_mutex_lock(&lock);
    mapping = free_mapping();
    if (mapping) {
        len = len < sizeof mapping->path ? len : sizeof mapping->path - 1;
        for (size_t i = 0; i < len; i++) /* control characters would steer the terminal */
            mapping->path[i] = (unsigned char)path[i] < 0x20 || path[i] == 0x7f ? '?' : path[i];
        mapping->path[len] = '\0';
        mapping->from = from;
        /* The system fills the last page with zeros behind the file's end. */
        mapping->to = from + bytes.len;
    }
    pthread_mutex_unlock(&lock);
}

void opened_unmap(struct str bytes)
{
    size_t from = (size_t)(uintptr_t)bytes.data;

    pthread_mutex_lock(&lock);
    for (struct mapping *mapping = mappings; mapping; mapping = mapping->next)
        if (mapping->from == from && mapping->to > from)
            mapping->to = from;
    pthread_mutex_unlock(&lock);
}
