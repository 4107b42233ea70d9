/* evaluation: in steps that train, stretches of the forward pass that no backward node needs and
 * that use the weights of the trained one: evaluation or metrics that run the model once more.
 * Between a trained forward pass and its gradients, or without a loss of its own, it may be a
 * teacher or a target network; where what it says is drawn from, an agent
 * acts, and what comes of that is trained on. */
#include "analyze/excess/ledger.h"

static const double KNOWN_WEIGHTS = 0.8; /* of a stretch's products: weights that also train */
enum { FEWEST_PRODUCTS = 3 };

struct finder {
    struct ledger *ledger;
    struct intern  weights; /* shapes of weights that train, as bytes */
    bool          *trains;  /* by row of profile->ops */
    uint64_t       trained; /* products that train, in all steps */
};

/* PyTorch runs whole layers as one op where no gradients are needed. */
static bool is_layer(const struct ledger *ledger, const struct work_unit *unit)
{
    return unit->kind == UNIT_OP && unit->phase == UNIT_FORWARD &&
           str_contains(unit_type(ledger, unit), STR("transformer_encoder_layer"));
}

/* The first operand with parameters: behind the rows, and behind a bias. Where no shapes were
 * recorded all products count as of one weight. */
static struct str weight_key(const struct ledger *ledger, const struct work_unit *unit,
                             int64_t *words)
{
    const struct tensor *weight = unit_right(ledger, unit);
    uint32_t             row = 1;
    size_t               count = 0;

    words[count++] = unit->op_class == OP_CONVOLUTION;
    if (!ledger->study->profile->has_shapes)
        return (struct str) { (const char *)words, count * sizeof *words };
    while (weight && weight->rank < 2 && is_layer(ledger, unit))
        weight = unit_input(ledger, unit, ++row);
    if (!weight || weight->rank < 2)
        return (struct str) { NULL, 0 };
    for (int8_t i = 0; i < weight->rank; i++)
        words[count++] = weight->dims[i];
    return (struct str) { (const char *)words, count * sizeof *words };
}

static bool list_weights(struct finder *finder)
{
    struct ledger *ledger = finder->ledger;
    int64_t        words[TENSOR_MAX_RANK + 1];

    for (size_t u = 0; u < ledger->units.count; u++) {
        const struct work_unit *unit = &ledger->units.items[u];

        if (!unit_is_forward_product(unit) || !unit->is_trained)
            continue;
        struct str key = weight_key(ledger, unit, words);

        finder->trained++;
        if (unit->op != NO_ID)
            finder->trains[unit->op] = true;
        if (key.len && intern_add(&finder->weights, key) == NO_ID)
            return false;
    }
    return true;
}

struct stretch {
    uint32_t first, last;     /* units; its first and its last product */
    uint32_t products, known; /* those of weights that train */
    uint32_t alike;           /* those of the very shapes of a trained one */
    bool     is_inside;       /* a trained forward op lies before it, its backward pass behind it */
    bool     is_judged;       /* a loss is computed of it, or the update lies before it */
    bool     is_drawn_from, has_embedding;
};

/* By the probabilities, or the means and deviations, that a model gave; what looks words up writes
 * a text with it, to be read by somebody. */
static bool is_draw(const struct ledger *ledger, const struct work_unit *unit)
{
    struct str type = unit_type(ledger, unit);

    return str_equal(type, STR("aten::multinomial")) || str_equal(type, STR("aten::normal"));
}

/* One more pass over the batch that is trained: metrics that call the model again, which count as
 * work done twice and not as evaluation. */
static bool is_same_batch(const struct finder *finder, const struct stretch *stretch)
{
    return stretch->alike == stretch->products &&
           stretch->products * finder->ledger->step_count <= finder->trained;
}

static bool claim(struct finder *finder, const struct detector *self, const struct stretch *stretch,
                  uint32_t *cell)
{
    struct ledger *ledger = finder->ledger;

    if (stretch->is_inside || !stretch->is_judged ||
        (stretch->is_drawn_from && !stretch->has_embedding) ||
        stretch->products < FEWEST_PRODUCTS || stretch->known < KNOWN_WEIGHTS * stretch->products ||
        is_same_batch(finder, stretch))
        return true;
    if (!ledger_cell_once(ledger, self, &ledger->units.items[stretch->first], cell,
                          "products of the trained weights that nothing is "
                          "trained by"))
        return false;
    for (uint32_t u = stretch->first; u <= stretch->last; u++)
        if (ledger->units.items[u].phase == UNIT_FORWARD)
            ledger_claim(ledger, *cell, &ledger->units.items[u], 1);
    return true;
}

static bool has_backward(const struct ledger *ledger, size_t step)
{
    for (uint32_t u = ledger->first_unit[step]; u < ledger->first_unit[step + 1]; u++)
        if (ledger->units.items[u].phase == UNIT_BACKWARD)
            return true;
    return false;
}

static bool look_at_step(struct finder *finder, const struct detector *self, size_t step,
                         uint32_t *cell)
{
    struct ledger *ledger = finder->ledger;
    struct stretch stretch = { 0 };
    int64_t        words[TENSOR_MAX_RANK + 1];
    bool           is_open = false, is_behind = false;

    for (uint32_t u = ledger->first_unit[step]; u < ledger->first_unit[step + 1]; u++) {
        const struct work_unit *unit = &ledger->units.items[u];

        if (unit->kind == UNIT_OP && unit->phase == UNIT_BACKWARD)
            stretch.is_inside = is_open && stretch.products, is_open = false;
        else if (unit->is_trained)
            is_open = true;
        if (unit->is_trained || unit->phase == UNIT_BACKWARD || unit->phase == UNIT_UPDATE) {
            if (!claim(finder, self, &stretch, cell))
                return false;
            is_behind = is_behind || unit->phase == UNIT_UPDATE;
            stretch = (struct stretch) { .is_judged = is_behind };
            continue;
        }
        if (stretch.products && unit->op_class == OP_LOSS)
            stretch.is_judged = true;
        stretch.has_embedding |= unit->op_class == OP_EMBEDDING;
        stretch.is_drawn_from |= stretch.products && is_draw(ledger, unit);
        if (!unit_is_forward_product(unit) && !is_layer(ledger, unit))
            continue;
        struct str key = weight_key(ledger, unit, words);

        if (!key.len)
            continue;
        if (!stretch.products++)
            stretch.first = u;
        stretch.last = u;
        stretch.alike += unit->op != NO_ID && finder->trains[unit->op];
        stretch.known += intern_find(&finder->weights, key) != NO_ID;
    }
    return claim(finder, self, &stretch, cell);
}

static bool find(struct ledger *ledger, const struct detector *self)
{
    struct finder finder = { .ledger = ledger };
    uint32_t      cell = NO_ID;

    if (!ledger->is_torch || !ledger->has_backward)
        return true;
    finder.trains = arena_new_array(ledger->scratch, bool, ledger->study->profile->ops.count + 1);
    if (!finder.trains || !intern_init(&finder.weights, ledger->scratch) || !list_weights(&finder))
        return false;
    for (size_t step = 0; step < ledger->step_count; step++)
        if (has_backward(ledger, step) && !look_at_step(&finder, self, step, &cell))
            return false;
    return true;
}

const struct detector detector_evaluation = { "evaluation", CAUSE_RARE, GRADE_SIZES, find };
