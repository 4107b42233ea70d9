/* closure_fixed: what the closure of an optimizer makes again each time it is asked within one
 * step, as by L-BFGS: ops without gradients before anything that is trained. They take what the
 * program holds and not what the optimizer changes. Once a step is enough. */
#include "analyze/excess/ledger.h"

enum { FEWEST_ROUNDS = 3 };

struct early { /* a unit before what is trained, and the round that it is in */
    uint32_t unit, round;
};
struct made {                           /* an op in the rounds of a step */
    uint32_t step, calls, rounds, last; /* step + 1; rounds that call it; the last such + 1 */
};
struct finder {
    struct ledger *ledger;
    struct made   *made; /* by row of profile->ops */
    VEC(struct early) parts;
    size_t   kept; /* of parts: those of rounds that trained */
    uint32_t rounds;
    bool     is_open; /* nothing trained was seen in the round */
    bool     brings;  /* a draw, or a batch */
};

/* Optimizers that take closures work on one vector of all weights, on copies of weights and in
 * place: none of it is the closure's. */
static bool is_closures(const struct ledger *ledger, const struct work_unit *unit)
{
    const struct tensor *tensor;
    bool                 has_axes = false;

    if (unit->op == NO_ID || str_ends(unit_type(ledger, unit), STR("_")) ||
        str_fits(unit_type(ledger, unit), "aten::clone|aten::detach"))
        return false;
    for (uint32_t i = 0; (tensor = unit_input(ledger, unit, i)); i++)
        has_axes |= tensor->rank >= 2;
    return has_axes;
}

static bool look_at(struct finder *finder, uint32_t row)
{
    const struct ledger    *ledger = finder->ledger;
    const struct work_unit *unit = &ledger->units.items[row];
    struct early            early = { row, finder->rounds };

    if (unit->phase == UNIT_BACKWARD) {
        finder->is_open = true;
        return true;
    }
    if (unit->kind == UNIT_PAUSE || unit->phase == UNIT_UPDATE || !finder->is_open ||
        unit_optimizer_step(ledger, unit, NULL) == NO_ID)
        return true;
    if (unit->is_trained) {
        finder->is_open = false;
        finder->rounds++;
        finder->kept = finder->parts.count;
        return true;
    }
    finder->brings |= unit->kind == UNIT_OTHER || unit->phase == UNIT_INPUT ||
                      str_fits(unit_type(ledger, unit),
                               "*rand*|*normal*|*dropout*|*multinomial*|*bernoulli*|*uniform*|"
                               "*poisson*");
    return !is_closures(ledger, unit) || vec_push(&finder->parts, finder->ledger->scratch, early);
}

/* Ops that all rounds call, and equally often. */
static void count(struct finder *finder, uint32_t step)
{
    for (size_t i = 0; i < finder->kept; i++) {
        const struct early *early = &finder->parts.items[i];
        struct made        *made = &finder->made[finder->ledger->units.items[early->unit].op];

        if (made->step != step + 1)
            *made = (struct made) { .step = step + 1 };
        made->calls++;
        made->rounds += made->last != early->round + 1;
        made->last = early->round + 1;
    }
}

static bool claim(struct finder *finder, const struct detector *self, uint32_t *cell)
{
    for (size_t i = 0; i < finder->kept; i++) {
        struct work_unit  *unit = &finder->ledger->units.items[finder->parts.items[i].unit];
        const struct made *made = &finder->made[unit->op];

        if (made->rounds != finder->rounds || made->calls % finder->rounds != 0)
            continue;
        if (!ledger_cell_once(finder->ledger, self, unit, cell,
                              "the optimizer asks its closure %u times a step", finder->rounds))
            return false;
        ledger_claim(finder->ledger, *cell, unit, 1 - 1.0 / finder->rounds);
    }
    return true;
}

static bool find(struct ledger *ledger, const struct detector *self)
{
    struct finder finder = { .ledger = ledger };
    uint32_t      cell = NO_ID;

    if (!ledger->is_torch || !ledger->has_backward)
        return true;
    finder.made =
        arena_new_array(ledger->scratch, struct made, ledger->study->profile->ops.count + 1);
    if (!finder.made)
        return false;
    for (uint32_t step = 0; step < ledger->step_count; step++) {
        finder.parts.count = finder.kept = finder.rounds = 0;
        finder.is_open = true, finder.brings = false;
        for (uint32_t u = ledger->first_unit[step]; u < ledger->first_unit[step + 1]; u++)
            if (!look_at(&finder, u))
                return false;
        if (finder.rounds < FEWEST_ROUNDS || finder.brings)
            continue;
        count(&finder, step);
        if (!claim(&finder, self, &cell))
            return false;
    }
    return true;
}

const struct detector detector_closure_fixed = { "closure-fixed", CAUSE_REPEAT, GRADE_STRUCTURE,
                                                 find };
