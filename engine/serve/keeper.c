#include "serve/keeper.h"

#include "base/arena.h"

#include <string.h>

void keeper_start(struct keeper *keeper)
{
    *keeper = (struct keeper) { 0 };
    pthread_mutex_init(&keeper->lock, NULL);
    pthread_cond_init(&keeper->is_free, NULL);
    for (int i = 0; i < KEPT_PROGRAMS; i++)
        pthread_mutex_init(&keeper->programs[i].asking, NULL);
}

static void end_process(struct kept_process *old)
{
    if (old->is_running)
        (void)process_end(&old->process);
    arena_free(&old->arena);
}

void keeper_end(struct keeper *keeper)
{
    for (int i = 0; i < KEPT_PROGRAMS; i++) {
        end_process(&keeper->programs[i].now);
        pthread_mutex_destroy(&keeper->programs[i].asking);
    }
    pthread_cond_destroy(&keeper->is_free);
    pthread_mutex_destroy(&keeper->lock);
}

/* The one that runs for the key, else the one that nobody asked for longest; NULL: all are busy. */
static struct kept_program *find_program(struct keeper *keeper, const char *key)
{
    struct kept_program *oldest = NULL;

    for (int i = 0; i < KEPT_PROGRAMS; i++) {
        struct kept_program *program = &keeper->programs[i];

        if (program->now.key && strcmp(program->now.key, key) == 0)
            return program;
        if (!program->users && (!oldest || program->last_used < oldest->last_used))
            oldest = program;
    }
    return oldest;
}

static void begin_process(struct kept_process *now, const char *key)
{
    *now = (struct kept_process) { .said.arena = &now->arena };
    now->key = arena_text(&now->arena, "%s", key);
}

/* What it was before, in a place of its own. */
static void move_away(const struct kept_process *now, struct kept_process *old)
{
    *old = *now;
    old->said.arena = &old->arena;
    old->process.said = &old->said;
}

/* Waits until one is free; others that want the same recording wait for its lock then. What it read
 * before is ended without the lock of all, since that may take its time. */
static struct kept_program *take_program(struct keeper *keeper, const char *key)
{
    struct kept_program *program;
    struct kept_process  old = { 0 };

    pthread_mutex_lock(&keeper->lock);
    while (!(program = find_program(keeper, key)))
        pthread_cond_wait(&keeper->is_free, &keeper->lock);
    program->users++;
    program->last_used = ++keeper->turn;
    if (!program->now.key || strcmp(program->now.key, key) != 0) { /* nobody else uses it */
        move_away(&program->now, &old);
        begin_process(&program->now, key);
    }
    pthread_mutex_unlock(&keeper->lock);
    end_process(&old);
    return program;
}

static void leave_program(struct keeper *keeper, struct kept_program *program)
{
    pthread_mutex_lock(&keeper->lock);
    program->users--;
    pthread_cond_signal(&keeper->is_free);
    pthread_mutex_unlock(&keeper->lock);
}

/* Its last words go to `trouble`. */
static void bury(struct kept_process *now, struct text *trouble)
{
    (void)process_end(&now->process);
    now->is_running = false;
    text_add(trouble, text_str(&now->said));
    now->said.len = 0;
}

static bool ask(struct kept_process *now, char *const *arguments, struct str line,
                struct process_answer *answer, struct text *trouble)
{
    struct err err = { 0 };

    if (!now->is_running && !process_start(arguments, &now->said, &now->process, &err)) {
        text_add(trouble, STR("no process can be started"));
        return false;
    }
    now->is_running = true;
    if (process_ask(&now->process, line, answer))
        return true;
    bury(now, trouble);
    return false;
}

bool keeper_ask(struct keeper *keeper, const char *key, char *const *arguments, struct str line,
                struct process_answer *answer, struct text *trouble)
{
    struct kept_program *program = take_program(keeper, key);
    bool                 is_done;

    pthread_mutex_lock(&program->asking);
    is_done = program->now.key && ask(&program->now, arguments, line, answer, trouble);
    pthread_mutex_unlock(&program->asking);
    leave_program(keeper, program);
    return is_done;
}
