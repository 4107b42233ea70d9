/*
 * program: the compiled program that the steps run: how much of what it takes in it gives out again
 * in another version (its state), and how much of that it may overwrite.
 */
#include "analyze/analysis.h"
#include "analyze/emit.h"
#include "analyze/ops/op_times.h"

#include <string.h>

enum program_fact { NAME, TIME_SHARE, PARAMETER_BYTES, STATE_BYTES, STATE_COUNT, DONATED_BYTES };
static const struct fact_spec produces[] = {
    [NAME] = { "program.name", UNIT_NAME, "compiled program with most time in its ops" },
    [TIME_SHARE] = { "program.time_share", UNIT_SHARE, "its share of the time of compiled ops" },
    [PARAMETER_BYTES] = { "program.parameter_bytes", UNIT_BYTES, "what it takes in" },
    [STATE_BYTES] = { "program.state_bytes", UNIT_BYTES,
                      "of that, arrays of which a result has type and shape" },
    [STATE_COUNT] = { "program.state_count", UNIT_COUNT, "how many arrays those are" },
    [DONATED_BYTES] = { "program.donated_bytes", UNIT_BYTES,
                        "of the state, what results may overwrite" },
};

enum column { PROGRAM, RESULTS, STATE, BROUGHT };
static const struct column_spec columns[] = {
    [PROGRAM] = { "program", UNIT_NAME, "compiled program" },
    [RESULTS] = { "results", UNIT_COUNT, "arrays that it gives" },
    [STATE] = { "state", UNIT_COUNT, "of them, other versions of what it takes in" },
    [BROUGHT] = { "brought_bytes", UNIT_BYTES, "what it takes in besides, of which it gives none" },
};
static const struct table_spec tables[] = {
    { "programs", "compiled programs that ran", columns, ARRAY_COUNT(columns) },
};

struct module_time {
    uint32_t module;
    size_t   first, end; /* its rows of ops, which follow one another */
    double   ns;
};
struct looking {
    uint32_t      entry, donated, root; /* interned names of attributes; NO_ID: none has it */
    struct study *study;
    struct arena *scratch;
    VEC(struct module_time) modules; /* those with an entry */
    double total_ns;
};

static bool has_attr(const struct profile *profile, const struct op *op, uint32_t name)
{
    for (uint32_t i = 0; i < op->attr_count; i++)
        if (profile->attrs.items[op->first_attr + i].name == name)
            return true;
    return false;
}

static bool is_alike(const struct tensor *a, const struct tensor *b)
{
    return a->dtype == b->dtype && a->rank == b->rank && a->rank >= 0 &&
           memcmp(a->dims, b->dims, (size_t)a->rank * sizeof *a->dims) == 0;
}

static bool find_modules(struct looking *looking)
{
    const struct profile *profile = looking->study->profile;
    struct id_map         rows = { .arena = looking->scratch };
    struct op_times       times;

    for (size_t i = 0; i < profile->ops.count; i++) {
        const struct op   *op = &profile->ops.items[i];
        struct module_time fresh = { .module = op->module, .first = i, .end = i + 1 };

        if (op->program == 0 || !has_attr(profile, op, looking->entry) ||
            id_map_get(&rows, op->program) != NO_ID)
            continue;
        while (fresh.first > 0 && profile->ops.items[fresh.first - 1].program == op->program)
            fresh.first--;
        while (fresh.end < profile->ops.count &&
               profile->ops.items[fresh.end].program == op->program)
            fresh.end++;
        if (!id_map_put(&rows, op->program, (uint32_t)looking->modules.count) ||
            !vec_push(&looking->modules, looking->scratch, fresh))
            return false;
    }
    if (looking->modules.count == 0)
        return true;
    if (!op_times_make(looking->study, looking->scratch, &times))
        return false;
    for (size_t i = 0; i < times.count; i++) {
        uint32_t row = NO_ID;

        if (times.rows[i].op < profile->ops.count)
            row = id_map_get(&rows, profile->ops.items[times.rows[i].op].program);
        if (row == NO_ID)
            continue;
        looking->modules.items[row].ns += times.rows[i].self_ns;
        looking->total_ns += times.rows[i].self_ns;
    }
    return true;
}

