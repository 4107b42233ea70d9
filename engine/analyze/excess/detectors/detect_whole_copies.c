/* whole_copies: a program for several devices that all get the same arguments whole and never tell
 * each other anything: each computes what the others do. */
#include "analyze/excess/ledger.h"
#include "base/macros.h"

struct program {
    int64_t  copies; /* devices that do the same; 1: they share the work */
    uint32_t cell;
};
struct finder {
    struct ledger *ledger;
    struct id_map  rows; /* of programs, by module */
    VEC(struct program) programs;
};

static int64_t copies_of(const struct profile *profile, const struct op *op)
{
    int64_t copies = 1;

    for (uint32_t i = 0; i < op->attr_count; i++) {
        const struct attr *attr = &profile->attrs.items[op->first_attr + i];

        if (str_equal(profile_str(profile, attr->name), STR("copies")) &&
            !str_to_int64(profile_str(profile, attr->value), &copies))
            return 1;
    }
    return copies;
}

/* Devices that exchange something, or ask which one they are, do different things. */
static bool tells_devices_apart(const struct ledger *ledger, const struct op *op)
{
    static const char types[] =
        "all-reduce*|all-gather*|all-to-all*|collective-permute*|partition-id*|"
        "reduce-scatter*|ragged-all-to-all*|replica-id*|collective-broadcast*";
    struct str type = profile_str(ledger->study->profile, op->type);

    return str_fits(type, types);
}

static struct program *program_of(struct finder *finder, uint32_t op)
{
    const struct profile *profile = finder->ledger->study->profile;
    uint32_t row = op == NO_ID ? NO_ID : id_map_get(&finder->rows, profile->ops.items[op].program);

    return row == NO_ID ? NULL : &finder->programs.items[row];
}

static bool list_programs(struct finder *finder)
{
    const struct profile *profile = finder->ledger->study->profile;

    for (size_t i = 0; i < profile->ops.count; i++) {
        const struct op *op = &profile->ops.items[i];
        struct program   program = { copies_of(profile, op), NO_ID };

        if (program.copies < 2)
            continue;
        if (!id_map_put(&finder->rows, op->program, (uint32_t)finder->programs.count) ||
            !vec_push(&finder->programs, finder->ledger->scratch, program))
            return false;
    }
    for (uint32_t op = 0; finder->programs.count && op < profile->ops.count; op++) {
        struct program *program = program_of(finder, op);

        if (program && tells_devices_apart(finder->ledger, &profile->ops.items[op]))
            program->copies = 1;
    }
    return true;
}

static bool find(struct ledger *ledger, const struct detector *self)
{
    struct finder finder = { .ledger = ledger, .rows.arena = ledger->scratch };

    if (ledger->study->profile->format != FORMAT_XSPACE)
        return true;
    if (!list_programs(&finder))
        return false;
    for (size_t u = 0; finder.programs.count && u < ledger->units.count; u++) {
        struct work_unit *unit = &ledger->units.items[u];
        struct program   *program = program_of(&finder, unit->op);

        if (!program || program->copies < 2)
            continue;
        if (!ledger_cell_once(ledger, self, unit, &program->cell,
                              "%lld devices run it, each with all of its arguments",
                              (long long)program->copies))
            return false;
        ledger_claim(ledger, program->cell, unit, 1 - 1 / (double)program->copies);
    }
    return true;
}

const struct detector detector_whole_copies = { "whole-copies", CAUSE_REPEAT, GRADE_STRUCTURE,
                                                find };
