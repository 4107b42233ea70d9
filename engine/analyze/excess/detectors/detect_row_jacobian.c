/* row_jacobian: gradients that tf.vectorized_map makes of all outputs at once, as tape.jacobian
 * does, take a hundred times and more what the model itself takes: with respect to its inputs
 * that is every row's output by every row's input, and rows do not depend on each other. */
#include "analyze/excess/ledger.h"
#include "base/macros.h"

#include <math.h>

static const double LEAST_TIMES = 100; /* gradients over the model; outputs are fewer */
static const double FEWEST_ROWS = 10;  /* of a batch */

struct sums {
    double model_ns, vectorized_ns;
    bool   is_of_weights; /* gradients of each example: as many as there are rows */
};

static struct str name_of(const struct ledger *ledger, uint32_t op)
{
    const struct profile *profile = ledger->study->profile;

    return op == NO_ID ? (struct str) { 0 } : profile_str(profile, profile->ops.items[op].name);
}

static bool is_vectorized(struct str name)
{
    return str_contains(name, STR("/pfor/"));
}

/* "net/" of "gradient_tape/net/dense/MatMul/MatMul/pfor/MatMul"; empty: there is none. */
static struct str model_of(const struct ledger *ledger)
{
    const struct str prefix = STR("gradient_tape/");

    for (size_t u = 0; u < ledger->units.count; u++) {
        struct str name = name_of(ledger, ledger->units.items[u].op), model;

        if (!is_vectorized(name) || !str_starts(name, prefix))
            continue;
        model = str_slice(name, prefix.len, name.len);
        return str_slice(model, 0, str_find(model, '/') + 1);
    }
    return (struct str) { 0 };
}

/* On all threads: beside such gradients the model's own ops hold nothing up. */
static struct sums sum_up(const struct ledger *ledger, struct str model)
{
    const struct profile *profile = ledger->study->profile;
    struct host_events    events = { .study = ledger->study };
    struct sums           sums = { 0 };
    uint32_t              event;

    while (host_events_next(&events, &event)) {
        struct str name = name_of(ledger, event_activity(profile, event)->op);
        double     ns = (double)(event_end_ns(profile, event) - event_start_ns(profile, event));

        if (str_starts(name, model))
            sums.model_ns += ns;
        if (!is_vectorized(name))
            continue;
        sums.vectorized_ns += ns;
        /* TensorFlow's names of the gradient of a product's second operand, and of a filter. */
        sums.is_of_weights |=
            str_contains(name, STR("/MatMul_1/pfor/")) || str_contains(name, STR("BackpropFilter"));
    }
    return sums;
}

/* Going back takes about twice as long as the model, for each row and output. There may be one
 * output and as many rows, or the fewest rows: midway between the two, by their ratio. */
static double rows_of(const struct sums *sums)
{
    return sqrt(FEWEST_ROWS * sums->vectorized_ns / sums->model_ns / 2);
}

static bool find(struct ledger *ledger, const struct detector *self)
{
    struct str  model;
    struct sums sums;
    uint32_t    cell = NO_ID;

    if (ledger->is_torch || ledger->study->profile->format != FORMAT_XSPACE)
        return true;
    model = model_of(ledger);
    if (!model.len)
        return true;
    sums = sum_up(ledger, model);
    if (sums.is_of_weights || sums.model_ns <= 0 ||
        sums.vectorized_ns < LEAST_TIMES * sums.model_ns)
        return true;
    for (size_t u = 0; u < ledger->units.count; u++) {
        struct work_unit *unit = &ledger->units.items[u];

        if (!is_vectorized(name_of(ledger, unit->op)))
            continue;
        if (!ledger_cell_once(ledger, self, unit, &cell,
                              "vectorized gradients take %.0f times as long as the model",
                              sums.vectorized_ns / sums.model_ns))
            return false;
        ledger_claim(ledger, cell, unit, 1 - 1 / rows_of(&sums));
    }
    return true;
}

const struct detector detector_row_jacobian = { "row-jacobian", CAUSE_UNUSED, GRADE_SIZES, find };
