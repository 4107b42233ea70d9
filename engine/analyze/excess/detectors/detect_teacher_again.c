/* teacher_again: a network that runs without gradients beside one that is trained, a teacher or a
 * target, runs more often within a step than ops of the step can have made inputs for it: some of
 * its calls see what another has seen. Inputs that come from outside of the step are not known, so
 * something in it must make them, and nothing in the network itself. */
#include "analyze/excess/ledger.h"
#include "analyze/excess/makers.h"

static const double LEAST_SHARE = 0.05;
enum { FEWEST_AGAIN = 4, FEWEST_PRODUCTS = 2 };

struct finder {
    struct ledger *ledger;
    VEC(uint32_t) products; /* of a step: units of the forward pass without gradients */
    bool has_trained;
};

static struct work_unit *product_at(const struct finder *finder, size_t row)
{
    return &finder->ledger->units.items[finder->products.items[row]];
}

static bool collect(struct finder *finder, size_t step)
{
    const struct ledger *ledger = finder->ledger;

    finder->products.count = 0;
    finder->has_trained = false;
    for (uint32_t u = ledger->first_unit[step]; u < ledger->first_unit[step + 1]; u++) {
        const struct work_unit *unit = &ledger->units.items[u];

        if (!unit_is_forward_product(unit))
            continue;
        finder->has_trained |= unit->is_trained;
        if (!unit->is_trained && !vec_push(&finder->products, ledger->scratch, u))
            return false;
    }
    return true;
}

/* Products of one call, if those of the step are the same ones again and again; 0: they are not. */
static size_t call_length(const struct finder *finder)
{
    size_t count = finder->products.count;

    for (size_t length = FEWEST_PRODUCTS; length * FEWEST_AGAIN <= count; length++) {
        size_t same = 0;

        while (same + length < count &&
               product_at(finder, same)->op == product_at(finder, same + length)->op)
            same++;
        if (same + length == count)
            return count % length == 0 ? length : 0;
    }
    return 0;
}

/* What it makes has the shape of what it takes. */
static bool keeps_shape(const struct ledger *ledger, const struct work_unit *unit)
{
    const struct tensor *first = unit_input(ledger, unit, 0), *second = unit_input(ledger, unit, 1);

    switch (unit->op_class) {
    case OP_NORMALISATION:
    case OP_ACTIVATION:
    case OP_SOFTMAX:
        return first != NULL;
    case OP_ELEMENTWISE:
        return first && (!second || second->rank < 1 || same_dims(first, second));
    default:
        return false;
    }
}

/* Tensors like the input that the op can have made: what is taken apart gives several, and all of a
 * tensor is no new one. */
static size_t made_by(const struct ledger *ledger, const struct work_unit *unit,
                      const struct tensor *input)
{
    int64_t largest;

    if (unit->kind != UNIT_OP || unit->op == NO_ID || !unit_can_make(ledger, unit, input) ||
        (keeps_shape(ledger, unit) && !same_dims(unit_input(ledger, unit, 0), input)))
        return 0;
    unit_operands(ledger, unit, &largest);
    if (unit->op_class != OP_SLICE)
        return 1;
    return largest > tensor_count(input) ? (size_t)(largest / tensor_count(input)) : 0;
}

/* How many of them the step can have made before the last call begins; of ops within calls even one
 * is too many. SIZE_MAX: one can. */
static size_t count_made(const struct finder *finder, size_t step, size_t length,
                         const struct tensor *input)
{
    size_t   made = 0, row = 0, count = finder->products.count;
    uint32_t last = finder->products.items[count - length];

    for (uint32_t u = finder->ledger->first_unit[step]; u < last; u++) {
        size_t more = made_by(finder->ledger, &finder->ledger->units.items[u], input);

        while (row < count && finder->products.items[row] < u)
            row++;
        if (more > 0 && row % length != 0)
            return SIZE_MAX;
        made += more;
    }
    return made;
}

static bool claim(struct finder *finder, const struct detector *self, size_t length, size_t made,
                  uint32_t *cell)
{
    struct ledger *ledger = finder->ledger;
    size_t         calls = finder->products.count / length;

    if (!ledger_cell_once(
            ledger, self, product_at(finder, 0), cell,
            "a network without gradients runs %zu times, and the step makes %zu inputs for it",
            calls, made))
        return false;
    for (size_t call = made; call < calls; call++)
        ledger_claim_ops(ledger, *cell, finder->products.items[call * length],
                         finder->products.items[(call + 1) * length - 1], 1);
    return true;
}

static double time_of(const struct finder *finder, size_t first, size_t last)
{
    double ns = 0;

    for (uint32_t u = finder->products.items[first]; u <= finder->products.items[last]; u++)
        ns += finder->ledger->units.items[u].left_ns;
    return ns;
}

static bool look_at(struct finder *finder, const struct detector *self, size_t step, uint32_t *cell)
{
    const struct ledger *ledger = finder->ledger;
    size_t               length = finder->has_trained ? call_length(finder) : 0, calls, made;
    const struct tensor *input;

    if (length == 0)
        return true;
    calls = finder->products.count / length;
    input = unit_left(ledger, product_at(finder, 0));
    if (!input || tensor_count(input) <= 0)
        return true;
    made = count_made(finder, step, length, input);
    if (made == 0 || made > calls / 2 ||
        time_of(finder, 0, length - 1) * (double)(calls - made) * (double)ledger->step_count <
            LEAST_SHARE * ledger->total_ns)
        return true;
    return claim(finder, self, length, made, cell);
}

static bool find(struct ledger *ledger, const struct detector *self)
{
    struct finder finder = { .ledger = ledger };
    uint32_t      cell = NO_ID;

    if (!ledger->is_torch || !ledger->has_backward || !ledger->study->profile->has_shapes ||
        ledger->study->steps.source == STEPS_WHOLE_TRACE) /* whose calls may be of many steps */
        return true;
    for (size_t step = 0; step < ledger->step_count; step++)
        if (!collect(&finder, step) || !look_at(&finder, self, step, &cell))
            return false;
    return true;
}

const struct detector detector_teacher_again = { "teacher-again", CAUSE_REPEAT, GRADE_SIZES, find };
