/* progress: a thread that sleeps, and prints only when work takes long; and whom a library tells.
 */
#include "cli/progress.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

static struct {
    pthread_t       thread;
    pthread_mutex_t mutex;
    pthread_cond_t  ended;
    const char     *stage;
    bool            is_allowed, is_running, is_ending;
} progress = { .mutex = PTHREAD_MUTEX_INITIALIZER, .ended = PTHREAD_COND_INITIALIZER };

/* A thread's own, so that a program with several threads needs no lock for it. */
static _Thread_local struct {
    progress_listener *tell;
    void              *context;
} listener;

static void *show(void *unused)
{
    struct timespec until;
    unsigned        seconds = 0;

    clock_gettime(CLOCK_REALTIME, &until);
    pthread_mutex_lock(&progress.mutex);
    while (!progress.is_ending) {
        until.tv_sec++;
        while (!progress.is_ending &&
               pthread_cond_timedwait(&progress.ended, &progress.mutex, &until) == 0)
            continue;
        if (!progress.is_ending)
            fprintf(stderr, "\r\x1b[Ktfprof: %s, %u s", progress.stage, ++seconds);
    }
    if (seconds > 0)
        fprintf(stderr, "\r\x1b[K");
    pthread_mutex_unlock(&progress.mutex);
    return unused;
}

void progress_allow(void)
{
    progress.is_allowed = true;
}

void progress_listen(progress_listener *tell, void *context)
{
    listener.tell = tell;
    listener.context = context;
}

void progress_stage(const char *what)
{
    if (listener.tell)
        listener.tell(listener.context, what);
    if (!progress.is_allowed)
        return;
    pthread_mutex_lock(&progress.mutex);
    progress.stage = what;
    pthread_mutex_unlock(&progress.mutex);
    if (progress.is_running || !isatty(STDERR_FILENO))
        return;
    progress.is_ending = false;
    progress.is_running = pthread_create(&progress.thread, NULL, show, NULL) == 0;
}

void progress_say(const char *line)
{
    if (listener.tell)
        listener.tell(listener.context, line);
    if (!progress.is_allowed)
        return;
    progress_end();
    fprintf(stderr, "%s\n", line);
}

void progress_end(void)
{
    if (!progress.is_running)
        return;
    pthread_mutex_lock(&progress.mutex);
    progress.is_ending = true;
    pthread_cond_signal(&progress.ended);
    pthread_mutex_unlock(&progress.mutex);
    pthread_join(progress.thread, NULL);
    progress.is_running = false;
}
