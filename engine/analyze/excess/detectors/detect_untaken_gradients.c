/* untaken_gradients: a graph function of TensorFlow makes gradients of more weights than it
 * updates. Those that nothing reads are not run: something reads these, as the norm of all of them
 * by which they are clipped. Names tell the layers and how many gradients each has; going back from
 * the loss, those behind as many as are updated are of layers that stay as they are. */
#include "analyze/excess/ledger.h"

static const double LEAST_RATIO = 1.5; /* of gradients to updates */

struct layer {
    uint32_t gradients;
    bool     has_product, is_seen, is_frozen;
};
struct finder {
    struct ledger *ledger;
    struct intern  scopes;   /* of layers, "backbone_1/conv2d_9_1" */
    struct layer  *layers;   /* by id of scopes */
    uint32_t      *layer_of; /* by row of profile->ops: id of scopes; 0: no gradient of a layer */
    uint32_t       gradients, updates, norms;
};

static struct str without_last(struct str name)
{
    size_t slash = str_find_last(name, '/');

    return str_slice(name, 0, slash < name.len ? slash : 0);
}

/* Behind "gradient_tape/"; empty: no op of a gradient. */
static struct str forward_name(struct str name)
{
    static const struct str tape = STR_INIT("gradient_tape/");

    for (size_t at = name.len; at >= tape.len; at--)
        if (str_equal(str_slice(name, at - tape.len, at), tape))
            return str_slice(name, at, name.len);
    return (struct str) { 0 };
}

/* "head/dense/MatMul/MatMul_1" and "head/dense/Tensordot/MatMul/MatMul": "head/dense". */
static struct str layer_of_weight(struct str name)
{
    struct str scope = without_last(without_last(name));

    return str_ends(scope, STR("/Tensordot")) ? without_last(scope) : scope;
}

static bool is_update(struct str type)
{
    return str_fits(type,
                    "AssignSubVariableOp|ResourceApply*|ResourceSparseApply*|ResourceScatterSub");
}

static bool learn_gradient(struct finder *finder, uint32_t row, struct str name, struct str type)
{
    bool          is_product = op_class_of(type) == OP_PRODUCT;
    struct layer *layer;
    uint32_t      id;

    if (!is_product && !str_fits(type, "BiasAddGrad|*BackpropFilter*"))
        return true;
    name = layer_of_weight(name);
    id = name.len ? intern_add(&finder->scopes, name) : 0;
    if (id == NO_ID)
        return false;
    layer = &finder->layers[id];
    finder->layer_of[row] = id;
    /* A product has a gradient of its weights, and mostly one of its input. */
    if (id && !(is_product && layer->has_product)) {
        layer->gradients++;
        finder->gradients++;
    }
    layer->has_product |= is_product;
    return true;
}

static bool learn(struct finder *finder)
{
    const struct profile *profile = finder->ledger->study->profile;

    for (uint32_t row = 0; row < profile->ops.count; row++) {
        struct str type = profile_str(profile, profile->ops.items[row].type);
        struct str name = forward_name(profile_str(profile, profile->ops.items[row].name));

        finder->updates += is_update(type);
        finder->norms += str_equal(type, STR("L2Loss"));
        if (name.len && !learn_gradient(finder, row, name, type))
            return false;
    }
    return true;
}

/* Going back, the layers whose gradients can have been taken come first. */
static void find_frozen(struct finder *finder)
{
    const struct ledger *ledger = finder->ledger;
    uint32_t             before = 0;

    for (size_t u = 0; u < ledger->units.count; u++) {
        const struct work_unit *unit = &ledger->units.items[u];
        struct layer           *layer =
            unit->op == NO_ID ? NULL : &finder->layers[finder->layer_of[unit->op]];

        if (!layer || !layer->gradients || layer->is_seen)
            continue;
        layer->is_seen = true;
        layer->is_frozen = before >= finder->updates;
        before += layer->gradients;
    }
}

/* Ops of a frozen layer's gradients, whatever they are, and what starts the next op behind one. */
static bool is_for_nothing(const struct finder *finder, const struct work_unit *unit, bool was)
{
    const struct profile *profile = finder->ledger->study->profile;
    struct str            name;
    uint32_t              id;

    if (unit->kind != UNIT_OP || unit->op == NO_ID)
        return was && unit_goes_with_ops(unit);
    id = finder->layer_of[unit->op];
    if (id)
        return finder->layers[id].is_frozen;
    name = forward_name(profile_str(profile, profile->ops.items[unit->op].name));
    while ((name = without_last(name)).len)
        if ((id = intern_find(&finder->scopes, name)) != NO_ID)
            return finder->layers[id].is_frozen;
    return false;
}

static bool claim(struct finder *finder, const struct detector *self)
{
    struct ledger *ledger = finder->ledger;
    uint32_t       cell = NO_ID;
    bool           is_on = false;

    for (size_t u = 0; u < ledger->units.count; u++) {
        struct work_unit *unit = &ledger->units.items[u];

        is_on = is_for_nothing(finder, unit, is_on);
        if (!is_on)
            continue;
        if (!ledger_cell_once(ledger, self, unit, &cell,
                              "%u gradients of weights and biases are made, and %u updated",
                              finder->gradients, finder->updates))
            return false;
        ledger_claim(ledger, cell, unit, 1);
    }
    return true;
}

static bool find(struct ledger *ledger, const struct detector *self)
{
    const struct profile *profile = ledger->study->profile;
    struct finder         finder = { .ledger = ledger };

    if (ledger->is_torch || profile->format != FORMAT_XSPACE || ledger_is_jax(ledger))
        return true;
    finder.layers = arena_new_array(ledger->scratch, struct layer, profile->ops.count + 2);
    finder.layer_of = arena_new_array(ledger->scratch, uint32_t, profile->ops.count + 1);
    if (!finder.layers || !finder.layer_of || !intern_init(&finder.scopes, ledger->scratch) ||
        !learn(&finder))
        return false;
    if (!finder.updates || finder.norms <= finder.updates ||
        finder.gradients < LEAST_RATIO * finder.updates)
        return true;
    find_frozen(&finder);
    return claim(&finder, self);
}

const struct detector detector_untaken_gradients = { "unused-gradients", CAUSE_UNUSED, GRADE_SIZES,
                                                     find };
