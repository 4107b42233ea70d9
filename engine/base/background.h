/* background: one function on a thread of its own, while the caller does something else. */
#ifndef TFPROF_BASE_BACKGROUND_H
#define TFPROF_BASE_BACKGROUND_H

#include <pthread.h>
#include <stdbool.h>

struct background {
    void (*work)(void *shared);
    void     *shared;
    pthread_t thread;
    bool      has_thread;
};
void background_begin(struct background *background, void (*work)(void *shared), void *shared);
/* Returns when the work is done; where no thread was to be had it is done now. */
void background_end(struct background *background);

#endif
