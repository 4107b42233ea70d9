/*
 * Threads and the library: one profile that all ask at once, and a profile for each, give every
 * thread what one alone was given.  usage: library_threads RECORDING...
 * A build with -fsanitize=thread says where two of them meet unguarded.
 */
#include "lib/tfprof.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { THREADS = 4, QUESTIONS = 5 };

static void fail(const char *what, tfprof_error *error)
{
    fprintf(stderr, "%s: %s\n", what, error ? tfprof_error_message(error) : "is something else");
    exit(1);
}

static tfprof_profile *read_file(const char *path)
{
    tfprof_error   *error = NULL;
    tfprof_profile *profile = tfprof_open(&path, 1, NULL, &error);

    if (!profile)
        fail(path, error);
    return profile;
}

static tfprof_answer *ask(tfprof_profile *profile, int question)
{
    static const char *const edits[] = { "scale=host=0.5", NULL };
    tfprof_error            *error = NULL;
    tfprof_answer           *answer = question == 0   ? tfprof_advise(profile, NULL, &error)
                                      : question == 1 ? tfprof_why(profile, NULL, NULL, &error)
                                      : question == 2 ? tfprof_whatif(profile, edits, &error)
                                      : question == 3 ? tfprof_report(profile, NULL, &error)
                                                      : tfprof_tool(profile, "overview", NULL, &error);

    if (!answer && tfprof_error_kind(error) != TFPROF_ERROR_INCONCLUSIVE)
        fail("an answer", error);
    tfprof_error_free(error);
    return answer;
}

struct round { /* of one recording */
    const char     *path;
    tfprof_profile *shared;
    tfprof_answer  *wanted[QUESTIONS];
};

static void compare(const struct round *round, tfprof_profile *profile, int question)
{
    tfprof_answer *given = ask(profile, question), *wanted = round->wanted[question];

    if (!given != !wanted ||
        (given && strcmp(tfprof_answer_text(given), tfprof_answer_text(wanted)) != 0))
        fail(round->path, NULL);
    tfprof_answer_free(given);
}

/* Every fact and table; a struct is released behind its profile. */
static void look(tfprof_profile *profile)
{
    struct ArrowSchema schema;
    struct ArrowArray  rows;
    tfprof_fact        fact, found;

    for (size_t i = 0; tfprof_fact_at(profile, i, &fact); i++)
        if (!tfprof_fact_find(profile, fact.name, &found) || found.name != fact.name)
            fail(fact.name, NULL);
    for (size_t i = 0; i < tfprof_table_count(profile); i++) {
        tfprof_error *error = NULL;

        if (!tfprof_table(profile, tfprof_table_name(profile, i), NULL, &schema, &rows, &error))
            fail(tfprof_table_name(profile, i), error);
        rows.release(&rows);
        schema.release(&schema);
    }
}

static void *work(void *of)
{
    const struct round *round = of;
    tfprof_profile     *own = read_file(round->path);

    for (int question = 0; question < QUESTIONS; question++) {
        compare(round, round->shared, question);
        compare(round, own, question);
    }
    look(round->shared);
    look(own);
    tfprof_close(own);
    return NULL;
}

static void run(const char *path)
{
    struct round round = { .path = path, .shared = read_file(path) };
    pthread_t    threads[THREADS];

    for (int question = 0; question < QUESTIONS; question++)
        round.wanted[question] = ask(round.shared, question);
    for (int i = 0; i < THREADS; i++)
        if (pthread_create(&threads[i], NULL, work, &round) != 0)
            fail("a thread", NULL);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    for (int question = 0; question < QUESTIONS; question++)
        tfprof_answer_free(round.wanted[question]);
    tfprof_close(round.shared);
}

int main(int argument_count, char **arguments)
{
    for (int i = 1; i < argument_count; i++)
        run(arguments[i]);
    printf("%d recordings, %d threads\n", argument_count - 1, THREADS);
    return 0;
}
