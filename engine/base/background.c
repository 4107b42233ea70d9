#include "base/background.h"

static void *run(void *argument)
{
    const struct background *background = argument;

    background->work(background->shared);
    return NULL;
}

void background_begin(struct background *background, void (*work)(void *shared), void *shared)
{
    background->work = work;
    background->shared = shared;
    background->has_thread = pthread_create(&background->thread, NULL, run, background) == 0;
}

void background_end(struct background *background)
{
    if (background->has_thread)
        pthread_join(background->thread, NULL);
    else if (background->work)
        background->work(background->shared);
    background->has_thread = false;
    background->work = NULL;
}
