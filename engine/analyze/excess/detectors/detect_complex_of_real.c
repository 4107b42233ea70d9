/* complex_of_real: Fourier transforms of complex numbers whose data is real, or of whose result the
 * real part alone is taken: a transform of real numbers does half of that. */
#include "analyze/excess/linear.h"

static const double NEEDED = 0.5;
static const double LEAST_SHARE = 0.03; /* of the steps */
enum { FARTHEST = 16 };

static bool is_real(const struct waste *waste, uint32_t op)
{
    for (int steps = 0; op != NO_ID && steps < FARTHEST; steps++) {
        if (waste->compiled->root[op] != NO_ID) {
            op = waste->compiled->root[op];
            continue;
        }
        if (!compiled_is_complex(waste->compiled, op))
            return true;
        if (waste_is(waste, op, "complex")) {
            uint32_t imaginary = op_graph_operand(waste->graph, op, 1);

            return imaginary != NO_ID && linear_is_thin(waste, imaginary);
        }
        if (!compiled_hands_on(waste->compiled, op))
            return false;
        op = op_graph_producers(waste->graph, op).count == 1
                 ? op_graph_producers(waste->graph, op).ids[0]
                 : NO_ID;
    }
    return false;
}

static bool real_is_taken(const struct waste *waste, uint32_t op, int steps)
{
    struct linear_reach takers = { .count = 0 };

    if (steps == FARTHEST || !linear_takers(waste, op, &takers))
        return false;
    for (size_t i = 0; i < takers.count; i++)
        if (!waste_is(waste, takers.ops[i], "real") &&
            !((compiled_hands_on(waste->compiled, takers.ops[i]) ||
               waste->compiled->root[takers.ops[i]] == op) &&
              real_is_taken(waste, takers.ops[i], steps + 1)))
            return false;
    return takers.count > 0;
}

static bool find(struct ledger *ledger, const struct detector *self)
{
    struct waste waste;

    if (!waste_open(&waste, ledger))
        return false;
    for (uint32_t op = 0; waste.graph && op < waste.graph->vertex_count; op++) {
        uint32_t data = waste_is(&waste, op, "fft") ? op_graph_operand(waste.graph, op, 0) : NO_ID;

        if (data != NO_ID && compiled_is_complex(waste.compiled, op) &&
            compiled_is_complex(waste.compiled, data) &&
            (is_real(&waste, data) || real_is_taken(&waste, op, 0)))
            waste_mark(&waste, op, 1 - NEEDED);
    }
    return !waste.graph || waste_claim(&waste, self, LEAST_SHARE, "the numbers are real");
}

const struct detector detector_complex_of_real = { "complex-of-real", CAUSE_SHAPE, GRADE_STRUCTURE,
                                                   find };
