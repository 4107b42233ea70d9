/* fixed_work: decompositions of matrices that the state of a compiled program does not change. */
#include "analyze/excess/ledger.h"
#include "base/macros.h"
#include "model/op_graph.h"

/* A program that gives nothing back has no state that could change what is decomposed. */
static bool has_state(const struct ledger *ledger, uint32_t program)
{
    const struct profile *profile = ledger->study->profile;

    for (uint32_t op = 0; op < profile->ops.count; op++)
        if (profile->ops.items[op].program == program && !profile->ops.items[op].caller &&
            ledger->compiled.from[op] & FROM_STATE)
            return true;
    return false;
}

static bool is_fixed(const struct ledger *ledger, const struct work_unit *unit)
{
    return unit->kind == UNIT_OP && unit->op != NO_ID && unit->op_class == OP_DECOMPOSITION &&
           !(ledger->compiled.from[unit->op] & (FROM_STATE | FROM_LOOP));
}

static bool find_fixed(struct ledger *ledger, const struct detector *self)
{
    const struct profile *profile = ledger->study->profile;
    uint32_t              cell = NO_ID, program = NO_ID;
    bool                  is_stateful = false;

    if (!profile->graph || profile->format != FORMAT_XSPACE)
        return true;
    for (size_t u = 0; u < ledger->units.count; u++) {
        struct work_unit *unit = &ledger->units.items[u];

        if (!is_fixed(ledger, unit))
            continue;
        if (profile->ops.items[unit->op].program != program) {
            program = profile->ops.items[unit->op].program;
            is_stateful = has_state(ledger, program);
        }
        if (!is_stateful)
            continue;
        if (!ledger_cell_once(ledger, self, unit, &cell,
                              "made of arguments alone, of nothing that the step changes"))
            return false;
        ledger_claim(ledger, cell, unit, 1);
    }
    return true;
}

const struct detector detector_fixed_work = { "fixed-work", CAUSE_REPEAT, GRADE_SIZES, find_fixed };
