#include "analyze/step/run_programs.h"

#include "base/sort.h"
#include "model/names.h"

enum { FEWEST_RUNS = 3 }; /* that a program has had before one that takes its place */

static int64_t module_of(const struct profile *profile, const struct run *run)
{
    int64_t name;

    return profile_stat(profile, STAT_MODULE_NAME, run->event, &name) ? name : -1;
}

static bool runs_one_op(const struct profile *profile, int64_t module)
{
    struct str text = module < 0 ? STR("") : profile_str(profile, (uint32_t)module);

    if (!str_starts(text, STR("jit_")))
        return false;
    text = str_slice(text, str_starts(text, STR("jit__")) ? 5 : 4, text.len);
    return name_is(text, NAMES_JAX_FUNCTION);
}

static uint64_t key_of(const struct run *run)
{
    return (uint64_t)run->program ^ (run->host * UINT64_C(0x9e3779b97f4a7c15));
}

struct run_program *run_program_of(const struct run_programs *programs, const struct run *run)
{
    uint32_t row = id_map_get(&programs->row_of, key_of(run));

    return row == NO_ID ? NULL : &programs->list.items[row];
}

static bool add_program(const struct profile *profile, const struct run *run, struct arena *scratch,
                        struct run_programs *programs)
{
    int64_t module = module_of(profile, run);
    size_t  place = programs->list.count;

    return vec_push(&programs->list, scratch,
                    (struct run_program) { .host = run->host,
                                           .program = run->program,
                                           .module = module,
                                           .first_ns = run->start_ns,
                                           .as = place,
                                           .is_op = runs_one_op(profile, module) }) &&
           id_map_put(&programs->row_of, key_of(run), (uint32_t)place);
}

bool run_programs_time(const struct profile *profile, const struct runs *runs, struct arena *arena,
                       struct run_programs *programs)
{
    programs->row_of.arena = arena;
    for (size_t i = 0; i < runs->list.count; i++) {
        const struct run   *run = &runs->list.items[i];
        struct run_program *program = run_program_of(programs, run);

        if (!program && !add_program(profile, run, arena, programs))
            return false;
        program = run_program_of(programs, run);
        program->total_ns += run->end_ns - run->start_ns;
        program->last_ns = int64_most(program->last_ns, run->end_ns);
        program->count++;
    }
    return true;
}

/* Whether a program is one that ran before it, compiled again: a function's name is its module's,
 * and who has the name no longer runs. Others of one name take turns, as lengths of inputs do. */
static bool replaces(const struct run_program *program, const struct run_program *before)
{
    return program->host == before->host && program->module >= 0 &&
           program->module == before->module && !program->is_op &&
           before->last_ns <= program->first_ns;
}

void run_programs_join_replaced(struct run_programs *programs)
{
    struct run_program *list = programs->list.items;

    for (size_t p = 1; p < programs->list.count; p++) {
        for (size_t b = 0; b < p && list[p].as == p; b++)
            if (list[b].as == b && replaces(&list[p], &list[b]))
                list[p].as = b;
        if (list[p].as == p)
            continue;
        struct run_program *before = &list[list[p].as];

        before->total_ns += list[p].total_ns;
        before->count += list[p].count;
        before->last_ns = int64_most(before->last_ns, list[p].last_ns);
        list[p].total_ns = list[p].count = 0;
    }
}

bool run_programs_replaced(const struct profile *profile, const struct runs *runs,
                           struct arena *arena, size_t *count)
{
    struct arena        scratch = { .budget_bytes = arena->budget_bytes };
    struct run_programs programs = { 0 };
    bool                ok = run_programs_time(profile, runs, &scratch, &programs);

    *count = 0;
    for (size_t p = 1; ok && p < programs.list.count; p++) {
        bool is_again = false;

        for (size_t b = 0; b < p && !is_again; b++)
            is_again = programs.list.items[b].count >= FEWEST_RUNS &&
                       replaces(&programs.list.items[p], &programs.list.items[b]);
        *count += is_again;
    }
    arena_free(&scratch);
    return ok;
}
