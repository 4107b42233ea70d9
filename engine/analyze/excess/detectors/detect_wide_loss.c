/* wide_loss: in steps that train, a softmax over very many classes, the product that makes their
 * logits, and both ways back. Where no shapes were recorded, that it takes most of a network of
 * several layers tells that there are many: each row costs a layer less than that. */
#include "analyze/excess/ledger.h"

enum {
    FEWEST_CLASSES = 8192,
    FEWEST_LAYERS = 3,
    SAMPLES = 512 /* looked at by a sampled loss */
};
static const double LEAST_SHARE = 0.10;  /* of the step */
static const double LEAST_UNSEEN = 0.40; /* the same, of classes that are not known */
static const double UNSEEN_EXCESS = 0.97;

struct loss {
    uint32_t first, last; /* units: the product, and the last op of the loss */
    uint32_t layers;      /* products before it */
    int64_t  classes;     /* 0: not known */
};

static bool is_loss(const struct ledger *ledger, const struct work_unit *unit)
{
    return unit->kind == UNIT_OP && unit->is_trained &&
           (str_contains(unit_type(ledger, unit), STR("cross_entropy_loss")) ||
            str_contains(unit_type(ledger, unit), STR("log_softmax")));
}

/* What may lie between logits and their loss. */
static bool hands_on(const struct work_unit *unit)
{
    switch (unit->op_class) {
    case OP_VIEW:
    case OP_SLICE:
    case OP_COPY:
    case OP_CAST:
    case OP_ELEMENTWISE:
    case OP_TRANSPOSE:
    case OP_OTHER:
        return true;
    default:
        return unit->kind != UNIT_OP;
    }
}

static bool find_loss(const struct ledger *ledger, size_t step, struct loss *loss)
{
    const struct work_unit *units = ledger->units.items;
    uint32_t                begin = ledger->first_unit[step], end = ledger->first_unit[step + 1];
    uint32_t                product = NO_ID;

    *loss = (struct loss) { 0 };
    for (uint32_t u = begin; u < end; u++) {
        const struct tensor *logits = unit_input(ledger, &units[u], 0);

        if (is_loss(ledger, &units[u]) && product != NO_ID) {
            loss->first = product;
            loss->last = u;
            loss->classes = logits && logits->rank > 0
                                ? logits->dims[logits->rank == 2 ? 1 : logits->rank - 1]
                                : 0;
            return true;
        }
        if (unit_is_forward_product(&units[u]) && units[u].is_trained) {
            loss->layers += product != NO_ID;
            product = units[u].op_class == OP_PRODUCT ? u : NO_ID;
        } else if (!hands_on(&units[u])) {
            product = NO_ID;
            loss->layers++;
        }
    }
    return false;
}

static bool look_at_step(struct ledger *ledger, const struct detector *self, size_t step,
                         bool *marks, uint32_t *cell)
{
    uint32_t    end = ledger->first_unit[step + 1];
    double      ns = 0, step_ns = ledger->total_ns / (double)ledger->step_count, share;
    struct loss loss;

    if (!find_loss(ledger, step, &loss) || loss.layers < FEWEST_LAYERS ||
        (loss.classes > 0 && loss.classes < FEWEST_CLASSES))
        return true;
    for (uint32_t u = loss.first; u <= loss.last; u++)
        marks[u] = true;
    if (!units_mark_backward(ledger, loss.first, loss.last, marks))
        return false;
    for (uint32_t u = loss.first; u < end; u++)
        ns += marks[u] ? ledger->units.items[u].left_ns : 0;
    if (ns < (loss.classes > 0 ? LEAST_SHARE : LEAST_UNSEEN) * step_ns)
        return true;
    share = loss.classes > 0 ? 1 - (double)SAMPLES / (double)loss.classes : UNSEEN_EXCESS;
    if (*cell == NO_ID) {
        *cell = ledger_cell(ledger, self, &ledger->units.items[loss.last]);
        if (*cell == NO_ID ||
            (loss.classes > 0
                 ? !ledger_tell(ledger, *cell, "a loss over %lld classes", (long long)loss.classes)
                 : !ledger_tell(ledger, *cell, "a loss that takes more than %u layers",
                                loss.layers)))
            return false;
    }
    for (uint32_t u = loss.first; u < end; u++)
        if (marks[u])
            ledger_claim(ledger, *cell, &ledger->units.items[u], share);
    return true;
}

static bool find(struct ledger *ledger, const struct detector *self)
{
    bool    *marks = arena_new_array(ledger->scratch, bool, ledger->units.count + 1);
    uint32_t cell = NO_ID;

    /* What an accelerator trains over many classes are mostly words, all of which are needed. */
    if (!ledger->is_torch || !ledger->has_backward || ledger->path->has_device)
        return true;
    if (!marks)
        return false;
    for (size_t step = 0; step < ledger->step_count; step++)
        if (!look_at_step(ledger, self, step, marks, &cell))
            return false;
    return true;
}

const struct detector detector_wide_loss = { "wide-loss", CAUSE_SHAPE, GRADE_NAMES, find };
