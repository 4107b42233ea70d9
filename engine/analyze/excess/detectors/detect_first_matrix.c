/* first_matrix: a function or run of TensorFlow decomposes or inverts a matrix before it multiplies
 * or convolves anything, and no gradient is for it: no layer made the matrix, and none learns it.
 * What its scope holds beside it goes with it. Loops decompose what they carry. */
#include "analyze/excess/graph_names.h"
#include "analyze/excess/ledger.h"

struct finder {
    struct ledger *ledger;
    struct intern  trained;  /* ops and scopes that a gradient is for */
    struct intern  scopes;   /* of decompositions that were found */
    uint32_t      *first_in; /* by row of profile->ops: steps in which it was one */
    uint32_t      *latest;   /* by row of profile->ops: the last of these, counted from 1 */
    bool          *is_found; /* by row of profile->ops */
};

static struct str name_of(const struct finder *finder, uint32_t op)
{
    const struct profile *profile = finder->ledger->study->profile;

    return profile_str(profile, profile->ops.items[op].name);
}

/* Empty: the op is in none. */
static struct str scope_of(struct str name)
{
    size_t slash = str_find_last(name, '/');

    return slash < name.len ? str_slice(name, 0, slash) : (struct str) { 0 };
}

static bool learn(struct finder *finder)
{
    for (uint32_t op = 0; op < finder->ledger->study->profile->ops.count; op++) {
        struct str trained;

        if (!graph_name_is_gradient(name_of(finder, op)))
            continue;
        trained = graph_name_trained(name_of(finder, op));
        for (size_t i = 1; i <= trained.len; i++)
            if ((i == trained.len || trained.data[i] == '/') &&
                intern_add(&finder->trained, str_slice(trained, 0, i)) == NO_ID)
                return false;
    }
    return true;
}

static bool is_decomposition(const struct finder *finder, const struct work_unit *unit)
{
    struct str name, type;

    if (unit->kind != UNIT_OP || unit->op == NO_ID || unit->op_class != OP_DECOMPOSITION)
        return false;
    name = name_of(finder, unit->op);
    type = unit_type(finder->ledger, unit);
    return !graph_name_is_gradient(name) && !str_contains(name, STR("while/")) &&
           !str_fits(type, "*Solve*") &&
           intern_find(&finder->trained, graph_name_inside(name)) == NO_ID;
}

/* Counts the step for decompositions in front of the first layer. */
static void look_at_step(struct finder *finder, size_t step)
{
    const struct ledger *ledger = finder->ledger;

    for (uint32_t u = ledger->first_unit[step]; u < ledger->first_unit[step + 1]; u++) {
        const struct work_unit *unit = &ledger->units.items[u];

        if (unit->kind == UNIT_OP &&
            (unit->op_class == OP_PRODUCT || unit->op_class == OP_CONVOLUTION))
            return;
        if (is_decomposition(finder, unit) && finder->latest[unit->op] != step + 1) {
            finder->latest[unit->op] = (uint32_t)step + 1;
            finder->first_in[unit->op]++;
        }
    }
}

/* One is found in most steps: others are no rows of the path, or come behind a layer in some. */
static bool mark(struct finder *finder)
{
    const struct profile *profile = finder->ledger->study->profile;
    bool                  is_any = false;

    for (uint32_t op = 0; op < profile->ops.count; op++) {
        struct str scope = scope_of(name_of(finder, op));

        if (2 * finder->first_in[op] <= finder->ledger->step_count)
            continue;
        finder->is_found[op] = is_any = true;
        if (scope.len && intern_add(&finder->scopes, scope) == NO_ID)
            return false;
    }
    for (uint32_t op = 0; is_any && op < profile->ops.count; op++) {
        struct str scope = scope_of(name_of(finder, op));

        finder->is_found[op] |= scope.len && intern_find(&finder->scopes, scope) != NO_ID;
    }
    return true;
}

static bool claim(struct finder *finder, const struct detector *self)
{
    struct ledger *ledger = finder->ledger;
    uint32_t       cell = NO_ID;

    for (uint32_t u = 0; u < ledger->units.count; u++) {
        struct work_unit *unit = &ledger->units.items[u];

        if (unit->kind != UNIT_OP || unit->op == NO_ID || !finder->is_found[unit->op])
            continue;
        if (!ledger_cell_once(ledger, self, unit, &cell,
                              "before any layer, and no gradient is for it"))
            return false;
        ledger_claim(ledger, cell, unit, 1);
    }
    return true;
}

static bool find(struct ledger *ledger, const struct detector *self)
{
    const struct profile *profile = ledger->study->profile;
    struct finder         finder = { .ledger = ledger };

    if (ledger->is_torch || profile->format == FORMAT_KINETO || ledger_is_jax(ledger))
        return true;
    finder.first_in = arena_new_array(ledger->scratch, uint32_t, profile->ops.count + 1);
    finder.latest = arena_new_array(ledger->scratch, uint32_t, profile->ops.count + 1);
    finder.is_found = arena_new_array(ledger->scratch, bool, profile->ops.count + 1);
    if (!finder.first_in || !finder.latest || !finder.is_found ||
        !intern_init(&finder.trained, ledger->scratch) ||
        !intern_init(&finder.scopes, ledger->scratch) || !learn(&finder))
        return false;
    for (size_t step = 0; step < ledger->step_count; step++)
        look_at_step(&finder, step);
    return mark(&finder) && claim(&finder, self);
}

const struct detector detector_first_matrix = { "fixed-matrix", CAUSE_REPEAT, GRADE_NAMES, find };
