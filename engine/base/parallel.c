#include "base/parallel.h"

#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

enum { MAX_THREADS = 256 };

struct job {
    atomic_size_t next;
    size_t        count;
    void (*work)(void *shared, size_t index);
    void *shared;
};

static void *run(void *argument)
{
    struct job *job = argument;

    for (;;) {
        size_t index = atomic_fetch_add(&job->next, 1);

        if (index >= job->count)
            return NULL;
        job->work(job->shared, index);
    }
}

unsigned parallel_cores(void)
{
    long cores = sysconf(_SC_NPROCESSORS_ONLN);

    return cores < 1 ? 1 : cores > MAX_THREADS ? MAX_THREADS : (unsigned)cores;
}

void parallel_for(size_t count, unsigned threads, void (*work)(void *shared, size_t index),
                  void *shared)
{
    struct job job = { .count = count, .work = work, .shared = shared };
    pthread_t  helpers[MAX_THREADS];
    unsigned   running = 0;

    if (threads == 0)
        threads = parallel_cores();
    if (threads > MAX_THREADS)
        threads = MAX_THREADS;
    if (threads > count)
        threads = (unsigned)count;
    /* The caller works too. Where no thread is to be had, those that run do it all. */
    while (running + 1 < threads && pthread_create(&helpers[running], NULL, run, &job) == 0)
        running++;
    run(&job);
    while (running > 0)
        pthread_join(helpers[--running], NULL);
}
