/*
 * step_rows: where a program that nobody marked runs several compiled programs in a step, and the
 * one that takes most time more than once (for each sample, or part of a simulation), its steps are
 * the rows of programs that come again. What is run once in each row ends it. Programs that are
 * compiled anew each time are told by their names, where nothing else comes again. Runs that a
 * device counts are left alone: one program keeps it busy, and what else it runs prepares that.
 */
#include "analyze/step/step_markers.h"
#include "base/sort.h"

#include <stdlib.h>

enum { FEWEST_ROWS = 3, MOST_RUNS = 200000, AGAIN = 2 /* times a row, the main program */ };
static const double LEAST_SAME = 0.98;

struct ran { /* a program */
    uint32_t first, last, count;
    int64_t  total_ns;
};
struct search {
    const struct runs *runs;
    struct arena      *scratch;
    VEC(uint32_t) order; /* rows of runs, of one host, by start */
    uint32_t *program;   /* by row of order: of programs */
    VEC(struct ran) programs;
};

/* By its name: what is compiled again has another number, and the name of what it was. */
static uint64_t name_of(const struct profile *profile, const struct run *run)
{
    int64_t name;

    return profile_stat(profile, STAT_MODULE_NAME, run->event, &name) ? (uint64_t)name
                                                                      : (uint64_t)run->program;
}

/* `profile`: for names; NULL: programs are told by their numbers. */
static bool list_host(struct search *search, uint32_t host, const struct profile *profile)
{
    struct id_map row_of = { .arena = search->scratch };

    search->order.count = search->programs.count = 0;
    for (size_t i = 0; i < search->runs->list.count; i++)
        if (search->runs->list.items[i].host == host &&
            search->runs->list.items[i].device == NO_ID &&
            !vec_push(&search->order, search->scratch, (uint32_t)i))
            return false;
    search->program = arena_new_array(search->scratch, uint32_t, search->order.count + 1);
    for (uint32_t i = 0; search->program && i < search->order.count; i++) {
        const struct run *run = &search->runs->list.items[search->order.items[i]];
        uint64_t          key = profile ? name_of(profile, run) : (uint64_t)run->program;
        uint32_t          row = id_map_get(&row_of, key);

        if (row == NO_ID) {
            row = (uint32_t)search->programs.count;
            if (!id_map_put(&row_of, key, row) ||
                !vec_push(&search->programs, search->scratch, (struct ran) { .first = i }))
                return false;
        }
        search->programs.items[row].last = i;
        search->programs.items[row].count++;
        search->programs.items[row].total_ns += run->end_ns - run->start_ns;
        search->program[i] = row;
    }
    return search->program != NULL;
}

/* Whether a program comes once in a row that nearly always holds the same programs in turn. */
static bool is_once_a_row(const struct search *search, uint32_t program)
{
    const struct ran *ran = &search->programs.items[program];
    uint32_t          period = (ran->last - ran->first) / (ran->count - 1), same = 0;

    for (uint32_t i = ran->first; i + period <= ran->last; i++)
        same += search->program[i] == search->program[i + period];
    return same >= LEAST_SAME * (double)(ran->last - ran->first + 1 - period);
}

/* Whether most runs of the main program lie between the first and the last of another one: what
 * comes a few times in turn before or behind them makes no rows of them. */
static bool is_around(const struct search *search, const struct ran *ran, uint32_t main_program)
{
    uint32_t inside = 0;

    for (uint32_t i = ran->first; i < ran->last; i++)
        inside += search->program[i] == main_program;
    return 2 * inside >= search->programs.items[main_program].count;
}

/* The most frequent program that comes once a row, in which the main one comes more than once.
 * NO_ID: none does. */
static uint32_t find_once(const struct search *search)
{
    const struct ran *main_program = NULL, *best = NULL;

    for (size_t p = 0; p < search->programs.count; p++)
        if (!main_program || search->programs.items[p].total_ns > main_program->total_ns)
            main_program = &search->programs.items[p];
    for (uint32_t p = 0; p < search->programs.count; p++) {
        const struct ran *ran = &search->programs.items[p];

        if (ran->count >= FEWEST_ROWS && AGAIN * ran->count <= main_program->count &&
            (!best || ran->count > best->count) && is_once_a_row(search, p) &&
            is_around(search, ran, (uint32_t)(main_program - search->programs.items)))
            best = ran;
    }
    return best ? (uint32_t)(best - search->programs.items) : NO_ID;
}

/* Of those that come as often, the one with most others behind it: the row ends there. */
static uint32_t find_last(const struct search *search, uint32_t once)
{
    uint32_t count = search->programs.items[once].count, last = once, longest = 0;
    uint32_t begin = search->programs.items[once].first;
    uint32_t before = begin;

    for (uint32_t i = begin + 1; i < search->order.count; i++) {
        if (search->programs.items[search->program[i]].count != count)
            continue;
        if (i - before > longest)
            longest = i - before, last = search->program[before];
        if (search->program[i] == once)
            break;
        before = i;
    }
    return last;
}

/* The first row is whole where it is as long as the next one. */
static bool add_rows(const struct search *search, uint32_t last, struct arena *arena,
                     struct markers *markers)
{
    const struct run *runs = search->runs->list.items;
    const struct ran *ran = &search->programs.items[last];
    uint32_t          period = (ran->last - ran->first) / (ran->count - 1);
    uint32_t          from = ran->first + 1 >= period ? ran->first + 1 - period : ran->first + 1;

    for (uint32_t i = from, first = from; i <= ran->last; i++) {
        struct marker marker =
            marker_of_runs(&runs[search->order.items[first]], &runs[search->order.items[i]]);

        if (search->program[i] != last)
            continue;
        first = i + 1;
        if (!vec_push(&markers->list, arena, marker))
            return false;
    }
    return true;
}

bool markers_rows(const struct profile *profile, const struct runs *runs, struct arena *arena,
                  struct markers *markers)
{
    struct search search = { .runs = runs, .scratch = arena };

    for (uint32_t host = 0; runs->list.count <= MOST_RUNS && host < profile->hosts.count; host++) {
        uint32_t once, last;

        if (!list_host(&search, host, NULL))
            return false;
        once = find_once(&search);
        if (once == NO_ID) {
            if (!list_host(&search, host, profile))
                return false;
            once = find_once(&search);
        }
        if (once == NO_ID)
            continue;
        last = find_last(&search, once);
        if (!add_rows(&search, last, arena, markers))
            return false;
    }
    return true;
}
