/* forward_gradient: the gradient of one number is made forwards, by a derivative for each number
 * that it is taken by: the function runs once, its derivatives for all unit vectors at once, and
 * these are summed to a number for each vector. A reverse pass costs a few runs of the function,
 * however many numbers there are. */
#include "analyze/excess/linear.h"

#define NOT_LINEAR                                                                                 \
    "exponential|exponential-minus-one|log|log-plus-one|logistic|tanh|sine|cosine|tan|erf|sqrt|"   \
    "rsqrt|cbrt|power|atan2|maximum|minimum|abs"

static const double  LEAST_SHARE = 0.05; /* of the steps */
static const int64_t FEWEST = 8;         /* unit vectors */
static const double  WAY_BACK = 3;       /* runs of the function that a reverse pass takes */

static bool is_of_vectors(const struct waste *waste, uint32_t op)
{
    return str_contains(profile_str(waste->profile, waste->profile->ops.items[op].origin),
                        STR("vmap(jvp("));
}

static bool is_backward(const struct waste *waste, uint32_t op)
{
    return str_contains(profile_str(waste->profile, waste->profile->ops.items[op].origin),
                        STR("transpose("));
}

static bool has_axis(const struct tensor *tensor, int64_t size)
{
    for (int i = 0; tensor && i < tensor->rank; i++)
        if (tensor->dims[i] == size)
            return true;
    return false;
}

/* How many vectors' derivatives are summed, each to a number of its own; 0: it is no such sum. */
static int64_t sums_vectors(const struct waste *waste, uint32_t op)
{
    const struct tensor *sums = compiled_result(waste->compiled, op);

    return waste->adds[op] && sums && sums->rank == 1 && sums->dims[0] >= FEWEST &&
                   waste_calls(waste, op) > 0 && is_of_vectors(waste, op)
               ? sums->dims[0]
               : 0;
}

/* The program runs the function once for all vectors: what is not linear has no axis for them, as
 * rows of a batch have, and something has the numbers that are summed for each. No gradient is
 * differentiated. */
static bool runs_once(const struct waste *waste, uint32_t sum, int64_t vectors)
{
    double each = compiled_operand(waste->compiled, sum, 0) / (double)vectors;
    bool   is_run = false;

    for (uint32_t op = 0; op < waste->graph->vertex_count; op++) {
        bool has_vectors = has_axis(compiled_result(waste->compiled, op), vectors);

        if (waste->profile->ops.items[op].program != waste->profile->ops.items[sum].program ||
            !is_of_vectors(waste, op))
            continue;
        if (is_backward(waste, op) || (has_vectors && waste_is(waste, op, NOT_LINEAR)))
            return false;
        is_run |= !has_vectors && linear_is_elementwise(waste, op) &&
                  compiled_elements(waste->compiled, op) == each;
    }
    return is_run;
}

static void mark_vectors(struct waste *waste, uint32_t program, int64_t vectors)
{
    for (uint32_t op = 0; op < waste->graph->vertex_count; op++)
        if (waste->profile->ops.items[op].program == program && is_of_vectors(waste, op) &&
            has_axis(compiled_result(waste->compiled, op), vectors))
            waste_mark(waste, op, 1 - WAY_BACK / (double)vectors);
}

static bool find(struct ledger *ledger, const struct detector *self)
{
    struct waste waste;
    uint32_t     last_program = NO_ID;
    int64_t      last_vectors = 0;

    if (!waste_open(&waste, ledger))
        return false;
    for (uint32_t op = 0; waste.graph && op < waste.graph->vertex_count; op++) {
        uint32_t program = waste.profile->ops.items[op].program;
        int64_t  vectors = sums_vectors(&waste, op);

        if (!vectors || (program == last_program && vectors == last_vectors) ||
            !runs_once(&waste, op, vectors))
            continue;
        mark_vectors(&waste, program, vectors);
        last_program = program, last_vectors = vectors;
    }
    return !waste.graph || waste_claim(&waste, self, LEAST_SHARE,
                                       "a derivative for each number, of a single result");
}

const struct detector detector_forward_gradient = { "forward-gradient", CAUSE_SHAPE,
                                                    GRADE_STRUCTURE, find };