/* Each result stands for one parameter at most; parameters that are given away choose first. */
static void match_state(const struct looking *looking, const struct module_time *of, bool *is_taken,
                        const struct op *root, double values[])
{
    const struct profile *profile = looking->study->profile;

    for (int pass = 0; pass < 2; pass++)
        for (size_t i = of->first; i < of->end; i++) {
            const struct op     *op = &profile->ops.items[i];
            const struct tensor *tensor;
            bool                 is_donated;

            if (op->output_count != 1 || !has_attr(profile, op, looking->entry))
                continue;
            is_donated = has_attr(profile, op, looking->donated);
            tensor = &profile->tensors.items[op->first_output];
            if (pass == 0)
                values[PARAMETER_BYTES] += tensor_bytes(tensor);
            for (uint32_t j = 0; is_donated == (pass == 0) && j < root->output_count; j++) {
                if (is_taken[j] ||
                    !is_alike(tensor, &profile->tensors.items[root->first_output + j]))
                    continue;
                is_taken[j] = true;
                values[STATE_COUNT]++;
                values[STATE_BYTES] += tensor_bytes(tensor);
                values[DONATED_BYTES] += is_donated ? tensor_bytes(tensor) : 0;
                break;
            }
        }
}

static bool examine(struct looking *looking, const struct module_time *of, struct table *table,
                    double values[])
{
    const struct profile *profile = looking->study->profile;
    const struct op      *root = NULL;
    bool                 *is_taken;
    size_t                row = table_add(table, looking->study->arena);

    for (size_t i = of->first; i < of->end; i++)
        if (has_attr(profile, &profile->ops.items[i], looking->root))
            root = &profile->ops.items[i];
    is_taken = arena_new_array(looking->scratch, bool, root ? root->output_count + 1 : 1);
    if (!is_taken || row == SIZE_MAX)
        return false;
    if (root)
        match_state(looking, of, is_taken, root, values);
    values[NAME] = of->module;
    values[TIME_SHARE] = of->ns / looking->total_ns;
    emit_name(table, PROGRAM, row, of->module);
    emit_number(table, RESULTS, row, root ? root->output_count : 0);
    emit_number(table, STATE, row, values[STATE_COUNT]);
    emit_number(table, BROUGHT, row, values[PARAMETER_BYTES] - values[STATE_BYTES]);
    return true;
}

static bool examine_all(struct looking *looking, const struct module_time *main)
{
    struct study *study = looking->study;
    struct table *table = facts_table(&study->facts, &tables[0]);
    bool          is_set = table != NULL;

    for (size_t m = 0; is_set && m < looking->modules.count; m++) {
        const struct module_time *of = &looking->modules.items[m];
        double                    values[ARRAY_COUNT(produces)] = { 0 };

        if (of->ns > 0)
            is_set = examine(looking, of, table, values);
        for (size_t i = 0; is_set && of == main && i < ARRAY_COUNT(produces); i++)
            is_set = facts_set(&study->facts, &produces[i], values[i]);
    }
    return is_set;
}

static bool run(struct study *study, struct err *err)
{
    struct arena              scratch = { 0 };
    struct looking            looking = { .study = study, .scratch = &scratch };
    const struct module_time *main = NULL;
    bool                      is_done;

    looking.entry = intern_find(&study->profile->names, STR("entry"));
    looking.donated = intern_find(&study->profile->names, STR("donated"));
    looking.root = intern_find(&study->profile->names, STR("root"));
    is_done =
        study->profile->format != FORMAT_XSPACE || looking.entry == NO_ID || find_modules(&looking);
    for (size_t i = 0; is_done && i < looking.modules.count; i++)
        if (looking.modules.items[i].ns > (main ? main->ns : 0))
            main = &looking.modules.items[i];
    if (is_done && main)
        is_done = examine_all(&looking, main);
    else if (is_done)
        is_done = facts_absent(&study->facts, "program.", NULL,
                               "the recording holds no compiled program that ran");
    arena_free(&scratch);
    return is_done || emit_limit("the compiled program", err);
}

const struct analysis analysis_program = {
    .name = "program",
    .summary = "what the compiled program takes in and overwrites",
    .produces = produces,
    .produces_count = ARRAY_COUNT(produces),
    .tables = tables,
    .table_count = ARRAY_COUNT(tables),
    .run = run,
};
