/*
 * tfprof-mpi: a command of tfprof on a job of many ranks, by many processes: each summarizes its
 * share of the recordings, pairs of processes merge what they have until one has all, and that one
 * runs the command on it (docs/scale.md).
 */
#include "base/file.h"
#include "cli/command.h"
#include "cli/error_line.h"
#include "cli/rank_input.h"

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { TAG_BYTES = 1, TAG_LENGTH = 2 };
static const size_t MOST_AT_ONCE = (size_t)1 << 30; /* MPI counts in int */

struct reduction {
    int                 rank, count; /* of processes */
    struct arena        arena;
    struct rank_records records;
};

static void tell(const struct err *err)
{
    struct arena arena = { 0 };
    struct text  text = { .arena = &arena };

    error_print(&text, err);
    fprintf(stderr, "%.*s", STR_ARG(text_str(&text)));
    arena_free(&arena);
}

static void send(struct str bytes, int to)
{
    uint64_t length = bytes.len;

    MPI_Send(&length, 1, MPI_UINT64_T, to, TAG_LENGTH, MPI_COMM_WORLD);
    for (size_t at = 0; at < bytes.len; at += MOST_AT_ONCE) {
        size_t more = bytes.len - at < MOST_AT_ONCE ? bytes.len - at : MOST_AT_ONCE;

        MPI_Send(bytes.data + at, (int)more, MPI_BYTE, to, TAG_BYTES, MPI_COMM_WORLD);
    }
}

static bool receive(struct arena *arena, int from, struct str *bytes, struct err *err)
{
    uint64_t length = 0;
    char    *room;

    MPI_Recv(&length, 1, MPI_UINT64_T, from, TAG_LENGTH, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    room = arena_new_array(arena, char, length + 1);
    if (!room)
        return err_memory(err, "the summaries");
    for (size_t at = 0; at < length; at += MOST_AT_ONCE) {
        size_t more = length - at < MOST_AT_ONCE ? length - at : MOST_AT_ONCE;

        MPI_Recv(room + at, (int)more, MPI_BYTE, from, TAG_BYTES, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    }
    *bytes = (struct str) { room, length };
    return true;
}

static bool pack(const struct rank_records *records, struct arena *arena, struct str *bytes,
                 struct err *err)
{
    struct text text = { .arena = arena };

    *bytes = (struct str) { 0 };
    if (records->items.count == 0)
        return true;
    rank_records_write(records, &text);
    *bytes = text_str(&text);
    return text_is_whole(&text) || err_memory(err, "the summaries");
}

/* In round n those whose number has bit n set give what they have to the one without it, and are
 * done: everything is at process 0 after as many rounds as the count has bits. */
static bool reduce(struct reduction *reduction, struct err *err)
{
    for (int step = 1; step < reduction->count; step *= 2) {
        struct str bytes = { 0 };

        if (reduction->rank & step) {
            if (!pack(&reduction->records, &reduction->arena, &bytes, err))
                return false;
            send(bytes, reduction->rank - step);
            return true;
        }
        if (reduction->rank + step >= reduction->count)
            continue;
        if (!receive(&reduction->arena, reduction->rank + step, &bytes, err) ||
            (bytes.len && !rank_file_scan(bytes, &reduction->records, &reduction->arena, err)))
            return false;
        rank_records_settle(&reduction->records);
    }
    return true;
}

/* The command, with a file of all summaries instead of the recordings. */
static bool run_command(struct reduction *reduction, int count, char **arguments, int *status,
                        struct err *err)
{
    const char *folder = getenv("TMPDIR");
    char       *path =
        arena_text(&reduction->arena, "%s/tfprof-XXXXXX", folder && *folder ? folder : "/tmp");
    char **instead = arena_new_array(&reduction->arena, char *, (size_t)count + 1);
    int    descriptor = path && instead ? mkstemp(path) : -1;
    bool   is_done;

    if (descriptor < 0)
        return err_set(err, ERR_OUTPUT, "no file for the summaries can be made in $TMPDIR");
    close(descriptor);
    for (int i = 0; i < count; i++)
        instead[i] = i == 1 ? path : arguments[i];
    is_done = rank_input_write(&reduction->records, path, &reduction->arena, err) &&
              command_run(count, instead, &reduction->arena, status, err);
    if (fflush(stdout) != 0)
        is_done = err_set(err, ERR_OUTPUT, "cannot be written");
    unlink(path);
    return is_done;
}

static bool collect(struct reduction *reduction, const char *path, struct err *err)
{
    struct option_list      operands = { 0 };
    struct input_values     values = { .threads = 1 };
    const struct rank_share share = { (size_t)reduction->rank, (size_t)reduction->count };

    return vec_push(&operands.values, &reduction->arena, path) &&
           rank_input_collect(&values, &operands, &share, &reduction->records, &reduction->arena,
                              err);
}

/* Whoever cannot go on ends all: the others would wait. */
static void give_up(const struct err *err)
{
    tell(err);
    MPI_Abort(MPI_COMM_WORLD, err_exit_code(err->code));
}

int main(int count, char **arguments)
{
    struct reduction reduction = { 0 };
    struct err       err = { 0 };
    int              status = 0;

    MPI_Init(&count, &arguments);
    MPI_Comm_rank(MPI_COMM_WORLD, &reduction.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &reduction.count);
    if (count < 3 || arguments[1][0] == '-' || arguments[2][0] == '-') {
        if (reduction.rank == 0)
            fputs("usage: mpirun -n N tfprof-mpi COMMAND RECORDINGS [OPTION]...\n", stderr);
        MPI_Finalize();
        return reduction.rank == 0 ? err_exit_code(ERR_USAGE) : 0;
    }
    if (!collect(&reduction, arguments[2], &err) || !reduce(&reduction, &err))
        give_up(&err);
    MPI_Finalize();
    if (reduction.rank == 0 && reduction.records.items.count == 0)
        err_set(&err, ERR_INPUT, "none of the recordings can be read");
    if (reduction.rank == 0 &&
        (err.code != ERR_NONE ||
         !run_command(&reduction, count - 1, arguments + 1, &status, &err))) {
        tell(&err);
        status = err_exit_code(err.code);
    }
    arena_free(&reduction.arena);
    return status;
}
