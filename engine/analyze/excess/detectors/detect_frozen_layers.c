/* frozen_layers: a graph function of TensorFlow that trains runs layers that no gradient goes
 * through, and they take much longer than what it trains: features of frozen weights, made again in
 * each step. Where the data come again, so do they; where anything is drawn at random but for
 * dropout and the order of rows, they may not. A target network, or a teacher that learns from its
 * pupil, is as large as what is trained. */
#include "analyze/excess/graph_names.h"
#include "analyze/excess/ledger.h"

static const double LEAST_RATIO = 2.5; /* of its products to those that are trained */

enum { FEWEST_PRODUCTS = 3 };

struct finder {
    struct ledger *ledger;
    struct intern  trained;  /* scopes with an op of a gradient, "model_1/dense/MatMul" and above */
    bool          *is_layer; /* by row of profile->ops: a product of a forward pass, in a scope */
    bool *is_frozen; /* by row of profile->ops: an op that nothing trained is in the scope of */
    bool  is_random;
};

static bool learn_gradient(struct finder *finder, struct str name)
{
    struct str tail = graph_name_behind(name, STR("gradient_tape/"));

    for (size_t i = 0; i < tail.len; i++)
        if (tail.data[i] == '/' && intern_add(&finder->trained, str_slice(tail, 0, i)) == NO_ID)
            return false;
    return true;
}

static bool learn(struct finder *finder)
{
    const struct profile *profile = finder->ledger->study->profile;

    for (size_t row = 0; row < profile->ops.count; row++) {
        struct str name = profile_str(profile, profile->ops.items[row].name);
        struct str type = profile_str(profile, profile->ops.items[row].type);

        if (str_contains(name, STR("gradient_tape/"))) {
            if (!learn_gradient(finder, name))
                return false;
        } else if (op_class_of(type) == OP_RANDOM && !str_equal(type, STR("RandomShuffle")) &&
                   !str_contains(name, STR("drop"))) {
            finder->is_random = true;
        }
    }
    return true;
}

static bool is_trained(const struct finder *finder, struct str scope)
{
    return intern_find(&finder->trained, scope) != NO_ID;
}

/* Layers are told by their products. */
static void tell(struct finder *finder)
{
    const struct profile *profile = finder->ledger->study->profile;

    for (size_t row = 0; row < profile->ops.count; row++) {
        struct str whole = profile_str(profile, profile->ops.items[row].name);
        struct str name = graph_name_inside(whole);
        enum op_class class = op_class_of(profile_str(profile, profile->ops.items[row].type));
        size_t slash = str_find_last(name, '/');

        /* Gradients of what is in a layer's loop have other names. */
        if (slash >= name.len || str_contains(whole, STR("gradient_tape/")) ||
            str_contains(name, STR("while/")))
            continue;
        finder->is_layer[row] = class == OP_PRODUCT || class == OP_CONVOLUTION;
        finder->is_frozen[row] = !is_trained(finder, str_slice(name, 0, slash));
    }
}

static bool is_product(const struct finder *finder, const struct work_unit *unit, bool is_frozen)
{
    return unit_is_forward_product(unit) && unit->op != NO_ID && finder->is_layer[unit->op] &&
           finder->is_frozen[unit->op] == is_frozen;
}

static uint32_t first_product(const struct finder *finder, size_t step, bool is_frozen)
{
    const struct ledger *ledger = finder->ledger;
    uint32_t             u = ledger->first_unit[step];

    while (u < ledger->first_unit[step + 1] &&
           !is_product(finder, &ledger->units.items[u], is_frozen))
        u++;
    return u;
}

/* Features are made before they are trained on: what begins behind that, as a measure of the
 * result does, is none. */
static bool comes_before(const struct finder *finder)
{
    size_t before = 0;

    for (size_t step = 0; step < finder->ledger->step_count; step++)
        before += first_product(finder, step, true) < first_product(finder, step, false);
    return 2 * before > finder->ledger->step_count;
}

/* From the first frozen product of a step to its last; of that, all but what is trained. */
static bool claim_step(struct finder *finder, const struct detector *self, size_t step,
                       uint32_t *cell)
{
    struct ledger *ledger = finder->ledger;
    uint32_t       first = NO_ID, last = 0;

    for (uint32_t u = ledger->first_unit[step]; u < ledger->first_unit[step + 1]; u++)
        if (is_product(finder, &ledger->units.items[u], true)) {
            first = first == NO_ID ? u : first;
            last = u;
        }
    for (uint32_t u = first; first != NO_ID && u <= last; u++) {
        struct work_unit *unit = &ledger->units.items[u];

        if (!unit_goes_with_ops(unit) ||
            (unit->kind == UNIT_OP && (unit->op == NO_ID || !finder->is_frozen[unit->op])))
            continue;
        if (!ledger_cell_once(ledger, self, unit, cell,
                              "layers that no gradient goes through, before what is trained"))
            return false;
        ledger_claim(ledger, *cell, unit, 1);
    }
    return true;
}

static bool find(struct ledger *ledger, const struct detector *self)
{
    const struct profile *profile = ledger->study->profile;
    struct finder         finder = { .ledger = ledger };
    double                frozen_ns = 0, trained_ns = 0;
    size_t                frozen = 0;
    uint32_t              cell = NO_ID;

    if (ledger->is_torch || profile->format != FORMAT_XSPACE || ledger_is_jax(ledger))
        return true;
    finder.is_layer = arena_new_array(ledger->scratch, bool, profile->ops.count + 1);
    finder.is_frozen = arena_new_array(ledger->scratch, bool, profile->ops.count + 1);
    if (!finder.is_layer || !finder.is_frozen || !intern_init(&finder.trained, ledger->scratch) ||
        !learn(&finder))
        return false;
    if (finder.is_random || !finder.trained.count)
        return true;
    tell(&finder);
    for (size_t u = 0; u < ledger->units.count; u++) {
        const struct work_unit *unit = &ledger->units.items[u];

        frozen += is_product(&finder, unit, true);
        frozen_ns += is_product(&finder, unit, true) ? unit->ns : 0;
        trained_ns += is_product(&finder, unit, false) ? unit->ns : 0;
    }
    if (frozen < FEWEST_PRODUCTS * ledger->step_count || trained_ns <= 0 ||
        frozen_ns < LEAST_RATIO * trained_ns || !comes_before(&finder))
        return true;
    for (size_t step = 0; step < ledger->step_count; step++)
        if (!claim_step(&finder, self, step, &cell))
            return false;
    return true;
}

const struct detector detector_frozen_layers = { "frozen-layers", CAUSE_REPEAT, GRADE_NAMES, find };
